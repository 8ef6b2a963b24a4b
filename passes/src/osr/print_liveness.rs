//! `print<osr-liveness>`: the values live at each point of each function.

use crate::driver::{Driver, definitions};
use crate::read_code::read_code;
use midflight_bridge::ir::{Function, Module, print};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_ir::ids::ValueId;
use midflight_ir::liveness::liveness;
use std::fmt::Write;

/// The pass.
pub struct PrintLiveness;

impl Pass for PrintLiveness {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let driver = Driver::reading("printing the live values of '{}'");
        driver.run(module, &definitions(module), |function| {
            print(&describe(function));
            Ok(Vec::new())
        });
        false
    }
}

/// The text for one function: one line a block and one a boundary, each with the values live there.
/// The line of a boundary names the instruction behind it.
pub fn describe(function: Function<'_>) -> String {
    let snapshot = read_code(function);
    let (body, names) = (&snapshot.body, snapshot.names());
    let blocks = snapshot.block_names();
    let live = liveness(body);
    let set = |values: &[ValueId]| {
        let names: Vec<&str> = values.iter().map(|&v| names[v].as_str()).collect();
        format!("{{{}}}", names.join(", "))
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "liveness of '{}':", function.name());
    for (block, name) in blocks.iter_enumerated() {
        let live_in = set(&live.live_in[block]);
        let _ = writeln!(text, "  {name}: {live_in}");
        let mut lines = Vec::new();
        live.walk(body, block, |inst, live| {
            if body.code.instructions[inst].facts.is_phi() {
                return;
            }
            let result = &names[body.code.result(inst)];
            let opcode = snapshot.instructions[inst].opcode_name();
            let before = if result.is_empty() { opcode } else { format!("{result} = {opcode}") };
            lines.push(format!("    {before}: {}", set(live)));
        });
        lines.iter().rev().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
    }
    text
}
