//! The report as tables, after Tables 5.6 to 5.8 and Figures 5.21 and 5.22 of the thesis. Names
//! stand last, because C++ has long ones.

use crate::commands::osr::report::bar::bar;
use crate::format::names::readable;
use crate::format::numbers::{plural, rounded_down};
use midflight_profile::osr_maps::Both;
use midflight_profile::osr_maps::report::{
    Actions, Compensation, Feasible, Function, Parts, Points, Reasons, Report, Size, Unproved,
};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Of the bars.
const WIDTH: u64 = 20;

const LEGEND: &str = "\
base: the function with mem2reg alone; opt: what the passes made of it
|π|: instructions, |φ|: phis among them; RAUW: all uses of a value replaced, by an Instruction, a
Constant or an Argument
OSR is possible by: 0 empty, no compensation; L live, from live values; E live-e, also from arguments
and through phis of one value; A alias, also from values that replaced others; V avail, also from values
kept for it. Each column has the points of those before it. . is not possible. proved: possible, and all
that is passed is proved equal
|χ|: instructions of compensation code; |K|: values kept
";

/// Writes all tables.
pub fn write(out: &mut dyn Write, source: &str, report: &Report) -> io::Result<()> {
    writeln!(out, "midflight osr report of {}", readable(source))?;
    writeln!(out, "passes: {}\n", readable(&report.pipeline))?;
    write!(out, "{LEGEND}")?;
    let functions = &report.functions;
    if functions.is_empty() {
        writeln!(out, "\nno function was mapped")?;
    } else {
        write_functions(out, functions)?;
        write_shares(out, "base to opt", functions, |f| {
            (f.points.base_to_opt, f.parts.base_to_opt)
        })?;
        write_shares(out, "opt to base", functions, |f| {
            (f.points.opt_to_base, f.parts.opt_to_base)
        })?;
        write_sizes(out, "base to opt", functions, |f| {
            (f.points.base_to_opt, f.compensation.base_to_opt, f.keep.base_to_opt)
        })?;
        write_sizes(out, "opt to base", functions, |f| {
            (f.points.opt_to_base, f.compensation.opt_to_base, f.keep.opt_to_base)
        })?;
        write_refused_points(out, functions)?;
        write_unproved(out, functions)?;
    }
    write_refused_functions(out, &report.refused_functions)
}

/// Table 5.6.
fn write_functions(out: &mut dyn Write, functions: &[Function]) -> io::Result<()> {
    writeln!(out, "\nFunctions, and what the passes did")?;
    writeln!(out, "{:>15}{:>16}{:>40}{:>21}", "base", "opt", "replaced", "RAUW")?;
    let heads = ["|π|", "|φ|", "|π|", "|φ|", "add", "delete", "hoist", "sink", "operand"];
    heads.iter().try_for_each(|head| write!(out, "{head:>7} "))?;
    ["I", "C", "A"].iter().try_for_each(|head| write!(out, "{head:>6} "))?;
    writeln!(out, " function")?;
    let mut sums = [0; 12];
    for function in functions {
        let numbers = numbers(function);
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        write_numbers(out, &numbers, &readable(&function.name))?;
    }
    write_numbers(out, &sums, &sum_of(functions))?;
    write_claims(out, functions)
}

fn write_claims(out: &mut dyn Write, functions: &[Function]) -> io::Result<()> {
    let sum = |of: fn(&Function) -> u64| functions.iter().map(of).sum::<u64>();
    writeln!(
        out,
        "proved to be the same values: {} of {} moved, {} of {} replaced",
        sum(|f| f.claims.moved.proved),
        sum(|f| f.claims.moved.total),
        sum(|f| f.claims.replaced.proved),
        sum(|f| f.claims.replaced.total),
    )
}

fn numbers(function: &Function) -> [u64; 12] {
    let Function { instructions, phis, actions, .. } = function;
    let Actions { add, delete, hoist, sink, replace_operand, replace_all } = actions;
    [
        instructions.base,
        phis.base,
        instructions.opt,
        phis.opt,
        *add,
        *delete,
        *hoist,
        *sink,
        *replace_operand,
        replace_all.instruction,
        replace_all.constant,
        replace_all.argument,
    ]
}

