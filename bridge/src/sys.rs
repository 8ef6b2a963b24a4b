//! llvm-sys of the LLVM that was chosen, and the functions of the shim.

#[cfg(all(feature = "llvm19-1", not(feature = "llvm22-1")))]
pub use llvm_sys_191::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMInlineAsmDialect, LLVMIntPredicate,
    LLVMLinkage, LLVMOpcode, LLVMTailCallKind, LLVMThreadLocalMode, LLVMTypeKind, LLVMUnnamedAddr,
    LLVMVisibility, core, debuginfo, prelude, target,
};
#[cfg(feature = "llvm22-1")]
pub use llvm_sys_221::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMInlineAsmDialect, LLVMIntPredicate,
    LLVMLinkage, LLVMOpcode, LLVMTailCallKind, LLVMThreadLocalMode, LLVMTypeKind, LLVMUnnamedAddr,
    LLVMVisibility, core, debuginfo, prelude, target,
};

use prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    pub fn mfb_error(module: LLVMModuleRef, text: *const c_char, length: usize);
    pub fn mfb_warning(module: LLVMModuleRef, text: *const c_char, length: usize);
    pub fn mfb_remark_missed(
        place: LLVMValueRef,
        pass: *const c_char,
        name: *const c_char,
        text: *const c_char,
        length: usize,
    );
    pub fn mfb_print(text: *const c_char, length: usize);
    pub fn mfb_verify_function(function: LLVMValueRef) -> *mut c_char;
    pub fn mfb_function_facts(function: LLVMValueRef) -> u32;
    pub fn mfb_is_for_library(module: LLVMModuleRef) -> bool;
    pub fn mfb_object_format(module: LLVMModuleRef) -> *const c_char;
    pub fn mfb_is_scalable(ty: LLVMTypeRef) -> bool;
    pub fn mfb_strip_unread_locations(module: LLVMModuleRef) -> bool;
    pub fn mfb_is_for_lto(module: LLVMModuleRef) -> bool;
    pub fn mfb_has_plain_x86_64_code(function: LLVMValueRef) -> bool;
    pub fn mfb_stays(inst: LLVMValueRef) -> bool;
    pub fn mfb_block_weights(
        fam: *mut c_void,
        block: LLVMBasicBlockRef,
        probabilities: *mut u32,
    ) -> u64;
    pub fn mfb_tail_call(block: LLVMBasicBlockRef, is_marked: bool) -> LLVMValueRef;
    pub fn mfb_drop_call_purity(call: LLVMValueRef);
    pub fn mfb_fold_returns(function: LLVMValueRef, is_marked: bool) -> bool;
    pub fn mfb_split_entry(function: LLVMValueRef) -> LLVMBasicBlockRef;
    pub fn mfb_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    pub fn mfb_drop_purity(function: LLVMValueRef);
    pub fn mfb_share(global: LLVMValueRef);
}

// A profile in a module: profile.cpp
unsafe extern "C" {
    pub fn mfb_set_branch_weights(terminator: LLVMValueRef, weights: *const u32, count: usize);
    pub fn mfb_block_counts(sandbox: *mut c_void, function: LLVMValueRef, counts: *mut u64)
    -> bool;
    pub fn mfb_set_entry_count(function: LLVMValueRef, count: u64);
    pub fn mfb_lower_expectations(function: LLVMValueRef, fam: *mut c_void);
    pub fn mfb_set_profile_summary(
        module: LLVMModuleRef,
        mam: *mut c_void,
        counts: *const u64,
        lengths: *const usize,
        num_functions: usize,
    );
    pub fn mfb_mark_heat(function: LLVMValueRef, mam: *mut c_void, entries: u64, largest: u64);
    pub fn mfb_mark_loop(header: LLVMBasicBlockRef, fam: *mut c_void, count: u32) -> bool;
}

/// Takes a text of the given length.
pub type TakeText = unsafe extern "C" fn(to: *mut c_void, text: *const c_char, length: usize);

