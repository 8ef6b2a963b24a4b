//! `midflight-bench osr cost --what flags`: what flags are worth. `osr-opt` takes from both
//! versions the flags and metadata that would make values poison at different times, and so what
//! passes behind it would know by them, whether points fire or not.
//!
//! Each version by itself, without these flags, is compared with the same one with them
//! (`osr-opt<alone=…>`), in a simulated processor: what is looked for is less than a busy machine's
//! noise. What takes longer by more than is aimed at is timed, too.

use crate::build::build;
use crate::error::{Result, read};
use crate::layout::Layout;
use crate::measure::geometric_mean;
use crate::osr::cost::Plan;
use crate::osr::fuzzed::part_of_name;
use crate::osr::maps::mapping::THESIS;
use crate::pairs::{Cell, Clock, shown};
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Variant};
use crate::workload::job;
use std::fmt;

/// What makes opt of base.
const PIPELINES: [&str; 4] = [THESIS, "instcombine<no-verify-fixpoint>", "gvn", "default<O1>"];

/// The versions, as the plugin calls them.
const VERSIONS: [&str; 2] = ["base", "opt"];

/// What stands in the place of ratios if nothing differs.
const SAME: &str = "same";

/// Aimed at is no more than this.
const AIM: f64 = 1.01;

/// One version by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// `base` or `opt`
    pub version: &'static str,
    /// The passes that make opt of base
    pub passes: &'static str,
    /// It keeps the flags that transitions would have it lose.
    pub keeps_flags: bool,
}

impl Alone {
    /// The plugin's options.
    pub fn options(self) -> String {
        let flags = if self.keeps_flags { ":flags" } else { "" };
        format!("osr-opt;alone={}{flags};passes={};stage=early;verify", self.version, self.passes)
    }
}

impl fmt::Display for Alone {
    /// A name that can be part of a file's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = if self.keeps_flags { "-flags" } else { "" };
        write!(f, "alone-{}{flags}-{}", self.version, part_of_name(self.passes))
    }
}

/// What a version takes without its flags, over what it takes with them.
enum Taken {
    /// Both are the same code.
    Same,
    /// Simulated cycles, and instructions; and where that is more than is aimed at, CPU time
    More(Cell, Option<Cell>),
}

/// Measures them; a table.
///
/// # Errors
/// If a program cannot be built or run.
pub fn flags(layout: &Layout, plan: &Plan, programs: &[&Program]) -> Result<String> {
    let (mut rows, mut same) = (Vec::new(), 0);
    let mut all: [Vec<(String, f64)>; 2] = Default::default();
    let mut timed = String::new();
    for program in programs {
        for passes in PIPELINES {
            let pipeline = if passes == THESIS { "thesis" } else { passes };
            eprintln!("measuring {} without flags, {pipeline}", program.name);
            let mut row = vec![program.name.to_string(), format!("`{pipeline}`")];
            for (version, all) in VERSIONS.into_iter().zip(&mut all) {
                let name = format!("{version} of {}, `{pipeline}`", program.name);
                let taken = compare(layout, plan, program, version, passes)?;
                if let Taken::More(_, Some(time)) = taken {
                    timed += &format!("- {name}: {}\n", shown(time));
                }
                row.push(taken.to_string());
                all.extend(taken.instructions().map(|ratio| (name, ratio)));
            }
            if row[2..].iter().all(|cell| cell == SAME) {
                same += 1;
            } else {
                rows.push(row);
            }
        }
    }
    let header = ["program", "pipeline", VERSIONS[0], VERSIONS[1]];
    let summaries = VERSIONS.iter().zip(&all).map(|(version, all)| summary(version, all));
    let mut text = format!(
        "Executed instructions of each version by itself, without the flags that `osr-opt` has it \
         lose, over the same one with them, and in parentheses cycles as cachegrind's counts \
         estimate them; LLVM {}, -O2, stage early. Where it says *{SAME}*, both builds are the \
         same code; so they are for both versions under {same} combinations that are not in the \
         table.\n\n{}\n{}",
        plan.llvm,
        markdown(&header, &rows),
        summaries.collect::<String>(),
    );
    if !timed.is_empty() {
        let clock = Clock::Processor { rounds: plan.pairs }.over("that with flags");
        text += &format!("\nAbove {AIM}, timed, too; {clock}:\n\n{timed}");
    }
    Ok(text)
}

fn compare(
    layout: &Layout,
    plan: &Plan,
    program: &Program,
    version: &'static str,
    passes: &'static str,
) -> Result<Taken> {
    let build = |keeps_flags| {
        let how = How::Alone(Alone { version, passes, keeps_flags });
        build(layout, program, Variant { llvm: plan.llvm, opt: 2, how })
    };
    let (with, without) = (build(true)?, build(false)?);
    if read(&with.executable)? == read(&without.executable)? {
        return Ok(Taken::Same);
    }
    let by = |clock: Clock, size: Size| -> Result<Cell> {
        let job = |built| job(layout, program, built, size);
        let compared = clock.compare(&job(&with)?, &[&job(&without)?])?;
        Ok(compared.others.into_iter().next().flatten())
    };
    let clock = Clock::Simulated;
    let simulated = by(clock, clock.size())?;
    let is_more = simulated.is_some_and(|ratios| ratios.iter().any(|&ratio| ratio > AIM));
    let clock = Clock::Processor { rounds: plan.pairs };
    let time = is_more.then(|| by(clock, clock.size())).transpose()?;
    Ok(Taken::More(simulated, time))
}

impl Taken {
    fn instructions(&self) -> Option<f64> {
        match self {
            Taken::Same => Some(1.0),
            Taken::More(cell, _) => cell.map(|[_, instructions]| instructions),
        }
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Taken::Same => f.write_str(SAME),
            Taken::More(None, _) => f.write_str("–"),
            Taken::More(Some([cycles, instructions]), _) => {
                write!(f, "{instructions:.4} ({cycles:.4})")
            }
        }
    }
}

fn summary(version: &str, all: &[(String, f64)]) -> String {
    let mean = geometric_mean(all.iter().map(|&(_, ratio)| ratio));
    let worst = all.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(mean), Some((name, worst))) = (mean, worst) else { return String::new() };
    format!("- {version}: geometric mean {mean:.4}, worst {worst:.4} ({name})\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_names_tell_what_is_left_alone() {
        let alone = Alone { version: "opt", passes: "gvn,default<O1>", keeps_flags: false };
        assert_eq!(alone.options(), "osr-opt;alone=opt;passes=gvn,default<O1>;stage=early;verify");
        let with = Alone { keeps_flags: true, ..alone };
        assert!(with.options().starts_with("osr-opt;alone=opt:flags;"));
        assert_eq!(with.to_string(), "alone-opt-flags-gvn_default_O1_");
        assert_ne!(with.to_string(), alone.to_string());
    }

    #[test]
    fn the_worst_is_named() {
        let ratio = |name: &str, ratio| (name.to_string(), ratio);
        let text = summary("base", &[ratio("a", 1.0), ratio("b", 1.21), ratio("c", 1.0)]);
        assert_eq!(text, "- base: geometric mean 1.0656, worst 1.2100 (b)\n");
        assert_eq!(summary("base", &[]), "");
    }
}
