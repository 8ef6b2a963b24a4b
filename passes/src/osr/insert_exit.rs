//! The API for compiler writers: a point at a place of one's own that exits to the host, as a
//! virtual machine's compiled code goes back to its interpreter.

use crate::osr::condition::Condition;
use crate::osr::host_exit::{Given, Handover, refusal};
use crate::osr::insert::{
    Copy, Insertion, OsrError, OsrPoint, check_condition, check_function, insert_planned,
};
use crate::osr::weave::{Body, Departure, Plan, Weaver};
use crate::read_code::read_code;
use midflight_bridge::ir::{Home, Value};
use midflight_ir::ids::ValueId;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::live_refusal;
use midflight_mapping::refusal::Refusal;
use std::borrow::Cow;

/// Inserts a point that calls, when `condition` holds, the function `callback` of the host as
/// `void callback(struct midflight_osr_exit *exit)`; what that stores as the result is what the
/// function returns. The callback gets the values that are live at the point, by their names in the
/// IR, and behind them those of `named` by the names given there: constants, or values that are
/// available at the point, though they are not live. A live value that is named is not in the list
/// twice.
///
/// A guard is a branch whose cold side has such a point with [`Condition::Always`]; what follows
/// there, a return for instance, is not reached.
///
/// # Errors
/// [`OsrError::Refused`], [`OsrError::NoBoundary`], [`OsrError::NoPatch`], or
/// [`OsrError::NotAvailable`] for a named value; then nothing was inserted.
///
/// ```no_run
/// use midflight_passes::osr::api::{Condition, Function, OsrPoint, Value, insert_host_exit};
///
/// # fn example<'m>(
/// #     function: Function<'m>,
/// #     i: Value<'m>,
/// #     pc: Value<'m>,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// // The second block is where an addition has overflowed.
/// let cold = function.blocks().nth(1).unwrap();
/// let point = OsrPoint { before: cold.insertion_point(), name: "overflow".to_string() };
/// insert_host_exit(&point, Condition::Always, "leave", &[("i", i), ("pc", pc)])?;
/// # Ok(())
/// # }
/// ```
pub fn insert_host_exit<'m>(
    point: &OsrPoint<'m>,
    condition: Condition,
    callback: &str,
    named: &[(&str, Value<'m>)],
) -> Result<Insertion<'m>, OsrError> {
    let base = point.before.block().function();
    check_condition(point, condition)?;
    check_function(point, base)?;
    // Nothing may be changed in the base before all is known to go well.
    let source = Copy::of(base, point.before);
    let source = source.ok_or_else(|| OsrError::NoBoundary(point.name.clone()))?;
    let planned = plan(point, &source, named);
    let at = source.side.point.at;
    source.erase();
    let (map, named) = planned?;

    // A function and its copy are prepared alike.
    base.prepare_for_points();
    let snapshot = read_code(base);
    let (name, map) = (point.name.clone(), Cow::Owned(map));
    let departure =
        Departure { version: &snapshot, at, name, condition, guard: None, way: None, map };
    let body = Body::Host(Handover { callback, named: &named });
    let plan = Plan::resolved(format!("{}.osr.exit", base.name()), body, departure);
    let weaver = Weaver::declare(base, &plan);
    weaver.build(None);
    Ok(insert_planned(&weaver, &snapshot, at, condition))
}

/// What travels, and what of it has names.
type Planned<'a, 'm> = (PointMap, Vec<(&'a str, Given<'m>)>);

fn plan<'a, 'm>(
    point: &OsrPoint<'m>,
    source: &Copy<'m>,
    named: &[(&'a str, Value<'m>)],
) -> Result<Planned<'a, 'm>, OsrError> {
    let (base, side) = (point.before.block().function(), &source.side);
    let available = source.available();
    let given = |&(name, value): &(&'a str, Value<'m>)| match value.home() {
        Home::Module => Ok((name, Given::Constant(value))),
        _ => match available.number(value) {
            Some(id) => Ok((name, Given::Value(id))),
            None => Err(OsrError::NotAvailable {
                point: point.name.clone(),
                code: format!("the host, for '{name}',"),
                need: value.described(),
                source_name: base.name(),
            }),
        },
    };
    let named = named.iter().map(given).collect::<Result<Vec<_>, _>>()?;
    let live = &side.point.live;
    let travels = |(_, given): &(_, Given<'m>)| match *given {
        Given::Value(id) => Some(id),
        Given::Constant(_) => None,
    };
    let mut values: Vec<ValueId> =
        live.iter().copied().chain(named.iter().filter_map(travels)).collect();
    values.sort_unstable();
    values.dedup();
    let is_scalable =
        |(_, given): &(_, Given<'m>)| matches!(given, Given::Constant(of) if of.ty().is_scalable());
    let scalable = || named.iter().any(is_scalable).then_some(Refusal::LiveScalable);
    let refusal = (side.point.refusal)
        .or_else(|| live_refusal(&side.snapshot.body, &values))
        .or_else(|| refusal(&side.snapshot, &values))
        .or_else(scalable);
    if let Some(refusal) = refusal {
        return Err(OsrError::Refused { point: point.name.clone(), refusal });
    }
    Ok((PointMap::identity(side.point.at, &values), named))
}
