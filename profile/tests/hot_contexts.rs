//! Hot calling contexts (thesis 3.1) against exact trees, and against the same to the letter.

mod support;

use midflight_profile::contexts::lazy_queue::Least;
use midflight_profile::contexts::reference::{Cct, Context, Mcct, SimpleSpaceSaving};
use midflight_profile::contexts::{
    ContextTree, Counters, Entries, LazyQueue, Monitor, Share, SpaceSaving, hot_contexts,
};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use support::contexts::{Event, Places, Profiler, call, cct_of, shares, sizes, traces};

fn share(share: f64) -> Share {
    Share::new(share).unwrap()
}

/// The trace of Example 3.1: main calls p once, and q in all other calls.
fn example_3_1(n: usize) -> Vec<Event> {
    let (main, p, q) = (call(0, 0), call(1, 0), call(2, 1));
    let qs = (2..n).flat_map(|_| [Event::Enter(q), Event::Exit]);
    [Event::Enter(main), Event::Enter(p), Event::Exit].into_iter().chain(qs).collect()
}

#[test]
fn of_example_3_1_only_q_is_a_heavy_hitter_though_all_is_monitored() {
    for n in [8, 9, 100] {
        let (profiler, cct) = Profiler::of(&example_3_1(n), 3);
        let [main, p, q] = cct.contexts().collect::<Vec<_>>()[..] else { panic!("{cct:?}") };
        let counts: Vec<(Context, u64, u64)> =
            profiler.m().iter().map(|entry| (entry.context, entry.count, entry.error)).collect();
        assert_eq!(counts, [(main, 1, 0), (p, 1, 0), (q, n as u64 - 2, 0)]);
        assert_eq!(profiler.space_saving.floor(), 0);
        assert_eq!(profiler.nodes(), BTreeSet::from([main, p, q]));

        let phi = share(0.5);
        let threshold = phi.floor_of(profiler.total());
        assert_eq!(profiler.query(threshold), BTreeSet::from([q]));
        assert_eq!(profiler.hcct(threshold), BTreeSet::from([main, q]));
        assert_eq!(cct.hcct(phi), BTreeSet::from([main, q]));
    }
}

#[test]
fn the_bounds_of_figure_3_2_are_58_and_38() {
    assert_eq!(share(0.1).floor_of(581), 58);
    assert_eq!(share(0.1 - 1.0 / 30.0).floor_of(581), 38);
    assert_eq!(share(1.0 / 30.0).entries(), Some(31), "0.033333333333333 is below a thirtieth");
}

#[test]
fn shares_are_the_decimal_fractions_that_were_written() {
    // The products of floating-point numbers would be 28, 56, 1 and so on.
    for (phi, n, expected) in
        [(0.29, 100, 29), (0.57, 100, 57), (0.1, 10, 1), (0.3, 10, 3), (0.001, 2999, 2)]
    {
        assert_eq!(share(phi).floor_of(n), expected, "{phi} of {n}");
        assert_eq!(share(phi).floor_of(n - 1), (expected - 1).max(n / 1000));
    }
    assert_eq!(share(0.0021).floor_of(10_000), 21, "0.0021 · 10^15 is rounded down by a float");
    assert_eq!(share(0.0).floor_of(u64::MAX), 0);
    assert_eq!(share(1.0).floor_of(u64::MAX), u64::MAX);
    assert_eq!(share(1.0 - 1e-15).floor_of(u64::MAX), u64::MAX - 18_447);
    assert_eq!(share(1e-15).floor_of(999_999_999_999_999), 0);
    assert_eq!(share(1e-15).floor_of(1_000_000_000_000_000), 1);
}

#[test]
fn what_is_no_share_is_refused() {
    for number in [-0.1, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Share::new(number), None, "{number}");
    }
    assert_eq!(Share::new(-0.0), Share::new(0.0));
}

