//! How passes go over the functions of a module, and which functions each leaves alone.

use crate::contexts::cct_profile_gen;
use crate::function_list::FunctionList;
use crate::osr::weave;
use crate::paths::endings;
use crate::paths::path_profile_gen;
use crate::paths::skip::Skip;
use midflight_abi::SKIPPED_SECTION;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{guard, internal_error};
use midflight_ir::facts::FunctionFacts;
use midflight_mapping::refusal::Refusal;

/// How a pass goes over functions.
#[derive(Clone, Copy, Debug)]
pub struct Driver<'o> {
    /// What it does, with `{}` for the function's name
    pub doing: &'o str,
    /// Verify what was changed.
    pub verify: bool,
    /// Test only: panic at this function.
    pub panic_at: Option<&'o str>,
}

impl<'o> Driver<'o> {
    /// For a pass that changes nothing.
    pub fn reading(doing: &'o str) -> Self {
        Driver { doing, verify: false, panic_at: None }
    }

    /// Goes over functions one after the other, up to the first that fails or panics, which becomes
    /// an error. `work` returns what it has changed. True if all are done.
    pub fn run<'m>(
        &self,
        module: Module<'m>,
        functions: &[Function<'m>],
        mut work: impl FnMut(Function<'m>) -> Result<Vec<Function<'m>>, String>,
    ) -> bool {
        for &function in functions {
            // The name is that from before the change.
            let name = function.name();
            let doing = self.doing.replace("{}", &name);
            let problem = match guard(|| {
                assert!(self.panic_at != Some(&name), "asked for by debug-panic-at");
                work(function).and_then(|changed| self.check(&changed))
            }) {
                Ok(Ok(())) => continue,
                Ok(Err(message)) => format!(
                    "{doing}: {}; this is a defect of midflight, please report it",
                    message.replace('\n', " ")
                ),
                Err(panic) => internal_error(&doing, &panic),
            };
            module.error(&format!("midflight: {problem}"));
            return false;
        }
        true
    }

    /// The same for a profiler: `work` instruments a function, and returns what it has changed, or
    /// tells why it leaves it alone, which the user and the binary are told of; `left_alone` is
    /// what that means. True if anything is changed.
    pub fn instrument<'m>(
        &self,
        module: Module<'m>,
        functions: &[Function<'m>],
        left_alone: &str,
        mut work: impl FnMut(Function<'m>) -> Result<Result<Vec<Function<'m>>, Skip>, String>,
    ) -> bool {
        let (mut changed, mut skipped) = (false, Vec::new());
        let all_done = self.run(module, functions, |function| {
            let skip = match work(function)? {
                Ok(its) => {
                    changed = true;
                    return Ok(its);
                }
                Err(skip) => skip,
            };
            if skip.is_news() {
                let message = format!("{left_alone}: {}", skip.message());
                function.remark_missed("midflight", skip.name(), &message);
            }
            if skip.is_told() {
                skipped.extend([function.name(), "\0".into(), skip.name().into(), "\0".into()]);
            }
            Ok(Vec::new())
        });
        if !all_done {
            return true;
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

    fn check(&self, changed: &[Function<'_>]) -> Result<(), String> {
        for function in changed.iter().filter(|_| self.verify) {
            if let Some(message) = function.verify() {
                return Err(format!("the verifier says of '{}': {message}", function.name()));
            }
        }
        Ok(())
    }
}

/// The functions of a module that have bodies.
pub fn definitions<'m>(module: Module<'m>) -> Vec<Function<'m>> {
    module.functions().filter(|f| f.is_definition()).collect()
}

/// The same for a pass that inserts code; none, and an error, if that cannot work on the module's
/// target. `doing` is what for.
///
/// The records that the linker collects by section, and the runtime that reads them, need ELF and
/// pointers of 64 bits.
pub fn changeable<'m>(module: Module<'m>, doing: &str) -> Vec<Function<'m>> {
    let (functions, format) = (definitions(module), module.object_format());
    let problem = if functions.is_empty() {
        return functions;
    } else if format != "elf" {
        format!("the target's object files are {format}, and only elf is supported")
    } else if !module.pointers_have(64) {
        "only targets with 64-bit pointers are supported".to_string()
    } else {
        return functions;
    };
    module.error(&format!("midflight: {doing}: {problem}"));
    Vec::new()
}

/// Why no code for paths may be put into a function at all.
pub fn reason_to_leave_alone(facts: FunctionFacts) -> Option<Skip> {
    first([
        (facts.is_available_externally(), Skip::AvailableExternally),
        (facts.is_naked(), Skip::Naked),
        (facts.is_not_profiled(), Skip::NoProfileAttribute),
        (facts.is_ifunc_resolver(), Skip::IfuncResolver),
    ])
}

/// Why the paths of a function are not profiled, as far as that is known before it is read.
pub fn reason_to_skip(
    module: Module<'_>,
    function: Function<'_>,
    list: Option<&FunctionList>,
) -> Option<Skip> {
    reason_to_skip_if(module, function, list, function.is_marked(path_profile_gen::MARK))
}

/// Why the calls of a function are not profiled.
pub fn reason_to_skip_contexts(
    module: Module<'_>,
    function: Function<'_>,
    list: Option<&FunctionList>,
) -> Option<Skip> {
    reason_to_skip_if(module, function, list, function.is_marked(cct_profile_gen::MARK))
}

fn reason_to_skip_if(
    module: Module<'_>,
    function: Function<'_>,
    list: Option<&FunctionList>,
    is_instrumented: bool,
) -> Option<Skip> {
    let facts = function.facts();
    reason_to_leave_alone(facts).or_else(|| {
        first([
            (facts.is_presplit_coroutine(), Skip::Coroutine),
            (facts.has_funclet_personality(), Skip::FuncletPersonality),
            (is_left_out(module, function, list), Skip::NotListed),
            (is_instrumented, Skip::Instrumented),
        ])
    })
}

/// Why a function has no OSR points at all.
pub fn reason_to_refuse(
    module: Module<'_>,
    function: Function<'_>,
    list: Option<&FunctionList>,
) -> Option<Refusal> {
    let facts = function.facts();
    let mut instructions = function.blocks().flat_map(|b| b.instructions());
    first([
        (facts.is_available_externally(), Refusal::AvailableExternally),
        (facts.is_naked(), Refusal::Naked),
        (facts.is_presplit_coroutine(), Refusal::Coroutine),
        (facts.has_funclet_personality(), Refusal::FuncletPersonality),
        (facts.is_ifunc_resolver(), Refusal::IfuncResolver),
        (facts.returns_twice(), Refusal::ReturnsTwice),
        (facts.has_gc(), Refusal::GarbageCollected),
        (facts.has_unsupported_parameter(), Refusal::UnsupportedParameter),
        (facts.has_convergence_control(), Refusal::ConvergenceControl),
        (facts.has_inlined_vectors(), Refusal::InlinedVectors),
        (is_left_out(module, function, list), Refusal::NotListed),
        (function.is_marked(weave::MARK), Refusal::Processed),
        (instructions.any(|i| i.facts().is_unsupported_alloca()), Refusal::UnsupportedAlloca),
    ])
}

fn is_left_out(module: Module<'_>, function: Function<'_>, list: Option<&FunctionList>) -> bool {
    list.is_some_and(|list| !list.includes(&function.name(), &module.source_file()))
}

/// The first reason that holds.
fn first<R: Copy, const N: usize>(reasons: [(bool, R); N]) -> Option<R> {
    reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}
