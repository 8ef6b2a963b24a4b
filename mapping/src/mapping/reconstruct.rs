//! Compensation code for one point and one landing (thesis Alg. 8 `build_comp`, Alg. 9
//! `reconstruct`, and its four strengths of 4.2.5).
//!
//! A value of the destination is a value of the source that is congruent to it, or it is made again
//! from its operands, which are reconstructed the same way. What can be used of the source:
//!
//! | variant | source values |
//! |---|---|
//! | `live` | the one that tracking names, if it is live |
//! | `live-e` | arguments too, live or not; phis that merge one value are looked through |
//! | `alias` | any congruent value that is live |
//! | `avail` | any congruent value that dominates the point: it is kept alive for it |
//!
//! A load is made again if nothing may have written to its place since (the thesis's suggestion in
//! 5.4.4). A phi that a single branch decides ([`super::gates`]) is made again as a select of the
//! branch's condition. What only one side of the branch has computed is made again there if it
//! cannot trap, from values that are there on either side. What the source has extended is the
//! lowest bits of that. Anchors, other phis, allocas, and freezes of what may be poison never are
//! made again, but for an alloca of base that only ever has a constant
//! ([`crate::versions::graph::Node::local_constant`]).

use crate::mapping::marks::Marks;
use crate::mapping::side::Side;
use crate::proof::Proof;
use crate::proof::congruence::value_over;
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::Number;
use crate::versions::graph::{ConstId, Operand, Oracle};
use crate::versions::version::PerVersion;
use midflight_ir::ids::{InstId, ValueId};
use midflight_profile::osr_maps::{self, sources};
use std::borrow::Cow;
use std::cell::RefCell;

/// How strong reconstruction is; each strength can do what the former can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// `live`
    Live,
    /// `live(e)`
    LiveE,
    /// `alias`
    Alias,
    /// `avail`
    Avail,
}

/// All strengths, the weakest first.
pub const VARIANTS: [Variant; 4] = [Variant::Live, Variant::LiveE, Variant::Alias, Variant::Avail];

/// Longer chains of operations are not made again.
const DEEPEST: usize = 256;

/// How a value of the destination is reconstructed, with the numbers of code that a compiler writer
/// gave.
pub type Expr = osr_maps::Expr<ValueId, InstId, ConstId, usize>;

/// What the source runs before it is left.
pub type Ahead = osr_maps::Ahead<InstId>;

/// A store that opt still owes to memory when base goes on.
pub type OwedStore = osr_maps::OwedStore<InstId>;

/// Where execution goes on that leaves a version at a point, and how the values that it needs there
/// are reconstructed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointMap {
    /// Before this instruction of the destination
    pub landing: InstId,
    /// The values of the destination that are live there, each with its expression
    pub values: Vec<(ValueId, usize)>,
    /// The expressions; each uses former ones only
    pub exprs: Vec<Expr>,
    /// What is stored before execution goes on
    pub stores: Vec<OwedStore>,
    /// At the landing memory may not be what the destination would have, in places that it does not
    /// read.
    pub differs: bool,
    /// The values of the source that are used when it is left, sorted
    pub sources: Vec<ValueId>,
    /// How far the source runs before it is left, if it does
    pub ahead: Option<Ahead>,
    /// The values that it has at the point, that are used then or later, and that are neither live
    /// there nor arguments: the keep set, sorted
    pub keep: Vec<ValueId>,
}

impl PointMap {
    /// The identity, to a copy: the values live at the point are passed as they are.
    pub fn identity(at: InstId, live: &[ValueId]) -> Self {
        PointMap {
            landing: at,
            values: live.iter().copied().zip(0..).collect(),
            exprs: live.iter().map(|&value| Expr::Source { source: value }).collect(),
            stores: Vec::new(),
            differs: false,
            sources: live.to_vec(),
            ahead: None,
            keep: Vec::new(),
        }
    }

    /// Number of instructions of the compensation code, |χ|
    pub fn size(&self) -> usize {
        let is_leaf = |e: &&Expr| matches!(e, Expr::Source { .. } | Expr::Constant { .. });
        let made = self.exprs.len() - self.exprs.iter().filter(is_leaf).count();
        let run = self.ahead.as_ref().map_or(0, |ahead| ahead.runs.len());
        run + made + self.stores.len()
    }

    /// What the landing costs, to choose between landings
    pub fn cost(&self) -> usize {
        self.size() + self.keep.len()
    }
}

