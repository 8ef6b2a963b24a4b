//! What LLVM says of instructions and functions, as sets of bits.
//!
//! One list for both languages: the bridge makes its C++ names of [`InstFacts::NAMES`] and its
//! like when it is compiled.

macro_rules! facts {
    (
        $(#[$of:meta])*
        $facts:ident { $($(#[$doc:meta])* $name:ident = $bit:literal;)* }
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $facts(u32);

        impl $facts {
            /// The names of all, with the number of the bit that each is
            pub const NAMES: &[(&str, u32)] = &[$((stringify!($name), $bit)),*];

            /// The facts that these bits are.
            pub const fn from_bits(bits: u32) -> Self {
                $facts(bits)
            }

            $($(#[$doc])* pub const fn $name(self) -> bool { self.0 & (1 << $bit) != 0 })*
        }
    };
}

facts! {
    /// What is known of an instruction, as far as points, continuations and the profiler depend on
    /// it.
    InstFacts {
        /// `phi`
        is_phi = 0;
        /// The first instruction of an exception handler
        is_pad = 1;
        /// It ends its block.
        is_terminator = 2;
        /// An alloca of the entry block, of constant size: a part of the frame
        is_static_alloca = 3;
        /// An alloca that is made when it runs
        is_dynamic_alloca = 4;
        /// A call that may return more than once
        returns_twice = 5;
        /// A call that must be in tail position: `musttail` or `llvm.experimental.deoptimize`
        is_must_tail = 6;
        /// `llvm.va_start`
        is_va_start = 7;
        /// A call or inline assembly of which there may be one only
        cannot_duplicate = 8;
        /// It reads the frame it is in, as `llvm.frameaddress`.
        reads_frame = 9;
        /// `llvm.stacksave`
        is_stack_save = 10;
        /// `resume`
        is_resume = 11;
        /// `indirectbr`
        is_indirect_branch = 12;
        /// Its result is a token.
        has_token_result = 13;
        /// Its result is of a type that cannot be a parameter.
        has_opaque_result = 14;
        /// An alloca of a kind that cannot be handed on: `inalloca`, `swifterror`
        is_unsupported_alloca = 15;
        /// `llvm.lifetime.start` or `end`
        is_lifetime_marker = 16;
        /// An intrinsic of a coroutine
        is_coroutine = 17;
        /// A call of a function, not of an intrinsic or of inline assembly
        is_real_call = 18;
        /// It has a result.
        has_result = 19;
        /// An instruction of exception handling with funclets
        is_funclet = 20;
        /// `callbr`
        is_callbr = 21;
        /// `invoke`
        is_invoke = 22;
        /// A part of the code that makes selectors of exceptions portable
        is_glue = 23;
        /// A call that does not return
        no_return = 24;
        /// Not a real call: a debug or lifetime marker, an assumption
        is_marker = 25;
        /// It makes a token that says which threads run calls together.
        controls_convergence = 26;
    }
}

impl InstFacts {
    /// Those of a phi; for bodies that are not read from LLVM
    pub const PHI: InstFacts = InstFacts((1 << 0) | (1 << 19));
}

facts! {
    /// What is known of an instruction, as far as mappings depend on it.
    MapFacts {
        /// It must run exactly once and in order: a store, a call that may write, throw or not
        /// return, a fence, an atomic or volatile access.
        is_anchor = 0;
        /// It does nothing when it runs: an assumption.
        is_marker = 1;
        /// It can be made again from the same operands.
        is_repeatable = 2;
        /// A load that can be made again as long as memory is the same
        is_load = 3;
        /// It reads memory.
        reads_memory = 4;
        /// A simple store, of its first operand to its second
        is_store = 5;
        /// Its first two operands can be exchanged.
        is_commutative = 6;
        /// Its result depends on the function that it is in.
        is_own = 7;
        /// It ends its block.
        is_terminator = 8;
        /// `phi`
        is_phi = 9;
        /// `br` without a condition
        is_unconditional = 10;
        /// Its result belongs to the one time that it ran: `alloca`; `freeze`, and a call that
        /// nothing is known of, of what may be poison or undefined.
        is_pinned = 11;
        /// The exception of a landing pad, without its selector
        is_pad_pointer = 12;
        /// `landingpad`
        is_landing_pad = 13;
        /// `icmp eq`
        is_equal = 15;
        /// `icmp ne`
        is_differ = 16;
        /// `br` with a condition
        is_conditional = 17;
        /// True just if all operands but the last are: `and`, or `select` with `false`
        is_logical_and = 18;
        /// False just if no operand holds: `or`, or `select` with `true`
        is_logical_or = 19;
        /// `select`
        is_select = 20;
        /// It can be made again even where it did not run.
        is_speculatable = 21;
    }
}

impl MapFacts {
    /// Those of a phi
    pub const PHI: MapFacts = MapFacts(1 << 9);
}

facts! {
    /// What is known of a function, as far as points, continuations and the profiler depend on it.
    FunctionFacts {
        /// It returns twice, or calls what does.
        returns_twice = 0;
        /// A garbage collector knows its frames.
        has_gc = 1;
        /// A parameter that depends on the frame: `inalloca`, `preallocated`, `swifterror`,
        /// `swiftasync`
        has_unsupported_parameter = 2;
        /// A parameter in memory that its caller made for it
        has_by_value = 3;
        /// It takes a variable number of arguments.
        is_variadic = 4;
        /// Its landing pads are left by `_Unwind_Resume`.
        resumes_by_unwinder = 5;
        /// Its calls are tied to convergence tokens.
        has_convergence_control = 6;
        /// It is always inlined, and has vectors that its callers may pass in other registers.
        has_inlined_vectors = 7;
        /// Its result does not fit the registers of the C convention.
        has_large_result = 8;
        /// Its body is a copy for inlining only.
        is_available_externally = 9;
        /// It has no prologue.
        is_naked = 10;
        /// `no_profile_instrument_function` or `noprofile`
        is_not_profiled = 11;
        /// A coroutine that is not split yet
        is_presplit_coroutine = 12;
        /// Its personality uses funclets (MSVC, CoreCLR, wasm).
        has_funclet_personality = 13;
        /// Its name means nothing outside its module.
        is_local = 14;
        /// It is in a comdat: other modules may define it as well.
        has_comdat = 15;
        /// It resolves an ifunc, so it runs before relocation is done.
        is_ifunc_resolver = 16;
        /// Calls of it lead to this body, which has its return address where its caller has its own
        /// if it takes its frame: it is local, or cannot be replaced when it is linked or loaded,
        /// and of an ordinary convention.
        is_exact = 17;
        /// `optnone`
        is_not_optimized = 18;
    }
}
