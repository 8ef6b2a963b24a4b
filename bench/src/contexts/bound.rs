//! `midflight-bench contexts bound`: more contexts than there is memory for. A program whose counts
//! are known by arithmetic (`bench/corpus/contexts/wide.c`) is profiled in bounded memory: the
//! process keeps within it, no hot context is missing, and what is not known is said.

use crate::contexts::skew::threshold;
use crate::error::{Error, Result, io};
use crate::layout::Layout;
use crate::peak;
use crate::percent::bytes;
use crate::process::Job;
use crate::profile_file::read_profile;
use crate::table::markdown;
use crate::tally::Tally;
use crate::variant::{How, Stage, Toolchain, Variant};
use midflight_profile::contexts::Share;
use midflight_profile::format::{ContextId, ContextMode, Contexts};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The program, in the checkout.
const SOURCE: &str = "bench/corpus/contexts/wide.c";

/// Call sites of a node.
const SITES: u8 = 5;

/// What the runtime takes besides trees and the array of monitored contexts: its code and data, and
/// buffers of the profile.
const RUNTIME: u64 = 2 << 20;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// A thousandth of the work
    pub quick: bool,
}

/// Arguments of the program.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Levels below the first node
    depth: usize,
    /// Below a node of this level the whole tree is walked in a round
    prefix: usize,
    /// How many hot ways there are
    ways: u64,
    /// How often the first of them is gone in a round
    most: u64,
}

impl Shape {
    fn of(plan: &Plan) -> Shape {
        if plan.quick {
            Shape { depth: 6, prefix: 2, ways: 50, most: 200 }
        } else {
            Shape { depth: 10, prefix: 3, ways: 1000, most: 3200 }
        }
    }

    fn arguments(&self) -> [String; 4] {
        let Shape { depth, prefix, ways, most } = *self;
        [depth.to_string(), prefix.to_string(), ways.to_string(), most.to_string()]
    }

    fn rounds(&self) -> u64 {
        nodes_of_level(self.prefix)
    }
}

/// What is asked of a run.
struct Case {
    /// MIDFLIGHT_CONTEXTS
    mode: &'static str,
    /// MIDFLIGHT_THREAD_MEMORY, in bytes
    memory: u64,
    /// Whether that is enough for what is monitored
    is_enough: bool,
}

const QUICK: [Case; 2] = [
    Case { mode: "hcct:0.002", memory: 1 << 20, is_enough: true },
    Case { mode: "hcct:0.002", memory: 128 << 10, is_enough: false },
];

const CASES: [Case; 4] = [
    Case { mode: "hcct", memory: 64 << 20, is_enough: true },
    Case { mode: "hcct", memory: 8 << 20, is_enough: true },
    Case { mode: "hcct:0.001", memory: 2 << 20, is_enough: true },
    Case { mode: "hcct", memory: 1 << 20, is_enough: false },
];

/// What the program does, by arithmetic.
struct Exact {
    /// Activations of each node that was entered more than once: the sites that lead to it from the
    /// first node on. All others were entered once
    counts: HashMap<Vec<u8>, u64>,
    activations: u64,
    contexts: u64,
}

impl Exact {
    fn of(shape: &Shape) -> Exact {
        let rounds = shape.rounds();
        let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
        // Each of these is gone through in the rounds of all that are below it.
        for level in 0..shape.prefix {
            for number in 0..nodes_of_level(level) {
                let times = nodes_of_level(shape.prefix - level);
                counts.insert(digits(number, level), times);
            }
        }
        // The tree below, and what leads to it.
        let whole: u64 = (0..=shape.depth - shape.prefix).map(nodes_of_level).sum();
        let mut activations = 1 + rounds * (shape.prefix as u64 + whole);
        for number in 1..=shape.ways {
            let way = way_of(number as u32, shape.depth);
            let times = shape.most / number * rounds;
            for length in 0..=shape.depth {
                // As part of the whole tree, too.
                let count = counts.entry(way[..length].to_vec()).or_insert(1);
                *count += times;
            }
            activations += times * (shape.depth as u64 + 1);
        }
        let contexts = 1 + (0..=shape.depth).map(nodes_of_level).sum::<u64>();
        Exact { counts, activations, contexts }
    }

    fn count(&self, sites: &[u8]) -> u64 {
        self.counts.get(sites).copied().unwrap_or(1)
    }
}

fn nodes_of_level(level: usize) -> u64 {
    u64::from(SITES).pow(level as u32)
}

