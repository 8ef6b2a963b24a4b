//! State maps that were made by hand are checked by running both functions.

mod modules;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use midflight_passes::osr::api::{
    Compensation, Function, Mismatch, OsrError, OsrPoint, StateMap, Value, emit_check, observer,
};
use modules::{function, named, parse};
use std::mem::transmute;

/// `sum` adds the squares below n; `fast` keeps 2*i, and a byte, a float and a pointer besides.
const PROGRAM: &str = r#"
define i64 @sum(i64 %n, ptr %log) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %square = mul i64 %i, %i
  %total = add i64 %s, %square
  %next = add i64 %i, 1
  store i64 %total, ptr %log
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %total
}

define i64 @fast(i64 %m, ptr %to) {
begin:
  %cell = alloca i64
  br label %body
body:
  %double = phi i64 [ 0, %begin ], [ %double.next, %body ]
  %acc = phi i64 [ 0, %begin ], [ %acc.next, %body ]
  %low = trunc i64 %double to i8
  %real = uitofp i64 %double to double
  %half = lshr i64 %double, 1
  %sq = mul i64 %half, %half
  %acc.next = add i64 %acc, %sq
  store i64 %acc.next, ptr %to
  store i64 %acc.next, ptr %cell
  %double.next = add i64 %double, 2
  %used = uitofp i8 %low to double
  %unused = fadd double %used, %real
  %limit = shl i64 %m, 1
  %again = icmp slt i64 %double.next, %limit
  br i1 %again, label %body, label %end
end:
  ret i64 %acc.next
}

define i64 @wrong(i64 %m, ptr %to) {
begin:
  br label %body
body:
  %i = phi i64 [ 0, %begin ], [ %next, %body ]
  %half = mul i64 %i, %i
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %m
  br i1 %again, label %body, label %end
end:
  ret i64 %half
}
"#;

/// What may be wrong with a map.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    None,
    /// 2*i is i.
    Double,
    /// The sum so far is i: both have the same type.
    Sum,
    /// The low byte of 2*i is that of i.
    Byte,
    /// The same for the float.
    Real,
}

/// From `sum` to `fast`, where %half is computed.
fn to_fast<'m>(module: &'m Module<'_>, mutant: Mutant) -> (StateMap<'m>, OsrPoint<'m>) {
    let (sum, fast) = (function(module, "sum"), function(module, "fast"));
    let mut map = StateMap::new(sum, fast);
    for (ours, theirs) in sum.arguments().zip(fast.arguments()) {
        map.map_values(ours, theirs).unwrap();
    }
    let i = named(sum, "i").value();
    let before = named(sum, "square");
    map.map_landing(before, named(fast, "half"));
    let acc = named(fast, "acc").value();
    match mutant {
        Mutant::Sum => map.compensate(before, acc, Compensation::new([i], |_, of| of[0])),
        _ => map.map_values(named(sum, "s").value(), acc).unwrap(),
    }
    let module = sum.module();
    let (byte, real) = (module.int_type(8), module.double_type());
    let is = |which| mutant == which;
    let computed = |value: &str, code: Compensation<'m>| (named(fast, value).value(), code);
    let (same, low, float) = (is(Mutant::Double), is(Mutant::Byte), is(Mutant::Real));
    let twice = move |b: &midflight_passes::osr::api::Builder<'m>, i: Value<'m>, same: bool| {
        if same { i } else { b.add(i, i) }
    };
    for (value, code) in [
        computed("double", Compensation::new([i], move |b, of| twice(b, of[0], same))),
        computed("low", Compensation::new([i], move |b, of| b.narrow(twice(b, of[0], low), byte))),
        computed(
            "real",
            Compensation::new([i], move |b, of| b.to_float(twice(b, of[0], float), real)),
        ),
        computed("cell", Compensation::new([named_argument(sum)], |_, of| of[0])),
    ] {
        map.compensate(before, value, code);
    }
    (map, OsrPoint { before, name: "hot".to_string() })
}

fn named_argument(function: Function<'_>) -> Value<'_> {
    function.arguments().nth(1).expect("a second parameter")
}

/// Compiles the check of a map, and compares runs on n.
fn compare<'m>(
    module: &Module<'_>,
    map: &StateMap<'m>,
    at: &OsrPoint<'m>,
    n: i64,
) -> Result<usize, Mismatch> {
    let check = emit_check(at, map, "check").unwrap();
    let (comparison, names) = (
        check.comparison(),
        [check.source, check.destination, check.set_observer].map(|f| f.name()),
    );
    module.verify().unwrap();
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).unwrap();
    let address = |name: &str| engine.get_function_address(name).unwrap();
    type Sum = extern "C" fn(i64, *mut i64) -> i64;
    // SAFETY: the functions have these types.
    let (source, destination, observe) = unsafe {
        (
            transmute::<usize, Sum>(address(&names[0])),
            transmute::<usize, Sum>(address(&names[1])),
            transmute::<usize, extern "C" fn(usize)>(address(&names[2])),
        )
    };
    let run = |function: Sum| {
        let mut log = 0;
        (function(n, &mut log), log)
    };
    assert_eq!(run(source).0, run(source).1, "nobody listens yet");
    observe(observer());
    let result = comparison.run(|| run(source), || run(destination));
    engine.remove_module(module).unwrap();
    result
}

