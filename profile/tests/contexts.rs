//! Calling contexts in profile files: whole, damaged, forged, and added up.

mod support;

use midflight_profile::format::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use support::{file_of, seal, sum};

/// A call: its site and the signature and key of the function that is called.
type Call = (u32, u64, u64);

/// What stands for a tree: each context as the calls that lead to it, with count, error and time.
type Model = BTreeMap<Vec<Call>, (u64, u64, u64)>;

/// A tree of a thread, and the modules that its file lists.
#[derive(Clone, Debug)]
struct Tree {
    header: ContextsHeader,
    model: Model,
    /// Activations without context of functions: by signature and key
    elsewhere: BTreeMap<(u64, u64), u64>,
}

/// Functions of which activations have no context, from their places.
fn elsewhere_of(places: &[(usize, usize, u64)]) -> BTreeMap<(u64, u64), u64> {
    let mut elsewhere = BTreeMap::new();
    for &(signature, function, count) in places {
        *elsewhere.entry((SIGNATURES[signature], FUNCTIONS[function].0)).or_default() += count;
    }
    elsewhere
}

/// Functions that there are: key and slots. Of each module the same.
const FUNCTIONS: [(u64, u32); 5] = [(10, 3), (11, 1), (12, 2), (13, 0), (14, 300)];
const SIGNATURES: [u64; 3] = [7, 5, 6];

fn slots_of(key: u64) -> u32 {
    FUNCTIONS.iter().find(|(known, _)| *known == key).unwrap().1
}

/// A tree from steps: each goes some levels up, and calls.
fn model_of(steps: &[(usize, usize, usize, u32, u64, u64)], is_hot: bool, is_timed: bool) -> Model {
    let mut model = Model::new();
    let mut way: Vec<Call> = Vec::new();
    for &(up, signature, function, site, count, error) in steps {
        way.truncate(way.len().saturating_sub(up));
        while way.last().is_some_and(|call| slots_of(call.2) == 0) {
            way.pop();
        }
        let slots = way.last().map_or(1, |call| slots_of(call.2));
        way.push((site % slots, SIGNATURES[signature], FUNCTIONS[function].0));
        let (sum, wrong, time) = model.entry(way.clone()).or_default();
        *sum += count + error;
        *wrong += if is_hot { error } else { 0 };
        *time += if is_timed { count * 300 / 7 } else { 0 };
    }
    model
}

fn trees() -> impl Strategy<Value = Tree> {
    let step = (0usize..4, 0usize..3, 0usize..5, 0u32..400, 0u64..1000, 0u64..5);
    let shares = prop_oneof![Just(None), (0u32..5, 0u32..5).prop_map(Some)];
    let steps = prop::collection::vec(step, 0..if cfg!(miri) { 10 } else { 40 });
    let bursts = prop::option::of((1u64..5, 1u64..9));
    let time = prop::option::of(0u64..1000);
    let places = prop::collection::vec((0usize..3, 0usize..5, 1u64..100), 0..4);
    (steps, shares, 0u64..1000, (0u64..9, places), 0u64..9, bursts, time).prop_map(
        |(steps, shares, activations, (elsewhere, places), floor, bursts, time)| {
            let mode = match shares {
                None => ContextMode::All,
                Some((phi, epsilon)) => {
                    ContextMode::Hot { phi: phi.into(), epsilon: f64::from(epsilon) / 4.0 }
                }
            };
            let mode = match mode {
                ContextMode::Hot { phi, epsilon } => ContextMode::Hot { phi: phi / 8.0, epsilon },
                all => all,
            };
            let is_hot = mode != ContextMode::All;
            let floor = if is_hot { floor } else { 0 };
            let bursts = bursts.map(|(length, more)| Bursts { interval: length + more, length });
            let header = ContextsHeader {
                mode,
                activations,
                elsewhere,
                floor,
                bursts,
                time,
                has_elsewhere: !places.is_empty(),
                has_forests: false,
            };
            let model = model_of(&steps, is_hot, time.is_some());
            Tree { header, model, elsewhere: elsewhere_of(&places) }
        },
    )
}

