//! What `MIDFLIGHT_OSR_FIRE` is set to, run by run.
//!
//! As JavaScriptCore's OSR-exit fuzzer and V8's `--deopt-every-n-times` do: everything, every n-th
//! hit with falling n, at random by seed, and single points at their first, middle and last hit.

use crate::osr::log::Reached;
use std::fmt;

/// Which points fire in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Firing {
    /// All, at each hit
    Always,
    /// Every n-th hit
    Every(u64),
    /// Each hit with a probability
    Random {
        /// Chooses the hits
        seed: u64,
        /// Over 0 and up to 1
        probability: f64,
    },
    /// One point, at one hit
    At {
        /// File and name
        point: String,
        /// From 1
        hit: u64,
    },
}

impl fmt::Display for Firing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Firing::Always => f.write_str("always"),
            Firing::Every(hits) => write!(f, "every:{hits}"),
            Firing::Random { seed, probability } => write!(f, "random:{seed}:{probability}"),
            Firing::At { point, hit } => write!(f, "at:{point}:{hit}"),
        }
    }
}

/// No loop of the program keeps step with all of them. Several are small: what goes wrong behind
/// the first transition of an activation only, in a cleanup say, is met where the points before it
/// do not fire.
const EVERY: [u64; 10] = [1_000_003, 100_003, 10_007, 1_009, 101, 29, 11, 6, 3, 2];

const PROBABILITIES: [f64; 4] = [0.0005, 0.01, 0.1, 0.5];

/// Firings that concern all points of a program with so many hits, the rarer first.
pub fn of_all_points(hits: u64, seed: u64) -> Vec<Firing> {
    if hits == 0 {
        return Vec::new();
    }
    let every = EVERY.into_iter().filter(|&n| n <= hits).map(Firing::Every);
    let random = (seed..).zip(PROBABILITIES);
    let random = random.map(|(seed, probability)| Firing::Random { seed, probability });
    every.chain(random).chain([Firing::Always]).collect()
}

/// First, middle and last hit of `count` points, spread evenly over all that were reached.
pub fn of_single_points(reached: &[Reached], count: usize) -> Vec<Firing> {
    let chosen = count.min(reached.len());
    let mut firings = Vec::new();
    for index in 0..chosen {
        let Reached { point, hits } = &reached[index * reached.len() / chosen];
        let mut at = vec![1, hits.div_ceil(2), *hits];
        at.dedup();
        firings.extend(at.into_iter().map(|hit| Firing::At { point: point.clone(), hit }));
    }
    firings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(hits: &[u64]) -> Vec<Reached> {
        let points = hits.iter().enumerate();
        points.map(|(n, &hits)| Reached { point: format!("a.c:f#{n}"), hits }).collect()
    }

    fn texts(firings: &[Firing]) -> Vec<String> {
        firings.iter().map(Firing::to_string).collect()
    }

    #[test]
    fn a_point_fires_at_its_first_middle_and_last_hit() {
        let firings = of_single_points(&reached(&[1, 9]), 5);
        assert_eq!(
            texts(&firings),
            ["at:a.c:f#0:1", "at:a.c:f#1:1", "at:a.c:f#1:5", "at:a.c:f#1:9"]
        );
    }

    #[test]
    fn points_are_spread() {
        let firings = of_single_points(&reached(&[1; 10]), 2);
        assert_eq!(texts(&firings), ["at:a.c:f#0:1", "at:a.c:f#5:1"]);
    }

    #[test]
    fn every_nth_hit_is_one_that_there_is() {
        let firings = texts(&of_all_points(150, 7));
        assert_eq!(firings[..3], ["every:101", "every:29", "every:11"]);
        assert_eq!(firings[6], "random:7:0.0005");
        assert_eq!(firings.last().map(String::as_str), Some("always"));
        assert!(of_all_points(0, 7).is_empty());
    }
}
