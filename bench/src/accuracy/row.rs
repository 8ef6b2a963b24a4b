//! What is told of one run: all figures, as JSON has them.

use super::compare::Found;
use super::told::Summary;
use crate::extent::Extent;
use crate::weights::Weights;
use serde::Serialize;

/// A program, a k and a size of memory.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Name of the program
    pub program: String,
    /// Sequences of up to so many paths
    pub k: u32,
    /// Memory for a thread
    pub memory: String,
    /// What it was given to do
    pub work: String,
    /// What the profile holds
    #[serde(flatten)]
    pub extent: Extent,
    /// Bytes that the runtime took for sequences, over all threads; none where it took none
    pub bytes: Option<u64>,
    /// By length from 1
    pub lengths: Vec<LengthRow>,
    /// Functions with a hundredth of all events or more
    pub functions: Vec<FunctionRow>,
}

/// Sequences of one length.
#[derive(Clone, Debug, Serialize)]
pub struct LengthRow {
    /// The length
    pub length: usize,
    /// Sum of the counts of all sequences in truth
    pub weight: u64,
    /// The part that was counted
    pub counted_weight: u64,
    /// How many sequences there are
    pub sequences: u64,
    /// How many were counted
    pub counted_sequences: u64,
    /// How many have a count above the truth
    pub too_high: u64,
    /// How many have a bound below the truth
    pub beyond_bound: u64,
    /// The hottest hundred
    pub hottest_100: Summary,
    /// The hottest thousand
    pub hottest_1000: Summary,
    /// Of the functions of [`Row::functions`], the smallest part of a weight that was counted
    pub smallest_share: Option<f64>,
    /// That function
    pub smallest_share_of: Option<String>,
}

/// A function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionRow {
    /// Its name
    pub name: String,
    /// Its part of all events
    pub events: f64,
    /// By length from 1, the part of its weight that was counted; none where there is none
    pub shares: Vec<Option<f64>>,
}

impl FunctionRow {
    /// That of a function with these weights, if it has a hundredth of all events.
    pub fn of(name: &str, truth: &Weights, counted: &Weights, events: u64) -> Option<FunctionRow> {
        let own = truth.length(1);
        let shares = (1..=truth.longest()).map(|length| counted.share_of(truth, length)).collect();
        let events = own as f64 / events.max(1) as f64;
        (events >= 0.01).then(|| FunctionRow { name: name.to_string(), events, shares })
    }
}

impl LengthRow {
    /// What was found of a length.
    pub fn of(
        length: usize,
        found: &Found,
        truth: &Weights,
        counted: &Weights,
        functions: &[FunctionRow],
    ) -> LengthRow {
        let at = found.length(length);
        let shares =
            functions.iter().filter_map(|f| Some((f, f.shares.get(length - 1)?.as_ref()?)));
        let smallest = shares.min_by(|(_, a), (_, b)| a.total_cmp(b));
        LengthRow {
            length,
            weight: truth.length(length),
            counted_weight: counted.length(length),
            sequences: at.sequences,
            counted_sequences: at.counted,
            too_high: at.too_high,
            beyond_bound: at.beyond,
            hottest_100: Summary::of(&at.hottest.first(100)),
            hottest_1000: Summary::of(&at.hottest.first(1000)),
            smallest_share: smallest.map(|(_, &share)| share),
            smallest_share_of: smallest.map(|(function, _)| function.name.clone()),
        }
    }

    /// The part of the weight that was counted.
    pub fn share(&self) -> Option<f64> {
        (self.weight != 0).then(|| self.counted_weight as f64 / self.weight as f64)
    }
}
