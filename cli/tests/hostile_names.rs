//! Names of functions and files may be any text: in no output do they end a line, begin a record,
//! or control a terminal.

mod context_support;
mod support;

use midflight_cli::analysis::rank::rank;
use midflight_cli::commands::annotate::text::{self as annotate, Annotated};
use midflight_cli::commands::compare::contexts::{self, Both, diff::ContextDiff};
use midflight_cli::commands::compare::{diff, overlap, pairs::pairs};
use midflight_cli::commands::report::text::{self, Options};
use midflight_cli::commands::{check, export, report, show};
use midflight_cli::document::{Calls, ContextDocument, Document, Extent, Shape, document};
use midflight_cli::format::json::{write_line, write_rows};
use midflight_cli::format::names::readable;
use midflight_cli::input::binary::Image;
use midflight_cli::input::session::Session;
use midflight_cli::input::sources::Sources;
use midflight_profile::format::ContextMode;
use midflight_profile::is_visible;
use midflight_profile::table::{ContextTable, FunctionTable, Loc};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use support::{Fixture, bar, elf, idle, profile, section, streams, sum};

type Outputs = BTreeMap<&'static str, String>;

/// Adds an output that is written by a function.
type Add<'a> = dyn FnMut(&'static str, &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>) + 'a;

/// All outputs of a program with a function of that name in a file of that name.
fn outputs(name: &str, file: &str) -> Outputs {
    let mut table = FunctionTable { name: name.into(), unit: file.into(), ..sum() };
    table.files = vec![file.into(), format!("{file}.h")];
    table.blocks[0].locs.push(Loc { file: 1, line: 3, outer_line: 6 });
    let tables = [table, idle(), bar()];
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("prog");
    std::fs::write(&at, elf(&section(&tables))).unwrap();
    let sessions = [3, 100].map(|more| {
        let of = folder.path().join(format!("{more}.mfp"));
        let runs = [(name, streams(more)), ("_ZN3foo3barEi", vec![vec![0]])];
        std::fs::write(&of, profile(name, &tables, &runs).write()).unwrap();
        Session::open(std::slice::from_ref(&at), &[of], &|_| {}).unwrap()
    });
    let [functions, others] = sessions.each_ref().map(|session| session.functions().unwrap());
    let session = &sessions[0];

    let mut outputs = Outputs::new();
    let mut add = |format: &'static str, write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        outputs.insert(format, String::from_utf8(bytes).unwrap());
    };
    let image = Image::open(&at).unwrap();
    let own: Vec<&FunctionTable> = image.tables.iter().collect();
    let sites: Vec<&ContextTable> = image.contexts.iter().collect();
    add("show --tables", &|out| show::tables::write(out, &own, &sites));
    add("show --tables json", &|out| write_line(out, &show::tables::document(&own, &sites)));
    add("show", &|out| show::text::write(out, &functions));
    add("show json", &|out| write_rows(out, &show::json::document(4, &functions)));
    add("show --edges", &|out| show::edges::write(out, &functions));
    add("show --edges json", &|out| write_line(out, &show::edges::document(&functions)));
    let findings = check::check(&functions, 0);
    add("check", &|out| check::text::write(out, &findings));
    add("check json", &|out| write_line(out, &findings));
    let (ranked, other) = (rank(&functions, None), rank(&others, None));
    let pairs = pairs(&ranked, &other);
    let found = diff::diff(&pairs, &diff::Options { paths: 5, function: None });
    assert!(!found.is_empty());
    add("diff", &|out| diff::write(out, &found, 10));
    add("diff json", &|out| write_line(out, &diff::document(&found)));
    let overlap = overlap::overlap(&pairs);
    add("overlap", &|out| overlap::write(out, &overlap, 10));
    add("overlap json", &|out| write_line(out, &overlap));
    add("lcov", &|out| export::lcov::write(out, &functions));
    add("sample-profile", &|out| export::sample_profile::write(out, &functions));
    let weights = export::weights::of(&functions).unwrap();
    add("weights json", &|out| write_line(out, &weights));
    context_outputs(name, file, &mut add);
    let mut sources = Sources::new(Vec::new(), false);
    let extent = Extent { top: 9, sequences: 5, ..Extent::default() };
    let mut document = document(name.into(), session, &functions, &extent, &mut sources, &|_| {});
    add("json", &|out| write_line(out, &document));
    add("dot", &|out| export::dot::write(out, &document));
    add("svg", &|out| export::svg::write(out, &document));
    add("html", &|out| export::html::write(out, &document));
    add("folded", &|out| export::folded::write(out, &document));
    document.skipped_names = [(name.to_string(), vec![readable(name)])].into();
    let mut report = |flat| {
        let extent = Extent { flat, ..Extent::default() };
        let options = Options { loops: 5, legend: true };
        text::report(name, &document, &extent, &options, &mut sources)
    };
    let texts = [("report", report(false)), ("flat", report(true))];
    for (format, text) in texts.into_iter().chain([("annotate", annotated(&document))]) {
        outputs.insert(format, anstream::adapter::strip_str(&text).to_string());
    }
    outputs
}

