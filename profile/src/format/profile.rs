//! A whole profile in memory.

use super::encoder::{Encoder, Sink};
use super::error::SumOverflow;
use super::forests::ForestHeader;
use super::sections::HEADER_SIZE;
use crate::forest::{CountOverflow, PrefixForest};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use midflight_abi::Totals;

/// What a profile file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The largest k of any function; 0 if there is none.
    pub k: u32,
    /// `FLAG_…` bits.
    pub flags: u32,
    /// The images that the functions are of. No two that were read have one signature.
    pub modules: Vec<Module>,
    /// The functions. No two that were read have one module and key.
    pub functions: Vec<FunctionProfile>,
}

/// A program or a shared object that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// [`image_signature`](crate::table::image_signature) of its records.
    pub signature: u64,
    /// The path that it was run or loaded from.
    pub name: String,
}

/// What was counted in a function, over all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionProfile {
    /// Index in [`Profile::modules`].
    pub module: usize,
    /// Key of the function's record.
    pub key: u64,
    /// k of the function's record.
    pub k: u32,
    /// What was counted besides paths.
    pub totals: Totals,
    /// The k-SF. The sum of its counters fits a `u64`.
    pub forest: PrefixForest,
}

impl FunctionProfile {
    /// Adds what was counted elsewhere in the same function. `self` is of no use after an error.
    pub(super) fn add(&mut self, other: &FunctionProfile) -> Result<(), SumOverflow> {
        let overflow = SumOverflow { key: self.key };
        self.totals = self.totals.with(other.totals, u64::checked_add).ok_or(overflow)?;
        self.forest.add_forest(&other.forest).map_err(|CountOverflow { .. }| overflow)?;
        self.check_total()
    }

    /// Multiplies all counts. `self` is of no use after an error.
    pub(super) fn scale(&mut self, by: u64) -> Result<(), SumOverflow> {
        let overflow = SumOverflow { key: self.key };
        let factors = Totals::new([by; 4]);
        self.totals = self.totals.with(factors, u64::checked_mul).ok_or(overflow)?;
        self.forest.scale(by).map_err(|CountOverflow { .. }| overflow)?;
        self.check_total()
    }

    /// The sum of all counters fits: so all sums of counters do, as in the k-IPF.
    pub(super) fn check_total(&self) -> Result<(), SumOverflow> {
        let total = u64::try_from(self.forest.total());
        total.map(|_| ()).map_err(|_| SumOverflow { key: self.key })
    }
}

impl Profile {
    /// The profile as a file. Equal profiles give equal bytes: modules are sorted by name and
    /// signature, functions by module and key, siblings by label.
    ///
    /// # Panics
    /// If a function's module is not in the list.
    pub fn write(&self) -> Vec<u8> {
        let mut file = vec![0; HEADER_SIZE];
        let Ok(header) = self.encode(&mut file);
        file[..HEADER_SIZE].copy_from_slice(&header);
        file
    }

    fn encode(&self, file: &mut Vec<u8>) -> Result<[u8; HEADER_SIZE], Infallible> {
        let mut encoder = Encoder::new(file);
        let mut order: Vec<usize> = (0..self.modules.len()).collect();
        order.sort_by_key(|&m| (&self.modules[m].name, self.modules[m].signature));
        let mut place = vec![0u32; order.len()];
        for (&module, at) in order.iter().zip(0..) {
            place[module] = at;
            let Module { signature, name } = &self.modules[module];
            encoder.module(*signature, name.as_bytes())?;
        }
        let mut functions: Vec<&FunctionProfile> = self.functions.iter().collect();
        functions.sort_by_key(|function| (place[function.module], function.key));
        for function in functions {
            encode_function(&mut encoder, function, place[function.module])?;
        }
        Ok(encoder.finish(self.flags))
    }
}

fn encode_function<S: Sink>(
    encoder: &mut Encoder<S>,
    function: &FunctionProfile,
    module: u32,
) -> Result<(), S::Error> {
    let FunctionProfile { key, k, totals, ref forest, .. } = *function;
    // A forest has fewer than 2^32 nodes, so these fit.
    let roots = forest.roots().len() as u32;
    encoder.forest(&ForestHeader { module, key, k, totals, roots })?;
    for (id, _) in forest.preorder() {
        let children = forest.children(id).len() as u32;
        encoder.node(forest.label(id), forest.count(id), children)?;
    }
    Ok(())
}

impl Sink for Vec<u8> {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}
