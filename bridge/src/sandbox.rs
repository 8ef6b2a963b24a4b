//! Stock passes on one function, and what becomes of its blocks and instructions.

use crate::ir::{Block, Function, Inst, Module, Value, taken, wrap};
use crate::pass::Analyses;
use crate::sys;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Runs stock passes and analyses on single functions, with analysis managers of its own.
pub struct Sandbox(pub(crate) *mut c_void);

impl Default for Sandbox {
    fn default() -> Self {
        // SAFETY: makes an object that this one owns.
        Sandbox(unsafe { sys::mfb_sandbox_new() })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // SAFETY: made by `default`, freed once.
        unsafe { sys::mfb_sandbox_free(self.0) }
    }
}

impl Sandbox {
    /// Has passes know the target of a module, as far as the host knows it: vectorizers do nothing
    /// without.
    pub fn use_target(&self, analyses: &Analyses<'_>, module: Module<'_>) {
        // SAFETY: all are live; the host's managers outlive the passes that run in this one.
        unsafe { sys::mfb_sandbox_use_target(self.0, analyses.modules, module.0) }
    }

    /// Asks whether a text is a pipeline of function passes.
    ///
    /// # Errors
    /// LLVM's message if it is none.
    pub fn check_pipeline(&self, text: &str) -> Result<(), String> {
        let (text, length) = (text.as_ptr().cast(), text.len());
        // SAFETY: the sandbox is live, the text has the length that is passed.
        unsafe { taken(sys::mfb_check_pipeline(self.0, text, length)) }.map_or(Ok(()), Err)
    }

    /// What a pipeline stands for, as the text of its passes one by one; none if it is none.
    pub fn passes(&self, text: &str) -> Option<String> {
        let (text, length) = (text.as_ptr().cast(), text.len());
        // SAFETY: the text has the length that is passed.
        unsafe { taken(sys::mfb_passes_of_pipeline(text, length)) }
    }

    /// Runs a pipeline of function passes on a function with a body.
    ///
    /// # Errors
    /// LLVM's message if the text is no such pipeline.
    pub fn run(&self, function: Function<'_>, text: &str) -> Result<(), String> {
        let (text, length) = (text.as_ptr().cast(), text.len());
        // SAFETY: as above; the function is live.
        unsafe { taken(sys::mfb_run_pipeline(self.0, function.0, text, length)) }
            .map_or(Ok(()), Err)
    }

    /// Forgets what is known of a function, before it is changed or erased.
    pub fn forget(&self, function: Function<'_>) {
        // SAFETY: both are live.
        unsafe { sys::mfb_sandbox_forget(self.0, function.0) }
    }
}

/// Follows the blocks and instructions of a function through passes, with value handles.
pub struct Tracker<'m> {
    raw: *mut c_void,
    lifetime: PhantomData<&'m ()>,
}

impl Drop for Tracker<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { sys::mfb_track_free(self.raw) }
    }
}

/// What became of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate<'m> {
    /// It is there, perhaps elsewhere, or changed.
    Kept(Inst<'m>),
    /// It is deleted; its uses were given this value.
    Replaced(Value<'m>),
    /// It is deleted, and had no uses then.
    Deleted,
}

impl<'m> Tracker<'m> {
    /// Follows a function from now on.
    pub fn new(function: Function<'m>) -> Self {
        // SAFETY: the function is live and has a body.
        Tracker { raw: unsafe { sys::mfb_track(function.0) }, lifetime: PhantomData }
    }

    /// The block that was the n-th, if it is there.
    pub fn block(&self, index: usize) -> Option<Block<'m>> {
        // SAFETY: the tracker is live; the caller counts as the function did.
        wrap(unsafe { sys::mfb_tracked_block(self.raw, index) }).map(Block::from_raw)
    }

    /// What became of the instruction that was the n-th.
    pub fn fate(&self, index: usize) -> Fate<'m> {
        // SAFETY: as above.
        let (itself, now) =
            unsafe { (sys::mfb_tracked(self.raw, index), sys::mfb_tracked_value(self.raw, index)) };
        if !itself.is_null() {
            Fate::Kept(Inst::from_raw(itself))
        } else if !now.is_null() {
            Fate::Replaced(Value::from_raw(now))
        } else {
            Fate::Deleted
        }
    }
}
