//! Exits to a host: in place of a continuation, a callback of the embedder.
//!
//! The exit is a function with the live values as parameters, so the function with the point pays
//! nothing for it. It lays the values out as `midflight_abi::osr::OsrExit` says, calls the
//! callback, and returns what that has stored.

use crate::osr::prototype::Transfer;
use crate::read_code::CodeSnapshot;
use midflight_abi::osr::{
    OSR_FLOAT, OSR_INTEGER, OSR_OTHER, OSR_POINTER, OSR_VERSION, OsrExit, OsrValue,
};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::TypeKind;
use midflight_bridge::ir::{Function, Module, Type, Value};
use midflight_ir::ids::ValueId;
use midflight_mapping::refusal::Refusal;
use std::mem::{offset_of, size_of};

/// Why the values that are live at a point, and the result, cannot be laid out for a host.
pub fn refusal(snapshot: &CodeSnapshot<'_>, live: &[ValueId]) -> Option<Refusal> {
    let types = live.iter().map(|&value| snapshot.value(value).ty());
    let mut types = types.chain([snapshot.function.result_type()]);
    types.any(Type::is_scalable).then_some(Refusal::LiveScalable)
}

/// Fills `exit`, a function of a prototype in which `transfers` travel.
pub fn build<'m>(
    exit: Function<'m>,
    snapshot: &CodeSnapshot<'m>,
    transfers: &[Transfer],
    point: &str,
    callback: &str,
) {
    let module = exit.module();
    let names = snapshot.names();
    let builder = Builder::new(module, exit);
    builder.at_end(exit.add_block("entry"));
    let parameters: Vec<_> = exit.arguments().collect();
    let (int32, pointer) = (module.int_type(32), module.pointer_type());

    // The variables first, so that they are a part of the frame.
    let bytes = |count: usize| module.int_type(8).array(count as u64);
    let places: Vec<_> = transfers
        .iter()
        .map(|&(_, slot)| builder.variable(parameters[slot].ty(), c"value"))
        .collect();
    let list = builder.variable(bytes(transfers.len() * size_of::<OsrValue>()), c"values");
    let block = builder.variable(bytes(size_of::<OsrExit>()), c"exit");
    let result_type = exit.result_type();
    let result =
        (result_type.kind() != TypeKind::Void).then(|| builder.variable(result_type, c"result"));
    builder.align(list, 8);
    builder.align(block, 8);

    let put = |at: Value<'m>, offset: usize, value: Value<'m>| {
        builder.store(value, builder.offset(at, offset as u64));
    };
    for (number, &(value, slot)) in transfers.iter().enumerate() {
        let (kind, bits) = describe(module, parameters[slot].ty());
        builder.store(parameters[slot], places[number]);
        let at = builder.offset(list, (number * size_of::<OsrValue>()) as u64);
        let name = names.get(value).map_or("", String::as_str).trim_start_matches('%');
        put(at, offset_of!(OsrValue, name), module.c_string(name));
        put(at, offset_of!(OsrValue, address), places[number]);
        put(at, offset_of!(OsrValue, kind), int32.constant(kind.into()));
        put(at, offset_of!(OsrValue, bits), int32.constant(bits));
    }
    let (result_kind, result_bits) = match result {
        Some(result) => {
            builder.store(result_type.null(), result);
            describe(module, result_type)
        }
        None => (OSR_INTEGER, 0),
    };
    let count = transfers.len() as u64;
    put(block, offset_of!(OsrExit, version), int32.constant(OSR_VERSION.into()));
    put(block, offset_of!(OsrExit, count), int32.constant(count));
    let function = module.c_string(&snapshot.function.name());
    put(block, offset_of!(OsrExit, function), function);
    put(block, offset_of!(OsrExit, point), module.c_string(point));
    put(block, offset_of!(OsrExit, values), list);
    put(block, offset_of!(OsrExit, result), result.unwrap_or_else(|| pointer.null()));
    put(block, offset_of!(OsrExit, result_kind), int32.constant(result_kind.into()));
    put(block, offset_of!(OsrExit, result_bits), int32.constant(result_bits));

    let host = module.host_function(callback, &[pointer]);
    let returned = builder.call(host, &[block]);
    match result {
        Some(result) => builder.ret(builder.load(result_type, result)),
        None => builder.ret(returned),
    }
}

/// How a host sees a type: `OSR_…` and its size in bits.
fn describe<'m>(module: Module<'m>, ty: Type<'m>) -> (u32, u64) {
    let kind = match ty.kind() {
        TypeKind::Integer => OSR_INTEGER,
        TypeKind::Float => OSR_FLOAT,
        TypeKind::Pointer => OSR_POINTER,
        TypeKind::Void | TypeKind::Other => OSR_OTHER,
    };
    (kind, module.size_of(ty).0)
}
