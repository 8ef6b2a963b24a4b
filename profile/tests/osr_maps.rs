//! Records of mappings: random ones, whole and damaged.

use midflight_profile::osr_maps::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Texts with what instructions have, and with what they do not.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "%[a-c] = (add|load) (i32|ptr) %[a-c], (%[a-c]|[0-9]{1,3})",
        "[ -~]{0,20}",
        "(é| |x){0,200}",
        Just(String::new()),
    ]
}

/// A point of a version with so many instructions, which leads to one with so many; base has the
/// last number of them.
fn point(
    arguments: usize,
    [from, to]: [usize; 2],
    base: usize,
    constants: Vec<u32>,
) -> impl Strategy<Value = MapPoint> {
    let expr = (0..5u8, any::<u32>(), vec(any::<u32>(), 0..4));
    let insts = (0..from, vec(0..from, 1..3));
    let of = prop::option::of;
    let stores = vec((0..9usize, any::<u32>(), any::<u32>()), 0..3);
    let leads = (
        (0..9usize, 0..from, 0..to),
        vec(expr, 0..6),
        vec((0..arguments + to, any::<u32>()), 0..6),
        vec(0..arguments + from, 0..3),
        (stores, any::<bool>()),
        (of(insts.clone()), of(insts)),
    );
    let leads = leads.prop_map(
        move |((point, at, landing), raw, values, keep, (stores, differs), more)| {
            let below = |number: u32, count: usize| number as usize % count;
            let mut exprs = Vec::new();
            for (place, (kind, number, of)) in raw.into_iter().enumerate() {
                exprs.push(match kind {
                    0 if !constants.is_empty() => {
                        MapExpr::Constant { constant: constants[below(number, constants.len())] }
                    }
                    1 => {
                        let of = of.into_iter().filter(|_| place > 0);
                        let of = of.map(|operand| below(operand, place)).collect();
                        MapExpr::Repeat { repeat: below(number, to), of }
                    }
                    2 if place > 0 => MapExpr::Content {
                        content: below(number, base),
                        address: below(number, place),
                    },
                    3 if place > 0 => {
                        MapExpr::Narrow { narrow: below(number, to), of: below(number, place) }
                    }
                    _ => MapExpr::Source { source: below(number, arguments + from) },
                });
            }
            let values = values.into_iter().filter(|_| !exprs.is_empty());
            let values = values.map(|(value, expr)| (value, below(expr, exprs.len()))).collect();
            let stores = stores.into_iter().filter(|_| !exprs.is_empty());
            let stores = stores.map(|(store, value, address)| OwedStore {
                store: store % base,
                value: below(value, exprs.len()),
                address: below(address, exprs.len()),
            });
            let stores = stores.collect();
            let ahead = more.0.map(|(to, runs)| Ahead { to, runs });
            let came = more.1.map(|(into, from)| Came { into, from });
            MapPoint::Leads {
                point,
                at,
                landing,
                values,
                exprs,
                stores,
                differs,
                keep,
                ahead,
                came,
            }
        },
    );
    let refused = (0..9usize, 0..from, text());
    let refused = refused.prop_map(|(point, at, refused)| MapPoint::Refused { point, at, refused });
    prop_oneof![3 => leads, 1 => refused]
}

fn maps() -> impl Strategy<Value = Maps> {
    let constants = prop::collection::btree_map(any::<u32>(), text(), 0..4);
    (0usize..4, vec(text(), 1..8), vec(text(), 1..8), constants).prop_flat_map(
        |(arguments, base, opt, constants)| {
            let known: Vec<u32> = constants.keys().copied().collect();
            let lengths = [base.len(), opt.len()];
            let forth = vec(point(arguments, lengths, lengths[0], known.clone()), 0..4);
            let back = vec(point(arguments, [lengths[1], lengths[0]], lengths[0], known), 0..4);
            (forth, back).prop_map(move |(base_to_opt, opt_to_base)| Maps {
                arguments,
                instructions: PerVersion { base: base.clone(), opt: opt.clone() },
                constants: constants.clone(),
                points: Both { base_to_opt, opt_to_base },
            })
        },
    )
}

fn functions() -> impl Strategy<Value = FunctionMaps> {
    (text(), text(), text(), maps()).prop_map(|(name, file, pipeline, maps)| FunctionMaps {
        name,
        file,
        pipeline,
        maps,
    })
}

