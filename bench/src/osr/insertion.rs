//! How long it takes to insert a point and to build its continuation (thesis 5.3.4, Q3).
//!
//! The times are taken by a program of its own (`bench/examples/insertion.rs`), for each function
//! of a program's optimized code.

use crate::build::{flags, sources};
use crate::error::{Error, Result, io};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::measure::median;
use crate::process::Job;
use crate::program::Program;
use crate::table::markdown;
use std::path::{Path, PathBuf};

/// Times of one function, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    instructions: f64,
    /// To clone it, and to verify the clone
    clone: f64,
    /// To build the continuation of a clone alone
    continuation: f64,
    /// To relate a clone to it, to insert a point, and to build the continuation
    all: f64,
}

/// Measures all functions of programs; the table, in Markdown.
///
/// # Errors
/// If the program that measures cannot be built, or fails.
pub fn insertion(layout: &Layout, llvm: u32, programs: &[&Program]) -> Result<String> {
    let timer = timer(layout, llvm)?;
    let folder = layout.work().join("osr-cost");
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let mut rows = Vec::new();
    for program in programs {
        eprintln!("measuring insertion: {}", program.name);
        let mut all = Vec::new();
        for source in sources(layout, program)? {
            let bitcode = folder.join("insertion.bc");
            let clang = Job::new(tool("clang", llvm)?).arg("-O2").args(flags(layout, program));
            clang
                .args(["-emit-llvm", "-c"])
                .arg(&source)
                .arg("-o")
                .arg(&bitcode)
                .expect_success()?;
            all.extend(measure(&timer, &bitcode)?);
        }
        rows.push(row(program.name, &all));
    }
    let header = [
        "program",
        "functions",
        "instructions",
        "clone, verify µs",
        "continuation µs",
        "all µs",
        "all over clone, verify",
        "median",
        "all µs/instruction",
    ];
    Ok(format!(
        "Time to insert a point, LLVM {llvm}, code at -O2, sums over all functions; \"median\" is that \
         of the ratio of each function.\n\n{}",
        markdown(&header, &rows)
    ))
}

fn row(name: &str, times: &[Times]) -> Vec<String> {
    let sum = |value: fn(&Times) -> f64| times.iter().map(value).sum::<f64>();
    let (instructions, clone, all) = (sum(|t| t.instructions), sum(|t| t.clone), sum(|t| t.all));
    let mut ratios: Vec<f64> = times.iter().map(|t| t.all / t.clone).collect();
    vec![
        name.to_string(),
        times.len().to_string(),
        format!("{instructions:.0}"),
        format!("{:.0}", clone / 1e3),
        format!("{:.0}", sum(|t| t.continuation) / 1e3),
        format!("{:.0}", all / 1e3),
        format!("{:.2}", all / clone),
        median(&mut ratios).map_or("–".to_string(), |ratio| format!("{ratio:.2}")),
        format!("{:.2}", all / 1e3 / instructions),
    ]
}

/// Builds the program that measures.
fn timer(layout: &Layout, llvm: u32) -> Result<PathBuf> {
    let target = layout.at(&format!("target/llvm-{llvm}"));
    Job::new("cargo")
        .args(["build", "--release", "-q", "-p", "midflight-bench", "--example", "insertion"])
        .arg(format!("--features=llvm{llvm}-1"))
        .arg("--target-dir")
        .arg(&target)
        .folder(&layout.root)
        .limit(1800)
        .expect_success()?;
    Ok(target.join("release/examples/insertion"))
}

fn measure(timer: &Path, bitcode: &Path) -> Result<Vec<Times>> {
    let job = Job::new(timer).arg(bitcode).limit(1800);
    let outcome = job.expect_success()?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    parse(&text).ok_or_else(|| Error::Malformed {
        what: format!("what '{}' printed", job.command_line()),
        problem: "a line is not a name and four numbers".to_string(),
    })
}

/// A line for each function: its name and four numbers. A name may have spaces.
fn parse(text: &str) -> Option<Vec<Times>> {
    text.lines()
        .map(|line| {
            let mut words = line.rsplit(' ');
            let mut next = || words.next()?.parse::<f64>().ok();
            let (all, continuation, clone, instructions) = (next()?, next()?, next()?, next()?);
            Some(Times { instructions, clone, continuation, all })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_their_end() {
        let times = Times { instructions: 9.0, clone: 100.0, continuation: 90.0, all: 150.0 };
        assert_eq!(parse("an odd name 9 100 90 150\n"), Some(vec![times]));
        assert_eq!(parse("f 9 100 150\n"), None);
        assert_eq!(row("p", &[times])[6], "1.50");
    }
}
