//! Guards of versions that are made at run time: what they were made for is checked, and where it
//! does not hold the function goes on in its base version.

use crate::osr::condition::Condition;
#[cfg(feature = "mutants")]
use crate::osr::open::mutant::{self, Mutant};
use crate::osr::weave::Departure;
use crate::read_code::CodeSnapshot;
use midflight_abi::open::{OPEN_EXIT_SYMBOL, OPEN_GUARD_SYMBOL, OPEN_MADE_INVALID};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::Value;
use midflight_ir::ids::ValueId;
#[cfg(not(feature = "mutants"))]
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::Point;
use std::borrow::Cow;

/// What a guard checks.
#[derive(Clone, Copy)]
pub enum Holds<'m> {
    /// A value of the function is a constant.
    Equal(ValueId, Value<'m>),
    /// Nothing that the version assumes was invalidated.
    Valid,
}

/// What guards of a version have in common.
#[derive(Clone, Copy)]
pub struct Shared<'m> {
    /// The `OpenSite` for which the version was made
    pub site: Value<'m>,
    /// The version's `OpenMade`
    pub made: Value<'m>,
    /// The runtime says whether they fail though they hold.
    pub is_tested: bool,
}

/// A guard.
#[derive(Clone, Copy)]
pub struct Guard<'m> {
    /// What it checks
    pub holds: Holds<'m>,
    /// What it has in common with others of its version
    pub shared: Shared<'m>,
}

/// The same in a version.
#[derive(Clone, Copy)]
pub struct Check<'m> {
    /// A value, and what it must be; none if it is checked that assumptions hold
    equal: Option<(Value<'m>, Value<'m>)>,
    shared: Shared<'m>,
}

impl<'m> Guard<'m> {
    /// The guard in a version.
    pub fn of(&self, version: &CodeSnapshot<'m>) -> Check<'m> {
        let equal = match self.holds {
            Holds::Equal(value, expected) => Some((version.value(value), expected)),
            Holds::Valid => None,
        };
        Check { equal, shared: self.shared }
    }

    /// Where a version is left, before anything in it is optimized: for the same point of base,
    /// with the values that are live there. `points` are all of the function.
    pub fn departure<'a>(
        self,
        version: &'a CodeSnapshot<'m>,
        points: &[Point],
        at: &Point,
    ) -> Departure<'a, 'm> {
        #[cfg(not(feature = "mutants"))]
        let (_, map) = (points, PointMap::identity(at.at, &at.live));
        #[cfg(feature = "mutants")]
        let map = mutant::exit(at, points, version);
        Departure {
            version,
            at: at.at,
            name: String::new(),
            condition: Condition::Guard,
            guard: Some(self),
            way: None,
            map: Cow::Owned(map),
        }
    }
}

impl<'m> Check<'m> {
    /// Whether it fails, at the builder's position.
    pub(crate) fn fails(&self, builder: &Builder<'m>) -> Value<'m> {
        let module = builder.block().function().module();
        let differs = match self.equal {
            // Frozen as the key is (`key::as_integer`).
            Some((value, expected)) => builder.differs(builder.freeze(value), expected),
            None => {
                let int64 = module.int_type(64);
                let invalid = builder.offset(self.shared.made, OPEN_MADE_INVALID as u64);
                builder.differs(builder.load_acquiring(int64, invalid), int64.constant(0))
            }
        };
        #[cfg(feature = "mutants")]
        let differs = if Mutant::GuardDropped.is_on() { differs.ty().constant(0) } else { differs };
        if !self.shared.is_tested {
            return differs;
        }
        let (int1, pointer) = (module.int_type(1), module.pointer_type());
        let asked = module.runtime_function(OPEN_GUARD_SYMBOL, int1, &[pointer, pointer]);
        builder.or(differs, builder.call(asked, &[self.shared.site, self.shared.made]))
    }

    /// Reports that it does not hold, so that no more activations begin in the version.
    pub(crate) fn report(&self, builder: &Builder<'m>) {
        let module = builder.block().function().module();
        let (void, pointer) = (module.void_type(), module.pointer_type());
        let left = module.runtime_function(OPEN_EXIT_SYMBOL, void, &[pointer, pointer]);
        builder.call(left, &[self.shared.site, self.shared.made]);
    }
}
