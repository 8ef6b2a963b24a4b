//! Exits to a host by the API, from code that a JIT makes.

mod modules;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use midflight_passes::osr::api::{
    Condition, Function, Insertion, OsrError, OsrPoint, Refusal, StateMap, Value, insert_host_exit,
    insert_resolved_osr, remove_osr_point,
};
use midflight_rt::{OSR_INTEGER, OSR_POINTER, OsrExit};
use modules::{function, named, parse};
use std::cell::RefCell;
use std::ffi::CStr;

const PROGRAM: &str = r#"
@place = global i64 7

define i64 @sum(i64 %n, i64 %unused) {
entry:
  %twice = add i64 %n, %n
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %total = add i64 %s, %i
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %total
}

define i64 @checked(i64 %a, i64 %b) {
entry:
  %both = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %a, i64 %b)
  %result = extractvalue { i64, i1 } %both, 0
  %fails = extractvalue { i64, i1 } %both, 1
  br i1 %fails, label %cold, label %good
good:
  ret i64 %result
cold:
  ret i64 0
}

define i64 @frame(i64 %x) {
  %y = add i64 %x, 1
  ret i64 0
}

declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare i32 @setjmp(ptr) returns_twice

define i64 @saves(i64 %n) {
  %saved = call ptr @llvm.stacksave.p0()
  %result = add i64 %n, 1
  ret i64 %result
}

declare ptr @llvm.stacksave.p0()

define i64 @jumps(ptr %buffer) {
  %first = call i32 @setjmp(ptr %buffer) returns_twice
  %wide = sext i32 %first to i64
  ret i64 %wide
}
"#;

/// A value that the host got: its name, kind and bits
type Got = (String, u32, u64);

/// An exit: its point, and the values
type Exit = (String, Vec<Got>);

thread_local! {
    static SEEN: RefCell<Vec<Exit>> = const { RefCell::new(Vec::new()) };
}

/// What the host returns in the place of the function.
const RESULT: i64 = -5;

unsafe extern "C" fn host(exit: &OsrExit) {
    // SAFETY: it is called by an exit, and all values have 64 bits.
    let (point, values) = unsafe {
        let text = |text| CStr::from_ptr(text).to_str().expect("a name").to_string();
        *exit.result.cast::<i64>() = RESULT;
        assert_eq!((exit.result_kind, exit.result_bits), (OSR_INTEGER, 64));
        let values = std::slice::from_raw_parts(exit.values, exit.count as usize);
        let value = |value: &midflight_rt::OsrValue| {
            assert_eq!(value.bits, 64);
            (text(value.name), value.kind, *value.address.cast::<u64>())
        };
        (text(exit.point), values.iter().map(value).collect())
    };
    SEEN.with_borrow_mut(|seen| seen.push((point, values)));
}

/// Runs a function of two numbers; returns its result, and what the host got.
fn run(module: &Module<'_>, name: &str, a: i64, b: i64) -> (i64, Vec<Exit>) {
    module.verify().expect("a valid module");
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).expect("a JIT");
    if let Some(declared) = module.get_function("host") {
        engine.add_global_mapping(&declared, host as *const () as usize);
    }
    // SAFETY: it takes 64-bit integers, at most two, and returns one.
    let result = unsafe {
        let function = engine.get_function::<unsafe extern "C" fn(i64, i64) -> i64>(name);
        function.expect("a compiled function").call(a, b)
    };
    engine.remove_module(module).expect("the module is the engine's");
    (result, SEEN.take())
}

fn argument(function: Function<'_>, number: usize) -> Value<'_> {
    function.arguments().nth(number).expect("a parameter")
}

fn integers(list: &[(&str, u64)]) -> Vec<Got> {
    list.iter().map(|&(name, is)| (name.to_string(), OSR_INTEGER, is)).collect()
}

/// The exit in the loop of `sum`, at its third round.
fn in_loop<'m>(sum: Function<'m>, also: &[(&str, Value<'m>)]) -> Insertion<'m> {
    let point = OsrPoint { before: named(sum, "total"), name: "loop".to_string() };
    insert_host_exit(&point, Condition::Count(3), "host", also).expect("an exit")
}

#[test]
fn the_host_gets_live_values_and_its_result_is_the_functions() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    in_loop(function(&module, "sum"), &[]);
    let (result, seen) = run(&module, "sum", 10, 0);
    assert_eq!(result, RESULT);
    let [(point, mut values)] = <[_; 1]>::try_from(seen).expect("one exit");
    values.sort();
    assert_eq!((point.as_str(), values), ("loop", integers(&[("i", 2), ("n", 10), ("s", 1)])));
}

#[test]
fn named_values_come_behind_the_live_ones_that_have_no_name() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let sum = function(&module, "sum");
    let pc = argument(sum, 0).ty().constant(42);
    let (s, twice) = (named(sum, "s").value(), named(sum, "twice").value());
    let [unused, i] = [argument(sum, 1), named(sum, "i").value()];
    in_loop(sum, &[("pc", pc), ("r1", s), ("r2", twice), ("r3", unused), ("r0", i), ("r4", i)]);
    let (_, seen) = run(&module, "sum", 10, 77);
    let named = [("pc", 42), ("r1", 1), ("r2", 20), ("r3", 77), ("r0", 2), ("r4", 2)];
    let all: Vec<_> = [("n", 10)].into_iter().chain(named).collect();
    assert_eq!(seen[0].1, integers(&all));
}

#[test]
fn the_address_of_a_global_is_a_constant() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let sum = function(&module, "sum");
    let place = module.get_global("place").expect("a global");
    // SAFETY: the module outlives the handle, in one thread.
    let place = unsafe { Value::from_llvm(place.as_value_ref()) };
    in_loop(sum, &[("place", place)]);
    let (_, seen) = run(&module, "sum", 10, 0);
    let (name, kind, address) = seen[0].1.last().expect("a value");
    // SAFETY: it is the address of a number that is there as long as the module.
    assert_eq!((name.as_str(), *kind, *address != 0), ("place", OSR_POINTER, true));
}

