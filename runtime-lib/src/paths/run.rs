//! Many events in a row of one path: the rounds of a loop, which emitted code has counted in a
//! register.
//!
//! After 2k−2 events of one path the automaton goes in a circle of k−1 states (τ of Algorithm 4 is
//! reset after as many events): the upper state on level k−2, then the lower slab down to full
//! depth, and back. Where memory is full, and the circle is not all there, it is one from a root to
//! where the next node is missing, and back to the root. So most of a long run is counted by adding
//! the number of turns to each child on the circle. That is the same as to count the events one by
//! one, unless a handler of signals prunes the forest in the middle: then as many events are stated
//! as lost.
//!
//! Where a child on the circle has to be made, or its counter has overflowed, nothing is added to
//! the circle, and events are counted one by one.

use crate::paths::counter;
use crate::paths::forest::ThreadForest;
use crate::paths::node::{self, Word};
use crate::paths::prune::Nodes;
use core::mem::MaybeUninit;
use midflight_abi::{Forest, MAX_K, Slot};

/// A circle has at most so many states: one on each level.
const MOST: usize = 2 * MAX_K as usize - 2;

/// Turns that are added at once: a counter that has not overflowed has room for so many more.
const MOST_TURNS: u64 = 1 << 31;

/// Counts `n` events of path `id`; returns the state after them.
///
/// # Safety
/// `state` is one of the forest, which is one of the calling thread; `id` is below the function's
/// number of paths.
pub unsafe fn run(mut state: Word, id: u32, mut n: u64, forest: *mut Forest) -> Word {
    let this = ThreadForest::of(forest);
    // SAFETY: the caller's.
    unsafe {
        let levels = u64::from((*this).shared.k).saturating_mul(2).saturating_sub(2).max(1);
        while n != 0 {
            n -= turn(state, id, n, levels, this);
            // As many as lead to a circle, if there is one.
            let single = n.min(levels);
            for _ in 0..single {
                state = step(state, id, this);
            }
            n -= single;
        }
    }
    state
}

/// Counts up to `n` events of whole turns on the circle that begins with `state`, after which the
/// state is the same; returns how many. 0: there is no circle, which has at most one state on each
/// of the forest's levels, or not all of its children can be counted.
unsafe fn turn(state: Word, id: u32, n: u64, levels: u64, this: *mut ThreadForest) -> u64 {
    let mut circle = [MaybeUninit::<*mut Slot>::uninit(); MOST];
    let (mut at, mut length, mut misses, mut restarts) = (state, 0, 0, 0);
    // SAFETY: the caller's; the context of a thread's forest is never freed.
    unsafe {
        let nodes = &raw mut (*(*ThreadForest::context(this)).data.get()).nodes;
        let prunings = (*nodes).prunings();
        for place in circle.iter_mut().take(levels as usize) {
            if let Some((slot, next)) = node::known(at, id) {
                place.write(slot);
                at = next;
            } else {
                let Some(found) = Nodes::look_up(nodes, this, node::table_of(at), id) else {
                    return 0;
                };
                place.write(found.child.slot);
                at = found.child.next();
                misses += u64::from(found.is_miss);
                restarts += u64::from(found.is_restart);
            }
            length += 1;
            if at == state {
                break;
            }
        }
        let most = Nodes::left(nodes).checked_div(misses).unwrap_or(MOST_TURNS);
        let turns = (n / length).min(MOST_TURNS).min(most);
        if at != state || turns == 0 {
            return 0;
        }
        Nodes::miss(nodes, turns * misses);
        ThreadForest::note_restarts(this, turns * restarts);
        for place in circle.iter().take(length as usize) {
            node::add(place.assume_init(), turns);
        }
        let counted = turns * length;
        if (*nodes).prunings() != prunings {
            counter::add(&raw mut (*this).shared.forest.totals.lost, counted);
        }
        counted
    }
}

/// One event.
unsafe fn step(state: Word, id: u32, this: *mut ThreadForest) -> Word {
    // SAFETY: the caller's.
    unsafe {
        match node::known(state, id) {
            Some((slot, next)) => {
                node::add(slot, 1);
                next
            }
            None => crate::paths::step::count(node::table_of(state), id, this),
        }
    }
}
