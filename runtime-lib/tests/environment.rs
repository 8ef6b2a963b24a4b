//! Whatever stands in the environment, the program runs as ever, and reports each mistake in a line.

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use support::Build;

const VARIABLES: [&str; 8] = [
    "MIDFLIGHT_PROFILE",
    "MIDFLIGHT_MAX_MEMORY",
    "MIDFLIGHT_THREAD_MEMORY",
    "MIDFLIGHT_SIGNALS",
    "MIDFLIGHT_PROFILE_SIGNAL",
    "MIDFLIGHT_OSR_FIRE",
    "MIDFLIGHT_OSR_LOG",
    "MIDFLIGHT_OSR_SIGNAL",
];

/// Values that mean something but `list`, which prints a table, parts of them, and anything else
/// that names no other folder.
fn values() -> impl Strategy<Value = OsString> {
    let meaning = prop::sample::select(vec![
        "%p.mfp",
        "%h",
        "%m",
        "%4m",
        "%%",
        "64K",
        "1M",
        "1",
        "none",
        "fatal",
        "USR1",
        "SIGUSR2",
        "at:work#0:3",
        "every:10",
        "random:1:0.5",
        "always",
        "arm:flag",
        "arm:",
        "%q\nforged\x1b[31m",
        "%",
        ":",
    ]);
    let byte = any::<u8>().prop_filter("ends or leads elsewhere", |byte| !b"\0/.".contains(byte));
    prop_oneof![
        4 => meaning.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(byte.clone(), 0..300),
        1 => prop::collection::vec(byte, 4000..5000),
    ]
    .prop_map(OsString::from_vec)
}

#[test]
fn the_program_runs_as_ever() {
    let program = Build::new("fuzzed").flag("-DPATHS").program();
    let usual = ProptestConfig::default();
    let cases = usual.cases / 4;
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..usual });
    let environment = prop::collection::vec(prop::option::of(values()), VARIABLES.len());
    let result = runner.run(&environment, |environment| {
        let mut command = program.command();
        for (variable, value) in VARIABLES.into_iter().zip(environment) {
            if let Some(value) = value {
                command = command.env(variable, value);
            }
        }
        let run = command.run();
        prop_assert_eq!(run.status(), 7);
        prop_assert_eq!(run.stdout().split_whitespace().count(), 7);
        let told = run.stderr();
        prop_assert!(told.lines().all(|line| line.starts_with("midflight: ")), "{}", told);
        prop_assert!(told.lines().count() <= 2 * VARIABLES.len(), "{}", told);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
