//! Functions' IR as bytes: what comes along, what is linked, what is refused, and that it runs.

mod modules;

use inkwell::OptimizationLevel;
use inkwell::context::{AsContextRef, Context, ContextRef};
use inkwell::execution_engine::ExecutionEngine;
use inkwell::llvm_sys::core::{LLVMDisposeMessage, LLVMPrintModuleToString};
use inkwell::llvm_sys::execution_engine::LLVMGetGlobalValueAddress;
use inkwell::module::Module;
use inkwell::targets::{InitializationConfig, Target};
use midflight_abi::open;
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::ir::{self, Opcode};
use midflight_bridge::slice::{ACCESSOR_PREFIX, FUNCTION, LINK_PREFIX, Owned, Slice, SliceRefusal};
use modules::{function, parse};
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;

/// The text of a module.
fn text(module: ir::Module<'_>) -> String {
    // SAFETY: the module is live; the text is copied and freed.
    unsafe {
        let text = LLVMPrintModuleToString(module.as_llvm());
        let copy = CStr::from_ptr(text).to_str().unwrap().to_string();
        LLVMDisposeMessage(text);
        copy
    }
}

/// What the links of a slice are, by their names.
fn links(slice: &Slice<'_>) -> Vec<String> {
    slice.links.iter().map(|link| link.described()).collect()
}

/// The links of the slice of a function, and its text once it is read back.
fn sliced(program: &str, name: &str) -> (Vec<String>, String) {
    let context = Context::create();
    let module = parse(&context, program);
    module.verify().expect("a valid program");
    let slice = function(&module, name).slice().expect("it can be carried");
    module.verify().expect("still a valid program");
    let owned = Owned::read(&slice.bytes).expect("it can be read");
    assert_eq!(owned.module().verify(), None);
    (links(&slice), text(owned.module()))
}

/// The line that defines or declares a link.
fn head(text: &str, name: &str) -> String {
    let mut is_name = text.lines().filter(|line| {
        let global = line.split_once(" = ").is_some_and(|(left, _)| left == format!("@{name}"));
        let of_function = line.starts_with("define ") || line.starts_with("declare ");
        global || (of_function && line.contains(&format!("@{name}(")))
    });
    is_name.next().unwrap_or_else(|| panic!("no @{name} in\n{text}")).to_string()
}

/// The head of the link that stands for a global of the program.
fn linked(links: &[String], text: &str, original: &str) -> String {
    let number = links.iter().position(|link| link == &format!("@{original}"));
    let number = number.unwrap_or_else(|| panic!("no link for {original} among {links:?}"));
    head(text, &format!("{LINK_PREFIX}{number}"))
}

/// A program with most that a function can refer to.
fn program() -> String {
    let many = |count: u32| {
        (0..count).fold(String::new(), |text, n| {
            let from = if n == 0 { "%x".to_string() } else { format!("%v{}", n - 1) };
            text + &format!("  %v{n} = mul i32 {from}, %x\n")
        })
    };
    let at_limit = format!("{}  ret i32 %v98", many(99));
    let big = format!("{}  ret i32 %v99", many(100));
    format!(
        r#"
source_filename = "private/path.c"
%pair = type {{ i32, ptr }}
@counter = internal global i32 0, align 4
@greeting = private unnamed_addr constant [6 x i8] c"hello\00", align 1
@table = internal constant [2 x ptr] [ptr @small, ptr @in_table], align 16
@nested = constant %pair {{ i32 7, ptr @greeting2 }}
@greeting2 = private constant [3 x i8] c"yo\00"
@cycle = constant ptr @cycle
@large = internal constant [4097 x i8] zeroinitializer
@just = internal constant [4096 x i8] zeroinitializer
@replaceable = weak constant i32 5
@outside = external global %pair, align 8
@maybe_variable = extern_weak global i32
@rtti = external constant ptr

declare i32 @print(ptr noundef, ...) nounwind
declare extern_weak void @maybe()
declare i32 @__gxx_personality_v0(...)
declare i64 @strlen(ptr)
declare i32 @llvm.ctpop.i32(i32)
declare void @thrower(i32)

define weak i32 @weak(i32 %x) {{
  ret i32 %x
}}
define linkonce_odr i32 @inline(i32 %x) {{
  ret i32 %x
}}
define internal fastcc signext i32 @small(i32 noundef %x) #0 {{
  %y = call i32 @deeper(i32 %x)
  ret i32 %y
}}
define internal i32 @deeper(i32 %x) {{
  %y = call i32 @deepest(i32 %x)
  ret i32 %y
}}
define internal i32 @deepest(i32 %x) {{
  %y = call i32 @too_deep(i32 %x)
  ret i32 %y
}}
define internal i32 @too_deep(i32 %x) {{
  ret i32 %x
}}
define internal i32 @in_table(i32 %x) {{
  ret i32 %x
}}
define internal i32 @stubborn(i32 %x) noinline {{
  ret i32 %x
}}
define internal i32 @variadic(i32 %x, ...) {{
  ret i32 %x
}}
define internal i32 @at_limit(i32 %x) {{
{at_limit}
}}
define internal i32 @big(i32 %x) {{
{big}
}}