/// A value of the destination that cannot be reconstructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// It is live at the landing.
    pub value: ValueId,
    /// What it depends on and cannot be reconstructed either: itself, or an operand's operand
    pub because: ValueId,
}

/// How a point that is in a silent chain gets to where it lands.
#[derive(Clone, Copy)]
pub struct Over<'a> {
    /// The pair at whose head it lands
    pub pair: PairId,
    /// The ways there
    pub walks: &'a [Walk],
}

/// A place of a version.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The version
    pub side: &'a Side,
    /// Before this instruction
    pub at: InstId,
    /// In the proved version before these ones: those of the other place are reached at the same
    /// times, in the same order.
    pub copies: &'a [InstId],
    /// It is known how control came there: what was computed on all ways to these may be used.
    pub is_way: bool,
}

/// A point and a landing.
pub struct Reconstruct<'a> {
    /// What is proved
    pub proof: &'a Proof,
    /// What LLVM answers
    pub oracle: &'a dyn Oracle,
    /// Where a version is left
    pub source: Place<'a>,
    /// Where the other one is entered
    pub destination: Place<'a>,
    /// If the point is in a silent chain, the way
    pub over: Option<Over<'a>>,
    /// What may be used
    pub variant: Variant,
    /// Memory is what the destination would have, so that loads can be made again.
    pub reloads: bool,
    /// Values of the source that must not be kept
    pub without: &'a [ValueId],
    /// What memory may not have as the destination would have it
    pub memory: &'a Memory,
    /// For what is known of values meanwhile
    pub marks: &'a RefCell<Marks>,
}

/// What memory may not have at a landing: what is in places that versions write to at different
/// times.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// There are such places: what may have been written there is not loaded again.
    pub differs: bool,
    /// Places that must be written to, with what they must have, if that is known
    pub owed: Vec<(StoredTo, Option<Numbers>)>,
    /// What the others have at the point
    pub has: Vec<(StoredTo, Numbers)>,
}

/// A place in memory: for each version a store to it. Its address can be computed at the landing.
pub type StoredTo = PerVersion<InstId>;

/// What a value is wherever a point is in the proved versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// It has one number.
    One(Number),
    /// For each copy of the point the number
    Each(Vec<Number>),
}

/// Work in progress.
#[derive(Default)]
struct State {
    exprs: Vec<Expr>,
    marks: Marks,
    /// Number of values that are being looked for
    depth: usize,
    /// What is made now may never have been computed: it is of one side of a branch.
    is_side: bool,
    /// What initializes the local constants that are made again
    locals: Vec<OwedStore>,
    blame: Option<ValueId>,
}

