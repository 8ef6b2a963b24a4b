//! Algorithm 4 as emitted code carries it out, against Algorithm 4 to the letter.

use super::*;
use crate::midflight_published_step;
use crate::paths::published::Slabs;
use midflight_abi::{Cursor, Mode};

/// As emitted code has it at the marker ∗: nobody has set β.
fn begin() -> Cursor {
    Cursor { n: 0, tau: null_mut(), beta: core::ptr::dangling_mut::<u64>().cast() }
}

fn function(k: u32) -> Function {
    let mut function = Function::with_flags(k, Mode::Published.flags(), 1 << 20);
    function.enter();
    function
}

fn step(function: &Function, cursor: &mut Cursor, id: u32) {
    // SAFETY: this is what emitted code does.
    unsafe { midflight_published_step(cursor, id, *function.slot) };
}

/// Number of nodes, those that were never counted included.
fn nodes(function: &Function) -> usize {
    let mut number = 0;
    // SAFETY: the calling thread is not in the runtime.
    unsafe { Slabs::for_each_counter(Slabs::of(*function.slot), |_, _| number += 1) };
    number
}

fn compare(k: u32, items: &[Item]) {
    let function = function(k);
    let mut activations: Vec<(Cursor, SlabForest)> = Vec::new();
    for item in items {
        let (activation, id, n) = match *item {
            Item::Enter => {
                let mut slab = SlabForest::new(k);
                slab.enter();
                activations.push((begin(), slab));
                continue;
            }
            Item::Event { activation, id } => (activation, id, 1),
            Item::End => continue,
            Item::Rounds { activation, id, n } => (activation, id, n),
        };
        let index = activations.len() - 1 - activation.min(activations.len() - 1);
        let (cursor, slab) = &mut activations[index];
        for _ in 0..n {
            step(&function, cursor, id);
            slab.event(id);
        }
    }
    let mut oracle = PrefixForest::new();
    for (_, slab) in &activations {
        oracle.add_forest(slab.forest()).unwrap();
    }
    assert_eq!(function.written(), without_zeroes(&oracle));
    assert_eq!(nodes(&function), oracle.len());
    // SAFETY: the slot has been filled.
    let forest = unsafe { &**function.slot };
    assert_eq!((forest.totals.restarts, forest.totals.lost), (0, 0));
}

proptest! {
    #![proptest_config(scaled(100))]

    #[test]
    fn it_counts_as_algorithm_4_does(
        k in prop_oneof![2u32..=16, Just(32), Just(64)],
        items in items(5),
    ) {
        compare(k, &items);
    }
}

#[test]
fn example_3_4_is_as_in_the_thesis() {
    let stream = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];
    let events = stream.map(|id| Item::Event { activation: 0, id });
    let items: Vec<Item> = std::iter::once(Item::Enter).chain(events).collect();
    for k in (2..=64).step_by(if cfg!(miri) { 9 } else { 1 }) {
        compare(k, &items);
    }
}

#[test]
fn a_function_with_many_paths_keeps_all_of_them() {
    for k in [2, 3] {
        let function = function(k);
        let mut cursor = begin();
        let many = if cfg!(miri) { 200 } else { 20_000 };
        for id in 0..many {
            step(&function, &mut cursor, id);
        }
        assert_eq!(function.written().total(), u128::from(many));
    }
}

#[test]
fn clearing_leaves_cursors_usable() {
    let function = function(4);
    let mut cursor = begin();
    for id in [1, 2, 3, 1, 2, 3, 4] {
        step(&function, &mut cursor, id);
    }
    // SAFETY: the calling thread is not in the runtime.
    unsafe {
        ThreadForest::clear(function.this());
        assert!(!ThreadForest::mark(function.this()));
    }
    step(&function, &mut cursor, 9);
    let written = function.written();
    let path =
        [1, 2, 3, 4, 9].iter().try_fold(None, |at, &label| written.child(at, label).map(Some));
    assert_eq!(path.flatten().map(|id| written.count(id)), Some(1), "a child of β");
    assert_eq!((written.total(), written.len()), (1, 5));
}

#[test]
fn no_k_below_2_is_counted() {
    for k in [0, 1, midflight_abi::MAX_K + 1] {
        let mut function = Function::with_flags(k, Mode::Published.flags(), 9);
        function.enter();
        let mut cursor = begin();
        step(&function, &mut cursor, 3);
        assert!(cursor.tau.is_null());
    }
}