const SHOWN: annotate::Extent = annotate::Extent { paths: 3, calls: 9 };

fn annotated(document: &Document<'_>) -> String {
    let functions: Vec<Annotated<'_>> =
        document.functions.iter().map(Annotated::of_paths).collect();
    annotate::annotate(&functions, document, None, &SHOWN)
}

/// The functions of which calls were counted, with these.
fn annotated_calls(session: &Session, calls: &Calls<'_>) -> String {
    let mut sources = Sources::new(Vec::new(), false);
    let extent = Extent::default();
    let none = document(String::new(), session, &[], &extent, &mut sources, &|_| {});
    let places = calls.by_activations().into_iter();
    let functions: Vec<Annotated<'_>> =
        places.map(|place| Annotated::of_calls(calls, place, &mut sources)).collect();
    annotate::annotate(&functions, &none, Some(calls), &SHOWN)
}

/// What is written of calling contexts.
fn context_outputs(name: &str, file: &str, add: &mut Add<'_>) {
    let mut tables = context_support::tables();
    let walk = tables.iter_mut().find(|table| table.name == "walk").unwrap();
    (walk.name, walk.unit) = (name.into(), file.into());
    walk.files = vec![file.into(), format!("{file}.h")];
    let records = context_support::section(&[], &tables);
    let mut counted = context_support::Builder::new(&records, ContextMode::All);
    let main = counted.call(None, 0, "main", 1, 0);
    let called = counted.call(main, 0, name, 5, 0);
    counted.call(called, 2, name, 2, 0);
    let folder = tempfile::tempdir().unwrap();
    let [at, of] = ["calls", "calls.mfp"].map(|name| folder.path().join(name));
    std::fs::write(&at, elf(&records)).unwrap();
    std::fs::write(&of, counted.profile(name).write()).unwrap();
    let image = Image::open(&at).unwrap();
    let sites: Vec<&ContextTable> = image.contexts.iter().collect();
    add("show --tables of contexts", &|out| show::tables::write(out, &[], &sites));
    let session = Session::open(std::slice::from_ref(&at), &[of], &|_| {}).unwrap();
    // The same calls in other shares
    let mut counted = context_support::Builder::new(&records, ContextMode::All);
    let main = counted.call(None, 0, "main", 1, 0);
    counted.call(main, 0, name, 50, 0);
    let of = folder.path().join("other.mfp");
    std::fs::write(&of, counted.profile(name).write()).unwrap();
    let other = Session::open(&[at], &[of], &|_| {}).unwrap();
    let document = |shape| {
        let joined = session.contexts().unwrap().unwrap();
        ContextDocument::of(name.into(), &session, joined, shape, None)
    };
    let (tree, callers) = (document(Shape::Tree), document(Shape::Callers(2)));
    let other = other.contexts().unwrap().unwrap();
    let other = ContextDocument::of(name.into(), &session, other, Shape::Tree, None);
    let both = Both::of([&tree, &other]);
    let found = ContextDiff::of(&both, |_| true);
    add("diff --contexts", &|out| found.write(out, 10));
    add("diff --contexts json", &|out| write_line(out, &found.json()));
    let alike = contexts::overlap::overlap(&both, &both, &both);
    add("overlap --contexts", &|out| contexts::overlap::write(out, &alike, 10));
    let calls = Calls::of(document(Shape::Callers(1)));
    let text = annotated_calls(&session, &calls);
    let text = anstream::adapter::strip_str(&text).to_string();
    add("annotate calls", &|out| out.write_all(text.as_bytes()));
    add("show --contexts", &|out| show::contexts::write(out, &tree));
    add("show --contexts=2", &|out| show::contexts::write(out, &callers));
    add("contexts json", &|out| write_rows(out, &tree.json()));
    add("folded contexts", &|out| export::folded::write_contexts(out, &tree));
    add("svg of contexts", &|out| export::svg::write_contexts(out, &tree));
    add("html of contexts", &|out| export::html_calls::write(out, &tree));
    add("callgrind", &|out| export::callgrind::write(out, &tree));
    for (format, document) in [("report --contexts", &tree), ("report --contexts=2", &callers)] {
        let text = report::contexts::report(name, document, true);
        let text = anstream::adapter::strip_str(&text).to_string();
        add(format, &|out| out.write_all(text.as_bytes()));
    }
}

/// Names that try to be something else.
fn names() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "\nDA:1,999\nend_of_record\nSF:/etc/passwd\n",
            "\nmain:9:9\n 1: 7\n",
            ";b 7\n",
            "\"];\n evil [label=\"",
            "\\\"",
            "</script><script>",
            "\x1b[31m\x1b]0;title\x07",
            "\r",
            "\u{9b}2J",
            "\u{202e}",
            "\u{2028}",
            "\u{ffff}",
            "\0",
            "# ",
            " ",
            "[",
            ":1:2",
            "_ZN3foo",
            "größe",
        ])
        .prop_map(str::to_string),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}

