//! Which functions come first.

use crate::join::Function;
use rustc_hash::FxHashMap;

/// An acyclic path that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Its ID
    pub id: u32,
    /// How often it was taken
    pub count: u64,
    /// Blocks on it
    pub blocks: u64,
}

/// A function with what was seen in it.
pub struct Ranked<'a> {
    /// The function
    pub function: &'a Function<'a>,
    /// Its acyclic paths, most work first
    pub paths: Vec<Taken>,
    /// Blocks executed: over its paths, count × blocks
    pub work: u128,
}

/// Functions that ran, most work first. Work is counted in blocks executed.
pub fn rank<'a>(functions: &'a [Function<'a>]) -> Vec<Ranked<'a>> {
    let mut ranked: Vec<Ranked<'a>> =
        functions.iter().filter(|f| f.profile.is_some()).map(ranked).collect();
    ranked.sort_by(|a, b| {
        b.work.cmp(&a.work).then_with(|| a.function.table.name.cmp(&b.function.table.name))
    });
    ranked
}

fn ranked<'a>(function: &'a Function<'a>) -> Ranked<'a> {
    let mut paths: Vec<Taken> = function
        .acyclic()
        .into_iter()
        .map(|(id, count)| {
            let blocks = function.path(id).map_or(0, |path| path.blocks.len() as u64);
            Taken { id, count, blocks }
        })
        .collect();
    paths.sort_by_key(|p| (std::cmp::Reverse(p.work()), p.id));
    let work = paths.iter().map(Taken::work).sum();
    Ranked { function, paths, work }
}

impl Taken {
    /// Blocks executed on it.
    pub fn work(&self) -> u128 {
        u128::from(self.count) * u128::from(self.blocks)
    }
}

impl Ranked<'_> {
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
