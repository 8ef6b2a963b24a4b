//! From LLVM to two [`VersionFacts`]s that can be compared.

use crate::osr::map::claims::Claims;
use crate::osr::map::fills::{FillNumbers, add_fills, group_fills};
use crate::osr::map::local_constants::add_local_constants;
use crate::read_code::{CodeSnapshot, Constants};
use midflight_bridge::ir::{Comparison, Inst, Opcode, Type, TypeKind, Value};
use midflight_bridge::memory::Memory;
use midflight_bridge::prover::{self, Kind};
use midflight_bridge::sandbox::{Fate, Sandbox, Tracker};
use midflight_bridge::solver::Solution;
use midflight_ir::body::Block;
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::proof::terms::{Term, Terms};
use midflight_mapping::versions::derive::derived;
use midflight_mapping::versions::facts::{Tracked, Versions};
use midflight_mapping::versions::graph::{
    Access, Boolean, Cases, ConstId, Effect, Extends, Graph, GraphBlock, Linear, Node, Operand,
    Oracle,
};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use typed_index_collections::TiVec;

/// What leads from two versions back into LLVM, and answers what only LLVM can.
pub struct Handles<'a, 'm> {
    /// Base and opt
    pub snapshots: PerVersion<&'a CodeSnapshot<'m>>,
    /// Their memory
    pub memory: PerVersion<Memory<'a, 'm>>,
    sandbox: &'a Sandbox,
    constants: RefCell<Constants<'m>>,
    places_before: RefCell<HashMap<(Version, InstId, InstId), Option<Access>>>,
    places_at_end: RefCell<HashMap<(Version, InstId, BlockId), Option<Access>>>,
    unchanged: RefCell<HashMap<(Version, InstId, InstId), bool>>,
    well_defined: RefCell<HashMap<(Version, Operand), bool>>,
    without_flags: RefCell<HashSet<(Version, InstId)>>,
    /// For each version and instruction the operands that it was asked about with, and the answers
    simple: PerVersion<RefCell<TiVec<InstId, Vec<Simplified>>>>,
    /// The instructions of base that are claimed to be unsigned because others have flags
    resting_on_flags: Vec<InstId>,
}

/// Operands, and what an instruction is equal to with them.
type Simplified = (Box<[Operand]>, Option<Operand>);

impl<'a, 'm> Handles<'a, 'm> {
    /// An LLVM value, if it is one of a version or a constant.
    pub fn operand(&self, which: Version, value: Value<'m>) -> Option<Operand> {
        let is_known = value.is_constant() || self.snapshots[which].ids().value(value).is_some();
        is_known.then(|| self.any_operand(which, value))
    }

    /// The number of a constant.
    pub(super) fn constant_id(&self, value: Value<'m>) -> ConstId {
        self.constants.borrow_mut().id(value)
    }

    /// What an instruction of a version uses: what is no value of it counts as a constant.
    pub(super) fn any_operand(&self, which: Version, value: Value<'m>) -> Operand {
        match self.snapshots[which].ids().value(value) {
            Some(value) => Operand::Value(value),
            None => Operand::Constant(self.constant_id(value)),
        }
    }

    /// True if what was answered rests on an instruction's having no flags that make it poison.
    pub fn loses_flags(&self, which: Version, inst: InstId) -> bool {
        self.without_flags.borrow().contains(&(which, inst))
    }

    /// True if what was claimed rests on flags of base.
    pub fn rests_on_flags(&self) -> bool {
        !self.resting_on_flags.is_empty()
    }

    /// True if what was claimed holds still if these instructions of base lose their flags.
    pub fn holds_without_flags(&self, losing: &[Inst<'m>]) -> bool {
        let base = self.snapshots.base;
        let solution = Solution::new(self.sandbox, base.function, losing);
        let mut resting = self.resting_on_flags.iter();
        resting.all(|&inst| solution.is_unsigned(base.instructions[inst]))
    }

    /// The LLVM side of a constant.
    pub fn constant(&self, id: ConstId) -> Value<'m> {
        self.constants.borrow().values[id as usize]
    }

    /// The LLVM side of an operand of a version.
    fn value(&self, which: Version, operand: Operand) -> Value<'m> {
        match operand {
            Operand::Constant(constant) => self.constant(constant),
            Operand::Value(value) => self.snapshots[which].value(value),
        }
    }

    /// The LLVM side of all constants, by number.
    pub fn into_constants(self) -> Vec<Value<'m>> {
        self.constants.into_inner().values
    }
}

