//! Profile files, whole, damaged and forged.

mod support;

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{Header3, Stream, as_version_3, file_of, seal, slab_forest, streams, version_3};

fn module(signature: u64, name: &str) -> Module {
    Module { signature, name: name.into() }
}

fn function(module: usize, key: u64, k: u32, forest: PrefixForest) -> FunctionProfile {
    FunctionProfile { module, key, k, totals: Totals::new([7, 0, 0, 0]), forest }
}

/// A program and a library, two functions.
fn small() -> Profile {
    let forest = |ids: &[u32], k| slab_forest(&vec![ids.to_vec()], k);
    Profile {
        k: 4,
        flags: 0,
        modules: vec![module(0x1111_2222_3333_4444, "/bin/a"), module(5, "/lib/b.so")],
        functions: vec![
            function(0, 17, 4, forest(&[6, 2, 0, 0, 2, 2, 0, 0, 200, 2], 4)),
            function(1, 18, 1, forest(&[3, 3, 3], 1)),
        ],
    }
}

/// Names of sections, known and not.
const NAMES: &[[u8; 4]] = &[*b"MODS", *b"PATH", *b"cctx", *b"CCTX", *b"\x1b[2J"];

/// A module with a path of one byte.
const MODULE: &[u8] = &[5, 0, 0, 0, 0, 0, 0, 0, 1, b'a'];

/// A file with one module and the given bytes for forests.
fn forged(forests: u32, bytes: &[u8]) -> Vec<u8> {
    file_of(&[(b"MODS", 1, MODULE), (b"PATH", forests, bytes)])
}

/// A forest of module 0 with key 0, k, nothing else counted, and the given varints below it.
fn forest_bytes(k: u8, rest: &[u8]) -> Vec<u8> {
    [&[0; 9][..], &[k, 0, 0, 0, 0], rest].concat()
}

/// Profiles in the order in which they are written.
fn profiles() -> impl Strategy<Value = Profile> {
    let k = prop_oneof![1u32..6, 1u32..=64];
    let counts = (any::<u64>(), 0u64..3, 0u64..3);
    let functions =
        prop::collection::btree_map((0usize..2, any::<u64>()), (streams(), counts), 0..4);
    (k, functions).prop_map(|(k, functions)| {
        let functions: Vec<FunctionProfile> = functions
            .into_iter()
            .map(|((module, key), (stream, (entries, restarts, lost)))| {
                let forest = slab_forest(&stream, k);
                FunctionProfile {
                    module,
                    key,
                    k,
                    totals: Totals::new([entries, restarts, lost, lost / 2]),
                    forest,
                }
            })
            .collect();
        let k = if functions.is_empty() { 0 } else { k };
        let modules = vec![module(2, "/bin/größe"), module(1, "/lib/b.so")];
        Profile { k, flags: FLAG_LOWER_BOUNDS, modules, functions }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 100 / 256))]

    #[test]
    fn profiles_survive(profile in profiles()) {
        prop_assert_eq!(Profile::read(&as_version_3(&profile)), Ok(profile.clone()));
        let file = profile.write();
        prop_assert_eq!(Profile::read(&file), Ok(profile));
    }

    /// Whatever the payload is, and with right checksums: an error or a profile, never a panic.
    #[test]
    fn forged_profiles_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in 0usize..8,
    ) {
        let mut file = small().write();
        for (at, byte) in changes {
            let at = 12 + at.index(file.len() - 12);
            file[at] = byte;
        }
        file.truncate(file.len() - cut);
        seal(&mut file);
        if let Ok(profile) = Profile::read(&file) {
            prop_assert_eq!(Profile::read(&profile.write()), Ok(sorted(&profile)));
        }
    }

    #[test]
    fn random_payloads_do_no_harm(
        modules in 0u32..3,
        forests in 0u32..4,
        payload in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..120),
        split in any::<prop::sample::Index>(),
    ) {
        let (first, second) = payload.split_at(split.index(payload.len() + 1));
        let _ = Profile::read(&file_of(&[(b"MODS", modules, first), (b"PATH", forests, second)]));
        let _ = Profile::read(&version_3(&Header3 { modules, forests, ..Header3::default() }, &payload));
    }

    /// Whatever the header lists, and with a right checksum.
    #[test]
    fn random_sections_do_no_harm(
        sections in prop::collection::vec(
            (prop::sample::select(NAMES), 0u32..3, 0usize..12),
            0..5,
        ),
        change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let bytes = [MODULE, &[0; 12]].concat();
        let sections: Vec<(&[u8; 4], u32, &[u8])> =
            sections.iter().map(|(name, items, size)| (name, *items, &bytes[..*size])).collect();
        let mut file = file_of(&sections);
        if let Some((at, byte)) = change {
            let end = 20 + 20 * sections.len();
            file[12 + at.index(end - 12)] = byte;
            let crc = crc32fast::hash(&file[..end]);
            file[end..end + 4].copy_from_slice(&crc.to_le_bytes());
        }
        if let Err(error) = Profile::read(&file) {
            prop_assert!(!error.to_string().contains('\x1b'));
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Profile::read(&bytes).is_err());
    }

    /// Counts of two runs add up to those of a run that did both, in either order.
    #[test]
    fn merging_adds_up(a in streams(), b in streams(), k in 1u32..6) {
        let run = |stream: &Stream| {
            let functions = vec![function(0, 9, k, slab_forest(stream, k))];
            Profile { k, flags: 0, modules: vec![module(1, "a")], functions }
        };
        let (mut ab, mut ba) = (run(&a), run(&b));
        ab.merge(&run(&b)).unwrap();
        ba.merge(&run(&a)).unwrap();
        let mut both = run(&[a.clone(), b.clone()].concat());
        both.functions[0].totals.entries = 14;
        prop_assert_eq!(&ab, &both);
        prop_assert_eq!(ab.write(), ba.write());
    }
}

