//! `midflight-bench contexts calls`: what a call costs whose call site leads to 1, 4 or 64
//! functions in turn, in a program, a shared library, and one that is loaded while it runs.

use crate::error::{Result, io};
use crate::layout::Layout;
use crate::pairs::{Cell, Clock};
use crate::process::Job;
use crate::table::markdown;
use crate::variant::{How, Stage, Toolchain, Variant};
use std::path::{Path, PathBuf};

/// The functions and the site that calls them, and what calls that.
const PART: &str = "bench/corpus/contexts/targets.c";
const MAIN: &str = "bench/corpus/contexts/targets-main.c";

/// Functions that are called in turn.
const TARGETS: [u32; 3] = [1, 4, 64];

/// What is told to the program; see `docs/runtime.md`.
const MODES: [(&str, &str); 2] = [("CCT", "cct"), ("HCCT", "hcct")];

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// By what they are compared
    pub clock: Clock,
}

impl Plan {
    fn calls(&self) -> u64 {
        match self.clock {
            Clock::Processor { .. } => 100_000_000,
            Clock::Simulated => 1_000_000,
        }
    }
}

/// Where the code is that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Program,
    Library,
    Loaded,
}

impl Place {
    const ALL: [(Place, &'static str); 3] = [
        (Place::Program, "program, -fno-pie"),
        (Place::Library, "shared library"),
        (Place::Loaded, "dlopened library"),
    ];

    /// Flags of both sources, and those of the program itself.
    fn flags(self) -> [&'static [&'static str]; 2] {
        match self {
            Place::Program => [&["-fno-pie"], &["-fno-pie"]],
            Place::Library => [&["-fPIC"], &[]],
            Place::Loaded => [&["-fPIC"], &["-DLOAD"]],
        }
    }
}

/// Measures, and returns the table, in Markdown.
///
/// # Errors
/// If something cannot be built or run.
pub fn measure(layout: &Layout, plan: &Plan) -> Result<String> {
    let folder = layout.work().join("contexts-calls");
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let mut rows = Vec::new();
    for (place, name) in Place::ALL {
        let native = build(layout, plan, &folder, "native", How::Native, place)?;
        let how = How::Contexts { stage: Stage::Late, options: &[] };
        let ours = build(layout, plan, &folder, "ours", how, place)?;
        for targets in TARGETS {
            eprintln!("measuring {name} with {targets}");
            let native = native.clone().args([plan.calls().to_string(), targets.to_string()]);
            let jobs = MODES.map(|(_, mode)| {
                let job = ours.clone().args([plan.calls().to_string(), targets.to_string()]);
                job.env("MIDFLIGHT_CONTEXTS", mode)
            });
            let [native, first, second] = [native, jobs[0].clone(), jobs[1].clone()].map(|job| {
                if place == Place::Loaded { job.clone().arg(library_of(&job.program)) } else { job }
            });
            let compared = plan.clock.compare(&native, &[&first, &second])?;
            let mut row = vec![name.to_string(), targets.to_string()];
            let of_call = |time: f64| format!("{:.2}", time * 1e9 / plan.calls() as f64);
            row.push(compared.first.map_or("–".to_string(), of_call));
            row.extend(compared.others.iter().map(|cell| added(compared.first, *cell, of_call)));
            rows.push(row);
        }
    }
    let unit = match plan.clock {
        Clock::Processor { rounds } => format!("ns, medians of {rounds} rounds"),
        Clock::Simulated => "cycles, as cachegrind's counts estimate them".to_string(),
    };
    let mut header = vec!["where", "targets", "native"];
    header.extend(MODES.map(|(name, _)| name));
    Ok(format!(
        "LLVM {}, -O{}, stage late; a call of a function that does nothing, and what profiling adds to it: {unit}.\n\n{}",
        plan.llvm,
        plan.opt,
        markdown(&header, &rows)
    ))
}

fn added(native: Option<f64>, cell: Cell, of_call: impl Fn(f64) -> String) -> String {
    match (native, cell) {
        (Some(native), Some([ratio, _])) => of_call((ratio - 1.0) * native),
        _ => "–".to_string(),
    }
}

/// The library beside a program.
fn library_of(program: &Path) -> PathBuf {
    program.with_file_name("libtargets.so")
}

fn build(
    layout: &Layout,
    plan: &Plan,
    folder: &Path,
    name: &str,
    how: How,
    place: Place,
) -> Result<Job> {
    let folder = folder.join(format!("{name}-{place:?}").to_lowercase());
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let toolchain = Toolchain::find(layout, Variant { llvm: plan.llvm, opt: plan.opt, how })?;
    let compile = |source: &str, flags: &[&str], object: &str| -> Result<PathBuf> {
        let object = folder.join(object);
        let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
        toolchain.compile(&flags, &layout.at(source), &object).expect_success()?;
        Ok(object)
    };
    let [flags, main_flags] = place.flags();
    let part = compile(PART, flags, "part.o")?;
    let main = compile(MAIN, main_flags, "main.o")?;
    let program = folder.join("main");
    let library = library_of(&program);
    match place {
        Place::Program => {
            toolchain.link(&[main, part], &["-no-pie"], &program).expect_success()?;
        }
        Place::Library | Place::Loaded => {
            toolchain.link(&[part], &["-shared"], &library).expect_success()?;
            let mut objects = vec![main];
            objects.extend((place == Place::Library).then(|| library.clone()));
            let flags = ["-Wl,-rpath,$ORIGIN", "-ldl"];
            toolchain.link(&objects, &flags, &program).expect_success()?;
        }
    }
    let profile = folder.join("run.mfp");
    Ok(Job::new(program).folder(&folder).env("MIDFLIGHT_PROFILE", profile))
}
