//! Calling contexts: what is shown, reported, exported and added up.

mod context_support;
mod support;

use context_support::readers::{annotated, fields, unpacked};
use context_support::{Builder, fixture, run, section, table, tables};
use midflight_profile::format::{ContextMode, Profile};
use midflight_profile::table::{ContextTable, Granularity, Stage};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use support::{Fixture, elf, profile, streams, sum};

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

fn json(fixture: &Fixture, line: &str) -> Value {
    serde_json::from_str(&fixture.printed(line)).unwrap()
}

#[test]
fn contexts_are_shown() {
    let fixture = fixture();
    check("contexts-text", &fixture.printed("show calls calls.mfp --contexts"));
    check("contexts-json", &fixture.printed("show calls calls.mfp --contexts --format json"));
    check("contexts-hot", &fixture.printed("show calls hot.mfp --contexts"));
    check("contexts-tables", &fixture.printed("show calls --tables"));
    check("contexts-tables-json", &fixture.printed("show calls --tables --format json"));
}

#[test]
fn contexts_are_reported() {
    let fixture = fixture();
    check("contexts-report", &fixture.printed("report calls calls.mfp --contexts --min-percent 1"));
    let usual = fixture.printed("report calls calls.mfp --contexts --no-legend");
    let all = fixture.printed("report calls calls.mfp --contexts --no-legend --min-percent 0");
    assert_eq!(usual, all, "few contexts are all shown");
    check("contexts-report-hot", &fixture.printed("report calls hot.mfp --contexts --no-legend"));
    let all = fixture.printed("report calls calls.mfp --contexts --no-legend --min-percent 0");
    check("contexts-report-all", &all);
    // Contexts that were not kept may have had any function and callers.
    let folded = "report calls hot.mfp --contexts=1 --no-legend --min-percent 1";
    check("contexts-report-hot-1", &fixture.printed(folded));
    for k in [0, 1, 2] {
        let line = format!("report calls calls.mfp --contexts={k} --no-legend --min-percent 0");
        check(&format!("contexts-report-{k}"), &fixture.printed(&line));
    }
}

#[test]
fn the_json_is_a_tree_in_preorder() {
    let fixture = fixture();
    let document = json(&fixture, "show calls calls.mfp --contexts --format json");
    let head = ["version", "mode", "phi", "epsilon", "activations", "elsewhere", "floor"];
    let head: Vec<&Value> = head.iter().map(|field| &document[field]).collect();
    let expected = serde_json::json!([1, "cct", null, null, 1003, 3, 0]);
    assert_eq!(serde_json::json!(head), expected);
    let elsewhere = serde_json::json!([
        { "function": "walk", "file": "/build/src/calls.c", "line": 10, "count": 2 },
    ]);
    assert_eq!(document["elsewhere_of"], elsewhere);
    let contexts = document["contexts"].as_array().unwrap();
    for (id, context) in contexts.iter().enumerate() {
        assert_eq!(context["id"], id);
        let parent = context["parent"].as_u64();
        assert!(parent.is_none_or(|parent| parent < id as u64));
        assert_eq!(context["site"].is_null(), parent.is_none());
    }
    let sum: u64 = contexts.iter().map(|context| context["count"].as_u64().unwrap()).sum();
    assert_eq!(sum, 1000);
    let hot = json(&fixture, "show calls hot.mfp --contexts --format json");
    assert_eq!(
        (&hot["mode"], &hot["phi"], &hot["epsilon"]),
        (&"hcct".into(), &0.1.into(), &0.05.into())
    );
    assert_eq!((&hot["floor"], &hot["contexts"][1]["error"]), (&20.into(), &20.into()));
}

