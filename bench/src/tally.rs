//! Counting checks, and saying what failed.

use crate::error::Result;
use rayon::prelude::*;

/// How many checks passed, and what failed.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    passed: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Records a check. A failure is printed at once.
    pub fn check(&mut self, what: &str, problem: Option<String>) -> bool {
        match problem {
            None => self.passed += 1,
            Some(problem) => {
                eprintln!("FAILED {what}: {problem}");
                self.failures.push(what.to_string());
            }
        }
        self.failures.is_empty()
    }

    /// All together.
    ///
    /// # Errors
    /// One of theirs.
    pub fn of_all(tallies: impl ParallelIterator<Item = Result<Tally>>) -> Result<Tally> {
        tallies.try_reduce(Tally::default, |mut all, one| {
            all.passed += one.passed;
            all.failures.extend(one.failures);
            Ok(all)
        })
    }

    /// Prints the closing line. True if all checks passed, and there were some.
    pub fn close(&self, what: &str) -> bool {
        for failure in &self.failures {
            println!("failed: {failure}");
        }
        println!("{what}: {} passed, {} failed", self.passed, self.failures.len());
        self.failures.is_empty() && self.passed > 0
    }
}