/// The same profile with modules and functions in the order in which they are written.
fn sorted(profile: &Profile) -> Profile {
    let mut sorted = profile.clone();
    sorted.modules.sort_by_key(|m| (m.name.clone(), m.signature));
    let signatures: BTreeMap<u64, usize> =
        sorted.modules.iter().map(|m| m.signature).zip(0..).collect();
    for function in &mut sorted.functions {
        function.module = signatures[&profile.modules[function.module].signature];
    }
    sorted.functions.sort_by_key(|f| (f.module, f.key));
    sorted
}

#[test]
fn every_bit_flip_is_an_error() {
    let file = small().write();
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Profile::read(&flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn every_truncation_is_an_error_that_says_so() {
    let file = small().write();
    assert_eq!(Profile::read(&[]), Err(ReadError::Empty));
    for len in 1..file.len() {
        let expected = match len {
            0..64 => ReadError::TooShort { actual: len, expected: 64 },
            _ => ReadError::Truncated { expected: file.len() as u64, actual: len as u64 },
        };
        assert_eq!(Profile::read(&file[..len]), Err(expected));
    }
    let longer = [&file[..], b"\n"].concat();
    let (expected, actual) = (file.len() as u64, longer.len() as u64);
    assert_eq!(Profile::read(&longer), Err(ReadError::TooLong { expected, actual }));
}

#[test]
fn foreign_and_newer_files_are_named_as_such() {
    assert_eq!(Profile::read(b"#!/bin/sh"), Err(ReadError::Foreign));
    assert_eq!(Profile::read(&[0; 100]), Err(ReadError::Foreign));
    // A transfer as text changes the line end within the magic.
    let text: Vec<u8> = small().write().into_iter().filter(|&byte| byte != b'\r').collect();
    assert_eq!(Profile::read(&text), Err(ReadError::Foreign));
    let mut newer = small().write();
    newer[8] = 5;
    let error = Profile::read(&newer).unwrap_err();
    assert_eq!(error, ReadError::Newer(5));
    let message = error.to_string();
    assert!(message.contains("version 5") && message.contains("version 4"), "{message}");
    let mut older = small().write();
    older[8] = 2;
    seal(&mut older);
    let error = Profile::read(&older).unwrap_err();
    assert_eq!(error, ReadError::Older(2));
    let message = error.to_string();
    assert!(message.contains("version 2") && message.contains("versions 3 and 4"), "{message}");
}

/// What version 3 of the format documented as its example.
#[test]
fn a_file_of_version_3_is_read() {
    let payload = [
        &b"\xfb\xdf\x8d\x0a\x96\xf3\xa1\x72\x03./a\x00\x4a\x60\x1a"[..],
        &b"\xd0\xa8\xb5\x88\xaa\x03\x01\x00\x00\x00\x02\x00\x01\x01\x02\x01"[..],
        &b"\x01\x02\x01\x01\x03\x01\x00\x02\x00\x01\x03\x00\x00"[..],
    ];
    let header = Header3 { k: 3, flags: 0, modules: 1, forests: 1 };
    let file = version_3(&header, &payload.concat());
    assert_eq!(file[40..44], [0xd9, 0x92, 0x79, 0x6c]);
    assert_eq!(file[60..64], [0x84, 0x93, 0x65, 0x06]);
    let profile = Profile::read(&file).unwrap();
    assert_eq!(profile.modules, [module(0x72a1_f396_0a8d_dffb, "./a")]);
    let [function] = &profile.functions[..] else { panic!() };
    assert_eq!((profile.k, function.key, function.totals.entries), (3, 0xaa88_b5a8_d01a_604a, 1));
    let counts: Vec<u64> = function.forest.ids().map(|id| function.forest.count(id)).collect();
    assert_eq!(counts, [1, 1, 1, 1, 0, 0]);
}

#[test]
fn files_of_version_3_are_refused_where_they_are_damaged() {
    let file = as_version_3(&small());
    assert_eq!(Profile::read(&file), Ok(small()));
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Profile::read(&flipped).is_err(), "bit {bit}");
    }
    for len in 0..file.len() {
        assert!(Profile::read(&file[..len]).is_err(), "{len} bytes");
    }
    let huge = Header3 { modules: u32::MAX, forests: u32::MAX, ..Header3::default() };
    assert!(matches!(Profile::read(&version_3(&huge, &[])), Err(ReadError::Malformed(_))));
}

