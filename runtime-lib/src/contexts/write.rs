//! The tree in a profile.

use crate::contexts::burst;
use crate::contexts::function::Function;
use crate::contexts::head;
use crate::contexts::hot;
use crate::contexts::paths;
use crate::contexts::time;
use crate::contexts::tree::{self, MARK, MONITORED, Tree};
use crate::contexts::walk::Walk;
use crate::file::{Failure, output};
use crate::paths::baseline::Counter;
use crate::paths::context::Context;
use crate::paths::forest::ThreadForest;
use crate::process::Process;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use midflight_abi::contexts::{self, ContextNode};
use midflight_profile::format::{
    ContextCounts, ContextFunction, ContextMode, ContextsHeader, Encoder, Sink,
};

/// The number of the profile that is being written.
static EPOCH: AtomicU32 = AtomicU32::new(0);

/// Begins another profile.
pub fn begin() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

fn epoch() -> u32 {
    EPOCH.load(Ordering::Relaxed)
}

/// What the profile has of a node: what was counted while it was not paused.
unsafe fn count(tree: &Tree, node: *mut ContextNode) -> u64 {
    // SAFETY: the caller gives a node.
    unsafe {
        match tree.hot.is_kept() {
            true if (*node).site & MONITORED != 0 => counted(node),
            true => 0,
            false => tree.baselines().told(counter(node), counted(node)),
        }
    }
}

/// What the profile has of a node's time, by the counter.
unsafe fn time(tree: &Tree, node: *mut ContextNode) -> u64 {
    if !time::are_taken() {
        return 0;
    }
    // SAFETY: the caller gives a node.
    let time = unsafe { time::of(node) }.load(Ordering::Relaxed);
    // SAFETY: the caller's.
    if tree.hot.is_kept() { time } else { unsafe { tree.baselines() }.told(timer(node), time) }
}

/// What emitted code has counted in a node.
unsafe fn counted(node: *mut ContextNode) -> u64 {
    // SAFETY: the caller gives a node.
    unsafe { AtomicU64::from_ptr(&raw mut (*node).count).load(Ordering::Relaxed) }
}

/// The counter of a node, of which something may not be to be told.
fn counter(node: *mut ContextNode) -> Counter {
    Counter { owner: node as usize, label: 0 }
}

/// The same of its time.
fn timer(node: *mut ContextNode) -> Counter {
    Counter { owner: node as usize, label: 1 }
}

/// Prepares for pausing the profile or going on with it (`baseline::turn`), where all is kept.
/// False: there is no memory.
///
/// # Safety
/// As for [`activations`].
pub unsafe fn prepare_turn(context: *mut Context) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let data = (*context).data.get();
        let (baselines, arena) = (&mut (*data).baselines, &mut (*data).arena);
        let root = (*data).tree.root();
        let counters = |node| {
            let time = time::are_taken().then(|| (timer(node), time::of(node)));
            let time = time.map(|(timer, time)| (timer, time.load(Ordering::Relaxed)));
            [Some((counter(node), counted(node))), time].into_iter().flatten()
        };
        let (mut walk, mut new) = (Walk::new(root), 0usize);
        while let Some((node, _)) = walk.next(|_| true) {
            for (counter, count) in counters(node) {
                new += usize::from(count != 0 && baselines.number(counter) == 0);
            }
        }
        // There may be more by the time that they are looked at again.
        if new != 0 && !baselines.reserve(arena, new + new / 8) {
            return false;
        }
        let mut walk = Walk::new(root);
        while let Some((node, _)) = walk.next(|_| true) {
            for (counter, count) in counters(node) {
                let number = baselines.number(counter);
                if count | number != 0 && baselines.reserve(arena, 1) {
                    baselines.set_next(counter, count.wrapping_sub(number));
                }
            }
        }
        true
    }
}

