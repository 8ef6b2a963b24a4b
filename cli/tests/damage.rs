//! Whatever stands in binaries and profiles: an answer or an error, never a panic.

mod context_support;
mod support;

use midflight_cli::analysis::rank::rank;
use midflight_cli::commands::report::contexts;
use midflight_cli::commands::report::text::{self, Options};
use midflight_cli::commands::{check, compare, export, show};
use midflight_cli::document::{ContextDocument, ContextExtent, Extent, Pruning, Shape, document};
use midflight_cli::format::json::{write_line, write_rows};
use midflight_cli::input::binary::Image;
use midflight_cli::input::session::{JoinError, Session};
use midflight_cli::input::sources::Sources;
use midflight_profile::format::HEADER_SIZE;
use midflight_profile::table::{Block, ContextTable, CutReason, Edge, FunctionTable, Loc, Stage};
use proptest::prelude::*;
use std::path::Path;
use support::{bar, elf, idle, profile, section, streams, sum};

/// Everything that a binary and a profile are used for.
fn use_all(binary: &Path, profile: &Path) -> Result<(), JoinError> {
    if let Ok(image) = Image::open(binary) {
        let tables: Vec<&FunctionTable> = image.tables.iter().collect();
        let sites: Vec<&ContextTable> = image.contexts.iter().collect();
        show::tables::write(&mut std::io::sink(), &tables, &sites).unwrap();
        write_line(&mut std::io::sink(), &show::tables::document(&tables, &sites)).unwrap();
    }
    let session = Session::open(&[binary.into()], &[profile.into()], &|_| {})?;
    let functions = session.functions()?;
    use_contexts(&session)?;
    let forest = show::json::document(session.profile.k, &functions);
    write_rows(&mut std::io::sink(), &forest).unwrap();
    show::text::write(&mut std::io::sink(), &functions).unwrap();
    write_line(&mut std::io::sink(), &show::edges::document(&functions)).unwrap();
    show::edges::write(&mut std::io::sink(), &functions).unwrap();
    export::lcov::write(&mut std::io::sink(), &functions).unwrap();
    let mut sources = Sources::new(Vec::new(), true);
    for (tree, flat) in [(false, false), (true, false), (false, true)] {
        let pruning = if tree { Pruning::ByCount } else { Pruning::ByWork };
        let extent = Extent { top: 100, sequences: 5, pruning, flat, ..Extent::default() };
        let document = document("".into(), &session, &functions, &extent, &mut sources, &|_| {});
        let options = Options { loops: 5, legend: true };
        text::report("title", &document, &extent, &options, &mut sources);
    }
    let findings = check::check(&functions, session.profile.flags);
    check::text::write(&mut std::io::sink(), &findings).unwrap();
    export::sample_profile::write(&mut std::io::sink(), &functions).unwrap();
    let extent = Extent { top: 100, sequences: 5, ..Extent::default() };
    let document = document("prog".into(), &session, &functions, &extent, &mut sources, &|_| {});
    export::dot::write(&mut std::io::sink(), &document).unwrap();
    export::svg::write(&mut std::io::sink(), &document).unwrap();
    export::html::write(&mut std::io::sink(), &document).unwrap();
    export::folded::write(&mut std::io::sink(), &document).unwrap();
    write_line(&mut std::io::sink(), &document).unwrap();
    let ranked = rank(&functions, None);
    let pairs = compare::pairs::pairs(&ranked, &ranked);
    let options = compare::diff::Options { paths: 5, function: None };
    assert!(compare::diff::diff(&pairs, &options).is_empty(), "it does not differ from itself");
    compare::overlap::overlap(&pairs);
    Ok(())
}

/// Everything that calling contexts are used for.
fn use_contexts(session: &Session) -> Result<(), JoinError> {
    for shape in [Shape::Tree, Shape::ByFunction, Shape::Callers(0), Shape::Callers(3)] {
        let Some(joined) = session.contexts()? else { return Ok(()) };
        let mut document = ContextDocument::of("prog".into(), session, joined, shape, None);
        if shape == Shape::Tree {
            export::callgrind::write(&mut std::io::sink(), &document).unwrap();
            export::pprof::write(&mut std::io::sink(), &document).unwrap();
            export::folded::write_contexts(&mut std::io::sink(), &document).unwrap();
            export::html_calls::write(&mut std::io::sink(), &document).unwrap();
            export::svg::write_contexts(&mut std::io::sink(), &document).unwrap();
        }
        show::contexts::write(&mut std::io::sink(), &document).unwrap();
        write_line(&mut std::io::sink(), &document.json()).unwrap();
        let extent = ContextExtent { measure: None, min_percent: 5.0, in_any_case: 2, top: 3 };
        document.cut(&extent, |called| called.readable().contains('a'));
        contexts::report("title", &document, true);
    }
    Ok(())
}

