//! `print<path-numbering>`: paths, edge values and cut edges of each function.

use crate::driver::{Driver, definitions};
use crate::paths::numbering::Numbering;
use crate::paths::options::Options;
use crate::paths::path_profile_gen::number;
use midflight_bridge::ir::{Function, Module, print};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_profile::table::{CutReason, Edge};
use std::fmt::Write;

/// The pass.
pub struct PrintNumbering(pub Options);

impl Pass for PrintNumbering {
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        let driver = Driver::reading("numbering the paths of '{}'");
        driver.run(module, &definitions(module), |function| {
            print(&match number(module, function, analyses, &self.0) {
                Ok((_, numbering)) => describe(function, &numbering),
                Err(skip) => {
                    format!(
                        "paths of '{}': none ({}: {})\n",
                        function.name(),
                        skip.name(),
                        skip.message()
                    )
                }
            });
            Ok(Vec::new())
        });
        false
    }
}

/// The text for one function: one line an edge, blocks by index in the order of the function.
fn describe(function: Function<'_>, numbering: &Numbering) -> String {
    let cut = numbering.edges.iter().filter(|e| matches!(e, Edge::Cut { .. })).count();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "paths of '{}': {} paths, {cut} cut edges",
        function.name(),
        numbering.num_paths
    );
    for edge in &numbering.edges {
        let _ = match *edge {
            Edge::Flow { from, to, value } => writeln!(text, "  {from} -> {to}: value {value}"),
            Edge::Exit { from, value } => writeln!(text, "  {from} -> exit: value {value}"),
            Edge::Cut { from, to, end, start, why } => {
                let why = match why {
                    CutReason::Retreating => "retreating",
                    CutReason::Bound => "cut for the bound",
                    CutReason::Unsplittable => "unsplittable",
                    CutReason::Restart => "restart",
                };
                writeln!(text, "  {from} -> {to}: {why}, ends with {end}, starts with {start}")
            }
        };
    }
    text
}
