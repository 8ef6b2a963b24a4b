//! What makes a result poison, where values are taken for each other.

use crate::osr::map::read::Handles;
use midflight_bridge::ir::Inst;
use midflight_bridge::operations::{drop_flags, intersect_flags, losing_flags};
use midflight_ir::ids::InstId;
use midflight_mapping::proof::Proof;
use midflight_mapping::proof::numbers::Number;
use midflight_mapping::versions::graph::{Boolean, Node, Operand};
use midflight_mapping::versions::version::Version;
use std::collections::{HashMap, HashSet};

/// The instructions of both versions that are taken for something else.
pub struct Classes<'m> {
    /// Those that have one number, and do the same to the same
    alike: Vec<Vec<Inst<'m>>>,
    /// Those that keep no flags: what is taken for something that does not do the same, and what
    /// that was found through
    other: Vec<Inst<'m>>,
}

impl<'m> Classes<'m> {
    /// Those of what is proved.
    pub fn new(proof: &Proof, handles: &Handles<'_, 'm>) -> Self {
        let mut members: Vec<Member> = Vec::new();
        for which in Version::BOTH {
            let version = &proof.proved().of[which];
            for inst in version.graph.nodes.keys() {
                let is_reached = version.live.reached[version.graph.block(inst)];
                if version.graph.has_result(inst) && is_reached {
                    let number = proof.congruence.of[which][version.graph.result(inst)];
                    members.push(Member { number, which, inst });
                }
            }
        }
        members.sort_by_key(|member| member.number);
        let classes = Members { proof, handles, members };
        let is_alike = |class: &[Member]| {
            let loses = |m: &Member| handles.loses_flags(m.which, proof.folded(m.which, m.inst));
            classes.is_alike(class) && !class.iter().any(loses)
        };
        let (alike, unlike): (Vec<_>, Vec<_>) =
            classes.members.chunk_by(|a, b| a.number == b.number).partition(|c| is_alike(c));
        // Sums of sums are one sum: if the inner one wraps, the outer one is what it is all the
        // same, unless flags make it poison. A negation is looked through likewise.
        let mut dropped: HashSet<Number> = unlike.iter().map(|class| class[0].number).collect();
        // What is taken for a negation is taken for something else, too.
        let mut negated: HashMap<[Number; 2], Number> = HashMap::default();
        for class in classes.members.chunk_by(|a, b| a.number == b.number) {
            let number = class[0].number;
            let up_to_negation = proof.congruence.up_to_negation(number);
            let other = *negated.entry(up_to_negation).or_insert(number);
            if other != number {
                dropped.extend([other, number]);
            }
        }
        // Expressions are compared without flags.
        for &(which, inst) in proof.congruence.looked_into.values().flatten() {
            let result = proof.proved().graph(which).result(inst);
            dropped.insert(proof.congruence.of[which][result]);
        }
        let mut work: Vec<Number> = dropped.iter().copied().collect();
        while let Some(number) = work.pop() {
            for inner in classes.of(number).iter().flat_map(|member| classes.looked_through(member))
            {
                let is_looked_through = |m: &Member| {
                    let node = classes.node(m);
                    node.linear.is_some() || node.boolean.is_some()
                };
                if classes.of(inner).iter().any(is_looked_through) && dropped.insert(inner) {
                    work.push(inner);
                }
            }
        }
        let llvm = |member: &&Member| {
            let inst = proof.folded(member.which, member.inst);
            handles.snapshots[member.which].instructions[inst]
        };
        let is_of_version = |member: &&Member| proof.is_of_version(member.which, member.inst);
        let keeps = |class: &&[Member]| class.len() > 1 && !dropped.contains(&class[0].number);
        let alike = alike.into_iter().filter(keeps);
        let alike = alike.map(|class| class.iter().filter(is_of_version).map(|m| llvm(&m)));
        let alike: Vec<Vec<Inst<'m>>> = alike.map(Iterator::collect).collect();
        let other = classes.members.iter().filter(|m| dropped.contains(&m.number));
        let mut other: Vec<Inst<'m>> = other.filter(is_of_version).map(|m| llvm(&m)).collect();
        let mut alike = alike;
        if proof.product.is_some() {
            // A copy of an instruction that loses its flags loses them, too, and so do those that
            // it is taken for.
            let lost: HashSet<Inst<'m>> = other.iter().copied().collect();
            let (loses, keeps) = joined(alike)
                .into_iter()
                .partition::<Vec<_>, _>(|class| class.iter().any(|inst| lost.contains(inst)));
            other.extend(loses.into_iter().flatten());
            alike = keeps;
        }
        Classes { alike, other }
    }

