//! Code in memory, by LLVM's ORC, and calls of it.
//!
//! Code that was made stays until the process ends: a thread that the program has started may be in
//! it, and versions of open points refer to it.

use crate::ir::{Context, Ir};
use crate::sys::core::*;
use crate::sys::prelude::*;
use crate::sys::{LLVMAttributeReturnIndex, LLVMTypeKind};
use crate::values::Kind;
use midflight_abi::open::{OPEN_BODY_SECTION, OPEN_SECTION, OPEN_SYMBOL, OpenBody, OpenSite};
use midflight_bridge::ir::{Function, Type};
use midflight_orc::{Library, Machine, Session};
use midflight_passes::osr::api::{Builder, Module, emit_registration};
use midflight_rt::{
    OsrPoints, midflight_osr_open, midflight_osr_register_code, midflight_osr_register_open,
    midflight_osr_unregister_code, midflight_osr_unregister_open,
};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::mem::transmute;
use std::ptr::null_mut;

/// The function of a module that tells of its points.
const POINTS: &str = "midflight.vm.points";

/// The function of a module that tells of its open points.
const OPEN_POINTS: &str = "midflight.vm.open";

/// The function that calls another one.
const CALLER: &str = "midflight.vm.call";

/// Bytes of a place for an argument or a result.
const PLACE: usize = 16;

/// Makes code.
pub struct Jit {
    session: Session,
    machine: Machine,
    context: Context,
}

/// The code of a module, whose points the runtime knows as long as this is there.
pub struct Code {
    library: Library,
    points: OsrPoints,
    open: OpenPoints,
}

/// What a module has to tell of its open points: bounds of pieces of two sections.
type OpenPoints = unsafe extern "C" fn(
    visit: unsafe extern "C" fn(*mut OpenSite, *mut OpenSite, *const OpenBody, *const OpenBody),
);

/// A function that can be called.
pub struct Call {
    enter: unsafe extern "C" fn(arguments: *const u128, result: *mut u128),
}

impl Drop for Code {
    fn drop(&mut self) {
        unsafe extern "C" fn forget(
            sites: *mut OpenSite,
            _: *mut OpenSite,
            bodies: *const OpenBody,
            _: *const OpenBody,
        ) {
            midflight_osr_unregister_open(sites, bodies);
        }
        // SAFETY: both were given to the runtime, and the code stays.
        unsafe {
            (self.open)(forget);
            midflight_osr_unregister_code(self.points);
        }
    }
}

impl Jit {
    /// A code generator.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn new(machine: Machine, context: Context) -> Result<Jit, String> {
        Ok(Jit { session: Session::new()?, machine, context })
    }

    /// Compiles a module, and tells the runtime of its points.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn compile(&self, ir: &Ir) -> Result<Code, String> {
        emit_registration(ir.module(), POINTS).map_err(|error| error.to_string())?;
        emit_open_registration(ir.module());
        let open: unsafe extern "C" fn(*mut OpenSite, u64) -> *const _ = midflight_osr_open;
        let known = BTreeMap::from([(OPEN_SYMBOL.to_string(), open as usize as u64)]);
        let library = self.add(ir, known)?;
        // SAFETY: the functions were just emitted, and have these types; their code stays.
        unsafe {
            let points =
                transmute::<usize, OsrPoints>(self.session.address(library, POINTS)? as usize);
            let open = transmute::<usize, OpenPoints>(
                self.session.address(library, OPEN_POINTS)? as usize
            );
            midflight_osr_register_code(points);
            open(midflight_osr_register_open);
            Ok(Code { library, points, open })
        }
    }

    /// The address of a function or variable of a module.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn address(&self, code: &Code, name: &str) -> Result<u64, String> {
        self.session.address(code.library, name)
    }

    /// What calls a function of the module that the code was made of.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn call(&self, code: &Code, function: Function<'_>) -> Result<Call, String> {
        let address = self.address(code, &function.name())?;
        let ir = self.context.empty(c"midflight.vm");
        self.machine.describe(ir.module());
        emit_caller(self.context, &ir, function, address);
        let library = self.add(&ir, BTreeMap::new())?;
        // SAFETY: the function was just emitted, and has this type; its code stays.
        unsafe {
            let enter = self.session.address(library, CALLER)? as usize;
            type Enter = unsafe extern "C" fn(*const u128, *mut u128);
            Ok(Call { enter: transmute::<usize, Enter>(enter) })
        }
    }

    /// Puts a module into memory, as a library of its own.
    fn add(&self, ir: &Ir, known: BTreeMap<String, u64>) -> Result<Library, String> {
        self.session.add("midflight vm", known, self.machine.object(ir.module())?)
    }
}

