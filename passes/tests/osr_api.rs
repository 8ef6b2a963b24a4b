//! The API for compiler writers, on modules of inkwell's, and what it makes is run.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::values::AsValueRef;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Value};
use midflight_passes::osr::condition::Condition;
use midflight_passes::osr::insert::{
    Insertion, OsrError, OsrPoint, insert_resolved_osr, live_values, remove_osr_point,
};
use midflight_passes::osr::refusal::Refusal;
use midflight_passes::osr::state_map::{Compensation, Prologue, StateMap, StateMapError};
use std::rc::Rc;

/// What inkwell calls to run code: `static inline` in LLVM's headers, so no library has it.
mod native {
    macro_rules! initialize {
        ($name:ident: $($function:ident),*) => {
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> i32 {
                unsafe extern "C" { $(fn $function();)* }
                // SAFETY: they take nothing, may be called many times, and are thread-safe.
                unsafe { $($function();)* }
                0
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    mod of_target {
        initialize!(LLVM_InitializeNativeTarget:
            LLVMInitializeX86TargetInfo, LLVMInitializeX86Target, LLVMInitializeX86TargetMC);
        initialize!(LLVM_InitializeNativeAsmPrinter: LLVMInitializeX86AsmPrinter);
        initialize!(LLVM_InitializeNativeAsmParser: LLVMInitializeX86AsmParser);
        initialize!(LLVM_InitializeNativeDisassembler: LLVMInitializeX86Disassembler);
    }
    #[cfg(target_arch = "aarch64")]
    mod of_target {
        initialize!(LLVM_InitializeNativeTarget:
            LLVMInitializeAArch64TargetInfo, LLVMInitializeAArch64Target, LLVMInitializeAArch64TargetMC);
        initialize!(LLVM_InitializeNativeAsmPrinter: LLVMInitializeAArch64AsmPrinter);
        initialize!(LLVM_InitializeNativeAsmParser: LLVMInitializeAArch64AsmParser);
        initialize!(LLVM_InitializeNativeDisassembler: LLVMInitializeAArch64Disassembler);
    }
}

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
        let buffer = MemoryBuffer::create_from_memory_range_copy(
            format!("{PROGRAM}\0").as_bytes(),
            "program",
        );
        Program { module: context.create_module_from_ir(buffer).expect("valid IR") }
    }

    fn function(&self, name: &str) -> Function<'_> {
        let function = self.module.get_function(name).expect("a function of the program");
        // SAFETY: the module outlives the handle, in one thread.
        unsafe { Function::from_llvm(function.as_value_ref()) }
    }

    /// Runs `sum(n)`.
    fn sum(&self, n: i64) -> i64 {
        self.module.verify().expect("a valid module");
        let engine: ExecutionEngine =
            self.module.create_jit_execution_engine(OptimizationLevel::None).expect("a JIT");
        // SAFETY: `sum` takes and returns 64-bit integers.
        let result = unsafe {
            let sum = engine
                .get_function::<unsafe extern "C" fn(i64) -> i64>("sum")
                .expect("a compiled function");
            sum.call(n)
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

/// An instruction by the name of its result.
fn named<'m>(function: Function<'m>, name: &str) -> Inst<'m> {
    let names = function.value_names();
    let results =
        function.blocks().flat_map(|b| b.instructions()).filter(|i| i.osr_facts().has_result());
    let found = names.iter().skip(function.arguments().count()).zip(results);
    found.into_iter().find(|(n, _)| n.as_str() == format!("%{name}")).expect("a named value").1
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
    let compute = Rc::new(|b: &Builder<'m>, of: &[Value<'m>]| b.add(of[0], of[0]));
    let needs = vec![named(sum, "i").value()];
    map.compensate(at, named(fast, "double").value(), Compensation { needs, compute });
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
    assert_eq!(first.then(&first).err(), Some(StateMapError::NotComposable));

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
    let effect = Rc::new(move |b: &Builder<'_>, of: &[Value<'_>]| {
        let _ = of;
        b.count(hits);
    });
    let at = named(sum, "next");
    map.set_prologue(at, Prologue { needs: vec![argument(sum)], effect });
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
    assert!(matches!(&unmapped, OsrError::Unmapped { value, .. } if value == "%m"), "{unmapped}");
    assert!(matches!(error(&map, &point(named(fast, "half"))), OsrError::OtherFunction(_)));
    map.map_landing(named(sum, "i"), named(fast, "half"));
    assert!(matches!(error(&map, &point(named(sum, "i"))), OsrError::NoBoundary(_)));
    // %total is defined behind the point.
    let (a, b) = (named(sum, "total").value(), named(fast, "acc").value());
    map.map_values(argument(sum), argument(fast)).unwrap();
    map.map_values(a, b).unwrap();
    assert!(matches!(error(&map, &at), OsrError::Unmapped { .. }));

    assert_eq!(map.map_values(a, argument(fast)).err(), Some(StateMapError::NotOneToOne));
    let other = program.function("other");
    let mut odd = StateMap::new(sum, other);
    assert_eq!(odd.map_values(argument(sum), argument(other)).err(), Some(StateMapError::Types));
    assert!(matches!(error(&odd, &at), OsrError::Results(_)));
    assert_eq!(StateMap::identity(sum, fast).err(), Some(StateMapError::NoCopy));

    let jumps = program.function("jumps");
    let copy = jumps.clone_as("jumps.copy");
    let map = StateMap::identity(jumps, copy).unwrap();
    let refused = error(&map, &point(named(jumps, "wide")));
    assert!(matches!(refused, OsrError::Refused { refusal: Refusal::ReturnsTwice, .. }));
    copy.erase();
    assert_eq!(program.module.print_to_string().to_string(), before);
}
