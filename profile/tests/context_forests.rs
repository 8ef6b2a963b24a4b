//! What was counted of paths in contexts: in profile files, whole and damaged, and added up.

mod support;

use midflight_abi::Totals;
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{
    CalledFunction, ContextCounts, ContextFunction, ContextId, ContextMode, Contexts,
    ContextsHeader, Counters, Encoder, ForestError, ForestHeader, FunctionProfile, HEADER_SIZE,
    Module, Profile,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SIGNATURES: [u64; 2] = [7, 5];
const K: u32 = 2;

/// Paths that were counted: the window before each, if there was one, and how often.
type Paths = Vec<(Option<u32>, u32, u64)>;

/// A run: contexts as steps, each some levels above the one before, and what was counted there.
#[derive(Clone, Debug)]
struct Run(Vec<(usize, usize, u64, Paths)>);

fn forest(paths: &Paths) -> PrefixForest {
    let mut forest = PrefixForest::new();
    for &(before, label, count) in paths {
        let parent = before.map(|label| forest.child_or_insert(None, label));
        let id = forest.child_or_insert(parent, label);
        forest.add(id, count).unwrap();
    }
    forest
}

fn function(module: usize, key: u64, paths: &Paths) -> FunctionProfile {
    FunctionProfile {
        module,
        key: 100 + key,
        k: K,
        totals: Totals { entries: paths.len() as u64, ..Totals::default() },
        counters: Counters::Windows,
        forest: forest(paths),
        truncated: PrefixForest::new(),
    }
}

impl Run {
    /// The profile with modules in an order.
    fn profile(&self, order: [usize; 2]) -> Profile {
        let module = |index: usize| Module {
            signature: SIGNATURES[order[index]],
            name: format!("/{}", SIGNATURES[order[index]]),
        };
        let place = |module: usize| order.iter().position(|&at| at == module).unwrap();
        let mut contexts = Contexts::new(ContextMode::All);
        let mut way: Vec<ContextId> = Vec::new();
        for (up, module, key, paths) in &self.0 {
            way.truncate(way.len().saturating_sub(*up));
            let called = CalledFunction { module: place(*module), key: *key, slots: 3 };
            let called = contexts.intern(called).unwrap();
            let id = contexts.child_or_insert(way.last().copied(), 0, called);
            contexts.add(id, 1, 0).unwrap();
            contexts.activations += 1;
            if !paths.is_empty() {
                contexts.add_forest(id, function(place(*module), *key, paths)).unwrap();
            }
            way.push(id);
        }
        let modules = vec![module(0), module(1)];
        Profile { modules, contexts: Some(contexts), ..Profile::default() }
    }
}

/// The calls that lead to a context, and the signature and the key of the function counted there.
type Place = (Vec<(u64, u64)>, u64, u64);

/// Activations, and how often each window was counted.
type Counted = (u64, BTreeMap<Vec<u32>, u64>);

/// The forests of a profile by the calls that lead to their contexts.
fn flat(profile: &Profile) -> BTreeMap<Place, Counted> {
    let contexts = profile.contexts.as_ref().unwrap();
    let mut ways: Vec<Vec<(u64, u64)>> = Vec::new();
    let mut all = BTreeMap::new();
    for id in contexts.ids() {
        let mut way = contexts.parent(id).map_or(vec![], |parent| ways[parent.index()].clone());
        let called = contexts.function(id);
        way.push((profile.modules[called.module].signature, called.key));
        for function in contexts.forests(id) {
            let mut counts = BTreeMap::new();
            let mut labels: Vec<u32> = Vec::new();
            for (node, depth) in function.forest.preorder() {
                labels.truncate(depth as usize);
                labels.push(function.forest.label(node));
                if function.forest.count(node) != 0 {
                    counts.insert(labels.clone(), function.forest.count(node));
                }
            }
            let signature = profile.modules[function.module].signature;
            let key = (way.clone(), signature, function.key);
            let known = all.insert(key, (function.totals.entries, counts));
            assert_eq!(known, None);
        }
        ways.push(way);
    }
    all
}

fn runs() -> impl Strategy<Value = Run> {
    let paths = prop::collection::vec((prop::option::of(0u32..3), 0u32..4, 1u64..100), 0..5);
    let step = (0usize..3, 0usize..2, 0u64..3, paths);
    prop::collection::vec(step, 0..if cfg!(miri) { 5 } else { 20 }).prop_map(Run)
}

proptest! {
    #[test]
    fn they_survive_in_files(run in runs()) {
        let profile = run.profile([0, 1]);
        let written = profile.write();
        let again = Profile::read(&written).unwrap();
        prop_assert_eq!(flat(&again), flat(&profile));
        prop_assert_eq!(&again.write(), &written);
        // In whatever order modules and contexts were met.
        prop_assert_eq!(&run.profile([1, 0]).write(), &written);
    }

    #[test]
    fn they_add_up(a in runs(), b in runs()) {
        let mut sum = a.profile([0, 1]);
        sum.merge(&b.profile([1, 0])).unwrap();
        let mut other = b.profile([0, 1]);
        other.merge(&a.profile([0, 1])).unwrap();
        prop_assert_eq!(sum.write(), other.write());
        let (a, b) = (flat(&a.profile([0, 1])), flat(&b.profile([0, 1])));
        let mut expected = a;
        for (key, (entries, counts)) in b {
            let (sum, known) = expected.entry(key).or_default();
            *sum += entries;
            for (labels, count) in counts {
                *known.entry(labels).or_default() += count;
            }
        }
        prop_assert_eq!(flat(&sum), expected);
    }

    #[test]
    fn damage_is_an_error(run in runs(), bit in any::<prop::sample::Index>()) {
        let mut file = run.profile([0, 1]).write();
        let bit = bit.index(8 * file.len());
        file[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Profile::read(&file).is_err());
    }
}

#[test]
fn programs_that_add_up_themselves_leave_them_out() {
    let paths = vec![(None, 1, 5)];
    let run = Run(vec![(0, 0, 1, paths.clone()), (0, 1, 2, paths)]);
    let file = run.profile([0, 1]).write();
    let sum = Profile::read(&support::sum(&file, &file).unwrap()).unwrap();
    let contexts = sum.contexts.as_ref().unwrap();
    assert_eq!((contexts.len(), contexts.total(), contexts.has_forests()), (2, 4, false));
}

#[test]
fn what_cannot_be_is_refused() {
    let paths = vec![(None, 1, 5)];
    let run = Run(vec![(0, 0, 1, paths.clone()), (0, 1, 2, paths.clone())]);
    let mut contexts = run.profile([0, 1]).contexts.unwrap();
    let id = contexts.ids().next().unwrap();
    // Counted with another k, and more than fits
    let other = FunctionProfile { k: 3, ..function(0, 1, &paths) };
    assert_eq!(contexts.add_forest(id, other), Err(ForestError::Other));
    let large = function(0, 1, &vec![(None, 1, u64::MAX)]);
    assert!(matches!(contexts.add_forest(id, large), Err(ForestError::Sum(_))));
    // A context that is not there
    let mut file = vec![0; HEADER_SIZE];
    let mut encoder = Encoder::new(&mut file);
    encoder.module(7, b"/7").unwrap();
    let header = ContextsHeader { has_forests: true, activations: 1, ..Default::default() };
    encoder.contexts(&header).unwrap();
    let new = ContextFunction::New { module: 0, key: 1, slots: 0 };
    let counts = ContextCounts { count: 1, ..Default::default() };
    encoder.context(0, new, &counts).unwrap();
    encoder.end_contexts().unwrap();
    let header = ForestHeader { module: 0, key: 1, k: 1, totals: Totals::default() };
    encoder.context_windows(1, &header).unwrap();
    encoder.end().unwrap();
    encoder.end_context_windows().unwrap();
    let header = encoder.finish(0);
    file[..HEADER_SIZE].copy_from_slice(&header);
    let error = Profile::read(&file).unwrap_err().to_string();
    assert!(error.contains("the context of a forest") && error.contains("is not there"), "{error}");
    let sum = support::sum(&file, &file);
    assert!(sum.is_err());
}
