//! A function's record: what its call sites are.

use crate::contexts::options::Options;
use crate::contexts::plan::{self, Plan};
use crate::paths::read::Files;
use crate::paths::record::unit_of;
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::LLVM_MAJOR;
use midflight_profile::table::{ContextTable, Granularity, Loc, Site};

/// Makes the record of a function.
pub fn record_of(
    module: Module<'_>,
    function: Function<'_>,
    plan: &Plan<'_>,
    options: &Options,
    is_final: bool,
    has_paths: bool,
) -> ContextTable {
    let mut files = Files::default();
    let (file, line) = match debug::function_line(function) {
        Some(declared) => (files.id(&declared.file), declared.line),
        None => (files.id(&module.source_file()), 0),
    };
    let site = |site: &plan::Site<'_>| {
        let loc = match debug::location(site.call) {
            Some(at) => Loc {
                file: files.id(&at.inner.file),
                line: at.inner.line,
                outer_line: at.outer.line,
            },
            None => Loc { file, line: 0, outer_line: 0 },
        };
        Site { loc, is_tail: site.is_tail }
    };
    let sites = match options.granularity {
        Granularity::Sites => plan.sites.iter().map(site).collect(),
        Granularity::Functions => Vec::new(),
    };
    ContextTable {
        key: 0,
        stage: options.stage,
        llvm: LLVM_MAJOR,
        granularity: options.granularity,
        has_own_frame: is_final,
        bursts: options.bursts,
        times: options.times,
        paths: has_paths,
        recursion: options.recursion,
        name: function.name(),
        unit: unit_of(module, function),
        files: files.names,
        file,
        line,
        sites,
    }
}
