//! Along what two versions are unfolded: both are walked through together from their entries.
//!
//! A version stands at an anchor, at a branch, or at its end; from there it goes on together with
//! the other one, if both stand at the same anchor or branch, or alone, if it stands at a branch
//! that the other one does not have. What is between is crossed. A copy of a block is made for each
//! place at which the other version stands when the block is entered. So a loop that was rotated
//! has two copies of its header, one before it and one at its end, and one that was unrolled has as
//! many of its body as there are now.
//!
//! What corresponds is a guess: what tracking says, or what looks alike. Where a guess is wrong,
//! less is proved. Where the walk does not go on, the rest of a version is copied once as it is.

mod constants;
mod plans;
mod together;

use crate::unfold::Plan;
use crate::unfold::compared::{Compared, all_same};
use crate::unfold::said::Said;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Cases, Graph, Operand, Oracle};
use crate::versions::version::{PerVersion, Version};
use indexmap::IndexSet;
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::{FxBuildHasher, FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::VecDeque;
use typed_index_collections::TiVec;

/// Copies of a version's blocks, for each of its blocks; with more, nothing is unfolded.
const MOST_COPIES: usize = 3;

/// Copies of a small version's blocks
const LEAST_COPIES: usize = 64;

/// Branches of a version that the other one does not have, one behind the other
const MOST_BRANCHES: usize = 16;

/// How well places go together that are of one anchor or branch, as tracking says
const SURE: i32 = 4;

/// Branches that are looked behind to see whether versions go on together
const MOST_AHEAD: usize = 3;

/// Operations and copies that are looked through for what decides a branch
const DEEPEST: usize = 8;

/// A place of a version: a block, and how many of its anchors have run
type Place = (BlockId, usize);

/// A copy of a block: for a place of the other version, and behind anchors for the copy that this
/// is in; or the one of what is behind the walk
type Label = Option<(Place, Option<BlockId>)>;

/// What is gone through in the order in which it came. Each is there once: a state that waited
/// twice would be gone through, and wait again, each time twice as often.
type Ordered<T> = IndexSet<T, FxBuildHasher>;

/// Where both versions are: in copies, with so many of their anchors run
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    copies: PerVersion<BlockId>,
    anchors: PerVersion<usize>,
}

/// Blocks of a version that follow each other: in a copy, and behind it
#[derive(Clone, Copy, Debug)]
struct Path<'p> {
    /// None if it is not known
    copy: Option<BlockId>,
    blocks: &'p [BlockId],
}

/// What a version does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Anchor(InstId),
    Branch(InstId),
    End,
}

/// How two versions are unfolded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfolded {
    /// The plan of each
    pub(crate) plans: PerVersion<Plan>,
    /// For copies of base the copy of opt that runs at the same time
    pub(crate) together: HashMap<BlockId, BlockId>,
    /// For both versions' copies, all that were at the same time
    pub(crate) met: HashSet<(BlockId, BlockId)>,
    /// Anchors and branches of both that were taken to be the same, with their copies
    pub(crate) same: Vec<PerVersion<(BlockId, InstId)>>,
}

struct Walk<'a> {
    versions: &'a Versions,
    oracle: &'a dyn Oracle,
    anchors: PerVersion<TiVec<BlockId, Vec<InstId>>>,
    known: PerVersion<HashMap<(BlockId, Label), BlockId>>,
    blocks: PerVersion<TiVec<BlockId, (BlockId, Label)>>,
    /// For each copy and edge where it leads
    successors: PerVersion<TiVec<BlockId, Vec<Option<BlockId>>>>,
    /// For each copy those that lead to it
    sources: PerVersion<TiVec<BlockId, Vec<BlockId>>>,
    /// For copies the states at whose branches it was made use of what leads to them
    decided: PerVersion<HashMap<BlockId, Ordered<State>>>,
    /// Copies of which it was looked at what leads to them
    looked_at: RefCell<Vec<BlockId>>,
    together: HashMap<BlockId, BlockId>,
    met: HashSet<(BlockId, BlockId)>,
    same: Vec<PerVersion<(BlockId, InstId)>>,
    /// For copies behind a branch that both took together, and behind which the version went on
    /// alone, where else the other one may have gone there
    elsewhere: PerVersion<HashMap<BlockId, Ordered<BlockId>>>,
    /// For copies the states for which nothing was found there
    sought: PerVersion<HashMap<BlockId, Ordered<State>>>,
    /// For copies, blocks that they lead to and how well places must go together, how many of the
    /// first of `elsewhere` do not
    unfit: PerVersion<HashMap<(BlockId, BlockId, i32), usize>>,
    /// Whether places fit behind branches
    fit: RefCell<HashMap<PerVersion<Place>, bool>>,
    seen: HashSet<State>,
    work: VecDeque<State>,
    /// Ways that versions may go alone, unless it turns out that they fit better elsewhere; and
    /// those that none may take, as either version's branches say
    later: [VecDeque<(State, Version, BlockId)>; 2],
}

