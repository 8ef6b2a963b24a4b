//! The functions of two profiles, joined.
//!
//! Functions are the same if their tables are; functions of two builds, if their names are. Paths
//! and sequences of two profiles can be told to be the same where the tables are the same, or the
//! graphs that were numbered.

use crate::analysis::rank::Ranked;
use crate::format::numbers::share;
use midflight_profile::table::FunctionTable;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A function in both profiles, or in one.
pub struct Pair<'a, 'f> {
    /// In the first profile, if it ran there
    pub a: Option<&'a Ranked<'f>>,
    /// In the second one, if it ran there
    pub b: Option<&'a Ranked<'f>>,
}

impl<'a, 'f> Pair<'a, 'f> {
    /// In one of the profiles; it ran in one at least.
    pub fn either(&self) -> Option<&'a Ranked<'f>> {
        self.a.or(self.b)
    }

    /// The work in both.
    pub fn work(&self) -> [u128; 2] {
        [self.a, self.b].map(|ranked| ranked.map_or(0, |ranked| ranked.work))
    }

    /// Its shares of all work.
    pub fn shares(&self, totals: [u128; 2]) -> [f64; 2] {
        let work = self.work();
        [share(work[0], totals[0]), share(work[1], totals[1])]
    }

    /// True if a path ID means the same in both.
    pub fn same_paths(&self) -> bool {
        match (self.a, self.b) {
            (Some(a), Some(b)) => same_graph(a.function.table, b.function.table),
            _ => true,
        }
    }

    /// For each path that was taken in one of the profiles, how often in both.
    pub fn paths(&self) -> BTreeMap<u32, [u64; 2]> {
        let mut counts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (side, ranked) in [self.a, self.b].into_iter().enumerate() {
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
        for (side, ranked) in [self.a, self.b].into_iter().enumerate() {
            let Some(ipf) = ranked.map(Ranked::k_ipf) else { continue };
            for node in ipf.ids().filter(|&node| ipf.parent(node).is_some()) {
                counts.entry(ipf.labels(node)).or_default()[side] = ipf.count(node);
            }
        }
        counts
    }

    /// The instructions of a path.
    pub fn instructions(&self, id: u32) -> u64 {
        let function = self.either().map(|ranked| ranked.function);
        let path = function.and_then(|function| Some((function, function.path(id)?)));
        path.map_or(0, |(function, path)| function.instructions(&path))
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
    let name = |r: &Ranked<'f>| (r.function.table.name.clone(), r.function.table.unit.clone());
    let mut names: FxHashMap<(String, String), Vec<usize>> = FxHashMap::default();
    for (index, ranked) in b.iter().enumerate() {
        names.entry(name(ranked)).or_default().push(index);
    }
    let mut joined = vec![false; b.len()];
    let mut pairs = Vec::new();
    // Tables first, so that a name is left only to those that have none.
    let mut partner: Vec<Option<usize>> =
        a.iter().map(|r| keys.get(&r.function.table.key).copied()).collect();
    partner.iter().flatten().for_each(|&index| joined[index] = true);
    for (ranked, partner) in a.iter().zip(&mut partner).filter(|(_, partner)| partner.is_none()) {
        let named = names.get(&name(ranked)).and_then(|all| all.iter().find(|&&i| !joined[i]));
        if let Some(&index) = named {
            joined[index] = true;
            *partner = Some(index);
        }
    }
    for (ranked, partner) in a.iter().zip(partner) {
        pairs.push(Pair { a: Some(ranked), b: partner.map(|index| &b[index]) });
    }
    let left = b.iter().zip(joined).filter(|(_, joined)| !joined);
    pairs.extend(left.map(|(ranked, _)| Pair { a: None, b: Some(ranked) }));
    pairs
}