/// What a tracefile has: per file the functions, lines and counts.
fn tracefile(text: &str) -> Vec<(String, Vec<String>)> {
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("TN:"));
    for line in lines {
        match line.split_once(':') {
            Some(("SF", file)) => files.push((file.into(), Vec::new())),
            Some(("FN" | "FNDA" | "FNF" | "FNH" | "DA" | "LF" | "LH", value)) => {
                files.last_mut().unwrap().1.push(value.into());
            }
            _ => assert_eq!(line, "end_of_record"),
        }
    }
    files
}

fn check_outputs(name: &str, file: &str) -> Result<(), TestCaseError> {
    let found = outputs(name, file);
    // Without hostile names.
    let usual = outputs("f", "f.c");
    for (format, text) in &found {
        let seen = text.chars().all(|c| c == '\n' || is_visible(c));
        prop_assert!(seen, "{format}: {text:?}");
        let lines = |text: &str| text.lines().count();
        prop_assert_eq!(lines(text), lines(&usual[format]), "{}: {}", format, text);
        if format.ends_with("json") {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let functions = value.get("functions").and_then(|functions| functions.as_array());
            let named = functions.into_iter().flatten().any(|function| function["name"] == name);
            let contexts = value.get("contexts").and_then(|contexts| contexts.as_array());
            let called = contexts.into_iter().flatten().any(|context| context["function"] == name);
            prop_assert!(named || called || *format == "overlap json", "{format}: {text}");
        }
    }
    let shape = |text: &str| -> Vec<usize> {
        let mut shape: Vec<usize> =
            tracefile(text).iter().map(|(_, values)| values.len()).collect();
        shape.sort_unstable();
        shape
    };
    prop_assert_eq!(shape(&found["lcov"]), shape(&usual["lcov"]));
    for line in found["folded"].lines().chain(found["folded contexts"].lines()) {
        let (frames, number) = line.rsplit_once(' ').unwrap();
        prop_assert!(number.parse::<u64>().is_ok() && !frames.is_empty());
    }
    for line in found["sample-profile"].lines() {
        let is_line = line.starts_with(' ');
        let numbers = line.rsplit(':').take(if is_line { 1 } else { 2 });
        prop_assert!(numbers.into_iter().all(|number| number.trim().parse::<u64>().is_ok()));
        prop_assert!(!line.starts_with(['#', '[']), "{line}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_name_disturbs_an_output(name in names(), file in names()) {
        prop_assume!(!["idle", "main", "_ZN3foo3barEi", "_ZN3foo5visitEi"].contains(&&name[..]));
        check_outputs(&name, &file)?;
    }
}

#[test]
fn names_that_look_like_other_lines_are_names() {
    for name in ["", " 1", "# comment", "[main:1 @ f]:2", "TN:", "end_of_record", "a b:c;d"] {
        check_outputs(name, "x.c").unwrap();
    }
}

#[test]
fn a_device_is_no_source_file() {
    // Others never end, or wait.
    assert!(!Sources::new(Vec::new(), true).has("/dev/null"));
}

#[test]
fn source_text_cannot_disturb_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.c");
    std::fs::write(&file, "a\x1b[31m\tb\u{202e}c\u{9b}\n").unwrap();
    let mut sources = Sources::new(Vec::new(), true);
    let text = sources.text(file.to_str().unwrap(), 1).unwrap();
    assert!(text.chars().all(is_visible), "{text:?}");
}

#[test]
fn complaints_and_notes_are_one_line_each() {
    let fixture = Fixture::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\nmidflight: error: b\x1b[31m\xff\xe2\x80\xae");
    let output = fixture.command().arg("report").arg(odd).arg("prog.mfp").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    let shown = r"'a\x0amidflight: error: b\x1b[31m";
    assert!(told.starts_with("midflight: error: ") && told.contains(shown), "{told}");
    assert!(told.trim_end().chars().all(is_visible), "{told:?}");
    // A library of which the profile tells a name.
    let tables = [sum(), idle(), bar()];
    let mut both = profile("/build/prog", &tables, &[("sum", streams(3))]);
    let other = [FunctionTable { name: "other".into(), ..bar() }];
    let mut library = profile("lib\n\x1b\u{202e}.so", &other, &[("other", vec![vec![0]])]);
    library.functions[0].module = 1;
    both.modules.append(&mut library.modules);
    both.functions.append(&mut library.functions);
    fixture.write("both.mfp", &both.write());
    let output = fixture.run("show prog both.mfp");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(told.contains(r"'lib\x0a\x1b\xe2\x80\xae.so' is not there"), "{told}");
    assert_eq!(told.lines().count(), 1);
}
