//! What a profile tells of one sequence, beside the truth; and what is to be said of many.

use serde::Serialize;

/// A sequence that occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// How often it occurred
    pub truth: u64,
    /// How often it was counted
    pub count: u64,
    /// The most that it may have occurred by what the profile tells
    pub most: u64,
}

impl Told {
    /// One of which nothing is missing.
    pub fn exactly(truth: u64) -> Told {
        Told { truth, count: truth, most: truth }
    }

    /// How much of the truth is missing, or too much.
    fn error(self) -> f64 {
        self.truth.abs_diff(self.count) as f64 / self.truth as f64
    }

    /// How far the bound is from the count, over the count; none if nothing was counted.
    fn bound(self) -> Option<f64> {
        let beyond = self.most.saturating_sub(self.count);
        (self.count != 0).then(|| beyond as f64 / self.count as f64)
    }
}

/// What is said of the hottest sequences of a length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are: fewer than was asked for where fewer occurred
    pub sequences: usize,
    /// Mean of |truth − count| / truth
    pub mean_error: f64,
    /// Largest of that
    pub largest_error: f64,
    /// How many were not counted at all
    pub missing: usize,
    /// Median of (most − count) / count over those that were counted
    pub median_bound: f64,
    /// Largest of that
    pub largest_bound: f64,
}

impl Summary {
    /// Of sequences in any order.
    pub fn of(all: &[Told]) -> Summary {
        let errors = all.iter().map(|told| told.error());
        let mut bounds: Vec<f64> = all.iter().filter_map(|told| told.bound()).collect();
        Summary {
            sequences: all.len(),
            mean_error: errors.clone().sum::<f64>() / all.len().max(1) as f64,
            largest_error: errors.fold(0.0, f64::max),
            missing: all.len() - bounds.len(),
            largest_bound: bounds.iter().copied().fold(0.0, f64::max),
            median_bound: crate::measure::median(&mut bounds).unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_bounds_are_relative() {
        let all = [
            Told::exactly(100),
            Told { truth: 100, count: 80, most: 120 },
            Told { truth: 10, count: 10, most: 11 },
            Told { truth: 5, count: 0, most: 9 },
        ];
        let summary = Summary::of(&all);
        assert_eq!((summary.sequences, summary.missing), (4, 1));
        assert!((summary.mean_error - 1.2 / 4.0).abs() < 1e-12);
        assert_eq!(summary.largest_error, 1.0);
        assert_eq!(summary.median_bound, 0.1, "what is missing has no count to compare with");
        assert_eq!(summary.largest_bound, 0.5);
    }

    #[test]
    fn nothing_has_no_error() {
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
