//! What a program carries for its open points: the IR of functions, link tables, and sites.

use crate::osr::condition::Condition;
use crate::osr::open::generator::Generator;
use crate::osr::open::key::Key;
use midflight_abi::open::{OPEN_BODY_SECTION, OPEN_SECTION, OPEN_VERSION};
use midflight_bridge::ir::{Function, Module, Value};
use midflight_bridge::pass::LLVM_MAJOR;

/// Functions of more blocks than this do not come along as what a key may lead to.
const MOST_BLOCKS: usize = 100;

/// An open point of a function.
pub struct OpenPoint<'o> {
    /// Its name
    pub name: &'o str,
    /// The number of the instruction that it is before
    pub at: u32,
    /// What it profiles
    pub key: Key,
    /// When it fires
    pub condition: Condition,
    /// What makes versions
    pub generator: &'o Generator,
}

/// Puts the IR of a function into its module. Calls of the function look for a version in `entry`.
///
/// # Errors
/// That of [`Function::slice`].
pub fn code<'m>(function: Function<'m>, entry: Option<Value<'m>>) -> Result<Value<'m>, String> {
    let module = function.module();
    let slice = function.slice()?;
    let (pointer, int64) = (module.pointer_type(), module.int_type(64));
    let bytes = module.private_bytes("midflight.open.ir", &slice.bytes);
    let links = module.constant_array(pointer, &slice.links);
    let links = module.private_global("midflight.open.links", links, true);
    let code = module.constant_struct(&[
        bytes,
        int64.constant(slice.bytes.len() as u64),
        links,
        int64.constant(slice.links.len() as u64),
        entry.unwrap_or_else(|| pointer.null()),
    ]);
    Ok(module.private_global("midflight.open.code", code, true))
}

/// The `OpenSite` of a point.
pub fn site<'m>(function: Function<'m>, code: Value<'m>, point: &OpenPoint<'_>) -> Value<'m> {
    let module = function.module();
    let (pointer, int16, int32) = (module.pointer_type(), module.int_type(16), module.int_type(32));
    let (kind, number) = point.key.encoded();
    let count = match point.condition {
        Condition::Count(count) => count,
        _ => 0,
    };
    let site = module.constant_struct(&[
        pointer.null(),
        pointer.null(),
        code,
        module.c_string(&point.generator.name()),
        module.c_string(&function.name()),
        module.c_string(point.name),
        int16.constant(OPEN_VERSION.into()),
        int16.constant(kind.into()),
        int32.constant(number.into()),
        int32.constant(point.at.into()),
        int32.constant(LLVM_MAJOR.into()),
        int32.constant(count.into()),
        int32.constant(0),
        module.c_string(&module.source_file()),
    ]);
    module.section_record("midflight.open", OPEN_SECTION, site)
}

/// Puts the IR of all functions into the module whose address may be a key: small ones whose
/// address is taken. Once for a module.
pub fn bodies(module: Module<'_>) {
    if !module.globals_in_section(OPEN_BODY_SECTION).is_empty() {
        return;
    }
    let may_be_key = |function: &Function<'_>| {
        function.is_definition()
            && !function.facts().is_available_externally()
            && function.is_address_taken()
            && function.blocks().count() <= MOST_BLOCKS
            && function.slice_refusal().is_none()
    };
    let functions: Vec<_> = module.functions().filter(may_be_key).collect();
    for function in functions {
        // What cannot be carried is no key: its calls stay calls.
        let Ok(code) = code(function, None) else { continue };
        let body = module.constant_struct(&[function.value(), code]);
        module.retained_record("midflight.open.body", OPEN_BODY_SECTION, body);
    }
}
