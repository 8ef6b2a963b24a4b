//! What the report says of a program as a whole, and of its paths. Loops: `report_loops.rs`.

mod support;

use midflight_profile::table::{CutReason, Edge, FunctionTable, Loc, Mode};
use support::{Fixture, K, bar, block, elf, elf_with, idle, profile, section, streams, sum};

/// The report on a program of these functions, of which some ran, without its legend and sources.
fn report_of(tables: &[FunctionTable], runs: &[(&str, Vec<Vec<u32>>)], options: &str) -> String {
    let fixture = Fixture::new();
    fixture.write("prog", &elf(&section(tables)));
    fixture.write("prog.mfp", &profile("/build/prog", tables, runs).write());
    fixture.printed(&format!("report prog prog.mfp --no-legend --no-source {options}"))
}

#[test]
fn the_flat_view_is_a_line_a_function() {
    let fixture = Fixture::new();
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("report-flat", fixture.printed("report prog prog.mfp --flat"));
    });
    let text = fixture.printed("report prog prog.mfp --flat --top 1");
    assert!(text.contains("  sum ") && !text.contains("foo::bar"), "{text}");
    assert!(text.ends_with("1 more function ran; --top shows more\n"), "{text}");
}

#[test]
fn the_legend_may_be_left_out() {
    let fixture = Fixture::new();
    let with = fixture.printed("report prog prog.mfp --no-source");
    let without = fixture.printed("report prog prog.mfp --no-source --no-legend");
    let (before, rest) = with.split_once("A path is one way").unwrap();
    let after = rest.split_once("\n\n").unwrap().1;
    assert_eq!(format!("{before}{after}"), without);
}

#[test]
fn a_function_that_is_not_there_is_an_error_wherever_one_is_asked_for() {
    let fixture = Fixture::new();
    for line in [
        "report prog prog.mfp",
        "report prog prog.mfp --flat",
        "report prog prog.mfp --format json",
        "annotate prog prog.mfp",
        "export --to html prog prog.mfp",
        "diff prog prog.mfp prog.mfp",
        "show prog prog.mfp",
    ] {
        let complaint = fixture.complaint(&format!("{line} --function nosuch"));
        assert!(complaint.contains("there is no function 'nosuch'"), "{line}: {complaint}");
    }
    // One that did not run is there.
    for line in ["report", "annotate", "export --to folded"] {
        fixture.printed(&format!("{line} prog prog.mfp --function idle"));
    }
}

#[test]
fn functions_that_were_left_alone_are_named() {
    let fixture = Fixture::new();
    let many: String = (0..9).map(|number| format!("f{number}\0NotListed\0")).collect();
    let skipped = format!("_Z3geni\0Coroutine\0sum\0Naked\0{many}");
    let tables = section(&[sum(), idle(), bar()]);
    let sections = [
        (midflight_abi::RECORD_SECTION, &tables[..]),
        (midflight_abi::SKIPPED_SECTION, skipped.as_bytes()),
    ];
    fixture.write("prog", &elf_with(&sections));
    let text = fixture.printed("report prog prog.mfp");
    let line = "functions: 3 profiled, 10 left alone: 1 Coroutine (gen(int)), 9 NotListed (f0, f1, f2, \
                f3, f4, f5, …)\n";
    assert!(text.contains(line), "{text}");
    let document = fixture.printed("report prog prog.mfp --format json");
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["skipped"]["NotListed"], 9);
    assert_eq!(document["skipped_names"]["Coroutine"], serde_json::json!(["gen(int)"]));
    assert_eq!(document["skipped_names"]["NotListed"].as_array().unwrap().len(), 9);
}

#[test]
fn several_k_are_said() {
    let two = FunctionTable { k: 2, ..sum() };
    let runs = [("sum", streams(1)), ("_ZN3foo3barEi", vec![vec![0]; 7])];
    let text = report_of(&[two.clone(), bar()], &runs, "");
    assert!(
        text.starts_with("midflight report of prog, 1 profile, k = 2 and 4, as functions were")
    );
    assert!(text.contains("6 of its 6 paths were taken; k = 2\n"), "{text}");
    assert!(text.contains("its only path was taken; k = 4\n"), "{text}");
    // A function that did not run says nothing.
    let text = report_of(&[two, bar()], &[("sum", streams(1))], "");
    assert!(text.starts_with("midflight report of prog, 1 profile, k = 2\n"), "{text}");
    assert!(!text.contains("; k = 2"), "{text}");
}

