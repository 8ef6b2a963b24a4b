//! `insert`, `remove`, `arm`, `disarm`: OSR points.

use super::Command;
use crate::problem::Problem;
use crate::program::{Asked, Read, To};
use crate::shell::Shell;
use midflight_passes::osr::api::{Condition, Generator};
use midflight_rt::{midflight_osr_arm, midflight_osr_disarm};
use std::ffi::CString;

pub const INSERT: Command = Command {
    name: "insert",
    usage: "insert FUNCTION POINT CONDITION [to VERSION | to open:GENERATOR [key NAME]]",
    brief: "insert an OSR point",
    more: "POINT is a number of `lines`, or a block's label: the first point of the block. CONDITION \
           is always,\nnever, count:N, every:N, flag or patch. Without `to` the point leads to a \
           clone of the function. To\na version made by `osr-opt`, or from a version back to its \
           base: as `maps` shows. GENERATOR is\ninline-callee, specialize-value or reoptimize; NAME \
           is the value that it is for.",
    run: insert,
};

pub const REMOVE: Command = Command {
    name: "remove",
    usage: "remove POINT-NAME|VERSION",
    brief: "remove a point that was inserted, or a version",
    more: "`points` lists the names.",
    run: remove,
};

pub const ARM: Command = Command {
    name: "arm",
    usage: "arm POINT-NAME",
    brief: "arm a flag or patch point: it fires from now on",
    more: "",
    run: |shell, words| toggle(shell, words, true),
};

pub const DISARM: Command = Command {
    name: "disarm",
    usage: "disarm POINT-NAME",
    brief: "disarm a point",
    more: "",
    run: |shell, words| toggle(shell, words, false),
};

fn insert(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let words = INSERT.take(words, 3, 7)?.to_vec();
    let (at, when) = (&words[0], &words[2]);
    let doing = format!("inserting a point in '{at}'");
    let problem = |what: String, todo: String| Problem::new(&*doing, what, todo);
    let function = shell.program.function(at, &doing)?;
    let read = Read::new(function);
    let number = number(&read, at, &words[1]).ok_or_else(|| {
        let what =
            format!("there is no point '{}'; it has {} of them", words[1], read.points.len());
        problem(what, format!("`lines {at}` shows their numbers"))
    })?;
    if let Some(refusal) = read.points[number].refusal {
        let what = format!("there can be none at #{number}: {}", refusal.message());
        return Err(problem(what, format!("`points {at}` shows where there can be one")));
    }
    let condition: Condition = when
        .parse()
        .map_err(|error| problem(format!("{error}"), "give one of them".to_string()))?;
    let destination: Vec<&str> = words[3..].iter().map(String::as_str).collect();
    let to = match destination.as_slice() {
        [] => To::Clone,
        ["to", to] => to_of(shell, at, to, None, &doing)?,
        ["to", to, "key", key] => to_of(shell, at, to, Some(key), &doing)?,
        _ => return Err(INSERT.misused(format!("'{}' makes no sense", words[3..].join(" ")))),
    };
    let name = match &to {
        // As the pass names them, whatever the version is called.
        To::Base(version) => {
            let base = shell.program.versions.iter().find(|v| v.name == *version);
            format!("{}.opt#{number}", base.map_or(at.as_str(), |version| &version.base))
        }
        _ => format!("{at}#{number}"),
    };
    let asked = Asked {
        name: name.clone(),
        at: at.clone(),
        number,
        condition,
        when: when.clone(),
        to: to.clone(),
    };
    check(shell, &asked, &doing)?;
    let is_reached = match &to {
        To::Base(version) => {
            let up = To::Version(version.clone());
            shell.program.points.iter().any(|asked| asked.to == up)
        }
        _ => true,
    };
    let text = format!("inserted {name}: {when}, to {}", asked.destination());
    shell.program.points.push(asked);
    shell.changed();
    if let Err(error) = shell.built() {
        shell.program.points.pop();
        shell.changed();
        let what = match error {
            Problem::Failed { what, .. } => what,
            other => other.to_string(),
        };
        return Err(problem(what, String::new()));
    }
    shell.say(&text);
    if !is_reached {
        shell.say(&format!("nothing leads to {at} yet: insert a point to it"));
    }
    Ok(())
}

/// The number of a point that is named by its number or by a label.
fn number(read: &Read<'_>, function: &str, text: &str) -> Option<usize> {
    let digits = text.strip_prefix(function).unwrap_or(text);
    let digits = digits.strip_prefix('#').unwrap_or(digits);
    if let Ok(number) = digits.parse::<usize>() {
        return (number < read.points.len()).then_some(number);
    }
    let label = text.trim_start_matches('%');
    let names = read.snapshot.block_names();
    let (block, _) =
        names.iter_enumerated().find(|(_, name)| name.trim_start_matches('%') == label)?;
    read.number(read.snapshot.blocks[block].insertion_point())
}

/// What a destination's name says.
fn to_of(shell: &Shell, at: &str, to: &str, key: Option<&str>, doing: &str) -> Result<To, Problem> {
    if to.starts_with("open:") {
        let generator: Generator = to
            .parse()
            .map_err(|error| Problem::new(doing, format!("{error}"), "give one of them"))?;
        if key.is_some() && generator == Generator::Reoptimize {
            return Err(Problem::new(doing, "open:reoptimize takes no key", "leave it out"));
        }
        return Ok(To::Open(generator, key.map(str::to_string)));
    }
    if key.is_some() {
        return Err(Problem::new(doing, "only open points have keys", "leave the key out"));
    }
    let versions = &shell.program.versions;
    if versions.iter().any(|version| version.name == to && version.base == at) {
        return Ok(To::Version(to.to_string()));
    }
    if versions.iter().any(|version| version.name == at && version.base == to) {
        return Ok(To::Base(at.to_string()));
    }
    let what = format!("'{to}' is no version of '{at}'");
    let todo =
        "`versions` lists them, `osr-opt` makes them, and open:GENERATOR makes them at run time";
    Err(Problem::new(doing, what, todo))
}

