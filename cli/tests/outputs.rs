//! What the commands print of a small program. Run with `INSTA_UPDATE=always` to accept changes.

mod support;

use midflight_profile::table::FunctionTable;
use support::{Fixture, profile, section, sum};

/// Names the snapshot, as all are of one test program.
fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn report() {
    let fixture = Fixture::new();
    check("report", &fixture.printed("report prog prog.mfp --source-dir ."));
}

#[test]
fn report_in_colour() {
    let fixture = Fixture::new();
    let text = fixture.printed("report prog prog.mfp --no-source --top 1 --color always");
    check("report-color", &text.replace('\x1b', "ESC"));
    let plain = fixture.printed("report prog prog.mfp --no-source --top 1");
    assert!(!plain.contains('\x1b'), "a pipe gets no colour");
}

#[test]
fn report_as_trees() {
    let fixture = Fixture::new();
    check(
        "report-tree",
        &fixture.printed("report prog prog.mfp --no-source --tree --function sum"),
    );
}

#[test]
fn report_of_a_function_by_its_source_name() {
    let fixture = Fixture::new();
    let text = fixture.printed("report prog prog.mfp --function foo::bar");
    assert!(text.contains("1. foo::bar(int)  bar.cc:2") && !text.contains("sum"), "{text}");
    let text = fixture.printed("report prog prog.mfp --function idle");
    assert!(text.contains("no function that ran is to be shown"), "{text}");
}

/// Two samples on `sum.c:8`, which two blocks of `sum` have and `bar`, into which it is inlined;
/// two in `sum`, and one in a function that was not profiled.
#[test]
fn samples_weigh_blocks_by_their_lines() {
    let fixture = Fixture::new();
    let text =
        " 55d0 main\n  src/sum.c:8\n 55d4 sum\n  sum.c:8\n 5 sum\n  sum.c:0\n 5 sum\n9 write\n";
    fixture.write("samples", text.as_bytes());
    let text = fixture.printed("report prog prog.mfp --no-source --perf samples");
    assert!(text.contains("5 of them, 80.0 % on lines of functions that were profiled"), "{text}");
    let text = fixture.printed("report prog prog.mfp --format json --perf samples");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["unit"], "nanosamples");
    // The blocks of sum executed 4 × 9 and 3 × 7 instructions, that of bar 7 × 6, half of each
    // there.
    let expected = 2.0 * 42.0 / (36.0 + 21.0 + 42.0);
    let bar = document["functions"][1]["work"].as_f64().unwrap() / 1e9;
    assert!((bar - expected).abs() < 1e-6, "{bar} {expected}");
}

#[test]
fn samples_that_are_none_are_refused() {
    let fixture = Fixture::new();
    fixture.write("empty", b"");
    fixture.write("other", b"sum\n55d0 sum\n");
    fixture.write("broken", b"PERFILE2 and nothing else");
    for (file, complaint) in [
        ("empty", "there are none"),
        ("other", "line 1 is not an address and a symbol"),
        ("absent", "reading the samples 'absent': No such file"),
        ("broken", "reading the samples 'broken': "),
    ] {
        let said = fixture.complaint(&format!("report prog prog.mfp --perf {file}"));
        assert!(said.contains(complaint), "{said}");
    }
}

#[test]
fn annotate() {
    let fixture = Fixture::new();
    check("annotate", &fixture.printed("annotate prog prog.mfp --source-dir ."));
    let text = fixture.printed("annotate prog prog.mfp --source-dir . --top 1 --color always");
    check("annotate-color", &text.replace('\x1b', "ESC"));
    let text = fixture.printed("annotate prog prog.mfp --function sum --paths 2");
    assert!(text.contains("the file was not found; --source-dir says where to look"), "{text}");
    assert!(text.contains("             4  .B       9 |\n"), "{text}");
}

#[test]
fn show() {
    let fixture = Fixture::new();
    check("show-text", &fixture.printed("show prog prog.mfp"));
    check("show-json", &fixture.printed("show prog prog.mfp --format json"));
}

#[test]
fn show_edges() {
    let fixture = Fixture::new();
    check("edges-text", &fixture.printed("show prog prog.mfp --edges"));
    check("edges-json", &fixture.printed("show prog prog.mfp --edges --format json"));
}

#[test]
fn show_tables() {
    let fixture = Fixture::new();
    check("tables-text", &fixture.printed("show prog --tables"));
    check("tables-json", &fixture.printed("show prog --tables --format json"));
}

