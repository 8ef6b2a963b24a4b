//! What on-stack replacement needs: facts about instructions, clones, continuations.

use crate::ir::{Block, Callee, Function, Inst, Module, Type, Value};
use crate::sys::core::*;
use crate::sys::prelude::LLVMValueRef;
use crate::sys::{self, LLVMTypeKind};
use midflight_ir::facts::{FunctionFacts, InstFacts};
use std::ffi::{CString, c_char, c_void};

/// llvm-c's reference to a value
pub type ValueRef = LLVMValueRef;
/// llvm-c's reference to a block
pub type BlockRef = sys::prelude::LLVMBasicBlockRef;
/// llvm-c's reference to a module
pub type ModuleRef = sys::prelude::LLVMModuleRef;
/// llvm-c's reference to a builder
pub type BuilderRef = sys::prelude::LLVMBuilderRef;

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}

/// # Safety
/// `to` is a `Vec<String>`, and `text` points to `length` bytes.
unsafe extern "C" fn push_text(to: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: the caller's contract.
    let (to, bytes) = unsafe {
        (&mut *to.cast::<Vec<String>>(), std::slice::from_raw_parts(text.cast::<u8>(), length))
    };
    to.push(String::from_utf8_lossy(bytes).into_owned());
}

impl<'m> Inst<'m> {
    /// An instruction of a module of one's own.
    ///
    /// # Safety
    /// As [`Function::from_llvm`]; `raw` is an instruction of such a function.
    pub unsafe fn from_llvm(raw: LLVMValueRef) -> Self {
        Inst::from_live(raw)
    }

    /// What is known of it for on-stack replacement.
    pub fn osr_facts(self) -> InstFacts {
        // SAFETY: the instruction is live.
        InstFacts::from_bits(unsafe { sys::mfb_instruction_facts(self.0) })
    }

    /// Its result as a value; of type `void` if it has none.
    pub fn value(self) -> Value<'m> {
        Value::from_raw(self.0)
    }

    /// Its operands. For a phi the incoming values, in the order of [`Inst::incoming_blocks`].
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the instruction is live, the indices are below the number of its operands.
        let count = unsafe { LLVMGetNumOperands(self.0) }.max(0) as u32;
        // SAFETY: as above.
        (0..count).map(move |i| Value::from_raw(unsafe { LLVMGetOperand(self.0, i) }))
    }

    /// The blocks that a phi's values come from.
    pub fn incoming_blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: the instruction is a live phi; the indices are below the number of its values.
        let count = unsafe { LLVMCountIncoming(self.0) };
        // SAFETY: as above.
        (0..count).map(move |i| Block::from_raw(unsafe { LLVMGetIncomingBlock(self.0, i) }))
    }

    /// True if the other one is the same operation on results of the same type.
    pub fn is_like(self, other: Inst<'m>) -> bool {
        // SAFETY: both instructions are live.
        unsafe {
            LLVMGetInstructionOpcode(self.0) == LLVMGetInstructionOpcode(other.0)
                && LLVMTypeOf(self.0) == LLVMTypeOf(other.0)
        }
    }

    /// The name of its opcode, as in the IR.
    pub fn opcode_name(self) -> String {
        // SAFETY: the instruction is live; the result is a C string that is never freed.
        unsafe { std::ffi::CStr::from_ptr(sys::mfb_opcode_name(self.0)) }
            .to_string_lossy()
            .into_owned()
    }

    /// The name of the function that it calls directly.
    pub fn called_function(self) -> Option<Function<'m>> {
        // SAFETY: the instruction is live; the called value is asked for of calls only.
        unsafe {
            if LLVMIsACallInst(self.0).is_null() && LLVMIsAInvokeInst(self.0).is_null() {
                return None;
            }
            let callee = LLVMGetCalledValue(self.0);
            let function = LLVMIsAFunction(callee);
            (!function.is_null()).then(|| Function::from_live(function))
        }
    }

    /// Gives a phi a value from one more block.
    pub fn add_incoming(self, value: Value<'m>, from: Block<'m>) {
        let (mut values, mut blocks) = ([value.0], [from.0]);
        // SAFETY: the instruction is a live phi; one value of its type and one block.
        unsafe { LLVMAddIncoming(self.0, values.as_mut_ptr(), blocks.as_mut_ptr(), 1) }
    }

    /// Splits its block before it; returns the block that begins with it.
    pub fn split_before(self, name: &str) -> Block<'m> {
        let name = c_string(name);
        // SAFETY: the instruction is live and not a phi or a pad.
        Block::from_raw(unsafe { sys::mfb_split_before(self.0, name.as_ptr()) })
    }

    /// Marks it as a part of a point's check.
    pub fn mark_check(self) {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_mark_check(self.0) }
    }

    /// Removes the check of the point before it: what was marked by [`Inst::mark_check`], and all
    /// that only the check needs.
    pub fn remove_check(self) {
        // SAFETY: the instruction is live and begins a block that a check leads to.
        unsafe { sys::mfb_remove_check(self.0) }
    }

    /// Removes it. It has no uses.
    pub fn erase(self) {
        // SAFETY: the instruction is live; it is not used again.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }
}

