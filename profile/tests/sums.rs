//! Adding files up without allocating, against the same with.

mod support;

use midflight_profile::format::*;
use proptest::prelude::*;
use support::{functions, sum};

/// Profiles of one k that share modules and functions, and have several forests of a function.
/// Functions with an even key are counted in windows, the others as published.
fn profiles(k: u32) -> impl Strategy<Value = Profile> {
    let modules = prop::sample::subsequence(vec![11u64, 22, 33], 1..=3).prop_shuffle();
    let function = (any::<prop::sample::Index>(), 0u64..2, functions(k), 0u64..9);
    let functions = prop::collection::vec(function, 0..6);
    (modules, functions, 0u32..2).prop_map(move |(signatures, functions, flags)| {
        let modules: Vec<Module> = signatures
            .into_iter()
            .map(|signature| Module { signature, name: format!("/{signature}") })
            .collect();
        let functions: Vec<FunctionProfile> = functions
            .into_iter()
            .map(|(module, key, counted, n)| FunctionProfile {
                module: module.index(modules.len()),
                key: 2 * key + u64::from(counted.counters == Counters::Slabs),
                totals: Totals::new([n, n / 2, n / 3]),
                ..counted
            })
            .collect();
        let k = if functions.is_empty() { 0 } else { k };
        Profile { k, flags, modules, functions, contexts: None, used: None }
    })
}

fn pairs() -> impl Strategy<Value = (Profile, Profile)> {
    (1u32..6).prop_flat_map(|k| (profiles(k), profiles(k)))
}

proptest! {
    #[test]
    fn the_sum_is_that_of_merging((a, b) in pairs()) {
        let (a, b) = (a.write(), b.write());
        let mut expected = Profile::read(&a).unwrap();
        expected.merge(&Profile::read(&b).unwrap()).unwrap();
        let sum = sum(&a, &b).unwrap();
        prop_assert_eq!(Profile::read(&sum).unwrap().write(), expected.write());
    }

    /// Whatever the second file is, and with right checksums: an error or a sum, never a panic.
    #[test]
    fn forged_files_do_no_harm(
        (a, b) in pairs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in 0usize..8,
    ) {
        let (a, mut b) = (a.write(), b.write());
        for (at, byte) in changes {
            let at = 12 + at.index(b.len() - 12);
            b[at] = byte;
        }
        b.truncate((b.len() - cut).max(HEADER_SIZE));
        support::seal(&mut b);
        if let Ok(read) = Profile::read(&b) {
            let mut expected = Profile::read(&a).unwrap();
            if expected.merge(&read).is_ok() {
                let sum = sum(&a, &b).unwrap();
                prop_assert_eq!(Profile::read(&sum).unwrap().write(), expected.write());
            }
        } else {
            let _ = sum(&a, &b);
        }
    }
}

/// The sum has what is known of both, and nothing of what is not.
#[test]
fn sections_that_nobody_knows_are_left_out_of_sums() {
    let module = &[5, 0, 0, 0, 0, 0, 0, 0, 1, b'a'][..];
    let with = support::file_of(&[(b"cctx", 1, b"a"), (b"MODS", 1, module)]);
    let without = Profile::read(&with).unwrap().write();
    assert_eq!(sum(&with, &with).unwrap(), without);
    assert_eq!(sum(&with, &without).unwrap(), without);
    let unknown = support::file_of(&[(b"CCTX", 1, b"a"), (b"MODS", 1, module)]);
    assert!(sum(&unknown, &without).unwrap_err().contains("'CCTX'"));
}

/// One that is counted as published in one file only is in none of a run.
#[test]
fn a_function_that_is_counted_in_two_ways_is_refused() {
    let module = &[5, 0, 0, 0, 0, 0, 0, 0, 1, b'a'][..];
    let head = [&[0; 9][..], &[2, 0, 0, 0]].concat();
    let file = |kind, counters: &[u8]| {
        support::file_of(&[(b"MODS", 1, module), (kind, 1, &[&head[..], counters].concat())])
    };
    let (windows, slabs) = (file(b"WIND", &[1, 5, 5, 0, 0]), file(b"SLAB", &[1, 4, 5, 0]));
    assert!(sum(&windows, &windows).is_ok() && sum(&slabs, &slabs).is_ok());
    for (one, other) in [(&windows, &slabs), (&slabs, &windows)] {
        let error = sum(one, other).unwrap_err();
        assert!(error.contains("not of the kind of the function's others"), "{error}");
    }
}

#[test]
fn what_is_no_profile_is_refused() {
    let file = Profile::default().write();
    assert_eq!(sum(&file, &file).as_deref(), Ok(file.as_slice()));
    let mut damaged = file.clone();
    damaged[20] ^= 1;
    for wrong in [&b""[..], b"hello", &file[..HEADER_SIZE - 1], &damaged] {
        assert!(sum(wrong, &file).is_err() && sum(&file, wrong).is_err(), "{wrong:?}");
    }
}
