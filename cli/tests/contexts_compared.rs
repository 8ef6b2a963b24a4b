//! Calling contexts of two profiles side by side: `diff` and `overlap`.

mod context_support;
mod support;

use context_support::{Builder, fixture, hot_run, run, section, table, tables};
use midflight_profile::format::{ContextId, ContextMode, Profile};
use midflight_profile::table::{ContextTable, Granularity, Site};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::{Fixture, elf};

const VISIT: &str = "_ZN3foo5visitEi";

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

fn json(fixture: &Fixture, line: &str) -> Value {
    serde_json::from_str(&fixture.printed(line)).unwrap()
}

/// Another run of the fixture's program: the first walk is the same, the second one is longer and
/// calls itself, and nothing begins with `visit`.
fn other_run(section: &[u8]) -> Profile {
    let mut all = Builder::new(section, ContextMode::All);
    let main = all.call(None, 0, "main", 1, 0);
    let first = all.call(main, 0, "walk", 10, 0);
    let again = all.call(first, 0, "walk", 30, 0);
    all.call(first, 1, VISIT, 100, 0);
    all.call(again, 1, VISIT, 200, 0);
    let second = all.call(main, 1, "walk", 20, 0);
    all.call(second, 1, VISIT, 901, 0);
    let deeper = all.call(second, 0, "walk", 40, 0);
    all.call(deeper, 1, VISIT, 700, 0);
    all.profile("/build/calls")
}

/// The fixture with `other.mfp`, another run of its program.
fn two_runs() -> Fixture {
    let fixture = fixture();
    fixture.write("other.mfp", &other_run(&section(&[], &tables())).write());
    fixture
}

#[test]
fn what_changed_is_shown_once_where_it_begins() {
    let fixture = two_runs();
    let text = fixture.printed("diff calls calls.mfp other.mfp --contexts");
    check("contexts-diff", &text);
    assert_eq!(fixture.printed("diff calls calls.mfp other.mfp"), text, "there is nothing else");
    check("contexts-diff-1", &fixture.printed("diff calls calls.mfp other.mfp --contexts=1"));
    let text = fixture.printed("diff calls calls.mfp other.mfp --top 1");
    assert!(text.contains("more changes; --top shows more"), "{text}");
}

#[test]
fn all_contexts_are_in_the_json_and_changes_refer_to_them() {
    let fixture = two_runs();
    let document = json(&fixture, "diff calls calls.mfp other.mfp --contexts --format json");
    assert_eq!(document["activations"], json!([1003, 2002]));
    assert_eq!((&document["elsewhere"], &document["floor"]), (&json!([3, 0]), &json!([0, 0])));
    let contexts = document["contexts"].as_array().unwrap();
    for (id, context) in contexts.iter().enumerate() {
        assert_eq!(context["id"], id);
        assert!(context["parent"].as_u64().is_none_or(|parent| parent < id as u64));
    }
    for side in [0, 1] {
        let counts = contexts.iter().map(|context| context["count"][side].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), [1000, 2002][side]);
    }
    let walk = contexts.iter().find(|context| context["count"] == json!([2, 20])).unwrap();
    assert_eq!((&walk["in"], &walk["site"][1]["line"]), (&"both".into(), &22.into()));
    let mut roots = contexts.iter().filter(|context| context["parent"].is_null());
    let gone = roots.find(|context| context["in"] == "a").unwrap();
    assert_eq!((&gone["function"], &gone["count"]), (&VISIT.into(), &json!([1, 0])));
    let changes = document["changes"].as_array().unwrap();
    assert!(!changes.is_empty());
    for change in changes {
        let head = change["context"].as_u64().unwrap() as usize;
        assert_eq!(contexts[head]["alike"], head);
        let below = contexts.iter().filter(|context| context["alike"] == head).count() - 1;
        assert_eq!(change["below"], below);
    }
    // Those that are called once for each activation above them changed with that.
    let new = contexts.iter().find(|context| context["count"] == json!([0, 700])).unwrap();
    assert_eq!(contexts[new["alike"].as_u64().unwrap() as usize]["count"], json!([0, 40]));
}

#[test]
fn a_profile_has_not_changed_from_itself_or_a_multiple() {
    let fixture = two_runs();
    fixture.printed("merge -o five.mfp --weighted-input 5,other.mfp");
    for (a, b) in [("calls.mfp", "calls.mfp"), ("other.mfp", "five.mfp"), ("hot.mfp", "hot.mfp")] {
        for contexts in ["--contexts", "--contexts=2"] {
            let text = fixture.printed(&format!("diff calls {a} {b} {contexts}"));
            assert!(text.contains("\nno context is known to have changed\n"), "{text}");
        }
    }
    let text = fixture.printed("overlap calls other.mfp five.mfp");
    assert_eq!(text.matches("100.0 %").count(), 9, "{text}");
}

