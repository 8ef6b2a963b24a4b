//! The whole k-IPF as JSON, streamed. The schema is in `docs/command.md`.

use crate::join::Function;
use crate::json;
use crate::lines::outer_lines;
use midflight_profile::forest::PrefixForest;
use midflight_profile::kipf::make_k_ipf;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Head<'a> {
    name: &'a str,
    file: &'a str,
    line: u32,
    entries: u64,
}

#[derive(Serialize)]
struct Tail<'a> {
    completed: u64,
    interrupted: u64,
    restarts: u64,
    lost: u64,
    pruned: u64,
    k: u32,
    num_paths: u32,
    unit: &'a str,
    key: String,
}

#[derive(Serialize)]
struct PathRow<'a> {
    ids: &'a [u32],
    count: u64,
    lines: Vec<&'a [u32]>,
}

/// Writes all functions that were entered.
///
/// # Errors
/// If the output cannot be written.
pub fn write(out: &mut dyn Write, k: u32, functions: &[Function<'_>]) -> io::Result<()> {
    write!(out, "{{\"version\":1,\"k\":{k},\"functions\":[")?;
    let mut first = true;
    for function in functions.iter().filter(|f| f.profile.is_some()) {
        if !std::mem::take(&mut first) {
            out.write_all(b",")?;
        }
        out.write_all(b"\n")?;
        write_function(out, function)?;
    }
    out.write_all(b"\n]}\n")
}

fn write_function(out: &mut dyn Write, function: &Function<'_>) -> io::Result<()> {
    let Some(profile) = function.profile else { return Ok(()) };
    let table = function.table;
    let head = Head {
        name: &table.name,
        file: function.file(),
        line: table.line,
        entries: profile.entries,
    };
    let tail = Tail {
        completed: function.completed(),
        interrupted: function.interrupted(),
        restarts: profile.restarts,
        lost: profile.lost,
        pruned: profile.pruned,
        k: profile.k,
        num_paths: table.num_paths,
        unit: &table.unit,
        key: format!("{:016x}", table.key),
    };
    let head = json::text(&head)?;
    let tail = json::text(&tail)?;
    write!(out, "{},\"paths\":[", head.trim_end_matches('}'))?;
    let ipf = make_k_ipf(&profile.forest, profile.k);
    write_paths(out, function, &ipf)?;
    write!(out, "],{}", tail.trim_start_matches('{'))
}

fn write_paths(out: &mut dyn Write, function: &Function<'_>, ipf: &PrefixForest) -> io::Result<()> {
    let mut lines: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for node in ipf.ids() {
        let id = ipf.label(node);
        lines.entry(id).or_insert_with(|| {
            function.path(id).map_or(Vec::new(), |path| outer_lines(function, &path))
        });
    }
    let mut ids: Vec<u32> = Vec::new();
    for (index, (node, depth)) in ipf.preorder().enumerate() {
        ids.truncate(depth as usize);
        ids.push(ipf.label(node));
        let row = PathRow {
            ids: &ids,
            count: ipf.count(node),
            lines: ids.iter().map(|id| lines.get(id).map_or(&[][..], Vec::as_slice)).collect(),
        };
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        json::write(out, &row)?;
    }
    Ok(())
}
