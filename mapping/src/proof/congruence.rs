//! Which values of two versions are the same: congruence over the union of both.
//!
//! Two values are congruent if they are the same operation on congruent operands; phis of matched
//! chains, if on each edge that both versions take together congruent values come in. B. Alpern,
//! M. N. Wegman, F. K. Zadeck: Detecting Equality of Variables in Programs, POPL 1988; computed by
//! hashing in rounds over reverse postorder, optimistically, as in L. T. Simpson: Value-Driven
//! Redundancy Elimination, Rice University 1996, ch. 4 (the RPO algorithm). A fixpoint is its own
//! proof: every number follows from the numbers of the operands by one of the rules of
//! [`super::round`].
//!
//! What a number promises: at points of both versions that are reached at the same time, values of
//! the same number that dominate their points are equal, and poison or undefined only together
//! (once `flags.rs` of the passes has dropped the flags that not all of them have). A load depends
//! on the address and on what may have written there last (MemorySSA), and anchors are the same
//! just if they are matched. Where a branch says that a value is a constant, all values with its
//! number are that constant. Conditions and addresses may be the same where they are used without
//! having one number (`super::round::uses`).
//!
//! Values of a cycle that came apart while the rest was not settled would never come together
//! again. So tracking is taken at its word for the phis at the heads of pairs, and for the states
//! of memory that meet there, until the rules refute it ([`super::guesses`]); new phis of opt for
//! what base has in memory there (`super::round::contents`).

use crate::proof::keys::{Atom, Literal};
use crate::proof::matching::{Condition, Matching, Relation, Walk};
use crate::proof::numbers::{Layout, Number, UNKNOWN};
use crate::proof::places::{Content, Contents};
use crate::proof::terms::LookedInto;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Access, ConstId, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

/// An operand of an instruction, by its place
pub(super) type Use = (InstId, usize);

/// The numbers of all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Congruence {
    /// For each version and value its number
    pub of: PerVersion<TiVec<ValueId, Number>>,
    /// The same before any versions had parted, if they did: what tracking says was taken to hold
    pub(super) likely: PerVersion<TiVec<ValueId, Number>>,
    /// For each version the values that are constants somewhere, by the place of their number
    known: PerVersion<Vec<Vec<ValueId>>>,
    pub(super) layout: Layout,
    /// By the place of a number what boolean it is, if that is a comparison or a negation
    pub(super) literals: Vec<Option<Literal>>,
    /// For values that were proved to be what others are: the instructions that were looked into
    /// for that, which must have no flags
    pub looked_into: FxHashMap<(Version, InstId), LookedInto>,
    /// Operands of opt, by their places, that are proved to be what base's instruction has there
    /// wherever that runs, or their negations
    pub(super) same_uses: FxHashSet<Use>,
    /// Switches of opt that are proved to go to the case that base's one goes to, which they are
    /// compared with
    pub(super) same_cases: FxHashSet<InstId>,
    /// Terminators of opt from which it is proved to come to the pair that base comes to
    pub(super) same_ways: FxHashSet<InstId>,
    /// What places have
    pub(super) contents: Contents,
    /// For each version and block the number of the state of memory that meets there
    pub(super) memory: PerVersion<TiVec<BlockId, Number>>,
    partners: TiVec<InstId, Option<InstId>>,
}

impl Congruence {
    /// Nothing is known but arguments, and what runs together.
    pub(super) fn new(versions: &Versions, matching: &Matching) -> Self {
        let layout = Layout::new(versions);
        let mut congruence = Congruence {
            of: PerVersion::from_fn(|w| {
                vec![UNKNOWN; versions.graph(w).body.code.num_values()].into()
            }),
            likely: PerVersion::default(),
            known: PerVersion::default(),
            layout,
            literals: Vec::new(),
            looked_into: FxHashMap::default(),
            same_uses: FxHashSet::default(),
            same_cases: FxHashSet::default(),
            same_ways: FxHashSet::default(),
            contents: Contents::new(layout.contents),
            memory: PerVersion::from_fn(|w| vec![UNKNOWN; versions.graph(w).blocks.len()].into()),
            partners: partners(versions, matching),
        };
        for which in Version::BOTH {
            for argument in 0..versions.graph(which).body.code.arguments {
                let number = layout.arguments + argument as u32;
                congruence.set(versions, which, argument.into(), number);
            }
        }
        congruence
    }

