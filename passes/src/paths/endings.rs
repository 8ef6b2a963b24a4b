//! Calls of libc that lead out of the program past its destructors, or that show what is done about
//! signals.
//!
//! The runtime writes the profile from a destructor. So a call of it is put before each direct call
//! of a function that ends the process, or makes it another program, without running destructors;
//! system calls that do so are known by their numbers. Signals that end the program are caught by
//! the runtime; that this stays unseen, libc's functions that set handlers, and stacks for them,
//! are replaced by the runtime's, also where only their address is taken. So is `daemon`, which
//! ends its caller's process within libc.

use crate::driver::reason_to_leave_alone;
use midflight_abi::{
    BEFORE_END_SYMBOL, DAEMON_SYMBOL, SIGACTION_SYMBOL, SIGALTSTACK_SYMBOL, SIGNAL_SYMBOL,
    SIGSET_SYMBOL, SYSV_SIGNAL_SYMBOL,
};
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

/// System calls that do so: `execve`, `exit_group` and `execveat`.
const ENDING_CALLS_X86_64: [i64; 3] = [59, 231, 322];
const ENDING_CALLS_AARCH64: [i64; 3] = [221, 94, 281];

/// What ends the process in a module's code.
struct Ending<'m> {
    functions: Vec<Function<'m>>,
    /// The function that makes system calls, and those of them that are meant.
    system_call: Option<(Function<'m>, [i64; 3])>,
}

impl<'m> Ending<'m> {
    fn of(module: Module<'m>) -> Self {
        let functions = ENDING.iter().filter_map(|name| module.function(name)).collect();
        let numbers = if module.is_for_x86_64() {
            Some(ENDING_CALLS_X86_64)
        } else {
            module.is_for_aarch64().then_some(ENDING_CALLS_AARCH64)
        };
        Self { functions, system_call: module.function("syscall").zip(numbers) }
    }

    /// Whether an instruction that calls this function may end the process.
    fn is(&self, inst: Inst<'m>, called: Function<'m>) -> bool {
        let number = || inst.operands().next().and_then(|number| number.as_integer());
        self.functions.contains(&called)
            || self.system_call.is_some_and(|(function, ending)| {
                called == function && number().is_some_and(|number| ending.contains(&number))
            })
    }
}

/// Prepares a module's code for its ends.
pub fn prepare(module: Module<'_>) {
    replace_functions(module);
    let ending = Ending::of(module);
    if ending.functions.is_empty() && ending.system_call.is_none() {
        return;
    }
    for function in module.functions().filter(|f| f.is_definition()) {
        if reason_to_leave_alone(function.facts()).is_none() {
            write_before_endings(module, function, &ending);
        }
    }
}

/// A function of another type than libc's has nothing but its name.
fn replace_functions(module: Module<'_>) {
    let (ptr, int) = (module.pointer_type(), module.int_type(32));
    let functions: [(&str, &str, Type<'_>, &[Type<'_>]); 9] = [
        ("sigaction", SIGACTION_SYMBOL, int, &[int, ptr, ptr]),
        ("signal", SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("bsd_signal", SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("ssignal", SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("__sysv_signal", SYSV_SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("sysv_signal", SYSV_SIGNAL_SYMBOL, ptr, &[int, ptr]),
        ("sigset", SIGSET_SYMBOL, ptr, &[int, ptr]),
        ("sigaltstack", SIGALTSTACK_SYMBOL, int, &[ptr, ptr]),
        ("daemon", DAEMON_SYMBOL, int, &[int, int]),
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

fn write_before_endings<'m>(module: Module<'m>, function: Function<'m>, ending: &Ending<'m>) {
    let calls: Vec<_> = function.blocks().flat_map(|block| block.instructions()).collect();
    let mut before = None;
    for inst in calls {
        let called = inst.called_function();
        // An earlier run of the pass may have been here.
        let is_ready = |before: Function<'_>| before.name() == BEFORE_END_SYMBOL;
        if called.is_some_and(|called| ending.is(inst, called)) && !before.is_some_and(is_ready) {
            let write = module.runtime_function(BEFORE_END_SYMBOL, module.void_type(), &[]);
            Builder::new(module, function).before(inst).call(write, &[]);
            function.drop_purity();
        }
        before = called;
    }
}
