//! Tables of random graphs, whole and damaged.

use midflight_profile::forest::PrefixForest;
use midflight_profile::table::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A way out of a block: to a later block, on a cut edge to any block, or for good.
#[derive(Clone, Copy, Debug)]
enum Way {
    Flow(u32),
    Cut(u32, CutReason),
    Exit,
}

const REASONS: [CutReason; 4] =
    [CutReason::Retreating, CutReason::Bound, CutReason::Unsplittable, CutReason::Restart];

/// Random ways out of each of some blocks: acyclic but for cut edges, each target once, and never
/// none. The order of the blocks is then changed at random.
fn graphs() -> impl Strategy<Value = Vec<Vec<Way>>> {
    let way = (any::<prop::sample::Index>(), 0u8..12);
    let blocks = prop::collection::vec(prop::collection::vec(way, 0..4), 1..9);
    let shuffled = blocks.prop_flat_map(|blocks| {
        let names: Vec<u32> = (0..blocks.len() as u32).collect();
        (Just(blocks), Just(names).prop_shuffle())
    });
    shuffled.prop_map(|(blocks, names)| {
        let mut graph = vec![Vec::new(); blocks.len()];
        for (block, ways) in blocks.iter().enumerate() {
            graph[names[block] as usize] = choose_ways(block, ways, &names);
        }
        graph
    })
}

fn choose_ways(block: usize, raw: &[(prop::sample::Index, u8)], names: &[u32]) -> Vec<Way> {
    let mut taken = BTreeSet::new();
    let mut ways = Vec::new();
    for &(index, kind) in raw {
        let target = index.index(names.len());
        let way = match kind {
            0 => Way::Exit,
            1..=4 => Way::Cut(names[target], REASONS[usize::from(kind) - 1]),
            _ if target > block => Way::Flow(names[target]),
            _ => continue,
        };
        let key = if let Way::Exit = way { None } else { Some(target) };
        if taken.insert(key) {
            ways.push(way);
        }
    }
    if ways.is_empty() {
        ways.push(Way::Exit);
    }
    ways
}

/// Algorithm 3, by recursion: numPaths of a block.
fn num_paths(graph: &[Vec<Way>], block: u32) -> u32 {
    graph[block as usize].iter().map(|&way| paths_through(graph, way)).sum()
}

fn paths_through(graph: &[Vec<Way>], way: Way) -> u32 {
    if let Way::Flow(to) = way { num_paths(graph, to) } else { 1 }
}

fn table_of(graph: &[Vec<Way>]) -> FunctionTable {
    let mut edges = Vec::new();
    let mut total = num_paths(graph, 0);
    for (from, ways) in (0..).zip(graph) {
        let mut value = 0;
        for &way in ways {
            edges.push(match way {
                Way::Flow(to) => Edge::Flow { from, to, value },
                Way::Exit => Edge::Exit { from, value },
                Way::Cut(to, why) => {
                    let start = total;
                    total += num_paths(graph, to);
                    Edge::Cut { from, to, end: value, start, why }
                }
            });
            value += paths_through(graph, way);
        }
    }
    let loc = |line: u32| Loc { file: line % 2, line, outer_line: line ^ 5 };
    FunctionTable {
        key: 0,
        cfg_hash: 0x0123_4567_89ab_cdef,
        k: 8,
        num_paths: total,
        stage: Stage::Early,
        mode: Mode::Automaton,
        llvm: 22,
        name: "größe".into(),
        unit: "a.c".into(),
        files: vec!["a.c".into(), "/inc/b.h".into()],
        file: 0,
        line: 40,
        blocks: (0..graph.len() as u32)
            .map(|b| Block {
                instructions: 1 << (b % 32),
                calls: b % 2 == 1,
                locs: (0..b % 3).map(|i| loc(100 - 7 * b + i)).collect(),
            })
            .collect(),
        edges,
    }
}

/// All paths through the numbered graph, by ID: followed forwards, as a program would.
fn all_paths(table: &FunctionTable) -> BTreeMap<u32, Vec<Path>> {
    let mut found: BTreeMap<u32, Vec<Path>> = BTreeMap::new();
    let mut work = vec![(0, PathStart::Entry, vec![0])];
    for (index, edge) in table.edges.iter().enumerate() {
        if let Edge::Cut { to, start, .. } = *edge {
            work.push((start, PathStart::After(index), vec![to]));
        }
    }
    while let Some((id, start, blocks)) = work.pop() {
        let last = *blocks.last().unwrap();
        for (index, edge) in table.edges.iter().enumerate().filter(|(_, e)| e.from() == last) {
            let (value, end) = match *edge {
                Edge::Flow { to, value, .. } => {
                    work.push((id + value, start, [&blocks[..], &[to]].concat()));
                    continue;
                }
                Edge::Cut { end, .. } => (end, PathEnd::Cut(index)),
                Edge::Exit { value, .. } => (value, PathEnd::Exit(last)),
            };
            let path = Path { start, blocks: blocks.clone(), end };
            found.entry(id + value).or_default().push(path);
        }
    }
    found
}

