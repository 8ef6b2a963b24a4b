//! Calling contexts in the memory of a program: any trees, damaged and forged ones.

use core::mem::offset_of;
use midflight_abi::ABI_VERSION;
use midflight_abi::contexts::{
    CONTEXT_NODE_SIZE, ContextHead, ContextNode, EMPTY, context_slot_offset,
};
use midflight_abi::memory::*;
use midflight_profile::format::{
    Bursts, ContextCounts, ContextFunction, ContextMode, ContextsHeader, Encoder,
    FLAG_BEGAN_WITHIN, HEADER_SIZE, Profile, ReadError,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// A context: its function is called from a slot of its parent's, which is before it.
#[derive(Clone, Debug)]
struct Called {
    parent: Option<usize>,
    site: u32,
    function: usize,
    count: u64,
    error: u64,
    is_monitored: bool,
    /// Whether its record is named by the function, as in a library that was unloaded
    is_tagged: bool,
    /// What is not to be told of its count
    untold: u64,
    /// How much of the counter it has taken, and what is not to be told of that
    time: u64,
    untold_time: u64,
}

type Tree = Vec<Called>;

/// Activations of each function that have no context.
type Elsewhere = [u64; FUNCTIONS.len()];

/// What a program has in its memory.
#[derive(Clone, Debug)]
struct Model {
    trees: Vec<(Tree, Elsewhere)>,
    /// φ and ε, where only hot contexts are kept
    shares: Option<(f64, f64)>,
    bursts: Option<Bursts>,
    floor: u64,
    elsewhere: u64,
    is_paused: bool,
    /// Where times are taken: nanoseconds for 2^32 of the counter
    scale: Option<u64>,
}

/// Functions that there are: the place of the image, the key, and how many call sites there are.
/// That of the last one was not registered.
const FUNCTIONS: [(usize, u64, u32); 6] =
    [(0, 10, 3), (0, 11, 1), (0, 12, 40), (1, 10, 2), (1, 13, 0), (2, 14, 4)];
const SIGNATURES: [u64; 2] = [7, 5];
const UNLOADED: usize = 3;

/// How much of the counter is lost in each tree, and where there is no context.
const REMOVED_TIME: u64 = 1 << 40;
const LOST_TIME: u64 = 1 << 36;

const BASE: u64 = 0x7f12_3456_0000;

fn slots_of(function: usize) -> u32 {
    FUNCTIONS[function].2
}

/// Where the record of a function is, or was.
fn record_of(function: usize) -> u64 {
    let (image, key, _) = FUNCTIONS[function];
    0x1000_0000 * (image as u64 + 1) + 0x100 * key
}

/// What names a function in a tree whose functions have these numbers.
fn named(numbers: &mut BTreeMap<usize, u32>, function: usize) -> ContextFunction {
    let (module, key, slots) = FUNCTIONS[function];
    let next = numbers.len() as u32;
    let number = *numbers.entry(function).or_insert(next);
    match number == next {
        true => ContextFunction::New { module: module as u32, key, slots },
        false => ContextFunction::Known(number),
    }
}

impl Model {
    fn mode(&self) -> ContextMode {
        self.shares.map_or(ContextMode::All, |(phi, epsilon)| ContextMode::Hot { phi, epsilon })
    }

    fn told(&self, called: &Called) -> u64 {
        match self.shares {
            Some(_) if called.is_monitored => called.count,
            Some(_) => 0,
            None if self.is_paused => called.untold,
            None => called.count - called.untold,
        }
    }

    /// Nanoseconds of a context.
    fn time(&self, called: &Called) -> u64 {
        let counted = match (self.shares, self.is_paused) {
            (None, true) => called.untold_time,
            (None, false) => called.time - called.untold_time,
            (Some(_), _) => called.time,
        };
        self.nanoseconds(counted).unwrap_or(0)
    }

    fn nanoseconds(&self, counted: u64) -> Option<u64> {
        Some((u128::from(counted) * u128::from(self.scale?) / (1 << 32)) as u64)
    }

    /// The profile that the program would write.
    fn profile(&self) -> Profile {
        let mut file = vec![0; HEADER_SIZE];
        let mut encoder = Encoder::new(&mut file);
        for (signature, name) in SIGNATURES.iter().zip(["first", "second"]) {
            encoder.module(*signature, name.as_bytes()).unwrap();
        }
        let (mode, elsewhere) = (self.mode(), self.elsewhere);
        if elsewhere != 0 || self.scale.is_some() {
            let header = ContextsHeader {
                time: self.nanoseconds(LOST_TIME),
                mode,
                activations: elsewhere,
                elsewhere,
                bursts: self.bursts,
                ..Default::default()
            };
            encoder.contexts(&header).unwrap();
            encoder.end_contexts().unwrap();
        }
        self.trees.iter().for_each(|tree| self.write(tree, &mut encoder));
        let header = encoder.finish(if self.is_paused { FLAG_BEGAN_WITHIN } else { 0 });
        file[..HEADER_SIZE].copy_from_slice(&header);
        Profile::read(&file).unwrap()
    }

    fn write(&self, (tree, elsewhere): &(Tree, Elsewhere), encoder: &mut Encoder<&mut Vec<u8>>) {
        let is_wanted = |called: &Called| self.told(called) != 0 || self.time(called) != 0;
        let mut wanted: Vec<bool> = tree.iter().map(is_wanted).collect();
        for (index, called) in tree.iter().enumerate().rev() {
            if let (true, Some(parent)) = (wanted[index], called.parent) {
                wanted[parent] = true;
            }
        }
        let of_functions = FUNCTIONS.iter().zip(elsewhere).enumerate();
        let of_functions: Vec<_> = of_functions
            .filter(|(_, ((module, ..), count))| **count != 0 && *module < SIGNATURES.len())
            .collect();
        if !wanted.contains(&true) && of_functions.is_empty() {
            return;
        }
        let activations = tree.iter().map(|called| self.told(called)).sum();
        let floor = if self.shares.is_some() { self.floor } else { 0 };
        let header = ContextsHeader {
            time: self.nanoseconds(REMOVED_TIME),
            mode: self.mode(),
            activations,
            floor,
            bursts: self.bursts,
            has_elsewhere: !of_functions.is_empty(),
            ..Default::default()
        };
        encoder.contexts(&header).unwrap();
        let mut numbers = BTreeMap::new();
        let mut open: Vec<(Option<usize>, usize)> = vec![(None, 0)];
        let mut last = None;
        while let Some((at, depth)) = open.pop() {
            if let Some(index) = at {
                let called: &Called = &tree[index];
                if !wanted[index] || FUNCTIONS[called.function].0 >= SIGNATURES.len() {
                    continue;
                }
                let function = named(&mut numbers, called.function);
                let (count, error) = match self.shares {
                    None => (self.told(called), 0),
                    Some(_) if called.is_monitored => (called.count, called.error),
                    Some(_) => (self.floor, self.floor),
                };
                let up = last.map_or(0, |last: usize| last + 1 - depth) as u32;
                last = Some(depth);
                let counts =
                    ContextCounts { site: called.site, count, error, time: self.time(called) };
                encoder.context(up, function, &counts).unwrap();
            }
            let below = if at.is_some() { depth + 1 } else { 0 };
            let children = (0..tree.len()).filter(|&index| tree[index].parent == at);
            open.extend(children.map(|index| (Some(index), below)));
        }
        encoder.end_contexts().unwrap();
        for &(function, (_, &count)) in &of_functions {
            encoder.context_elsewhere(named(&mut numbers, function), count).unwrap();
        }
        if !of_functions.is_empty() {
            encoder.end_contexts_elsewhere().unwrap();
        }
    }

    /// The file that the program counts in.
    fn memory(&self) -> Memory {
        let mut memory = Memory::new();
        let header = memory.make(size_of::<MemoryHeader>());
        memory.bytes[..8].copy_from_slice(&MEMORY_MAGIC);
        memory.set_u32(header + offset_of!(MemoryHeader, version) as u64, MEMORY_VERSION);
        memory.set_u32(header + offset_of!(MemoryHeader, byte_order) as u64, BYTE_ORDER);
        memory.set_u32(header + offset_of!(MemoryHeader, pointer_size) as u64, 8);
        memory.set_u32(header + offset_of!(MemoryHeader, abi_version) as u64, ABI_VERSION.into());
        memory.set(header, offset_of!(MemoryHeader, base), BASE);
        memory.set(header, offset_of!(MemoryHeader, turns), self.is_paused.into());
        if let Some(Bursts { interval, length }) = self.bursts {
            memory.set(header, offset_of!(MemoryHeader, bursts), interval);
            memory.set(header, offset_of!(MemoryHeader, bursts) + 8, length);
        }
        if let Some((phi, epsilon)) = self.shares {
            memory.set(header, offset_of!(MemoryHeader, shares), phi.to_bits());
            memory.set(header, offset_of!(MemoryHeader, shares) + 8, epsilon.to_bits());
        }
        memory.set(header, offset_of!(MemoryHeader, time_scale), self.scale.unwrap_or(0));
        let images = self.add_images(&mut memory);
        memory.set(header, offset_of!(MemoryHeader, images), images[0]);
        let head = memory.make(size_of::<ContextHead>());
        memory.set(head, offset_of!(ContextHead, time), LOST_TIME);
        let node = memory.make(CONTEXT_NODE_SIZE);
        // The count is nobody's.
        memory.set(node, offset_of!(ContextNode, count), 1000);
        memory.set(node, offset_of!(ContextNode, error), self.elsewhere);
        memory.set(header, offset_of!(MemoryHeader, elsewhere), node);
        let mut next = 0;
        for tree in &self.trees {
            let context = memory.make(size_of::<Context>());
            memory.set(context, offset_of!(Context, next), next);
            let tree_address = self.add_tree(&mut memory, tree, &images, context);
            memory.set(context, offset_of!(Context, tree), tree_address);
            next = context;
        }
        memory.set(header, offset_of!(MemoryHeader, contexts), next);
        let length = memory.bytes.len() as u64;
        memory.set(header, offset_of!(MemoryHeader, length), length);
        memory
    }

    fn add_images(&self, memory: &mut Memory) -> Vec<u64> {
        let mut addresses: Vec<u64> = Vec::new();
        for (place, (signature, name)) in SIGNATURES.iter().zip(["first", "second"]).enumerate() {
            let path = memory.make(name.len());
            let at = (path - BASE) as usize;
            memory.bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
            let image = memory.make(size_of::<Image>());
            let start = 0x1000_0000 * (place as u64 + 1);
            memory.set(image, offset_of!(Image, start), start);
            memory.set(image, offset_of!(Image, stop), start + 0x1000_0000);
            memory.set(image, offset_of!(Image, signature), *signature);
            memory.set(image, offset_of!(Image, path), path);
            memory.set(image, offset_of!(Image, path_len), name.len() as u64);
            if let Some(&last) = addresses.last() {
                memory.set(last, offset_of!(Image, next), image);
            }
            addresses.push(image);
        }
        addresses
    }

    fn add_tree(
        &self,
        memory: &mut Memory,
        (tree, elsewhere): &(Tree, Elsewhere),
        images: &[u64],
        context: u64,
    ) -> u64 {
        let mut functions: Vec<u64> = Vec::new();
        for (index, &(image, key, slots)) in FUNCTIONS.iter().enumerate() {
            let function = memory.make(size_of::<CalledFunction>());
            let before = functions.last().copied().unwrap_or(0);
            memory.set(function, offset_of!(CalledFunction, before), before);
            if index == UNLOADED {
                memory.set(function, offset_of!(CalledFunction, image), images[image]);
            } else {
                memory.set(function, offset_of!(CalledFunction, record), record_of(index));
            }
            memory.set(function, offset_of!(CalledFunction, key), key);
            memory.set(function, offset_of!(CalledFunction, elsewhere), elsewhere[index]);
            memory.set_u32(function + offset_of!(CalledFunction, slots) as u64, slots);
            functions.push(function);
        }
        let root = memory.make_node(1);
        memory.set(root, offset_of!(ContextNode, parent), root);
        let mut nodes: Vec<u64> = Vec::new();
        for called in tree {
            let head = memory.make(size_of::<ContextHead>());
            memory.set(head, offset_of!(ContextHead, time), called.time);
            let node = memory.make_node(slots_of(called.function));
            let is_tagged = called.is_tagged || called.function == UNLOADED;
            let record = match is_tagged {
                true => functions[called.function] + IS_FUNCTION as u64,
                false => record_of(called.function),
            };
            memory.set(node, offset_of!(ContextNode, record), record);
            memory.set(node, offset_of!(ContextNode, count), called.count);
            memory.set(node, offset_of!(ContextNode, error), called.error);
            let monitored = if called.is_monitored { MONITORED } else { 0 };
            memory.set_u16(
                node + offset_of!(ContextNode, site) as u64,
                called.site as u16 | monitored,
            );
            let parent = called.parent.map_or(root, |parent| nodes[parent]);
            memory.set(node, offset_of!(ContextNode, parent), parent);
            memory.put_in_ring(parent, called.site, node);
            nodes.push(node);
        }
        let entries: Vec<u64> = nodes
            .iter()
            .zip(tree)
            .filter_map(|(&node, called)| called.is_monitored.then_some(node))
            .collect();
        let array = memory.make(8 * entries.len());
        for (index, &entry) in entries.iter().enumerate() {
            memory.set(array, 8 * index, entry);
        }
        let monitored = memory.make(size_of::<Monitored>());
        memory.set(monitored, offset_of!(Monitored, nodes), array);
        memory.set(monitored, offset_of!(Monitored, len), entries.len() as u64);
        let baselines = self.add_baselines(memory, tree, &nodes);
        memory.set(context, offset_of!(Context, baselines), baselines);
        let address = memory.make(size_of::<ContextTree>());
        memory.set(address, offset_of!(ContextTree, root), root);
        memory.set(address, offset_of!(ContextTree, functions), functions[functions.len() - 1]);
        memory.set(address, offset_of!(ContextTree, monitored), monitored);
        memory.set(address, offset_of!(ContextTree, floor), self.floor);
        memory.set(address, offset_of!(ContextTree, removed_time), REMOVED_TIME);
        address
    }

    fn add_baselines(&self, memory: &mut Memory, tree: &Tree, nodes: &[u64]) -> u64 {
        let number = 2 * nodes.len();
        let size = size_of::<BaselineTable>() + number * size_of::<Baseline>();
        let table = memory.make(size);
        memory.set(table, offset_of!(BaselineTable, size), number as u64);
        let counters = tree
            .iter()
            .zip(nodes)
            .flat_map(|(called, &node)| [(node, 0, called.untold), (node, 1, called.untold_time)]);
        for (index, (node, label, untold)) in counters.enumerate() {
            let entry = table + (size_of::<BaselineTable>() + index * size_of::<Baseline>()) as u64;
            memory.set(entry, offset_of!(Baseline, owner), node);
            memory.set_u32(entry + offset_of!(Baseline, label) as u64, label);
            let which = if self.is_paused { 8 } else { 0 };
            memory.set(entry, offset_of!(Baseline, numbers) + which, untold);
        }
        let baselines = memory.make(size_of::<Baselines>());
        memory.set(baselines, offset_of!(Baselines, table), table);
        baselines
    }
}

/// A file that is being made.
struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    fn make(&mut self, size: usize) -> u64 {
        let at = self.bytes.len();
        self.bytes.resize((at + size).next_multiple_of(16), 0);
        BASE + at as u64
    }

    fn make_node(&mut self, slots: u32) -> u64 {
        let node = self.make(CONTEXT_NODE_SIZE + 8 * slots as usize);
        self.set_u16(node + offset_of!(ContextNode, slots) as u64, slots as u16);
        self.set(node, offset_of!(ContextNode, next), node);
        for slot in 0..slots {
            self.set(node, context_slot_offset(slot), node + EMPTY as u64);
        }
        node
    }

    /// Which one the slot leads to does not matter.
    fn put_in_ring(&mut self, parent: u64, site: u32, node: u64) {
        let slot = context_slot_offset(site);
        let other = self.get(parent, slot);
        if other != parent + EMPTY as u64 {
            let next = offset_of!(ContextNode, next);
            let after = self.get(other, next);
            self.set(node, next, after);
            self.set(other, next, node);
            if node & 16 == 0 {
                return;
            }
        }
        self.set(parent, slot, node);
    }

    fn at(&self, address: u64, offset: usize) -> usize {
        (address - BASE) as usize + offset
    }

    fn get(&self, address: u64, offset: usize) -> u64 {
        let at = self.at(address, offset);
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    fn set(&mut self, address: u64, offset: usize, value: u64) {
        let at = self.at(address, offset);
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn set_u32(&mut self, address: u64, value: u32) {
        let at = self.at(address, 0);
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn set_u16(&mut self, address: u64, value: u16) {
        let at = self.at(address, 0);
        self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn header(&self, offset: usize) -> u64 {
        self.get(BASE, offset)
    }

    fn first_tree(&self) -> u64 {
        self.get(self.header(offset_of!(MemoryHeader, contexts)), offset_of!(Context, tree))
    }

    fn root(&self) -> u64 {
        self.get(self.first_tree(), offset_of!(ContextTree, root))
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let step = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..FUNCTIONS.len(),
        prop_oneof![Just(0u64), 0u64..1000],
        0u64..50,
        any::<[bool; 2]>(),
        0u64..1000,
    );
    prop::collection::vec(step, 0..if cfg!(miri) { 10 } else { 40 }).prop_map(|steps| {
        let mut tree = Tree::new();
        for (parent, site, function, count, error, [is_monitored, is_tagged], untold) in steps {
            let callers = (0..tree.len()).filter(|&index| slots_of(tree[index].function) != 0);
            let callers: Vec<Option<usize>> =
                std::iter::once(None).chain(callers.map(Some)).collect();
            let parent = callers[parent.index(callers.len())];
            let sites = parent.map_or(1, |parent| slots_of(tree[parent].function));
            let site = site.index(sites as usize) as u32;
            let is_it = |other: &Called| {
                (other.parent, other.site, other.function) == (parent, site, function)
            };
            if tree.iter().any(is_it) {
                continue;
            }
            let (count, untold) = (count + error, untold.min(count));
            tree.push(Called {
                parent,
                site,
                function,
                count,
                error,
                is_monitored,
                is_tagged,
                untold,
                time: count << 33,
                untold_time: untold << 32,
            });
        }
        tree
    })
}

fn models() -> impl Strategy<Value = Model> {
    let shares = prop_oneof![Just(None), Just(Some((0.25, 0.125)))];
    let bursts = prop_oneof![Just(None), Just(Some(Bursts { interval: 9, length: 2 }))];
    let rest = (0u64..9, 0u64..3, any::<bool>());
    let scale = prop_oneof![Just(None), (1u64..1 << 33).prop_map(Some)];
    let elsewhere = prop::array::uniform(prop_oneof![Just(0u64), 0u64..100]);
    (prop::collection::vec((trees(), elsewhere), 0..4), shares, bursts, rest, scale).prop_map(
        |(trees, shares, bursts, (floor, elsewhere, is_paused), scale)| {
            let is_paused = is_paused && shares.is_none();
            Model { trees, shares, bursts, floor, elsewhere, is_paused, scale }
        },
    )
}

proptest! {
    #[test]
    fn any_trees_are_read_as_the_profile_that_would_be_written(model in models()) {
        let found = Profile::read(&model.memory().bytes).unwrap();
        prop_assert_eq!(found, model.profile());
    }

    #[test]
    fn damaged_memory_is_an_error_or_a_profile(
        model in models(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u64>(), 0u64..9]),
            0..6,
        ),
        moves in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..6),
    ) {
        let mut file = model.memory().bytes;
        let words: Vec<usize> =
            (0..file.len() / 8).filter(|&w| file[8 * w..8 * w + 8] != [0; 8]).collect();
        for (at, word) in changes {
            let at = 8 * words[at.index(words.len())];
            file[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        // Addresses in the place of others lead in circles.
        for pair in moves {
            let [from, to] = pair.map(|at| 8 * words[at.index(words.len())]);
            file.copy_within(from..from + 8, to);
        }
        let _ = Profile::read(&file);
    }

    #[test]
    fn a_file_that_ends_early_is_refused(model in models(), at in any::<prop::sample::Index>()) {
        let file = model.memory().bytes;
        prop_assert!(Profile::read(&file[..at.index(file.len())]).is_err());
    }
}

/// `depth` contexts below each other, of a function that calls itself.
fn chain(depth: usize, shares: Option<(f64, f64)>) -> Model {
    let called = |index: usize| Called {
        parent: index.checked_sub(1),
        site: if index == 0 { 0 } else { 1 },
        function: 0,
        count: 1,
        error: 0,
        is_monitored: true,
        is_tagged: false,
        untold: 0,
        time: 0,
        untold_time: 0,
    };
    let tree = (0..depth).map(called).collect();
    Model {
        trees: vec![(tree, [0; FUNCTIONS.len()])],
        shares,
        bursts: None,
        floor: 0,
        elsewhere: 0,
        is_paused: false,
        scale: None,
    }
}

fn problem(memory: &Memory) -> (&'static str, &'static str) {
    match Profile::read(&memory.bytes) {
        Err(ReadError::Malformed(malformed)) => (malformed.what, malformed.problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_leads_in_circles_is_refused() {
    let model = chain(3, None);
    let twice = |what| (what, "is reached more than once");
    let slot = context_slot_offset;
    let (tree, root) = (model.memory().first_tree(), model.memory().root());
    let first = model.memory().get(root, slot(0));
    let second = model.memory().get(first, slot(1));
    // The parent of all roots, which is its own parent, as a root
    let mut memory = model.memory();
    memory.set(root, slot(0), root);
    assert!([twice("a context"), twice("the call sites of a context")].contains(&problem(&memory)));
    // A ring that does not come back to where it was entered
    let mut siblings = model.clone();
    let sibling = Called { function: 1, ..siblings.trees[0].0[1].clone() };
    siblings.trees[0].0.push(sibling);
    let mut memory = siblings.memory();
    let one = memory.get(first, slot(1));
    let other = memory.get(one, offset_of!(ContextNode, next));
    assert_eq!(memory.get(other, offset_of!(ContextNode, next)), one);
    memory.set(other, offset_of!(ContextNode, next), other);
    assert!([twice("a context"), twice("the call sites of a context")].contains(&problem(&memory)));
    // A slot that leads to what is above it, or to what another one leads to
    let elsewhere = ("a context", "was not called from there");
    for (node, number, target) in [(second, 1, first), (second, 1, second), (first, 0, second)] {
        let mut memory = model.memory();
        memory.set(node, slot(number), target);
        assert_eq!(problem(&memory), elsewhere);
    }
    let mut memory = model.memory();
    memory.set(second, offset_of!(ContextNode, next), first);
    assert_eq!(problem(&memory), elsewhere);
    // A list of functions that comes back
    let mut memory = model.memory();
    let functions = memory.get(tree, offset_of!(ContextTree, functions));
    memory.set(functions, offset_of!(CalledFunction, before), functions);
    assert_eq!(problem(&memory), twice("a function of contexts"));
}

#[test]
fn what_leads_out_of_the_file_is_refused() {
    let outside = |what| (what, "is not within the file");
    let model = chain(3, Some((0.25, 0.125)));
    let (tree, root) = (model.memory().first_tree(), model.memory().root());
    let monitored = model.memory().get(tree, offset_of!(ContextTree, monitored));
    let end = BASE + model.memory().bytes.len() as u64;
    for wrong in [8, BASE - 16, end, end - 8, u64::MAX, u64::MAX - 15] {
        let changed = |address: u64, offset: usize| {
            let mut memory = model.memory();
            memory.set(address, offset, wrong);
            problem(&memory)
        };
        assert_eq!(changed(tree, offset_of!(ContextTree, root)), outside("a context"));
        assert_eq!(changed(root, context_slot_offset(0)), outside("a context"));
        let functions = changed(tree, offset_of!(ContextTree, functions));
        assert_eq!(functions, outside("a function of contexts"));
        let array = changed(tree, offset_of!(ContextTree, monitored));
        assert_eq!(array, outside("the monitored contexts"));
        let nodes = changed(monitored, offset_of!(Monitored, nodes));
        assert_eq!(nodes, outside("the monitored contexts"));
        let elsewhere = changed(BASE, offset_of!(MemoryHeader, elsewhere));
        assert_eq!(elsewhere, outside("the node without a context"));
        let array = model.memory().get(monitored, offset_of!(Monitored, nodes));
        assert_eq!(changed(array, 0), outside("a monitored context"));
    }
    for len in [1 << 20, u64::MAX, u64::MAX / 8] {
        let mut memory = model.memory();
        memory.set(monitored, offset_of!(Monitored, len), len);
        assert_eq!(problem(&memory), outside("the monitored contexts"));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let model = chain(3, Some((0.25, 0.125)));
    for (index, share) in [(0, 1.5), (0, f64::NAN), (1, -1.0), (1, f64::INFINITY)] {
        let mut memory = model.memory();
        memory.set(BASE, offset_of!(MemoryHeader, shares) + 8 * index, f64::to_bits(share));
        assert_eq!(problem(&memory), ("a share of activations", "is not from 0 to 1"));
    }
    for (interval, length) in [(5, 0), (5, 5), (5, 6)] {
        let mut memory = model.memory();
        memory.set(BASE, offset_of!(MemoryHeader, bursts), interval);
        memory.set(BASE, offset_of!(MemoryHeader, bursts) + 8, length);
        let expected = ("the length of bursts", "is 0, or not below their interval");
        assert_eq!(problem(&memory), expected);
    }
    // More call sites than the function has
    let mut memory = model.memory();
    let functions = memory.get(memory.first_tree(), offset_of!(ContextTree, functions));
    let mut function = functions;
    while memory.get(function, offset_of!(CalledFunction, record)) != record_of(0) {
        function = memory.get(function, offset_of!(CalledFunction, before));
    }
    memory.set_u32(function + offset_of!(CalledFunction, slots) as u64, 1);
    let expected = ("a context's call site", "is not in the function above");
    assert_eq!(problem(&memory), expected);
    // A thread that knows the function otherwise than another does
    let mut two = model.clone();
    two.trees.push(two.trees[0].clone());
    let mut memory = two.memory();
    let mut function = memory.get(memory.first_tree(), offset_of!(ContextTree, functions));
    while memory.get(function, offset_of!(CalledFunction, record)) != record_of(0) {
        function = memory.get(function, offset_of!(CalledFunction, before));
    }
    memory.set_u32(function + offset_of!(CalledFunction, slots) as u64, 5);
    let expected = ("the number of a function's call sites", "is another elsewhere");
    assert_eq!(problem(&memory), expected);
    // Counts that do not fit
    let mut memory = chain(3, None).memory();
    let first = memory.get(memory.root(), context_slot_offset(0));
    memory.set(first, offset_of!(ContextNode, count), u64::MAX);
    assert!(matches!(Profile::read(&memory.bytes), Err(ReadError::ContextOverflow(_))));
}

#[test]
fn zeroes_were_not_written_yet() {
    let model = chain(4, None);
    let mut memory = model.memory();
    let first = memory.get(memory.root(), context_slot_offset(0));
    let second = memory.get(first, context_slot_offset(1));
    memory.set(second, context_slot_offset(1), 0);
    let profile = Profile::read(&memory.bytes).unwrap();
    assert_eq!(profile.contexts.unwrap().total(), 2);
    memory.set(second, offset_of!(ContextNode, record), 0);
    let profile = Profile::read(&memory.bytes).unwrap();
    assert_eq!(profile.contexts.unwrap().total(), 1);
    let tree = memory.first_tree();
    memory.set(tree, offset_of!(ContextTree, root), 0);
    assert_eq!(Profile::read(&memory.bytes).unwrap().contexts, None);
}

#[test]
fn deep_trees_are_read_in_no_time() {
    let start = Instant::now();
    let nodes = if cfg!(miri) { 1_000 } else { 200_000 };
    let memory = chain(nodes, None).memory();
    let profile = Profile::read(&memory.bytes).unwrap();
    assert_eq!(profile.contexts.unwrap().len(), nodes);
    assert!(cfg!(miri) || start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
