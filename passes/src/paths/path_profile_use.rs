//! `path-profile-use<file=F>`: gives a module the counts of a profile, as LLVM's optimizer reads
//! them.
//!
//! The pass stands where the instrumentation stood when the profile was made, so the graphs are the
//! same: blocks and edges are those of the profile, by their numbers. A function whose graph is
//! another one now gets nothing but a remark, and each unit with such functions, or with none that
//! the profile knows, one warning.
//!
//! Branches, switches and the like get the counts of their edges as weights, functions the count of
//! their activations, and the module the summary of the whole program, by which LLVM tells hot from
//! cold. What the source says of likely branches gives way to what was counted. Loops of which
//! cyclic paths tell that unrolling pays are marked; `bridge/cpp/unroll.cpp` decides, in front of
//! the vectorizer.

use crate::driver::{Driver, definitions, reason_to_leave_alone};
use crate::paths::read::{Handle, read};
use crate::paths::record::unit_of;
use crate::paths::skip::Skip;
use crate::paths::weights_file::{Found, WeightsFile};
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, LLVM_MAJOR, Pass};
use midflight_ir::body::Body;
use midflight_ir::ids::BlockId;
use midflight_profile::table::Stage;
use midflight_profile::weights::FunctionWeights;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use typed_index_collections::TiSlice;

/// The pass.
pub struct PathProfileUse {
    /// The profile
    pub weights: Arc<WeightsFile>,
    /// Verify each function after it is changed.
    pub verify: bool,
}

impl Pass for PathProfileUse {
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        module.set_profile_summary(analyses, self.weights.all_counts());
        let mut matches = Matches::default();
        let driver =
            Driver { verify: self.verify, ..Driver::reading("giving function '{}' its counts") };
        let all_done = driver.run(module, &definitions(module), |function| {
            if reason_to_leave_alone(function.facts()).is_some() {
                return Ok(Vec::new());
            }
            let (why, cfg_hash) = match self.annotate(module, function, analyses) {
                Ok(()) => {
                    matches.matched += 1;
                    return Ok(vec![function]);
                }
                Err(why) => why,
            };
            match why {
                Skip::CfgMismatch => matches.changed += 1,
                Skip::NotInProfile => matches.unknown += 1,
                _ => {}
            }
            let message = why.message().replace("{}", &FunctionWeights::hash_text(cfg_hash));
            function.remark_missed("midflight", why.name(), &format!("no counts: {message}"));
            Ok(Vec::new())
        });
        if let Some(message) = matches.warning(&self.weights).filter(|_| all_done) {
            module.warning(&message);
        }
        true
    }
}

/// How many functions of a unit the profile knows.
#[derive(Clone, Copy, Debug, Default)]
struct Matches {
    matched: usize,
    /// Those with another control flow graph than there
    changed: usize,
    /// Those that are not in it
    unknown: usize,
}

impl Matches {
    /// What is to be told of it, as clang tells of profiles that are out of date; nothing of
    /// functions that are new beside others.
    fn warning(self, weights: &WeightsFile) -> Option<String> {
        let Matches { matched, changed, unknown } = self;
        let all = matched + changed + unknown;
        let other_llvm = weights.llvm != 0 && weights.llvm != LLVM_MAJOR;
        if all == 0 || matched > 0 && changed == 0 && !other_llvm {
            return None;
        }
        let functions = if all == 1 { "function" } else { "functions" };
        let mut message = format!(
            "midflight: {matched} of {all} {functions} matched the profile '{}'",
            weights.path
        );
        let mut told = |number: usize, what: &str| {
            if number > 0 {
                message.push_str(&format!("; {number} {what}"));
            }
        };
        told(
            changed,
            "with another control flow there: another version of the source, or other options",
        );
        told(unknown, "not there");
        if other_llvm {
            let made = weights.llvm;
            message.push_str(&format!(
                "; it was made with LLVM {made}, and this is LLVM {LLVM_MAJOR}"
            ));
        }
        if changed + unknown > 0 {
            message.push_str(" (-Rpass-missed=midflight names them)");
        }
        Some(message)
    }
}