/// The lowest digit is that of the first level.
fn digits(number: u64, length: usize) -> Vec<u8> {
    let base = u64::from(SITES);
    (0..length as u32).map(|level| (number / base.pow(level) % base) as u8).collect()
}

/// As in the program.
fn way_of(number: u32, length: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        ((state >> 16) % u32::from(SITES)) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// What a profile has, by the sites that lead to a node.
struct Found {
    /// Count and error
    nodes: HashMap<Vec<u8>, (u64, u64)>,
}

impl Found {
    /// None if it has what the program has not.
    fn of(contexts: &Contexts, shape: &Shape) -> Option<Found> {
        let mut ways: HashMap<ContextId, Option<Vec<u8>>> = HashMap::new();
        let mut nodes = HashMap::new();
        for id in contexts.ids() {
            let way = match contexts.parent(id).map(|parent| ways.get(&parent)) {
                // `main`
                None => None,
                Some(None) => return None,
                // The first node
                Some(Some(None)) => Some(Vec::new()),
                Some(Some(Some(way))) => {
                    let site = u8::try_from(contexts.site(id)).ok().filter(|&site| site < SITES)?;
                    Some([&way[..], &[site]].concat())
                }
            };
            if let Some(way) = &way {
                let is_new = nodes.insert(way.clone(), (contexts.count(id), contexts.error(id)));
                if way.len() > shape.depth || is_new.is_some() {
                    return None;
                }
            }
            ways.insert(id, way);
        }
        Some(Found { nodes })
    }
}

/// How a profile compares with the arithmetic.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    hot: usize,
    missing: usize,
    wrong: usize,
}

/// Compares; the activations without context may be of any context.
fn compare(exact: &Exact, found: &Found, contexts: &Contexts, phi: f64) -> Compared {
    let threshold = threshold(phi, contexts);
    let mut compared = Compared::default();
    for (way, &count) in exact.counts.iter().filter(|&(_, &count)| count >= threshold) {
        compared.hot += 1;
        // Where all of the count is error, the context is not monitored.
        let known = match found.nodes.get(way) {
            Some(&(most, error)) if most != error => most,
            _ => 0,
        };
        compared.missing += usize::from(known + contexts.elsewhere < count);
    }
    for (way, &(most, error)) in &found.nodes {
        let count = exact.count(way);
        let too_low = most + contexts.elsewhere < count;
        compared.wrong += usize::from(too_low || most - error > count);
    }
    compared
}

/// Runs all cases; the table, and whether all holds.
///
/// # Errors
/// If the program cannot be built or run.
pub fn bound(layout: &Layout, plan: &Plan) -> Result<(String, bool)> {
    let folder = layout.work().join("contexts-bound");
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let shape = Shape::of(plan);
    let exact = Exact::of(&shape);
    let bench = Bench { layout, folder, shape, plan };
    let native = bench.build("native", How::Native)?;
    let ours = bench.build("ours", How::Contexts { stage: Stage::Late, options: &[] })?;
    let (expected, least) = peak::run(&bench.job(&native))?;
    let mut tally = Tally::default();
    if plan.quick {
        // The arithmetic itself.
        let job = bench.job(&ours).env("MIDFLIGHT_CONTEXTS", "cct");
        let (_, contexts) = bench.run(&job)?;
        let what = "the whole tree is that of the arithmetic";
        tally.check(what, whole(&exact, &contexts, &shape));
    }
    let mut rows = Vec::new();
    for case in if plan.quick { &QUICK[..] } else { &CASES[..] } {
        let what = format!("{} in {}", case.mode, bytes(Some(case.memory)));
        eprintln!("running {what}");
        let job = bench.job(&ours).env("MIDFLIGHT_CONTEXTS", case.mode);
        let job = job.env("MIDFLIGHT_THREAD_MEMORY", case.memory.to_string());
        let (peak, contexts) = bench.run(&job)?;
        let taken = peak.saturating_sub(least);
        let ContextMode::Hot { phi, epsilon } = contexts.mode else {
            tally.check(&what, Some("the profile has all contexts".to_string()));
            continue;
        };
        let found = Found::of(&contexts, &shape);
        let compared = found.map(|found| compare(&exact, &found, &contexts, phi));
        let checked = Checked { case, exact: &exact, contexts: &contexts, taken };
        let outputs = expected.stdout == job.run()?.stdout;
        tally.check(&format!("{what}: output"), (!outputs).then(|| "differs".to_string()));
        tally.check(&format!("{what}: contexts"), problem_of(compared.as_ref()));
        tally.check(&format!("{what}: memory"), checked.memory(epsilon));
        tally.check(&format!("{what}: activations"), checked.activations());
        tally.check(&format!("{what}: floor"), checked.floor(epsilon));
        tally.check(&format!("{what}: report"), checked.report(&bench, &ours)?);
        let compared = compared.unwrap_or_default();
        rows.push(vec![
            case.mode.to_string(),
            bytes(Some(case.memory)),
            contexts.len().to_string(),
            bytes(Some(taken)),
            contexts.floor.to_string(),
            format!("{:.1e}", contexts.floor as f64 / exact.activations as f64),
            contexts.elsewhere.to_string(),
            compared.hot.to_string(),
            compared.missing.to_string(),
        ]);
    }
    let header =
        ["mode", "bound", "kept", "taken", "floor", "ε achieved", "elsewhere", "hot", "missing"];
    let text = format!(
        "LLVM {}, -O{}, stage late; {} contexts, {} activations. Taken: the most memory of the process over that of \
         the native one. Floor: what a context that is not kept has had at most, but for activations without context (elsewhere). Missing: \
         hot contexts that even these do not account for.\n\n{}",
        plan.llvm,
        plan.opt,
        exact.contexts,
        exact.activations,
        markdown(&header, &rows)
    );
    Ok((text, tally.close("bound")))
}

