//! Where the stack is, after frames were left without a return.
//!
//! `longjmp`, an exception that goes through code that is not instrumented, and the end of a thread
//! in the midst of a call leave the word in a frame that is gone. What comes next is called from a
//! frame that is no deeper, which emitted code sees, or from a deeper one, which it does not; but
//! then the runtime is asked for a node as soon as one is missing.
//!
//! The unwinder tells which frames there are. The innermost of them that the node of the word or an
//! ancestor of it has is the one that is under way; it is in the call that has led to what was
//! left.
//!
//! Where recursion is folded, a node is that of several activations, and has the frame of the last
//! that has called. Where that was left, it is the innermost that runs the same code, unless a node
//! further down is there by its frame; its frame is noted anew.
//!
//! Asking the unwinder takes a microsecond. So a call is remembered that was found to come from its
//! parent directly, by its return address.

use crate::contexts::head;
use crate::contexts::tree::{self, Slot};
use crate::contexts::unwinder::{self, Frame};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{ContextNode, FLAG_OWN_FRAME};

/// Ancestors that are looked for on the stack at once.
const ANCESTORS: usize = 32;

/// Frames that are looked at.
const FRAMES: usize = 4096;

/// An activation that has not found its node.
#[derive(Clone, Copy)]
pub struct Activation {
    /// The address of its return address
    pub frame: u64,
    /// The record of its function
    pub record: *const RecordHeader,
    /// The lower half of where the code begins that it runs; 0 where that is not known
    pub code: u32,
    /// Whether the thread asks the unwinder already, and must not ask again
    pub is_nested: bool,
}

/// What the unwinder's frames are compared with.
struct Search {
    ancestors: [Candidate; ANCESTORS],
    len: usize,
    /// The activation that asks
    frame: u64,
    /// Frames that were seen, from its caller on
    callers: usize,
    frames: usize,
    /// Where the code begins of the frame that was seen last, of which the address comes next
    code: u64,
    /// The greatest address of a frame
    highest: u64,
    found: *mut ContextNode,
    guess: Option<Guess>,
}

/// What may have been found, where several activations may have a node.
#[derive(Clone, Copy)]
struct Guess {
    /// Which of the ancestors it is; the innermost of those that it may be
    index: usize,
    /// The frame in which its code runs
    frame: u64,
}

/// A node whose activation may be on the stack.
#[derive(Clone, Copy)]
struct Candidate {
    node: *mut ContextNode,
    frame: u64,
    /// Where the code begins that it ran in; 0 where any may run there
    code: u32,
    /// Whether several activations may have it
    is_shared: bool,
}

impl Candidate {
    const NONE: Self = Self { node: null_mut(), frame: 0, code: 0, is_shared: false };

    unsafe fn of(node: *mut ContextNode) -> Self {
        // SAFETY: the caller gives a node.
        let (frame, code) = unsafe { ((*node).frame, (*node).code) };
        // SAFETY: as above.
        let is_shared = unsafe { head::is_shared(node) };
        // A call in tail position may have given the frame to its callee, or not.
        let is_given = frame & 1 != 0;
        Self { node, frame: frame & !1, code: if is_given { 0 } else { code }, is_shared }
    }
}

extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: the unwinder gives a context, and what was given to it.
    unsafe {
        let search = &mut *search.cast::<Search>();
        let Frame { address: frame, code } = Frame::of(context);
        let last = core::mem::replace(&mut search.code, code);
        let code = if Frame::IS_OF_CALLEE { last } else { code } as u32;
        search.frames += 1;
        search.highest = search.highest.max(frame);
        if search.callers != 0 {
            let ancestors = search.ancestors.get(..search.len).unwrap_or_default();
            // Who calls has stored its slot: if it is of the word's node, whatever its frame, an
            // activation in the same context has interrupted it.
            if let Some(word) = ancestors.first()
                && search.callers == 1
                && word.code == code
                && code != 0
            {
                AtomicU64::from_ptr(&raw mut (*word.node).frame).store(frame, Ordering::Relaxed);
                search.found = word.node;
                return unwinder::STOP;
            }
            let is_it = |it: &Candidate| it.frame == frame && (it.code == 0 || it.code == code);
            if let Some(index) = ancestors.iter().position(is_it) {
                if search.guess.is_none_or(|guess| guess.index >= index) {
                    search.guess = None;
                    search.found = ancestors.get(index).map_or(null_mut(), |it| it.node);
                }
                return unwinder::STOP;
            }
            // The innermost one may have called nothing yet: then one further down has called it.
            let may_have_it = |it: &Candidate| it.is_shared && it.code == code && it.code != 0;
            if let Some(index) = ancestors.iter().position(may_have_it)
                && search.guess.is_none_or(|guess| guess.index > index)
            {
                search.guess = Some(Guess { index, frame });
            }
            search.callers += 1;
        } else if frame == search.frame {
            search.callers = 1;
        }
        if search.frames < FRAMES { unwinder::GO_ON } else { unwinder::STOP }
    }
}

