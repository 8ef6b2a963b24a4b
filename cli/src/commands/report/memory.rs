//! Where memory was short: for how much of what was counted, and how much memory would do.

use crate::commands::report::text::HOT;
use crate::document::{Document, Shortage};
use crate::format::numbers::{Percent, grouped, plural};
use std::fmt::Write;

/// What a window takes in the running program, with the table that leads to it, rather more.
const WINDOW: u128 = 160;
/// What the runtime takes at most by itself, and so the largest memory that is proposed.
const MOST: u128 = 1 << 30;

/// Writes one line on what is not known, and what would do; nothing where all is.
pub fn write(text: &mut String, document: &Document<'_>) {
    let Shortage { functions, paths, truncated, lost, restarts, began_within, .. } =
        document.shortage;
    if functions == 0 {
        return;
    }
    let parts = [
        (truncated, "are counted with fewer paths before them than k tells"),
        (restarts, "have broken a sequence off"),
        (lost, "are not counted at all"),
    ];
    let part = |(number, what): (u128, &str)| {
        (number > 0).then(|| format!("{} ({}) {what}", grouped(number), Percent::of(number, paths)))
    };
    let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
    let full = match document.memory {
        Some(memory) => format!("memory was full ({} for a thread)", size(memory.limit.into())),
        None => "memory was full".into(),
    };
    let why = match began_within {
        true => format!("{full}, or counting began within activations"),
        false => full,
    };
    let _ = writeln!(
        text,
        "{HOT}{why} in {functions} function{}: of {} paths {}; {}{HOT:#}",
        plural(functions),
        grouped(paths),
        parts.join(", "),
        advice(&document.shortage, document.k)
    );
}

/// Room for the windows that are there, and for a new one for each path that found none, is enough:
/// the same window may have found none again and again. Only what is used is taken.
fn advice(shortage: &Shortage, k: u32) -> String {
    // Only what comes first needs not be worth a price: that part of the memory.
    let part = if k <= 4 { 4 } else { 8 };
    let bytes = (shortage.nodes + shortage.without_room()).saturating_mul(part * WINDOW);
    if bytes > MOST {
        return "MIDFLIGHT_THREAD_MEMORY=1G may do, or a smaller k".into();
    }
    let mega = (bytes >> 20).max(1).saturating_add(1).next_power_of_two();
    format!("MIDFLIGHT_THREAD_MEMORY={} would do", size(mega << 20))
}

/// A size as the environment may say it, in the largest unit that it is a whole number of.
fn size(bytes: u128) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let whole = units.into_iter().find(|(shift, _)| bytes != 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or(bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}
