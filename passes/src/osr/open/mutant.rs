//! Mutants of versions: wrong in one way, so that tests can show that they would notice. The code
//! generator gets no options, so the environment says which, `MIDFLIGHT_JIT_MUTANT`, of the
//! compiler for what is in the program. They come with the feature `mutants`.

use midflight_ir::ids::InstId;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::Point;

use crate::read_code::CodeSnapshot;

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// No guard fails of itself.
    GuardDropped,
    /// Exits land at the next point.
    ExitLate,
    /// Exits take two values for each other.
    ValuesSwapped,
    /// A caller goes on in its version behind a call, whatever happened in it.
    FrameKept,
    /// A point takes the version that fired last, whatever its key is.
    StaleKey,
}

impl Mutant {
    /// All, with their names
    const NAMES: [(Mutant, &str); 5] = [
        (Mutant::GuardDropped, "guard-dropped"),
        (Mutant::ExitLate, "exit-late"),
        (Mutant::ValuesSwapped, "values-swapped"),
        (Mutant::FrameKept, "frame-kept"),
        (Mutant::StaleKey, "stale-key"),
    ];

    /// Whether the environment asks for it.
    pub fn is_on(self) -> bool {
        let asked = std::env::var("MIDFLIGHT_JIT_MUTANT");
        asked.is_ok_and(|asked| Self::NAMES.contains(&(self, asked.as_str())))
    }
}

/// Where an exit leads, wrong if it is to be.
pub fn exit(at: &Point, points: &[Point], version: &CodeSnapshot<'_>) -> PointMap {
    let mut map = PointMap::identity(at.at, &at.live);
    if Mutant::ExitLate.is_on()
        && let Some(next) = later(at, points, version)
    {
        map = PointMap::identity(next.at, &next.live);
    }
    if Mutant::ValuesSwapped.is_on() {
        let ty = |index: usize| version.value(at.live[index]).ty();
        // Arguments come first, and change the least.
        let pairs = (0..at.live.len()).rev().flat_map(|a| (0..a).rev().map(move |b| (a, b)));
        if let Some((a, b)) = pairs.into_iter().find(|&(a, b)| ty(a) == ty(b)) {
            map.exprs.swap(a, b);
        }
    }
    map
}

/// The next point of the block that needs nothing which is computed between.
fn later<'p>(at: &Point, points: &'p [Point], version: &CodeSnapshot<'_>) -> Option<&'p Point> {
    let block = |inst: InstId| version.body.code.instructions[inst].block;
    let is_later = |point: &&Point| {
        point.at > at.at
            && block(point.at) == block(at.at)
            && point.refusal.is_none()
            && point.live.iter().all(|value| at.live.contains(value))
    };
    points.iter().find(is_later)
}
