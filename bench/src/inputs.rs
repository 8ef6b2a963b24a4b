//! Inputs of workloads, made the same on every machine.

use crate::debian;
use crate::error::{Error, Result, read, write};
use crate::fetch::fetch;
use crate::layout::Layout;
use crate::nested_sql;
use std::fmt::Write;
use std::path::PathBuf;

/// Replaces the placeholders of [`crate::program::Work`] by the paths of files that exist.
///
/// # Errors
/// If an input cannot be made.
pub fn expand(layout: &Layout, argument: &str) -> Result<String> {
    let Some(inner) = argument.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return Ok(argument.to_string());
    };
    let path = match inner.split_once(':') {
        Some(("text", size)) => text(layout, number(argument, size)?)?,
        Some(("xml", elements)) => xml(layout, number(argument, elements)?)?,
        Some(("sql", queries)) => sql(layout, number(argument, queries)?)?,
        Some(("source", file)) => source(layout, file)?,
        Some(("debian", file)) => debian::root(layout).join(file),
        Some(("work", name)) => layout.corpus().join("work").join(name),
        _ => return Err(unknown(argument)),
    };
    Ok(path.display().to_string())
}

fn unknown(argument: &str) -> Error {
    Error::Malformed {
        what: format!("the argument '{argument}' of a workload"),
        problem: "there is no such placeholder".to_string(),
    }
}

fn number(argument: &str, digits: &str) -> Result<usize> {
    digits.parse().map_err(|_| unknown(argument))
}

/// A file of a pinned package.
fn source(layout: &Layout, file: &str) -> Result<PathBuf> {
    let package = file.split('/').next().unwrap_or(file);
    fetch(layout, &[package])?;
    Ok(layout.sources().join(file))
}

/// A script of queries that are nested at random.
fn sql(layout: &Layout, queries: usize) -> Result<PathBuf> {
    let path = layout.data().join(format!("nested-{queries}.sql"));
    if !path.is_file() {
        write(&path, nested_sql::script(queries).as_bytes())?;
    }
    Ok(path)
}

/// The first bytes of a large real C source.
fn text(layout: &Layout, size: usize) -> Result<PathBuf> {
    let path = layout.data().join(format!("text-{size}.c"));
    if !path.is_file() {
        fetch(layout, &["libsqlite3-sys"])?;
        let whole = read(&layout.sources().join("libsqlite3-sys/sqlite3/sqlite3.c"))?;
        write(&path, &whole[..size.min(whole.len())])?;
    }
    Ok(path)
}

/// A document of nested elements with attributes, text, entities and comments.
fn xml(layout: &Layout, elements: usize) -> Result<PathBuf> {
    let path = layout.data().join(format!("document-{elements}.xml"));
    if !path.is_file() {
        write(&path, document(elements).as_bytes())?;
    }
    Ok(path)
}

fn document(elements: usize) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<list>\n");
    let mut state: u32 = 1;
    let mut open = 0;
    for index in 0..elements {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let pick = state >> 16;
        // Writing to a string does not fail.
        let _ = match pick % 5 {
            0 if open < 20 => {
                open += 1;
                writeln!(text, "<group id=\"g{index}\" kind='{}'>", pick % 7)
            }
            1 if open > 0 => {
                open -= 1;
                writeln!(text, "<last/></group>")
            }
            2 => writeln!(text, "<!-- note {index} --><item n=\"{pick}\">a &lt; b &amp; c</item>"),
            3 => writeln!(text, "<p xml:lang=\"en\">caf\u{e9} <b>{pick}</b> and more text</p>"),
            _ => {
                writeln!(text, "<x:e xmlns:x=\"urn:x\" x:a=\"{index}\"><![CDATA[<{pick}>]]></x:e>")
            }
        };
    }
    for _ in 0..open {
        text.push_str("</group>");
    }
    text.push_str("</list>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_balanced() {
        let text = document(1000);
        assert_eq!(text.matches("<group ").count(), text.matches("</group>").count());
    }
}
