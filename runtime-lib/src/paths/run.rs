//! Many events in a row of one path: the rounds of a loop, which emitted code has counted in a
//! register.
//!
//! After k − 1 events of one path the state is the window that has nothing else, and the path leads
//! from it back to it. So all but the first rounds of a long run are counted by one addition. Where
//! memory is full it is a shorter window, of which the same holds.
//!
//! Where a slot has to be made, or its counter has overflowed, events are counted one by one; each
//! tells how many follow, so that what is made for them is not refused for want of worth.

use crate::paths::automaton::{self, Event};
use crate::paths::forest::ThreadForest;
use crate::paths::step;
use crate::paths::table::{self, Entry, Node, Word};
use midflight_abi::{Forest, Slot};

/// Rounds that are added at once: a counter that has not overflowed has room for so many more.
const MOST_ROUNDS: u64 = 1 << 31;

/// Counts `n` events of path `id`; returns the state after them.
///
/// # Safety
/// `state` is one of the forest, which is one of the calling thread; `id` is below the function's
/// number of paths.
pub unsafe fn run(mut state: Word, id: u32, mut n: u64, forest: *mut Forest) -> Word {
    let this = ThreadForest::of(forest);
    // SAFETY: the caller's.
    unsafe {
        while n != 0 {
            let mut slot = circle(&mut state, id);
            if slot.is_none() {
                let node = table::node_of(state);
                state = step(state, id, n - 1, this);
                n -= 1;
                // It had no place in the node's table, and still leads back to it.
                slot = (table::node_of(state) == node).then(|| detour(node, id)).flatten();
            }
            if let Some(slot) = slot {
                let rounds = n.min(MOST_ROUNDS);
                table::add(slot, rounds);
                n -= rounds;
            }
        }
    }
    state
}

/// The slot of a path that leads from a state back to it, if it can be counted; the state is that
/// which leads to the node's table of now.
unsafe fn circle(state: &mut Word, id: u32) -> Option<*mut Slot> {
    // SAFETY: the caller gives a state of a forest of the calling thread.
    unsafe {
        if let Some((slot, next)) = table::known(*state, id) {
            return (next == *state).then_some(slot);
        }
        let node = table::node_of(*state);
        let entry = automaton::find(node, id).filter(|&entry| leads_back(entry, node))?;
        *state = entry.next();
        Some(entry.slot)
    }
}

/// The slot of a path in the table of the longest suffix of a node's window that has a place for
/// it, if it can be counted there, and leads back to the node.
unsafe fn detour(node: *mut Node, id: u32) -> Option<*mut Slot> {
    // SAFETY: the caller gives a node of a forest of the calling thread.
    unsafe {
        let entry = automaton::find_at_suffix(node, id);
        entry.filter(|&entry| leads_back(entry, node)).map(|entry| entry.slot)
    }
}

/// Whether an entry leads to a node, and many events can be added to it.
#[inline(always)]
unsafe fn leads_back(entry: Entry, node: *mut Node) -> bool {
    // SAFETY: the caller gives an entry of a forest.
    unsafe { table::node_of(entry.next()) == node && !entry.has_overflowed() && !entry.is_closed() }
}

/// One event, before so many others of its kind.
unsafe fn step(state: Word, id: u32, to_come: u64, this: *mut ThreadForest) -> Word {
    // SAFETY: the caller's.
    unsafe {
        match table::known(state, id) {
            Some((slot, next)) => {
                table::add(slot, 1);
                next
            }
            None => {
                let event = Event { label: id, is_final: false, to_come };
                step::count(table::table_of(state), event, this)
            }
        }
    }
}