#[test]
fn one_function_is_shown_by_either_name() {
    let fixture = Fixture::new();
    for name in ["foo::bar(int)", "_ZN3foo3barEi"] {
        for line in ["show prog --tables", "show prog prog.mfp", "show prog prog.mfp --edges"] {
            let text = fixture.printed(&format!("{line} --function {name}"));
            assert!(text.starts_with("_ZN3foo3barEi ") && !text.contains("sum "), "{text}");
        }
    }
    for line in ["show prog --tables", "show prog prog.mfp --format json"] {
        let complaint = fixture.complaint(&format!("{line} --function nobody"));
        assert!(complaint.contains("no function 'nobody'"), "{complaint}");
    }
}

#[test]
fn json_is_json_and_has_every_sequence() {
    let fixture = Fixture::new();
    let text = fixture.printed("show prog prog.mfp --format json --function sum");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["version"], &document["k"]), (&2.into(), &4.into()));
    let function = &document["functions"][0];
    assert_eq!(function["entries"], 12);
    assert_eq!(function["interrupted"], 1);
    let paths = function["paths"].as_array().unwrap();
    let count_of = |ids: &[u32]| {
        let path = paths.iter().find(|p| p["ids"] == serde_json::json!(ids));
        path.map(|p| p["count"].as_u64().unwrap())
    };
    // The runs of `support::streams(10)`.
    for (ids, count) in [(&[0, 3, 3, 4][..], 1), (&[3, 4], 1), (&[3], 3), (&[4], 2), (&[2], 10)] {
        assert_eq!(count_of(ids), Some(count), "{ids:?}");
    }
    assert_eq!(count_of(&[5, 2]), None, "activations do not run into each other");
    for path in paths {
        assert_eq!(path["lines"].as_array().unwrap().len(), path["ids"].as_array().unwrap().len());
    }
}

#[test]
fn lcov() {
    let fixture = Fixture::new();
    check("lcov", &fixture.printed("export --to lcov prog prog.mfp"));
}

#[test]
fn genhtml_reads_the_tracefile() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to lcov prog prog.mfp");
    let source = fixture.path("src").display().to_string();
    fixture.write("src/bar.cc", b"namespace foo {\nint bar(int i) {\n  return i;\n}\n}\n");
    fixture.write("prog.info", text.replace("/build/src", &source).as_bytes());
    let genhtml = std::process::Command::new("genhtml")
        .args(["-q", "-o", "html", "prog.info"])
        .current_dir(fixture.folder.path())
        .output();
    let Ok(output) = genhtml else {
        eprintln!("skipped: there is no genhtml (Debian: lcov)");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fixture.path("html/index.html").is_file());
}

#[test]
fn merging_adds_up_exactly() {
    let fixture = Fixture::new();
    fixture.printed("merge -o once.mfp prog.mfp");
    assert_eq!(fixture.read("once.mfp"), fixture.read("prog.mfp"));
    fixture.printed("merge -o twice.mfp prog.mfp prog.mfp");
    let merged = fixture.printed("show prog twice.mfp --format json");
    assert_eq!(merged, fixture.printed("show prog prog.mfp prog.mfp --format json"));
    assert!(merged.contains("\"entries\":24"), "{merged}");
    let tables = [sum(), support::idle(), support::bar()];
    let other = profile("/build/prog", &tables, &[("idle", vec![vec![0]]), ("sum", vec![vec![1]])]);
    fixture.write("other.mfp", &other.write());
    fixture.printed("merge -o ab.mfp prog.mfp other.mfp");
    fixture.printed("merge -o ba.mfp other.mfp prog.mfp");
    assert_eq!(fixture.read("ab.mfp"), fixture.read("ba.mfp"));
    // A profile may be replaced by a sum that it is a part of.
    fixture.printed("merge -o prog.mfp prog.mfp prog.mfp");
    assert_eq!(fixture.read("prog.mfp"), fixture.read("twice.mfp"));
    let left: Vec<_> = std::fs::read_dir(fixture.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 8, "no temporary file is left: {left:?}");
}

#[test]
fn results_are_readable_for_whom_the_umask_allows_it() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    for (umask, mode) in [("022", 0o644), ("077", 0o600)] {
        let script = format!("umask {umask}; exec \"$0\" merge -o sum.mfp prog.mfp");
        let status = std::process::Command::new("/bin/sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_midflight")])
            .current_dir(fixture.folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        let permissions = fixture.path("sum.mfp").metadata().unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, mode);
        std::fs::remove_file(fixture.path("sum.mfp")).unwrap();
    }
}

#[test]
fn a_library_is_asked_for_and_shown() {
    let fixture = Fixture::new();
    let library = [sum()];
    fixture.write("lib.so", &support::elf(&section(&library)));
    let mut both = midflight_profile::format::Profile::read(&fixture.read("prog.mfp")).unwrap();
    both.merge(&profile("/lib/lib.so", &library, &[("sum", vec![vec![2]])])).unwrap();
    fixture.write("both.mfp", &both.write());
    let output = fixture.run("show prog both.mfp --edges");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "midflight: note: 1 function of 1 image is not shown: '/lib/lib.so' is not there; give it with --library\n"
    );
    let text = fixture.printed("show prog both.mfp --edges --library lib.so --library prog");
    assert_eq!(text.matches("sum entries=").count(), 2, "{text}");
    assert!(text.contains("sum entries=1 completed=1 interrupted=0"), "{text}");
}