impl Reconstruct<'_> {
    /// Has all values that are live at the landing.
    ///
    /// # Errors
    /// A value that is live there and cannot be reconstructed.
    pub fn point(&self) -> Result<PointMap, Missing> {
        let mut state = State { marks: self.marks.take(), ..State::default() };
        state.marks.begin(self.destination.side.graph(&self.proof.versions).body.code.num_values());
        let result = self.point_with(&mut state);
        self.marks.replace(state.marks);
        result
    }

    fn point_with(&self, state: &mut State) -> Result<PointMap, Missing> {
        let mut values = Vec::new();
        for &value in self.destination.side.landing(self.destination.at) {
            match self.value(state, value, true) {
                Some(expr) => values.push((value, expr)),
                None => return Err(Missing { value, because: state.blame.unwrap_or(value) }),
            }
        }
        let mut stores = Vec::new();
        for (place, numbers) in &self.memory.owed {
            let graph = &self.proof.versions.of.base.graph;
            let stored = match graph.operands(place.base)[0] {
                Operand::Value(value) => value,
                Operand::Constant(_) => graph.result(place.base),
            };
            let missing = || Missing { value: stored, because: stored };
            let value = numbers.as_ref().and_then(|numbers| self.equal_to(state, numbers));
            let value = value.ok_or_else(missing)?;
            let address = self.address(state, *place).ok_or_else(missing)?;
            stores.push(OwedStore { store: place.base, value, address });
        }
        Ok(self.finish(&state.exprs, &values, stores, &state.locals))
    }

    /// The address of a place.
    fn address(&self, state: &mut State, place: StoredTo) -> Option<usize> {
        let to = self.destination.side.which;
        match self.proof.versions.graph(to).operands(place[to])[1] {
            Operand::Constant(constant) => Some(add(state, Expr::Constant { constant })),
            Operand::Value(value) => self.value(state, value, true),
        }
    }

    /// An expression for what has these numbers, whatever value of the destination that is.
    fn equal_to(&self, state: &mut State, numbers: &Numbers) -> Option<usize> {
        if let Some(constant) = self.constant(numbers) {
            return Some(add(state, Expr::Constant { constant }));
        }
        if self.variant < Variant::Alias {
            return None;
        }
        if let Some(source) = self.source_with(numbers, self.variant == Variant::Avail) {
            return Some(add(state, Expr::Source { source }));
        }
        let others = self.members(self.destination, numbers);
        let there = |&other: &ValueId| {
            self.destination.side.is_available(&self.proof.versions, other, self.destination.at)
        };
        let mut others = others.iter().copied().filter(there);
        others.find_map(|other| self.value(state, other, true))
    }

    /// A value of the source with these numbers that need not be kept, or else may be.
    fn source_with(&self, numbers: &Numbers, may_keep: bool) -> Option<ValueId> {
        let members = self.members(self.source, numbers);
        let free = members.iter().copied().find(|&m| self.is_free(m));
        let kept = || members.iter().rev().copied().find(|&m| may_keep && self.is_available(m));
        free.or_else(kept)
    }

    /// Leaves only what is used.
    fn finish(
        &self,
        exprs: &[Expr],
        values: &[(ValueId, usize)],
        mut stores: Vec<OwedStore>,
        locals: &[OwedStore],
    ) -> PointMap {
        let mut used = vec![false; exprs.len()];
        values.iter().for_each(|&(_, e)| used[e] = true);
        stores.iter().for_each(|store| (used[store.value], used[store.address]) = (true, true));
        for e in (0..exprs.len()).rev() {
            if used[e] {
                exprs[e].operands().iter().for_each(|&o| used[o] = true);
            }
        }
        let used_locals = locals.iter().filter(|local| used[local.address]);
        stores.extend(used_locals.copied());
        stores.iter().for_each(|store| used[store.value] = true);
        let mut place = vec![0; exprs.len()];
        let mut kept: Vec<Expr> = Vec::new();
        for e in (0..exprs.len()).filter(|&e| used[e]) {
            place[e] = kept.len();
            kept.push(exprs[e].clone().with_operands(|o| place[o]));
        }
        let sources = sources(&kept);
        let keep = sources.iter().copied();
        let keep = keep.filter(|&v| !self.is_live(v) && !self.is_argument(v)).collect();
        PointMap {
            landing: self.destination.at,
            values: values.iter().map(|&(value, e)| (value, place[e])).collect(),
            exprs: kept,
            stores: stores.iter().map(|store| store.map(|inst| inst, |e| place[e])).collect(),
            differs: self.memory.differs || !self.reloads,
            ahead: None,
            sources,
            keep,
        }
    }

    fn is_live(&self, value: ValueId) -> bool {
        self.source.side.live(self.source.at).binary_search(&value).is_ok()
    }

    /// Alg. 9: an expression for a value of the destination.
    fn value(&self, state: &mut State, value: ValueId, may_keep: bool) -> Option<usize> {
        if let Some(expr) = state.marks.done(value) {
            return Some(expr);
        }
        let may_keep = may_keep && self.variant == Variant::Avail;
        let way = usize::from(may_keep) + 2 * usize::from(state.is_side);
        let is_deep = state.depth == DEEPEST;
        if is_deep || state.marks.has_failed(value, way) || !state.marks.set_open(value, true) {
            return None;
        }
        state.depth += 1;
        let expr = self
            .local_constant(state, value)
            .or_else(|| self.direct(value).map(|expr| add(state, expr)))
            .or_else(|| self.again(state, value, false))
            .or_else(|| {
                may_keep.then_some(())?;
                let kept = self.kept(value).map(|expr| add(state, expr));
                kept.or_else(|| self.again(state, value, true))
            })
            .or_else(|| self.in_memory(state, value))
            .or_else(|| self.narrowed(state, value, may_keep));
        state.depth -= 1;
        state.marks.set_open(value, false);
        match expr {
            Some(expr) => state.marks.set_done(value, expr),
            None => {
                state.marks.set_failed(value, way);
                state.blame.get_or_insert(value);
            }
        }
        expr
    }

    /// A local constant of base: opt does not have it, but only the constant itself.
    fn local_constant(&self, state: &mut State, value: ValueId) -> Option<usize> {
        let graph = self.proof.versions.graph(self.destination.side.which);
        let alloca = graph.definition(value)?;
        let copy = graph.nodes[alloca].local_constant?;
        // It is copied as soon as there is an address: loads may be made again.
        let value = self.operand(state, graph.operands(copy)[1], false)?;
        let address = add(state, Expr::Repeat { repeat: alloca, of: Vec::new() });
        state.locals.push(OwedStore { store: copy, value, address });
        Some(address)
    }

    /// A constant, or a value of the source that need not be kept for it.
    fn direct(&self, value: ValueId) -> Option<Expr> {
        if let Some(over) = self.over_head(value) {
            return over.filter(|expr| match expr {
                Expr::Source { source } => self.is_free(*source),
                _ => true,
            });
        }
        // An argument stands for itself: at all landings it is reconstructed the same way.
        if self.is_argument(value) {
            return self.is_free(value).then_some(Expr::Source { source: value });
        }
        let numbers = self.numbers(self.destination, value)?;
        if let Some(constant) = self.constant(&numbers) {
            return Some(Expr::Constant { constant });
        }
        if self.is_ahead(value) {
            return None;
        }
        let same = self.proof.counterpart(self.destination.side.which, value);
        let members = self.members(self.source, &numbers);
        let named = same.filter(|s| members.contains(s) && self.is_live(*s));
        let argument = || {
            let usable = self.variant >= Variant::LiveE;
            members.iter().copied().find(|&m| usable && self.is_argument(m))
        };
        let alias = || {
            let usable = self.variant >= Variant::Alias;
            members.iter().copied().find(|&m| usable && self.is_live(m))
        };
        named.or_else(alias).or_else(argument).map(|source| Expr::Source { source })
    }

    /// What a value is at a place; none if that is not known.
    fn numbers(&self, place: Place<'_>, value: ValueId) -> Option<Numbers> {
        let (which, of) = (place.side.which, &self.proof.congruence.of);
        if self.proof.product.is_none() {
            return Some(Numbers::One(of[which][value]));
        }
        let there = |&copy: &InstId| {
            let there = match place.is_way {
                true => self.proof.last(which, value, copy),
                false => self.proof.reaching(which, value, copy),
            };
            Some(of[which][there?])
        };
        place.copies.iter().map(there).collect::<Option<_>>().map(Numbers::Each)
    }

    /// The constant that a value is everywhere.
    fn constant(&self, numbers: &Numbers) -> Option<ConstId> {
        let constant = |&number: &Number| self.proof.congruence.constant(number);
        match numbers {
            Numbers::One(number) => constant(number),
            Numbers::Each(numbers) => {
                let first = numbers.first()?;
                numbers.iter().all(|number| number == first).then(|| constant(first)).flatten()
            }
        }
    }

    /// The values that are the same at a place; sorted.
    fn members<'s>(&self, place: Place<'s>, numbers: &Numbers) -> Cow<'s, [ValueId]> {
        let congruence = &self.proof.congruence;
        match numbers {
            Numbers::One(number) => Cow::Borrowed(place.side.members(congruence, *number)),
            Numbers::Each(all) => {
                let first = all.first().map_or(&[][..], |&n| place.side.members(congruence, n));
                let folded = |&value: &ValueId| self.proof.folded_value(place.side.which, value);
                let mut values: Vec<ValueId> = first.iter().map(folded).collect();
                values.sort_unstable();
                values.dedup();
                values.retain(|&value| self.numbers(place, value).as_ref() == Some(numbers));
                Cow::Owned(values)
            }
        }
    }

    fn is_argument(&self, value: ValueId) -> bool {
        self.proof.versions.of.base.graph.definition(value).is_none()
    }

    /// True if it need not be kept.
    fn is_free(&self, source: ValueId) -> bool {
        self.is_live(source) || (self.variant >= Variant::LiveE && self.is_argument(source))
    }

    /// True for what the chain that is entered over a silent one computes itself, or what is
    /// computed on every way into it: what the source has of it is from the last time.
    fn is_ahead(&self, value: ValueId) -> bool {
        let Some(over) = self.over else { return false };
        let to = self.destination.side.which;
        let version = &self.proof.proved().of[to];
        let is_ahead = |inst: InstId| {
            let chain = version.chains.of_block[version.graph.block(inst)];
            chain.and_then(|chain| self.proof.matching.enters[to][chain]) == Some(over.pair)
        };
        let of_version = self.proof.versions.graph(to);
        let Some(inst) = of_version.definition(value) else { return false };
        let reaching = self.destination.copies.iter();
        let mut reaching = reaching.filter_map(|&copy| self.proof.reaching(to, value, copy));
        self.proof.instances(to, inst).into_iter().any(is_ahead)
            || reaching.any(|value| version.graph.definition(value).is_some_and(is_ahead))
    }

    /// For a phi that is entered over a silent chain: what comes in there. The outer option says
    /// whether it is such a phi.
    fn over_head(&self, value: ValueId) -> Option<Option<Expr>> {
        let over = self.over?;
        let (from, to) = (self.source.side.which, self.destination.side.which);
        let (versions, matching) = (self.proof.proved(), &self.proof.matching);
        let of_version = self.proof.versions.graph(to);
        let phi = of_version.definition(value);
        let phi = phi.filter(|&inst| of_version.nodes[inst].facts.is_phi())?;
        let graph = versions.graph(to);
        let is_entered =
            |inst: InstId| matching.entered(versions, to, graph.block(inst)) == Some(over.pair);
        let phi = self.proof.instances(to, phi).into_iter().find(|&phi| is_entered(phi))?;
        let number = self.proof.congruence.of[to][graph.result(phi)];
        let of_source = versions.graph(from);
        let same = matching
            .entry_phis(versions, from, over.pair)
            .find(|&other| self.proof.congruence.of[from][of_source.result(other)] == number)?;
        let congruence = &self.proof.congruence;
        let over_walk = |walk: &Walk| value_over(versions, congruence, from, same, walk);
        let mut incoming = over.walks.iter().map(over_walk);
        let first = incoming.next().flatten();
        let all_same = incoming.all(|other| other == first);
        Some(first.filter(|_| all_same).and_then(|operand| match operand {
            Operand::Constant(constant) => Some(Expr::Constant { constant }),
            Operand::Value(proved) => {
                let source = self.proof.folded_value(from, proved);
                let is_there = self
                    .source
                    .copies
                    .iter()
                    .all(|&copy| self.proof.reaching(from, source, copy) == Some(proved));
                (is_there && self.is_available(source)).then_some(Expr::Source { source })
            }
        }))
    }

    fn is_available(&self, source: ValueId) -> bool {
        self.source.side.is_useful(&self.proof.versions, source)
            && !self.without.contains(&source)
            && (self.source.side.is_available(&self.proof.versions, source, self.source.at)
                || self.is_carried(source))
    }

    /// True for a value of the source that is there only since control came there as it did.
    fn is_carried(&self, source: ValueId) -> bool {
        let Place { side, copies, is_way, .. } = self.source;
        let graph = side.graph(&self.proof.versions);
        let is_plain = |inst: InstId| !graph.nodes[inst].facts.is_terminator();
        let mut copies = copies.iter();
        let can = is_way && graph.definition(source).is_some_and(is_plain);
        can && copies.all(|&copy| self.proof.last(side.which, source, copy).is_some())
    }

    /// A value of the source that is kept for the point.
    fn kept(&self, value: ValueId) -> Option<Expr> {
        if let Some(over) = self.over_head(value) {
            return over;
        }
        if self.is_ahead(value) {
            return None;
        }
        let numbers = self.numbers(self.destination, value)?;
        let members = self.members(self.source, &numbers);
        members
            .iter()
            .copied()
            .rev()
            .find(|&m| self.is_available(m))
            .map(|source| Expr::Source { source })
    }

    /// What base has in memory and opt in a register.
    fn in_memory(&self, state: &mut State, value: ValueId) -> Option<usize> {
        if self.variant < Variant::Alias || self.memory.has.is_empty() {
            return None;
        }
        let numbers = self.numbers(self.destination, value)?;
        let has = self.memory.has.iter().filter(|(_, there)| *there == numbers);
        has.map(|&(place, _)| place).find_map(|place| {
            let address = self.address(state, place)?;
            Some(add(state, Expr::Content { content: place.base, address }))
        })
    }

    /// What the source has extended: the lowest bits of that. (A pass gave a loop counter more
    /// bits.)
    fn narrowed(&self, state: &mut State, value: ValueId, may_keep: bool) -> Option<usize> {
        let is_new = self.over_head(value).is_some() || self.is_ahead(value);
        (self.variant >= Variant::Alias && !is_new).then_some(())?;
        self.destination.side.extensions(value).iter().find_map(|&extension| {
            let numbers = self.numbers_of_extension(value, extension)?;
            let source = self.source_with(&numbers, may_keep)?;
            let of = add(state, Expr::Source { source });
            Some(add(state, Expr::Narrow { narrow: extension, of }))
        })
    }

    /// What a value is extended to at the landing, whether it is there or not.
    fn numbers_of_extension(&self, value: ValueId, extension: InstId) -> Option<Numbers> {
        let which = self.destination.side.which;
        let graph = self.proof.proved().graph(which);
        let number = |copy: InstId| self.proof.congruence.of[which][graph.result(copy)];
        if self.proof.product.is_none() {
            return Some(Numbers::One(number(extension)));
        }
        let copies = self.proof.instances(which, extension);
        let there = |&at: &InstId| {
            let reaching = Operand::Value(self.proof.reaching(which, value, at)?);
            let mut copies = copies.iter().copied();
            copies.find(|&copy| graph.operands(copy) == [reaching]).map(number)
        };
        let all = self.destination.copies.iter().map(there);
        all.collect::<Option<_>>().map(Numbers::Each)
    }

    /// The value made again.
    fn again(&self, state: &mut State, value: ValueId, may_keep: bool) -> Option<usize> {
        let to = self.destination.side.which;
        let graph = self.proof.versions.graph(to);
        let inst = graph.definition(value)?;
        let node = &graph.nodes[inst];
        if node.facts.is_phi() || node.facts.is_pinned() || node.facts.is_anchor() {
            let other = self.look_through(state, value, may_keep);
            return other.or_else(|| self.chosen(state, inst, may_keep));
        }
        let may_run = !state.is_side || node.facts.is_speculatable();
        let can = (node.facts.is_repeatable() && may_run)
            || node.facts.is_own()
            || (node.facts.is_load()
                && !state.is_side
                && self.reloads
                && !(self.memory.differs && node.reads_lone)
                && self.oracle.is_unchanged(to, inst, self.destination.at));
        if !can {
            return None;
        }
        let operands = graph.operands(inst).iter();
        let operands: Option<_> = operands.map(|&o| self.operand(state, o, may_keep)).collect();
        Some(add(state, Expr::Repeat { repeat: inst, of: operands? }))
    }

    /// A phi that a branch decides, as a select of its condition.
    fn chosen(&self, state: &mut State, phi: InstId, may_keep: bool) -> Option<usize> {
        let to = self.destination.side.which;
        let version = &self.proof.versions.of[to];
        let graph = &version.graph;
        let gate = version.gates[graph.block(phi)].as_ref()?;
        // What is ahead is decided by a run of the branch that is to come.
        (!self.is_ahead(graph.result(phi))).then_some(())?;
        let number = |operand| self.proof.congruence.number(to, operand);
        let arm = |holds: bool| match self.proof.product {
            None => gate.arm(graph, phi, holds, number),
            Some(_) => gate.arm(graph, phi, holds, |operand| operand),
        };
        let arms = [arm(true)?, arm(false)?];
        let condition = self.operand(state, gate.condition(graph)?, may_keep)?;
        let was_side = std::mem::replace(&mut state.is_side, true);
        let [holds, fails] = arms.map(|arm| self.operand(state, arm, may_keep));
        state.is_side = was_side;
        Some(add(state, Expr::Repeat { repeat: phi, of: vec![condition, holds?, fails?] }))
    }

    fn operand(&self, state: &mut State, operand: Operand, may_keep: bool) -> Option<usize> {
        match operand {
            Operand::Constant(constant) => Some(add(state, Expr::Constant { constant })),
            Operand::Value(value) => self.value(state, value, may_keep),
        }
    }

    /// Another value of the destination that is the same, above the landing.
    fn look_through(&self, state: &mut State, value: ValueId, may_keep: bool) -> Option<usize> {
        if self.variant < Variant::LiveE || self.over_head(value).is_some() {
            return None;
        }
        let to = self.destination.side;
        let numbers = self.numbers(self.destination, value)?;
        let members = self.members(self.destination, &numbers);
        let mut others = members.iter().copied().filter(|&other| {
            let graph = self.proof.versions.graph(to.which);
            let can = graph.definition(other).is_some_and(|i| {
                graph.nodes[i].facts.is_repeatable() || graph.nodes[i].facts.is_load()
            });
            can && to.is_available(&self.proof.versions, other, self.destination.at)
        });
        others.find_map(|other| self.value(state, other, may_keep))
    }
}

fn add(state: &mut State, expr: Expr) -> usize {
    state.exprs.push(expr);
    state.exprs.len() - 1
}