/// With one caller it is the call graph, with none the functions; all activations are there.
#[test]
fn callers_are_folded() {
    let fixture = fixture();
    for k in [0, 1, 2, 64] {
        let document =
            json(&fixture, &format!("show calls calls.mfp --contexts={k} --format json"));
        assert_eq!(document["callers"], k);
        let contexts = document["contexts"].as_array().unwrap();
        let roots = contexts.iter().filter(|context| context["parent"].is_null());
        let sum: u64 = roots.map(|context| context["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, 1000, "{k}");
    }
    let graph = json(&fixture, "show calls calls.mfp --contexts=1 --format json");
    let edges: Vec<(&str, &str, u64, u64)> = graph["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|context| {
            let callee = &graph["contexts"][context["parent"].as_u64()? as usize];
            let names = (callee["function"].as_str()?, context["function"].as_str()?);
            Some((names.1, names.0, context["site"]["line"].as_u64()?, context["count"].as_u64()?))
        })
        .collect();
    let visit = "_ZN3foo5visitEi";
    let expected = [
        ("walk", visit, 12, 890),
        ("walk", visit, 5, 5),
        ("walk", "walk", 11, 90),
        ("main", "walk", 21, 10),
        ("main", "walk", 22, 2),
        (visit, "walk", 0, 1),
    ];
    assert_eq!(edges, expected);
    let complaint = fixture.run("report calls calls.mfp --contexts=65");
    assert_eq!(complaint.status.code(), Some(2));
}

#[test]
fn what_is_left_out_is_said() {
    let fixture = fixture();
    let text = fixture.printed("report calls calls.mfp --contexts --min-percent 20");
    assert!(text.contains("7 more contexts with 399 activations (39.8 %)"), "{text}");
    let text = fixture.printed("report calls calls.mfp --contexts --top 1");
    assert!(text.contains("500") && !text.contains("    200 "), "{text}");
    let text = fixture.printed("report calls calls.mfp --contexts --min-percent 100");
    assert!(text.contains("no context is to be shown"), "{text}");
    let cut = json(&fixture, "report calls calls.mfp --contexts --min-percent 20 --format json");
    assert_eq!(
        cut["left_out"],
        serde_json::json!({ "contexts": 7, "activations": 399, "time": null })
    );
    // Callers of a function that is asked for
    let text =
        fixture.printed("report calls calls.mfp --contexts=1 --function foo::visit --no-legend");
    assert!(text.contains("foo::visit(int)") && !text.contains("calls.c:11"), "{text}");
    let text = fixture.printed("show calls calls.mfp --contexts --function idle");
    assert_eq!(text.lines().count(), 2, "{text}");
    for line in ["show calls calls.mfp --contexts", "report calls calls.mfp --contexts"] {
        let complaint = fixture.complaint(&format!("{line} --function nosuch"));
        assert!(complaint.contains("there is no function 'nosuch'"), "{complaint}");
    }
}

#[test]
fn a_profile_without_contexts_says_how_to_get_them() {
    let fixture = fixture();
    for line in [
        "show prog prog.mfp --contexts",
        "report prog prog.mfp --contexts=2",
        "export --to callgrind prog prog.mfp",
        "export --to folded --contexts prog prog.mfp",
    ] {
        let complaint = fixture.complaint(line);
        assert!(complaint.contains("midflight cc --midflight-contexts"), "{complaint}");
    }
    let complaint = fixture.complaint("export --to lcov --contexts calls calls.mfp");
    assert!(
        complaint.contains("lcov")
            && complaint.contains("svg, html, folded, json, sample-profile, callgrind, pprof"),
        "{complaint}"
    );
}

/// Where there are no paths, what is told of them is that there are none.
#[test]
fn a_profile_of_contexts_alone_is_no_error() {
    let fixture = fixture();
    let shown = fixture.printed("show calls calls.mfp --contexts");
    assert_eq!(fixture.printed("show calls calls.mfp"), shown);
    let report = fixture.printed("report calls calls.mfp --contexts");
    assert_eq!(fixture.printed("report calls calls.mfp"), report);
    let folded = fixture.printed("export --to folded --contexts calls calls.mfp");
    assert_eq!(fixture.printed("export --to folded calls calls.mfp"), folded);
    for line in [
        "show calls calls.mfp --edges",
        "show calls calls.mfp --format json",
        "report calls calls.mfp --format json",
        "check calls calls.mfp",
        "diff calls calls.mfp hot.mfp --format json",
        "overlap calls calls.mfp calls.mfp --format json",
        "export --to dot calls calls.mfp",
        "export --to lcov calls calls.mfp",
        "export --to weights calls calls.mfp",
        "export --to json calls calls.mfp",
    ] {
        let output = fixture.run(line);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{line}: {told}");
        assert!(told.contains("no paths; `midflight report --contexts`"), "{line}: {told}");
        assert_eq!(told.lines().count(), 1, "{line}: {told}");
    }
}

/// Both kinds of records in one image, and both kinds of counts in one profile.
#[test]
fn a_program_may_have_paths_and_contexts() {
    let fixture = fixture();
    let paths = [sum()];
    let both = section(&paths, &tables());
    fixture.write("both", &elf(&both));
    let mut counted = run(&both);
    let of_paths = profile("/build/both", &paths, &[("sum", streams(3))]);
    (counted.k, counted.functions) = (of_paths.k, of_paths.functions);
    fixture.write("both.mfp", &counted.write());
    let text = fixture.printed("show both both.mfp");
    assert!(text.starts_with("sum ") && !text.contains("walk"), "{text}");
    let text = fixture.printed("show both both.mfp --contexts");
    assert_eq!(text, fixture.printed("show calls calls.mfp --contexts"));
    assert!(
        fixture.printed("show both --tables").contains("main /build/src/calls.c:20 contexts=sites")
    );
    assert!(fixture.printed("export --to folded both both.mfp").starts_with("sum (sum.c)"));
    assert!(fixture.printed("check both both.mfp").contains("flow is conserved"));
}

#[test]
fn profiles_of_contexts_add_up() {
    let fixture = fixture();
    fixture.printed("merge -o twice.mfp calls.mfp calls.mfp");
    let weighted = "merge -o weighted.mfp --weighted-input 2,calls.mfp";
    fixture.printed(weighted);
    assert_eq!(fixture.read("twice.mfp"), fixture.read("weighted.mfp"));
    let merged = fixture.printed("show calls twice.mfp --contexts");
    assert_eq!(merged, fixture.printed("show calls calls.mfp calls.mfp --contexts"));
    assert!(
        merged.contains("activations=2006 elsewhere=6") && merged.contains("1000  "),
        "{merged}"
    );
    // A context that the hot ones have not may have had up to their floor.
    fixture.printed("merge -o mixed.mfp calls.mfp hot.mfp");
    let mixed = json(&fixture, "show calls mixed.mfp --contexts --format json");
    assert_eq!((&mixed["mode"], &mixed["floor"]), (&"hcct".into(), &20.into()));
    let counts: Vec<(u64, u64)> = mixed["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|context| (context["count"].as_u64().unwrap(), context["error"].as_u64().unwrap()))
        .collect();
    assert!(counts.contains(&(1040, 0)) && counts.contains(&(520, 20)), "{counts:?}");
    // What has no context may be of any.
    let report = fixture.printed("report calls mixed.mfp --contexts");
    let known = "and others had 20 at most; all this but for activations without context\n";
    assert!(report.contains(known), "{report}");
}

#[test]
fn stacks_of_calls_are_folded() {
    let fixture = fixture();
    let text = fixture.printed("export --to folded --contexts calls calls.mfp");
    check("contexts-folded", &text);
    let sum: u64 =
        text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 1003);
    check("contexts-svg", &fixture.printed("export --to svg --contexts calls calls.mfp"));
    let page = fixture.printed("export --to html --contexts calls calls.mfp");
    let data = page.split_once("id=\"index\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    let contexts = data["contexts"].as_array().unwrap();
    assert_eq!((contexts.len(), &data["left_out"]), (9, &0.into()));
    // main, and what it calls: parent, function, least, most, with those below, and no times
    assert_eq!(contexts[1], serde_json::json!([-1, contexts[1][1], 1, 1, 999, 0, 0]));
    assert_eq!(data["functions"][contexts[1][1].as_u64().unwrap() as usize]["name"], "main");
}

#[test]
fn calls_are_written_for_callgrind() {
    let fixture = fixture();
    let text = fixture.printed("export --to callgrind calls calls.mfp");
    check("contexts-callgrind", &text);
    fixture.write("callgrind.out", text.as_bytes());
    let Some(own) = annotated(&fixture, &["--threshold=100"]) else { return };
    assert!(own.contains("1,000 (100.0%)  PROGRAM TOTALS"), "{own}");
    assert!(own.contains("896 (89.60%)  /build/src/calls.c:foo::visit(int)"), "{own}");
    let all = annotated(&fixture, &["--threshold=100", "--inclusive=yes", "--tree=both"]).unwrap();
    assert!(all.contains("999 (99.90%)  *  /build/src/calls.c:main"), "{all}");
    assert!(all.contains("main (12x)") && all.contains("walk (895x)"), "{all}");
}

#[test]
fn calls_are_written_for_pprof() {
    let fixture = fixture();
    fixture.printed("export --to pprof -o calls.pb.gz calls calls.mfp");
    let profile = fields(&unpacked(&fixture.read("calls.pb.gz")));
    let of = |number| profile.iter().filter(move |field| field.0 == number).map(|field| &field.2);
    let strings: Vec<&str> = of(6).map(|text| std::str::from_utf8(text).unwrap()).collect();
    assert_eq!(strings[..3], ["", "activations", "count"]);
    let number = |fields: &[(u64, u64, Vec<u8>)], number| {
        fields.iter().find(|field| field.0 == number).map_or(0, |field| field.1)
    };
    let functions: Vec<(u64, &str)> = of(5)
        .map(|bytes| fields(bytes))
        .map(|function| (number(&function, 1), strings[number(&function, 2) as usize]))
        .collect();
    let locations: Vec<(u64, String)> = of(4)
        .map(|bytes| fields(bytes))
        .map(|location| {
            let line = fields(&location.iter().find(|field| field.0 == 4).unwrap().2);
            let name = functions.iter().find(|f| f.0 == number(&line, 1)).unwrap().1;
            (number(&location, 1), format!("{name}:{}", number(&line, 2)))
        })
        .collect();
    let mut samples: Vec<(String, u64)> = of(2)
        .map(|bytes| fields(bytes))
        .map(|sample| {
            // All numbers are small here.
            let stack: Vec<&str> = sample[0]
                .2
                .iter()
                .map(|id| &locations.iter().find(|l| l.0 == u64::from(*id)).unwrap().1[..])
                .collect();
            let count = sample[1].2.iter().rev().fold(0, |n, b| n << 7 | u64::from(b & 0x7f));
            (stack.join(" < "), count)
        })
        .collect();
    samples.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    assert_eq!(samples.iter().map(|(_, count)| count).sum::<u64>(), 1000);
    let hottest = "foo::visit(int):3 < walk:12 < walk:11 < walk:11 < main:21";
    assert_eq!(samples[0], (hottest.to_string(), 500));
    // Where a call's line is not known, that of the function stands for it.
    let unknown = "walk:10 < foo::visit(int):3 < walk:12 < main:22";
    assert!(samples.contains(&(unknown.to_string(), 1)), "{samples:?}");
}

/// Contexts that functions tell apart have no call sites.
#[test]
fn contexts_may_be_told_apart_by_functions() {
    let fixture = Fixture::new();
    let by_function =
        |name, line| ContextTable { granularity: Granularity::Functions, ..table(name, line, &[]) };
    let section = section(&[], &[by_function("main", 20), by_function("walk", 10)]);
    let mut all = Builder::new(&section, ContextMode::All);
    let main = all.call(None, 0, "main", 1, 0);
    all.call(main, 0, "walk", 7, 0);
    fixture.write("calls", &elf(&section));
    fixture.write("calls.mfp", &all.profile("/build/calls").write());
    let text = fixture.printed("report calls calls.mfp --contexts --no-legend");
    assert!(text.contains("by functions that call") && text.contains("└ walk\n"), "{text}");
    let document = json(&fixture, "show calls calls.mfp --contexts --format json");
    assert!(document["contexts"][1]["site"].is_null());
    assert!(
        fixture.printed("show calls --tables").contains("contexts=functions stage=early slots=1")
    );
    fixture.printed("export --to callgrind calls calls.mfp");
}

/// Of a library that is not there only the key is known.
#[test]
fn functions_of_other_images_have_their_places() {
    let fixture = fixture();
    let library = section(&[], &[table("other", 5, &[6])]);
    let mut other = Builder::new(&library, ContextMode::All);
    other.call(None, 0, "other", 9, 0);
    let mut both = run(&section(&[], &tables()));
    both.merge(&other.profile("/lib/libother.so")).unwrap();
    fixture.write("both.mfp", &both.write());
    let output = fixture.run("show calls both.mfp --contexts");
    let (text, told) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("9  libother.so!"), "{text}");
    assert!(told.contains("1 function of 1 image") && told.contains("--library"), "{told}");
    fixture.write("libother.so", &elf(&library));
    let text = fixture.printed("show calls both.mfp --contexts --library libother.so");
    assert!(text.contains("9  other  /build/src/calls.c:5"), "{text}");
}

#[test]
fn contexts_that_do_not_fit_their_tables_are_refused() {
    let fixture = fixture();
    let section = section(&[], &tables());
    let file = run(&section).write();
    let read = || Profile::read(&file).unwrap();
    let of = |profile: Profile| {
        fixture.write("wrong.mfp", &profile.write());
        fixture.complaint("show calls wrong.mfp --contexts")
    };
    let with = |key: Option<u64>, slots: u32| {
        let mut profile = read();
        let contexts = profile.contexts.as_mut().unwrap();
        let mut function = contexts.functions()[0];
        (function.key, function.slots) = (key.unwrap_or(function.key), slots);
        *contexts = midflight_profile::format::Contexts::new(ContextMode::All);
        let id = contexts.intern(function).unwrap();
        contexts.child_or_insert(None, 0, id);
        profile
    };
    assert!(of(with(Some(77), 2)).contains("has no function with key 000000000000004d"));
    let complaint = of(with(None, 9));
    assert!(complaint.contains("9 call sites, and it has 1"), "{complaint}");
    // Another build
    fixture.write("calls", &elf(&context_support::section(&[], &[table("main", 1, &[2])])));
    assert!(fixture.complaint("show calls calls.mfp --contexts").contains("another build"));
}

/// Contexts of a sample profile, each with what its header and its lines tell.
type Sampled = BTreeMap<String, (u64, u64, Vec<String>)>;

fn sampled(text: &str) -> Sampled {
    let mut contexts = Sampled::new();
    let mut context = String::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix(' ') {
            contexts.get_mut(&context).unwrap().2.push(line.into());
            continue;
        }
        let (header, activations) = line.rsplit_once(':').unwrap();
        let (name, total) = header.rsplit_once(':').unwrap();
        context = name.into();
        let of = (total.parse().unwrap(), activations.parse().unwrap(), Vec::new());
        assert!(contexts.insert(context.clone(), of).is_none(), "{context} is there once");
        // LLVM crashes on some that have a function twice.
        let frames = context.trim_matches(['[', ']']).split(" @ ");
        let names: Vec<&str> = frames.map(|frame| frame.split(':').next().unwrap()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{context}");
    }
    contexts
}

/// Activations of each function, over all its contexts.
fn activations(contexts: &Sampled) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (context, (_, count, _)) in contexts {
        let function = context.trim_matches(['[', ']']).rsplit(" @ ").next().unwrap();
        *sums.entry(function.to_string()).or_default() += count;
    }
    sums
}