/// Activations in all contexts of a tree.
///
/// # Safety
/// The lock of the tree's context is held, or its thread is the caller's and not in the runtime;
/// likewise below.
pub unsafe fn activations(tree: &Tree) -> u64 {
    if tree.hot.is_kept() {
        // SAFETY: the caller's.
        return unsafe { hot::total(tree) };
    }
    let mut sum = 0u64;
    // SAFETY: the caller's.
    unsafe {
        let mut walk = Walk::new(tree.root());
        while let Some((node, _)) = walk.next(|_| true) {
            sum = sum.saturating_add(count(tree, node));
        }
    }
    sum
}

/// Marks the nodes that have a count or a time, and all above them, which are to be written. True
/// if there are any.
///
/// # Safety
/// As for [`activations`].
unsafe fn mark(tree: &Tree) -> bool {
    let mut any = false;
    // SAFETY: the caller's.
    unsafe {
        let mut walk = Walk::new(tree.root());
        while let Some((node, _)) = walk.next(|_| true) {
            (*node).site &= !MARK;
            if count(tree, node) | time(tree, node) == 0 {
                continue;
            }
            any = true;
            // Those above were met before.
            let mut at = node;
            while at != tree.root() && (*at).site & MARK == 0 {
                (*at).site |= MARK;
                at = (*at).parent;
            }
        }
    }
    any
}

/// What of all trees is kept.
fn mode() -> ContextMode {
    match hot::shares() {
        Some((phi, epsilon)) => ContextMode::Hot { phi, epsilon },
        None => ContextMode::All,
    }
}

/// Where times are taken: how they become nanoseconds.
#[derive(Clone, Copy)]
struct Scale(u64);

impl Scale {
    fn now() -> Option<Self> {
        time::are_taken().then(|| Self(time::scale()))
    }

    fn nanoseconds(self, counted: u64) -> u64 {
        contexts::nanoseconds(counted, self.0)
    }
}

/// Writes how many activations have no context and are of functions that are not known, of all
/// threads, and the time of all that have none: a tree without nodes, if there are any. There may
/// be no other, where memory has run out.
pub fn encode_elsewhere<S: Sink<Error = Failure>>(
    elsewhere: u64,
    encoder: &mut Encoder<S>,
) -> Result<(), Failure> {
    let time = time::elsewhere();
    if elsewhere == 0 && time == 0 {
        return Ok(());
    }
    let header = ContextsHeader {
        mode: mode(),
        activations: elsewhere,
        elsewhere,
        bursts: burst::kept(),
        time: Scale::now().map(|scale| scale.nanoseconds(time)),
        ..ContextsHeader::default()
    };
    encoder.contexts(&header)?;
    encoder.end_contexts()
}

/// What is to be said of a tree that was written.
#[derive(Default)]
pub struct Written {
    /// Activations without context
    pub elsewhere: u64,
    /// Functions that were left out, since their image was never registered
    pub strangers: u64,
}