/// Walks through both versions; none if nothing is copied, or too much.
pub(crate) fn unfolded(versions: &Versions, oracle: &dyn Oracle) -> Option<Unfolded> {
    let mut walk = Walk {
        versions,
        oracle,
        anchors: PerVersion::from_fn(|w| anchors(&versions.of[w].graph)),
        known: PerVersion::default(),
        blocks: PerVersion::default(),
        successors: PerVersion::default(),
        sources: PerVersion::default(),
        decided: PerVersion::default(),
        looked_at: RefCell::default(),
        together: HashMap::default(),
        met: HashSet::default(),
        same: Vec::new(),
        elsewhere: PerVersion::default(),
        sought: PerVersion::default(),
        unfit: PerVersion::default(),
        fit: RefCell::default(),
        seen: HashSet::default(),
        work: VecDeque::new(),
        later: Default::default(),
    };
    let entries = PerVersion { base: BlockId::ENTRY, opt: BlockId::ENTRY };
    let copies = walk.copies_of(PerVersion::default(), entries);
    walk.push(State { copies, anchors: PerVersion::default() });
    loop {
        if let Some(state) = walk.work.pop_front() {
            walk.step(state);
        } else if let Some((state, which, to)) = walk.later.iter_mut().find_map(VecDeque::pop_front)
        {
            walk.alone(state, which, to);
        } else {
            break;
        }
        walk.has_room().then_some(())?;
    }
    walk.rest()?;
    walk.pair_crossed();
    // A copy that was made for a guess that another one contradicts may lead nowhere.
    let numbers = PerVersion::from_fn(|w| walk.reached(w));
    let plans = PerVersion::from_fn(|w| walk.plan(w, &numbers[w]));
    let is_trivial = |w: Version| plans[w].is_trivial(&versions.of[w].graph);
    if Version::BOTH.into_iter().all(is_trivial) {
        return None;
    }
    let of = |w: Version, copy: BlockId| numbers[w][copy];
    let both = |(base, opt)| Some((of(Version::Base, base)?, of(Version::Opt, opt)?));
    let same = walk.same.iter().filter_map(|same| {
        let (base, opt) = both((same.base.0, same.opt.0))?;
        Some(PerVersion { base: (base, same.base.1), opt: (opt, same.opt.1) })
    });
    Some(Unfolded {
        same: same.collect(),
        together: walk.together.into_iter().filter_map(both).collect(),
        met: walk.met.into_iter().filter_map(both).collect(),
        plans,
    })
}

fn anchors(graph: &Graph) -> TiVec<BlockId, Vec<InstId>> {
    let of = |block: BlockId| {
        graph.insts(block).iter().filter(|&inst| graph.is_shared_anchor(inst)).collect()
    };
    graph.blocks.keys().map(of).collect()
}

