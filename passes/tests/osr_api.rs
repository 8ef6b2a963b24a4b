//! The API for compiler writers, on modules of inkwell's, and what it makes is run.

mod modules;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::targets::TargetTriple;
use inkwell::values::AsValueRef;
use midflight_passes::osr::api::{
    Compensation, Condition, Function, Insertion, Inst, OsrError, OsrPoint, Prologue, Refusal,
    StateMap, StateMapError, Value, insert_resolved_osr, live_values, remove_osr_point,
};
use modules::{function, named, parse};

/// `sum` adds f(i) for i below n; `fast` keeps 2*i instead of i and has no value for `square`.
const PROGRAM: &str = r#"
@hits = global i64 0

define i64 @sum(i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %square = mul i64 %i, %i
  %total = add i64 %s, %square
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi i64 [ 0, %entry ], [ %total, %loop ]
  ret i64 %r
}

define i64 @fast(i64 %m) {
begin:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %body, label %end
body:
  %double = phi i64 [ 0, %begin ], [ %double.next, %body ]
  %acc = phi i64 [ 0, %begin ], [ %acc.next, %body ]
  %half = lshr i64 %double, 1
  %sq = mul i64 %half, %half
  %acc.next = add i64 %acc, %sq
  %double.next = add i64 %double, 2
  %limit = shl i64 %m, 1
  %again = icmp slt i64 %double.next, %limit
  br i1 %again, label %body, label %end
end:
  %res = phi i64 [ 0, %begin ], [ %acc.next, %body ]
  ret i64 %res
}

define double @other(double %x) {
  ret double %x
}

declare i32 @setjmp(ptr) returns_twice

define i64 @jumps(i64 %n, ptr %buffer) {
  %first = call i32 @setjmp(ptr %buffer) returns_twice
  %wide = sext i32 %first to i64
  %sum = add i64 %wide, %n
  ret i64 %sum
}
"#;

struct Program<'c> {
    module: inkwell::module::Module<'c>,
}

impl<'c> Program<'c> {
    fn new(context: &'c Context) -> Self {
        Program::of(context, PROGRAM)
    }

    fn of(context: &'c Context, text: &str) -> Self {
        Program { module: parse(context, text) }
    }

    fn function(&self, name: &str) -> Function<'_> {
        function(&self.module, name)
    }

    /// Runs `sum(n)`.
    fn sum(&self, n: i64) -> i64 {
        self.run("sum", n)
    }

    /// Runs a function from a 64-bit integer to another one.
    fn run(&self, name: &str, n: i64) -> i64 {
        self.module.verify().expect("a valid module");
        let engine: ExecutionEngine =
            self.module.create_jit_execution_engine(OptimizationLevel::None).expect("a JIT");
        // SAFETY: it takes and returns 64-bit integers.
        let result = unsafe {
            let function = engine
                .get_function::<unsafe extern "C" fn(i64) -> i64>(name)
                .expect("a compiled function");
            function.call(n)
        };
        engine.remove_module(&self.module).expect("the module is the engine's");
        result
    }

    fn global_count(&self) -> usize {
        self.module.get_globals().count()
    }
}

fn expected(n: i64) -> i64 {
    (0..n).map(|i| i * i).sum()
}

fn argument(function: Function<'_>) -> Value<'_> {
    function.arguments().next().expect("a parameter")
}

fn point<'m>(before: Inst<'m>) -> OsrPoint<'m> {
    OsrPoint { before, name: "here".to_string() }
}

/// A map from `sum` to `fast` at the loop's head, where %double is computed.
fn to_fast<'m>(program: &'m Program<'_>) -> StateMap<'m> {
    let (sum, fast) = (program.function("sum"), program.function("fast"));
    let mut map = StateMap::new(sum, fast);
    map.map_values(argument(sum), argument(fast)).unwrap();
    map.map_values(named(sum, "s").value(), named(fast, "acc").value()).unwrap();
    let at = named(sum, "square");
    map.map_landing(at, named(fast, "half"));
    let twice = Compensation::new([named(sum, "i").value()], |b, of| b.add(of[0], of[0]));
    map.compensate(at, named(fast, "double").value(), twice);
    map
}

