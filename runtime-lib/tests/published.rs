//! Algorithm 4 as published, in real programs: those of `programs/` with another algorithm.

mod support;

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::Profile;
use midflight_profile::kipf::make_k_ipf;
use support::{Build, Counts, Invocation, Program, check_limit, check_signals};

fn published(name: &str) -> Program {
    Build::new(name).flag("-DALL_PUBLISHED").program()
}

/// The k-IPF of a function.
fn paths_of(profile: &Profile, key: u64) -> PrefixForest {
    let mut sum = PrefixForest::new();
    for function in profile.functions.iter().filter(|function| function.key == key) {
        sum.add_forest(&make_k_ipf(&function.forest, function.k)).unwrap();
    }
    sum
}

/// Runs a program with both algorithms, which must count the same in these functions.
#[track_caller]
fn same(name: &str, keys: &[u64], prepare: impl Fn(Invocation) -> Invocation) {
    let run = |program: Program| {
        let command = program.command().env("MIDFLIGHT_THREAD_MEMORY", "1G");
        let run = prepare(command).run();
        assert_eq!(run.stderr(), "");
        (run.status(), run.stdout().to_owned(), run.profile())
    };
    let (ours, theirs) = (run(Program::build(name)), run(published(name)));
    assert_eq!((ours.0, ours.1), (theirs.0, theirs.1));
    for &key in keys {
        assert_eq!(Counts::of(&ours.2, key), Counts::of(&theirs.2, key));
        let paths = paths_of(&ours.2, key);
        assert_eq!(paths, paths_of(&theirs.2, key), "{key}");
        assert!(paths.total() != 0);
    }
}

#[test]
fn both_algorithms_write_the_same_profile() {
    same("recursion", &[1], |command| command);
    same("threads", &[1], |command| command);
    same("ways_out", &[1, 2, 3, 4, 5], |command| command);
    same("destructors", &[1, 2, 3], |command| command);
    same("pause", &[1], |command| command);
    same("explosion", &[1], |command| command.arg("20000"));
}

#[test]
fn a_forked_child_begins_at_zero_and_goes_on_in_its_parents_activation() {
    let run = published("fork").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profiles = run.profiles();
    assert_eq!(profiles.len(), 21);
    let (parents, children): (Vec<_>, Vec<_>) =
        profiles.iter().partition(|profile| Counts::of(profile, 2).entries == 0);
    assert_eq!(parents.len(), 1);
    let parent = Counts { entries: 1, events: 1020, short: 0, lost: 0 };
    assert_eq!(Counts::of(parents[0], 1), parent);
    for child in children {
        assert_eq!(Counts::of(child, 1), Counts { entries: 0, events: 1, short: 0, lost: 0 });
        assert_eq!(Counts::of(child, 2), Counts { entries: 1, events: 100, short: 0, lost: 0 });
        // Counted in the forest of the activation, below what is not counted in the child.
        let forest = paths_of(child, 1);
        assert!(forest.len() > 3, "{} nodes", forest.len());
    }
}

#[test]
fn signal_handlers_may_interrupt_the_runtime_anywhere() {
    let run = published("signals").run();
    check_signals(&run);
}

#[test]
fn what_memory_has_no_room_for_is_stated() {
    let program = published("explosion");
    for limit in ["256K", "300000", "2M"] {
        let run = program.command().arg("300000").env("MIDFLIGHT_MAX_MEMORY", limit).run();
        check_limit(&run);
    }
    let run = program.command().arg("300000").env("MIDFLIGHT_THREAD_MEMORY", "16K").run();
    assert_eq!((run.status(), run.stderr()), (7, ""));
    assert_eq!(run.profile().flags, 0);
    let run = program.command().arg("1000").env("MIDFLIGHT_MAX_MEMORY", "1").run();
    assert_eq!(run.status(), 7);
    assert!(run.stderr().contains("not profiled: there is no memory"), "{}", run.stderr());
}

#[test]
fn counting_in_a_file_is_refused_in_one_line() {
    let run = published("plain").command().env("MIDFLIGHT_PROFILE", "%cp.mfp").run();
    let expected = "midflight: no profile is left if the program is killed, since functions that \
                    were compiled with algorithm=published cannot count in a file\n";
    assert_eq!((run.status(), run.stderr()), (3, expected));
    assert_eq!(run.names(), ["p.mfp"]);
    assert_eq!(Counts::of(&run.profile(), 77).events, 10);
}

/// The program counts in a file until the library comes.
#[test]
fn the_file_goes_when_a_library_comes_that_cannot_count_in_it() {
    let host =
        Build::new("host").flag("-Wl,--export-dynamic-symbol=midflight_*").flag("-ldl").program();
    let library =
        Build::new("library").flag("-DALL_PUBLISHED").flag("-shared").flag("-fPIC").program();
    let run = host.command().arg(library.path()).env("MIDFLIGHT_PROFILE", "%cp.mfp").run();
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    assert!(run.stderr().contains("cannot count in a file"), "{}", run.stderr());
    assert_eq!(run.names(), ["p.mfp"]);
    let profile = run.profile();
    assert_eq!(profile.modules.len(), 2);
    assert!(profile.functions.iter().all(|function| function.totals.lost == 0));
}
