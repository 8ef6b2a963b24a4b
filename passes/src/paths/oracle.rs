//! A second, independent instrumentation that path counts are checked against.
//!
//! It shares nothing with path profiling but the record that names the function: calls at the heads
//! of blocks report which edge was taken (as a phi of constants, no path register, no split edge)
//! or which block an activation is in. The program supplies the two functions.

use midflight_bridge::ir::{Callee, Module};

/// Which calls are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oracle {
    /// None
    #[default]
    None,
    /// `void midflight_oracle_edge(const void *record, uint32_t edge)`: on each edge, with its
    /// index in the record's list of edges
    Edges,
    /// `void midflight_oracle_block(const void *record, uint64_t *activation, uint32_t block)`: in
    /// each block, with a variable of the activation's frame that is 0 at first
    Blocks,
}

impl Oracle {
    pub(crate) fn edge_callee(module: Module<'_>) -> Callee<'_> {
        let (ptr, i32) = (module.pointer_type(), module.int_type(32));
        module.runtime_function("midflight_oracle_edge", module.void_type(), &[ptr, i32])
    }

    pub(crate) fn block_callee(module: Module<'_>) -> Callee<'_> {
        let (ptr, i32) = (module.pointer_type(), module.int_type(32));
        module.runtime_function("midflight_oracle_block", module.void_type(), &[ptr, ptr, i32])
    }
}