#[test]
fn sections_that_nobody_knows_are_skipped_or_refused_by_their_names() {
    let forest = forest_bytes(1, &[1, 9, 1, 0]);
    let known = Profile::read(&forged(1, &forest)).unwrap();
    let (modules, forests) = ((b"MODS", 1, MODULE), (b"PATH", 1, &forest[..]));
    let optional = (b"cctX", 3, &b"anything"[..]);
    for sections in [[optional, modules, forests], [forests, optional, modules]] {
        assert_eq!(Profile::read(&file_of(&sections)), Ok(known.clone()));
    }
    let again = file_of(&[modules, forests, optional, optional]);
    assert_eq!(Profile::read(&again), Ok(known));
    let error = Profile::read(&file_of(&[modules, (b"Cctx", 0, b""), forests])).unwrap_err();
    assert_eq!(error, ReadError::Section(*b"Cctx"));
    assert!(error.to_string().contains("'Cctx'"), "{error}");
    // Damage is damage, wherever it is.
    let mut damaged = again;
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(Profile::read(&damaged), Err(ReadError::PayloadChecksum));
}

#[test]
fn sections_may_be_missing_and_are_not_there_twice() {
    let nothing = Profile::default();
    assert_eq!(Profile::read(&file_of(&[])).as_ref(), Ok(&nothing));
    assert_eq!(Profile::read(&nothing.write()), Ok(nothing));
    let modules = (b"MODS", 1, MODULE);
    assert_eq!(Profile::read(&file_of(&[modules])).unwrap().modules, [module(5, "a")]);
    let malformed = |sections: &[(&[u8; 4], u32, &[u8])]| match Profile::read(&file_of(sections)) {
        Err(ReadError::Malformed(error)) => error.what,
        other => panic!("{other:?}"),
    };
    assert_eq!(malformed(&[modules, modules]), "a section's name");
    assert_eq!(malformed(&[(b"MOD\0", 0, b"")]), "a section's name");
    assert_eq!(malformed(&[(b"MODS", 0, MODULE)]), "a section");
    assert_eq!(malformed(&[(b"MODS", 2, MODULE)]), "a module's signature");
    // A forest's module is there before it, in the list if not in the file.
    assert_eq!(malformed(&[(b"PATH", 1, &forest_bytes(1, &[0]))]), "a forest's module");
    let mut wide = file_of(&[modules]);
    wide[12] += 1;
    wide.insert(40, 0);
    let crc = crc32fast::hash(&wide[..41]);
    wide[41..45].copy_from_slice(&crc.to_le_bytes());
    let error = Profile::read(&wide).unwrap_err();
    assert!(error.to_string().contains("the header's size"), "{error}");
}

