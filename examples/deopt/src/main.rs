//! A front end that speculates. All numbers of its language are doubles; the fast version of a
//! function takes them for integers of 32 bits, and where one is none it goes on in the function's
//! base version, which has doubles. README.md goes through it step by step.

mod compiler;

use compiler::Compiler;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use midflight_passes::osr::api::{self, lower_deoptimization, prepare_deoptimization};
use midflight_rt::{
    OsrPoints, midflight_osr_arm, midflight_osr_count, midflight_osr_register_code,
    midflight_osr_unregister_code,
};
use std::{collections::HashMap, error::Error, mem::transmute};

const PROGRAM: &str = "
    (def square (x) (* x x))
    (def sum (n) (let i 0) (let s 0)
        (while (< i n) (set s (+ s (square i))) (set i (+ i 1))) s)
    (def last (n) (let i 0) (let s 0)
        (while (< i n) (set s (- (square i) s)) (set i (+ i 1))) s)";

#[derive(Clone, Debug)]
enum Expr {
    Atom(String),
    List(Vec<Expr>),
}
use Expr::{Atom, List};

fn parse(tokens: &mut impl Iterator<Item = String>) -> Vec<Expr> {
    let mut all = Vec::new();
    while let Some(token) = tokens.next() {
        match token.as_str() {
            "(" => all.push(List(parse(tokens))),
            ")" => break,
            _ => all.push(Atom(token)),
        }
    }
    all
}

fn name_of(expr: &Expr) -> &str {
    match expr {
        Atom(name) => name,
        List(_) => panic!("a name is wanted"),
    }
}

/// What is right: the language, interpreted.
fn eval(program: &[Expr], expr: &Expr, variables: &mut HashMap<String, f64>) -> f64 {
    let list = match expr {
        Atom(text) => return text.parse().unwrap_or_else(|_| variables[text]),
        List(list) => list,
    };
    let mut value = |expr: &Expr| eval(program, expr, variables);
    match name_of(&list[0]) {
        "let" | "set" => {
            let new = value(&list[2]);
            variables.insert(name_of(&list[1]).to_string(), new);
            new
        }
        "while" => {
            while value(&list[1]) != 0.0 {
                for expr in &list[2..] {
                    value(expr);
                }
            }
            0.0
        }
        "<" => f64::from(value(&list[1]) < value(&list[2])),
        "+" => value(&list[1]) + value(&list[2]),
        "-" => value(&list[1]) - value(&list[2]),
        "*" => value(&list[1]) * value(&list[2]),
        name => {
            let arguments: Vec<f64> = list[1..].iter().map(value).collect();
            run(program, name, &arguments)
        }
    }
}

fn run(program: &[Expr], name: &str, arguments: &[f64]) -> f64 {
    let definition = program.iter().find_map(|item| match item {
        List(list) if name_of(&list[1]) == name => Some(list),
        _ => None,
    });
    let definition = definition.expect("it is defined");
    let List(names) = &definition[2] else { panic!("parameters are wanted") };
    let names = names.iter().map(|name| name_of(name).to_string());
    let mut variables = names.zip(arguments.iter().copied()).collect();
    definition[3..].iter().map(|expr| eval(program, expr, &mut variables)).last().unwrap_or(0.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let spaced = PROGRAM.replace('(', " ( ").replace(')', " ) ");
    let program = parse(&mut spaced.split_whitespace().map(str::to_string));
    let context = Context::create();
    let module = context.create_module("program");
    Target::initialize_native(&InitializationConfig::default())?;
    let triple = TargetMachine::get_default_triple();
    module.set_triple(&triple);
    let (level, model) = (OptimizationLevel::Default, CodeModel::JITDefault);
    let machine = Target::from_triple(&triple)?.create_target_machine(
        &triple,
        "",
        "",
        level,
        RelocMode::PIC,
        model,
    );
    let machine = machine.ok_or("no code can be made for this machine")?;

    let (void, number) = (context.void_type(), context.i64_type());
    module.add_function("midflight.landing", void.fn_type(&[number.into()], true), None);
    let double = context.f64_type();
    let definitions = program.iter().filter_map(|item| match item {
        List(list) => Some(list),
        Atom(_) => None,
    });
    for list in definitions.clone() {
        let List(parameters) = &list[2] else { return Err("parameters are wanted".into()) };
        let ty = double.fn_type(&vec![double.into(); parameters.len()], false);
        for end in ["", ".base"] {
            module.add_function(&(name_of(&list[1]).to_string() + end), ty, None);
        }
    }
    for list in definitions {
        for fast in [true, false] {
            let end = if fast { "" } else { ".base" };
            let function = module.get_function(&(name_of(&list[1]).to_string() + end));
            let function = function.ok_or("it was declared")?;
            let mut compiler = Compiler::new(&context, &module, function, fast);
            compiler.define(&list[2], &list[3..])?;
        }
    }

    // Versions are kept as they are before anything is optimized, and frames are lowered behind it.
    // SAFETY: the module outlives the handle, in one thread.
    let handle = unsafe { api::Module::from_llvm(module.as_mut_ptr()) };
    module.run_passes("mem2reg", &machine, PassBuilderOptions::create())?;
    prepare_deoptimization(handle)?;
    module.run_passes("default<O2>", &machine, PassBuilderOptions::create())?;
    let pipeline = Some("default<O2>".to_string());
    lower_deoptimization(handle, &api::DeoptOptions { pipeline, ..api::DeoptOptions::default() })?;
    api::emit_registration(handle, "points")?;
    module.verify()?;

    let engine = module.create_jit_execution_engine(OptimizationLevel::Default)?;
    // SAFETY: the functions have these types, the names are C strings, and the code lives on.
    unsafe {
        let points: OsrPoints = transmute(engine.get_function_address("points")?);
        midflight_osr_register_code(points);
        for (name, n) in [("sum", 1000.0), ("sum", 3000.0), ("sum", 2.5), ("last", 100_000.0)] {
            let code: extern "C" fn(f64) -> f64 = transmute(engine.get_function_address(name)?);
            let (result, expected) = (code(n), run(&program, name, &[n]));
            assert_eq!(result, expected, "{name}({n})");
            println!("{name}({n}) = {result}");
        }
        for point in [c"sum.base:1", c"sum.base:entry", c"square.base:0"] {
            println!("left at {point:?}: {} times", midflight_osr_count(point.as_ptr()));
        }
        // The host may have all calls left: what they have assumed does not hold any more.
        assert!(midflight_osr_arm(c"sum.base:0".as_ptr()) > 0);
        let sum: extern "C" fn(f64) -> f64 = transmute(engine.get_function_address("sum")?);
        assert_eq!(sum(1000.0), run(&program, "sum", &[1000.0]));
        println!("left at \"sum.base:0\": {} times", midflight_osr_count(c"sum.base:0".as_ptr()));
        midflight_osr_unregister_code(points);
    }
    Ok(())
}
