//! Numbers of which only bounds may be known, and arithmetic on them.
//!
//! Where memory was short, a count may be too low, by at most so much
//! ([`midflight_profile::bounds`]). What is derived of counts is then an interval, too, which has
//! the true figure. [`format::known`](crate::format::known) says how intervals look.

use serde::ser::{Serialize, SerializeTuple, Serializer};

/// All that a number may be: both ends, and what is between them. In JSON it is an array of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval<T> {
    /// The least that it may be
    pub least: T,
    /// The most that it may be, no less than that
    pub most: T,
}

impl<T: Copy + PartialOrd> Interval<T> {
    /// A number that is known.
    pub fn exact(value: T) -> Self {
        Interval { least: value, most: value }
    }

    /// A number between two, which is the first if the second is less.
    pub fn new(least: T, most: T) -> Self {
        Interval { least, most: if most < least { least } else { most } }
    }

    /// True if the number is known.
    pub fn is_exact(&self) -> bool {
        self.least == self.most
    }

    /// True if it is so much or more, whatever it is.
    pub fn is_at_least(&self, bound: T) -> bool {
        self.least >= bound
    }

    /// True if it is less, whatever it is.
    pub fn is_below(&self, bound: T) -> bool {
        self.most < bound
    }

    /// True if it is so much or less, whatever it is.
    pub fn is_at_most(&self, bound: T) -> bool {
        self.most <= bound
    }
}

impl Interval<u64> {
    /// A count that may be too low by so much.
    pub fn counted(count: u64, missing: u64) -> Self {
        Self::new(count, count.saturating_add(missing))
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        let [least, most] = [(self.least, other.least), (self.most, other.most)]
            .map(|(a, b): (u64, u64)| a.saturating_add(b));
        Self::new(least, most)
    }

    /// The difference, of which it is known that it is not negative.
    pub fn less(self, other: Self) -> Self {
        Self::new(self.least.saturating_sub(other.most), self.most.saturating_sub(other.least))
    }

    /// So many times as much.
    pub fn times(self, factor: u64) -> Self {
        Self::new(self.least.saturating_mul(factor), self.most.saturating_mul(factor))
    }

    /// The part, from 0 to 1, that it is of a whole which has it: 0 of nothing, never more than 1.
    pub fn share_of(self, whole: Self) -> Interval<f64> {
        let least = ratio(self.least, whole.most.max(self.least));
        Interval::new(least, ratio(self.most, whole.least.max(self.most)))
    }

    /// How much there is for each of so many: 0 if there is nothing.
    pub fn for_each(self, number: Self) -> Interval<f64> {
        let most = match (self.most, number.least) {
            (0, _) => 0.0,
            (_, 0) => f64::INFINITY,
            (most, least) => ratio(most, least),
        };
        Interval::new(ratio(self.least, number.most), most)
    }
}

impl Interval<f64> {
    /// By how much it is more than another number, for sure; less, if negative. 0 if it may be the
    /// same.
    pub fn above(self, other: Self) -> f64 {
        (self.least - other.most).max(0.0) - (other.least - self.most).max(0.0)
    }

    /// A number between 0 and 1 that may be off by so much, either way.
    pub fn share_about(share: f64, off: f64) -> Self {
        Interval::new((share - off).max(0.0), (share + off).min(1.0))
    }
}