impl Handles<'_, '_> {
    /// The term of the pointer that an address is computed from, if it is one.
    fn pointer_of(&self, terms: &Terms, root: usize) -> Option<usize> {
        let (value, choice) = match terms.terms[root] {
            Term::Leaf(which, value) => (self.snapshots[which].value(value), None),
            Term::Constant(constant) => (self.constant(constant), None),
            Term::Operation(which, inst, ref operands) => {
                let inst = self.snapshots[which].instructions[inst];
                match (inst.opcode_name().as_str(), &operands[..]) {
                    ("getelementptr", &[pointer, ..]) => return self.pointer_of(terms, pointer),
                    ("select", &[_, first, second]) => (inst.value(), Some([first, second])),
                    _ => (inst.value(), None),
                }
            }
            Term::Chosen(which, inst, [_, ref arms @ ..]) => {
                (self.snapshots[which].instructions[inst].value(), Some(*arms))
            }
            Term::Extended { .. } => return None,
        };
        (value.ty().kind() == TypeKind::Pointer).then_some(())?;
        // Whatever is chosen, it may be computed from one pointer.
        match choice.map(|arms| arms.map(|arm| self.pointer_of(terms, arm))) {
            Some([first, second]) if first == second => first,
            _ => Some(root),
        }
    }

    /// Whether two expressions are equal; with `defined`, where the first one must be well defined:
    /// at an instruction of base, if it is known.
    fn ask(&self, terms: &Terms, negated: bool, defined: Option<Option<InstId>>) -> bool {
        let mut all = prover::Terms::default();
        let mut places: Vec<u32> = Vec::with_capacity(terms.terms.len());
        let of_base = defined.map(|_| terms.of_base_alone());
        let alone = terms.of_one();
        let of_several = terms.of_several();
        for (place, term) in terms.terms.iter().enumerate() {
            let is_flagged =
                of_base.as_ref().is_some_and(|of_base| of_base[place]) && !of_several[place];
            let (kind, value) = match *term {
                Term::Leaf(which, value) => {
                    let is_bounded = which == Version::Base && defined.is_some();
                    let kind = if is_bounded { Kind::Bounded } else { Kind::Leaf };
                    (kind, self.snapshots[which].value(value))
                }
                Term::Constant(constant) => {
                    let value = self.constant(constant);
                    (if value.is_plain_operand() { Kind::Constant } else { Kind::Leaf }, value)
                }
                Term::Operation(which, inst, _) => {
                    let inst = self.snapshots[which].instructions[inst];
                    let kind = if is_flagged {
                        Kind::Flagged
                    } else if defined.is_none() && alone[place] && inst.is_exact() {
                        Kind::Exact
                    } else {
                        Kind::Operation
                    };
                    (kind, inst.value())
                }
                Term::Chosen(which, inst, _) => {
                    (Kind::Chosen, self.snapshots[which].instructions[inst].value())
                }
                Term::Extended { signed, like: (which, value), .. } => {
                    let kind = if signed { Kind::SignExtended } else { Kind::ZeroExtended };
                    (kind, self.snapshots[which].value(value))
                }
            };
            let operands: Vec<u32> = term.operands().iter().map(|&o| places[o]).collect();
            places.push(all.add(kind, value, &operands));
        }
        // Equal addresses may be of different objects: they must be computed from one pointer.
        let [base, other] = terms.roots.map(|root| self.pointer_of(terms, root));
        if base != other {
            return false;
        }
        let [a, b] = terms.roots.map(|root| places[root]);
        for &(condition, holds) in &terms.conditions {
            all.add_condition(places[condition], holds);
        }
        let at = defined.flatten().map(|at| self.snapshots.base.instructions[at]);
        all.are_equal(self.sandbox, (a, b), negated, at)
    }
}

impl Oracle for Handles<'_, '_> {
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand> {
        let asked = &mut self.simple[which].borrow_mut()[inst];
        if let Some((_, answer)) = asked.iter().find(|(known, _)| **known == *operands) {
            return *answer;
        }
        let snapshot = self.snapshots[which];
        let value = |operand: &Operand| match operand {
            Operand::Constant(constant) => self.constant(*constant),
            Operand::Value(value) => snapshot.value(*value),
        };
        let values: Vec<_> = operands.iter().map(value).collect();
        let equal = snapshot.instructions[inst].simplify(&values);
        let answer = equal.and_then(|(value, flagged)| {
            let flagged = flagged.iter().filter_map(|&inst| snapshot.id_of(inst));
            self.without_flags.borrow_mut().extend(flagged.map(|inst| (which, inst)));
            self.operand(which, value)
        });
        asked.push((operands.into(), answer));
        answer
    }