#[test]
fn a_sample_profile_has_contexts() {
    let fixture = fixture();
    let line = "export --to sample-profile --contexts calls calls.mfp";
    let output = fixture.run(line);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("6 of 1,003 activations were called from no line"), "{told}");
    let text = String::from_utf8(output.stdout).unwrap();
    check("contexts-sample-profile", &text);
    let alone = fixture.run("export --to sample-profile calls calls.mfp").stdout;
    assert_eq!(String::from_utf8(alone).unwrap(), text);
    let visit = "_ZN3foo5visitEi";
    let all = [("idle", 0), ("main", 1), ("walk", 103), (visit, 896)];
    let all: BTreeMap<String, u64> = all.map(|(name, count)| (name.into(), count)).into();
    assert_eq!(activations(&sampled(&text)), all);
    // What is too cold for a context counts without.
    let output = fixture.run(&format!("{line} --min-percent 20"));
    let cut = sampled(&String::from_utf8(output.stdout).unwrap());
    let expected = [
        "[_ZN3foo5visitEi]",
        "[idle]",
        "[main:1 @ walk]",
        "[main]",
        "[walk:2 @ _ZN3foo5visitEi]",
        "[walk]",
    ];
    assert_eq!(cut.keys().collect::<Vec<_>>(), expected);
    assert_eq!(activations(&cut), all);
    assert!(cut["[main]"].2.contains(&"2: 2 walk:2".to_string()), "calls are counted: {cut:?}");
    for (total, activations, lines) in cut.values() {
        let count = |line: &String| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        assert_eq!(lines.iter().map(count).sum::<u64>(), *total);
        assert!(count(&lines[0]) >= *activations);
    }
}

