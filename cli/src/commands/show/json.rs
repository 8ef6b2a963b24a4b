//! The whole k-IPF as JSON, written while it is made: forests may be large. The schema is in
//! `docs/command.md`.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::format::json::Each;
use crate::input::function::Function;
use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeSeq, Serializer};

#[derive(serde::Serialize)]
struct Document<T> {
    version: u32,
    k: u32,
    functions: T,
}

#[derive(serde::Serialize)]
struct Row<'a> {
    name: &'a str,
    file: &'a str,
    line: u32,
    entries: u64,
    paths: Paths<'a>,
    completed: u64,
    interrupted: u64,
    truncated: u64,
    lost: u64,
    restarts: u64,
    k: u32,
    num_paths: u32,
    unit: &'a str,
    key: String,
}

#[derive(serde::Serialize)]
struct PathRow<'a> {
    ids: &'a [u32],
    count: u64,
    most: u64,
    lines: Vec<&'a [u32]>,
}

/// All functions that were entered.
pub fn document(k: u32, functions: &[Function<'_>]) -> impl Serialize {
    Document { version: 2, k, functions: Each(move || functions.iter().filter_map(row)) }
}

fn row<'a>(function: &'a Function<'_>) -> Option<Row<'a>> {
    let (profile, table) = (function.profile?, function.table);
    Some(Row {
        name: &table.name,
        file: function.file(),
        line: table.line,
        entries: profile.totals.entries,
        paths: Paths { function, ipf: Ipf::of(profile) },
        completed: function.completed(),
        interrupted: function.interrupted(),
        truncated: function.truncated(),
        lost: profile.totals.lost,
        restarts: profile.totals.restarts,
        k: profile.k,
        num_paths: table.num_paths,
        unit: &table.unit,
        key: format!("{:016x}", table.key),
    })
}

/// The nodes of a k-IPF.
struct Paths<'a> {
    function: &'a Function<'a>,
    ipf: Ipf,
}

impl Serialize for Paths<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Paths { function, ipf } = self;
        let paths = &ipf.paths;
        let mut lines: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for id in paths.ids().map(|node| paths.label(node)) {
            lines.entry(id).or_insert_with(|| {
                function.path(id).map_or(Vec::new(), |path| function.lines(&path))
            });
        }
        let mut rows = serializer.serialize_seq(None)?;
        let mut ids: Vec<u32> = Vec::new();
        for (node, depth) in paths.preorder() {
            ids.truncate(depth as usize);
            ids.push(paths.label(node));
            let lines = ids.iter().map(|id| lines.get(id).map_or(&[][..], Vec::as_slice));
            let Interval { least: count, most } = ipf.count(node);
            rows.serialize_element(&PathRow { ids: &ids, count, most, lines: lines.collect() })?;
        }
        rows.end()
    }
}
