//! The calling contexts of one thread, found by the addresses in its tree.
//!
//! The tree is gone through from its root, by the slots of nodes and the rings that these lead to.
//! The nodes that are left out are those that an ordinary profile leaves out: what has no count,
//! above nothing that has, and functions of images that were not registered.

use super::bytes::{Bytes, Object};
use super::counts::Told;
use super::module_of;
use super::{KnownImage, Reader};
use crate::cursor::Malformed;
use crate::format::contexts::{
    self, Bursts, CalledFunction, CalledId, ContextCounts, ContextId, ContextMode, ContextsHeader,
};
use crate::format::error::ReadError;
use crate::format::profile::FunctionProfile;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::contexts::{
    CONTEXT_NODE_SIZE, ContextHead, ContextNode, EMPTY, MOST_SLOTS, nanoseconds,
};
use midflight_abi::memory::{
    CalledFunction as Function, ContextTree, FREE, IS_FUNCTION, MONITORED, MemoryHeader, Monitored,
};

/// What of the trees was kept, and when contexts were counted.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    mode: ContextMode,
    bursts: Option<Bursts>,
    /// Where times were taken: nanoseconds for 2^32 of the counter
    scale: Option<u64>,
}

impl Kept {
    /// A number of the counter in nanoseconds, where times were taken.
    fn nanoseconds(self, counted: u64) -> Option<u64> {
        Some(nanoseconds(counted, self.scale?))
    }
}

/// The same, as the header tells it.
pub(super) fn kept(header: &Object<'_>) -> Result<Kept, Malformed> {
    let share = |index: usize| {
        let at = offset_of!(MemoryHeader, shares) + index * size_of::<u64>();
        let problem = "is not from 0 to 1";
        contexts::share_of(header.u64(at)).ok_or(Malformed {
            what: "a share of activations",
            at,
            problem,
        })
    };
    let mode = match header.u64(offset_of!(MemoryHeader, shares)) {
        0 => ContextMode::All,
        _ => ContextMode::Hot { phi: share(0)?, epsilon: share(1)? },
    };
    let at = offset_of!(MemoryHeader, bursts);
    let (interval, length) = (header.u64(at), header.u64(at + size_of::<u64>()));
    let bursts = match interval {
        0 => None,
        _ if length != 0 && length < interval => Some(Bursts { interval, length }),
        _ => {
            let problem = "is 0, or not below their interval";
            return Err(Malformed { what: "the length of bursts", at, problem });
        }
    };
    let scale = header.u64(offset_of!(MemoryHeader, time_scale));
    Ok(Kept { mode, bursts, scale: (scale != 0).then_some(scale) })
}

/// Adds the activations that no context could be given, and of which the function is not known:
/// those that the node at an address stood in for.
pub(super) fn read_elsewhere(
    bytes: &mut Bytes<'_>,
    address: u64,
    kept: Kept,
    sum: &mut contexts::Reader,
) -> Result<(), ReadError> {
    let Kept { mode, bursts, .. } = kept;
    if address == 0 {
        return Ok(());
    }
    let node = bytes.object(address, CONTEXT_NODE_SIZE, "the node without a context")?;
    let elsewhere = node.u64(offset_of!(ContextNode, error));
    let time = time_of(bytes, address, kept)?.and_then(|time| kept.nanoseconds(time));
    if elsewhere != 0 || time.is_some_and(|time| time != 0) {
        let activations = elsewhere;
        let none = ContextsHeader::default();
        sum.begin(&ContextsHeader { mode, activations, elsewhere, bursts, time, ..none })?;
    }
    Ok(())
}

/// How much of the counter the node at an address has taken, where times were taken.
fn time_of(bytes: &mut Bytes<'_>, address: u64, kept: Kept) -> Result<Option<u64>, Malformed> {
    if kept.scale.is_none() {
        return Ok(None);
    }
    let size = size_of::<ContextHead>();
    let head = bytes.object(address.wrapping_sub(size as u64), size, "the time of a context")?;
    Ok(Some(head.u64(offset_of!(ContextHead, time))))
}

