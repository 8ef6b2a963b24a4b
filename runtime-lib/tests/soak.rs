//! Threads, signals and forks together, for a while: `MIDFLIGHT_SOAK_SECONDS`, three by default.

mod support;

use midflight_profile::format::Profile;
use support::{Build, Counts, Program};

fn counts(profile: &Profile, key: u64) -> (u64, u64) {
    let counts = Counts::of(profile, key);
    (counts.entries, counts.events + counts.lost)
}

#[test]
fn nothing_is_lost_between_threads_signals_and_forks() {
    soak(&Program::build("soak"), "midflight-%p.mfp");
}

#[test]
fn nothing_is_lost_while_the_file_is_counted_in() {
    soak(&Program::build("soak"), "%cmidflight-%p.mfp");
}

/// ThreadSanitizer would write to standard error.
#[test]
fn there_is_no_race_between_threads_signals_and_forks() {
    soak(&Build::new("soak").watched().program(), "midflight-%p.mfp");
}

/// With so little memory that each thread's is soon full, but not that of the process.
fn soak(program: &Program, pattern: &str) {
    let seconds = std::env::var("MIDFLIGHT_SOAK_SECONDS").unwrap_or_else(|_| "3".into());
    let command = program.command().arg(&seconds).env("MIDFLIGHT_PROFILE", pattern);
    let run = command.env("MIDFLIGHT_THREAD_MEMORY", "4M").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let told: Vec<Vec<u64>> = run
        .stdout()
        .lines()
        .map(|line| line.split(' ').skip(1).map(|number| number.parse().unwrap()).collect())
        .collect();
    let (parents, children): (Vec<_>, Vec<_>) =
        run.profiles().into_iter().partition(|profile| counts(profile, 1) != (0, 0));
    assert_eq!(parents.len(), 1);
    assert_eq!(children.len() as u64, told[2][0]);
    let parent = &parents[0];
    // A handler that moves a table between the lookup of an event and its count loses that event.
    let (work, handler) = (counts(parent, 1), counts(parent, 2));
    assert_eq!((work.0, handler.0), (told[0][0], told[1][0]));
    let missing = (told[0][1] - work.1) + (told[1][1] - handler.1);
    assert!(missing <= handler.0 / 100, "{missing} events are missing");
    let many = counts(parent, 4);
    assert_eq!(many.0, work.0);
    assert!(many.1 <= told[0][1] && told[0][1] - many.1 <= handler.0 / 100, "{many:?}");
    assert_eq!(counts(parent, 3), (0, 0));
    for child in &children {
        assert_eq!(counts(child, 3), (1, 10));
        assert_eq!((counts(child, 1), counts(child, 4)), ((0, 0), (0, 0)));
    }
}
