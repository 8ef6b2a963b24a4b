//! Random distances between two hits that fire.
//!
//! If each hit fires with probability p, the number G of hits between two that fire is
//! geometrically distributed: P(G = n) = p qⁿ with q = 1 − p. The binary digits of such a number
//! are independent: since p = ∏ 1 / (1 + q^(2^i)),
//!
//! ```text
//! p qⁿ = ∏ q^(bᵢ 2^i) / (1 + q^(2^i))   where bᵢ are the digits of n,
//! ```
//!
//! so digit i is 1 with probability q^(2^i) / (1 + q^(2^i)). These come by squaring, without any
//! logarithm, in fixed point with 64 binary digits: the distribution is exact up to a relative
//! error of about 2⁻⁶⁴/p.

use core::sync::atomic::{AtomicU64, Ordering};

/// Binary digits of a distance; a fuel has one more, and a sign.
const DIGITS: usize = 62;

/// Weyl sequence of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
/// Generators, 2014): one addition a number, so that threads can share it without a lock.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A probability over 0 and up to 1, as that of the contrary in units of 2⁻⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probability {
    contrary: u64,
}

impl Probability {
    /// Reads a decimal number such as `0.001`, `.5` or `1`; `None` if it is none, or not over 0
    /// and up to 1. Digits behind the nineteenth after the point do not count.
    pub fn parse(text: &[u8]) -> Option<Self> {
        const MAX_DIGITS: usize = 19;
        let mut parts = text.splitn(2, |&byte| byte == b'.');
        let (whole, fraction) = (parts.next()?, parts.next().unwrap_or_default());
        let mut all = whole.iter().chain(fraction);
        if whole.len() + fraction.len() == 0 || !all.all(u8::is_ascii_digit) {
            return None;
        }
        let digits = fraction.get(..MAX_DIGITS).unwrap_or(fraction);
        let (mut numerator, mut denominator) = (0u128, 1u128);
        for digit in digits {
            numerator = numerator * 10 + u128::from(digit - b'0');
            denominator *= 10;
        }
        let is_zero = numerator == 0;
        match whole {
            [zeroes @ .., b'1'] if is_zero && zeroes.iter().all(|&digit| digit == b'0') => {
                Some(Self { contrary: 0 })
            }
            zeroes if zeroes.iter().all(|&digit| digit == b'0') => {
                let contrary = (1u128 << 64) - u128::from(ratio(numerator, denominator));
                u64::try_from(contrary).ok().map(|contrary| Self { contrary })
            }
            _ => None,
        }
    }
}

/// A proper fraction in units of 2⁻⁶⁴, by long division: that of the compiler's runtime is in none
/// of the libraries that every program links.
fn ratio(mut numerator: u128, denominator: u128) -> u64 {
    (0..u64::BITS).fold(0, |quotient, _| {
        numerator <<= 1;
        let digit = numerator >= denominator;
        if digit {
            numerator -= denominator;
        }
        quotient << 1 | u64::from(digit)
    })
}

/// A sequence of distances that all threads share.
pub struct Gaps {
    random: AtomicU64,
    /// For each digit, the probability that it is 1, in units of 2⁻⁶⁴.
    digits: [AtomicU64; DIGITS],
}

impl Gaps {
    /// A sequence in which every hit fires.
    pub const fn new() -> Self {
        Self { random: AtomicU64::new(0), digits: [const { AtomicU64::new(0) }; DIGITS] }
    }

    /// Begins anew. The same seed and probability give the same distances.
    pub fn start(&self, seed: u64, probability: Probability) {
        self.random.store(seed, Ordering::Relaxed);
        let mut power = u128::from(probability.contrary);
        for digit in &self.digits {
            let one = 1u128 << 64;
            digit.store(ratio(power, one + power), Ordering::Relaxed);
            power = (power * power + (one >> 1)) >> 64;
        }
    }

    /// The number of hits up to the next that fires, itself included: at least 1.
    pub fn next(&self) -> i64 {
        let mut between = 0i64;
        for (index, digit) in self.digits.iter().enumerate() {
            let probability = digit.load(Ordering::Relaxed);
            // They only become smaller.
            if probability == 0 {
                break;
            }
            if self.random() < probability {
                between |= 1 << index;
            }
        }
        between + 1
    }

    fn random(&self) -> u64 {
        let mut value = self.random.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA);
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(seed: u64, probability: &str) -> Gaps {
        let gaps = Gaps::new();
        gaps.start(seed, Probability::parse(probability.as_bytes()).unwrap());
        gaps
    }

    #[test]
    fn probabilities_are_decimal_numbers_over_zero_and_up_to_one() {
        let half = Probability { contrary: 1 << 63 };
        assert_eq!(Probability::parse(b"0.5"), Some(half));
        assert_eq!(Probability::parse(b".5"), Some(half));
        assert_eq!(Probability::parse(b"00.50000000000000000000000000"), Some(half));
        for one in ["1", "1.", "01.000"] {
            assert_eq!(Probability::parse(one.as_bytes()), Some(Probability { contrary: 0 }));
        }
        for wrong in ["", ".", "0", "0.0", "1.1", "2", "11", "-1", "0,5", "1e-3", "0.5.5", "x"] {
            assert_eq!(Probability::parse(wrong.as_bytes()), None, "{wrong}");
        }
        // Too small for the unit.
        assert_eq!(Probability::parse(b"0.00000000000000000001"), None);
    }

    #[test]
    fn certainty_leaves_no_gap() {
        let gaps = gaps(7, "1");
        assert!((0..1000).all(|_| gaps.next() == 1));
    }

    #[test]
    fn the_seed_decides() {
        let take = |seed| {
            let gaps = gaps(seed, "0.01");
            (0..50).map(|_| gaps.next()).collect::<Vec<_>>()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    /// Pearson's χ² over the first lengths and the rest.
    #[test]
    #[cfg_attr(miri, ignore = "many draws")]
    fn gaps_are_geometrically_distributed() {
        const DRAWS: usize = 400_000;
        for (probability, cells) in [("0.9", 5), ("0.5", 12), ("0.1", 60), ("0.013", 300)] {
            let p: f64 = probability.parse().unwrap();
            let gaps = gaps(42, probability);
            let mut seen = vec![0u64; cells + 1];
            for _ in 0..DRAWS {
                let gap = usize::try_from(gaps.next()).unwrap();
                assert!(gap >= 1);
                seen[(gap - 1).min(cells)] += 1;
            }
            let mut left = 1.0;
            let mut statistic = 0.0;
            for (cell, &count) in seen.iter().enumerate() {
                let share = if cell == cells { left } else { left * p };
                left -= share;
                let expected = share * DRAWS as f64;
                statistic += (count as f64 - expected).powi(2) / expected;
            }
            // Mean and deviation of χ² with that many degrees of freedom.
            let limit = cells as f64 + 5.0 * (2.0 * cells as f64).sqrt();
            assert!(statistic < limit, "{probability}: {statistic} over {limit}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "many draws")]
    fn rare_events_keep_their_mean() {
        const DRAWS: u32 = 20_000;
        for probability in ["0.0001", "0.000001", "0.000000001"] {
            let gaps = gaps(3, probability);
            let sum: f64 = (0..DRAWS).map(|_| gaps.next() as f64).sum();
            let mean = sum / f64::from(DRAWS) * probability.parse::<f64>().unwrap();
            assert!((mean - 1.0).abs() < 5.0 / f64::from(DRAWS).sqrt(), "{probability}: {mean}");
        }
    }
}
