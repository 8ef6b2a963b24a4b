//! The page: the source with the hot cyclic paths drawn beside it, and the path forest as an
//! icicle. Each function has an element of its own, which is read when it is shown.

use crate::commands::export::{Format, View, Writer, html_calls};
use crate::document::{Document, Events, Shape};
use crate::format::numbers::share;
use crate::format::page::{Page, element};
use serde::Serialize;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "html",
    about: "a page for any browser: source with paths drawn beside it; or calls (--contexts)",
    writer: Writer::Both(write, View { shape: Shape::ByFunction, write: html_calls::write }),
};

const STYLE: &str = include_str!("html/page.css");
const BODY: &str = include_str!("html/body.html");
const SCRIPT: &str = concat!(
    include_str!("html/state.js"),
    include_str!("html/list.js"),
    include_str!("html/source.js"),
    include_str!("html/drawing.js"),
    include_str!("html/panel.js"),
    include_str!("html/icicle.js"),
    include_str!("html/address.js"),
    include_str!("html/start.js"),
);

/// What the page knows of all functions.
#[derive(Serialize)]
struct Index<'a> {
    binary: &'a str,
    k: u32,
    events: Events,
    left_out: usize,
    functions: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    readable: &'a str,
    file: &'a str,
    share: f64,
}

/// Writes the page.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let title = format!("Paths of {}", document.binary);
    let page = Page { title: &title, style: STYLE, body: BODY, script: SCRIPT };
    let functions = document.functions.iter().map(|function| Entry {
        name: &function.name,
        readable: &function.readable,
        file: &function.file,
        share: share(function.work, document.work),
    });
    let index = Index {
        binary: &document.binary,
        k: document.k,
        events: document.events,
        left_out: document.left_out,
        functions: functions.collect(),
    };
    page.write(out, |out| {
        element(out, "index", &index)?;
        for (number, function) in document.functions.iter().enumerate() {
            element(out, &format!("f{number}"), function)?;
        }
        Ok(())
    })
}
