//! The whole k-IPF as text: a tree for each function.

use crate::format::lines::ranges;
use crate::input::function::Function;
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::visible;
use std::io::{self, Write};

/// Writes all functions that were entered.
pub fn write(out: &mut dyn Write, functions: &[Function<'_>]) -> io::Result<()> {
    for function in functions.iter().filter(|f| f.profile.is_some()) {
        write_function(out, function)?;
    }
    Ok(())
}

fn write_function(out: &mut dyn Write, function: &Function<'_>) -> io::Result<()> {
    let Some(profile) = function.profile else { return Ok(()) };
    let table = function.table;
    writeln!(
        out,
        "{} {}:{} k={} entries={} completed={} interrupted={}",
        visible(&table.name),
        visible(function.file()),
        table.line,
        profile.k,
        profile.totals.entries,
        function.completed(),
        function.interrupted()
    )?;
    let ipf = make_k_ipf(&profile.forest, profile.k);
    for (node, depth) in ipf.preorder() {
        let id = ipf.label(node);
        let lines = function.path(id).map_or(Vec::new(), |path| function.lines(&path));
        writeln!(
            out,
            "  {:indent$}{id} count={} lines={}",
            "",
            ipf.count(node),
            ranges(&lines),
            indent = depth as usize * 2
        )?;
    }
    Ok(())
}