/// A change is one only if there is one whatever was not counted.
#[test]
fn of_hot_contexts_only_what_is_known_is_a_change() {
    let fixture = two_runs();
    check("contexts-diff-hot", &fixture.printed("diff calls hot.mfp other.mfp"));
    // `walk` was called 40 to 60 times in one, and 55 in the other.
    let section = section(&[], &tables());
    let mut near = Builder::new(&section, ContextMode::All);
    let main = near.call(None, 0, "main", 1, 0);
    let walk = near.call(main, 0, "walk", 55, 0);
    near.call(walk, 1, VISIT, 940, 0);
    near.call(walk, 0, "walk", 4, 0);
    fixture.write("near.mfp", &near.profile("/build/calls").write());
    let text = fixture.printed("diff calls hot.mfp near.mfp");
    assert!(text.contains("\nno context is known to have changed\n"), "{text}");
    assert!(text.contains("there may be"), "{text}");
    let document = json(&fixture, "diff calls hot.mfp near.mfp --contexts --format json");
    let contexts = document["contexts"].as_array().unwrap();
    let new = contexts.iter().find(|context| context["in"] == "b").unwrap();
    assert_eq!((&new["count"], &new["most"]), (&json!([0, 4]), &json!([20, 4])));
    assert_eq!(new["share"], json!([[0.0, 0.02], [0.004, 0.004]]));
    assert_eq!(new["change"], 0.0);
}

/// The fixture's functions with so many lines above them, `walk` with a call more in front of all
/// others, and a local function in another folder.
fn edited_tables() -> Vec<ContextTable> {
    let mut tables = tables();
    for table in &mut tables {
        table.line += 100;
        for Site { loc, .. } in table.sites.iter_mut().filter(|site| site.loc.line != 0) {
            let is_own = loc.line == loc.outer_line;
            loc.outer_line += 100;
            loc.line = if is_own { loc.outer_line } else { loc.line + 3 };
        }
        table.files[0] = "/elsewhere/calls.c".into();
    }
    let mut new = tables[1].sites[0];
    (new.loc.line, new.loc.outer_line) = (110, 110);
    tables[1].sites.insert(0, new);
    tables
}

/// The same run of the edited program, whose slots of `walk` are one more; the new call is made.
fn edited_run(section: &[u8]) -> Profile {
    let mut all = Builder::new(section, ContextMode::All);
    let main = all.call(None, 0, "main", 1, 0);
    let first = all.call(main, 0, "walk", 10, 0);
    let again = all.call(first, 1, "walk", 30, 0);
    let deeper = all.call(again, 1, "walk", 60, 0);
    all.call(first, 2, VISIT, 100, 0);
    all.call(again, 2, VISIT, 200, 0);
    all.call(deeper, 2, VISIT, 500, 0);
    all.call(deeper, 3, VISIT, 5, 0);
    let second = all.call(main, 1, "walk", 2, 0);
    let visited = all.call(second, 2, VISIT, 90, 0);
    all.call(visited, 0, "walk", 1, 0);
    all.call(None, 0, VISIT, 1, 0);
    all.call(second, 0, "walk", 200, 0);
    all.profile("/build/calls")
}

#[test]
fn calls_of_two_builds_are_the_same_where_lines_were_added() {
    let fixture = fixture();
    let section = section(&[], &edited_tables());
    fixture.write("edited", &elf(&section));
    fixture.write("edited.mfp", &edited_run(&section).write());
    let line = "diff calls calls.mfp edited.mfp --binary-b edited";
    let document = json(&fixture, &format!("{line} --contexts --format json"));
    let contexts = document["contexts"].as_array().unwrap();
    let alone: Vec<&Value> = contexts.iter().filter(|context| context["in"] != "both").collect();
    let [new] = alone[..] else { panic!("{alone:?}") };
    assert_eq!((&new["count"], &new["site"][1]["line"]), (&json!([0, 200]), &110.into()));
    for context in contexts.iter().filter(|context| context["in"] == "both") {
        assert_eq!(context["count"][0], context["count"][1], "{context}");
        let [a, b] = [0, 1].map(|side: usize| &context["site"][side]);
        if let (Some(a), Some(b)) = (a["outer_line"].as_u64(), b["outer_line"].as_u64()) {
            assert!(b == a + 100 || (a, b) == (0, 0), "{context}");
        }
    }
    let text = fixture.printed(line);
    assert!(text.contains("└ walk  calls.c:110  (in B only)\n"), "{text}");
    assert_eq!(text.matches(" only").count(), 1, "{text}");
}