/// As `emit_registration`, for what [`midflight_osr_register_open`] is told. The image of each
/// piece is one of its own.
fn emit_open_registration(module: Module<'_>) {
    let pointer = module.pointer_type();
    let function = module.define(OPEN_POINTS, module.void_type().function(&[pointer]));
    let builder = Builder::new(module, function);
    builder.at_end(function.add_block("entry"));
    let null = pointer.null();
    if let Some(visit) = function.arguments().next() {
        let visitor = module.void_type().function(&[pointer; 4]);
        for (site, bytes) in module.globals_in_section(OPEN_SECTION) {
            let end = builder.offset(site, bytes);
            builder.call_pointer(visit, visitor, &[site, end, null, null]);
        }
        for (body, bytes) in module.globals_in_section(OPEN_BODY_SECTION) {
            let end = builder.offset(body, bytes);
            builder.call_pointer(visit, visitor, &[null, null, body, end]);
        }
    }
    builder.ret_void();
}

impl Call {
    /// Calls the function, with a place of 16 bytes for each argument.
    ///
    /// # Safety
    /// As the function says, which is the user's.
    pub unsafe fn enter(&self, arguments: &[u128]) -> u64 {
        let mut result = 0;
        // SAFETY: the caller's; there is a place for each argument, and one for the result.
        unsafe { (self.enter)(arguments.as_ptr(), &raw mut result) };
        result as u64
    }
}

/// The types of the arguments and of the result, as far as they can be given.
///
/// # Errors
/// Why such a function cannot be called.
pub fn kinds(function: Function<'_>) -> Result<(Vec<Kind>, Kind), String> {
    // SAFETY: the function is live and has a function type.
    let is_variadic =
        unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function.as_llvm())) != 0 };
    if is_variadic {
        return Err("its arguments are variable".to_string());
    }
    let arguments: Vec<Kind> = function.arguments().map(|argument| kind(argument.ty())).collect();
    if let Some(other) = arguments.iter().position(|&kind| kind == Kind::Other) {
        return Err(format!("argument {} is of a type that cannot be given", other + 1));
    }
    match kind(function.result_type()) {
        Kind::Other => Err("its result is of a type that cannot be shown".to_string()),
        result => Ok((arguments, result)),
    }
}

fn kind(ty: Type<'_>) -> Kind {
    // SAFETY: the type is live; the width is asked for of an integer.
    unsafe {
        match LLVMGetTypeKind(ty.as_llvm()) {
            LLVMTypeKind::LLVMVoidTypeKind => Kind::Void,
            LLVMTypeKind::LLVMIntegerTypeKind if ty.bits() <= 64 => Kind::Int(ty.bits()),
            LLVMTypeKind::LLVMFloatTypeKind => Kind::Float,
            LLVMTypeKind::LLVMDoubleTypeKind => Kind::Double,
            LLVMTypeKind::LLVMPointerTypeKind => Kind::Pointer,
            _ => Kind::Other,
        }
    }
}

/// `void CALLER(arguments, result)`, which calls a function of another module at its address: with
/// its convention and its attributes, which say how arguments are passed.
fn emit_caller(context: Context, ir: &Ir, function: Function<'_>, address: u64) {
    let context = context.as_llvm();
    let function = function.as_llvm();
    // SAFETY: all is live and of one context; there is a place for each argument; texts are C
    // strings; attributes are read into an array of their number.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        let result = LLVMGetReturnType(ty);
        let pointer = LLVMPointerTypeInContext(context, 0);
        let int64 = LLVMInt64TypeInContext(context);
        let mut own = [pointer, pointer];
        let own = LLVMFunctionType(LLVMVoidTypeInContext(context), own.as_mut_ptr(), 2, 0);
        let name = CString::new(CALLER).unwrap_or_default();
        let caller = LLVMAddFunction(ir.as_llvm(), name.as_ptr(), own);
        let builder = LLVMCreateBuilderInContext(context);
        let entry = LLVMAppendBasicBlockInContext(context, caller, c"entry".as_ptr());
        LLVMPositionBuilderAtEnd(builder, entry);
        let count = LLVMCountParams(function);
        let mut arguments: Vec<LLVMValueRef> = Vec::new();
        for index in 0..count {
            let mut offset = [LLVMConstInt(int64, u64::from(index) * PLACE as u64, 0)];
            let places = LLVMGetParam(caller, 0);
            let int8 = LLVMInt8TypeInContext(context);
            let place = LLVMBuildGEP2(builder, int8, places, offset.as_mut_ptr(), 1, c"".as_ptr());
            let ty = LLVMTypeOf(LLVMGetParam(function, index));
            arguments.push(LLVMBuildLoad2(builder, ty, place, c"".as_ptr()));
        }
        let callee = LLVMConstIntToPtr(LLVMConstInt(int64, address, 0), pointer);
        let list = arguments.as_mut_ptr();
        let call = LLVMBuildCall2(builder, ty, callee, list, count, c"".as_ptr());
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
        for at in (1..=count).chain([LLVMAttributeReturnIndex]) {
            let mut attributes =
                vec![null_mut(); LLVMGetAttributeCountAtIndex(function, at) as usize];
            LLVMGetAttributesAtIndex(function, at, attributes.as_mut_ptr());
            attributes.into_iter().for_each(|of| LLVMAddCallSiteAttribute(call, at, of));
        }
        if !matches!(LLVMGetTypeKind(result), LLVMTypeKind::LLVMVoidTypeKind) {
            LLVMBuildStore(builder, call, LLVMGetParam(caller, 1));
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}
