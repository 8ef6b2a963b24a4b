//! Which firings are tried, the most telling first.

use crate::commands::osr::fuzz::log::{Point, PointName};
use std::fmt;

/// What a run does that the reference does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Firing {
    /// Fuzzed points fire.
    Points(Fire),
    /// Open points do, and their versions are made at once.
    Versions,
    /// And guards of versions fail, though they hold.
    Exits(Fire),
}

/// The variable that says which points fire.
const FIRE: &str = "MIDFLIGHT_OSR_FIRE";

/// The variable that says who makes versions.
pub const COMPILE: &str = "MIDFLIGHT_OSR_COMPILE";

/// The variable that says which guards fail.
const EXIT: &str = "MIDFLIGHT_OSR_EXIT";

impl Firing {
    /// The variables of the environment.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let now = || (COMPILE, "now".to_string());
        match self {
            Firing::Points(fire) => vec![(FIRE, fire.to_string())],
            Firing::Versions => vec![now()],
            Firing::Exits(fire) => vec![now(), (EXIT, fire.to_string())],
        }
    }

    /// What of it has the form of `MIDFLIGHT_OSR_FIRE`.
    pub fn fire(&self) -> Option<&Fire> {
        match self {
            Firing::Points(fire) | Firing::Exits(fire) => Some(fire),
            Firing::Versions => None,
        }
    }

    /// The variables of the run in which all points are listed.
    pub fn list() -> Vec<(&'static str, String)> {
        vec![(FIRE, "list".to_string())]
    }

    /// No guard fails that holds, but all checks are counted.
    pub fn counted() -> Self {
        Firing::Exits(Fire::Every(i64::MAX as u64))
    }
}

impl fmt::Display for Firing {
    /// As what the variable has that says most.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Firing::Points(fire) => fire.fmt(f),
            Firing::Versions => f.write_str("versions"),
            Firing::Exits(fire) => write!(f, "exits {fire}"),
        }
    }
}

/// A value of `MIDFLIGHT_OSR_FIRE`, or of `MIDFLIGHT_OSR_EXIT`.
#[derive(Clone, Debug, PartialEq)]
pub enum Fire {
    /// All points, at each hit
    Always,
    /// Every n-th hit of any point
    Every(u64),
    /// Each hit with a probability
    Random(u64, f64),
    /// One point, at one hit or at each
    At(PointName, Option<u64>),
}

impl fmt::Display for Fire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fire::Always => f.write_str("always"),
            Fire::Every(n) => write!(f, "every:{n}"),
            Fire::Random(seed, probability) => write!(f, "random:{seed}:{probability}"),
            Fire::At(point, None) => write!(f, "at:{point}"),
            Fire::At(point, Some(hit)) => write!(f, "at:{point}:{hit}"),
        }
    }
}

impl Fire {
    /// True if a run with so many hits must have a transition.
    pub fn must_fire(&self, total_hits: u64) -> bool {
        match self {
            Fire::Always | Fire::At(..) => true,
            Fire::Every(n) => *n <= total_hits,
            Fire::Random(..) => false,
        }
    }
}

const PROBABILITIES: [f64; 3] = [0.5, 0.05, 0.005];

/// Between one `every:N` and the next. Odd, so that loops do not keep step with both.
const FACTOR: u64 = 7;

/// These are tried too. A transition that goes wrong where it is the first of its activation is met
/// where the points before it do not fire.
const SMALL: [u64; 5] = [2, 3, 5, 6, 11];

/// Every so many checks of guards one fails.
const EXITS: [u64; 3] = [2, 3, 7];

/// The plan for the points that were hit: firings of all points, then, in an order that the seed
/// chooses, the first hit of each point, the last of each, and the middle of each.
///
/// `every:1` is `always`, so N ends before it.
pub fn plan(points: &[Point], seed: u64) -> Vec<Firing> {
    let total = points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.hits));
    let ladder = std::iter::successors(Some(total / 2), |n| Some(n / FACTOR));
    let mut every: Vec<u64> = ladder.take_while(|&n| n > 1).collect();
    every.extend(SMALL.iter().filter(|&&n| n <= total / 2));
    every.sort_unstable();
    every.dedup();
    let random = (seed..).zip(PROBABILITIES).map(|(seed, p)| Fire::Random(seed, p));
    let mut result = vec![Fire::Always];
    // The frequent first: they fire the most points.
    result.extend(every.into_iter().map(Fire::Every));
    result.extend(random);
    result.extend(single(points, seed));
    result.into_iter().map(Firing::Points).collect()
}