fn use_bytes(binary: &[u8], profile: &[u8]) -> Result<(), JoinError> {
    let folder = tempfile::tempdir().unwrap();
    let (at, of) = (folder.path().join("prog"), folder.path().join("prog.mfp"));
    std::fs::write(&at, binary).unwrap();
    std::fs::write(&of, profile).unwrap();
    use_all(&at, &of)
}

/// A change of a file: some bytes replaced, and perhaps the end cut off.
type Damage = (Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>);

fn damage() -> impl Strategy<Value = Damage> {
    (
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        any::<Option<prop::sample::Index>>(),
    )
}

fn damaged(mut bytes: Vec<u8>, (changes, end): Damage) -> Vec<u8> {
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = byte;
    }
    if let Some(end) = end {
        bytes.truncate(end.index(bytes.len() + 1));
    }
    bytes
}

fn edges(blocks: u32) -> impl Strategy<Value = Edge> {
    let block = move || 0..blocks;
    let value = || prop_oneof![0u32..8, any::<u32>()];
    let why = prop_oneof![
        Just(CutReason::Retreating),
        Just(CutReason::Bound),
        Just(CutReason::Unsplittable),
        Just(CutReason::Restart)
    ];
    prop_oneof![
        (block(), block(), value()).prop_map(|(from, to, value)| Edge::Flow { from, to, value }),
        (block(), value()).prop_map(|(from, value)| Edge::Exit { from, value }),
        (block(), block(), value(), value(), why)
            .prop_map(|(from, to, end, start, why)| Edge::Cut { from, to, end, start, why }),
    ]
}

prop_compose! {
    /// Tables with right keys that make no sense, or nearly do.
    fn tables()(
        blocks in 1u32..6,
    )(
        edges in prop::collection::vec(edges(blocks), 0..9),
        changes in prop::collection::vec((any::<prop::sample::Index>(), edges(blocks)), 0..3),
        keep in any::<bool>(),
        num_paths in prop_oneof![0u32..8, any::<u32>()],
        file in 0u32..3,
        loc in (0u32..3, any::<u32>(), any::<u32>()),
        blocks in Just(blocks),
    ) -> FunctionTable {
        let (file_of, line, outer_line) = loc;
        let mut table = FunctionTable { file, num_paths, stage: Stage::Late, ..sum() };
        if keep {
            table.num_paths = sum().num_paths;
            for (at, edge) in changes {
                let at = at.index(table.edges.len());
                table.edges[at] = edge;
            }
        } else {
            table.edges = edges;
            table.blocks = vec![Block::default(); blocks as usize];
        }
        table.blocks[0].locs.push(Loc { file: file_of, line, outer_line });
        table
    }
}

proptest! {
    #[test]
    fn damaged_files_are_refused_or_read(binary in damage(), of in damage()) {
        let tables = [sum(), idle(), bar()];
        let runs = [("sum", streams(3)), ("_ZN3foo3barEi", vec![vec![0]])];
        let bytes = profile("/build/prog", &tables, &runs).write();
        let _ = use_bytes(&damaged(elf(&section(&tables)), binary), &damaged(bytes.clone(), of));
    }

    #[test]
    fn profiles_with_right_checksums_are_checked_too(
        of in damage(),
        header in prop::option::of((8usize..80, any::<u8>())),
    ) {
        let tables = [sum(), idle(), bar()];
        let runs = [("sum", streams(3)), ("_ZN3foo3barEi", vec![vec![0]])];
        let mut bytes = damaged(profile("/build/prog", &tables, &runs).write(), of);
        if let Some((at, byte)) = header && let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        let _ = use_bytes(&elf(&section(&tables)), &with_right_checksums(bytes));
    }

    #[test]
    fn damaged_contexts_are_refused_or_read(
        binary in damage(),
        of in damage(),
        is_hot in any::<bool>(),
        is_right in any::<bool>(),
    ) {
        let records = context_support::section(&[], &context_support::tables());
        let run = if is_hot { context_support::hot_run } else { context_support::run };
        let mut bytes = damaged(run(&records).write(), of);
        let binary = if is_right {
            bytes = with_right_checksums(bytes);
            elf(&records)
        } else {
            damaged(elf(&records), binary)
        };
        let _ = use_bytes(&binary, &bytes);
    }

    #[test]
    fn tables_that_make_no_sense_are_refused(table in tables(), streams in prop::collection::vec(prop::collection::vec(prop_oneof![0u32..8, any::<u32>()], 0..6), 0..4)) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("prog");
        std::fs::write(&at, elf(&section(std::slice::from_ref(&table)))).unwrap();
        // A table that cannot be read has no signature to make a profile for.
        if Image::open(&at).is_ok() {
            let bytes = profile("/build/prog", &[table], &[("sum", streams)]).write();
            let of = folder.path().join("prog.mfp");
            std::fs::write(&of, bytes).unwrap();
            let _ = use_all(&at, &of);
        }
    }

    #[test]
    fn any_bytes_are_no_profile(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let tables = elf(&section(&[sum()]));
        prop_assert!(use_bytes(&tables, &bytes).is_err());
        prop_assert!(use_bytes(&bytes, &bytes).is_err());
    }
}