define dso_local i32 @work(i32 %n, i32 %which) #1 personality ptr @__gxx_personality_v0 {{
entry:
  %pad = alloca %pair, align 8
  switch i32 %which, label %loop [
    i32 0, label %strings
    i32 1, label %calls
    i32 2, label %throwing
  ]
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load i32, ptr @counter, align 4, !tbaa !0
  %new = add i32 %old, %i
  store i32 %new, ptr @counter, align 4, !tbaa !0
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !3
strings:
  %printed = call i32 (ptr, ...) @print(ptr @greeting, i32 %n)
  %length = call i64 @strlen(ptr @greeting)
  %slot = getelementptr inbounds [2 x ptr], ptr @table, i64 0, i64 1
  %entry.of.table = load ptr, ptr %slot, align 8
  %from.table = call i32 %entry.of.table(i32 %n)
  %member = load i32, ptr @nested, align 8
  %cyclic = load ptr, ptr @cycle, align 8
  %l = load i8, ptr @large, align 1
  %j = load i8, ptr @just, align 1
  %r = load i32, ptr @replaceable, align 4
  %o = load ptr, ptr getelementptr inbounds (%pair, ptr @outside, i64 0, i32 1), align 8
  br label %done
calls:
  %a = call fastcc signext i32 @small(i32 %n)
  %b = call i32 @stubborn(i32 %n)
  %c = call i32 @big(i32 %n)
  %d = call i32 @at_limit(i32 %n)
  %e = call i32 @weak(i32 %n)
  %f = call i32 @inline(i32 %n)
  %g = call i32 (i32, ...) @variadic(i32 %n)
  %bits = call i32 @llvm.ctpop.i32(i32 %n), !range !4
  %has = icmp ne ptr @maybe, null
  %has.variable = icmp ne ptr @maybe_variable, null
  br i1 %has, label %call.maybe, label %done, !prof !5
call.maybe:
  call void @maybe()
  br label %done
throwing:
  invoke void @thrower(i32 %n) to label %done unwind label %caught
caught:
  %landed = landingpad {{ ptr, i32 }} catch ptr @rtti
  br label %done
done:
  %o.or.null = phi ptr [ null, %loop ], [ %o, %strings ], [ null, %calls ], [ null, %call.maybe ], [ null, %throwing ], [ null, %caught ]
  %self = icmp eq ptr %o.or.null, @work
  %again = call i32 @work(i32 0, i32 3)
  ret i32 %again
}}
attributes #0 = {{ nounwind "target-cpu"="x86-64" }}
attributes #1 = {{ nounwind uwtable "target-cpu"="x86-64" "frame-pointer"="all" }}
!llvm.module.flags = !{{!6, !7, !8, !9}}
!llvm.ident = !{{!10}}
!0 = !{{!1, !1, i64 0}}
!1 = !{{!"int", !2}}
!2 = !{{!"root"}}
!3 = distinct !{{!3, !11}}
!4 = !{{i32 0, i32 33}}
!5 = !{{!"branch_weights", i32 1, i32 2000}}
!6 = !{{i32 8, !"PIC Level", i32 2}}
!7 = !{{i32 1, !"ThinLTO", i32 0}}
!8 = !{{i32 2, !"Debug Info Version", i32 3}}
!9 = !{{i32 7, !"uwtable", i32 2}}
!10 = !{{!"a compiler"}}
!11 = !{{!"llvm.loop.mustprogress"}}
"#
    )
}

#[test]
fn names_are_those_of_the_abi() {
    assert_eq!((FUNCTION, LINK_PREFIX), (open::OPEN_FUNCTION, open::OPEN_LINK_PREFIX));
}

#[test]
fn all_that_a_function_refers_to_is_linked_in_order() {
    let (links, text) = sliced(&program(), "work");
    let expected = [
        "__gxx_personality_v0",
        "counter",
        // What is called is the last operand.
        "greeting",
        "print",
        "strlen",
        "table",
        "nested",
        "cycle",
        "large",
        "just",
        "replaceable",
        "outside",
        "small",
        "stubborn",
        "big",
        "at_limit",
        "weak",
        "inline",
        "variadic",
        "maybe",
        "maybe_variable",
        "thrower",
        "rtti",
        // Both what it compares with and what it calls.
        "work",
        // What bodies refer to, then what initializers do.
        "deeper",
        "deepest",
        "too_deep",
        "in_table",
        "greeting2",
    ];
    let expected = expected.map(|name| format!("@{name}"));
    assert_eq!(links, expected);
    for number in 0..links.len() {
        head(&text, &format!("{LINK_PREFIX}{number}"));
    }
    assert!(!text.contains(&format!("{LINK_PREFIX}{}", links.len())), "{text}");
}

