//! The automaton against the reference of windows and against Algorithm 4 to the letter, by the
//! functions that emitted code calls.

use crate::midflight_enter;
use crate::midflight_run;
use crate::paths::automaton::find;
use crate::paths::counter;
use crate::paths::forest::ThreadForest;
use crate::paths::room::Room;
use crate::paths::step;
use crate::paths::table::{self, Word};
use core::ptr::null_mut;
use midflight_abi::{
    ABI_VERSION, DENSE_OFFSET, DENSE_PATHS, FINAL, FOREST_COUNTERS_OFFSET, Forest, KEY_SHIFT, Mode,
    RECORD_HEADER_SIZE, RecordHeader, Register, Slot, WORD_SHIFT, hash, is_dense,
};
use midflight_profile::bounds::Bounds;
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{Encoder, FunctionProfile, Profile};
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::ksf::SlabForest;
use midflight_profile::windows::WindowForest;
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
        // Tests leave much behind.
        crate::arena::set_limit(1 << 40);
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
            counter::increment(&raw mut (**self.slot).totals.entries);
            (**self.slot).start
        }
    }

    /// What emitted code does where a path ends.
    fn step(&self, state: Word, id: u32) -> Word {
        let register = self.register().value(id);
        // SAFETY: the places are in tables.
        unsafe {
            if is_dense(self.record.num_paths, self.record.k) {
                let tally = (state as *mut u64).byte_add(register as usize);
                let next = *tally.byte_sub(DENSE_OFFSET as usize);
                if next == 0 {
                    return self.call_step(state, register);
                }
                *tally += 1;
                return next;
            }
            let table = state >> WORD_SHIFT;
            let slot = (table + (u64::from(hash(register)) & state)) as *mut Slot;
            if (*slot).tally >> KEY_SHIFT != u64::from(register) {
                return self.call_step(state, register);
            }
            (*slot).tally += 1;
            (*slot).next
        }
    }

    fn register(&self) -> Register {
        Register::new(self.record.num_paths, self.record.k)
    }

    unsafe fn call_step(&self, state: u64, register: u32) -> Word {
        // SAFETY: the forest has the function's address.
        unsafe {
            let step: step::Step = core::mem::transmute((**self.slot).step as usize as *const ());
            step(state, register, *self.slot)
        }
    }

    /// The last path of an activation, where emitted code does not look for it.
    fn end(&self, state: Word, id: u32) {
        let register = self.register().value(id);
        // SAFETY: the forest has the function's address.
        unsafe {
            let step: step::Step = core::mem::transmute((**self.slot).step as usize as *const ());
            step(state, register, (*self.slot).wrapping_byte_add(FINAL as usize));
        }
    }

    fn this(&self) -> *mut ThreadForest {
        ThreadForest::of(*self.slot)
    }

    /// Gives the calling thread so much memory for what it counts in windows, and the function a
    /// forest without any. No activation is under way.
    fn set_budget(&mut self, bytes: usize) {
        self.enter();
        let this = self.this();
        // SAFETY: the context is the calling thread's, which is not in the runtime.
        unsafe {
            let context = &*ThreadForest::context(this);
            context.forget_forests();
            (*context.data.get()).room = Room::set(bytes.min(1 << 30));
        }
        static KEYS: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(1 << 32);
        self.record.key = KEYS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        // SAFETY: the record is one that is used here only, and is found anew.
        unsafe { (*this).shared.record = core::ptr::null() };
        *self.slot = null_mut();
    }

    /// What is written to a profile.
    fn profile(&self) -> FunctionProfile {
        let this = self.this();
        let mut file = vec![0; midflight_profile::format::HEADER_SIZE];
        let mut encoder = Encoder::new(&mut file);
        encoder.module(1, b"test").unwrap();
        // SAFETY: the calling thread is not in the runtime.
        let written = unsafe {
            ThreadForest::mark(this);
            ThreadForest::encode(this, 0, &mut encoder).unwrap()
        };
        let header = encoder.finish(0);
        file[..header.len()].copy_from_slice(&header);
        let mut profile = Profile::read(&file).expect("what was written is read");
        let function = profile.functions.remove(0);
        assert_eq!(function.totals, written.totals);
        assert_eq!(function.truncated.total(), u128::from(written.truncated));
        function
    }

    /// All counters that are written.
    fn written(&self) -> PrefixForest {
        self.profile().forest
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
    /// The youngest activation ends, with the function's last path.
    End,
}