fn mutated(mutant: Mutant) -> Result<usize, Mismatch> {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let (map, at) = to_fast(&module, mutant);
    compare(&module, &map, &at, 10)
}

#[test]
fn a_right_map_passes_at_every_hit() {
    assert_eq!(mutated(Mutant::None), Ok(10));
}

#[test]
fn a_wrong_value_is_found_and_named() {
    let wrong = |mutant| mutated(mutant).unwrap_err().to_string();
    assert_eq!(
        wrong(Mutant::Double),
        "checking OSR point 'hot': at hit 2 the state map gives 0x1 for %double of 'fast', and the \
         destination itself has 0x2"
    );
    assert!(wrong(Mutant::Sum).contains("at hit 2 the state map gives 0x1 for %acc of 'fast'"));
    // No result depends on these two.
    assert!(
        wrong(Mutant::Byte).contains("0x1 for %low of 'fast', and the destination itself has 0x2")
    );
    assert!(wrong(Mutant::Real).contains("0x3ff0000000000000 for %real of 'fast'"));
}

#[test]
fn functions_that_are_no_versions_of_each_other_are_found() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let (sum, wrong) = (function(&module, "sum"), function(&module, "wrong"));
    let mut map = StateMap::new(sum, wrong);
    for (ours, theirs) in sum.arguments().zip(wrong.arguments()) {
        map.map_values(ours, theirs).unwrap();
    }
    map.map_values(named(sum, "i").value(), named(wrong, "i").value()).unwrap();
    let at = OsrPoint { before: named(sum, "square"), name: "hot".to_string() };
    map.map_landing(at.before, named(wrong, "half"));
    let found = compare(&module, &map, &at, 10).unwrap_err();
    assert!(matches!(found, Mismatch::Result { .. }), "{found}");
}

#[test]
fn other_numbers_of_hits_and_none_are_found() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let (sum, fast) = (function(&module, "sum"), function(&module, "fast"));
    let mut map = StateMap::new(sum, fast);
    for (ours, theirs) in sum.arguments().zip(fast.arguments()) {
        map.map_values(ours, theirs).unwrap();
    }
    let start = sum.blocks().next().unwrap().insertion_point();
    let at = OsrPoint { before: start, name: "hot".to_string() };
    // From the entry into the loop, whose values at the beginning are known.
    map.map_landing(start, named(fast, "half"));
    let (int, byte, real) =
        (sum.module().int_type(64), sum.module().int_type(8), sum.module().double_type());
    for (name, ty) in [("double", int), ("acc", int), ("low", byte), ("real", real)] {
        let code = Compensation::new([], move |_, _| ty.null());
        map.compensate(start, named(fast, name).value(), code);
    }
    let cell = Compensation::new([named_argument(sum)], |_, of| of[0]);
    map.compensate(start, named(fast, "cell").value(), cell);
    let found = compare(&module, &map, &at, 10).unwrap_err();
    assert!(matches!(found, Mismatch::Hits { source_hits: 1, own_hits: 10, .. }), "{found}");

    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let base = function(&module, "sum");
    let copy = base.clone_as("copy");
    let map = StateMap::identity(base, copy).unwrap();
    let check =
        emit_check(&OsrPoint { before: named(base, "square"), name: "hot".into() }, &map, "check");
    let never = check.unwrap().comparison().run(|| 1, || 1).unwrap_err();
    assert_eq!(
        never.to_string(),
        "checking OSR point 'hot': neither version came by; try other inputs"
    );
}

#[test]
fn a_check_that_cannot_be_made_changes_nothing() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let (mut map, at) = to_fast(&module, Mutant::None);
    let before = module.print_to_string();
    let double = named(map.to, "double").value();
    let sum = map.from;
    map.compensate(at.before, double, Compensation::new([], move |_, _| sum.value()));
    assert!(matches!(emit_check(&at, &map, "check"), Err(OsrError::Code { .. })));
    map.map_landing(at.before, named(sum, "square"));
    assert!(matches!(emit_check(&at, &map, "check"), Err(OsrError::LandingElsewhere { .. })));
    assert_eq!(module.print_to_string(), before);
}
