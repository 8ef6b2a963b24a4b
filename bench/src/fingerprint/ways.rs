//! The ways in which a file is compiled and analysed for its checksums.

use crate::error::Result;
use crate::fingerprint::{Piece, Source};
use crate::llvm::tool;
use crate::osr::maps::mapping::{THESIS, opt};
use crate::process::Job;
use crate::variant::with_plugin;
use std::path::Path;

/// How `midflight cc` profiles paths.
const PROFILED: [&[&str]; 7] = [
    &["--midflight-k=1", "--midflight-stage=early"],
    &["--midflight-k=1", "--midflight-stage=inlined"],
    &["--midflight-k=1", "--midflight-stage=late"],
    &["--midflight-k=4", "--midflight-stage=early"],
    &["--midflight-k=4", "--midflight-stage=inlined"],
    &["--midflight-k=4", "--midflight-stage=late"],
    &["--midflight-k=4", "--midflight-algorithm=published"],
];

/// Options of the plugin in clang: points that fire into clones of the same code, in each form and
/// under each condition.
const POINTS: [&str; 9] = [
    "osr-fuzz;stage=early",
    "osr-fuzz;stage=late;form=single",
    "osr-point;where=entry;when=always;stage=late",
    "osr-point;where=loop-header;when=count:1000",
    "osr-point;where=loop-header:closest;when=every:7;form=multi",
    "osr-point;where=call;when=flag;form=multi;chain;max-points=20",
    "osr-point;where=loop-header;when=patch;chain",
    "osr-point;where=loop-header;when=never;exit=host",
    "osr-point;where=all;when=flag;max-points=5;chain;stage=late",
];

/// The passes that make optimized versions. Points to them, and back, can all be fired.
const OPTIMIZED: [&str; 5] =
    [THESIS, "gvn", "instcombine<no-verify-fixpoint>", "simplifycfg", "default<O1>"];

/// What analyses print.
const PRINTS: [&str; 6] = [
    "print<path-numbering>",
    "print<path-numbering;k=4>",
    "print<osr-liveness>",
    "print<osr-points>",
    "print<osr-map>(adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink)",
    "print<osr-map>(default<O1>)",
];

/// The IR of a file in each way, with the remarks of Midflight's passes.
pub fn emitted(source: &Source) -> Result<Vec<Piece>> {
    let emitting = |job: Job| {
        job.args(["-O2", "-gline-tables-only", "-Rpass=midflight", "-Rpass-missed=midflight"])
            .args(["-Rpass-analysis=midflight", "-S", "-emit-llvm", "-o", "-"])
            .arg(source.name())
    };
    let mut pieces = Vec::new();
    for options in PROFILED {
        let job = Job::new(source.layout.midflight()?)
            .arg("cc")
            .arg(format!("--midflight-llvm={}", source.llvm))
            .args(options)
            .args(&source.flags)
            .folder(&source.layout.root)
            .limit(600);
        pieces.push(Piece { name: options.join(" "), job: emitting(job) });
    }
    let optimized = OPTIMIZED.iter().map(|passes| format!("osr-opt;fuzz;passes={passes}"));
    for options in POINTS.iter().map(|options| options.to_string()).chain(optimized) {
        let job = with_plugin(source.layout, source.llvm, source.clang()?, &options)?;
        pieces.push(Piece { name: options, job: emitting(job) });
    }
    Ok(pieces)
}

/// What analyses print of a file's module.
pub fn printed(source: &Source, module: &Path) -> Result<Vec<Piece>> {
    let promoted = module.with_extension("promoted.bc");
    Job::new(tool("opt", source.llvm)?)
        .arg("-passes=mem2reg")
        .arg(module)
        .arg("-o")
        .arg(&promoted)
        .expect_success()?;
    let piece = |passes: &&str| {
        let job = opt(source.layout, source.llvm, passes, &promoted)?;
        Ok(Piece { name: passes.to_string(), job })
    };
    PRINTS.iter().map(piece).collect()
}
