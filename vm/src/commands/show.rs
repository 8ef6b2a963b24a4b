//! `functions`, `lines`, `live`, `points`, `print`: what is there, as texts.

use super::Command;
use crate::ir;
use crate::problem::Problem;
use crate::program::{Read, function_of};
use crate::shell::Shell;
use midflight_passes::osr::{print_liveness, print_points};

pub const FUNCTIONS: Command = Command {
    name: "functions",
    usage: "functions",
    brief: "list the functions of the program, with types and sizes",
    more: "",
    run: functions,
};

pub const LINES: Command = Command {
    name: "lines",
    usage: "lines FUNCTION",
    brief: "show the instructions of a function with the numbers of points",
    more: "A point is before its instruction. A * marks the points that were inserted.",
    run: lines,
};

pub const LIVE: Command = Command {
    name: "live",
    usage: "live FUNCTION",
    brief: "show the values that are live at each point",
    more: "",
    run: live,
};

pub const POINTS: Command = Command {
    name: "points",
    usage: "points [FUNCTION]",
    brief: "show each point: what travels there, or why it is none; or all that were inserted",
    more: "Without a function, the points that were inserted, when they fire, and where they lead.",
    run: points,
};

pub const PRINT: Command = Command {
    name: "print",
    usage: "print FUNCTION",
    brief: "print the IR of a function, with the points that were inserted",
    more: "Names of continuations (`FUNCTION.osr.4` and the like) are functions here, too.",
    run: print,
};

fn functions(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    FUNCTIONS.take(words, 0, 0)?;
    let defined = shell.program.module().functions().filter(|function| function.is_definition());
    let lines: Vec<String> = defined
        .map(|function| {
            let count: usize = function.blocks().map(|block| block.instructions().count()).sum();
            format!("{}: {}, {count} instructions", function.name(), ir::signature(function))
        })
        .collect();
    match lines.is_empty() {
        true => shell.say("no functions; `load` adds some"),
        false => shell.say(&lines.join("\n")),
    }
    Ok(())
}

fn lines(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = &LINES.take(words, 1, 1)?[0];
    let function = shell.program.function(name, "showing instructions")?;
    let read = Read::new(function);
    let is_asked = |number| {
        shell.program.points.iter().any(|asked| asked.at == *name && asked.number == number)
    };
    let mut text = format!("{name}: {}\n", ir::signature(function));
    for (block, (label, texts)) in function.blocks().zip(function.texts()) {
        text += &format!("{}:\n", label.trim_start_matches('%'));
        for (inst, line) in block.instructions().zip(texts) {
            let number = read.number(inst);
            let mark = if number.is_some_and(is_asked) { "*" } else { "" };
            let number = number.map_or(String::new(), |number| format!("#{number}"));
            text += &format!("{:>6}  {}\n", format!("{mark}{number}"), line.trim());
        }
    }
    shell.say(&text);
    Ok(())
}

fn live(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = &LIVE.take(words, 1, 1)?[0];
    let function = shell.program.function(name, "showing live values")?;
    shell.say(&print_liveness::describe(function));
    Ok(())
}

fn points(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    if let Some(name) = POINTS.take(words, 0, 1)?.first() {
        let function = shell.program.function(name, "showing points")?;
        shell.say(&print_points::listing(function));
        return Ok(());
    }
    if shell.program.points.is_empty() {
        shell.say("no points were inserted");
    }
    for asked in &shell.program.points {
        let armed = if shell.armed.contains(&asked.name) { ", armed" } else { "" };
        let (name, when) = (&asked.name, &asked.when);
        shell.say(&format!("{name}: {when}, to {}{armed}", asked.destination()));
    }
    Ok(())
}

fn print(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = PRINT.take(words, 1, 1)?[0].clone();
    let built = shell.built()?;
    let text = function_of(&built.ir, &name).map(ir::text);
    match text {
        Some(text) => shell.say(text.trim_start_matches('\n')),
        // The error names what is near.
        None => _ = shell.program.function(&name, "printing a function")?,
    }
    Ok(())
}
