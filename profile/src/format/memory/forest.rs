//! One thread's forest for a function, found by the addresses in it.

use super::bytes::{Bytes, Object};
use super::counts::Told;
use crate::cursor::Malformed;
use crate::forest::{NodeId, PrefixForest};
use crate::format::profile::FunctionProfile;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::memory::{Extra, Node, TableHead, Taken, ThreadForest};
use midflight_abi::{
    DENSE_OFFSET, DENSE_PATHS, KEY_SHIFT, Mode, SLOT_SHIFT, Slot, Totals, WORD_SHIFT, id_of_key,
};

/// Reads the forest at an address, of which `object` has the fields. `None`: nothing was counted in
/// it.
pub(super) fn read(
    bytes: &mut Bytes<'_>,
    address: u64,
    object: &Object<'_>,
    told: &Told,
) -> Result<Option<FunctionProfile>, Malformed> {
    let at = offset_of!(ThreadForest, forest.totals);
    let totals = Totals::new([0, 1, 2, 3].map(|label| {
        let count = object.u64(at + label as usize * size_of::<u64>());
        told.told(address, label, count)
    }));
    let k = object.u32(offset_of!(ThreadForest, k));
    let mode = offset_of!(ThreadForest, mode);
    let forest = match Mode::of_byte(object.u8(mode)) {
        Some(Mode::Counting) => read_counters(bytes, address, object, told)?,
        Some(Mode::Automaton) => {
            read_nodes(bytes, object.u64(offset_of!(ThreadForest, start)), k, told)?
        }
        // What is counted as published is in no file.
        Some(Mode::Published) | None => {
            let at = bytes.offset(address).saturating_add(mode);
            return Err(Malformed { what: "a function's mode", at, problem: "is unknown" });
        }
    };
    if totals == Totals::default() && forest.is_empty() {
        return Ok(None);
    }
    let key = object.u64(offset_of!(ThreadForest, key));
    Ok(Some(FunctionProfile { module: 0, key, k, totals, forest }))
}

fn read_counters(
    bytes: &mut Bytes<'_>,
    address: u64,
    object: &Object<'_>,
    told: &Told,
) -> Result<PrefixForest, Malformed> {
    let paths = object.u32(offset_of!(ThreadForest, num_paths)) as usize;
    let counters = address.wrapping_add(size_of::<ThreadForest>() as u64);
    let counters = bytes.object(counters, paths.saturating_mul(8), "a function's counters")?;
    let mut forest = PrefixForest::new();
    for (path, counter) in (0..).zip(counters.items(size_of::<u64>())) {
        let count = told.told(address.wrapping_add(1), path, counter.u64(0));
        if count != 0 {
            let root = forest.child_or_insert(None, path);
            forest.add_saturating(root, count);
        }
    }
    Ok(forest)
}

/// A child of a node.
struct Child {
    label: u32,
    count: u64,
    /// The state after it
    next: u64,
}

/// A node that is being walked through.
struct Open {
    label: u32,
    /// Where it is in the forest; none while nothing was counted in or below it
    id: Option<NodeId>,
    children: vec::IntoIter<Child>,
}

/// The nodes that have a count in or below them, from the start on.
fn read_nodes(
    bytes: &mut Bytes<'_>,
    start: u64,
    k: u32,
    told: &Told,
) -> Result<PrefixForest, Malformed> {
    let mut forest = PrefixForest::new();
    // The start, and then a node on each level.
    let mut open =
        vec![Open { label: 0, id: None, children: children(bytes, start, told)?.into_iter() }];
    while let Some(node) = open.last_mut() {
        let Some(Child { label, count, next }) = node.children.next() else {
            open.pop();
            continue;
        };
        let mut id = None;
        if count != 0 {
            let parent = insert(&mut forest, &mut open);
            let child = forest.child_or_insert(parent, label);
            forest.add_saturating(child, count);
            id = Some(child);
        }
        // At full depth the state after a child is that of another node.
        if open.len() + 2 < 2 * k as usize {
            let node = node_of(bytes, next)?;
            open.push(Open { label, id, children: children(bytes, node, told)?.into_iter() });
        }
    }
    Ok(forest)
}

/// Puts all nodes on the way in the forest; tells the last, which is none for the start.
fn insert(forest: &mut PrefixForest, open: &mut [Open]) -> Option<NodeId> {
    let mut parent = None;
    for node in open.iter_mut().skip(1) {
        let id = *node.id.get_or_insert_with(|| forest.child_or_insert(parent, node.label));
        parent = Some(id);
    }
    parent
}

/// The node that a state leads to; 0: there is none.
fn node_of(bytes: &Bytes<'_>, state: u64) -> Result<u64, Malformed> {
    match address_of(state) {
        0 => Ok(0),
        table => bytes.peek(head_of(table) + offset_of!(TableHead, node) as u64, "a table"),
    }
}

