//! `midflight-bench osr deopt`: programs whose calls all have frames do what they do without.
//!
//! A front end for tests gives each call a frame of a copy of the function itself. The program, one
//! module, is optimized with its frames, so that calls are inlined into others and their frames
//! come together, and is lowered then with points that fire in several ways. A mutant, which
//! exchanges two values of each transition, must be noticed.

use crate::build::{Built, flags, run_all, sources};
use crate::error::{Result, io};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::osr::log::Log;
use crate::process::{Job, Outcome};
use crate::program::{Program, Size};
use crate::tally::Tally;
use crate::variant::{How, Variant};
use crate::workload::{job, run};
use std::path::{Path, PathBuf};

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// When points fire: conditions of `osr-deopt<when=…>`
    pub when: Vec<String>,
    /// Which work
    pub size: Size,
}

/// Tries programs one after the other; a line is printed for each build.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn deopt(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut is_caught = false;
    for &llvm in &plan.llvm {
        for program in programs {
            let expected = without_frames(layout, program, llvm, plan.size)?;
            let folder = layout.work().join(program.name).join(format!("llvm{llvm}-deopt"));
            std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
            let framed = with_frames(layout, program, llvm, &folder)?;
            for when in &plan.when {
                let what = format!("{} llvm{llvm} when={when}", program.name);
                let options = format!("when={when};verify");
                let built = lower(layout, program, llvm, &framed, &options)?;
                let (outcome, transitions) = run_logged(layout, program, &built, plan.size)?;
                let problem = problem(&expected, &outcome)
                    .or_else(|| (transitions == 0).then(|| "no point has fired".to_string()));
                if problem.is_none() {
                    println!("ok {what}: {transitions} transitions");
                }
                tally.check(&what, problem);
            }
            if !is_caught {
                let built = lower(layout, program, llvm, &framed, "when=always;debug-swap")?;
                let (outcome, _) = run_logged(layout, program, &built, plan.size)?;
                is_caught = problem(&expected, &outcome).is_some();
            }
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
    tally.check("mutant swap", (!is_caught).then(|| "it is not caught".to_string()));
    Ok(tally)
}

fn without_frames(layout: &Layout, program: &Program, llvm: u32, size: Size) -> Result<Outcome> {
    let native = crate::build::build(layout, program, Variant { llvm, opt: 2, how: How::Native })?;
    run(layout, program, &native, size)
}

/// The program as one module, optimized with its frames.
fn with_frames(layout: &Layout, program: &Program, llvm: u32, folder: &Path) -> Result<PathBuf> {
    let (mut modules, mut jobs) = (Vec::new(), Vec::new());
    for (number, source) in sources(layout, program)?.iter().enumerate() {
        let module = folder.join(format!("{number}.bc"));
        let clang = Job::new(tool("clang", llvm)?)
            .args(["-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c"])
            .args(flags(layout, program));
        jobs.push(clang.arg(source).arg("-o").arg(&module));
        modules.push(module);
    }
    run_all(&jobs)?;
    let (linked, framed) = (folder.join("linked.bc"), folder.join("framed.bc"));
    Job::new(tool("llvm-link", llvm)?).args(&modules).arg("-o").arg(&linked).expect_success()?;
    opt(layout, llvm)?
        .arg(
            "-passes=internalize,function(sroa),debug-deopt-frames,osr-deopt<prepare>,\
             default<O2>",
        )
        .args(["-internalize-public-api-list=main", "-inline-threshold=1000"])
        .arg(&linked)
        .arg("-o")
        .arg(&framed)
        .expect_success()?;
    Ok(framed)
}

fn opt(layout: &Layout, llvm: u32) -> Result<Job> {
    Ok(Job::new(tool("opt", llvm)?).arg("-load-pass-plugin").arg(layout.plugin(llvm)?).limit(900))
}

fn lower(
    layout: &Layout,
    program: &Program,
    llvm: u32,
    framed: &Path,
    options: &str,
) -> Result<Built> {
    let folder = framed.parent().unwrap_or(Path::new(".")).to_path_buf();
    let (lowered, executable) = (folder.join("lowered.bc"), folder.join(program.name));
    opt(layout, llvm)?
        .arg(format!("-passes=osr-deopt<{options}>,verify"))
        .arg(framed)
        .arg("-o")
        .arg(&lowered)
        .expect_success()?;
    Job::new(tool("clang", llvm)?)
        .arg("-O1")
        .arg(&lowered)
        .args(["-Wno-override-module", "-Wl,--undefined=midflight_image"])
        .arg(layout.runtime()?)
        .args(program.link)
        .args(["-lm", "-o"])
        .arg(&executable)
        .limit(900)
        .expect_success()?;
    Ok(Built { executable, folder })
}

fn run_logged(
    layout: &Layout,
    program: &Program,
    built: &Built,
    size: Size,
) -> Result<(Outcome, u64)> {
    let log = built.folder.join("osr.json");
    let outcome = job(layout, program, built, size)?.env("MIDFLIGHT_OSR_LOG", &log).run()?;
    let transitions = if log.is_file() { Log::read(&log)?.transitions() } else { 0 };
    let _ = std::fs::remove_file(&log);
    Ok((outcome, transitions))
}

fn problem(expected: &Outcome, outcome: &Outcome) -> Option<String> {
    if outcome.end != expected.end {
        return Some(format!("it ends with {}, and with {} without", outcome.end, expected.end));
    }
    (outcome.stdout != expected.stdout).then(|| "it prints something else".to_string())
}