    fn is_well_defined(&self, which: Version, operand: Operand) -> bool {
        *self
            .well_defined
            .borrow_mut()
            .entry((which, operand))
            .or_insert_with(|| self.value(which, operand).is_well_defined())
    }

    fn is_defined_by_uses(&self, inst: InstId) -> bool {
        self.snapshots.base.instructions[inst].is_defined_by_uses()
    }

    fn are_equal(&self, terms: &Terms, negated: bool) -> bool {
        self.ask(terms, negated, None)
    }

    fn stands_for(&self, terms: &Terms, negated: bool, at: Option<InstId>) -> bool {
        self.ask(terms, negated, Some(at))
    }

    fn said(
        &self,
        which: Version,
        (asked, of_asked): (InstId, [Operand; 2]),
        (known, of_known, holds): (InstId, [Operand; 2], bool),
    ) -> Option<bool> {
        let snapshot = self.snapshots[which];
        let values = |operands: [Operand; 2]| operands.map(|operand| self.value(which, operand));
        let [asked, known] = [asked, known].map(|inst| snapshot.instructions[inst]);
        asked.said_by(values(of_asked), (known, values(of_known), holds))
    }

    fn integer(&self, constant: ConstId) -> Option<i64> {
        self.constant(constant).as_integer()
    }

    fn address(&self, constant: ConstId) -> Option<(ConstId, i64)> {
        let (global, bytes) = self.constant(constant).address_in_global()?;
        Some((self.constant_id(global), bytes))
    }

    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access> {
        let mut known = self.places_before.borrow_mut();
        *known.entry((which, place_of, before)).or_insert_with(|| {
            let snapshot = self.snapshots[which];
            let of = &snapshot.instructions;
            access(snapshot, self.memory[which].place_before(of[place_of], of[before])?)
        })
    }

    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access> {
        let mut known = self.places_at_end.borrow_mut();
        *known.entry((which, place_of, block)).or_insert_with(|| {
            let snapshot = self.snapshots[which];
            let place_of = snapshot.instructions[place_of];
            access(snapshot, self.memory[which].place_at_end(place_of, snapshot.blocks[block])?)
        })
    }

    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool {
        let of = &self.snapshots[which].instructions;
        self.memory[which].touches(of[place_of], of[inst])
    }

    fn writes_around(&self, which: Version, address: Operand, inst: InstId) -> bool {
        let inst = self.snapshots[which].instructions[inst];
        self.memory[which].writes_around(self.value(which, address), inst)
    }

    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access> {
        let snapshot = self.snapshots[which];
        access(snapshot, self.memory[which].before(snapshot.instructions[inst])?)
    }

    fn is_unchanged(&self, which: Version, load: InstId, before: InstId) -> bool {
        *self.unchanged.borrow_mut().entry((which, load, before)).or_insert_with(|| {
            let instructions = &self.snapshots[which].instructions;
            self.memory[which].is_unchanged(instructions[load], instructions[before])
        })
    }
}

/// Reads both versions; the snapshot of opt has the constants of both. `tracker` has followed opt
/// since it was an exact copy of base. Of the instructions of base that are `losing` their flags
/// nothing is claimed that follows from these.
pub fn read<'a, 'm>(
    snapshots: &'a PerVersion<CodeSnapshot<'m>>,
    tracker: &Tracker<'m>,
    sandbox: &'a Sandbox,
    losing: &[Inst<'m>],
) -> (Versions, Handles<'a, 'm>) {
    let snapshots = snapshots.as_ref();
    let memory = snapshots.map(|s| Memory::new(sandbox, s.function));
    let mut handles = Handles {
        snapshots,
        sandbox,
        memory,
        constants: RefCell::new((*snapshots.opt.constants).clone()),
        places_before: RefCell::default(),
        places_at_end: RefCell::default(),
        unchanged: RefCell::default(),
        well_defined: RefCell::default(),
        without_flags: RefCell::default(),
        simple: snapshots.map(|s| RefCell::new(vec![Vec::new(); s.instructions.len()].into())),
        resting_on_flags: Vec::new(),
    };
    let mut numbers = Numbers::default();
    let mut graphs = PerVersion::from_fn(|which| handles.graph(which, &mut numbers));
    let tracked = tracked(snapshots.base, snapshots.opt, tracker);
    let mut fills = FillNumbers::default();
    for which in Version::BOTH {
        add_fills(snapshots[which], &mut graphs[which], &mut fills);
    }
    group_fills(snapshots, &tracked, &mut graphs, &mut fills);
    let claims = Claims { handles: &handles, tracked: &tracked, sandbox, losing };
    handles.resting_on_flags = claims.put(&mut graphs);
    add_local_constants(&handles, &tracked, &mut graphs.base);
    for which in Version::BOTH {
        handles.add_implied(which, &mut graphs[which]);
    }
    let versions = derived(graphs, tracked);
    (versions, handles)
}

/// Numbers that both versions have in common.
#[derive(Default)]
struct Numbers<'m> {
    types: HashMap<Type<'m>, u32>,
    effects: HashMap<(u32, Vec<u8>), u32>,
}

