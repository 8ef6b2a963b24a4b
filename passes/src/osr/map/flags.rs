//! What makes a result poison, where values are taken for each other.

use crate::osr::map::graph::{BASE, Node, OPT};
use crate::osr::map::mapping::Mapper;
use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::Inst;
use midflight_bridge::map::{drop_flags, intersect_flags};

/// The instructions of both versions that are taken for something else.
pub struct Classes<'m> {
    /// Those that have one number, where there are several, with their operations
    alike: Vec<Vec<(u32, Inst<'m>)>>,
    /// Those that are taken for constants
    constant: Vec<Inst<'m>>,
}

impl<'m> Classes<'m> {
    /// Those of what is proved.
    pub fn new(mapper: &Mapper<'_>, snapshots: &[CodeSnapshot<'m>; 2]) -> Self {
        let proof = &mapper.proof;
        let mut members: Vec<(u32, (u32, Inst<'m>))> = Vec::new();
        let mut constant = Vec::new();
        for which in [BASE, OPT] {
            let version = &proof.versions.of[which];
            let has_value = |node: &Node| node.has_result && version.live.reached[node.block];
            for (id, node) in version.graph.nodes.iter().enumerate().filter(|(_, n)| has_value(n)) {
                let number = proof.congruence.of[which][version.graph.result(id)];
                let inst = snapshots[which].instructions[id];
                match proof.congruence.constant(number) {
                    Some(_) => constant.push(inst),
                    None => members.push((number, (node.operation, inst))),
                }
            }
        }
        members.sort_by_key(|&(number, _)| number);
        let alike = members.chunk_by(|(a, _), (b, _)| a == b).filter(|class| class.len() > 1);
        let alike = alike.map(|class| class.iter().map(|&(_, member)| member).collect()).collect();
        Classes { alike, constant }
    }

    /// Values that are taken for each other must be poison at the same times, and what is taken for a
    /// constant never. Flags that only some of them have are dropped.
    pub fn equalize_flags(&self) {
        for class in &self.alike {
            let instructions: Vec<Inst<'_>> = class.iter().map(|&(_, inst)| inst).collect();
            if class.iter().all(|&(operation, _)| operation == class[0].0) {
                intersect_flags(&instructions);
            } else {
                drop_flags(&instructions);
            }
        }
        drop_flags(&self.constant);
    }
}
