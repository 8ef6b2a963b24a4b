//! JSON, in which nothing disturbs a terminal: names may be any text.

use midflight_profile::is_visible;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a value. What would end a line or control a terminal is escaped.
///
/// # Errors
/// If the output cannot be written.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Visible))?)
}

/// The same as a text.
///
/// # Errors
/// If the value cannot be JSON.
pub fn text(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::new();
    write(&mut bytes, value)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

struct Visible;

impl Formatter for Visible {
    /// Of a string, what JSON does not ask to be escaped.
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c| !is_visible(c)) {
            let (plain, hidden) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let mut chars = hidden.chars();
            for unit in chars.by_ref().take(1).collect::<String>().encode_utf16() {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        let name = "a\n\x7f\u{9b}\u{202e}\u{e0041}é\"";
        assert_eq!(text(&name).unwrap(), r#""a\n\u007f\u009b\u202e\udb40\udc41é\"""#);
        assert_eq!(text(&(1, None::<u32>, "x")).unwrap(), r#"[1,null,"x"]"#);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(name: Vec<char>) {
            let name: String = name.into_iter().collect();
            let json = text(&name).unwrap();
            prop_assert!(json.chars().all(midflight_profile::is_visible));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        }
    }
}
