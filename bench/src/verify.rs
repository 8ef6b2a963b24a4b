//! `midflight-bench verify`: instrumented programs do what plain ones do, and are counted exactly.

use crate::build::{Built, build, build_with};
use crate::compare::difference;
use crate::edge_report::edge_report;
use crate::error::{Error, Result, io, read};
use crate::forest_report::forest_report;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::memory::Memory;
use crate::process::{Job, Outcome};
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::same_forests::{self, Counted};
use crate::sections::defined;
use crate::tally::Tally;
use crate::variant::{How, Oracle, Stage, Variant};
use crate::workload::{job, oracle_of, profile_of, run};
use crate::{block_oracle, context_oracle, edge_oracle, entry_oracle, replay, tables};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fs;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Check {
    /// `midflight cc` makes a program that writes the same, and a profile that can be read
    Output,
    /// Edge counts recovered from paths equal plain counters
    Edges,
    /// Sequences of paths equal those replayed from a log of all blocks
    Blocks,
    /// Calling contexts equal those that the unwinder confirms
    Contexts,
    /// Calling contexts that were counted in bursts are among all of them, with no higher counts
    Bursts,
    /// Activations by calling contexts equal those by paths of the same stage, and at the stage
    /// early those that clang's counters of the source have
    Entries,
    /// The automaton and Algorithm 4 as published count each sequence equally often
    Algorithms,
}

/// What is verified: every combination.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Levels of optimization
    pub opt: Vec<u32>,
    /// Stages of the pipeline
    pub stage: Vec<Stage>,
    /// Which checks
    pub check: Vec<Check>,
    /// Sequences of up to so many acyclic paths
    pub k: Vec<u32>,
}

/// Verifies programs, some at a time; a line is printed for each check.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn verify(layout: &Layout, programs: &[&Program], matrix: &Matrix) -> Result<Tally> {
    Tally::of_all(
        programs.par_iter().with_max_len(1).map(|program| verify_program(layout, program, matrix)),
    )
}

fn verify_program(layout: &Layout, program: &Program, matrix: &Matrix) -> Result<Tally> {
    let mut tally = Tally::default();
    for &llvm in &matrix.llvm {
        for &opt in &matrix.opt {
            let native = Variant { llvm, opt, how: How::Native };
            let native = build(layout, program, native)?;
            for &check in &matrix.check {
                for &k in &matrix.k {
                    let expected = run(layout, program, &native, size_of(check, k))?;
                    for &stage in &matrix.stage {
                        let variant = Variant { llvm, opt, how: how(check, k, stage) };
                        verify_one(layout, program, variant, check, &expected, &mut tally);
                    }
                }
            }
        }
    }
    Ok(tally)
}

/// Logs of all blocks are long; and of sequences of more than four paths there are so many that
/// Algorithm 4 as published, which drops none, needs gigabytes for them.
fn size_of(check: Check, k: u32) -> Size {
    match check {
        Check::Blocks | Check::Contexts => Size::Tiny,
        Check::Algorithms if k > 4 => Size::Tiny,
        _ => Size::Test,
    }
}

fn how(check: Check, k: u32, stage: Stage) -> How {
    match check {
        Check::Output | Check::Algorithms => How::paths(k, stage),
        Check::Edges => How::Checked { k, stage, oracle: Oracle::Edges },
        Check::Blocks => How::Checked { k, stage, oracle: Oracle::Blocks },
        Check::Bursts => How::Contexts { stage, options: &["--midflight-bursts"] },
        Check::Entries => How::Contexts { stage, options: &[] },
        Check::Contexts => How::Checked { k: 1, stage, oracle: Oracle::Contexts },
    }
}

fn verify_one(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    check: Check,
    expected: &Outcome,
    tally: &mut Tally,
) {
    let what = format!("{} {variant}", program.name);
    match checked(layout, program, variant, check, expected) {
        Ok(Verdict { summary, problem }) => {
            if problem.is_none() {
                println!("ok {what}: {summary}");
            }
            tally.check(&what, problem);
        }
        Err(error) => {
            tally.check(&what, Some(error.to_string()));
        }
    }
}

struct Verdict {
    summary: String,
    problem: Option<String>,
}

