//! JSON, in which nothing disturbs a terminal: names may be any text.

use midflight_profile::is_visible;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a document: a value on a line. What would end a line or control a terminal is escaped.
pub fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    with(out, value, Visible::default())?;
    writeln!(out)
}

/// Writes a value that may stand in markup: it can neither end the element that it is in nor begin
/// a comment.
pub fn write_in_markup(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    with(out, value, Visible { in_markup: true, ..Visible::default() })
}

/// Writes a document whose arrays, and the arrays in their values, have a line for each value, for
/// tools that read lines.
pub fn write_rows(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    with(out, value, Visible { levels_of_rows: 2, ..Visible::default() })?;
    writeln!(out)
}

fn with(out: &mut dyn Write, value: &impl Serialize, formatter: Visible) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, formatter))?)
}

/// A document that is a list of functions.
#[derive(Serialize)]
pub struct Functions<T> {
    /// Of its schema
    pub version: u32,
    /// The functions
    pub functions: T,
}

/// A list whose values are made while it is written.
pub struct Each<F>(pub F);

impl<F: Fn() -> I, I: IntoIterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

#[derive(Default)]
struct Visible {
    in_markup: bool,
    /// Arrays in fewer than so many others have a line for each value.
    levels_of_rows: usize,
    /// Arrays that are begun and not ended
    open: usize,
}

impl Formatter for Visible {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open += 1;
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b"," })?;
        out.write_all(if self.open <= self.levels_of_rows { b"\n" } else { b"" })
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let is_outermost = self.levels_of_rows > 0 && self.open == 1;
        self.open -= 1;
        out.write_all(if is_outermost { b"\n]" } else { b"]" })
    }

    /// Of a string, what JSON does not ask to be escaped.
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c| !is_visible(c) || self.in_markup && c == '<') {
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
    use super::{Visible, with};
    use proptest::prelude::*;
    use serde::Serialize;

    fn written(value: &impl Serialize, formatter: Visible) -> String {
        let mut bytes = Vec::new();
        with(&mut bytes, value, formatter).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn text(value: &impl Serialize) -> String {
        written(value, Visible::default())
    }

    #[test]
    fn no_text_can_leave_its_element() {
        let text = "</script><!--";
        let json = written(&text, Visible { in_markup: true, ..Visible::default() });
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn rows_have_lines_of_their_own() {
        let rows = |value: &[&[[u32; 2]]]| {
            written(&value, Visible { levels_of_rows: 2, ..Visible::default() })
        };
        assert_eq!(rows(&[&[[1, 2], [3, 4]], &[]]), "[\n[\n[1,2],\n[3,4]],\n[]\n]");
        assert_eq!(rows(&[]), "[\n]");
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        let name = "a\n\x7f\u{9b}\u{202e}\u{e0041}é\"";
        assert_eq!(text(&name), r#""a\n\u007f\u009b\u202e\udb40\udc41é\"""#);
        assert_eq!(text(&(1, None::<u32>, "x")), r#"[1,null,"x"]"#);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(name: Vec<char>) {
            let name: String = name.into_iter().collect();
            let json = text(&name);
            prop_assert!(json.chars().all(midflight_profile::is_visible));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        }
    }
}
