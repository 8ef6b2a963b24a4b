//! What is told where memory was short: what is known, and nothing more.

mod support;

use midflight_cli::document::{Extent, document};
use midflight_cli::input::session::Session;
use midflight_cli::input::sources::Sources;
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{Counters, FLAG_BEGAN_WITHIN, Profile};
use midflight_profile::ksf::SlabForest;
use midflight_profile::table::{FunctionTable, Mode};
use proptest::prelude::*;
use serde_json::Value;
use support::{Fixture, K, elf, forget, profile, section, sum};

/// The loop of `sum` goes always one way.
fn plain() -> FunctionTable {
    FunctionTable { name: "plain".into(), line: 4, ..sum() }
}

/// An activation of `sum` whose loop goes either way, at random.
fn random(rounds: usize, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    let rounds = (0..rounds).map(|_| 3 + random.u32(0..2));
    [0].into_iter().chain(rounds).chain([5]).collect()
}

/// A program of `plain`, and of `sum` that goes at random; every so many events of that one only
/// the last path is known.
fn noisy_and_plain(every: usize) -> (Fixture, Profile) {
    let tables = [sum(), plain()];
    let noisy = vec![random(20_000, 1)];
    let one_way = vec![[&[0][..], &[3; 100_000], &[5]].concat()];
    let mut profile =
        profile("/build/prog", &tables, &[("sum", noisy.clone()), ("plain", one_way)]);
    forget(&mut profile.functions[0], &noisy, |event| (event % every == every - 1).then_some(1));
    let fixture = Fixture::new();
    fixture.write("prog", &elf(&section(&tables)));
    fixture.write("prog.mfp", &profile.write());
    (fixture, profile)
}

/// What the report has of a function.
fn part<'a>(text: &'a str, function: &str) -> &'a str {
    let from = text.find(&format!(". {function}  ")).unwrap_or_else(|| panic!("{text}"));
    text[from..].split("\n\n").next().unwrap()
}

