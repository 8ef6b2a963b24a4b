//! The functions of two profiles, joined.
//!
//! Functions are the same if their tables are; functions of two builds, if their names are, and of
//! local ones the names of the files of their units. Paths and sequences of two profiles can be
//! told to be the same where the tables are the same, or the graphs that were numbered.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::names::base_name;
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

/// What functions of two profiles are the same by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity<'a> {
    /// The key of its table; 0 if that is not asked for
    pub key: u64,
    /// Its name, as the linker knows it
    pub name: &'a str,
    /// The translation unit that a local function belongs to
    pub unit: &'a str,
    /// The name of its image
    pub image: &'a str,
}

impl<'a> Identity<'a> {
    /// What it may be the same by, the best first: its table, then its name, with the whole unit
    /// and with the unit's file name, each in an image of the same name and in any.
    fn levels(self) -> [Identity<'a>; 6] {
        let by_table = Identity { name: "", unit: "", ..self };
        let by_name = Identity { key: 0, ..self };
        let by_file = Identity { unit: base_name(self.unit), ..by_name };
        let anywhere = |level| Identity { image: "", ..level };
        let [table, name, file] =
            [by_table, by_name, by_file].map(|level| [level, anywhere(level)]);
        [table[0], table[1], name[0], name[1], file[0], file[1]]
    }
}

/// For each function of `a` the place of the same one in `b`, if there is one; none is that of two.
pub fn partners(a: &[Identity<'_>], b: &[Identity<'_>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; a.len()];
    let mut is_taken = vec![false; b.len()];
    // The best first, so that a name is left only to those that have no table in common.
    for level in 0..Identity::default().levels().len() {
        let mut free: FxHashMap<Identity<'_>, Vec<usize>> = FxHashMap::default();
        for (index, one) in b.iter().enumerate().rev().filter(|(index, _)| !is_taken[*index]) {
            free.entry(one.levels()[level]).or_default().push(index);
        }
        for (one, partner) in a.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            *partner = free.get_mut(&one.levels()[level]).and_then(Vec::pop);
            partner.iter().for_each(|&index| is_taken[index] = true);
        }
    }
    partners
}

/// Joins the functions that ran.
pub fn pairs<'a, 'f>(a: &'a [Ranked<'f>], b: &'a [Ranked<'f>]) -> Vec<Pair<'a, 'f>> {
    let identity = |ranked: &'a Ranked<'f>| {
        let table = ranked.function.table;
        Identity { key: table.key, name: &table.name, unit: &table.unit, image: "" }
    };
    let [of_a, of_b] = [a, b].map(|all| all.iter().map(identity).collect::<Vec<_>>());
    let partners = partners(&of_a, &of_b);
    let joined: FxHashSet<usize> = partners.iter().flatten().copied().collect();
    let of_a = a.iter().zip(partners);
    let of_a = of_a.map(|(ranked, partner)| Pair([Some(ranked), partner.map(|index| &b[index])]));
    let only_b = b.iter().enumerate().filter(|(index, _)| !joined.contains(index));
    of_a.chain(only_b.map(|(_, ranked)| Pair([None, Some(ranked)]))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Identity, partners};

    fn function(key: u64, name: &'static str, unit: &'static str) -> Identity<'static> {
        Identity { key, name, unit, image: "prog" }
    }

    #[test]
    fn functions_are_the_same_by_their_tables_first_and_then_by_their_names() {
        let a = [function(1, "f", "x.c"), function(2, "g", ""), function(3, "f", "y.c")];
        let b = [function(4, "g", ""), function(3, "f", "y.c"), function(1, "other", "")];
        assert_eq!(partners(&a, &b), [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn a_local_function_is_the_same_where_its_file_is_in_another_folder() {
        let a = [function(1, "f", "old/x.c"), function(2, "f", "old/y.c"), function(3, "g", "a.c")];
        let b = [function(4, "f", "new/y.c"), function(5, "f", "new/x.c"), function(6, "g", "b.c")];
        assert_eq!(partners(&a, &b), [Some(1), Some(0), None]);
    }

    #[test]
    fn functions_of_one_table_are_told_apart_by_their_images_and_joined_once() {
        let of = |image| Identity { image, ..function(1, "f", "") };
        assert_eq!(partners(&[of("x"), of("y")], &[of("y"), of("x")]), [Some(1), Some(0)]);
        assert_eq!(partners(&[of("x"), of("x")], &[of("y")]), [Some(0), None]);
        assert_eq!(partners(&[of("x"), of("y")], &[of("y")]), [None, Some(0)]);
    }
}
