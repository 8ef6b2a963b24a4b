//! The function that goes on in a version behind one of its markers (thesis 4.1.1, `f'_to`).
//!
//! Its parameters are the marker's values. Where the version of an inlined callee is to run first,
//! it begins with a call of the callee's continuation, with further parameters, *beside* the call
//! before the marker: so what the caller does with a result or an exception is its own code.

use crate::driver::reason_to_refuse;
use crate::osr::compensate::Material;
use crate::osr::continuation::{self, build};
use crate::osr::deopt::versions::{Landing, Marked, is_copy_no_more, name_of, take_markers};
use crate::osr::prototype::{Prototype, Transfer};
use crate::osr::weave::MARK;
use crate::read_code::read_code;
use midflight_bridge::ir::{Function, Type};
use midflight_ir::liveness::liveness;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::point_at;
use midflight_mapping::refusal::Refusal;

/// Why there is no continuation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LandingError {
    /// No continuation can begin there.
    #[error(
        "'{version}' cannot go on at point {point}: {} [{}]", .refusal.message(), .refusal.name()
    )]
    Refused {
        /// The version
        version: String,
        /// The marker's number
        point: u64,
        /// The reason
        refusal: Refusal,
    },
    /// Something is live there that the marker does not name.
    #[error(
        "{value} is live at point {point}, and is no argument of the marker there; name it, and \
         give its value in the frames"
    )]
    Unnamed {
        /// The value, and whose
        value: String,
        /// The marker's number
        point: u64,
    },
    /// The marker does not stand behind a call.
    #[error(
        "point {point} of '{version}' is the place of an inlined call, and its marker does not \
         stand directly behind a call"
    )]
    NoCall {
        /// The version
        version: String,
        /// The marker's number
        point: u64,
    },
    /// The call there has another result than what was inlined.
    #[error(
        "the call before point {point} of '{version}' returns another type than '{callee}', which \
         was inlined there"
    )]
    Results {
        /// The version
        version: String,
        /// The marker's number
        point: u64,
        /// The version of the callee
        callee: String,
    },
}

/// A function that goes on in a version.
#[derive(Clone)]
pub struct Continuation<'m> {
    /// The function
    pub function: Function<'m>,
    /// Types of its first parameters, which are the marker's values; those of an inner continuation
    /// follow
    pub values: Vec<Type<'m>>,
    /// The one of them that is the result of the call before the marker, if one still is: LLVM may
    /// know the result
    pub slot: Option<usize>,
}

/// Makes the continuation of `version`, a copy with markers, behind its marker number `point`, or,
/// where there is an inner one, at the call before it. None if LLVM has found out that control
/// never comes there: it has removed the marker, which there was.
///
/// # Errors
/// [`LandingError`]; then nothing was made.
pub fn continuation<'m>(
    version: Function<'m>,
    point: u64,
    inner: Option<Function<'m>>,
) -> Result<Option<Continuation<'m>>, LandingError> {
    let copy = version.clone_as(&format!("{}.version", version.name()));
    let made = of_copy(version, copy, point, inner);
    if !matches!(made, Ok(Some(_))) {
        copy.erase();
    }
    made
}

fn of_copy<'m>(
    version: Function<'m>,
    copy: Function<'m>,
    point: u64,
    inner: Option<Function<'m>>,
) -> Result<Option<Continuation<'m>>, LandingError> {
    let name = || name_of(version);
    let refused = |refusal| LandingError::Refused { version: name(), point, refusal };
    let refusal = reason_to_refuse(version.module(), version, None);
    if let Some(refusal) = refusal.filter(|&refusal| refusal != Refusal::Processed) {
        return Err(refused(refusal));
    }
    let Landing { behind, at_call } = take_markers(copy, point);
    let slot = behind.as_ref().zip(at_call.as_ref()).and_then(|(behind, call)| {
        behind.values.iter().position(|&value| value == call.at.value())
    });
    let (Marked { at: landing, values }, called) = match inner {
        None => match behind {
            Some(behind) => (behind, None),
            None => return Ok(None),
        },
        Some(inner) => {
            let Some(Marked { at: call, values }) = at_call else {
                let no_call = LandingError::NoCall { version: name(), point };
                return behind.map_or(Ok(None), |_| Err(no_call));
            };
            if call.facts().has_result() && call.value().ty() != inner.result_type() {
                let callee = inner.name();
                return Err(LandingError::Results { version: name(), point, callee });
            }
            let called = call.call_beside(inner);
            (Marked { at: called, values }, Some((called, inner)))
        }
    };
    copy.prepare_for_points();
    let snapshot = read_code(copy);
    let at = snapshot.id_of(landing);
    let point_there = at
        .and_then(|at| point_at(&snapshot.body, &liveness(&snapshot.body), copy.facts(), at))
        .ok_or_else(|| refused(Refusal::NeverReached))?;
    if let Some(refusal) = point_there.refusal {
        return Err(refused(refusal));
    }
    let mut transfers: Vec<Transfer> = Vec::new();
    for &live in &point_there.live {
        let value = snapshot.value(live);
        let Some(place) = values.iter().position(|&named| named == value) else {
            let value = value.described().replace(&copy.name(), &name());
            return Err(LandingError::Unnamed { value, point });
        };
        transfers.push((live, place));
    }
    let types: Vec<Type<'m>> = values.iter().map(|value| value.ty()).collect();
    let of_inner = inner.into_iter().flat_map(|inner| inner.arguments()).map(|a| a.ty());
    let slots: Vec<Type<'m>> = types.iter().copied().chain(of_inner).collect();
    let prototype = Prototype { slots, has_selector: false, transfers: vec![transfers] };
    let shell = version.declare_continuation(
        prototype.function_type(version),
        &format!("{}.deopt.{point}", name()),
    );
    let map = PointMap::identity(point_there.at, &point_there.live);
    let landing = continuation::Landing { map: &map, transfers: &prototype.transfers[0] };
    build(shell, &snapshot, &[], &prototype, &[landing], &Material::NONE, &[], None);
    if let Some((called, inner)) = called {
        let passed = shell.arguments().skip(types.len());
        for (number, argument) in (0..).zip(passed.take(inner.arguments().count())) {
            called.set_operand(number, argument);
        }
    }
    is_copy_no_more(shell);
    shell.mark(MARK);
    Ok(Some(Continuation { function: shell, values: types, slot }))
}
