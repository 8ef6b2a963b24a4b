//! The automaton against Algorithm 4 to the letter, by the functions that emitted code calls.

use crate::forest::{ThreadForest, Visit};
use crate::{counter, midflight_enter, midflight_step, node};
use core::ptr::null_mut;
use midflight_abi::{ABI_VERSION, FLAG_COUNTING, Forest, Node, RECORD_HEADER_SIZE, RecordHeader};
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::ksf::SlabForest;
use proptest::prelude::*;

/// A function as emitted code would have it, entered by one thread.
struct Function {
    /// Never freed: the context keeps its address.
    record: &'static mut RecordHeader,
    slot: Box<*mut Forest>,
}

impl Function {
    fn new(k: u32) -> Self {
        Self::with_flags(k, 0, 1 << 20)
    }

    fn with_flags(k: u32, flags: u16, num_paths: u32) -> Self {
        static KEYS: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(1);
        let key = KEYS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        let size = RECORD_HEADER_SIZE as u32;
        let version = ABI_VERSION;
        let record = RecordHeader { size, version, flags, key, cfg_hash: 0, k, num_paths };
        Self { record: Box::leak(Box::new(record)), slot: Box::new(null_mut()) }
    }

    fn enter(&mut self) -> *mut Node {
        // SAFETY: this is what emitted code does.
        unsafe {
            if self.slot.is_null() {
                midflight_enter(&raw const *self.record, &raw mut *self.slot);
            }
            counter::increment(&raw mut (**self.slot).entries);
            (*self.slot).cast()
        }
    }

    fn forest(&self) -> PrefixForest {
        let mut all = PrefixForest::new();
        let this = self.slot.cast::<ThreadForest>();
        // SAFETY: the calling thread is not in the runtime.
        unsafe { collect(&raw mut (*this).forest.start, (*this).k, 0, None, &mut all) };
        all
    }

    /// As [`Self::forest`], but as it is written to a profile.
    fn written(&self) -> PrefixForest {
        let this = self.slot.cast::<ThreadForest>();
        let mut all = PrefixForest::new();
        let mut open: Vec<(Option<NodeId>, u32)> = Vec::new();
        // SAFETY: the calling thread is not in the runtime.
        unsafe {
            ThreadForest::mark(this);
            open.push((None, ThreadForest::roots(this)));
            let result: Result<(), ()> =
                ThreadForest::walk(this, |Visit { label, count, children }| {
                    while open.last().unwrap().1 == 0 {
                        open.pop();
                    }
                    let (parent, left) = open.last_mut().unwrap();
                    *left -= 1;
                    let id = all.child_or_insert(*parent, label);
                    all.add(id, count).unwrap();
                    open.push((Some(id), children));
                    Ok(())
                });
            result.unwrap();
        }
        assert!(open.iter().all(|&(_, left)| left == 0), "fewer children than announced");
        all
    }
}

unsafe fn collect(node: *mut Node, k: u32, level: u32, id: Option<NodeId>, to: &mut PrefixForest) {
    // SAFETY: the caller gives a node of a forest that nobody changes.
    unsafe {
        let (slots, len) = node::slots(node);
        for index in 0..len as usize {
            let slot = slots.add(index);
            if node::next(slot).is_null() {
                continue;
            }
            let child = to.child_or_insert(id, (*slot).label);
            to.add(child, node::count(node, slot)).unwrap();
            if node::has_node(level, k) {
                assert_eq!((*node::next(slot)).level, level);
                collect(node::next(slot), k, level + 1, Some(child), to);
            }
        }
    }
}

/// One item of several activations' streams.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// The marker ∗: another activation begins.
    Enter,
    /// Path `id` in one of the activations that are under way.
    Event { activation: usize, id: u32 },
}

fn label() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..4, 0u32..40, Just(0u32), any::<u32>().prop_map(|id| id % (1 << 20))]
}

fn stream() -> impl Strategy<Value = Vec<u32>> {
    let random = prop::collection::vec(0u32..6, 0..300);
    let wide = prop::collection::vec(label(), 0..300);
    let regular = (prop::collection::vec(0u32..5, 1..6), 0usize..300)
        .prop_map(|(pattern, len)| pattern.iter().copied().cycle().take(len).collect());
    let runs = prop::collection::vec((0u32..5, 1usize..60), 0..12).prop_map(|runs| {
        runs.into_iter().flat_map(|(id, len)| std::iter::repeat_n(id, len)).collect()
    });
    let biased = prop::collection::vec(
        prop_oneof![20 => Just(7u32), 3 => Just(1u32), 1 => 0u32..30],
        0..400,
    );
    prop_oneof![random, wide, regular, runs, biased]
}

/// Streams of which up to `nested` activations are under way at a time.
fn items(nested: usize) -> impl Strategy<Value = Vec<Item>> {
    let choices = prop::collection::vec((any::<u16>(), 0usize..nested), 400);
    (stream(), choices, 1u16..200).prop_map(|(ids, choices, rarity)| {
        let mut items = vec![Item::Enter];
        for (id, (choice, activation)) in ids.into_iter().zip(choices) {
            if choice % rarity == 0 {
                items.push(Item::Enter);
            }
            items.push(Item::Event { activation, id });
        }
        items
    })
}

fn any_k() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=16, Just(32), Just(64)]
}