impl<'m> Block<'m> {
    /// The function that it is in.
    pub fn function(self) -> Function<'m> {
        // SAFETY: the block is live and in a function.
        Function::from_live(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    /// The reference for llvm-c and crates over it.
    pub fn as_llvm(self) -> BlockRef {
        self.0
    }

    /// True once it is complete.
    pub fn has_terminator(self) -> bool {
        // SAFETY: the block is live.
        unsafe { !LLVMGetBasicBlockTerminator(self.0).is_null() }
    }
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Home<'m> {
    /// It is null, or an instruction that was not inserted.
    Nowhere,
    /// It is a constant, or another value that does not belong to a function.
    Module,
    /// It is an argument or an instruction of this function.
    Function(Function<'m>),
}

impl<'m> Value<'m> {
    /// A value of a module of one's own.
    ///
    /// # Safety
    /// As [`Function::from_llvm`]; `raw` is a value of such a module, or null.
    pub unsafe fn from_llvm(raw: LLVMValueRef) -> Self {
        Value::from_raw(raw)
    }

    /// The reference for llvm-c and crates over it.
    pub fn as_llvm(self) -> LLVMValueRef {
        self.0
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: the value is live.
        Type::from_raw(unsafe { LLVMTypeOf(self.0) })
    }

    /// Where it is.
    pub fn home(self) -> Home<'m> {
        if self.0.is_null() {
            return Home::Nowhere;
        }
        // SAFETY: the value is live; each step asks what the former gave before it uses it.
        unsafe {
            if !LLVMIsAArgument(self.0).is_null() {
                return Home::Function(Function::from_live(LLVMGetParamParent(self.0)));
            }
            if LLVMIsAInstruction(self.0).is_null() {
                return Home::Module;
            }
            let block = LLVMGetInstructionParent(self.0);
            if block.is_null() || LLVMGetBasicBlockParent(block).is_null() {
                return Home::Nowhere;
            }
            Home::Function(Block::from_raw(block).function())
        }
    }

    /// What it is in a message, with the function that it is in: two functions may both have a
    /// `%5`.
    pub fn described(self) -> String {
        let function = match self.home() {
            Home::Nowhere if self.0.is_null() => return "null".to_string(),
            Home::Nowhere => return "an instruction that is in no function".to_string(),
            Home::Module => return self.constant_text(),
            Home::Function(function) => function,
        };
        let results = function.blocks().flat_map(|block| block.instructions());
        let results = results.filter(|inst| inst.osr_facts().has_result()).map(Inst::value);
        let mut named = function.arguments().chain(results).zip(function.value_names());
        let name = named.find(|&(value, _)| value == self).map(|(_, name)| name);
        let name = name.unwrap_or_else(|| "an instruction without a result".to_string());
        format!("{name} of '{}'", function.name())
    }

    /// A constant as an operand.
    fn constant_text(self) -> String {
        // SAFETY: the value is live; the name is its own, the text is ours to free.
        unsafe {
            if !LLVMIsAGlobalValue(self.0).is_null() {
                let mut length = 0;
                let name = LLVMGetValueName2(self.0, &mut length).cast::<u8>();
                let name = std::slice::from_raw_parts(name, length);
                return format!("@{}", String::from_utf8_lossy(name));
            }
            let text = LLVMPrintValueToString(self.0);
            let copy = std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// Removes a variable from its module. Nothing may refer to it any more.
    pub fn erase_global(self) {
        // SAFETY: the variable is live; the caller does not use it again.
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    /// Itself as an instruction, if it is one that is in a function.
    pub fn as_inst(self) -> Option<Inst<'m>> {
        // SAFETY: the value is live where it has a home.
        let is_inst = matches!(self.home(), Home::Function(_))
            && unsafe { !LLVMIsAInstruction(self.0).is_null() };
        is_inst.then(|| Inst::from_live(self.0))
    }

    /// Itself as a function with a body, if it is one.
    pub fn as_defined_function(self) -> Option<Function<'m>> {
        // SAFETY: the value is live where it has a home.
        let is_function =
            self.home() == Home::Module && unsafe { !LLVMIsAFunction(self.0).is_null() };
        is_function.then(|| Function::from_live(self.0)).filter(|f| f.is_definition())
    }

    /// The characters of a constant C string that it points to, as the literal of a source.
    pub fn c_text(self) -> Option<String> {
        // SAFETY: the value is live; each step asks what the former gave before it uses it.
        unsafe {
            let global = LLVMIsAGlobalVariable(self.0);
            if global.is_null() || LLVMIsGlobalConstant(global) == 0 {
                return None;
            }
            let data = LLVMGetInitializer(global);
            if data.is_null() {
                return None;
            }
            let data = LLVMIsAConstantDataSequential(data);
            if data.is_null() || LLVMIsConstantString(data) == 0 {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetAsString(data, &mut length);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
            let bytes = bytes.split(|&b| b == 0).next().unwrap_or_default();
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// What a type is, as far as hosts know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `void`
    Void,
    /// An integer
    Integer,
    /// An IEEE binary floating-point number
    Float,
    /// A pointer
    Pointer,
    /// Any other
    Other,
}

impl<'m> Type<'m> {
    /// What it is.
    pub fn kind(self) -> TypeKind {
        // SAFETY: the type is live.
        match unsafe { LLVMGetTypeKind(self.0) } {
            LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
            LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Integer,
            LLVMTypeKind::LLVMHalfTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
            | LLVMTypeKind::LLVMFP128TypeKind => TypeKind::Float,
            LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Pointer,
            _ => TypeKind::Other,
        }
    }

    /// The type of arrays of so many of it.
    pub fn array(self, count: u64) -> Type<'m> {
        // SAFETY: the type is live and sized.
        Type::from_raw(unsafe { LLVMArrayType2(self.0, count) })
    }

    /// The type of functions from `parameters` to this type.
    pub fn function(self, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|t| t.0).collect();
        // SAFETY: all types are live and of one context; llvm-c copies the array.
        Type::from_raw(unsafe { LLVMFunctionType(self.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }
}

/// A body that is being made into a continuation.
pub struct Finish<'a, 'm> {
    /// The continuation, whose body was adopted and which has an entry
    pub continuation: Function<'m>,
    /// The version whose body it has
    pub version: Function<'m>,
    /// For each argument of the version what comes in for it
    pub arguments: &'a [Value<'m>],
    /// Instructions of the body that are live at a landing
    pub definitions: &'a [Inst<'m>],
    /// The blocks that values come in from
    pub entries: &'a [Block<'m>],
    /// For each definition and entry what comes in, row by row; none where it is not live
    pub values: &'a [Option<Value<'m>>],
    /// Keep the definitions in stack slots
    pub demote: bool,
}

impl<'m> Function<'m> {
    /// Makes variables of its frame that are only loaded and stored SSA registers. Its blocks are
    /// all complete.
    pub fn promote(self, variables: &[Value<'m>]) {
        let raw: Vec<_> = variables.iter().map(|v| v.0).collect();
        if !raw.is_empty() {
            // SAFETY: the function is live, and so are the variables, which are allocas of it.
            unsafe { sys::mfb_promote(self.0, raw.as_ptr(), raw.len()) }
        }
    }

    /// A function of a module of one's own, for users of llvm-c and of crates over it. With
    /// inkwell: `Function::from_llvm(function.as_value_ref())`.
    ///
    /// # Safety
    /// `raw` is a function in a module, of the LLVM that this crate was built for, that outlives
    /// `'m`, and no other thread uses its context in that time.
    pub unsafe fn from_llvm(raw: LLVMValueRef) -> Self {
        Function::from_live(raw)
    }

    /// The reference for llvm-c and crates over it.
    pub fn as_llvm(self) -> LLVMValueRef {
        self.0
    }

    /// What is known of it for on-stack replacement.
    pub fn osr_facts(self) -> FunctionFacts {
        // SAFETY: the function is live.
        FunctionFacts::from_bits(unsafe { sys::mfb_osr_facts(self.0) })
    }

    /// Its arguments.
    pub fn arguments(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the function is live, the indices are below the number of its parameters.
        let count = unsafe { LLVMCountParams(self.0) };
        // SAFETY: as above.
        (0..count).map(move |i| Value::from_raw(unsafe { LLVMGetParam(self.0, i) }))
    }

    /// Itself as a value: its address.
    pub fn value(self) -> Value<'m> {
        Value::from_raw(self.0)
    }

    /// Its type.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: the function is live.
        Type::from_raw(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// The type of its result.
    pub fn result_type(self) -> Type<'m> {
        // SAFETY: the function is live and its value type is a function type.
        Type::from_raw(unsafe { LLVMGetReturnType(LLVMGlobalGetValueType(self.0)) })
    }

    /// The names of its arguments and of its instructions with a result, as the IR writer prints
    /// them, in order.
    pub fn value_names(self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        // SAFETY: the function is live; the callback gets the vector it expects.
        unsafe { sys::mfb_value_names(self.0, (&raw mut names).cast(), push_text) };
        names
    }

    /// The names of its blocks, as the IR writer prints them, in order.
    pub fn block_names(self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        // SAFETY: the function is live; the callback gets the vector it expects.
        unsafe { sys::mfb_block_names(self.0, (&raw mut names).cast(), push_text) };
        names
    }

    /// Removes lifetime markers, and gathers static allocas at its head.
    pub fn prepare_for_points(self) {
        // SAFETY: the function is live and has a body.
        unsafe { sys::mfb_prepare_for_points(self.0) }
    }

    /// What mem2reg does. True if anything was promoted.
    pub fn promote_allocas(self) -> bool {
        // SAFETY: the function is live and has a body.
        unsafe { sys::mfb_promote_allocas(self.0) }
    }

    /// An internal copy; its blocks and instructions are in the same order.
    pub fn clone_as(self, name: &str) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the function is live and has a body.
        Function::from_live(unsafe { sys::mfb_clone(self.0, name.as_ptr()) })
    }

    /// Declares an internal function of a type, in the same module.
    pub fn declare_continuation(self, ty: Type<'m>, name: &str) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the function is live; the type is a function type of its context.
        Function::from_live(unsafe { sys::mfb_declare_continuation(self.0, ty.0, name.as_ptr()) })
    }

    /// Gives it the convention that preserves no registers: a function that moves into another one
    /// then saves none. To call it costs the caller all of them.
    pub fn preserve_none(self) {
        const PRESERVE_NONE: u32 = 21;
        // SAFETY: the function is live; the number is that of `preserve_nonecc`.
        unsafe { LLVMSetFunctionCallConv(self.0, PRESERVE_NONE) };
    }

    /// Makes it an external function with that name, or one like it if the name is taken.
    pub fn make_external(self, name: &str) {
        // SAFETY: the function is live; the name is passed with its length, and copied.
        unsafe {
            LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len());
            LLVMSetLinkage(self.0, sys::LLVMLinkage::LLVMExternalLinkage);
        }
    }