fn encoded(function: &FunctionMaps) -> Vec<u8> {
    function.encode().expect("it is small")
}

/// Makes a changed record one whose hash is right.
fn sign(record: &mut [u8]) {
    let key = key_of(record).to_le_bytes();
    record[8..16].copy_from_slice(&key);
}

proptest! {
    #[test]
    fn what_is_written_is_read(functions in vec(functions(), 0..4), padding in 0usize..3) {
        let mut section = vec![0; padding * 8];
        for function in &functions {
            section.extend(encoded(function));
            section.resize(section.len() + padding * 8, 0);
        }
        prop_assert_eq!(read_section(&section), Ok(functions));
    }

    #[test]
    fn what_is_cut_off_is_refused(function in functions(), at in any::<prop::sample::Index>()) {
        let record = encoded(&function);
        let at = at.index(record.len() - 1) + 1;
        let error = read_section(&record[..at]).expect_err("it is not whole");
        let is_cut = matches!(error.kind, MapsErrorKind::Damaged(Damage::Truncated { .. }));
        prop_assert!(is_cut, "{error}");
    }

    #[test]
    fn what_is_damaged_is_refused(
        function in functions(),
        at in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let mut record = encoded(&function);
        record[at.index(function.encode().map_or(1, |r| r.len()))] ^= change;
        prop_assert!(read_section(&record).is_err());
    }

    /// What is accepted is what could have been written.
    #[test]
    fn forged_records_are_refused_or_make_sense(
        function in functions(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut record = encoded(&function);
        for (at, byte) in changes {
            let at = 16 + at.index(record.len() - 16);
            record[at] = byte;
        }
        sign(&mut record);
        if let Ok(read) = read_section(&record) {
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(read_section(&encoded(&read[0])), Ok(read));
        }
    }

    #[test]
    fn noise_is_refused(bytes in vec(any::<u8>(), 1..200)) {
        prop_assume!(bytes.iter().any(|&byte| byte != 0));
        let _ = read_section(&bytes);
        let mut record = vec![0; 16];
        record.extend(&bytes);
        record.resize(record.len().next_multiple_of(8), 0);
        let size = record.len() as u32;
        record[..4].copy_from_slice(&size.to_le_bytes());
        record[4] = 1;
        sign(&mut record);
        let _ = read_section(&record);
    }
}

fn small() -> FunctionMaps {
    let instructions = |name: &str| vec![format!("%x = add i32 %{name}, 1"), "ret i32 %x".into()];
    FunctionMaps {
        name: "f".into(),
        file: "a.c".into(),
        pipeline: "gvn".into(),
        maps: Maps {
            arguments: 1,
            instructions: PerVersion { base: instructions("a"), opt: instructions("b") },
            constants: [(3, "i32 1".to_string())].into(),
            points: Both {
                base_to_opt: vec![MapPoint::Leads {
                    point: 0,
                    at: 0,
                    landing: 1,
                    values: vec![(1, 2)],
                    exprs: vec![
                        MapExpr::Source { source: 0 },
                        MapExpr::Constant { constant: 3 },
                        MapExpr::Repeat { repeat: 0, of: vec![0, 1] },
                    ],
                    stores: vec![],
                    differs: false,
                    keep: vec![],
                    ahead: None,
                    came: None,
                }],
                opt_to_base: vec![],
            },
        },
    }
}

/// The record of [`small`] after a change of its only point.
fn changed(change: impl Fn(&mut MapPoint)) -> String {
    let mut function = small();
    change(&mut function.maps.points.base_to_opt[0]);
    read_section(&encoded(&function)).map_or_else(|e| e.to_string(), |_| "nothing".to_string())
}

#[test]
fn what_points_name_must_be_there() {
    let says = |change: fn(&mut MapPoint), what: &str| {
        let error = changed(change);
        assert!(error.ends_with(&format!("names {what} that is not there")), "{error}: {what}");
    };
    fn fields(point: &mut MapPoint) -> Option<Fields<'_>> {
        match point {
            MapPoint::Leads { at, landing, values, exprs, keep, .. } => {
                Some((at, landing, values, exprs, keep))
            }
            MapPoint::Refused { .. } => None,
        }
    }
    type Fields<'a> = (
        &'a mut usize,
        &'a mut usize,
        &'a mut Vec<(usize, usize)>,
        &'a mut Vec<MapExpr>,
        &'a mut Vec<usize>,
    );
    says(|p| *fields(p).unwrap().0 = 2, "an instruction");
    says(|p| *fields(p).unwrap().1 = 2, "a landing");
    says(|p| fields(p).unwrap().2[0] = (3, 2), "a value");
    says(|p| fields(p).unwrap().2[0] = (1, 3), "an expression");
    says(|p| fields(p).unwrap().3[0] = MapExpr::Source { source: 3 }, "a source value");
    says(|p| fields(p).unwrap().3[1] = MapExpr::Constant { constant: 4 }, "a constant");
    let repeat = |p: &mut MapPoint| {
        fields(p).unwrap().3[2] = MapExpr::Repeat { repeat: 2, of: vec![] };
    };
    says(repeat, "an instruction to repeat");
    says(|p| fields(p).unwrap().4.push(3), "a kept value");
    let later = |p: &mut MapPoint| {
        fields(p).unwrap().3[2] = MapExpr::Repeat { repeat: 0, of: vec![2] };
    };
    assert!(changed(later).ends_with("names an expression that comes later"));
    let store = |store: usize, value: usize| {
        changed(move |point| {
            if let MapPoint::Leads { stores, .. } = point {
                stores.push(OwedStore { store, value, address: 0 });
            }
        })
    };
    assert!(store(2, 0).ends_with("names a store that is not there"));
    assert!(store(0, 3).ends_with("names an expression that is not there"));
    assert_eq!(store(0, 2), "nothing");
    let content = |p: &mut MapPoint| {
        fields(p).unwrap().3[2] = MapExpr::Content { content: 2, address: 0 };
    };
    says(content, "a store");
    let narrow = |p: &mut MapPoint| fields(p).unwrap().3[2] = MapExpr::Narrow { narrow: 2, of: 0 };
    says(narrow, "an instruction to undo");
    let left = |inst: usize| {
        let ahead = changed(move |point| {
            if let MapPoint::Leads { ahead, .. } = point {
                *ahead = Some(Ahead { to: inst, runs: vec![] });
            }
        });
        let came = changed(move |point| {
            if let MapPoint::Leads { came, .. } = point {
                *came = Some(Came { into: 0, from: vec![inst] });
            }
        });
        [ahead, came]
    };
    assert_eq!(left(1), ["nothing", "nothing"]);
    let [ahead, came] = left(2);
    assert!(ahead.ends_with("names an instruction to run that is not there"), "{ahead}");
    assert!(
        came.ends_with("names a block's first or last instruction that is not there"),
        "{came}"
    );
    let nowhere = changed(|point| {
        if let MapPoint::Leads { came, .. } = point {
            *came = Some(Came { into: 0, from: vec![] });
        }
    });
    assert!(nowhere.ends_with("names a way that comes from nowhere"), "{nowhere}");
    assert_eq!(changed(|_| {}), "nothing");
}

