//! Checking a state map that was made by hand: source and destination run side by side, on inputs
//! of one's own, and what the map gives at a point must be what the destination has at the landing.
//!
//! ```text
//! NAME.source:       …                                     NAME.destination:  …
//!      the point ──► tell what the map gives,    compare,       the landing ─► tell what is live
//!                    compensation code included ◄────────►
//!                    …  (no transition)                                        …
//! ```
//!
//! The k-th time that the one comes to the point belongs to the k-th time that the other comes to
//! the landing. A wrong value is found there, whether or not the results of these inputs depend on
//! it.

use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::host_exit;
use crate::osr::insert::{Copy, OsrError, OsrPoint, Watch, check_request, plan};
use crate::osr::state_map::StateMap;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::TypeKind;
use midflight_bridge::ir::{Function, Inst, Module, Type, Value};
use midflight_bridge::observe::{Observation, take};
use std::fmt::Debug;

pub use midflight_bridge::observe::observer;

/// Values are laid out in multiples of this, which is enough for any type's alignment.
const GRANULE: u64 = 64;

const SOURCE: u32 = 0;
const DESTINATION: u32 = 1;

/// The functions that check a point, and what they tell.
pub struct Check<'m> {
    /// A copy of the source that tells what the map gives; external
    pub source: Function<'m>,
    /// A copy of the destination that tells what it has; external
    pub destination: Function<'m>,
    /// `void (ptr)`: takes the address of what is reported, [`observer`]; external
    pub set_observer: Function<'m>,
    comparison: Comparison,
}

impl<'m> Check<'m> {
    /// What compares, for when the module is compiled and gone.
    pub fn comparison(&self) -> Comparison {
        self.comparison.clone()
    }
}

/// How two runs are compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    point: String,
    values: Vec<Observed>,
}

#[derive(Clone, Debug)]
struct Observed {
    name: String,
    bytes: std::ops::Range<usize>,
}

/// What two runs disagree about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The map gives another value than the destination has.
    #[error(
        "checking OSR point '{point}': at hit {hit} the state map gives {given} for {value}, and \
         the destination itself has {own}"
    )]
    Value {
        /// The point
        point: String,
        /// Which hit, from 1
        hit: usize,
        /// The value, and the destination
        value: String,
        /// What the map gives, in hexadecimal
        given: String,
        /// What the destination has
        own: String,
    },
    /// One comes by more often than the other.
    #[error(
        "checking OSR point '{point}': the source came to it {source_hits} times, and the \
         destination {own_hits} times to the landing; they can be compared hit by hit only"
    )]
    Hits {
        /// The point
        point: String,
        /// How often the source came to the point
        source_hits: usize,
        /// How often the destination came to the landing
        own_hits: usize,
    },
    /// The two functions give different results, so neither is a version of the other.
    #[error("checking OSR point '{point}': the source gives {given}, the destination {own}")]
    Result {
        /// The point
        point: String,
        /// What the source gives
        given: String,
        /// What the destination gives
        own: String,
    },
    /// The inputs do not lead there.
    #[error("checking OSR point '{0}': neither version came by; try other inputs")]
    NotReached(String),
}

impl Comparison {
    /// Runs the two functions of a [`Check`] on the same inputs, each with memory of its own in the
    /// same state, and compares what they tell and what they give. Returns how often they came by.
    ///
    /// # Errors
    /// The first [`Mismatch`].
    pub fn run<R: PartialEq + Debug>(
        &self,
        source: impl FnOnce() -> R,
        destination: impl FnOnce() -> R,
    ) -> Result<usize, Mismatch> {
        let point = || self.point.clone();
        // What other code of the thread told is not meant.
        take();
        let given = source();
        let told = of_side(SOURCE);
        let own = destination();
        let has = of_side(DESTINATION);
        for (hit, (told, has)) in told.iter().zip(&has).enumerate() {
            for value in &self.values {
                let bytes = |of: &Observation| hexadecimal(&of.bytes[value.bytes.clone()]);
                let (given, own) = (bytes(told), bytes(has));
                if given != own {
                    let (point, value, hit) = (point(), value.name.clone(), hit + 1);
                    return Err(Mismatch::Value { point, hit, value, given, own });
                }
            }
        }
        if told.len() != has.len() {
            let (source_hits, own_hits) = (told.len(), has.len());
            return Err(Mismatch::Hits { point: point(), source_hits, own_hits });
        }
        if given != own {
            let (given, own) = (format!("{given:?}"), format!("{own:?}"));
            return Err(Mismatch::Result { point: point(), given, own });
        }
        if told.is_empty() {
            return Err(Mismatch::NotReached(point()));
        }
        Ok(told.len())
    }
}