/// The file of threads with these trees, with modules in that order.
fn file(trees: &[Tree], modules: &[u64]) -> Vec<u8> {
    let mut file = vec![0; HEADER_SIZE];
    let mut encoder = Encoder::new(&mut file);
    for module in modules {
        encoder.module(*module, format!("/{module}").as_bytes()).unwrap();
    }
    for tree in trees {
        encoder.contexts(&tree.header).unwrap();
        let mut known: Vec<(u64, u64)> = Vec::new();
        let mut named = |signature, key| {
            let number = known.iter().position(|function| *function == (signature, key));
            number.map_or_else(
                || {
                    known.push((signature, key));
                    let module = modules.iter().position(|m| *m == signature).unwrap() as u32;
                    ContextFunction::New { module, key, slots: slots_of(key) }
                },
                |number| ContextFunction::Known(number as u32),
            )
        };
        let mut depth = 0;
        for (way, &(count, error, time)) in &tree.model {
            let &(site, signature, key) = way.last().unwrap();
            let counts = ContextCounts { site, count, error, time };
            let up = (depth + 1 - way.len()) as u32;
            encoder.context(up, named(signature, key), &counts).unwrap();
            depth = way.len();
        }
        encoder.end_contexts().unwrap();
        for (&(signature, key), &count) in &tree.elsewhere {
            encoder.context_elsewhere(named(signature, key), count).unwrap();
        }
        if tree.header.has_elsewhere {
            encoder.end_contexts_elsewhere().unwrap();
        }
    }
    let header = encoder.finish(0);
    file[..HEADER_SIZE].copy_from_slice(&header);
    file
}

/// The sum, by the definition: what a tree has not may have had as much there as its floor.
fn naive_sum(trees: &[Tree]) -> Option<Tree> {
    let mut header = trees.first()?.header;
    for tree in &trees[1..] {
        let ContextsHeader { mode, activations, elsewhere, floor, bursts, time, .. } = tree.header;
        let share =
            |bursts: Bursts| (bursts.length as f64 / bursts.interval as f64, bursts.interval);
        header.bursts = match (header.bursts, bursts) {
            (Some(a), Some(b)) if share(b) < share(a) => Some(b),
            (a, b) => a.or(b),
        };
        header.time = match (header.time, time) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        header.activations += activations;
        header.elsewhere += elsewhere;
        header.floor += floor;
        header.has_elsewhere |= tree.header.has_elsewhere;
        header.mode = match (header.mode, mode) {
            (ContextMode::Hot { phi: a, epsilon: b }, ContextMode::Hot { phi: c, epsilon: d }) => {
                ContextMode::Hot { phi: a.max(c), epsilon: b.max(d) }
            }
            (ContextMode::All, other) | (other, ContextMode::All) => other,
        };
    }
    let ways: BTreeSet<&Vec<Call>> = trees.iter().flat_map(|tree| tree.model.keys()).collect();
    let sum = |way: &Vec<Call>| {
        trees.iter().fold((0, 0, 0), |(count, error, time), tree| {
            let floor = (tree.header.floor, tree.header.floor, 0);
            let (more, wrong, longer) = tree.model.get(way).copied().unwrap_or(floor);
            (count + more, error + wrong, time + longer)
        })
    };
    let model = ways.into_iter().map(|way| (way.clone(), sum(way))).collect();
    let mut elsewhere = BTreeMap::new();
    for (&function, &count) in trees.iter().flat_map(|tree| &tree.elsewhere) {
        *elsewhere.entry(function).or_default() += count;
    }
    Some(Tree { header, model, elsewhere })
}