/// So many, and fewer in Miri, which is a few hundred times slower.
const fn scale(usual: usize) -> usize {
    if cfg!(miri) { usual / 20 } else { usual }
}

fn label() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..4, 0u32..40, Just(0u32), any::<u32>().prop_map(|id| id % (1 << 20))]
}

fn stream() -> impl Strategy<Value = Vec<u32>> {
    let random = prop::collection::vec(0u32..6, 0..scale(300));
    let wide = prop::collection::vec(label(), 0..scale(300));
    let regular = (prop::collection::vec(0u32..5, 1..6), 0..scale(300))
        .prop_map(|(pattern, len)| pattern.iter().copied().cycle().take(len).collect());
    let runs = prop::collection::vec((0u32..5, 1..scale(60)), 0..12).prop_map(|runs| {
        runs.into_iter().flat_map(|(id, len)| std::iter::repeat_n(id, len)).collect()
    });
    let biased = prop::collection::vec(
        prop_oneof![20 => Just(7u32), 3 => Just(1u32), 1 => 0u32..30],
        0..scale(400),
    );
    prop_oneof![random, wide, regular, runs, biased]
}

/// Streams of which up to `nested` activations are under way at a time.
fn items(nested: usize) -> impl Strategy<Value = Vec<Item>> {
    let choices =
        prop::collection::vec((any::<u16>(), 0usize..nested, 0..scale(400) as u64), scale(400));
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
            if choice % rarity == 1 {
                items.push(Item::End);
                items.push(Item::Enter);
            }
        }
        items
    })
}

fn any_k() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=16, Just(32), Just(64)]
}

/// What the references have counted.
struct Oracle {
    activations: u64,
    /// By Algorithm 4
    slabs: PrefixForest,
    /// In windows
    windows: PrefixForest,
}

/// Runs the items through the automaton and through the references; `activation` counts back from
/// the youngest.
fn run(function: &mut Function, items: &[Item]) -> Oracle {
    let mut activations: Vec<(Word, SlabForest, WindowForest)> = Vec::new();
    let mut ended = Vec::new();
    for item in items {
        if let Item::Enter = item {
            let k = function.record.k;
            let (mut slab, mut windows) = (SlabForest::new(k), WindowForest::new(k));
            slab.enter();
            windows.enter();
            activations.push((function.enter(), slab, windows));
            continue;
        }
        let (Item::Event { id, activation } | Item::Rounds { id, activation, .. }) = *item else {
            let id = function.record.num_paths - 1;
            let (state, mut slab, mut windows) = activations.pop().unwrap();
            function.end(state, id);
            slab.event(id);
            windows.event(id);
            ended.push((state, slab, windows));
            continue;
        };
        let index = activations.len() - 1 - activation.min(activations.len() - 1);
        let (state, slab, windows) = &mut activations[index];
        let n = if let Item::Rounds { n, .. } = *item { n } else { 1 };
        *state = match *item {
            // SAFETY: this is what emitted code does.
            Item::Rounds { .. } => unsafe { midflight_run(*state, id, n, *function.slot) },
            _ => function.step(*state, id),
        };
        for _ in 0..n {
            slab.event(id);
            windows.event(id);
        }
    }
    let (mut slabs, mut all) = (PrefixForest::new(), PrefixForest::new());
    ended.append(&mut activations);
    for (_, slab, windows) in &ended {
        slabs.add_forest(slab.forest()).unwrap();
        all.add_forest(&windows.windows().all).unwrap();
    }
    Oracle { activations: ended.len() as u64, slabs, windows: all }
}

/// Both count the same.
fn compare(k: u32, items: &[Item]) {
    let ids = items.iter().map(|item| match *item {
        Item::Event { id, .. } | Item::Rounds { id, .. } => id,
        Item::Enter | Item::End => 0,
    });
    let mut function = Function::with_flags(k, 0, ids.max().unwrap_or(0) + 2);
    function.set_budget(usize::MAX);
    function.enter();
    let oracle = run(&mut function, items);
    let profile = function.profile();
    assert_eq!(profile.truncated.total(), 0);
    assert!(profile.forest == oracle.windows);
    assert!(make_k_ipf(&profile.forest, k) == make_k_ipf(&without_zeroes(&oracle.slabs), k));
    let totals = profile.totals;
    assert_eq!((totals.entries, totals.lost), (oracle.activations + 1, 0));
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
    ProptestConfig { cases: (usual.cases * cases / 256).max(1), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(scaled(200))]

    #[test]
    fn the_automaton_counts_as_algorithm_4_does(k in any_k(), items in items(1)) {
        compare(k, &items);
    }

    #[test]
    fn activations_do_not_disturb_each_other(k in any_k(), items in items(5)) {
        compare(k, &items);
    }
}

