//! Adding profiles up.

use super::contexts::{ContextMergeError, ContextOverflow, Contexts};
use super::error::SumOverflow;
use super::profile::Profile;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Two profiles cannot be added up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// They are for different k.
    #[error("one is for k = {ours} and one for k = {theirs}: only profiles of the same k add up")]
    K {
        /// k of the profile added to
        ours: u32,
        /// k of the profile added
        theirs: u32,
    },
    /// They are of different builds of a program.
    #[error(
        "they are of different builds of '{name}' (signatures {ours:016x} and {theirs:016x}): \
         only profiles of the same binary add up"
    )]
    Build {
        /// The image
        name: String,
        /// Its signature in the profile added to
        ours: u64,
        /// Its signature in the profile added
        theirs: u64,
    },
    /// They have counted a function in different ways, which one binary does not.
    #[error(
        "they have counted the function with key {key:016x} in different ways: one of them is damaged"
    )]
    Counters {
        /// Key of the function
        key: u64,
    },
    /// They have contexts of a function with different numbers of call sites.
    #[error(
        "the function with key {key:016x} has different numbers of call sites in them: one of them \
         is damaged"
    )]
    Slots {
        /// Key of the function
        key: u64,
    },
    /// Counts of calling contexts add up to too much.
    #[error(transparent)]
    ContextOverflow(#[from] ContextOverflow),
    /// Counts add up to too much.
    #[error(transparent)]
    Overflow(#[from] SumOverflow),
}

impl From<ContextMergeError> for MergeError {
    fn from(error: ContextMergeError) -> Self {
        match error {
            ContextMergeError::Overflow => ContextOverflow.into(),
            ContextMergeError::Slots { key } => MergeError::Slots { key },
            ContextMergeError::Sum(error) => error.into(),
            ContextMergeError::Counters { key } => MergeError::Counters { key },
        }
    }
}

impl Profile {
    /// Adds another profile: all counts add up exactly. Modules are the same if their signatures
    /// are; each profile may have modules that the other has not. A profile without functions has
    /// no k, and adds to any. Of a sum it is not known how much memory it took.
    ///
    /// # Errors
    /// [`MergeError`] if they cannot be added up. `self` is unchanged then if they are of different
    /// k or builds, and else of no use any more.
    pub fn merge(&mut self, other: &Profile) -> Result<(), MergeError> {
        self.check_k(other)?;
        self.check_builds(other)?;
        let places = self.add_modules(other);
        let mut known: BTreeMap<(usize, u64), usize> =
            self.functions.iter().map(|f| (f.module, f.key)).zip(0..).collect();
        for theirs in &other.functions {
            let module = places[theirs.module];
            let place = *known.entry((module, theirs.key)).or_insert(self.functions.len());
            match self.functions.get_mut(place) {
                Some(ours) if (ours.k, ours.counters) != (theirs.k, theirs.counters) => {
                    return Err(MergeError::Counters { key: theirs.key });
                }
                Some(ours) => {
                    ours.add(theirs)?;
                    ours.check_total()?;
                }
                None => {
                    let mut new = theirs.clone();
                    new.module = module;
                    self.functions.push(new);
                }
            }
        }
        if let Some(theirs) = &other.contexts {
            let ours = self.contexts.get_or_insert_with(|| Contexts::new(theirs.mode));
            ours.merge(theirs, &places)?;
        }
        self.k = self.k.max(other.k);
        self.flags |= other.flags;
        self.used = None;
        Ok(())
    }

    /// Multiplies all counts, as if the run had been made so often.
    ///
    /// # Errors
    /// [`MergeError`] if counts do not fit any more; `self` is of no use then.
    pub fn scale(&mut self, by: u64) -> Result<(), MergeError> {
        self.functions.iter_mut().try_for_each(|function| function.scale(by))?;
        Ok(self.contexts.iter_mut().try_for_each(|contexts| contexts.scale(by))?)
    }

    fn check_k(&self, other: &Profile) -> Result<(), MergeError> {
        let (ours, theirs) = (self.k, other.k);
        if ours == theirs || ours == 0 || theirs == 0 {
            return Ok(());
        }
        Err(MergeError::K { ours, theirs })
    }

    fn check_builds(&self, other: &Profile) -> Result<(), MergeError> {
        let known: BTreeSet<u64> = self.modules.iter().map(|m| m.signature).collect();
        let named: BTreeMap<&str, u64> =
            self.modules.iter().map(|m| (m.name.as_str(), m.signature)).collect();
        for theirs in other.modules.iter().filter(|m| !known.contains(&m.signature)) {
            if let Some(&ours) = named.get(theirs.name.as_str()) {
                let (name, theirs) = (theirs.name.clone(), theirs.signature);
                return Err(MergeError::Build { name, ours, theirs });
            }
        }
        Ok(())
    }

    /// The place here of each module of another profile.
    fn add_modules(&mut self, other: &Profile) -> Vec<usize> {
        let mut known: BTreeMap<u64, usize> =
            self.modules.iter().map(|module| module.signature).zip(0..).collect();
        let mut places = Vec::with_capacity(other.modules.len());
        for theirs in &other.modules {
            let place = *known.entry(theirs.signature).or_insert(self.modules.len());
            if place == self.modules.len() {
                self.modules.push(theirs.clone());
            }
            places.push(place);
        }
        places
    }
}
