//! Which functions come first.

use crate::join::Function;
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::table::{Edge, Path, PathStart};
use rustc_hash::FxHashMap;

/// A path that was taken: one or more acyclic paths that only differ in the back edge that they
/// begin behind.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The ID of the one that was taken most often
    pub id: u32,
    /// How often it was taken
    pub count: u64,
    /// Instructions on it
    pub instructions: u64,
}

/// A function with what was seen in it.
pub struct Ranked<'a> {
    /// The function
    pub function: &'a Function<'a>,
    /// Its paths, most work first
    pub paths: Vec<Taken>,
    /// For each acyclic path that was taken, the one of `paths` that it belongs to
    pub same: FxHashMap<u32, u32>,
    /// Instructions executed: over its paths, count × instructions
    pub work: u128,
}

/// Functions that ran, most work first. Work is counted in instructions executed.
pub fn rank<'a>(functions: &'a [Function<'a>]) -> Vec<Ranked<'a>> {
    let mut ranked: Vec<Ranked<'a>> =
        functions.iter().filter(|f| f.profile.is_some()).map(ranked).collect();
    ranked.sort_by(|a, b| {
        b.work.cmp(&a.work).then_with(|| a.function.table.name.cmp(&b.function.table.name))
    });
    ranked
}

fn ranked<'a>(function: &'a Function<'a>) -> Ranked<'a> {
    let mut same = FxHashMap::default();
    let mut paths: Vec<Taken> = Vec::new();
    for (path, ids) in alike(function) {
        // The first of those that were taken most often.
        let Some(&(id, _)) = ids.iter().rev().max_by_key(|(_, count)| *count) else { continue };
        same.extend(ids.iter().map(|(other, _)| (*other, id)));
        let count = ids.iter().map(|(_, count)| count).sum();
        paths.push(Taken { id, count, instructions: function.instructions(&path) });
    }
    paths.sort_by_key(|p| (std::cmp::Reverse(p.work()), p.id));
    let work = paths.iter().map(Taken::work).sum();
    Ranked { function, paths, same, work }
}

/// The acyclic paths that were taken, as ID and count: those together that have the same blocks and
/// the same end, and begin alike.
fn alike(function: &Function<'_>) -> FxHashMap<Path, Vec<(u32, u64)>> {
    let mut groups: FxHashMap<Path, Vec<(u32, u64)>> = FxHashMap::default();
    for (id, count) in function.acyclic() {
        let Some(mut path) = function.path(id) else { continue };
        path.start = first_alike(&function.table.edges, path.start);
        groups.entry(path).or_default().push((id, count));
    }
    groups
}

/// Of the cut edges that lead to one block for the same reason, the first.
fn first_alike(edges: &[Edge], start: PathStart) -> PathStart {
    let PathStart::After(index) = start else { return start };
    let target = |edge: &Edge| match *edge {
        Edge::Cut { to, why, .. } => Some((to, why)),
        _ => None,
    };
    let own = edges.get(index).and_then(target);
    PathStart::After(edges.iter().position(|edge| target(edge) == own).unwrap_or(index))
}

impl Taken {
    /// Instructions executed on it.
    pub fn work(&self) -> u128 {
        u128::from(self.count) * u128::from(self.instructions)
    }
}

impl Ranked<'_> {
    /// The k-IPF over `paths`: sequences of acyclic paths that are alike are one. Empty if the
    /// function never ran.
    pub fn k_ipf(&self) -> PrefixForest {
        let mut merged = PrefixForest::new();
        let Some(profile) = self.function.profile else { return merged };
        let ipf = make_k_ipf(&profile.forest, profile.k);
        let mut places: Vec<NodeId> = Vec::with_capacity(ipf.len());
        for node in ipf.ids() {
            let parent = ipf.parent(node).and_then(|parent| places.get(parent.index()).copied());
            let label = ipf.label(node);
            let place = merged.child_or_insert(parent, *self.same.get(&label).unwrap_or(&label));
            // All counts of a profile together fit.
            let _ = merged.add(place, ipf.count(node));
            places.push(place);
        }
        merged
    }

    /// The instructions of each path that was taken.
    pub fn costs(&self) -> FxHashMap<u32, u64> {
        self.paths.iter().map(|path| (path.id, path.instructions)).collect()
    }

    /// The letter that stands for each path: A for the one with the most work, then B to Z, AA, …
    pub fn letters(&self) -> FxHashMap<u32, String> {
        self.paths.iter().enumerate().map(|(index, path)| (path.id, letters(index))).collect()
    }
}

fn letters(index: usize) -> String {
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