#[test]
fn m_has_as_many_entries_as_keep_its_least_count_below_epsilon_n() {
    for (epsilon, entries) in [(1.0, 1), (0.5, 2), (0.3, 4), (0.001, 1000), (1e-15, 10u64.pow(15))]
    {
        assert_eq!(share(epsilon).entries(), Some(entries), "{epsilon}");
    }
    assert_eq!(share(0.0).entries(), None);
}

#[test]
fn a_context_is_hot_from_the_threshold_on() {
    // 20 calls: main, and q 19 times.
    let (profiler, cct) = Profiler::of(&[&example_3_1(20)[..1], &example_3_1(21)[3..]].concat(), 4);
    let q = cct.contexts().nth(1).unwrap();
    assert_eq!((profiler.total(), cct.count(q)), (20, 19));
    let hot = |phi| profiler.query(share(phi).floor_of(20)).len();
    assert_eq!([hot(0.949), hot(0.95), hot(0.999), hot(1.0)], [1, 1, 1, 0]);
}

#[test]
fn a_floor_of_phi_n_that_is_no_higher_than_epsilon_n_misses_a_hot_context() {
    // N = 7, |M| = 2: a 3 times, b 3 times, c, who takes over the entry of a.
    let times = |function, times| [Event::Enter(call(function, 0)), Event::Exit].repeat(times);
    let trace = [times(0, 3), times(1, 3), times(2, 1)].concat();
    let (profiler, cct) = Profiler::of(&trace, 2);
    let phi = share(0.5);
    let (hot, found) = (cct.hot(phi), profiler.query(phi.floor_of(7)));
    assert_eq!(hot.difference(&found).count(), 1);
    assert_eq!(profiler.space_saving.floor(), 3);
    assert!(!profiler.hot_tree().misses_none(phi));
    assert!(profiler.hot_tree().misses_none(share(0.58)));
}

#[test]
fn a_false_positive_may_have_been_entered_as_often_as_definition_3_3_excludes() {
    // N = 5, |M| = 2: a and b twice each, then c, of which 3 is known at most.
    let times = |function, times| [Event::Enter(call(function, 0)), Event::Exit].repeat(times);
    let (profiler, cct) = Profiler::of(&[times(0, 2), times(1, 2), times(2, 1)].concat(), 2);
    let c = cct.contexts().last().unwrap();
    assert_eq!(profiler.query(share(0.7).floor_of(5)), BTreeSet::from([c]));
    assert_eq!((cct.count(c), share(0.7 - 0.5).floor_of(5)), (1, 1));
}

#[test]
fn where_nothing_can_be_monitored_nothing_is_known() {
    let (profiler, cct) = Profiler::of(&example_3_1(9), 0);
    assert_eq!((profiler.total(), profiler.space_saving.floor()), (0, u64::MAX));
    assert!(!profiler.hot_tree().misses_none(share(1.0)));
    assert_eq!(profiler.nodes(), cct.contexts().collect(), "x itself is never pruned");
}

#[test]
fn no_call_takes_no_entry() {
    let (profiler, cct) = Profiler::of(&[Event::Exit], 3);
    assert_eq!((profiler.total(), profiler.space_saving.floor(), cct.total()), (0, 0, 0));
    assert!(profiler.nodes().is_empty());
    let mut queue = LazyQueue::new();
    assert_eq!(queue.find_min(&profiler.entries, &profiler.tree), None);
}

