//! `midflight-bench documentation`: every command of the documentation runs as it stands.
//!
//! Commands are what stands in code blocks of the kinds `sh` and `console` ([`blocks`]). Those of a
//! page run one after the other in one shell, in a folder with sample sources
//! (`bench/corpus/documentation`) and a link to what is built. What cannot run as it stands is
//! replaced, with a reason ([`REPLACED`]); the closing line counts that. Commands within the text
//! are mostly not whole: those of the tools that are built here are parsed, by a request for help
//! behind them.

pub mod blocks;

use crate::documentation::blocks::{Block, blocks, inline_commands};
use crate::error::{Error, Result, io, read, write};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use crate::tally::Tally;
use std::path::{Path, PathBuf};

/// What runs in place of a command, and why that does not run itself.
struct Replacement {
    command: &'static str,
    by: &'static str,
    why: &'static str,
}

/// Commands that do not run as they stand.
const REPLACED: [Replacement; 5] = [
    Replacement {
        command: "make build",
        by: "make -C \"$CHECKOUT\" -n build",
        why: "what it builds is under test",
    },
    Replacement {
        command: "make demo",
        by: "make -C \"$CHECKOUT\" -n demo",
        why: "it runs on a bare system, by 'make check-bare'",
    },
    Replacement { command: "make test", by: "make -C \"$CHECKOUT\" -n test", why: "it runs this" },
    Replacement {
        command: "cargo run",
        by: "make -C \"$CHECKOUT\" -n check-examples",
        why: "'make check-examples' runs it",
    },
    Replacement {
        command: "cargo run --no-default-features --features llvm19-1-prefer-dynamic",
        by: "make -C \"$CHECKOUT\" -n check-examples",
        why: "'make check-examples' runs it",
    },
];

/// Programs of others that stand-ins replace: a script for each.
const STAND_INS: [(&str, &str); 2] = [
    // Not a package of Debian. It must get lines of frames and a count.
    ("inferno-flamegraph", "! grep -vE '^[^ ].* [0-9]+$' && echo '<svg/>'"),
    // Counters of the processor need a right. One run is enough.
    ("perf", "test \"$1 $2\" = 'stat -r' && shift 3 && exec \"$@\""),
];

/// Samples of IR, as the front end makes it of a source.
const IR: [(&str, &str, &str); 3] =
    [("-S", "prog.ll", "prog.c"), ("-c", "prog.bc", "prog.c"), ("-S", "x.ll", "x.c")];

/// Runs the commands of all pages.
///
/// # Errors
/// If pages or samples cannot be read, or the tools are not there.
pub fn documentation(layout: &Layout) -> Result<Tally> {
    let mut tally = Tally::default();
    let (mut commands, mut parsed) = (0, 0);
    let mut used = [0; REPLACED.len()];
    for page in pages(layout)? {
        let text = String::from_utf8_lossy(&read(&page)?).into_owned();
        let name = page.strip_prefix(&layout.root).unwrap_or(&page).display().to_string();
        let found = blocks(&text);
        commands += found.iter().map(|block| block.commands.len()).sum::<usize>();
        if !found.is_empty() {
            tally.check(&name, run_page(layout, &page, &found, &mut used)?);
        }
        for (line, command) in inline_commands(&text) {
            parsed += 1;
            let problem = parse(layout, &command)?;
            tally.check(&format!("{name}:{line}: '{command}'"), problem);
        }
    }
    for (replacement, uses) in REPLACED.iter().zip(used) {
        let is_used = (uses == 0).then(|| "it is in no page".to_string());
        tally.check(&format!("the replacement of '{}'", replacement.command), is_used);
        println!("replaced {uses}×: '{}', since {}", replacement.command, replacement.why);
    }
    let replaced: usize = used.iter().sum();
    let ran = commands - replaced;
    println!("{ran} commands ran as they stand, {replaced} were replaced, {parsed} were parsed");
    Ok(tally)
}

