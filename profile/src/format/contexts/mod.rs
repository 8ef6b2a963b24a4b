//! The section of calling contexts: the trees of threads, whose nodes are functions that were
//! called from a call site of the function above them.
//!
//! A reader that knows of paths only can do without, hence the small letter of its name.
//! [`Contexts`] is what a file has of it, the trees of all threads added up.

#[cfg(feature = "alloc")]
mod read;
#[cfg(feature = "alloc")]
mod tree;

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::header::ForestHeader;
use super::sections::Kind;
use crate::cursor::{Cursor, Malformed};
#[cfg(feature = "alloc")]
pub(super) use read::Reader;
#[cfg(feature = "alloc")]
pub(super) use tree::ContextMergeError;
#[cfg(feature = "alloc")]
pub use tree::{CalledFunction, CalledId, ContextId, ContextOverflow, Contexts, ForestError};

/// What of a calling context tree was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContextMode {
    /// All of it: the calling context tree (Ammons, Ball, Larus, PLDI 1997).
    #[default]
    All,
    /// Hot contexts and those above them (D'Elia, Demetrescu, Finocchi, PLDI 2011): all that have
    /// more than `phi` of all activations, with counts that are too high by at most `epsilon` of
    /// them.
    Hot {
        /// From which share of all activations on a context is hot; 0 to 1
        phi: f64,
        /// By which share of all activations a count may be too high; 0 to 1
        epsilon: f64,
    },
}

/// The numbers of a file are no NaNs.
impl Eq for ContextMode {}

/// When contexts were counted, where that was not always (static bursting).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Nanoseconds from the beginning of a burst to that of the next; more than `length`.
    pub interval: u64,
    /// Nanoseconds of a burst; not 0.
    pub length: u64,
}

/// What precedes the nodes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextsHeader {
    /// What of the tree was kept.
    pub mode: ContextMode,
    /// All activations of the thread that were counted, but for those that follow the nodes.
    pub activations: u64,
    /// Those of them that could not be given a context, and of which the function is not known.
    pub elsewhere: u64,
    /// The greatest count that a context may have had that is not in the tree; 0 if all of it was
    /// kept.
    pub floor: u64,
    /// Where counts are those of bursts: when these were.
    pub bursts: Option<Bursts>,
    /// Where times were taken: nanoseconds of activations that have no context, or one that was
    /// removed.
    pub time: Option<u64>,
    /// Whether functions follow the nodes of which activations could not be given a context.
    pub has_elsewhere: bool,
    /// Whether forests follow: what was counted of paths in contexts.
    pub has_forests: bool,
}

/// The function of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextFunction {
    /// One that was there before in the tree: its number, in order of first appearance.
    Known(u32),
    /// The next one.
    New {
        /// Place of its module among those written.
        module: u32,
        /// Key of its record.
        key: u64,
        /// Its call sites, or 1 if they are not told apart.
        slots: u32,
    },
}

/// What was counted in a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextCounts {
    /// The slot of the call in the function above; 0 in a root.
    pub site: u32,
    /// Activations. Never too low.
    pub count: u64,
    /// By how much `count` may be too high; 0 if all of the tree was kept.
    pub error: u64,
    /// Nanoseconds in these activations, but not in what they called; 0 if times were not taken.
    pub time: u64,
}

/// A node of a tree, and where it stands.
pub(super) struct Visit {
    /// Where in the file
    pub at: usize,
    /// How many levels above the previous node the nodes are that it is a child of; no more than
    /// that node's depth
    pub up: u64,
    pub function: ContextFunction,
    pub counts: ContextCounts,
}

const HOT: u64 = 1;
const BURSTS: u64 = 2;
const TIMED: u64 = 4;
const FORESTS: u64 = 8;
const ELSEWHERE: u64 = 16;

