//! Modules of inkwell's, as tests of the API make them, and what is in them by its name.

// Not every test binary looks up instructions.
#![allow(dead_code)]

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::AsValueRef;
use midflight_passes::osr::api::{Function, Inst};

/// The module of a text, for this machine.
pub fn parse<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let text = format!("{text}\0");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "program");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    module.set_triple(&TargetMachine::get_default_triple());
    module
}

/// A function of a module.
pub fn function<'m>(module: &'m Module<'_>, name: &str) -> Function<'m> {
    let function = module.get_function(name).expect("a function of the program");
    // SAFETY: the module outlives the handle, in one thread.
    unsafe { Function::from_llvm(function.as_value_ref()) }
}

/// An instruction by the name of its result.
pub fn named<'m>(function: Function<'m>, name: &str) -> Inst<'m> {
    let names = function.value_names();
    let results =
        function.blocks().flat_map(|b| b.instructions()).filter(|i| i.facts().has_result());
    let found = names.iter().skip(function.arguments().count()).zip(results);
    found.into_iter().find(|(n, _)| n.as_str() == format!("%{name}")).expect("a named value").1
}
