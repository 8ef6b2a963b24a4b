//! The report as a page for browsers. Each function has an element of its own, which is read when
//! it is shown.

use crate::format::names::readable;
use crate::format::page::{Page, element};
use midflight_profile::osr_maps::report::{Function, Points, Reasons, Report};
use midflight_profile::osr_maps::{Both, PerVersion};
use serde::Serialize;
use std::io::{self, Write};

const STYLE: &str = include_str!("page/page.css");
const BODY: &str = include_str!("page/body.html");
const SCRIPT: &str = concat!(
    include_str!("page/state.js"),
    include_str!("page/list.js"),
    include_str!("page/code.js"),
    include_str!("page/point.js"),
    include_str!("page/address.js"),
    include_str!("page/actions.js"),
    include_str!("page/start.js"),
);

/// What the page knows of all functions.
#[derive(Serialize)]
struct Index<'a> {
    source: String,
    pipeline: &'a str,
    functions: Vec<Entry<'a>>,
    refused_functions: &'a Reasons,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    readable: String,
    instructions: PerVersion<u64>,
    points: &'a Both<Points>,
    refused: &'a Both<Reasons>,
}

/// Writes the page. Functions without detail are listed only.
pub fn write(out: &mut dyn Write, source: &str, report: &Report) -> io::Result<()> {
    let source = readable(source);
    let title = format!("OSR mappings of {source}");
    let page = Page { title: &title, style: STYLE, body: BODY, script: SCRIPT };
    let index = Index {
        source,
        pipeline: &report.pipeline,
        functions: report.functions.iter().map(entry).collect(),
        refused_functions: &report.refused_functions,
    };
    page.write(out, |out| {
        element(out, "index", &index)?;
        for (number, function) in report.functions.iter().enumerate() {
            if let Some(detail) = &function.detail {
                element(out, &format!("f{number}"), detail)?;
            }
        }
        Ok(())
    })
}

fn entry(function: &Function) -> Entry<'_> {
    Entry {
        name: &function.name,
        readable: readable(&function.name),
        instructions: function.instructions,
        points: &function.points,
        refused: &function.refused,
    }
}