impl ContextsHeader {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let unknown = cursor.malformed("the mode of contexts", "is unknown");
        let kind = cursor.varint("the mode of contexts")?;
        if kind & !(HOT | BURSTS | TIMED | FORESTS | ELSEWHERE) != 0 {
            return Err(unknown);
        }
        let mode = match kind & HOT {
            0 => ContextMode::All,
            _ => ContextMode::Hot { phi: read_share(cursor)?, epsilon: read_share(cursor)? },
        };
        let bursts = if kind & BURSTS == 0 { None } else { Some(read_bursts(cursor)?) };
        let activations = cursor.varint("the number of activations")?;
        let elsewhere = cursor.varint("the number of activations without context")?;
        let no_floor = cursor.malformed("the floor of contexts", "is not 0, and none is left out");
        let floor = cursor.varint("the floor of contexts")?;
        if mode == ContextMode::All && floor != 0 {
            return Err(no_floor);
        }
        let time = match kind & TIMED {
            0 => None,
            _ => Some(cursor.varint("the time without context")?),
        };
        let (has_elsewhere, has_forests) = (kind & ELSEWHERE != 0, kind & FORESTS != 0);
        Ok(ContextsHeader {
            mode,
            activations,
            elsewhere,
            floor,
            bursts,
            time,
            has_elsewhere,
            has_forests,
        })
    }
}

fn read_bursts(cursor: &mut Cursor<'_>) -> Result<Bursts, Malformed> {
    let wrong = cursor.malformed("the length of bursts", "is 0, or not below their interval");
    let interval = cursor.varint("the interval of bursts")?;
    let length = cursor.varint("the length of bursts")?;
    let is_part = length != 0 && length < interval;
    if is_part { Ok(Bursts { interval, length }) } else { Err(wrong) }
}

/// A share of all activations.
fn read_share(cursor: &mut Cursor<'_>) -> Result<f64, Malformed> {
    let wrong = cursor.malformed("a share of activations", "is not from 0 to 1");
    share_of(cursor.fixed64("a share of activations")?).ok_or(wrong)
}

/// The share with these bits, if they are one's.
pub(super) fn share_of(bits: u64) -> Option<f64> {
    let share = f64::from_bits(bits);
    (share.is_sign_positive() && (0.0..=1.0).contains(&share)).then_some(share)
}

/// Visits the nodes of a tree in preorder, behind its header, in a file with so many modules; an
/// error of `visit` ends the walk. Returns how many functions there were.
pub(super) fn walk<E: From<ReadError>>(
    cursor: &mut Cursor<'_>,
    header: &ContextsHeader,
    modules: u32,
    mut visit: impl FnMut(Visit) -> Result<(), E>,
) -> Result<u32, E> {
    let (mut depth, mut functions) = (0u64, 0);
    loop {
        let at = cursor.at();
        let outside = cursor.malformed("a context's level", "is above the roots");
        let level = cursor.varint("a context's level").map_err(ReadError::from)?;
        let Some(up) = level.checked_sub(1) else { return Ok(functions) };
        let parent = depth.checked_sub(up).ok_or_else(|| ReadError::from(outside))?;
        let function = read_function(cursor, modules, &mut functions).map_err(ReadError::from)?;
        let counts = read_counts(cursor, header, parent == 0).map_err(ReadError::from)?;
        visit(Visit { at, up, function, counts })?;
        // No more than there are bytes.
        depth = parent + 1;
    }
}

/// Visits the functions behind the nodes of a tree, which has so many, with where each stands and
/// how many activations of it could not be given a context.
pub(super) fn walk_elsewhere<E: From<ReadError>>(
    cursor: &mut Cursor<'_>,
    header: &ContextsHeader,
    modules: u32,
    mut functions: u32,
    mut visit: impl FnMut(usize, ContextFunction, u64) -> Result<(), E>,
) -> Result<(), E> {
    if !header.has_elsewhere {
        return Ok(());
    }
    loop {
        let at = cursor.at();
        let count = cursor.varint("a function's activations without context");
        let count = count.map_err(ReadError::from)?;
        if count == 0 {
            return Ok(());
        }
        let function = read_function(cursor, modules, &mut functions).map_err(ReadError::from)?;
        visit(at, function, count)?;
    }
}

