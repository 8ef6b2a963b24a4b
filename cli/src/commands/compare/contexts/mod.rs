//! The calling contexts of two profiles, joined: [`diff`](mod@diff) and [`overlap`](mod@overlap) of
//! them.
//!
//! A context is the same if the functions are, one calling the other, and the call sites
//! ([`sites`]). Where one of two builds tells a function's call sites apart and the other does not,
//! they are one.

pub mod alike;
pub mod diff;
pub mod overlap;
pub mod sites;

use crate::analysis::interval::Interval;
use crate::commands::compare::pairs::{Identity, partners};
use crate::document::{Call, Context, ContextDocument, Shape};
use crate::format::names::base_name;
use crate::input::contexts::Called;
use midflight_profile::table::Granularity;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Two documents of one shape, and what is in one of them or both.
pub struct Both<'d, 'a> {
    /// The documents, of A and B
    pub documents: [&'d ContextDocument<'a>; 2],
    /// Contexts, parents before their children
    pub nodes: Vec<Node>,
}

/// A context in both profiles, or in one.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Place of the one that it is below
    pub parent: Option<usize>,
    /// The number of the function that it adds, the same whatever the shape is
    pub function: usize,
    /// What each profile has of it
    pub sides: [Option<Side>; 2],
}

/// What a profile has of a context.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Its place in the document; that of the first one if several are one here
    pub row: usize,
    /// Activations, but for those without context
    pub times: Interval<u64>,
}

/// Contexts of a profile, added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Activations of those that it has
    pub times: Interval<u64>,
    /// How many it has not
    pub absent: u64,
}

impl Sum {
    /// Adds one.
    pub fn add(&mut self, context: Option<Side>) {
        match context {
            Some(side) => self.times = self.times.plus(side.times),
            None => self.absent += 1,
        }
    }
}

impl Node {
    /// The only side that has it; none if both do.
    pub fn only(&self) -> Option<usize> {
        match self.sides {
            [Some(_), None] => Some(0),
            [None, Some(_)] => Some(1),
            _ => None,
        }
    }
}

impl<'d, 'a> Both<'d, 'a> {
    /// Joins two documents.
    pub fn of(documents: [&'d ContextDocument<'a>; 2]) -> Self {
        let functions = Functions::of(documents);
        let calls = functions.calls(documents);
        let mut nodes: Vec<Node> = Vec::new();
        let mut known: FxHashMap<(Option<usize>, u64, usize), usize> = FxHashMap::default();
        for (side, document) in documents.into_iter().enumerate() {
            let mut places: Vec<usize> = Vec::with_capacity(document.contexts.len());
            for (row, context) in document.contexts.iter().enumerate() {
                let parent = context.parent.map(|parent| places[parent]);
                let site = match document.call(context) {
                    None => 0,
                    Some(call) => calls.get(&(side, call)).copied().unwrap_or(call.slot.into()),
                };
                let function = functions.joined(side, context.function);
                let place = *known.entry((parent, site, function)).or_insert(nodes.len());
                if place == nodes.len() {
                    nodes.push(Node { parent, function, sides: [None; 2] });
                }
                let times = document.times(context);
                nodes[place].sides[side] = Some(match nodes[place].sides[side] {
                    None => Side { row, times },
                    Some(first) => Side { times: first.times.plus(times), ..first },
                });
                places.push(place);
            }
        }
        Both { documents, nodes }
    }

    /// A context in the document of a side that has it, B's if both do.
    pub fn newest(&self, node: &Node) -> (&'d ContextDocument<'a>, &'d Context) {
        let of = |side: usize| {
            let document = self.documents[side];
            node.sides[side].map(|found| (document, &document.contexts[found.row]))
        };
        of(1).or_else(|| of(0)).expect("a node is of one of the profiles at least")
    }

    /// The number of the function of which a context counts activations.
    pub fn counted(&self, node: &Node) -> usize {
        let mut node = node;
        while let (false, Some(parent)) = (self.is_nested(), node.parent) {
            node = &self.nodes[parent];
        }
        node.function
    }

    /// True if there are contexts in and below each: with callers there are not.
    pub fn is_nested(&self) -> bool {
        !matches!(self.documents[0].shape, Shape::Callers(_))
    }

