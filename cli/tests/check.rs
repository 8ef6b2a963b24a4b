//! `midflight check` on profiles that can be of a run, and on some that cannot.

mod support;

use midflight_profile::format::{FLAG_BEGAN_WITHIN, FLAG_WENT_ON, Profile};
use support::{Fixture, bar, idle, profile, streams, sum};

/// The profile of the fixture, changed.
fn changed(change: impl Fn(&mut Profile)) -> Fixture {
    let fixture = Fixture::new();
    let runs = [("sum", streams(10)), ("_ZN3foo3barEi", vec![vec![0]; 7])];
    let mut profile = profile("/build/prog", &[sum(), idle(), bar()], &runs);
    change(&mut profile);
    fixture.write("changed.mfp", &profile.write());
    fixture
}

/// What is said of a profile that does not conserve flow.
fn refused(fixture: &Fixture) -> String {
    let output = fixture.run("check prog changed.mfp");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_a_run_has_left_conserves_flow() {
    let text = Fixture::new().printed("check prog prog.mfp");
    let counts = "functions=2 entries=19 paths=25 interrupted=1 truncated=0 lost=0";
    assert_eq!(text, format!("{counts}\nflow is conserved\n"));
}

#[test]
fn more_paths_than_activations_are_told() {
    let fixture = changed(|profile| profile.functions[0].totals.entries = 11);
    let text = refused(&fixture);
    assert!(text.starts_with("sum: 12 paths begin at the entry, of 11 activations\n"), "{text}");
    assert!(text.ends_with("flow is not conserved in 1 of 2 functions\n"), "{text}");
}

#[test]
fn paths_from_nowhere_are_told() {
    let fixture = changed(|profile| {
        let forest = &mut profile.functions[0].forest;
        let out = forest.child_or_insert(None, 5);
        forest.add(out, 9).unwrap();
    });
    let text = refused(&fixture);
    let edge = "sum: 15 paths begin behind the edge from block 4 to block 1, and 7 end with it\n";
    assert!(text.starts_with(edge), "{text}");
}

#[test]
fn continuations_of_nothing_are_told_unless_memory_was_full() {
    let fixture = changed(|profile| {
        let forest = &mut profile.functions[0].forest;
        let first = forest.child_or_insert(None, 1);
        let next = forest.child_or_insert(Some(first), 4);
        forest.add(next, 3).unwrap();
    });
    let text = refused(&fixture);
    assert!(
        text.contains("sum: the sequence 1 occurs 1 times and is continued 4 times\n"),
        "{text}"
    );
    let spared = changed(|profile| {
        let function = &mut profile.functions[0];
        let first = function.forest.child_or_insert(None, 1);
        let next = function.forest.child_or_insert(Some(first), 4);
        function.forest.add(next, 3).unwrap();
        function.totals.lost = 3;
    });
    let text = spared.printed("check prog changed.mfp");
    assert!(text.ends_with("lost=3\nflow is conserved\n"), "{text}");
}

/// Three times the loop goes on behind a sequence that was seen once; `truncated` times its last
/// path was counted alone.
fn goes_on(truncated: u64) -> Fixture {
    changed(move |profile| {
        let function = &mut profile.functions[0];
        let way = [0, 3, 3].into_iter();
        let node = way.fold(None, |at, id| Some(function.forest.child_or_insert(at, id)));
        function.forest.add(node.unwrap(), 3).unwrap();
        for forest in [&mut function.forest, &mut function.truncated] {
            let alone = forest.child_or_insert(None, 3);
            forest.add(alone, truncated).unwrap();
        }
    })
}

#[test]
fn paths_that_were_counted_alone_may_be_of_any_sequence() {
    let text = refused(&goes_on(0));
    let told = "sum: the sequence 0 3 occurs 1 times and is continued 4 times\n";
    assert!(text.starts_with(told), "{text}");
    let text = refused(&goes_on(2));
    let told = "sum: the sequence 0 3 occurs 1 times, 3 at most, and is continued 4 times\n";
    assert!(text.starts_with(told), "{text}");
    let text = goes_on(3).printed("check prog changed.mfp");
    assert!(text.ends_with(" truncated=3 lost=0\nflow is conserved\n"), "{text}");
    // Single paths are not missing.
    let fixture = goes_on(3);
    let mut profile = Profile::read(&fixture.read("changed.mfp")).unwrap();
    let sum = profile.functions.iter_mut().find(|function| function.totals.entries == 12);
    sum.unwrap().totals.entries = 11;
    fixture.write("changed.mfp", &profile.write());
    let text = refused(&fixture);
    assert!(text.starts_with("sum: 12 paths begin at the entry, of 11 activations\n"), "{text}");
}

#[test]
fn as_json() {
    let fixture = changed(|profile| profile.functions[0].totals.entries = 11);
    let output = fixture.run("check prog changed.mfp --format json");
    assert_eq!(output.status.code(), Some(1));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["version"], &document["conserved"]), (&2.into(), &false.into()));
    let function = &document["functions"][0];
    let violation = serde_json::json!([{"kind": "entry", "paths": 12, "entries": 11}]);
    assert_eq!((&function["name"], &function["violations"]), (&"sum".into(), &violation));
}

#[test]
fn what_forks_and_threads_explain_is_told_apart() {
    let more_paths = |flags: u32| {
        changed(move |profile| {
            profile.functions[0].totals.entries = 11;
            profile.flags = flags;
        })
    };
    let fork =
        "counting began while they were under way (in a forked child, by a reset or a pause)";
    let threads = "threads counted on while the profile was written";
    let both = format!("{fork}, and {threads}");
    for (flags, why) in [
        (FLAG_BEGAN_WITHIN, fork),
        (FLAG_WENT_ON, threads),
        (FLAG_BEGAN_WITHIN | FLAG_WENT_ON, both.as_str()),
    ] {
        let text = more_paths(flags).printed("check prog changed.mfp");
        let end = format!("flow is conserved, but in 1 of 2 functions, since {why}\n");
        assert!(text.starts_with("functions=2 ") && text.ends_with(&end), "{text}");
    }
    let text = more_paths(FLAG_BEGAN_WITHIN).printed("check prog changed.mfp --format json");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let flags = (&document["conserved"], &document["began_within"], &document["went_on"]);
    assert_eq!(flags, (&true.into(), &true.into(), &false.into()));
    let explained = serde_json::json!([{"kind": "entry", "paths": 12, "entries": 11}]);
    assert_eq!(document["functions"][0]["violations"], serde_json::json!([]));
    assert_eq!(document["functions"][0]["explained"], explained);
    assert_eq!(document["functions"][1]["explained"], serde_json::json!([]));
}