/// Visits the forests behind these: the place of the context of each among the nodes.
/// `visit` reads what follows it.
pub(super) fn walk_forests<'a, E: From<ReadError>>(
    cursor: &mut Cursor<'a>,
    header: &ContextsHeader,
    mut visit: impl FnMut(usize, &mut Cursor<'a>) -> Result<(), E>,
) -> Result<(), E> {
    if !header.has_forests {
        return Ok(());
    }
    loop {
        let context = cursor.varint32("the context of a forest").map_err(ReadError::from)?;
        let Some(context) = context.checked_sub(1) else { return Ok(()) };
        visit(context as usize, cursor)?;
    }
}

fn read_function(
    cursor: &mut Cursor<'_>,
    modules: u32,
    functions: &mut u32,
) -> Result<ContextFunction, Malformed> {
    let unknown = cursor.malformed("a context's function", "is not known");
    let function = cursor.varint32("a context's function")?;
    if function < *functions {
        return Ok(ContextFunction::Known(function));
    }
    if function > *functions || function == u32::MAX {
        return Err(unknown);
    }
    *functions += 1;
    let no_module = cursor.malformed("a function's module", "is not there");
    let module = cursor.varint32("a function's module")?;
    if module >= modules {
        return Err(no_module);
    }
    let key = cursor.fixed64("a function's key")?;
    let slots = cursor.varint32("the number of a function's call sites")?;
    Ok(ContextFunction::New { module, key, slots })
}

fn read_counts(
    cursor: &mut Cursor<'_>,
    header: &ContextsHeader,
    is_root: bool,
) -> Result<ContextCounts, Malformed> {
    let no_site = cursor.malformed("a context's call site", "is not 0 in a root");
    let site = cursor.varint32("a context's call site")?;
    if is_root && site != 0 {
        return Err(no_site);
    }
    let count = cursor.varint("a context's count")?;
    let too_high = cursor.malformed("a context's error", "is more than its count");
    let error = match header.mode {
        ContextMode::All => 0,
        ContextMode::Hot { .. } => cursor.varint("a context's error")?,
    };
    if error > count {
        return Err(too_high);
    }
    let time = if header.time.is_some() { cursor.varint("a context's time")? } else { 0 };
    Ok(ContextCounts { site, count, error, time })
}

/// When contexts were counted that are, all or in part, those of bursts: the rarer bursts.
pub(super) fn rarer(a: Option<Bursts>, b: Option<Bursts>) -> Option<Bursts> {
    // By the share of time, without rounding.
    let order = |bursts: &Bursts, other: &Bursts| {
        let share = |a: &Bursts, b: &Bursts| u128::from(a.length) * u128::from(b.interval);
        let by_share = share(bursts, other).cmp(&share(other, bursts));
        by_share.then(bursts.interval.cmp(&other.interval))
    };
    a.into_iter().chain(b).min_by(order)
}

/// The time of both that no context has; none where times were taken of neither. It saturates.
pub(super) fn time_of(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).reduce(u64::saturating_add)
}

/// What both modes have kept.
pub(super) fn coarser(a: ContextMode, b: ContextMode) -> ContextMode {
    match (a, b) {
        (ContextMode::All, mode) | (mode, ContextMode::All) => mode,
        (
            ContextMode::Hot { phi, epsilon },
            ContextMode::Hot { phi: other_phi, epsilon: other_epsilon },
        ) => ContextMode::Hot { phi: phi.max(other_phi), epsilon: epsilon.max(other_epsilon) },
    }
}