#[test]
fn the_function_is_as_it_was_under_its_new_name() {
    let (links, text) = sliced(&program(), "work");
    let line = head(&text, FUNCTION);
    assert!(line.starts_with("define i32 @midflight.base(i32 %n, i32 %which)"), "{line}");
    assert!(line.contains("personality ptr @midflight.link.0"), "{line}");
    let number = line.split('#').nth(1).unwrap().split(' ').next().unwrap();
    let attributes =
        format!("attributes #{number} = {{ nounwind uwtable \"frame-pointer\"=\"all\"");
    assert!(text.contains(&attributes), "{text}");
    let own = links.iter().position(|link| link == "@work").unwrap();
    assert!(text.contains(&format!("icmp eq ptr %o.or.null, @midflight.link.{own}")), "{text}");
    assert!(!text.contains("ptr @midflight.base"), "{text}");
    assert!(text.contains("call i32 @llvm.ctpop.i32(i32 %n), !range"), "{text}");
    for kept in ["!tbaa", "!prof", "!llvm.loop", "\"PIC Level\"", "\"uwtable\", i32 2"] {
        assert!(text.contains(kept), "{kept} is missing in\n{text}");
    }
    for gone in ["ThinLTO", "Debug Info", "a compiler", "private/path", "dso_local"] {
        assert!(!text.contains(gone), "{gone} is in\n{text}");
    }
}

#[test]
fn links_say_what_may_be_relied_on() {
    let (links, text) = sliced(&program(), "work");
    let of = |name: &str| linked(&links, &text, name);
    let ends = |name: &str, end: &str| {
        let line = of(name);
        assert!(line.ends_with(end), "{line}\nis not {end}");
    };
    ends("counter", "= external global i32, align 4");
    ends("outside", "= external global %pair, align 8");
    ends("rtti", "= external constant ptr");
    ends("maybe_variable", "= extern_weak global i32");
    assert!(of("maybe").starts_with("declare extern_weak void"), "{}", of("maybe"));
    assert!(of("print").starts_with("declare i32"), "{}", of("print"));
    assert!(of("print").contains("(ptr noundef, ...) #"), "{}", of("print"));
    let small = of("small");
    assert!(
        small.contains("fastcc signext i32 ") && small.contains("(i32 noundef %x) #"),
        "{small}"
    );
}

#[test]
fn constants_and_small_callees_come_along() {
    let (links, text) = sliced(&program(), "work");
    let of = |name| linked(&links, &text, name);
    let greeting = of("greeting");
    assert!(
        greeting.ends_with(
            r#"= available_externally unnamed_addr constant [6 x i8] c"hello\00", align 1"#
        ),
        "{greeting}"
    );
    let number = |name: &str| links.iter().position(|link| link == &format!("@{name}")).unwrap();
    let (small, in_table) = (number("small"), number("in_table"));
    let table = format!("[ptr @midflight.link.{small}, ptr @midflight.link.{in_table}], align 16");
    assert!(of("table").contains("available_externally constant"), "{}", of("table"));
    assert!(of("table").ends_with(&table), "{}", of("table"));
    for name in ["nested", "greeting2", "cycle", "just"] {
        assert!(of(name).contains("= available_externally "), "{}", of(name));
    }
    for name in ["large", "replaceable"] {
        assert!(of(name).contains("= external constant "), "{}", of(name));
    }
    for name in ["small", "deeper", "deepest", "at_limit", "inline"] {
        assert!(of(name).starts_with("define available_externally "), "{}", of(name));
    }
    let declared = ["stubborn", "big", "weak", "variadic", "too_deep", "in_table", "work", "print"];
    for name in declared {
        assert!(of(name).starts_with("declare "), "{}", of(name));
    }
}

#[test]
fn callees_come_along_up_to_a_limit_of_all() {
    let body = |n| {
        let lines: String = (0..98).map(|_| "  fence seq_cst\n").collect();
        format!("define internal void @f{n}() {{\n{lines}  ret void\n}}\n")
    };
    let functions: String = (0..12).map(body).collect();
    let calls: String = (0..12).map(|n| format!("  call void @f{n}()\n")).collect();
    let (links, text) =
        sliced(&format!("{functions}define void @g() {{\n{calls}  ret void\n}}"), "g");
    let carried = |n| linked(&links, &text, &format!("f{n}")).starts_with("define ");
    let carried: Vec<bool> = (0..12).map(carried).collect();
    // 99 instructions each
    assert_eq!(carried, (0..12).map(|n| n < 10).collect::<Vec<_>>());
}