#[test]
fn a_point_moves_to_a_copy_in_the_middle_of_a_loop() {
    for condition in [Condition::Always, Condition::Count(3), Condition::Never, Condition::Every(2)]
    {
        let context = Context::create();
        let program = Program::new(&context);
        let sum = program.function("sum");
        let copy = sum.clone_as("sum.copy");
        let map = StateMap::identity(sum, copy).unwrap();
        for name in ["square", "next", "more"] {
            insert_resolved_osr(&point(named(sum, name)), condition, &map).unwrap();
        }
        copy.erase();
        assert_eq!(program.sum(10), expected(10), "{condition:?}");
    }
}

#[test]
fn a_point_moves_to_another_function_with_compensation_code() {
    let context = Context::create();
    let program = Program::new(&context);
    let map = to_fast(&program);
    let at = point(named(program.function("sum"), "square"));
    let inserted = insert_resolved_osr(&at, Condition::Count(4), &map).unwrap();
    assert!(inserted.continuation.name().starts_with("fast.osr"));
    assert_eq!(program.sum(100), expected(100));
}

#[test]
fn maps_compose() {
    let context = Context::create();
    let program = Program::new(&context);
    let (sum, fast) = (program.function("sum"), program.function("fast"));
    // From a copy of sum to sum, then to fast.
    let copy = sum.clone_as("first");
    let first = StateMap::identity(copy, sum).unwrap();
    let whole = first.then(&to_fast(&program)).unwrap();
    assert!(whole.from == copy && whole.to == fast);
    let at = named(copy, "square");
    assert!(whole.landing(at) == Some(named(fast, "half")));
    let code = whole.compensation(at, named(fast, "double").value()).expect("compensation code");
    assert!(code.needs == vec![named(copy, "i").value()], "in terms of the first function");
    // And from sum to its copy and back, which is the identity.
    let back = first.inverse().then(&first).unwrap();
    assert!(back.to_of(named(sum, "i").value()) == Some(named(sum, "i").value()));
    assert!(matches!(first.then(&first), Err(StateMapError::NotComposable { .. })));

    // The composed map is used: sum's own loop is replaced by the copy's continuation in fast.
    let via = first.inverse().then(&whole).unwrap();
    insert_resolved_osr(&point(named(sum, "square")), Condition::Count(2), &via).unwrap();
    assert_eq!(program.sum(50), expected(50));
}

#[test]
fn compensation_for_the_whole_point_runs_once_a_transition() {
    let context = Context::create();
    let program = Program::new(&context);
    let sum = program.function("sum");
    let copy = sum.clone_as("sum.copy");
    let mut map = StateMap::identity(sum, copy).unwrap();
    let hits = program.module.get_global("hits").expect("a global").as_value_ref();
    // SAFETY: the global outlives the map.
    let hits = unsafe { Value::from_llvm(hits) };
    let at = named(sum, "next");
    map.set_prologue(at, Prologue::new([argument(sum)], move |b, _| b.count(hits)));
    let inserted = insert_resolved_osr(&point(at), Condition::Count(5), &map).unwrap();
    let text = program.module.print_to_string().to_string();
    let body = text.split(&format!("@{}(", inserted.continuation.name())).last().unwrap();
    assert_eq!(body.matches("@hits").count(), 2, "one load and one store:\n{body}");
    assert_eq!(program.sum(10), expected(10));
}

