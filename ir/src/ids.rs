//! Numbers of what a snapshot has: of each kind a type of its own.
//!
//! A table of what each block has is a [`TiVec`] by [`BlockId`], and so on: what it has for an
//! instruction cannot be asked. Numbers are made of numbers, and turned into them, only where they
//! come from, or where they leave these crates.
//!
//! [`TiVec`]: typed_index_collections::TiVec

/// Makes a type of numbers that are indices of tables; 32 bits each.
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
            fn from(index: usize) -> Self {
                match u32::try_from(index) {
                    Ok(index) => $name(index),
                    Err(_) => panic!("there is no {} {index}", stringify!($name)),
                }
            }
        }

        impl From<$name> for usize {
            fn from(id: $name) -> usize {
                id.0 as usize
            }
        }

        impl From<$name> for u32 {
            fn from(id: $name) -> u32 {
                id.0
            }
        }
    };
}

index_type! {
    /// A block of [`crate::body::Body::blocks`].
    BlockId
}

impl BlockId {
    /// The block that a function begins with.
    pub const ENTRY: BlockId = BlockId(0);
}
