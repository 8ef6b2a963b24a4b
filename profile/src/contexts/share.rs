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

    /// The share that a text says, as 0.001 or 1e-3; none if it is none from 0 to 1, or has more
    /// than 15 decimals.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut words = text.split(|&byte| byte == b'e' || byte == b'E');
        let (number, exponent) = (words.next()?, words.next());
        if number.is_empty() || words.next().is_some() {
            return None;
        }
        let (mut digits, mut scale, mut is_fraction) = (0u64, WHOLE, false);
        let tenth = |scale: u64| Some(scale / 10).filter(|&scale| scale != 0);
        for &byte in number {
            match byte {
                b'.' if !is_fraction => is_fraction = true,
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                    scale = if is_fraction { tenth(scale)? } else { scale };
                }
                _ => return None,
            }
        }
        let mut shift = 0u8;
        if let Some(exponent) = exponent {
            let exponent = exponent.strip_prefix(b"-").filter(|digits| !digits.is_empty())?;
            for &byte in exponent {
                let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
                shift = shift.checked_mul(10)?.checked_add(digit)?;
            }
        }
        for _ in 0..shift {
            scale = tenth(scale)?;
        }
        digits.checked_mul(scale).filter(|&share| share <= WHOLE).map(Self)
    }

    /// The share as a number.
    pub fn number(self) -> f64 {
        self.0 as f64 / WHOLE as f64
    }

    /// A part of it, one of so many; none of no parts.
    pub fn part(self, parts: u64) -> Option<Self> {
        self.0.checked_div(parts).map(Self)
    }

    /// The share as an integer, of which 0 is none, for [`Self::of_bits`].
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The share that [`Self::bits`] gave.
    pub fn of_bits(bits: u64) -> Self {
        Self(bits)
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

#[cfg(test)]
mod tests {
    use super::{Share, WHOLE};

    #[test]
    fn shares_are_decimal_fractions() {
        for (text, parts) in [
            ("0.001", WHOLE / 1000),
            ("1e-3", WHOLE / 1000),
            ("1", WHOLE),
            ("1.0", WHOLE),
            ("2.5E-5", WHOLE / 40_000),
            (".5", WHOLE / 2),
        ] {
            assert_eq!(Share::parse(text.as_bytes()), Some(Share(parts)), "{text}");
        }
        for wrong in ["", "x", "1.1", "2", "1e3", "1e-", "1e-3e-3", "1..0", "-1", "1e-99", "1e-16"]
        {
            assert_eq!(Share::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
