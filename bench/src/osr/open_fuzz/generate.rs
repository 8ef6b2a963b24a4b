//! Programs whose functions call what they get and what they load, with loops in which that
//! changes.
//!
//! A program has *families* of callees: functions of one type, with tables of them. It has
//! *drivers*, functions that get callees, take them out of tables and structures, change them in
//! nested loops, hand them down, and call each other and themselves. `main` calls the drivers with
//! all kinds of arguments and prints what they return and what they left in memory. In half of the
//! programs callees and drivers assume something, and invalidate it.
//!
//! All is defined with `-fwrapv`: divisors are small and positive, indices are masked, each full
//! expression has one call at most, and loops and recursion are bounded by *fuel*, which
//! drivers use up.

use crate::osr::open_fuzz::dice::Dice;
use std::fmt::Write;

/// Types of variables.
const TYPES: [&str; 9] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "__int128",
];

/// Calls of drivers that a program may make.
const FUEL: u64 = 400;

/// What half of the programs begin with: assumptions, as `midflight.h` has them, for programs that
/// are compiled without the header and linked without the runtime, too.
const ASSUMPTIONS: &str = r#"struct knob { long value; };
static struct knob knobs[3] = {{1}, {2}, {3}};
extern int midflight_invalidate(struct knob *, long) __attribute__((weak));
#ifdef MIDFLIGHT_OSR
#define ASSUME(k) __builtin_annotation(__atomic_load_n(&knobs[k].value, 0), "midflight.assume")
#else
#define ASSUME(k) __atomic_load_n(&knobs[k].value, 0)
#endif
NOINLINE static void turn(int k, long value) {
  if (midflight_invalidate)
    midflight_invalidate(&knobs[k], value);
  else
    knobs[k].value = value;
}
"#;

/// A family of callees.
struct Family {
    /// Type of the result
    result: &'static str,
    /// Types of the parameters
    parameters: Vec<Parameter>,
    /// How many callees there are
    size: usize,
}

/// A parameter of a callee.
#[derive(Clone, Copy, PartialEq)]
enum Parameter {
    Number(&'static str),
    /// A double
    Real,
    /// A pointer to a number, which the callee may change
    Place,
    /// A structure, by value
    Pair,
}

impl Parameter {
    fn c_type(self) -> &'static str {
        match self {
            Parameter::Number(ty) => ty,
            Parameter::Real => "double",
            Parameter::Place => "long *",
            Parameter::Pair => "struct pair",
        }
    }
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut writer = Writer {
        dice: Dice::new(seed),
        text: String::new(),
        families: Vec::new(),
        assumes: seed / 2 % 2 == 1,
    };
    writer.write(seed);
    writer.text
}

struct Writer {
    dice: Dice,
    text: String,
    families: Vec<Family>,
    /// It has assumptions.
    assumes: bool,
}

/// What expressions may be made of.
#[derive(Clone, Default)]
struct Scope {
    /// Numbers that can be read
    values: Vec<String>,
    /// Those that can be changed, too
    variables: Vec<String>,
    /// Doubles
    reals: Vec<String>,
    /// Pointers to `long`
    places: Vec<String>,
    /// Variables that hold a callee, with its family
    callees: Vec<(String, usize)>,
}

/// Where a statement is.
#[derive(Clone, Copy)]
struct At {
    /// Loops around it
    loops: usize,
    /// Blocks around it
    depth: usize,
    /// The driver that it is in, if it is in one
    driver: Option<usize>,
    /// Callees of this family that it may call, and how many
    own: Option<(usize, usize)>,
}

/// A driver's prototype has all families' callees, so that each can call each.
fn driver_parameters(families: usize) -> String {
    let callees: Vec<String> = (0..families).map(|f| format!("fam{f} f{f}")).collect();
    format!("{}, struct ops *ops, int kind, long n, int depth", callees.join(", "))
}