fn problem_of(compared: Option<&Compared>) -> Option<String> {
    match compared {
        None => Some("there is one that the program has not".to_string()),
        Some(Compared { missing: 0, wrong: 0, hot: 1.. }) => None,
        Some(other) => Some(format!("{other:?}")),
    }
}

/// What is wrong with a whole tree.
fn whole(exact: &Exact, contexts: &Contexts, shape: &Shape) -> Option<String> {
    let Some(found) = Found::of(contexts, shape) else {
        return Some("there is a context that the program has not".to_string());
    };
    if contexts.len() as u64 != exact.contexts {
        return Some(format!("{} contexts, and not {}", contexts.len(), exact.contexts));
    }
    let differs = found.nodes.iter().find(|&(way, &known)| known != (exact.count(way), 0));
    differs.map(|(way, known)| format!("{way:?} has {known:?}, and not {}", exact.count(way)))
}

/// A run that is checked.
struct Checked<'a> {
    case: &'a Case,
    exact: &'a Exact,
    contexts: &'a Contexts,
    taken: u64,
}

impl Checked<'_> {
    /// Within what was given, the array of monitored contexts, and the runtime's own.
    fn memory(&self, epsilon: f64) -> Option<String> {
        let entries = Share::new(epsilon).and_then(Share::entries).unwrap_or(u64::MAX);
        let array = entries.saturating_mul(size_of::<usize>() as u64);
        let bound = self.case.memory.saturating_add(array).saturating_add(RUNTIME);
        (self.taken > bound).then(|| format!("{} bytes, where {bound} are allowed", self.taken))
    }

    fn activations(&self) -> Option<String> {
        let Contexts { activations, elsewhere, .. } = *self.contexts;
        if activations != self.exact.activations {
            return Some(format!("{activations}, and not {}", self.exact.activations));
        }
        let as_said = (elsewhere == 0) == self.case.is_enough;
        (!as_said).then(|| format!("{elsewhere} have no context"))
    }

    /// It is what ε allows, and there is one where something was left out.
    fn floor(&self, epsilon: f64) -> Option<String> {
        let Contexts { floor, elsewhere, .. } = *self.contexts;
        let most =
            Share::new(epsilon).map_or(0, |epsilon| epsilon.floor_of(self.exact.activations));
        let left_out = (self.contexts.len() as u64) < self.exact.contexts;
        let is_said = floor > 0 || elsewhere > 0;
        (floor > most || left_out && !is_said).then(|| format!("{floor}, where {most} are allowed"))
    }

    /// The report says what is not known.
    fn report(&self, bench: &Bench, built: &Path) -> Result<Option<String>> {
        let report = Job::new(bench.layout.midflight()?).args(["report", "--contexts"]);
        let report = report.arg(built).arg(bench.profile()).expect_success()?;
        let text = String::from_utf8_lossy(&report.stdout).replace(',', "");
        let Contexts { floor, elsewhere, .. } = *self.contexts;
        let mut needed = vec![format!("others had {floor} at most")];
        if elsewhere > 0 {
            needed.push(format!("{elsewhere} without context"));
            needed.push("all this but for activations without context".to_string());
        }
        let missing = needed.into_iter().find(|needed| !text.contains(needed.as_str()));
        Ok(missing.map(|missing| format!("it does not say '{missing}'")))
    }
}

