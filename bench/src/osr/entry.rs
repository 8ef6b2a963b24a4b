//! `midflight-bench osr cost --what entry`: how fast code is that was entered in the middle, as
//! `osr-opt<up=entry>` makes it, beside that of a plain compiler.
//!
//! Each program does nearly all of its work in loops that are left, after a hundred rounds, for a
//! continuation that was optimized as a whole. Its points down never fire, and cost what they cost.

use crate::error::{Result, io};
use crate::layout::Layout;
use crate::osr::compile::Compile;
use crate::osr::cost::{Plan, part};
use crate::osr::log::Log;
use crate::pairs::compare;
use crate::process::Job;
use crate::table::markdown;
use std::path::{Path, PathBuf};

/// Programs, and the argument that makes them run for about a second.
const PROGRAMS: [(&str, u64); 10] = [
    ("connect4", 13),
    ("fannkuch", 10),
    ("fasta", 8_000_000),
    ("fasta-redux", 16_000_000),
    ("lu", 4_000),
    ("mandelbrot", 4_000),
    ("n-body", 10_000_000),
    ("reverse-complement", 40_000_000),
    ("spectral-norm", 2_500),
    ("suffix-sort", 8_000_000),
];

/// The plugin's options.
const OPTIONS: &str = "osr-opt;up=entry:count:100;down=never;stage=inlined;passes=default<O3>";

/// Measures them; a table.
///
/// # Errors
/// If a program cannot be built or run.
pub fn entry(layout: &Layout, plan: &Plan) -> Result<String> {
    let folder = layout.work().join("osr-entry");
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let mut rows = Vec::new();
    for (program, argument) in PROGRAMS {
        eprintln!("measuring {program}");
        let argument = part(argument, plan.work).to_string();
        let build = |name: &str, points: Option<&str>| -> Result<PathBuf> {
            let source = layout.corpus().join("shootout").join(format!("{program}.c"));
            let (executable, flags) = (folder.join(name), ["-w", "-lm"].map(str::to_string));
            let points = points.map(str::to_string);
            let compile = Compile { llvm: plan.llvm, opt: 3, points, flags: flags.to_vec() };
            compile.run(layout, &[source], &executable)?;
            Ok(executable)
        };
        let job = |executable: &Path| Job::new(executable).arg(&argument).limit(600);
        let (native, entered) = (build("native", None)?, build("entered", Some(OPTIONS))?);
        let expected = job(&native).run()?;
        let log = folder.join("osr.json");
        let _ = std::fs::remove_file(&log);
        job(&entered).env("MIDFLIGHT_OSR_LOG", &log).expect_success()?;
        let moves = Log::read(&log)?.transitions();
        let control = compare(&job(&native), &job(&native), &expected, plan.pairs)?;
        let ratio = compare(&job(&native), &job(&entered), &expected, plan.pairs)?;
        // How fast it is: the inverse of how long it takes.
        let speed = |time: f64| format!("{:.3}", 1.0 / time);
        let cell = |ratio: Option<crate::pairs::Ratio>| {
            ratio.map_or("–".to_string(), |r| {
                format!("{} ({})", speed(r.median), speed(r.fastest))
            })
        };
        let seconds = format!("{:.2}", expected.cpu.as_secs_f64());
        rows.push(vec![
            program.to_string(),
            seconds,
            moves.to_string(),
            cell(control),
            cell(ratio),
        ]);
    }
    let header = ["program", "native s", "transitions", "control", "entered"];
    Ok(format!(
        "Speed of programs whose loops are entered by `{OPTIONS}`, LLVM {}, -O3, over that of \
         plain -O3; median of {} interleaved pairs, and in parentheses that of the fastest runs. \
         The control is plain -O3 against itself.\n\n{}",
        plan.llvm,
        plan.pairs,
        markdown(&header, &rows),
    ))
}