    /// The constant that a number stands for.
    pub fn constant(&self, number: Number) -> Option<ConstId> {
        (self.layout.constants..self.layout.arguments)
            .contains(&number)
            .then(|| number - self.layout.constants)
    }

    /// The place of a number in tables that have none of constants; values have small ones.
    pub fn place(&self, number: Number) -> Option<usize> {
        self.layout.place(number)
    }

    /// What boolean a number is.
    pub(super) fn literal(&self, number: Number) -> Literal {
        let known = self.layout.place(number).and_then(|place| *self.literals.get(place)?);
        known.unwrap_or(Literal { atom: Atom::Number(number), negated: false })
    }

    /// The same just for booleans that are each other's negations, or the same.
    pub fn up_to_negation(&self, number: Number) -> [Number; 2] {
        self.literal(number).atom.words()
    }

    /// True if two terminators decide alike.
    pub fn decide_alike(&self, versions: &Versions, condition: Condition) -> bool {
        let Condition { insts, relation } = condition;
        match relation {
            Relation::Same => self.have_same_operands(versions, insts),
            Relation::Opposite => {
                self.same_uses.contains(&(insts.opt, 0)) || self.decide_oppositely(versions, insts)
            }
            Relation::Values => {
                let [base, opt] = Version::BOTH.map(|w| {
                    let operand = versions.graph(w).operands(insts[w])[0];
                    self.at(versions, w, operand, versions.graph(w).block(insts[w]))
                });
                self.same_uses.contains(&(insts.opt, 0)) || (base == opt && base != UNKNOWN)
            }
            Relation::Cases => self.same_cases.contains(&insts.opt),
            Relation::Ways => self.same_ways.contains(&insts.opt),
        }
    }

    /// True if the only operands of two branches are each other's negations.
    pub fn decide_oppositely(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let [base, opt] = Version::BOTH.map(|w| {
            let [operand] = *versions.graph(w).operands(insts[w]) else { return None };
            let number = self.at(versions, w, operand, versions.graph(w).block(insts[w]));
            Some(self.literal(number))
        });
        base.zip(opt).is_some_and(|(base, opt)| base == opt.not())
    }

    /// The number of an operand.
    pub fn number(&self, which: Version, operand: Operand) -> Number {
        match operand {
            Operand::Constant(constant) => self.layout.constants + constant,
            Operand::Value(value) => self.of[which][value],
        }
    }

    /// The same before any versions had parted.
    pub(super) fn likely_number(&self, which: Version, operand: Operand) -> Number {
        match operand {
            Operand::Constant(_) => self.number(which, operand),
            Operand::Value(value) => {
                self.likely[which].get(value).copied().unwrap_or(self.of[which][value])
            }
        }
    }

    /// The number of an operand, as it is used in a block: what a branch before it said of the
    /// value, or of one congruent with it, is known there.
    pub fn at(
        &self,
        versions: &Versions,
        which: Version,
        operand: Operand,
        block: BlockId,
    ) -> Number {
        self.known(which, operand, |value| versions.of[which].scopes.at(value, block))
    }

    /// The number of an operand, as it comes over an edge.
    pub fn on_edge(
        &self,
        versions: &Versions,
        which: Version,
        operand: Operand,
        (from, to): (BlockId, BlockId),
    ) -> Number {
        self.known(which, operand, |value| versions.of[which].scopes.on_edge(value, from, to))
    }

