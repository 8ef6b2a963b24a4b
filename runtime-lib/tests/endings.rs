//! Ends of the process that run no destructor: nothing is lost, and the status is what it was.

mod support;

use midflight_profile::format::Profile;
use support::{Build, Counts, Program, Run};

const THREADS: u64 = 8;

fn ended(program: &Program, how: &str) -> Run {
    let run = program.command().arg(how).run();
    assert_eq!(run.stderr(), "", "{how}");
    run
}

fn counts(profile: &Profile, key: u64) -> (u64, u64) {
    let counts = Counts::of(profile, key);
    (counts.entries, counts.events)
}

/// What was counted before the end.
fn check_counts(profile: &Profile, how: &str) {
    assert_eq!(counts(profile, 1), (1, 500), "{how}");
    assert_eq!(counts(profile, 2), (THREADS, THREADS * 1000), "{how}");
}

#[test]
fn an_exit_without_destructors_leaves_a_profile() {
    let program = Program::build("endings");
    for (how, late) in [("_exit", (0, 0)), ("quick_exit", (1, 1))] {
        let run = ended(&program, how);
        assert_eq!(run.status(), 7, "{how}");
        let profile = run.profile();
        check_counts(&profile, how);
        assert_eq!(counts(&profile, 4), late, "{how}");
    }
}

#[test]
fn signals_end_the_program_as_they_would_and_leave_a_profile() {
    let fatal = (1..=64).filter(|&signal| {
        ![libc::SIGKILL, libc::SIGSTOP, libc::SIGCHLD, libc::SIGCONT, libc::SIGPIPE]
            .contains(&signal)
            && ![libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU, libc::SIGURG, libc::SIGWINCH]
                .contains(&signal)
            && ![32, 33].contains(&signal)
            // QEMU has other numbers for real-time signals.
            && (signal < 34 || !support::is_emulated())
    });
    let program = Program::build("endings");
    for signal in fatal {
        let run = ended(&program, &signal.to_string());
        assert_eq!(run.signal(), Some(signal));
        check_counts(&run.profile(), &format!("signal {signal}"));
    }
}

#[test]
fn faults_end_the_program_as_they_would_and_leave_a_profile() {
    let program = Program::build("endings");
    for (how, signal, late) in [
        ("abort", libc::SIGABRT, 0),
        ("fault", libc::SIGSEGV, 0),
        ("overflow", libc::SIGSEGV, 0),
        ("overflow-in-thread", libc::SIGSEGV, 1),
    ] {
        let run = ended(&program, how);
        assert_eq!(run.signal(), Some(signal), "{how}");
        check_counts(&run.profile(), how);
        assert_eq!(counts(&run.profile(), 4), (late, late), "{how}");
    }
}

/// The check can fail: this is what happens where no signal is caught.
#[test]
fn catching_signals_can_be_turned_off() {
    let program = Program::build("endings");
    let run = program.command().env("MIDFLIGHT_SIGNALS", "none").arg("15").run();
    assert_eq!((run.signal(), run.names()), (Some(15), Vec::new()));
    let run = program.command().env("MIDFLIGHT_SIGNALS", "off").arg("15").run();
    assert_eq!(
        run.stderr(),
        "midflight: cannot use MIDFLIGHT_SIGNALS='off': it is 'fatal' (write the profile when a \
         signal ends the program) or 'none'; using 'fatal'\n"
    );
    check_counts(&run.profile(), "15");
}

#[test]
fn a_program_that_becomes_another_leaves_its_profile() {
    let run = ended(&Program::build("endings"), "exec");
    assert_eq!(run.status(), 0);
    check_counts(&run.profile(), "exec");
    let run = ended(&Program::build("endings"), "failing-exec");
    assert_eq!(run.status(), 7);
    assert_eq!(counts(&run.profile(), 1), (1, 501), "it goes on");
}

#[test]
fn a_program_that_becomes_itself_does_not_replace_its_own_profile() {
    let run = ended(&Program::build("endings"), "become");
    assert_eq!(run.status(), 0);
    let profiles = run.named_profiles();
    let names: Vec<_> = profiles.iter().map(|(name, _)| name.as_str()).collect();
    let [second, first] = names.as_slice() else { panic!("{names:?}") };
    assert_eq!(second.replace(".1.mfp", ".mfp"), *first);
    assert_eq!(counts(&profiles[1].1, 1), (1, 1));
    assert_eq!(counts(&profiles[0].1, 4), (1, 1));
}

#[test]
fn children_that_become_other_programs_leave_their_own_counts() {
    let run = ended(&Program::build("endings"), "fork-exec");
    assert_eq!(run.status(), 7);
    let (parents, children): (Vec<_>, Vec<_>) =
        run.profiles().into_iter().partition(|profile| counts(profile, 1).0 == 1);
    assert_eq!((parents.len(), children.len()), (1, 3));
    check_counts(&parents[0], "fork");
    assert_eq!(counts(&parents[0], 3), (0, 0), "children's counts are not the parent's");
    for child in &children {
        assert_eq!(counts(child, 3), (1, 2));
        assert_eq!((counts(child, 1), counts(child, 2)), ((0, 0), (0, 0)));
    }
}

