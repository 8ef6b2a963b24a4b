//! What an open point does when it fires (thesis Fig. 4.3, with a cache for each point).
//!
//! ```text
//! fire:   key  = the profiled value
//!         made = site.cache
//!         made == null ? ask : look
//! look:   made.key == key && !made.invalid ? go : ask
//! ask:    asked = midflight_osr_open(site, key)
//!         asked == null ? none : go
//! go:     r = call (phi made, asked).target(live…)        ret r
//! none:   go on behind the point
//! ```

use crate::osr::open::key::{self, Profiled};
#[cfg(feature = "mutants")]
use crate::osr::open::mutant::Mutant;
use crate::osr::site::begin_entry;
use midflight_abi::open::{OPEN_MADE_INVALID, OPEN_SYMBOL};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Block, Function, Value};

/// Where an open point leads.
#[derive(Clone, Copy)]
pub struct Asked<'m> {
    /// Its `OpenSite`
    pub site: Value<'m>,
    /// What it profiles
    pub key: key::Key,
    /// Byte offset in `OpenMade` of the code to go on in
    pub code: usize,
}

/// Emits the request at the end of `fire`. Returns where it leads to if there is no version, which
/// has no terminator yet, and the block that goes on in a version, with its address.
pub fn ask<'m>(
    builder: &Builder<'m>,
    function: Function<'m>,
    fire: Block<'m>,
    asked: Asked<'m>,
    profiled: Profiled<'m>,
    seen: Option<Value<'m>>,
) -> Versions<'m> {
    let module = function.module();
    let (int64, pointer) = (module.int_type(64), module.pointer_type());
    let add = |name| function.add_block(name);
    let (look, ask, go, none) = (add("osr.look"), add("osr.ask"), add("osr.go"), add("osr.none"));

    builder.at_end(fire);
    let key = match (profiled, seen) {
        (Profiled::Value(value), _) => key::as_integer(builder, value),
        (Profiled::Callee(_), Some(seen)) => key::as_integer(builder, builder.load(pointer, seen)),
        _ => int64.constant(0),
    };
    let made = builder.int_to_pointer(builder.load_acquiring(int64, asked.site));
    let is_none = builder.equal(made, pointer.null());
    builder.branch(look);
    builder.branch_unlikely(fire, is_none, ask, look);

    builder.at_end(look);
    let differs = builder.differs(builder.load(int64, made), key);
    let invalid = builder.load_relaxed(int64, builder.offset(made, OPEN_MADE_INVALID as u64));
    let differs = builder.or(differs, builder.differs(invalid, int64.constant(0)));
    #[cfg(feature = "mutants")]
    let differs = if Mutant::StaleKey.is_on() { differs.ty().constant(0) } else { differs };
    builder.branch(go);
    builder.branch_unlikely(look, differs, ask, go);

    builder.at_end(ask);
    let open = module.runtime_function(OPEN_SYMBOL, pointer, &[pointer, int64]);
    let answer = builder.call(open, &[asked.site, key]);
    let is_none = builder.equal(answer, pointer.null());
    builder.branch(go);
    builder.branch_if(ask, is_none, none, go);

    let version = builder.phi(pointer, go, c"osr.made");
    version.add(made, look);
    version.add(answer, ask);
    let code = builder.load(pointer, builder.offset(version.value(), asked.code as u64));
    Versions { go, code, none }
}

/// What follows a request.
pub struct Versions<'m> {
    /// There is a version: the block ends with this
    pub go: Block<'m>,
    /// Its code
    pub code: Value<'m>,
    /// There is none
    pub none: Block<'m>,
}

/// A variable that has the address which a call called last; null at first. To be promoted to a
/// register when all blocks are complete.
pub fn remember_callee<'m>(
    builder: &Builder<'m>,
    function: Function<'m>,
    profiled: Profiled<'m>,
) -> Option<Value<'m>> {
    let Profiled::Callee(call) = profiled else { return None };
    let pointer = function.module().pointer_type();
    begin_entry(builder, function);
    let seen = builder.variable(pointer, c"osr.seen");
    builder.store(pointer.null(), seen);
    let callee = call.callee().expect("the key is a call");
    builder.before(call);
    builder.store(callee, seen);
    Some(seen)
}