#[test]
fn a_removed_point_leaves_the_function_as_it_was() {
    for condition in [
        Condition::Always,
        Condition::Count(3),
        Condition::Flag,
        Condition::Every(2),
        Condition::Patch,
    ] {
        if condition == Condition::Patch && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let context = Context::create();
        let program = Program::new(&context);
        let sum = program.function("sum");
        let text = |f: Function<'_>| {
            let module = program.module.print_to_string().to_string();
            let start = module.find(&format!("@{}(", f.name())).unwrap();
            module[start..].split("\n}").next().unwrap().to_string()
        };
        let (before, globals) = (text(sum), program.global_count());
        let copy = sum.clone_as("sum.copy");
        let map = StateMap::identity(sum, copy).unwrap();
        let inserted: Vec<Insertion> = ["square", "more"]
            .map(|name| insert_resolved_osr(&point(named(sum, name)), condition, &map).unwrap())
            .to_vec();
        inserted.into_iter().for_each(remove_osr_point);
        copy.erase();
        let strip = |text: String| {
            let lines: Vec<_> = text.lines().map(|l| l.split(" ; preds").next().unwrap()).collect();
            let lines: Vec<_> = lines.iter().map(|l| l.trim_end()).collect();
            lines[1..].join("\n")
        };
        assert_eq!(strip(text(sum)), strip(before), "{condition:?}");
        let used = program.module.get_global("llvm.compiler.used").is_some() as usize;
        let records = program.module.get_globals().filter(|g| g.get_section().is_some()).count();
        assert_eq!(records, used, "no record is left");
        let _ = globals;
        assert_eq!(program.sum(10), expected(10));
    }
}

/// The result of a call that may unwind is there where only its normal edge leads, live or not.
const UNWINDS: &str = r#"
declare i32 @__gxx_personality_v0(...)

define i64 @callee(i64 %n) {
  %r = add i64 %n, 5
  ret i64 %r
}

define i64 @alone(i64 %n) personality ptr @__gxx_personality_v0 {
entry:
  %called = invoke i64 @callee(i64 %n) to label %normal unwind label %pad
normal:
  %here = add i64 %n, 1
  ret i64 %here
pad:
  %caught = landingpad { ptr, i32 } cleanup
  ret i64 0
}

define i64 @joined(i64 %n) personality ptr @__gxx_personality_v0 {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %call, label %normal
call:
  %called = invoke i64 @callee(i64 %n) to label %normal unwind label %pad
normal:
  %here = add i64 %n, 1
  ret i64 %here
pad:
  %caught = landingpad { ptr, i32 } cleanup
  ret i64 0
}

define i64 @result(i64 %m) {
  %there = add i64 %m, 0
  %back = add i64 %there, 0
  ret i64 %back
}
"#;

const CATCHES: &str = r#"
declare void @may_throw()
declare i32 @llvm.eh.typeid.for(ptr)
declare i32 @__gxx_personality_v0(...)
@_ZTIi = external constant ptr

define i64 @catches(i64 %n) personality ptr @__gxx_personality_v0 {
entry:
  %first = add i64 %n, 1
  invoke void @may_throw() to label %normal unwind label %pad
normal:
  %second = add i64 %first, 1
  ret i64 %second
pad:
  %caught = landingpad { ptr, i32 } catch ptr @_ZTIi
  %selector = extractvalue { ptr, i32 } %caught, 1
  %number = call i32 @llvm.eh.typeid.for(ptr @_ZTIi)
  %is_int = icmp eq i32 %selector, %number
  br i1 %is_int, label %handler, label %other
handler:
  ret i64 7
other:
  resume { ptr, i32 } %caught
}
"#;

/// The second point finds a function whose selectors are portable already: were they made so again,
/// the numbers that make them so would be compared with each other.
#[test]
fn a_second_point_leaves_the_selectors_of_exceptions_as_they_are() {
    let context = Context::create();
    let program = Program::of(&context, CATCHES);
    let from = program.function("catches");
    let mut questions = Vec::new();
    for name in ["first", "second"] {
        let copy = from.clone_as("copy");
        let map = StateMap::identity(from, copy).expect("it is a copy");
        insert_resolved_osr(&point(named(from, name)), Condition::Flag, &map).expect(name);
        copy.erase();
        assert_eq!(from.verify(), None, "{name}");
        let all = from.blocks().flat_map(|block| block.instructions());
        let asked = all.filter(|inst| {
            inst.called_function().is_some_and(|f| f.name().starts_with("llvm.eh.typeid.for"))
        });
        questions.push(asked.count());
        let used = named(from, "is_int").operands().map(|operand| operand.text());
        assert!(used.last().is_some_and(|number| number.starts_with("i32 1")), "{name}");
    }
    assert_eq!(questions[0], questions[1]);
}

