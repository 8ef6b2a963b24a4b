//! Plans of open points: each leads to whatever version there will be.

use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::forms::Chosen;
use crate::osr::open::carry::{self, OpenPoint};
use crate::osr::open::fire::Asked;
use crate::osr::open::generator::Generator;
use crate::osr::open::key::Key;
use crate::osr::weave::{
    Body, Continuation, Dead, Departure, Passing, Plan, PlannedSite, SiteKind, tail_of_first,
};
use crate::read_code::CodeSnapshot;
use midflight_abi::open::OPEN_MADE_TARGET;
use midflight_bridge::builder::Tail;
use midflight_bridge::ir::{Function, Value};
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::Point;
use midflight_mapping::refusal::Refusal;
use std::borrow::Cow;

/// Why a function has no open points, besides why it has no points.
pub fn refuse_function(function: Function<'_>) -> Option<Refusal> {
    if is_allocator(&function.name()) {
        return Some(Refusal::Allocator);
    }
    function.slice_refusal().map(|_| Refusal::NotCarried)
}

/// The first point that fires starts a thread, which allocates.
fn is_allocator(name: &str) -> bool {
    [
        "malloc",
        "free",
        "calloc",
        "realloc",
        "reallocarray",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "valloc",
        "pvalloc",
    ]
    .contains(&name)
}

/// The plan for chosen points of a function that was prepared, and the key of each. Functions whose
/// address may be a key are in the module before ([`carry::bodies`]): links take addresses. The
/// function's IR, as it is now, goes into its module.
///
/// # Errors
/// If the IR cannot be carried, for a reason that [`refuse_function`] should have told.
pub fn plan<'a, 'm>(
    snapshot: &'a CodeSnapshot<'m>,
    points: &[Point],
    chosen: &[Chosen],
    generator: &Generator,
    condition: Condition,
    key_of: &dyn Fn(&Chosen) -> Key,
) -> Result<(Plan<'a, 'm>, Beginning<'m>), String> {
    let function = snapshot.function;
    let beginning = Beginning::of(snapshot);
    let code = carry::code(function, beginning.place)?;
    let condition = condition.on_target(&function.module().target());
    let mut departures = Vec::new();
    let mut continuations = Vec::new();
    for (number, chosen) in chosen.iter().enumerate() {
        let Chosen { number: index, name } = chosen;
        let (point, key) = (&points[*index], key_of(chosen));
        let at = usize::from(point.at) as u32;
        let open = OpenPoint { name, at, key, condition, generator };
        let site = carry::site(function, code, &open);
        departures.push(Departure {
            version: snapshot,
            at: point.at,
            name: name.clone(),
            condition,
            guard: None,
            way: None,
            map: Cow::Owned(PointMap::identity(point.at, &point.live)),
        });
        continuations.push(Continuation {
            name: format!("open:{}", generator.name()),
            body: Body::Open(Asked { site, key, code: OPEN_MADE_TARGET }),
            entries: vec![number],
            dead: Dead::default(),
        });
    }
    let site = |number| PlannedSite {
        departure: number,
        from: None,
        to: number,
        is_inserted: true,
        kind: SiteKind::Plain,
    };
    let plan = Plan {
        sites: (0..departures.len()).map(site).collect(),
        departures,
        continuations,
        passing: Passing::Alone,
        chain: false,
        preserves_none: false,
        material: Material::NONE,
        description: None,
    };
    Ok((plan, beginning))
}

/// Where calls of a function begin: in the best version that there is.
pub struct Beginning<'m> {
    /// A variable with the version's address; none if the function is variadic
    place: Option<Value<'m>>,
    tail: Tail,
}

impl<'m> Beginning<'m> {
    fn of(snapshot: &CodeSnapshot<'m>) -> Self {
        let (function, null) = (snapshot.function, || {
            let module = snapshot.function.module();
            module.private_global("midflight.open.entry", module.pointer_type().null(), false)
        });
        let place = (!function.facts().is_variadic()).then(null);
        Beginning { place, tail: tail_of_first(snapshot) }
    }

    /// Has the function, whose points are inserted, look there.
    pub fn insert(self, function: Function<'m>) {
        if let Some(place) = self.place {
            function.begin_in(place, self.tail == Tail::May);
        }
    }
}
