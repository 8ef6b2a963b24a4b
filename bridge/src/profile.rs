//! Putting a profile into a module.

use crate::ir::{Block, Function, Inst, Module};
use crate::plugin::Analyses;
use crate::sys;

impl Inst<'_> {
    /// Gives the successors of a terminator weights, in their order, parallel edges each for
    /// itself.
    pub fn set_branch_weights(self, weights: &[u32]) {
        // SAFETY: the instruction is a live terminator; the weights are copied.
        unsafe { sys::mfb_set_branch_weights(self.0, weights.as_ptr(), weights.len()) }
    }
}

impl Function<'_> {
    /// Says how often it was entered.
    pub fn set_entry_count(self, count: u64) {
        // SAFETY: the function is live.
        unsafe { sys::mfb_set_entry_count(self.0, count) }
    }

    /// Turns what the source says of likely branches into weights of those that have none, and has
    /// LLVM warn of the others where the weights that they have say another thing (misexpect).
    pub fn lower_expectations(self, analyses: &Analyses<'_>) {
        // SAFETY: the function is live and has a body, and the manager is the host's.
        unsafe { sys::mfb_lower_expectations(self.0, analyses.manager) }
    }

    /// Marks it as hot or cold by its counts, if the module's summary says so.
    pub fn mark_heat(self, analyses: &Analyses<'_>, entries: u64, largest: u64) {
        // SAFETY: the function is live, and the manager the host's.
        unsafe { sys::mfb_mark_heat(self.0, analyses.modules, entries, largest) }
    }
}

impl Block<'_> {
    /// Marks the innermost loop with this header: unrolled by `count` it may be faster. In front of
    /// the vectorizer the pass `path-profile-unroll` decides. False if it is no such header.
    pub fn mark_loop(self, analyses: &Analyses<'_>, count: u32) -> bool {
        // SAFETY: the block is live and in a function, and the manager is the host's.
        unsafe { sys::mfb_mark_loop(self.0, analyses.manager, count) }
    }
}

impl Module<'_> {
    /// Gives it the summary of a whole program's profile: for each function the count of entries,
    /// and those of the other blocks.
    pub fn set_profile_summary<'c>(
        self,
        analyses: &Analyses<'_>,
        functions: impl Iterator<Item = (u64, &'c [u64])>,
    ) {
        let (mut counts, mut lengths) = (Vec::new(), Vec::new());
        for (entries, others) in functions {
            counts.push(entries);
            counts.extend(others);
            lengths.push(others.len() + 1);
        }
        // SAFETY: the module is live, and the manager the host's; the counts, as many as the
        // lengths say, are only read.
        unsafe {
            sys::mfb_set_profile_summary(
                self.0,
                analyses.modules,
                counts.as_ptr(),
                lengths.as_ptr(),
                lengths.len(),
            );
        }
    }
}