    /// The same for any value with a number, where control came over some edges before.
    pub(super) fn number_on_walk(
        &self,
        versions: &Versions,
        which: Version,
        number: Number,
        before: &[(BlockId, BlockId)],
        edge: (BlockId, BlockId),
    ) -> Number {
        let version = &versions.of[which];
        let said = |value: ValueId| {
            let on_edge =
                |&(from, to): &(BlockId, BlockId)| version.scopes.on_edge(value, from, to);
            // What was computed on the way is not what branches before that spoke of.
            let edges = before.iter().rev().take_while(|edge| !version.is_of_chain(value, edge.1));
            on_edge(&edge).or_else(|| edges.filter_map(on_edge).next())
        };
        let known = self.with_number(which, number).find_map(said);
        known.map_or(number, |constant| self.number(which, Operand::Constant(constant)))
    }

    /// The values with a number that are constants somewhere.
    fn with_number(&self, which: Version, number: Number) -> impl Iterator<Item = ValueId> {
        let same = self.layout.place(number).and_then(|place| self.known[which].get(place));
        same.into_iter().flatten().copied()
    }

    fn known(
        &self,
        which: Version,
        operand: Operand,
        constant: impl FnMut(ValueId) -> Option<ConstId>,
    ) -> Number {
        let number = self.number(which, operand);
        let Operand::Value(value) = operand else { return number };
        if self.constant(number).is_some() {
            return number;
        }
        let same = self.with_number(which, number);
        let known = std::iter::once(value).chain(same).find_map(constant);
        known.map_or(number, |constant| self.number(which, Operand::Constant(constant)))
    }

    /// Gives a value another number; true if it is another.
    pub(super) fn set(
        &mut self,
        versions: &Versions,
        which: Version,
        value: ValueId,
        number: Number,
    ) -> bool {
        let old = std::mem::replace(&mut self.of[which][value], number);
        if old != number && versions.of[which].scopes.has(value) {
            let known = &mut self.known[which];
            if let Some(same) = self.layout.place(old).and_then(|place| known.get_mut(place)) {
                same.retain(|&v| v != value);
            }
            if let Some(place) = self.layout.place(number) {
                if known.len() <= place {
                    known.resize_with(place + 1, Vec::new);
                }
                known[place].push(value);
            }
        }
        old != number
    }

    pub(super) fn partner(&self, which: Version, inst: InstId) -> Option<InstId> {
        if which == Version::Opt { self.partners[inst] } else { None }
    }

    /// The number of a state of memory. What lone stores write is left out.
    pub fn access(&self, versions: &Versions, which: Version, access: Access) -> Number {
        let layout = &self.layout;
        let mut access = access;
        while let Access::Def(inst) = access
            && let Some(before) = versions.graph(which).nodes[inst].left_state()
        {
            access = before;
        }
        match access {
            Access::Entry => layout.entry(versions),
            Access::Phi(block) => self.memory[which][block],
            Access::Def(inst) => match self.partner(which, inst) {
                Some(partner) => layout.defs.base + u32::from(partner),
                None => layout.defs[which] + u32::from(inst),
            },
        }
    }

    /// The number of what the place has that a load or store accesses, where `access` may have
    /// written to it last; none if that is not known.
    pub fn content(
        &self,
        versions: &Versions,
        which: Version,
        place_of: InstId,
        access: Access,
    ) -> Option<Number> {
        self.content_of(versions, &self.accessed(versions, which, place_of)?, access)
    }

    /// The place that a simple load or store accesses.
    pub(super) fn accessed(
        &self,
        versions: &Versions,
        which: Version,
        place_of: InstId,
    ) -> Option<Content> {
        let graph = versions.graph(which);
        let pointer = graph.pointer(place_of)?;
        let number = self.number(which, pointer);
        let data_type = graph.nodes[place_of].data_type;
        Some(Content { which, place_of, pointer, number, data_type })
    }

