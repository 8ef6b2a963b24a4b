//! `midflight-bench contexts accuracy`: what hot contexts in bounded memory tell, against all of
//! them: the metrics of the thesis (5.1.2), and what its theorems promise.

use crate::build::build;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::percent::{percent, share};
use crate::process::Job;
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{Granularity, How, Stage, Variant};
use crate::workload::{job, profile_of};
use midflight_profile::contexts::Share;
use midflight_profile::format::{ContextId, ContextMode, Contexts};
use std::collections::{HashMap, HashSet};

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
    /// Those that are
    pub hot: usize,
    /// Share of all activations in the HCCT's contexts
    pub overlap: f64,
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
    let threshold = Share::new(phi).map_or(u64::MAX, |phi| phi.floor_of(n));
    let mut result = Accuracy { kept: hot.len(), ..Accuracy::default() };
    let mut known: HashMap<ContextId, ContextId> = HashMap::new();
    let mut in_tree: HashSet<ContextId> = HashSet::new();
    let mut errors = Vec::new();
    for (id, _) in hot.preorder() {
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
            errors.push((count - truth) as f64 / truth as f64);
        }
        let mut at = Some(place);
        while let Some(place) = at.filter(|&place| in_tree.insert(place)) {
            at = whole.parent(place);
        }
    }
    let most = whole.ids().map(|id| whole.count(id)).max().unwrap_or(0).max(1) as f64;
    let (mut covered, mut uncovered) = (0u64, Vec::new());
    let found: HashSet<ContextId> = known.values().copied().collect();
    for id in whole.ids() {
        let count = whole.count(id);
        if in_tree.contains(&id) {
            covered += count;
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
    result.overlap = covered as f64 / n.max(1) as f64;
    result.uncovered = [largest(&uncovered), average(&uncovered)];
    result.error = [largest(&errors), average(&errors)];
    Ok(result)
}

/// Measures programs. The table, in Markdown, and whether what is promised holds.
///
/// # Errors
/// If a program cannot be built or run.
pub fn measure(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<(String, bool)> {
    let how = How::Contexts { stage: Stage::Late, granularity: Granularity::Sites };
    let mut rows = Vec::new();
    let mut holds = true;
    for program in programs {
        eprintln!("measuring {}", program.name);
        let built = build(layout, program, Variant { llvm: plan.llvm, opt: plan.opt, how })?;
        let run = |mode: &str| -> Result<Option<Contexts>> {
            let job: Job = job(layout, program, &built, plan.size)?.env("MIDFLIGHT_CONTEXTS", mode);
            job.run()?;
            Ok(read_profile(&profile_of(&built))?.contexts)
        };
        let Some(whole) = run("cct")? else { continue };
        for &phi in &plan.phi {
            let Some(hot) = run(&format!("hcct:{phi}"))? else { continue };
            let accuracy = compare(&whole, &hot)?;
            holds &= accuracy.wrong == 0;
            rows.push(row(program.name, phi, &whole, &accuracy));
        }
    }
    let header = [
        "program",
        "contexts",
        "φ",
        "kept",
        "HCCT",
        "hot",
        "false +",
        "overlap",
        "uncovered, most %",
        "average %",
        "error, most %",
        "average %",
        "wrong",
    ];
    let text = format!(
        "LLVM {}, -O{}, stage late, ε = φ / 5. Kept: contexts in memory, of all. Uncovered: what is not in the \
         (φ, ε)-HCCT, of the hottest context. Wrong: hot contexts that are missing, and counts out of their bounds.\n\n{}",
        plan.llvm,
        plan.opt,
        markdown(&header, &rows)
    );
    Ok((text, holds))
}

fn row(name: &str, phi: f64, whole: &Contexts, accuracy: &Accuracy) -> Vec<String> {
    vec![
        name.to_string(),
        whole.len().to_string(),
        format!("{phi}"),
        percent(accuracy.kept as f64 / whole.len() as f64),
        accuracy.nodes.to_string(),
        accuracy.hot.to_string(),
        (accuracy.counted_hot.saturating_sub(accuracy.hot)).to_string(),
        share(Some(accuracy.overlap)),
        percent(accuracy.uncovered[0]),
        percent(accuracy.uncovered[1]),
        percent(accuracy.error[0]),
        percent(accuracy.error[1]),
        accuracy.wrong.to_string(),
    ]
}