#[test]
fn a_guard_is_a_branch_to_an_exit_and_goes_into_continuations() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let (checked, frame) = (function(&module, "checked"), function(&module, "frame"));
    let cold = checked.blocks().last().expect("a block");
    let point = OsrPoint { before: cold.insertion_point(), name: "overflow".to_string() };
    let values = [("a", argument(checked, 0)), ("b", argument(checked, 1))];
    insert_host_exit(&point, Condition::Always, "host", &values).expect("an exit");

    // From `frame`, with what it has, to the beginning of `checked`.
    let mut map = StateMap::new(frame, checked);
    let at = frame.blocks().next().expect("a block").terminator();
    map.map_landing(at, checked.blocks().next().expect("a block").insertion_point());
    map.map_values(argument(frame, 0), argument(checked, 0)).expect("two integers");
    map.map_values(named(frame, "y").value(), argument(checked, 1)).expect("two integers");
    let enter = OsrPoint { before: at, name: "enter".to_string() };
    insert_resolved_osr(&enter, Condition::Always, &map).expect("a point");

    assert_eq!(run(&module, "checked", 1, 2), (3, Vec::new()));
    let most = i64::MAX;
    let left = |a: u64, b| vec![("overflow".to_string(), integers(&[("a", a), ("b", b)]))];
    assert_eq!(run(&module, "checked", most, 1), (RESULT, left(most as u64, 1)));
    assert_eq!(run(&module, "frame", 20, 0), (41, Vec::new()));
    let half = most / 2 + 1;
    assert_eq!(run(&module, "frame", half, 0), (RESULT, left(half as u64, half as u64 + 1)));
}

#[test]
fn a_removed_exit_leaves_no_code() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    for condition in [Condition::Always, Condition::Flag, Condition::Every(1)] {
        let sum = function(&module, "sum");
        let point = OsrPoint { before: named(sum, "total"), name: "loop".to_string() };
        let inserted = insert_host_exit(&point, condition, "host", &[]).expect("an exit");
        assert_eq!(inserted.flag().is_some(), condition == Condition::Flag);
        remove_osr_point(inserted);
        assert_eq!(run(&module, "sum", 10, 0), (45, Vec::new()), "{condition:?}");
    }
    assert_eq!(module.get_functions().filter(|f| f.count_basic_blocks() > 0).count(), 5);
}

#[test]
fn what_cannot_be_is_said_and_changes_nothing() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let [sum, checked, jumps, saves] =
        ["sum", "checked", "jumps", "saves"].map(|name| function(&module, name));
    let before = module.print_to_string().to_string();
    let error = |before, value: Option<Value<'_>>| {
        let point = OsrPoint { before, name: "here".to_string() };
        let named: Vec<_> = value.map(|value| ("it", value)).into_iter().collect();
        insert_host_exit(&point, Condition::Flag, "host", &named).err().expect("an error")
    };
    // It is defined behind the point.
    let later = error(named(sum, "total"), Some(named(sum, "next").value()));
    assert_eq!(
        later.to_string(),
        "inserting OSR point 'here': the host, for 'it', needs %next of 'sum', which is not \
         available at the point; it can have arguments of 'sum' and what is computed on every way \
         to the point"
    );
    let other = error(named(sum, "total"), Some(argument(checked, 0)));
    assert!(matches!(other, OsrError::NotAvailable { .. }));
    assert!(matches!(error(named(sum, "i"), None), OsrError::NoBoundary(_)));
    let refused = error(named(jumps, "wide"), None);
    assert!(matches!(refused, OsrError::Refused { refusal: Refusal::ReturnsTwice, .. }));
    // Values that cannot travel cannot be named either.
    let saved = error(named(saves, "result"), Some(named(saves, "saved").value()));
    assert!(matches!(saved, OsrError::Refused { refusal: Refusal::LiveStackSave, .. }), "{saved}");
    assert_eq!(module.print_to_string().to_string(), before);
}
