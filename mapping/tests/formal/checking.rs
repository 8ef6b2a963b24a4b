//! Running properties on many random cases, and seeing to it that the cases were worth it.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use std::cell::Cell;
use std::fmt::Debug;

/// Tries a property on so many cases, or on as many as `PROPTEST_CASES` says.
///
/// # Panics
///
/// If it does not hold, with the smallest case found.
pub fn check<S>(cases: u32, cases_of: S, holds: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S: Strategy,
    S::Value: Debug,
{
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    let config = ProptestConfig { cases, failure_persistence: None, ..default };
    if let Err(error) = TestRunner::new(config).run(&cases_of, holds) {
        panic!("{error}");
    }
}

/// The same cases in every run.
pub fn fixed_cases<S: Strategy>(count: usize, cases_of: S) -> Vec<S::Value> {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let tree = |_| cases_of.new_tree(&mut runner).expect("no case is rejected");
    (0..count).map(tree).map(|tree| proptest::strategy::ValueTree::current(&tree)).collect()
}

/// How many of the cases were of the kind that a test is about.
#[derive(Default)]
pub struct Share {
    such: Cell<usize>,
    all: Cell<usize>,
}

impl Share {
    pub fn saw(&self, is_such: bool) {
        self.saw_some(usize::from(is_such), 1);
    }

    pub fn saw_some(&self, such: usize, all: usize) {
        self.such.set(self.such.get() + such);
        self.all.set(self.all.get() + all);
    }

    /// Reports it.
    ///
    /// # Panics
    ///
    /// If there were too few for the test to mean something.
    pub fn is_at_least(&self, percent: usize, what: &str) {
        let (such, all) = (self.such.get(), self.all.get());
        println!("{what}: {such} of {all}");
        assert!(such > 0 && such * 100 >= all * percent, "{what}: only {such} of {all}");
    }
}
