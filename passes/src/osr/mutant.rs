//! Mutants: transitions that are wrong in one way, so that tests can show that they would notice.

use midflight_abi::osr::OSR_MUTANT_SECTION;
use midflight_bridge::ir::Module;
use std::cell::Cell;

/// In how many places of a function something is done wrong. A binary sums them up: where a mutant
/// has nothing to change, nothing can be noticed.
#[derive(Debug, Default)]
pub struct Changes(Cell<u64>);

impl Changes {
    /// So many places more
    pub fn add(&self, places: usize) {
        self.0.set(self.0.get() + places as u64);
    }

    /// Leaves the number in the binary.
    pub fn emit(&self, module: Module<'_>) {
        let number = module.int_type(64).constant(self.0.get());
        module.section_record("midflight.osr.mutant", OSR_MUTANT_SECTION, number);
    }
}
