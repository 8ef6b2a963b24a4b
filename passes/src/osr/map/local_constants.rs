//! Arrays of base that a pass took away since they are as good as a constant.
//!
//! `const int table[] = {1, 2, 3};` in a function is memory of its frame that a constant is copied
//! to. If nothing else writes there, LLVM's instcombine reads the constant instead. Opt then has no
//! such memory, and no copy.
//!
//! What base reads there is what the constant has, or undefined where the copy has not run yet. So
//! the array's address counts as the constant's, reads of it read what never changes, and the copy
//! is no anchor. Base gets an array of its own where it is entered, with a copy of the constant;
//! opt gets the constant, whether base has initialized the array or not.

use crate::osr::map::read::Handles;
use midflight_mapping::versions::facts::Tracked;
use midflight_mapping::versions::graph::{Access, Graph, Oracle};
use midflight_mapping::versions::version::Version;

/// Marks the local constants of base that opt does not have, and what reads them.
pub fn add_local_constants(handles: &Handles<'_, '_>, tracked: &Tracked, base: &mut Graph) {
    let snapshot = handles.snapshots.base;
    let mut has_some = false;
    for (inst, alloca) in snapshot.instructions.iter_enumerated() {
        if tracked.kept[inst].is_none()
            && let Some((copy, constant)) = alloca.local_constant()
            && let Some(copy) = snapshot.id_of(copy)
            && let Some(before) = handles.memory_before(Version::Base, copy)
        {
            base.nodes[inst].local_constant = Some(copy);
            base.nodes[inst].constant = Some(handles.constant_id(constant));
            base.nodes[copy].initializes = Some(before);
            has_some = true;
        }
    }
    if has_some {
        let within = base.in_local_constants();
        for inst in base.nodes.keys() {
            let pointer = base.pointer(inst).filter(|_| base.nodes[inst].facts.is_load());
            let of = pointer.and_then(|pointer| base.definition_of(pointer));
            if of.is_some_and(|of| within.contains(&of)) {
                base.nodes[inst].clobber = Some(Access::Entry);
            }
        }
    }
}
