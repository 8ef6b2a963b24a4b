//! One thread's forest for a function, found by the addresses in it.

use super::bytes::{Bytes, Object};
use super::counts::Told;
use crate::cursor::Malformed;
use crate::forest::PrefixForest;
use crate::format::profile::{Counters, FunctionProfile};
use crate::format::read::node_of;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::memory::{Extra, Node, TableHead, Taken, ThreadForest, WindowKind, label_size};
use midflight_abi::{
    DENSE_OFFSET, KEY_SHIFT, Mode, SLOT_SHIFT, Slot, Totals, WORD_SHIFT, count_of_tally, id_of_key,
    is_dense,
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
    let totals = Totals::new([0, 1, 2].map(|label| {
        let count = object.u64(at + label as usize * size_of::<u64>());
        told.told(address, label, count)
    }));
    let k = object.u32(offset_of!(ThreadForest, k));
    let mode = offset_of!(ThreadForest, mode);
    let (forest, truncated) = match Mode::of_byte(object.u8(mode)) {
        Some(Mode::Counting) => (read_counters(bytes, address, object, told)?, PrefixForest::new()),
        Some(Mode::Automaton) => read_nodes(bytes, object, told)?,
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
    let counters = Counters::Windows;
    Ok(Some(FunctionProfile { module: 0, key, k, totals, counters, forest, truncated }))
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

/// A path in a node's table.
struct Path {
    label: u32,
    /// What was counted, but for what the slot has now
    count: u64,
    in_slot: u64,
}

/// All counters of the nodes that have any, and those of truncated windows.
fn read_nodes(
    bytes: &mut Bytes<'_>,
    object: &Object<'_>,
    told: &Told,
) -> Result<(PrefixForest, PrefixForest), Malformed> {
    let (mut forest, mut truncated) = (PrefixForest::new(), PrefixForest::new());
    let num_paths = object.u32(offset_of!(ThreadForest, num_paths));
    let k = object.u32(offset_of!(ThreadForest, k));
    let dense = is_dense(num_paths, k).then(|| num_paths.next_power_of_two() as usize);
    let (label_size, k) = (label_size(num_paths), k as usize);
    let mut address = object.u64(offset_of!(ThreadForest, nodes));
    while address != 0 {
        // What behind the labels is up to the node's size may be less.
        let least = offset_of!(Node, labels);
        let node = bytes.object(address, least, "a node")?;
        let length = usize::from(node.u8(offset_of!(Node, length)));
        let known = [WindowKind::Full, WindowKind::Anchored, WindowKind::Truncated];
        let byte = node.u8(offset_of!(Node, kind));
        let Some(kind) = known.into_iter().find(|&kind| kind as u8 == byte) else {
            let (what, at) = ("the kind of a window", bytes.offset(address));
            return Err(Malformed { what, at, problem: "is unknown" });
        };
        let most = if kind == WindowKind::Full { k } else { k.saturating_sub(1) };
        if length >= most.max(1) {
            let (what, at) = ("the length of a window", bytes.offset(address));
            return Err(Malformed { what, at, problem: "is not below k" });
        }
        let labels =
            bytes.object(address.wrapping_add(least as u64), length * label_size, "a window")?;
        let labels: Vec<u32> = labels
            .bytes()
            .chunks_exact(label_size)
            .map(|label| label.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)))
            .collect();
        let is_truncated = kind == WindowKind::Truncated;
        for Path { label, count, in_slot } in paths(bytes, &node, dense)? {
            let count = told.told(address, label, count.wrapping_add(in_slot));
            if count == 0 {
                continue;
            }
            for forest in [Some(&mut forest), is_truncated.then_some(&mut truncated)] {
                let Some(forest) = forest else { continue };
                let window = node_of(forest, &labels);
                let id = forest.child_or_insert(window, label);
                forest.add_saturating(id, count);
            }
        }
        address = node.u64(offset_of!(Node, next));
    }
    Ok((forest, truncated))
}

/// The paths in the table of a node by ascending label, with what was counted in tables that it has
/// had.
fn paths(
    bytes: &mut Bytes<'_>,
    node: &Object<'_>,
    dense: Option<usize>,
) -> Result<Vec<Path>, Malformed> {
    let mut state = node.u64(offset_of!(Node, table));
    let mut known: Vec<Path> = Vec::new();
    let mut is_first = true;
    while address_of(state) != 0 {
        let (before, slots) = table(bytes, state, dense)?;
        for (index, slot) in (0..).zip(slots.items(size_of::<Slot>())) {
            let next = slot.u64(offset_of!(Slot, next));
            let Some((label, in_slot)) =
                label_and_count(index, next, slot.u64(offset_of!(Slot, tally)), dense.is_some())
            else {
                continue;
            };
            if is_first {
                known.push(Path { label, count: 0, in_slot });
            } else if let Some(path) = find(&mut known, label) {
                path.count = path.count.wrapping_add(in_slot);
            }
        }
        if is_first {
            known.sort_by_key(|path| path.label);
            is_first = false;
        }
        state = before;
    }
    let extra = node.u64(offset_of!(Node, extra));
    if extra != 0 {
        let extra = bytes.object(extra, size_of::<Extra>(), "what a node has besides")?;
        add_taken(bytes, extra.u64(offset_of!(Extra, taken)), &mut known)?;
    }
    Ok(known)
}

/// What a slot has; none if it is empty.
fn label_and_count(index: u32, next: u64, tally: u64, is_dense: bool) -> Option<(u32, u64)> {
    if is_dense {
        return (next != 0).then_some((index, tally));
    }
    let key = (tally >> KEY_SHIFT) as u32;
    (key != 0).then(|| (id_of_key(key), count_of_tally(tally)))
}

fn find(known: &mut [Path], label: u32) -> Option<&mut Path> {
    let place = known.binary_search_by_key(&label, |path| path.label).ok()?;
    known.get_mut(place)
}

/// Adds what was taken out of slots.
fn add_taken(bytes: &mut Bytes<'_>, first: u64, known: &mut [Path]) -> Result<(), Malformed> {
    let mut address = first;
    while address != 0 {
        let taken = bytes.object(address, size_of::<Taken>(), "a large counter")?;
        if let Some(path) = find(known, taken.u32(offset_of!(Taken, label))) {
            let is_taking = taken.u32(offset_of!(Taken, is_taking)) != 0;
            let which = if is_taking { offset_of!(Taken, sum) } else { offset_of!(Taken, count) };
            path.count = path.count.wrapping_add(taken.u64(which));
            if is_taking {
                path.in_slot = 0;
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

/// The state of the table that this one has replaced, and the slots: so many, where a table has one
/// for each path.
fn table<'a>(
    bytes: &mut Bytes<'a>,
    state: u64,
    dense: Option<usize>,
) -> Result<(u64, Object<'a>), Malformed> {
    let sparse = (state & ((1 << WORD_SHIFT) - 1)) as usize >> SLOT_SHIFT;
    let slots = dense.unwrap_or(sparse + 1);
    let size = size_of::<TableHead>() + slots * size_of::<Slot>();
    let object = bytes.object(head_of(address_of(state)), size, "a table")?;
    let (head, slots) = object.split(size_of::<TableHead>());
    Ok((head.u64(offset_of!(TableHead, before)), slots))
}