impl<'m> Numbers<'m> {
    fn of_type(&mut self, ty: Type<'m>) -> u32 {
        let next = self.types.len() as u32;
        *self.types.entry(ty).or_insert(next)
    }

    fn effect(&mut self, inst: Inst<'m>) -> Option<Effect> {
        let (kind, bytes, operands) = inst.effect()?;
        let next = self.effects.len() as u32;
        let what = *self.effects.entry((kind, bytes)).or_insert(next);
        Some(Effect { what, operands })
    }
}

impl<'m> Handles<'_, 'm> {
    fn graph(&self, which: Version, numbers: &mut Numbers<'m>) -> Graph {
        let snapshot = self.snapshots[which];
        let memory = &self.memory[which];
        let mut graph = Graph { body: snapshot.body.clone(), ..Graph::default() };
        for &inst in &snapshot.instructions {
            let facts = inst.map_facts();
            let reads = facts.reads_memory() && !facts.is_anchor() && !facts.is_marker();
            let clobber = if reads { memory.clobber(inst) } else { None };
            let stored = if facts.is_store() { inst.operands().next() } else { None };
            let data = stored.map_or_else(|| inst.value().ty(), |stored| stored.ty());
            let compared = inst.compares_memory();
            graph.nodes.push(Node {
                facts,
                data_type: numbers.of_type(data),
                linear: self.linear(inst),
                boolean: boolean(inst, false),
                cases: inst.cases().map(|(bits, values)| Cases { bits, values }),
                effect: numbers.effect(inst),
                copied_bytes: inst.copied_bytes(),
                bits: self.integer_bits(inst.value().ty()),
                extends: self.extends(inst),
                integer_bytes: inst.integer_bytes(),
                accessed_bytes: inst.accessed_bytes(),
                is_aligned: inst.is_aligned(),
                is_total: inst.is_total(),
                is_partial: inst.is_partial_shift(),
                compares_memory: compared.is_some(),
                compared_bytes: compared.flatten().map(|bytes| self.constant_id(bytes)),
                is_exact: inst.is_exact(),
                well_defined: inst.well_defined_operands(),
                clobber: clobber.and_then(|clobber| access(snapshot, clobber)),
                ..Node::default()
            });
        }
        let block = |block: &Block| GraphBlock {
            feasible: vec![true; block.edges.len()],
            ..GraphBlock::default()
        };
        graph.blocks = snapshot.body.blocks.iter().map(block).collect();
        let predecessors = snapshot.body.predecessors();
        for (id, &block) in snapshot.blocks.iter_enumerated() {
            if memory.has_phi(block) {
                let states = predecessors[id].iter().map(|&from| {
                    let at_end = memory.at_end(snapshot.blocks[from]);
                    let state = at_end.and_then(|at_end| access(snapshot, at_end));
                    (from, state.expect("memory has a state at the end of each block"))
                });
                graph.blocks[id].memory_phi = Some(states.collect());
            }
        }
        graph
    }

    fn add_implied(&self, which: Version, graph: &mut Graph) {
        let predecessors = self.snapshots[which].body.predecessors();
        let chosen = Chosen::new(graph);
        for (id, predecessors) in predecessors.iter_enumerated() {
            for &from in predecessors {
                let implied = self.implied(which, graph, &chosen, from, id).into_iter();
                let implied: Vec<_> = implied.map(|(value, c)| (from, value, c)).collect();
                graph.blocks[id].implied.extend(implied);
            }
        }
    }

    /// Bits of a type, if it is an integer of at most 64.
    fn integer_bits(&self, ty: Type<'m>) -> Option<u32> {
        (ty.kind() == TypeKind::Integer).then_some(())?;
        let bits = self.snapshots.base.function.module().size_of(ty).0;
        u32::try_from(bits).ok().filter(|&bits| bits <= 64)
    }

    fn extends(&self, inst: Inst<'m>) -> Option<Extends> {
        let signed = match inst.opcode() {
            Opcode::ZExt if !inst.is_nonnegative_zext() => false,
            Opcode::SExt => true,
            _ => return None,
        };
        self.integer_bits(inst.value().ty())?;
        Some(Extends { bits: self.integer_bits(inst.operands().next()?.ty())?, signed })
    }

    fn linear(&self, inst: Inst<'m>) -> Option<Linear> {
        let (constant, terms) = inst.linear()?;
        let bits = self.integer_bits(inst.value().ty()).unwrap_or(64);
        Some(Linear { constant, terms, bits })
    }

    /// The constant that a phi or select has if not another one, if it has one of two, over others
    /// or not.
    fn other_of_two(&self, graph: &Graph, value: ValueId, constant: ConstId) -> Option<ConstId> {
        let mut other = None;
        let mut choices: Vec<InstId> = Vec::new();
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            let inst = graph.definition(value)?;
            if choices.contains(&inst) {
                continue;
            }
            choices.push(inst);
            if choices.len() > MOST_CHOICES {
                return None;
            }
            let facts = graph.nodes[inst].facts;
            let chosen = match graph.operands(inst) {
                all if facts.is_phi() => all,
                [_, either @ ..] if facts.is_select() => either,
                _ => return None,
            };
            for operand in chosen {
                match *operand {
                    Operand::Value(value) => work.push(value),
                    Operand::Constant(same) if same == constant => {}
                    Operand::Constant(one) if other.is_none_or(|known| known == one) => {
                        other = Some(one);
                    }
                    Operand::Constant(_) => return None,
                }
            }
        }
        other.filter(|&other| self.constant(other).is_plain())
    }

    /// What a branch says of one of its edges.
    fn implied(
        &self,
        which: Version,
        graph: &Graph,
        chosen: &Chosen,
        from: BlockId,
        to: BlockId,
    ) -> Vec<(ValueId, ConstId)> {
        let inst = graph.terminator(from);
        let Some(&Operand::Value(condition)) = graph.operands(inst).first() else {
            return Vec::new();
        };
        let snapshot = self.snapshots[which];
        let mut implied = Vec::new();
        if let Some(case) = snapshot.instructions[inst].case_to(snapshot.blocks[to]) {
            implied.push((condition, self.constant_id(case)));
        } else if let [holds, _] = graph.body.blocks[from].edges[..]
            && graph.nodes[inst].facts.is_conditional()
        {
            let said = (condition, to == holds.to);
            self.imply(which, graph, chosen, from, said, &mut implied);
        }
        implied
    }

    /// What follows from a condition that holds, or does not.
    fn imply(
        &self,
        which: Version,
        graph: &Graph,
        chosen: &Chosen,
        from: BlockId,
        (condition, holds): (ValueId, bool),
        implied: &mut Vec<(ValueId, ConstId)>,
    ) {
        let truth = self.snapshots[which].function.module().int_type(1);
        let truth = truth.constant(u64::from(holds));
        implied.push((condition, self.constant_id(truth)));
        let selects = chosen.selects.get(&condition).into_iter().flatten();
        let selects = selects.filter(|&&(select, _)| chosen.is_before_end(graph, select, from));
        let selects = selects.filter_map(|&(s, of)| Some((s, of[usize::from(!holds)]?)));
        implied.extend(selects.filter(|&(_, constant)| self.constant(constant).is_plain()));
        let Some(inst) = graph.definition(condition) else { return };
        let (facts, operands) = (graph.nodes[inst].facts, graph.operands(inst));
        let is_both = if holds { facts.is_logical_and() } else { facts.is_logical_or() };
        if is_both && implied.len() < MOST_IMPLIED {
            for operand in operands {
                if let Operand::Value(value) = *operand {
                    self.imply(which, graph, chosen, from, (value, holds), implied);
                }
            }
        }
        let known = |operand: Operand| match operand {
            Operand::Constant(constant) => Some(constant),
            Operand::Value(value) => graph.nodes[graph.definition(value)?].constant,
        };
        let is_equal = if holds { facts.is_equal() } else { facts.is_differ() };
        let differs = if holds { facts.is_differ() } else { facts.is_equal() };
        let compared = |value: Operand, other: Operand| match value {
            Operand::Value(value) => Some((value, known(other)?)),
            Operand::Constant(_) => None,
        };
        if let [one, other] = *operands
            && let Some((value, constant)) = compared(one, other).or_else(|| compared(other, one))
            && self.constant(constant).is_plain()
        {
            if is_equal {
                implied.push((value, constant));
            } else if differs && let Some(constant) = self.other_of_two(graph, value, constant) {
                implied.push((value, constant));
            }
        }
    }
}

