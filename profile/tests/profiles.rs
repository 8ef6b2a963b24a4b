//! Profile files, whole, damaged and forged.

mod support;

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{
    Stream, file_of, forgetful_windows, function_of_slabs, function_of_windows, functions, seal,
    slab_forest, streams, windows,
};

fn module(signature: u64, name: &str) -> Module {
    Module { signature, name: name.into() }
}

/// With the counters of `counted`, 7 entries and nothing lost.
fn function(module: usize, counted: FunctionProfile) -> FunctionProfile {
    FunctionProfile { module, totals: Totals::new([7, 0, 0]), ..counted }
}

/// A program and a library, three functions, one of them as published.
fn small() -> Profile {
    let stream = vec![vec![6, 2, 0, 0, 2, 2, 0, 0, 200, 2]];
    let forgotten = forgetful_windows(&stream, 4, &[(5, 1)].into());
    Profile {
        k: 4,
        flags: 0,
        modules: vec![module(0x1111_2222_3333_4444, "/bin/a"), module(5, "/lib/b.so")],
        functions: vec![
            function(0, function_of_windows(17, 4, forgotten)),
            function(0, function_of_slabs(19, 4, slab_forest(&stream, 4))),
            function(1, function_of_windows(18, 1, windows(&vec![vec![3, 3, 3]], 1))),
        ],
        contexts: None,
        used: None,
    }
}

/// Names of sections, known and not.
const NAMES: &[[u8; 4]] =
    &[*b"MODS", *b"WIND", *b"SLAB", *b"used", *b"cctx", *b"CCTX", *b"\x1b[2J"];

/// A module with a path of one byte.
const MODULE: &[u8] = &[5, 0, 0, 0, 0, 0, 0, 0, 1, b'a'];

/// A file with one module and the given bytes for k-SFs.
fn forged(forests: u32, bytes: &[u8]) -> Vec<u8> {
    file_of(&[(b"MODS", 1, MODULE), (b"SLAB", forests, bytes)])
}

/// A file with one module and the given bytes for one function's windows.
fn forged_windows(bytes: &[u8]) -> Vec<u8> {
    file_of(&[(b"MODS", 1, MODULE), (b"WIND", 1, bytes)])
}

/// A forest of module 0 with key 0, k, nothing else counted, and the given varints below it.
fn forest_bytes(k: u8, rest: &[u8]) -> Vec<u8> {
    [&[0; 9][..], &[k, 0, 0, 0], rest].concat()
}

