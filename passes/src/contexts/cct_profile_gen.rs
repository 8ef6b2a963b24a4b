//! `cct-profile-gen`: instruments the calls of a module's functions.

use crate::contexts::apply::{Target, apply};
use crate::contexts::bursts;
use crate::contexts::options::Options;
use crate::contexts::paths;
use crate::contexts::plan::{Plan, is_marked, plan};
use crate::contexts::record::record_of;
use crate::contexts::time;
use crate::driver::{self, Driver, reason_to_skip_contexts};
use midflight_abi::RECORD_SECTION;
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_profile::table::{Recursion, Stage, key_of};
use std::collections::HashSet;

/// Marks a function that is instrumented, so that a second run leaves it alone.
pub(crate) const MARK: &str = "midflight-contexts";

/// The pass.
pub struct CctProfileGen(pub Options);

impl Pass for CctProfileGen {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let changed = self.instrument_all(module);
        let stripped = self.0.strip_lines && debug::strip_unread_locations(module);
        changed || stripped
    }
}

impl CctProfileGen {
    fn instrument_all(&self, module: Module<'_>) -> bool {
        let driver = Driver {
            doing: "instrumenting calls of function '{}'",
            verify: self.0.verify,
            panic_at: self.0.panic_at.as_deref(),
        };
        // Instrumenting declares functions of the runtime: these are those from before.
        let functions = driver::changeable(module, "instrumenting a module");
        let is_final = self.0.stage == Stage::Late && !module.is_for_lto();
        if self.0.bursts && !functions.is_empty() {
            let problem = match (is_final, self.0.oracle) {
                _ if self.0.paths => Some("paths are not counted for contexts of a part of a run"),
                _ if self.0.times => Some("times are not taken of a part of a run"),
                _ if self.0.recursion == Recursion::Folded => {
                    Some("recursion=folded counts all of a run")
                }
                (true, false) => None,
                (true, true) => Some("the option oracle counts all of a run"),
                (false, _) if module.is_for_lto() => {
                    Some("it cannot be done where the linker optimizes (-flto)")
                }
                (false, _) => Some("it can be done behind all optimizations alone, at stage=late"),
            };
            if let Some(problem) = problem {
                module.error(&format!("midflight: counting calling contexts in bursts: {problem}"));
                return false;
            }
        }
        if self.0.times
            && !functions.is_empty()
            && let Some(problem) = time::problem(module)
        {
            module.error(&format!("midflight: taking the times of calling contexts: {problem}"));
            return false;
        }
        let is_folded = self.0.recursion == Recursion::Folded && !functions.is_empty();
        if is_folded && (self.0.oracle || self.0.paths) {
            let problem = match self.0.oracle {
                true => "the option oracle tells levels of recursion apart",
                false => "paths are counted for each level (context-paths)",
            };
            module
                .error(&format!("midflight: folding the recursion of calling contexts: {problem}"));
            return false;
        }
        // Who is instrumented is asked before anybody is.
        let mut plans: Vec<_> = functions
            .iter()
            .map(|&function| {
                match reason_to_skip_contexts(module, function, self.0.functions.as_ref()) {
                    Some(skip) => Err(skip),
                    None => {
                        let is_marked = is_marked(function, is_final);
                        if !is_marked {
                            function.promote_allocas();
                        }
                        if is_marked || !function.facts().returns_twice() {
                            function.fold_returns(is_marked);
                        }
                        Ok(plan(module, function, &self.0, is_marked))
                    }
                }
            })
            .collect();
        let relied_on: HashSet<_> = plans.iter().flatten().flat_map(Plan::tail_callees).collect();
        for (function, plan) in functions.iter().zip(&mut plans) {
            if let Ok(plan) = plan {
                plan.puts_back |= relied_on.contains(function);
            }
        }
        let mut plans = plans.into_iter();
        driver.instrument(module, &functions, "calls are not profiled", |function| {
            let plan = plans.next().expect("there is one for each function");
            Ok(plan.map(|plan| self.instrument(module, function, &plan, is_final)))
        })
    }

    /// Returns what is changed or new.
    fn instrument<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        plan: &Plan<'m>,
        is_final: bool,
    ) -> Vec<Function<'m>> {
        let slot = if self.0.paths { paths::slot(function) } else { None };
        let has_paths = slot.is_some();
        let bytes = record_of(module, function, plan, &self.0, is_final, has_paths).encode();
        let facts = function.facts();
        let shared = facts.has_comdat() && !facts.is_local();
        let name = format!("__midflight_contexts.{}.{:016x}", function.name(), key_of(&bytes));
        let target = Target {
            module,
            function,
            record: module.section_bytes(&name, RECORD_SECTION, &bytes, shared),
            granularity: self.0.granularity,
            is_final,
            has_oracle: self.0.oracle,
            bursts: self.0.bursts,
            times: self.0.times,
            slot,
            recursion: self.0.recursion,
        };
        function.mark(MARK);
        if self.0.bursts {
            return bursts::apply(plan, &target, &self.0);
        }
        apply(plan, &target);
        vec![function]
    }
}