fn of_side(side: u32) -> Vec<Observation> {
    take().into_iter().filter(|told| told.side == side).collect()
}

/// Bytes in memory as a number, on machines that have the lowest first.
fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

/// Adds functions to the module that check the map at a point; nothing else is changed. They are to
/// be compiled as any other, and compared by [`Check::comparison`].
///
/// Pointers are not compared: those into the frame differ from run to run. Code for the whole point
/// is not run.
///
/// # Errors
/// [`OsrError`], as for [`insert_resolved_osr`](crate::osr::insert::insert_resolved_osr); then
/// nothing was added.
///
/// ```no_run
/// use midflight_passes::osr::api::{OsrPoint, StateMap, emit_check};
///
/// # fn example<'m>(point: &OsrPoint<'m>, map: &StateMap<'m>) -> Result<(), Box<dyn std::error::Error>> {
/// let check = emit_check(point, map, "hot.check")?;
/// let comparison = check.comparison();
/// # let (source, destination) = (|n: i64| n, |n: i64| n);
/// // Compile; look up check.source, check.destination and check.set_observer; then:
/// // set_observer(observer());
/// for n in 0..100 {
///     comparison.run(|| source(n), || destination(n))?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn emit_check<'m>(
    point: &OsrPoint<'m>,
    map: &StateMap<'m>,
    name: &str,
) -> Result<Check<'m>, OsrError> {
    let landing = check_request(point, Condition::Always, map)?;
    let boundary = || OsrError::NoBoundary(point.name.clone());
    let source = Copy::of(map.from, point.before).ok_or_else(boundary)?;
    let Some(destination) = Copy::of(map.to, landing) else {
        source.erase();
        return Err(boundary());
    };
    let own = &destination.side;
    let observable = match host_exit::refusal(&own.snapshot, &own.point.live) {
        Some(refusal) => Err(OsrError::Refused { point: point.name.clone(), refusal }),
        None => Ok(()),
    };
    let planned = observable.and_then(|()| plan(point, map, &source, &destination));
    let transition = match planned {
        Ok(transition) => transition,
        Err(error) => {
            source.erase();
            destination.erase();
            return Err(error);
        }
    };
    let module = map.from.module();
    let (source_code, own_code) = (&source.side.snapshot, &destination.side.snapshot);

    // The source tells what the map gives.
    let teller = Teller::new(module, name);
    let watch = Watch::default();
    let code = transition.code(&watch, false);
    let material = Material { code: &code, ..Material::NONE };
    let at = source_code.instructions[source.side.point.at];
    let told = teller.tell(SOURCE, at, |builder| {
        let value = |value| source_code.value(value);
        let given = material.reconstruct(builder, own_code, &transition.map, value);
        given.into_iter().map(|(_, value)| value).collect()
    });
    let at = own_code.instructions[destination.side.point.at];
    let live = transition.map.values.iter().map(|&(id, _)| own_code.value(id)).collect::<Vec<_>>();
    let names = live.iter().map(|value| {
        destination.original.get(value).map_or_else(|| value.described(), |v| v.described())
    });
    let values = observed(&told, names.collect());
    teller.tell(DESTINATION, at, |_| live);
    let (checked, own) = (source_code.function, own_code.function);
    let invalid = |message: String| {
        let problem = format!("makes a function that is not valid: {}", message.trim());
        ("the compensation code".to_string(), problem)
    };
    let problem = watch.problem().or_else(|| checked.verify().map(invalid));
    if let Some((code, problem)) = problem {
        source.erase();
        destination.erase();
        teller.erase();
        return Err(OsrError::Code { point: point.name.clone(), code, problem });
    }
    checked.make_external(&format!("{name}.source"));
    own.make_external(&format!("{name}.destination"));
    Ok(Check {
        source: checked,
        destination: own,
        set_observer: teller.set_observer,
        comparison: Comparison { point: point.name.clone(), values },
    })
}

