//! What can be wrong with a profile file.

#[cfg(feature = "alloc")]
use super::contexts::ContextOverflow;
use crate::cursor::Malformed;
use midflight_abi::{MAX_K, PROFILE_VERSION};

/// A file is not a profile that this version can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It has no bytes.
    #[error("it is empty: the program may have been killed, or the disk full, when it was written")]
    Empty,
    /// It begins as a profile and ends before its header does.
    #[error("it has {actual} bytes, and the header of a profile {expected}: it is truncated")]
    TooShort {
        /// Size of the file
        actual: usize,
        /// Size of its header
        expected: usize,
    },
    /// It is something else.
    #[error("it is not a Midflight profile")]
    Foreign,
    /// A later version wrote it.
    #[error(
        "it has format version {0}, and this Midflight reads version {PROFILE_VERSION}: use a \
         newer Midflight"
    )]
    Newer(u32),
    /// It was written by an older version.
    #[error(
        "it has format version {0}, and this Midflight reads version {PROFILE_VERSION}: use the \
         Midflight that the program was built with"
    )]
    Older(u32),
    /// It has a section that a reader must know.
    #[error(
        "it has a section '{}', which this Midflight does not know: use a newer Midflight",
        .0.escape_ascii()
    )]
    Section([u8; 4]),
    /// Bytes are missing at its end.
    #[error("it is truncated: it has {actual} bytes of {expected}")]
    Truncated {
        /// The size that its header says
        expected: u64,
        /// The size that it has
        actual: u64,
    },
    /// There is more than its sections.
    #[error("it has {actual} bytes, and its header says {expected}: something was added to it")]
    TooLong {
        /// The size that its header says
        expected: u64,
        /// The size that it has
        actual: u64,
    },
    /// The header is not as it was written.
    #[error("its header is damaged: the checksum does not match")]
    HeaderChecksum,
    /// A section is not as it was written.
    #[error("its contents are damaged: the checksum does not match")]
    PayloadChecksum,
    /// It is the memory of a program for a machine of another kind.
    #[error(
        "it is the memory of a program for a machine with another byte order or pointer size, \
         which this Midflight cannot read"
    )]
    Machine,
    /// It is the memory of a program that was linked with another Midflight.
    #[error(
        "it is the memory of a program in a layout (version {version}.{abi}) that this Midflight \
         cannot read (it reads {known}.{known_abi}): use the Midflight that the program was built with"
    )]
    Layout {
        /// That of the file
        version: u32,
        /// That of the compiled code
        abi: u32,
        /// [`MEMORY_VERSION`](midflight_abi::memory::MEMORY_VERSION)
        known: u32,
        /// [`ABI_VERSION`](midflight_abi::ABI_VERSION)
        known_abi: u32,
    },
    /// k is out of range.
    #[error("it is for k = {0}, which is not in 1..={MAX_K}")]
    K(u32),
    /// A field makes no sense.
    #[error("it is malformed: {0}")]
    Malformed(#[from] Malformed),
    /// A forest is deeper than its k allows.
    #[error("it is malformed: what is at byte {at} is longer than k = {k} allows")]
    TooDeep {
        /// Where the node or the window stands that is too deep
        at: usize,
        /// k of the forest
        k: u32,
    },
    /// Counts add up to too much.
    #[error("it is malformed: {0}")]
    Overflow(#[from] SumOverflow),
    /// Counts of calling contexts add up to too much.
    #[cfg(feature = "alloc")]
    #[error("it is malformed: {0}")]
    ContextOverflow(#[from] ContextOverflow),
}

/// Counts of a function, added up, pass 2^64 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counts of the function with key {key:016x} add up to more than 2^64 - 1")]
pub struct SumOverflow {
    /// Key of the function
    pub key: u64,
}

/// What is wrong with a forest, at that place, of which the function's others have another k.
pub(super) fn other_k(at: usize) -> Malformed {
    Malformed { what: "a forest's k", at, problem: "is not that of the function's others" }
}

/// What is wrong with a forest, at that place, of which the function's others are of another kind.
pub(super) fn other_counters(at: usize) -> Malformed {
    Malformed { what: "a forest", at, problem: "is not of the kind of the function's others" }
}
