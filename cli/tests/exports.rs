//! The formats of `midflight export`, and that the tools that they are for take them.

mod support;

use std::process::{Command, Output};
use support::Fixture;

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Runs another tool in the fixture's folder; none, with a word on standard error, if it is not
/// there.
fn tool(fixture: &Fixture, program: &str, line: &str) -> Option<Output> {
    let run = Command::new(program)
        .args(line.split_whitespace())
        .current_dir(fixture.folder.path())
        .output();
    if run.is_err() {
        eprintln!("skipped: there is no {program}");
    }
    let output = run.ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {line}: {said}");
    Some(output)
}

#[test]
fn folded() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to folded prog prog.mfp");
    check("folded", &text);
    // The numbers of a function add up to its work.
    let numbers = text.lines().filter(|line| line.starts_with("sum "));
    let sum: u64 =
        numbers.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    let document = fixture.printed("export --to json prog prog.mfp");
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["functions"][0]["work"], sum);
}

#[test]
fn rare_sequences_are_left_out_and_their_work_is_not() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to folded prog prog.mfp --min-percent 20 --function sum");
    let sum: u64 =
        text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((sum, text.lines().count()), (209, 3), "{text}");
}

#[test]
fn dot() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to dot prog prog.mfp --min-percent 5");
    check("dot", &text);
    fixture.write("prog.dot", text.as_bytes());
    if let Some(output) = tool(&fixture, "dot", "-Tplain prog.dot") {
        let drawn = String::from_utf8(output.stdout).unwrap();
        assert_eq!(drawn.matches("\nedge ").count(), text.matches(" -> ").count());
    }
}

#[test]
fn svg() {
    let fixture = Fixture::new();
    check("svg", &fixture.printed("export --to svg prog prog.mfp --min-percent 5"));
}

#[test]
fn json() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to json prog prog.mfp --source-dir .");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    check("document-json", &serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(fixture.printed("report prog prog.mfp --format json --source-dir . --sequences 20 --min-percent 0.1 --top 30"), text);
}

#[test]
fn sample_profile() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to sample-profile prog prog.mfp");
    check("sample-profile", &text);
    fixture.write("prog.prof", text.as_bytes());
    if let Some(output) = tool(&fixture, "llvm-profdata-22", "show --sample prog.prof") {
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("Function: sum: 52, 12, 6 sampled lines"), "{shown}");
    }
}

/// What clang knows of the branch and of the entry when it is given the profile.
#[test]
fn clang_uses_the_sample_profile() {
    let fixture = Fixture::new();
    let text = fixture.printed("export --to sample-profile prog prog.mfp");
    fixture.write("prog.prof", text.as_bytes());
    let line =
        "-O1 -gline-tables-only -fprofile-sample-use=prog.prof -S -emit-llvm -o sum.ll src/sum.c";
    if tool(&fixture, "clang-22", line).is_none() {
        return;
    }
    let ir = String::from_utf8(fixture.read("sum.ll")).unwrap();
    assert!(ir.contains("!\"function_entry_count\""), "{ir}");
    // Lines 9 and 11.
    assert!(ir.contains("!\"branch_weights\", i32 4, i32 3}"), "{ir}");
}

#[test]
fn an_export_may_go_to_a_file() {
    let fixture = Fixture::new();
    for format in ["dot", "svg", "folded", "html", "json", "lcov", "sample-profile"] {
        let printed = fixture.printed(&format!("export --to {format} prog prog.mfp"));
        assert_eq!(fixture.printed(&format!("export --to {format} prog prog.mfp -o out")), "");
        assert_eq!(fixture.read("out"), printed.as_bytes(), "{format}");
    }
    let complaint = fixture.complaint("export --to svg prog prog.mfp -o absent/out");
    assert!(complaint.contains("absent/out"), "{complaint}");
}

#[test]
fn a_link_to_an_open_file_is_written_through() {
    let fixture = Fixture::new();
    // As /dev/stdout, which a test had better not lose.
    std::os::unix::fs::symlink("/proc/self/fd/1", fixture.path("fd")).unwrap();
    std::os::unix::fs::symlink("fd", fixture.path("stdout")).unwrap();
    let expected = fixture.printed("export --to folded prog prog.mfp");
    fixture.write("out", b"before\n");
    for place in ["stdout", "/proc/self/fd/1"] {
        let out = std::fs::OpenOptions::new().append(true).open(fixture.path("out")).unwrap();
        let line = ["export", "--to", "folded", "-o", place, "prog", "prog.mfp"];
        let status = fixture.command().args(line).stdout(out).status().unwrap();
        assert!(status.success());
    }
    let text = String::from_utf8(fixture.read("out")).unwrap();
    assert_eq!(text, format!("before\n{expected}{expected}"));
    assert!(fixture.path("stdout").is_symlink() && fixture.path("fd").is_symlink());
}
