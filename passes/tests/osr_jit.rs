//! Points in code that a JIT makes: the runtime, which is linked into this program, arms them and
//! knows how often they fired.

mod modules;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::llvm_sys::error::LLVMGetErrorMessage;
use inkwell::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
    LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITRef,
};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine,
};
use midflight_passes::osr::api::{
    Condition, OsrPoint, RegistrationError, StateMap, emit_registration, insert_resolved_osr,
};
use midflight_rt::{
    OsrPoints, midflight_osr_arm, midflight_osr_count, midflight_osr_disarm, midflight_osr_flag,
    midflight_osr_register_code, midflight_osr_unregister_code,
};
use modules::{function, parse};
use std::ffi::{CString, c_char};
use std::mem::transmute;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two functions, each with a loop.
const PROGRAM: &str = r#"
define i64 @sum(i64 %n) {
entry:
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

define i64 @product(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %next, %loop ]
  %p = phi i64 [ 1, %entry ], [ %q, %loop ]
  %q = mul i64 %p, %i
  %next = add i64 %i, 1
  %more = icmp sle i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %q
}
"#;

/// What runs the code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Jit {
    Mcjit,
    Orc,
}

/// A point before the second instruction behind the phis of the loop of each function.
fn insert_points(module: &Module<'_>, condition: Condition, prefix: &str) {
    for name in ["sum", "product"] {
        let base = function(module, name);
        let copy = base.clone_as(&format!("{name}.copy"));
        let map = StateMap::identity(base, copy).unwrap();
        let header = base.blocks().nth(1).unwrap();
        let before = header.insertion_point().next().unwrap();
        let point = OsrPoint { before, name: format!("{prefix}.{name}") };
        insert_resolved_osr(&point, condition, &map).unwrap();
        copy.erase();
    }
}

/// Gives `run` the addresses of the module's functions.
fn compiled(jit: Jit, module: &Module<'_>, run: impl FnOnce(&dyn Fn(&str) -> usize)) {
    module.verify().expect("a valid module");
    Target::initialize_native(&InitializationConfig::default()).unwrap();
    match jit {
        Jit::Mcjit => {
            let engine = module.create_jit_execution_engine(OptimizationLevel::None).unwrap();
            run(&|name| engine.get_function_address(name).unwrap());
            engine.remove_module(module).unwrap();
        }
        Jit::Orc => {
            let triple = TargetMachine::get_default_triple();
            let target = Target::from_triple(&triple).unwrap();
            let (reloc, model) = (RelocMode::PIC, CodeModel::Default);
            let level = OptimizationLevel::Default;
            let machine =
                target.create_target_machine(&triple, "generic", "", level, reloc, model).unwrap();
            let object = machine.write_to_memory_buffer(module, FileType::Object).unwrap();
            let orc = Orc::new(object);
            run(&|name| orc.address(name));
        }
    }
}

struct Orc(LLVMOrcLLJITRef);

impl Orc {
    fn new(object: MemoryBuffer<'_>) -> Self {
        let mut jit = std::ptr::null_mut();
        // SAFETY: a builder of null is the default; the JIT takes the buffer over.
        unsafe {
            assert!(LLVMOrcCreateLLJIT(&mut jit, std::ptr::null_mut()).is_null());
            let library = LLVMOrcLLJITGetMainJITDylib(jit);
            let object = std::mem::ManuallyDrop::new(object).as_mut_ptr();
            assert!(LLVMOrcLLJITAddObjectFile(jit, library, object).is_null());
        }
        Orc(jit)
    }

    fn address(&self, name: &str) -> usize {
        let (mut address, name) = (0, CString::new(name).unwrap());
        // SAFETY: the JIT is live; a message is a C string.
        unsafe {
            let error = LLVMOrcLLJITLookup(self.0, &mut address, name.as_ptr());
            if !error.is_null() {
                let message = LLVMGetErrorMessage(error);
                panic!("{}", std::ffi::CStr::from_ptr(message).to_string_lossy());
            }
        }
        address as usize
    }
}

impl Drop for Orc {
    fn drop(&mut self) {
        // SAFETY: made by `new`, disposed of once.
        unsafe { LLVMOrcDisposeLLJIT(self.0) };
    }
}

/// Does something with the name of a point.
fn by_name<R>(what: unsafe extern "C" fn(*const c_char) -> R, name: &str) -> R {
    let name = CString::new(name).unwrap();
    // SAFETY: a C string.
    unsafe { what(name.as_ptr()) }
}