    /// The instructions that [`Self::equalize_flags`] takes something from.
    pub fn losing(&self) -> impl Iterator<Item = Inst<'m>> {
        let alike = self.alike.iter().flat_map(|class| class.iter().zip(losing_flags(class)));
        let lose = alike.filter_map(|(&inst, loses)| loses.then_some(inst));
        lose.chain(self.other.iter().copied())
    }

    /// Values that are taken for each other must be poison at the same times, and what is taken for
    /// a constant never. Flags that only some of them have are dropped.
    pub fn equalize_flags(&self) {
        self.alike.iter().for_each(|class| intersect_flags(class));
        drop_flags(&self.other);
    }
}

/// Classes that have an instruction in common, as copies of it may be in several, are one.
fn joined<'m>(classes: Vec<Vec<Inst<'m>>>) -> Vec<Vec<Inst<'m>>> {
    let mut joined: Vec<Vec<Inst<'m>>> = Vec::new();
    let mut place: HashMap<Inst<'m>, usize> = HashMap::new();
    for class in classes {
        let mut known: Vec<usize> = class.iter().filter_map(|i| place.get(i).copied()).collect();
        known.sort_unstable();
        known.dedup();
        let to = known.first().copied().unwrap_or(joined.len());
        joined.resize_with(joined.len().max(to + 1), Vec::new);
        let mut all = class;
        known.iter().for_each(|&other| all.append(&mut joined[other]));
        all.iter().for_each(|&inst| {
            place.insert(inst, to);
        });
        let mut seen = HashSet::new();
        all.retain(|&inst| seen.insert(inst));
        joined[to] = all;
    }
    joined.retain(|class| class.len() > 1);
    joined
}

/// An instruction of a class
struct Member {
    number: Number,
    which: Version,
    inst: InstId,
}

/// All of them, sorted by their numbers
struct Members<'a, 'm> {
    proof: &'a Proof,
    handles: &'a Handles<'a, 'm>,
    members: Vec<Member>,
}

impl Members<'_, '_> {
    fn of(&self, number: Number) -> &[Member] {
        let first = self.members.partition_point(|m| m.number < number);
        let count = self.members[first..].partition_point(|m| m.number == number);
        &self.members[first..first + count]
    }

    fn node(&self, member: &Member) -> &Node {
        &self.proof.proved().graph(member.which).nodes[member.inst]
    }

    /// True if the instructions of a class do the same to the same, and nothing else is in it.
    fn is_alike(&self, class: &[Member]) -> bool {
        let [first, rest @ ..] = class else { return true };
        let congruence = &self.proof.congruence;
        let arguments = self.proof.proved().of.base.graph.body.code.arguments;
        let is_argument = || congruence.of.base[..arguments.into()].contains(&first.number);
        if congruence.constant(first.number).is_some() || is_argument() {
            return false;
        }
        let operation = self.node(first).operation;
        let is_sum = self.node(first).linear.is_some();
        let added = self.added(first);
        rest.iter().all(|member| {
            let is_same_sum = || self.operands(member) == self.operands(first);
            let is_same = self.node(member).operation == operation && (!is_sum || is_same_sum());
            is_same || added.is_some_and(|added| self.added(member) == Some(added))
        })
    }

    /// For what adds a constant to a value, or subtracts the negated one, the value's number: such
    /// instructions of one number overflow together, but for the constant that is its own negation.
    fn added(&self, member: &Member) -> Option<Number> {
        let node = self.node(member);
        let linear = node.linear.as_ref()?;
        let [(place, 1)] = linear.terms[..] else { return None };
        let least = 1u64.checked_shl(linear.bits - 1)?;
        let mask = least | (least - 1);
        let is_least = linear.constant as u64 & mask == least;
        let inst = self.proof.folded(member.which, member.inst);
        let inst = self.handles.snapshots[member.which].instructions[inst];
        let adds = matches!(inst.opcode_name().as_str(), "add" | "sub");
        let operand = &self.proof.proved().graph(member.which).operands(member.inst)[place];
        (adds && !is_least).then(|| self.number(member, operand))
    }

    /// The numbers of what an operation is done to; of what is commutative, in any order.
    fn operands(&self, member: &Member) -> Vec<Number> {
        let operands = self.proof.proved().graph(member.which).operands(member.inst);
        let mut numbers: Vec<Number> = operands.iter().map(|o| self.number(member, o)).collect();
        if self.node(member).facts.is_commutative() {
            numbers.sort_unstable();
        }
        numbers
    }

    /// The numbers of what a sum adds up, or of what is negated; none of anything else
    fn looked_through(&self, member: &Member) -> Vec<Number> {
        let operands = self.proof.proved().graph(member.which).operands(member.inst);
        let node = self.node(member);
        let terms = node.linear.iter().flat_map(|linear| &linear.terms).map(|&(place, _)| place);
        let negated = match node.boolean {
            Some(Boolean::Not(place)) => Some(place),
            _ => None,
        };
        terms.chain(negated).map(|place| self.number(member, &operands[place])).collect()
    }

    fn number(&self, member: &Member, operand: &Operand) -> Number {
        self.proof.congruence.at(
            self.proof.proved(),
            member.which,
            *operand,
            self.proof.proved().graph(member.which).block(member.inst),
        )
    }
}
