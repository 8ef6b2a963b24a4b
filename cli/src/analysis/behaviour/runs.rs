//! How often the same path is taken in a row.
//!
//! Let c(n) be the count of ⟨p, p, …⟩ of length n in the k-IPF. A run of m, as long as it can be,
//! contains ⟨p × n⟩ m − n + 1 times if m ≥ n; so c(n) − c(n + 1) runs have n paths or more. There
//! are c(1) − c(2) runs, whose mean length is therefore known for any k ≥ 2, and how many have
//! exactly n is known up to k − 2.
//!
//! Some sequences break off: where memory was full, or the activation was interrupted. They are
//! taken to go on as those do that went on, so c(n + 1) is c(n) times the share of ⟨p × n + 1⟩
//! among all that followed ⟨p × n⟩. Where nothing broke off, that is the count itself.
//!
//! Where memory was full, what is dropped first is what is rare, as the end of a long run is. So
//! there are taken to be as many runs as the loop was entered, if so many may be: c(n) − c(n + 1)
//! of the counts as they are is no less than there were.

use midflight_profile::forest::PrefixForest;
use serde::Serialize;

/// The runs of one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// How many there were
    pub number: u64,
    /// Paths in all of them together
    pub paths: u64,
    /// For n = 1, 2, … up to k − 1: how many had n paths or more
    pub at_least: Vec<u64>,
}

impl Runs {
    /// The runs of a path in a k-IPF, in a loop that was entered so often.
    pub fn of(ipf: &PrefixForest, id: u32, k: u32, entered: u64) -> Runs {
        let mut node = ipf.child(None, id);
        let mut counts: Vec<u64> = vec![node.map_or(0, |root| ipf.count(root))];
        let mut found = counts.clone();
        while let (Some(at), true) = (node, counts.len() < k as usize) {
            let followed: u128 = ipf.children(at).map(|child| u128::from(ipf.count(child))).sum();
            node = ipf.child(Some(at), id);
            found.push(node.map_or(0, |child| ipf.count(child)));
            let again = u128::from(found.last().copied().unwrap_or(0));
            let last = u128::from(counts.last().copied().unwrap_or(0));
            // At most `last`, since `again` is a part of `followed`.
            counts.push((last * again).checked_div(followed).unwrap_or(0) as u64);
        }
        counts.resize(k as usize, 0);
        found.resize(k as usize, 0);
        // Where something was counted n times on end there is a run of n, even if its end is not
        // known.
        let least = |count: u64| u64::from(count > 0);
        let mut at_least: Vec<u64> = counts
            .windows(2)
            .zip(found.windows(2))
            .map(|(pair, found)| {
                let most = found[0].saturating_sub(found[1]);
                pair[0].saturating_sub(pair[1]).max(least(pair[0])).max(most.min(entered))
            })
            .collect();
        for n in 1..at_least.len() {
            at_least[n] = at_least[n].min(at_least[n - 1]);
        }
        Runs {
            number: at_least.first().copied().unwrap_or(0),
            paths: counts.first().copied().unwrap_or(0),
            at_least,
        }
    }

    /// Mean length.
    pub fn mean(&self) -> f64 {
        crate::format::numbers::share(self.paths, self.number)
    }

    /// The share of the paths that are in runs of at least `n`, from 0 to 1; none if k is too small
    /// to tell.
    pub fn share_in(&self, n: usize) -> Option<f64> {
        self.at_least.get(n.checked_sub(1)?)?;
        // Paths in runs of exactly m are m · (at_least(m) − at_least(m + 1)).
        let shorter: u64 = (1..n)
            .map(|m| {
                let exactly = self.at_least[m - 1].saturating_sub(self.at_least[m]);
                exactly.saturating_mul(m as u64)
            })
            .fold(0, u64::saturating_add);
        Some(crate::format::numbers::share(self.paths.saturating_sub(shorter), self.paths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midflight_profile::kipf::make_k_ipf;
    use midflight_profile::ksf::SlabForest;

    fn runs_of(k: u32, streams: &[&[u32]], id: u32) -> Runs {
        let mut slabs = SlabForest::new(k);
        for stream in streams {
            slabs.enter();
            stream.iter().for_each(|&id| slabs.event(id));
        }
        Runs::of(&make_k_ipf(slabs.forest(), k), id, k, 0)
    }

    #[test]
    fn runs_are_counted_as_they_were() {
        // Runs of 7: of 1, 3, 5, 1 and 2.
        let streams: [&[u32]; 2] = [&[7, 1, 7, 7, 7, 2, 7, 7, 7, 7, 7, 9], &[7, 3, 7, 7, 9]];
        let runs = runs_of(5, &streams, 7);
        assert_eq!(runs, Runs { number: 5, paths: 12, at_least: vec![5, 3, 2, 1] });
        assert!((runs.mean() - 12.0 / 5.0).abs() < 1e-9);
        assert_eq!(runs.share_in(1), Some(1.0));
        assert_eq!(runs.share_in(2), Some(10.0 / 12.0));
        assert_eq!(runs.share_in(3), Some(8.0 / 12.0));
        assert_eq!(runs.share_in(4), Some(5.0 / 12.0));
        assert_eq!(runs.share_in(5), None, "k = 5 tells of runs up to 4");
        assert_eq!(runs.share_in(0), None);
    }

    #[test]
    fn what_breaks_off_is_taken_to_go_on_as_the_rest() {
        // Runs of 2 and an end, and twice a beginning of which nothing more is known.
        let runs = runs_of(3, &[&[7, 7, 9], &[7, 7, 9], &[7], &[7]], 7);
        assert_eq!(runs, Runs { number: 3, paths: 6, at_least: vec![3, 3] });
    }

    #[test]
    fn a_run_without_an_end_is_one() {
        let runs = runs_of(4, &[&[7; 9]], 7);
        assert_eq!(runs, Runs { number: 1, paths: 9, at_least: vec![1, 1, 1] });
        assert_eq!(runs.share_in(3), Some(1.0));
    }

    #[test]
    fn ends_that_were_dropped_are_known_by_the_entries() {
        // Three runs of 100, of whose ends nothing was kept.
        let mut ipf = PrefixForest::new();
        let mut node = None;
        for n in 0..4 {
            let id = ipf.child_or_insert(node, 7);
            ipf.add(id, 300 - 3 * n).unwrap();
            node = Some(id);
        }
        assert_eq!(Runs::of(&ipf, 7, 4, 3), Runs { number: 3, paths: 300, at_least: vec![3; 3] });
        assert_eq!(Runs::of(&ipf, 7, 4, 50).number, 3, "no more than there may have been");
    }

    #[test]
    fn with_k_of_1_nothing_is_known_and_nothing_of_what_is_not_there() {
        let runs = runs_of(1, &[&[7, 7]], 7);
        assert_eq!((runs.number, runs.paths, runs.share_in(1)), (0, 2, None));
        assert_eq!(runs_of(4, &[&[7, 7]], 8).paths, 0);
    }
}
