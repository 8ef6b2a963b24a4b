//! `midflight-bench osr points`: how many points are refused, and why.
//!
//! At every point of every function of every module the continuation is built and verified, or a
//! reason is given. This is `print<osr-points<build;summary>>`, one `opt` for each source file.

use crate::build::{flags, sources};
use crate::csmith::{FLAGS, USUAL, generate};
use crate::error::{Error, Result, io};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use crate::program::Program;
use crate::table::markdown;
use crate::tally::Tally;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// How many random programs, from seed 0 on
    pub random: u64,
    /// A module may take so many seconds; else its continuations are not built.
    pub seconds: u64,
}

/// The code that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// What clang makes at -O0, its variables in registers
    Plain,
    /// What clang makes at -O2
    Optimized,
}

impl Code {
    fn name(self) -> &'static str {
        match self {
            Code::Plain => "-O0, mem2reg",
            Code::Optimized => "-O2",
        }
    }
}

/// What became of the points of some code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sums {
    points: u64,
    refused: BTreeMap<String, u64>,
    no_further: u64,
    built: u64,
    broken: u64,
    /// Eligible, and in a module for which there was no time
    not_built: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.points += other.points;
        self.no_further += other.no_further;
        self.built += other.built;
        self.broken += other.broken;
        self.not_built += other.not_built;
        for (reason, count) in &other.refused {
            *self.refused.entry(reason.clone()).or_default() += count;
        }
    }

    fn refused(&self) -> u64 {
        self.refused.values().sum()
    }
}

/// The report, in Markdown, and whether every continuation that was built verifies.
///
/// # Errors
/// If something does not compile, or `opt` fails.
pub fn points(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<(String, Tally)> {
    let (mut rows, mut total, mut tally) = (Vec::new(), Sums::default(), Tally::default());
    for &(name, ref files, ref flags) in &all_modules(layout, programs, plan.random)? {
        for code in [Code::Plain, Code::Optimized] {
            let sums = look_at(layout, plan, name, files, flags, code)?;
            eprintln!("{name} {}: {} points, {} refused", code.name(), sums.points, sums.refused());
            let broken = (sums.broken > 0).then(|| format!("{} are broken", sums.broken));
            tally.check(&format!("{name} {}", code.name()), broken);
            total.add(&sums);
            rows.push((name, code, sums));
        }
    }
    Ok((report(plan, &rows, &total), tally))
}

type Modules<'a> = (&'a str, Vec<PathBuf>, Vec<String>);

/// Source files and flags of all that is looked at.
fn all_modules<'a>(
    layout: &Layout,
    programs: &[&'a Program],
    random: u64,
) -> Result<Vec<Modules<'a>>> {
    let mut all = Vec::new();
    for program in programs {
        all.push((program.name, sources(layout, program)?, flags(layout, program)));
    }
    let mut files = Vec::new();
    for seed in 0..random {
        let folder = layout.work().join("osr-points/csmith").join(seed.to_string());
        files.extend(generate(&folder, seed, USUAL)?);
    }
    if !files.is_empty() {
        all.push(("Csmith", files, FLAGS.map(str::to_string).to_vec()));
    }
    Ok(all)
}

/// Looks at all files of a program.
fn look_at(
    layout: &Layout,
    plan: &Plan,
    name: &str,
    files: &[PathBuf],
    flags: &[String],
    code: Code,
) -> Result<Sums> {
    let folder = layout.work().join("osr-points").join(name);
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let all: Vec<Sums> = files
        .par_iter()
        .enumerate()
        .with_max_len(1)
        .map(|(number, file)| {
            let bitcode = folder.join(format!("{number}.bc"));
            look_at_file(layout, plan, file, flags, code, &bitcode)
        })
        .collect::<Result<_>>()?;
    let mut total = Sums::default();
    all.iter().for_each(|sums| total.add(sums));
    Ok(total)
}

fn look_at_file(
    layout: &Layout,
    plan: &Plan,
    file: &Path,
    flags: &[String],
    code: Code,
    bitcode: &Path,
) -> Result<Sums> {
    let level: &[&str] = match code {
        Code::Plain => &["-O0", "-Xclang", "-disable-O0-optnone"],
        Code::Optimized => &["-O2"],
    };
    let clang = Job::new(tool("clang", plan.llvm)?).args(level).args(flags);
    clang.args(["-emit-llvm", "-c"]).arg(file).arg("-o").arg(bitcode).expect_success()?;
    let print = |options: &str, seconds: u64| -> Result<_> {
        let promote = if code == Code::Plain { "function(mem2reg)," } else { "" };
        let job = Job::new(tool("opt", plan.llvm)?)
            .arg("-load-pass-plugin")
            .arg(layout.plugin(plan.llvm)?)
            .arg(format!("-passes={promote}print<osr-points;{options}>"))
            .arg("-disable-output")
            .arg(bitcode)
            .limit(seconds);
        Ok((job.run()?, job.command_line()))
    };
    let (mut outcome, mut command) = print("build;summary", plan.seconds)?;
    let in_time = outcome.end != End::Timeout;
    if !in_time {
        (outcome, command) = print("summary", plan.seconds)?;
    }
    if outcome.end != End::Exit(0) {
        let text = String::from_utf8_lossy(&outcome.stderr);
        let first = text.lines().next().unwrap_or_default();
        return Err(Error::Command { command, what: format!("{}: {first}", outcome.end) });
    }
    let text = String::from_utf8_lossy(&outcome.stdout);
    for line in text.lines().filter(|line| line.contains(": broken: ")) {
        eprintln!("{}: {}", file.display(), line.trim());
    }
    let mut sums = parse(&text).ok_or_else(|| Error::Malformed {
        what: format!("what '{command}' printed"),
        problem: "there is no sum of the module's points".to_string(),
    })?;
    if !in_time {
        sums.not_built = sums.points - sums.refused();
    }
    Ok(sums)
}

