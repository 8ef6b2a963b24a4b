//! Real programs with hand-written open points, and a code generator that stands for the real one.

mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Build, Invocation, Program, Run};

fn generator() -> Program {
    Build::new("generator").without_runtime().flag("-shared").flag("-fPIC").program()
}

/// A program and its generator.
struct Host {
    program: Program,
    generator: Program,
}

impl Host {
    fn new() -> Self {
        Self::of(Build::new("open").flag("-Wl,--export-dynamic-symbol=midflight_*"))
    }

    fn of(build: Build) -> Self {
        Self { program: build.program(), generator: generator() }
    }

    /// A run in which the generator behaves so, and versions are made then.
    fn command(&self, what: &str, generator: &str, when: &str) -> Invocation {
        let command = self.program.command().arg(what).env("GENERATOR", generator);
        command.env("MIDFLIGHT_JIT", self.generator.path()).env("MIDFLIGHT_OSR_COMPILE", when)
    }

    fn run(&self, what: &str, generator: &str, when: &str) -> Run {
        self.command(what, generator, when).run()
    }
}

#[track_caller]
fn check(run: &Run, stdout: &str) {
    assert_eq!((run.status(), run.stderr(), run.stdout()), (0, "", stdout));
}

/// One line, with that in it.
#[track_caller]
fn check_told(run: &Run, told: &str) {
    assert_eq!(run.status(), 0);
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    assert!(
        run.stderr().starts_with("midflight: ") && run.stderr().contains(told),
        "{}",
        run.stderr()
    );
}

#[test]
fn a_version_is_made_while_the_program_goes_on() {
    let host = Host::new();
    let expected = "first -1 then 3005 cached 1 entry 3005 compiles 1 errno 77\n";
    for (generator, when) in [("make", "background"), ("slow", "background"), ("make", "")] {
        check(&host.run("once", generator, when), expected);
    }
}

#[test]
fn a_version_is_made_before_the_point_goes_on() {
    let expected = "first 3005 then 3005 cached 1 entry 3005 compiles 1 errno 77\n";
    check(&Host::new().run("once", "make", "now"), expected);
}

#[test]
fn the_generator_is_not_loaded_if_nothing_is_to_be_made() {
    check(&Host::new().run("often", "make", "never"), "found 0 threads 1 compiles -1\n");
}

#[test]
fn a_key_for_which_there_is_nothing_is_asked_for_once_and_so_is_a_generic_version() {
    let host = Host::new();
    check(&host.run("often", "nothing", "background"), "found 0 threads 2 compiles 6\n");
    check(&host.run("often", "nothing", "now"), "found 0 threads 1 compiles 6\n");
}

#[test]
fn a_generator_that_is_missing_is_told_once() {
    let host = Host::new();
    for when in ["background", "now"] {
        let command = host.command("often", "make", when);
        let run = command.env("MIDFLIGHT_JIT", "/nowhere/jit.so").run();
        check_told(&run, "no versions are made at run time: cannot load '/nowhere/jit.so': ");
        assert!(run.stdout().starts_with("found 0 "), "{}", run.stdout());
    }
    let run = host.command("often", "make", "now").env("MIDFLIGHT_JIT", "").run();
    check_told(&run, "cannot load 'libmidflight_jit-22.so': ");
    // One without the function.
    let library = Build::new("library").flag("-shared").flag("-fPIC").program();
    let run = host.command("often", "make", "now").env("MIDFLIGHT_JIT", library.path()).run();
    check_told(&run, "it does not export midflight_jit_compile; install ");
}

#[test]
fn a_generator_is_looked_for_from_the_directory_at_start() {
    let host = Host::new();
    let command = host.command("once", "make", "now");
    let copy = command.directory().join("x.so");
    std::fs::copy(host.generator.path(), copy).unwrap();
    let run = command.env("MIDFLIGHT_JIT", "./x.so").run();
    check(&run, "first 3005 then 3005 cached 1 entry 3005 compiles 1 errno 77\n");
}

#[test]
fn a_setting_without_meaning_is_told() {
    let run = Host::new().run("once", "make", "later");
    assert_eq!(run.stdout(), "first -1 then 3005 cached 1 entry 3005 compiles 1 errno 77\n");
    check_told(
        &run,
        "cannot use MIDFLIGHT_OSR_COMPILE='later': it is 'background' (make versions while the \
         program goes on), 'now' (before it goes on) or 'never'; using 'background'\n",
    );
}