    /// What a store left in a place. The outer option says whether `access` is one that writes just
    /// this place, or a lone one that may write a part of it.
    pub(super) fn stored(
        &self,
        versions: &Versions,
        place: &Content,
        access: Access,
    ) -> Option<Option<Number>> {
        let Access::Def(inst) = access else { return None };
        let node = &versions.graph(place.which).nodes[inst];
        if let [value, pointer] = *versions.graph(place.which).operands(inst)
            && node.facts.is_store()
            && node.data_type == place.data_type
        {
            match self.number(place.which, pointer) {
                // The first round is not there yet.
                UNKNOWN => return Some(Some(UNKNOWN)),
                address if address == place.number => {
                    return Some(Some(self.number(place.which, value)));
                }
                _ => {}
            }
        }
        node.lone.is_some().then_some(None)
    }

    pub(super) fn content_of(
        &self,
        versions: &Versions,
        place: &Content,
        access: Access,
    ) -> Option<Number> {
        match self.stored(versions, place, access) {
            Some(stored) => stored,
            None => {
                let at_head = match access {
                    Access::Phi(block) => self.contents.at(place, block),
                    _ => None,
                };
                let known = || match self.state_seen(versions, place, access)? {
                    UNKNOWN => Some(UNKNOWN),
                    state => self.contents.known(place, state),
                };
                at_head.or_else(known)
            }
        }
    }

    /// The number of the state of memory that a place is seen in where `access` may have written to
    /// it last. Where states meet that lone stores have left, their number leaves these out: at the
    /// head of a pair it is the pair's own, and elsewhere there is none.
    pub(super) fn state_seen(
        &self,
        versions: &Versions,
        place: &Content,
        access: Access,
    ) -> Option<Number> {
        let node = &versions.graph(place.which).nodes[place.place_of];
        let may_be_lone = node.reads_lone || !node.facts.is_load();
        match access {
            Access::Phi(block) if may_be_lone && self.contents.is_left(place.which, block) => {
                self.contents.at_pair(place.which, block)
            }
            _ => Some(self.access(versions, place.which, access)),
        }
    }

    /// True if two instructions are the same operation on congruent operands, or write the same to
    /// memory.
    pub fn are_alike(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let [a, b] = Version::BOTH.map(|w| &versions.graph(w).nodes[insts[w]]);
        let is_alone = !Version::BOTH.iter().any(|&w| versions.graph(w).ends_group(insts[w]));
        self.fill_alike(versions, insts)
            || (is_alone && a.operation == b.operation && self.have_same_operands(versions, insts))
            || (is_alone && self.have_same_effect(versions, insts))
            || (is_alone && self.copy_alike(versions, insts))
    }

    /// True if two instructions that may be different operations do the same.
    fn have_same_effect(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let uses = uses_of_effect(versions, insts);
        uses.is_some_and(|mut uses| uses.all(|uses| self.are_same(versions, uses)))
    }

    /// True if both write the same bytes to the same place, each with the others of its group.
    fn fill_alike(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let uses = uses_of_fill(versions, insts);
        uses.is_some_and(|uses| uses.iter().all(|&uses| self.are_same(versions, uses)))
    }

    /// True if base copies memory, and opt stores to the same place what it has loaded from where
    /// base reads, with no anchor between.
    fn copy_alike(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
        let Some(bytes) = base.nodes[insts.base].copied_bytes else { return false };
        if opt.nodes[insts.opt].integer_bytes != Some(bytes) {
            return false;
        }
        let Some(uses) = uses_of_copy(versions, insts) else { return false };
        if !uses.iter().all(|&uses| self.are_same(versions, uses)) {
            return false;
        }
        let Operand::Value(value) = opt.operands(insts.opt)[0] else { return false };
        let Some(load) = opt.definition(value) else { return false };
        let of_segment = |w: Version, inst: InstId| {
            let VersionFacts { graph, chains, .. } = &versions.of[w];
            (chains.of_inst(graph, inst), chains.segment[inst])
        };
        // Stores that only one version has are no anchors.
        let stores_alone = |w: Version| {
            let nodes = versions.graph(w).nodes.iter_enumerated();
            let mut lone = nodes.filter(|(_, node)| node.lone.is_some());
            lone.any(|(inst, _)| of_segment(w, inst) == of_segment(w, insts[w]))
        };
        opt.nodes[load].integer_bytes == Some(bytes)
            && of_segment(Version::Opt, load) == of_segment(Version::Opt, insts.opt)
            && !(versions.has_lone && Version::BOTH.into_iter().any(stores_alone))
    }

