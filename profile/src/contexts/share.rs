//! φ and ε.

/// A share of all calls, from 0 to 1, as a decimal fraction: φ or ε.
///
/// It has 15 decimals, to which a floating-point number is rounded. So the share is what was
/// written, whatever binary fraction came of it: 0.29 of 100 is 29, which the product of both is
/// below. A share with more decimals, as a third, is off by 5 · 10^−16 at most, and with it
/// ⌊φN⌋ by at most one as long as N is below 2 · 10^15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u64);

/// Parts of a whole: 10^15, below 2^53.
const WHOLE: u64 = 1_000_000_000_000_000;

impl Share {
    /// The decimal fraction next to a number; none if that is not within 0 and 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self((share * WHOLE as f64 + 0.5) as u64))
    }

    /// ⌊φN⌋, exactly: from what count on a context is hot (Definition 3.1).
    pub fn floor_of(self, n: u64) -> u64 {
        (u128::from(self.0) * u128::from(n) / u128::from(WHOLE)) as u64
    }

    /// ⌈1/ε⌉: how many entries M must have so that N / |M| is at most εN. None if ε is 0.
    pub fn entries(self) -> Option<u64> {
        (self.0 > 0).then(|| WHOLE.div_ceil(self.0))
    }
}
