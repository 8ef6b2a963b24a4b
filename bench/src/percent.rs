//! Parts of a whole, and sizes, for tables.

/// A part of a whole, rounded down: 100 % is all of it, and nothing else.
pub fn share(part: Option<f64>) -> String {
    let Some(part) = part else { return "–".to_string() };
    if part == 1.0 {
        return "100 %".to_string();
    }
    // What is above the whole is a fault, and is shown as such.
    let hundredths = (part * 10_000.0).floor() / 100.0;
    format!("{hundredths:.2} %")
}

/// An error, rounded up: 0 % is none at all.
pub fn percent(value: f64) -> String {
    if value == 0.0 {
        return "0 %".to_string();
    }
    let hundredths = (value * 10_000.0).ceil() / 100.0;
    if hundredths < 10.0 { format!("{hundredths:.2} %") } else { format!("{hundredths:.0} %") }
}

/// A number of bytes.
pub fn bytes(size: Option<u64>) -> String {
    match size {
        None => "–".to_string(),
        Some(size) if size < 10_000 => format!("{size} B"),
        Some(size) if size < 10_000_000 => format!("{} kB", size / 1000),
        Some(size) => format!("{} MB", size / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_a_hundred_percent_and_only_none_is_zero() {
        assert_eq!(share(Some(1.0)), "100 %");
        assert_eq!(share(Some(0.999_999)), "99.99 %");
        assert_eq!(share(Some(1.000_2)), "100.02 %");
        assert_eq!(share(None), "–");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_001), "0.01 %");
        assert_eq!(percent(2.345), "235 %");
    }

    #[test]
    fn sizes_have_few_digits() {
        let shown = [None, Some(9_999), Some(1_234_567), Some(12_345_678)].map(bytes);
        assert_eq!(shown, ["–", "9999 B", "1234 kB", "12 MB"]);
    }
}