#[test]
fn the_module_is_not_changed() {
    let context = Context::create();
    let module = parse(&context, &program());
    let before = module.print_to_string().to_string();
    for name in ["work", "small", "inline"] {
        function(&module, name).slice().expect("it can be carried");
    }
    assert_eq!(module.print_to_string().to_string(), before);
}

#[test]
fn the_same_function_has_the_same_bytes() {
    let bytes = || {
        let context = Context::create();
        let module = parse(&context, &program());
        function(&module, "work").slice().unwrap().bytes
    };
    assert_eq!(bytes(), bytes());
}

const THREAD_LOCALS: &str = r#"
@own = internal thread_local global i32 0, align 4
@foreign = external thread_local(initialexec) global i64
declare ptr @llvm.threadlocal.address.p0(ptr)
define i32 @f() {
  %a = call align 4 ptr @llvm.threadlocal.address.p0(ptr align 4 @own)
  %b = call ptr @llvm.threadlocal.address.p0(ptr @foreign)
  %v = load i32, ptr %a
  store i64 1, ptr %b
  %r = call i32 @g()
  ret i32 %r
}
define internal i32 @g() {
  %a = call align 4 ptr @llvm.threadlocal.address.p0(ptr align 4 @own)
  %v = load i32, ptr %a
  ret i32 %v
}
"#;

