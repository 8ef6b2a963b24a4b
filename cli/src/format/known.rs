//! How numbers look of which only bounds may be known ([`Interval`]): as far as they are known.
//!
//! | looks like | when |
//! |---|---|
//! | `12.3 %` | both ends look like this |
//! | `≈ 12 %` | it is known to a hundredth, or to a percentage without decimals |
//! | `≥ 12.3 %` | only that is known; `≤ 12.3 %` where it is the most that matters |
//! | `?` | nothing is |

use crate::analysis::interval::Interval;
use crate::format::numbers::{Percent, grouped, mean_of};

/// A number is nearly known if the ends differ by this part of it.
const NARROW: f64 = 0.01;

/// A count, and the most that it may be where that is more: `1,234 (≤ 1,300)`.
pub fn count(count: Interval<u64>) -> String {
    match count.is_exact() {
        true => grouped(count.least),
        false => format!("{} (≤ {})", grouped(count.least), grouped(count.most)),
    }
}

/// A share from 0 to 1, in percent.
pub fn percent(share: Interval<f64>) -> String {
    let percent = Interval::new(100.0 * share.least, 100.0 * share.most);
    let rough = |percent: f64| format!("{percent:.0} %");
    known(percent, 0.0, 10.0, |percent| Percent(percent).to_string(), rough)
}

/// The same where the most matters that it may be.
pub fn percent_at_most(share: Interval<f64>) -> String {
    let percent = self::percent(share);
    match percent.starts_with(['≥', '?']) {
        // Rounded down it would say more than is known.
        true => format!("≤ {}", Percent((1000.0 * share.most).ceil() / 10.0)),
        false => percent,
    }
}

/// The count of a node of a forest in percent of its parent's and of its root's, as thesis Fig. 6.2
/// has it at each edge: `X%(Y%)`.
pub fn at_edge(count: Interval<u64>, parent: Interval<u64>, root: Interval<u64>) -> String {
    let [parent, root] = [parent, root].map(|whole| percent(count.share_of(whole)));
    format!("{parent}({root})").replace(' ', "")
}

/// A mean of numbers of which none is less than `floor`.
pub fn mean(mean: Interval<f64>, floor: f64) -> String {
    let parts = if mean.least < 100.0 { 10.0 } else { 1.0 };
    known(mean, floor, parts, mean_of, mean_of)
}

/// A mean, where the most matters that it may be.
pub fn mean_at_most(mean: Interval<f64>) -> String {
    let text = self::mean(mean, 0.0);
    match text.starts_with(['≥', '?']) {
        true => format!("≤ {}", mean_of((10.0 * mean.most).ceil() / 10.0)),
        false => text,
    }
}

/// What is known of a number that is no less than `floor`. With `plain` it looks as it does where
/// it is known, which shows `1 / parts` of it; with `rough` as where it nearly is.
fn known(
    number: Interval<f64>,
    floor: f64,
    parts: f64,
    plain: impl Fn(f64) -> String,
    rough: impl Fn(f64) -> String,
) -> String {
    let Interval { least, most } = number;
    if plain(least) == plain(most) {
        return plain(least);
    }
    let is_narrow = most.is_finite() && most - least <= NARROW * most;
    if is_narrow || rough(least) == rough(most) {
        return format!("≈ {}", rough(least / 2.0 + most / 2.0));
    }
    // Rounded up it would say more than is known.
    let below = (least * parts).floor() / parts;
    if below <= floor { "?".into() } else { format!("≥ {}", plain(below)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between<T: Copy + PartialOrd>(least: T, most: T) -> Interval<T> {
        Interval::new(least, most)
    }

    #[test]
    fn counts_have_their_bound_where_there_is_one() {
        assert_eq!(count(Interval::exact(1234)), "1,234");
        assert_eq!(count(between(1234, 1300)), "1,234 (≤ 1,300)");
    }

    #[test]
    fn shares_are_shown_as_far_as_they_are_known() {
        for (least, most, text) in [
            (0.5, 0.5, "50.0 %"),
            (0.50001, 0.50002, "50.0 %"),
            (0.501, 0.503, "≈ 50 %"),
            (0.896, 0.904, "≈ 90 %"),
            (0.897, 0.905, "≈ 90 %"),
            (0.3, 0.5, "≥ 30.0 %"),
            (0.39999, 0.5, "≥ 39.9 %"),
            (0.0, 0.5, "?"),
            (0.0009, 0.5, "?"),
            (0.995, 1.0, "≈ 100 %"),
            (0.0, 0.0, "0.0 %"),
            (1.0, 1.0, "100.0 %"),
        ] {
            assert_eq!(percent(between(least, most)), text, "{least} to {most}");
        }
    }

    #[test]
    fn means_are_shown_as_far_as_they_are_known() {
        for (least, most, text) in [
            (3.0, 3.0, "3.0"),
            (3.02, 3.04, "3.0"),
            (33.3, 33.5, "≈ 33.4"),
            (1e6, 1e6, "1,000,000"),
            (1e6, 1.001e6, "≈ 1,000,500"),
            (250.9, 1e6, "≥ 250"),
            (12.39, f64::INFINITY, "≥ 12.3"),
            (1.0, 7.0, "?"),
            (1.04, f64::INFINITY, "?"),
        ] {
            assert_eq!(mean(between(least, most), 1.0), text, "{least} to {most}");
        }
    }

    #[test]
    fn the_most_is_shown_where_it_matters() {
        assert_eq!(percent_at_most(between(0.3, 0.5001)), "≤ 50.1 %");
        assert_eq!(percent_at_most(between(0.0, 0.5)), "≤ 50.0 %");
        assert_eq!(percent_at_most(between(0.501, 0.503)), "≈ 50 %");
        assert_eq!(percent_at_most(Interval::exact(0.5)), "50.0 %");
        assert_eq!(mean_at_most(between(0.1, 0.91)), "≤ 1.0");
        assert_eq!(mean_at_most(Interval::exact(0.25)), "0.2");
    }

    #[test]
    fn edges_of_trees_have_both_shares() {
        let [two, four] = [2, 4].map(Interval::exact);
        assert_eq!(at_edge(two, four, Interval::exact(16)), "50.0%(12.5%)");
        assert_eq!(at_edge(between(2, 4), four, four), "≥50.0%(≥50.0%)");
        assert_eq!(at_edge(between(0, 4), four, four), "?(?)");
    }
}
