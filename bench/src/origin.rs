//! Where sources are, and fetching them.

use crate::debian::{self, SourcePackage};
use crate::error::{Error, Result};
use crate::fetch::{fetch, version};
use crate::layout::Layout;
use std::path::PathBuf;

/// Where a program's sources are.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// Part of the checkout: a file in `bench/corpus/shootout`
    Own,
    /// A package pinned in `bench/corpus/Cargo.lock`, and the folder in it that paths begin from
    Package(&'static str, &'static str),
    /// A source package of Debian, which paths begin from, and others that are needed beside it,
    /// at `../NAME`
    Debian(SourcePackage, &'static [SourcePackage]),
}

impl Origin {
    /// The folder that paths begin from.
    pub fn folder(&self, layout: &Layout) -> PathBuf {
        match self {
            Origin::Own => layout.corpus().join("shootout"),
            Origin::Package(name, folder) => {
                layout.sources().join(name).join(folder).components().collect()
            }
            Origin::Debian(main, _) => debian::folder(layout, main),
        }
    }

    /// Makes sure that the sources are there; their version.
    ///
    /// # Errors
    /// If they are not available, or cannot be made ready.
    pub fn fetch(&self, layout: &Layout) -> Result<String> {
        match self {
            Origin::Own => Ok(env!("CARGO_PKG_VERSION").to_string()),
            Origin::Package(name, _) => {
                fetch(layout, &[name])?;
                Ok(version(&layout.sources().join(name)).unwrap_or_default())
            }
            Origin::Debian(main, others) => {
                for package in *others {
                    debian::fetch(layout, package)?;
                }
                debian::fetch(layout, main)
            }
        }
    }

    /// As [`Origin::fetch`], but none, after a line that says why, if Debian's sources cannot be
    /// had, since not every machine has them.
    ///
    /// # Errors
    /// If what was fetched cannot be made ready.
    pub fn fetch_or_skip(&self, layout: &Layout, name: &str) -> Result<Option<String>> {
        match (self, self.fetch(layout)) {
            (Origin::Debian(..), Err(Error::Missing { what, .. })) => {
                println!("{name}: skipped: {what}");
                Ok(None)
            }
            (_, fetched) => fetched.map(Some),
        }
    }
}