struct Bench<'a> {
    layout: &'a Layout,
    folder: PathBuf,
    shape: Shape,
    plan: &'a Plan,
}

impl Bench<'_> {
    fn build(&self, name: &str, how: How) -> Result<PathBuf> {
        let variant = Variant { llvm: self.plan.llvm, opt: self.plan.opt, how };
        let output = self.folder.join(name);
        let toolchain = Toolchain::find(self.layout, variant)?;
        let source = self.layout.at(SOURCE);
        toolchain.compile_and_link(&[], &source, &output).expect_success()?;
        Ok(output)
    }

    fn profile(&self) -> PathBuf {
        self.folder.join("run.mfp")
    }

    fn job(&self, program: &Path) -> Job {
        let job = Job::new(program).args(self.shape.arguments()).folder(&self.folder);
        let job = job.env("MIDFLIGHT_MAX_MEMORY", "").env("MIDFLIGHT_THREAD_MEMORY", "");
        job.env("MIDFLIGHT_PROFILE", self.profile()).limit(600)
    }

    fn run(&self, job: &Job) -> Result<(u64, Contexts)> {
        let (_, peak) = peak::run(job)?;
        let contexts = read_profile(&self.profile())?.contexts;
        let contexts = contexts.ok_or_else(|| Error::Malformed {
            what: format!("'{}'", self.profile().display()),
            problem: "it has no contexts".to_string(),
        })?;
        Ok((peak, contexts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks as the program does, and counts.
    fn walked(shape: &Shape) -> HashMap<Vec<u8>, u64> {
        fn node(at: &mut Vec<u8>, way: &[u8], depth: usize, counts: &mut HashMap<Vec<u8>, u64>) {
            *counts.entry(at.clone()).or_default() += 1;
            if at.len() == depth {
                return;
            }
            let sites = way.get(at.len()).map_or(0..SITES, |&site| site..site + 1);
            for site in sites {
                at.push(site);
                node(at, way, depth, counts);
                at.pop();
            }
        }
        let mut counts = HashMap::new();
        for round in 0..shape.rounds() {
            node(&mut Vec::new(), &digits(round, shape.prefix), shape.depth, &mut counts);
            for number in 1..=shape.ways {
                for _ in 0..shape.most / number {
                    let way = way_of(number as u32, shape.depth);
                    node(&mut Vec::new(), &way, shape.depth, &mut counts);
                }
            }
        }
        counts
    }

    #[test]
    fn the_arithmetic_is_that_of_a_walk() {
        let shape = Shape { depth: 4, prefix: 2, ways: 7, most: 9 };
        let (exact, walked) = (Exact::of(&shape), walked(&shape));
        assert_eq!(exact.contexts, 1 + walked.len() as u64);
        assert_eq!(exact.activations, 1 + walked.values().sum::<u64>());
        for (way, count) in walked {
            assert_eq!(exact.count(&way), count, "{way:?}");
        }
    }

    #[test]
    fn a_hot_context_that_is_missing_is_noticed() {
        let shape = Shape { depth: 4, prefix: 1, ways: 3, most: 100 };
        let exact = Exact::of(&shape);
        let mut contexts = Contexts::new(ContextMode::Hot { phi: 0.05, epsilon: 0.01 });
        contexts.activations = exact.activations;
        let all = exact.counts.iter().map(|(way, &count)| (way.clone(), (count, 0)));
        let mut found = Found { nodes: all.collect() };
        let compared = compare(&exact, &found, &contexts, 0.05);
        assert!(compared.hot > 0);
        assert_eq!(problem_of(Some(&compared)), None);
        let hottest = way_of(1, 4);
        found.nodes.remove(&hottest);
        assert_eq!(compare(&exact, &found, &contexts, 0.05).missing, 1);
        // It may be among those without context.
        contexts.elsewhere = exact.count(&hottest);
        assert_eq!(compare(&exact, &found, &contexts, 0.05).missing, 0);
        contexts.elsewhere = 0;
        found.nodes.insert(hottest.clone(), (exact.count(&hottest) + 1, 0));
        assert_eq!(compare(&exact, &found, &contexts, 0.05).wrong, 1);
    }
}
