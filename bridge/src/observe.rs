//! What code that is checked tells of its state: see `osr::check` of the passes.

use std::cell::RefCell;

/// What code told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Which of the two versions told it
    pub side: u32,
    /// The values, as the check has laid them out
    pub bytes: Vec<u8>,
}

thread_local! {
    static SEEN: RefCell<Vec<Observation>> = const { RefCell::new(Vec::new()) };
}

/// The address of the function `void (i32 side, ptr values, i64 size)` that keeps what it gets,
/// for the thread that calls it.
pub fn observer() -> usize {
    observe as *const () as usize
}

/// What this thread was told since the last call.
pub fn take() -> Vec<Observation> {
    SEEN.take()
}

/// # Safety
/// `values` points to `size` bytes.
unsafe extern "C" fn observe(side: u32, values: *const u8, size: u64) {
    // SAFETY: the caller's; emitted code tells the size of its own variable.
    let bytes = unsafe { std::slice::from_raw_parts(values, size as usize) }.to_vec();
    SEEN.with_borrow_mut(|seen| seen.push(Observation { side, bytes }));
}
