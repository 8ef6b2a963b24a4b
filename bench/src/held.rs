//! What a timed run's own profile held: a program is faster that counts less.

use crate::build::Built;
use crate::counted_run;
use crate::error::Result;
use crate::extent::Extent;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::percent::{bytes, share};
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::weights::Weights;
use crate::workload::profile_of;
use midflight_profile::format::{Counters, Profile};

/// Lengths whose shares are shown.
const LENGTHS: [usize; 4] = [2, 4, 8, 16];

/// Shares are told without another run if they are known but for so much.
const CLOSE: f64 = 0.001;

/// What a profile holds of the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Bytes that the runtime took for it, if it tells
    bytes: Option<u64>,
    share: Share,
}

/// How much of the truth it is.
#[derive(Clone, Debug, PartialEq)]
enum Share {
    /// All
    All,
    /// By shown length up to k, how much of the weight
    Part(Vec<Part>),
}

/// A part of the weight of a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The part; none if there is no such sequence
    share: Option<f64>,
    /// Whether it may be more
    is_least: bool,
}

impl Held {
    /// What the profile of the last run of a program holds. If it does not tell that itself, the
    /// program runs once more, with memory for everything.
    ///
    /// # Errors
    /// If there is no profile, or the program does not run.
    pub fn of(
        layout: &Layout,
        program: &Program,
        built: &Built,
        size: Size,
        everything: &Memory,
    ) -> Result<Held> {
        let profile = read_profile(&profile_of(built))?;
        let bytes = profile.used.map(|used| used.bytes());
        let share = Share::of(layout, program, built, size, everything, &profile)?;
        Ok(Held { bytes, share })
    }
}

impl Share {
    fn of(
        layout: &Layout,
        program: &Program,
        built: &Built,
        size: Size,
        everything: &Memory,
        profile: &Profile,
    ) -> Result<Share> {
        if Extent::of(profile).is_whole() {
            return Ok(Share::All);
        }
        let counted = Weights::of_all(profile);
        let [least, most] = in_truth(profile);
        if is_close(&counted, [&least, &most]) {
            return Ok(Share::part(&counted, &most, false));
        }
        // As long a name as that of the profile.
        let truth = counted_run::run(layout, program, built, size, everything, "all")?.profile;
        let is_whole = Extent::of(&truth).is_whole();
        let truth = if is_whole { Weights::of_all(&truth) } else { most };
        Ok(Share::part(&counted, &truth, !is_whole))
    }

    fn part(counted: &Weights, truth: &Weights, is_least: bool) -> Share {
        let part = |length| Part { share: counted.share_of(truth, length), is_least };
        Share::Part(shown(counted).map(part).collect())
    }
}

/// The least and the most that the weights may be in truth; nothing is known of a k-SF.
fn in_truth(profile: &Profile) -> [Weights; 2] {
    let mut sums = [Weights::default(), Weights::default()];
    for function in profile.functions.iter().filter(|f| f.counters == Counters::Windows) {
        sums.iter_mut().zip(Weights::in_truth(function)).for_each(|(sum, own)| sum.add(&own));
    }
    sums
}

/// Whether it makes no difference to the shares which of both is true.
fn is_close(counted: &Weights, [least, most]: [&Weights; 2]) -> bool {
    let share = |of, length| counted.share_of(of, length).unwrap_or(f64::INFINITY);
    shown(counted).all(|length| share(least, length) - share(most, length) < CLOSE)
}

fn shown(weights: &Weights) -> impl Iterator<Item = usize> + use<> {
    let longest = weights.longest();
    LENGTHS.into_iter().filter(move |&length| length <= longest)
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bytes {
            None => write!(f, "{}", self.share),
            some => write!(f, "{} in {}", self.share, bytes(some)),
        }
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Share::All => f.write_str("all"),
            Share::Part(parts) => {
                let parts: Vec<String> = parts.iter().map(Part::to_string).collect();
                f.write_str(&parts.join(", "))
            }
        }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let least = if self.is_least { "≥ " } else { "" };
        write!(f, "{least}{}", share(self.share))
    }
}

/// What the words behind a time mean.
pub fn legend() -> String {
    let lengths = LENGTHS.map(|length| length.to_string()).join(", ");
    format!(
        "behind each what its own profile held: all, or of all sequences of {lengths} paths up to \
         k the share of the weight, and the memory that it took for sequences"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_streams::{forgetful, slabs, windows};

    #[test]
    fn lengths_up_to_k_are_shown() {
        let paths = [0, 1, 0, 1, 1, 0];
        let truth = Weights::of(&windows(5, &[&paths]));
        let counted = Weights::of(&forgetful(5, &paths, 1));
        assert_eq!(Share::part(&counted, &truth, false).to_string(), "100 %, 0.00 %");
        assert_eq!(Share::part(&counted, &truth, true).to_string(), "≥ 100 %, ≥ 0.00 %");
        let all = |bytes| Held { bytes, share: Share::All }.to_string();
        assert_eq!((all(None), all(Some(12_345))), ("all".into(), "all in 12 kB".into()));
    }

    #[test]
    fn one_long_activation_needs_no_other_run() {
        let of = |function| in_truth(&Profile { functions: vec![function], ..Profile::default() });
        let long = forgetful(4, &[0; 100_000], 2);
        let [least, most] = of(long.clone());
        assert!(is_close(&Weights::of(&long), [&least, &most]));
        let paths = [0, 1, 0, 1, 1, 0];
        let (mut short, whole) = (forgetful(4, &paths, 1), windows(4, &[&paths]));
        short.forest.add_forest(&whole.forest).unwrap();
        short.totals.entries += whole.totals.entries;
        let [least, most] = of(short.clone());
        assert!(!is_close(&Weights::of(&short), [&least, &most]));
        let [least, most] = of(slabs(4, &[&[0; 100_000]]));
        assert!(!is_close(&Weights::of(&long), [&least, &most]), "of a k-SF nothing is known");
    }
}