impl<S: Sink> Encoder<S> {
    /// Begins the tree of a thread. Nodes follow, and [`Self::end_contexts`].
    ///
    /// # Errors
    /// Those of the sink.
    pub fn contexts(&mut self, header: &ContextsHeader) -> Result<(), S::Error> {
        let ContextsHeader { mode, activations, elsewhere, floor, bursts, time, .. } = *header;
        self.begin_item(Kind::Contexts);
        self.has_errors = mode != ContextMode::All;
        self.has_times = time.is_some();
        self.functions = 0;
        let is_hot = if self.has_errors { HOT } else { 0 };
        let is_timed = if self.has_times { TIMED } else { 0 };
        let bursts_follow = if bursts.is_some() { BURSTS } else { 0 };
        let elsewhere_follows = if header.has_elsewhere { ELSEWHERE } else { 0 };
        let forests_follow = if header.has_forests { FORESTS } else { 0 };
        self.varint(is_hot | bursts_follow | is_timed | forests_follow | elsewhere_follows)?;
        if let ContextMode::Hot { phi, epsilon } = mode {
            self.put(&phi.to_bits().to_le_bytes())?;
            self.put(&epsilon.to_bits().to_le_bytes())?;
        }
        if let Some(Bursts { interval, length }) = bursts {
            self.varints([interval, length])?;
        }
        let floor = if self.has_errors { floor } else { 0 };
        self.varints([activations, elsewhere, floor])?;
        time.map_or(Ok(()), |time| self.varint(time))
    }

    /// Writes a node of the tree begun last, in preorder. `up` is how many levels above the node
    /// before it the function is that called it: 0, it was called by that node; 1, it is that
    /// node's sibling; 2, it is a sibling of that node's parent. In the first node it is 0, and as
    /// much as the depth of the node before it in all other roots.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn context(
        &mut self,
        up: u32,
        function: ContextFunction,
        counts: &ContextCounts,
    ) -> Result<(), S::Error> {
        self.put_function(1 + u64::from(up), function)?;
        let ContextCounts { site, count, error, time } = *counts;
        self.varints([site.into(), count])?;
        if self.has_errors {
            // The thread may have counted on between the two.
            self.varint(error.min(count))?;
        }
        if self.has_times { self.varint(time) } else { Ok(()) }
    }

    /// Writes a number, and a function of the tree begun last.
    fn put_function(&mut self, before: u64, function: ContextFunction) -> Result<(), S::Error> {
        match function {
            ContextFunction::Known(number) => self.varints([before, number.into()]),
            ContextFunction::New { module, key, slots } => {
                self.varints([before, self.functions.into(), module.into()])?;
                self.functions = self.functions.saturating_add(1);
                self.put(&key.to_le_bytes())?;
                self.varint(slots.into())
            }
        }
    }

    /// Ends the nodes of the tree begun last, and so the tree, unless functions or forests follow.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end_contexts(&mut self) -> Result<(), S::Error> {
        self.varint(0)
    }

    /// Writes how many activations of a function could not be given a context, behind the nodes;
    /// not 0.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn context_elsewhere(
        &mut self,
        function: ContextFunction,
        count: u64,
    ) -> Result<(), S::Error> {
        self.put_function(count, function)
    }

    /// Ends these functions, and so the tree, unless forests follow.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end_contexts_elsewhere(&mut self) -> Result<(), S::Error> {
        self.varint(0)
    }

    /// Begins the windows of a function in a context of the tree begun last: the place of that
    /// among the nodes, from 0. Groups follow, and [`Self::end`].
    ///
    /// # Errors
    /// Those of the sink.
    pub fn context_windows(&mut self, context: u32, header: &ForestHeader) -> Result<(), S::Error> {
        self.varint(u64::from(context) + 1)?;
        self.put_forest_header(header)
    }

    /// Ends the forests of the tree begun last.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end_context_windows(&mut self) -> Result<(), S::Error> {
        self.varint(0)
    }
}