#[test]
fn a_child_that_shares_memory_counts_in_its_parent() {
    let run = ended(&Program::build("endings"), "vfork-exec");
    assert_eq!(run.status(), 7);
    let profile = run.profile();
    check_counts(&profile, "vfork");
    assert_eq!(counts(&profile, 3), (3, 6));
}

#[test]
fn a_signal_from_outside_ends_a_program_that_waits() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut child = Program::build("endings").command().arg("wait").spawn();
        child.wait_for_line("ready");
        child.kill(signal);
        let run = child.finish();
        assert_eq!(run.signal(), Some(signal));
        check_counts(&run.profile(), "wait");
    }
}

#[test]
fn a_signal_may_ask_for_the_profile_while_the_program_goes_on() {
    let command = Program::build("endings").command();
    let mut child = command.env("MIDFLIGHT_PROFILE_SIGNAL", "USR2").arg("wait").spawn();
    child.wait_for_line("ready");
    assert_eq!(child.names(), Vec::<String>::new());
    child.kill(libc::SIGUSR2);
    let begun = std::time::Instant::now();
    while child.names().iter().all(|name| !name.ends_with(".mfp")) {
        assert!(begun.elapsed().as_secs() < 20, "no profile was written");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill(libc::SIGTERM);
    let run = child.finish();
    assert_eq!((run.signal(), run.stderr()), (Some(libc::SIGTERM), ""));
    check_counts(&run.profile(), "dump");
}

#[test]
fn a_program_sees_nothing_of_what_the_runtime_catches() {
    let program = Program::build("dispositions");
    let run = program.run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(counts(&run.profile(), 1), (2, 2));
    let run = program.command().arg("raise").run();
    assert_eq!(run.signal(), Some(libc::SIGUSR1));
    assert_eq!(counts(&run.profile(), 1), (2, 2));
}

#[test]
fn a_handler_for_one_time_is_followed_by_a_profile() {
    let program = Program::build("once");
    let ways = ["fault", "jump", "return", "raise", "kill", "pthread_kill", "tgkill", "sysv"];
    for how in ways {
        for flags in ["", "n", "i", "rni", "t", "tni"] {
            let run = program.command().arg(how).arg(flags).run();
            let fault = how == "fault" || how == "jump";
            let signal = if fault { libc::SIGSEGV } else { libc::SIGTERM };
            assert_eq!((run.signal(), run.stderr()), (Some(signal), ""), "{how} {flags}");
            let profile = run.profile();
            assert_eq!(counts(&profile, 1), (1, 1), "{how} {flags}");
            // Where the handler can be interrupted it does not get to its end.
            let sends = ["raise", "kill", "pthread_kill", "tgkill"].contains(&how);
            let paths = if how == "jump" || sends && flags.contains('n') { 1 } else { 2 };
            let (entries, events) = counts(&profile, 2);
            assert_eq!(entries, 1, "{how} {flags}");
            // A signal to the process may end it in its first thread, before or after the handler
            // does.
            let may_be_both = how == "kill" && flags.contains('t');
            assert!(events == paths || may_be_both && events <= 2, "{how} {flags}: {events}");
        }
    }
}

/// What the program prints of itself is the same without the runtime.
fn check_sees_nothing(name: &str) {
    let with = Program::build(name).run();
    let without = Build::new(name).flag("-DPLAIN").without_runtime().program().run();
    assert_eq!((with.status(), with.stderr()), (0, ""));
    assert_eq!((without.status(), without.stderr()), (0, ""));
    assert!(without.stdout().lines().count() > 10, "{}", without.stdout());
    assert_eq!(with.stdout(), without.stdout());
}

#[test]
fn a_program_sees_its_handlers_for_one_time_as_it_set_them() {
    check_sees_nothing("once");
}

#[test]
fn a_handler_for_one_time_may_be_replaced_while_its_signal_comes() {
    let run = Program::build("once").command().arg("race").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(counts(&run.profile(), 2), (5000, 10000));
}

#[test]
fn a_program_sees_no_stack_for_handlers_but_its_own() {
    check_sees_nothing("stacks");
}

#[test]
fn stack_overflows_leave_a_profile_whatever_stack_for_handlers_there_is() {
    let program = Program::build("stacks");
    for what in ["never", "own", "off"] {
        for thread in [None, Some("thread")] {
            let command = program.command().arg("overflow").arg(what);
            let run = thread.into_iter().fold(command, |command, word| command.arg(word)).run();
            assert_eq!(
                (run.signal(), run.stderr()),
                (Some(libc::SIGSEGV), ""),
                "{what} {thread:?}"
            );
            assert_eq!(counts(&run.profile(), 1), (1, 1), "{what} {thread:?}");
        }
    }
}
