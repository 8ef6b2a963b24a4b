//! `opt`, `osr-opt`, `versions`, `maps`: stock passes, and versions that they make.

use super::Command;
use crate::problem::Problem;
use crate::program::Optimized;
use crate::shell::Shell;
use midflight_passes::osr::map::optimize::THESIS_PIPELINE;
use midflight_profile::osr_maps::report::{Function as Report, Mapping, Variant};

pub const OPT: Command = Command {
    name: "opt",
    usage: "opt PIPELINE [FUNCTION]",
    brief: "run passes of LLVM's over a function, or over the whole program",
    more: "PIPELINE is what `opt -passes=` takes, of passes over functions if a function is named. \
           The\nfunction must have no versions and no points, whose numbers would change.",
    run: opt,
};

pub const OSR_OPT: Command = Command {
    name: "osr-opt",
    usage: "osr-opt PIPELINE|thesis [FUNCTION]",
    brief: "make a second version of a function, or of all, by passes of LLVM's",
    more: "The version is FUNCTION.opt, and a function like others; `maps` shows what maps between \
           the two,\nand `insert ... to FUNCTION.opt` moves to it. `thesis` stands for the passes \
           of the thesis (5.4.1).",
    run: osr_opt,
};

pub const VERSIONS: Command = Command {
    name: "versions",
    usage: "versions [FUNCTION]",
    brief: "list versions of functions, and how many of their points map",
    more: "",
    run: versions,
};

pub const MAPS: Command = Command {
    name: "maps",
    usage: "maps FUNCTION|VERSION",
    brief: "show the mappings between a function and a version of it",
    more: "For each point its landing, the least of the variants of reconstruct (empty, live, \
           live-e, alias,\navail) that makes it possible, compensation code, and values that are \
           kept for it; or why there\nis none.",
    run: maps,
};

fn opt(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let words = OPT.take(words, 1, 2)?;
    let (pipeline, name) = (&words[0], words.get(1));
    let doing = format!("running the passes '{pipeline}'");
    if let Some(name) = name {
        shell.program.function(name, &doing)?;
    }
    let is_meant = |other: &String| name.is_none_or(|name| name == other);
    let point = shell.program.points.iter().find(|asked| is_meant(&asked.at));
    let version = shell.program.versions.iter().find(|v| is_meant(&v.base) || is_meant(&v.name));
    let user = point.map(|asked| &asked.name).or(version.map(|version| &version.name));
    if let Some(user) = user {
        let what = format!("there is '{user}', for which the function must stay as it is");
        return Err(Problem::new(doing, what, format!("`remove {user}` first")));
    }
    let name = name.map(String::as_str);
    let before = shell.program.instructions(name);
    let done = shell.program.optimize(pipeline, name);
    done.map_err(|what| Problem::new(doing, what, "write it as for opt -passes="))?;
    shell.changed();
    let (of, after) = (name.unwrap_or("the program"), shell.program.instructions(name));
    shell.say(&format!("{of}: {after} instructions, before {before}"));
    Ok(())
}

fn osr_opt(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let words = OSR_OPT.take(words, 1, 2)?;
    let pipeline = if words[0] == "thesis" { THESIS_PIPELINE } else { &words[0] };
    let doing = |name: &str| format!("making a version of '{name}'");
    let names = match words.get(1) {
        Some(name) => {
            shell.program.function(name, &doing(name))?;
            vec![name.clone()]
        }
        None => {
            let is_version = |name: &String| shell.program.versions.iter().any(|v| v.name == *name);
            let mut names = shell.program.function_names();
            names.retain(|name| !is_version(name));
            names
        }
    };
    for name in names {
        let made = shell.program.make_version(&name, pipeline);
        let made = made.map_err(|what| {
            Problem::new(doing(&name), what, "give a pipeline of passes over functions")
        })?;
        shell.changed();
        say_version(shell, &made)?;
    }
    Ok(())
}

/// The version of a name, or the last one of a function.
fn find(shell: &Shell, name: &str, doing: &str) -> Result<Optimized, Problem> {
    let versions = &shell.program.versions;
    let exactly = versions.iter().find(|version| version.name == name);
    let found = exactly.or_else(|| versions.iter().rfind(|version| version.base == name));
    if found.is_none() {
        shell.program.function(name, doing)?;
    }
    let todo = format!("`osr-opt PIPELINE {name}` makes one");
    found.cloned().ok_or_else(|| Problem::new(doing, format!("'{name}' has no version"), todo))
}

fn mappings(shell: &Shell, version: &Optimized, doing: &str) -> Result<Report, Problem> {
    let report = shell.program.mappings(version);
    report.map_err(|what| Problem::new(format!("{doing} of '{}'", version.base), what, ""))
}

fn say_version(shell: &Shell, name: &str) -> Result<(), Problem> {
    let doing = "comparing the versions";
    let version = find(shell, name, doing)?;
    let report = match mappings(shell, &version, doing) {
        Ok(report) => report,
        Err(problem) => {
            shell.say(&format!("{name}: {}; no mappings: {problem}", version.pipeline));
            return Ok(());
        }
    };
    let (points, counts) = (&report.points, &report.instructions);
    shell.say(&format!(
        "{name}: {}; {} instructions, base {}; mapped {} of {} points to it, {} of {} back",
        version.pipeline,
        counts.opt,
        counts.base,
        points.base_to_opt.avail,
        points.base_to_opt.total,
        points.opt_to_base.avail,
        points.opt_to_base.total,
    ));
    Ok(())
}

fn versions(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = VERSIONS.take(words, 0, 1)?.first();
    if let Some(name) = name {
        shell.program.function(name, "listing versions")?;
    }
    let of = |version: &&Optimized| name.is_none_or(|name| version.base == *name);
    let names: Vec<_> =
        shell.program.versions.iter().filter(of).map(|version| version.name.clone()).collect();
    if names.is_empty() {
        shell.say("no versions; `osr-opt` makes some");
    }
    names.iter().try_for_each(|name| say_version(shell, name))
}

fn maps(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = &MAPS.take(words, 1, 1)?[0];
    let doing = "showing the mappings";
    let version = find(shell, name, doing)?;
    let report = mappings(shell, &version, doing)?;
    let Some(detail) = report.detail else { return Ok(()) };
    let (base, opt) = (&version.base, &version.name);
    for (from, to, points) in [(base, opt, detail.base_to_opt), (opt, base, detail.opt_to_base)] {
        shell.say(&format!("from {from} to {to}:"));
        points.iter().for_each(|mapping| shell.say(&described(from, to, mapping)));
    }
    Ok(())
}

fn described(from: &str, to: &str, mapping: &Mapping) -> String {
    let point = format!("  {from}#{}", mapping.point);
    let Some(landing) = mapping.landing else {
        return format!("{point}: {}", mapping.refused.as_deref().unwrap_or("not possible"));
    };
    let variant = match mapping.variant {
        Some(Variant::Empty) | None => "empty",
        Some(Variant::Live) => "live",
        Some(Variant::LiveE) => "live-e",
        Some(Variant::Alias) => "alias",
        Some(Variant::Avail) => "avail",
    };
    let mut text = format!("{point} -> {to}#{landing}: {variant}");
    if !mapping.came_from.is_empty() {
        text += &format!(", if control came from {}", mapping.came_from.join(" or "));
    }
    if !mapping.keep.is_empty() {
        text += &format!(", keeps {}", mapping.keep.join(", "));
    }
    mapping.compensation.iter().for_each(|line| text += &format!("\n      {line}"));
    text
}