/// Adds the tree at an address, with the forests of its thread that count in one node, which is
/// named by its address.
pub(super) fn read(
    bytes: &mut Bytes<'_>,
    address: u64,
    told: &Told,
    kept: Kept,
    modules: (&[KnownImage], &Reader),
    forests: Vec<(u64, FunctionProfile)>,
    sum: &mut contexts::Reader,
) -> Result<(), ReadError> {
    let Kept { mode, bursts, .. } = kept;
    let tree = bytes.object(address, size_of::<ContextTree>(), "a tree of contexts")?;
    let root = tree.u64(offset_of!(ContextTree, root));
    if root == 0 {
        return Ok(());
    }
    let functions = Functions::read(bytes, tree.u64(offset_of!(ContextTree, functions)), modules)?;
    let mut nodes = read_nodes(bytes, root, |bytes, address, object| {
        let count = object.u64(offset_of!(ContextNode, count));
        let time = time_of(bytes, address, kept)?;
        let told_time = time.map_or(0, |time| told.told(address, 1, time));
        let time = time.unwrap_or(0);
        Ok(match mode {
            ContextMode::All => (told.told(address, 0, count), told_time),
            ContextMode::Hot { .. } if is_monitored(object) => (count, time),
            ContextMode::Hot { .. } => (0, time),
        })
    })?;
    let (activations, floor) = match mode {
        ContextMode::All => (nodes.iter().fold(0, |sum: u64, n| sum.saturating_add(n.count)), 0),
        ContextMode::Hot { .. } => {
            let monitored = tree.u64(offset_of!(ContextTree, monitored));
            (count_of_monitored(bytes, monitored)?, tree.u64(offset_of!(ContextTree, floor)))
        }
    };
    let has_elsewhere = functions.by_address.values().any(|function| function.elsewhere != 0);
    if !mark(&mut nodes) && !has_elsewhere {
        return Ok(());
    }
    let time = kept.nanoseconds(tree.u64(offset_of!(ContextTree, removed_time)));
    let none = ContextsHeader::default();
    let sum = sum.begin(&ContextsHeader { mode, activations, floor, bursts, time, ..none })?;
    let mut ids: Vec<Option<(ContextId, CalledId)>> = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let malformed = |what, problem| {
            ReadError::Malformed(Malformed { what, at: bytes.offset(node.address), problem })
        };
        let parent = match node.parent {
            None => Some(None),
            Some(parent) => ids[parent].map(Some),
        };
        let called = functions.of(&node.object);
        let (Some(parent), Some(called), true) = (parent, called, node.is_wanted) else {
            ids.push(None);
            continue;
        };
        let sites =
            parent.map_or(1, |(_, function)| sum.contexts.functions()[function.index()].slots);
        if node.site >= sites {
            return Err(malformed("a context's call site", "is not in the function above"));
        }
        let function = sum.contexts.intern_at(called, bytes.offset(node.address))?;
        let id = sum.contexts.child_or_insert(parent.map(|(id, _)| id), node.site, function);
        let (count, error) = match mode {
            ContextMode::All => (node.count, 0),
            ContextMode::Hot { .. } if is_monitored(&node.object) => {
                // Of a program that runs, they are of two moments.
                (node.count, node.object.u64(offset_of!(ContextNode, error)).min(node.count))
            }
            // It has had no more, as if it was not there.
            ContextMode::Hot { .. } => (floor, floor),
        };
        let time = kept.nanoseconds(node.time).unwrap_or(0);
        sum.add(id, &ContextCounts { site: node.site, count, error, time })?;
        ids.push(Some((id, function)));
    }
    for (&address, function) in &functions.by_address {
        if function.elsewhere != 0 {
            let called = sum.contexts.intern_at(function.called, bytes.offset(address))?;
            sum.contexts.add_elsewhere(called, function.elsewhere)?;
        }
    }
    let places: BTreeMap<u64, ContextId> =
        nodes.iter().zip(&ids).filter_map(|(node, id)| Some((node.address, (*id)?.0))).collect();
    for (node, function) in forests {
        // One that was removed has none any more.
        if let Some(&id) = places.get(&node) {
            let at = bytes.offset(node);
            sum.contexts.add_forest(id, function).map_err(|error| error.of(at))?;
        }
    }
    Ok(())
}

/// A node, whose parent is before it in a list of all.
struct Node<'a> {
    address: u64,
    /// All but the slots
    object: Object<'a>,
    /// None in a root
    parent: Option<usize>,
    /// The slot of the call in the parent
    site: u32,
    /// What the profile has of its count
    count: u64,
    /// What it has of its time, by the counter
    time: u64,
    /// Whether it, or a node below it, has a count or a time
    is_wanted: bool,
}