/// Selects between constants.
struct Chosen {
    /// For conditions the selects that they decide
    selects: HashMap<ValueId, Vec<Select>>,
    dominators: Dominators,
}

/// A select, and the constants that it has if its condition holds, and if not
type Select = (ValueId, [Option<ConstId>; 2]);

impl Chosen {
    fn new(graph: &Graph) -> Self {
        let mut selects: HashMap<_, Vec<_>> = HashMap::default();
        for inst in graph.nodes.keys().filter(|&inst| graph.nodes[inst].facts.is_select()) {
            let [Operand::Value(condition), holds, fails] = *graph.operands(inst) else { continue };
            let of = [holds, fails].map(|operand| match operand {
                Operand::Constant(constant) => Some(constant),
                Operand::Value(_) => None,
            });
            if of.iter().any(Option::is_some) {
                selects.entry(condition).or_default().push((graph.result(inst), of));
            }
        }
        Chosen { selects, dominators: dominators(&graph.body) }
    }

    /// True if a select has run whenever control comes to the end of a block.
    fn is_before_end(&self, graph: &Graph, select: ValueId, block: BlockId) -> bool {
        let inst = graph.definition(select);
        inst.is_some_and(|inst| self.dominators.dominates(graph.block(inst), block))
    }
}

/// What boolean an instruction gives, if it compares or negates; with `as_unsigned`, its unsigned
/// counterpart.
pub fn boolean(inst: Inst<'_>, as_unsigned: bool) -> Option<Boolean> {
    let compared = inst.comparison(as_unsigned).map(
        |Comparison { predicate, swapped, negated, symmetric }| Boolean::Comparison {
            predicate,
            swapped,
            negated,
            symmetric,
        },
    );
    compared.or_else(|| inst.negated().map(Boolean::Not))
}

