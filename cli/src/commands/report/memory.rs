//! Where the memory for sequences was full: how much memory would do, and which counts are too low.

use crate::commands::report::text::HOT;
use crate::document::{FunctionDocument, Shortage, is_short};
use crate::format::numbers::grouped;
use std::fmt::Write;

/// What a node takes in the running program, with the tables that lead to it; rather more.
const NODE: u128 = 192;
/// What the runtime takes at most by itself, and so the largest memory that is proposed.
const MOST: u128 = 1 << 30;

/// Writes that a thread's memory was full, and what would do, if that matters.
pub fn write(text: &mut String, shortage: &Shortage) {
    let Shortage { functions, nodes, without_room } = *shortage;
    let functions = match functions {
        0 => return,
        1 => "1 function".into(),
        more => format!("{more} functions"),
    };
    let _ = writeln!(
        text,
        "{HOT}the memory for sequences was full in {functions}: {} paths found no room; {}{HOT:#}",
        grouped(without_room),
        advice(nodes, without_room)
    );
}

/// Room for the sequences that are there, and for a new one for each path that found none, is
/// enough: the same sequence may have found none again and again. Only what is used is taken.
fn advice(nodes: u128, without_room: u128) -> String {
    let bytes = (nodes + without_room).saturating_mul(NODE);
    if bytes > MOST {
        return "MIDFLIGHT_THREAD_MEMORY=1G may do, or a smaller k".into();
    }
    let mega = (bytes >> 20).max(1).saturating_add(1).next_power_of_two();
    let size = if mega < 1 << 10 { format!("{mega}M") } else { "1G".into() };
    format!("MIDFLIGHT_THREAD_MEMORY={size} would do")
}

/// Writes by how much a function's counts may be too low.
pub fn write_bounds(text: &mut String, f: &FunctionDocument<'_>) {
    if !is_short(f.function) {
        return;
    }
    let singles = match f.lost {
        0 => "exact".to_string(),
        lost => format!("too low by {} together", grouped(lost)),
    };
    let _ = writeln!(
        text,
        "   {HOT}the memory for sequences was full: counts of single paths are {singles}, those of m \
         paths in a row too low by at most {} + {}·(m − 1){HOT:#}",
        grouped(f.pruned.saturating_add(f.lost)),
        grouped(f.restarts)
    );
}