    /// Takes over the body of a version; to be followed by [`Finish::run`].
    pub fn adopt(self, version: Function<'m>) {
        // SAFETY: both are live; this one has no body.
        unsafe { sys::mfb_adopt(self.0, version.0) }
    }

    /// Adds an empty block at its head.
    pub fn add_entry(self, name: &str) -> Option<Block<'m>> {
        let first = self.blocks().next()?;
        Some(self.add_block_before(name, first))
    }

    /// Adds an empty block at its end.
    pub fn add_block(self, name: &str) -> Block<'m> {
        let name = c_string(name);
        // SAFETY: the function is live.
        Block::from_raw(unsafe {
            LLVMAppendBasicBlockInContext(
                LLVMGetModuleContext(LLVMGetGlobalParent(self.0)),
                self.0,
                name.as_ptr(),
            )
        })
    }

    /// Replaces each `resume` by the call that it is lowered to, where that is known.
    pub fn lower_resumes(self) {
        // SAFETY: the function is live and has a body.
        unsafe { sys::mfb_lower_resumes(self.0) };
    }

    /// True if anything refers to it.
    pub fn is_used(self) -> bool {
        // SAFETY: the function is live.
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }

    /// Forbids to duplicate calls of it, and so to specialize it: `noduplicate`. LLVM's function
    /// specialization takes the result of one `musttail` call of a specialized function for that of
    /// all (seen in 19 and 22), so it must not touch functions that call each other so.
    pub fn forbid_specialization(self) {
        // SAFETY: the function is live and in a module.
        unsafe {
            crate::ir::add_function_attribute(LLVMGetGlobalParent(self.0), self.0, "noduplicate");
        }
    }

    /// Removes it from its module. Nothing may refer to its body any more.
    pub fn erase(self) {
        // SAFETY: the function is live; the caller does not use it again.
        unsafe { sys::mfb_erase_function(self.0) }
    }

    /// The module that it is in.
    pub fn module(self) -> Module<'m> {
        // SAFETY: the function is live and in a module, which outlives it.
        unsafe { Module::from_raw(LLVMGetGlobalParent(self.0)) }
    }
}

