//! `midflight-bench contexts accuracy`: what hot contexts in bounded memory tell, against all of
//! them: the metrics of the thesis (5.1.2), what its theorems promise, and the memory of both.

use crate::build::{Built, build};
use crate::contexts::skew::{Skew, threshold};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::peak;
use crate::percent::{percent, share};
use crate::process::Job;
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, profile_of};
use midflight_profile::format::{ContextId, ContextMode, Contexts};
use std::collections::{HashMap, HashSet};

/// From which share of the hottest context's activations on an edge is asked for (5.1.5). With
/// φ = 10^−4 the thesis finds all that have more on most programs.
const EDGE: f64 = 0.1;

/// Degrees of overlap for which the greatest φ is looked for (Figure 5.4).
const OVERLAPS: [f64; 3] = [0.1, 0.5, 0.9];

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Thresholds φ, with a fifth of each for ε
    pub phi: Vec<f64>,
    /// Which size of the work
    pub size: Size,
    /// Memory with which nothing is dropped
    pub everything: Memory,
}

/// How a tree of hot contexts compares with the whole one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Contexts of the tree that the runtime has kept, the MCCT
    pub kept: usize,
    /// Contexts of the (φ, ε)-HCCT
    pub nodes: usize,
    /// Those of them that are counted as hot
    pub counted_hot: usize,
    /// Those that are not, but counted so
    pub false_positives: usize,
    /// All that are hot
    pub hot: usize,
    /// Share of all activations in the HCCT's contexts
    pub overlap: f64,
    /// Of contexts with [`EDGE`] of the activations of the hottest: the share that is in it
    pub coverage: f64,
    /// Of contexts that are not in it: the most activations, as a share of those of the hottest,
    /// and the average
    pub uncovered: [f64; 2],
    /// Of contexts that are hot: by how much their counts are too high, at most and on average
    pub error: [f64; 2],
    /// Hot contexts that are not there, and counts that are not within their bounds
    pub wrong: usize,
}

/// Compares.
///
/// # Errors
/// If the profile is none of hot contexts.
pub fn compare(whole: &Contexts, hot: &Contexts) -> Result<Accuracy> {
    let ContextMode::Hot { phi, .. } = hot.mode else {
        return Err(Error::Malformed {
            what: "a profile of hot contexts".to_string(),
            problem: "it has all contexts".to_string(),
        });
    };
    let step = |contexts: &Contexts, id: ContextId| (contexts.site(id), contexts.function(id).key);
    let places: HashMap<_, _> =
        whole.ids().map(|id| ((whole.parent(id), step(whole, id)), id)).collect();
    let n = whole.activations;
    let threshold = threshold(phi, whole);
    let mut result = Accuracy { kept: hot.len(), ..Accuracy::default() };
    result.wrong += usize::from(hot.activations != n);
    let mut known: HashMap<ContextId, ContextId> = HashMap::new();
    let mut in_tree: HashSet<ContextId> = HashSet::new();
    let mut errors = Vec::new();
    // Parents come before their children.
    for id in hot.ids() {
        let parent = hot.parent(id).map(|parent| known.get(&parent).copied());
        let place = match parent {
            Some(None) => None,
            parent => places.get(&(parent.flatten(), step(hot, id))).copied(),
        };
        let Some(place) = place else {
            result.wrong += 1;
            continue;
        };
        known.insert(id, place);
        let (count, error, truth) = (hot.count(id), hot.error(id), whole.count(place));
        result.wrong += usize::from(truth > count || count - error > truth);
        if count < threshold || count == error {
            continue;
        }
        result.counted_hot += 1;
        if truth >= threshold {
            errors.push(count.abs_diff(truth) as f64 / truth.max(1) as f64);
        } else {
            result.false_positives += 1;
        }
        let mut at = Some(place);
        while let Some(place) = at.filter(|&place| in_tree.insert(place)) {
            at = whole.parent(place);
        }
    }
    let most = whole.ids().map(|id| whole.count(id)).max().unwrap_or(0).max(1) as f64;
    let (mut covered, mut uncovered) = (0u64, Vec::new());
    let mut edges = [0usize; 2];
    let found: HashSet<ContextId> = known.values().copied().collect();
    for id in whole.ids() {
        let count = whole.count(id);
        let is_edge = count as f64 >= EDGE * most;
        edges[0] += usize::from(is_edge);
        if in_tree.contains(&id) {
            covered += count;
            edges[1] += usize::from(is_edge);
        } else {
            uncovered.push(count as f64 / most);
        }
        if count >= threshold {
            result.hot += 1;
            result.wrong += usize::from(!found.contains(&id));
        }
    }
    let average = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
    let largest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    result.nodes = in_tree.len();
    result.coverage = edges[1] as f64 / edges[0].max(1) as f64;
    result.overlap = covered as f64 / n.max(1) as f64;
    result.uncovered = [largest(&uncovered), average(&uncovered)];
    result.error = [largest(&errors), average(&errors)];
    Ok(result)
}