impl Writer {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn write(&mut self, seed: u64) {
        self.line(0, &format!("/* Seed {seed} of midflight-bench osr open-fuzz. */"));
        self.line(0, "#include <stdio.h>\n");
        self.line(0, "#define NOINLINE __attribute__((noinline))");
        self.line(0, "struct pair { long a; int b; };");
        self.line(0, &format!("static int fuel = {FUEL};"));
        let mut statics = self.globals();
        if self.assumes {
            self.line(0, ASSUMPTIONS);
            statics.values.extend((0..3).map(|k| format!("ASSUME({k})")));
        }
        let families = self.dice.number(1, 3) as usize;
        self.families = (0..families).map(|_| self.family()).collect();
        for f in 0..families {
            self.declare_family(f);
        }
        self.ops();
        for f in 0..families {
            let size = self.families[f].size;
            (0..size).for_each(|c| self.callee(f, c, &statics));
        }
        for f in 0..families {
            self.tables(f);
        }
        let drivers = self.dice.number(1, 4) as usize;
        for d in 0..drivers {
            let parameters = driver_parameters(families);
            self.line(0, &format!("NOINLINE static long driver{d}({parameters});"));
        }
        (0..drivers).for_each(|d| self.driver(d, drivers, &statics));
        self.main(drivers, &statics);
    }

    /// Variables of the file, and what of them expressions may be made of.
    fn globals(&mut self) -> Scope {
        let mut scope = Scope::default();
        for g in 0..self.dice.number(2, 5) {
            let ty = *self.dice.pick(&TYPES[..8]);
            let kind = *self.dice.pick(&[
                "static",
                "static",
                "",
                "static volatile",
                "static _Thread_local",
            ]);
            let value = self.dice.number(0, 100);
            self.line(0, &format!("{kind} {ty} g{g} = {value};"));
            scope.values.push(format!("g{g}"));
            scope.variables.push(format!("g{g}"));
        }
        self.line(0, "static long places[8] = {1, 2, 3, 4, 5, 6, 7, 8};");
        let numbers: Vec<String> = (0..16).map(|_| self.dice.number(0, 300).to_string()).collect();
        self.line(0, &format!("static const short constants[16] = {{{}}};", numbers.join(", ")));
        scope.places = vec!["(places + 1)".into(), "(places + 5)".into(), "place".into()];
        self.line(0, "static long *place = places;\n");
        scope.values.push("*place".into());
        scope
    }

