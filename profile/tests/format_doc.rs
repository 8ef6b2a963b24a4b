//! The worked examples of `docs/format.md` are what this crate writes.

use midflight_profile::format::{
    CalledFunction, CalledId, ContextMode, Contexts, Counters, FunctionProfile, HEADER_SIZE,
    Module, Profile, Totals,
};
use midflight_profile::osr_maps::{self, Both, FunctionMaps, MapExpr, MapPoint, Maps, PerVersion};
use midflight_profile::table::*;
use midflight_profile::windows::{WindowForest, Windows};
use std::fmt::Write;

const DOCUMENT: &str = include_str!("../../docs/format.md");

/// `void f(int n) { while (n--) g(); }` before optimization: block 1 is the loop's head, 2 its
/// body, 3 the way out.
fn table() -> FunctionTable {
    let block = |instructions: u32, calls: bool, line: u32| Block {
        instructions,
        calls,
        locs: vec![Loc { file: 0, line, outer_line: line }],
    };
    FunctionTable {
        key: 0,
        cfg_hash: 0x8877_6655_4433_2211,
        k: 3,
        num_paths: 4,
        stage: Stage::Early,
        mode: Mode::Automaton,
        llvm: 22,
        name: "f".into(),
        unit: String::new(),
        files: vec!["a.c".into()],
        file: 0,
        line: 1,
        blocks: vec![block(2, false, 1), block(5, false, 2), block(2, true, 3), block(1, false, 4)],
        edges: vec![
            Edge::Flow { from: 0, to: 1, value: 0 },
            Edge::Flow { from: 1, to: 2, value: 0 },
            Edge::Flow { from: 1, to: 3, value: 1 },
            Edge::Cut { from: 2, to: 1, end: 0, start: 2, why: CutReason::Retreating },
            Edge::Exit { from: 3, value: 0 },
        ],
    }
}

/// The same function, compiled for calling contexts: it calls `g` in line 3.
fn context_table() -> ContextTable {
    let loc = Loc { file: 0, line: 3, outer_line: 3 };
    ContextTable {
        key: 0,
        stage: Stage::Early,
        llvm: 22,
        granularity: Granularity::Sites,
        has_own_frame: false,
        bursts: false,
        times: false,
        paths: false,
        recursion: Recursion::Levels,
        name: "f".into(),
        unit: String::new(),
        files: vec!["a.c".into()],
        file: 0,
        line: 1,
        sites: vec![Site { loc, is_tail: false }],
    }
}

/// One activation with n = 4, of which the last path found no room for what came before: ∗ 0 2 2 2,
/// then 3.
fn profile() -> Profile {
    let mut windows = WindowForest::new(3);
    windows.enter();
    [0, 2, 2, 2].into_iter().for_each(|id| windows.event(id));
    windows.forget_all_but(1);
    windows.event(3);
    let Windows { all: forest, truncated } = windows.windows().clone();
    let key = key_of(&table().encode());
    Profile {
        k: 3,
        flags: 1,
        modules: vec![Module { signature: image_signature([key].into_iter()), name: "./a".into() }],
        functions: vec![FunctionProfile {
            module: 0,
            key,
            k: 3,
            totals: Totals { entries: 1, ..Totals::default() },
            counters: Counters::Windows,
            forest,
            truncated,
        }],
        contexts: None,
        used: None,
    }
}

fn dump(bytes: &[u8]) -> String {
    bytes.chunks(16).zip(0..).fold(String::new(), |mut text, (line, at)| {
        write!(text, "{:04x} ", at * 16).unwrap();
        line.iter().for_each(|byte| write!(text, " {byte:02x}").unwrap());
        text + "\n"
    })
}

fn check_documented(what: &str, bytes: &[u8]) {
    let dump = dump(bytes);
    assert!(DOCUMENT.contains(&dump), "docs/format.md has not this {what}:\n{dump}");
}

#[test]
fn the_documented_record_is_what_is_written() {
    assert!(PathDecoder::new(&table()).is_ok());
    check_documented("record", &table().encode());
}

#[test]
fn the_documented_record_of_calling_contexts_is_what_is_written() {
    let record = context_table().encode();
    let key = key_of(&record);
    assert_eq!(
        ContextTable::decode(&record),
        Ok((ContextTable { key, ..context_table() }, record.len()))
    );
    check_documented("record of calling contexts", &record);
}

#[test]
fn the_documented_profile_is_what_is_written() {
    let file = profile().write();
    assert_eq!(table().check_forest(&profile().functions[0].forest), Ok(()));
    assert_eq!(Profile::read(&file), Ok(profile()));
    check_documented("profile", &file);
    let signature = format!("0x{:016x}", profile().modules[0].signature);
    assert!(DOCUMENT.contains(&signature), "docs/format.md has not the signature {signature}");
}

/// `main` calls `f` from two call sites, and `f` calls `g` from the one that it has.
fn contexts() -> Contexts {
    let mut contexts = Contexts::new(ContextMode::All);
    (contexts.activations, contexts.elsewhere) = (307, 1);
    let keys = [0x1111_1111_1111_1111, key_of(&context_table().encode()), 0x2222_2222_2222_2222];
    let functions = keys.into_iter().zip([2, 1, 0]);
    let functions: Vec<CalledId> = functions
        .map(|(key, slots)| contexts.intern(CalledFunction { module: 0, key, slots }).unwrap())
        .collect();
    let mut call = |parent, site, function: usize, count| {
        let id = contexts.child_or_insert(parent, site, functions[function]);
        contexts.add(id, count, 0).unwrap();
        Some(id)
    };
    let main = call(None, 0, 0, 1);
    let first = call(main, 0, 1, 3);
    call(first, 0, 2, 300);
    call(main, 1, 1, 2);
    contexts
}

#[test]
fn the_documented_tree_of_contexts_is_what_is_written() {
    let modules = vec![Module { signature: 1, name: String::new() }];
    let profile = Profile { modules, contexts: Some(contexts()), ..Profile::default() };
    let file = profile.write();
    assert_eq!(Profile::read(&file), Ok(profile));
    // Behind the module
    check_documented("tree of contexts", &file[HEADER_SIZE + 9..]);
}

/// The optimized version computes x where the point of base is; back there is no way.
#[test]
fn the_documented_record_of_mappings_is_what_is_written() {
    let texts = |name: &str| vec![format!("%x = add i32 %{name}, 1"), "ret i32 %x".to_string()];
    let leads = MapPoint::Leads {
        point: 1,
        at: 1,
        landing: 1,
        values: vec![(1, 2)],
        exprs: vec![
            MapExpr::Source { source: 0 },
            MapExpr::Constant { constant: 3 },
            MapExpr::Repeat { repeat: 0, of: vec![0, 1] },
        ],
        stores: vec![],
        differs: false,
        keep: vec![0],
        ahead: None,
        came: None,
    };
    let refused = MapPoint::Refused { point: 0, at: 0, refused: "NoLanding".to_string() };
    let function = FunctionMaps {
        name: "f".to_string(),
        file: "a.c".to_string(),
        pipeline: "gvn".to_string(),
        maps: Maps {
            arguments: 1,
            instructions: PerVersion { base: texts("a"), opt: texts("a") },
            constants: [(3, "i32 1".to_string())].into(),
            points: Both { base_to_opt: vec![leads], opt_to_base: vec![refused] },
        },
    };
    let record = function.encode().expect("it is small");
    assert_eq!(osr_maps::read_section(&record), Ok(vec![function]));
    check_documented("record of mappings", &record);
}