/// Streams that fill a small memory: exact counts of single paths, and of longer sequences lower
/// bounds that are as good as the profile says.
fn compare_full(k: u32, num_paths: u32, budget: usize, items: &[Item]) {
    let mut function = Function::with_flags(k, 0, num_paths);
    function.set_budget(budget);
    function.enter();
    let oracle = run(&mut function, items);
    let profile = function.profile();
    assert_eq!((profile.totals.entries, profile.totals.lost), (oracle.activations + 1, 0));
    assert_eq!(profile.forest.total(), oracle.windows.total());
    let (exact, found) = (make_k_ipf(&oracle.windows, k), make_k_ipf(&profile.forest, k));
    let bounds = Bounds::new(&found, &profile);
    for id in exact.ids() {
        let labels = exact.labels(id);
        let path = labels.iter().try_fold(None, |at, &label| found.child(at, label).map(Some));
        let count = path.flatten().map_or(0, |id| found.count(id));
        assert!(count <= exact.count(id), "{labels:?}: a count that is too high");
        assert!(labels.len() > 1 || count == exact.count(id), "{labels:?} is not exact");
        if let Some(found) = path.flatten() {
            let (truth, most) = (exact.count(id), bounds.most(found));
            assert!(truth <= most, "{labels:?}: {truth} of at most {most}");
        }
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
    fn what_has_no_room_is_bounded(k in 2u32..=8, kib in 0usize..48, items in many_items()) {
        compare_full(k, 1 << 21, kib << 10, &items);
    }
}

/// Feeds a regular loop with every seventh path at random, and returns the function.
fn noisy(k: u32, budget: usize, rounds: usize) -> Function {
    let mut function = Function::new(k);
    function.set_budget(budget);
    let mut state = function.enter();
    let mut seed = 1u32;
    for _ in 0..rounds {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        for id in [1, 2, 3, 1, 2, 3, 10 + (seed >> 16) % 200] {
            state = function.step(state, id);
        }
    }
    function
}

#[test]
fn what_is_hot_has_room_whatever_else_there_is() {
    let rounds = scale(40_000);
    let mut function = noisy(4, 64 << 10, rounds);
    let profile = function.profile();
    assert_eq!(profile.forest.total(), 7 * rounds as u128);
    assert!(profile.truncated.total() > 0 && profile.totals.lost == 0);
    let ipf = make_k_ipf(&profile.forest, 4);
    let bounds = Bounds::new(&ipf, &profile);
    for hot in [[1, 2, 3, 1], [2, 3, 1, 2], [3, 1, 2, 3]] {
        let path = hot.iter().try_fold(None, |at, &label| ipf.child(at, label).map(Some));
        let id = path.flatten().expect("it is there");
        let (count, most) = (ipf.count(id), bounds.most(id));
        assert!(count * 100 >= rounds as u64 * 90, "{hot:?}: {count}");
        assert!(most >= rounds as u64 && most <= rounds as u64 * 11 / 10, "{hot:?}: {most}");
    }
    function.set_budget(usize::MAX);
}

/// How many of the events that `act` counts are counted at windows of fewer paths than they could
/// be, in percent.
fn truncated_share(function: &mut Function, act: impl FnOnce(&mut Function)) -> u128 {
    let before = function.profile();
    act(function);
    let after = function.profile();
    (after.truncated.total() - before.truncated.total()) * 100
        / (after.forest.total() - before.forest.total())
}

#[test]
fn what_becomes_hot_in_a_full_memory_has_room_as_well() {
    let mut function = noisy(8, 128 << 10, scale(500_000));
    let share = truncated_share(&mut function, |function| {
        let mut state = function.enter();
        let mut seed = 1u32;
        for round in 0..scale(4_000_000) as u32 {
            state = function.step(state, 300 + round % 3);
            // What emitted code does not find makes the runtime look at what it does find.
            if round % 50 == 0 {
                seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
                state = function.step(state, 10 + (seed >> 16) % 200);
            }
        }
    });
    assert!(share < 75, "{share} %");
    function.set_budget(usize::MAX);
}

#[test]
fn a_function_that_comes_late_has_its_quota() {
    for k in [2, 4, 16] {
        let mut function = noisy(k, 128 << 10, scale(40_000));
        let mut late = Function::new(k);
        let start = late.enter();
        // SAFETY: this is what emitted code does.
        let state = unsafe { midflight_run(start, 7, 1_000_000, *late.slot) };
        late.end(state, 8);
        let profile = late.profile();
        assert_eq!(profile.truncated.total(), 0, "k = {k}");
        function.set_budget(usize::MAX);
    }
}

#[test]
fn example_3_4_is_as_in_the_thesis() {
    let stream = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];
    let events = stream.map(|id| Item::Event { activation: 0, id });
    let items: Vec<Item> = std::iter::once(Item::Enter).chain(events).collect();
    for k in (1..=64).step_by(if cfg!(miri) { 9 } else { 1 }) {
        compare(k, &items);
    }
}