#[test]
fn what_one_function_had_no_room_for_makes_no_other_less_exact() {
    let (fixture, _) = noisy_and_plain(20);
    let text = fixture.printed("report prog prog.mfp --no-legend --no-source");
    let exact = part(&text, "plain");
    for sign in ['≥', '≤', '≈', '?'] {
        assert!(!exact.replace("in runs ≥", "").contains(sign), "{exact}");
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let way = "A 100.0 % 100,000× 100,000 100.0 % A 100.0 %";
    assert!(exact.lines().any(|line| words(line) == way), "{exact}");
    assert!(exact.contains("→ unroll by 8: runs are 100,000 long on average"), "{exact}");
    let noisy = part(&text, "sum");
    assert!(noisy.contains("; 2,000 truncated\n"), "{noisy}");
    assert!(noisy.contains("≥ 4"), "{noisy}");
    let json = fixture.printed("show prog prog.mfp --format json");
    let json: Value = serde_json::from_str(&json).unwrap();
    let function = |name: &str| {
        json["functions"].as_array().unwrap().iter().find(|f| f["name"] == name).unwrap()
    };
    let short = |name| (function(name)["truncated"].clone(), function(name)["lost"].clone());
    assert_eq!(short("plain"), (0.into(), 0.into()));
    assert_eq!(short("sum"), (2000.into(), 0.into()));
    let all = function("plain")["paths"].as_array().unwrap();
    assert!(all.iter().all(|path| path["count"] == path["most"]), "{all:?}");
    let paths = function("sum")["paths"].as_array().unwrap();
    let single = |path: &&Value| path["ids"].as_array().unwrap().len() == 1;
    assert!(paths.iter().filter(single).all(|path| path["count"] == path["most"]), "{paths:?}");
    assert!(paths.iter().any(|path| path["count"] != path["most"]), "{paths:?}");
}

#[test]
fn what_is_not_known_is_shown_as_such() {
    let (fixture, _) = noisy_and_plain(10);
    let text = fixture.printed("report prog prog.mfp --no-source --tree");
    let noisy = part(&text, "sum");
    assert!(noisy.contains("≥") && noisy.contains("  └ "), "{noisy}");
    assert!(text.contains("7 (≤ 9)    memory was full: the count is 7 to 9."), "{text}");
    let hint = "→ the branch at line 7 is hard to predict (the past foretells ≤ 6";
    assert!(noisy.contains(hint), "it holds for all that the counts may be: {noisy}");
    let text = fixture.printed("show prog prog.mfp --function sum");
    assert!(text.lines().next().unwrap().ends_with(" interrupted=0 truncated=4000"), "{text}");
    assert!(text.contains(" most="), "{text}");
    let text = fixture.printed("check prog prog.mfp");
    assert!(text.contains(" truncated=4000 lost=0\nflow is conserved\n"), "{text}");
    for format in ["dot", "svg"] {
        let text = fixture.printed(&format!("export --to {format} prog prog.mfp"));
        assert!(text.contains("(≤ ") && text.contains('≥'), "{format}: {text}");
    }
}

#[test]
fn of_what_nothing_is_known_nothing_is_told() {
    let (fixture, mut profile) = noisy_and_plain(10);
    forget(&mut profile.functions[0], &[random(20_000, 1)], |_| Some(0));
    fixture.write("prog.mfp", &profile.write());
    let text = fixture.printed("report prog prog.mfp --no-source --no-legend");
    let noisy = part(&text, "sum");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(noisy.lines().any(|line| words(line) == "A 49.8 % 9,969× ? ?"), "{noisy}");
    assert!(!noisy.contains('→') && !noisy.contains("foretells"), "{noisy}");
}

#[test]
fn the_compiler_is_told_what_is_known() {
    let (fixture, _) = noisy_and_plain(20);
    let text = fixture.printed("export --to weights prog prog.mfp");
    let weights: Value = serde_json::from_str(&text).unwrap();
    let functions = weights["functions"].as_array().unwrap();
    let [plain, sum] = ["plain", "sum"]
        .map(|name| functions.iter().find(|function| function["name"] == name).unwrap().clone());
    assert_eq!(plain["loops"], serde_json::json!([{"header": 1, "unroll": 8}]));
    assert!(sum["loops"].is_null(), "{text}");
    // Counts of edges are those of single paths.
    assert_eq!((&sum["blocks"][1], &plain["blocks"][1]), (&20_002.into(), &100_002.into()));
}

#[test]
fn the_line_on_memory_says_how_much_and_what_to_set() {
    let (fixture, mut profile) = noisy_and_plain(20);
    let line = |profile: &Profile| {
        fixture.write("changed.mfp", &profile.write());
        let text = fixture.printed("report prog changed.mfp --flat");
        text.lines().find(|line| line.contains("memory")).unwrap_or_default().to_string()
    };
    assert_eq!(
        line(&profile),
        "memory was full in 1 function: of 20,002 paths 2,000 (10.0 %) are counted with fewer paths \
         before them than k tells; MIDFLIGHT_THREAD_MEMORY=2M would do"
    );
    profile.functions[1].totals.lost = 100_000;
    assert_eq!(
        line(&profile),
        "memory was full in 2 functions: of 220,004 paths 2,000 (0.9 %) are counted with fewer paths \
         before them than k tells, 100,000 (45.5 %) are not counted at all; \
         MIDFLIGHT_THREAD_MEMORY=64M would do"
    );
    profile.functions[1].totals.lost = u64::MAX / 4;
    assert!(line(&profile).ends_with("MIDFLIGHT_THREAD_MEMORY=1G may do, or a smaller k"));
    profile.flags = FLAG_BEGAN_WITHIN;
    assert!(line(&profile).starts_with("memory was full, or counting began within activations in"));
    let text = Fixture::new().printed("report prog prog.mfp");
    assert!(!text.contains("memory") && text.contains("paths truncated: 0, lost: 0"), "{text}");
}

#[test]
fn restarts_of_the_published_algorithm_have_bounds() {
    let tables = [FunctionTable { mode: Mode::Published, ..sum() }];
    let mut profile = profile("/build/prog", &tables, &[("sum", vec![random(300, 2)])]);
    let mut slabs = SlabForest::new(K);
    // As often as the stream is restarted.
    for part in random(300, 2).chunks(101) {
        slabs.enter();
        part.iter().for_each(|&id| slabs.event(id));
    }
    let function = &mut profile.functions[0];
    (function.counters, function.forest) = (Counters::Slabs, slabs.into_forest());
    (function.truncated, function.totals.restarts) = (PrefixForest::new(), 2);
    let fixture = Fixture::new();
    fixture.write("prog", &elf(&section(&tables)));
    fixture.write("prog.mfp", &profile.write());
    let text = fixture.printed("show prog prog.mfp");
    assert!(text.lines().next().unwrap().ends_with(" restarts=2"), "{text}");
    assert!(text.contains(" most="), "{text}");
    let text = fixture.printed("report prog prog.mfp --no-source");
    assert!(text.contains(" of 302 paths 2 (0.7 %) have broken a sequence off; "), "{text}");
    assert!(text.contains("; 2 restarts\n"), "{text}");
}

#[test]
fn two_profiles_differ_where_they_do_for_sure() {
    let (fixture, profile) = noisy_and_plain(10);
    let mut exact = profile.clone();
    forget(&mut exact.functions[0], &[random(20_000, 1)], |_| None);
    fixture.write("exact.mfp", &exact.write());
    let text = fixture.printed("diff prog exact.mfp prog.mfp");
    assert_eq!(text, "no function has another share of the work, or other paths\n");
    let other = vec![[&[0][..], &[4; 20_000], &[5]].concat()];
    forget(&mut exact.functions[0], &other, |_| None);
    fixture.write("other.mfp", &exact.write());
    let text = fixture.printed("diff prog prog.mfp other.mfp --function sum");
    assert!(text.contains("≥+") && text.contains("(≤ "), "{text}");
    let text = fixture.printed("overlap prog prog.mfp other.mfp");
    assert!(text.contains("≈") || text.contains("≥"), "{text}");
}

/// The document of `sum` with a profile, as JSON, and its report as text.
fn told(fixture: &Fixture, name: &str, profile: &Profile) -> (Value, String) {
    let (binary, path) = (fixture.path("prog"), fixture.path(name));
    fixture.write(name, &profile.write());
    let session = Session::open(&[binary], &[path], &|_| {}).unwrap();
    let functions = session.functions().unwrap();
    let mut sources = Sources::new(Vec::new(), false);
    let extent = Extent { top: 1, sequences: 5, ..Extent::default() };
    let document = document("".into(), &session, &functions, &extent, &mut sources, &|_| {});
    let options = midflight_cli::commands::report::text::Options { loops: 3, legend: false };
    let report = midflight_cli::commands::report::text::report;
    let text = report("", &document, &extent, &options, &mut sources);
    (serde_json::to_value(&document).unwrap(), text)
}

/// Fails unless the number in `truth` is within the bounds of `known`.
fn check_within(known: &Value, truth: &Value) -> Result<(), TestCaseError> {
    let end = |value: &Value, at: usize| value[at].as_f64().unwrap();
    prop_assert_eq!(&truth[0], &truth[1], "the truth is known");
    let (least, most, truth) = (end(known, 0), end(known, 1), end(truth, 0));
    prop_assert!(least <= truth + 1e-9 && truth <= most + 1e-9, "{truth} in {known}");
    Ok(())
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn with<'a>(all: &'a [Value], name: &str, value: &Value) -> Option<&'a Value> {
    all.iter().find(|one| one[name] == *value)
}