/// LLVM reads back each number.
#[test]
fn llvm_reads_a_sample_profile_with_contexts() {
    let fixture = fixture();
    let line = "export --to sample-profile --contexts calls calls.mfp -o calls.prof";
    assert!(fixture.run(line).status.success());
    let ours = sampled(&String::from_utf8(fixture.read("calls.prof")).unwrap());
    for llvm in [22, 19] {
        let read = Command::new(format!("llvm-profdata-{llvm}"))
            .args(["merge", "--sample", "--text", "calls.prof", "-o", "read.prof"])
            .current_dir(fixture.folder.path())
            .output();
        let Ok(read) = read else {
            eprintln!("skipped: there is no llvm-profdata-{llvm}");
            continue;
        };
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        let theirs = String::from_utf8(fixture.read("read.prof")).unwrap();
        assert_eq!(sampled(&theirs), ours, "{llvm}");
    }
}

/// Lines that are no calls come from a path profile, shared out among the contexts.
#[test]
fn contexts_have_their_shares_of_lines() {
    let fixture = fixture();
    // `sum` of the paths, which calls from its line 9.
    let callee = ContextTable { files: vec!["/build/src/sum.c".into()], ..table("sum", 5, &[9]) };
    let other = ContextTable { stage: Stage::Late, ..callee.clone() };
    for (stage, is_shared) in [(callee, true), (other, false)] {
        let section = section(&[sum()], &[table("main", 20, &[21, 22]), stage, table("f", 1, &[])]);
        let mut calls = Builder::new(&section, ContextMode::All);
        let main = calls.call(None, 0, "main", 1, 0);
        let often = calls.call(main, 0, "sum", 9, 0);
        calls.call(often, 0, "f", 4, 0);
        calls.call(main, 1, "sum", 3, 0);
        let mut counted = calls.profile("/build/both");
        let of_paths = profile("/build/both", &[sum()], &[("sum", streams(10))]);
        (counted.k, counted.functions) = (of_paths.k, of_paths.functions);
        fixture.write("both", &elf(&section));
        fixture.write("both.mfp", &counted.write());
        let text = fixture.printed("export --to sample-profile --contexts both both.mfp");
        let contexts = sampled(&text);
        let often = &contexts["[main:1 @ sum]"].2;
        let rarely = &contexts["[main:2 @ sum]"].2;
        if !is_shared {
            assert_eq!(
                (&often[..], &rarely[..]),
                (&["0: 9".into(), "4: 4 f:4".into()][..], &["0: 3".into()][..])
            );
            continue;
        }
        // Without contexts: 1: 12, 2: 18, 3: 4, 4: 4, 6: 3, 8: 11. All of line 4 are calls of `f`.
        assert_eq!(often[..], ["0: 9", "1: 9", "2: 14", "3: 3", "4: 4 f:4", "6: 2", "8: 8"]);
        assert_eq!(rarely[..], ["0: 3", "1: 3", "2: 5", "3: 1", "4: 0", "6: 1", "8: 3"]);
    }
    // In a profile without contexts there are none to write.
    let complaint = fixture.complaint("export --to sample-profile --contexts prog prog.mfp");
    assert!(complaint.contains("midflight cc --midflight-contexts"), "{complaint}");
}