/// Arms and counts the points of a module which is compiled by `jit`.
fn arm_and_count(jit: Jit, condition: Condition) {
    let prefix = format!("{jit:?}.{condition:?}");
    let name = |point: &str| format!("{prefix}.{point}");
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    insert_points(&module, condition, &prefix);
    emit_registration(function(&module, "sum").module(), "tell points").unwrap();
    compiled(jit, &module, |address| {
        type Loop = extern "C" fn(i64) -> i64;
        // SAFETY: the functions have these types.
        let (sum, product, points) = unsafe {
            (
                transmute::<usize, Loop>(address("sum")),
                transmute::<usize, Loop>(address("product")),
                transmute::<usize, OsrPoints>(address("tell points")),
            )
        };
        let right = || assert_eq!((sum(10), product(10)), (45, 3_628_800), "{prefix}");
        assert_eq!(by_name(midflight_osr_arm, &name("*")), 0, "nothing is known yet");
        // SAFETY: the code is freed after this closure.
        unsafe { midflight_osr_register_code(points) };
        right();
        let before = by_name(midflight_osr_count, &name("*"));
        if let Condition::Every(n) = condition {
            assert!(n < 10);
            assert_eq!(before, 2, "each of the two moves once, to where there are no points");
            // SAFETY: as above.
            unsafe { midflight_osr_unregister_code(points) };
            return;
        }
        assert_eq!(before, 0);
        assert_eq!(by_name(midflight_osr_arm, &name("sum")), 1);
        right();
        right();
        assert_eq!(by_name(midflight_osr_count, &name("sum")), 2);
        assert_eq!(by_name(midflight_osr_count, &name("product")), 0);
        assert_eq!(by_name(midflight_osr_arm, &name("*")), 2);
        right();
        assert_eq!(by_name(midflight_osr_count, &name("*")), 4);
        assert_eq!(by_name(midflight_osr_disarm, &name("*")), 2);
        let flag = by_name(midflight_osr_flag, &name("product"));
        assert_eq!(flag.is_null(), condition == Condition::Patch);
        if !flag.is_null() {
            // SAFETY: it is a flag of a point whose code is there.
            unsafe { AtomicU32::from_ptr(flag) }.store(1, Ordering::Relaxed);
            right();
            assert_eq!(by_name(midflight_osr_count, &name("product")), 2);
        }
        let last = by_name(midflight_osr_count, &name("*"));
        // SAFETY: as above.
        unsafe { midflight_osr_unregister_code(points) };
        assert_eq!(by_name(midflight_osr_arm, &name("*")), 0, "the code goes");
        assert!(by_name(midflight_osr_flag, &name("*")).is_null());
        assert_eq!(by_name(midflight_osr_count, &name("*")), last, "its counts stay");
    });
}

#[test]
fn flag_points_are_armed_and_counted() {
    arm_and_count(Jit::Mcjit, Condition::Flag);
    arm_and_count(Jit::Orc, Condition::Flag);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn patch_points_are_armed_and_counted() {
    arm_and_count(Jit::Mcjit, Condition::Patch);
    arm_and_count(Jit::Orc, Condition::Patch);
}

#[test]
fn transitions_of_other_points_are_counted() {
    arm_and_count(Jit::Mcjit, Condition::Every(5));
    arm_and_count(Jit::Orc, Condition::Every(5));
}

#[test]
fn a_module_tells_of_its_points_once() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let of_bridge = function(&module, "sum").module();
    let before = module.print_to_string();
    let taken = emit_registration(of_bridge, "sum").err();
    assert_eq!(taken, Some(RegistrationError::NameTaken("sum".to_string())));
    assert_eq!(module.print_to_string(), before);
    emit_registration(of_bridge, "points").unwrap();
    let twice = emit_registration(of_bridge, "more").err();
    let known = RegistrationError::Twice { name: "more".to_string(), known: "points".to_string() };
    assert_eq!(twice, Some(known));
    module.verify().unwrap();
}

#[test]
fn a_flag_has_an_address_that_code_can_use() {
    let context = Context::create();
    let module = parse(&context, PROGRAM);
    let base = function(&module, "sum");
    let copy = base.clone_as("sum.copy");
    let map = StateMap::identity(base, copy).unwrap();
    let before = base.blocks().nth(1).unwrap().insertion_point();
    let insert = |condition| {
        let point = OsrPoint { before, name: "here".to_string() };
        insert_resolved_osr(&point, condition, &map).unwrap()
    };
    let flag = insert(Condition::Flag).flag().expect("a flag");
    let text = module.print_to_string().to_string();
    let tested = format!("load atomic i32, {}", flag.described());
    assert!(text.contains(&tested), "{tested}:\n{text}");
    assert!(insert(Condition::Always).flag().is_none());
}