/// Runs a trace by the code under test and to the letter, and compares after each event.
fn compare(
    trace: &[Event],
    size: usize,
    check: impl Fn(&Profiler, &Mcct) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let (mut profiler, mut letter) = (Profiler::new(size), Mcct::new(size));
    for &event in trace {
        match event {
            Event::Enter(call) => {
                let x = letter.enter(call);
                profiler.enter(call, x);
            }
            Event::Exit => {
                letter.exit();
                profiler.exit();
            }
        }
        check(&profiler, &letter)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 200 / 256))]

    /// N is the sum of the frequency counts of CCT nodes, and the number of invocations (3.1.2).
    #[test]
    fn counts_of_the_cct_add_up_to_n(trace in traces()) {
        let cct = cct_of(&trace);
        let calls = trace.iter().filter(|&&event| event != Event::Exit).count();
        prop_assert_eq!(cct.total(), calls as u64);
        let paths: BTreeSet<_> = cct.contexts().map(|context| cct.calls(context)).collect();
        prop_assert_eq!(paths.len(), cct.contexts().count());
    }

    /// The lazy queue chooses the victims that a search does, the first of the least.
    #[test]
    fn the_lazy_queue_changes_nothing_of_space_saving(trace in traces(), size in sizes()) {
        compare(&trace, size, |profiler, letter| {
            prop_assert_eq!(profiler.m(), &letter.m.entries[..]);
            Ok(())
        })?;
    }

    /// Algorithm 1 keeps what the definition of the MCCT says, after each event, and not more.
    #[test]
    fn the_mcct_spans_the_monitored_contexts(trace in traces(), size in sizes()) {
        compare(&trace, size, |profiler, letter| {
            let monitored = letter.m.entries.iter().map(|entry| entry.context);
            let expected = letter.cct.spanned(monitored.chain(letter.cct.cursor()));
            prop_assert_eq!(&profiler.nodes(), &expected);
            prop_assert_eq!(&letter.nodes, &expected);
            Ok(())
        })?;
    }

    /// What 3.1.3 says of Space-Saving, at any moment.
    #[test]
    fn counts_are_bounded(trace in traces(), size in sizes()) {
        compare(&trace, size, |profiler, letter| {
            let (m, floor) = (profiler.m(), profiler.space_saving.floor());
            let n = letter.cct.total();
            prop_assert_eq!(profiler.total(), n);
            let min = m.iter().map(|entry| entry.count).min().unwrap_or(0);
            prop_assert!(u128::from(min) * m.len() as u128 <= u128::from(n));
            prop_assert!(floor <= min);
            let contexts = letter.cct.contexts().count();
            prop_assert_eq!(m.len(), size.min(contexts));
            if contexts <= size {
                prop_assert_eq!(floor, 0);
            } else {
                prop_assert!(floor > 0);
            }
            for entry in &m {
                let truth = letter.cct.count(entry.context);
                prop_assert!(entry.count - entry.error <= truth && truth <= entry.count);
                prop_assert!(entry.count - entry.error >= 1 && entry.error <= floor);
            }
            let monitored: BTreeSet<_> = m.iter().map(|entry| entry.context).collect();
            prop_assert_eq!(monitored.len(), m.len());
            for context in letter.cct.contexts().filter(|context| !monitored.contains(context)) {
                prop_assert!(letter.cct.count(context) <= floor);
            }
            Ok(())
        })?;
    }

    /// The floor is the least that is certain: as long as nothing else is entered, the last victim
    /// may have been entered so often.
    #[test]
    fn the_floor_is_what_the_last_victim_had(trace in traces(), size in sizes()) {
        let last = Cell::new((Vec::new(), 0));
        compare(&trace, size, |profiler, _| {
            let (m, floor) = (profiler.m(), profiler.space_saving.floor());
            let (before, floor_before) = last.replace((m.clone(), floor));
            let is_gone = |context| m.iter().all(|entry| entry.context != context);
            let victim = before.iter().find(|entry| is_gone(entry.context));
            prop_assert_eq!(floor, victim.map_or(floor_before, |entry| entry.count));
            Ok(())
        })?;
    }

    /// Definitions 3.3 and 3.4: no false negative where (φ − ε)N ≥ 1, and false positives are near.
    #[test]
    fn the_hcct_is_part_of_the_approximate_one(
        trace in traces(),
        size in sizes(),
        phi in shares(),
    ) {
        let (profiler, cct) = Profiler::of(&trace, size);
        let n = cct.total();
        let threshold = phi.floor_of(n);
        let (found, tree) = (profiler.query(threshold), profiler.hcct(threshold));
        let (hot, hcct) = (cct.hot(phi), cct.hcct(phi));
        // (φ − ε)N ≥ 1, of which ⌊φN⌋ > εN follows
        if u128::from(threshold) * size as u128 > u128::from(n) {
            prop_assert!(profiler.hot_tree().misses_none(phi));
        }
        if profiler.space_saving.floor() == 0 {
            prop_assert!(profiler.hot_tree().misses_none(phi));
        }
        if profiler.hot_tree().misses_none(phi) {
            prop_assert!(hot.is_subset(&found));
            prop_assert!(hcct.is_subset(&tree));
        }
        for &context in found.difference(&hot) {
            prop_assert!(cct.count(context) + n / size as u64 >= threshold);
        }
        // Connected, part of the MCCT and so of the CCT, and without leaves that were not found
        prop_assert_eq!(cct.spanned(tree.iter().copied()), tree.clone());
        prop_assert_eq!(cct.spanned(found), tree.clone());
        prop_assert!(tree.is_subset(&profiler.nodes()));
    }

    /// Emitted code counts after the runtime has returned, and only asks about what is not
    /// monitored.
    #[test]
    fn it_is_the_same_who_counts(trace in traces(), size in sizes()) {
        let (expected, _) = Profiler::of(&trace, size);
        let (mut profiler, mut cct) = (Profiler::new(size), Cct::new());
        for event in trace {
            match event {
                Event::Enter(call) => {
                    let context = cct.enter(call);
                    profiler.enter_as_emitted(call, context);
                }
                Event::Exit => {
                    cct.exit();
                    profiler.exit();
                }
            }
        }
        prop_assert_eq!(profiler.m(), expected.m());
        prop_assert_eq!(profiler.nodes(), expected.nodes());
        prop_assert_eq!(profiler.space_saving.floor(), expected.space_saving.floor());
    }

    /// Several stacks in one tree, of which the last context of each is pinned while it runs.
    #[test]
    fn what_is_under_way_on_other_stacks_stays(
        traces in prop::collection::vec(traces(), 2..4),
        turns in prop::collection::vec((0usize..3, 1usize..40), 0..60),
        size in sizes(),
    ) {
        let (mut profiler, mut cct) = (Profiler::new(size), Cct::new());
        let mut simple = SimpleSpaceSaving::new(size);
        let mut rest: Vec<&[Event]> = traces.iter().map(|trace| &trace[..]).collect();
        let mut cursors = vec![None; rest.len()];
        for (turn, times) in turns {
            let stack = turn % rest.len();
            for _ in 0..times {
                let Some((&event, after)) = rest[stack].split_first() else { break };
                rest[stack] = after;
                profiler.cursor = cursors[stack];
                let before = profiler.cursor;
                match event {
                    Event::Enter(call) => {
                        let parent = before.map(|node| profiler.tree.context(node));
                        let x = cct.enter_from(parent, call);
                        simple.update(x);
                        let others = cursors.iter().enumerate().filter(|&(at, _)| at != stack);
                        profiler.tree.pinned = others.filter_map(|(_, &cursor)| cursor).collect();
                        profiler.enter(call, x);
                        cursors[stack] = profiler.cursor;
                    }
                    Event::Exit => {
                        profiler.exit();
                        cursors[stack] = profiler.cursor;
                        profiler.tree.pinned = cursors.iter().flatten().copied().collect();
                        hot_contexts::prune(before.unwrap(), &mut profiler.tree);
                    }
                }
                prop_assert_eq!(profiler.m(), &simple.entries[..]);
                let under_way =
                    cursors.iter().flatten().map(|&cursor| profiler.tree.context(cursor));
                let monitored = simple.entries.iter().map(|entry| entry.context);
                prop_assert_eq!(profiler.nodes(), cct.spanned(monitored.chain(under_way)));
            }
        }
    }

    /// "The running time of Algorithm 1 for tree pruning is constant as well."
    #[test]
    fn what_is_removed_was_made_by_a_call(trace in traces(), size in sizes()) {
        let (profiler, cct) = Profiler::of(&trace, size);
        prop_assert!(profiler.tree.made as u64 <= cct.total());
        prop_assert_eq!(profiler.tree.made - profiler.tree.removed, profiler.nodes().len());
    }
}