/// The children of a node, with those of the nodes that stand beside it.
fn children(bytes: &mut Bytes<'_>, node: u64, told: &Told) -> Result<Vec<Child>, Malformed> {
    let mut all = Vec::new();
    let mut holder = node;
    while holder != 0 {
        let object = bytes.object(holder, size_of::<Node>(), "a node")?;
        let mut own = own_children(bytes, &object)?;
        let mut more = 0;
        let extra = object.u64(offset_of!(Node, extra));
        if extra != 0 {
            let extra = bytes.object(extra, size_of::<Extra>(), "what a node has besides")?;
            add_taken(bytes, extra.u64(offset_of!(Extra, taken)), &mut own)?;
            more = extra.u64(offset_of!(Extra, more));
        }
        all.extend(own.into_iter().map(|(child, in_slot)| {
            let count = told.told(node, child.label, child.count.wrapping_add(in_slot));
            Child { count, ..child }
        }));
        holder = more;
    }
    Ok(all)
}

/// The children in the table of a node by ascending label, with what was counted in tables that it
/// has had; and apart, what its slot has now.
fn own_children(bytes: &mut Bytes<'_>, node: &Object<'_>) -> Result<Vec<(Child, u64)>, Malformed> {
    let dense = node.u8(offset_of!(Node, dense));
    let mut state = node.u64(offset_of!(Node, table));
    let mut known: Vec<(Child, u64)> = Vec::new();
    let mut is_first = true;
    while address_of(state) != 0 {
        let (before, slots) = table(bytes, state, dense)?;
        for (index, slot) in (0..).zip(slots.items(size_of::<Slot>())) {
            let next = slot.u64(offset_of!(Slot, next));
            let Some((label, count)) =
                label_and_count(index, next, slot.u64(offset_of!(Slot, tally)), dense != 0)
            else {
                continue;
            };
            if is_first {
                known.push((Child { label, count: 0, next }, count));
            } else if let Some((child, _)) = find(&mut known, label) {
                child.count = child.count.wrapping_add(count);
            }
        }
        if is_first {
            known.sort_by_key(|(child, _)| child.label);
            is_first = false;
        }
        state = before;
    }
    Ok(known)
}

/// What a slot has; none if it is empty.
fn label_and_count(index: u32, next: u64, tally: u64, is_dense: bool) -> Option<(u32, u64)> {
    if is_dense {
        return (next != 0).then_some((index, tally));
    }
    let key = (tally >> KEY_SHIFT) as u32;
    // The key's lowest bit is the counter's next.
    (key != 0).then(|| (id_of_key(key), tally & ((1 << (KEY_SHIFT + 1)) - 1)))
}

fn find(known: &mut [(Child, u64)], label: u32) -> Option<&mut (Child, u64)> {
    let place = known.binary_search_by_key(&label, |(child, _)| child.label).ok()?;
    known.get_mut(place)
}

/// Adds what was taken out of slots.
fn add_taken(
    bytes: &mut Bytes<'_>,
    first: u64,
    known: &mut [(Child, u64)],
) -> Result<(), Malformed> {
    let mut address = first;
    while address != 0 {
        let taken = bytes.object(address, size_of::<Taken>(), "a large counter")?;
        if let Some((child, in_slot)) = find(known, taken.u32(offset_of!(Taken, label))) {
            let is_taking = taken.u32(offset_of!(Taken, is_taking)) != 0;
            let which = if is_taking { offset_of!(Taken, sum) } else { offset_of!(Taken, count) };
            child.count = child.count.wrapping_add(taken.u64(which));
            if is_taking {
                *in_slot = 0;
            }
        }
        address = taken.u64(offset_of!(Taken, next));
    }
    Ok(())
}

/// Where the table of a state is.
fn address_of(state: u64) -> u64 {
    match state & DENSE_OFFSET != 0 {
        true => state - DENSE_OFFSET,
        false => state >> WORD_SHIFT,
    }
}

fn head_of(table: u64) -> u64 {
    table.wrapping_sub(size_of::<TableHead>() as u64)
}

/// The state of the table that this one has replaced, and the slots.
fn table<'a>(bytes: &mut Bytes<'a>, state: u64, dense: u8) -> Result<(u64, Object<'a>), Malformed> {
    let sparse = (state & ((1 << WORD_SHIFT) - 1)) as usize >> SLOT_SHIFT;
    let slots = if dense == 0 { sparse + 1 } else { usize::from(dense).min(DENSE_PATHS as usize) };
    let size = size_of::<TableHead>() + slots * size_of::<Slot>();
    let object = bytes.object(head_of(address_of(state)), size, "a table")?;
    let (head, slots) = object.split(size_of::<TableHead>());
    Ok((head.u64(offset_of!(TableHead, before)), slots))
}
