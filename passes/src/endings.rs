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
use midflight_bridge::ir::{Function, Module, Type};

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
    let ending: Vec<_> = ENDING.iter().filter_map(|name| module.function(name)).collect();
    if ending.is_empty() {
        return;
    }
    for function in module.functions().filter(|f| f.is_definition()) {
        if reason_to_leave_alone(function).is_none() {
            write_before_endings(module, function, &ending);
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

fn write_before_endings<'m>(module: Module<'m>, function: Function<'m>, ending: &[Function<'m>]) {
    let calls: Vec<_> = function.blocks().flat_map(|block| block.instructions()).collect();
    let mut before = None;
    for inst in calls {
        let called = inst.called_function();
        // An earlier run of the pass may have been here.
        let is_ready = |before: Function<'_>| before.name() == BEFORE_END_SYMBOL;
        if called.is_some_and(|called| ending.contains(&called)) && !before.is_some_and(is_ready) {
            let write = module.runtime_function(BEFORE_END_SYMBOL, module.void_type(), &[]);
            Builder::new(module, function).before(inst).call(write, &[]);
            function.drop_purity();
        }
        before = called;
    }
}