impl Walk<'_> {
    fn version(&self, which: Version) -> &VersionFacts {
        &self.versions.of[which]
    }

    fn has_room(&self) -> bool {
        Version::BOTH.into_iter().all(|which| {
            let count = self.version(which).graph.blocks.len();
            self.blocks[which].len() <= (count * MOST_COPIES).max(LEAST_COPIES)
        })
    }

    /// The copy of a block with a label.
    fn copy(&mut self, which: Version, block: BlockId, label: Label) -> BlockId {
        if let Some(&known) = self.known[which].get(&(block, label)) {
            return known;
        }
        let copy = self.blocks[which].push_and_get_key((block, label));
        let edges = self.version(which).graph.body.blocks[block].edges.len();
        self.successors[which].push(vec![None; edges]);
        self.sources[which].push(Vec::new());
        self.known[which].insert((block, label), copy);
        copy
    }

    fn push(&mut self, state: State) {
        if self.seen.insert(state) {
            self.work.push_back(state);
        }
    }

    /// Where a version comes to from a place without a choice.
    fn settled(&self, which: Version, place: Place) -> Place {
        self.settled_over(which, place, &mut Vec::new())
    }

    /// The same; the blocks that it comes to on its way are added.
    fn settled_over(&self, which: Version, mut place: Place, way: &mut Vec<BlockId>) -> Place {
        let version = self.version(which);
        for _ in 0..version.graph.blocks.len() {
            let (block, anchors) = place;
            match version.live.successors[block][..] {
                [to] if anchors == self.anchors[which][block].len() => {
                    place = (to, 0);
                    way.push(to);
                }
                _ => break,
            }
        }
        place
    }

    /// Where a version comes to from the end of a path, with so many anchors of the last block run,
    /// if it takes the ways that are chosen at its branches.
    fn followed(
        &self,
        which: Version,
        path: Path<'_>,
        anchors: usize,
        choose: impl Fn(Place, InstId, Path<'_>) -> Option<BlockId>,
    ) -> Place {
        let mut blocks = path.blocks.to_vec();
        let mut place = (self.end(which, path), anchors);
        for _ in 0..MOST_BRANCHES {
            place = self.settled_over(which, place, &mut blocks);
            let Next::Branch(branch) = self.next(which, place) else { break };
            let path = Path { copy: path.copy, blocks: &blocks };
            let Some(next) = choose(place, branch, path) else { break };
            blocks.push(next);
            place = (next, 0);
        }
        place
    }

    fn next(&self, which: Version, (block, anchors): Place) -> Next {
        let version = self.version(which);
        match self.anchors[which][block].get(anchors) {
            Some(&anchor) => Next::Anchor(anchor),
            None if version.live.successors[block].is_empty() => Next::End,
            None => Next::Branch(version.graph.terminator(block)),
        }
    }

    /// An edge of a copy leads to a place; false if it leads elsewhere already.
    fn lead(&mut self, which: Version, copy: BlockId, to: BlockId, target: BlockId) -> bool {
        let (block, _) = self.blocks[which][copy];
        let edges = &self.version(which).graph.body.blocks[block].edges;
        let place = edges.iter().position(|edge| edge.to == to).expect("there is the edge");
        let known = &mut self.successors[which][copy][place];
        if known.is_none() {
            *known = Some(target);
            self.sources[which][target].push(copy);
            self.work.extend(self.decided[which].remove(&target).into_iter().flatten());
        }
        *known == Some(target)
    }

    /// The block that a path is in at its end.
    fn end(&self, which: Version, path: Path<'_>) -> BlockId {
        let of_copy = || path.copy.map(|copy| self.blocks[which][copy].0);
        path.blocks.last().copied().or_else(of_copy).expect("a path has a block")
    }

    /// A path without its last block: several, if that is a copy that several lead to.
    fn before<'p>(&self, which: Version, path: Path<'p>) -> Vec<Path<'p>> {
        match (path.blocks.split_last(), path.copy) {
            (Some((_, [])), None) | (None, None) => Vec::new(),
            (Some((_, blocks)), _) => vec![Path { blocks, ..path }],
            (None, Some(copy)) => {
                self.looked_at.borrow_mut().push(copy);
                let sources = self.sources[which][copy].iter();
                sources.map(|&copy| Path { copy: Some(copy), ..path }).collect()
            }
        }
    }

    /// The block that the branch at the end of a path leads to, if the path decides that.
    fn decided(&self, which: Version, path: Path<'_>) -> Option<BlockId> {
        let version = self.version(which);
        let block = self.end(which, path);
        let terminator = version.graph.terminator(block);
        let node = &version.graph.nodes[terminator];
        let condition = *version.graph.operands(terminator).first()?;
        (node.facts.is_conditional() || node.cases.is_some()).then_some(())?;
        // What a branch said is sure; a phi may have further values when the walk has gone on.
        let way = match self.held(which, path, condition, DEEPEST) {
            Some(held) => usize::from(!held),
            None => {
                let constant = self.constant(which, path, condition)?;
                let integer = self.oracle.integer(constant)?;
                node.cases.as_ref().map_or(usize::from(integer == 0), |cases| cases.way(integer))
            }
        };
        version.graph.body.successors(block).nth(way)
    }

    /// Whether a condition held when a branch on a path decided by the same comparison.
    fn held(
        &self,
        which: Version,
        path: Path<'_>,
        condition: Operand,
        deepest: usize,
    ) -> Option<bool> {
        let graph = &self.version(which).graph;
        let definition = graph.definition_of(condition)?;
        let block = self.end(which, path);
        if !graph.nodes[definition].facts.is_phi() || graph.block(definition) != block {
            let compared = Compared::of(graph, definition);
            return self.held_at(which, path, &compared, deepest);
        }
        let held = self.before(which, path).into_iter().map(|source| {
            match graph.incoming(definition, self.end(which, source))? {
                Operand::Constant(constant) => Some(self.oracle.integer(constant)? != 0),
                Operand::Value(value) => {
                    let compared = Compared::of(graph, graph.definition(value)?);
                    self.held_over(which, source, block, &compared, deepest)
                }
            }
        });
        all_same(held)
    }

    /// The same for a comparison of what its operands are at the end of a path.
    fn held_at(
        &self,
        which: Version,
        path: Path<'_>,
        compared: &Compared,
        deepest: usize,
    ) -> Option<bool> {
        let deepest = deepest.checked_sub(1)?;
        let graph = &self.version(which).graph;
        let block = self.end(which, path);
        let held = self.before(which, path).into_iter().map(|source| {
            let compared = compared.before(graph, self.end(which, source), block)?;
            let decided = compared.decided(which, self.oracle);
            decided.or_else(|| self.held_over(which, source, block, &compared, deepest))
        });
        all_same(held)
    }

    /// The same over the edge from the end of a path to a block.
    fn held_over(
        &self,
        which: Version,
        path: Path<'_>,
        to: BlockId,
        compared: &Compared,
        deepest: usize,
    ) -> Option<bool> {
        let VersionFacts { graph, live, .. } = self.version(which);
        let from = self.end(which, path);
        let said = graph.said_over((from, to)).filter(|_| live.taken[from].len() == 2);
        let held = said.and_then(|(by, holds)| self.said_by(which, path, (by, holds), compared));
        held.or_else(|| self.held_at(which, path, compared, deepest))
    }

    /// Whether a comparison holds at the end of a path, if another one says so that held, or not.
    fn said_by(
        &self,
        which: Version,
        path: Path<'_>,
        (by, holds): (Operand, bool),
        compared: &Compared,
    ) -> Option<bool> {
        let graph = &self.version(which).graph;
        let definition = graph.definition_of(by)?;
        let block = self.end(which, path);
        if !graph.nodes[definition].facts.is_phi() || graph.block(definition) != block {
            let known = Compared::of(graph, definition);
            return compared.said_by(graph, (&known, holds), which, self.oracle);
        }
        let [source] = self.before(which, path)[..] else { return None };
        let from = self.end(which, source);
        let by = graph.incoming(definition, from)?;
        self.said_by(which, source, (by, holds), &compared.before(graph, from, block)?)
    }

    fn place(&self, state: State, which: Version) -> Place {
        (self.blocks[which][state.copies[which]].0, state.anchors[which])
    }

    /// A version goes on alone, to a block.
    fn alone(&mut self, state: State, which: Version, to: BlockId) {
        let path = Path { copy: Some(state.copies[which.other()]), blocks: &[] };
        let other = self.beside(which.other(), path, state.anchors[which.other()], (to, 0));
        let is_within = other.1 > 0;
        let label = (other, is_within.then_some(state.copies[which.other()]));
        let target = self.copy(which, to, Some(label));
        if self.lead(which, state.copies[which], to, target) {
            let elsewhere = self.elsewhere[which].get(&state.copies[which]).cloned();
            self.add_elsewhere(which, target, elsewhere.unwrap_or_default());
            let mut state = state;
            state.copies[which] = target;
            state.anchors[which] = 0;
            self.push(state);
        }
    }

    fn step(&mut self, state: State) {
        let places = PerVersion::from_fn(|w| self.place(state, w));
        self.met.insert((state.copies.base, state.copies.opt));
        let of_base = self.versions.tracked.blocks[places.base.0];
        if of_base == Some(places.opt.0) {
            self.together.entry(state.copies.base).or_insert(state.copies.opt);
        }
        for which in Version::BOTH {
            let (block, anchors) = places[which];
            if let [to] = self.version(which).live.successors[block][..]
                && anchors == self.anchors[which][block].len()
            {
                return self.alone(state, which, to);
            }
        }
        match Version::BOTH.map(|w| self.next(w, places[w])) {
            [Next::Anchor(base), Next::Anchor(opt)]
                if self.may_be_same(PerVersion { base, opt }) != Some(false) =>
            {
                self.run_together(state, PerVersion { base, opt });
                let anchors = state.anchors.map(|count| count + 1);
                self.push(State { anchors, ..state });
            }
            [Next::Branch(base), Next::Branch(opt)] => {
                let insts = PerVersion { base, opt };
                if !self.branch_together(insts) {
                    return self.branch_alone(state, self.first(places));
                }
                match self.decided_alone(state, insts) {
                    Some(which) => self.branch_alone(state, which),
                    None => self.both(state, insts),
                }
            }
            [Next::Branch(_), _] => self.branch_alone(state, Version::Base),
            [_, Next::Branch(_)] => self.branch_alone(state, Version::Opt),
            _ => {}
        }
    }

    /// The version whose branch, but not the other one's, is decided by constants where control
    /// came to it, as that of a loop is whose other version was unrolled: if tracking does not say
    /// that they are the same, and they do not compare alike either.
    fn decided_alone(&self, state: State, insts: PerVersion<InstId>) -> Option<Version> {
        let [(base, _), (opt, _)] = self.compares(insts)?;
        (self.may_be_same(insts) != Some(true) && base != opt).then_some(())?;
        let is_decided = |which: Version| {
            let path = Path { copy: Some(state.copies[which]), blocks: &[] };
            let condition = self.version(which).graph.operands(insts[which])[0];
            self.constant(which, path, condition).is_some()
        };
        match Version::BOTH.map(is_decided) {
            [true, false] => Some(Version::Base),
            [false, true] => Some(Version::Opt),
            _ => None,
        }
    }

    fn run_together(&mut self, state: State, insts: PerVersion<InstId>) {
        self.together.entry(state.copies.base).or_insert(state.copies.opt);
        self.same.push(PerVersion::from_fn(|w| (state.copies[w], insts[w])));
    }

    /// Which of two versions goes on first that stand at branches which they do not take together:
    /// the one whose branch the other one does not have, or the one that decides in several steps
    /// what the other one decides at once.
    fn first(&self, places: PerVersion<Place>) -> Version {
        let is_elsewhere = |w: Version| match self.next(w, places[w]) {
            Next::Branch(branch) => self.is_elsewhere(w, branch),
            Next::Anchor(_) | Next::End => false,
        };
        if let [Next::Branch(base), Next::Branch(opt)] =
            Version::BOTH.map(|w| self.next(w, places[w]))
            && let Some(half) = self.half(PerVersion { base, opt })
        {
            return half;
        }
        match (is_elsewhere(Version::Base), is_elsewhere(Version::Opt)) {
            (true, false) => return Version::Opt,
            (false, true) => return Version::Base,
            _ => {}
        }
        let count = |w: Version| match self.next(w, places[w]) {
            Next::Branch(branch) => self.count_ways(w, branch),
            Next::Anchor(_) | Next::End => 0,
        };
        match count(Version::Base).cmp(&count(Version::Opt)) {
            Ordering::Less => return Version::Base,
            Ordering::Greater => return Version::Opt,
            Ordering::Equal => {}
        }
        let ahead = |w: Version| {
            let ways = self.ways(w, places[w], places[w.other()]);
            ways.into_iter().map(|(score, ..)| score).max().unwrap_or(0)
        };
        match ahead(Version::Base) >= ahead(Version::Opt) {
            true => Version::Base,
            false => Version::Opt,
        }
    }

    /// The places that the ways of a branch lead to, while the other version stands still, with how
    /// well they go together.
    fn ways(&self, which: Version, (block, _): Place, other: Place) -> Vec<(i32, Place, BlockId)> {
        let other = self.settled(which.other(), other);
        let ways = self.version(which).live.successors[block].iter().map(|&to| {
            let place = self.settled(which, (to, 0));
            let both = PerVersion::from_fn(|w| if w == which { place } else { other });
            (self.score(both), place, to)
        });
        ways.collect()
    }

    /// Where a version comes to from the end of a path, with so many anchors of the last block run,
    /// before the other one goes on from its place, as far as that is clear: it may have branches
    /// of its own on the way.
    fn beside(&self, which: Version, path: Path<'_>, anchors: usize, other: Place) -> Place {
        let other = self.settled(which.other(), other);
        self.followed(which, path, anchors, |place, branch, path| {
            if let Next::Branch(of_other) = self.next(which.other(), other) {
                let insts = |w: Version| if w == which { branch } else { of_other };
                let places = PerVersion::from_fn(|w| if w == which { place } else { other });
                if self.branch_together(PerVersion::from_fn(insts)) || self.first(places) != which {
                    return None;
                }
            }
            self.decided(which, path).or_else(|| self.likely(which, place, other))
        })
    }

    /// The only way of a branch that leads to what goes with where the other version stands.
    fn likely(&self, which: Version, place: Place, other: Place) -> Option<BlockId> {
        let ways = self.ways(which, place, other);
        let best = ways.iter().map(|&(score, ..)| score).max().filter(|&best| best > 0)?;
        let mut likely = ways.iter().filter(|&&(score, ..)| score == best);
        let &(_, first, to) = likely.next()?;
        likely.all(|&(_, place, _)| place == first).then_some(to)
    }

    /// A version takes all ways of a branch that the other one does not have, and of one that it
    /// has elsewhere those that lead to where the other one stands: it knew there how that
    /// decides.
    fn branch_alone(&mut self, state: State, which: Version) {
        let copy = state.copies[which];
        let place = self.place(state, which);
        self.looked_at.take();
        if let Some(to) = self.decided(which, Path { copy: Some(copy), blocks: &[] }) {
            for of in self.looked_at.take() {
                self.decided[which].entry(of).or_default().insert(state);
            }
            if self.version(which).live.successors[place.0].contains(&to) {
                self.alone(state, which, to);
            }
            return;
        }
        let ways = self.ways(which, place, self.place(state, which.other()));
        let branch = self.version(which).graph.terminator(place.0);
        let other = self.settled(which.other(), self.place(state, which.other()));
        // The other one comes to its anchor whatever this one decides.
        let waits = matches!(self.next(which.other(), other), Next::Anchor(_));
        let is_clear = ways.iter().any(|&(score, ..)| score >= SURE);
        let least = i32::from(self.is_elsewhere(which, branch) || waits || is_clear);
        for (score, place, to) in ways {
            let both = PerVersion::from_fn(|w| if w == which { place } else { other });
            if score < SURE && self.aside(state, which, to, SURE) {
                continue;
            }
            if self.is_excluded(state, which, to) {
                self.later[1].push_back((state, which, to));
                continue;
            }
            if score >= least {
                self.alone(state, which, to);
            } else if self.fit(both) {
                self.later[0].push_back((state, which, to));
            } else {
                self.aside(state, which, to, 2);
            }
        }
    }

    /// True if the branches on both versions' ways to here leave no way to a block.
    fn is_excluded(&self, state: State, which: Version, to: BlockId) -> bool {
        let said = |of: Version, edge: (BlockId, BlockId)| {
            Said::over(self.versions, self.oracle, of, edge)
        };
        let Some(here) = said(which, (self.place(state, which).0, to)) else { return false };
        Version::BOTH.into_iter().any(|w| {
            let (mut at, mut run) = (state.copies[w], Vec::new());
            for _ in 0..DEEPEST {
                let [from] = self.sources[w][at][..] else { break };
                let (to, of) = (self.blocks[w][at].0, self.blocks[w][from].0);
                run.push(to);
                if let Some(before) = said(w, (of, to))
                    && !before.is_computed_in(&run)
                    && before.excludes(&here)
                {
                    return true;
                }
                at = from;
            }
            false
        })
    }

    /// A version goes, alone, to a block that goes better with where the other one would be if that
    /// had decided otherwise: it decides at once what the version decides in several steps. False
    /// if there is no place that it goes together with so well.
    fn aside(&mut self, state: State, which: Version, to: BlockId, least: i32) -> bool {
        let copy = state.copies[which];
        let elsewhere = self.elsewhere[which].get(&copy);
        let key = (copy, to, least);
        let unfit = self.unfit[which].get(&key).copied().unwrap_or_default();
        let place = self.settled(which, (to, 0));
        let fits = |&&other: &&BlockId| {
            let there = self.settled(which.other(), (other, 0));
            self.score(PerVersion::from_fn(|w| if w == which { place } else { there })) >= least
        };
        if let Some(&other) = elsewhere.into_iter().flatten().skip(unfit).find(fits) {
            // The other version went elsewhere before.
            let sources = PerVersion::from_fn(|w| (w == which).then_some(copy));
            let both = PerVersion::from_fn(|w| if w == which { to } else { other });
            let copies = self.copies_of(sources, both);
            if self.lead(which, copy, to, copies[which]) {
                self.push(State { copies, anchors: PerVersion::default() });
            }
            return true;
        }
        let count = elsewhere.map_or(0, Ordered::len);
        self.unfit[which].insert(key, count);
        self.sought[which].entry(copy).or_default().insert(state);
        false
    }

    /// Where else the other version may have gone where a copy was entered; what was looked for
    /// there before is looked for again.
    fn add_elsewhere(
        &mut self,
        which: Version,
        copy: BlockId,
        others: impl IntoIterator<Item = BlockId>,
    ) {
        let known = self.elsewhere[which].entry(copy).or_default();
        let count = known.len();
        known.extend(others);
        if known.len() > count {
            self.work.extend(self.sought[which].remove(&copy).into_iter().flatten());
        }
    }

    /// True if places behind branches of one version go together.
    fn fit(&self, places: PerVersion<Place>) -> bool {
        if let Some(&known) = self.fit.borrow().get(&places) {
            return known;
        }
        let fits = self.fit_behind(places, MOST_AHEAD);
        self.fit.borrow_mut().insert(places, fits);
        fits
    }

    /// The same for so many branches.
    fn fit_behind(&self, places: PerVersion<Place>, branches: usize) -> bool {
        let next = PerVersion::from_fn(|w| self.next(w, places[w]));
        let which = match (next.base, next.opt) {
            (Next::Branch(_), Next::Branch(_)) => self.first(places),
            (Next::Branch(_), _) => Version::Base,
            (_, Next::Branch(_)) => Version::Opt,
            _ => return false,
        };
        let other = places[which.other()];
        branches > 0
            && self.ways(which, places[which], other).iter().any(|&(score, place, _)| {
                let both = PerVersion::from_fn(|w| if w == which { place } else { other });
                score >= SURE || self.fit_behind(both, branches - 1)
            })
    }

    /// The copies of blocks that both versions enter at the same time, from copies.
    fn copies_of(
        &mut self,
        sources: PerVersion<Option<BlockId>>,
        blocks: PerVersion<BlockId>,
    ) -> PerVersion<BlockId> {
        PerVersion::from_fn(|w| {
            let way = [blocks[w.other()]];
            let path = Path { copy: sources[w.other()], blocks: &way };
            let label = self.beside(w.other(), path, 0, (blocks[w], 0));
            self.copy(w, blocks[w], Some((label, None)))
        })
    }

    /// How well two places go together.
    fn score(&self, places: PerVersion<Place>) -> i32 {
        let next = PerVersion::from_fn(|w| self.next(w, places[w]));
        let blocks = self.versions.tracked.blocks[places.base.0] == Some(places.opt.0);
        let of_blocks = i32::from(blocks && places.base.1 == places.opt.1);
        of_blocks
            + match (next.base, next.opt) {
                (Next::Anchor(base), Next::Anchor(opt))
                | (Next::Branch(base), Next::Branch(opt)) => {
                    match self.may_be_same(PerVersion { base, opt }) {
                        Some(true) => SURE,
                        None => 1 + i32::from(matches!(next.base, Next::Anchor(_))),
                        Some(false) if matches!(next.base, Next::Anchor(_)) => -SURE,
                        Some(false) => 0,
                    }
                }
                (Next::Anchor(_), Next::End) | (Next::End, Next::Anchor(_)) => -SURE,
                (Next::End, Next::End) => {
                    let ends = |w: Version| self.version(w).graph.terminator(places[w].0);
                    2 * i32::from(self.may_be_same(PerVersion::from_fn(ends)) == Some(true))
                }
                _ => 0,
            }
    }

    /// Both versions branch together.
    fn both(&mut self, state: State, insts: PerVersion<InstId>) {
        self.run_together(state, insts);
        let blocks = PerVersion::from_fn(|w| self.place(state, w).0);
        let taken = PerVersion::from_fn(|w| &self.version(w).live.taken[blocks[w]]);
        let mut taken_together: Vec<PerVersion<usize>> = std::iter::zip(taken.base, taken.opt)
            .map(|(&base, &opt)| PerVersion { base, opt })
            .collect();
        if let Some(cases) = self.cases(insts) {
            taken_together = Cases::ways_together(cases);
            taken_together.retain(|way| Version::BOTH.iter().all(|&w| taken[w].contains(&way[w])));
        }
        let is_conditional = Version::BOTH
            .into_iter()
            .all(|w| self.version(w).graph.nodes[insts[w]].facts.is_conditional());
        let successors = PerVersion::from_fn(|w| {
            self.version(w).graph.body.successors(blocks[w]).collect::<Vec<BlockId>>()
        });
        let to = |way: &PerVersion<usize>| PerVersion::from_fn(|w| successors[w][way[w]]);
        let mut ways: Vec<PerVersion<BlockId>> = taken_together.iter().map(to).collect();
        if let [first, second] = &ways[..]
            && is_conditional
        {
            // Behind branches of their own they may go together where else it is even.
            let copies = state.copies;
            let score = |swapped: bool| {
                let of = |n: usize| {
                    let opt = ways[n ^ usize::from(swapped)].opt;
                    let to = PerVersion { base: ways[n].base, opt };
                    let settled = PerVersion::from_fn(|w| self.settled(w, (to[w], 0)));
                    let target = to.map(|block| [block]);
                    let path = |w: Version| Path { copy: Some(copies[w]), blocks: &target[w] };
                    let beside =
                        PerVersion::from_fn(|w| self.beside(w, path(w), 0, (to[w.other()], 0)));
                    // What comes in may decide branches.
                    let decided = PerVersion::from_fn(|w| {
                        self.followed(w, path(w), 0, |_, _, path| self.decided(w, path))
                    });
                    [settled, beside, decided].map(|places| self.score(places))
                };
                let [first, second] = [0, 1].map(of);
                [0, 1, 2].map(|place| first[place] + second[place])
            };
            let [swapped, straight] = [true, false].map(score);
            // Where it is even all the same, the comparisons may be each other's inverses.
            let are_inverse = || {
                self.compares(insts).is_some_and(|[(base, of_base), (opt, of_opt)]| {
                    base == opt && of_base != of_opt
                })
            };
            if swapped > straight || (swapped == straight && are_inverse()) {
                let swapped = [
                    PerVersion { base: first.base, opt: second.opt },
                    PerVersion { base: second.base, opt: first.opt },
                ];
                ways = swapped.into();
            }
        }
        let sources = state.copies.map(Some);
        for &way in &ways {
            let copies = self.copies_of(sources, way);
            for which in Version::BOTH {
                let others = ways.iter().map(|way| way[which.other()]);
                let others = others.filter(|&block| block != way[which.other()]);
                self.add_elsewhere(which, copies[which], others);
            }
            let leads = Version::BOTH.map(|w| self.lead(w, state.copies[w], way[w], copies[w]));
            if leads == [true, true] {
                self.push(State { copies, anchors: PerVersion::default() });
            }
        }
    }

    /// Pairs copies of blocks that are only crossed: versions do not stand there at one time.
    fn pair_crossed(&mut self) {
        let copies = PerVersion::from_fn(|w| {
            let mut copies: HashMap<BlockId, Vec<BlockId>> = HashMap::default();
            for (copy, &(block, _)) in self.blocks[w].iter_enumerated() {
                copies.entry(block).or_default().push(copy);
            }
            copies
        });
        for (copy, &(block, label)) in self.blocks.base.iter_enumerated() {
            let Some(tracked) = self.versions.tracked.blocks[block] else { continue };
            let places = PerVersion { base: (block, 0), opt: (tracked, 0) };
            let beside = |w: Version| {
                let path = Path { copy: None, blocks: &[places[w].0] };
                Some((self.beside(w, path, 0, places[w.other()]), None))
            };
            let there = self.known.opt.get(&(tracked, beside(Version::Base))).copied();
            let there = there.filter(|_| label == beside(Version::Opt));
            let only = || match (&copies.base[&block][..], copies.opt.get(&tracked)?.as_slice()) {
                ([_], &[only]) => Some(only),
                _ => None,
            };
            if let Some(other) = there.or_else(only) {
                self.together.entry(copy).or_insert(other);
            }
        }
    }
}
