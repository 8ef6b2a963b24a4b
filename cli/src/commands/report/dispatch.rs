//! Branches that go many ways, a line or two each.

use crate::analysis::behaviour::dispatch::{Dispatch, Target};
use crate::commands::report::text::DIM;
use crate::format::known;
use crate::format::numbers::{Percent, grouped, plural, share};
use std::fmt::Write;

/// Branches that are shown, at most.
const BRANCHES: usize = 3;

/// Writes branches.
pub fn write(text: &mut String, dispatches: &[Dispatch]) {
    for dispatch in dispatches.iter().take(BRANCHES) {
        write_one(text, dispatch);
    }
    let more = dispatches.len().saturating_sub(BRANCHES);
    if more > 0 {
        let _ = writeln!(text, "   {DIM}{more} colder dispatch{}{DIM:#}", plural(more));
    }
}

fn write_one(text: &mut String, dispatch: &Dispatch) {
    let place = |line: u32, block: u32| match line {
        0 => format!("block {block}"),
        line => format!("line {line}"),
    };
    let target = |target: &Target| {
        let share = Percent::share(share(target.count, dispatch.count));
        format!("{} {share}", place(target.line, target.block))
    };
    let most: Vec<String> = dispatch.most.iter().map(target).collect();
    let foretold = dispatch.foretold.map_or(String::new(), |share| {
        format!("; the last way foretells the next in {}", known::percent(share))
    });
    let _ = writeln!(
        text,
        "   Dispatch at {}: {}×, to {} of {} places: {}{foretold}",
        place(dispatch.line, dispatch.block),
        grouped(dispatch.count),
        dispatch.taken,
        dispatch.targets,
        most.join(", ")
    );
    let known = dispatch.pairs.iter().filter(|pair| !pair.lines.contains(&0));
    let pairs: Vec<String> = known
        .map(|pair| {
            let [first, second] = pair.lines;
            format!("{first} → {second} {}", known::percent(pair.share))
        })
        .collect();
    if !pairs.is_empty() {
        let _ = writeln!(text, "        {DIM}most often followed: {}{DIM:#}", pairs.join(", "));
    }
}
