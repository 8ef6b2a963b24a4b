//! Which functions come first.

use crate::analysis::ipf::Ipf;
use crate::input::function::Function;
use crate::input::samples::Samples;
use midflight_profile::format::FunctionProfile;
use midflight_profile::table::{Edge, PathStart};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A path that was taken: one or more acyclic paths that only differ in the back edge that they
/// begin behind.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The ID of one of them, which is the same whatever was counted
    pub id: u32,
    /// How often it was taken
    pub count: u64,
    /// What taking it costs: its instructions, or parts of a sample
    pub cost: u64,
}

/// A function with what was seen in it.
pub struct Ranked<'a> {
    /// The function
    pub function: &'a Function<'a>,
    /// What was counted in it
    pub profile: &'a FunctionProfile,
    /// Its paths, most work first
    pub paths: Vec<Taken>,
    /// The place of each in `paths`, by its ID
    places: FxHashMap<u32, usize>,
    /// For each acyclic path that was taken, the one of `paths` that it belongs to
    same: FxHashMap<u32, u32>,
    /// What an execution of each block costs
    pub block_costs: Vec<u64>,
    /// Over its paths, count × cost
    pub work: u128,
}

/// Functions that ran, most work first. Work is counted in instructions executed, or in samples.
pub fn rank<'a>(functions: &'a [Function<'a>], samples: Option<&Samples>) -> Vec<Ranked<'a>> {
    let instructions = |function: &Function<'_>| {
        function.table.blocks.iter().map(|block| u64::from(block.instructions)).collect()
    };
    let costs = match samples {
        Some(samples) => samples.costs(functions),
        None => functions.iter().map(instructions).collect(),
    };
    let ran = functions.iter().zip(costs);
    let ran = ran.filter_map(|(function, costs)| Some((function, function.profile?, costs)));
    let mut ranked: Vec<Ranked<'a>> =
        ran.map(|(function, profile, costs)| ranked(function, profile, costs)).collect();
    ranked.sort_by(|a, b| {
        b.work.cmp(&a.work).then_with(|| a.function.table.name.cmp(&b.function.table.name))
    });
    ranked
}

fn ranked<'a>(
    function: &'a Function<'a>,
    profile: &'a FunctionProfile,
    block_costs: Vec<u64>,
) -> Ranked<'a> {
    let mut same = FxHashMap::default();
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, count) in function.acyclic() {
        let first = first_alike(function, id);
        same.insert(id, first);
        *counts.entry(first).or_default() += count;
    }
    let taken = |(id, count)| {
        let blocks = function.path(id).map_or(Vec::new(), |path| path.blocks);
        let cost = blocks.iter().filter_map(|&block| block_costs.get(block as usize)).sum();
        Taken { id, count, cost }
    };
    let mut paths: Vec<Taken> = counts.into_iter().map(taken).collect();
    paths.sort_by_key(|p| (std::cmp::Reverse(p.work()), p.id));
    let places = paths.iter().enumerate().map(|(place, path)| (path.id, place)).collect();
    let work = paths.iter().map(Taken::work).sum();
    Ranked { function, profile, paths, places, same, block_costs, work }
}

/// Of the acyclic paths that differ from one only in the cut edge that they begin behind, the one
/// behind the first of these edges. Edges count as alike if they lead to one block for one reason.
fn first_alike(function: &Function<'_>, id: u32) -> u32 {
    let edges = &function.table.edges;
    let cut = |edge: &Edge| match *edge {
        Edge::Cut { to, why, start, .. } => Some(((to, why), start)),
        _ => None,
    };
    let own = match function.decoder.ends(id) {
        Some((PathStart::After(index), _)) => edges.get(index).and_then(cut),
        _ => None,
    };
    let Some((target, start)) = own else { return id };
    let first = edges.iter().filter_map(cut).find(|(other, _)| *other == target);
    // The rest of the number is that of the rest of the path.
    first.map_or(id, |(_, first)| id - start + first)
}

impl Taken {
    /// What was spent on it.
    pub fn work(&self) -> u128 {
        u128::from(self.count) * u128::from(self.cost)
    }
}

impl Ranked<'_> {
    /// The k-IPF over `paths`: sequences of acyclic paths that are alike are one.
    pub fn k_ipf(&self) -> Ipf {
        Ipf::merged(self.profile, |id| self.merged(id))
    }

    /// The one of `paths` that an acyclic path belongs to.
    pub fn merged(&self, id: u32) -> u32 {
        *self.same.get(&id).unwrap_or(&id)
    }

    /// The place of a path in `paths`.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// The cost of a path; 0 if it was not taken.
    pub fn cost(&self, id: u32) -> u64 {
        self.place(id).map_or(0, |place| self.paths[place].cost)
    }
}

/// The letters of the path in this place, from 0: A to Z, AA, …
pub fn letters(index: usize) -> String {
    let mut text = String::new();
    let mut rest = index + 1;
    while rest > 0 {
        rest -= 1;
        text.insert(0, char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_go_on_behind_z() {
        let all: Vec<String> = [0, 1, 25, 26, 51, 52, 701, 702].map(super::letters).to_vec();
        assert_eq!(all, ["A", "B", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
