//! How often the same path is taken in a row.
//!
//! Let c(n) be the count of ⟨p, p, …⟩ of length n in the k-IPF. A run of m, as long as it can be,
//! contains ⟨p × n⟩ m − n + 1 times if m ≥ n; so c(n) − c(n + 1) runs have n paths or more. There
//! are c(1) − c(2) runs, whose mean length is therefore known for any k ≥ 2, and how many have
//! exactly n is known up to k − 2. In runs of n or more are c(n) + (n − 1) (c(n) − c(n + 1)) paths.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use serde::Serialize;

/// The runs of one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// How many there were
    pub number: Interval<u64>,
    /// Paths in all of them together
    pub paths: Interval<u64>,
    /// For n = 1, 2, … up to k − 1: how many had n paths or more
    pub at_least: Vec<Interval<u64>>,
    /// For n = 1, 2, … up to k − 1: how many paths were in those that had n or more
    pub paths_in: Vec<Interval<u64>>,
}

impl Runs {
    /// The runs of a path in a k-IPF.
    pub fn of(ipf: &Ipf, id: u32, k: u32) -> Runs {
        let counts = ipf.counts_along(&vec![id; k as usize]);
        let paths = counts.first().copied().unwrap_or_default();
        let mut at_least: Vec<Interval<u64>> = counts
            .windows(2)
            .map(|pair| {
                let runs = pair[0].less(pair[1]);
                // What was taken n times on end was in a run of n or more.
                Interval::new(runs.least.max(u64::from(pair[0].least > 0)), runs.most)
            })
            .collect();
        // No more runs are longer, and no fewer shorter.
        for n in 1..at_least.len() {
            at_least[n].most = at_least[n].most.min(at_least[n - 1].most);
        }
        for n in (1..at_least.len()).rev() {
            at_least[n - 1].least = at_least[n - 1].least.max(at_least[n].least);
        }
        let within = |((&count, &runs), others): ((&Interval<u64>, &Interval<u64>), u64)| {
            let within = count.plus(runs.times(others));
            Interval::new(within.least, within.most.min(paths.most))
        };
        let paths_in = counts.iter().zip(&at_least).zip(0..).map(within).collect();
        let any = Interval::new(u64::from(paths.least > 0), paths.most);
        Runs { number: at_least.first().copied().unwrap_or(any), paths, at_least, paths_in }
    }

    /// Mean length.
    pub fn mean(&self) -> Interval<f64> {
        self.paths.for_each(self.number)
    }

    /// The share of the paths that are in runs of at least `n`, from 0 to 1; none if k is too small
    /// to tell.
    pub fn share_in(&self, n: usize) -> Option<Interval<f64>> {
        let within = self.paths_in.get(n.checked_sub(1)?)?;
        Some(within.share_of(self.paths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::behaviour::order::tests::{counted, forgetful};

    fn runs_of(k: u32, streams: &[&[u32]], id: u32) -> Runs {
        Runs::of(&Ipf::of(&counted(k, streams)), id, k)
    }

    fn exact(numbers: &[u64]) -> Vec<Interval<u64>> {
        numbers.iter().copied().map(Interval::exact).collect()
    }

    #[test]
    fn runs_are_counted_as_they_were() {
        // Runs of 7: of 1, 3, 5, 1 and 2.
        let streams: [&[u32]; 2] = [&[7, 1, 7, 7, 7, 2, 7, 7, 7, 7, 7, 9], &[7, 3, 7, 7, 9]];
        let runs = runs_of(5, &streams, 7);
        assert_eq!(runs.number, Interval::exact(5));
        assert_eq!(runs.paths, Interval::exact(12));
        assert_eq!(runs.at_least, exact(&[5, 3, 2, 1]));
        assert_eq!(runs.paths_in, exact(&[12, 10, 8, 5]));
        assert_eq!(runs.mean(), Interval::exact(12.0 / 5.0));
        assert_eq!(runs.share_in(1), Some(Interval::exact(1.0)));
        assert_eq!(runs.share_in(2), Some(Interval::exact(10.0 / 12.0)));
        assert_eq!(runs.share_in(4), Some(Interval::exact(5.0 / 12.0)));
        assert_eq!(runs.share_in(5), None, "k = 5 tells of runs up to 4");
        assert_eq!(runs.share_in(0), None);
    }

    #[test]
    fn a_run_ends_with_its_activation() {
        let runs = runs_of(3, &[&[7, 7, 9], &[7, 7, 9], &[7], &[7]], 7);
        assert_eq!((runs.number, runs.at_least), (Interval::exact(4), exact(&[4, 2])));
        let runs = runs_of(4, &[&[7; 9]], 7);
        assert_eq!((runs.number, &runs.at_least), (Interval::exact(1), &exact(&[1, 1, 1])));
        assert_eq!(runs.share_in(3), Some(Interval::exact(1.0)));
    }

    #[test]
    fn what_is_not_known_of_history_is_not_known_of_runs() {
        // A run of nine, of which one path stands alone.
        let ipf = Ipf::of(&forgetful(4, &[7; 9], &[(5, 0)]));
        let runs = Runs::of(&ipf, 7, 4);
        assert_eq!(runs.paths, Interval::exact(9));
        assert_eq!(runs.number, Interval::new(1, 2));
        assert_eq!(runs.mean(), Interval::new(4.5, 9.0));
        assert_eq!(runs.share_in(1), Some(Interval::exact(1.0)));
        assert_eq!(runs.share_in(3).map(|share| share.most), Some(1.0));
    }

    #[test]
    fn with_k_of_1_nothing_is_known_and_nothing_of_what_is_not_there() {
        let runs = runs_of(1, &[&[7, 7]], 7);
        assert_eq!((runs.number, runs.share_in(1)), (Interval::new(1, 2), None));
        assert_eq!(runs_of(4, &[&[7, 7]], 8).paths, Interval::exact(0));
        assert_eq!(runs_of(4, &[&[7, 7]], 8).mean(), Interval::exact(0.0));
    }
}