/// What a profile has, in the form of the model.
fn tree_of(profile: &Profile) -> Option<Tree> {
    let contexts = profile.contexts.as_ref()?;
    let signature = |function: CalledFunction| profile.modules[function.module].signature;
    let by_function = contexts.elsewhere_of().map(|(id, count)| {
        let called = contexts.functions()[id.index()];
        ((signature(called), called.key), count)
    });
    let by_function: BTreeMap<(u64, u64), u64> = by_function.collect();
    let known: u64 = by_function.values().sum();
    let Contexts { mode, activations, elsewhere, floor, bursts, time, .. } = *contexts;
    let header = ContextsHeader {
        mode,
        activations: activations - known,
        elsewhere: elsewhere - known,
        floor,
        bursts,
        time,
        has_elsewhere: !by_function.is_empty(),
        has_forests: contexts.has_forests(),
    };
    let mut ways: Vec<Vec<Call>> = Vec::new();
    let mut model = Model::new();
    for id in contexts.ids() {
        let mut way = contexts.parent(id).map_or(vec![], |parent| ways[parent.index()].clone());
        let called @ CalledFunction { key, slots, .. } = contexts.function(id);
        assert_eq!(slots, slots_of(key));
        way.push((contexts.site(id), signature(called), key));
        let counts = (contexts.count(id), contexts.error(id), contexts.time(id));
        assert_eq!(model.insert(way.clone(), counts), None);
        ways.push(way);
    }
    Some(Tree { header, model, elsewhere: by_function })
}

fn assert_same(found: Option<Tree>, expected: Option<Tree>) -> Result<(), TestCaseError> {
    let parts = |tree: Option<Tree>| tree.map(|tree| (tree.header, tree.model, tree.elsewhere));
    prop_assert_eq!(parts(found), parts(expected));
    Ok(())
}

fn modules() -> impl Strategy<Value = Vec<u64>> {
    Just(SIGNATURES.to_vec()).prop_shuffle()
}

proptest! {
    #[test]
    fn trees_of_threads_add_up(trees in prop::collection::vec(trees(), 0..4), modules in modules()) {
        let profile = Profile::read(&file(&trees, &modules)).unwrap();
        assert_same(tree_of(&profile), naive_sum(&trees))?;
    }

    #[test]
    fn profiles_survive(trees in prop::collection::vec(trees(), 0..3), modules in modules()) {
        let profile = Profile::read(&file(&trees, &modules)).unwrap();
        let written = profile.write();
        let again = Profile::read(&written).unwrap();
        assert_same(tree_of(&again), tree_of(&profile))?;
        // Equal profiles give equal bytes, in whatever order they were put together.
        prop_assert_eq!(&again.write(), &written);
        let sorted = Profile::read(&file(&trees, &[5, 6, 7])).unwrap();
        prop_assert_eq!(&sorted.write(), &written);
        prop_assert_eq!(&sorted, &again);
    }

    #[test]
    fn merging_adds_up(a in trees(), b in trees(), c in trees(), orders in (modules(), modules(), modules())) {
        let files = [file(std::slice::from_ref(&a), &orders.0), file(std::slice::from_ref(&b), &orders.1), file(std::slice::from_ref(&c), &orders.2)];
        let read = |index: usize| Profile::read(&files[index]).unwrap();
        let expected = naive_sum(&[a, b, c]);
        let mut written = BTreeSet::new();
        for [x, y, z] in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let (mut left, mut right) = (read(x), read(y));
            left.merge(&read(y)).unwrap();
            left.merge(&read(z)).unwrap();
            right.merge(&read(z)).unwrap();
            let mut whole = read(x);
            whole.merge(&right).unwrap();
            assert_same(tree_of(&left), expected.clone())?;
            assert_same(tree_of(&whole), expected.clone())?;
            written.insert(left.write());
            written.insert(whole.write());
            // The runtime's way of adding files up
            let shared = sum(&sum(&files[x], &files[y]).unwrap(), &files[z]).unwrap();
            written.insert(Profile::read(&shared).unwrap().write());
        }
        prop_assert_eq!(written.len(), 1);
        // What has no contexts adds nothing.
        let mut nothing = Profile::default();
        nothing.merge(&read(0)).unwrap();
        nothing.merge(&Profile::default()).unwrap();
        assert_same(tree_of(&nothing), tree_of(&read(0)))?;
    }

    #[test]
    fn scaling_is_adding_so_often(tree in trees(), by in 1u64..4) {
        let mut scaled = Profile::read(&file(std::slice::from_ref(&tree), &SIGNATURES)).unwrap();
        scaled.scale(by).unwrap();
        assert_same(tree_of(&scaled), naive_sum(&vec![tree; by as usize]))?;
    }

    /// Whatever the payload is, and with right checksums: an error or a profile, never a panic.
    #[test]
    fn forged_files_do_no_harm(
        trees in prop::collection::vec(trees(), 1..3),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in 0usize..8,
    ) {
        let whole = file(&trees, &SIGNATURES);
        let mut forged = whole.clone();
        for (at, byte) in changes {
            let at = 12 + at.index(forged.len() - 12);
            forged[at] = byte;
        }
        forged.truncate((forged.len() - cut).max(HEADER_SIZE));
        seal(&mut forged);
        let added = sum(&whole, &forged);
        if let Ok(profile) = Profile::read(&forged) {
            let written = profile.write();
            prop_assert_eq!(Profile::read(&written).unwrap().write(), written);
            let mut expected = Profile::read(&whole).unwrap();
            if expected.merge(&profile).is_ok() {
                let added = Profile::read(&added.unwrap()).unwrap();
                prop_assert_eq!(added.write(), expected.write());
            }
        }
    }

    #[test]
    fn random_payloads_do_no_harm(
        items in 0u32..3,
        payload in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..120),
    ) {
        let file = file_of(&[(b"MODS", 1, MODULE), (b"ctxt", items, &payload)]);
        let _ = Profile::read(&file);
        let _ = sum(&file, &file);
    }
}