/// Counters alone, and how often one was looked at.
#[derive(Default)]
struct Counted {
    counts: BTreeMap<u32, u64>,
    monitored: BTreeSet<u32>,
    looks: Cell<u64>,
}

impl Counters for Counted {
    type Node = u32;

    fn count(&self, node: u32) -> u64 {
        self.looks.set(self.looks.get() + 1);
        self.counts[&node]
    }
}

impl Monitor for Counted {
    fn is_monitored(&self, node: u32) -> bool {
        self.monitored.contains(&node)
    }

    fn start(&mut self, node: u32, count: u64) {
        self.monitored.insert(node);
        self.counts.insert(node, count);
    }

    fn stop(&mut self, node: u32) {
        self.monitored.remove(&node);
    }

    fn increment(&mut self, node: u32) {
        *self.counts.get_mut(&node).unwrap() += 1;
    }
}

impl Counted {
    fn least(&self) -> u64 {
        self.monitored.iter().map(|node| self.counts[node]).min().unwrap_or(0)
    }
}

/// What happens to a queue.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An item is counted, which emitted code does, and nobody hears of it
    Increment(usize),
    FindMin,
    /// An item is entered that may not be monitored
    Update(u32),
}

/// Items, of which each bit halves the chance.
fn items() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..8, 0u32..60, any::<u32>().prop_map(u32::trailing_zeros)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0usize..40).prop_map(Step::Increment),
        2 => Just(Step::FindMin),
        3 => items().prop_map(Step::Update),
    ];
    prop::collection::vec(step, 0..if cfg!(miri) { 100 } else { 800 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 100 / 256))]

    /// Algorithm 2 and Theorem 3.1: the minimum is right whenever it is asked for, it is the first
    /// of several, and the scans take no more than 2 · |M| looks for each value that it had, beside
    /// one for each query. Counters that begin with 0, as those of the proof, have one more.
    #[test]
    fn find_min_is_right_and_takes_constant_amortized_time(
        size in sizes(),
        first in 0u64..2,
        steps in steps(),
    ) {
        let mut entries = Places { nodes: (0..size as u32).collect(), capacity: size };
        let mut counters = Counted::default();
        (0..size as u32).for_each(|item| counters.start(item, first));
        let (mut queue, mut queries, mut operations) = (LazyQueue::new(), 0, 0);
        for step in steps {
            match step {
                Step::Increment(at) => counters.increment(entries.nodes[at % size]),
                Step::FindMin => {}
                // What Space-Saving does, without it
                Step::Update(item) if counters.is_monitored(item) => counters.increment(item),
                Step::Update(item) => {
                    let least = queue.find_min(&entries, &counters).unwrap();
                    queries += 1;
                    counters.stop(least.node);
                    entries.replace(least.index, item);
                    counters.start(item, least.count + 1);
                }
            }
            if !matches!(step, Step::FindMin) {
                operations += 1;
                continue;
            }
            let least = queue.find_min(&entries, &counters).unwrap();
            (queries, operations) = (queries + 1, operations + 1);
            let counts: Vec<u64> =
                entries.nodes.iter().map(|node| counters.counts[node]).collect();
            let count = *counts.iter().min().unwrap();
            let index = counts.iter().position(|&other| other == count).unwrap();
            prop_assert_eq!(least, Least { index, node: entries.nodes[index], count });
            let values = count + 1 - first;
            prop_assert!(counters.looks.get() <= 2 * size as u64 * values + queries);
            prop_assert!((count - first) * size as u64 <= operations);
        }
    }

    /// The same of Space-Saving as a whole, in which every item is counted.
    #[test]
    fn an_update_takes_constant_amortized_time(
        size in sizes(),
        stream in prop::collection::vec(items(), 0..if cfg!(miri) { 100 } else { 800 }),
    ) {
        let mut entries = Places { nodes: Vec::new(), capacity: size };
        let (mut counters, mut space_saving) = (Counted::default(), SpaceSaving::new());
        for (n, item) in (1u64..).zip(stream) {
            space_saving.update(item, &mut entries, &mut counters);
            prop_assert!(counters.looks.get() <= 3 * n + 2 * size as u64);
            let bound = 2 * size as u64 * counters.least() + n;
            prop_assert!(counters.looks.get() <= bound);
        }
    }
}