fn write_numbers(out: &mut dyn Write, numbers: &[u64; 12], name: &str) -> io::Result<()> {
    let (first, replaced) = numbers.split_at(9);
    first.iter().try_for_each(|number| write!(out, "{number:>7} "))?;
    replaced.iter().try_for_each(|number| write!(out, "{number:>6} "))?;
    writeln!(out, " {name}")
}

fn sum_of(functions: &[Function]) -> String {
    format!("= {}", functions_of(functions.len()))
}

fn functions_of(count: usize) -> String {
    format!("{count} function{}", plural(count))
}

/// Figures 5.21 and 5.22.
fn write_shares(
    out: &mut dyn Write,
    direction: &str,
    functions: &[Function],
    of: impl Fn(&Function) -> (Points, Parts),
) -> io::Result<()> {
    writeln!(out, "\nPoints where OSR is possible, {direction} (%)")?;
    write!(out, "{:>8}", "points")?;
    for head in ["empty", "live", "live-e", "alias", "avail", "proved"] {
        write!(out, " {head:>7}")?;
    }
    writeln!(out, "  {:20}  function", "share")?;
    let (mut sum, mut of_parts) = (Points::default(), Parts::default());
    for function in functions {
        let (points, parts) = of(function);
        sum += points;
        of_parts += parts;
        write_share(out, &points, &readable(&function.name))?;
    }
    write_share(out, &sum, &sum_of(functions))?;
    let Parts { changed, headers, executed, .. } = of_parts;
    let share = |part: Feasible| rounded_down(part.avail, part.total);
    let of = |part: Feasible| format!("{} of {} ({} %)", part.avail, part.total, share(part));
    write!(
        out,
        "in chains that the passes changed {}, at heads of loops {}",
        of(changed),
        of(headers)
    )?;
    if let Some(executed) = executed {
        write!(out, ", by executions {} %", share(executed))?;
    }
    writeln!(out)
}

fn write_share(out: &mut dyn Write, points: &Points, name: &str) -> io::Result<()> {
    write!(out, "{:>8}", points.total)?;
    for count in points.by_variant().into_iter().chain([points.proved]) {
        write!(out, " {:>7}", rounded_down(count, points.total))?;
    }
    writeln!(out, "  {:20}  {name}", bar(points, WIDTH))
}

/// Tables 5.7 and 5.8, of functions that have such points. The last row has the means of the rows,
/// as there.
fn write_sizes(
    out: &mut dyn Write,
    direction: &str,
    functions: &[Function],
    of: impl Fn(&Function) -> (Points, Compensation, Size),
) -> io::Result<()> {
    writeln!(out, "\nSize of the compensation, {direction}")?;
    for head in ["|χ| live", "|χ| live-e", "|χ| alias", "|χ| avail", "|K|"] {
        write!(out, "{head:>15}")?;
    }
    writeln!(out)?;
    (0..5).try_for_each(|_| write!(out, "{:>9}{:>6}", "mean", "max"))?;
    writeln!(out, "  function")?;
    let mut sums = [(0.0, 0.0); 5];
    let mut rows = 0_usize;
    for function in functions {
        let (points, sizes, keep) = of(function);
        if points.avail == 0 {
            continue;
        }
        rows += 1;
        let sizes = [sizes.live, sizes.live_e, sizes.alias, sizes.avail, keep];
        for (size, sum) in sizes.iter().zip(&mut sums) {
            write!(out, "{:>9.2}{:>6}", size.mean, size.max)?;
            *sum = (sum.0 + size.mean, sum.1 + size.max as f64);
        }
        writeln!(out, "  {}", readable(&function.name))?;
    }
    if rows == 0 {
        return writeln!(out, "no such points");
    }
    for (means, maxima) in sums {
        write!(out, "{:>9.2}{:>6.1}", means / rows as f64, maxima / rows as f64)?;
    }
    writeln!(out, "  mean of {}", functions_of(rows))
}

