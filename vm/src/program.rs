//! The program that is loaded: its functions, their versions, and the points that are asked for.
//!
//! Points are kept as what was asked for, and are inserted into a copy of the module whenever that
//! is needed. So the numbers of points stay those of the functions as they are shown, and removing
//! a point leaves nothing behind.

use crate::ir::{Context, Ir, first_error};
use crate::problem::{Problem, nearest};
use midflight_bridge::ir::{Function, Inst, Module, Value};
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::ids::InstId;
use midflight_ir::liveness::liveness;
use midflight_mapping::points::{Point, points};
use midflight_orc::Machine;
use midflight_passes::osr::api::{
    Condition, Generator, OsrPoint, StateMap, insert_open_osr, insert_resolved_osr,
};
use midflight_passes::osr::map::opt_options::OptOptions;
use midflight_passes::osr::map::opt_pass::OptPass;
use midflight_passes::osr::map::print_map::PrintMap;
use midflight_passes::osr::place::Where;
use midflight_passes::read_code::{CodeSnapshot, read_code};
use midflight_profile::osr_maps::report;
use std::collections::HashMap;

/// What a point leads to.
#[derive(Clone, PartialEq, Eq)]
pub enum To {
    /// A clone of the function
    Clone,
    /// The function's version of this name
    Version(String),
    /// From the version of this name to the function
    Base(String),
    /// A version that is made while the program runs
    Open(Generator, Option<String>),
}

/// A point that was asked for.
#[derive(Clone)]
pub struct Asked {
    /// By which it is armed, counted and removed
    pub name: String,
    /// The function or version that it is in
    pub at: String,
    /// Its number there
    pub number: usize,
    /// When it fires
    pub condition: Condition,
    /// The same as it was written
    pub when: String,
    /// Where it leads
    pub to: To,
}

impl Asked {
    /// Whether it fires while it is armed.
    pub fn can_be_armed(&self) -> bool {
        matches!(self.condition, Condition::Flag | Condition::Patch)
    }

    /// Where it leads, as it was written.
    pub fn destination(&self) -> String {
        match &self.to {
            To::Clone => "a clone".to_string(),
            To::Version(name) => name.clone(),
            To::Base(version) => format!("the base of {version}"),
            To::Open(generator, None) => format!("open:{}", generator.name()),
            To::Open(generator, Some(key)) => format!("open:{} key {key}", generator.name()),
        }
    }
}

/// A version of a function that passes have made.
#[derive(Clone)]
pub struct Optimized {
    /// Its name, under which it is a function of the program too
    pub name: String,
    /// The function
    pub base: String,
    /// The passes
    pub pipeline: String,
}

/// A function's points, by their numbers.
pub struct Read<'m> {
    /// The function, in numbers
    pub snapshot: CodeSnapshot<'m>,
    /// Its points
    pub points: Vec<Point>,
}

impl<'m> Read<'m> {
    /// Reads a function.
    pub fn new(function: Function<'m>) -> Self {
        let snapshot = read_code(function);
        let points = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
        Read { snapshot, points }
    }

    /// The instruction that a point is before.
    pub fn inst(&self, number: usize) -> Option<Inst<'m>> {
        Some(self.snapshot.instructions[self.points.get(number)?.at])
    }

    /// The number of the point before an instruction, if there is one.
    pub fn number(&self, inst: Inst<'m>) -> Option<usize> {
        let at: InstId = self.snapshot.id_of(inst)?;
        self.points.binary_search_by_key(&at, |point| point.at).ok()
    }

    /// The value of a name that is live at a point: the name that it has in the IR, or that of a
    /// variable of the source, of which clang and mem2reg make `x.addr` and `x.0`.
    fn live(&self, number: usize, name: &str) -> Option<Value<'m>> {
        let names = self.snapshot.names();
        let plain = |text: &str| {
            let text = text.trim_start_matches('%');
            let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let text = match text.rsplit_once('.') {
                Some((text, number)) if is_number(number) => text,
                _ => text,
            };
            text.strip_suffix(".addr").unwrap_or(text).to_string()
        };
        let live = &self.points.get(number)?.live;
        let exactly = live.iter().find(|&&value| names[value].trim_start_matches('%') == name);
        let of_variable = || live.iter().rfind(|&&value| plain(&names[value]) == name);
        exactly.or_else(of_variable).map(|&value| self.snapshot.value(value))
    }
}

/// The program.
pub struct Program {
    context: Context,
    machine: Machine,
    base: Ir,
    /// Points that are asked for
    pub points: Vec<Asked>,
    /// Versions that were made
    pub versions: Vec<Optimized>,
}

impl Program {
    /// One without functions.
    pub fn new(context: Context, machine: Machine) -> Program {
        let base = context.empty(c"midflight.vm");
        machine.describe(base.module());
        Program { context, machine, base, points: Vec::new(), versions: Vec::new() }
    }