#[test]
fn thread_local_variables_are_reached_by_accessors() {
    let context = Context::create();
    let module = parse(&context, THREAD_LOCALS);
    let before = module.print_to_string().to_string();
    let f = function(&module, "f");
    let slice = f.slice().expect("it can be carried");
    let expected = ["@midflight.tls.own", "@midflight.tls.foreign", "@g"];
    assert_eq!(links(&slice), expected);
    assert_eq!(slice.instructions, 6 + 3);

    let owned = Owned::read(&slice.bytes).unwrap();
    let carried = text(owned.module());
    assert!(carried.contains("%a = call align 4 ptr @midflight.link.0()"), "{carried}");
    assert!(carried.contains("%b = call ptr @midflight.link.1()"), "{carried}");
    assert!(
        !carried.contains("llvm.threadlocal") && !carried.contains("thread_local"),
        "{carried}"
    );
    assert!(linked(&links(&slice), &carried, "g").starts_with("define available_externally"));
    let accessor = linked(&links(&slice), &carried, "midflight.tls.own");
    let number = accessor.split('#').nth(1).expect("it has attributes").trim();
    let line = carried.lines().find(|line| line.starts_with(&format!("attributes #{number} =")));
    for attribute in ["memory(none)", "willreturn", "nounwind", "noinline"] {
        assert!(line.unwrap().contains(attribute), "{carried}");
    }

    // The module has the accessors, once, and nothing else that is new.
    function(&module, "f").slice().unwrap();
    function(&module, "g").slice().unwrap();
    module.verify().expect("still a valid program");
    let accessors = function(&module, "f").module().functions();
    let names: Vec<_> =
        accessors.map(|f| f.name()).filter(|name| name.starts_with(ACCESSOR_PREFIX)).collect();
    assert_eq!(names, ["midflight.tls.own", "midflight.tls.foreign"]);
    for name in names {
        let accessor = function(&module, &name);
        let body: Vec<_> = accessor.texts().into_iter().flat_map(|(_, texts)| texts).collect();
        assert!(body[0].contains("call") && body[0].contains("@llvm.threadlocal.address.p0("));
        assert_eq!(body.len(), 2, "{body:?}");
        accessor.erase();
    }
    let strip = |text: &str| {
        let lines = text.lines().filter(|line| {
            !line.starts_with("attributes ") && !line.is_empty() && !line.starts_with("; ")
        });
        lines.map(|line| line.split(" #").next().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(strip(&module.print_to_string().to_string()), strip(&before));
}

#[test]
fn aliases_are_what_they_stand_for() {
    let program = r"
@data = internal global [2 x i32] zeroinitializer
@second = alias i32, getelementptr (i32, ptr @data, i64 1)
@twice = alias i32, ptr @second
@called = alias void (), ptr @real
@chosen = ifunc void (), ptr @resolver
@weakly = weak alias void (), ptr @real
define internal void @real() {
  ret void
}
define internal ptr @resolver() {
  ret ptr @real
}
define void @f() {
  %v = load i32, ptr @twice
  store i32 %v, ptr @data
  call void @called()
  call void @chosen()
  call void @weakly()
  ret void
}
";
    let (links, text) = sliced(program, "f");
    assert_eq!(links, ["@data", "@real", "@chosen", "@weakly"]);
    assert!(text.contains("ptr getelementptr (i32, ptr @midflight.link.0, i64 1)"), "{text}");
    assert!(linked(&links, &text, "real").starts_with("define available_externally"), "{text}");
    assert!(linked(&links, &text, "chosen").starts_with("declare void"), "{text}");
    // It may be equal to another link.
    assert!(linked(&links, &text, "weakly").starts_with("declare extern_weak"), "{text}");
}

#[test]
fn debug_information_stays_behind() {
    let program = r#"
declare void @g()
define void @f(i32 %x) !dbg !3 {
  #dbg_value(i32 %x, !7, !DIExpression(), !6)
  call void @g(), !dbg !6
  br label %loop, !dbg !6
loop:
  br label %loop, !dbg !6, !llvm.loop !8
}
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, producer: "x", emissionKind: FullDebug)
!2 = !DIFile(filename: "a.c", directory: "/secret")
!3 = distinct !DISubprogram(name: "f", file: !2, line: 1, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!6 = !DILocation(line: 2, scope: !3)
!7 = !DILocalVariable(name: "x", arg: 1, scope: !3, type: !9)
!8 = distinct !{!8, !6, !10}
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !{!"llvm.loop.unroll.count", i32 3}
"#;
    let context = Context::create();
    let module = parse(&context, program);
    module.verify().expect("a valid program");
    let before = module.print_to_string().to_string();
    assert!(before.contains("#dbg_value"), "{before}");
    let slice = function(&module, "f").slice().unwrap();
    assert_eq!(module.print_to_string().to_string(), before);
    let text = text(Owned::read(&slice.bytes).unwrap().module());
    assert!(text.contains("llvm.loop.unroll.count"), "{text}");
    for gone in ["!DI", "dbg", "secret", "Debug Info"] {
        assert!(!text.contains(gone), "{gone} is in\n{text}");
    }
}

#[test]
fn each_refusal_has_its_case() {
    let cases = [
        (SliceRefusal::NoBody, "declare void @f()"),
        (
            SliceRefusal::BlockAddress,
            "define ptr @f() {\n  br label %b\nb:\n  ret ptr blockaddress(@f, %b)\n}",
        ),
        // The table has no blocks of a copy.
        (
            SliceRefusal::BlockAddress,
            "@t = constant [1 x ptr] [ptr blockaddress(@f, %b)]\n\
             define void @f(ptr %p) {\n  indirectbr ptr %p, [label %b]\nb:\n  ret void\n}",
        ),
        (
            SliceRefusal::BlockAddress,
            "define ptr @f() {\n  ret ptr blockaddress(@g, %b)\n}\n\
             define void @g() {\n  br label %b\nb:\n  ret void\n}",
        ),
        (
            SliceRefusal::ThreadLocal,
            "@v = thread_local global i32 0\ndefine void @f() {\n  store i32 1, ptr @v\n  ret void\n}",
        ),
        (
            SliceRefusal::ThreadLocal,
            "@v = thread_local global [2 x i32] zeroinitializer\ndefine ptr @f() {\n  \
             ret ptr getelementptr (i8, ptr @v, i64 4)\n}",
        ),
        (SliceRefusal::Coroutine, "define void @f() presplitcoroutine {\n  ret void\n}"),
        (SliceRefusal::Naked, "define void @f() naked {\n  unreachable\n}"),
        (
            SliceRefusal::Assembly,
            "define void @f() {\n  call void asm sideeffect \".pushsection .x\", \"\"()\n  ret void\n}",
        ),
        (
            SliceRefusal::Assembly,
            "define void @f() {\n  call void asm sideeffect \"label: nop\", \"\"()\n  ret void\n}",
        ),
        (
            SliceRefusal::SpecialAddress,
            "declare void @g()\ndefine ptr @f() {\n  ret ptr dso_local_equivalent @g\n}",
        ),
        (
            SliceRefusal::SpecialAddress,
            "declare void @g()\ndefine ptr @f() {\n  ret ptr no_cfi @g\n}",
        ),
        (
            SliceRefusal::SpecialAddress,
            "@g = external global i8\ndefine ptr @f() {\n  ret ptr ptrauth (ptr @g, i32 0)\n}",
        ),
        (
            SliceRefusal::LocalOfComdat,
            "$f = comdat any\n@v = internal global i32 0, comdat($f)\n\
             define linkonce_odr ptr @f() comdat {\n  ret ptr @v\n}",
        ),
        (
            SliceRefusal::InterposableAlias,
            "@v = global i32 0\n@a = weak alias i32, ptr @v\ndefine ptr @f() {\n  ret ptr @a\n}",
        ),
    ];
    for (refusal, program) in cases {
        let context = Context::create();
        let module = parse(&context, program);
        module.verify().unwrap_or_else(|error| panic!("{program}: {error}"));
        let before = module.print_to_string().to_string();
        let f = function(&module, "f");
        assert_eq!(f.slice_refusal(), Some(refusal), "{program}");
        assert_eq!(f.slice().err(), Some(refusal.to_string()));
        assert_eq!(module.print_to_string().to_string(), before);
    }
    for refusal in SliceRefusal::ALL.iter().filter(|&&refusal| refusal != SliceRefusal::Copies) {
        assert!(cases.iter().any(|(of, _)| of == refusal), "{}", refusal.name());
    }
}

/// What is only there to be inlined, and that many instructions long, called by `f`.
fn with_copies(lines: usize) -> String {
    let lines = "  fence seq_cst\n".repeat(lines);
    format!(
        "define available_externally void @copy() {{\n  call void @inner()\n{lines}  ret void\n}}\n\
         define available_externally void @inner() {{\n  call void @outside()\n  ret void\n}}\n\
         define available_externally void @taken() {{\n  ret void\n}}\n\
         declare void @outside()\n\
         define ptr @f() {{\n  call void @copy()\n  call void @taken()\n  ret ptr @taken\n}}\n"
    )
}

#[test]
fn copies_for_inlining_are_not_asked_of_the_program() {
    let (links, text) = sliced(&with_copies(500), "f");
    // The address of `taken` the program has anyway.
    assert_eq!(links, ["@taken", "@outside"]);
    assert_eq!(text.matches("define internal void @copy").count(), 2, "{text}");
    let context = Context::create();
    let module = parse(&context, &with_copies(10_000));
    let refusal = function(&module, "f").slice_refusal();
    assert_eq!(refusal, Some(SliceRefusal::Copies));
}

#[test]
fn what_is_like_a_refusal_is_carried() {
    let program = r#"
$g = comdat any
@v = thread_local global i32 0
@points.to.block = constant [1 x ptr] [ptr blockaddress(@other, %b)]
declare ptr @llvm.threadlocal.address.p0(ptr)
define linkonce_odr void @g() comdat {
  ret void
}
define void @other() {
  br label %b
b:
  ret void
}
define internal void @refused() {
  store i32 1, ptr @v
  ret void
}
define ptr @f() {
  call void asm sideeffect "1: jmp 1b", ""()
  call void @g()
  call void @refused()
  %p = call ptr @llvm.threadlocal.address.p0(ptr @v)
  ret ptr @points.to.block
}
"#;
    let (links, text) = sliced(program, "f");
    let of = |name| linked(&links, &text, name);
    assert!(of("g").starts_with("define available_externally") && !of("g").contains("comdat"));
    // Their definitions are what would be refused.
    assert!(of("refused").starts_with("declare "), "{}", of("refused"));
    assert!(of("points.to.block").contains("= external constant"), "{}", of("points.to.block"));
}

#[test]
fn a_memset_does_not_become_a_call_of_memset() {
    let program = "define ptr @memset(ptr %p, i32 %c, i64 %n) {\n  ret ptr %p\n}\n\
                   define void @mine() {\n  ret void\n}";
    assert!(sliced(program, "memset").1.contains("\"no-builtins\""));
    assert!(!sliced(program, "mine").1.contains("\"no-builtins\""));
}

#[test]
fn links_get_the_names_back_that_llvm_knows() {
    let context = Context::create();
    let module = parse(&context, &program());
    let slice = function(&module, "work").slice().unwrap();
    let owned = Owned::read(&slice.bytes).unwrap();
    let module = owned.module();
    let facts = || module.function(FUNCTION).unwrap().facts();
    assert!(!facts().resumes_by_unwinder());
    let number = |name: &str| links(&slice).iter().position(|link| link == name).unwrap();
    let pair =
        |name: &str| (format!("{LINK_PREFIX}{}", number(&format!("@{name}"))), name.to_string());
    assert_eq!(module.restore_names(), [pair("__gxx_personality_v0"), pair("strlen")]);
    assert!(facts().resumes_by_unwinder());
    assert!(module.function("strlen").is_some());
    assert_eq!(module.verify(), None);
    assert_eq!(module.restore_names(), []);
}

#[test]
fn two_slices_are_linked_to_one_module() {
    let program = "define i32 @f(ptr %p) {\n  %r = call i32 %p(i32 2)\n  ret i32 %r\n}\n\
                   declare i32 @outside(i32)\n\
                   define i32 @g(i32 %x) {\n  %r = call i32 @outside(i32 %x)\n  ret i32 %r\n}";
    let context = Context::create();
    let module = parse(&context, program);
    let (f, g) = (function(&module, "f"), function(&module, "g"));
    assert!(!f.is_address_taken());
    let owned = Owned::read(&f.slice().unwrap().bytes).unwrap();
    let other = owned.read_more(&g.slice().unwrap().bytes).unwrap();

    let body = other.module().function(FUNCTION).unwrap();
    body.rename("body");
    let outside = body.blocks().flat_map(|block| block.instructions()).next().unwrap();
    let outside = outside.callee().expect("a call");
    assert_eq!(outside.described(), format!("@{LINK_PREFIX}0"));
    outside.rename_global("other.link.0");
    owned.module().link(other).expect("they can be linked");

    // What a generator does then: the indirect call is one of the body.
    let module = owned.module();
    let (base, body) = (module.function(FUNCTION).unwrap(), module.function("body").unwrap());
    body.set_linkage_internal();
    assert!(body.add_always_inline());
    let call = base.blocks().flat_map(|block| block.instructions()).next().unwrap();
    assert_eq!(call.opcode(), Opcode::Call);
    assert!(call.callee().is_some_and(|callee| callee.as_inst().is_none()));
    let builder = Builder::new(module, base);
    builder.before(call);
    let (int, pointer) = (module.int_type(64), base.arguments().next().unwrap());
    let number = builder.pointer_to_int(pointer, int);
    builder.bit_cast(number, module.double_type());
    let two = module.int_type(32).constant(2);
    call.replace_uses(builder.call_function(body, &[two], Tail::No));
    call.erase();
    assert_eq!(module.verify(), None);
    let text = text(module);
    assert!(text.contains("call i32 @body(i32 2)") && text.contains("@other.link.0"), "{text}");
    assert!(text.contains("define internal i32 @body") && text.contains("alwaysinline"), "{text}");
    assert!(text.contains("ptrtoint ptr %p to i64") && text.contains("bitcast i64 "), "{text}");
}

#[test]
fn modules_that_do_not_go_together_are_not_linked() {
    let context = Context::create();
    let module = parse(&context, "define void @f() {\n  ret void\n}");
    let bytes = function(&module, "f").slice().unwrap().bytes;
    let (one, two) = (Owned::read(&bytes).unwrap(), Owned::read(&bytes).unwrap());
    let error = one.module().link(two.read_more(&bytes).unwrap()).unwrap_err();
    assert!(error.contains("two contexts"), "{error}");
    let error = one.module().link(one.read_more(&bytes).unwrap()).unwrap_err();
    assert!(error.contains("midflight.base"), "{error}");
}

#[test]
fn attributes_against_inlining_win() {
    let context = Context::create();
    let module = parse(
        &context,
        "define void @f() noinline {\n  ret void\n}\n\
         define void @g() noinline optnone {\n  ret void\n}\n\
         define ptr @h() {\n  ret ptr @f\n}",
    );
    assert!(!function(&module, "f").add_always_inline());
    assert!(!function(&module, "g").add_always_inline());
    assert!(function(&module, "h").add_always_inline());
    function(&module, "g").set_linkage_available_externally();
    module.verify().expect("a valid module");
    assert!(function(&module, "f").is_address_taken());
    assert!(!function(&module, "g").is_address_taken());
}

/// The error of bytes that are no slice.
fn refused(bytes: &[u8]) -> String {
    let error =
        Owned::read(bytes).err().unwrap_or_else(|| panic!("{} bytes are read", bytes.len()));
    assert!(!error.is_empty());
    error
}

#[test]
fn forged_bytes_are_refused() {
    let context = Context::create();
    let module = parse(&context, &program());
    let bytes = function(&module, "work").slice().unwrap().bytes;
    assert!(Owned::read(&bytes).is_ok());
    assert!([open::OPEN_ZSTD, open::OPEN_ZLIB, open::OPEN_PLAIN].contains(&bytes[0]));
    let length = u64::from_le_bytes(bytes[1..open::OPEN_HEAD].try_into().unwrap());

    for end in 0..bytes.len() {
        let error = refused(&bytes[..end]);
        assert_eq!(error.contains("ends in its head"), end < open::OPEN_HEAD, "{end}: {error}");
    }
    let with = |compression: u8, length: u64, body: &[u8]| {
        [&[compression][..], &length.to_le_bytes(), body].concat()
    };
    let body = &bytes[open::OPEN_HEAD..];
    for compression in 3..=255 {
        let error = refused(&with(compression, length, body));
        assert!(error.contains("unknown number"), "{error}");
    }
    for length in [256 << 20 | 1, 1 << 40, u64::MAX] {
        for compression in [open::OPEN_PLAIN, open::OPEN_ZLIB, open::OPEN_ZSTD] {
            let error = refused(&with(compression, length, body));
            assert!(error.contains("are not read"), "{error}");
        }
    }
    for wrong in [0, 1, length - 1, length + 1, 256 << 20] {
        refused(&with(bytes[0], wrong, body));
    }
    let wrong = (0..3).filter(|&compression| compression != bytes[0]);
    wrong.for_each(|compression| drop(refused(&with(compression, length, body))));
    // No bitcode, not compressed.
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    for length in 0..300 {
        let noise: Vec<u8> = (0..length)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (noise >> 56) as u8
            })
            .collect();
        refused(&with(open::OPEN_PLAIN, length, &noise));
        refused(&with(open::OPEN_ZSTD, length, &noise));
        refused(&noise);
    }
}

