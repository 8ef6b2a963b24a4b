//! Calls of libc that lead out of the program past its destructors, or that show what is done about
//! signals.
//!
//! The runtime writes the profile from a destructor. So a call of it is put before each direct call
//! of a function that ends the process, or makes it another program, without running destructors.
//! Signals that end the program are caught by the runtime; that this stays unseen, libc's functions
//! that set handlers are replaced by the runtime's, also where only their address is taken.

use crate::path_profile_gen::reason_to_leave_alone;
use midflight_abi::{BEFORE_END_SYMBOL, SIGACTION_SYMBOL, SIGNAL_SYMBOL, SYSV_SIGNAL_SYMBOL};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Module, Type};

/// Functions that end the process, or make it another program, without running destructors.
const ENDING: [&str; 12] = [
    "_exit",
    "_Exit",
    "quick_exit",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "execveat",
    "fexecve",
];

/// Prepares a module's code for its ends.
pub fn prepare(module: Module<'_>) {
    replace_handler_functions(module);
    for function in module.functions().filter(|f| f.is_definition()) {
        if reason_to_leave_alone(function).is_none() {
            write_before_endings(module, function);
        }
    }
}

/// A function of another type than libc's has nothing but its name.
fn replace_handler_functions(module: Module<'_>) {
    let (ptr, int) = (module.pointer_type(), module.int_type(32));
    let functions: [(&str, &str, Type<'_>, &[Type<'_>]); 3] = [
        ("sigaction", SIGACTION_SYMBOL, int, &[int, ptr, ptr]),
        ("signal", SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("__sysv_signal", SYSV_SIGNAL_SYMBOL, ptr, &[int, ptr]),
    ];
    for (name, replacement, result, parameters) in functions {
        if let Some(function) = module.function(name)
            && !function.is_definition()
            && function.function_type() == result.function(parameters)
        {
            function.replace_with_declaration(replacement);
        }
    }
}

fn write_before_endings(module: Module<'_>, function: Function<'_>) {
    let calls: Vec<_> = function.blocks().flat_map(|block| block.instructions()).collect();
    let is_call_of = |inst: Inst<'_>, names: &[&str]| {
        inst.called_function().is_some_and(|called| names.contains(&called.name().as_str()))
    };
    let mut before = None;
    for inst in calls {
        // An earlier run of the pass may have been here.
        let is_ready = before.is_some_and(|before| is_call_of(before, &[BEFORE_END_SYMBOL]));
        if is_call_of(inst, &ENDING) && !is_ready {
            let write = module.runtime_function(BEFORE_END_SYMBOL, module.void_type(), &[]);
            Builder::new(module, function).before(inst).call(write, &[]);
            function.drop_purity();
        }
        before = Some(inst);
    }
}
