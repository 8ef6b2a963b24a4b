//! What `MIDFLIGHT_OSR_FIRE` says.

use crate::message::parse_decimal;
use crate::osr::choice;
use crate::osr::gap::Probability;
use crate::osr::record::Site;

/// When points fire that emitted code does not decide about alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fire<'a> {
    /// Never.
    Never,
    /// Never, but hits are counted.
    List,
    /// A fuzzed point at its `hit`-th hit, or at each.
    At { point: &'a [u8], hit: Option<u64> },
    /// Every N-th hit of any fuzzed point.
    Every(u64),
    /// Hits of fuzzed points with a probability.
    Random { seed: u64, probability: Probability },
    /// All points at each hit.
    Always,
    /// The named flag and patch points at each hit.
    Arm(&'a [u8]),
}

impl<'a> Fire<'a> {
    /// Reads the variable's value; what is wrong with it, and what to write instead.
    pub fn parse(value: &'a [u8]) -> Result<Self, &'static str> {
        let (mode, rest) = match value.iter().position(|&byte| byte == b':') {
            Some(colon) => (value.get(..colon), value.get(colon + 1..)),
            None => (Some(value), None),
        };
        match (mode.unwrap_or_default(), rest) {
            (b"list", None) => Ok(Self::List),
            (b"always", None) => Ok(Self::Always),
            (b"at", Some(rest)) => Self::parse_at(rest),
            (b"every", Some(number)) => match parse_decimal(number) {
                Some(number) if number != 0 && i64::try_from(number).is_ok() => {
                    Ok(Self::Every(number))
                }
                _ => Err("N is not a number from 1 up; write every:N, as in every:100"),
            },
            (b"random", Some(rest)) => Self::parse_random(rest),
            (b"arm", Some(points)) if choice::names_of(points).all(|name| !name.is_empty()) => {
                Ok(Self::Arm(points))
            }
            (b"arm", _) => Err("a point has no name; write arm:POINT[,POINT...], as in arm:main#3"),
            _ => Err("there is no such mode; use list, at:POINT[:HIT], every:N, random:SEED:P, \
                      always or arm:POINT[,POINT...]"),
        }
    }

    /// The hit is the digits behind the last colon.
    fn parse_at(rest: &'a [u8]) -> Result<Self, &'static str> {
        let mut point = rest;
        let mut hit = None;
        if let Some(colon) = rest.iter().rposition(|&byte| byte == b':') {
            let digits = rest.get(colon + 1..).unwrap_or_default();
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
                point = rest.get(..colon).unwrap_or_default();
                let number = parse_decimal(digits).filter(|&number| number != 0);
                hit = Some(number.ok_or("HIT is not a number from 1 up; write at:POINT:HIT")?);
            }
        }
        if point.is_empty() {
            return Err("the point has no name; write at:POINT[:HIT], as in at:main#3:17");
        }
        Ok(Self::At { point, hit })
    }

    fn parse_random(rest: &[u8]) -> Result<Self, &'static str> {
        const USAGE: &str = "SEED is not a number, or P not a decimal number over 0 and up to 1; \
                             write random:SEED:P, as in random:1:0.001";
        let mut parts = rest.splitn(2, |&byte| byte == b':');
        let seed = parts.next().and_then(parse_decimal).ok_or(USAGE)?;
        let probability = parts.next().and_then(Probability::parse).ok_or(USAGE)?;
        Ok(Self::Random { seed, probability })
    }

    /// Whether a site is to be armed when its image is registered.
    pub fn arms(&self, site: Site) -> bool {
        match self {
            Self::Never | Self::Every(_) | Self::Random { .. } => false,
            Self::List => choice::is_fuzzed(site),
            Self::At { point, .. } => choice::is_fuzzed(site) && choice::means(point, site),
            Self::Always => choice::is_fuzzed(site) || choice::can_be_armed(site),
            Self::Arm(points) => choice::can_be_armed(site) && choice::any_means(points, site),
        }
    }

    /// Whether it has to do with a site at all.
    pub fn concerns(&self, site: Site) -> bool {
        match self {
            Self::Every(_) | Self::Random { .. } => choice::is_fuzzed(site),
            Self::List => true,
            _ => self.arms(site),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read() {
        let at = |point: &'static str, hit| Fire::At { point: point.as_bytes(), hit };
        let probability = Probability::parse(b"0.25").unwrap();
        for (text, expected) in [
            ("list", Fire::List),
            ("always", Fire::Always),
            ("every:1", Fire::Every(1)),
            ("every:1000", Fire::Every(1000)),
            ("random:18446744073709551615:0.25", Fire::Random { seed: u64::MAX, probability }),
            ("at:main#3", at("main#3", None)),
            ("at:main#3:17", at("main#3", Some(17))),
            ("at:src/x.c:main#3", at("src/x.c:main#3", None)),
            ("at:src/x.c:main#3:1", at("src/x.c:main#3", Some(1))),
            ("at:*", at("*", None)),
            ("at:a:", at("a:", None)),
            ("arm:a", Fire::Arm(b"a")),
            ("arm:x.c:a,b*", Fire::Arm(b"x.c:a,b*")),
        ] {
            assert_eq!(Fire::parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "lists",
            "list:",
            "always:1",
            "every",
            "every:",
            "every:0",
            "every:x",
            "every:-1",
            "every:9223372036854775808",
            "random",
            "random:1",
            "random::0.5",
            "random:1:0",
            "random:1:2",
            "random:-1:0.5",
            "random:1:0.5:2",
            "at",
            "at:",
            "at::3",
            "at:a:0",
            "at:a:99999999999999999999",
            "arm",
            "arm:",
            "arm:a,",
            "arm:,a",
            "never",
            "1",
        ] {
            assert!(Fire::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
