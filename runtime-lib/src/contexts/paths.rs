//! Paths of hot contexts: where the paths of a function are counted for each context that it is
//! called in (Ammons, Ball, Larus, PLDI 1997).
//!
//! Emitted code then finds its forest in the head of its node, in the place of the thread's slot. A
//! context has a forest of its own once it has been entered often enough ([`VARIABLE`]), while
//! memory is not short; without, its activations come here, and count in a forest that is common to
//! all such contexts of the function. So all forests of a function together are what was counted of
//! it.

use crate::config;
use crate::contexts::fallback as contexts_fallback;
use crate::contexts::function::Functions;
use crate::contexts::head;
use crate::contexts::hot;
use crate::contexts::tree::{MONITORED, Tree};
use crate::contexts::word::word;
use crate::file::live;
use crate::message;
use crate::own_forest;
use crate::paths::context;
use crate::paths::fallback;
use crate::paths::forest::ThreadForest;
use crate::process::signal::Blocked;
use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::contexts::{ContextHead, ContextNode};
use midflight_abi::{Forest, Mode, RecordHeader};

/// From how many activations on a context has a forest of its own.
pub const VARIABLE: &CStr = c"MIDFLIGHT_CONTEXT_PATHS";

/// The default: fewer do not tell much of a function's paths.
static LEAST: AtomicU64 = AtomicU64::new(1000);

/// Reads what the environment says.
pub fn configure() {
    let Some(value) = config::variable(VARIABLE) else { return };
    match message::parse_decimal(value) {
        Some(least) => LEAST.store(least, Ordering::Relaxed),
        None => config::tell_unusable(
            VARIABLE,
            value,
            "it is a number of activations from which on a context has its own paths",
            "using 1000",
        ),
    }
}

/// In [`midflight_abi::memory::ThreadForest::node`]: its context was removed.
pub const REMOVED: *mut ContextNode = core::ptr::without_provenance_mut(1);

/// The forest of an activation, which counts in the node behind `head`.
///
/// # Safety
/// `record` is a record of paths of a registered image, and the node is one of its function.
pub unsafe fn forest(record: *const RecordHeader, head: *mut ContextHead) -> *mut Forest {
    let node = head.wrapping_add(1).cast::<ContextNode>();
    // SAFETY: the caller's; a node is never freed.
    unsafe {
        if live::is_stranger() {
            return fallback::forest(record);
        }
        // Threads share it.
        if contexts_fallback::is_fallback(node) {
            let signals = Blocked::new();
            return own_forest(record, &signals).unwrap_or_else(|| fallback::forest(record));
        }
        let tree = (*word()).tree.cast::<Tree>();
        let function = match tree.is_null() {
            true => None,
            false => Functions::find(&raw const (*tree).functions, (*node).record),
        };
        let is_wanted = !tree.is_null() && !(*tree).has_all_forests && is_hot(node);
        if !is_wanted && let Some(function) = function {
            let common = (*function).forest.load(Ordering::Acquire);
            if !common.is_null() {
                return common;
            }
        }
        let signals = Blocked::new();
        let Some(common) = own_forest(record, &signals) else { return fallback::forest(record) };
        if let Some(function) = function {
            (*function).forest.store(common, Ordering::Release);
        }
        if !is_wanted {
            return common;
        }
        let Some(own) = make(record, node, &signals) else {
            (*tree).has_all_forests = true;
            return common;
        };
        AtomicPtr::from_ptr(&raw mut (*head).forest).store(own, Ordering::Release);
        own
    }
}

/// Whether a context was entered often enough.
unsafe fn is_hot(node: *mut ContextNode) -> bool {
    // SAFETY: the caller gives a node.
    unsafe {
        let count = AtomicU64::from_ptr(&raw mut (*node).count).load(Ordering::Relaxed);
        let is_kept = !hot::is_wanted() || (*node).site & MONITORED != 0;
        is_kept && count.saturating_sub((*node).error) >= LEAST.load(Ordering::Relaxed)
    }
}

/// Makes a context's own forest. `None`: memory is short, or the function's paths are counted in a
/// way for which there is one forest alone.
unsafe fn make(
    record: *const RecordHeader,
    node: *mut ContextNode,
    signals: &Blocked,
) -> Option<*mut Forest> {
    // SAFETY: the caller's.
    unsafe {
        if (*record).mode() == Some(Mode::Published) {
            return None;
        }
        let context = context::own(signals)?;
        let _guard = context.lock.lock_as_owner()?;
        let data = context.data.get();
        let forest = (*data).forest_of_context((&raw const *context).cast_mut(), record, node)?;
        Some(&raw mut (*forest).shared.forest)
    }
}

/// A node is about to be removed: its forest is that of no context any more.
///
/// # Safety
/// The lock of the tree's context is held by its thread.
pub unsafe fn forget(node: *mut ContextNode) {
    if !head::are_there() {
        return;
    }
    // SAFETY: the caller's; heads stand before nodes.
    unsafe {
        let head = head::of(node);
        if let Some(forest) = own(head, node) {
            (*forest).shared.node = REMOVED;
        }
        (*head).forest = null_mut();
    }
}

/// The forest that counts in a node alone, if it has one.
///
/// # Safety
/// `head` is that of the node; the lock of its context is held.
pub unsafe fn own(head: *mut ContextHead, node: *mut ContextNode) -> Option<*mut ThreadForest> {
    // SAFETY: the caller's; forests are never freed.
    unsafe {
        let forest = AtomicPtr::from_ptr(&raw mut (*head).forest).load(Ordering::Acquire);
        if forest.is_null() {
            return None;
        }
        let forest = ThreadForest::of(forest);
        ((*forest).shared.node == node).then_some(forest)
    }
}
