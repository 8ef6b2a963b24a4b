//! `midflight-bench contexts accuracy`: what hot contexts in bounded memory tell, against all of
//! them: the metrics of the thesis (5.1.2), what its theorems promise, and the memory of both.

use crate::build::{Built, build};
use crate::contexts::bursts::{self, Sample};
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

/// What a profile says to be hot, in the whole tree.
pub struct Hot {
    /// By context of the profile that of the whole tree, where there is one
    pub places: HashMap<ContextId, ContextId>,
    /// Contexts that are counted as hot, with those of the whole tree
    pub hot: Vec<(ContextId, ContextId)>,
    /// These, and what is above them: the HCCT, in the whole tree
    pub tree: HashSet<ContextId>,
}

impl Hot {
    /// Of a profile of the same program, in which contexts are hot from so many activations on.
    pub fn of(whole: &Contexts, profile: &Contexts, threshold: u64) -> Hot {
        let step = |contexts: &Contexts, id| (contexts.site(id), contexts.function(id).key);
        let by_step: HashMap<_, _> =
            whole.ids().map(|id| ((whole.parent(id), step(whole, id)), id)).collect();
        let mut found = Hot { places: HashMap::new(), hot: Vec::new(), tree: HashSet::new() };
        // Parents come before their children.
        for id in profile.ids() {
            let parent = profile.parent(id).map(|parent| found.places.get(&parent).copied());
            let place = match parent {
                Some(None) => None,
                parent => by_step.get(&(parent.flatten(), step(profile, id))).copied(),
            };
            let Some(place) = place else { continue };
            found.places.insert(id, place);
            let count = profile.count(id);
            if count < threshold || count == profile.error(id) {
                continue;
            }
            found.hot.push((id, place));
            let mut at = Some(place);
            while let Some(place) = at.filter(|&place| found.tree.insert(place)) {
                at = whole.parent(place);
            }
        }
        found
    }
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
    let n = whole.activations;
    let threshold = threshold(phi, whole);
    let mut result = Accuracy { kept: hot.len(), ..Accuracy::default() };
    let found = Hot::of(whole, hot, threshold);
    result.wrong += usize::from(hot.activations != n) + hot.len() - found.places.len();
    for (&id, &place) in &found.places {
        let (count, truth) = (hot.count(id), whole.count(place));
        result.wrong += usize::from(truth > count || count - hot.error(id) > truth);
    }
    let mut errors = Vec::new();
    for &(id, place) in &found.hot {
        let (count, truth) = (hot.count(id), whole.count(place));
        if truth >= threshold {
            errors.push(count.abs_diff(truth) as f64 / truth.max(1) as f64);
        }
    }
    result.counted_hot = found.hot.len();
    result.false_positives = found.hot.len() - errors.len();
    let most = whole.ids().map(|id| whole.count(id)).max().unwrap_or(0).max(1) as f64;
    let (mut covered, mut uncovered) = (0u64, Vec::new());
    let mut edges = [0usize; 2];
    let known: HashSet<ContextId> = found.places.values().copied().collect();
    for id in whole.ids() {
        let count = whole.count(id);
        let is_edge = count as f64 >= EDGE * most;
        edges[0] += usize::from(is_edge);
        if found.tree.contains(&id) {
            covered += count;
            edges[1] += usize::from(is_edge);
        } else {
            uncovered.push(count as f64 / most);
        }
        if count >= threshold {
            result.hot += 1;
            result.wrong += usize::from(!known.contains(&id));
        }
    }
    result.nodes = found.tree.len();
    result.coverage = edges[1] as f64 / edges[0].max(1) as f64;
    result.overlap = covered as f64 / n.max(1) as f64;
    result.uncovered = largest_and_average(&uncovered);
    result.error = largest_and_average(&errors);
    Ok(result)
}

/// 0 of none
pub fn largest_and_average(all: &[f64]) -> [f64; 2] {
    let sum: f64 = all.iter().sum();
    [all.iter().copied().fold(0.0, f64::max), sum / all.len().max(1) as f64]
}

/// A run, and the memory that it took more than the native program, in bytes.
struct Ran {
    contexts: Contexts,
    memory: u64,
}

/// What a program was told about bursts, as the thesis has them (5.1.4).
const BURSTS: &str = "20ms:2ms";

/// The φ of Figure 5.9.
const PHI_IN_BURSTS: f64 = 1e-4;

/// A program that is measured.
struct Bench<'a> {
    layout: &'a Layout,
    program: &'a Program,
    plan: &'a Plan,
    built: Built,
    /// For bursts
    in_bursts: Built,
    /// The most memory of the native program
    native: u64,
}

impl<'a> Bench<'a> {
    fn new(layout: &'a Layout, program: &'a Program, plan: &'a Plan) -> Result<Bench<'a>> {
        let build = |how| build(layout, program, Variant { llvm: plan.llvm, opt: plan.opt, how });
        let native = build(How::Native)?;
        let native = job(layout, program, &native, plan.size)?.at_fixed_addresses();
        let contexts = |options| build(How::Contexts { stage: Stage::Late, options });
        let (built, in_bursts) = (contexts(&[])?, contexts(&["--midflight-bursts"])?);
        Ok(Bench { layout, program, plan, built, in_bursts, native: peak::run(&native)?.1 })
    }

    fn run(&self, mode: &str) -> Result<Ran> {
        self.run_built(&self.built, mode, "off")
    }

    /// In bursts; `off` for all.
    fn run_bursts(&self, mode: &str, bursts: &str) -> Result<Contexts> {
        Ok(self.run_built(&self.in_bursts, mode, bursts)?.contexts)
    }

    fn run_built(&self, built: &Built, mode: &str, bursts: &str) -> Result<Ran> {
        let job: Job = job(self.layout, self.program, built, self.plan.size)?;
        let job = self.plan.everything.give(job).env("MIDFLIGHT_CONTEXTS", mode);
        let job = job.env("MIDFLIGHT_BURSTS", bursts);
        let (_, peak) = peak::run(&job.at_fixed_addresses())?;
        let contexts = read_profile(&profile_of(built))?.contexts;
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
    let (mut trees, mut rows, mut sampled) = (Vec::new(), Vec::new(), Vec::new());
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
        // Its tail calls have no slots, so that its contexts are others than those above.
        let whole = bench.run_bursts("cct", "off")?;
        for (name, mode) in [("CCT", "cct".to_string()), ("HCCT", format!("hcct:{PHI_IN_BURSTS}"))]
        {
            let sample = bench.run_bursts(&mode, BURSTS)?;
            let sample = Sample::of(&whole, &sample, PHI_IN_BURSTS);
            sampled.push(sample.row(program.name, name));
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
         contexts' counts (Figure 5.8). Wrong: hot contexts that are missing, and counts out of their bounds.\n\n{}\n\
         In bursts ({BURSTS}), φ = {PHI_IN_BURSTS:e}. Seen: activations in bursts, of all. \
         Error: of hot contexts' counts over that share (Figure 5.9 a). Missing: hot contexts \
         that are not counted as such. Coverage of edges with τ of the hottest context's \
         activations, where τ̃ is the least τ with which the exact HCCT covers all (Figure 5.9 b).\
         \n\n{}",
        plan.llvm,
        plan.opt,
        plan.everything,
        markdown(&header.iter().map(String::as_str).collect::<Vec<_>>(), &trees),
        percent(EDGE),
        markdown(&HEADER, &rows),
        bursts::table(&sampled),
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
