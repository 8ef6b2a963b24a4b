//! `cfg` and `asm`: control flow as a picture, and machine code as text.

use super::Command;
use crate::problem::Problem;
use crate::program::function_of;
use crate::shell::Shell;
use midflight_bridge::ir::Function;
use std::io::Write;
use std::process::{Command as Process, Stdio};

pub const CFG: Command = Command {
    name: "cfg",
    usage: "cfg FUNCTION [FILE.dot|FILE.svg]",
    brief: "write the control flow graph of a function, with its points",
    more: "Without a file, as text for Graphviz. An .svg is drawn by Graphviz's `dot`.",
    run: cfg,
};

pub const ASM: Command = Command {
    name: "asm",
    usage: "asm FUNCTION",
    brief: "show the machine code of a function, with its points, as assembly",
    more: "It is compiled as `run` compiles it: by LLVM's code generator, with no further passes \
           over the IR.",
    run: asm,
};

fn cfg(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let words = CFG.take(words, 1, 2)?.to_vec();
    let name = &words[0];
    let graph = function_of(&shell.built()?.ir, name).map(graph);
    let Some(graph) = graph else {
        return shell.program.function(name, "drawing a function").map(|_| ());
    };
    let Some(file) = words.get(1) else {
        shell.say(&graph);
        return Ok(());
    };
    let doing = format!("drawing '{name}' to '{file}'");
    let problem = |what: std::io::Error| Problem::new(&*doing, what.to_string(), "");
    if file.ends_with(".svg") {
        draw(&graph, file, &doing)?;
    } else if file.ends_with(".dot") {
        std::fs::write(file, graph).map_err(problem)?;
    } else {
        return Err(CFG.misused(format!("'{file}' ends neither in .dot nor in .svg")));
    }
    shell.say(&format!("wrote {file}"));
    Ok(())
}

/// The graph of a function, in Graphviz's language.
fn graph(function: Function<'_>) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("digraph \"{}\" {{\n", quoted(&function.name()));
    text += "  node [shape=box, fontname=monospace];\n";
    let blocks: Vec<_> = function.blocks().collect();
    for (number, (block, (label, lines))) in blocks.iter().zip(function.texts()).enumerate() {
        let lines: String =
            lines.iter().map(|line| format!("{}\\l", quoted(line.trim()))).collect();
        text += &format!(
            "  b{number} [label=\"{}:\\l{lines}\"];\n",
            quoted(label.trim_start_matches('%'))
        );
        for successor in block.successors() {
            let to = blocks.iter().position(|block| *block == successor).unwrap_or_default();
            text += &format!("  b{number} -> b{to};\n");
        }
    }
    text + "}\n"
}

fn draw(graph: &str, file: &str, doing: &str) -> Result<(), Problem> {
    let mut process = Process::new("dot");
    process.args(["-Tsvg", "-o", file]).stdin(Stdio::piped());
    let todo = "install Graphviz (Debian: apt-get install graphviz), or write a .dot";
    let problem = |what: String| Problem::new(doing, what, todo);
    let mut child = process.spawn().map_err(|error| problem(format!("running dot: {error}")))?;
    // If it does not read all of it, it says why by its status.
    let _ = child.stdin.take().map(|mut input| input.write_all(graph.as_bytes()));
    let status = child.wait().map_err(|error| problem(format!("running dot: {error}")))?;
    if status.success() { Ok(()) } else { Err(problem("dot fails".to_string())) }
}

fn asm(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let name = ASM.take(words, 1, 1)?[0].clone();
    let machine = shell.machine;
    let ir = shell.built()?.ir.copied();
    if function_of(&ir, &name).is_none() {
        return shell.program.function(&name, "showing assembly").map(|_| ());
    }
    ir.export_functions(|_| true);
    let text = machine
        .assembly(ir.module())
        .map_err(|what| Problem::new(format!("compiling '{name}'"), what, ""))?;
    let begins = |line: &&str| {
        let label = line.split('#').next().unwrap_or_default().trim_end();
        label.strip_suffix(':').is_some_and(|label| label.trim_matches('"') == name)
    };
    let own = text.lines().skip_while(|line| !begins(line));
    let own: Vec<&str> = own.take_while(|line| !line.starts_with(".Lfunc_end")).collect();
    shell.say(&own.join("\n"));
    Ok(())
}
