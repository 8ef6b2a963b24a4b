//! Many events in a row of one path: the rounds of a loop, which emitted code has counted in a register.
//!
//! After 2k−2 events of one path the automaton goes in a circle of k−1 states (τ of Algorithm 4 is
//! reset after as many events): the upper state on level k−2, then the lower slab down to full depth,
//! and back. So most of a long run is counted by adding the number of turns to each child on the
//! circle. That is the same as to count the events one by one, unless a handler of signals prunes the
//! forest in the middle: then as many events are stated as lost.
//!
//! Where a child on the circle cannot be counted by emitted code (it is not there, its counter is half
//! full, memory is full), nothing is added to the circle, and events are counted one by one.

use crate::counter;
use crate::forest::ThreadForest;
use crate::node::{self, Word};
use midflight_abi::{DENSE_PATHS, Forest, MAX_K, SLOT_SHIFT, Slot, WORD_ADDRESS_BITS, hash};

/// A circle has at most so many states.
const MOST: usize = MAX_K as usize - 1;

/// Turns that are added at once: a counter that is not half full holds so many more.
const MOST_TURNS: u64 = 1 << 30;

/// Counts `n` events of path `id`; returns the state after them.
///
/// # Safety
/// As for `midflight_step`; the forest is one of the calling thread.
pub unsafe fn run(mut state: Word, id: u32, mut n: u64, forest: *mut Forest) -> Word {
    let this = ThreadForest::of(forest);
    // SAFETY: the caller's.
    let (k, is_dense) = unsafe { ((*this).shared.k, (*this).shared.num_paths <= DENSE_PATHS) };
    let period = u64::from(k).saturating_sub(1).max(1);
    while n != 0 {
        let turning = n.min(MOST_TURNS * period);
        let turned = match n >= period {
            // SAFETY: the caller's.
            true => unsafe { turn(state, id, is_dense, period, turning, this) },
            false => None,
        };
        if let Some(after) = turned {
            state = after;
            n -= turning;
            continue;
        }
        let single = n.min(2 * period);
        for _ in 0..single {
            // SAFETY: the caller's.
            state = unsafe { step(state, id, is_dense, forest) };
        }
        n -= single;
    }
    state
}

/// Counts `n` events on the circle of `period` states that begins with `state`; returns the state after
/// them. None: there is no circle, or not all of its children can be counted.
unsafe fn turn(
    state: Word,
    id: u32,
    is_dense: bool,
    period: u64,
    n: u64,
    this: *mut ThreadForest,
) -> Option<Word> {
    let mut circle: [*mut Slot; MOST] = [core::ptr::null_mut(); MOST];
    let circle = circle.get_mut(..period as usize)?;
    // SAFETY: the caller's; the context of a thread's forest is never freed.
    unsafe {
        let nodes = &raw const (*(*ThreadForest::context(this)).data.get()).nodes;
        let prunings = (*nodes).prunings();
        let mut at = state;
        for slot in circle.iter_mut() {
            let found = known(at, id, is_dense)?;
            (*slot, at) = (found, node::next(found));
        }
        if at != state {
            return None;
        }
        let (turns, mut rest) = (n / period, n % period);
        for &slot in circle.iter() {
            let more = rest != 0;
            node::add(slot, turns as u32 + u32::from(more));
            if more {
                at = node::next(slot);
                rest -= 1;
            }
        }
        if (*nodes).prunings() != prunings {
            counter::add(&raw mut (*this).shared.forest.lost, n);
        }
        Some(at)
    }
}

/// One event, as emitted code counts it.
unsafe fn step(state: Word, id: u32, is_dense: bool, forest: *mut Forest) -> Word {
    // SAFETY: the caller's.
    unsafe {
        match known(state, id, is_dense) {
            Some(slot) => {
                node::add(slot, 1);
                node::next(slot)
            }
            None => crate::midflight_step(state, id, forest),
        }
    }
}

/// The slot of a path where emitted code looks for it, if it is there and can be counted.
unsafe fn known(state: Word, id: u32, is_dense: bool) -> Option<*mut Slot> {
    let address = state & ((1 << WORD_ADDRESS_BITS) - 1);
    let offset = match is_dense {
        true => u64::from(id) << SLOT_SHIFT,
        false => (state >> WORD_ADDRESS_BITS) & u64::from(hash(id)),
    };
    let slot = (address + offset) as *mut Slot;
    // SAFETY: the state is one of the forest, so the place is in a table.
    unsafe { (node::label(slot) == Some(id) && !node::is_half_full(slot)).then_some(slot) }
}
