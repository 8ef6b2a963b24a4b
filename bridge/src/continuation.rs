//! Continuations: bodies of versions that are entered in the middle.

use crate::ir::{Block, Function, Inst, Value};
use crate::sys;

/// A body that is being made into a continuation.
pub struct Finish<'a, 'm> {
    /// The continuation, whose body was adopted and which has an entry
    pub continuation: Function<'m>,
    /// The version whose body it has
    pub version: Function<'m>,
    /// For each argument of the version what comes in for it
    pub arguments: &'a [Value<'m>],
    /// Instructions of the body that are live at a landing
    pub definitions: &'a [Inst<'m>],
    /// The blocks that values come in from
    pub entries: &'a [Block<'m>],
    /// For each definition and entry what comes in, row by row; none where it is not live
    pub values: &'a [Option<Value<'m>>],
    /// Keep the definitions in stack slots
    pub demote: bool,
}

impl Finish<'_, '_> {
    /// Gives arguments and definitions what comes in, repairs SSA form, removes what cannot be
    /// reached, and erases the version.
    pub fn run(self) {
        let (definitions, entries) = (self.definitions, self.entries);
        let mut values: Vec<_> =
            self.values.iter().map(|v| v.map_or(std::ptr::null_mut(), |v| v.0)).collect();
        assert_eq!(values.len(), definitions.len() * entries.len(), "a value for each entry");
        // SAFETY: all handles are live and of the continuation or its version; the arrays have the
        // sizes that are passed; the version is not used again.
        unsafe {
            sys::mfb_finish_continuation(
                self.continuation.0,
                self.version.0,
                Value::list(self.arguments),
                Inst::list(definitions),
                definitions.len(),
                Block::list(entries),
                entries.len(),
                values.as_mut_ptr(),
                self.demote,
            );
        }
    }
}