#[test]
fn the_result_of_an_invoke_can_be_used_where_only_its_normal_edge_leads() {
    for (name, expected) in [("alone", Some(15)), ("joined", None)] {
        let context = Context::create();
        let program = Program::of(&context, UNWINDS);
        let (from, to) = (program.function(name), program.function("result"));
        let mut map = StateMap::new(from, to);
        let at = named(from, "here");
        map.map_landing(at, named(to, "back"));
        let called = named(from, "called").value();
        let same = Compensation::new([called], |_, of| of[0]);
        map.compensate(at, named(to, "there").value(), same);
        match insert_resolved_osr(&point(at), Condition::Always, &map) {
            Ok(_) => assert_eq!(Some(program.run(name, 10)), expected, "{name}"),
            Err(error) => {
                assert!(matches!(error, OsrError::NotAvailable { .. }), "{name}: {error}");
                assert_eq!(expected, None, "{name}");
            }
        }
    }
}

#[test]
fn live_values_are_those_that_travel() {
    let context = Context::create();
    let program = Program::new(&context);
    let sum = program.function("sum");
    let live = live_values(named(sum, "total")).unwrap();
    let wanted = [
        argument(sum),
        named(sum, "i").value(),
        named(sum, "s").value(),
        named(sum, "square").value(),
    ];
    assert!(live == wanted);
    assert!(live_values(named(sum, "i")).is_none(), "no boundary inside the phis");
}

fn error<'m>(map: &StateMap<'m>, at: &OsrPoint<'m>) -> OsrError {
    insert_resolved_osr(at, Condition::Always, map).err().expect("an error")
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let context = Context::create();
    let program = Program::new(&context);
    let (sum, fast) = (program.function("sum"), program.function("fast"));
    let before = program.module.print_to_string().to_string();
    let at = point(named(sum, "square"));

    let mut map = StateMap::new(sum, fast);
    assert!(matches!(error(&map, &at), OsrError::NoLanding(_)));
    map.map_landing(at.before, named(fast, "half"));
    let unmapped = error(&map, &at);
    assert!(
        matches!(&unmapped, OsrError::Unmapped { value, .. } if value == "%m of 'fast'"),
        "{unmapped}"
    );
    assert!(matches!(error(&map, &point(named(fast, "half"))), OsrError::OtherFunction(_)));
    map.map_landing(named(sum, "i"), named(fast, "half"));
    assert!(matches!(error(&map, &point(named(sum, "i"))), OsrError::NoBoundary(_)));
    // %total is defined behind the point.
    let (a, b) = (named(sum, "total").value(), named(fast, "acc").value());
    map.map_values(argument(sum), argument(fast)).unwrap();
    map.map_values(a, b).unwrap();
    assert!(matches!(error(&map, &at), OsrError::Unmapped { .. }));

    assert!(matches!(map.map_values(a, argument(fast)), Err(StateMapError::NotOneToOne { .. })));
    let other = program.function("other");
    let mut odd = StateMap::new(sum, other);
    assert!(matches!(
        odd.map_values(argument(sum), argument(other)),
        Err(StateMapError::Types { .. })
    ));
    assert!(matches!(error(&odd, &at), OsrError::Results(_)));
    assert!(matches!(StateMap::identity(sum, fast), Err(StateMapError::NoCopy { .. })));

    let jumps = program.function("jumps");
    let copy = jumps.clone_as("jumps.copy");
    let map = StateMap::identity(jumps, copy).unwrap();
    let refused = error(&map, &point(named(jumps, "wide")));
    assert!(matches!(refused, OsrError::Refused { refusal: Refusal::ReturnsTwice, .. }));
    copy.erase();
    assert_eq!(program.module.print_to_string().to_string(), before);
}