/// The format has no escapes: a name may not end a frame, a context or a line.
#[test]
fn names_end_no_context() {
    let fixture = fixture();
    let name = "-[Foo a:b] @ c#\n";
    let section = section(&[], &[table("main", 20, &[21]), table(name, 1, &[])]);
    let mut calls = Builder::new(&section, ContextMode::All);
    let main = calls.call(None, 0, "main", 1, 0);
    calls.call(main, 0, name, 2, 0);
    fixture.write("odd", &elf(&section));
    fixture.write("odd.mfp", &calls.profile("/build/odd").write());
    let text = fixture.printed("export --to sample-profile odd odd.mfp");
    let frame = r"-\x5bFoo\x20a\x3ab\x5d\x20\x40\x20c\x23\x0a";
    assert_eq!(
        text,
        format!("[main]:3:1\n 0: 1\n 1: 2 {frame}:2\n[main:1 @ {frame}]:2:2\n 0: 2\n")
    );
}

/// A tree is as deep as a program's recursion: outputs stay of reasonable size, and nothing
/// overflows.
#[test]
fn deep_trees_are_written_in_no_time() {
    let fixture = fixture();
    let section = section(&[], &tables());
    let mut deep = Builder::new(&section, ContextMode::All);
    let mut at = deep.call(None, 0, "walk", 1, 0);
    for _ in 0..100_000 {
        at = deep.call(at, 0, "walk", 1, 0);
    }
    fixture.write("deep.mfp", &deep.profile("/build/calls").write());
    for line in [
        "show calls deep.mfp --contexts",
        "show calls deep.mfp --contexts --format json",
        "show calls deep.mfp --contexts=64",
        "report calls deep.mfp --contexts --min-percent 0",
        "export --to folded --contexts calls deep.mfp",
        "export --to svg --contexts calls deep.mfp",
        "export --to html --contexts calls deep.mfp",
        "export --to sample-profile --contexts --min-percent 0 calls deep.mfp",
        "export --to callgrind calls deep.mfp",
        "export --to pprof -o out calls deep.mfp",
        "merge -o out deep.mfp deep.mfp",
    ] {
        let begun = std::time::Instant::now();
        let text = fixture.printed(line);
        assert!(text.len() < 30_000_000, "{line}: {}", text.len());
        assert!(begun.elapsed().as_secs() < 60, "{line}: {:?}", begun.elapsed());
    }
    let text = fixture.printed("export --to folded --contexts calls deep.mfp");
    let sum: u64 =
        text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((sum, text.lines().count()), (100_001, 512));
    let text = fixture.printed("export --to sample-profile --contexts calls deep.mfp");
    assert_eq!(activations(&sampled(&text))["walk"], 100_001);
}