/// The sums of a module: `points of the module: 9 points, 8 eligible (2 not for further
/// transitions), 1 refused (VaStart 1), 8 built, 0 broken`.
fn parse(text: &str) -> Option<Sums> {
    // A module without functions has no line.
    let Some(line) = text.lines().find_map(|l| l.strip_prefix("points of the module: ")) else {
        return text.trim().is_empty().then(Sums::default);
    };
    let mut sums = Sums::default();
    let mut rest = line;
    while !rest.is_empty() {
        let (number, after) = rest.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        let word = after.split([',', ' ']).next()?;
        let mut after = after[word.len()..].trim_start();
        if let Some(inner) = after.strip_prefix('(') {
            let (inside, behind) = inner.split_once(')')?;
            match word {
                "eligible" => sums.no_further = inside.split(' ').next()?.parse().ok()?,
                _ => sums.refused = reasons(inside)?,
            }
            after = behind;
        }
        match word {
            "points" => sums.points = number,
            "built" => sums.built = number,
            "broken" => sums.broken = number,
            "eligible" | "refused" => {}
            _ => return None,
        }
        rest = after.trim_start_matches([',', ' ']);
    }
    Some(sums)
}

/// `VaStart 1, ComputedGoto 7`
fn reasons(text: &str) -> Option<BTreeMap<String, u64>> {
    text.split(", ")
        .map(|item| {
            let (name, count) = item.split_once(' ')?;
            Some((name.to_string(), count.parse().ok()?))
        })
        .collect()
}

fn report(plan: &Plan, rows: &[(&str, Code, Sums)], total: &Sums) -> String {
    let mut lines: Vec<Vec<String>> =
        rows.iter().map(|(name, code, sums)| line(name, code.name(), sums)).collect();
    lines.push(line("all", "", total));
    let header = ["program", "code", "points", "refused", "share", "built", "broken", "not built"];
    let reasons: Vec<Vec<String>> = total
        .refused
        .iter()
        .map(|(name, count)| {
            let where_: Vec<&str> = rows
                .iter()
                .filter(|(_, code, sums)| *code == Code::Plain && sums.refused.contains_key(name))
                .map(|(program, ..)| *program)
                .collect();
            vec![
                format!("`{name}`"),
                count.to_string(),
                share(*count, total.points),
                where_.join(", "),
            ]
        })
        .collect();
    format!(
        "# Points: how many are refused, and why\n\n\
         Made by `midflight-bench osr points` with LLVM {}. At each point the continuation of a\n\
         clone of its function is built and verified, or there is a reason why there is none.\n\n\
         A *point* is an instruction boundary that can be reached from the function's entry. Not\n\
         counted are boundaries within the head of a block (between phis, before a landing pad),\n\
         before a static alloca, which is a part of the frame, and before a lifetime marker. All\n\
         functions with a body count. \"-O0, mem2reg\" is clang's code at -O0 with its variables in\n\
         registers, as the stage `early` sees it; \"-O2\" is clang's optimized code, as the stage\n\
         `late` sees it. *Csmith* is {} random programs. *Not built* is what is eligible in modules\n\
         that took longer than {} seconds.\n\n{}\n\
         Reasons, over all of it:\n\n{}\n\
         From {} eligible points ({}) a continuation that was entered cannot go on to another one,\n\
         since it has made an alloca of its own by then (`OwnAlloca`).\n",
        plan.llvm,
        plan.random,
        plan.seconds,
        markdown(&header, &lines),
        markdown(&["reason", "points", "share", "in"], &reasons),
        total.no_further,
        share(total.no_further, total.points),
    )
}

fn line(name: &str, code: &str, sums: &Sums) -> Vec<String> {
    let numbers = [sums.points, sums.refused()].map(|n| n.to_string());
    let rest = [sums.built, sums.broken, sums.not_built].map(|n| n.to_string());
    [
        &[name.to_string(), code.to_string()],
        &numbers[..],
        &[share(sums.refused(), sums.points)],
        &rest,
    ]
    .concat()
}

fn share(part: u64, of: u64) -> String {
    if of == 0 {
        return "–".to_string();
    }
    format!("{:.2} %", part as f64 * 100.0 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read() {
        let text = "points of 'f': 9 points, 9 eligible, 0 refused\n\
                    points of the module: 19 points, 11 eligible (2 not for further transitions), \
                    8 refused (ComputedGoto 7, VaStart 1), 10 built, 1 broken\n";
        let sums = parse(text).unwrap();
        assert_eq!((sums.points, sums.refused(), sums.no_further), (19, 8, 2));
        assert_eq!((sums.built, sums.broken), (10, 1));
        assert_eq!(sums.refused["ComputedGoto"], 7);
    }

    #[test]
    fn sums_without_refusals_or_building_are_read() {
        let sums = parse("points of the module: 5 points, 5 eligible, 0 refused\n").unwrap();
        assert_eq!((sums.points, sums.refused(), sums.built), (5, 0, 0));
    }

    #[test]
    fn other_text_is_not_taken_for_sums() {
        assert_eq!(parse("error: no such pass"), None);
        assert_eq!(parse("points of the module: many points"), None);
        assert_eq!(parse(""), Some(Sums::default()));
    }
}
