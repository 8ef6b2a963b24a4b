//! What the report says of loops that behave in a known way. The function is `support::sum`: a loop
//! with a branch, whose paths from the head are 3 (taken), 4 (not taken) and 5 (out), and
//! from the entry 0, 1 and 2.

mod support;

use midflight_profile::table::{FunctionTable, Stage};
use support::{Fixture, bar, elf, idle, profile, section, sum, sum_with};

/// The lines of the report on the loop of `sum` whose activations were these.
fn told_of(streams: Vec<Vec<u32>>) -> String {
    told_of_table(sum(), streams)
}

/// The same of a table like that of `sum`.
fn told_of_table(sum: FunctionTable, streams: Vec<Vec<u32>>) -> String {
    let fixture = Fixture::new();
    let tables = [sum, idle(), bar()];
    fixture.write("prog", &elf(&section(&tables)));
    fixture.write("loop.mfp", &profile("/build/prog", &tables, &[("sum", streams)]).write());
    let text = fixture.printed("report prog loop.mfp --no-source");
    let from = text.find("   Loop at line 7").unwrap_or_else(|| panic!("{text}"));
    text[from..].trim_end().to_string()
}

/// From the entry, `cycles`, and out.
fn activation(cycles: &[u32]) -> Vec<u32> {
    [&[0][..], cycles, &[5]].concat()
}

fn check_hint(streams: Vec<Vec<u32>>, hint: &str) {
    let text = told_of(streams);
    assert!(text.contains(&format!("→ {hint}")), "no hint '{hint}' in\n{text}");
    assert_eq!(text.matches('→').count(), 1, "{text}");
}

#[test]
fn phases_with_run_lengths_and_what_follows() {
    let phases = [&[3; 30][..], &[4; 50]].concat().repeat(20);
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("loop-phases", told_of(vec![activation(&phases)]));
    });
}

#[test]
fn one_way_around_is_to_be_unrolled() {
    check_hint(vec![activation(&[3; 100])], "unroll by 8: runs are 100 long on average");
    let rarely = [&[3; 60][..], &[4]].concat().repeat(5);
    check_hint(vec![activation(&rarely)], "unroll by 8 for A, and leave the loop's other ways");
    check_hint(vec![activation(&[3; 6]); 9], "unroll by 2: 100.0 % of the iterations are in runs");
}

/// The loop has 23 instructions, as the front end made it.
#[test]
fn copies_are_advised_where_the_body_is_small_and_calls_nothing() {
    let round = || vec![activation(&[3; 100])];
    let phases = || vec![activation(&[&[3; 30][..], &[4; 50]].concat().repeat(20))];
    let turns = || vec![activation(&[4, 3].repeat(50))];
    let mut first = vec![[&[1][..], &[3; 40], &[5]].concat(); 10];
    first.push(activation(&[4]));
    let told = |calls, times, stage, streams| told_of_table(sum_with(times, calls, stage), streams);
    for (streams, hint) in [
        (round(), "→ unroll by 8"),
        (phases(), "→ phases: unroll by 8"),
        (turns(), "→ unroll by 2: (A B)"),
        (first, "→ peel the first"),
    ] {
        let small = told(false, 1, Stage::Early, streams.clone());
        assert!(small.contains(hint), "{small}");
        let large = told(false, 3, Stage::Early, streams.clone());
        assert!(!large.contains(hint), "69 instructions: {large}");
        let calls = told(true, 1, Stage::Early, streams.clone());
        assert!(!calls.contains(hint), "a call: {calls}");
        let late = told(false, 1, Stage::Late, streams.clone());
        assert!(!late.contains("unroll"), "the optimizer has unrolled what it wanted to: {late}");
        // 23 instructions are many where they are simplified.
        let inlined = told(false, 1, Stage::Inlined, streams);
        assert!(hint.contains("phases") || !inlined.contains(hint), "{inlined}");
    }
    let text =
        told_of_table(sum_with(1, true, Stage::Early), vec![vec![2], vec![2], activation(&[])]);
    assert!(text.ends_with("unrolling will not pay"), "{text}");
}

#[test]
fn alternation_is_to_be_unrolled_by_its_period() {
    let text = "unroll by 2: (A B) repeats itself in 99.0 % of the iterations";
    check_hint(vec![activation(&[4, 3].repeat(50))], text);
}

#[test]
fn what_goes_one_way_in_each_activation_is_to_be_unswitched() {
    let streams = vec![activation(&[3; 20]), [&[1][..], &[4; 20], &[5]].concat()];
    check_hint(streams, "unswitch: the branch at line 7 went one way");
}

#[test]
fn a_first_iteration_of_its_own_is_to_be_peeled() {
    let text = told_of(vec![[&[1][..], &[3; 40], &[5]].concat(); 10]);
    let hint = "→ peel the first iteration: 100.0 % of the first ones go as";
    assert!(!text.contains(hint), "a way that no other iteration goes has no letter: {text}");
    let mut streams = vec![[&[1][..], &[3; 40], &[5]].concat(); 10];
    streams.push(activation(&[4]));
    let text = told_of(streams);
    assert!(text.contains("→ peel the first iteration: 90.9 % of the first ones"), "{text}");
}

#[test]
fn a_loop_that_hardly_goes_around_is_not_to_be_unrolled() {
    check_hint(vec![vec![2], vec![2], activation(&[])], "it goes around 0.3 times each time");
}

#[test]
fn what_depends_on_the_past_is_told_from_what_depends_on_nothing() {
    let by_past = [3, 3, 4].repeat(60);
    check_hint(vec![activation(&by_past)], "which way it goes depends on the iterations before");
    let mut random = fastrand::Rng::with_seed(1);
    let by_nothing: Vec<u32> = (0..4000).map(|_| 3 + random.u32(0..2)).collect();
    check_hint(vec![activation(&by_nothing)], "the branch at line 7 is hard to predict");
}

#[test]
fn the_hints_need_not_know_more_than_k_tells() {
    let fixture = Fixture::new();
    let text = fixture.printed("report prog prog.mfp --loops 0 --no-source");
    assert!(!text.contains("Loop at"), "{text}");
}