/// Of a function that one build tells apart by call sites and the other by functions alone
#[test]
fn call_sites_that_one_build_does_not_tell_apart_are_one() {
    let fixture = fixture();
    let by_function = |mut table: ContextTable| {
        table.granularity = Granularity::Functions;
        table.sites.clear();
        table
    };
    let section = section(&[], &tables().into_iter().map(by_function).collect::<Vec<_>>());
    fixture.write("alike", &elf(&section));
    let mut all = Builder::new(&section, ContextMode::All);
    let main = all.call(None, 0, "main", 1, 0);
    let walk = all.call(main, 0, "walk", 12, 0);
    all.call(walk, 0, VISIT, 190, 0);
    fixture.write("alike.mfp", &all.profile("/build/calls").write());
    for line in [
        "diff calls calls.mfp alike.mfp --binary-b alike --contexts --format json",
        "diff alike alike.mfp calls.mfp --binary-b calls --contexts --format json",
    ] {
        let document = json(&fixture, line);
        let contexts = document["contexts"].as_array().unwrap();
        let of = |name: &str| {
            let named = contexts.iter().filter(|c| c["function"] == name && c["in"] == "both");
            named.map(|context| &context["count"]).collect::<Vec<_>>()
        };
        assert_eq!(of("walk"), [&json!([12, 12])], "{line}");
        assert_eq!(of(VISIT), [&json!([190, 190])], "{line}");
    }
}

#[test]
fn functions_are_asked_for_by_their_names() {
    let fixture = two_runs();
    let text = fixture.printed("diff calls calls.mfp other.mfp --function foo::visit");
    assert!(text.contains("  └ foo::visit(int)"), "{text}");
    for line in text.lines().filter(|line| line.contains('%')) {
        assert!(line.contains("foo::visit(int)"), "only what is asked for has shares: {text}");
    }
    let text = fixture.printed("diff calls calls.mfp other.mfp --function idle");
    assert!(text.contains("no context is known to have changed"), "{text}");
    let complaint = fixture.complaint("diff calls calls.mfp other.mfp --function nosuch");
    assert!(complaint.contains("there is no function 'nosuch'"), "{complaint}");
    // It is in the other build alone.
    let mut more = tables();
    more.push(table("added", 90, &[]));
    let section = section(&[], &more);
    fixture.write("more", &elf(&section));
    fixture.write("more.mfp", &run(&section).write());
    fixture.printed("diff calls calls.mfp more.mfp --binary-b more --function added");
}

#[test]
fn trees_overlap_by_functions_calls_and_contexts() {
    let fixture = two_runs();
    let text = fixture.printed("overlap calls calls.mfp other.mfp --contexts");
    check("contexts-overlap", &text);
    assert_eq!(fixture.printed("overlap calls calls.mfp other.mfp"), text);
    let document = json(&fixture, "overlap calls hot.mfp other.mfp --contexts --format json");
    for level in ["functions", "calls", "contexts"] {
        let [least, most] = [0, 1].map(|end: usize| document[level][end].as_f64().unwrap());
        assert!(0.0 <= least && least < most && most <= 1.0, "{document}");
    }
    assert_eq!(document["by_function"][0]["name"], VISIT);
}

#[test]
fn contexts_must_be_in_both_profiles() {
    let fixture = fixture();
    for line in ["diff", "overlap"] {
        let complaint = fixture
            .complaint(&format!("{line} prog prog.mfp calls.mfp --binary-b calls --contexts"));
        assert!(complaint.contains("midflight cc --midflight-contexts"), "{complaint}");
    }
    // Paths are compared where one of them has paths.
    let output = fixture.run("diff prog prog.mfp calls.mfp --binary-b calls");
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("(ran in A only)"));
    let output = fixture.run("diff calls calls.mfp calls.mfp --contexts --paths 3");
    assert_eq!(output.status.code(), Some(2));
}

/// A way of calls, and how often it was taken.
type Calls = BTreeMap<Vec<u32>, u64>;

