//! `midflight-bench compile-time`: what instrumentation adds to the time that compiling takes.
//!
//! Each source file of a program is compiled to an object, one at a time; what counts is user and
//! system time. In each round all variants compile in turn. Times are over those of
//! `-fprofile-generate` in the same round, and medians of the rounds stand in the table. Paths have
//! lines, which `midflight cc` has clang keep track of: so `-fprofile-generate` with it is a
//! column too.

use crate::build::{flags, sources};
use crate::error::{Result, io};
use crate::layout::Layout;
use crate::measure::{geometric_mean, median, ratio};
use crate::program::Program;
use crate::table::markdown;
use crate::variant::{How, Stage, Toolchain, Variant};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Stages of the pipeline
    pub stages: Vec<Stage>,
    /// Values of k
    pub k: Vec<u32>,
    /// Rounds of compiling
    pub rounds: usize,
}

/// A column of the table.
struct Column {
    name: String,
    how: How,
    flags: Vec<String>,
}

/// Seconds that the reference took, and of each column the time over it.
struct Row {
    program: &'static str,
    seconds: f64,
    ratios: Vec<Option<f64>>,
}

/// Measures programs and returns the table, in Markdown.
///
/// # Errors
/// If a program does not compile.
pub fn compile_time(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let columns = columns(plan);
    let mut rows = Vec::new();
    for program in programs {
        rows.push(measure(layout, program, plan, &columns)?);
        eprintln!("measured {}", program.name);
    }
    Ok(report(plan, &columns, &rows))
}

/// The reference, which comes first, and what is compared with it.
fn columns(plan: &Plan) -> Vec<Column> {
    let column = |name: &str, how, flags: &[&str]| Column {
        name: name.to_string(),
        how,
        flags: flags.iter().map(|flag| flag.to_string()).collect(),
    };
    let mut columns = vec![
        column("-fprofile-generate", How::IrCounters, &[]),
        column("native", How::Native, &[]),
        column("-fprofile-generate, lines", How::IrCounters, &["-gline-tables-only"]),
    ];
    for &stage in &plan.stages {
        for &k in &plan.k {
            columns.push(column(&format!("{stage}, k={k}"), How::paths(k, stage), &[]));
        }
    }
    columns
}

fn measure(layout: &Layout, program: &Program, plan: &Plan, columns: &[Column]) -> Result<Row> {
    let folder = layout.work().join(program.name).join("compile-time");
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let object = folder.join("object.o");
    let (sources, flags) = (sources(layout, program)?, flags(layout, program));
    let seconds = |column: &Column| -> Result<f64> {
        let variant = Variant { llvm: plan.llvm, opt: plan.opt, how: column.how };
        let toolchain = Toolchain::find(layout, variant)?.with_flags(&column.flags);
        let mut sum = 0.0;
        for source in &sources {
            let job = toolchain.compile(&flags, source, &object);
            sum += job.expect_success()?.cpu.as_secs_f64();
        }
        Ok(sum)
    };
    let mut references = Vec::new();
    let mut ratios = vec![Vec::new(); columns.len()];
    for _ in 0..plan.rounds {
        let reference = seconds(&columns[0])?;
        references.push(reference);
        ratios[0].push(1.0);
        for (column, ratios) in columns.iter().zip(&mut ratios).skip(1) {
            ratios.push(seconds(column)? / reference);
        }
    }
    Ok(Row {
        program: program.name,
        seconds: median(&mut references).unwrap_or(0.0),
        ratios: ratios.iter_mut().map(|ratios| median(ratios)).collect(),
    })
}

fn report(plan: &Plan, columns: &[Column], rows: &[Row]) -> String {
    let compared = || columns.iter().enumerate().skip(1);
    let header: Vec<&str> = ["program", "-fprofile-generate s"]
        .into_iter()
        .chain(compared().map(|(_, column)| column.name.as_str()))
        .collect();
    let cells = |row: &Row| {
        let names = [row.program.to_string(), format!("{:.2}", row.seconds)];
        names.into_iter().chain(compared().map(|(index, _)| ratio(row.ratios[index]))).collect()
    };
    let mut table: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let mean = |index: usize| ratio(geometric_mean(rows.iter().filter_map(|r| r.ratios[index])));
    let names = ["geometric mean".to_string(), String::new()];
    table.push(names.into_iter().chain(compared().map(|(index, _)| mean(index))).collect());
    format!(
        "LLVM {}, -O{}; medians of {} rounds; time of compiling over that with \
         -fprofile-generate:\n\n{}",
        plan.llvm,
        plan.opt,
        plan.rounds,
        markdown(&header, &table)
    )
}