#[test]
fn damage_is_told_apart_by_its_place() {
    let file = small().write();
    let flipped = |at: usize| {
        let mut file = file.clone();
        file[at] ^= 1;
        Profile::read(&file).unwrap_err()
    };
    assert_eq!(flipped(20), ReadError::HeaderChecksum);
    assert_eq!(flipped(50), ReadError::HeaderChecksum);
    assert_eq!(flipped(70), ReadError::PayloadChecksum);
}

#[test]
fn fields_out_of_range_are_errors_with_right_checksums_too() {
    let malformed = |file: &[u8]| match Profile::read(file) {
        Err(ReadError::Malformed(error)) => error.what,
        other => panic!("{other:?}"),
    };
    assert_eq!(Profile::read(&forged(1, &forest_bytes(65, &[0]))), Err(ReadError::K(65)));
    assert_eq!(Profile::read(&forged(1, &forest_bytes(0, &[0]))), Err(ReadError::K(0)));
    assert_eq!(malformed(&forged(1, &[1; 20])), "a forest's module");
    // Two roots with one label; bytes left over; a forest too few
    let twins = forest_bytes(1, &[2, 9, 1, 0, 9, 1, 0]);
    assert_eq!(malformed(&forged(1, &twins)), "a node's label");
    assert_eq!(malformed(&forged(1, &forest_bytes(1, &[0, 0]))), "a section");
    assert_eq!(malformed(&forged(2, &forest_bytes(1, &[0]))), "a forest's module");
    let others = [forest_bytes(1, &[0]), forest_bytes(2, &[0])].concat();
    assert_eq!(malformed(&forged(2, &others)), "a forest's k");
    let mut flags = small().write();
    flags[16] = 8;
    seal(&mut flags);
    assert_eq!(malformed(&flags), "the flags");
}

#[test]
fn a_forest_is_no_deeper_than_its_k_allows() {
    let chain = |levels: usize| {
        let mut bytes = vec![1];
        for level in 0..levels {
            bytes.extend([0, 1, u8::from(level + 1 < levels)]);
        }
        bytes
    };
    for (k, most) in [(1, 1), (2, 2), (4, 6), (64, 126)] {
        let file = |levels| forged(1, &forest_bytes(k, &chain(levels)));
        assert_eq!(Profile::read(&file(most)).unwrap().functions[0].forest.len(), most);
        let error = Profile::read(&file(most + 1)).unwrap_err();
        assert!(matches!(error, ReadError::TooDeep { .. }), "{error}");
    }
}