fn checked(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    check: Check,
    expected: &Outcome,
) -> Result<Verdict> {
    match check {
        Check::Algorithms => return algorithms_equal(layout, program, variant, expected),
        Check::Entries => return entries_equal(layout, program, variant, expected),
        _ => {}
    }
    let built = build(layout, program, variant)?;
    let mut job = job(layout, program, &built, size_of(check, variant.how.k()))?;
    if check == Check::Bursts {
        job = job.env("MIDFLIGHT_BURSTS", "off");
    }
    if check == Check::Blocks {
        // The log has every sequence.
        job = Memory::ample().give(job);
    }
    let outcome = job.run()?;
    let verdict = match difference(expected, &outcome) {
        Some(problem) => Verdict { summary: String::new(), problem: Some(problem) },
        None => match check {
            Check::Output | Check::Algorithms | Check::Entries => readable(layout, &built)?,
            Check::Edges => edges_exact(layout, &built)?,
            Check::Blocks => sequences_exact(layout, &built)?,
            Check::Contexts => contexts_exact(&built)?,
            Check::Bursts => bursts_within(layout, program, &built, expected)?,
        },
    };
    if verdict.problem.is_none() {
        // What failed is kept, to be looked at.
        let _ = fs::remove_dir_all(&built.folder);
    }
    Ok(verdict)
}

/// Compares the profiles of a program that was built with both algorithms.
fn algorithms_equal(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    expected: &Outcome,
) -> Result<Verdict> {
    let How::Paths { k, stage, .. } = variant.how else {
        return Ok(Verdict { summary: String::new(), problem: nothing(0) });
    };
    let mut counted = Vec::new();
    for how in [How::paths(k, stage), How::published(k, stage)] {
        match counted_by(layout, program, Variant { how, ..variant }, expected)? {
            Ok(one) => counted.push(one),
            Err(problem) => {
                let problem = Some(format!("{}: {problem}", Variant { how, ..variant }));
                return Ok(Verdict { summary: String::new(), problem });
            }
        }
    }
    let [ours, published] = counted.as_slice() else {
        return Ok(Verdict { summary: String::new(), problem: nothing(0) });
    };
    let result = same_forests::compare(ours, published);
    let (functions, sequences) = (result.functions, result.sequences);
    Ok(Verdict {
        summary: format!("{functions} functions, {sequences} sequences: the same as published"),
        problem: first_of(&result.wrong, "functions").or_else(|| nothing(sequences)),
    })
}

/// What a program counts, or what it does otherwise than the plain one.
fn counted_by(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    expected: &Outcome,
) -> Result<std::result::Result<Counted, String>> {
    match run_in_one_place(layout, program, variant, &[], expected)? {
        Ok(built) => Counted::read(&built.executable, &profile_of(&built)).map(Ok),
        Err(problem) => Ok(Err(problem)),
    }
}

/// Builds a program with more flags and runs it, or tells what it does otherwise than the plain
/// one. It runs in the same place whatever the variant: a program may look at its own path.
fn run_in_one_place(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    flags: &[String],
    expected: &Outcome,
) -> Result<std::result::Result<Built, String>> {
    let built = build_with(layout, program, variant, flags)?;
    let folder = layout.work().join(program.name).join("one-place");
    let _ = fs::remove_dir_all(&folder);
    fs::rename(&built.folder, &folder).map_err(io("renaming", &built.folder))?;
    let built = Built { executable: folder.join(program.name), folder };
    let job = job(layout, program, &built, size_of(Check::Algorithms, variant.how.k()))?;
    let outcome = Memory::ample().give(job).run()?;
    Ok(difference(expected, &outcome).map_or(Ok(built), Err))
}

/// What keeps code that a library has as well out of C++ programs: of functions that the library
/// instantiates there are copies for inlining alone, and what these call is counted where a build
/// happens to inline them.
const NO_COPIES: &str = "-fno-inline";

/// What has clang count functions of the system's headers too, and keep counters where they are:
/// it moves them out of loops, and loses what was counted in one that the process ends in.
const COUNTED: [&str; 4] =
    ["-mllvm", "-system-headers-coverage", "-mllvm", "-do-counter-promotion=false"];