    /// How many activations some contexts may have had in a profile, those without context among
    /// them.
    pub fn known(&self, side: usize, Sum { times, absent }: Sum) -> Interval<u64> {
        let document = self.documents[side];
        let each = times.most.saturating_add(absent.saturating_mul(document.absent()));
        let most = each.saturating_add(document.elsewhere);
        // All other activations are of contexts that are not among them.
        Interval::new(times.least, most.min(times.least.saturating_add(document.unknown())))
    }

    /// A share of all activations of a profile.
    pub fn share(&self, side: usize, times: Interval<u64>) -> Interval<f64> {
        times.share_of(Interval::exact(self.documents[side].activations))
    }
}

/// The functions of both profiles, with one number for each.
struct Functions {
    /// The number of each, for both sides
    joined: [Vec<usize>; 2],
}

impl Functions {
    fn of(documents: [&ContextDocument<'_>; 2]) -> Self {
        let names: [Vec<Cow<'_, str>>; 2] =
            documents.map(|document| document.functions.iter().map(Called::name).collect());
        let [a, b] = [0, 1].map(|side: usize| {
            let functions = documents[side].functions.iter().zip(&names[side]);
            functions.map(|(called, name)| identity(called, name)).collect::<Vec<_>>()
        });
        let of_a = (0..a.len()).collect();
        // Those of B alone come behind all of A.
        let mut of_b: Vec<usize> = (a.len()..a.len() + b.len()).collect();
        for (index, partner) in partners(&a, &b).into_iter().enumerate() {
            partner.into_iter().for_each(|partner| of_b[partner] = index);
        }
        Functions { joined: [of_a, of_b] }
    }

    fn joined(&self, side: usize, function: usize) -> usize {
        self.joined[side][function]
    }

    /// For each call, by its side, a number that is the same for the same calls of both sides; none
    /// for calls that have their slots for it.
    fn calls(&self, documents: [&ContextDocument<'_>; 2]) -> FxHashMap<(usize, Call), u64> {
        // Of each caller and callee that both sides have: the calls of both.
        let mut all: FxHashMap<(usize, usize), [Calls<'_>; 2]> = FxHashMap::default();
        let changed = self.changed(documents);
        for (side, document) in documents.into_iter().enumerate() {
            for call in document.contexts.iter().filter_map(|context| document.call(context)) {
                let caller = self.joined(side, call.caller);
                if changed.contains_key(&caller) {
                    let pair = (caller, self.joined(side, call.callee));
                    let place = sites::place(&document.functions[call.caller], call.slot);
                    all.entry(pair).or_default()[side].insert((place, call));
                }
            }
        }
        let mut numbers = FxHashMap::default();
        for (&(caller, _), [a, b]) in &all {
            if !changed[&caller] {
                numbers.extend(a.iter().map(|&(_, call)| ((0, call), 0)));
                numbers.extend(b.iter().map(|&(_, call)| ((1, call), 0)));
                continue;
            }
            let places = [a, b].map(|all| all.iter().map(|&(place, _)| place).collect::<Vec<_>>());
            let calls = [a, b].map(|all| all.iter().map(|&(_, call)| call).collect::<Vec<_>>());
            // Slots are those of A; what B has alone comes behind all of them.
            let only_b = calls[1].iter().map(|&call| ((1, call), 1 << 32 | u64::from(call.slot)));
            numbers.extend(only_b);
            for (a, b) in sites::pair(&places[0], &places[1]) {
                numbers.insert((1, calls[1][b]), calls[0][a].slot.into());
            }
        }
        numbers
    }

    /// The functions that have one record in A and another in B, by their numbers, and whether both
    /// records tell call sites apart.
    fn changed(&self, [a, b]: [&ContextDocument<'_>; 2]) -> FxHashMap<usize, bool> {
        let of_b = b.functions.iter().zip(&self.joined[1]);
        let both = of_b.filter_map(|(b, &joined)| Some((joined, a.functions.get(joined)?, b)));
        let changed = both.filter(|(_, a, b)| a.key != b.key);
        changed.map(|(joined, a, b)| (joined, has_sites(a) && has_sites(b))).collect()
    }
}

/// Calls of one function by another, in the order of their places.
type Calls<'a> = BTreeSet<(sites::Place<'a>, Call)>;

fn identity<'a>(called: &'a Called<'_>, name: &'a str) -> Identity<'a> {
    let unit = called.table.map_or("", |table| &table.unit);
    Identity { key: called.key, name, unit, image: base_name(called.module) }
}

fn has_sites(called: &Called<'_>) -> bool {
    called.table.is_some_and(|table| table.granularity == Granularity::Sites)
}
