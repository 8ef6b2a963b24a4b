//! Records of calling contexts, whole and damaged.

use midflight_profile::table::*;
use proptest::prelude::*;

fn table() -> ContextTable {
    let site =
        |file, line, outer_line, is_tail| Site { loc: Loc { file, line, outer_line }, is_tail };
    ContextTable {
        key: 0,
        stage: Stage::Inlined,
        llvm: 22,
        granularity: Granularity::Sites,
        has_own_frame: false,
        bursts: false,
        times: false,
        paths: false,
        recursion: Recursion::Levels,
        name: "größe".into(),
        unit: "a.c".into(),
        files: vec!["a.c".into(), "/inc/b.h".into()],
        file: 0,
        line: 40,
        sites: vec![
            site(0, 41, 41, false),
            site(1, 7, 42, false),
            site(0, 0, 0, false),
            site(0, 43, 43, true),
        ],
    }
}

/// One of a function of which all calls have one slot.
fn by_function() -> ContextTable {
    ContextTable { granularity: Granularity::Functions, sites: vec![], ..table() }
}

fn locs(files: u32) -> impl Strategy<Value = Loc> {
    // Without files no line is known.
    let line = if files == 0 { Just(0).boxed() } else { any::<u32>().boxed() };
    (0..files.max(1), line, any::<u32>()).prop_map(|(file, line, outer_line)| Loc {
        file,
        line,
        outer_line,
    })
}

fn tables() -> impl Strategy<Value = ContextTable> {
    let files = prop::collection::vec("[a-zé/.]{0,9}", 0..4);
    files.prop_flat_map(|files| {
        let number = files.len() as u32;
        let site = (locs(number), any::<bool>()).prop_map(|(loc, is_tail)| Site { loc, is_tail });
        let sites = prop_oneof![
            3 => prop::collection::vec(site, 0..9).prop_map(|sites| (Granularity::Sites, sites)),
            1 => Just((Granularity::Functions, vec![])),
        ];
        let stage = prop::sample::select(Stage::ALL.to_vec());
        let texts = ("[a-z_ß]{0,9}", "[a-z.]{0,9}");
        (stage, any::<u8>(), texts, Just(files), 0..number.max(1), any::<u32>(), sites).prop_map(
            |(stage, llvm, (name, unit), files, file, line, (granularity, sites))| ContextTable {
                key: 0,
                stage,
                llvm,
                granularity,
                has_own_frame: line % 2 == 0,
                bursts: line % 3 == 0,
                times: line % 3 == 1,
                paths: line % 3 == 1 && llvm % 2 == 0,
                recursion: match line % 5 == 1 && line % 3 != 0 {
                    true if line % 3 == 2 || llvm % 2 != 0 => Recursion::Folded,
                    _ => Recursion::Levels,
                },
                name,
                unit,
                files,
                file,
                line,
                sites,
            },
        )
    })
}

fn decoded(table: &ContextTable) -> Result<ContextTable, TableErrorKind> {
    let record = table.encode();
    let (decoded, size) = ContextTable::decode(&record).map_err(|error| error.kind)?;
    assert_eq!((decoded.key, size), (key_of(&record), record.len()));
    Ok(ContextTable { key: 0, ..decoded })
}