/// Whether a point goes together with those that there are, and is mapped.
fn check(shell: &Shell, new: &Asked, doing: &str) -> Result<(), Problem> {
    let problem = |what: String, todo: String| Err(Problem::new(doing, what, todo));
    let points = &shell.program.points;
    if points.iter().any(|asked| asked.name == new.name) {
        return problem(
            format!("there is a point '{}'", new.name),
            format!("`remove {}` first", new.name),
        );
    }
    let version = match &new.to {
        To::Version(version) | To::Base(version) => Some(version),
        To::Clone | To::Open(..) => None,
    };
    let pair = |asked: &Asked| match &asked.to {
        To::Version(version) | To::Base(version) => Some(version.clone()),
        _ => None,
    };
    for asked in points {
        let is_same = pair(asked).as_ref() == version;
        if asked.at == new.at && !is_same {
            let what = format!(
                "'{}' leads to {}, and all points of a function lead to one version, or none does",
                asked.name,
                asked.destination()
            );
            return problem(what, format!("`remove {}` first", asked.name));
        }
        if asked.at == new.at && version.is_some() && asked.condition != new.condition {
            let what = format!(
                "'{}' fires at {}, and all points to a version fire under one condition",
                asked.name, asked.when
            );
            return problem(what, format!("give {}, or `remove {}`", asked.when, asked.name));
        }
    }
    let Some(found) = version
        .and_then(|name| shell.program.versions.iter().find(|version| version.name == *name))
    else {
        return Ok(());
    };
    let report = shell.program.mappings(found);
    let detail = report.map_err(|what| Problem::new(doing, what, ""))?.detail;
    let mapping = detail.and_then(|detail| {
        let points =
            if matches!(new.to, To::Base(_)) { detail.opt_to_base } else { detail.base_to_opt };
        points.into_iter().find(|mapping| mapping.point == new.number as u64)
    });
    match mapping {
        Some(mapping) if mapping.landing.is_some() => Ok(()),
        mapping => {
            let reason = mapping.and_then(|mapping| mapping.refused).unwrap_or_default();
            let what = format!("#{} does not map to {}: {reason}", new.number, new.destination());
            problem(what, format!("`maps {}` shows what does", found.name))
        }
    }
}

fn remove(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = &REMOVE.take(words, 1, 1)?[0];
    let doing = format!("removing '{name}'");
    if shell.program.points.iter().any(|asked| asked.name == *name) {
        shell.program.points.retain(|asked| asked.name != *name);
        shell.armed.remove(name);
        shell.changed();
        shell.say(&format!("removed {name}"));
        return Ok(());
    }
    if !shell.program.versions.iter().any(|version| version.name == *name) {
        let what = "there is no such point and no such version";
        return Err(Problem::new(doing, what, "`points` and `versions` list them"));
    }
    let is_user = |asked: &&Asked| match &asked.to {
        To::Version(version) | To::Base(version) => version == name,
        _ => asked.at == *name,
    };
    if let Some(user) = shell.program.points.iter().find(is_user) {
        let todo = format!("`remove {}` first", user.name);
        return Err(Problem::new(doing, format!("'{}' needs it", user.name), todo));
    }
    shell.program.remove_version(name);
    shell.changed();
    shell.say(&format!("removed {name}"));
    Ok(())
}

fn toggle(shell: &mut Shell, words: &[String], arms: bool) -> Result<(), Problem> {
    let command = if arms { &ARM } else { &DISARM };
    let name = &command.take(words, 1, 1)?[0];
    let doing = format!("{}ing '{name}'", command.name);
    match shell.program.points.iter().find(|asked| asked.name == *name) {
        None => {
            let todo = "`points` lists those that were inserted";
            return Err(Problem::new(doing, "there is no such point", todo));
        }
        Some(asked) if !asked.can_be_armed() => {
            let what = format!("it fires by itself: {}", asked.when);
            return Err(Problem::new(doing, what, "only flag and patch points are armed"));
        }
        Some(_) => {}
    }
    match arms {
        true => shell.armed.insert(name.clone()),
        false => shell.armed.remove(name),
    };
    if shell.built.as_ref().is_some_and(|built| built.code.is_some()) {
        set_armed(name, arms).map_err(|what| Problem::new(doing, what, ""))?;
    }
    Ok(())
}

/// Arms or disarms a point of code that is there.
///
/// # Errors
/// If the runtime cannot.
pub fn set_armed(name: &str, arms: bool) -> Result<(), String> {
    let name = CString::new(name).map_err(|error| error.to_string())?;
    // SAFETY: the name is a C string.
    let sites = unsafe {
        if arms { midflight_osr_arm(name.as_ptr()) } else { midflight_osr_disarm(name.as_ptr()) }
    };
    match sites {
        1.. => Ok(()),
        0 => Err("the runtime does not know it".to_string()),
        error => Err(format!("the runtime says: {}", std::io::Error::from_raw_os_error(-error))),
    }
}