/// Programs whose slices run: what they refer to has an external name, so that MCJIT finds it.
const RUNNABLE: &str = r#"
@counter = global i32 0
@names = constant [3 x i8] c"abc"
@table = constant [3 x ptr] [ptr @twice, ptr @square, ptr @work]
define i32 @twice(i32 %x) {
  %r = shl i32 %x, 1
  ret i32 %r
}
define i32 @square(i32 %x) noinline {
  %r = mul i32 %x, %x
  ret i32 %r
}
define i32 @work(i32 %n) {
entry:
  %stop = icmp slt i32 %n, 2
  br i1 %stop, label %done, label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %which = urem i32 %i, 3
  %slot = getelementptr [3 x ptr], ptr @table, i32 0, i32 %which
  %callee = load ptr, ptr %slot
  %less = lshr i32 %n, 1
  %x = call i32 %callee(i32 %less)
  %y = call i32 @twice(i32 %x)
  %letter = getelementptr [3 x i8], ptr @names, i32 0, i32 %which
  %c = load i8, ptr %letter
  %wide = zext i8 %c to i32
  %t = add i32 %s, %y
  %sum = add i32 %t, %wide
  %old = load i32, ptr @counter
  %new = add i32 %old, 1
  store i32 %new, ptr @counter
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi i32 [ 7, %entry ], [ %sum, %loop ]
  ret i32 %result
}
"#;

