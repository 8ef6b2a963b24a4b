//! The functions of two profiles, joined.
//!
//! Functions are the same if their tables are; functions of two builds, if their names are. Paths
//! and sequences of two profiles can be told to be the same where the tables are the same, or the
//! graphs that were numbered.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::numbers::share;
use midflight_profile::table::FunctionTable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// A function in both profiles, or in one: in each where it ran.
pub struct Pair<'a, 'f>(pub [Option<&'a Ranked<'f>>; 2]);

/// The sequences of two or more paths of a function in both profiles.
pub struct Sequences {
    /// For each that was seen in one of the profiles, how often it occurred in both
    pub counts: BTreeMap<Vec<u32>, [Interval<u64>; 2]>,
    /// How many occurrences, of all of them together, may not have been counted in both
    pub missing: [u64; 2],
}

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

    /// What is known of the sequences of two or more paths.
    pub fn sequences(&self) -> Sequences {
        let ipfs = self.0.map(|ranked| ranked.map(Ranked::k_ipf));
        let mut all: BTreeSet<Vec<u32>> = BTreeSet::new();
        for Ipf { paths, .. } in ipfs.iter().flatten() {
            let long = paths.ids().filter(|&node| paths.parent(node).is_some());
            all.extend(long.map(|node| paths.labels(node)));
        }
        let count = |ipf: &Option<Ipf>, labels: &[u32]| match ipf {
            Some(ipf) => ipf.count_of(labels),
            None => Interval::exact(0),
        };
        let counts = all.into_iter().map(|labels| {
            let counts = [0, 1].map(|side: usize| count(&ipfs[side], &labels));
            (labels, counts)
        });
        let k = self.either().function.k();
        let missing = |ipf: &Option<Ipf>| {
            let of_length = |length| ipf.as_ref().map_or(0, |ipf| ipf.missing_of(length, |_| true));
            (2..=k).map(of_length).fold(0, u64::saturating_add)
        };
        Sequences {
            counts: counts.collect(),
            missing: [0, 1].map(|side: usize| missing(&ipfs[side])),
        }
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
