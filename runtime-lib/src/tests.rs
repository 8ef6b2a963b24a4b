//! The automaton against Algorithm 4 to the letter, by the functions that emitted code calls.

use crate::forest::{ThreadForest, Visit};
use crate::node::{self, Children, Node, Word};
use crate::prune::Nodes;
use crate::{counter, midflight_enter, midflight_run, midflight_step};
use core::ptr::null_mut;
use midflight_abi::{
    ABI_VERSION, DENSE_PATHS, FLAG_COUNTING, FOREST_COUNTERS_OFFSET, Forest, RECORD_HEADER_SIZE,
    RecordHeader, SLOT_SHIFT, Slot, WORD_ADDRESS_BITS, hash,
};
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::ksf::SlabForest;
use proptest::prelude::*;

mod published;

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

    fn enter(&mut self) -> Word {
        // SAFETY: this is what emitted code does.
        unsafe {
            if self.slot.is_null() {
                midflight_enter(&raw const *self.record, &raw mut *self.slot);
            }
            counter::increment(&raw mut (**self.slot).entries);
            (**self.slot).start
        }
    }

    /// What emitted code does where a path ends.
    fn step(&self, state: Word, id: u32) -> Word {
        let address = state & ((1 << WORD_ADDRESS_BITS) - 1);
        let offset = match self.record.num_paths <= DENSE_PATHS {
            true => u64::from(id) << SLOT_SHIFT,
            false => (state >> WORD_ADDRESS_BITS) & u64::from(hash(id)),
        };
        let slot = (address + offset) as *mut Slot;
        // SAFETY: the place is in a table.
        unsafe {
            if (*slot).key == id + 1 && (*slot).count < 1 << 31 {
                (*slot).count += 1;
                return (*slot).next;
            }
            midflight_step(state, id, *self.slot)
        }
    }

    fn this(&self) -> *mut ThreadForest {
        ThreadForest::of(*self.slot)
    }

    /// Gives the calling thread so much memory for nodes. The function was entered; no activation
    /// is under way in another one.
    fn set_budget(&self, bytes: usize) {
        // SAFETY: the context is the calling thread's, which is not in the runtime.
        unsafe {
            // What earlier tests have left in the context is not to be pruned again and again.
            (*self.this()).shared.next = null_mut();
            (*(*ThreadForest::context(self.this())).data.get()).nodes = Nodes::with_budget(bytes);
        }
    }

    fn forest(&self) -> PrefixForest {
        let mut all = PrefixForest::new();
        let this = self.this();
        // SAFETY: the calling thread is not in the runtime.
        unsafe {
            collect(
                node::node_of((*this).shared.forest.start),
                (*this).shared.k,
                0,
                None,
                &mut all,
            );
        }
        all
    }

    /// As [`Self::forest`], but as it is written to a profile.
    fn written(&self) -> PrefixForest {
        let this = self.this();
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
        let mut children = Children::of(node);
        while let Some((holder, slot)) = children.next() {
            let child = to.child_or_insert(id, node::label(slot).unwrap());
            to.add(child, node::count(holder, slot)).unwrap();
            if node::has_node(level, k) {
                let node = node::node_of(node::next(slot));
                assert_eq!((*node).level, level);
                collect(node, k, level + 1, Some(child), to);
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
    Event {
        activation: usize,
        id: u32,
    },
    Rounds {
        activation: usize,
        id: u32,
        n: u64,
    },
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
    let choices = prop::collection::vec((any::<u16>(), 0usize..nested, 0u64..400), 400);
    (stream(), choices, 1u16..200, 1u64..40).prop_map(|(ids, choices, rarity, loops)| {
        let mut items = vec![Item::Enter];
        for (id, (choice, activation, n)) in ids.into_iter().zip(choices) {
            if choice % rarity == 0 {
                items.push(Item::Enter);
            }
            items.push(match n % loops {
                0 => Item::Rounds { activation, id, n },
                _ => Item::Event { activation, id },
            });
        }
        items
    })
}

fn any_k() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=16, Just(32), Just(64)]
}