impl Finish<'_, '_> {
    /// Gives arguments and definitions what comes in, repairs SSA form, removes what cannot be
    /// reached, and erases the version.
    pub fn run(self) {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.0).collect();
        let mut definitions: Vec<_> = self.definitions.iter().map(|i| i.0).collect();
        let mut entries: Vec<_> = self.entries.iter().map(|b| b.0).collect();
        let mut values: Vec<LLVMValueRef> =
            self.values.iter().map(|v| v.map_or(std::ptr::null_mut(), |v| v.0)).collect();
        assert_eq!(values.len(), definitions.len() * entries.len(), "a value for each entry");
        // SAFETY: all handles are live and of the continuation or its version; the arrays have the
        // sizes that are passed; the version is not used again.
        unsafe {
            sys::mfb_finish_continuation(
                self.continuation.0,
                self.version.0,
                arguments.as_mut_ptr(),
                definitions.as_mut_ptr(),
                definitions.len(),
                entries.as_mut_ptr(),
                entries.len(),
                values.as_mut_ptr(),
                self.demote,
            );
        }
    }
}

impl<'m> Module<'m> {
    /// A module of one's own, for users of llvm-c and of crates over it.
    ///
    /// # Safety
    /// `raw` is a module, of the LLVM that this crate was built for, that outlives `'m`, and no
    /// other thread uses its context in that time.
    pub unsafe fn from_llvm(raw: ModuleRef) -> Self {
        // SAFETY: the caller's.
        unsafe { Module::from_raw(raw) }
    }