    fn number_type(&mut self) -> &'static str {
        TYPES[self.dice.below(TYPES.len())]
    }

    fn family(&mut self) -> Family {
        let mut parameters = vec![Parameter::Number("long")];
        for _ in 0..self.dice.number(0, 5) {
            parameters.push(match self.dice.number(0, 9) {
                0 => Parameter::Real,
                1 | 2 => Parameter::Place,
                3 => Parameter::Pair,
                _ => Parameter::Number(self.number_type()),
            });
        }
        let result = self.number_type();
        Family { result, parameters, size: self.dice.number(2, 5) as usize }
    }

    fn declare_family(&mut self, f: usize) {
        let family = &self.families[f];
        let types: Vec<&str> = family.parameters.iter().map(|p| p.c_type()).collect();
        let types = types.join(", ");
        let mut lines = vec![format!("typedef {} (*fam{f})({types});", family.result)];
        for c in 0..family.size {
            lines.push(format!("static {} call{f}_{c}({types});", family.result));
        }
        // Tables are a power of two long, so that an index is a mask.
        lines.push(format!("static fam{f} table{f}[4];"));
        lines.push(format!("static fam{f} const fixed{f}[4];"));
        lines.iter().for_each(|line| self.line(0, line));
    }

    /// A structure of callees, as objects have them.
    fn ops(&mut self) {
        let fields: Vec<String> =
            (0..self.families.len()).map(|f| format!("fam{f} f{f}; ")).collect();
        self.line(0, &format!("struct ops {{ {}int used; }};", fields.concat()));
    }

    fn tables(&mut self, f: usize) {
        for (kind, name) in [("", "table"), (" const", "fixed")] {
            let entries: Vec<String> = (0..4)
                .map(|_| format!("call{f}_{}", self.dice.below(self.families[f].size)))
                .collect();
            self.line(
                0,
                &format!("static fam{f}{kind} {name}{f}[4] = {{{}}};", entries.join(", ")),
            );
        }
    }

    /// A callee: it may call callees of its family before it.
    fn callee(&mut self, f: usize, c: usize, statics: &Scope) {
        let mut scope = statics.clone();
        let mut parameters = Vec::new();
        for (p, parameter) in self.families[f].parameters.iter().enumerate() {
            parameters.push(format!("{} p{p}", parameter.c_type()));
            match parameter {
                Parameter::Number(_) => {
                    scope.values.push(format!("p{p}"));
                    scope.variables.push(format!("p{p}"));
                }
                Parameter::Real => scope.reals.push(format!("p{p}")),
                Parameter::Place => scope.places.push(format!("p{p}")),
                Parameter::Pair => {
                    scope.values.extend([format!("p{p}.a"), format!("p{p}.b")]);
                    scope.variables.push(format!("p{p}.a"));
                }
            }
        }
        let attribute = if self.dice.percent(10) { "NOINLINE " } else { "" };
        let head = format!(
            "{attribute}static {} call{f}_{c}({}) {{",
            self.families[f].result,
            parameters.join(", ")
        );
        self.line(0, &head);
        self.locals(1, &mut scope);
        let at = At { loops: 0, depth: 1, driver: None, own: Some((f, c)) };
        for _ in 0..self.dice.number(1, 4) {
            self.statement(&mut scope, at);
        }
        let result = self.expression(&scope, 2);
        self.line(1, &format!("return {result};"));
        self.line(0, "}");
    }

    fn locals(&mut self, depth: usize, scope: &mut Scope) {
        for _ in 0..self.dice.number(1, 4) {
            let name = format!("v{}", scope.variables.len());
            let (ty, value) = (self.number_type(), self.expression(scope, 1));
            self.line(depth, &format!("{ty} {name} = {value};"));
            scope.values.push(name.clone());
            scope.variables.push(name);
        }
        if self.dice.percent(40) {
            self.line(depth, "long here[4] = {4, 3, 2, 1};");
            scope.places.push("here".into());
            scope.values.push("here[1]".into());
            scope.variables.push("here[2]".into());
        }
        if self.dice.percent(25) {
            let name = format!("r{}", scope.reals.len());
            let value = self.expression(scope, 1);
            self.line(depth, &format!("double {name} = (double)(short)({value}) * 0.25;"));
            scope.reals.push(name);
        }
    }

    fn driver(&mut self, d: usize, drivers: usize, statics: &Scope) {
        let mut scope = statics.clone();
        scope.values.extend(["kind", "n", "depth", "ops->used"].map(String::from));
        scope.variables.extend(["kind", "n", "ops->used"].map(String::from));
        scope.callees = (0..self.families.len()).map(|f| (format!("f{f}"), f)).collect();
        let parameters = driver_parameters(self.families.len());
        self.line(0, &format!("NOINLINE static long driver{d}({parameters}) {{"));
        self.line(1, "if (fuel <= 0 || depth <= 0)");
        self.line(2, "return 1;");
        self.line(1, "fuel--;");
        self.line(1, "long sum = kind;");
        scope.values.push("sum".into());
        scope.variables.push("sum".into());
        self.locals(1, &mut scope);
        let at = At { loops: 0, depth: 1, driver: Some(drivers), own: None };
        for _ in 0..self.dice.number(1, 3) {
            self.one_loop(&mut scope, at);
            if self.dice.percent(50) {
                self.statement(&mut scope, at);
            }
        }
        let result = self.expression(&scope, 3);
        self.line(1, &format!("return sum * 31 + (long)({result});"));
        self.line(0, "}");
    }

    /// A loop that calls, and changes what is called.
    fn one_loop(&mut self, scope: &mut Scope, at: At) {
        let i = format!("i{}", at.loops);
        let end = match at.loops {
            0 => self.dice.number(10, 45),
            1 => self.dice.number(2, 14),
            _ => self.dice.number(1, 6),
        };
        let head = match self.dice.number(0, 3) {
            0 => format!("for (long {i} = {end}; {i} > 0; {i}--) {{"),
            1 => format!("for (unsigned {i} = 0; {i} < {end} + (unsigned)(kind & 7); {i}++) {{"),
            _ => format!("for (int {i} = 0; {i} < {end}; {i}++) {{"),
        };
        self.line(at.depth, &head);
        let mut inner = scope.clone();
        inner.values.push(i.clone());
        let within = At { loops: at.loops + 1, depth: at.depth + 1, ..at };
        let callees = inner.callees.len();
        if self.dice.percent(85) {
            self.call(&inner, within);
        }
        for _ in 0..self.dice.number(1, 4) {
            self.statement(&mut inner, within);
        }
        if callees > 0 && self.dice.percent(60) {
            let condition = self.rare(&i, end);
            self.line(within.depth, &format!("if ({condition})"));
            self.change(&inner, within.depth + 1);
        }
        if self.dice.percent(70) {
            let value = self.expression(&inner, 2);
            let operator = *self.dice.pick(&["+=", "^=", "-="]);
            self.line(within.depth, &format!("sum = sum * 5, sum {operator} (long)({value});"));
        }
        self.line(at.depth, "}");
    }

    /// A condition that seldom holds.
    fn rare(&mut self, i: &str, end: u64) -> String {
        match self.dice.number(0, 2) {
            0 => format!("{i} == {}", self.dice.number(0, end)),
            1 => {
                let every = self.dice.number(3, 19);
                format!("{i} % {every} == {}", self.dice.number(0, every - 1))
            }
            _ => format!("(sum & 31) == {}", self.dice.number(0, 31)),
        }
    }

    /// Changes what will be called.
    fn change(&mut self, scope: &Scope, depth: usize) {
        let (name, f) = self.dice.pick(&scope.callees).clone();
        let index = self.index(scope, 3);
        let size = self.families[f].size;
        let text = match self.dice.number(0, 6) {
            0 | 1 => format!("{name} = table{f}[{index}];"),
            2 => format!("{name} = fixed{f}[{index}];"),
            3 => format!("ops->f{f} = {name};"),
            4 => format!("ops->f{f} = table{f}[{index}];"),
            5 => format!("table{f}[{index}] = call{f}_{};", self.dice.below(size)),
            _ => format!("{name} = {name} == call{f}_0 ? ops->f{f} : call{f}_0;"),
        };
        self.line(depth, &text);
    }

    fn index(&mut self, scope: &Scope, mask: u64) -> String {
        let value = self.dice.pick(&scope.values).clone();
        format!("(int)({value} & {mask})")
    }

    /// Calls a callee whose address is known when the program runs.
    fn call(&mut self, scope: &Scope, at: At) {
        let Some((name, f)) = self.callee_of(scope) else { return };
        let arguments = self.arguments(scope, f);
        let to = self.dice.pick(&scope.variables).clone();
        let operator = *self.dice.pick(&["=", "+=", "^=", "="]);
        let guard = if self.dice.percent(15) { "if (kind & 1) " } else { "" };
        self.line(at.depth, &format!("{guard}{to} {operator} {name}({arguments});"));
    }

    fn callee_of(&mut self, scope: &Scope) -> Option<(String, usize)> {
        if scope.callees.is_empty() {
            return None;
        }
        let (name, f) = self.dice.pick(&scope.callees).clone();
        let name = match self.dice.number(0, 9) {
            0 | 1 => format!("ops->f{f}"),
            2 => format!("table{f}[{}]", self.index(scope, 3)),
            3 => format!("fixed{f}[{}]", self.index(scope, 1)),
            _ => name,
        };
        Some((name, f))
    }

    /// Arguments without a side effect.
    fn arguments(&mut self, scope: &Scope, f: usize) -> String {
        let parameters = self.families[f].parameters.clone();
        let mut arguments = Vec::new();
        for parameter in parameters {
            arguments.push(match parameter {
                Parameter::Number(_) => self.expression(scope, 1),
                Parameter::Real => self.real(scope),
                Parameter::Place => self.dice.pick(&scope.places).clone(),
                Parameter::Pair => {
                    let (a, b) = (self.expression(scope, 1), self.expression(scope, 0));
                    format!("(struct pair){{{a}, {b}}}")
                }
            });
        }
        arguments.join(", ")
    }

    fn real(&mut self, scope: &Scope) -> String {
        match scope.reals.as_slice() {
            [] => format!("{}.5", self.dice.number(0, 20)),
            reals => format!("{} * 0.5 + {}", self.dice.pick(reals), self.dice.number(0, 9)),
        }
    }

    fn statement(&mut self, scope: &mut Scope, at: At) {
        let deep = at.depth > 4;
        let variable = self.dice.pick(&scope.variables).clone();
        if self.assumes && self.dice.percent(3) {
            let (k, condition) = (self.dice.below(3), self.dice.number(2, 9));
            let value = self.expression(scope, 1);
            self.line(at.depth, &format!("if ((long){variable} % {condition} == 1)"));
            self.line(at.depth + 1, &format!("turn({k}, (long)({value}) & 7);"));
        }
        match self.dice.number(0, 15) {
            0 if !deep => {
                let condition = self.expression(scope, 1);
                self.line(at.depth, &format!("if (({condition}) & 1) {{"));
                self.statement(&mut scope.clone(), At { depth: at.depth + 1, ..at });
                self.line(at.depth, "} else {");
                self.statement(&mut scope.clone(), At { depth: at.depth + 1, ..at });
                self.line(at.depth, "}");
            }
            1 if !deep && at.driver.is_some() => self.switch(scope, at),
            2 if !deep && at.driver.is_some() && at.loops > 0 && at.loops < 3 => {
                self.one_loop(scope, at);
            }
            3 | 4 if at.driver.is_some() => self.call(scope, at),
            5 if at.driver.is_some() => {
                let Some(drivers) = at.driver else { return };
                self.call_driver(scope, at, drivers);
            }
            6 if at.driver.is_some() && at.loops > 0 && self.dice.percent(40) => {
                let condition = self.rare("n", 50);
                let leave = *self.dice.pick(&["break", "continue"]);
                self.line(at.depth, &format!("if ({condition}) {{ n++; {leave}; }}"));
            }
            7 => {
                let place = self.dice.pick(&scope.places).clone();
                let value = self.expression(scope, 1);
                let operator = *self.dice.pick(&["=", "+=", "^="]);
                self.line(at.depth, &format!("*{place} {operator} (long)({value});"));
            }
            8 if self.dice.percent(50) => {
                let text = format!("place = {} + {};", "places", self.index(scope, 7));
                self.line(at.depth, &text);
            }
            9 if !scope.reals.is_empty() => {
                let real = self.dice.pick(&scope.reals).clone();
                let value = self.expression(scope, 1);
                self.line(at.depth, &format!("{real} = {real} * 0.5 + (double)(short)({value});"));
                self.line(at.depth, &format!("{variable} += (int){real};"));
            }
            10 if at.own.is_some_and(|(_, before)| before > 0) => {
                let Some((f, before)) = at.own else { return };
                let arguments = self.arguments(scope, f);
                let callee = self.dice.below(before);
                self.line(at.depth, &format!("{variable} ^= call{f}_{callee}({arguments});"));
            }
            11 if at.own.is_some() => {
                let value = self.expression(scope, 1);
                let end = self.dice.number(1, 9);
                let head = format!("for (int j = 0; j < {end}; j++)");
                self.line(at.depth, &head);
                self.line(at.depth + 1, &format!("{variable} = {variable} * 3 + ({value}) + j;"));
            }
            12 => {
                let value = self.expression(scope, 0);
                self.line(at.depth, &format!("{variable} += constants[({value}) & 15];"));
            }
            _ => {
                let operator = *self.dice.pick(&["=", "+=", "-=", "^=", "*=", "|=", "&="]);
                let value = self.expression(scope, 2);
                self.line(at.depth, &format!("{variable} {operator} {value};"));
            }
        }
    }

    fn switch(&mut self, scope: &mut Scope, at: At) {
        self.line(at.depth, "switch (kind & 3) {");
        let inner = At { depth: at.depth + 1, ..at };
        for case in ["case 0:", "case 1:", "case 2:", "default:"] {
            self.line(at.depth, case);
            // `continue` and `break` of a loop would be others here.
            let value = self.expression(scope, 1);
            let variable = self.dice.pick(&scope.variables).clone();
            self.line(inner.depth, &format!("{variable} += {value};"));
            if self.dice.percent(40) {
                self.call(scope, inner);
            }
            if self.dice.percent(80) {
                self.line(inner.depth, "break;");
            }
        }
        self.line(at.depth, "}");
    }

    /// Calls a driver, with callees that are handed down.
    fn call_driver(&mut self, scope: &Scope, at: At, drivers: usize) {
        let d = self.dice.below(drivers);
        let callees: Vec<String> = (0..self.families.len())
            .map(|f| match self.dice.number(0, 2) {
                0 => format!("table{f}[{}]", self.index(scope, 3)),
                1 => format!("ops->f{f}"),
                _ => format!("f{f}"),
            })
            .collect();
        let (kind, n) = (self.dice.pick(&scope.values).clone(), self.expression(scope, 0));
        let callees = callees.join(", ");
        let every = self.dice.number(3, 9);
        self.line(at.depth, &format!("if (n++ % {every} == 0)"));
        let text = format!("sum ^= driver{d}({callees}, ops, (int)({kind}) & 7, {n}, depth - 1);");
        self.line(at.depth + 1, &text);
    }

    /// An expression without calls and without side effects.
    fn expression(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.dice.percent(20) {
            return match self.dice.number(0, 3) {
                0 => self.dice.number(0, 40).to_string(),
                _ if scope.values.is_empty() => self.dice.number(0, 999).to_string(),
                _ => self.dice.pick(&scope.values).clone(),
            };
        }
        let (a, b) = (self.expression(scope, depth - 1), self.expression(scope, depth - 1));
        match self.dice.number(0, 12) {
            0..=2 => format!("({a} + {b})"),
            3 | 4 => format!("({a} - {b})"),
            5 => format!("({a} * {b})"),
            6 => format!("({a} ^ {b})"),
            7 => format!("({a} & {b})"),
            8 => format!("({a} / (({b} & 15) + 1))"),
            9 => format!("({a} % (({b} & 7) + 2))"),
            10 => format!("({a} >> ({b} & 7))"),
            11 => format!("({a} < {b} ? {a} : {b})"),
            _ => format!("((int)({a}) << (int)({b} & 7))"),
        }
    }

    fn main(&mut self, drivers: usize, statics: &Scope) {
        self.line(0, "int main(void) {");
        let rounds = self.dice.number(6, 12);
        self.line(1, &format!("for (int round = 0; round < {rounds}; round++) {{"));
        let first: Vec<String> =
            (0..self.families.len()).map(|f| format!("table{f}[round & 3]")).collect();
        self.line(2, &format!("struct ops ops = {{{}, 0}};", first.join(", ")));
        for d in 0..drivers {
            let callees: Vec<String> = (0..self.families.len())
                .map(|f| match self.dice.number(0, 2) {
                    0 => format!("call{f}_{}", self.dice.below(self.families[f].size)),
                    1 => format!("table{f}[(round / {}) & 3]", self.dice.number(1, 3)),
                    _ => format!("fixed{f}[round & 1]"),
                })
                .collect();
            let kind = if self.dice.percent(50) { "round / 4" } else { "round & 3" };
            let text = format!(
                "printf(\"%d {d} %ld\\n\", round, driver{d}({}, &ops, {kind}, round * 7, 3));",
                callees.join(", ")
            );
            self.line(2, &text);
        }
        let sum: Vec<String> = statics.variables.iter().map(|g| format!("(long){g}")).collect();
        self.line(
            2,
            &format!("printf(\"%ld %d %d\\n\", {}, fuel, ops.used);", sum.join(" * 3 + ")),
        );
        self.line(2, "for (int i = 0; i < 8; i++)");
        self.line(3, "printf(\"%ld \", places[i]);");
        self.line(2, "printf(\"%d\\n\", (int)(place - places));");
        self.line(2, &format!("fuel += {};", FUEL / 8));
        self.line(1, "}");
        self.line(0, "}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_program_and_another_seed_another() {
        assert_eq!(program(5), program(5));
        assert_ne!(program(5), program(6));
    }

    #[test]
    fn programs_call_what_they_get() {
        let has = |what: &str| (0..20).filter(|&seed| program(seed).contains(what)).count();
        assert_eq!(has("NOINLINE static long driver0("), 20);
        assert!(has("= f0(") > 10 && has("ops->f0(") > 2 && has("table0[") == 20);
        assert!(has("static void turn(") == 10 && has("ASSUME(2)") > 5 && has(" turn(") > 5);
    }
}
