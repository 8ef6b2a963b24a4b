//! Real programs with hand-written OSR points, linked with the packaged runtime.

mod support;

use midflight_abi::osr::{
    OSR_FLOAT, OSR_INTEGER, OSR_OTHER, OSR_POINTER, OSR_VERSION, OsrExit, OsrValue,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::{offset_of, size_of};
use std::rc::Rc;
use support::{Build, Program, Run};

/// What `fuzzed` prints: how often each of its six sites fired, and all of them.
fn fired(fire: &str) -> String {
    let run = fuzzed(fire);
    assert_eq!((run.status(), run.stderr()), (7, ""), "{fire}");
    assert!(run.names().is_empty(), "{fire}: {:?}", run.names());
    run.stdout().trim().to_owned()
}

fn fuzzed(fire: &str) -> Run {
    program("fuzzed").command().env("MIDFLIGHT_OSR_FIRE", fire).run()
}

/// A program that its test, which has a thread of its own, builds once.
fn program(name: &'static str) -> Rc<Program> {
    thread_local! {
        static PROGRAMS: RefCell<HashMap<&'static str, Rc<Program>>> = RefCell::default();
    }
    PROGRAMS.with_borrow_mut(|programs| {
        Rc::clone(programs.entry(name).or_insert_with(|| Rc::new(Program::build(name))))
    })
}

#[test]
fn nothing_fires_unless_asked_for() {
    assert_eq!(fired(""), "0 0 0 0 0 0 0");
}

#[test]
fn a_point_fires_at_each_hit_or_at_one() {
    assert_eq!(fired("at:work#1"), "0 10 0 10 0 0 20");
    // Both sites of the point share its hits; the second hit is in the continuation.
    assert_eq!(fired("at:work#1:2"), "0 0 0 1 0 0 1");
    assert_eq!(fired("at:work#1:19"), "0 1 0 0 0 0 1");
    assert_eq!(fired("at:work#1:21"), "0 0 0 0 0 0 0");
}

#[test]
fn points_are_named_with_files_and_stars() {
    assert_eq!(fired("at:dir/fuzzed.c:other#0"), "0 0 0 0 10 0 10");
    assert_eq!(fired("at:*/fuzzed.c:other#0:3"), "0 0 0 0 1 0 1");
    assert_eq!(fired("at:*#0"), "10 0 0 0 10 0 20");
    assert_eq!(fired("at:*:1"), "1 1 0 0 1 0 3");
}

#[test]
fn every_nth_hit_of_any_point_fires() {
    assert_eq!(fired("every:1"), "10 10 0 10 10 0 40");
    // Hits come as 0 1 3 4 0 1 3 4 …
    assert_eq!(fired("every:4"), "0 0 0 0 10 0 10");
    assert_eq!(fired("every:7"), "1 1 0 2 1 0 5");
    assert_eq!(fired("every:41"), "0 0 0 0 0 0 0");
}

#[test]
fn hits_fire_at_random_as_the_seed_says() {
    assert_eq!(fired("random:1:1"), "10 10 0 10 10 0 40");
    assert_eq!(fired("random:1:0.3"), fired("random:1:0.3"));
    let count = |seed: u64| {
        let run = program("fuzzed").command().arg("25000");
        let run = run.env("MIDFLIGHT_OSR_FIRE", format!("random:{seed}:0.01")).run();
        run.stdout().split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    // 100000 hits: 1000 ± 31.5.
    let (one, two) = (count(1), count(2));
    assert!((one - 1000.0).abs() < 160.0 && (two - 1000.0).abs() < 160.0, "{one} {two}");
}

#[test]
fn everything_can_be_fired() {
    assert_eq!(fired("always"), "10 10 0 10 10 10 50");
}

#[test]
fn flag_points_can_be_armed_at_start() {
    assert_eq!(fired("arm:flag"), "0 0 0 0 0 10 10");
    assert_eq!(fired("arm:dir/*:fl*"), "0 0 0 0 0 10 10");
    assert_eq!(fired("arm:f*g,flag"), "0 0 0 0 0 10 10");
}

#[test]
fn points_are_listed_with_their_hits() {
    let run = fuzzed("list");
    assert_eq!((run.status(), run.stdout().trim()), (7, "0 0 0 0 0 0 0"));
    let lines: Vec<&str> = run.stderr().lines().collect();
    assert!(lines[0].starts_with("midflight: 5 OSR points in process "), "{lines:?}");
    assert_eq!(
        lines[1..],
        [
            "        hits  condition  point  (file:line)",
            "          10  fuzz       work#0  (dir/fuzzed.c:5)",
            "          20  fuzz       work#1  (dir/fuzzed.c:6)",
            "           0  fuzz       \"odd\\\\x0a\\x01é  (dir/fuzzed.c)",
            "          10  fuzz       other#0  (dir/fuzzed.c:9)",
            "           -  flag       flag  (dir/fuzzed.c:10)",
        ]
    );
}

#[test]
fn the_log_of_a_list_has_all_points() {
    let command = program("fuzzed").command().env("MIDFLIGHT_OSR_FIRE", "list");
    let run = command.env("MIDFLIGHT_OSR_LOG", "new/points-%p.json").run();
    assert_eq!((run.status(), run.stderr()), (7, ""));
    let names = run.names();
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("new/points-") && names[0].ends_with(".json"), "{names:?}");
    assert_eq!(
        run.text(&names[0]),
        [
            r#"{"event":"point","point":"work#0","file":"dir/fuzzed.c","function":"work","line":5,"condition":"fuzz","hits":10}"#,
            r#"{"event":"point","point":"work#1","file":"dir/fuzzed.c","function":"work","line":6,"condition":"fuzz","hits":20}"#,
            r#"{"event":"point","point":"\"odd\\\u000a\u0001é","file":"dir/fuzzed.c","function":"work","line":0,"condition":"fuzz","hits":0}"#,
            r#"{"event":"point","point":"other#0","file":"dir/fuzzed.c","function":"other","line":9,"condition":"fuzz","hits":10}"#,
            r#"{"event":"point","point":"flag","file":"dir/fuzzed.c","function":"other","line":10,"condition":"flag","hits":0}"#,
            "",
        ]
        .join("\n")
    );
}

#[test]
fn the_log_has_what_was_hit_and_what_fired() {
    let command = program("fuzzed").command().env("MIDFLIGHT_OSR_FIRE", "at:work#1:2");
    let run = command.env("MIDFLIGHT_OSR_LOG", "log").run();
    assert_eq!((run.status(), run.stderr()), (7, ""));
    assert_eq!(
        run.text("log"),
        [
            r#"{"event":"point","point":"work#1","file":"dir/fuzzed.c","function":"work","line":6,"condition":"fuzz","hits":20}"#,
            r#"{"event":"transition","point":"work#1","file":"dir/fuzzed.c","from":"work.osr","to":"work","transitions":1}"#,
            "",
        ]
        .join("\n")
    );
}

#[test]
fn a_log_is_written_where_nothing_happened() {
    let run = program("fuzzed").command().env("MIDFLIGHT_OSR_LOG", "log").run();
    assert_eq!((run.status(), run.stderr(), run.text("log").as_str()), (7, "", ""));
}

#[test]
fn the_logs_name_may_have_the_programs_signature() {
    let run = program("fuzzed").command().env("MIDFLIGHT_OSR_LOG", "%m").run();
    let names = run.names();
    assert!(names.len() == 1 && names[0].len() == 16, "{names:?}");
    assert!(u64::from_str_radix(&names[0], 16).unwrap() != 0);
}

#[test]
fn a_closed_standard_error_does_not_kill() {
    for fire in ["list", "bogus", "at:nope"] {
        let command = program("fuzzed").command().env("MIDFLIGHT_OSR_FIRE", fire);
        assert_eq!(command.run_with_broken_stderr().code(), Some(7), "{fire}");
    }
}

#[test]
fn a_log_that_cannot_be_written_is_told() {
    let run = program("fuzzed").command().env("MIDFLIGHT_OSR_LOG", "/proc/none/log").run();
    assert_eq!(run.status(), 7);
    assert_eq!(
        run.stderr(),
        "midflight: cannot write the log '/proc/none/log': no such file or directory; \
         set MIDFLIGHT_OSR_LOG to a file in a directory that exists\n"
    );
}

#[test]
fn values_that_make_no_sense_are_told_and_change_nothing() {
    for (variable, value, start, end) in [
        ("FIRE", "bogus", "there is no such mode", "; nothing is fired"),
        ("FIRE", "every:0", "N is not a number from 1 up", "; nothing is fired"),
        ("FIRE", "random:1:1.5", "SEED is not a number, or P", "; nothing is fired"),
        ("FIRE", "at:", "the point has no name", "; nothing is fired"),
        ("FIRE", "at:x:0", "HIT is not a number from 1 up", "; nothing is fired"),
        ("FIRE", "arm:a,,b", "a point has no name", "; nothing is fired"),
        ("LOG", "a%x", "a '%' has no meaning in it", "; no log is written"),
        ("SIGNAL", "KILL", "it cannot be caught", "; no signal is caught"),
        ("SIGNAL", "USR9", "there is no such signal", "; no signal is caught"),
    ] {
        let variable = format!("MIDFLIGHT_OSR_{variable}");
        let run = program("fuzzed").command().env(&variable, value).run();
        assert_eq!((run.status(), run.stdout()), (7, "0 0 0 0 0 0 0\n"), "{variable}={value}");
        let stderr = run.stderr();
        let expected = format!("midflight: cannot use {variable}='{value}': {start}");
        assert!(stderr.starts_with(&expected) && stderr.lines().count() == 1, "{stderr}");
        assert!(stderr.trim_end().ends_with(end), "{stderr}");
        assert!(run.names().is_empty());
    }
    let long = format!("arm:{}", "x".repeat(5000));
    let stderr = fuzzed(&long).stderr().to_owned();
    assert!(stderr.contains("it is too long") && stderr.len() < 300, "{stderr}");
}

#[test]
fn points_that_are_not_there_are_told_when_the_program_ends() {
    for (fire, expected) in [
        ("at:nope", "MIDFLIGHT_OSR_FIRE='at:nope' has fired nothing: there is no fuzzed point"),
        ("at:flag", "MIDFLIGHT_OSR_FIRE='at:flag' has fired nothing: there is no fuzzed point"),
        ("arm:work#0", "MIDFLIGHT_OSR_FIRE=arm has not armed 'work#0': there is no flag or patch"),
        ("arm:flag,nope", "MIDFLIGHT_OSR_FIRE=arm has not armed 'nope': there is no flag or patch"),
    ] {
        let run = fuzzed(fire);
        let expected_counts = if fire.contains("flag,") { "0 10 10\n" } else { "0 0 0\n" };
        assert!(run.status() == 7 && run.stdout().ends_with(expected_counts), "{fire}");
        assert!(run.stderr().starts_with(&format!("midflight: {expected}")), "{}", run.stderr());
        assert_eq!(run.stderr().lines().count(), 1);
    }
}

#[test]
fn one_hit_fires_once_however_many_threads_there_are() {
    let command = || program("fuzzed_threads").command().env("MIDFLIGHT_OSR_LOG", "log");
    let run = command().env("MIDFLIGHT_OSR_FIRE", "at:work#0:70000").run();
    assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1 1\n", ""));
    assert!(run.text("log").contains("\"hits\":160000}"), "{}", run.text("log"));
    let run = command().env("MIDFLIGHT_OSR_FIRE", "always").run();
    assert_eq!((run.status(), run.stdout()), (0, "160000 160000\n"));
    assert!(run.text("log").contains("\"transitions\":160000}"), "{}", run.text("log"));
}

#[test]
fn threads_do_not_lose_the_fuel() {
    for fire in ["every:10", "random:1:0.1"] {
        let run = program("fuzzed_threads").command().env("MIDFLIGHT_OSR_FIRE", fire).run();
        assert_eq!((run.status(), run.stderr()), (0, ""));
        let counts: Vec<u32> =
            run.stdout().split_whitespace().map(|count| count.parse().unwrap()).collect();
        // Each firing is counted. How many of 160000 hits fire is not exact.
        assert_eq!(counts[0], counts[1]);
        assert!((4_000..64_000).contains(&counts[0]), "{fire}: {counts:?}");
    }
}

#[test]
fn a_forked_child_begins_at_zero_and_writes_a_log_of_its_own() {
    let command = || program("fuzzed_fork").command().env("MIDFLIGHT_OSR_FIRE", "at:work#0:7");
    let run = command().env("MIDFLIGHT_OSR_LOG", "%p.log").run();
    assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1\n", ""));
    let logs: Vec<String> = run.names().iter().map(|name| run.text(name)).collect();
    assert_eq!(logs.len(), 21);
    assert_eq!(logs.iter().filter(|log| log.contains("\"hits\":10}")).count(), 20);
    assert_eq!(logs.iter().filter(|log| log.contains("\"hits\":100}")).count(), 1);
    // Without the ID in its name the log is the parent's.
    let run = command().env("MIDFLIGHT_OSR_LOG", "log").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(run.names(), ["log"]);
    assert!(run.text("log").contains("\"hits\":100}"), "{}", run.text("log"));
}

#[test]
fn libraries_use_the_programs_runtime_and_keep_their_counts() {
    let host = Build::new("points_host")
        .flag("-Wl,--export-dynamic-symbol=midflight_*")
        .flag("-ldl")
        .program();
    let library = Build::new("points_library").flag("-shared").flag("-fPIC").program();
    let command = |fire| {
        let command = host.command().arg(library.path()).env("MIDFLIGHT_OSR_LOG", "log");
        command.env("MIDFLIGHT_OSR_FIRE", fire)
    };
    let run = command("list").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(run.names(), ["log"]);
    let log = run.text("log");
    assert_eq!(log.lines().count(), 4, "{log}");
    for expected in [
        r#""point":"host#0","file":"points_host.c","function":"host","line":5,"condition":"fuzz","hits":5}"#,
        r#""point":"run#0","file":"points_library.c","function":"run","line":9,"condition":"fuzz","hits":15}"#,
        r#""point":"patch","file":"points_library.c","function":"run","line":10,"condition":"patch","hits":0}"#,
        // One of them in the library's destructor, after the program's log was written.
        r#""point":"end","file":"points_library.c","function":"run","line":11,"condition":"fuzz","hits":5}"#,
    ] {
        assert!(log.contains(expected), "{expected}\n{log}");
    }
    // Its hits go on when it is loaded again; its patch point is armed each time.
    let run = command("at:run#0:8").run();
    assert_eq!((run.status(), run.stdout()), (0, "0 0 1 0 0 1\n"));
    let run = command("arm:patch").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(run.stdout(), "100 100 100 100 100 5\n");
    assert!(run.text("log").contains("\"transitions\":5}"), "{}", run.text("log"));
    // The fuel is the program's. Hits come as 3 of the library, 1 of the program, 1 of the
    // library's destructor.
    let run = command("every:4").run();
    assert_eq!(run.stdout(), "0 1 1 1 0 6\n");
}

#[test]
fn a_library_in_another_program_has_a_runtime_of_its_own() {
    let host = Build::new("points_host").without_runtime().flag("-DPLAIN").flag("-ldl").program();
    let library = Build::new("points_library").flag("-shared").flag("-fPIC").program();
    let command = host.command().arg(library.path()).env("MIDFLIGHT_OSR_FIRE", "at:run#0");
    let command = command.env("MIDFLIGHT_OSR_SIGNAL", "USR2");
    let run = command.env("MIDFLIGHT_OSR_LOG", "%p.log").run();
    assert_eq!((run.status(), run.stderr(), run.stdout()), (0, "", "3 3 3 3 3 "));
    let names = run.names();
    assert_eq!(names.len(), 5, "{names:?}");
    for name in names {
        assert!(run.text(&name).contains("\"transitions\":3}"), "{}", run.text(&name));
    }
}

#[test]
fn records_of_another_version_are_refused() {
    let run = Build::new("fuzzed").flag("-DOSR_VERSION=9").program().command();
    let run = run.env("MIDFLIGHT_OSR_FIRE", "always").run();
    assert_eq!((run.status(), run.stdout()), (7, "0 0 0 0 0 0 0\n"));
    let stderr = run.stderr();
    assert!(stderr.contains("cannot be controlled: they were compiled for version 9"), "{stderr}");
}

#[test]
fn paths_and_points_do_not_need_each_other() {
    let command = || Program::build("plain").command().env("MIDFLIGHT_OSR_FIRE", "at:none");
    let run = command().env("MIDFLIGHT_OSR_LOG", "log").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    let names = run.names();
    assert!(names.len() == 1 && names[0].ends_with(".mfp"), "{names:?}");
    let run = program("fuzzed").command().env("MIDFLIGHT_PROFILE", "p.mfp").run();
    assert_eq!((run.status(), run.stderr()), (7, ""));
    assert!(run.names().is_empty());
    let both = Build::new("fuzzed").flag("-DPATHS").program().command();
    let both = both.env("MIDFLIGHT_PROFILE", "p.mfp").env("MIDFLIGHT_OSR_FIRE", "always");
    let run = both.env("MIDFLIGHT_OSR_LOG", "q.log").run();
    assert_eq!((run.status(), run.stdout(), run.stderr()), (7, "10 10 0 10 10 10 50\n", ""));
    assert_eq!(run.names(), ["p.mfp", "q.log"]);
    assert_eq!(run.text("q.log").lines().count(), 3 + 5);
}

#[test]
fn the_public_structures_are_those_of_emitted_code() {
    // The same numbers are in programs/layout.c.
    assert_eq!(size_of::<OsrValue>(), 24);
    assert_eq!(offset_of!(OsrValue, name), 0);
    assert_eq!(offset_of!(OsrValue, address), 8);
    assert_eq!(offset_of!(OsrValue, kind), 16);
    assert_eq!(offset_of!(OsrValue, bits), 20);
    assert_eq!(size_of::<OsrExit>(), 48);
    assert_eq!(offset_of!(OsrExit, version), 0);
    assert_eq!(offset_of!(OsrExit, count), 4);
    assert_eq!(offset_of!(OsrExit, function), 8);
    assert_eq!(offset_of!(OsrExit, point), 16);
    assert_eq!(offset_of!(OsrExit, values), 24);
    assert_eq!(offset_of!(OsrExit, result), 32);
    assert_eq!(offset_of!(OsrExit, result_kind), 40);
    assert_eq!(offset_of!(OsrExit, result_bits), 44);
    assert_eq!([OSR_INTEGER, OSR_FLOAT, OSR_POINTER, OSR_OTHER], [0, 1, 2, 3]);
    assert_eq!(OSR_VERSION, 1);
    let without = Build::new("layout").without_runtime().program().run();
    assert_eq!(without.status(), 0, "the functions are weak, and the marker does nothing");
    let with = Build::new("layout").flag("-DMIDFLIGHT_OSR").without_runtime().program().run();
    assert_eq!(with.status(), 0, "the marker is a call");
}

mod patched {
    use super::*;

    fn run(argument: &str) -> Run {
        program("patched").command().arg(argument).run()
    }

    #[test]
    fn a_point_fires_in_the_middle_of_a_loop_and_can_be_disarmed() {
        let run = run("middle");
        assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1 1 1 0\n", ""));
    }

    #[test]
    fn a_thousand_cycles_lose_nothing() {
        let run = run("cycles");
        assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1 1\n", ""));
    }

    #[test]
    fn threads_and_handlers_may_arm_at_the_same_time() {
        let run = run("x");
        assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1\n", ""));
    }

    #[test]
    fn a_signal_arms_and_disarms() {
        for (value, number) in [("USR2", libc::SIGUSR2), ("SIGHUP", 1), ("40", 40)] {
            let command = program("patched").command().arg("toggle").arg(number.to_string());
            let run = command.env("MIDFLIGHT_OSR_SIGNAL", value).run();
            assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "00 11 00 11 2\n", ""));
        }
        let run = program("patched").command().arg("toggle").arg("12").run();
        assert_eq!(run.signal(), Some(12), "no signal is caught unless asked for");
    }

    #[test]
    fn points_can_be_armed_at_start() {
        for (fire, expected) in [
            ("arm:loop", "10 10 10 10 0\n"),
            ("arm:flag,loop", "11 11 11 11 4\n"),
            ("always", "11 11 11 11 4\n"),
        ] {
            let command = program("patched").command().arg("toggle").arg("0");
            let run = command.env("MIDFLIGHT_OSR_FIRE", fire).run();
            assert_eq!((run.status(), run.stdout(), run.stderr()), (0, expected, ""), "{fire}");
        }
    }

    #[test]
    fn code_that_cannot_be_made_writable_is_told() {
        let run = run("refused");
        if run.status() == 77 {
            return; // no seccomp
        }
        assert_eq!((run.status(), run.stdout()), (0, "1\n"));
        assert!(run.stderr().starts_with("midflight: cannot arm the OSR point 'loop': the system"));
        assert_eq!(run.stderr().lines().count(), 1);
    }

    #[test]
    fn foreign_code_is_left_alone() {
        let run = run("foreign");
        if run.status() == 77 {
            return; // hardened
        }
        assert_eq!((run.status(), run.stdout()), (0, "1 0\n"));
        assert!(run.stderr().contains("is not what was linked"), "{}", run.stderr());
    }

    #[test]
    fn errno_and_the_signal_mask_are_kept() {
        let run = run("preserved");
        assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "2 2 1 55 1\n", ""));
    }

    #[test]
    fn it_works_however_the_program_is_linked() {
        let mut ways = vec![
            "-static".to_owned(),
            "-static-pie -fPIE".to_owned(),
            "-no-pie -fno-pie".to_owned(),
            "-pie -fPIE -O0".to_owned(),
            "-Wl,--gc-sections -ffunction-sections".to_owned(),
        ];
        if let Some(lld) = support::lld() {
            ways.push(format!("--ld-path={lld} -Wl,--gc-sections -ffunction-sections"));
            ways.push(format!("--ld-path={lld} -static -Wl,--gc-sections"));
            // Code and data in one segment, which must stay writable.
            ways.push(format!("--ld-path={lld} -static -fno-pie -Wl,--omagic"));
        }
        for way in ways {
            let flags = way.split(' ');
            let build = flags.fold(Build::new("patched"), |build, flag| build.flag(flag));
            let run = build.program().command().arg("middle").run();
            assert_eq!((run.status(), run.stdout(), run.stderr()), (0, "1 1 1 0\n", ""), "{way}");
        }
    }
}
