//! Making a version at run time, from the IR that the program carries (thesis 4.1, `gen`).
//!
//! What is made of the base version `f`, with the point `p` and the key `K`:
//!
//! | function | what it is |
//! |---|---|
//! | [`TARGET`] | what emitted code calls: it has the prototype of the point's live values |
//! | [`NEXT`] | `f` from `p` on, specialized; [`TARGET`] calls it, and so do exits of `f`'s versions |
//! | [`ENTRY`] | all of `f`, specialized, for later calls |
//! | `midflight.base.osr` | `f` as it was, from where guards lead to; the point is open there too |
//!
//! Guards are inserted here, before anything is optimized, where the mapping is the identity
//! (thesis 4.1.2); the optimizer then moves their values like any operands. All that go on in the
//! middle of `f` have one prototype, so that versions and exits follow each other in constant
//! stack.

use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::open::assume::{self, Assumed, Read};
use crate::osr::open::fire::Asked;
use crate::osr::open::generator::Generator;
use crate::osr::open::guard::{Guard, Holds, Shared};
use crate::osr::open::key::{self, Key};
use crate::osr::open::landing::Landing;
use crate::osr::open::specialize::{Assumption, Custom, OfEntry, specialize};
use crate::osr::prototype::Prototype;
use crate::osr::weave::{
    Body, Continuation, Dead, Departure, Passing, Plan, PlannedSite, SiteKind, Weaver,
};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_abi::open::{OPEN_FUNCTION, OPEN_MADE_NEXT};
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::ir::{Function, Module};
use midflight_ir::ids::{InstId, ValueId};
use midflight_ir::liveness::liveness;
use midflight_mapping::points::{Point, points};
use std::borrow::Cow;

/// What emitted code goes on in.
pub const TARGET: &str = "midflight.target";
/// What other versions go on in.
pub const NEXT: &str = "midflight.next";
/// What calls begin in.
pub const ENTRY: &str = "midflight.entry";

/// What a version is made for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What makes it
    pub generator: Generator,
    /// Number of the instruction that the point is before
    pub at: u32,
    /// The kind of key, and its number, as `OpenSite` has them
    pub key_kind: u32,
    /// See `key_kind`
    pub key_number: u32,
    /// The key
    pub key: u64,
    /// Hits of the point until it fires again, behind an exit; 0 if it does not
    pub count: u32,
    /// Address of the `OpenSite`
    pub site: u64,
    /// Address of the `OpenMade`
    pub made: u64,
    /// It is for all keys: nothing is specialized, and the version has no point.
    pub is_generic: bool,
    /// Guards ask the runtime whether they fail though they hold.
    pub is_tested: bool,
}

/// A version, as functions of its module.
pub struct Version<'m> {
    /// [`TARGET`]
    pub target: Function<'m>,
    /// [`NEXT`]
    pub next: Function<'m>,
    /// [`ENTRY`], unless the function is variadic
    pub entry: Option<Function<'m>>,
    /// Where guards lead, if there are any
    pub exit: Option<Function<'m>>,
    /// Guards that were inserted into each, those of an inlined callee included
    pub guards: usize,
}

/// Why there is no version.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoVersion {
    /// For this key there is nothing to gain.
    #[error("{0}")]
    Nothing(&'static str),
    /// None can be made for this point.
    #[error("{0}")]
    Failed(String),
}

pub(super) fn failed<T>(problem: &str) -> Result<T, NoVersion> {
    Err(NoVersion::Failed(problem.to_string()))
}