/// A module with a path of one byte.
const MODULE: &[u8] = &[5, 0, 0, 0, 0, 0, 0, 0, 1, b'a'];

/// A function of module 0, of so many slots.
fn define(number: u8, key: u8, slots: u8) -> Vec<u8> {
    vec![number, 0, key, 0, 0, 0, 0, 0, 0, 0, slots]
}

fn read(items: u32, bytes: &[u8]) -> Result<Profile, ReadError> {
    Profile::read(&file_of(&[(b"MODS", 1, MODULE), (b"ctxt", items, bytes)]))
}

fn malformed(bytes: &[&[u8]]) -> (&'static str, &'static str) {
    match read(1, &bytes.concat()) {
        Err(ReadError::Malformed(error)) => (error.what, error.problem),
        other => panic!("{other:?}"),
    }
}

/// The header of a whole tree.
const ALL: &[u8] = &[0, 9, 0, 0];

#[test]
fn every_bit_flip_and_truncation_is_an_error() {
    let steps = [(0, 0, 0, 0, 1, 0), (0, 1, 2, 1, 5, 0), (1, 0, 1, 0, 300, 2)];
    let header = ContextsHeader {
        mode: ContextMode::Hot { phi: 0.25, epsilon: 0.125 },
        activations: 300,
        elsewhere: 1,
        floor: 4,
        bursts: Some(Bursts { interval: 20_000_000, length: 2_000_000 }),
        time: Some(9),
        has_elsewhere: true,
        has_forests: false,
    };
    let elsewhere = elsewhere_of(&[(0, 1, 3), (2, 2, 1)]);
    let tree = Tree { header, model: model_of(&steps, true, true), elsewhere };
    let file = file(&[tree], &SIGNATURES);
    assert!(Profile::read(&file).is_ok());
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Profile::read(&flipped).is_err(), "bit {bit}");
    }
    for len in 0..file.len() {
        assert!(Profile::read(&file[..len]).is_err());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let ended = "does not fit in what is left";
    let (main, f) = (define(0, 1, 2), define(1, 2, 0));
    let root = [&[1][..], &main, &[0, 1]].concat();
    assert!(read(1, &[ALL, &root, &[0]].concat()).is_ok());
    assert!(read(1, &[ALL, &[0]].concat()).is_ok());
    assert_eq!(malformed(&[&[32]]), ("the mode of contexts", "is unknown"));
    // Activations without context of functions: of one that is there, and of another one
    let of_functions = [&[16, 9, 2, 0][..], &root, &[0, 3, 0, 4], &f, &[0]].concat();
    let contexts = read(1, &of_functions).unwrap().contexts.unwrap();
    assert_eq!((contexts.activations, contexts.elsewhere), (16, 9));
    let found: Vec<_> =
        contexts.elsewhere_of().map(|(id, n)| (contexts.functions()[id.index()].key, n)).collect();
    assert_eq!(found, [(1, 3), (2, 4)]);
    let no_end = &of_functions[..of_functions.len() - 1];
    assert_eq!(malformed(&[no_end]), ("a function's activations without context", ended));
    let unknown = [&[16, 9, 2, 0][..], &root, &[0, 3, 1, 1]].concat();
    assert_eq!(malformed(&[&unknown]).0, "a function's module");
    let unknown = [&[16, 9, 2, 0][..], &root, &[0, 3, 2]].concat();
    assert_eq!(malformed(&[&unknown]), ("a context's function", "is not known"));
    let other = [&[16, 9, 2, 0][..], &root, &[0, 3], &define(1, 1, 3)].concat();
    assert_eq!(malformed(&[&other]).0, "the number of a function's call sites");
    // Times, of a tree and of a context
    let timed = [&[4, 9, 0, 0, 70][..], &root, &[70], &[0]].concat();
    assert_eq!(read(1, &timed).unwrap().contexts.unwrap().time, Some(70));
    assert_eq!(malformed(&[&[4, 9, 0, 0]]), ("the time without context", ended));
    assert_eq!(malformed(&[&timed[..timed.len() - 2]]), ("a context's time", ended));
    assert!(read(1, &[&[2, 5, 4, 9, 0, 0][..], &[0]].concat()).is_ok());
    for wrong in [[2, 5, 0], [2, 5, 5], [2, 0, 0]] {
        let problem = "is 0, or not below their interval";
        assert_eq!(malformed(&[&wrong]), ("the length of bursts", problem));
    }
    assert_eq!(malformed(&[&[0, 9, 0, 1]]).0, "the floor of contexts");
    assert_eq!(malformed(&[&[0, 9, 0]]).0, "the floor of contexts");
    assert_eq!(malformed(&[ALL]), ("a context's level", ended));
    assert_eq!(malformed(&[ALL, &root]), ("a context's level", ended));
    assert_eq!(malformed(&[ALL, &[0, 0]]), ("a section", "goes on after its last item"));
    // Above the roots: the first node has none before it, and a root is of depth 1.
    assert_eq!(malformed(&[ALL, &[2], &main]), ("a context's level", "is above the roots"));
    assert_eq!(malformed(&[ALL, &root, &[3, 0]]), ("a context's level", "is above the roots"));
    let huge = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(malformed(&[ALL, &root, huge]), ("a context's level", "is above the roots"));
    // Another root
    assert!(read(1, &[ALL, &root, &[2][..], &f, &[0, 1, 0]].concat()).is_ok());
    assert_eq!(malformed(&[ALL, &[1, 1]]), ("a context's function", "is not known"));
    assert_eq!(malformed(&[ALL, &[1, 0, 1]]), ("a function's module", "is not there"));
    assert_eq!(malformed(&[ALL, &[1], &main, &[1]]).1, "is not 0 in a root");
    // main has slots 0 and 1, f has none.
    let child = |site| [&[1][..], &f, &[site, 1]].concat();
    assert!(read(1, &[ALL, &root, &child(1), &[0]].concat()).is_ok());
    let no_site = ("a context's call site", "is not in the function above");
    assert_eq!(malformed(&[ALL, &root, &child(2)]), no_site);
    assert_eq!(malformed(&[ALL, &root, &child(1), &[1, 0, 0, 1]]), no_site);
    // Siblings, roots among them
    let twice = ("a context", "is there twice");
    assert_eq!(malformed(&[ALL, &root, &[2, 0, 0, 1]]), twice);
    assert_eq!(malformed(&[ALL, &root, &child(1), &[2, 1, 1, 1]]), twice);
    assert!(read(1, &[ALL, &root, &child(1), &[2, 1, 0, 1, 0]].concat()).is_ok());
    let slots = malformed(&[ALL, &root, &[1], &define(1, 1, 3), &[0, 1, 0]]);
    assert_eq!(slots, ("the number of a function's call sites", "is another elsewhere"));
    // Errors of counts, and shares
    let hot = |phi: f64, epsilon: f64| {
        [&[1][..], &phi.to_le_bytes(), &epsilon.to_le_bytes(), &[9, 0, 1]].concat()
    };
    let with_error = |error| [&[1][..], &main, &[0, 5, error, 0]].concat();
    assert!(read(1, &[hot(0.0, 1.0), with_error(5)].concat()).is_ok());
    let error = malformed(&[&hot(0.5, 0.5), &with_error(6)]);
    assert_eq!(error, ("a context's error", "is more than its count"));
    for wrong in [f64::NAN, -0.0, -1.0, 1.5, f64::INFINITY] {
        assert_eq!(malformed(&[&hot(wrong, 0.5)]).0, "a share of activations");
        assert_eq!(malformed(&[&hot(0.5, wrong)]).0, "a share of activations");
    }
}