/// Contexts of one function that calls itself from several sites, with their counts, and what is
/// known of them where those with `floor` or fewer activations are left out.
fn kept(calls: &Calls, section: &[u8], errors: &[u64], floor: u64) -> Profile {
    let is_all = floor == 0;
    let mode = if is_all { ContextMode::All } else { ContextMode::Hot { phi: 0.1, epsilon: 0.05 } };
    let mut builder = Builder::new(section, mode);
    let mut ids: BTreeMap<&[u32], Option<ContextId>> = BTreeMap::new();
    let is_kept =
        |way: &[u32]| calls.iter().any(|(other, count)| other.starts_with(way) && *count > floor);
    for (index, way) in calls.keys().enumerate().filter(|(_, way)| is_kept(way)) {
        let (parent, slot) = match way.split_last() {
            None => (None, 0),
            Some((slot, above)) => (ids[above], *slot),
        };
        let error = if is_all { 0 } else { errors[index % errors.len()] };
        ids.insert(way, builder.call(parent, slot, "walk", calls[way] + error, error));
    }
    builder.contexts.floor = floor;
    builder.contexts.activations = calls.values().sum();
    builder.profile("/build/calls")
}

/// Calls of which none is without the one above it.
fn some_calls() -> impl Strategy<Value = Calls> {
    let way = proptest::collection::vec(0u32..3, 0..4);
    proptest::collection::vec((way, 1u64..400), 1..12).prop_map(|ways| {
        let mut calls = Calls::new();
        for (way, count) in ways {
            (0..way.len())
                .for_each(|length| *calls.entry(way[..length].to_vec()).or_default() += 1);
            *calls.entry(way).or_default() += count;
        }
        calls
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// Whatever was kept of two runs, no change is claimed that is larger than the true one.
    #[test]
    fn no_claim_is_more_than_the_truth(
        calls in [some_calls(), some_calls()],
        errors in proptest::collection::vec(0u64..40, 1..5),
        floors in [prop_oneof![Just(0u64), 1u64..60], prop_oneof![Just(0u64), 1u64..60]],
    ) {
        let fixture = fixture();
        let section = section(&[], &tables());
        for ((name, calls), floor) in ["a.mfp", "b.mfp"].into_iter().zip(&calls).zip(floors) {
            fixture.write(name, &kept(calls, &section, &errors, floor).write());
        }
        let all = calls.each_ref().map(|calls| calls.values().sum::<u64>() as f64);
        let document = json(&fixture, "diff calls a.mfp b.mfp --contexts --format json");
        let contexts = document["contexts"].as_array().unwrap();
        let mut ways: Vec<Vec<u32>> = Vec::new();
        let mut of_change: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
        for context in contexts {
            let mut way = context["parent"].as_u64().map_or(vec![], |at| ways[at as usize].clone());
            let sites = context["site"].as_array().unwrap();
            way.extend(sites.iter().find_map(|site| site["slot"].as_u64()).map(|slot| slot as u32));
            let truth = calls.each_ref().map(|calls| calls.get(&way).copied().unwrap_or(0));
            for side in [0, 1] {
                let ends = [&context["count"], &context["most"]].map(|n| n[side].as_u64().unwrap());
                prop_assert!(ends[0] <= truth[side] && truth[side] <= ends[1], "{context}");
            }
            let share = [0, 1].map(|side: usize| truth[side] as f64 / all[side]);
            is_within(context, share)?;
            let sum = of_change.entry(context["alike"].as_u64().unwrap()).or_default();
            *sum = [sum[0] + share[0], sum[1] + share[1]];
            ways.push(way);
        }
        for change in document["changes"].as_array().unwrap() {
            is_within(change, of_change[&change["context"].as_u64().unwrap()])?;
        }
        let text = fixture.printed("diff calls a.mfp b.mfp");
        let claims = document["changes"].as_array().unwrap().len();
        prop_assert_eq!(text.contains("no context is known to have changed"), claims == 0);
    }
}

/// What is told of shares is true of these.
fn is_within(told: &Value, share: [f64; 2]) -> Result<(), TestCaseError> {
    const NEAR: f64 = 1e-12;
    for (side, share) in share.into_iter().enumerate() {
        let [least, most] = [0, 1].map(|end: usize| told["share"][side][end].as_f64().unwrap());
        prop_assert!(least <= share + NEAR && share <= most + NEAR, "{told} {share}");
    }
    let (claimed, truth) = (told["change"].as_f64().unwrap(), share[1] - share[0]);
    prop_assert!(claimed.abs() <= truth.abs() + NEAR, "{told} {truth}");
    prop_assert!(claimed * truth >= -NEAR, "{told} {truth}");
    Ok(())
}

/// The same hot run is not told apart from itself.
#[test]
fn hot_runs_may_be_added_up_and_compared() {
    let fixture = fixture();
    let section = section(&[], &tables());
    fixture.write("again.mfp", &hot_run(&section).write());
    fixture.printed("merge -o both.mfp hot.mfp again.mfp");
    let text = fixture.printed("diff calls hot.mfp both.mfp");
    assert!(text.contains("no context is known to have changed"), "{text}");
}
