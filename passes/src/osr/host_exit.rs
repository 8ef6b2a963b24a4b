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

/// What an exit hands over beside the values that travel in any case, and to whom.
#[derive(Clone, Copy)]
pub struct Handover<'a, 'm> {
    /// The function of the host
    pub callback: &'a str,
    /// Values by names of the embedder's
    pub named: &'a [(&'a str, Given<'m>)],
}

/// A value that the host gets by a name of the embedder's.
#[derive(Clone, Copy)]
pub enum Given<'m> {
    /// One of the version, which travels
    Value(ValueId),
    /// A constant, or the address of a global
    Constant(Value<'m>),
}

/// Why values that travel from a point, and the result, cannot be laid out for a host.
pub fn refusal(snapshot: &CodeSnapshot<'_>, values: &[ValueId]) -> Option<Refusal> {
    let types = values.iter().map(|&value| snapshot.value(value).ty());
    let mut types = types.chain([snapshot.function.result_type()]);
    types.any(Type::is_scalable).then_some(Refusal::LiveScalable)
}

/// Fills `exit`, a function of a prototype in which `transfers` travel. The host gets those under
/// their names in the IR, but for what is named, which comes behind them.
pub fn build<'m>(
    exit: Function<'m>,
    snapshot: &CodeSnapshot<'m>,
    transfers: &[Transfer],
    point: &str,
    handover: Handover<'_, 'm>,
) {
    let module = exit.module();
    let builder = Builder::new(module, exit);
    builder.at_end(exit.add_block("entry"));
    let parameters: Vec<_> = exit.arguments().collect();
    let (int32, pointer) = (module.int_type(32), module.pointer_type());

    let values = values(snapshot, transfers, handover, &parameters);

    // The variables first, so that they are a part of the frame.
    let bytes = |count: usize| module.int_type(8).array(count as u64);
    let places: Vec<_> =
        values.iter().map(|(_, value)| builder.variable(value.ty(), c"value")).collect();
    let list = builder.variable(bytes(values.len() * size_of::<OsrValue>()), c"values");
    let block = builder.variable(bytes(size_of::<OsrExit>()), c"exit");
    let result_type = exit.result_type();
    let result =
        (result_type.kind() != TypeKind::Void).then(|| builder.variable(result_type, c"result"));
    builder.align(list, 8);
    builder.align(block, 8);

    let put = |at: Value<'m>, offset: usize, value: Value<'m>| {
        builder.store(value, builder.offset(at, offset as u64));
    };
    for (number, (name, value)) in values.iter().enumerate() {
        let (kind, bits) = describe(module, value.ty());
        builder.store(*value, places[number]);
        let at = builder.offset(list, (number * size_of::<OsrValue>()) as u64);
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
    let count = values.len() as u64;
    put(block, offset_of!(OsrExit, version), int32.constant(OSR_VERSION.into()));
    put(block, offset_of!(OsrExit, count), int32.constant(count));
    let function = module.c_string(&snapshot.function.name());
    put(block, offset_of!(OsrExit, function), function);
    put(block, offset_of!(OsrExit, point), module.c_string(point));
    put(block, offset_of!(OsrExit, values), list);
    put(block, offset_of!(OsrExit, result), result.unwrap_or_else(|| pointer.null()));
    put(block, offset_of!(OsrExit, result_kind), int32.constant(result_kind.into()));
    put(block, offset_of!(OsrExit, result_bits), int32.constant(result_bits));

    let host = module.host_function(handover.callback, &[pointer]);
    let returned = builder.call(host, &[block]);
    match result {
        Some(result) => builder.ret(builder.load(result_type, result)),
        None => builder.ret(returned),
    }
}

/// What the host gets, in order, each value with its name.
fn values<'m>(
    snapshot: &CodeSnapshot<'m>,
    transfers: &[Transfer],
    handover: Handover<'_, 'm>,
    parameters: &[Value<'m>],
) -> Vec<(String, Value<'m>)> {
    let names = snapshot.names();
    let name_of = |value| names.get(value).map_or("", String::as_str).trim_start_matches('%');
    let is_named =
        |value| handover.named.iter().any(|(_, g)| matches!(g, Given::Value(of) if *of == value));
    let others = transfers.iter().filter(|&&(value, _)| !is_named(value));
    let others = others.map(|&(value, slot)| (name_of(value).to_string(), parameters[slot]));
    let named = handover.named.iter().map(|&(name, given)| {
        let value = match given {
            Given::Constant(value) => value,
            Given::Value(value) => {
                let transfer = transfers.iter().find(|&&(of, _)| of == value);
                parameters[transfer.expect("what is named travels").1]
            }
        };
        (name.to_string(), value)
    });
    others.chain(named).collect()
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
