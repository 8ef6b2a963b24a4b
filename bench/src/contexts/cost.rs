//! `midflight-bench contexts cost`: CPU time beside native, and beside other profilers of calls.
//!
//! A program that hardly calls says nothing about what a call costs. So the mean is taken over
//! those with more than [`OFTEN`] calls a second; and where contexts are more than one in a hundred
//! of the activations, what costs is the making of them, which is given by itself.

use crate::build::{Built, build};
use crate::contexts::callgrind::Callgrind;
use crate::contexts::node_memory::{LIST_NODE, NodeMemory};
use crate::error::Result;
use crate::layout::Layout;
use crate::measure::geometric_mean;
use crate::pairs::{Cell, Clock, mean, shown};
use crate::process::Job;
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{Gcc, How, Stage, Variant};
use crate::workload::job;
use std::path::PathBuf;

/// Calls a second from which on a program counts for the mean.
const OFTEN: f64 = 1e7;

/// Where contexts are more than so large a part of activations, a program is listed apart.
const NEW: f64 = 0.01;

/// Simulated runs say nothing of seconds: so often the native program runs for that.
const RUNS: usize = 3;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// By what they are compared
    pub clock: Clock,
    /// Which size of the work
    pub size: Size,
    /// Peers, too
    pub peers: bool,
}

/// A column of the tables: a way to profile calls.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    how: How,
    /// What the program is told
    environment: &'static [(&'static str, &'static str)],
}

impl Column {
    /// The same compiler's plain program.
    fn base(&self) -> How {
        match self.how {
            How::Gcc(_) => How::Gcc(Gcc::Native),
            _ => How::Native,
        }
    }

    fn is_ours(&self) -> bool {
        matches!(self.how, How::Contexts { .. })
    }
}

fn columns(plan: &Plan) -> Vec<Column> {
    const ALL: (&str, &str) = ("MIDFLIGHT_CONTEXTS", "cct");
    const HOT: (&str, &str) = ("MIDFLIGHT_CONTEXTS", "hcct");
    // The thesis's choice.
    const BURSTS: (&str, &str) = ("MIDFLIGHT_BURSTS", "20ms:2ms");
    let peer = |name, how| Column { name, how, environment: &[] };
    let ours = |name, options, environment| {
        let how = How::Contexts { stage: Stage::Late, options };
        Column { name, how, environment }
    };
    let mut all = vec![
        peer("empty hooks", How::Hooks),
        ours("CCT", &[], &[ALL]),
        ours("HCCT", &[], &[HOT]),
        ours("HCCT, bursts", &["--midflight-bursts"], &[HOT, BURSTS]),
        ours("CCT, times", &["--midflight-times"], &[ALL]),
        ours("CCT, folded", &["--midflight-recursion=folded"], &[ALL]),
        ours("CCT, functions", &["--midflight-granularity=functions"], &[ALL]),
    ];
    if plan.peers {
        all.push(peer("gcc, empty hooks", How::Gcc(Gcc::Hooks)));
        // It takes samples by a timer, too, which valgrind cannot follow.
        if let Clock::Processor { .. } = plan.clock {
            all.push(peer("clang -pg", How::CallGraph));
            all.push(peer("gcc -pg", How::Gcc(Gcc::CallGraph)));
        }
    }
    all
}

/// What a program has shown.
#[derive(Default)]
struct Measured {
    name: &'static str,
    /// By the clock
    native: Option<f64>,
    seconds: Option<f64>,
    activations: f64,
    memory: NodeMemory,
    /// By column
    costs: Vec<Cell>,
    callgrind: Option<f64>,
}

impl Measured {
    fn calls_a_second(&self) -> f64 {
        self.seconds.map_or(0.0, |seconds| self.activations / seconds)
    }

    fn calls_often(&self) -> bool {
        self.calls_a_second() >= OFTEN
    }

    fn is_new(&self) -> bool {
        self.memory.nodes as f64 > NEW * self.activations
    }

    /// What an activation adds, in thousand millionths of the clock's unit.
    fn added(&self, column: usize) -> String {
        match (self.native, self.costs.get(column).copied().flatten()) {
            (Some(native), Some([ratio, _])) if self.activations > 0.0 => {
                format!("{:.2}", (ratio - 1.0) * native / self.activations * 1e9)
            }
            _ => "–".to_string(),
        }
    }
}

/// Measures programs and returns the tables, in Markdown.
///
/// # Errors
/// If a program cannot be built or natively run.
pub fn measure(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let columns = columns(plan);
    let callgrind = match plan.clock {
        Clock::Processor { .. } if plan.peers => Some(Callgrind::new()?),
        _ => None,
    };
    let mut all = Vec::new();
    for program in programs {
        eprintln!("measuring {}", program.name);
        let bench = Bench { layout, program, plan, columns: &columns };
        all.push(bench.measure(callgrind.as_ref())?);
    }
    all.sort_by(|a, b| b.calls_a_second().total_cmp(&a.calls_a_second()));
    Ok(report(plan, &columns, &all))
}