/// The pages that tell a user what to do.
fn pages(layout: &Layout) -> Result<Vec<PathBuf>> {
    let mut pages = vec![layout.at("README.md")];
    let docs = layout.at("docs");
    for entry in std::fs::read_dir(&docs).map_err(io("reading", &docs))? {
        pages.push(entry.map_err(io("reading", &docs))?.path());
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    let examples = layout.at("examples");
    for entry in std::fs::read_dir(&examples).map_err(io("reading", &examples))? {
        pages.push(entry.map_err(io("reading", &examples))?.path().join("README.md"));
    }
    pages.sort();
    Ok(pages)
}

/// Runs the blocks of a page. What is wrong, if anything is.
fn run_page(
    layout: &Layout,
    page: &Path,
    blocks: &[Block],
    used: &mut [usize; REPLACED.len()],
) -> Result<Option<String>> {
    let folder = tempfile::tempdir().map_err(io("making a folder", std::env::temp_dir()))?;
    let here = prepare(layout, page, folder.path())?;
    let mut script = "set -eu\n".to_string();
    for block in blocks {
        for (line, command) in &block.commands {
            let plain = command.split(" #").next().unwrap_or_default().trim();
            let replacement = REPLACED.iter().position(|known| known.command == plain);
            replacement.into_iter().for_each(|place| used[place] += 1);
            let command = replacement.map_or(command.as_str(), |place| REPLACED[place].by);
            script += &format!("echo '@line {line}' >&2\n{command}\n");
        }
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let built = layout.midflight()?.with_file_name("");
    let llvm = tool("clang", 22)?.canonicalize().map_err(io("finding", "clang-22"))?;
    let llvm = llvm.with_file_name("").display().to_string();
    let own = folder.path().join("bin").display().to_string();
    let job = Job::new("sh")
        .args(["-c", &script])
        .folder(&here)
        .env("PATH", format!("{own}:{}:{llvm}:{path}", built.display()))
        .env("CHECKOUT", &layout.root)
        .env("CCACHE_DIR", folder.path().join("cache"))
        .limit(300);
    let outcome = job.run()?;
    if outcome.end == End::Exit(0) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&outcome.stderr);
    let (_, rest) = text.rsplit_once("@line ").unwrap_or_default();
    Ok(Some(format!("{} at line {}", outcome.end, rest.trim_end())))
}

/// Makes the folder that a page's commands run in: samples, what stands beside the page, and what
/// is built.
fn prepare(layout: &Layout, page: &Path, folder: &Path) -> Result<PathBuf> {
    let here = folder.join("project/build");
    let beside = page.parent().filter(|parent| parent.starts_with(layout.at("examples")));
    for from in
        [Some(layout.corpus().join("documentation").as_path()), beside].into_iter().flatten()
    {
        for to in [here.as_path(), &folder.join("project")] {
            std::fs::create_dir_all(to).map_err(io("making", to))?;
            copy_files(from, to)?;
        }
    }
    for (kind, name, source) in IR {
        let flags = ["-O1", "-Xclang", "-disable-llvm-passes", "-g", kind, "-emit-llvm"];
        let headers = layout.runtime()?.with_file_name("include");
        let job = Job::new(tool("clang", 22)?).args(flags).arg("-I").arg(headers);
        job.args([source, "-o", name]).folder(&here).expect_success()?;
    }
    let target = here.join("target");
    std::os::unix::fs::symlink(layout.at("target"), &target).map_err(io("linking", &target))?;
    for (name, script) in STAND_INS {
        let program = folder.join("bin").join(name);
        write(&program, format!("#!/bin/sh\n{script}\n").as_bytes())?;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, permissions).map_err(io("writing", &program))?;
    }
    Ok(here)
}

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in std::fs::read_dir(from).map_err(io("reading", from))? {
        let file = entry.map_err(io("reading", from))?.path();
        let Some(name) = file.file_name().filter(|_| file.is_file()) else { continue };
        std::fs::copy(&file, to.join(name)).map_err(io("copying", &file))?;
    }
    Ok(())
}

/// Has a tool parse a command's words. What is wrong with them, if anything is.
fn parse(layout: &Layout, command: &str) -> Result<Option<String>> {
    let mut words = command.split_whitespace();
    let job = match words.next() {
        Some("midflight") if command.starts_with("midflight help") => {
            Job::new(layout.midflight()?).args(words)
        }
        Some("midflight") => Job::new(layout.midflight()?).args(words).arg("--help"),
        Some("midflight-bench") => {
            let own = std::env::current_exe().map_err(io("finding", "midflight-bench"))?;
            Job::new(own).args(words).arg("--help")
        }
        Some("make") => Job::new("make").arg("-n").args(words),
        _ => {
            return Err(Error::Malformed { what: command.into(), problem: "no known tool".into() });
        }
    };
    let outcome = job.folder(&layout.root).run()?;
    let text = String::from_utf8_lossy(&outcome.stderr);
    let head = text.lines().next().unwrap_or_default();
    // An option may be named without its value.
    let is_known = outcome.end == End::Exit(0) || head.contains("a value is required for");
    Ok((!is_known).then(|| format!("{}: {head}", outcome.end)))
}