/// The profile of a program with libraries, as the files of the fixture that they were loaded from.
fn with_libraries(fixture: &Fixture, libraries: &[(&str, FunctionTable)]) {
    let mut all = midflight_profile::format::Profile::read(&fixture.read("prog.mfp")).unwrap();
    for (name, table) in libraries {
        let path = fixture.path(name).display().to_string();
        let table = [table.clone()];
        all.merge(&profile(&path, &table, &[("sum", vec![vec![2]])])).unwrap();
        fixture.write(name, &support::elf(&section(&table)));
    }
    fixture.write("all.mfp", &all.write());
}

/// Functions like that of the fixture, at lines of their own.
fn sum_at(line: u32) -> FunctionTable {
    FunctionTable { line, ..sum() }
}

#[test]
fn libraries_are_found_where_they_were_loaded_from() {
    let fixture = Fixture::new();
    with_libraries(&fixture, &[("first.so", sum_at(70)), ("second.so", sum_at(80))]);
    let text = fixture.printed("show prog all.mfp --edges");
    assert_eq!(text.matches("sum entries=").count(), 3, "{text}");
    let text = fixture.printed("show prog all.mfp --edges --library first.so");
    assert_eq!(text.matches("sum entries=").count(), 3, "given, and found once: {text}");
}

#[test]
fn libraries_that_are_missing_are_reported_in_one_line() {
    let fixture = Fixture::new();
    let libraries: Vec<(String, FunctionTable)> =
        (0..40).map(|number| (format!("lib{number:02}.so"), sum_at(100 + number))).collect();
    let named: Vec<(&str, FunctionTable)> =
        libraries.iter().map(|(name, table)| (name.as_str(), table.clone())).collect();
    with_libraries(&fixture, &named);
    for (name, _) in &named[2..] {
        std::fs::remove_file(fixture.path(name)).unwrap();
    }
    fixture.write("lib00.so", &support::elf(&section(&[sum_at(9)])));
    // What never ends, and what is no library.
    let status = std::process::Command::new("mkfifo").arg(fixture.path("lib02.so")).status();
    assert!(status.unwrap().success());
    fixture.write("lib03.so", b"text");
    let output = fixture.run("show prog all.mfp --edges");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("sum entries=").count(), 2, "{text}");
    let told = String::from_utf8(output.stderr).unwrap();
    let path = |name: &str| fixture.path(name).display().to_string();
    let (first, third, fourth) = (path("lib00.so"), path("lib02.so"), path("lib03.so"));
    assert_eq!(
        told,
        format!(
            "midflight: note: 39 functions of 39 images are not shown: '{first}' is another build now, \
             '{third}' is not there, '{fourth}' is another build now, 36 more; give them with --library\n"
        )
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let fixture = Fixture::new();
    let mut child = fixture
        .command()
        .args(["show", "prog", "prog.mfp"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn help_teaches() {
    let fixture = Fixture::new();
    for line in ["--help", "help cc", "report --help", "show --help", "merge --help"] {
        let text = fixture.printed(line);
        assert!(text.contains("Usage: midflight"), "{line}: {text}");
    }
    assert!(fixture.printed("--help").contains("midflight report prog"));
    assert_eq!(fixture.run("report").status.code(), Some(2), "usage errors are 2");
    for percent in ["nan", "101", "x"] {
        let output = fixture.run(&format!("report prog prog.mfp --min-percent {percent}"));
        assert_eq!(output.status.code(), Some(2), "{percent}");
    }
}

/// Two branches on one line: their paths have the same lines, and only parts of them tell them
/// apart.
#[test]
fn paths_on_the_same_lines_are_told_apart() {
    let fixture = Fixture::new();
    let mut one_line = sum();
    for block in &mut one_line.blocks {
        block.locs.iter_mut().for_each(|loc| (loc.line, loc.outer_line) = (8, 8));
    }
    let tables = [one_line];
    fixture.write("one", &support::elf(&section(&tables)));
    let runs = [("sum", support::streams(0))];
    fixture.write("one.mfp", &profile("/build/one", &tables, &runs).write());
    let text = fixture.printed("report one one.mfp --source-dir .");
    for part in [3, 4] {
        let route = format!("through part {part} of 6 of line 8, line 8, back to 8");
        assert!(text.contains(&route), "{route}: {text}");
    }
    assert_eq!(text.matches("  8 | if (p[i] > 3)").count(), 1, "the text is there once: {text}");
    assert!(text.contains("| as A"), "{text}");
}