/// A library that was loaded twice has its functions twice, and they are the same.
#[test]
fn functions_that_are_there_twice_add_up() {
    let bytes = [
        ALL,
        &[&[1][..], &define(0, 1, 2), &[0, 1]].concat(),
        &[&[1][..], &define(1, 2, 1), &[0, 10]].concat(),
        &[&[2][..], &define(2, 2, 1), &[0, 20]].concat(),
        // Below both
        &[1, 0, 0, 3, 3, 1, 1, 4, 0],
    ];
    let profile = read(1, &bytes.concat()).unwrap();
    let contexts = profile.contexts.unwrap();
    let counts: Vec<(u32, u64)> =
        contexts.preorder().map(|(id, depth)| (depth, contexts.count(id))).collect();
    assert_eq!(counts, [(0, 1), (1, 30), (2, 3), (1, 4)]);
    assert_eq!(contexts.functions().len(), 2);
}

#[test]
fn an_error_that_was_read_too_late_is_no_more_than_the_count() {
    let mut file = vec![0; HEADER_SIZE];
    let mut encoder = Encoder::new(&mut file);
    encoder.module(5, b"a").unwrap();
    let mode = ContextMode::Hot { phi: 0.1, epsilon: 0.1 };
    encoder.contexts(&ContextsHeader { mode, ..Default::default() }).unwrap();
    let function = ContextFunction::New { module: 0, key: 1, slots: 1 };
    encoder.context(0, function, &ContextCounts { site: 0, count: 5, error: 7, time: 0 }).unwrap();
    encoder.end_contexts().unwrap();
    let header = encoder.finish(0);
    file[..HEADER_SIZE].copy_from_slice(&header);
    let contexts = Profile::read(&file).unwrap().contexts.unwrap();
    let root = contexts.children(None)[0];
    assert_eq!((contexts.count(root), contexts.error(root)), (5, 5));
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let most = [&[0xff; 9][..], &[1]].concat();
    let node = |count: &[u8]| [&[1][..], &define(0, 1, 1), &[0], count].concat();
    let overflow = Err(ReadError::ContextOverflow(ContextOverflow));
    let one = [ALL, &node(&most), &[0]].concat();
    let profile = read(1, &one).unwrap();
    assert_eq!(read(2, &[&one[..], &one].concat()), overflow);
    // Each count fits, and their sum does not.
    assert_eq!(read(1, &[ALL, &node(&most), &[1, 0, 0, 1, 0]].concat()), overflow);
    let activations = [&[0][..], &most, &[0, 0, 0]].concat();
    assert_eq!(read(2, &[&activations[..], &activations].concat()), overflow);
    assert_eq!(profile.clone().merge(&profile), Err(MergeError::ContextOverflow(ContextOverflow)));
    assert_eq!(profile.clone().scale(2), Err(MergeError::ContextOverflow(ContextOverflow)));
    // What a tree may have had that is not in it
    let floor = |floor: &[u8]| [&[1][..], &[0; 16], &[9, 0], floor, &node(&[5, 0]), &[0]].concat();
    assert!(read(1, &floor(&most)).is_ok());
    assert_eq!(read(2, &[floor(&most), one].concat()), overflow);
}

