//! What makes a result poison, where values are taken for each other.

use crate::osr::map::graph::{BASE, OPT};
use crate::osr::map::mapping::Mapper;
use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::Inst;
use midflight_bridge::map::{drop_flags, intersect_flags};

/// The instructions of both versions that have one number, where there are several: by operation.
pub struct Classes<'m>(Vec<Vec<(u32, Inst<'m>)>>);

impl<'m> Classes<'m> {
    /// Those of what is proved.
    pub fn new(mapper: &Mapper<'_>, snapshots: &[CodeSnapshot<'m>; 2]) -> Self {
        let proof = &mapper.proof;
        let mut members: Vec<(u32, (u32, Inst<'m>))> = Vec::new();
        for which in [BASE, OPT] {
            let version = &proof.versions.of[which];
            for (inst, node) in version.graph.nodes.iter().enumerate() {
                let number = proof.congruence.of[which][version.graph.result(inst)];
                let is_constant = proof.congruence.constant(number).is_some();
                if node.has_result && version.live.reached[node.block] && !is_constant {
                    members.push((number, (node.operation, snapshots[which].instructions[inst])));
                }
            }
        }
        members.sort_by_key(|&(number, _)| number);
        let classes = members.chunk_by(|(a, _), (b, _)| a == b).filter(|class| class.len() > 1);
        Classes(classes.map(|class| class.iter().map(|&(_, member)| member).collect()).collect())
    }

    /// Values that are taken for each other must be poison at the same times. Flags that only some
    /// of them have are dropped.
    pub fn equalize_flags(&self) {
        for class in &self.0 {
            let instructions: Vec<Inst<'_>> = class.iter().map(|&(_, inst)| inst).collect();
            if class.iter().all(|&(operation, _)| operation == class[0].0) {
                intersect_flags(&instructions);
            } else {
                drop_flags(&instructions);
            }
        }
    }
}