    /// The module without points.
    pub fn module(&self) -> Module<'_> {
        self.base.module()
    }

    /// The names of its functions that have bodies.
    pub fn function_names(&self) -> Vec<String> {
        let defined = self.module().functions().filter(|function| function.is_definition());
        defined.map(Function::name).collect()
    }

    /// A function that has a body.
    ///
    /// # Errors
    /// [`Problem::NoFunction`]
    pub fn function(&self, name: &str, doing: &str) -> Result<Function<'_>, Problem> {
        function_of(&self.base, name).ok_or_else(|| {
            let known = self.function_names();
            let nearest = nearest(name, known.iter().map(String::as_str));
            Problem::NoFunction { doing: doing.to_string(), name: name.to_string(), nearest }
        })
    }

    /// How many instructions a function has, or all of them.
    pub fn instructions(&self, name: Option<&str>) -> usize {
        let is_meant = |function: &Function<'_>| name.is_none_or(|name| function.name() == name);
        let functions = self.module().functions().filter(is_meant);
        functions.flat_map(Function::blocks).map(|block| block.instructions().count()).sum()
    }

    /// Adds a module. Returns how many functions with bodies it has.
    ///
    /// # Errors
    /// LLVM's message; then the program is as it was.
    pub fn add(&mut self, bytes: &[u8], file: &str, promote: bool) -> Result<usize, String> {
        let new = self.context.parse(bytes, file)?;
        new.fit(&self.machine)?;
        if let Some(problem) = new.module().verify() {
            return Err(problem);
        }
        let functions: Vec<_> =
            new.module().functions().filter(|function| function.is_definition()).collect();
        let count = functions.len();
        if promote {
            functions.iter().for_each(|function| _ = function.promote_allocas());
        }
        let linked = self.base.copied();
        // The linker drops what is local or inline, and not used.
        new.export_functions(|name| !linked.module().has_global(name));
        linked.link(new)?;
        prepare(&linked);
        self.base = linked;
        Ok(count)
    }

    /// Runs a pipeline over a function, or over the whole module.
    ///
    /// # Errors
    /// LLVM's message; then the program is as it was.
    pub fn optimize(&mut self, pipeline: &str, function: Option<&str>) -> Result<(), String> {
        let changed = self.base.copied();
        let sandbox = Sandbox::default();
        let of_functions = !pipeline.trim_start().starts_with("default<")
            && sandbox.check_pipeline(pipeline).is_ok();
        match function {
            Some(name) => {
                let function = function_of(&changed, name).ok_or("it is gone")?;
                sandbox.run(function, pipeline)?;
            }
            None if of_functions => {
                let all: Vec<_> = changed.module().functions().collect();
                for function in all.into_iter().filter(|function| function.is_definition()) {
                    sandbox.run(function, pipeline)?;
                }
            }
            None => changed.optimize(pipeline, &self.machine)?,
        }
        if let Some(problem) = changed.module().verify() {
            return Err(format!("the passes have left a broken module: {problem}"));
        }
        prepare(&changed);
        self.base = changed;
        Ok(())
    }

    /// Makes a version of a function. Returns its name.
    ///
    /// # Errors
    /// LLVM's message; then the program is as it was.
    pub fn make_version(&mut self, name: &str, pipeline: &str) -> Result<String, String> {
        let sandbox = Sandbox::default();
        sandbox.check_pipeline(pipeline)?;
        let free = |name: &String| !self.module().has_global(name);
        let numbered = (2..).map(|number| format!("{name}.opt.{number}"));
        let new = std::iter::once(format!("{name}.opt")).chain(numbered).find(free);
        let new = new.ok_or("there is no free name")?;
        let changed = self.base.copied();
        let function = function_of(&changed, name).ok_or("it is gone")?;
        sandbox.run(function.clone_as(&new), pipeline)?;
        if let Some(problem) = changed.module().verify() {
            return Err(format!("the passes have left a broken module: {problem}"));
        }
        self.base = changed;
        self.versions.push(Optimized {
            name: new.clone(),
            base: name.to_string(),
            pipeline: pipeline.to_string(),
        });
        Ok(new)
    }

    /// Removes a version that no point leads to or from.
    pub fn remove_version(&mut self, name: &str) {
        self.versions.retain(|version| version.name != name);
        if let Some(function) = function_of(&self.base, name)
            && !function.is_used()
        {
            function.erase();
        }
    }

    /// The mappings between a function and a version of it.
    ///
    /// # Errors
    /// LLVM's message, or why the function has no points.
    pub fn mappings(&self, version: &Optimized) -> Result<report::Function, String> {
        let copy = self.base.copied();
        let function = function_of(&copy, &version.base).ok_or("it is gone")?;
        let pass = PrintMap::parse("detail", Some(&version.pipeline));
        let pass = pass.map_err(|error| error.to_string())?;
        match pass.function(copy.module(), function, &Sandbox::default())? {
            Ok(report) => Ok(report),
            Err(refusal) => Err(format!("{} [{}]", refusal.message(), refusal.name())),
        }
    }

    /// A copy of the module with all points.
    ///
    /// # Errors
    /// Why one of them cannot be inserted.
    pub fn woven(&self) -> Result<Ir, String> {
        first_error();
        let ir = self.base.copied();
        if self.points.iter().any(|asked| matches!(asked.to, To::Open(Generator::InlineCallee, _)))
        {
            take_addresses(ir.module());
        }
        self.insert_alone(&ir)?;
        for version in &self.versions {
            self.insert_between(&ir, version)?;
        }
        if let Some(problem) = first_error().or_else(|| ir.module().verify()) {
            return Err(problem);
        }
        Ok(ir)
    }

    /// Inserts the points that lead to clones, or are open.
    fn insert_alone(&self, ir: &Ir) -> Result<(), String> {
        let is_alone = |asked: &&Asked| matches!(asked.to, To::Clone | To::Open(..));
        let mut by_function: Vec<(&str, Vec<&Asked>)> = Vec::new();
        for asked in self.points.iter().filter(is_alone) {
            match by_function.iter_mut().find(|(name, _)| *name == asked.at) {
                Some((_, all)) => all.push(asked),
                None => by_function.push((&asked.at, vec![asked])),
            }
        }
        for (name, all) in by_function {
            let function = function_of(ir, name).ok_or("it is gone")?;
            // Instructions and maps of the function as it is shown; they outlive the insertions.
            let read = Read::new(function);
            let copy = function.clone_as(&format!("{name}.clone"));
            let map = StateMap::identity(function, copy).map_err(|error| error.to_string())?;
            let mut places: HashMap<&str, (Inst<'_>, Option<Value<'_>>)> = HashMap::new();
            for asked in &all {
                let inst = read.inst(asked.number).ok_or("there is no such point")?;
                let key = match &asked.to {
                    To::Open(_, Some(key)) => Some(
                        read.live(asked.number, key)
                            .ok_or_else(|| format!("no value '{key}' is live there"))?,
                    ),
                    _ => None,
                };
                places.insert(&asked.name, (inst, key));
            }
            // The IR that open points carry is that before other points.
            let is_open = |asked: &&&Asked| matches!(asked.to, To::Open(..));
            let resolved = all.iter().filter(|asked| !is_open(asked));
            for asked in all.iter().filter(is_open).chain(resolved) {
                let (before, key) = places[asked.name.as_str()];
                let point = OsrPoint { before, name: asked.name.clone() };
                match &asked.to {
                    To::Open(generator, _) => {
                        insert_open_osr(&point, asked.condition, generator, key)
                            .map_err(|error| error.to_string())?;
                    }
                    _ => {
                        insert_resolved_osr(&point, asked.condition, &map)
                            .map_err(|error| error.to_string())?;
                    }
                }
            }
            copy.erase();
        }
        Ok(())
    }

    /// Inserts the points that lead from a function to a version and back.
    fn insert_between(&self, ir: &Ir, version: &Optimized) -> Result<(), String> {
        let up: Vec<&Asked> = self
            .points
            .iter()
            .filter(|asked| asked.to == To::Version(version.name.clone()))
            .collect();
        let down: Vec<&Asked> =
            self.points.iter().filter(|asked| asked.to == To::Base(version.name.clone())).collect();
        let Some(first) = up.first() else { return Ok(()) };
        let numbers = |all: &[&Asked]| Where::Numbers(all.iter().map(|a| a.number).collect());
        let options = OptOptions::parse("", Some(&version.pipeline));
        let options = OptOptions {
            up: first.condition,
            up_at: numbers(&up),
            down: down.first().map_or(Condition::Never, |asked| asked.condition),
            down_at: numbers(&down),
            ..options.map_err(|error| error.to_string())?
        };
        let function = function_of(ir, &version.base).ok_or("it is gone")?;
        // The pass makes a version anew, of the same name.
        let shown = function_of(ir, &version.name);
        if let Some(shown) = shown {
            shown.rename(&format!("{}.shown", version.name));
        }
        OptPass(options).function(ir.module(), function, &Sandbox::default())?;
        if let Some(shown) = shown {
            shown.rename(&version.name);
        }
        Ok(())
    }
}

/// A function of a module that has a body.
pub fn function_of<'m>(ir: &'m Ir, name: &str) -> Option<Function<'m>> {
    ir.module().function(name).filter(|function| function.is_definition())
}

/// Has the address of each function be taken, as it is when it is given to `run`: the IR of
/// functions whose address is taken comes along, to be inlined.
fn take_addresses(module: Module<'_>) {
    let functions = module.functions().filter(|function| function.is_definition());
    let addresses: Vec<_> = functions.map(Function::value).collect();
    let table = module.constant_array(module.pointer_type(), &addresses);
    module.private_global("midflight.vm.functions", table, true);
}

/// Has all functions as points need them, so that their points have the numbers that they are shown
/// with.
fn prepare(ir: &Ir) {
    let functions = ir.module().functions().filter(|function| function.is_definition());
    functions.for_each(Function::prepare_for_points);
}