/// Puts the checksums of a profile right, and the sizes of its four sections: what is behind the
/// first three is the fourth.
fn with_right_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= HEADER_SIZE {
        let (header, mut contents) = bytes.split_at_mut(HEADER_SIZE);
        for entry in [20, 40, 60, 80] {
            let size = u64::from_le_bytes(header[entry + 8..entry + 16].try_into().unwrap());
            let size = size.min(contents.len() as u64) as usize;
            let size = if entry == 80 { contents.len() } else { size };
            let (section, rest) = contents.split_at_mut(size);
            header[entry + 8..entry + 16].copy_from_slice(&(size as u64).to_le_bytes());
            header[entry + 16..entry + 20].copy_from_slice(&crc32fast::hash(section).to_le_bytes());
            contents = rest;
        }
        let end = HEADER_SIZE - 4;
        let crc = crc32fast::hash(&header[..end]).to_le_bytes();
        header[end..].copy_from_slice(&crc);
    }
    bytes
}

#[test]
fn every_flipped_bit_of_a_profile_is_seen() {
    let tables = [sum()];
    let bytes = profile("/build/prog", &tables, &[("sum", streams(1))]).write();
    let binary = elf(&section(&tables));
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(use_bytes(&binary, &flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn every_flipped_bit_of_tables_is_seen() {
    let tables = [sum()];
    let bytes = profile("/build/prog", &tables, &[("sum", streams(1))]).write();
    let right = section(&tables);
    for bit in 0..right.len() * 8 {
        let mut flipped = right.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(use_bytes(&elf(&flipped), &bytes).is_err(), "bit {bit}");
    }
}

#[test]
fn what_is_not_damaged_is_read() {
    let tables = [sum(), idle(), bar()];
    let bytes = profile("/build/prog", &tables, &[("sum", streams(3))]).write();
    use_bytes(&elf(&section(&tables)), &bytes).unwrap();
    let records = context_support::section(&tables, &context_support::tables());
    use_bytes(&elf(&records), &context_support::run(&records).write()).unwrap();
    use_bytes(&elf(&records), &context_support::hot_run(&records).write()).unwrap();
}

#[test]
fn huge_counts_do_not_overflow() {
    let mut tables = [sum(), bar()];
    tables[1].name = "other".into();
    let mut huge =
        profile("/build/prog", &tables, &[("sum", vec![vec![2]]), ("other", vec![vec![0]])]);
    for function in &mut huge.functions {
        let root = function.forest.ids().next().unwrap();
        function.forest.add(root, u64::MAX - 1).unwrap();
        (function.totals.entries, function.totals.restarts, function.totals.lost) =
            (u64::MAX, u64::MAX, u64::MAX);
    }
    use_bytes(&elf(&section(&tables)), &huge.write()).unwrap();
    let records = context_support::section(&[], &context_support::tables());
    let mut huge = context_support::hot_run(&records);
    let contexts = huge.contexts.as_mut().unwrap();
    let root = contexts.ids().next().unwrap();
    let more = u64::try_from(u128::from(u64::MAX) - contexts.total()).unwrap();
    contexts.add(root, more, more).unwrap();
    (contexts.activations, contexts.elsewhere, contexts.floor) = (u64::MAX, u64::MAX, u64::MAX);
    use_bytes(&elf(&records), &huge.write()).unwrap();
}