#[test]
fn a_function_has_the_same_call_sites_everywhere() {
    let with = |slots| read(1, &[ALL, &[1], &define(0, 1, slots), &[0, 1, 0]].concat()).unwrap();
    let error = with(2).merge(&with(3)).unwrap_err();
    assert_eq!(error, MergeError::Slots { key: 1 });
    assert!(error.to_string().contains("different numbers of call sites"), "{error}");
}

/// Trees are as deep as a program's recursion, and there is no recursion here.
#[test]
fn deep_and_wide_trees_are_read_in_no_time() {
    let nodes = if cfg!(miri) { 1_000 } else { 200_000 };
    let begun = Instant::now();
    for level in [1, 2] {
        // Each called by the one before, or all of them siblings, of another site each.
        let mut bytes = [ALL, &[1][..]].concat();
        bytes
            .extend([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1, 1, 0, 0, 1]);
        for site in 1..nodes as u32 {
            bytes.extend([level, 0]);
            let mut rest = if level == 1 { 0 } else { site };
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.extend([rest as u8, 1]);
        }
        bytes.push(0);
        let profile = read(1, &bytes).unwrap();
        assert_eq!(profile.contexts.as_ref().unwrap().len(), nodes + 1);
        let mut twice = profile.clone();
        twice.merge(&profile).unwrap();
        assert_eq!(Profile::read(&twice.write()).unwrap(), twice);
    }
    assert!(cfg!(miri) || begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

/// Many small trees and a large one take time in proportion to the file.
#[test]
fn many_trees_are_read_in_no_time() {
    let hot = [&[1][..], &[0; 16], &[9, 0, 1]].concat();
    let root = [&[1][..], &define(0, 1, 127), &[0, 2, 1]].concat();
    let mut bytes = [&hot[..], &root].concat();
    for site in 0..100 {
        bytes.extend([if site == 0 { 1 } else { 2 }, 0, site, 2, 1]);
    }
    for _ in 0..100_000 {
        bytes.extend([1, 0, 0, 2, 1]);
    }
    bytes.push(0);
    let small = [&hot[..], &root, &[0]].concat();
    let items = if cfg!(miri) { 10 } else { 100_000 };
    (0..items).for_each(|_| bytes.extend_from_slice(&small));
    let begun = Instant::now();
    let contexts = read(items + 1, &bytes).unwrap().contexts.unwrap();
    assert!(cfg!(miri) || begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let leaf = contexts.ids().next_back().unwrap();
    let sum = u64::from(items);
    assert_eq!(
        (contexts.count(leaf), contexts.error(leaf), contexts.floor),
        (2 + sum, 1 + sum, 1 + sum)
    );
}

/// Many processes add to one file: it has one tree, however many there were.
#[test]
fn a_file_that_is_added_to_grows_with_its_tree_only() {
    let steps = [(0, 0, 0, 0, 1, 0), (0, 1, 2, 1, 5, 0), (1, 0, 1, 0, 30, 2)];
    let header = ContextsHeader { activations: 36, ..Default::default() };
    let model = model_of(&steps, false, false);
    let tree = Tree { header, model, elsewhere: BTreeMap::new() };
    let one = file(std::slice::from_ref(&tree), &SIGNATURES);
    let mut all = one.clone();
    for _ in 0..3 {
        all = sum(&all, &one).unwrap();
    }
    // Counts that are four times as large, which may take a byte more each
    assert!(all.len() <= one.len() + 5, "{} {}", all.len(), one.len());
    let expected = file(&vec![tree; 4], &SIGNATURES);
    assert_eq!(Profile::read(&all).unwrap(), Profile::read(&expected).unwrap());
}
