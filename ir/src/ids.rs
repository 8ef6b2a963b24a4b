//! Numbers of what a snapshot has: of each kind a type of its own.
//!
//! A table of what each block has is a [`TiVec`] by [`BlockId`], and so on: what it has for an
//! instruction cannot be asked. Numbers are made of numbers, and turned into them, only where they
//! come from, or where they leave these crates.
//!
//! [`TiVec`]: typed_index_collections::TiVec

/// Makes a type of numbers that are indices of tables; 32 bits each.
#[macro_export]
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The one behind it.
            pub fn next(self) -> Self {
                $name::from(self.0 as usize + 1)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<usize> for $name {
            /// # Panics
            /// If it does not fit.
            #[inline]
            fn from(index: usize) -> Self {
                match u32::try_from(index) {
                    Ok(index) => $name(index),
                    Err(_) => panic!("there is no {} {index}", stringify!($name)),
                }
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(id: $name) -> usize {
                id.0 as usize
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(id: $name) -> u32 {
                id.0
            }
        }
    };
}

index_type! {
    /// A block of [`crate::body::Body::blocks`]. It says nothing of another body of the same
    /// function, which may have split blocks.
    BlockId
}

index_type! {
    /// An instruction of [`crate::code::Code::instructions`].
    InstId
}

index_type! {
    /// A value of the function: its arguments come first, then its instructions, with a result or
    /// not. [`crate::code::Code::result`] and [`crate::code::Code::definition`] lead from one to
    /// the other.
    ValueId
}

impl BlockId {
    /// The block that a function begins with.
    pub const ENTRY: BlockId = BlockId(0);
}

/// Instructions that stand one behind the other, as those of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstRange {
    /// The first
    pub start: InstId,
    /// What is behind the last
    pub end: InstId,
}

impl InstRange {
    /// All of them, in order.
    pub fn iter(self) -> <Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// Which of them an instruction is, from 0.
    pub fn place(self, inst: InstId) -> usize {
        (inst.0 - self.start.0) as usize
    }
}

impl IntoIterator for InstRange {
    type Item = InstId;
    type IntoIter = std::iter::Map<std::ops::Range<u32>, fn(u32) -> InstId>;

    fn into_iter(self) -> Self::IntoIter {
        (self.start.0..self.end.0).map(InstId)
    }
}
