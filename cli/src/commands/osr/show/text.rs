//! Mappings in LLVM's words.

use crate::format::names::readable;
use midflight_profile::osr_maps::{FunctionMaps, MapExpr, MapPoint, OwedStore, name_in};
use std::io::{self, Write};

/// Writes all points of all functions.
pub fn write(out: &mut dyn Write, functions: &[FunctionMaps]) -> io::Result<()> {
    for (number, function) in functions.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let name = readable(&function.name);
        let (file, pipeline) = (readable(&function.file), readable(&function.pipeline));
        writeln!(out, "{name} ({file}); opt is what these passes made of it: {pipeline}")?;
        let instructions = &function.maps.instructions;
        let base = Code { version: "base", instructions: &instructions.base };
        let opt = Code { version: "opt", instructions: &instructions.opt };
        let [forth, back] = function.maps.points.each();
        Direction { function, source: base, destination: opt }.write(out, &name, forth)?;
        let name = format!("{name}.opt");
        Direction { function, source: opt, destination: base }.write(out, &name, back)?;
    }
    Ok(())
}

/// From one version to the other.
struct Direction<'a> {
    function: &'a FunctionMaps,
    /// The version that is left
    source: Code<'a>,
    /// The version that is entered
    destination: Code<'a>,
}

/// A version with its instructions.
#[derive(Clone, Copy)]
struct Code<'a> {
    version: &'static str,
    instructions: &'a [String],
}

impl Direction<'_> {
    /// Writes the points of the version that is left, which has this name.
    fn write(&self, out: &mut dyn Write, name: &str, points: &[MapPoint]) -> io::Result<()> {
        let by_point = || points.chunk_by(|a, b| a.point() == b.point());
        let all = by_point().count();
        let leads = by_point().filter(|ways| matches!(ways[0], MapPoint::Leads { .. })).count();
        let [from, to] = [self.source.version, self.destination.version];
        writeln!(out, "  {from} to {to}: {leads} of {all} points")?;
        for point in points {
            write!(out, "    {name}#{}", point.point())?;
            write!(out, " before {}", self.source.instruction(point.at()))?;
            match point {
                MapPoint::Refused { refused, .. } => {
                    writeln!(out, "\n      {}", readable(refused))?
                }
                MapPoint::Leads { landing, values, exprs, stores, keep, ahead, came, .. } => {
                    let (version, landing) =
                        (self.destination.version, self.destination.instruction(*landing));
                    writeln!(out)?;
                    if let Some(came) = came {
                        let from = came.from.iter().map(|&from| self.source.instruction(from));
                        let from: Vec<String> = from.map(|from| from.to_string()).collect();
                        let into = self.source.instruction(came.into);
                        writeln!(out, "      if it came to {into} over {}", from.join(" or "))?;
                    }
                    for &inst in ahead.iter().flat_map(|ahead| &ahead.runs) {
                        writeln!(out, "      runs {}", self.source.instruction(inst))?;
                    }
                    writeln!(out, "      goes on in {version} before {landing}")?;
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
            MapExpr::Repeat { repeat, .. } => format!("{}'", self.destination.result(*repeat)),
            MapExpr::Content { .. } => format!("memory'{expr}"),
            MapExpr::Narrow { .. } => format!("narrow'{expr}"),
            MapExpr::Code { code, .. } => match *code {},
        };
        let is_copy =
            |store: &OwedStore| !self.destination.instructions[store.store].starts_with("store ");
        for (number, expr) in exprs.iter().enumerate() {
            if let MapExpr::Content { address, .. } = expr {
                writeln!(out, "      memory'{number} = load {}", name(*address))?;
            }
            if let MapExpr::Narrow { of, .. } = expr {
                writeln!(out, "      narrow'{number} = trunc {}", name(*of))?;
            }
            let MapExpr::Repeat { repeat, of } = expr else { continue };
            let operands: Vec<String> = of.iter().map(|&operand| name(operand)).collect();
            let text = &self.destination.instructions[*repeat];
            let operation = text.split_once(" = ").map_or(text.as_str(), |(_, rest)| rest);
            let operation = operation.split_whitespace().next().unwrap_or_default();
            // A phi is made again as one.
            let operation = if operation == "phi" { "select" } else { operation };
            let result = self.destination.result(*repeat);
            writeln!(out, "      {result}' = {} {}", readable(operation), operands.join(", "))?;
            // An array of its own is initialized before it is read.
            for copy in stores.iter().filter(|store| store.address == number && is_copy(store)) {
                writeln!(out, "      memcpy {result}', {}", name(copy.value))?;
            }
        }
        for store in stores.iter().filter(|store| !is_copy(store)) {
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

    fn value(&self, code: Code<'_>, value: usize) -> String {
        match value.checked_sub(self.function.maps.arguments) {
            Some(inst) => code.result(inst),
            None => format!("argument {value}"),
        }
    }
}

impl Code<'_> {
    fn instruction(&self, inst: usize) -> String {
        readable(self.instructions[inst].trim())
    }

    /// The name of an instruction's result.
    fn result(&self, inst: usize) -> String {
        match self.instructions[inst].trim().split_once(" = ") {
            Some((name, _)) => readable(&name_in(self.version, name)),
            None => format!("instruction {inst} of {}", self.version),
        }
    }
}
