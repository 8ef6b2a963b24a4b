//! The functions of two profiles, joined.
//!
//! Functions are the same if their tables are; functions of two builds, if their names are. Paths
//! and sequences of two profiles can be told to be the same where the tables are the same, or the
//! graphs that were numbered.

use crate::analysis::rank::Ranked;
use crate::format::numbers::share;
use midflight_profile::table::FunctionTable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A function in both profiles, or in one: in each where it ran.
pub struct Pair<'a, 'f>(pub [Option<&'a Ranked<'f>>; 2]);

impl<'a, 'f> Pair<'a, 'f> {
    /// In one of the profiles.
    pub fn either(&self) -> &'a Ranked<'f> {
        self.0[0].or(self.0[1]).expect("the function of a pair ran in one profile at least")
    }

    /// The work in both.
    pub fn work(&self) -> [u128; 2] {
        self.0.map(|ranked| ranked.map_or(0, |ranked| ranked.work))
    }

    /// Its shares of all work.
    pub fn shares(&self, totals: [u128; 2]) -> [f64; 2] {
        let work = self.work();
        [share(work[0], totals[0]), share(work[1], totals[1])]
    }

    /// True if a path ID means the same in both.
    pub fn same_paths(&self) -> bool {
        match self.0 {
            [Some(a), Some(b)] => same_graph(a.function.table, b.function.table),
            _ => true,
        }
    }

    /// For each path that was taken in one of the profiles, how often in both.
    pub fn paths(&self) -> BTreeMap<u32, [u64; 2]> {
        let mut counts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (side, ranked) in self.0.into_iter().enumerate() {
            for taken in ranked.into_iter().flat_map(|r| &r.paths) {
                counts.entry(taken.id).or_default()[side] = taken.count;
            }
        }
        counts
    }

    /// For each sequence of two or more paths that was taken in one of the profiles, how often in
    /// both.
    pub fn sequences(&self) -> BTreeMap<Vec<u32>, [u64; 2]> {
        let mut counts: BTreeMap<Vec<u32>, [u64; 2]> = BTreeMap::new();
        for (side, ranked) in self.0.into_iter().enumerate() {
            let Some(ipf) = ranked.map(Ranked::k_ipf) else { continue };
            for node in ipf.ids().filter(|&node| ipf.parent(node).is_some()) {
                counts.entry(ipf.labels(node)).or_default()[side] = ipf.count(node);
            }
        }
        counts
    }

    /// The instructions of a path.
    pub fn instructions(&self, id: u32) -> u64 {
        let function = self.either().function;
        function.path(id).map_or(0, |path| function.instructions(&path))
    }
}

/// The work of all functions, in both profiles.
pub fn total_work(pairs: &[Pair<'_, '_>]) -> [u128; 2] {
    [0, 1].map(|side: usize| pairs.iter().map(|pair| pair.work()[side]).sum())
}

/// True if both have the same numbered graph.
fn same_graph(a: &FunctionTable, b: &FunctionTable) -> bool {
    a.key == b.key || (a.cfg_hash == b.cfg_hash && a.edges == b.edges)
}

/// Joins the functions that ran: by their tables, or by their names where there is one of a name.
pub fn pairs<'a, 'f>(a: &'a [Ranked<'f>], b: &'a [Ranked<'f>]) -> Vec<Pair<'a, 'f>> {
    let keys: FxHashMap<u64, usize> =
        b.iter().enumerate().map(|(index, r)| (r.function.table.key, index)).collect();
    let name = |r: &'a Ranked<'f>| (&r.function.table.name, &r.function.table.unit);
    let mut names: FxHashMap<(&String, &String), Vec<usize>> = FxHashMap::default();
    for (index, ranked) in b.iter().enumerate() {
        names.entry(name(ranked)).or_default().push(index);
    }
    // Tables first, so that a name is left only to those that have none.
    let mut partner: Vec<Option<usize>> =
        a.iter().map(|r| keys.get(&r.function.table.key).copied()).collect();
    let mut joined: FxHashSet<usize> = partner.iter().flatten().copied().collect();
    for (ranked, partner) in a.iter().zip(&mut partner).filter(|(_, partner)| partner.is_none()) {
        let named = names.get(&name(ranked)).into_iter().flatten();
        *partner = named.copied().find(|&index| joined.insert(index));
    }
    let of_a = a.iter().zip(partner);
    let of_a = of_a.map(|(ranked, partner)| Pair([Some(ranked), partner.map(|index| &b[index])]));
    let only_b = b.iter().enumerate().filter(|(index, _)| !joined.contains(index));
    of_a.chain(only_b.map(|(_, ranked)| Pair([None, Some(ranked)]))).collect()
}