/// All nodes below the parent of all roots; `counts` has what the profile has of a node: its count
/// and its time.
fn read_nodes<'a>(
    bytes: &mut Bytes<'a>,
    root: u64,
    counts: impl Fn(&mut Bytes<'a>, u64, &Object<'a>) -> Result<(u64, u64), Malformed>,
) -> Result<Vec<Node<'a>>, Malformed> {
    let mut nodes = Vec::new();
    let mut open = vec![(root, None, read_node(bytes, root)?.1)];
    while let Some((parent_address, parent, slots)) = open.pop() {
        for (site, slot) in (0..).zip(slots.items(size_of::<u64>())) {
            let first = slot.u64(0);
            // Zeroes were not written yet.
            if first == parent_address.wrapping_add(EMPTY as u64) || first == 0 {
                continue;
            }
            let mut address = first;
            loop {
                let (object, slots) = read_node(bytes, address)?;
                let its_site = object.u16(offset_of!(ContextNode, site)) & (MOST_SLOTS - 1) as u16;
                let its_parent = object.u64(offset_of!(ContextNode, parent));
                if (its_parent, u32::from(its_site)) != (parent_address, site) {
                    // Of a program that runs: it was removed meanwhile, and has become another.
                    let (at, problem) = (bytes.offset(address), "was not called from there");
                    return Err(Malformed { what: "a context", at, problem });
                }
                open.push((address, Some(nodes.len()), slots));
                let (count, time) = counts(bytes, address, &object)?;
                let is_wanted = count | time != 0;
                nodes.push(Node { address, object, parent, site, count, time, is_wanted });
                address = object.u64(offset_of!(ContextNode, next));
                if address == first || address == 0 {
                    break;
                }
            }
        }
    }
    Ok(nodes)
}

/// The node at an address, and its slots.
fn read_node<'a>(
    bytes: &mut Bytes<'a>,
    address: u64,
) -> Result<(Object<'a>, Object<'a>), Malformed> {
    let node = bytes.object(address, CONTEXT_NODE_SIZE, "a context")?;
    let slots = usize::from(node.u16(offset_of!(ContextNode, slots)) & !FREE);
    let at = address.wrapping_add(CONTEXT_NODE_SIZE as u64);
    Ok((node, bytes.object(at, slots * size_of::<u64>(), "the call sites of a context")?))
}

fn is_monitored(node: &Object<'_>) -> bool {
    node.u16(offset_of!(ContextNode, site)) & MONITORED != 0
}

/// Lets nodes be wanted that are above others that are. Whether there are any.
fn mark(nodes: &mut [Node<'_>]) -> bool {
    for index in (0..nodes.len()).rev() {
        let node = &nodes[index];
        if let (true, Some(parent)) = (node.is_wanted, node.parent) {
            nodes[parent].is_wanted = true;
        }
    }
    nodes.iter().any(|node| node.is_wanted)
}

/// All activations, where only hot contexts are kept.
fn count_of_monitored(bytes: &mut Bytes<'_>, address: u64) -> Result<u64, Malformed> {
    let monitored = bytes.object(address, size_of::<Monitored>(), "the monitored contexts")?;
    let len = monitored.usize(offset_of!(Monitored, len));
    if len == 0 {
        return Ok(0);
    }
    let size = len.saturating_mul(size_of::<u64>());
    let entries = monitored.u64(offset_of!(Monitored, nodes));
    let mut sum = 0u64;
    for entry in bytes.object(entries, size, "the monitored contexts")?.items(size_of::<u64>()) {
        // One that was not written yet.
        if entry.u64(0) != 0 {
            let node = bytes.again(entry.u64(0), CONTEXT_NODE_SIZE, "a monitored context")?;
            sum = sum.saturating_add(node.u64(offset_of!(ContextNode, count)));
        }
    }
    Ok(sum)
}

/// The functions of a tree, of which the images are registered.
struct Functions {
    by_record: BTreeMap<u64, CalledFunction>,
    by_address: BTreeMap<u64, Called>,
}

struct Called {
    called: CalledFunction,
    /// Its activations without context
    elsewhere: u64,
}

impl Functions {
    fn read(
        bytes: &mut Bytes<'_>,
        first: u64,
        (images, reader): (&[KnownImage], &Reader),
    ) -> Result<Self, Malformed> {
        let mut functions = Self { by_record: BTreeMap::new(), by_address: BTreeMap::new() };
        let mut address = first;
        while address != 0 {
            let object = bytes.object(address, size_of::<Function>(), "a function of contexts")?;
            let image = object.u64(offset_of!(Function, image));
            let record = object.u64(offset_of!(Function, record));
            if let Some(module) = module_of(images, reader, image, record) {
                let key = object.u64(offset_of!(Function, key));
                let slots = object.u32(offset_of!(Function, slots));
                let called = CalledFunction { module, key, slots };
                if record != 0 {
                    functions.by_record.insert(record, called);
                }
                let elsewhere = object.u64(offset_of!(Function, elsewhere));
                functions.by_address.insert(address, Called { called, elsewhere });
            }
            address = object.u64(offset_of!(Function, before));
        }
        Ok(functions)
    }

    /// That of a node.
    fn of(&self, node: &Object<'_>) -> Option<CalledFunction> {
        let record = node.u64(offset_of!(ContextNode, record));
        let is_function = IS_FUNCTION as u64;
        let known = match record & is_function {
            0 => self.by_record.get(&record),
            _ => self.by_address.get(&(record - is_function)).map(|function| &function.called),
        };
        known.copied()
    }
}