#[test]
fn a_function_with_many_paths_keeps_all_of_them() {
    let mut function = Function::new(2);
    function.set_budget(usize::MAX);
    let mut state = function.enter();
    let many = if cfg!(miri) { 1000 } else { 200_000 };
    for id in 0..many {
        state = function.step(state, id);
    }
    let singles = make_k_ipf(&function.written(), 1);
    assert_eq!(singles.total(), u128::from(many));
    assert_eq!(singles.len(), many as usize);
}

#[test]
fn counting_mode_has_an_array_of_zeroes() {
    let mut function = Function::with_flags(1, Mode::Counting.flags(), 1000);
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
    let (some, more) = if cfg!(miri) { (30, 20) } else { (300, 2000) };
    // SAFETY: these are the steps of a lookup, with what a signal handler would do between them.
    unsafe {
        let node = table::node_of(start);
        function.step(start, 11);
        let before_growth = find(node, 11).unwrap();
        for id in 100..100 + some {
            function.step(start, id);
        }
        let after_growth = find(node, 11).unwrap();
        assert_ne!(before_growth.slot, after_growth.slot, "the table has not grown");
        assert_eq!(before_growth.next(), after_growth.next());
        table::add(before_growth.slot, 1);
        assert_eq!(after_growth.count(), 2);
        // More growth keeps it.
        for id in 1000..1000 + more {
            function.step(start, id);
        }
        assert_eq!(find(node, 11).unwrap().count(), 2);
    }
    assert_eq!(function.written().total(), 1 + 1 + u128::from(some + more));
}

#[test]
fn a_counter_that_overflows_goes_on_in_a_larger_one() {
    for num_paths in [1, 4, 1 << 20] {
        let mut function = Function::with_flags(3, 0, num_paths);
        let start = function.enter();
        let label = num_paths - 1;
        for many in [(1 << 32) - 3, (1 << 31) + 7, 1 << 31] {
            let before = function.written().total();
            function.step(start, label);
            // SAFETY: the child was just counted.
            unsafe { table::add(find(table::node_of(start), label).unwrap().slot, many) };
            for _ in 0..10 {
                function.step(start, label);
            }
            assert_eq!(function.written().total() - before, 11 + u128::from(many));
        }
        // SAFETY: the calling thread is not in the runtime.
        unsafe { ThreadForest::clear(function.this()) };
        assert_eq!(function.written().total(), 0);
        function.step(start, label);
        assert_eq!(function.written().total(), 1);
    }
}

#[test]
fn a_counter_that_has_just_overflowed_is_told_and_cleared() {
    for label in [0, 77] {
        let mut function = Function::with_flags(3, 0, 1000);
        let start = function.enter();
        function.step(start, label);
        // SAFETY: the child was just counted.
        unsafe { table::add(find(table::node_of(start), label).unwrap().slot, u32::MAX.into()) };
        assert_eq!(function.written().total(), 1 << 32);
        // SAFETY: the calling thread is not in the runtime.
        unsafe { ThreadForest::clear(function.this()) };
        assert_eq!(function.written().total(), 0);
        function.step(start, label);
        let written = function.written();
        let roots: Vec<_> =
            written.roots().map(|id| (written.label(id), written.count(id))).collect();
        assert_eq!(roots, [(label, 1)]);
    }
}