/// Makes a version of the module's [`OPEN_FUNCTION`], which is used up. `body` is the function
/// whose address the key is, if its IR is known.
///
/// # Errors
/// [`NoVersion`]
pub fn make<'m>(
    module: Module<'m>,
    request: &Request,
    body: Option<Function<'m>>,
    custom: Option<Custom<'_, 'm>>,
    read: Read<'_>,
) -> Result<Version<'m>, NoVersion> {
    let Some(base) = module.function(OPEN_FUNCTION) else {
        return failed("the program carries no IR of the function");
    };
    if let Some(name) = module.functions().map(Function::name).find(|name| is_unlowered(name)) {
        return Err(NoVersion::Failed(format!(
            "its IR has {name}, which other passes of the compiler have yet to lower; use stage=late"
        )));
    }
    base.allow_optimization();
    let snapshot = read_code(base);
    let all = points(&snapshot.body, &liveness(&snapshot.body), base.facts());
    let find = |at: InstId| all.iter().find(|p| p.at == at && p.refusal.is_none());
    let Some(point) = find(InstId::from(request.at as usize)) else {
        return failed("the program's IR has no such point");
    };
    let Some(key) = Key::decode(request.key_kind, request.key_number, &snapshot) else {
        return failed("the program's IR has no such key");
    };
    let plan = specialize(request, &snapshot, &all, point, key, body, custom)?;
    let address = |of: u64| module.int_type(64).constant(of).as_pointer();
    let shared = Shared {
        site: address(request.site),
        made: address(request.made),
        is_tested: request.is_tested,
    };
    let assumed = Assumed::of(&snapshot, &all, read);
    let of_callee = match body {
        Some(body) if !request.is_generic => assume::specialize_callee(body, shared, read),
        _ => 0,
    };
    let constant = |value: ValueId, is: u64| key::as_constant(base, snapshot.value(value).ty(), is);
    let specialized = |name: &str, operands: &[(InstId, u32, Assumption)], calls: &[InstId]| {
        let version = snapshot.of_copy(base.clone_as(name));
        for (inst, number, assumed) in operands {
            let constant = constant(assumed.value, assumed.is);
            version.instructions[*inst].set_operand(*number, constant);
        }
        for &call in calls {
            let body = body.expect("calls are led to a body");
            version.instructions[call].call_instead(body);
        }
        if !request.is_generic {
            assumed.apply(&version);
        }
        version
    };
    let version = specialized("midflight.version", &plan.operands, &plan.calls);
    let entry = (!base.facts().is_variadic()).then(|| match &plan.of_entry {
        Some(OfEntry { operands, calls, .. }) => specialized(ENTRY, operands, calls),
        None => specialized(ENTRY, &plan.operands, &plan.calls),
    });

    // The first departure is the point, as the version is entered and left again behind an exit.
    let open = Asked { site: shared.site, key, code: OPEN_MADE_NEXT };
    let known = match key {
        Key::Value(value) if !request.is_generic => Some((value, constant(value, request.key))),
        _ => None,
    };
    let (map, constants) = Landing::map(&snapshot, point, known);
    let mut departures = vec![Departure {
        version: &snapshot,
        at: point.at,
        name: String::new(),
        condition: Condition::Count(request.count.max(1)),
        guard: None,
        way: None,
        map: Cow::Owned(map),
    }];
    let equal = |assumed: &Assumption| {
        let expected = constant(assumed.value, assumed.is);
        (assumed.at, Holds::Equal(assumed.value, expected))
    };
    let valid = assumed.places.iter().map(|&at| (at, Holds::Valid));
    // The guards for calls only are the last.
    let of_entry = plan.of_entry.as_ref().map(|of_entry| of_entry.guard);
    let mut keep_frames = Vec::new();
    let guarded = plan.guards.iter().map(equal).chain(valid);
    for (at, holds) in guarded.chain(of_entry.iter().map(equal)) {
        let Some(at) = find(at) else {
            return failed("no transition can start where the guard would be");
        };
        departures.push(Guard { holds, shared }.departure(&snapshot, &all, at));
        keep_frames.push(at.further.is_some());
    }
    let guards = if request.is_generic { 0 } else { keep_frames.len() };
    let continuation = |name: &str, body, entries| Continuation {
        name: name.to_string(),
        body,
        entries,
        dead: Dead::default(),
    };
    let next = continuation(NEXT, Body::Of(&version), vec![0]);
    let mut continuations = vec![next];
    let mut sites = Vec::new();
    if guards > 0 {
        let exits = (1..=guards).collect();
        let name = format!("{OPEN_FUNCTION}.osr");
        continuations.push(continuation(&name, Body::CopyOf(&snapshot), exits));
        continuations.push(continuation("", Body::Open(open), vec![0]));
        for (from, guards) in [(None, guards), (Some(0), guards - of_entry.iter().count())] {
            sites.extend((1..=guards).map(|departure| PlannedSite {
                departure,
                from,
                to: 1,
                is_inserted: true,
                kind: match keep_frames[departure - 1] {
                    true => SiteKind::KeepsFrame,
                    false => SiteKind::Plain,
                },
            }));
        }
        // Versions of a program's own generator have no common prototype. Where frames stay, the
        // stack would grow.
        let is_inserted = request.count > 0
            && point.further.is_none()
            && custom.is_none()
            && !keep_frames.contains(&true);
        let again =
            PlannedSite { departure: 0, from: Some(1), to: 2, is_inserted, kind: SiteKind::Plain };
        sites.push(again);
    }
    let woven = Plan {
        departures,
        continuations,
        sites,
        passing: Passing::Together { has_selector: true },
        chain: false,
        preserves_none: false,
        material: Material { constant: &|number| constants[number as usize], ..Material::NONE },
        description: None,
    };
    let weaver = Weaver::declare(base, &woven);
    weaver.build(None);
    let next = weaver.continuation(0);
    next.forbid_specialization();
    let exit = (guards > 0).then(|| weaver.continuation(1));
    if let Some(exit) = exit {
        exit.forbid_specialization();
    }
    if let Some(entry) = &entry {
        weaver.insert(entry, None);
    }
    for transform in &plan.transforms {
        for function in [Some(next), entry.as_ref().map(|entry| entry.function)] {
            function.map_or(Ok(()), transform).map_err(NoVersion::Failed)?;
        }
    }
    let target = enter(&snapshot, point, &weaver, next);
    base.erase();
    Ok(Version {
        target,
        next,
        entry: entry.map(|entry| entry.function),
        exit,
        guards: guards + of_callee,
    })
}

/// Intrinsics that the code generator's pipeline does not lower, and its backend does not know.
fn is_unlowered(name: &str) -> bool {
    ["llvm.instrprof.", "llvm.type.", "llvm.public.type.", "llvm.coro."]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// What emitted code calls, with the prototype that the point has there, and that calls `next`.
fn enter<'m>(
    snapshot: &CodeSnapshot<'m>,
    point: &Point,
    weaver: &Weaver<'_, 'm>,
    next: Function<'m>,
) -> Function<'m> {
    let base = snapshot.function;
    let type_of = |_: usize, value| snapshot.value(value).ty();
    let live: &[&[ValueId]] = &[&point.live];
    let outer = Prototype::new(live, base.arguments().count(), false, type_of);
    let target = base.declare_continuation(outer.function_type(base), TARGET);
    let builder = Builder::new(base.module(), target);
    builder.at_end(target.add_block("entry"));
    let parameters: Vec<_> = target.arguments().collect();
    let inner = weaver.prototype(0);
    let mut arguments: Vec<_> = inner.slots.iter().map(|ty| ty.poison()).collect();
    for &(value, slot) in weaver.transfers(0, 0) {
        let from = outer.transfers[0].iter().find(|&&(of, _)| of == value);
        let &(_, from) = from.expect("what is live at the point travels");
        arguments[slot] = parameters[from];
    }
    arguments.insert(0, base.module().int_type(32).constant(0));
    builder.ret(builder.call_function(next, &arguments, Tail::May));
    target
}
