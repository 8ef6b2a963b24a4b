//! The two versions of a function, and what there is of each.

use core::ops::{Index, IndexMut};

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// The one that was there first
    Base,
    /// The one that passes made of it
    Opt,
}

impl Version {
    /// Both, base first
    pub const BOTH: [Version; 2] = [Version::Base, Version::Opt];

    /// The one that it is not
    pub fn other(self) -> Version {
        match self {
            Version::Base => Version::Opt,
            Version::Opt => Version::Base,
        }
    }
}

/// Something of each version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PerVersion<T> {
    /// Of base
    pub base: T,
    /// Of opt
    pub opt: T,
}

impl<T> PerVersion<T> {
    /// What is made for each version, for base first.
    pub fn from_fn(mut make: impl FnMut(Version) -> T) -> Self {
        PerVersion { base: make(Version::Base), opt: make(Version::Opt) }
    }

    /// What is made of each, of base's first.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> PerVersion<U> {
        PerVersion { base: make(self.base), opt: make(self.opt) }
    }

    /// References to both.
    pub fn as_ref(&self) -> PerVersion<&T> {
        PerVersion { base: &self.base, opt: &self.opt }
    }

    /// Both, base's first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.base, &self.opt].into_iter()
    }
}

impl<T> Index<Version> for PerVersion<T> {
    type Output = T;

    fn index(&self, version: Version) -> &T {
        match version {
            Version::Base => &self.base,
            Version::Opt => &self.opt,
        }
    }
}

impl<T> IndexMut<Version> for PerVersion<T> {
    fn index_mut(&mut self, version: Version) -> &mut T {
        match version {
            Version::Base => &mut self.base,
            Version::Opt => &mut self.opt,
        }
    }
}
