//! Going through the seeds of random programs, some at a time.

use crate::error::Result;
use crate::tally::Tally;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tries all seeds, until as many programs were used as there are seeds in the range: one whose
/// program cannot be used is replaced by the next seed behind the range.
///
/// `try_one` returns what failed, or none if the program cannot be used.
///
/// # Errors
/// The first of `try_one`.
pub fn each_seed(
    seeds: Range<u64>,
    try_one: impl Fn(u64) -> Result<Option<Vec<String>>> + Sync,
) -> Result<Tally> {
    let spare = AtomicU64::new(seeds.end);
    Tally::of_all(seeds.par_bridge().map(|seed| {
        let mut seed = seed;
        loop {
            if let Some(problems) = try_one(seed)? {
                let problem = (!problems.is_empty()).then(|| problems.join("\n"));
                let mut tally = Tally::default();
                tally.check(&format!("seed {seed}"), problem);
                return Ok(tally);
            }
            let next = spare.fetch_add(1, Ordering::Relaxed);
            println!("seed {seed} runs too long; seed {next} takes its place");
            seed = next;
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn an_unusable_seed_is_replaced_by_one_behind_the_range() {
        let used = Mutex::new(Vec::new());
        let tally = each_seed(3..6, |seed| {
            used.lock().unwrap().push(seed);
            Ok((seed != 4).then(|| if seed == 5 { vec!["wrong".to_string()] } else { vec![] }))
        });
        let mut used = used.into_inner().unwrap();
        used.sort_unstable();
        assert_eq!(used, [3, 4, 5, 6]);
        assert!(!tally.unwrap().close("test"));
    }
}