/// A loop: 0 → 1, 1 → 2 or 3, 2 ⟲ 1, with 3 the way out. Paths: 0 is 0 1 2⟲, 1 is 0 1 3; 2 and 3
/// are the same from the loop's head.
fn loop_table() -> FunctionTable {
    let why = CutReason::Retreating;
    table_of(&[
        vec![Way::Flow(1)],
        vec![Way::Flow(2), Way::Flow(3)],
        vec![Way::Cut(1, why)],
        vec![Way::Exit],
    ])
}

fn decoded(table: &FunctionTable) -> FunctionTable {
    let (mut back, _) = FunctionTable::decode(&table.encode()).unwrap();
    back.key = table.key;
    back
}

fn kind_of(table: &FunctionTable) -> TableErrorKind {
    FunctionTable::decode(&table.encode()).unwrap_err().kind
}

fn numbering_error(change: impl FnOnce(&mut FunctionTable)) -> NumberingError {
    let mut table = loop_table();
    change(&mut table);
    match kind_of(&table) {
        TableErrorKind::Numbering { function, error } if function == "größe" => error,
        other => panic!("{other}"),
    }
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Automaton), Just(Mode::Counting), Just(Mode::Published)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 400 / 256))]

    /// Thesis 3.2.2: the IDs are 0 to N − 1, each that of one path, and no path is without one.
    #[test]
    fn ids_and_paths_are_in_bijection(graph in graphs()) {
        let table = table_of(&graph);
        let decoder = PathDecoder::new(&table).unwrap();
        let paths = all_paths(&table);
        prop_assert_eq!(paths.len(), table.num_paths as usize);
        for (id, paths) in paths {
            prop_assert_eq!(decoder.decode(id), Some(paths[0].clone()));
            prop_assert_eq!(paths.len(), 1);
            prop_assert_eq!(decoder.ends(id), Some((paths[0].start, paths[0].end)));
        }
        prop_assert_eq!(decoder.decode(table.num_paths), None);
        prop_assert_eq!(decoder.decode(u32::MAX), None);
    }

    #[test]
    fn tables_survive(graph in graphs(), mode in modes(), stage in prop::sample::select(Stage::ALL.to_vec()), k in 1u32..=64, line: u32) {
        let table = FunctionTable { mode, k, line, stage, ..table_of(&graph) };
        prop_assert_eq!(decoded(&table), table);
    }

    /// Algorithm 3 leaves no choice: with one value changed it is not its numbering.
    #[test]
    fn a_wrong_value_is_an_error(graph in graphs(), at: prop::sample::Index, wrong: u32) {
        let mut table = table_of(&graph);
        let edge = at.index(table.edges.len());
        let value = match &mut table.edges[edge] {
            Edge::Flow { value, .. } | Edge::Exit { value, .. } => value,
            Edge::Cut { end, start, .. } => if wrong % 2 == 0 { end } else { start },
        };
        prop_assume!(*value != wrong);
        *value = wrong;
        let is_wrong = matches!(kind_of(&table), TableErrorKind::Numbering { .. });
        prop_assert!(is_wrong);
    }

    /// Fields of damaged records with keys that match: an error or another table, never a panic.
    #[test]
    fn forged_records_do_no_harm(
        graph in graphs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut record = table_of(&graph).encode();
        for (at, byte) in changes {
            let at = at.index(record.len());
            record[at] = byte;
        }
        let key = key_of(&record);
        record[8..16].copy_from_slice(&key.to_le_bytes());
        if let Ok((table, _)) = FunctionTable::decode(&record) {
            prop_assert!(PathDecoder::new(&table).is_ok());
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_section(&bytes);
    }
}

#[test]
fn a_section_is_read_over_its_padding() {
    let (a, b) = (loop_table(), table_of(&[vec![Way::Exit]]));
    let section = [&[0; 16][..], &a.encode(), &[0; 8], &b.encode(), &[0; 24]].concat();
    let tables = read_section(&section).unwrap().paths;
    assert_eq!(tables.iter().map(|t| t.num_paths).collect::<Vec<_>>(), [4, 1]);
    assert_eq!(tables[0].key, key_of(&a.encode()));
    assert_ne!(tables[0].key, tables[1].key);
}