/// Calls that were found to come from the function of the word's node, so that who calls there has
/// stored the slot itself.
static DIRECT: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

/// What stands for a call of a function, by its return address, in [`DIRECT`]; `None` where that is
/// not in memory.
unsafe fn call_of(parent: *mut ContextNode, frame: u64) -> Option<(&'static AtomicU64, u64)> {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    // SAFETY: the caller gives a node, and the address of a return address.
    let (from, caller) = unsafe { (*(frame as *const u64), (*parent).record as u64) };
    let hash = (from ^ caller.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    DIRECT.get((hash >> 54) as usize).map(|place| (place, hash))
}

/// No call is remembered: other code may come to where some is that goes.
pub fn forget() {
    DIRECT.iter().for_each(|place| place.store(0, Ordering::Relaxed));
}

/// The slot of the call that is under way, and its node, where `at` is a slot of `parent`.
///
/// # Safety
/// `parent` is a node of the calling thread's tree.
pub unsafe fn under_way(
    parent: *mut ContextNode,
    at: Slot,
    activation: Activation,
) -> (Slot, *mut ContextNode) {
    let Activation { frame, record, .. } = activation;
    // SAFETY: the caller's.
    unsafe {
        // A function that was called in tail position stands where its caller stood.
        let is_there = tree::is_root(parent) || (*parent).frame == frame + 1;
        if is_there || activation.is_nested {
            return (at, parent);
        }
        if (*record).flags & FLAG_OWN_FRAME == 0 && is_inlined(parent, activation) {
            return (at, parent);
        }
        let call = call_of(parent, frame);
        if call.is_some_and(|(place, call)| place.load(Ordering::Relaxed) == call) {
            return (at, parent);
        }
        let (found, is_direct) = innermost(parent, frame);
        if found == parent {
            if let Some((place, call)) = call.filter(|_| is_direct) {
                place.store(call, Ordering::Relaxed);
            }
            return (at, parent);
        }
        let mut below = parent;
        while (*below).parent != found {
            below = (*below).parent;
        }
        (tree::slot_of(below), found)
    }
}

/// Whether an activation is a part of its parent's: in the same frame the same code runs. A
/// function that is there already is called anew where the frame was left.
unsafe fn is_inlined(parent: *mut ContextNode, activation: Activation) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let mut node = parent;
        if (*node).code != activation.code {
            return false;
        }
        while (*node).frame == activation.frame {
            if (*node).record == activation.record {
                return false;
            }
            node = (*node).parent;
        }
        node != parent
    }
}

/// The innermost activation on the stack that a node or one of its ancestors has; and whether it is
/// the caller of the one that asks.
unsafe fn innermost(node: *mut ContextNode, frame: u64) -> (*mut ContextNode, bool) {
    // SAFETY: the caller's; nodes are never freed, and the parent of all roots is there.
    unsafe {
        let mut next = node;
        let mut is_first = true;
        loop {
            let mut search = Search {
                ancestors: [Candidate::NONE; ANCESTORS],
                len: 0,
                frame,
                callers: 0,
                frames: 0,
                code: 0,
                highest: 0,
                found: null_mut(),
                guess: None,
            };
            while let Some(place) = search.ancestors.get_mut(search.len)
                && !tree::is_root(next)
            {
                // Many may be gone; but on another stack addresses say nothing.
                if is_first || (*next).frame > frame || head::is_shared(next) {
                    *place = Candidate::of(next);
                    search.len += 1;
                }
                next = (*next).parent;
            }
            is_first = false;
            unwinder::for_each_frame(visit, (&raw mut search).cast());
            if !search.found.is_null() {
                return (search.found, search.callers == 1);
            }
            let guess = search
                .guess
                .and_then(|guess| Some((search.ancestors.get(guess.index)?.node, guess.frame)));
            if let Some((node, frame)) = guess {
                AtomicU64::from_ptr(&raw mut (*node).frame).store(frame, Ordering::Relaxed);
                return (node, false);
            }
            // Where the unwinder did not come so far, the addresses have to do.
            let ancestors = search.ancestors.get(..search.len).unwrap_or_default();
            let above = |candidate: &&Candidate| {
                candidate.frame > frame && candidate.frame > search.highest
            };
            if let Some(candidate) = ancestors.iter().find(above) {
                return (candidate.node, false);
            }
            if tree::is_root(next) {
                return (next, false);
            }
        }
    }
}