#[test]
fn a_minimum_that_was_passed_is_not_looked_for_again() {
    let size = 100u32;
    let entries = Places { nodes: (0..size).collect(), capacity: 100 };
    let mut counters = Counted::default();
    (0..size).for_each(|item| counters.start(item, 1));
    let mut queue = LazyQueue::new();
    for item in 0..size {
        let least = queue.find_min(&entries, &counters).unwrap();
        assert_eq!((least.index, least.count), (item as usize, 1));
        counters.increment(item);
    }
    // One scan to find 1, and one along all entries with it, with two looks at each
    assert_eq!(counters.looks.get(), 100 + 2 * 99);
    // All are passed, and then looked at once more
    assert_eq!(queue.find_min(&entries, &counters).unwrap().count, 2);
    assert_eq!(counters.looks.get(), 100 + 2 * 99 + 1 + 100);
    // Nothing is before what a scan has found
    (0..size - 1).for_each(|item| counters.increment(item));
    assert_eq!(queue.find_min(&entries, &counters).unwrap().index, 99);
    counters.looks.set(0);
    counters.increment(99);
    (0..size - 1).for_each(|item| counters.increment(item));
    assert_eq!(queue.find_min(&entries, &counters).unwrap().index, 99);
    assert_eq!(counters.looks.get(), 1 + 100);
    assert_eq!(queue.find_min(&entries, &counters).unwrap().index, 99);
    assert_eq!(counters.looks.get(), 1 + 100 + 1);
}