#[test]
fn counts_that_claim_more_than_the_file_holds_set_no_memory_aside() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let roots = forged(1, &forest_bytes(1, &huge));
    let children = forged(1, &forest_bytes(2, &[&[1, 0, 1][..], &huge].concat()));
    let forests = forged(u32::MAX, &forest_bytes(1, &[0]));
    let modules = file_of(&[(b"MODS", u32::MAX, MODULE)]);
    for file in [roots, children, forests, modules] {
        assert!(matches!(Profile::read(&file), Err(ReadError::Malformed(_))));
    }
}

#[test]
fn the_forests_of_threads_and_of_reloaded_libraries_add_up() {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file);
    encoder.module(5, b"/lib/\xff.so").unwrap();
    encoder.module(5, b"/lib/again.so").unwrap();
    for module in [0, 1, 0] {
        let header =
            ForestHeader { module, key: 3, k: 2, totals: Totals::new([10, 1, 2, 3]), roots: 1 };
        encoder.forest(&header).unwrap();
        encoder.node(8, 100, 1).unwrap();
        encoder.node(9 + module, 1, 0).unwrap();
    }
    let header = encoder.finish(FLAG_LOWER_BOUNDS);
    let profile = Profile::read(&[&header[..], &file].concat()).unwrap();
    assert_eq!(profile.modules, [module(5, "/lib/\u{fffd}.so")]);
    assert_eq!(profile.flags, FLAG_LOWER_BOUNDS);
    let [function] = &profile.functions[..] else { panic!() };
    assert_eq!(function.totals, Totals::new([30, 3, 6, 9]));
    let counts: Vec<(u32, u64)> = function
        .forest
        .preorder()
        .map(|(id, _)| (function.forest.label(id), function.forest.count(id)))
        .collect();
    assert_eq!(counts, [(8, 300), (9, 2), (10, 1)]);
}

#[test]
fn profiles_of_other_builds_and_of_other_k_do_not_add_up() {
    let mut other = small();
    other.modules[0].signature ^= 1;
    let build = small().merge(&other).unwrap_err();
    assert!(matches!(&build, MergeError::Build { name, .. } if name == "/bin/a"), "{build}");
    let k = small().merge(&Profile { k: 8, ..small() }).unwrap_err();
    assert_eq!(k, MergeError::K { ours: 4, theirs: 8 });
}

#[test]
fn modules_that_only_one_profile_has_are_kept() {
    let mut sum = small();
    let library = Profile {
        modules: vec![module(6, "/lib/c.so"), module(5, "/elsewhere/b.so")],
        functions: vec![
            function(1, 18, 1, PrefixForest::new()),
            function(0, 18, 1, PrefixForest::new()),
        ],
        ..small()
    };
    sum.merge(&library).unwrap();
    let names: Vec<&str> = sum.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["/bin/a", "/lib/b.so", "/lib/c.so"]);
    let functions: Vec<_> =
        sum.functions.iter().map(|f| (f.module, f.key, f.totals.entries)).collect();
    assert_eq!(functions, [(0, 17, 7), (1, 18, 14), (2, 18, 7)]);
    // A run in which nothing instrumented ran has no k.
    let mut nothing = Profile::default();
    nothing.merge(&small()).unwrap();
    assert_eq!(nothing, small());
    nothing.merge(&Profile::default()).unwrap();
    assert_eq!(nothing, small());
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let mut large = small();
    large.functions[0].totals.entries = u64::MAX;
    let overflow = MergeError::Overflow(SumOverflow { key: 17 });
    assert_eq!(large.clone().merge(&small()), Err(overflow.clone()));
    // Each counter fits, and their sum does not: sums of counters are counts of the k-IPF.
    let mut large = small();
    let root = large.functions[0].forest.roots().next().unwrap();
    large.functions[0].forest.add(root, u64::MAX - 15).unwrap();
    assert_eq!(large.merge(&small()), Err(overflow));
    let file = large.write();
    assert_eq!(Profile::read(&file), Err(ReadError::Overflow(SumOverflow { key: 17 })));
}
