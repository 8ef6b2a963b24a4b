//! A whole profile in memory.

use super::contexts::Contexts;
use super::encoder::{Encoder, Sink};
use super::error::SumOverflow;
use super::header::ForestHeader;
use super::sections::HEADER_SIZE;
use super::used::MemoryUse;
use crate::forest::{CountOverflow, NodeId, PrefixForest};
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
    /// The calling contexts, if they were counted.
    pub contexts: Option<Contexts>,
    /// How much memory the run took for windows, if that is known: it is of a single run, and not
    /// of a sum.
    pub used: Option<MemoryUse>,
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
    /// What the nodes of the forest are.
    pub counters: Counters,
    /// All counters. Their sum fits a `u64`.
    pub forest: PrefixForest,
    /// The part of them that is of truncated windows: memory was short, or began to count within an
    /// activation. No node has more than in `forest`, and all nodes are there; empty for a k-SF.
    pub truncated: PrefixForest,
}

/// What the nodes of a function's forest are. The k-IPF is made of both in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counters {
    /// Windows of up to k paths ([`crate::windows`]).
    #[default]
    Windows,
    /// A k-slab forest ([`crate::ksf`]).
    Slabs,
}

impl FunctionProfile {
    /// Adds what was counted elsewhere in the same function, in the same way. `self` is of no use
    /// after an error, and [`Self::check_total`] is still to be asked.
    pub(super) fn add(&mut self, other: &FunctionProfile) -> Result<(), SumOverflow> {
        let overflow = SumOverflow { key: self.key };
        self.totals = self.totals.with(other.totals, u64::checked_add).ok_or(overflow)?;
        self.forest.add_forest(&other.forest).map_err(|CountOverflow { .. }| overflow)?;
        self.truncated.add_forest(&other.truncated).map_err(|CountOverflow { .. }| overflow)
    }

    /// Multiplies all counts. `self` is of no use after an error.
    pub(super) fn scale(&mut self, by: u64) -> Result<(), SumOverflow> {
        let overflow = SumOverflow { key: self.key };
        let factors = Totals::new([by; Totals::LEN]);
        self.totals = self.totals.with(factors, u64::checked_mul).ok_or(overflow)?;
        self.forest.scale(by).map_err(|CountOverflow { .. }| overflow)?;
        self.truncated.scale(by).map_err(|CountOverflow { .. }| overflow)?;
        self.check_total()
    }

    /// Whether memory was short, so that counts of sequences may be lower bounds.
    pub fn is_short(&self) -> bool {
        self.totals.are_short() || self.truncated.total() != 0
    }

    /// The sum of all counters fits: so all sums of counters do, as in the k-IPF.
    pub(super) fn check_total(&self) -> Result<(), SumOverflow> {
        let total = u64::try_from(self.forest.total());
        total.map(|_| ()).map_err(|_| SumOverflow { key: self.key })
    }
}

impl Profile {
    /// The profile as a file. Equal profiles give equal bytes: modules are sorted by name and
    /// signature, functions by module and key, siblings by label or by call
    /// site and function.
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
        let of_kind = |kind| functions.iter().filter(move |function| function.counters == kind);
        for function in of_kind(Counters::Windows) {
            let header = function.header(place[function.module]);
            encoder.windows(&header)?;
            encode_windows(&mut encoder, function)?;
        }
        for function in of_kind(Counters::Slabs) {
            let header = function.header(place[function.module]);
            encode_slabs(&mut encoder, &function.forest, &header)?;
        }
        self.contexts.iter().try_for_each(|contexts| contexts.encode(&mut encoder, &place))?;
        self.used.iter().try_for_each(|used| encoder.memory_use(used))?;
        Ok(encoder.finish(self.flags))
    }
}

impl FunctionProfile {
    pub(super) fn header(&self, module: u32) -> ForestHeader {
        ForestHeader { module, key: self.key, k: self.k, totals: self.totals }
    }
}

fn encode_slabs<S: Sink>(
    encoder: &mut Encoder<S>,
    forest: &PrefixForest,
    header: &ForestHeader,
) -> Result<(), S::Error> {
    // A forest has fewer than 2^32 nodes, so these fit.
    encoder.slabs(header, forest.roots().len() as u32)?;
    for (id, _) in forest.preorder() {
        let children = forest.children(id).len() as u32;
        encoder.node(forest.label(id), forest.count(id), children)?;
    }
    Ok(())
}

/// Writes the groups of windows that begun last.
pub(super) fn encode_windows<S: Sink>(
    encoder: &mut Encoder<S>,
    function: &FunctionProfile,
) -> Result<(), S::Error> {
    let FunctionProfile { forest, truncated, k, .. } = function;
    let mut labels: Vec<u32> = Vec::new();
    let mut groups = |window: Option<NodeId>, labels: &[u32]| {
        // The node of the same window, and of one with a path behind it.
        let same = labels.iter().try_fold(None, |at, &label| truncated.child(at, label).map(Some));
        let truncated_of = |label| {
            let node = same.and_then(|window| truncated.child(window, label));
            node.map_or(0, |node| truncated.count(node))
        };
        let paths = forest.children_of(window).map(|id| (forest.label(id), forest.count(id)));
        let paths: Vec<(u32, u64)> = paths.filter(|&(_, count)| count != 0).collect();
        if labels.len() + 1 >= *k as usize {
            return encode_group(encoder, false, labels, paths.into_iter());
        }
        let whole = paths.iter().map(|&(label, count)| (label, count - truncated_of(label)));
        encode_group(encoder, true, labels, whole)?;
        let part = paths.iter().map(|&(label, _)| (label, truncated_of(label)));
        encode_group(encoder, false, labels, part)
    };
    groups(None, &[])?;
    for (id, depth) in forest.preorder() {
        labels.truncate(depth as usize);
        labels.push(forest.label(id));
        groups(Some(id), &labels)?;
    }
    encoder.end()
}

/// Writes a group, if something was counted in it.
fn encode_group<S: Sink>(
    encoder: &mut Encoder<S>,
    is_anchored: bool,
    labels: &[u32],
    paths: impl Iterator<Item = (u32, u64)>,
) -> Result<(), S::Error> {
    let mut paths = paths.filter(|&(_, count)| count != 0).peekable();
    if paths.peek().is_none() {
        return Ok(());
    }
    encoder.group(is_anchored, labels.iter().copied())?;
    paths.try_for_each(|(label, count)| encoder.path(label, count))?;
    encoder.end()
}

impl Sink for Vec<u8> {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}