    /// A constant structure, laid out as C does.
    pub fn constant_struct(self, fields: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = fields.iter().map(|v| v.0).collect();
        // SAFETY: all fields are constants of the module's context.
        Value::from_raw(unsafe {
            LLVMConstStructInContext(
                LLVMGetModuleContext(self.0),
                raw.as_mut_ptr(),
                raw.len() as u32,
                0,
            )
        })
    }

    /// A constant array of elements of one type.
    pub fn constant_array(self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|v| v.0).collect();
        // SAFETY: all values are constants of the element type.
        Value::from_raw(unsafe { LLVMConstArray2(element.0, raw.as_mut_ptr(), raw.len() as u64) })
    }

    /// A private constant C string.
    pub fn c_string(self, text: &str) -> Value<'m> {
        let bytes = c_string(text);
        // SAFETY: the module is live; llvm-c copies the bytes.
        let data = unsafe {
            let length = bytes.as_bytes().len();
            LLVMConstStringInContext2(LLVMGetModuleContext(self.0), bytes.as_ptr(), length, 0)
        };
        self.private_global("midflight.text", Value::from_raw(data), true)
    }

    /// A private global with an initial value, aligned to 8.
    pub fn private_global(self, name: &str, value: Value<'m>, constant: bool) -> Value<'m> {
        let name = c_string(name);
        // SAFETY: the module is live; the value is a constant of its context.
        unsafe {
            let global = LLVMAddGlobal(self.0, LLVMTypeOf(value.0), name.as_ptr());
            LLVMSetInitializer(global, value.0);
            LLVMSetGlobalConstant(global, i32::from(constant));
            LLVMSetLinkage(global, sys::LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(global, sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(global, 8);
            Value::from_raw(global)
        }
    }

    /// A private, writable global in a section, which no pass may take for constant.
    pub fn section_record(self, name: &str, section: &str, value: Value<'m>) -> Value<'m> {
        let global = self.private_global(name, value, false);
        let section = c_string(section);
        // SAFETY: the global was just made.
        unsafe {
            LLVMSetUnnamedAddress(global.0, sys::LLVMUnnamedAddr::LLVMNoUnnamedAddr);
            LLVMSetSection(global.0, section.as_ptr());
            sys::mfb_keep(global.0);
        }
        global
    }

    /// The variables in a section, each with its size in bytes.
    pub fn globals_in_section(self, section: &str) -> Vec<(Value<'m>, u64)> {
        let mut found = Vec::new();
        // SAFETY: the module is live; the list is walked with llvm-c's own iterators; a section is
        // a C string of the global's.
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.0);
            while !next.is_null() {
                let of = LLVMGetSection(next);
                if !of.is_null() && std::ffi::CStr::from_ptr(of).to_bytes() == section.as_bytes() {
                    let ty = Type::from_raw(LLVMGlobalGetValueType(next));
                    found.push((Value::from_raw(next), self.size_of(ty).1));
                }
                next = LLVMGetNextGlobal(next);
            }
        }
        found
    }

    /// Whether a function, a variable or an alias has this name.
    pub fn has_global(self, name: &str) -> bool {
        let c_name = c_string(name);
        let (text, length) = (c_name.as_ptr(), c_name.as_bytes().len());
        // SAFETY: the module is live; the names are passed with their lengths.
        unsafe {
            !LLVMGetNamedFunction(self.0, text).is_null()
                || !LLVMGetNamedGlobal(self.0, text).is_null()
                || !LLVMGetNamedGlobalAlias(self.0, text, length).is_null()
                || !LLVMGetNamedGlobalIFunc(self.0, text, length).is_null()
        }
    }

    /// An external function of a type, without a body.
    pub fn define(self, name: &str, ty: Type<'m>) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the module is live; the type is a function type of its context.
        Function::from_live(unsafe { LLVMAddFunction(self.0, name.as_ptr(), ty.0) })
    }

    /// The address of a label of the module's own assembly.
    pub fn label(self, name: &str) -> Value<'m> {
        // No target may put its prefix before it.
        let name = c_string(&format!("\u{1}{name}"));
        // SAFETY: the module is live.
        unsafe {
            let label = LLVMAddGlobal(self.0, self.int_type(8).0, name.as_ptr());
            LLVMSetVisibility(label, sys::LLVMVisibility::LLVMHiddenVisibility);
            Value::from_raw(label)
        }
    }

    /// Adds assembly to the module.
    pub fn append_assembly(self, text: &str) {
        // SAFETY: the module is live; the text is passed with its length, and copied.
        unsafe { LLVMAppendModuleInlineAsm(self.0, text.as_ptr().cast(), text.len()) }
    }

    /// The declaration of a function that the program's author provides: it returns nothing.
    pub fn host_function(self, name: &str, parameters: &[Type<'m>]) -> Callee<'m> {
        self.declared_function(name, self.void_type(), parameters, &[])
    }

    /// The declaration of a variable of the runtime.
    pub fn runtime_variable(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let name = c_string(name);
        // SAFETY: the module is live; an existing variable of this name is returned as it is.
        unsafe {
            let existing = LLVMGetNamedGlobal(self.0, name.as_ptr());
            let global = if existing.is_null() {
                LLVMAddGlobal(self.0, ty.0, name.as_ptr())
            } else {
                existing
            };
            Value::from_raw(global)
        }
    }

    /// The function of a name, declared or defined.
    pub fn function(self, name: &str) -> Option<Function<'m>> {
        let name = c_string(name);
        // SAFETY: the module is live.
        let function = unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) };
        (!function.is_null()).then(|| Function::from_live(function))
    }

    /// The `double` type.
    pub fn double_type(self) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type::from_raw(unsafe { LLVMDoubleTypeInContext(LLVMGetModuleContext(self.0)) })
    }

    /// The target triple.
    pub fn target(self) -> String {
        // SAFETY: the module is live and owns the string.
        unsafe { std::ffi::CStr::from_ptr(LLVMGetTarget(self.0)).to_string_lossy().into_owned() }
    }

    /// Size of a type in bits, and its size in memory in bytes.
    pub fn size_of(self, ty: Type<'m>) -> (u64, u64) {
        // SAFETY: the module is live and owns its data layout; the type is sized.
        unsafe {
            let layout = sys::target::LLVMGetModuleDataLayout(self.0);
            (
                sys::target::LLVMSizeOfTypeInBits(layout, ty.0),
                sys::target::LLVMABISizeOfType(layout, ty.0),
            )
        }
    }
}