/// Conditions are looked into so far.
const MOST_IMPLIED: usize = 16;

/// Phis and selects that are looked through for the constants that one may have
const MOST_CHOICES: usize = 32;

/// What left memory in a state, by number.
fn access<'m>(
    snapshot: &CodeSnapshot<'m>,
    access: midflight_bridge::memory::Access<'m>,
) -> Option<Access> {
    use midflight_bridge::memory::Access as Raw;
    match access {
        Raw::Entry => Some(Access::Entry),
        Raw::Def(inst) => snapshot.id_of(inst).map(Access::Def),
        Raw::Phi(block) => snapshot.ids().block(block).map(Access::Phi),
    }
}

/// What tracking says, by number.
fn tracked<'m>(base: &CodeSnapshot<'m>, opt: &CodeSnapshot<'m>, tracker: &Tracker<'m>) -> Tracked {
    let count = base.instructions.len();
    let mut result = Tracked {
        blocks: vec![None; base.blocks.len()].into(),
        kept: vec![None; count].into(),
        replaced: vec![None; count].into(),
        folded: vec![false; count].into(),
        origin: vec![None; opt.instructions.len()].into(),
    };
    let mut number = 0;
    for (index, block) in base.function.blocks().enumerate() {
        if let Some(id) = base.ids().block(block) {
            result.blocks[id] = tracker.block(index).and_then(|b| opt.ids().block(b));
        }
        for inst in block.instructions() {
            let fate = tracker.fate(number);
            number += 1;
            let Some(from) = base.id_of(inst) else { continue };
            match fate {
                Fate::Kept(to) => {
                    if let Some(to) = opt.id_of(to) {
                        result.kept[from] = Some(to);
                        result.origin[to] = Some(from);
                    }
                }
                Fate::Replaced(value) => {
                    result.replaced[from] = value.as_instruction().and_then(|i| opt.id_of(i));
                    result.folded[from] = value.is_constant();
                }
                Fate::Deleted => {}
            }
        }
    }
    result
}