/// Runs the items through the automaton and through Algorithm 4, whose forest it returns with the
/// number of activations; `activation` counts back from the youngest.
fn run(function: &mut Function, items: &[Item]) -> (u64, PrefixForest) {
    let mut activations: Vec<(Word, SlabForest)> = Vec::new();
    for item in items {
        match *item {
            Item::Enter => {
                let mut slab = SlabForest::new(function.record.k);
                slab.enter();
                activations.push((function.enter(), slab));
            }
            Item::Event { activation, id } => {
                let index = activations.len() - 1 - activation.min(activations.len() - 1);
                let (state, slab) = &mut activations[index];
                *state = function.step(*state, id);
                slab.event(id);
            }
            Item::Rounds { activation, id, n } => {
                let index = activations.len() - 1 - activation.min(activations.len() - 1);
                let (state, slab) = &mut activations[index];
                // SAFETY: this is what emitted code does.
                *state = unsafe { midflight_run(*state, id, n, *function.slot) };
                (0..n).for_each(|_| slab.event(id));
            }
        }
    }
    let mut oracle = PrefixForest::new();
    for (_, slab) in &activations {
        oracle.add_forest(slab.forest()).unwrap();
    }
    (activations.len() as u64, oracle)
}

/// Both count the same.
fn compare(k: u32, items: &[Item]) {
    let ids = items.iter().map(|item| match *item {
        Item::Event { id, .. } | Item::Rounds { id, .. } => id,
        Item::Enter => 0,
    });
    let mut function = Function::with_flags(k, 0, ids.max().unwrap_or(0) + 1);
    function.enter();
    function.set_budget(usize::MAX);
    let (entered, oracle) = run(&mut function, items);
    assert_eq!(function.forest(), oracle);
    assert_eq!(function.written(), without_zeroes(&oracle));
    // SAFETY: the slot has been filled.
    let forest = unsafe { &**function.slot };
    assert_eq!((forest.entries, forest.restarts, forest.lost), (entered + 1, 0, 0));
    assert_eq!(forest.pruned, 0);
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

/// So many random inputs, or as `PROPTEST_CASES` has it.
fn scaled(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases * cases / 256, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(scaled(400))]

    #[test]
    fn the_automaton_counts_as_algorithm_4_does(k in any_k(), items in items(1)) {
        compare(k, &items);
    }

    #[test]
    fn activations_do_not_disturb_each_other(k in any_k(), items in items(5)) {
        compare(k, &items);
    }
}

/// Streams that fill a small memory again and again: exact counts of single paths, and of longer
/// sequences lower bounds that are as good as the profile says.
fn compare_full(k: u32, budget: usize, items: &[Item]) {
    let mut function = Function::new(k);
    function.enter();
    function.set_budget(budget);
    let (entered, oracle) = run(&mut function, items);
    let found = function.written();
    // SAFETY: the slot has been filled.
    let forest = unsafe { &**function.slot };
    assert_eq!((forest.entries, forest.lost), (entered + 1, 0));
    assert_eq!(found.total(), oracle.total());
    let (exact, found) = (make_k_ipf(&oracle, k), make_k_ipf(&found, k));
    for id in exact.ids() {
        let labels = exact.labels(id);
        let path = labels.iter().try_fold(None, |at, &label| found.child(at, label).map(Some));
        let count = path.flatten().map_or(0, |id| found.count(id));
        let missing = exact.count(id).checked_sub(count).expect("a count that is too high");
        let further = labels.len() as u64 - 1;
        let bound = if further == 0 { 0 } else { forest.pruned + forest.restarts * further };
        assert!(missing <= bound, "{labels:?}: {missing} missing, and only {bound} told");
    }
    for id in found.ids() {
        let labels = found.labels(id);
        let path = labels.iter().try_fold(None, |at, &label| exact.child(at, label).map(Some));
        assert!(found.count(id) == 0 || path.is_some(), "{labels:?} was never taken");
    }
    function.set_budget(usize::MAX);
}

/// Like [`items`], and so long that memory is full several times.
fn many_items() -> impl Strategy<Value = Vec<Item>> {
    prop::collection::vec(items(3), 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(scaled(40))]

    #[test]
    fn what_is_pruned_is_bounded(k in 2u32..=8, kib in 4usize..64, items in many_items()) {
        compare_full(k, kib << 10, &items);
    }
}

#[test]
fn pruning_happens_and_keeps_what_is_hot() {
    let mut function = Function::new(4);
    let mut state = function.enter();
    function.set_budget(32 << 10);
    let (mut seed, mut events) = (1u32, 0u64);
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        for id in [1, 2, 3, 1, 2, 3, 10 + (seed >> 16) % 200] {
            state = function.step(state, id);
            events += 1;
        }
    }
    let found = function.written();
    assert_eq!(found.total(), u128::from(events));
    let ipf = make_k_ipf(&found, 4);
    let hot = [1, 2, 3, 1].iter().fold(None, |at, &label| ipf.child(at, label));
    assert!(ipf.count(hot.expect("the hottest sequence is there")) > 10_000);
    // SAFETY: the slot has been filled.
    let forest = unsafe { &**function.slot };
    assert!(forest.pruned > 0 && forest.restarts > 0 && forest.lost == 0);
    function.set_budget(usize::MAX);
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
    function.enter();
    function.set_budget(usize::MAX);
    let mut state = function.enter();
    for id in 0..200_000 {
        state = function.step(state, id);
    }
    let forest = function.forest();
    assert_eq!(forest.total(), 200_000);
    assert_eq!(forest.roots().count(), 200_000);
}