/// Emitted code expects its values where they were.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn a_step_leaves_registers_as_they_are() {
    for num_paths in [DENSE_PATHS, DENSE_PATHS + 1] {
        let mut function = Function::with_flags(4, 0, num_paths);
        let start = function.enter();
        let register = u64::from(Register::new(num_paths, 4).value(3));
        let (mut after, mut kept): (u64, [u64; 7]) = (start, [0; 7]);
        // The first call builds a node, the second one finds it.
        for _ in 0..2 {
            // SAFETY: this is what emitted code does.
            unsafe {
                core::arch::asm!(
                    "call r11",
                    inout("r11") (**function.slot).step => _,
                    inout("rdi") start => kept[0],
                    inout("rsi") register => kept[1],
                    inout("rdx") *function.slot as u64 => kept[2],
                    inout("rcx") 0x1111_u64 => kept[3],
                    inout("r8") 0x2222_u64 => kept[4],
                    inout("r9") 0x3333_u64 => kept[5],
                    inout("r10") 0x4444_u64 => kept[6],
                    out("rax") after,
                    clobber_abi("C"),
                );
            }
            let forest = *function.slot as u64;
            assert_eq!(kept, [start, register, forest, 0x1111, 0x2222, 0x3333, 0x4444]);
            assert_ne!(after, start);
        }
        assert_eq!(function.written().total(), 2);
    }
}

/// Where paths seldom end emitted code does not look for them.
#[test]
fn a_step_that_is_called_finds_what_emitted_code_finds() {
    for num_paths in [DENSE_PATHS, 100] {
        let (mut inlined, mut called) =
            (Function::with_flags(4, 0, num_paths), Function::with_flags(4, 0, num_paths));
        let (mut state, mut other) = (inlined.enter(), called.enter());
        let mut random: u32 = 1;
        for _ in 0..scale(2_000) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let id = (random >> 16) % num_paths.min(7);
            state = inlined.step(state, id);
            // SAFETY: the state is one of the forest.
            other = unsafe { called.call_step(other, Register::new(num_paths, 4).value(id)) };
        }
        assert_eq!(called.written(), inlined.written());
        assert_eq!(called.written().total(), scale(2_000) as u128);
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
    let written = function.written();
    let counted = written.ids().find(|&id| written.count(id) != 0).unwrap();
    assert_eq!(written.labels(counted), [2, 3, 4, 9]);
    assert_eq!(written.total(), 1);
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

/// Feeds a prefix, fills the memory, and takes `n` rounds of path 3 by `rounds`; returns what was
/// counted.
fn full_rounds(
    k: u32,
    num_paths: u32,
    prefix: &[u32],
    rounds: impl Fn(&Function, Word) -> Word,
) -> FunctionProfile {
    let mut function = Function::with_flags(k, 0, num_paths);
    function.set_budget(usize::MAX);
    let mut state = function.enter();
    for &id in prefix {
        state = function.step(state, id);
    }
    // SAFETY: the context is the calling thread's, which is not in the runtime.
    unsafe {
        (*(*ThreadForest::context(function.this())).data.get()).room.fill(0);
    }
    state = rounds(&function, state);
    for id in [1, 3, 2, 3, 3] {
        state = function.step(state, id);
    }
    let profile = function.profile();
    function.set_budget(usize::MAX);
    FunctionProfile { key: 0, ..profile }
}

proptest! {
    #![proptest_config(scaled(200))]

    #[test]
    fn rounds_are_counted_alike_where_memory_is_full(
        k in 2u32..=9,
        num_paths in prop_oneof![Just(4u32), Just(50)],
        prefix in prop::collection::vec(prop_oneof![3 => Just(3u32), 1 => 0u32..4], 0..30),
        n in prop_oneof![0u64..300, 4000..9000u64],
    ) {
        let at_once = full_rounds(k, num_paths, &prefix, |function, state| {
            // SAFETY: this is what emitted code does.
            unsafe { midflight_run(state, 3, n, *function.slot) }
        });
        let singly = full_rounds(k, num_paths, &prefix, |function, state| {
            (0..n).fold(state, |state, _| function.step(state, 3))
        });
        prop_assert_eq!(at_once, singly);
    }
}

#[test]
fn a_run_of_billions_ends_where_memory_is_full() {
    for (k, prefix) in [(2, &[3_u32][..]), (4, &[1, 3]), (8, &[3, 3, 3, 3, 3, 3, 3, 1])] {
        let n = 1 << 45;
        let profile = full_rounds(k, 50, prefix, |function, state| {
            // SAFETY: this is what emitted code does.
            unsafe { midflight_run(state, 3, n, *function.slot) }
        });
        let found = make_k_ipf(&profile.forest, k);
        let count = found.child(None, 3).map_or(0, |id| found.count(id));
        let before = prefix.iter().filter(|&&id| id == 3).count() as u64;
        assert_eq!((count, profile.totals.lost), (n + before + 3, 0));
    }
}

proptest! {
    #![proptest_config(scaled(40))]

    #[test]
    fn a_run_of_billions_ends_whatever_has_room(
        k in 2u32..=8,
        kib in 0usize..24,
        ids in prop::collection::vec(
            prop_oneof![4 => Just(3u32), 2 => 0u32..6, 1 => 0u32..300],
            0..scale(3000),
        ),
        n in prop_oneof![Just(1u64 << 40), 1u64..10_000],
    ) {
        let mut function = Function::with_flags(k, 0, 1000);
        function.set_budget(kib << 10);
        let mut state = function.enter();
        for &id in &ids {
            state = function.step(state, id);
        }
        // SAFETY: this is what emitted code does.
        state = unsafe { midflight_run(state, 3, n, *function.slot) };
        function.step(state, 2);
        let profile = function.profile();
        let singles = make_k_ipf(&profile.forest, 1);
        let count = singles.child(None, 3).map_or(0, |id| singles.count(id));
        let before = ids.iter().filter(|&&id| id == 3).count() as u64;
        prop_assert_eq!((count, profile.totals.lost), (n + before, 0));
        function.set_budget(usize::MAX);
    }
}

/// The state of the run has no room for its path, which is counted at a suffix that leads back to
/// it.
#[test]
fn a_run_of_billions_ends_where_its_state_has_no_room_for_it() {
    let mut function = Function::with_flags(3, 0, 1000);
    function.set_budget(usize::MAX);
    let state = function.enter();
    let state = [3, 3].into_iter().fold(state, |state, id| function.step(state, id));
    function.step(state, 1);
    // SAFETY: the context is the calling thread's, which is not in the runtime.
    let (unknown, room) = unsafe {
        let this = function.this();
        (ThreadForest::unknown(this), &mut (*(*ThreadForest::context(this)).data.get()).room)
    };
    let back = [3, 3].into_iter().fold(unknown, |state, id| function.step(state, id));
    assert_eq!(back, state);
    room.fill(0);
    // SAFETY: this is what emitted code does.
    let after = unsafe { midflight_run(state, 3, 1 << 45, *function.slot) };
    assert_eq!(after, state);
    let profile = function.profile();
    let at = [3, 3].iter().try_fold(None, |at, &id| profile.truncated.child(at, id).map(Some));
    let count = at.flatten().map(|id| profile.truncated.count(id));
    assert_eq!((count, profile.totals.lost), (Some((1 << 45) + 1), 0));
    function.set_budget(usize::MAX);
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
        assert_eq!(unsafe { (**function.slot).totals.lost }, 0);
    }
}