/// A record of which some bytes are others, with a key that matches.
fn forged(mut record: Vec<u8>, changes: &[(usize, &[u8])]) -> Vec<u8> {
    for &(at, bytes) in changes {
        record[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let key = key_of(&record);
    record[8..16].copy_from_slice(&key.to_le_bytes());
    record
}

proptest! {
    #[test]
    fn records_survive(table in tables()) {
        prop_assert_eq!(decoded(&table), Ok(table));
    }

    /// Fields of damaged records with keys that match: an error or another table, never a panic.
    #[test]
    fn forged_records_do_no_harm(
        table in tables(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut record = table.encode();
        for (at, byte) in changes {
            let at = at.index(record.len());
            record[at] = byte;
        }
        if let Ok(records) = read_section(&forged(record, &[])) {
            for table in &records.contexts {
                let known = table.sites.iter().filter(|site| site.loc.line != 0);
                prop_assert!(known.into_iter().all(|s| (s.loc.file as usize) < table.files.len()));
            }
        }
    }

    #[test]
    fn random_bytes_behind_a_header_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut record = by_function().encode();
        record.truncate(32);
        record.extend(body);
        record.resize(record.len().next_multiple_of(8), 0);
        let size = record.len() as u32;
        let _ = read_section(&forged(record, &[(0, &size.to_le_bytes())]));
    }
}

#[test]
fn every_bit_flip_and_every_truncation_of_a_record_is_an_error() {
    let record = table().encode();
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
fn a_section_may_have_records_of_both_kinds() {
    let paths = FunctionTable {
        key: 0,
        cfg_hash: 1,
        k: 1,
        num_paths: 1,
        stage: Stage::Early,
        mode: Mode::Counting,
        llvm: 22,
        name: "f".into(),
        unit: String::new(),
        files: vec![],
        file: 0,
        line: 0,
        blocks: vec![Block::default()],
        edges: vec![Edge::Exit { from: 0, value: 0 }],
    };
    let encoded = [by_function().encode(), paths.encode(), table().encode()];
    let section = [&[0; 8][..], &encoded[0], &encoded[1], &[0; 16], &encoded[2]].concat();
    let records = read_section(&section).unwrap();
    assert_eq!(records.paths.iter().map(|t| &t.name[..]).collect::<Vec<_>>(), ["f"]);
    let slots: Vec<usize> = records.contexts.iter().map(ContextTable::slots).collect();
    assert_eq!(slots, [1, 4]);
    assert_eq!(records.signature(), image_signature(encoded.iter().map(|record| key_of(record))));
    assert!(read_section(&[]).unwrap().is_empty() && !records.is_empty());
    // Neither reader takes the other's records.
    assert!(matches!(
        FunctionTable::decode(&encoded[0]).unwrap_err().kind,
        TableErrorKind::Flags(_)
    ));
    assert!(matches!(
        ContextTable::decode(&encoded[1]).unwrap_err().kind,
        TableErrorKind::Flags(_)
    ));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let kind = |record: Vec<u8>, changes: &[(usize, &[u8])]| {
        ContextTable::decode(&forged(record, changes)).unwrap_err().kind
    };
    let flags = |flags: u16| kind(table().encode(), &[(6, &flags.to_le_bytes())]);
    // Paths' modes, both stages, and flags that nobody knows.
    for bits in [0x12, 0x14, 0x19, 0x92, 0xd9] {
        assert_eq!(flags(bits), TableErrorKind::Flags(bits));
    }
    // A kind that nobody knows, and paths of contexts with folded recursion.
    for bits in [6, 7, 8, 0x80] {
        assert_eq!(kind(table().encode(), &[(24, &[bits])]), TableErrorKind::NotOfContexts);
    }
    assert_eq!(kind(table().encode(), &[(25, &[1])]), TableErrorKind::NotOfContexts);
    // Times of bursts, and folded recursion in them.
    let bursts = (table().encode()[6] | 0x80).to_le_bytes();
    for bits in [1, 2, 3, 4] {
        let error = kind(table().encode(), &[(6, &bursts), (24, &[bits])]);
        assert_eq!(error, TableErrorKind::NotOfContexts);
    }
    assert_eq!(kind(table().encode(), &[(16, &[1])]), TableErrorKind::NotOfContexts);
    let slots =
        |expected, found| TableErrorKind::Slots { function: "größe".into(), expected, found };
    assert_eq!(kind(table().encode(), &[(28, &[3])]), slots(4, 3));
    assert_eq!(kind(by_function().encode(), &[(28, &[0])]), slots(1, 0));
    // Call sites, though there are none by functions.
    let by_function = 0x30u16.to_le_bytes();
    let error = kind(table().encode(), &[(6, &by_function), (28, &[1])]);
    assert!(matches!(error, TableErrorKind::Malformed(_)), "{error}");
    let file = |file| TableErrorKind::File { function: "größe".into(), file, files: 2 };
    let mut wrong = table();
    wrong.sites[0].loc.file = 2;
    assert_eq!(decoded(&wrong), Err(file(2)));
    assert_eq!(decoded(&ContextTable { file: 3, ..table() }), Err(file(3)));
    // Where the line is not known, there is no file.
    wrong.sites[0].loc = Loc { file: 9, line: 0, outer_line: 0 };
    assert_eq!(decoded(&wrong), Ok(wrong));
}