#[test]
fn what_k_does_not_tell_has_no_column() {
    let heads = |k| {
        let mode = if k == 1 { Mode::Counting } else { Mode::Automaton };
        let table = FunctionTable { k, mode, ..sum() };
        let text = report_of(&[table], &[("sum", streams(1))], "");
        let table = text.split("% ways").nth(1).unwrap_or_else(|| panic!("{text}"));
        assert!(!table.contains('?'), "{text}");
        assert!(table.lines().all(|line| line == line.trim_end()), "{text}");
        table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(heads(1), "count");
    assert_eq!(heads(2), "count mean run followed by");
    assert_eq!(heads(3), "count mean run in runs ≥ 2 followed by");
}

/// `if (a && b) c;` in line 8, between lines 6 and 9: three paths over the same lines.
fn condition(inlined: bool) -> FunctionTable {
    let flow = |from, to, value| Edge::Flow { from, to, value };
    let mut called = block(5, &[8]);
    if inlined {
        called.locs = vec![Loc { file: 1, line: 33, outer_line: 8 }];
    }
    FunctionTable {
        num_paths: 3,
        mode: Mode::Counting,
        files: vec!["/build/src/sum.c".into(), "/include/list.h".into()],
        blocks: vec![block(4, &[6]), block(3, &[8]), block(3, &[8]), called, block(2, &[9])],
        edges: vec![
            flow(0, 1, 0),
            flow(1, 2, 0),
            flow(1, 4, 2),
            flow(2, 3, 0),
            flow(2, 4, 1),
            flow(3, 4, 0),
            Edge::Exit { from: 4, value: 0 },
        ],
        ..sum()
    }
}

#[test]
fn paths_over_the_same_lines_are_told_apart_by_parts_of_lines() {
    let runs = [("sum", vec![vec![0], vec![1], vec![2]])];
    let text = report_of(&[condition(false)], &runs, "");
    for words in [
        "through parts 2 3 of 3 of line 8, from the entry, lines 6 8-9, then",
        "through part 2 of 3 of line 8, from the entry, lines 6 8-9, then",
        "not through parts 2 3 of 3 of line 8, from the entry, lines 6 8-9, then",
    ] {
        assert!(text.contains(&format!("  {words}")), "no '{words}' in {text}");
    }
    let text = report_of(&[condition(true)], &runs, "");
    assert!(text.contains("  through list.h:33, from the entry, lines 6 8-9, then"), "{text}");
    // Where no other path has these lines, there is nothing to tell apart.
    let text = report_of(&[condition(false)], &[("sum", vec![vec![1]])], "");
    assert!(text.contains("×  from the entry, lines 6 8-9, then"), "{text}");
}

/// A loop around a switch of eight cases: block 1 goes to blocks 2 to 9, in lines 10 to 17, and
/// out.
fn interpreter() -> FunctionTable {
    let (cases, why) = (8, CutReason::Retreating);
    let mut edges = vec![Edge::Flow { from: 0, to: 1, value: 0 }];
    edges.extend((0..=cases).map(|case| Edge::Flow { from: 1, to: 2 + case, value: case }));
    edges.extend((0..cases).map(|case| {
        let start = (1 + cases) * (1 + case);
        Edge::Cut { from: 2 + case, to: 1, end: 0, start, why }
    }));
    edges.push(Edge::Exit { from: 2 + cases, value: 0 });
    let mut blocks = vec![block(4, &[6]), block(3, &[7])];
    blocks.extend((0..cases).map(|case| block(5, &[10 + case])));
    blocks.push(block(2, &[20]));
    FunctionTable { num_paths: (1 + cases) * (1 + cases), blocks, edges, ..sum() }
}

#[test]
fn a_branch_that_goes_many_ways_has_a_line() {
    // Cases 0, 1, 0, 1, …, 5, and out.
    let after = |case: u32, next: u32| 9 * (1 + case) + next;
    let mut stream = vec![0];
    for _ in 0..50 {
        stream.extend([after(0, 1), after(1, 0)]);
    }
    stream.extend([after(0, 5), after(5, 8)]);
    let text = report_of(&[interpreter()], &[("sum", vec![stream.clone()])], "");
    let line = "   Dispatch at line 7: 103×, to 4 of 9 places: line 10 49.5 %, line 11 48.5 %, line 15 \
                1.0 %, line 20 1.0 %; the last way foretells the next in 99.0 %\n";
    assert!(text.contains(line), "{text}");
    let pairs =
        "most often followed: 10 → 11 49.0 %, 11 → 10 49.0 %, 10 → 15 1.0 %, 15 → 20 1.0 %\n";
    assert!(text.contains(pairs), "{text}");
    // With k = 1 nothing is known of what follows.
    let table = FunctionTable { k: 1, mode: Mode::Counting, ..interpreter() };
    let text = report_of(&[table], &[("sum", vec![stream])], "");
    assert!(text.contains("line 20 1.0 %\n") && !text.contains("followed"), "{text}");
    assert!(!report_of(&[sum()], &[("sum", streams(K as usize))], "").contains("Dispatch"));
}
