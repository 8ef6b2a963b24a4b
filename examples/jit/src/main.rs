//! A JIT whose code moves to another version of itself while it runs.
//!
//! `sum(n)` adds the squares below n; `fast(n)` does the same with 2·i in place of i. A flag point
//! in the loop of `sum` leads to the matching place in the loop of `fast`. Its name is `hot`: the
//! host arms it, and the runtime counts how often it fired.

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::{AsValueRef, IntValue};
use inkwell::{IntPredicate, OptimizationLevel};
use midflight_passes::osr::api::{
    Compensation, Condition, Function, Inst, OsrPoint, Prologue, StateMap, Value,
    emit_registration, insert_resolved_osr,
};
use midflight_rt::{
    OsrPoints, midflight_osr_arm, midflight_osr_count, midflight_osr_disarm, midflight_osr_flag,
    midflight_osr_register_code, midflight_osr_unregister_code,
};
use std::error::Error;
use std::mem::{ManuallyDrop, transmute};
use std::sync::atomic::{AtomicU32, Ordering};

/// What of a loop a state map speaks of.
struct Loop<'c> {
    function: Function<'c>,
    /// Where the counter ends
    end: IntValue<'c>,
    /// i of `sum`, 2·i of `fast`
    counter: IntValue<'c>,
    /// The sum so far
    sum: IntValue<'c>,
    /// The first instruction behind the phis
    first: Inst<'c>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::create();
    let module = context.create_module("example");
    module.set_triple(&TargetMachine::get_default_triple());
    let sum = build(&context, &module, "sum", 1)?;
    let fast = build(&context, &module, "fast", 2)?;
    let moves = module.add_global(context.i64_type(), None, "moves");
    moves.set_initializer(&context.i64_type().const_zero());
    // SAFETY: the global is of `module`, which outlives the handle, in one thread.
    insert(&context, &sum, &fast, unsafe { Value::from_llvm(moves.as_value_ref()) })?;
    module.verify()?;

    let engine = module.create_jit_execution_engine(OptimizationLevel::Default)?;
    // SAFETY: the functions have these types, and their code lives as long as the engine.
    let (sum, points) = unsafe {
        (
            transmute::<usize, extern "C" fn(i64) -> i64>(engine.get_function_address("sum")?),
            transmute::<usize, OsrPoints>(engine.get_function_address("points")?),
        )
    };
    // SAFETY: the code is there until after the points are unregistered; the names are C strings.
    unsafe {
        midflight_osr_register_code(points);
        let count = || midflight_osr_count(c"hot".as_ptr());
        assert_eq!((sum(100), count()), (328_350, 0), "not armed");
        assert_eq!(midflight_osr_arm(c"hot".as_ptr()), 1, "one site");
        assert_eq!((sum(100), count()), (328_350, 1), "armed by its name");
        assert_eq!(midflight_osr_disarm(c"hot".as_ptr()), 1);
        assert_eq!((sum(100), count()), (328_350, 1), "disarmed");
        let flag = AtomicU32::from_ptr(midflight_osr_flag(c"hot".as_ptr()));
        flag.store(1, Ordering::Relaxed);
        assert_eq!((sum(100), count()), (328_350, 2), "armed by its flag");
        println!("sum(100) = {}, moved {} times", sum(100), count());
        midflight_osr_unregister_code(points);
    }
    Ok(())
}

/// `NAME(n)` adds the squares of c / step, for each c from 0 to n · step in steps of `step`.
fn build<'c>(
    context: &'c Context,
    module: &Module<'c>,
    name: &str,
    step: u64,
) -> Result<Loop<'c>, Box<dyn Error>> {
    let int = context.i64_type();
    let (zero, step) = (int.const_zero(), int.const_int(step, false));
    let function = module.add_function(name, int.fn_type(&[int.into()], false), None);
    let n = function.get_nth_param(0).ok_or("a parameter")?.into_int_value();
    let [entry, body, done] =
        ["entry", "loop", "done"].map(|name| context.append_basic_block(function, name));
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let end = builder.build_int_mul(n, step, "end")?;
    builder.build_unconditional_branch(body)?;

    builder.position_at_end(body);
    let counter = builder.build_phi(int, "counter")?;
    let sum = builder.build_phi(int, "sum")?;
    let (c, s) = (counter.as_basic_value().into_int_value(), sum.as_basic_value().into_int_value());
    let i = builder.build_int_unsigned_div(c, step, "i")?;
    let square = builder.build_int_mul(i, i, "square")?;
    let total = builder.build_int_add(s, square, "total")?;
    let next = builder.build_int_add(c, step, "next")?;
    let more = builder.build_int_compare(IntPredicate::SLT, next, end, "more")?;
    builder.build_conditional_branch(more, body, done)?;
    counter.add_incoming(&[(&zero, entry), (&next, body)]);
    sum.add_incoming(&[(&zero, entry), (&total, body)]);
    builder.position_at_end(done);
    builder.build_return(Some(&total))?;
    // SAFETY: the function is in a module that outlives the handle, in one thread.
    let function = unsafe { Function::from_llvm(function.as_value_ref()) };
    let header = function.blocks().nth(1).ok_or("a loop")?;
    Ok(Loop { function, end, counter: c, sum: s, first: header.insertion_point() })
}

/// Inserts the point: it leads from the loop of `sum` to that of `fast`, and counts in `moves`.
fn insert<'c>(
    context: &'c Context,
    sum: &Loop<'c>,
    fast: &Loop<'c>,
    moves: Value<'c>,
) -> Result<(), Box<dyn Error>> {
    // SAFETY: all of it is in one module that outlives the handles, in one thread.
    let value = |value: IntValue<'c>| unsafe { Value::from_llvm(value.as_value_ref()) };
    let mut map = StateMap::new(sum.function, fast.function);
    let at = sum.first;
    map.map_landing(at, fast.first);
    map.map_values(value(sum.sum), value(fast.sum))?;

    // `counter` of `fast` is twice that of `sum`: by the builder of this crate.
    let twice = Compensation::new([value(sum.counter)], |builder, of| builder.add(of[0], of[0]));
    map.compensate(at, value(fast.counter), twice);

    // So is `end`: by inkwell's builder, at the position of the one that is lent.
    let one = context.i64_type().const_int(1, false);
    let shifted = Compensation::new([value(sum.end)], move |builder, of| {
        // SAFETY: the builder and the value are live; the builder stays ours.
        unsafe {
            let inkwell = ManuallyDrop::new(Builder::<'c>::new(builder.as_llvm()));
            inkwell.position_at_end(BasicBlock::new(builder.block().as_llvm()).expect("a block"));
            let end = IntValue::new(of[0].as_llvm());
            let twice = inkwell.build_left_shift(end, one, "twice").expect("two integers");
            Value::from_llvm(twice.as_value_ref())
        }
    });
    map.compensate(at, value(fast.end), shifted);

    // And something to do at each move.
    map.set_prologue(at, Prologue::new([], move |builder, _| builder.count(moves)));

    let point = OsrPoint { before: at, name: "hot".to_string() };
    let inserted = insert_resolved_osr(&point, Condition::Flag, &map)?;
    println!("'{}' leads to '{}'", point.name, inserted.continuation.name());
    emit_registration(sum.function.module(), "points")?;
    Ok(())
}