/// Compares the calling contexts of a program with its paths, and with clang's counters.
fn entries_equal(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    expected: &Outcome,
) -> Result<Verdict> {
    let failed = |problem| Verdict { summary: String::new(), problem: Some(problem) };
    let How::Contexts { stage, .. } = variant.how else { return Ok(failed("no contexts".into())) };
    let mut flags: Vec<String> = Vec::new();
    let is_cpp = program.sources.iter().any(|source| source.ends_with(".cpp"));
    if is_cpp && stage == Stage::Early {
        flags.push(NO_COPIES.to_string());
    }
    let run = |how, flags: &[String]| {
        let variant = Variant { how, ..variant };
        let ran = run_in_one_place(layout, program, variant, flags, expected)?;
        Ok::<_, Error>(ran.map_err(|problem| format!("{variant}: {problem}")))
    };

    let built = match run(variant.how, &flags)? {
        Ok(built) => built,
        Err(problem) => return Ok(failed(problem)),
    };
    let profile = read_profile(&profile_of(&built))?;
    let ours = entry_oracle::of_contexts(&tables::context_tables(&built.executable)?, &profile)?;
    let elsewhere = profile.contexts.map_or(0, |contexts| contexts.elsewhere);
    if elsewhere != 0 {
        return Ok(failed(format!("{elsewhere} activations have no context")));
    }

    let built = match run(How::paths(1, stage), &flags)? {
        Ok(built) => built,
        Err(problem) => return Ok(failed(problem)),
    };
    let profile = read_profile(&profile_of(&built))?;
    let paths = entry_oracle::of_paths(&tables::tables(&built.executable)?, &profile)?;
    let paths = entry_oracle::compare(&ours, &paths);
    let problem = first_of(&paths.wrong, "functions")
        .or_else(|| first_of(&named(&paths.only_ours), "functions without paths"))
        .or_else(|| first_of(&named(&paths.only_theirs), "functions without contexts"))
        .or_else(|| nothing(paths.functions));
    let (functions, activations) = (paths.functions, paths.activations);
    let summary = format!("{functions} functions, {activations} activations: the same as by paths");
    if stage != Stage::Early || problem.is_some() {
        return Ok(Verdict { summary, problem });
    }

    flags.extend(COUNTED.map(String::from));
    let built = match run(How::SourceCounters, &flags)? {
        Ok(built) => built,
        Err(problem) => return Ok(failed(problem)),
    };
    let text = Job::new(tool("llvm-profdata", variant.llvm)?)
        .args(["merge", "--text", "-o", "-"])
        .arg(built.folder.join("run.profraw"))
        .expect_success()?
        .stdout;
    let mut clang = entry_oracle::of_clang(&String::from_utf8_lossy(&text))
        .map(|clang| entry_oracle::compare(&ours, &clang))?;
    let symbols = defined(&built.executable)?;
    let uncounted = clang.only_ours.len();
    clang.only_ours.retain(|name| !entry_oracle::may_be_uncounted(name));
    clang.only_theirs.retain(|name| !entry_oracle::is_copy(name, &symbols));
    let of_clang = clang.functions;
    Ok(Verdict {
        summary: format!(
            "{summary}; {of_clang} functions: the same as by clang, which does not count {uncounted}"
        ),
        problem: first_of(&clang.wrong, "functions by clang's counters")
            .or_else(|| first_of(&named(&clang.only_ours), "functions that clang does not count"))
            .or_else(|| first_of(&named(&clang.only_theirs), "functions that only clang counts"))
            .or_else(|| nothing(of_clang)),
    })
}

fn named(names: &[entry_oracle::Name]) -> Vec<String> {
    names.iter().map(entry_oracle::told).collect()
}

fn readable(layout: &Layout, built: &Built) -> Result<Verdict> {
    let report = edge_report(layout, &built.executable, &profile_of(built))?;
    let ran = report.functions.iter().filter(|function| function.entries > 0).count();
    let problem = (ran == 0).then(|| "its profile names no function that ran".to_string());
    Ok(Verdict { summary: format!("same output; {ran} functions ran"), problem })
}

fn edges_exact(layout: &Layout, built: &Built) -> Result<Verdict> {
    let report = edge_report(layout, &built.executable, &profile_of(built))?;
    let plain = String::from_utf8(read(&oracle_of(built))?).map_err(|_| Error::Malformed {
        what: "what the edge oracle wrote".to_string(),
        problem: "it is not text".to_string(),
    })?;
    let result = edge_oracle::compare(&report, &edge_oracle::parse_plain(&plain)?)?;
    Ok(Verdict {
        summary: format!(
            "{} functions, {} edges: {} exact, {} explained by {} interrupted paths",
            result.functions, result.edges, result.exact, result.explained, result.interrupted
        ),
        problem: first_of(&result.wrong, "edges").or_else(|| nothing(result.edges)),
    })
}

