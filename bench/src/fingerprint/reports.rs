//! Checksums of a program's profile, and of what the command makes of it.

use crate::build::{Built, sources};
use crate::error::{Result, io};
use crate::fingerprint::{checksum, own_flags};
use crate::layout::Layout;
use crate::process::Job;
use crate::program::{Program, Size};
use crate::variant::{How, Stage, Toolchain, Variant};
use crate::workload::{profile_of, run};
use rayon::prelude::*;
use std::path::PathBuf;

/// The command's views of a profile, by the arguments before the binary and the profile. The file
/// itself is not one of them, since its version may change.
const VIEWS: [&[&str]; 15] = [
    &["show"],
    &["show", "--format", "json"],
    &["show", "--edges"],
    &["show", "--tables"],
    &["check"],
    &["report"],
    &["report", "--tree", "--loops", "3"],
    &["report", "--flat"],
    &["report", "--format", "json"],
    &["annotate"],
    &["export", "--to", "html"],
    &["export", "--to", "svg"],
    &["export", "--to", "folded"],
    &["export", "--to", "lcov"],
    &["export", "--to", "weights"],
];

/// Builds a program with its paths profiled at each stage, runs its tiny work, and takes the
/// checksums of all views.
///
/// # Errors
/// If it does not build or run.
pub fn of_program(layout: &Layout, program: &Program, llvm: u32) -> Result<Vec<(String, String)>> {
    let stages = [Stage::Early, Stage::Inlined, Stage::Late];
    let ways: Vec<_> = stages.iter().flat_map(|&stage| [(stage, 1), (stage, 4)]).collect();
    let sums: Vec<_> = ways
        .par_iter()
        .with_max_len(1)
        .map(|&(stage, k)| {
            of_variant(layout, program, Variant { llvm, opt: 2, how: How::paths(k, stage) })
        })
        .collect::<Result<_>>()?;
    Ok(sums.concat())
}

fn of_variant(
    layout: &Layout,
    program: &Program,
    variant: Variant,
) -> Result<Vec<(String, String)>> {
    let built = build(layout, program, variant)?;
    run(layout, program, &built, Size::Tiny)?;
    let views = VIEWS.iter().map(|arguments| {
        let job = Job::new(layout.midflight()?)
            .args(*arguments)
            .arg(program.name)
            .args(profile_of(&built).file_name())
            .folder(&built.folder);
        let outcome = job.run()?;
        let end = outcome.end.to_string();
        let sum = checksum(&[&outcome.stdout, &outcome.stderr, end.as_bytes()]);
        Ok((format!("{} {variant} {}", program.name, arguments.join(" ")), sum))
    });
    views.collect()
}

/// All files at once, by names relative to the checkout: tables have the name of the source.
fn build(layout: &Layout, program: &Program, variant: Variant) -> Result<Built> {
    let folder = layout.work().join("fingerprint").join(program.name).join(variant.to_string());
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let executable = folder.join(program.name);
    let relative = |file: &PathBuf| file.strip_prefix(&layout.root).unwrap_or(file).to_path_buf();
    let sources: Vec<PathBuf> = sources(layout, program)?.iter().map(relative).collect();
    Toolchain::find(layout, variant)?
        .with_flags(&own_flags(layout, program))
        .link(&sources, program.link, &executable)
        .folder(&layout.root)
        .expect_success()?;
    Ok(Built { executable, folder })
}
