//! The API for compiler writers: an open point at a place of one's own (thesis Figs. 4.3 and 4.4;
//! OSRKit's `insertOpenOSR`).

use crate::osr::condition::Condition;
use crate::osr::forms::Chosen;
use crate::osr::insert::{OsrError, OsrPoint, check_condition, check_function};
use crate::osr::open::carry;
use crate::osr::open::generator::Generator;
use crate::osr::open::key::Keys;
use crate::osr::open::plan::{self, refuse_function};
use crate::osr::weave::weave;
use crate::read_code::read_code;
use midflight_bridge::ir::Value;
use midflight_ir::liveness::liveness;
use midflight_mapping::points::points;

/// Inserts a point at which the running program asks, when `condition` holds, for a version that
/// `generator` makes for the value that `key` has then; without `key` the generator chooses a
/// value. The function's IR as it is now goes into its module.
///
/// # Errors
/// [`OsrError::Refused`], [`OsrError::NoBoundary`], [`OsrError::NoPatch`], or [`OsrError::Code`] if
/// LLVM finds the carried IR broken; then no point was inserted.
///
/// ```no_run
/// use midflight_passes::osr::api::Function;
/// use midflight_passes::osr::condition::Condition;
/// use midflight_passes::osr::insert::OsrPoint;
/// use midflight_passes::osr::open::generator::Generator;
/// use midflight_passes::osr::open::insert::insert_open_osr;
///
/// # fn example<'m>(function: Function<'m>) -> Result<(), Box<dyn std::error::Error>> {
/// // After 1000 rounds, go on in a version with the third argument's function inlined.
/// let header = function.blocks().nth(1).unwrap();
/// let point = OsrPoint { before: header.insertion_point(), name: "hot".to_string() };
/// let key = function.arguments().nth(2);
/// insert_open_osr(&point, Condition::Count(1000), &Generator::InlineCallee, key)?;
/// # Ok(())
/// # }
/// ```
pub fn insert_open_osr<'m>(
    point: &OsrPoint<'m>,
    condition: Condition,
    generator: &Generator,
    key: Option<Value<'m>>,
) -> Result<(), OsrError> {
    let function = point.before.block().function();
    let name = || point.name.clone();
    let refused = |refusal| OsrError::Refused { point: name(), refusal };
    check_condition(point, condition)?;
    check_function(point, function)?;
    if let Some(refusal) = refuse_function(function) {
        return Err(refused(refusal));
    }
    function.prepare_for_points();
    let snapshot = read_code(function);
    let all = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
    let boundary = || OsrError::NoBoundary(name());
    let at = snapshot.id_of(point.before).ok_or_else(boundary)?;
    let number = all.binary_search_by_key(&at, |p| p.at).map_err(|_| boundary())?;
    if let Some(refusal) = all[number].refusal {
        return Err(refused(refusal));
    }
    let key = Keys::new(&snapshot).choose(generator, None, key, &all[number]).map_err(refused)?;
    if *generator == Generator::InlineCallee {
        carry::bodies(function.module());
    }
    let chosen = [Chosen { number, name: name() }];
    let (plan, beginning) = plan::plan(&snapshot, &all, &chosen, generator, condition, &|_| key)
        .map_err(|problem| OsrError::Code {
            point: name(),
            code: "the IR that is carried".to_string(),
            problem,
        })?;
    weave(&snapshot, &plan);
    beginning.insert(function);
    Ok(())
}