#[test]
fn counting_mode_has_an_array_of_zeroes() {
    let mut function = Function::with_flags(1, FLAG_COUNTING, 1000);
    function.enter();
    // SAFETY: in counting mode the counters follow the forest.
    let counts = unsafe {
        let counts = (*function.slot).byte_add(FOREST_COUNTERS_OFFSET).cast::<u64>();
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
        let node = node::node_of(start);
        function.step(start, 11);
        let (_, before_growth) = node::find(node, 11).unwrap();
        for id in 100..400 {
            function.step(start, id);
        }
        let (_, after_growth) = node::find(node, 11).unwrap();
        assert_ne!(before_growth, after_growth, "the table has not grown");
        assert_eq!(node::next(before_growth), node::next(after_growth));
        node::add(before_growth, 1);
        assert_eq!(node::count(node, after_growth), 2);
        // More growth keeps it.
        for id in 1000..3000 {
            function.step(start, id);
        }
        let (holder, slot) = node::find(node, 11).unwrap();
        assert_eq!(node::count(holder, slot), 2);
    }
    assert_eq!(function.written().total(), 1 + 1 + 300 + 2000);
}

#[test]
fn a_counter_that_is_half_full_goes_on_in_a_larger_one() {
    for num_paths in [1, 4, 1 << 20] {
        let mut function = Function::with_flags(3, 0, num_paths);
        let start = function.enter();
        let label = num_paths - 1;
        function.step(start, label);
        // SAFETY: the slot was just made.
        unsafe { node::add(node::find(node::node_of(start), label).unwrap().1, (1 << 31) - 3) };
        for _ in 0..10 {
            function.step(start, label);
        }
        assert_eq!(function.written().total(), 11 + (1 << 31) - 3);
        // SAFETY: the calling thread is not in the runtime.
        unsafe { ThreadForest::clear(function.this()) };
        assert_eq!(function.written().total(), 0);
        function.step(start, label);
        assert_eq!(function.written().total(), 1);
    }
}

#[test]
fn clearing_leaves_states_usable() {
    let mut function = Function::new(4);
    let mut state = function.enter();
    for id in [1, 2, 3, 1, 2, 3, 4] {
        state = function.step(state, id);
    }
    // SAFETY: the calling thread is not in the runtime.
    unsafe {
        let this = function.this();
        ThreadForest::clear(this);
        assert!(!ThreadForest::mark(this));
        assert_eq!(function.written().total(), 0);
        function.step(state, 9);
    }
    // The event is a child of β = ⟨1, 2, 3⟩·⟨1, 2, 3⟩'s τ.
    assert_eq!(function.written().total(), 1);
}

#[test]
fn records_of_another_version_are_not_counted() {
    let mut function = Function::new(4);
    function.record.version = ABI_VERSION + 1;
    let state = function.enter();
    assert_eq!(function.step(state, 3), state);
}

#[test]
fn k_out_of_range_is_not_counted() {
    for k in [0, midflight_abi::MAX_K + 1, u32::MAX] {
        let mut function = Function::new(k);
        let state = function.enter();
        assert_eq!(function.step(state, 3), state);
    }
}

#[test]
fn a_run_of_billions_is_counted_at_once() {
    for (k, num_paths) in [(2, 4), (4, 100), (16, 100)] {
        let mut function = Function::with_flags(k, 0, num_paths);
        let state = function.enter();
        // SAFETY: this is what emitted code does.
        let state = unsafe {
            let state = midflight_run(state, 3, 100, *function.slot);
            let state = midflight_run(state, 3, 20_000_000_000, *function.slot);
            midflight_run(state, 2, 5, *function.slot)
        };
        function.step(state, 1);
        let found = make_k_ipf(&function.written(), k);
        let count = |ids: &[u32]| {
            let at = ids.iter().try_fold(None, |at, &id| found.child(at, id).map(Some));
            at.flatten().map_or(0, |id| found.count(id))
        };
        assert_eq!(count(&[3]), 20_000_000_100, "k={k}");
        assert_eq!(count(&[3, 3]), 20_000_000_099);
        assert_eq!((count(&[3, 2]), count(&[2]), count(&[2, 1])), (1, 5, 1));
        // SAFETY: the slot has been filled.
        assert_eq!(unsafe { (**function.slot).lost }, 0);
    }
}