#[test]
fn a_name_that_is_too_long_is_told() {
    let command = Host::new().command("once", "make", "never");
    let run = command.env("MIDFLIGHT_JIT", format!("/{}", "x".repeat(5000))).run();
    check_told(&run, "xxx': it is too long; use a shorter name; using the library that is ");
    assert!(run.stderr().len() < 250, "{}", run.stderr());
}

/// Its user chooses the library.
#[test]
fn a_program_with_raised_rights_loads_nothing() {
    // SAFETY: the call takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let host = Host::new();
    let readable = |path: &Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    readable(host.generator.path().parent().unwrap(), 0o755);
    for (mode, is_raised) in [(0o4755, true), (0o755, false)] {
        readable(host.program.path(), mode);
        let run = host.command("often", "make", "now").user(65534).run();
        assert_eq!(run.status(), 0);
        if is_raised {
            check_told(&run, "nothing is profiled, logged or armed");
            assert_eq!(run.stdout(), "found 0 threads 1 compiles -1\n");
        } else {
            check(&run, "found 600 threads 1 compiles 4\n");
        }
    }
}

#[test]
fn unused_sections_may_be_collected() {
    let expected = "first 3005 then 3005 cached 1 entry 3005 compiles 1 errno 77\n";
    let mut linkers = vec!["-fuse-ld=bfd".to_owned()];
    linkers.extend(support::lld().map(|lld| format!("--ld-path={lld}")));
    for linker in linkers {
        let build = Build::new("open").flag(&linker).flag("-Wl,--gc-sections");
        check(&Host::of(build).run("once", "make", "now"), expected);
    }
}

#[test]
fn a_failure_is_told_once_for_each_point() {
    let host = Host::new();
    for (generator, when) in [("fail", "background"), ("slow fail", "background"), ("fail", "now")]
    {
        let run = host.run("often", generator, when);
        assert_eq!(run.status(), 0);
        let line = |name: &str| {
            format!("midflight: no version of '{name}' at point '{name}#0': the moon is\\x0afull")
        };
        let mut told: Vec<&str> = run.stderr().lines().collect();
        told.sort_unstable();
        assert_eq!(told, [line("other"), line("work")]);
        assert!(run.stdout().starts_with("found 0 "), "{}", run.stdout());
    }
    let run = host.run("once", "silent", "now");
    check_told(&run, "'work' at point 'work#0': the code generator gives no reason\n");
}