#[test]
fn every_bit_flip_and_every_truncation_of_a_record_is_an_error() {
    let record = loop_table().encode();
    for bit in 0..8 * record.len() {
        let mut flipped = record.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(read_section(&flipped).is_err(), "bit {bit}");
    }
    for len in 1..record.len() {
        assert!(read_section(&record[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn errors_tell_where_the_record_is_and_what_is_wrong() {
    let mut section = [loop_table().encode(), loop_table().encode()].concat();
    let second = section.len() / 2;
    section[second + 4] = 9;
    let error = read_section(&section).unwrap_err();
    assert_eq!(error.offset, second);
    assert_eq!(
        error.kind,
        TableErrorKind::Damaged(Damage::Version { found: 9, known: midflight_abi::ABI_VERSION })
    );
    assert!(error.to_string().starts_with(&format!("the table at byte {second} ")));
}

#[test]
fn each_way_to_be_no_numbering_has_its_error() {
    use NumberingError as E;
    let flow = |from, to, value| Edge::Flow { from, to, value };
    assert_eq!(numbering_error(|t| t.blocks.clear()), E::NoBlocks);
    assert_eq!(numbering_error(|t| t.edges[0] = flow(0, 9, 0)), E::NoSuchBlock(0));
    assert_eq!(numbering_error(|t| t.edges[2] = flow(1, 2, 1)), E::Twice(2));
    assert_eq!(numbering_error(|t| t.edges[3] = flow(2, 1, 0)), E::Cycle(1));
    assert_eq!(numbering_error(|t| t.edges.truncate(4)), E::DeadEnd(3));
    let value = E::Value { edge: 2, expected: 1, found: 2 };
    assert_eq!(numbering_error(|t| t.edges[2] = flow(1, 3, 2)), value);
    assert_eq!(numbering_error(|t| t.num_paths = 5), E::NumPaths { expected: 4, found: 5 });
}

/// A chain of diamonds doubles the paths with each: 32 of them have more than IDs can tell.
#[test]
fn more_paths_than_ids_are_an_error() {
    let mut table = table_of(&[vec![Way::Exit]]);
    let diamonds = 32;
    table.blocks = vec![Block::default(); 3 * diamonds + 1];
    table.edges.clear();
    for diamond in 0..diamonds as u32 {
        let (top, paths) = (3 * diamond, 1u64 << (31 - diamond));
        let value = paths as u32;
        table.edges.extend([
            Edge::Flow { from: top, to: top + 1, value: 0 },
            Edge::Flow { from: top, to: top + 2, value },
            Edge::Flow { from: top + 1, to: top + 3, value: 0 },
            Edge::Flow { from: top + 2, to: top + 3, value: 0 },
        ]);
    }
    table.edges.push(Edge::Exit { from: 3 * diamonds as u32, value: 0 });
    assert_eq!(PathDecoder::new(&table).unwrap_err(), NumberingError::TooManyPaths);
}

#[test]
fn files_and_k_must_be_in_range() {
    let change = |change: fn(&mut FunctionTable)| {
        let mut table = loop_table();
        change(&mut table);
        kind_of(&table)
    };
    let file = |file| TableErrorKind::File { function: "größe".into(), file, files: 2 };
    assert_eq!(change(|t| t.file = 2), file(2));
    assert_eq!(change(|t| t.blocks[1].locs[0].file = 7), file(7));
    assert_eq!(change(|t| t.k = 0), TableErrorKind::K(0));
    assert_eq!(change(|t| t.k = 65), TableErrorKind::K(65));
}

fn forest_of(sequences: &[&[u32]]) -> PrefixForest {
    let mut forest = PrefixForest::new();
    for sequence in sequences {
        sequence.iter().fold(None, |at, &id| Some(forest.child_or_insert(at, id)));
    }
    forest
}

#[test]
fn a_path_must_begin_where_the_one_before_it_ended() {
    let mut table = loop_table();
    let decoder = PathDecoder::new(&table).unwrap();
    let paths: Vec<Vec<u32>> = (0..4).map(|id| decoder.decode(id).unwrap().blocks).collect();
    assert_eq!(paths, [&[0, 1, 2][..], &[0, 1, 3], &[1, 2], &[1, 3]]);
    // In through the entry, around, and out; or a chunk that begins in mid-loop.
    assert_eq!(table.check_forest(&forest_of(&[&[0, 2, 2, 3], &[2, 3], &[1]])), Ok(()));
    let not_connected = |parent, child| Err(ForestMismatch::NotConnected { parent, child });
    assert_eq!(table.check_forest(&forest_of(&[&[1, 2]])), not_connected(1, 2));
    assert_eq!(table.check_forest(&forest_of(&[&[0, 1]])), not_connected(0, 1));
    let none = ForestMismatch::NoSuchPath { id: 4, last: 3 };
    assert_eq!(table.check_forest(&forest_of(&[&[0, 4]])), Err(none));
    // After a restart the stream is another one.
    let Edge::Cut { why, .. } = &mut table.edges[3] else { panic!() };
    *why = CutReason::Restart;
    assert_eq!(table.check_forest(&forest_of(&[&[0, 2]])), not_connected(0, 2));
    assert_eq!(table.check_forest(&forest_of(&[&[0], &[2]])), Ok(()));
}

#[test]
fn a_forest_is_no_deeper_than_k_allows() {
    let table = FunctionTable { k: 2, ..loop_table() };
    assert_eq!(table.check_forest(&forest_of(&[&[2, 2]])), Ok(()));
    let deep = forest_of(&[&[2, 2, 2]]);
    let too_deep = |found, most| Err(ForestMismatch::TooDeep { found, most });
    assert_eq!(table.check_forest(&deep), too_deep(3, 2));
    let counting = FunctionTable { mode: Mode::Counting, ..table };
    assert_eq!(counting.check_forest(&deep), too_deep(2, 1));
}