/// All that is told of the loops of a function, against the same where everything is known.
fn check_loops(known: &Value, truth: &Value) -> Result<(), TestCaseError> {
    for l in list(known, "loops") {
        let true_loop = with(list(truth, "loops"), "header", &l["header"]).unwrap();
        for cycle in list(l, "cycles") {
            let true_cycle = with(list(true_loop, "cycles"), "id", &cycle["id"]).unwrap();
            check_within(&cycle["followed"], &true_cycle["followed"])?;
            let (runs, true_runs) = (&cycle["runs"], &true_cycle["runs"]);
            check_within(&runs["number"], &true_runs["number"])?;
            check_within(&runs["paths"], &true_runs["paths"])?;
            for part in ["at_least", "paths_in"] {
                for (some, all) in list(runs, part).iter().zip(list(true_runs, part)) {
                    check_within(some, all)?;
                }
            }
            for next in list(cycle, "next") {
                let all = with(list(true_cycle, "next"), "id", &next["id"]).unwrap();
                let within = [&next["count"], &next["most"]].map(Clone::clone);
                check_within(
                    &Value::from(within.to_vec()),
                    &serde_json::json!([all["count"], all["count"]]),
                )?;
            }
        }
        if !l["foretold"].is_null() {
            for part in ["by_one", "by_more"] {
                check_within(&l["foretold"][part], &true_loop["foretold"][part])?;
            }
        }
        if l["pattern"]["ids"] == true_loop["pattern"]["ids"] && !l["pattern"].is_null() {
            check_within(&l["pattern"]["share"], &true_loop["pattern"]["share"])?;
        }
        for hint in list(l, "hints") {
            if let Some(all) = with(list(true_loop, "hints"), "kind", &hint["kind"]) {
                for part in
                    ["mean", "of_first", "of_others", "share", "foretold", "by_one", "by_more"]
                {
                    if hint["by"] == all["by"]
                        && hint["ids"] == all["ids"]
                        && hint[part].is_array()
                        && all[part].is_array()
                    {
                        check_within(&hint[part], &all[part])?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The counts of nodes of the forest, each with the paths down to it.
fn nodes(function: &Value) -> Vec<(Vec<u64>, u64, u64)> {
    let mut above: Vec<u64> = Vec::new();
    let number = |value: &Value| value.as_u64().unwrap();
    list(&function["forest"], "nodes")
        .iter()
        .map(|node| {
            above.truncate(number(&node["level"]) as usize);
            above.push(number(&function["paths"][number(&node["path"]) as usize]["id"]));
            (above.clone(), number(&node["count"]), number(&node["most"]))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    /// Whatever is forgotten of a run, the truth is within the bounds of all that is told, and no
    /// share is over 100 %.
    #[test]
    fn the_truth_is_within_what_is_told(
        rounds in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(3u32..5, 0..40),
                (1usize..30).prop_map(|n| vec![3; n]),
                (1usize..20).prop_map(|n| [3, 4].repeat(n)),
                (1usize..12).prop_map(|n| [3, 3, 4].repeat(n)),
            ],
            1..8,
        ),
        first in 0u32..2,
        forgetting in prop::collection::btree_map(0usize..150, 0usize..3, 0..60),
        k in 2u32..9,
    ) {
        let table = FunctionTable { k, ..sum() };
        let streams: Vec<Vec<u32>> =
            rounds.into_iter().map(|rounds| [&[first][..], &rounds, &[5]].concat()).collect();
        let fixture = Fixture::new();
        fixture.write("prog", &elf(&section(std::slice::from_ref(&table))));
        let exact = profile("/build/prog", &[table], &[("sum", streams.clone())]);
        let mut short = exact.clone();
        forget(&mut short.functions[0], &streams, |event| forgetting.get(&event).copied());
        let (truth, _) = told(&fixture, "exact.mfp", &exact);
        let (known, text) = told(&fixture, "short.mfp", &short);
        let (truth, known) = (&truth["functions"][0], &known["functions"][0]);
        check_loops(known, truth)?;
        let all = nodes(truth);
        for (ids, count, most) in nodes(known) {
            let own = all.iter().find(|(other, ..)| *other == ids).map(|(_, count, _)| *count);
            prop_assert!(own.is_some_and(|own| count <= own && own <= most), "{:?}", ids);
        }
        for percent in text.split(" %").filter_map(|before| before.rsplit(' ').next()) {
            let percent: f64 = percent.trim_start_matches('(').parse().unwrap_or(0.0);
            prop_assert!(percent <= 100.0, "{}", text);
        }
    }
}
