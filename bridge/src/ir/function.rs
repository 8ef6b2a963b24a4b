//! Functions.

use super::{Block, Function, Module, Type, Value, c_string, copied, enum_attribute};
use super::{listed, name_of, push_text, remark_missed, taken, wrap};
use crate::pass::Analyses;
use crate::sandbox::Sandbox;
use crate::sys::core::*;
use crate::sys::{self, LLVMLinkage};
use midflight_ir::facts::FunctionFacts;
use std::ffi::{c_char, c_void};

/// A block's name and the texts of its instructions.
pub type BlockText = (String, Vec<String>);

impl<'m> Function<'m> {
    /// The function's name.
    pub fn name(self) -> String {
        // SAFETY: the function is live.
        unsafe { name_of(self.0) }
    }

    /// The module that it is in.
    pub fn module(self) -> Module<'m> {
        // SAFETY: the function is live and in a module, which outlives it.
        Module::from_raw(unsafe { LLVMGetGlobalParent(self.0) })
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

    /// Its arguments.
    pub fn arguments(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the function is live, the indices are below the number of its parameters.
        let count = unsafe { LLVMCountParams(self.0) };
        // SAFETY: as above.
        (0..count).map(move |i| Value::from_raw(unsafe { LLVMGetParam(self.0, i) }))
    }