/// Where the values are that are reported, each with its name, without pointers.
fn observed(told: &[(Type<'_>, u64)], names: Vec<String>) -> Vec<Observed> {
    let mut start = 0;
    let mut observed = Vec::new();
    for (&(ty, bytes), name) in told.iter().zip(names) {
        if ty.kind() != TypeKind::Pointer {
            let bytes = start as usize..(start + bytes) as usize;
            observed.push(Observed { name, bytes });
        }
        start += bytes.next_multiple_of(GRANULE);
    }
    observed
}

/// What functions that are checked tell their values to.
struct Teller<'m> {
    module: Module<'m>,
    /// Holds the address of the observer
    variable: Value<'m>,
    /// The observer until there is one
    ignore: Function<'m>,
    set_observer: Function<'m>,
}

impl<'m> Teller<'m> {
    fn new(module: Module<'m>, name: &str) -> Self {
        let ignore = module.define(&format!("{name}.ignore"), Teller::observer_type(module));
        let builder = Builder::new(module, ignore);
        builder.at_end(ignore.add_block("entry")).ret_void();
        let variable = module.private_global(&format!("{name}.observer"), ignore.value(), false);
        let of_pointer = module.void_type().function(&[module.pointer_type()]);
        let set_observer = module.define(&format!("{name}.observe"), of_pointer);
        let builder = Builder::new(module, set_observer);
        builder.at_end(set_observer.add_block("entry"));
        set_observer.arguments().for_each(|address| builder.store(address, variable));
        builder.ret_void();
        Teller { module, variable, ignore, set_observer }
    }

    fn observer_type(module: Module<'m>) -> Type<'m> {
        let parameters = [module.int_type(32), module.pointer_type(), module.int_type(64)];
        module.void_type().function(&parameters)
    }

    /// Has a function tell values before an instruction. Returns their types, each with its size in
    /// bytes, in their order.
    fn tell(
        &self,
        side: u32,
        at: Inst<'m>,
        values: impl FnOnce(&Builder<'m>) -> Vec<Value<'m>>,
    ) -> Vec<(Type<'m>, u64)> {
        let function = at.block().function();
        let (int8, int32, int64) =
            (self.module.int_type(8), self.module.int_type(32), self.module.int_type(64));
        let check = at.block();
        let rest = at.split_before("osr.checked");
        check.terminator().erase();
        let builder = Builder::new(self.module, function);
        builder.at_end(check);
        let values = values(&builder);
        let types = values.iter().map(|value| (value.ty(), self.module.size_of(value.ty()).1));
        let types: Vec<_> = types.collect();
        let size: u64 = types.iter().map(|(_, bytes)| bytes.next_multiple_of(GRANULE)).sum();
        builder.branch(rest);

        if let Some(first) = function.blocks().next().and_then(|b| b.instructions().next()) {
            builder.before(first);
        }
        let buffer = builder.zeroed_variable(int8.array(size));
        builder.align(buffer, GRANULE as u32);
        builder.before(check.terminator());
        let mut offset = 0;
        for (value, (_, bytes)) in values.into_iter().zip(&types) {
            builder.store(value, builder.offset(buffer, offset));
            offset += bytes.next_multiple_of(GRANULE);
        }
        let observer = builder.load(self.module.pointer_type(), self.variable);
        let arguments = [int32.constant(side.into()), buffer, int64.constant(size)];
        builder.call_pointer(observer, Teller::observer_type(self.module), &arguments);
        types
    }

    /// Removes it; nothing tells it anything any more.
    fn erase(self) {
        self.set_observer.erase();
        self.variable.erase_global();
        self.ignore.erase();
    }
}