/// A program that is measured.
struct Bench<'a> {
    layout: &'a Layout,
    program: &'a Program,
    plan: &'a Plan,
    columns: &'a [Column],
}

impl Bench<'_> {
    fn measure(&self, callgrind: Option<&Callgrind>) -> Result<Measured> {
        let costs = vec![None; self.columns.len()];
        let mut measured = Measured { name: self.program.name, costs, ..Measured::default() };
        let native = self.build(How::Native)?;
        self.compare(&native, How::Native, &mut measured)?;
        if self.columns.iter().any(|column| column.base() != How::Native) {
            let how = How::Gcc(Gcc::Native);
            // It need not know all flags of a program that clang compiles.
            match self.build(how) {
                Ok(built) => self.compare(&built, how, &mut measured)?,
                Err(error) => eprintln!("not measured: {} by gcc: {error}", self.program.name),
            }
        }
        if let Some(callgrind) = callgrind {
            measured.callgrind = callgrind.ratio(&self.job(&native, Size::Test)?)?;
        }
        Ok(measured)
    }

    fn build(&self, how: How) -> Result<Built> {
        build(self.layout, self.program, Variant { llvm: self.plan.llvm, opt: self.plan.opt, how })
    }

    fn job(&self, built: &Built, size: Size) -> Result<Job> {
        job(self.layout, self.program, built, size)
    }

    /// Fills the columns of a compiler, whose plain program is built.
    fn compare(&self, native: &Built, base: How, measured: &mut Measured) -> Result<()> {
        let native = self.job(native, self.plan.size)?;
        let mut built: Vec<(How, Built)> = Vec::new();
        let mut jobs: Vec<Job> = Vec::new();
        let mut profiles: Vec<PathBuf> = Vec::new();
        let of_base = |&(_, column): &(usize, &Column)| column.base() == base;
        let columns: Vec<(usize, &Column)> =
            self.columns.iter().enumerate().filter(of_base).collect();
        for &(index, column) in &columns {
            let known = built.iter().position(|(how, _)| *how == column.how);
            let at = match known {
                Some(at) => at,
                None => {
                    built.push((column.how, self.build(column.how)?));
                    built.len() - 1
                }
            };
            let built = &built[at].1;
            // Each leaves a profile of its own.
            let profile = built.folder.join(format!("{index}.mfp"));
            let job = self.job(built, self.plan.size)?.env("MIDFLIGHT_PROFILE", &profile);
            jobs.push(
                column.environment.iter().fold(job, |job, (name, value)| job.env(name, value)),
            );
            profiles.push(profile);
        }
        let compared = self.plan.clock.compare(&native, &jobs.iter().collect::<Vec<_>>())?;
        for ((index, _), cost) in columns.iter().zip(compared.others) {
            measured.costs[*index] = cost;
        }
        let first = columns.iter().position(|(_, column)| column.is_ours());
        if let Some(first) = first {
            measured.native = compared.first;
            measured.seconds = self.seconds(&native, compared.first)?;
            if let Some(contexts) = read_profile(&profiles[first])?.contexts {
                if contexts.elsewhere > 0 {
                    let (name, without) = (measured.name, contexts.elsewhere);
                    eprintln!("{name}: {without} activations have no context, for want of memory");
                }
                measured.activations = contexts.activations as f64;
                measured.memory = NodeMemory::of(&contexts);
            }
        }
        Ok(())
    }

    /// Seconds of the native program.
    fn seconds(&self, native: &Job, by_clock: Option<f64>) -> Result<Option<f64>> {
        let Clock::Simulated = self.plan.clock else { return Ok(by_clock) };
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            least = least.min(native.run()?.cpu.as_secs_f64());
        }
        Ok(Some(least))
    }
}