    /// True if two operands are congruent, or are the same wherever the instructions run.
    fn are_same(&self, versions: &Versions, uses: PerVersion<Use>) -> bool {
        let operands = PerVersion::from_fn(|w| versions.graph(w).operands(uses[w].0)[uses[w].1]);
        let blocks = PerVersion::from_fn(|w| versions.graph(w).block(uses[w].0));
        self.same_uses.contains(&uses.opt) || self.are_congruent(versions, operands, blocks)
    }

    /// True if operands are congruent as they are used in blocks. What a branch said of one of them
    /// need not be known of the other one.
    pub(super) fn are_congruent(
        &self,
        versions: &Versions,
        operands: PerVersion<Operand>,
        blocks: PerVersion<BlockId>,
    ) -> bool {
        let there = |w: Version| self.at(versions, w, operands[w], blocks[w]);
        let plain = |w: Version| self.number(w, operands[w]);
        there(Version::Base) == there(Version::Opt) || plain(Version::Base) == plain(Version::Opt)
    }

    /// True if the operands of two instructions are congruent, or are the same wherever the
    /// instructions run.
    pub fn have_same_operands(&self, versions: &Versions, insts: PerVersion<InstId>) -> bool {
        let [a, b] = Version::BOTH.map(|w| versions.graph(w).operands(insts[w]).len());
        a == b && (0..a).all(|place| self.are_same(versions, insts.map(|inst| (inst, place))))
    }
}

/// For each instruction of opt that runs once for each time that one of base does, that one:
/// matched anchors, and what is tied to the time it ran, in the same segment of a pair.
fn partners(versions: &Versions, matching: &Matching) -> TiVec<InstId, Option<InstId>> {
    let PerVersion { base, opt } = &versions.of;
    let mut result = TiVec::from(vec![None; opt.graph.nodes.len()]);
    for pair in &matching.pairs {
        let [a, b] = Version::BOTH.map(|w| &versions.of[w].chains.chains[pair.chains[w]].anchors);
        for (&a, &b) in a.iter().zip(b).take(pair.prefix) {
            result[b] = Some(a);
        }
    }
    for (inst, node) in opt.graph.nodes.iter_enumerated().filter(|(_, n)| n.facts.is_pinned()) {
        let Some(origin) = versions.tracked.origin[inst] else { continue };
        let chains =
            (base.chains.of_inst(&base.graph, origin), opt.chains.of_inst(&opt.graph, inst));
        let (Some(a), Some(b)) = chains else { continue };
        let together = matching.of_chain.opt[b].filter(|&p| matching.pairs[p].chains.base == a);
        let segments = (base.chains.segment[origin], opt.chains.segment[inst]);
        if together.is_some_and(|p| segments.0 <= matching.pairs[p].prefix)
            && segments.0 == segments.1
            && !node.facts.is_anchor()
        {
            result[inst] = Some(origin);
        }
    }
    result
}

