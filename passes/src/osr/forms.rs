//! Plans of `osr-point` and `osr-fuzz`: the destination of every transition is a copy of the
//! function, so its mapping is the identity (thesis 4.1.2). What differs is how many continuations
//! there are and where their own points lead:
//!
//! | form | chain | continuations |
//! |---|---|---|
//! | single | no | one for each point |
//! | single | yes | two for each point, each of which leads to the other's kind, without end |
//! | multi | no | one, entered at any point |
//! | multi | yes | one, entered at any point, also from itself |

use crate::osr::compensate::Material;
use crate::osr::host_exit::Handover;
use crate::osr::options::{Form, OsrOptions};
use crate::osr::weave::{
    Body, Continuation, Dead, Departure, Passing, Plan, PlannedSite, SiteKind,
};
use crate::read_code::CodeSnapshot;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::Point;
use std::borrow::Cow;

/// A point that was chosen and is eligible.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its number among the function's points
    pub number: usize,
    /// Its name: that of its marker, or `function#number`
    pub name: String,
}

/// The plan for chosen points of a function that was prepared.
pub fn plan<'a, 'm>(
    snapshot: &'a CodeSnapshot<'m>,
    points: &[Point],
    chosen: &[Chosen],
    options: &'a OsrOptions,
) -> Plan<'a, 'm> {
    let count = chosen.len();
    let (form, chain) = (options.form, options.chain);
    let name = snapshot.function.name();
    let departure = |Chosen { number, name }: &Chosen| {
        let Point { at, live, .. } = &points[*number];
        Departure {
            version: snapshot,
            at: *at,
            name: name.clone(),
            condition: options.condition,
            guard: None,
            way: None,
            map: Cow::Owned(PointMap::identity(*at, live)),
        }
    };
    let continuation = |suffix: &str, entries: Vec<usize>| Continuation {
        name: format!("{name}.osr{suffix}"),
        body: match &options.exit {
            Some(callback) => Body::Host(Handover { callback, named: &[] }),
            None => Body::CopyOf(snapshot),
        },
        entries,
        dead: Dead::default(),
    };
    let continuations: Vec<_> = match form {
        Form::Multi => vec![continuation("", (0..count).collect())],
        Form::Single => {
            let kinds = if chain { &["", ".back"][..] } else { &[""] };
            let all = kinds.iter().flat_map(|kind| (0..count).map(move |p| (kind, p)));
            all.map(|(kind, p)| continuation(&format!(".{}{kind}", chosen[p].number), vec![p]))
                .collect()
        }
    };
    // From base a point leads to the first kind of continuation; from one kind to the other one.
    let to = |from: Option<usize>, p: usize| match (form, from) {
        (Form::Multi, _) => 0,
        (Form::Single, Some(from)) if from < count => count + p,
        (Form::Single, _) => p,
    };
    let chains = (0..continuations.len()).filter(|_| chain).map(Some);
    let functions = std::iter::once(None).chain(chains);
    let sites = functions.flat_map(|from| {
        (0..count).map(move |departure| {
            let is_inserted = from.is_none() || points[chosen[departure].number].further.is_none();
            let to = if is_inserted { to(from, departure) } else { 0 };
            PlannedSite { departure, from, to, is_inserted, kind: SiteKind::Plain }
        })
    });
    Plan {
        departures: chosen.iter().map(departure).collect(),
        sites: sites.collect(),
        continuations,
        passing: match form == Form::Single && !chain {
            true => Passing::Alone,
            false => Passing::Together { has_selector: form == Form::Multi && count > 1 },
        },
        chain,
        preserves_none: form == Form::Single && chain && has_such_convention(snapshot),
        material: Material::NONE,
        description: None,
    }
}

/// True if the target has a calling convention that preserves no registers.
fn has_such_convention(snapshot: &CodeSnapshot<'_>) -> bool {
    let target = snapshot.function.module().target();
    ["x86_64", "amd64", "aarch64"].iter().any(|arch| target.starts_with(arch))
}