// Functions, blocks and continuations
unsafe extern "C" {
    pub fn mfb_instruction_facts(inst: LLVMValueRef) -> u32;
    pub fn mfb_begin_in(function: LLVMValueRef, place: LLVMValueRef, is_tail: bool);
    pub fn mfb_copy_body(function: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    pub fn mfb_jump_unless_zero(function: LLVMValueRef, number: LLVMValueRef, to: LLVMValueRef);
    pub fn mfb_give_result_like(call: LLVMValueRef, function: LLVMValueRef);
    pub fn mfb_allow_optimization(function: LLVMValueRef);
    pub fn mfb_calls_like(call: LLVMValueRef, function: LLVMValueRef) -> bool;
    pub fn mfb_constant_place(value: LLVMValueRef, offset: *mut i64) -> LLVMValueRef;
    pub fn mfb_opcode_name(inst: LLVMValueRef) -> *const c_char;
    pub fn mfb_value_names(function: LLVMValueRef, to: *mut c_void, add: TakeText);
    pub fn mfb_block_names(function: LLVMValueRef, to: *mut c_void, add: TakeText);
    pub fn mfb_prepare_for_points(function: LLVMValueRef);
    pub fn mfb_promote_allocas(function: LLVMValueRef) -> bool;
    pub fn mfb_promote(function: LLVMValueRef, allocas: *const LLVMValueRef, count: usize);
    pub fn mfb_split_before(inst: LLVMValueRef, name: *const c_char) -> LLVMBasicBlockRef;
    pub fn mfb_clone(function: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    pub fn mfb_declare_continuation(
        function: LLVMValueRef,
        ty: LLVMTypeRef,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub fn mfb_take_body(function: LLVMValueRef, clone: LLVMValueRef) -> bool;
    pub fn mfb_adopt(continuation: LLVMValueRef, version: LLVMValueRef);
    pub fn mfb_finish_continuation(
        continuation: LLVMValueRef,
        version: LLVMValueRef,
        argument_values: *mut LLVMValueRef,
        definitions: *mut LLVMValueRef,
        num_definitions: usize,
        entries: *mut LLVMBasicBlockRef,
        num_entries: usize,
        values: *mut LLVMValueRef,
        demote: bool,
    );
    pub fn mfb_lower_resumes(function: LLVMValueRef) -> bool;
    pub fn mfb_deopt_operands(inst: LLVMValueRef, first: *mut u32, count: *mut u32) -> bool;
    pub fn mfb_without_deopt(inst: LLVMValueRef) -> LLVMValueRef;
    pub fn mfb_call_beside(inst: LLVMValueRef, function: LLVMValueRef) -> LLVMValueRef;
    pub fn mfb_call_with_deopt(
        before: LLVMValueRef,
        name: *const c_char,
        operands: *mut LLVMValueRef,
        count: usize,
    );
    pub fn mfb_end_program(inst: LLVMValueRef);
    pub fn mfb_must_be_inlined(function: LLVMValueRef) -> bool;
    pub fn mfb_allow_calls(function: LLVMValueRef);
    pub fn mfb_sandbox_use_target(sandbox: *mut c_void, mam: *mut c_void, module: LLVMModuleRef);
    pub fn mfb_pin(markers: *mut LLVMValueRef, count: usize);
    pub fn mfb_unpin(marker: LLVMValueRef);
    pub fn mfb_with_deopt(
        inst: LLVMValueRef,
        operands: *mut LLVMValueRef,
        count: usize,
    ) -> LLVMValueRef;
    pub fn mfb_call_variadic(
        before: LLVMValueRef,
        name: *const c_char,
        arguments: *mut LLVMValueRef,
        count: usize,
    ) -> LLVMValueRef;
    pub fn mfb_forbid_inlining(inst: LLVMValueRef);
    pub fn mfb_forbid_optimization(function: LLVMValueRef);
    pub fn mfb_copy_result_attributes(call: LLVMValueRef, function: LLVMValueRef);
    pub fn mfb_mark_check(inst: LLVMValueRef);
    pub fn mfb_remove_check(at: LLVMValueRef);
    pub fn mfb_keep(global: LLVMValueRef, in_linker: bool);
    pub fn mfb_erase_function(function: LLVMValueRef);
}

/// Takes the name of a block, or the text of an instruction.
pub type TakeLine =
    unsafe extern "C" fn(to: *mut c_void, block: bool, text: *const c_char, length: usize);

// Versions that differ: sandbox.cpp, solver.cpp, operations.cpp, memory.cpp
unsafe extern "C" {
    pub fn mfb_sandbox_new() -> *mut c_void;
    pub fn mfb_sandbox_free(sandbox: *mut c_void);
    pub fn mfb_passes_of_pipeline(text: *const c_char, length: usize) -> *mut c_char;
    pub fn mfb_check_pipeline(
        sandbox: *mut c_void,
        text: *const c_char,
        length: usize,
    ) -> *mut c_char;
    pub fn mfb_run_pipeline(
        sandbox: *mut c_void,
        function: LLVMValueRef,
        text: *const c_char,
        length: usize,
    ) -> *mut c_char;
    pub fn mfb_sandbox_forget(sandbox: *mut c_void, function: LLVMValueRef);
    pub fn mfb_track(function: LLVMValueRef) -> *mut c_void;
    pub fn mfb_track_free(tracker: *mut c_void);
    pub fn mfb_tracked_block(tracker: *mut c_void, index: usize) -> LLVMBasicBlockRef;
    pub fn mfb_tracked(tracker: *mut c_void, index: usize) -> LLVMValueRef;
    pub fn mfb_tracked_value(tracker: *mut c_void, index: usize) -> LLVMValueRef;
    pub fn mfb_map_facts(inst: LLVMValueRef) -> u32;
    pub fn mfb_has_unsigned(inst: LLVMValueRef) -> bool;
    pub fn mfb_may_be_copy(inst: LLVMValueRef) -> bool;
    pub fn mfb_solve(
        sandbox: *mut c_void,
        function: LLVMValueRef,
        without_flags: *const LLVMValueRef,
        count: usize,
    ) -> *mut c_void;
    pub fn mfb_solution_free(solution: *mut c_void);
    pub fn mfb_solved_constant(solution: *mut c_void, inst: LLVMValueRef) -> LLVMValueRef;
    pub fn mfb_solved_copy(solution: *mut c_void, inst: LLVMValueRef) -> LLVMValueRef;
    pub fn mfb_solved_unsigned(solution: *mut c_void, inst: LLVMValueRef) -> bool;
    pub fn mfb_solved_implied(
        solution: *mut c_void,
        n: usize,
        from: *mut LLVMBasicBlockRef,
        to: *mut LLVMBasicBlockRef,
        value: *mut LLVMValueRef,
        constant: *mut LLVMValueRef,
    ) -> bool;
    pub fn mfb_solved_feasible(
        solution: *mut c_void,
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
    ) -> bool;
    pub fn mfb_number_operations(
        insts: *const LLVMValueRef,
        is_unsigned: *const bool,
        count: usize,
        numbers: *mut u32,
    );
    pub fn mfb_intersect_flags(insts: *const LLVMValueRef, count: usize);
    pub fn mfb_losing_flags(insts: *const LLVMValueRef, count: usize, losing: *mut bool);
    pub fn mfb_said(
        known: LLVMValueRef,
        known_operands: *const LLVMValueRef,
        holds: bool,
        asked: LLVMValueRef,
        asked_operands: *const LLVMValueRef,
    ) -> c_int;
    pub fn mfb_simplify(
        inst: LLVMValueRef,
        operands: *const LLVMValueRef,
        count: usize,
        to: *mut c_void,
        add: unsafe extern "C" fn(*mut c_void, LLVMValueRef),
    ) -> LLVMValueRef;
    pub fn mfb_address_in_global(value: LLVMValueRef, offset: *mut i64) -> LLVMValueRef;
    pub fn mfb_effect(
        inst: LLVMValueRef,
        is: *mut u32,
        bytes: *mut *mut c_char,
        length: *mut usize,
        places: *mut u32,
        count: *mut usize,
    ) -> bool;
    pub fn mfb_copied_bytes(inst: LLVMValueRef) -> u64;
    pub fn mfb_fills(inst: LLVMValueRef, bytes: *mut u32, byte: *mut LLVMValueRef) -> bool;
    pub fn mfb_bytes_behind(inst: LLVMValueRef, other: LLVMValueRef, bytes: *mut i64) -> bool;
    pub fn mfb_local_constant(
        inst: LLVMValueRef,
        copy: *mut LLVMValueRef,
        constant: *mut LLVMValueRef,
    ) -> bool;
    pub fn mfb_integer_bytes(inst: LLVMValueRef) -> u64;
    pub fn mfb_accessed_bytes(inst: LLVMValueRef) -> u64;
    pub fn mfb_is_aligned(inst: LLVMValueRef) -> bool;
    pub fn mfb_is_partial_shift(inst: LLVMValueRef) -> bool;
    pub fn mfb_is_total(inst: LLVMValueRef) -> bool;
    pub fn mfb_is_plain_operand(value: LLVMValueRef) -> bool;
    pub fn mfb_prove_equal(
        sandbox: *mut c_void,
        values: *const LLVMValueRef,
        kinds: *const u32,
        begin: *const u32,
        operands: *const u32,
        count: usize,
        conditions: *const u32,
        condition_count: usize,
        a: u32,
        b: u32,
        negated: bool,
        at: LLVMValueRef,
    ) -> bool;
    pub fn mfb_compares_memory(inst: LLVMValueRef, bytes: *mut LLVMValueRef) -> bool;
    pub fn mfb_is_exact(inst: LLVMValueRef) -> bool;
    pub fn mfb_well_defined_operands(inst: LLVMValueRef) -> u64;
    pub fn mfb_cases(
        inst: LLVMValueRef,
        to: *mut c_void,
        add: unsafe extern "C" fn(to: *mut c_void, value: u64),
    ) -> u32;
    pub fn mfb_comparison(
        inst: LLVMValueRef,
        as_unsigned: bool,
        predicate: *mut u32,
        swapped: *mut bool,
        negated: *mut bool,
        symmetric: *mut bool,
    ) -> bool;
    pub fn mfb_negated(inst: LLVMValueRef) -> c_int;
    pub fn mfb_linear(
        inst: LLVMValueRef,
        constant: *mut i64,
        to: *mut c_void,
        add: unsafe extern "C" fn(to: *mut c_void, operand: u32, factor: i64),
    ) -> bool;
    pub fn mfb_case_to(inst: LLVMValueRef, to: LLVMBasicBlockRef) -> LLVMValueRef;
    pub fn mfb_is_well_defined(value: LLVMValueRef) -> bool;
    pub fn mfb_is_defined_by_uses(inst: LLVMValueRef) -> bool;
    pub fn mfb_drop_flags(insts: *const LLVMValueRef, count: usize);
    pub fn mfb_erase_dead(insts: *const LLVMValueRef, count: usize);
    pub fn mfb_make_unreachable(block: LLVMBasicBlockRef);
    pub fn mfb_poison_incoming(block: LLVMBasicBlockRef, from: LLVMBasicBlockRef);
    pub fn mfb_repeat(
        builder: prelude::LLVMBuilderRef,
        inst: LLVMValueRef,
        operands: *const LLVMValueRef,
        count: usize,
    ) -> LLVMValueRef;
    pub fn mfb_move_to_entry(alloca: LLVMValueRef);
    pub fn mfb_load_as_stored(
        builder: prelude::LLVMBuilderRef,
        store: LLVMValueRef,
        address: LLVMValueRef,
    ) -> LLVMValueRef;
    pub fn mfb_texts(function: LLVMValueRef, to: *mut c_void, add: TakeLine);
    pub fn mfb_memory_new(sandbox: *mut c_void, function: LLVMValueRef) -> *mut c_void;
    pub fn mfb_memory_free(memory: *mut c_void);
    pub fn mfb_memory_clobber(
        memory: *mut c_void,
        inst: LLVMValueRef,
        place: *mut LLVMValueRef,
    ) -> u32;
    pub fn mfb_memory_before(
        memory: *mut c_void,
        inst: LLVMValueRef,
        place: *mut LLVMValueRef,
    ) -> u32;
    pub fn mfb_memory_at_end(
        memory: *mut c_void,
        block: LLVMBasicBlockRef,
        place: *mut LLVMValueRef,
    ) -> u32;
    pub fn mfb_memory_place_before(
        memory: *mut c_void,
        place_of: LLVMValueRef,
        before: LLVMValueRef,
        place: *mut LLVMValueRef,
    ) -> u32;
    pub fn mfb_memory_place_at_end(
        memory: *mut c_void,
        place_of: LLVMValueRef,
        block: LLVMBasicBlockRef,
        place: *mut LLVMValueRef,
    ) -> u32;
    pub fn mfb_memory_touches(
        memory: *mut c_void,
        place_of: LLVMValueRef,
        inst: LLVMValueRef,
    ) -> bool;
    pub fn mfb_memory_writes_around(
        memory: *mut c_void,
        address: LLVMValueRef,
        inst: LLVMValueRef,
    ) -> bool;
    pub fn mfb_memory_has_phi(memory: *mut c_void, block: LLVMBasicBlockRef) -> bool;
    pub fn mfb_memory_unchanged(
        memory: *mut c_void,
        load: LLVMValueRef,
        before: LLVMValueRef,
    ) -> bool;
}

// IR that programs carry: slice.cpp
unsafe extern "C" {
    pub fn mfb_slice_refusal(function: LLVMValueRef) -> u32;
    pub fn mfb_slice(
        function: LLVMValueRef,
        name: *const c_char,
        prefix: *const c_char,
        to: *mut c_void,
        take: TakeText,
        link: unsafe extern "C" fn(to: *mut c_void, link: LLVMValueRef),
        instructions: *mut usize,
    ) -> *mut c_char;
    pub fn mfb_read_slice(
        bytes: *const u8,
        length: usize,
        context: LLVMContextRef,
        to: *mut c_void,
        fail: TakeText,
    ) -> LLVMModuleRef;
    pub fn mfb_restore_names(module: LLVMModuleRef, to: *mut c_void, add: TakeText);
    pub fn mfb_verify_module(module: LLVMModuleRef) -> *mut c_char;
    pub fn mfb_link(into: LLVMModuleRef, from: LLVMModuleRef) -> *mut c_char;
    pub fn mfb_has_address_taken(function: LLVMValueRef) -> bool;
    pub fn mfb_add_always_inline(function: LLVMValueRef) -> bool;
}
