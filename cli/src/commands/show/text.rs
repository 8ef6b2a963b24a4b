//! The whole k-IPF as text: a tree for each function.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::format::lines::ranges;
use crate::input::function::Function;
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
    let short = [
        ("truncated", function.truncated()),
        ("lost", profile.totals.lost),
        ("restarts", profile.totals.restarts),
    ];
    let short = short.into_iter().filter(|(_, number)| *number != 0);
    let short: String = short.map(|(what, number)| format!(" {what}={number}")).collect();
    writeln!(
        out,
        "{} {}:{} k={} entries={} completed={} interrupted={}{short}",
        visible(&table.name),
        visible(function.file()),
        table.line,
        profile.k,
        profile.totals.entries,
        function.completed(),
        function.interrupted()
    )?;
    let ipf = Ipf::of(profile);
    for (node, depth) in ipf.paths.preorder() {
        let id = ipf.paths.label(node);
        let Interval { least: count, most } = ipf.count(node);
        let bound = if most == count { String::new() } else { format!(" most={most}") };
        let lines = function.path(id).map_or(Vec::new(), |path| function.lines(&path));
        writeln!(
            out,
            "  {:indent$}{id} count={count}{bound} lines={}",
            "",
            ranges(&lines),
            indent = depth as usize * 2
        )?;
    }
    Ok(())
}