fn write_refused_points(out: &mut dyn Write, functions: &[Function]) -> io::Result<()> {
    let mut sums: std::collections::BTreeMap<&str, [u64; 2]> = Default::default();
    for Both { base_to_opt, opt_to_base } in functions.iter().map(|f| &f.refused) {
        for (index, reasons) in [base_to_opt, opt_to_base].into_iter().enumerate() {
            for (reason, count) in reasons {
                sums.entry(reason).or_default()[index] += count;
            }
        }
    }
    if sums.is_empty() {
        return writeln!(out, "\nNo point is refused");
    }
    writeln!(out, "\nRefused points, and those that cannot be mapped")?;
    writeln!(out, "{:>12}{:>13}  reason", "base to opt", "opt to base")?;
    let mut rows: Vec<(&str, [u64; 2])> = sums.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0] + counts[1]));
    for (reason, [to_opt, to_base]) in rows {
        writeln!(out, "{to_opt:>12}{to_base:>13}  {}", readable(reason))?;
    }
    Ok(())
}

/// Causes of `Unmatched` that are listed; functions likewise
const MOST_CAUSES: usize = 12;

/// What could not be proved where the versions part: over all functions, and the first of each.
fn write_unproved(out: &mut dyn Write, functions: &[Function]) -> io::Result<()> {
    let lost = |unproved: &Unproved| unproved.lost.each().map(|&lost| lost);
    let mut sums: BTreeMap<[&str; 3], ([u64; 2], u64)> = BTreeMap::new();
    for unproved in functions.iter().flat_map(|function| &function.unproved) {
        let of = unproved.unlike();
        let cause = [unproved.cause.as_str(), &of.base.operation, &of.opt.operation];
        let (sum, count) = sums.entry(cause).or_default();
        sum.iter_mut().zip(lost(unproved)).for_each(|(sum, lost)| *sum += lost);
        *count += 1;
    }
    if sums.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhere the versions part: what is not proved, by the points behind it")?;
    writeln!(
        out,
        "{:>12}{:>13}{:>8}  cause: in base, in opt",
        "base to opt", "opt to base", "places"
    )?;
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(_, (sum, _))| std::cmp::Reverse(sum[0] + sum[1]));
    for ([cause, base, opt], ([to_opt, to_base], count)) in rows.iter().take(MOST_CAUSES) {
        let operations = format!("{}, {}", readable(base), readable(opt));
        writeln!(out, "{to_opt:>12}{to_base:>13}{count:>8}  {}: {operations}", readable(cause))?;
    }
    write_more(out, rows.len(), "cause")?;
    writeln!(out, "\nThe first of each function")?;
    writeln!(out, "{:>12}{:>13}  function", "base to opt", "opt to base")?;
    let all = |function: &Function| -> [u64; 2] {
        let mut sum = [0; 2];
        for unproved in &function.unproved {
            sum.iter_mut().zip(lost(unproved)).for_each(|(sum, lost)| *sum += lost);
        }
        sum
    };
    let mut rows: Vec<_> = functions.iter().map(|f| (f, all(f))).collect();
    rows.retain(|(function, _)| !function.unproved.is_empty());
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum[0] + sum[1]));
    for (function, [to_opt, to_base]) in rows.iter().take(MOST_CAUSES) {
        let first = &function.unproved[0];
        writeln!(out, "{to_opt:>12}{to_base:>13}  {}: {}", readable(&function.name), first.cause)?;
        for (version, of) in [("base", &first.at.base), ("opt", &first.at.opt)] {
            let line = if of.line == 0 { String::new() } else { format!(" line {}", of.line) };
            writeln!(out, "{:27}{version}{line}: {}", "", readable(first_line(&of.text)))?;
        }
    }
    write_more(out, rows.len(), "function")
}

/// A switch has several.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

fn write_more(out: &mut dyn Write, count: usize, what: &str) -> io::Result<()> {
    match count.saturating_sub(MOST_CAUSES) {
        0 => Ok(()),
        more => writeln!(out, "{:27}and {more} more {what}{}", "", plural(more)),
    }
}

fn write_refused_functions(out: &mut dyn Write, reasons: &Reasons) -> io::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nRefused functions\n{:>12}  reason", "functions")?;
    let mut rows: Vec<(&String, &u64)> = reasons.iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    rows.iter().try_for_each(|(reason, count)| writeln!(out, "{count:>12}  {}", readable(reason)))
}
