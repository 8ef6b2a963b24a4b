//! Where the memory for sequences was full: how much of what was counted that concerns, and how
//! much memory would do.

use crate::analysis::rank::Ranked;
use crate::commands::report::text::HOT;
use crate::format::numbers::grouped;
use crate::format::numbers::share;
use crate::input::function::Function;
use midflight_profile::format::FunctionProfile;
use std::fmt::Write;

/// Where a smaller share of a function's paths may be missing from its sequences, nothing is said:
/// no number that matters would be another.
const NEGLIGIBLE: f64 = 0.01;
/// What a node takes in the running program, with the tables that lead to it; rather more.
const NODE: u128 = 192;
/// What the runtime takes at most by itself, and so the largest memory that is proposed.
const MOST: u128 = 1 << 30;

/// True if numbers of this function may look different with more memory.
pub fn is_short(function: &Function<'_>) -> bool {
    let Some(profile) = function.profile else { return false };
    let paths = profile.forest.total() + u128::from(profile.lost);
    let broken = u128::from(profile.restarts) * u128::from(function.k() - 1);
    share(u128::from(profile.lost) + u128::from(profile.pruned) + broken, paths) >= NEGLIGIBLE
}

/// Writes that a thread's memory was full, and what would do, if that matters.
pub fn write(text: &mut String, all: &[Ranked<'_>]) {
    let short = all.iter().filter(|ranked| is_short(ranked.function)).count();
    if short == 0 {
        return;
    }
    let profiles = || all.iter().filter_map(|ranked| ranked.function.profile);
    let nodes: u128 = profiles().map(|profile| profile.forest.len() as u128).sum();
    let singly =
        |p: &FunctionProfile| [p.restarts, p.lost, p.pruned].map(u128::from).iter().sum::<u128>();
    let without_room: u128 = profiles().map(singly).sum();
    let functions = if short == 1 { "1 function".into() } else { format!("{short} functions") };
    // Writing to a string cannot fail.
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
pub fn write_bounds(text: &mut String, function: &Function<'_>) {
    let Some(profile) = function.profile.filter(|_| is_short(function)) else { return };
    let singles = match profile.lost {
        0 => "exact".to_string(),
        lost => format!("too low by {} together", grouped(lost)),
    };
    let _ = writeln!(
        text,
        "   {HOT}the memory for sequences was full: counts of single paths are {singles}, those of m \
         paths in a row too low by at most {} + {}·(m − 1){HOT:#}",
        grouped(profile.pruned.saturating_add(profile.lost)),
        grouped(profile.restarts)
    );
}