/// Writes a tree, if something was counted in it.
///
/// # Safety
/// As for [`activations`]; the process lock is held, and [`begin`] was called.
pub unsafe fn encode<S: Sink<Error = Failure>>(
    process: &Process,
    tree: &Tree,
    encoder: &mut Encoder<S>,
) -> Result<Written, Failure> {
    // SAFETY: the caller's.
    unsafe {
        let elsewhere = elsewhere(tree);
        let has_elsewhere = elsewhere != 0;
        if !mark(tree) && !has_elsewhere {
            return Ok(Written::default());
        }
        let (mut strangers, mut functions) = (0, 0);
        let floor = tree.hot.floor();
        let activations = activations(tree);
        let (bursts, scale) = (burst::kept(), Scale::now());
        let removed = tree.shared.removed_time.load(Ordering::Relaxed);
        let header = ContextsHeader {
            mode: mode(),
            activations,
            elsewhere: 0,
            floor,
            bursts,
            time: scale.map(|scale| scale.nanoseconds(removed)),
            has_elsewhere,
            has_forests: tree.has_forests(),
        };
        encoder.contexts(&header)?;
        let mut last = None;
        let is_written = |node: *mut ContextNode, strangers: &mut u64| {
            (*node).site & MARK != 0 && is_known(process, tree, node, strangers)
        };
        let mut walk = Walk::new(tree.root());
        while let Some((node, depth)) = walk.next(|node| is_written(node, &mut strangers)) {
            let up = last.map_or(0, |last: usize| last + 1 - depth);
            last = Some(depth);
            let Some(function) = tree.function(node) else { continue };
            let Some(function) = name(process, function, &mut functions) else { continue };
            let (count, error) = match tree.hot.is_kept() {
                false => (count(tree, node), 0),
                true if (*node).site & MONITORED != 0 => (count(tree, node), (*node).error),
                // It has had no more, as if it was not there.
                true => (floor, floor),
            };
            let time = scale.map_or(0, |scale| scale.nanoseconds(time(tree, node)));
            let counts = ContextCounts { site: tree::site(node), count, error, time };
            encoder.context(up as u32, function, &counts)?;
        }
        encoder.end_contexts()?;
        if has_elsewhere {
            for function in tree.functions.iter() {
                let count = (*function).elsewhere.load(Ordering::Relaxed);
                if count == 0 {
                    continue;
                }
                match name(process, function, &mut functions) {
                    Some(function) => encoder.context_elsewhere(function, count)?,
                    None => strangers += 1,
                }
            }
            encoder.end_contexts_elsewhere()?;
        }
        if !header.has_forests {
            return Ok(Written { elsewhere, strangers });
        }
        let mut walk = Walk::new(tree.root());
        let mut place = 0;
        while let Some((node, _)) = walk.next(|node| is_written(node, &mut 0)) {
            let head = head::of(node);
            if let Some(forest) = paths::own(head, node)
                && let Some(module) = output::module_of(process, forest)
                && ThreadForest::mark(forest)
            {
                encoder.context_windows(place, &ThreadForest::header(forest, module))?;
                _ = ThreadForest::encode_windows(forest, encoder)?;
            }
            place += 1;
        }
        encoder.end_context_windows()?;
        Ok(Written { elsewhere, strangers })
    }
}

/// Activations without context of functions that a tree knows.
///
/// # Safety
/// As for [`activations`].
unsafe fn elsewhere(tree: &Tree) -> u64 {
    // SAFETY: the caller's; functions are never freed.
    let counts = tree.functions.iter().map(|at| unsafe { &(*at).elsewhere });
    counts.fold(0, |sum: u64, count| sum.saturating_add(count.load(Ordering::Relaxed)))
}

/// What names a function in the tree that is being written, of which so many were; `None`: its
/// image is not known.
unsafe fn name(
    process: &Process,
    function: *mut Function,
    functions: &mut u32,
) -> Option<ContextFunction> {
    // SAFETY: the caller gives a function.
    unsafe {
        if (*function).epoch == epoch() {
            return Some(ContextFunction::Known((*function).number));
        }
        let module = module_of(process, function)?;
        ((*function).epoch, (*function).number) = (epoch(), *functions);
        *functions += 1;
        Some(ContextFunction::New { module, key: (*function).key, slots: (*function).slots })
    }
}

/// Whether a node's function is one of a registered image; else it is counted.
unsafe fn is_known(
    process: &Process,
    tree: &Tree,
    node: *mut ContextNode,
    strangers: &mut u64,
) -> bool {
    // SAFETY: the caller's.
    let known = unsafe {
        tree.function(node).is_some_and(|function| module_of(process, function).is_some())
    };
    *strangers += u64::from(!known);
    known
}

/// The place of a function's image in the list.
unsafe fn module_of(process: &Process, function: *mut Function) -> Option<u32> {
    // SAFETY: the caller gives a function.
    let (known, record) =
        unsafe { (&(*function).image, (*function).record.load(Ordering::Relaxed)) };
    process.place_of(known.load(Ordering::Relaxed).cast(), record)
}