/// A run, and the memory that it took more than the native program, in bytes.
struct Ran {
    contexts: Contexts,
    memory: u64,
}

/// A program that is measured.
struct Bench<'a> {
    layout: &'a Layout,
    program: &'a Program,
    plan: &'a Plan,
    built: Built,
    /// The most memory of the native program
    native: u64,
}

impl<'a> Bench<'a> {
    fn new(layout: &'a Layout, program: &'a Program, plan: &'a Plan) -> Result<Bench<'a>> {
        let build = |how| build(layout, program, Variant { llvm: plan.llvm, opt: plan.opt, how });
        let native = build(How::Native)?;
        let native = job(layout, program, &native, plan.size)?.at_fixed_addresses();
        let built = build(How::Contexts { stage: Stage::Late, options: &[] })?;
        Ok(Bench { layout, program, plan, built, native: peak::run(&native)?.1 })
    }

    fn run(&self, mode: &str) -> Result<Ran> {
        let job: Job = job(self.layout, self.program, &self.built, self.plan.size)?;
        let job = self.plan.everything.give(job).env("MIDFLIGHT_CONTEXTS", mode);
        let (_, peak) = peak::run(&job.at_fixed_addresses())?;
        let contexts = read_profile(&profile_of(&self.built))?.contexts;
        let contexts = contexts.ok_or_else(|| Error::Malformed {
            what: format!("the profile of {}", self.program.name),
            problem: "it has no contexts".to_string(),
        })?;
        Ok(Ran { contexts, memory: peak.saturating_sub(self.native) })
    }
}

/// Measures programs. The tables, in Markdown, and whether what is promised holds.
///
/// # Errors
/// If a program cannot be built or run.
pub fn measure(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<(String, bool)> {
    let (mut trees, mut rows) = (Vec::new(), Vec::new());
    let mut holds = true;
    for program in programs {
        eprintln!("measuring {}", program.name);
        let bench = Bench::new(layout, program, plan)?;
        let whole = bench.run("cct")?;
        let skew = Skew::of(&whole.contexts, &OVERLAPS, &plan.phi);
        trees.push(tree_row(program.name, &whole, &skew));
        for &phi in &plan.phi {
            let hot = bench.run(&format!("hcct:{phi}"))?;
            let accuracy = compare(&whole.contexts, &hot.contexts)?;
            holds &= accuracy.wrong == 0 && hot.contexts.elsewhere == 0;
            let memory = hot.memory as f64 / whole.memory.max(1) as f64;
            rows.push(row(program.name, phi, &whole.contexts, &accuracy, memory));
        }
    }
    let header = tree_header(&plan.phi);
    let text = format!(
        "LLVM {}, -O{}, stage late, ε = φ / 5, memory for all: {}.\n\n\
         The whole trees (CCT). Hottest tenth: activations in a tenth of all contexts (Figure 3.1). φ for an overlap: \
         the greatest with which the exact HCCT has that share of all activations (Figure 5.4). HCCT: its contexts \
         (Table 5.1), and behind it τ, the share of the hottest context's activations from which on it has all edges \
         (Figure 5.5).\n\n{}\n\
         Hot contexts in bounded memory, (φ, ε)-HCCT. Kept: nodes that the runtime has had at its end (MCCT, Figure 5.1); \
         memory: the most that the process took more than the native one (Figure 5.2); both of the CCT's. Cold, false +: \
         of the HCCT (Figure 5.7). Coverage: of edges with {} of the hottest context's activations. Uncovered: \
         activations of contexts that are not in the HCCT, of the hottest's (Figure 5.6). Error: of hot \
         contexts' counts (Figure 5.8). Wrong: hot contexts that are missing, and counts out of their bounds.\n\n{}",
        plan.llvm,
        plan.opt,
        plan.everything,
        markdown(&header.iter().map(String::as_str).collect::<Vec<_>>(), &trees),
        percent(EDGE),
        markdown(&HEADER, &rows)
    );
    Ok((text, holds))
}

fn tree_header(phi: &[f64]) -> Vec<String> {
    let mut header = ["program", "contexts", "10⁶ activations", "MB", "hottest tenth"]
        .map(String::from)
        .to_vec();
    header.extend(OVERLAPS.map(|overlap| format!("φ for {:.0} %", overlap * 100.0)));
    header.extend(phi.iter().map(|phi| format!("HCCT, {phi:e}")));
    header
}

fn tree_row(name: &str, whole: &Ran, skew: &Skew) -> Vec<String> {
    let mut cells = vec![
        name.to_string(),
        whole.contexts.len().to_string(),
        format!("{:.1}", whole.contexts.activations as f64 / 1e6),
        (whole.memory / 1_000_000).to_string(),
        share(Some(skew.tenth)),
    ];
    cells.extend(skew.phi.iter().map(|phi| format!("{phi:.1e}")));
    let hcct = skew.nodes.iter().zip(&skew.covered);
    cells.extend(hcct.map(|(nodes, &covered)| format!("{nodes}; {}", fine(covered))));
    cells
}

const HEADER: [&str; 15] = [
    "program",
    "φ",
    "kept",
    "memory",
    "HCCT",
    "hot",
    "cold",
    "false +",
    "overlap",
    "coverage",
    "uncovered, most",
    "average",
    "error, most",
    "average",
    "wrong",
];

fn row(name: &str, phi: f64, whole: &Contexts, accuracy: &Accuracy, memory: f64) -> Vec<String> {
    let of_hcct = |part: usize| percent(part as f64 / accuracy.nodes.max(1) as f64);
    vec![
        name.to_string(),
        format!("{phi:e}"),
        percent(accuracy.kept as f64 / whole.len().max(1) as f64),
        percent(memory),
        accuracy.nodes.to_string(),
        accuracy.hot.to_string(),
        of_hcct(accuracy.nodes - accuracy.counted_hot),
        of_hcct(accuracy.false_positives),
        share(Some(accuracy.overlap)),
        share(Some(accuracy.coverage)),
        percent(accuracy.uncovered[0]),
        fine(accuracy.uncovered[1]),
        percent(accuracy.error[0]),
        percent(accuracy.error[1]),
        accuracy.wrong.to_string(),
    ]
}

/// A small share.
fn fine(share: f64) -> String {
    if share == 0.0 { "0 %".to_string() } else { format!("{:.1e} %", share * 100.0) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use midflight_profile::format::CalledFunction;

    /// A tree of functions that are called from sites of their own: for each context its parent's
    /// place, its count and its error, which are equal where it is not monitored. Hot ones with φ,
    /// where that is given.
    pub(crate) fn tree(phi: Option<f64>, nodes: &[(Option<usize>, u64, u64)]) -> Contexts {
        let mode = phi.map_or(ContextMode::All, |phi| ContextMode::Hot { phi, epsilon: phi / 5.0 });
        let mut contexts = Contexts::new(mode);
        let mut ids: Vec<ContextId> = Vec::new();
        for (at, &(parent, count, error)) in nodes.iter().enumerate() {
            let function = CalledFunction { module: 0, key: at as u64, slots: 9 };
            let function = contexts.intern(function).unwrap();
            let site = parent.map_or(0, |_| at as u32);
            let id = contexts.child_or_insert(parent.map(|parent| ids[parent]), site, function);
            contexts.add(id, count, error).unwrap();
            contexts.activations += count - error;
            ids.push(id);
        }
        contexts
    }

    const WHOLE: [(Option<usize>, u64, u64); 5] =
        [(None, 1, 0), (Some(0), 60, 0), (Some(0), 29, 0), (None, 9, 0), (None, 1, 0)];

    #[test]
    fn metrics_are_those_of_the_thesis() {
        let whole = tree(None, &WHOLE);
        let mut hot =
            tree(Some(0.3), &[(None, 9, 9), (Some(0), 63, 3), (Some(0), 32, 4), (None, 9, 9)]);
        hot.activations = 100;
        let accuracy = compare(&whole, &hot).unwrap();
        let expected = Accuracy {
            kept: 4,
            nodes: 3,
            counted_hot: 2,
            false_positives: 1,
            hot: 1,
            overlap: 0.9,
            coverage: 2.0 / 3.0,
            uncovered: [0.15, (9.0 / 60.0 + 1.0 / 60.0) / 2.0],
            error: [0.05, 0.05],
            wrong: 0,
        };
        assert_eq!(accuracy, expected);
    }

    #[test]
    fn what_is_promised_and_does_not_hold_is_counted() {
        let whole = tree(None, &WHOLE);
        let wrong = |nodes: &[(Option<usize>, u64, u64)]| {
            let mut hot = tree(Some(0.3), nodes);
            hot.activations = 100;
            compare(&whole, &hot).unwrap().wrong
        };
        assert_eq!(wrong(&[(None, 9, 9), (Some(0), 60, 0)]), 0);
        assert_eq!(wrong(&[(None, 9, 9)]), 1, "a hot context is missing");
        assert_eq!(wrong(&[(None, 9, 9), (Some(0), 59, 0)]), 1, "a count is too low");
        assert_eq!(wrong(&[(None, 9, 9), (Some(0), 64, 3)]), 1, "an error is too low");
        assert_eq!(wrong(&[(None, 9, 9), (Some(0), 60, 0), (Some(1), 1, 0)]), 1, "there is none");
    }
}