fn report(plan: &Plan, columns: &[Column], all: &[Measured]) -> String {
    let (often, seldom): (Vec<&Measured>, Vec<&Measured>) =
        all.iter().partition(|m| m.calls_often());
    let (apart, often): (Vec<&Measured>, Vec<&Measured>) =
        often.into_iter().partition(|m| m.is_new());
    let callgrind = if all.iter().any(|measured| measured.callgrind.is_some()) {
        " callgrind: on small work, without what it takes to start."
    } else {
        ""
    };
    let over_list_node = format!("over {LIST_NODE} B");
    format!(
        "LLVM {}, -O{}, stage late; {}, of the same compiler. {}: what an activation adds.{callgrind}\n\n\
         Programs with more than 10⁷ calls a second:\n\n{}\n\
         Programs that call less often:\n\n{}\n\
         Programs that call as often as the first, where more than one in a hundred activations makes a context:\n\n{}\n\
         Bytes of a node of the whole tree, beside a node of {LIST_NODE} with lists of children:\n\n{}",
        plan.llvm,
        plan.opt,
        plan.clock.over("native"),
        unit(plan.clock),
        table(plan.clock, columns, &often, true),
        table(plan.clock, columns, &seldom, false),
        table(plan.clock, columns, &apart, false),
        memory(&over_list_node, all),
    )
}

/// Of what an activation adds.
fn unit(clock: Clock) -> &'static str {
    match clock {
        Clock::Processor { .. } => "ns",
        Clock::Simulated => "cycles",
    }
}

fn table(clock: Clock, columns: &[Column], all: &[&Measured], with_mean: bool) -> String {
    let with_callgrind = all.iter().any(|measured| measured.callgrind.is_some());
    let native = format!("native, {}", clock.unit());
    let mut header = vec!["program", &native, "10⁶ calls/s", "contexts"];
    for column in columns {
        header.push(column.name);
        header.extend(column.is_ours().then_some(unit(clock)));
    }
    header.extend(with_callgrind.then_some("callgrind"));
    let row = |measured: &&Measured| {
        let mut cells = vec![
            measured.name.to_string(),
            measured.native.map_or("–".to_string(), |native| format!("{native:.2}")),
            format!("{:.1}", measured.calls_a_second() / 1e6),
            measured.memory.nodes.to_string(),
        ];
        for (index, column) in columns.iter().enumerate() {
            cells.push(shown(measured.costs[index]));
            cells.extend(column.is_ours().then(|| measured.added(index)));
        }
        cells.extend(with_callgrind.then(|| callgrind(measured.callgrind)));
        cells
    };
    let mut rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if with_mean {
        let mut cells = vec!["geometric mean".to_string()];
        cells.resize(4, String::new());
        for (index, column) in columns.iter().enumerate() {
            cells.push(shown(mean(all.iter().map(|measured| measured.costs[index]))));
            cells.extend(column.is_ours().then(String::new));
        }
        let ratios = all.iter().filter_map(|measured| measured.callgrind);
        cells.extend(with_callgrind.then(|| callgrind(geometric_mean(ratios))));
        rows.push(cells);
    }
    markdown(&header, &rows)
}

fn callgrind(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_string(), |ratio| format!("{ratio:.1}"))
}

fn memory(over_list_node: &str, all: &[Measured]) -> String {
    let header = ["program", "contexts", "mean", over_list_node, "largest"];
    let row = |measured: &Measured| {
        let memory = &measured.memory;
        vec![
            measured.name.to_string(),
            memory.nodes.to_string(),
            format!("{:.0}", memory.mean()),
            format!("{:.2}", memory.mean() / LIST_NODE as f64),
            memory.largest.to_string(),
        ]
    };
    markdown(&header, &all.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(native: f64, activations: f64, nodes: u64) -> Measured {
        Measured {
            name: "x",
            native: Some(native),
            seconds: Some(native),
            activations,
            memory: NodeMemory { nodes, bytes: 112 * nodes, largest: 112 },
            costs: vec![Some([1.5, 1.5]), None],
            callgrind: None,
        }
    }

    #[test]
    fn what_an_activation_adds_is_over_native() {
        let measured = measured(2.0, 1e9, 3);
        assert_eq!(measured.added(0), "1.00");
        assert_eq!(measured.added(1), "–");
        assert!(!measured.is_new());
    }

    #[test]
    fn the_mean_is_that_of_programs_that_call_often() {
        let plan =
            Plan { llvm: 22, opt: 2, clock: Clock::Simulated, size: Size::Test, peers: false };
        let columns = &columns(&plan)[..2];
        let names = [("often", 1e9, 3), ("seldom", 1e3, 3), ("apart", 1e9, 100_000_000)];
        let all = names.map(|(name, activations, nodes)| Measured {
            name,
            ..measured(2.0, activations, nodes)
        });
        let report = report(&plan, columns, &all);
        let tables: Vec<&str> = report.split("Programs ").collect();
        for (table, name) in tables[1..].iter().zip(["often", "seldom", "apart"]) {
            let first = table.lines().nth(4).unwrap();
            assert!(first.starts_with(&format!("| {name} ")), "{table}");
        }
        assert_eq!(report.matches("geometric mean").count(), 1);
        assert!(
            report.contains("| apart   | 100000000 |  112 |      2.33 |     112 |"),
            "{report}"
        );
    }
}