#[test]
fn what_is_about_to_be_counted_is_no_victim_while_another_counts_as_little() {
    let mut entries = Places { nodes: Vec::new(), capacity: 2 };
    let (mut counters, mut space_saving) = (Counted::default(), SpaceSaving::new());
    let mut monitor = |item| space_saving.monitor(item, &mut entries, &mut counters);
    // All count 0 so far, as nobody has counted them.
    assert_eq!([0, 1, 2, 3].map(&mut monitor), [None, None, Some(0), Some(1)]);
}

#[test]
fn ancestors_are_pruned_with_the_last_that_they_lead_to() {
    // main → a → b → c, each once, and then main → d, d, d … with one place in M.
    let mut profiler = Profiler::new(1);
    let mut cct = Cct::new();
    let mut enter = |profiler: &mut Profiler, function| {
        let label = call(function, 0);
        let context = cct.enter_from(profiler.cursor.map(|at| profiler.tree.context(at)), label);
        profiler.enter(label, context);
        profiler.cursor.unwrap()
    };
    let [main, a, b, c] = [0, 1, 2, 3].map(|function| enter(&mut profiler, function));
    assert_eq!(profiler.nodes().len(), 4, "all lead to c");
    assert!(profiler.tree.is_monitored(c) && !profiler.tree.is_monitored(b));
    (0..3).for_each(|_| profiler.exit());
    assert_eq!((profiler.cursor, profiler.nodes().len()), (Some(main), 4));
    let d = enter(&mut profiler, 4);
    assert_eq!(profiler.tree.nodes().collect::<Vec<_>>(), [main, d]);
    assert_eq!(profiler.tree.removed, 3);
    assert_eq!(profiler.tree.parent(d), Some(main));
    assert_ne!(a, d);
}