/// A program whose function must be prepared before it can have a point, which is a change.
const PREPARED: &str = r#"
define i64 @local(i64 %n) {
entry:
  %first = add i64 %n, 1
  %cell = alloca i64
  store i64 %first, ptr %cell
  %second = load i64, ptr %cell
  %0 = mul i64 %second, 3
  ret i64 %0
}

define i64 @twice(i64 %m) {
entry:
  %0 = add i64 %m, %m
  %end = add i64 %0, 3
  ret i64 %end
}
"#;

/// From `local` to `twice` before the multiplication, all but `%0` of `twice`.
fn to_twice<'m>(program: &'m Program<'_>) -> (StateMap<'m>, OsrPoint<'m>, Value<'m>) {
    let (local, twice) = (program.function("local"), program.function("twice"));
    let mut map = StateMap::new(local, twice);
    let at = named(local, "0");
    map.map_landing(at, named(twice, "end"));
    map.map_values(argument(local), argument(twice)).unwrap();
    (map, point(at), named(twice, "0").value())
}

/// Compensation code that is wrong is an error which names point and value, and changes nothing.
#[track_caller]
fn wrong_code<'m>(
    program: &'m Program<'_>,
    code: impl FnOnce(Function<'m>) -> Compensation<'m>,
    says: &str,
) {
    let (mut map, at, value) = to_twice(program);
    let before = program.module.print_to_string().to_string();
    map.compensate(at.before, value, code(program.function("local")));
    let message = error(&map, &at).to_string();
    assert!(message.starts_with("inserting OSR point 'here': "), "{message}");
    assert!(message.contains("%0 of 'twice'") && message.contains(says), "{message}");
    assert_eq!(program.module.print_to_string().to_string(), before);
}

#[test]
fn compensation_code_that_is_wrong_is_named_and_changes_nothing() {
    let context = Context::create();
    let program = Program::of(&context, PREPARED);
    let second = named(program.function("local"), "second").value();
    let missing = || {
        // SAFETY: null is no value, which is what is tried.
        unsafe { Value::from_llvm(std::ptr::null_mut()) }
    };
    wrong_code(&program, |_| Compensation::new([], move |_, _| missing()), "gives no value");
    wrong_code(
        &program,
        |_| Compensation::new([second], |b, of| b.equal(of[0], of[0])),
        "another type",
    );
    wrong_code(
        &program,
        |_| Compensation::new([], move |_, _| second),
        "gives %second of 'local', which does not exist in the continuation",
    );
    wrong_code(
        &program,
        |_| Compensation::new([second], move |b, of| b.add(of[0], second)),
        "not valid",
    );
    wrong_code(
        &program,
        |local| Compensation::new([named(local, "0").value()], |_, of| of[0]),
        "needs %0 of 'local', which is not available",
    );
    wrong_code(&program, |_| Compensation::new([missing()], |_, of| of[0]), "needs null");
    wrong_code(
        &program,
        |_| {
            Compensation::new([second], |b, of| {
                b.ret(of[0]);
                of[0]
            })
        },
        "leaves the block",
    );
    // What is given for the wrong side is not looked for by what is live.
    let (mut map, at, _) = to_twice(&program);
    map.compensate(at.before, second, Compensation::new([second], |_, of| of[0]));
    let message = error(&map, &at).to_string();
    assert!(message.contains("given for %second of 'local'"), "{message}");
}

#[test]
fn code_for_the_whole_point_that_is_wrong_is_named_and_changes_nothing() {
    let context = Context::create();
    let program = Program::of(&context, PREPARED);
    let local = program.function("local");
    let (later, second) = (named(local, "0").value(), named(local, "second").value());
    for (code, says) in [
        (Prologue::new([later], |_, _| ()), "needs %0 of 'local'"),
        (Prologue::new([second], |b, of| b.ret(of[0])), "leaves the block"),
        (Prologue::new([], move |b, _| b.store(second, second)), "the code for the whole point"),
    ] {
        let copy = local.clone_as("copy");
        let mut map = StateMap::identity(local, copy).unwrap();
        let before = program.module.print_to_string().to_string();
        let at = point(named(local, "0"));
        map.set_prologue(at.before, code);
        let message = error(&map, &at).to_string();
        assert!(message.starts_with("inserting OSR point 'here': "), "{message}");
        assert!(message.contains(says), "{message}");
        assert_eq!(program.module.print_to_string().to_string(), before);
        copy.erase();
    }
}