fn sequences_exact(layout: &Layout, built: &Built) -> Result<Verdict> {
    let report = forest_report(layout, &built.executable, &profile_of(built))?;
    let log = replay::parse_log(&read(&oracle_of(built))?)?;
    let result = block_oracle::compare(&tables::tables(&built.executable)?, &report, log)?;
    Ok(Verdict {
        summary: format!(
            "{} functions, {} logged blocks, {} sequences of up to {} paths, {} explained",
            result.functions, result.blocks, result.sequences, report.k, result.explained
        ),
        problem: first_of(&result.wrong, "sequences").or_else(|| nothing(result.sequences)),
    })
}

fn contexts_exact(built: &Built) -> Result<Verdict> {
    let text = String::from_utf8(read(&oracle_of(built))?).map_err(|_| Error::Malformed {
        what: "what the context oracle wrote".to_string(),
        problem: "it is not text".to_string(),
    })?;
    let oracle = context_oracle::parse(&text)?;
    let profile = read_profile(&profile_of(built))?;
    let ours = profile.contexts.as_ref().map(context_oracle::tree_of).unwrap_or_default();
    let tables = tables::context_tables(&built.executable)?;
    let names: HashMap<u64, String> = tables.into_iter().map(|t| (t.key, t.name)).collect();
    let name = |key: u64| names.get(&key).cloned().unwrap_or_else(|| format!("{key:016x}"));
    let result = context_oracle::compare(&ours, &oracle, name);
    let elsewhere = profile.contexts.map_or(0, |contexts| contexts.elsewhere);
    let lost = || (elsewhere != 0).then(|| format!("{elsewhere} activations have no context"));
    Ok(Verdict {
        summary: format!(
            "{} contexts, {} activations: the same as the unwinder's",
            result.contexts, result.activations
        ),
        problem: first_of(&result.wrong, "contexts")
            .or_else(lost)
            .or_else(|| nothing(result.contexts)),
    })
}

/// How often there are bursts, and how long they are: few and long, many and short, and so that
/// most of the time goes by in what begins and ends them.
const BURSTS: [&str; 4] = ["5ms:1ms", "300us:100us", "150us:10us", "40us:30us"];

/// Compares what was counted in bursts with all, which the profile has that is there.
fn bursts_within(
    layout: &Layout,
    program: &Program,
    built: &Built,
    expected: &Outcome,
) -> Result<Verdict> {
    let none = || Error::Malformed {
        what: "a profile of calling contexts".to_string(),
        problem: "it has none".to_string(),
    };
    let all = read_profile(&profile_of(built))?.contexts.ok_or_else(none)?;
    let all = context_oracle::tree_of(&all);
    let total: u64 = all.values().sum();
    let (mut wrong, mut shares) = (Vec::new(), Vec::new());
    for bursts in BURSTS {
        let job = job(layout, program, built, size_of(Check::Bursts, 1))?;
        let outcome = job.env("MIDFLIGHT_BURSTS", bursts).run()?;
        if let Some(problem) = difference(expected, &outcome) {
            return Ok(Verdict { summary: String::new(), problem: Some(problem) });
        }
        let found = read_profile(&profile_of(built))?.contexts.ok_or_else(none)?;
        let found = context_oracle::tree_of(&found);
        for (context, count) in &found {
            let most = all.get(context).copied().unwrap_or(0);
            if *count > most {
                wrong.push(format!("{bursts}: {context:x?}: {count} of {most}"));
            }
        }
        let seen: u64 = found.values().sum();
        shares.push(format!("{:.0} %", 100.0 * seen as f64 / total.max(1) as f64));
    }
    Ok(Verdict {
        summary: format!(
            "{} contexts, {total} activations, of which bursts saw {}",
            all.len(),
            shares.join(", ")
        ),
        problem: first_of(&wrong, "contexts").or_else(|| nothing(all.len())),
    })
}

fn nothing(count: usize) -> Option<String> {
    (count == 0).then(|| "there was nothing to compare".to_string())
}

fn first_of(wrong: &[String], what: &str) -> Option<String> {
    let shown: Vec<&str> = wrong.iter().take(5).map(String::as_str).collect();
    (!wrong.is_empty()).then(|| format!("{} {what} differ:\n  {}", wrong.len(), shown.join("\n  ")))
}
