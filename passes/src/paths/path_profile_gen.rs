//! `path-profile-gen`: numbers a module's functions and instruments them.

use crate::paths::apply::{Target, apply};
use crate::paths::endings;
use crate::paths::enter;
use crate::paths::numbering::{Numbering, number_paths};
use crate::paths::options::Options;
use crate::paths::plan::{plan, predicted_edges};
use crate::paths::read::{Snapshot, read};
use crate::paths::record::record_of;
use crate::paths::skip::Skip;
use crate::paths::step;
use crate::target::is_supported;
use midflight_abi::{RECORD_SECTION, SKIPPED_SECTION};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, Pass, guard, internal_error};
use midflight_ir::ids::BlockId;
use midflight_profile::table::Stage;
use typed_index_collections::TiSlice;

/// Marks a function that is instrumented, so that a second run leaves it alone.
const MARK: &str = "midflight-paths";

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
        let mut changed = false;
        let mut skipped = Vec::new();
        // Instrumenting declares functions of the runtime: collect first.
        let functions: Vec<_> = module.functions().filter(|f| f.is_definition()).collect();
        if functions.is_empty() || !is_supported(module, "instrumenting a module") {
            return false;
        }
        for function in functions {
            match guard(|| self.instrument(module, function, analyses)) {
                Ok(Ok(())) => changed = true,
                Ok(Err(Failure::Skipped(skip))) => {
                    if skip.is_news() {
                        let message = format!("not profiled: {}", skip.message());
                        function.remark_missed("midflight", skip.name(), &message);
                    }
                    if skip.is_told() {
                        skipped.extend([function.name(), "\0".into()]);
                        skipped.extend([skip.name().into(), "\0".into()]);
                    }
                }
                Ok(Err(Failure::Defect(message))) => {
                    module.error(&format!("midflight: {}", defect(function, message)));
                    return true;
                }
                Err(panic) => {
                    let doing = format!("instrumenting function '{}'", function.name());
                    module.error(&format!("midflight: {}", internal_error(&doing, &panic)));
                    return true;
                }
            }
        }
        if changed {
            endings::prepare(module);
        }
        if !skipped.is_empty() {
            let text = skipped.concat();
            module.retained_bytes("__midflight_skipped", SKIPPED_SECTION, text.as_bytes());
            changed = true;
        }
        changed
    }
}

enum Failure {
    Skipped(Skip),
    Defect(String),
}

impl From<Skip> for Failure {
    fn from(skip: Skip) -> Self {
        Failure::Skipped(skip)
    }
}

fn defect(function: Function<'_>, message: String) -> String {
    format!(
        "instrumenting function '{}': {}; this is a defect of midflight, please report it",
        function.name(),
        message.replace('\n', " ")
    )
}

impl PathProfileGen {
    fn instrument<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        analyses: &Analyses<'m>,
    ) -> Result<(), Failure> {
        let options = &self.0;
        if options.panic_at.as_deref() == Some(&function.name()) {
            panic!("asked for by debug-panic-at");
        }
        if let Some(skip) = reason_to_skip(module, function, options) {
            return Err(skip.into());
        }
        let (snapshot, numbering) = number(function, analyses, options)?;
        let mut plan = plan(&snapshot.body, &numbering, options.algorithm, options.k);
        let record = record_of(module, function, &snapshot, &numbering, options, plan.mode);
        if module.is_for_library() {
            plan.lookup = None;
        }
        let shared = function.facts().has_comdat() && !function.facts().is_local();
        let unique =
            |what: &str| format!("__midflight_{what}.{}.{:016x}", function.name(), record.key);
        let target = Target {
            module,
            function,
            body: &snapshot.body,
            handles: &snapshot.handles,
            record: module.section_bytes(&unique("table"), RECORD_SECTION, &record.bytes, shared),
            slot: module.thread_local_pointer(&unique("slot"), shared),
            num_paths: numbering.num_paths,
            is_final: options.stage == Stage::Late && !module.is_for_lto(),
            oracle: options.oracle,
        };
        let calls = apply(&plan, &target).map_err(|error| Failure::Defect(error.to_string()))?;
        function.mark(MARK);
        if options.verify {
            // SSA aside, the graph must be the one that the plan predicts.
            check_shape(function, &predicted_edges(&snapshot.body, &plan))
                .map_err(Failure::Defect)?;
        }
        step::inline(module, function, numbering.num_paths, &calls);
        enter::complete(&target, &calls.lookups);
        if options.verify
            && let Some(message) = function.verify()
        {
            return Err(Failure::Defect(format!("the verifier says: {message}")));
        }
        Ok(())
    }
}

/// Why a function is left alone, as far as that is known before it is read.
pub fn reason_to_skip(
    module: Module<'_>,
    function: Function<'_>,
    options: &Options,
) -> Option<Skip> {
    if let Some(skip) = reason_to_leave_alone(function) {
        return Some(skip);
    }
    let listed = |list: &crate::function_list::FunctionList| {
        list.includes(&function.name(), &module.source_file())
    };
    let reasons = [
        (function.facts().is_presplit_coroutine(), Skip::Coroutine),
        (function.facts().has_funclet_personality(), Skip::FuncletPersonality),
        (options.functions.as_ref().is_some_and(|l| !listed(l)), Skip::NotListed),
        (function.is_marked(MARK), Skip::Instrumented),
    ];
    reasons.into_iter().find_map(|(holds, skip)| holds.then_some(skip))
}

/// Why nothing may be put into a function at all.
pub fn reason_to_leave_alone(function: Function<'_>) -> Option<Skip> {
    let facts = function.facts();
    let reasons = [
        (facts.is_available_externally(), Skip::AvailableExternally),
        (facts.is_naked(), Skip::Naked),
        (facts.is_not_profiled(), Skip::NoProfileAttribute),
        (facts.is_ifunc_resolver(), Skip::IfuncResolver),
    ];
    reasons.into_iter().find_map(|(holds, skip)| holds.then_some(skip))
}

/// Reads a function and numbers its paths.
///
/// # Errors
/// Why it cannot be numbered.
pub fn number<'m>(
    function: Function<'m>,
    analyses: &Analyses<'m>,
    options: &Options,
) -> Result<(Snapshot<'m>, Numbering), Skip> {
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