type Work = extern "C" fn(i32) -> i32;

fn compiled<'c>(module: &Module<'c>, level: OptimizationLevel) -> ExecutionEngine<'c> {
    module.create_jit_execution_engine(level).expect("MCJIT")
}

#[test]
fn a_slice_does_what_the_function_does() {
    Target::initialize_native(&InitializationConfig::default()).unwrap();
    let context = Context::create();
    let module = parse(&context, RUNNABLE);
    let slice = function(&module, "work").slice().unwrap();
    let names = links(&slice);
    let engine = compiled(&module, OptimizationLevel::Default);

    let (raw_context, raw) = Owned::read(&slice.bytes).unwrap().into_llvm();
    // SAFETY: both are ours now; the context outlives the module, and is left to the process.
    let carried = unsafe {
        let context = ManuallyDrop::new(ContextRef::new(raw_context));
        assert_eq!(context.as_ctx_ref(), raw_context);
        Module::new(raw)
    };
    let other = compiled(&carried, OptimizationLevel::Default);
    let address = |name: &str| {
        let (engine, name) = (engine.as_mut_ptr(), CString::new(name).unwrap());
        // SAFETY: the engine is live, and has what has this name.
        unsafe { LLVMGetGlobalValueAddress(engine, name.as_ptr()) as usize }
    };
    for (number, name) in names.iter().enumerate() {
        let link = format!("{LINK_PREFIX}{number}");
        let address = address(name.trim_start_matches('@'));
        if let Some(link) = carried.get_function(&link) {
            other.add_global_mapping(&link, address);
        } else {
            other.add_global_mapping(&carried.get_global(&link).unwrap(), address);
        }
    }
    // SAFETY: both are of that type.
    let (original, copy) = unsafe {
        let of = |address: usize| std::mem::transmute::<usize, Work>(address);
        (of(address("work")), of(other.get_function_address(FUNCTION).unwrap()))
    };
    // SAFETY: it is an integer of the program, which runs in this thread only.
    let count = || unsafe { *(address("counter") as *const i32) };
    for n in 0..12 {
        let before = count();
        let result = original(n);
        let between = count();
        assert_eq!(copy(n), result, "{n}");
        assert_eq!(count() - between, between - before, "{n}");
    }
    assert!(count() > 0);
}
