//! The section of memory: how much of it the run took for what it counted in windows.
//!
//! A reader can do without, hence the small letter of its name; and since it is of one run, the sum
//! of profiles has none.

use super::encoder::{Encoder, Sink};
#[cfg(feature = "alloc")]
use super::error::ReadError;
use super::sections::Kind;
#[cfg(feature = "alloc")]
use crate::cursor::Cursor;

/// Memory that the runtime took for windows, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Threads that have counted, less those that have gone on with what an ended one had.
    pub threads: u64,
    /// States, their tables and those that were outgrown, of all threads.
    pub states: u64,
    /// What states are found by, of all threads.
    pub index: u64,
    /// What the thread with the most has, of both.
    pub most: u64,
    /// What that thread might have had.
    pub limit: u64,
}

impl MemoryUse {
    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.states.saturating_add(self.index)
    }

    /// Adds a thread that may have `limit` bytes.
    pub fn add_thread(&mut self, states: u64, index: u64, limit: u64) {
        self.threads = self.threads.saturating_add(1);
        self.states = self.states.saturating_add(states);
        self.index = self.index.saturating_add(index);
        let own = states.saturating_add(index);
        if own >= self.most {
            (self.most, self.limit) = (own, limit);
        }
    }

    #[cfg(feature = "alloc")]
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, ReadError> {
        Ok(MemoryUse {
            threads: cursor.varint("the number of threads")?,
            states: cursor.varint("the memory of states")?,
            index: cursor.varint("the memory of the index of states")?,
            most: cursor.varint("the memory of a thread")?,
            limit: cursor.varint("the limit of a thread's memory")?,
        })
    }
}

impl<S: Sink> Encoder<S> {
    /// Writes how much memory the run took. Nothing follows.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn memory_use(&mut self, used: &MemoryUse) -> Result<(), S::Error> {
        self.begin_item(Kind::Used);
        let MemoryUse { threads, states, index, most, limit } = *used;
        [threads, states, index, most, limit].into_iter().try_for_each(|n| self.varint(n))
    }
}