/// What a phi of an entry has when a walk was taken, before it began: phis of silent chains on the
/// way are looked through, and branches on the way may say what it is. One that the walk does not
/// cross keeps what it has.
pub fn value_over(
    versions: &Versions,
    congruence: &Congruence,
    which: Version,
    phi: InstId,
    walk: &Walk,
) -> Option<Operand> {
    let graph = versions.graph(which);
    let said = |operand: Operand, edge: (BlockId, BlockId)| {
        let number = congruence.on_edge(versions, which, operand, edge);
        congruence.constant(number).map_or(operand, Operand::Constant)
    };
    let block = graph.block(phi);
    let mut operand = value_at_end(versions, which, phi, walk)?;
    let Some((from, mut before)) = walk.crossed(block)? else { return Some(operand) };
    operand = said(operand, (from, block));
    while let Some((&edge, rest)) = before.split_last() {
        let Operand::Value(value) = operand else { break };
        let is_phi_there =
            |&inst: &InstId| graph.nodes[inst].facts.is_phi() && graph.block(inst) == edge.1;
        match graph.definition(value).filter(is_phi_there) {
            Some(inst) => operand = said(graph.incoming(inst, edge.0)?, edge),
            // What was computed on the way is not what branches before that spoke of.
            None if versions.of[which].is_of_chain(value, edge.1) => break,
            None => operand = said(operand, edge),
        }
        before = rest;
    }
    Some(operand)
}

/// What comes in at a phi of an entry over the last edge of a walk.
pub(super) fn value_at_end(
    versions: &Versions,
    which: Version,
    phi: InstId,
    walk: &Walk,
) -> Option<Operand> {
    let graph = versions.graph(which);
    match walk.crossed(graph.block(phi))? {
        Some((from, _)) => graph.incoming(phi, from),
        None => Some(Operand::Value(graph.result(phi))),
    }
}

/// The operands that must be the same for two instructions that are different operations, or end
/// groups, and that may do the same.
pub(super) fn corresponding(
    versions: &Versions,
    insts: PerVersion<InstId>,
) -> Option<Vec<PerVersion<Use>>> {
    let of_fill = uses_of_fill(versions, insts);
    if Version::BOTH.iter().any(|&w| versions.graph(w).ends_group(insts[w])) {
        return of_fill;
    }
    let of_effect = || uses_of_effect(versions, insts).map(Iterator::collect);
    of_fill.or_else(of_effect).or_else(|| uses_of_copy(versions, insts))
}

/// The operands that must be the same for two instructions that may fill the same.
fn uses_of_fill(versions: &Versions, insts: PerVersion<InstId>) -> Option<Vec<PerVersion<Use>>> {
    let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
    let (base, of_base) = base.filled(insts.base)?;
    let (opt, of_opt) = opt.filled(insts.opt)?;
    let uses = base.into_iter().zip(opt);
    (of_base == of_opt).then(|| uses.map(|(base, opt)| PerVersion { base, opt }).collect())
}

/// Where base copies memory, and opt stores what it has loaded: where both write, and read.
fn uses_of_copy(versions: &Versions, insts: PerVersion<InstId>) -> Option<Vec<PerVersion<Use>>> {
    let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
    base.nodes[insts.base].copied_bytes?;
    let [Operand::Value(value), _] = *opt.operands(insts.opt) else { return None };
    let load = opt.definition(value).filter(|&inst| opt.nodes[inst].facts.is_load())?;
    opt.nodes[insts.opt].facts.is_store().then_some(vec![
        PerVersion { base: (insts.base, 0), opt: (insts.opt, 1) },
        PerVersion { base: (insts.base, 1), opt: (load, 0) },
    ])
}

/// The operands that must be the same for two instructions to do the same, if their effects are.
fn uses_of_effect(
    versions: &Versions,
    insts: PerVersion<InstId>,
) -> Option<impl Iterator<Item = PerVersion<Use>>> {
    let [base, opt] = Version::BOTH.map(|w| versions.graph(w).nodes[insts[w]].effect.as_ref());
    let (base, opt) = base.zip(opt).filter(|(base, opt)| base.what == opt.what)?;
    let places = base.operands.iter().zip(&opt.operands);
    Some(places.map(move |(&of_base, &of_opt)| PerVersion {
        base: (insts.base, of_base),
        opt: (insts.opt, of_opt),
    }))
}