#[test]
fn a_generator_that_never_ends_does_not_keep_the_program() {
    let host = Host::new();
    let began = Instant::now();
    let run = host.run("ends", "hang", "background");
    assert_eq!((run.status(), run.stderr()), (4, "destroyed while it compiles\n"));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_end_of_the_program_waits_for_what_is_being_made() {
    let run = Host::new().run("ends", "slow", "background");
    assert_eq!((run.status(), run.stderr()), (4, ""));
}

#[test]
fn threads_that_want_the_same_version_have_it_made_once() {
    let expected = "1005 1005 1005 1005 1005 1005 1005 1005 compiles 1\n";
    let host = Host::new();
    check(&host.run("crowd", "slow", "background"), expected);
    check(&host.run("crowd", "slow", "now"), expected);
}

#[test]
fn a_point_has_versions_for_eight_keys_and_one_for_the_rest() {
    let eight = "1005 2005 3005 4005 5005 6005 7005 8005 ";
    let some = format!("{eight}-1 -1 -1 -1 ");
    let last = format!("{eight}9005 9005 9005 9005 compiles 9\n");
    check(&Host::new().run("keys", "make", "now"), &format!("{some}{some}{last}"));
}

#[test]
fn exits_that_come_soon_lead_to_base_for_longer_each_time_and_at_last_to_a_generic_version() {
    check(&Host::new().run("left", "make", "now"), "late 0 1 4005 1 9005 4005\n");
}

#[test]
fn a_child_has_versions_and_makes_its_own() {
    let expected = "in child 1005 2005\nchild 3\nin parent 1005\n";
    check(&Host::new().run("fork", "make", "background"), expected);
}

#[test]
fn a_child_of_a_process_that_makes_a_version_makes_none() {
    let expected = "in child -1 -1\nchild 3\nin parent 1005\n";
    let host = Host::new();
    let began = Instant::now();
    check(&host.run("fork-meanwhile", "slow", "background"), expected);
    assert!(began.elapsed() < Duration::from_secs(9), "the child waits for nobody when it ends");
}

fn library() -> Program {
    Build::new("open_library").flag("-shared").flag("-fPIC").program()
}

#[test]
fn nothing_leads_to_versions_of_a_library_that_is_unloaded() {
    let library = library();
    let run = Host::new().command("library", "slow", "background").arg(library.path()).run();
    check(&run, "-1 -1 -1 6005 0 0 1005 1 1 0 0 5\n");
}

#[test]
fn a_library_with_a_runtime_of_its_own_stays_loaded() {
    let library = library();
    let host = Host::of(Build::new("open"));
    let run = host.command("plugin", "slow", "background").arg(library.path()).run();
    check(&run, "1 2005\n");
}

#[test]
fn a_handler_begins_no_thread_and_waits_for_nobody() {
    let host = Host::new();
    for generator in ["make", "slow"] {
        let run = host.run("handlers", generator, "background");
        check(&run, "threads 1 threads 2 handled 1 found 1\n");
    }
}

#[test]
fn a_thread_that_waits_for_signals_may_begin_the_thread() {
    let host = Host::new();
    check(&host.run("waits", "make", "background"), "threads 3\n");
    check(&host.run("masked", "make", "background"), "threads 2\n");
}

#[test]
fn a_static_program_is_told_that_nothing_is_made() {
    let host = Host::of(Build::new("open").flag("-static").flag("-DSTATIC"));
    for when in ["background", "now"] {
        let run = host.run("often", "make", when);
        check_told(&run, "no versions are made at run time: the program has no dynamic loader");
        assert_eq!(run.stdout(), "found 0 threads 1 compiles -1\n");
    }
    check(&host.run("often", "make", "never"), "found 0 threads 1 compiles -1\n");
}

#[test]
fn points_of_another_version_are_told_and_left_alone() {
    let run = Host::of(Build::new("open").flag("-DOPEN_VERSION=9")).run("often", "make", "now");
    check_told(
        &run,
        "compiled for version 9 of the runtime's interface, and linked with version 2;",
    );
    assert_eq!(run.stdout(), "found 0 threads 1 compiles -1\n");
}

#[test]
fn there_is_no_race_between_fires_and_exits() {
    let generator = Build::new("generator").without_runtime().flag("-shared").flag("-fPIC");
    let generator = generator.flag("-fsanitize=thread").program();
    let host = Host { program: Build::new("open_threads").watched().program(), generator };
    // Two seconds by default, at most a minute of what `soak.rs` is given.
    let seconds = std::env::var("MIDFLIGHT_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    let seconds = seconds.map_or(2, |seconds: u32| seconds.min(60)).to_string();
    for when in ["background", "now"] {
        check(&host.run(&seconds, "make", when), "found 1\n");
    }
    let host = Host { program: Build::new("open").watched().program(), generator: host.generator };
    let expected = "1005 1005 1005 1005 1005 1005 1005 1005 compiles 1\n";
    check(&host.run("crowd", "slow", "background"), expected);
}

#[test]
fn a_record_that_is_seen_too_early_or_changed_is_noticed() {
    let host = Host::of(Build::new("open_threads"));
    for mutant in ["early", "torn"] {
        let run = host.run("2", mutant, "background");
        assert_eq!(run.signal(), Some(libc::SIGABRT), "{mutant}");
    }
}

#[test]
fn threads_fire_and_leave() {
    let host = Host::of(Build::new("open_threads"));
    check(&host.run("2", "make", "background"), "found 1\n");
}

/// Where the ABI has what `open.h` has.
#[test]
fn the_tests_speak_of_the_same_structures() {
    use midflight_abi::open::{OpenAnswer, OpenBody, OpenCode, OpenMade, OpenRequest, OpenSite};
    let run = Build::new("open_layout").without_runtime().program().run();
    let sizes = [
        size_of::<OpenMade>(),
        size_of::<OpenCode>(),
        size_of::<OpenSite>(),
        size_of::<OpenBody>(),
        size_of::<OpenRequest>(),
        size_of::<OpenAnswer>(),
        std::mem::offset_of!(OpenSite, version),
        std::mem::offset_of!(OpenRequest, body),
        std::mem::offset_of!(OpenRequest, key_number),
        std::mem::offset_of!(OpenRequest, left),
        std::mem::offset_of!(OpenAnswer, entry),
        std::mem::offset_of!(OpenAnswer, message),
    ];
    let expected: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    assert_eq!(run.stdout().trim(), expected.join(" "));
}
