//! Which targets code can be inserted for.

use midflight_bridge::ir::Module;

/// True if what a pass inserts can work in a module's code. Else there is an error of the compiler;
/// `doing` is what for.
///
/// The records that the linker collects by section, and the runtime that reads them, need ELF and
/// pointers of 64 bits.
pub fn is_supported(module: Module<'_>, doing: &str) -> bool {
    let format = module.object_format();
    let problem = if format != "elf" {
        format!("the target's object files are {format}, and only elf is supported")
    } else if !module.pointers_have(64) {
        "only targets with 64-bit pointers are supported".to_string()
    } else {
        return true;
    };
    module.error(&format!("midflight: {doing}: {problem}"));
    false
}