#[test]
fn a_function_that_is_prepared_keeps_its_meaning() {
    let context = Context::create();
    let program = Program::of(&context, PREPARED);
    let (mut map, at, value) = to_twice(&program);
    let second = named(program.function("local"), "second").value();
    map.compensate(at.before, value, Compensation::new([second], |b, of| b.add(of[0], of[0])));
    insert_resolved_osr(&at, Condition::Always, &map).unwrap();
    assert_eq!(program.run("local", 20), 21 * 2 + 3);
}

#[test]
fn values_have_sides() {
    let context = Context::create();
    let program = Program::new(&context);
    let (sum, fast) = (program.function("sum"), program.function("fast"));
    let mut map = StateMap::new(sum, fast);
    let (s, acc) = (named(sum, "s").value(), named(fast, "acc").value());
    let swapped = map.map_values(acc, s).unwrap_err();
    assert!(matches!(swapped, StateMapError::Sides { .. }));
    let said = "mapping %acc of 'fast' to %s of 'sum': the first is to be a value of 'sum', \
                and the second one of 'fast'";
    assert_eq!(swapped.to_string(), said);
    assert!(matches!(map.map_values(s, s), Err(StateMapError::Sides { .. })));
    let one = sum.module().int_type(64).constant(1);
    for (from, to) in [(one, acc), (s, one), (one, one), (fast.value(), acc)] {
        let constant = map.map_values(from, to).unwrap_err();
        assert!(matches!(constant, StateMapError::Constant { .. }), "{constant}");
    }
    // SAFETY: null is no value, which is what is tried.
    let null = unsafe { Value::from_llvm(std::ptr::null_mut()) };
    assert!(map.map_values(null, acc).unwrap_err().to_string().starts_with("mapping null to %acc"));
    assert!(map.to_of(s).is_none() && map.from_of(acc).is_none(), "nothing was mapped");
}

#[test]
fn another_module_and_another_function_are_refused() {
    let context = Context::create();
    let (program, other) = (Program::new(&context), Program::new(&context));
    let (sum, fast) = (program.function("sum"), program.function("fast"));
    let before = program.module.print_to_string().to_string();
    let map = StateMap::identity(sum, other.function("sum")).unwrap();
    let at = point(named(sum, "square"));
    let elsewhere = error(&map, &at);
    assert!(
        matches!(&elsewhere, OsrError::OtherModule { destination, .. } if destination == "sum")
    );
    let declared = program.function("setjmp");
    assert!(matches!(error(&StateMap::new(sum, declared), &at), OsrError::OtherModule { .. }));
    let mut map = StateMap::new(sum, fast);
    map.map_landing(at.before, named(sum, "square"));
    assert!(matches!(error(&map, &at), OsrError::LandingElsewhere { .. }));
    assert_eq!(program.module.print_to_string().to_string(), before);
}

#[test]
fn a_patch_point_needs_a_target_that_has_them() {
    let context = Context::create();
    let program = Program::new(&context);
    let sum = program.function("sum");
    let copy = sum.clone_as("sum.copy");
    let map = StateMap::identity(sum, copy).unwrap();
    let at = point(named(sum, "square"));
    for triple in ["", "riscv64-unknown-linux-gnu"] {
        program.module.set_triple(&TargetTriple::create(triple));
        let refused = insert_resolved_osr(&at, Condition::Patch, &map).err().expect("an error");
        assert!(matches!(&refused, OsrError::NoPatch { triple: told, .. } if told == triple));
        assert!(insert_resolved_osr(&at, Condition::Flag, &map).is_ok());
    }
}
