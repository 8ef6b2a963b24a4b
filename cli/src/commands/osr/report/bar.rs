//! How many of a direction's points each variant makes possible.

use midflight_profile::osr_maps::report::Points;

/// The letters of the variants in a bar, the weakest first, as on the page.
pub const LETTERS: [char; 5] = ['0', 'L', 'E', 'A', 'V'];

/// A stacked bar (Fig. 5.21, 5.22): each variant's letter for the points that it adds, dots for
/// those that are not possible. Rounded down: a full bar means all points.
pub fn bar(points: &Points, width: u64) -> String {
    let mut bar = String::new();
    for (count, letter) in points.by_variant().into_iter().zip(LETTERS) {
        let end = (count * width).checked_div(points.total).unwrap_or(0);
        while (bar.len() as u64) < end.min(width) {
            bar.push(letter);
        }
    }
    while points.total > 0 && (bar.len() as u64) < width {
        bar.push('.');
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::bar;
    use crate::format::numbers::rounded_down;
    use midflight_profile::osr_maps::report::Points;

    #[test]
    fn only_all_is_a_hundred_percent_and_a_full_bar() {
        assert_eq!(rounded_down(9999, 10_000), "99.9");
        assert_eq!(rounded_down(3, 3), "100.0");
        assert_eq!(rounded_down(0, 0), "-");
        let points = Points { total: 1000, avail: 999, ..Points::default() };
        assert_eq!(bar(&points, 10), "VVVVVVVVV.");
        assert_eq!(bar(&Points { avail: 1000, ..points }, 10), "VVVVVVVVVV");
        assert_eq!(bar(&Points::default(), 10), "");
    }

    #[test]
    fn a_bar_shows_what_each_variant_adds() {
        let points =
            Points { total: 10, empty: 1, live: 3, live_e: 3, alias: 6, avail: 8, proved: 8 };
        assert_eq!(bar(&points, 10), "0LLAAAVV..");
    }
}