    /// Its blocks, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: the function is live; the list is walked with llvm-c's own iterators.
        let blocks = unsafe { listed(LLVMGetFirstBasicBlock(self.0), LLVMGetNextBasicBlock) };
        blocks.map(Block::from_raw)
    }

    /// True if it has a body.
    pub fn is_definition(self) -> bool {
        // SAFETY: the function is live.
        unsafe { LLVMCountBasicBlocks(self.0) != 0 }
    }

    /// True if anything refers to it.
    pub fn is_used(self) -> bool {
        // SAFETY: the function is live.
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }

    /// What is known of it.
    pub fn facts(self) -> FunctionFacts {
        // SAFETY: the function is live.
        FunctionFacts::from_bits(unsafe { sys::mfb_function_facts(self.0) })
    }

    /// True if [`Function::mark`] put this mark on it.
    pub fn is_marked(self, mark: &str) -> bool {
        // SAFETY: the function is live; the name is passed with its length.
        unsafe {
            let (text, length) = (mark.as_ptr().cast(), mark.len() as u32);
            let at = sys::LLVMAttributeFunctionIndex;
            !LLVMGetStringAttributeAtIndex(self.0, at, text, length).is_null()
        }
    }

    /// Puts a string attribute on it.
    pub fn mark(self, mark: &str) {
        // SAFETY: the function is live; the attribute is of its context; texts are copied.
        unsafe {
            let (text, length) = (mark.as_ptr().cast(), mark.len() as u32);
            let context = self.module().context();
            let attribute = LLVMCreateStringAttribute(context, text, length, text, 0);
            LLVMAddAttributeAtIndex(self.0, sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Takes a string attribute from it.
    pub fn unmark(self, mark: &str) {
        // SAFETY: the function is live; the name is passed with its length.
        unsafe {
            let (text, length) = (mark.as_ptr().cast(), mark.len() as u32);
            let at = sys::LLVMAttributeFunctionIndex;
            LLVMRemoveStringAttributeAtIndex(self.0, at, text, length);
        }
    }

    /// A message if the verifier finds the function broken.
    pub fn verify(self) -> Option<String> {
        // SAFETY: the function is live; the message is made for the caller.
        unsafe { taken(sys::mfb_verify_function(self.0)) }
    }

    /// Reports that something was not done to this function, as `-Rpass-missed=PASS` shows it.
    pub fn remark_missed(self, pass: &str, name: &str, message: &str) {
        remark_missed(self.0, pass, name, message);
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

    /// Its blocks and instructions as the IR writer prints them.
    pub fn texts(self) -> Vec<BlockText> {
        /// # Safety
        /// `to` is a `Vec<BlockText>`, and `text` points to `length` bytes.
        unsafe extern "C" fn add(to: *mut c_void, block: bool, text: *const c_char, length: usize) {
            // SAFETY: the caller's contract.
            let (to, text) = unsafe { (&mut *to.cast::<Vec<BlockText>>(), copied(text, length)) };
            if block {
                to.push((text, Vec::new()));
            } else {
                to.last_mut().expect("a block comes before its instructions").1.push(text);
            }
        }
        let mut texts: Vec<BlockText> = Vec::new();
        // SAFETY: the function is live; the callback gets the vector it expects.
        unsafe { sys::mfb_texts(self.0, (&raw mut texts).cast(), add) };
        texts
    }

    /// Lets blocks that end in a call and go to a return do that themselves, so that the call is in
    /// tail position, as LLVM does it when it makes code. True if any did.
    pub fn fold_returns(self, is_marked: bool) -> bool {
        // SAFETY: the function is live.
        unsafe { sys::mfb_fold_returns(self.0, is_marked) }
    }

    /// Splits the entry block behind its static allocas; returns the block with the rest.
    pub fn split_entry(self) -> Block<'m> {
        // SAFETY: the function is live and has a body.
        Block::from_raw(unsafe { sys::mfb_split_entry(self.0) })
    }

    /// Adds an empty block at its head.
    pub fn add_entry(self, name: &str) -> Option<Block<'m>> {
        let first = self.blocks().next()?;
        Some(self.add_block_before(name, first))
    }

    /// Adds an empty block at its end.
    pub fn add_block(self, name: &str) -> Block<'m> {
        let name = c_string(name);
        let context = self.module().context();
        // SAFETY: the function is live.
        Block::from_raw(unsafe { LLVMAppendBasicBlockInContext(context, self.0, name.as_ptr()) })
    }

    /// Adds an empty block in front of another.
    pub fn add_block_before(self, name: &str, next: Block<'m>) -> Block<'m> {
        let name = c_string(name);
        let context = self.module().context();
        // SAFETY: both are live and of one context.
        Block::from_raw(unsafe { LLVMInsertBasicBlockInContext(context, next.0, name.as_ptr()) })
    }

    /// Makes variables of its frame that are only loaded and stored SSA registers. Its blocks are
    /// all complete.
    pub fn promote(self, variables: &[Value<'m>]) {
        if !variables.is_empty() {
            // SAFETY: the function is live, and so are the variables, which are allocas of it.
            unsafe { sys::mfb_promote(self.0, Value::list(variables), variables.len()) }
        }
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
            LLVMSetLinkage(self.0, LLVMLinkage::LLVMExternalLinkage);
        }
    }

    /// Gives it that name, or one like it if the name is taken.
    pub fn rename(self, name: &str) {
        self.value().rename_global(name);
    }

    /// Makes it one that only its module knows.
    pub fn set_linkage_internal(self) {
        // SAFETY: the function is live and has a body.
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage) }
    }

    /// Makes its body one that is only there to be inlined.
    pub fn set_linkage_available_externally(self) {
        // SAFETY: the function is live, has a body, and is in no comdat.
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMAvailableExternallyLinkage) }
    }

    /// Gives it an attribute that LLVM has by this name.
    pub(super) fn add_attribute(self, name: &str) {
        // SAFETY: the function is live, and of the attribute's context.
        unsafe {
            let attribute = enum_attribute(self.module().context(), name);
            LLVMAddAttributeAtIndex(self.0, sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Forbids to duplicate calls of it, and so to specialize it: `noduplicate`. LLVM's function
    /// specialization takes the result of one `musttail` call of a specialized function for that of
    /// all (seen in 19 and 22), so it must not touch functions that call each other so.
    pub fn forbid_specialization(self) {
        self.add_attribute("noduplicate");
    }

    /// Makes all that uses it use an external function of another name and the same type.
    pub fn replace_with_declaration(self, name: &str) {
        let (module, ty) = (self.module(), self.function_type());
        let other = module.function(name).unwrap_or_else(|| module.define(name, ty));
        // SAFETY: both are live; a new function of its type is used like it.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// An internal copy; its blocks and instructions are in the same order.
    pub fn clone_as(self, name: &str) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the function is live and has a body.
        Function::from_raw(unsafe { sys::mfb_clone(self.0, name.as_ptr()) })
    }

    /// Declares an internal function of a type, in the same module.
    pub fn declare_continuation(self, ty: Type<'m>, name: &str) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the function is live; the type is a function type of its context.
        Function::from_raw(unsafe { sys::mfb_declare_continuation(self.0, ty.0, name.as_ptr()) })
    }

    /// Has it begin in another function of its type if there is the address of one at `place`.
    /// `is_tail`: nothing of its frame can be used by the other one.
    pub fn begin_in(self, place: Value<'m>, is_tail: bool) {
        // SAFETY: the function is live, has a body and no variable arguments.
        unsafe { sys::mfb_begin_in(self.0, place.0, is_tail) }
    }

    /// A local copy that its entry can jump to, see [`Self::jump_unless_zero`]. None if its
    /// arguments are not passed on by a jump, or addresses of its blocks are known elsewhere.
    pub fn copy_body(self, name: &str) -> Option<Function<'m>> {
        let name = c_string(name);
        // SAFETY: the function is live and has a body.
        wrap(unsafe { sys::mfb_copy_body(self.0, name.as_ptr()) }).map(Function::from_raw)
    }

    /// Has it begin in a copy, in its own place on the stack, if the 32-bit number at an address is
    /// not 0.
    pub fn jump_unless_zero(self, number: Value<'m>, copy: Function<'m>) {
        // SAFETY: both functions are live and have bodies; the copy was made for this.
        unsafe { sys::mfb_jump_unless_zero(self.0, number.0, copy.0) }
    }

    /// Takes the body of a clone of it, which is left without one. False, and nothing is changed,
    /// if the address of a block is taken.
    pub fn take_body(self, clone: Function<'m>) -> bool {
        // SAFETY: both are live and have bodies; the clone has the function's type.
        unsafe { sys::mfb_take_body(self.0, clone.0) }
    }

    /// Takes over the body of a version; to be followed by [`crate::continuation::Finish::run`].
    pub fn adopt(self, version: Function<'m>) {
        // SAFETY: both are live; this one has no body.
        unsafe { sys::mfb_adopt(self.0, version.0) }
    }

    /// How often each of its blocks ran, in order, as its profile says; none if it has none.
    pub fn block_counts(self, sandbox: &Sandbox) -> Option<Vec<u64>> {
        let mut counts = vec![0; self.blocks().count()];
        // SAFETY: the function is live, and there is room for as many numbers as it has blocks.
        let has_any = unsafe { sys::mfb_block_counts(sandbox.0, self.0, counts.as_mut_ptr()) };
        has_any.then_some(counts)
    }

    /// Says how often it was entered.
    pub fn set_entry_count(self, count: u64) {
        // SAFETY: the function is live.
        unsafe { sys::mfb_set_entry_count(self.0, count) }
    }

    /// Turns what the source says of likely branches into weights of those that have none, and has
    /// LLVM warn of the others where the weights that they have say another thing (misexpect).
    pub fn lower_expectations(self, analyses: &Analyses<'_>) {
        // SAFETY: the function is live and has a body, and the manager is the host's.
        unsafe { sys::mfb_lower_expectations(self.0, analyses.manager) }
    }

    /// Marks it as hot or cold by its counts, if the module's summary says so.
    pub fn mark_heat(self, analyses: &Analyses<'_>, entries: u64, largest: u64) {
        // SAFETY: the function is live, and the manager the host's.
        unsafe { sys::mfb_mark_heat(self.0, analyses.modules, entries, largest) }
    }
}

shim! { Function {
    /// Whether its code is for x86-64 and ELF, reaches the module's variables by displacements of
    /// 32 bits, and has no vector registers of AVX.
    has_plain_x86_64_code = mfb_has_plain_x86_64_code -> bool;
    /// Removes lifetime markers, and gathers static allocas at its head.
    prepare_for_points = mfb_prepare_for_points;
    /// What mem2reg does. True if anything was promoted.
    promote_allocas = mfb_promote_allocas -> bool;
    /// Removes from the function and its calls what says that it has no effects.
    drop_purity = mfb_drop_purity;
    /// Replaces each `resume` by the call that it is lowered to, where that is known. True if there
    /// is any.
    lower_resumes = mfb_lower_resumes -> bool;
    /// Whether anything but a direct call may use its address.
    is_address_taken = mfb_has_address_taken -> bool;
    /// Has it inlined wherever it is called. False if it must not be, and then nothing is done.
    add_always_inline = mfb_add_always_inline -> bool;
    /// Lets it be optimized, if it was compiled without.
    allow_optimization = mfb_allow_optimization;
    /// True if it must be inlined (`alwaysinline`).
    must_be_inlined = mfb_must_be_inlined -> bool;
    /// Takes from it that it must be inlined.
    allow_calls = mfb_allow_calls;
    /// Forbids to optimize it, to inline it, and to profile it.
    forbid_optimization = mfb_forbid_optimization;
    /// Removes it from its module. Nothing may refer to its body any more.
    erase = mfb_erase_function;
} }
