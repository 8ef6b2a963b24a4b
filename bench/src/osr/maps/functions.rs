//! The thesis's tables and figures, on the hot functions: sizes and actions (Table 5.6), feasible
//! points (Figures 5.21 and 5.22), compensation code and values to keep (Tables 5.7 and 5.8).

use crate::error::Result;
use crate::hot::functions::FUNCTIONS;
use crate::hot::made;
use crate::layout::Layout;
use crate::osr::maps::mapping::{Mapping, THESIS};
use crate::osr::maps::modules::folder;
use crate::osr::maps::share;
use crate::osr::maps::thesis::{self, ROWS, Row};
use crate::table::markdown;
use crate::tally::Tally;
use midflight_profile::osr_maps::Both;
use midflight_profile::osr_maps::report::{Function, Points, Size};

type Mapped = (&'static Row, Function);

/// Maps the hot functions that are available, and reports, in Markdown. One that
/// cannot be mapped has failed.
///
/// # Errors
/// If one cannot be made.
pub fn functions(layout: &Layout, llvm: u32, tally: &mut Tally) -> Result<String> {
    let mut all = Vec::new();
    for (hot, row) in FUNCTIONS.iter().zip(&ROWS) {
        let Some(output) = made(layout, hot, llvm)? else { continue };
        let module = output.with_extension("bc");
        let mapping = Mapping { layout, llvm, module: &module, behind: None, pipeline: THESIS };
        let json = folder(layout, llvm)?.join("function.json");
        let found = mapping.run(&json)?.and_then(|report| {
            let refused = format!("it has no mappings: {:?}", report.refused_functions);
            report.functions.into_iter().next().ok_or(refused)
        });
        tally.check(&format!("{} (LLVM {llvm})", hot.name), found.as_ref().err().cloned());
        all.extend(found.map(|function| (row, function)));
    }
    Ok(format!(
        "### Sizes and actions (Table 5.6), LLVM {llvm}\n\n{}\n\
         ### Feasible points (Figures 5.21, 5.22), LLVM {llvm}\n\n\
         Base to opt, in percent of the points:\n\n{}\n\
         Opt to base:\n\n{}\n{}\n\
         ### Compensation code and values to keep (Tables 5.7, 5.8), LLVM {llvm}\n\n\
         Base to opt, mean/max:\n\n{}\n\
         Opt to base, mean/max:\n\n{}",
        sizes(&all),
        feasible(&all, |points| &points.base_to_opt),
        feasible(&all, |points| &points.opt_to_base),
        marks(&all),
        compensation(&all, &FORTH),
        compensation(&all, &BACK),
    ))
}

fn sizes(all: &[Mapped]) -> String {
    let header = [
        "function", "π base", "π opt", "φ base", "φ opt", "added", "deleted", "hoisted", "sunk",
        "RAUW I", "RAUW C", "RAUW A",
    ];
    let line = |(row, function): &Mapped| {
        let (sizes, phis, done) = (function.instructions, function.phis, &function.actions);
        let replaced = &done.replace_all;
        let ours = [
            [sizes.base, sizes.opt, phis.base, phis.opt].to_vec(),
            vec![done.add, done.delete, done.hoist, done.sink],
            vec![replaced.instruction, replaced.constant, replaced.argument],
        ];
        let theirs = [row.instructions.as_slice(), &row.phis, &row.actions].concat();
        let cells = ours.concat().into_iter().zip(theirs);
        let cells = cells.map(|(ours, theirs)| format!("{ours} ({theirs})"));
        std::iter::once(row.name.to_string()).chain(cells).collect()
    };
    markdown(&header, &all.iter().map(line).collect::<Vec<_>>())
}

fn feasible(all: &[Mapped], direction: fn(&Both<Points>) -> &Points) -> String {
    let line = |(row, function): &Mapped| {
        let points = direction(&function.points);
        let counts = [points.empty, points.live, points.live_e, points.alias, points.avail];
        let shares = counts.map(|count| share(count, points.total));
        [[row.name.to_string(), points.total.to_string()].as_slice(), &shares].concat()
    };
    let header = ["function", "points", "empty", "live", "live-e", "alias", "avail"];
    markdown(&header, &all.iter().map(line).collect::<Vec<_>>())
}

/// How many functions are over the marks that the thesis names in 5.4.2 and 5.4.3.
fn marks(all: &[Mapped]) -> String {
    let over = |of: fn(&Function) -> (u64, u64), percent: u64| {
        let is_over = |(_, function): &&Mapped| {
            let (part, whole) = of(function);
            part * 100 > whole * percent
        };
        format!("{} of {}", all.iter().filter(is_over).count(), all.len())
    };
    let alias = |f: &Function| (f.points.base_to_opt.alias, f.points.base_to_opt.total);
    let forth = |f: &Function| (f.points.base_to_opt.avail, f.points.base_to_opt.total);
    let live = |f: &Function| (f.points.opt_to_base.live_e, f.points.opt_to_base.total);
    let back = |f: &Function| (f.points.opt_to_base.avail, f.points.opt_to_base.total);
    let rows = [
        ("base to opt, `alias`: over 60 %", over(alias, 60), "9 of 12"),
        ("base to opt, `avail`: over 99 % (\"nearly 100%\")", over(forth, 99), "12 of 12"),
        ("opt to base, `live-e`: over 50 %", over(live, 50), "9 of 12"),
        ("opt to base, `avail`: over 90 %", over(back, 90), "12 of 12"),
        ("opt to base, `avail`: over 99 % (\"nearly 100%\")", over(back, 99), "9 of 12"),
    ];
    let rows = rows.map(|(what, ours, theirs)| vec![what.into(), ours, theirs.into()]);
    markdown(&["functions", "ours", "thesis"], &rows)
}

/// A column: what we have, and what the thesis has.
struct Column {
    title: &'static str,
    ours: fn(&Function) -> Size,
    theirs: fn(&Row) -> thesis::Size,
}

const FORTH: [Column; 4] = [
    Column {
        title: "χ live-e",
        ours: |f| f.compensation.base_to_opt.live_e,
        theirs: |row| row.forth[0],
    },
    Column {
        title: "χ alias",
        ours: |f| f.compensation.base_to_opt.alias,
        theirs: |row| row.forth[1],
    },
    Column {
        title: "χ avail",
        ours: |f| f.compensation.base_to_opt.avail,
        theirs: |row| row.forth[2],
    },
    Column { title: "K avail", ours: |f| f.keep.base_to_opt, theirs: |row| row.forth[3] },
];

const BACK: [Column; 3] = [
    Column {
        title: "χ live-e",
        ours: |f| f.compensation.opt_to_base.live_e,
        theirs: |row| row.back[0],
    },
    Column {
        title: "χ avail",
        ours: |f| f.compensation.opt_to_base.avail,
        theirs: |row| row.back[1],
    },
    Column { title: "K avail", ours: |f| f.keep.opt_to_base, theirs: |row| row.back[2] },
];

fn compensation(all: &[Mapped], columns: &[Column]) -> String {
    let cell = |ours: (f64, f64), theirs: (f64, f64)| {
        format!("{:.1}/{:.0} ({:.1}/{:.0})", ours.0, ours.1, theirs.0, theirs.1)
    };
    let values = |(row, function): &Mapped, column: &Column| {
        let (ours, theirs) = ((column.ours)(function), (column.theirs)(row));
        ((ours.mean, ours.max as f64), (theirs.0, theirs.1 as f64))
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for mapped in all {
        let cells = columns.iter().map(|column| {
            let (ours, theirs) = values(mapped, column);
            cell(ours, theirs)
        });
        rows.push(std::iter::once(mapped.0.name.to_string()).chain(cells).collect());
    }
    let means = columns.iter().map(|column| {
        let of = |value: &dyn Fn(&Mapped) -> f64| {
            all.iter().map(value).sum::<f64>() / all.len().max(1) as f64
        };
        cell(
            (of(&|m| values(m, column).0.0), of(&|m| values(m, column).0.1)),
            (of(&|m| values(m, column).1.0), of(&|m| values(m, column).1.1)),
        )
    });
    rows.push(std::iter::once("mean".to_string()).chain(means).collect());
    let titles = columns.iter().map(|column| column.title);
    markdown(&std::iter::once("function").chain(titles).collect::<Vec<_>>(), &rows)
}
