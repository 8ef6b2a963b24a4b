//! How long it takes to map: beside the passes themselves, and for the largest functions.

use crate::error::{Error, Result};
use crate::hot::functions::FUNCTIONS;
use crate::hot::made;
use crate::layout::Layout;
use crate::measure::median;
use crate::osr::maps::mapping::{THESIS, opt};
use crate::osr::maps::modules::{WHOLE, folder, whole};
use crate::process::Job;
use crate::table::markdown;
use std::path::{Path, PathBuf};

/// Four passes of the thesis.
const FOUR: &str = "adce,sccp,loop-simplify,lcssa,loop-mssa(licm),sink";

/// What is measured on whole programs.
const PIPELINES: [&str; 6] =
    ["adce", "sccp", "loop-simplify,lcssa,loop-mssa(licm)", "sink", FOUR, THESIS];

/// Measures, and reports in Markdown.
///
/// # Errors
/// If something cannot be made, or `opt` fails.
pub fn time(layout: &Layout, llvm: u32, rounds: usize) -> Result<String> {
    let json = folder(layout, llvm)?.join("time.json");
    let mut rows = Vec::new();
    for program in WHOLE {
        let module = whole(layout, program, llvm)?;
        for pipeline in PIPELINES {
            eprintln!("measuring {pipeline} on {program}");
            rows.push(beside_passes(layout, llvm, program, &module, pipeline, &json, rounds)?);
        }
    }
    let header = [
        "program, passes",
        "passes s",
        "mapping s",
        "`osr-opt` s",
        "mapping over passes",
        "`osr-opt` over passes",
    ];
    let functions = ["function", "mapping s", "passes s"];
    Ok(format!(
        "### Time, LLVM {llvm}\n\n\
         CPU seconds of `opt` on whole programs, without those for reading and mem2reg: of the passes,\n\
         of `print<osr-map>` (mappings at all points, by each variant, in both directions, with their\n\
         report) and of `osr-opt` (mappings and continuations at its own points). Medians over\n\
         interleaved rounds, of which there were {rounds}.\n\n{}\n\
         Single functions, the thesis's passes:\n\n{}",
        markdown(&header, &rows),
        markdown(&functions, &largest(layout, llvm, &json, rounds)?),
    ))
}

fn beside_passes(
    layout: &Layout,
    llvm: u32,
    program: &str,
    module: &Path,
    pipeline: &str,
    json: &Path,
    rounds: usize,
) -> Result<Vec<String>> {
    let job = |passes: &str| opt(layout, llvm, passes, module);
    let jobs = [
        job("function(mem2reg)")?,
        job(&format!("function(mem2reg),function({pipeline})"))?,
        job(&format!("function(mem2reg),print<osr-map;file={}>({pipeline})", json.display()))?,
        job(&format!("function(mem2reg),osr-opt({pipeline})"))?,
    ];
    let [passes, mapping, osr_opt] = over_first(&jobs, rounds)?;
    let seconds = [passes, mapping, osr_opt].map(|s| format!("{s:.2}"));
    let ratios = [mapping, osr_opt].map(|s| format!("{:.1}", s / passes));
    Ok([[format!("{program}, `{pipeline}`")].as_slice(), &seconds, &ratios].concat())
}

/// CPU time of all jobs but the first over that of the first, in seconds.
fn over_first<const N: usize>(jobs: &[Job], rounds: usize) -> Result<[f64; N]> {
    let mut differences = vec![Vec::new(); N];
    for _ in 0..rounds.max(1) {
        let mut first = None;
        for (index, job) in jobs.iter().enumerate() {
            let seconds = job.expect_success()?.cpu.as_secs_f64();
            match first {
                None => first = Some(seconds),
                Some(first) => differences[index - 1].push(seconds - first),
            }
        }
    }
    Ok(std::array::from_fn(|index| median(&mut differences[index]).unwrap_or(0.0)))
}

/// The largest functions: those that the module has in all, or one of a whole program.
fn largest(layout: &Layout, llvm: u32, json: &Path, rounds: usize) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for name in ["perlbench", "h264ref"] {
        let hot = FUNCTIONS.iter().find(|hot| hot.name == name);
        let hot = hot.ok_or_else(|| Error::Missing {
            what: format!("there is no hot function '{name}'"),
            remedy: "adapt bench/src/osr/maps/time.rs to them".to_string(),
        })?;
        if let Some(output) = made(layout, hot, llvm)? {
            let module = output.with_extension("bc");
            rows.push(single(layout, llvm, hot.symbol, &module, json, rounds)?);
        }
    }
    let name = "sqlite3VdbeExec";
    let module = extracted(layout, llvm, "sqlite", name)?;
    rows.push(single(layout, llvm, name, &module, json, rounds)?);
    Ok(rows)
}

fn single(
    layout: &Layout,
    llvm: u32,
    name: &str,
    module: &Path,
    json: &Path,
    rounds: usize,
) -> Result<Vec<String>> {
    eprintln!("measuring {name}");
    let job = |passes: &str| opt(layout, llvm, passes, module);
    let jobs = [
        job("function(mem2reg)")?,
        job(&format!("function(mem2reg),print<osr-map;file={}>({THESIS})", json.display()))?,
        job(&format!("function(mem2reg),function({THESIS})"))?,
    ];
    let [mapping, passes] = over_first(&jobs, rounds)?;
    Ok(vec![format!("`{name}`"), format!("{mapping:.2}"), format!("{passes:.2}")])
}

/// One function of a whole program, as a module.
fn extracted(layout: &Layout, llvm: u32, program: &str, function: &str) -> Result<PathBuf> {
    let from = whole(layout, program, llvm)?.with_extension("bc");
    let to = from.with_file_name(format!("{function}.bc"));
    let extract = Job::new(crate::llvm::tool("llvm-extract", llvm)?);
    extract.arg(format!("--func={function}")).arg(from).arg("-o").arg(&to).expect_success()?;
    Ok(to)
}
