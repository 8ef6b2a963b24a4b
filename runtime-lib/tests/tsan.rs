//! The runtime under ThreadSanitizer: what threads share is atomic or behind a lock, without
//! exception. A race would be told on standard error, and change the exit status. Writes to code
//! are left out: ThreadSanitizer takes it for constant.

mod support;

use support::{Build, Run, watched_symbols};

fn watched(name: &str) -> Run {
    Build::new(name).watched().program().run()
}

#[track_caller]
fn check(run: &Run) {
    assert_eq!(run.stderr(), "");
    assert_eq!(run.status(), 0);
}

#[test]
fn the_runtime_is_watched() {
    let symbols = watched_symbols();
    for symbol in ["__tsan_func_entry", "__tsan_read8", "__tsan_write8", "__tsan_atomic64_load"] {
        assert!(symbols.iter().any(|name| name == symbol), "{symbol}");
    }
}

#[test]
fn threads_that_end_and_threads_that_run_on() {
    check(&watched("threads"));
}

#[test]
fn a_profile_that_is_paused_while_a_thread_counts() {
    check(&watched("pause"));
}

#[test]
fn forks_and_handlers_of_signals() {
    check(&watched("fork"));
    check(&watched("signals"));
}

#[test]
#[ignore = "takes as long as all others: `make nightly`, `make check-tsan`"]
fn algorithm_4_as_published() {
    for name in ["threads", "pause", "fork", "signals"] {
        check(&Build::new(name).watched().flag("-DALL_PUBLISHED").program().run());
    }
}

#[test]
fn points_that_threads_share() {
    let program = Build::new("fuzzed_threads").watched().program();
    for fire in ["always", "every:10", "random:1:0.1", "at:work#0:70000"] {
        check(&program.command().env("MIDFLIGHT_OSR_FIRE", fire).run());
    }
}