#[test]
fn errors_tell_what_is_wrong() {
    let record = encoded(&small());
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut record = record.clone();
        change(&mut record);
        read_section(&record).expect_err("it is damaged").to_string()
    };
    let version = error(&|record| record[4] = 9);
    assert!(version.contains("has version 9, and this Midflight reads version 3"), "{version}");
    let size = error(&|record| record[0] = 7);
    assert!(size.contains("says that it has 7 bytes"), "{size}");
    let key = error(&|record| record[8] ^= 1);
    assert!(key.contains("does not match its own hash"), "{key}");
    let second = error(&|record| record.extend([1, 2, 3]));
    assert!(second.contains(&format!("at byte {}", record.len())), "{second}");
}

/// A text may not be much longer than the bytes that it stands for.
#[test]
fn pieces_are_short() {
    let mut function = small();
    function.maps.constants.insert(4, "x".repeat(1000));
    let record = encoded(&function);
    assert_eq!(read_section(&record), Ok(vec![function]));
    assert!(record.len() < 300, "{}", record.len());
}

#[test]
fn numbers_that_do_not_fit_are_not_written() {
    let mut function = small();
    function.maps.points.opt_to_base =
        vec![MapPoint::Refused { point: 1 << 32, at: 0, refused: String::new() }];
    assert_eq!(function.encode(), None);
}
