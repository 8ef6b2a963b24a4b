//! Libraries that a program loads and unloads, with its runtime or one of their own.

mod support;

use midflight_profile::format::Profile;
use support::{Build, Counts, Program, Run, library};

fn library_program() -> Program {
    Build::new("library").flag("-shared").flag("-fPIC").program()
}

/// A program whose runtime libraries use, too.
fn host() -> Build {
    Build::new("host").flag("-Wl,--export-dynamic-symbol=midflight_*").flag("-ldl")
}

/// What is counted in a library that is loaded so often, by a runtime of the program.
fn check_library(profile: &Profile, times: u64) {
    let expected = Counts { entries: times, events: 7 * times, short: 0, lost: 0 };
    assert_eq!(Counts::of(profile, 100), expected);
    assert_eq!(Counts::of(profile, 101).events, times, "its destructor, at exit too");
}

fn check_alone(run: &Run) {
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profile = run.profile();
    assert_eq!(profile.modules.len(), 2, "{:?}", profile.modules);
    assert_eq!(Counts::of(&profile, 1).events, 5);
    check_library(&profile, 5);
}

#[test]
fn libraries_that_are_loaded_and_unloaded_keep_their_counts() {
    let host =
        Build::new("host").flag("-Wl,--export-dynamic-symbol=midflight_*").flag("-ldl").program();
    let library = Build::new("library").flag("-shared").flag("-fPIC").program();
    let run = host.command().arg(library.path()).run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profile = run.profile();
    assert_eq!(profile.modules.len(), 2, "{:?}", profile.modules);
    assert_eq!(profile.modules[1].name, library.path().to_str().unwrap());
    assert_eq!(Counts::of(&profile, 1).events, 5);
    assert_eq!(Counts::of(&profile, 100), Counts { entries: 5, events: 35, short: 0, lost: 0 });
    assert_eq!(Counts::of(&profile, 101).events, 5, "the library's destructor, at exit too");
    let forests = profile.functions.iter().filter(|function| function.key == 100).count();
    assert_eq!(forests, 1, "a library that is loaded again goes on with its forests");
}

#[test]
fn a_library_in_a_program_that_is_not_instrumented_has_profiles() {
    let host = Build::new("host").without_runtime().flag("-DPLAIN").flag("-ldl").program();
    let library = Build::new("library").flag("-shared").flag("-fPIC").program();
    let run = host.command().arg(library.path()).run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    // One each time that it was unloaded.
    let profiles = run.profiles();
    assert_eq!(profiles.len(), 5, "{:?}", run.names());
    for profile in &profiles {
        assert_eq!(profile.modules.len(), 1);
        assert_eq!(Counts::of(profile, 100).events, 7);
        assert_eq!(Counts::of(profile, 101).events, 1);
    }
}

#[test]
fn a_library_in_a_namespace_of_its_own_has_profiles_of_its_own() {
    let host = host().flag("-DNAMESPACE").program();
    let run = host.command().arg(library_program().path()).run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let (of_host, of_library): (Vec<_>, Vec<_>) =
        run.profiles().into_iter().partition(|profile| Counts::of(profile, 1).entries != 0);
    assert_eq!((of_host.len(), of_library.len()), (1, 5), "{:?}", run.names());
    assert_eq!((of_host[0].modules.len(), Counts::of(&of_host[0], 1).events), (1, 5));
    for profile in &of_library {
        assert_eq!(profile.modules.len(), 1);
        check_library(profile, 1);
    }
}

#[test]
fn a_library_with_a_runtime_uses_that_of_a_program_with_the_shared_one() {
    let shared = library("libmidflight_rt.so");
    let directory = shared.parent().unwrap().display().to_string();
    let host = Build::new("host").without_runtime().flag("-DREGISTERS").flag("-ldl");
    let host = host.flag(shared.to_str().unwrap()).flag(&format!("-Wl,-rpath,{directory}"));
    check_alone(&host.program().command().arg(library_program().path()).run());
}

#[test]
fn a_library_of_another_version_ends_the_process() {
    let library =
        Build::new("library").flag("-shared").flag("-fPIC").flag("-DRECORD_VERSION=9").program();
    let run = host().flag("-DCOUNTS_BEFORE").program().command().arg(library.path()).run();
    assert_eq!(run.status(), 127);
    let told = format!(
        "midflight: '{}' cannot run: it was compiled for version 9 of the runtime's interface, and \
         linked with version {}; compile all of it with one midflight\n",
        library.path().display(),
        midflight_abi::ABI_VERSION
    );
    assert_eq!(run.stderr(), told);
    // What the program had counted before it loaded the library is written.
    let profile = run.profile();
    let counted = Counts { entries: 1, events: 1, short: 0, lost: 0 };
    assert_eq!((profile.modules.len(), Counts::of(&profile, 1)), (1, counted));
}
