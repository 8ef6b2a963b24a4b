//! `path-profile-gen`: numbers a module's functions and instruments them.

use crate::driver::{self, Driver, reason_to_skip};
use crate::paths::apply::{Target, apply};
use crate::paths::enter;
use crate::paths::numbering::{Numbering, number_paths};
use crate::paths::options::Options;
use crate::paths::plan::{plan, predicted_edges};
use crate::paths::read::{Snapshot, read};
use crate::paths::record::record_of;
use crate::paths::skip::Skip;
use crate::paths::step;
use midflight_abi::{RECORD_SECTION, is_dense};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_ir::ids::BlockId;
use midflight_profile::table::Stage;
use typed_index_collections::TiSlice;

/// Marks a function that is instrumented, so that a second run leaves it alone.
pub(crate) const MARK: &str = "midflight-paths";

/// What the name of a function's slot begins with.
pub(crate) fn slot_prefix(function: &str) -> String {
    format!("__midflight_slot.{function}.")
}

/// The pass.
pub struct PathProfileGen(pub Options);

impl Pass for PathProfileGen {
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        let changed = self.instrument_all(module, analyses);
        let stripped = self.0.strip_lines && debug::strip_unread_locations(module);
        changed || stripped
    }
}

impl PathProfileGen {
    fn instrument_all(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        let driver = Driver {
            doing: "instrumenting function '{}'",
            verify: self.0.verify,
            panic_at: self.0.panic_at.as_deref(),
        };
        // Instrumenting declares functions of the runtime: these are those from before.
        let functions = driver::changeable(module, "instrumenting a module");
        driver.instrument(module, &functions, "not profiled", |function| {
            self.instrument(module, function, analyses)
        })
    }

    /// Instruments a function, or tells why it is left alone.
    fn instrument<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        analyses: &Analyses<'m>,
    ) -> Result<Result<Vec<Function<'m>>, Skip>, String> {
        let options = &self.0;
        let (snapshot, numbering) = match number(module, function, analyses, options) {
            Ok(numbered) => numbered,
            Err(skip) => return Ok(Err(skip)),
        };
        let mut plan = plan(&snapshot.body, &numbering, options.algorithm, options.k);
        let record = record_of(module, function, &snapshot, &numbering, options, plan.mode);
        if module.is_for_library() {
            plan.lookup = None;
        }
        let facts = function.facts();
        let shared = facts.has_comdat() && !facts.is_local();
        let unique =
            |what: &str| format!("__midflight_{what}.{}.{:016x}", function.name(), record.key);
        let target = Target {
            module,
            function,
            body: &snapshot.body,
            handles: &snapshot.handles,
            record: module.section_bytes(&unique("table"), RECORD_SECTION, &record.bytes, shared),
            slot: module.thread_local_pointer(
                &format!("{}{:016x}", slot_prefix(&function.name()), record.key),
                shared,
            ),
            num_paths: numbering.num_paths,
            k: options.k,
            is_final: options.stage == Stage::Late && !module.is_for_lto(),
            oracle: options.oracle,
        };
        let calls = apply(&plan, &target).map_err(|error| error.to_string())?;
        function.mark(MARK);
        if options.verify {
            // SSA aside, the graph must be the one that the plan predicts.
            check_shape(function, &predicted_edges(&snapshot.body, &plan))?;
        }
        step::inline(module, function, is_dense(target.num_paths, target.k), &calls);
        enter::complete(&target, &calls.lookups);
        Ok(Ok(vec![function]))
    }
}

/// Reads a function and numbers its paths.
///
/// # Errors
/// Why it is left alone.
pub fn number<'m>(
    module: Module<'m>,
    function: Function<'m>,
    analyses: &Analyses<'m>,
    options: &Options,
) -> Result<(Snapshot<'m>, Numbering), Skip> {
    if let Some(skip) = reason_to_skip(module, function, options.functions.as_ref()) {
        return Err(skip);
    }
    let snapshot = read(function, analyses)?;
    let numbering =
        number_paths(&snapshot.body, options.max_paths()).map_err(|_| Skip::TooManyPaths)?;
    Ok((snapshot, numbering))
}

/// Compares the graph of an instrumented function with the predicted one, up to the names of
/// blocks.
///
/// Both are walked together from the entry, which the split of the entry moved behind the check of
/// the slot; successors are compared in their order.
fn check_shape(
    function: Function<'_>,
    predicted: &TiSlice<BlockId, Vec<BlockId>>,
) -> Result<(), String> {
    let Some(entry) = function.blocks().next() else { return Ok(()) };
    let Some(&body) = entry.successors().last() else { return Err("the entry is lost".into()) };
    let mut pairs = std::collections::HashMap::from([(body, BlockId::ENTRY)]);
    let mut work = vec![body];
    while let Some(block) = work.pop() {
        let id = pairs[&block];
        let mut targets = block.successors();
        let mut seen = std::collections::HashSet::new();
        targets.retain(|t| seen.insert(*t));
        if targets.len() != predicted[id].len() {
            return Err(format!("block {id} has {} targets, not those planned", targets.len()));
        }
        for (target, &expected) in targets.into_iter().zip(&predicted[id]) {
            match pairs.insert(target, expected) {
                None => work.push(target),
                Some(known) if known == expected => {}
                Some(known) => return Err(format!("block {known} stands for block {expected}")),
            }
        }
    }
    Ok(())
}
