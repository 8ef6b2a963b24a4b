//! What makes a result poison, where values are taken for each other.

use crate::osr::map::graph::{BASE, Node, OPT};
use crate::osr::map::read::Handles;
use crate::osr::map::side::Proof;
use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::Inst;
use midflight_bridge::map::{drop_flags, intersect_flags, losing_flags};

/// The instructions of both versions that are taken for something else.
pub struct Classes<'m> {
    /// Those that have one number, and do the same
    alike: Vec<Vec<Inst<'m>>>,
    /// Those that keep no flags: what is taken for something that does not do the same
    other: Vec<Inst<'m>>,
}

impl<'m> Classes<'m> {
    /// Those of what is proved.
    pub fn new(
        proof: Proof<'_>,
        handles: &Handles<'_, '_>,
        snapshots: &[CodeSnapshot<'m>; 2],
    ) -> Self {
        let mut members: Vec<(u32, Member<'m>)> = Vec::new();
        let mut classes = Classes { alike: Vec::new(), other: Vec::new() };
        for which in [BASE, OPT] {
            let version = &proof.versions.of[which];
            let has_value = |node: &Node| node.has_result && version.live.reached[node.block];
            for (id, node) in version.graph.nodes.iter().enumerate().filter(|(_, n)| has_value(n)) {
                let number = proof.congruence.of[which][version.graph.result(id)];
                let inst = snapshots[which].instructions[id];
                let (operation, loses) = (node.operation, handles.loses_flags(which, id));
                match proof.congruence.constant(number) {
                    Some(_) => classes.other.push(inst),
                    None => members.push((number, Member { operation, inst, loses })),
                }
            }
        }
        members.sort_by_key(|&(number, _)| number);
        for class in members.chunk_by(|(a, _), (b, _)| a == b) {
            let instructions = class.iter().map(|(_, member)| member.inst);
            let is_alike = |(_, member): &(u32, Member<'_>)| {
                member.operation == class[0].1.operation && !member.loses
            };
            match class.iter().all(is_alike) {
                true if class.len() == 1 => {}
                true => classes.alike.push(instructions.collect()),
                false => classes.other.extend(instructions),
            }
        }
        classes
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

/// An instruction of a class
struct Member<'m> {
    operation: u32,
    inst: Inst<'m>,
    /// What is known of the class, or of what is made of it, holds without flags only.
    loses: bool,
}