/// Profiles in the order in which they are written and read.
fn profiles() -> impl Strategy<Value = Profile> {
    let counts = (any::<u64>(), 0u64..3, 0u64..3);
    let k = prop_oneof![1u32..6, 1u32..=64];
    k.prop_flat_map(move |k| {
        let function = (functions(k), counts.clone());
        let functions = prop::collection::btree_map((0usize..2, any::<u64>()), function, 0..5);
        functions.prop_map(move |functions| {
            let mut functions: Vec<FunctionProfile> = functions
                .into_iter()
                .map(|((module, key), (counted, (entries, restarts, lost)))| FunctionProfile {
                    module,
                    key,
                    totals: Totals::new([entries, restarts, lost]),
                    ..counted
                })
                .collect();
            functions.sort_by_key(|function| function.counters == Counters::Slabs);
            let k = if functions.is_empty() { 0 } else { k };
            let modules = vec![module(2, "/bin/größe"), module(1, "/lib/b.so")];
            Profile { k, flags: FLAG_LOWER_BOUNDS, modules, functions, contexts: None, used: None }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 100 / 256))]

    #[test]
    fn profiles_survive(profile in profiles()) {
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
        for kind in [b"WIND", b"SLAB"] {
            let _ = Profile::read(&file_of(&[(b"MODS", modules, first), (kind, forests, second)]));
        }
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
            let forgotten = forgetful_windows(stream, k, &[(3, 1), (7, 0)].into());
            let functions = vec![
                function(0, function_of_windows(9, k, windows(stream, k))),
                function(0, function_of_slabs(10, k, slab_forest(stream, k))),
                function(0, function_of_windows(11, k, forgotten)),
            ];
            Profile { k, flags: 0, modules: vec![module(1, "a")], functions, contexts: None, used: None }
        };
        let (mut ab, mut ba) = (run(&a), run(&b));
        ab.merge(&run(&b)).unwrap();
        ba.merge(&run(&a)).unwrap();
        let mut both = run(&[a.clone(), b.clone()].concat());
        let forgotten = FunctionProfile { totals: Totals::new([14, 0, 0]), ..ab.functions[2].clone() };
        both.functions.iter_mut().for_each(|function| function.totals.entries = 14);
        // What is forgotten of a whole is not what is forgotten of its parts.
        both.functions[2] = forgotten;
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
    sorted.functions.sort_by_key(|f| (f.counters == Counters::Slabs, f.module, f.key));
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
            0..HEADER_SIZE => ReadError::TooShort { actual: len, expected: HEADER_SIZE },
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
    newer[8] = 6;
    let error = Profile::read(&newer).unwrap_err();
    assert_eq!(error, ReadError::Newer(6));
    let message = error.to_string();
    assert!(message.contains("version 6") && message.contains("version 5"), "{message}");
    for version in [2, 3, 4] {
        let mut older = small().write();
        older[8] = version;
        seal(&mut older);
        let error = Profile::read(&older).unwrap_err();
        assert_eq!(error, ReadError::Older(version.into()));
        let message = error.to_string();
        let told = message.contains(&format!("version {version}"));
        assert!(told && message.contains("that the program was built with"), "{message}");
    }
}

#[test]
fn sections_that_nobody_knows_are_skipped_or_refused_by_their_names() {
    let forest = forest_bytes(1, &[1, 9, 1, 0]);
    let known = Profile::read(&forged(1, &forest)).unwrap();
    let (modules, forests) = ((b"MODS", 1, MODULE), (b"SLAB", 1, &forest[..]));
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
    for kind in [b"WIND", b"SLAB"] {
        assert_eq!(malformed(&[(kind, 1, &forest_bytes(1, &[0]))]), "a forest's module");
    }
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
    assert_eq!(flipped(HEADER_SIZE + 6), ReadError::PayloadChecksum);
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

/// The windows of a forged function: those of all, and those that are truncated.
fn read_windows(k: u8, groups: &[u8]) -> Result<[BTreeMap<Vec<u32>, u64>; 2], ReadError> {
    let profile = Profile::read(&forged_windows(&forest_bytes(k, groups)))?;
    let function = &profile.functions[0];
    let counted = |forest: &PrefixForest| {
        let mut counts = support::counts_of(forest);
        counts.retain(|_, count| *count > 0);
        counts
    };
    Ok([counted(&function.forest), counted(&function.truncated)])
}

#[test]
fn groups_are_windows_with_the_paths_behind_them() {
    // ε: 4 five times. ∗ 4: 6 twice. 4 (truncated): 6 once. 4 6: 7 three times. 4 again: 6 once.
    let groups = [1, 5, 5, 0, 4, 4, 7, 2, 0, 3, 4, 7, 1, 0, 5, 4, 6, 8, 3, 0, 3, 4, 7, 1, 0, 0];
    let [all, truncated] = read_windows(3, &groups).unwrap();
    assert_eq!(all, [(vec![4], 5), (vec![4, 6], 4), (vec![4, 6, 7], 3)].into());
    assert_eq!(truncated, [(vec![4], 5), (vec![4, 6], 2)].into());
    // With k = 2 a window of one path is as long as states are.
    let [all, truncated] = read_windows(2, &[1, 5, 5, 0, 3, 4, 7, 1, 0, 0]).unwrap();
    assert_eq!(all, [(vec![4], 5), (vec![4, 6], 1)].into());
    assert_eq!(truncated, [(vec![4], 5)].into());
    // With k = 1 nothing is truncated.
    assert_eq!(read_windows(1, &[1, 5, 5, 0, 0]).unwrap()[1], [].into());
    // What was not counted leaves no trace, nor does a window that nothing has followed.
    let nothing = Profile::read(&forged_windows(&forest_bytes(3, &[5, 1, 2, 4, 0, 0, 3, 1, 0, 0])));
    assert!(nothing.unwrap().functions[0].forest.is_empty());
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let malformed = |k, groups: &[u8]| match read_windows(k, groups) {
        Err(ReadError::Malformed(error)) => (error.what, error.problem),
        other => panic!("{other:?}"),
    };
    let ended = "does not fit in what is left";
    // A window of k paths; one that is anchored and as long as those that are not.
    for (k, groups) in [(1, &[3, 1, 0][..]), (1, &[2, 0]), (2, &[5, 1, 1, 0]), (2, &[4, 1, 0])] {
        let error = read_windows(k, groups).unwrap_err();
        assert!(matches!(error, ReadError::TooDeep { .. }), "{error}");
        assert!(error.to_string().contains(&format!("longer than k = {k} allows")), "{error}");
    }
    let too_large = [0x80, 0x80, 0x80, 0x80, 0x10];
    assert_eq!(malformed(2, &[]), ("the length of a window", ended));
    assert_eq!(malformed(2, &too_large), ("the length of a window", "is 2^32 or more"));
    assert_eq!(malformed(2, &[3]), ("a label of a window", ended));
    let label = malformed(2, &[&[3][..], &too_large].concat());
    assert_eq!(label, ("a label of a window", "is 2^32 or more"));
    assert_eq!(malformed(2, &[1]), ("a path behind a window", ended));
    // 2^32 stands for path 2^32 − 1, and 2^32 + 1 for none.
    let largest = [&[1][..], &too_large, &[1, 0, 0]].concat();
    assert_eq!(read_windows(2, &largest).unwrap()[0], [(vec![u32::MAX], 1)].into());
    let path = malformed(2, &[1, 0x81, 0x80, 0x80, 0x80, 0x10, 1, 0, 0]);
    assert_eq!(path, ("a path behind a window", "is 2^32 or more"));
    assert_eq!(malformed(2, &[1, 5]), ("a window's count", ended));
    assert_eq!(malformed(2, &[1, 5, 5]), ("a path behind a window", ended));
    assert_eq!(malformed(2, &[1, 5, 5, 0]), ("the length of a window", ended));
    assert_eq!(malformed(2, &[0, 0]), ("a section", "goes on after its last item"));
}

#[test]
fn windows_that_add_up_to_too_much_are_refused() {
    let most = [&[0xff; 9][..], &[1]].concat();
    let twice = [&[1, 5][..], &most, &[5, 1, 0, 0]].concat();
    let overflow = Err(ReadError::Overflow(SumOverflow { key: 0 }));
    assert_eq!(read_windows(2, &twice), overflow);
    let two = [&[1, 5][..], &most, &[6, 1, 0, 0]].concat();
    assert_eq!(read_windows(2, &two), overflow);
    assert!(read_windows(2, &[&[1, 5][..], &most, &[0, 0]].concat()).is_ok());
    // Nor do those of several threads.
    let thread = forest_bytes(2, &[&[1, 5][..], &most, &[0, 0]].concat());
    let threads = (b"WIND", 2, &[&thread[..], &thread].concat()[..]);
    let file = file_of(&[(b"MODS", 1, MODULE), threads]);
    assert_eq!(Profile::read(&file), Err(ReadError::Overflow(SumOverflow { key: 0 })));
}

#[test]
fn a_function_is_counted_in_one_way() {
    let (windows, slabs) = (forest_bytes(2, &[1, 5, 5, 0, 0]), forest_bytes(2, &[1, 4, 5, 0]));
    let both = [(b"MODS", 1, MODULE), (b"WIND", 1, &windows), (b"SLAB", 1, &slabs)];
    let error = Profile::read(&file_of(&both)).unwrap_err();
    assert!(error.to_string().contains("not of the kind of the function's others"), "{error}");
    let [one, other] = [1, 2].map(|at| Profile::read(&file_of(&[both[0], both[at]])).unwrap());
    assert_eq!(one.clone().merge(&other), Err(MergeError::Counters { key: 0 }));
    assert_eq!(other.clone().merge(&one), Err(MergeError::Counters { key: 0 }));
    let key = one.clone().merge(&other).unwrap_err().to_string();
    assert!(key.contains("key 0000000000000000 in different ways"), "{key}");
}

/// Many forests of one function take time in proportion to the file.
#[test]
fn many_forests_of_a_large_function_are_read_in_no_time() {
    let mut large = vec![1];
    for path in 0..100_000u32 {
        let path = path + 1;
        large.extend([path as u8 | 0x80, (path >> 7) as u8 | 0x80, (path >> 14) as u8 | 0x80]);
        large.extend([0x01, 1]);
    }
    large.extend([0, 0]);
    let mut bytes = forest_bytes(2, &large);
    for _ in 0..100_000 {
        bytes.extend(forest_bytes(2, &[1, 5, 1, 0, 0]));
    }
    let file = file_of(&[(b"MODS", 1, MODULE), (b"WIND", 100_001, &bytes)]);
    let begun = std::time::Instant::now();
    assert!(Profile::read(&file).is_ok());
    assert!(cfg!(miri) || begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn counts_that_claim_more_than_the_file_holds_set_no_memory_aside() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let roots = forged(1, &forest_bytes(1, &huge));
    let children = forged(1, &forest_bytes(2, &[&[1, 0, 1][..], &huge].concat()));
    let forests = forged(u32::MAX, &forest_bytes(1, &[0]));
    let labels = forged_windows(&forest_bytes(64, &[127, 1]));
    let modules = file_of(&[(b"MODS", u32::MAX, MODULE)]);
    for file in [roots, children, forests, labels, modules] {
        assert!(matches!(Profile::read(&file), Err(ReadError::Malformed(_))));
    }
}

#[test]
fn the_forests_of_threads_and_of_reloaded_libraries_add_up() {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file);
    encoder.module(5, b"/lib/\xff.so").unwrap();
    encoder.module(5, b"/lib/again.so").unwrap();
    let header = |module, key| ForestHeader { module, key, k: 2, totals: Totals::new([10, 1, 2]) };
    for module in [0, 1, 0] {
        encoder.windows(&header(module, 4)).unwrap();
        for (is_anchored, window, path) in [(true, None, 8), (false, Some(8), 9 + module)] {
            encoder.group(is_anchored, window.into_iter()).unwrap();
            encoder.path(path, 100).unwrap();
            encoder.end().unwrap();
        }
        encoder.end().unwrap();
    }
    for module in [0, 1, 0] {
        encoder.slabs(&header(module, 3), 1).unwrap();
        encoder.node(8, 100, 1).unwrap();
        encoder.node(9 + module, 1, 0).unwrap();
    }
    let header = encoder.finish(FLAG_LOWER_BOUNDS);
    let profile = Profile::read(&[&header[..], &file].concat()).unwrap();
    assert_eq!(profile.modules, [module(5, "/lib/\u{fffd}.so")]);
    assert_eq!(profile.flags, FLAG_LOWER_BOUNDS);
    let [windows, slabs] = &profile.functions[..] else { panic!() };
    for (function, pairs) in [(windows, [200, 100]), (slabs, [2, 1])] {
        assert_eq!(function.totals, Totals::new([30, 3, 6]));
        let counts: Vec<(u32, u64)> = function
            .forest
            .preorder()
            .map(|(id, _)| (function.forest.label(id), function.forest.count(id)))
            .collect();
        assert_eq!(counts, [(8, 300), (9, pairs[0]), (10, pairs[1])]);
    }
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
            function(1, function_of_windows(18, 1, Default::default())),
            function(0, function_of_windows(18, 1, Default::default())),
        ],
        ..small()
    };
    sum.merge(&library).unwrap();
    let names: Vec<&str> = sum.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["/bin/a", "/lib/b.so", "/lib/c.so"]);
    let functions: Vec<_> =
        sum.functions.iter().map(|f| (f.module, f.key, f.totals.entries)).collect();
    assert_eq!(functions, [(0, 17, 7), (0, 19, 7), (1, 18, 14), (2, 18, 7)]);
    // A run in which nothing instrumented ran has no k.
    let mut nothing = Profile::default();
    nothing.merge(&small()).unwrap();
    assert_eq!(nothing, small());
    nothing.merge(&Profile::default()).unwrap();
    assert_eq!(nothing, small());
}

#[test]
fn a_run_tells_its_memory_and_a_sum_does_not() {
    let mut used = MemoryUse::default();
    used.add_thread(1000, 64, 4096);
    used.add_thread(5000, 512, 8192);
    used.add_thread(2000, 128, 4096);
    let expected = MemoryUse { threads: 3, states: 8000, index: 704, most: 5512, limit: 8192 };
    assert_eq!((used, used.bytes()), (expected, 8704));
    let run = Profile { used: Some(used), ..small() };
    assert_eq!(Profile::read(&run.write()).unwrap().used, Some(used));
    assert_eq!(Profile::read(&small().write()).unwrap().used, None);
    let mut sum = run.clone();
    sum.merge(&run).unwrap();
    assert_eq!(sum.used, None);
    let twice = file_of(&[(b"used", 2, &[1; 10])]);
    assert!(Profile::read(&file_of(&[(b"used", 1, &[1; 5])])).is_ok());
    let error = Profile::read(&twice).unwrap_err().to_string();
    assert!(error.contains("is there twice"), "{error}");
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