/// The share, from 0 to 1, of the places that have some property, where `part` of `whole` places
/// are known to have it and of `missing` others, at most, nothing is known: 0 of nothing.
///
/// This holds for any property of which each place that is added changes the number by one at most.
pub fn share_among(part: u64, whole: u64, missing: u64) -> Interval<f64> {
    let all = whole.saturating_add(missing);
    Interval::new(ratio(part, all), ratio(part.saturating_add(missing), all))
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl<T: Serialize> Serialize for Interval<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut ends = serializer.serialize_tuple(2)?;
        ends.serialize_element(&self.least)?;
        ends.serialize_element(&self.most)?;
        ends.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(least: u64, most: u64) -> Interval<u64> {
        Interval::new(least, most)
    }

    #[test]
    fn what_is_known_stays_known() {
        let [three, four] = [3, 4].map(Interval::exact);
        assert_eq!(three.plus(four), Interval::exact(7));
        assert_eq!(four.less(three), Interval::exact(1));
        assert_eq!(three.times(2), Interval::exact(6));
        assert_eq!(three.share_of(four), Interval::exact(0.75));
        assert_eq!(three.for_each(four), Interval::exact(0.75));
        assert_eq!(share_among(3, 4, 0), Interval::exact(0.75));
    }

    #[test]
    fn a_share_is_one_of_a_whole() {
        assert_eq!(between(1, 9).share_of(between(3, 10)), Interval::new(0.1, 1.0));
        assert_eq!(between(1, 2).share_of(Interval::exact(10)), Interval::new(0.1, 0.2));
        assert_eq!(Interval::exact(0).share_of(Interval::exact(0)), Interval::exact(0.0));
        assert_eq!(between(0, 1).share_of(between(0, 1)), Interval::new(0.0, 1.0));
    }

    #[test]
    fn of_nothing_there_may_be_any_number_for_each() {
        assert_eq!(between(1, 2).for_each(between(0, 4)), Interval::new(0.25, f64::INFINITY));
        assert_eq!(Interval::exact(0).for_each(Interval::exact(0)), Interval::exact(0.0));
    }

    #[test]
    fn what_is_apart_is_so_for_sure() {
        let [low, high] = [Interval::new(1.0, 2.0), Interval::new(4.0, 5.0)];
        assert_eq!((high.above(low), low.above(high)), (2.0, -2.0));
        assert_eq!(high.above(Interval::new(1.0, 4.5)), 0.0);
        assert_eq!(Interval::exact(3.0).above(Interval::exact(1.0)), 2.0);
        assert_eq!(Interval::share_about(0.9, 0.25), Interval::new(0.65, 1.0));
        assert_eq!(Interval::share_about(0.25, 0.0), Interval::exact(0.25));
    }

    #[test]
    fn a_condition_holds_for_all_or_not() {
        let some = between(3, 5);
        assert!(some.is_at_least(3) && !some.is_at_least(4));
        assert!(some.is_below(6) && !some.is_below(5));
        assert!(some.is_at_most(5) && !some.is_at_most(4));
        assert!(!some.is_exact());
    }

    #[test]
    fn in_json_it_is_both_ends() {
        let json = serde_json::to_string(&(between(1, 2), Interval::exact(0.5))).unwrap();
        assert_eq!(json, "[[1,2],[0.5,0.5]]");
    }

    proptest! {
        /// Whatever the numbers are, the result for them is in the result for the intervals.
        #[test]
        fn results_are_within(
            a in 0u64..50,
            b in 0u64..50,
            more in [0u64..9, 0u64..9, 0u64..9, 0u64..9],
        ) {
            let around = |x: u64, down: u64, up: u64| between(x.saturating_sub(down), x + up);
            let [one, other] = [around(a, more[0], more[1]), around(b, more[2], more[3])];
            let within = |x: u64, i: Interval<u64>| i.least <= x && x <= i.most;
            let within_share = |x: f64, i: Interval<f64>| i.least <= x && x <= i.most;
            prop_assert!(within(a + b, one.plus(other)));
            prop_assert!(a < b || within(a - b, one.less(other)));
            prop_assert!(a > b || within_share(ratio(a, b), one.share_of(other)));
            prop_assert!(one.share_of(other).is_at_most(1.0));
            prop_assert!(b == 0 || within_share(ratio(a, b), one.for_each(other)));
        }

        #[test]
        fn shares_of_places_are_within(
            part in 0u64..50,
            rest in 0u64..50,
            have in 0u64..20,
            have_not in 0u64..20,
            spare in 0u64..5,
        ) {
            let found = share_among(part, part + rest, have + have_not + spare);
            let truth = ratio(part + have, part + rest + have + have_not);
            prop_assert!(found.least <= truth && truth <= found.most);
        }
    }
}
