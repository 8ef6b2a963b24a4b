//! The plans that come of a walk: its copies that can be reached, and the rest of each version.

use super::Walk;
use crate::unfold::Plan;
use crate::versions::version::Version;
use midflight_ir::ids::BlockId;
use typed_index_collections::TiVec;

impl Walk<'_> {
    /// For each copy its number among those that can be reached.
    pub(super) fn reached(&self, which: Version) -> TiVec<BlockId, Option<BlockId>> {
        let mut reached = TiVec::from(vec![false; self.blocks[which].len()]);
        let mut work = vec![BlockId::ENTRY];
        while let Some(copy) = work.pop() {
            if !std::mem::replace(&mut reached[copy], true) {
                work.extend(self.successors[which][copy].iter().flatten());
            }
        }
        let mut count = 0;
        let number = |&is_reached: &bool| {
            count += usize::from(is_reached);
            is_reached.then(|| BlockId::from(count - 1))
        };
        reached.iter().map(number).collect()
    }

    pub(super) fn plan(&self, which: Version, numbers: &TiVec<BlockId, Option<BlockId>>) -> Plan {
        let mut plan = Plan::default();
        for (copy, _) in numbers.iter_enumerated().filter(|(_, number)| number.is_some()) {
            plan.blocks.push(self.blocks[which][copy].0);
            let to = |to: &Option<BlockId>| {
                let to = to.expect("all edges lead somewhere");
                numbers[to].expect("what is behind one that can be reached can be reached")
            };
            plan.successors.push(self.successors[which][copy].iter().map(to).collect());
        }
        plan
    }

    /// What the walk did not come to is copied once.
    pub(super) fn rest(&mut self) -> Option<()> {
        for which in Version::BOTH {
            let mut copy = BlockId::ENTRY;
            while copy < self.blocks[which].next_key() {
                let (block, _) = self.blocks[which][copy];
                let edges = self.version(which).graph.body.blocks[block].edges.clone();
                for (place, edge) in edges.iter().enumerate() {
                    if self.successors[which][copy][place].is_none() {
                        let target = self.copy(which, edge.to, None);
                        self.successors[which][copy][place] = Some(target);
                    }
                }
                copy = copy.next();
            }
        }
        self.has_room().then_some(())
    }
}