/// Two paths of which one hides the other from emitted code in tables of up to 8 slots.
fn neighbours() -> (u32, u32) {
    let bucket = |id: u32| hash(midflight_abi::key(id)) >> 4 & 7;
    let other = (1..).find(|&id| bucket(id) == bucket(0)).unwrap();
    (0, other)
}

/// Counts two paths of which one hides the other, and then each of them `n` times from the start;
/// returns how often the runtime was called.
fn calls_for_neighbours(function: &mut Function, n: u32) -> u32 {
    let (first, second) = neighbours();
    let mut calls = 0;
    for _ in 0..n {
        for id in [first, second] {
            let state = function.enter();
            // SAFETY: a state of the forest.
            calls += u32::from(unsafe { table::known(state, id) }.is_none());
            function.step(state, id);
        }
    }
    calls
}

#[test]
fn a_path_that_many_look_for_gets_its_bucket() {
    let mut function = Function::new(1);
    // Which events are samples depends on what has run in the same room.
    function.set_budget(usize::MAX);
    let calls = calls_for_neighbours(&mut function, 10_000);
    assert!((100..200).contains(&calls), "{calls} calls");
    let (first, second) = neighbours();
    let counts = [first, second].map(|id| {
        let forest = function.written();
        forest.count(forest.child(None, id).unwrap())
    });
    assert_eq!(counts, [10_000; 2]);
}

#[test]
fn it_does_where_memory_is_full() {
    let mut function = Function::new(1);
    function.set_budget(usize::MAX);
    calls_for_neighbours(&mut function, 1);
    // SAFETY: the context is the calling thread's, which is not in the runtime.
    let room = unsafe { &mut (*(*ThreadForest::context(function.this())).data.get()).room };
    room.fill(1 << 20);
    let calls = calls_for_neighbours(&mut function, 10_000);
    assert!((100..200).contains(&calls), "{calls} calls");
}