impl PathProfileUse {
    /// Gives a function its counts; or tells why it gets none, and the hash of its graph.
    fn annotate<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        analyses: &Analyses<'m>,
    ) -> Result<(), (Skip, u64)> {
        let snapshot = read(function, analyses).map_err(|_| (Skip::NotReadable, 0))?;
        let (body, unit, hash) =
            (&snapshot.body, unit_of(module, function), snapshot.body.cfg_hash());
        let counts = match self.weights.find(&function.name(), &unit, hash) {
            Found::Counts(counts) => counts,
            Found::OtherGraph => return Err((Skip::CfgMismatch, hash)),
            Found::Unknown => return Err((Skip::NotInProfile, hash)),
        };
        set_weights(body, &snapshot.handles, counts);
        function.set_entry_count(counts.entries);
        function.lower_expectations(analyses);
        if self.weights.stage != Stage::Late {
            mark_loops(&snapshot.handles, counts, analyses);
        }
        let largest = counts.blocks.iter().copied().max().unwrap_or(0).max(counts.entries);
        function.mark_heat(analyses, counts.entries, largest);
        Ok(())
    }
}

/// Gives each terminator with several successors the counts of its edges.
fn set_weights(body: &Body, handles: &TiSlice<BlockId, Handle<'_>>, counts: &FunctionWeights) {
    let edges: FxHashMap<(u32, u32), u64> =
        counts.edges.iter().map(|&(from, to, count)| ((from, to), count)).collect();
    // The first part of each block: an edge leads there.
    let mut ids = FxHashMap::default();
    for (id, handle) in handles.iter_enumerated() {
        ids.entry(handle.block).or_insert(id);
    }
    for (from, handle) in handles.iter_enumerated() {
        if handle.restart.is_some() || body.blocks[from].edges.is_empty() {
            continue;
        }
        let targets: Vec<BlockId> = handle
            .block
            .successors()
            .iter()
            .filter_map(|target| ids.get(target).copied())
            .collect();
        let count_of = |to: BlockId| edges.get(&(from.into(), to.into())).copied();
        let counts: Vec<u64> = shared(&targets, |to| count_of(to).unwrap_or(0));
        if counts.len() > 1 && counts.iter().any(|&count| count != 0) {
            handle.block.terminator().set_branch_weights(&scaled(&counts));
        }
    }
}

/// Marks the loops that should be unrolled. Behind the optimizer nothing would unroll them.
fn mark_loops(
    handles: &TiSlice<BlockId, Handle<'_>>,
    counts: &FunctionWeights,
    analyses: &Analyses<'_>,
) {
    for l in &counts.loops {
        if let Some(header) = handles.get(BlockId::from(l.header as usize)) {
            header.block.mark_loop(analyses, l.unroll);
        }
    }
}

/// A count for each target, where parallel edges share that of their target evenly.
fn shared(targets: &[BlockId], count_of: impl Fn(BlockId) -> u64) -> Vec<u64> {
    let mut parallel: FxHashMap<BlockId, u64> = FxHashMap::default();
    targets.iter().for_each(|&to| *parallel.entry(to).or_default() += 1);
    targets.iter().map(|&to| count_of(to).div_ceil(parallel[&to])).collect()
}

/// The counts as 32-bit weights in the same proportions. What was taken stays above zero.
fn scaled(counts: &[u64]) -> Vec<u32> {
    let largest = counts.iter().copied().max().unwrap_or(0);
    let divisor = largest / u64::from(u32::MAX) + 1;
    let scale = |&count: &u64| count.div_ceil(divisor).min(u64::from(u32::MAX)) as u32;
    counts.iter().map(scale).collect()
}
