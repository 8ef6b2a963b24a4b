//! Mappings in LLVM's words.

use crate::names::readable;
use midflight_profile::osr_maps::{FunctionMaps, MapExpr, MapPoint, OwedStore};
use std::io::{self, Write};

/// Writes all points of all functions.
///
/// # Errors
/// Of the output.
pub fn write(out: &mut dyn Write, functions: &[FunctionMaps]) -> io::Result<()> {
    for (number, function) in functions.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let name = readable(&function.name);
        let (file, pipeline) = (readable(&function.file), readable(&function.pipeline));
        writeln!(out, "{name} ({file}); opt is what these passes made of it: {pipeline}")?;
        for direction in directions(function) {
            direction.write(out)?;
        }
    }
    Ok(())
}

/// The points of a version.
struct Direction<'a> {
    name: String,
    title: &'static str,
    function: &'a FunctionMaps,
    /// The instructions of the version that is left
    source: &'a [String],
    /// Those of the version that is entered
    destination: &'a [String],
    points: &'a [MapPoint],
}

fn directions(function: &FunctionMaps) -> [Direction<'_>; 2] {
    let [base, opt] = function.maps.instructions.each();
    let [forth, back] = function.maps.points.each();
    let name = readable(&function.name);
    [
        Direction {
            name: name.clone(),
            title: "base to opt",
            function,
            source: base,
            destination: opt,
            points: forth,
        },
        Direction {
            name: format!("{name}.opt"),
            title: "opt to base",
            function,
            source: opt,
            destination: base,
            points: back,
        },
    ]
}

impl Direction<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let leads = self.points.iter().filter(|p| matches!(p, MapPoint::Leads { .. })).count();
        writeln!(out, "  {}: {leads} of {} points", self.title, self.points.len())?;
        for point in self.points {
            write!(out, "    {}#{}", self.name, point.point())?;
            write!(out, " before {}", instruction(self.source, point.at()))?;
            match point {
                MapPoint::Refused { refused, .. } => {
                    writeln!(out, "\n      {}", readable(refused))?
                }
                MapPoint::Leads { landing, values, exprs, stores, keep, .. } => {
                    writeln!(
                        out,
                        "\n      goes on before {}",
                        instruction(self.destination, *landing)
                    )?;
                    self.write_compensation(out, exprs, stores, values)?;
                    if !keep.is_empty() {
                        let names: Vec<String> =
                            keep.iter().map(|&value| self.value(self.source, value)).collect();
                        writeln!(out, "      keeps {}", names.join(", "))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What is computed, and what goes under another name, as the report has it.
    fn write_compensation(
        &self,
        out: &mut dyn Write,
        exprs: &[MapExpr],
        stores: &[OwedStore],
        values: &[(usize, usize)],
    ) -> io::Result<()> {
        let name = |expr: usize| match &exprs[expr] {
            MapExpr::Source { source } => self.value(self.source, *source),
            MapExpr::Constant { constant } => readable(&self.function.maps.constants[constant]),
            MapExpr::Repeat { repeat, .. } => format!("{}'", result(self.destination, *repeat)),
            MapExpr::Content { .. } => format!("memory'{expr}"),
        };
        for (number, expr) in exprs.iter().enumerate() {
            if let MapExpr::Content { address, .. } = expr {
                writeln!(out, "      memory'{number} = load {}", name(*address))?;
            }
            let MapExpr::Repeat { repeat, of } = expr else { continue };
            let operands: Vec<String> = of.iter().map(|&operand| name(operand)).collect();
            let text = &self.destination[*repeat];
            let operation = text.split_once(" = ").map_or(text.as_str(), |(_, rest)| rest);
            let operation = operation.split_whitespace().next().unwrap_or_default();
            // A phi is made again as one.
            let operation = if operation == "phi" { "select" } else { operation };
            let result = result(self.destination, *repeat);
            writeln!(out, "      {result}' = {} {}", readable(operation), operands.join(", "))?;
        }
        for store in stores {
            writeln!(out, "      store {}, {}", name(store.value), name(store.address))?;
        }
        for &(value, expr) in values {
            let (to, from) = (self.value(self.destination, value), name(expr));
            if to != from {
                writeln!(out, "      {to} := {from}")?;
            }
        }
        Ok(())
    }

    fn value(&self, instructions: &[String], value: usize) -> String {
        match value.checked_sub(self.function.maps.arguments) {
            Some(inst) => result(instructions, inst),
            None => format!("argument {value}"),
        }
    }
}

fn instruction(instructions: &[String], inst: usize) -> String {
    readable(instructions[inst].trim())
}

/// The name of an instruction's result.
fn result(instructions: &[String], inst: usize) -> String {
    match instructions[inst].trim().split_once(" = ") {
        Some((name, _)) => readable(name),
        None => format!("instruction {inst}"),
    }
}
