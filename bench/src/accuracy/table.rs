//! The table of the figures that matter most.

use super::row::{LengthRow, Row};
use super::told::Summary;
use crate::percent::{bytes, percent, share};
use crate::table::markdown;

/// Lengths that are shown, and the longest of a run.
const LENGTHS: [usize; 4] = [2, 4, 8, 16];

/// All rows, in Markdown.
pub fn table(rows: &[Row]) -> String {
    let header = [
        "program",
        "k",
        "memory",
        "work",
        "bytes",
        "counters",
        "states",
        "length",
        "weight",
        "least of a function",
        "100: error",
        "largest",
        "missing",
        "bound",
        "largest",
        "1000: error",
        "largest",
        "missing",
        "bound",
        "largest",
        "too high",
        "beyond bound",
    ];
    let shown = |row: &Row| {
        let lengths = row.lengths.iter().filter(|length| LENGTHS.contains(&length.length));
        lengths.map(|length| cells(row, length)).collect::<Vec<_>>()
    };
    markdown(&header, &rows.iter().flat_map(shown).collect::<Vec<_>>())
}

fn cells(row: &Row, length: &LengthRow) -> Vec<String> {
    let mut cells = vec![
        row.program.clone(),
        row.k.to_string(),
        row.memory.clone(),
        row.work.clone(),
        bytes(row.bytes),
        row.extent.counters.to_string(),
        row.extent.states.to_string(),
        length.length.to_string(),
        share(length.share()),
        share(length.smallest_share),
    ];
    for Summary { mean_error, largest_error, missing, median_bound, largest_bound, .. } in
        [&length.hottest_100, &length.hottest_1000]
    {
        cells.extend([percent(*mean_error), percent(*largest_error), missing.to_string()]);
        cells.extend([percent(*median_bound), percent(*largest_bound)]);
    }
    cells.extend([length.too_high.to_string(), length.beyond_bound.to_string()]);
    cells
}
