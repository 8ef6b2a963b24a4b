//! Numbers, parts of a whole, and how they look.

use std::fmt;

/// `part` of `whole`, from 0 to 1; 0 of nothing.
pub fn share(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let whole = whole.into();
    if whole == 0 { 0.0 } else { part.into() as f64 / whole as f64 }
}

/// Adds to a sum of counts, as far as that fits.
pub fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// A number in percent, which looks like `12.3 %`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl Percent {
    /// `part` of `whole`; 0 of nothing.
    pub fn of(part: impl Into<u128>, whole: impl Into<u128>) -> Percent {
        let whole = whole.into();
        Percent(if whole == 0 { 0.0 } else { 100.0 * part.into() as f64 / whole as f64 })
    }

    /// A share from 0 to 1.
    pub fn share(share: f64) -> Percent {
        Percent(100.0 * share)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1} %", self.0))
    }
}

/// `part` of `whole` in percent, with one digit and rounded down: `100.0` are all.
pub fn rounded_down(part: u64, whole: u64) -> String {
    match (u128::from(part) * 1000).checked_div(u128::from(whole)) {
        Some(permille) => format!("{}.{}", permille / 10, permille % 10),
        None => "-".into(),
    }
}

/// A mean with one digit behind the point, where that says anything.
pub fn mean_of(mean: f64) -> String {
    if mean < 100.0 { format!("{mean:.1}") } else { grouped(mean.round() as u64) }
}

/// Nanoseconds as people read them, with four digits: `12.34 ms`.
pub fn duration(nanoseconds: u64) -> String {
    let (unit, name) = match nanoseconds {
        0..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let number = nanoseconds as f64 / unit;
    let digits = match number {
        ..10.0 => 3,
        ..100.0 => 2,
        _ => 1,
    };
    format!("{number:.digits$} {name}")
}

/// 1234567 as `1,234,567`.
pub fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What nouns have at their ends.
pub fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_grouped() {
        let grouped = [0u32, 999, 1000, 1234567].map(super::grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }
}