/// Runs the items through both; `activation` counts back from the youngest.
fn compare(k: u32, items: &[Item]) {
    let mut function = Function::new(k);
    let mut oracle = PrefixForest::new();
    let mut activations: Vec<(*mut Node, SlabForest)> = Vec::new();
    for item in items {
        match *item {
            Item::Enter => {
                let mut slab = SlabForest::new(k);
                slab.enter();
                activations.push((function.enter(), slab));
            }
            Item::Event { activation, id } => {
                let index = activations.len() - 1 - activation.min(activations.len() - 1);
                let (state, slab) = &mut activations[index];
                // SAFETY: this is what emitted code does.
                *state = unsafe { midflight_step(*state, id) };
                slab.event(id);
            }
        }
    }
    let entered = activations.len() as u64;
    for (_, slab) in &activations {
        oracle.add_forest(slab.forest()).unwrap();
    }
    assert_eq!(function.forest(), oracle);
    assert_eq!(function.written(), without_zeroes(&oracle));
    // SAFETY: the slot has been filled.
    let forest = unsafe { &**function.slot };
    assert_eq!((forest.entries, forest.restarts, forest.lost), (entered, 0, 0));
}

/// The nodes that have a count in or below them.
fn without_zeroes(forest: &PrefixForest) -> PrefixForest {
    let mut kept = PrefixForest::new();
    for id in forest.ids().filter(|&id| forest.count(id) != 0) {
        let node = forest
            .labels(id)
            .into_iter()
            .fold(None, |parent, label| Some(kept.child_or_insert(parent, label)));
        kept.add(node.unwrap(), forest.count(id)).unwrap();
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_automaton_counts_as_algorithm_4_does(k in any_k(), items in items(1)) {
        compare(k, &items);
    }

    #[test]
    fn activations_do_not_disturb_each_other(k in any_k(), items in items(5)) {
        compare(k, &items);
    }
}

#[test]
fn example_3_4_is_as_in_the_thesis() {
    let stream = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];
    let events = stream.map(|id| Item::Event { activation: 0, id });
    let items: Vec<Item> = std::iter::once(Item::Enter).chain(events).collect();
    for k in 1..=64 {
        compare(k, &items);
    }
}

#[test]
fn a_function_with_many_paths_keeps_all_of_them() {
    let mut function = Function::new(2);
    let mut state = function.enter();
    for id in 0..200_000 {
        // SAFETY: this is what emitted code does.
        state = unsafe { midflight_step(state, id) };
    }
    let forest = function.forest();
    assert_eq!(forest.total(), 200_000);
    assert_eq!(forest.roots().count(), 200_000);
}

#[test]
fn counting_mode_has_an_array_of_zeroes() {
    let mut function = Function::with_flags(1, FLAG_COUNTING, 1000);
    function.enter();
    // SAFETY: in counting mode the slots are counters.
    let counts = unsafe {
        let counts = (**function.slot).start.slots.cast::<u64>();
        std::slice::from_raw_parts_mut(counts, 1000)
    };
    assert!(counts.iter().all(|&count| count == 0));
    counts[0] = 5;
    counts[999] = 7;
    let written = function.written();
    let roots: Vec<_> = written.roots().map(|id| (written.label(id), written.count(id))).collect();
    assert_eq!(roots, [(0, 5), (999, 7)]);
}

#[test]
fn an_entry_finds_the_forest_that_a_handler_has_made() {
    let mut function = Function::new(4);
    function.enter();
    let made = *function.slot;
    let mut other_slot = null_mut();
    // SAFETY: this is what emitted code does.
    let again = unsafe { midflight_enter(&raw const *function.record, &raw mut other_slot) };
    assert_eq!((again, other_slot), (made, made));
}

#[test]
fn a_lookup_that_growth_interrupts_is_counted_all_the_same() {
    let mut function = Function::new(3);
    let start = function.enter();
    // SAFETY: these are the steps of a lookup, with what a signal handler would do between them.
    unsafe {
        midflight_step(start, 11);
        let before_growth = node::find(start, 11);
        for id in 100..400 {
            midflight_step(start, id);
        }
        let after_growth = node::find(start, 11);
        assert_ne!(before_growth, after_growth, "the table has not grown");
        assert_eq!(node::next(before_growth), node::next(after_growth));
        counter::increment(&raw mut (*before_growth).count);
        assert_eq!(node::count(start, after_growth), 2);
        // More growth keeps it.
        for id in 1000..3000 {
            midflight_step(start, id);
        }
        assert_eq!(node::count(start, node::find(start, 11)), 2);
    }
    assert_eq!(function.written().total(), 1 + 1 + 300 + 2000);
}

#[test]
fn clearing_leaves_states_usable() {
    let mut function = Function::new(4);
    let mut state = function.enter();
    // SAFETY: this is what emitted code does; the calling thread is not in the runtime.
    unsafe {
        for id in [1, 2, 3, 1, 2, 3, 4] {
            state = midflight_step(state, id);
        }
        let this = function.slot.cast::<ThreadForest>();
        ThreadForest::clear(this);
        assert!(!ThreadForest::mark(this));
        assert_eq!(function.written().total(), 0);
        midflight_step(state, 9);
    }
    // The event is a child of β = ⟨1, 2, 3⟩·⟨1, 2, 3⟩'s τ.
    assert_eq!(function.written().total(), 1);
}

#[test]
fn records_of_another_version_are_not_counted() {
    let mut function = Function::new(4);
    function.record.version = ABI_VERSION + 1;
    let state = function.enter();
    // SAFETY: this is what emitted code does.
    let after = unsafe { midflight_step(state, 3) };
    assert_eq!(after, state);
}

#[test]
fn k_out_of_range_is_not_counted() {
    for k in [0, midflight_abi::MAX_K + 1, u32::MAX] {
        let mut function = Function::new(k);
        let state = function.enter();
        // SAFETY: this is what emitted code does.
        assert_eq!(unsafe { midflight_step(state, 3) }, state);
    }
}