/// The plan for open points, with the checks of their versions for hits: versions alone, then
/// exits, of all versions and of each point's.
pub fn plan_open(points: &[Point], seed: u64) -> Vec<Firing> {
    let total = points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.hits));
    let every = EXITS.into_iter().filter(|&n| n <= total).map(Fire::Every);
    let all = (total > 0).then_some(Fire::Always);
    let exits = all.into_iter().chain(every).chain(single(points, seed));
    std::iter::once(Firing::Versions).chain(exits.map(Firing::Exits)).collect()
}

/// The first hit of each point, the last of each, and the middle of each.
fn single(points: &[Point], seed: u64) -> Vec<Fire> {
    let mut order: Vec<&Point> = points.iter().filter(|point| point.hits > 0).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    let middle = |point: &Point| point.hits.div_ceil(2);
    let at = |point: &Point, hit| Fire::At(point.name.clone(), Some(hit));
    let mut result: Vec<Fire> = order.iter().map(|p| at(p, 1)).collect();
    result.extend(order.iter().filter(|p| p.hits > 1).map(|p| at(p, p.hits)));
    result.extend(order.iter().filter(|p| middle(p) > 1).map(|p| at(p, middle(p))));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(hits: &[u64], seed: u64) -> Vec<String> {
        let name = |n| format!("x.c:f#{n}");
        let points = hits.iter().enumerate();
        let points: Vec<_> =
            points.map(|(n, &hits)| Point { name: name(n), hits, ..Point::default() }).collect();
        plan(&points, seed).iter().map(Firing::to_string).collect()
    }

    #[test]
    fn everything_comes_first_and_then_each_point_at_three_hits() {
        let plan = texts(&[101], 3);
        assert_eq!(
            plan,
            [
                "always",
                "every:2",
                "every:3",
                "every:5",
                "every:6",
                "every:7",
                "every:11",
                "every:50",
                "random:3:0.5",
                "random:4:0.05",
                "random:5:0.005",
                "at:x.c:f#0:1",
                "at:x.c:f#0:101",
                "at:x.c:f#0:51"
            ]
        );
    }

    #[test]
    fn no_hit_is_fired_twice() {
        let at = |hits: &[u64]| texts(hits, 0).iter().filter(|t| t.starts_with("at")).count();
        assert_eq!((at(&[1]), at(&[2]), at(&[3]), at(&[1, 2, 3])), (1, 2, 3, 6));
    }

    #[test]
    fn versions_are_made_and_left_at_some_checks() {
        let point = |name: &str, hits| Point { name: name.into(), hits, ..Point::default() };
        let texts = |points: &[Point]| -> Vec<String> {
            plan_open(points, 0).iter().map(Firing::to_string).collect()
        };
        assert_eq!(
            texts(&[point("x.c:f#1", 5)]),
            [
                "versions",
                "exits always",
                "exits every:2",
                "exits every:3",
                "exits at:x.c:f#1:1",
                "exits at:x.c:f#1:5",
                "exits at:x.c:f#1:3"
            ]
        );
        assert_eq!(texts(&[point("x.c:f#1", 0)]), ["versions"], "there are no guards");
        let exits = Firing::Exits(Fire::Every(3)).variables();
        let texts: Vec<_> = exits.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(texts, ["MIDFLIGHT_OSR_COMPILE=now", "MIDFLIGHT_OSR_EXIT=every:3"]);
    }

    #[test]
    fn a_seed_gives_one_order() {
        let hits = [1; 30];
        assert_eq!(texts(&hits, 1), texts(&hits, 1));
        assert_ne!(texts(&hits, 1)[5..], texts(&hits, 2)[5..]);
    }
}
