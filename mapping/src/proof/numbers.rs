//! Numbers of values, and how they are shared out.

use crate::versions::facts::Versions;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{InstId, ValueId};

/// Number of a value: equal for congruent ones.
pub type Number = u32;

/// Nothing is known yet.
pub(super) const UNKNOWN: Number = 0;

/// There are less constants than this.
const MOST_CONSTANTS: usize = 1 << 24;

/// How numbers are shared out: constants, arguments, memory, then each value's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) constants: u32,
    pub(super) arguments: u32,
    pub(super) values: PerVersion<u32>,
    pub(super) defs: PerVersion<u32>,
    pub(super) phis: PerVersion<u32>,
    pub(super) contents: u32,
}

impl Layout {
    pub(super) fn new(versions: &Versions) -> Self {
        let mut next = 1;
        let mut take = |count: usize| {
            let first = next;
            next += u32::try_from(count).expect("there are less values than numbers");
            first
        };
        let count = |w: Version| versions.graph(w).nodes.len();
        let blocks = |w: Version| versions.graph(w).blocks.len();
        Layout {
            constants: take(MOST_CONSTANTS),
            arguments: take(versions.of.base.graph.body.code.arguments),
            values: PerVersion::from_fn(|w| take(count(w))),
            // The state that the caller leaves is behind the last block.
            defs: PerVersion::from_fn(|w| take(count(w))),
            phis: PerVersion {
                base: take(blocks(Version::Base)),
                opt: take(blocks(Version::Opt) + 1),
            },
            contents: take(0),
        }
    }

    /// The place of a number in tables that have none of constants.
    pub(super) fn place(&self, number: Number) -> Option<usize> {
        number.checked_sub(self.arguments).map(|place| place as usize)
    }

    /// The value whose own number it is.
    pub(super) fn value(&self, versions: &Versions, number: Number) -> Option<(Version, ValueId)> {
        let of = |which: Version| {
            let graph = versions.graph(which);
            let inst = InstId::from(number.checked_sub(self.values[which])? as usize);
            (inst < graph.nodes.next_key()).then(|| (which, graph.result(inst)))
        };
        let argument = number.checked_sub(self.arguments)? as usize;
        let is_argument = argument < versions.of.base.graph.body.code.arguments;
        is_argument
            .then_some((Version::Base, argument.into()))
            .or_else(|| of(Version::Base))
            .or_else(|| of(Version::Opt))
    }

    /// The state that the caller leaves.
    pub(super) fn entry(&self, versions: &Versions) -> Number {
        self.phis.opt + versions.of.opt.graph.blocks.len() as u32
    }
}

/// The one number, if but for the phi itself, and for what is not known yet, there is only one.
pub(super) fn copied(incoming: impl IntoIterator<Item = Number>, own: Number) -> Option<Number> {
    let mut others = incoming.into_iter().filter(|&n| n != UNKNOWN && n != own);
    let first = others.next()?;
    others.all(|other| other == first).then_some(first)
}
