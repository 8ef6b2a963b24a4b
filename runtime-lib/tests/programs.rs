//! Real programs with hand-written instrumentation, linked with the packaged runtime.
//!
//! Each program in `programs/` does one thing that is hard on a runtime; its profile is read back
//! and must be exact.

mod support;

use midflight_abi::contexts::SPARING_CONTEXT_ENTER_SYMBOL;
use midflight_abi::{RUNTIME_SYMBOLS, SPARING_ENTER_SYMBOL};
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{FLAG_BEGAN_WITHIN, FLAG_WENT_ON};
use midflight_profile::windows::WindowForest;
use std::os::unix::process::ExitStatusExt;
use support::{Build, Counts, Program, check_limit, check_signals};

#[test]
fn recursive_activations_have_streams_of_their_own() {
    fn run(depth: i32, to: &mut PrefixForest) -> u64 {
        let mut windows = WindowForest::new(3);
        let mut activations = 1;
        windows.enter();
        windows.event(1);
        windows.event(2);
        if depth > 1 {
            activations += run(depth - 1, to);
            windows.event(3);
            activations += run(depth - 2, to);
        }
        windows.event(4);
        windows.event(5);
        to.add_forest(&windows.windows().all).unwrap();
        activations
    }
    let run_of_program = Program::build("recursion").run();
    assert_eq!((run_of_program.status(), run_of_program.stderr()), (0, ""));
    let profile = run_of_program.profile();
    let mut oracle = PrefixForest::new();
    let activations = run(12, &mut oracle);
    let visit = profile.functions.iter().find(|function| function.key == 1).unwrap();
    assert_eq!(visit.forest, oracle);
    assert_eq!(Counts::of(&profile, 1).entries, activations);
    assert_eq!(
        Counts::of(&profile, 2),
        Counts { entries: activations, events: activations, short: 0, lost: 0 }
    );
}

#[test]
fn the_profile_names_the_program_by_path_and_signature() {
    let program = Program::build("recursion");
    let profile = program.run().profile();
    assert_eq!(profile.modules.len(), 1);
    assert_eq!(profile.modules[0].name, program.path().to_str().unwrap());
    let expected = midflight_profile::table::image_signature([1, 2].into_iter());
    assert_eq!(profile.modules[0].signature, expected);
}

#[test]
fn threads_that_end_and_threads_that_run_on_are_counted() {
    let run = Program::build("threads").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profile = run.profile();
    let work = Counts::of(&profile, 1);
    assert_eq!(work, Counts { entries: 5 * 8 * 2000, events: 5 * 8 * 2000 * 5, short: 0, lost: 0 });
    let forever = Counts::of(&profile, 2);
    assert!(forever.entries >= 3 * 1000, "{forever:?}");
    assert!(forever.events + 3 * 10 >= forever.entries * 10, "{forever:?}");
    assert_eq!(profile.flags, FLAG_WENT_ON);
    // Forty threads have used the contexts of few.
    let contexts = profile.functions.iter().filter(|function| function.key == 1).count();
    assert!(contexts <= 24, "{contexts} contexts");
}

#[test]
fn however_many_threads_there_are_each_has_room_for_single_paths() {
    let run = Program::build("crowd").command().env("MIDFLIGHT_MAX_MEMORY", "24M").run();
    assert_eq!(run.status(), 0);
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    let profile = run.profile();
    let noisy = Counts::of(&profile, 1);
    assert_eq!((noisy.entries, noisy.events, noisy.lost), (64, 64 * 20_000, 0));
    assert!(noisy.short > 0);
    // What is regular has its quota.
    let plain = Counts { entries: 64, events: 64 * 1000, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 2), plain);
}

#[test]
fn a_forked_child_begins_at_zero_and_writes_a_profile_of_its_own() {
    let run = Program::build("fork").command().env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profiles = run.profiles();
    assert_eq!(profiles.len(), 21);
    let (parents, children): (Vec<_>, Vec<_>) =
        profiles.iter().partition(|profile| Counts::of(profile, 2).entries == 0);
    assert_eq!(parents.len(), 1);
    assert_eq!(parents[0].flags, 0);
    assert_eq!(Counts::of(parents[0], 1), Counts { entries: 1, events: 1020, short: 0, lost: 0 });
    for child in children {
        // The parent's activation goes on: an event without an entry.
        assert_eq!(child.flags, FLAG_BEGAN_WITHIN);
        assert_eq!(Counts::of(child, 1), Counts { entries: 0, events: 1, short: 0, lost: 0 });
        assert_eq!(Counts::of(child, 2), Counts { entries: 1, events: 100, short: 0, lost: 0 });
        assert_eq!(Counts::of(child, 3), Counts::default());
    }
}

#[test]
fn a_cloned_child_needs_no_stack_to_speak_of() {
    let run = Program::build("cloned").run();
    assert_eq!((run.status(), run.stderr()), (5, ""));
    let profile = run.profile();
    assert_eq!(Counts::of(&profile, 1), Counts::default(), "it has no profile");
    assert_eq!((Counts::of(&profile, 2).entries, Counts::of(&profile, 2).events), (1, 1));
}

#[test]
fn exit_longjmp_constructors_and_destructors_are_counted() {
    let run = Program::build("ways_out").run();
    assert_eq!((run.status(), run.stderr()), (42, ""));
    let profile = run.profile();
    let counts = |key| (Counts::of(&profile, key).entries, Counts::of(&profile, key).events);
    assert_eq!(counts(1), (10, 10));
    assert_eq!(counts(2), (1, 1), "handler of atexit");
    assert_eq!(counts(3), (1, 1), "destructor");
    assert_eq!(counts(4), (1, 1), "constructor");
    assert_eq!(counts(5), (50, 50), "longjmp");
}

#[test]
fn signal_handlers_may_interrupt_the_runtime_anywhere() {
    let command = Program::build("signals").command().env("MIDFLIGHT_THREAD_MEMORY", "2G");
    check_signals(&command.env("MIDFLIGHT_MAX_MEMORY", "4G").run());
}

#[test]
fn the_profile_tells_how_much_memory_sequences_took() {
    let used = |memory: &str| {
        let command = Program::build("explosion").command().arg("300000");
        command.env("MIDFLIGHT_THREAD_MEMORY", memory).run().profile().used.unwrap()
    };
    let (less, more) = (used("256K"), used("64M"));
    assert_eq!((less.threads, less.limit, less.most), (1, 256 << 10, less.bytes()));
    assert_eq!((more.threads, more.limit, more.most), (1, 64 << 20, more.bytes()));
    // What is for late functions is not taken; the index may have grown a moment ago.
    assert!((160 << 10..300 << 10).contains(&less.bytes()), "{less:?}");
    assert!(more.bytes() > 2 * less.bytes() && more.index < more.states, "{more:?}");
}

#[test]
fn signal_handlers_may_interrupt_what_has_no_room() {
    let run = Program::build("signals").command().env("MIDFLIGHT_THREAD_MEMORY", "48K").run();
    assert_eq!(run.status(), 0);
    let handled: u64 = run.stdout().trim().parse().unwrap();
    let counts = Counts::of(&run.profile(), 1);
    let events = 1_500_000 + 3 * handled;
    assert_eq!((counts.entries, counts.events, counts.lost), (1500 + handled, events, 0));
    assert!(counts.short > 0);
}

#[test]
fn destructors_of_keys_are_counted_to_the_last_round() {
    let run = Program::build("destructors").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let rounds: u64 = run.stdout().trim().parse().unwrap();
    let profile = run.profile();
    assert_eq!(Counts::of(&profile, 1).events, 100);
    assert_eq!(Counts::of(&profile, 2).events, 100 * rounds * 2);
    assert_eq!(Counts::of(&profile, 3).events, 100);
    assert_eq!(Counts::of(&profile, 2).lost, 0);
}

#[test]
fn an_instrumented_allocator_is_counted() {
    let run = Program::build("allocator").run();
    assert_eq!(run.status(), 0);
    let mut totals = run.stderr().split_whitespace().map(|word| word.parse::<u64>().unwrap());
    let (allocations, releases) = (totals.next().unwrap(), totals.next().unwrap());
    assert_eq!(totals.next(), None);
    let profile = run.profile();
    assert!(allocations >= 4000);
    let allocate = Counts { entries: allocations, events: 2 * allocations, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 1), allocate);
    assert_eq!(Counts::of(&profile, 2).entries, releases);
    assert_eq!(Counts::of(&profile, 3).events, 4000);
}

#[test]
fn a_limit_on_memory_is_kept_and_stated() {
    let program = Program::build("explosion");
    for limit in ["256K", "300000", "1M"] {
        let run = program.command().arg("300000").env("MIDFLIGHT_MAX_MEMORY", limit).run();
        check_limit(&run);
    }
    for limit in ["1", "16K", "100K", "400K"] {
        let run = program.command().arg("300000").env("MIDFLIGHT_THREAD_MEMORY", limit).run();
        assert_eq!((run.status(), run.stderr()), (7, ""));
        let profile = run.profile();
        assert_eq!(profile.flags & 1, 1, "{limit}");
        let counts = Counts::of(&profile, 1);
        assert_eq!((counts.entries, counts.events, counts.lost), (1, 300_000, 0));
        assert!(counts.short > 0);
    }
    let run = program.command().arg("1000").env("MIDFLIGHT_MAX_MEMORY", "64M").run();
    assert_eq!((run.status(), run.stderr()), (7, ""));
    assert_eq!(run.profile().flags, 0);
}

#[test]
fn without_any_memory_the_program_runs_on() {
    let run =
        Program::build("explosion").command().arg("1000").env("MIDFLIGHT_MAX_MEMORY", "1").run();
    assert_eq!(run.status(), 7);
    assert!(run.stderr().contains("not profiled: there is no memory"), "{}", run.stderr());
    let small = Program::build("explosion").command().arg("300000").address_space(24 << 20).run();
    assert_eq!(small.status(), 7);
}

#[test]
fn the_default_name_is_in_the_directory_at_start() {
    let run = Program::build("plain").command().arg("/").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    let names = run.names();
    assert_eq!(names.len(), 1);
    let digits = names[0].strip_prefix("midflight-").unwrap().strip_suffix(".mfp").unwrap();
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{digits}");
}

#[test]
fn the_pattern_is_expanded_and_directories_are_made() {
    let run = Program::build("plain").command().env("MIDFLIGHT_PROFILE", "a/b%%/%m.mfp").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    let signature = midflight_profile::table::image_signature([77].into_iter());
    assert_eq!(run.names(), [format!("a/b%/{signature:016x}.mfp")]);
}

#[test]
fn a_pattern_without_meaning_is_told_and_the_default_used() {
    let run = Program::build("plain").command().env("MIDFLIGHT_PROFILE", "x-%q.mfp").run();
    assert_eq!(run.status(), 3);
    let expected = "midflight: cannot use MIDFLIGHT_PROFILE='x-%q.mfp': '%q' has no meaning (there are %p, %h, %m, %1m to %9m, %c and %%); using 'midflight-%p.mfp'\n";
    assert_eq!(run.stderr(), expected);
    assert!(run.names()[0].starts_with("midflight-"));
    let limit = Program::build("plain").command().env("MIDFLIGHT_MAX_MEMORY", "lots").run();
    assert!(
        limit.stderr().starts_with("midflight: cannot use MIDFLIGHT_MAX_MEMORY='lots'"),
        "{}",
        limit.stderr()
    );
    assert_eq!(limit.stderr().lines().count(), 1);
}

#[test]
fn a_place_that_cannot_be_written_is_told_and_the_status_kept() {
    let program = Program::build("plain");
    for (pattern, reason) in [
        ("/proc/nowhere/x.mfp", "no such file or directory"),
        ("/dev/null/x.mfp", "not a directory"),
        ("/dev/full", "not a regular file"),
        ("/tmp", "is a directory"),
    ] {
        let run = program.command().env("MIDFLIGHT_PROFILE", pattern).run();
        assert_eq!(run.status(), 3);
        let start = format!("midflight: cannot write the profile '{pattern}': {reason}; ");
        assert!(run.stderr().starts_with(&start), "{}", run.stderr());
        assert_eq!(run.stderr().lines().count(), 1);
        assert_eq!(run.names().len(), 0);
    }
    assert!(std::path::Path::new("/dev/full").exists());
}

#[test]
fn dev_null_takes_the_profile_and_stays() {
    let run = Program::build("plain").command().env("MIDFLIGHT_PROFILE", "/dev/null").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_limit_on_file_sizes_neither_kills_nor_leaves_half_a_file() {
    let run = Program::build("plain").command().arg("l").run();
    assert_eq!((run.signal(), run.status()), (None, 3));
    assert!(run.stderr().contains("file too large"), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    assert!(run.names().is_empty(), "{:?}", run.names());
}

#[test]
fn a_full_disk_neither_kills_nor_leaves_half_a_file() {
    let Some(disk) = support::FullDisk::mount() else { return };
    let pattern = disk.path().join("x.mfp");
    let run = Program::build("plain").command().env("MIDFLIGHT_PROFILE", &pattern).run();
    assert_eq!(run.status(), 3);
    assert!(run.stderr().contains("no space left on device"), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    assert_eq!(disk.names(), ["ballast"]);
}

#[test]
fn a_closed_standard_error_does_not_kill() {
    let command = Program::build("plain").command().env("MIDFLIGHT_PROFILE", "/dev/full");
    let status = command.run_with_broken_stderr();
    assert_eq!((status.signal(), status.code()), (None, Some(3)));
}

#[test]
fn an_existing_profile_is_replaced_and_a_link_followed() {
    let command = Program::build("plain").command();
    let directory = command.directory().to_path_buf();
    std::fs::write(directory.join("real.mfp"), "old").unwrap();
    std::os::unix::fs::symlink("real.mfp", directory.join("link.mfp")).unwrap();
    let run = command.env("MIDFLIGHT_PROFILE", "link.mfp").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    assert_eq!(run.names(), ["link.mfp", "real.mfp"]);
    assert!(directory.join("link.mfp").is_symlink());
    assert_eq!(Counts::of(&run.profiles()[1], 77).events, 10);
}

#[test]
fn a_phase_can_be_profiled_on_its_own() {
    let run = Program::build("phases").command().arg("now.mfp").arg("/proc/none/x").run();
    assert_eq!(run.status(), 0);
    assert_eq!(run.stderr().lines().count(), 1);
    let profiles = run.named_profiles();
    let of = |start: &str| {
        let (_, profile) = profiles.iter().find(|(name, _)| name.starts_with(start)).unwrap();
        Counts::of(profile, 1)
    };
    assert_eq!(of("now"), Counts { entries: 0, events: 3, short: 0, lost: 0 });
    assert_eq!(of("midflight-"), Counts { entries: 0, events: 4, short: 0, lost: 0 });
}

/// How often each path of a function was taken, with its activations before.
fn paths_of(profile: &midflight_profile::format::Profile, key: u64) -> Vec<u64> {
    let mut counts = vec![0; 41];
    for function in profile.functions.iter().filter(|function| function.key == key) {
        counts[0] += function.totals.entries;
        for id in function.forest.ids() {
            counts[1 + function.forest.label(id) as usize] += function.forest.count(id);
        }
    }
    counts
}

#[test]
fn what_is_counted_during_a_pause_is_not_in_the_profile() {
    let program = Program::build("pause");
    // In a small memory what is rare has no room, in pauses and between them.
    for memory in ["1G", "256K", "48K"] {
        let run = program.command().env("MIDFLIGHT_THREAD_MEMORY", memory).run();
        assert_eq!((run.status(), run.stderr()), (0, ""));
        let told: Vec<u64> =
            run.stdout().split_whitespace().map(|number| number.parse().unwrap()).collect();
        let profile = run.profile();
        assert_eq!(profile.flags & FLAG_BEGAN_WITHIN, FLAG_BEGAN_WITHIN);
        assert_eq!(paths_of(&profile, 1), told, "{memory}");
        assert_eq!(paths_of(&profile, 2), told, "{memory}");
        let truncated: u128 =
            profile.functions.iter().map(|function| function.truncated.total()).sum();
        assert_eq!(truncated != 0, memory != "1G", "{memory}");
    }
}

#[test]
fn a_profile_that_is_written_in_a_pause_has_what_was_counted_before_it() {
    for memory in ["1G", "48K"] {
        let command = Program::build("pause").command().env("MIDFLIGHT_THREAD_MEMORY", memory);
        let run = command.arg("pause.mfp").run();
        assert_eq!((run.status(), run.stderr()), (0, ""));
        let told: Vec<u64> =
            run.stdout().split_whitespace().map(|number| number.parse().unwrap()).collect();
        let profiles = run.named_profiles();
        assert_eq!(profiles.len(), 2);
        for (name, profile) in &profiles {
            assert_eq!(paths_of(profile, 1), told, "{name} {memory}");
            assert_eq!(paths_of(profile, 2), told, "{name} {memory}");
        }
        let other = |at: usize| paths_of(&profiles[at].1, 3);
        assert_eq!(other(0), other(1), "nothing of another thread comes in during a pause");
    }
}

#[test]
fn a_program_without_records_writes_nothing() {
    let run = Program::build("bare").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert!(run.names().is_empty());
}

#[test]
fn a_program_that_is_linked_with_the_shared_library_alone_is_told() {
    let library = support::library("libmidflight_rt.so");
    let directory = library.parent().unwrap().display().to_string();
    let build = Build::new("plain").without_runtime().flag(library.to_str().unwrap());
    let run = build.flag(&format!("-Wl,-rpath,{directory}")).program().run();
    assert_eq!(run.status(), 3);
    assert!(
        run.stderr().starts_with("midflight: no profile is written: 1 functions"),
        "{}",
        run.stderr()
    );
    assert!(run.names().is_empty());
}

#[test]
fn a_static_program_is_counted() {
    for flag in ["-static", "-static-pie"] {
        let run = Build::new("threads").flag(flag).flag("-fPIE").program().run();
        assert_eq!((run.status(), run.stderr()), (0, ""), "{flag}");
        assert_eq!(Counts::of(&run.profile(), 1).events, 5 * 8 * 2000 * 5);
    }
}

#[test]
fn unused_sections_may_be_collected() {
    let run = Build::new("ways_out")
        .flag("-Wl,--gc-sections")
        .flag("-ffunction-sections")
        .program()
        .run();
    assert_eq!((run.status(), run.stderr()), (42, ""));
    assert_eq!(Counts::of(&run.profile(), 3).events, 1);
}

#[test]
fn lld_links_it_as_well() {
    let Some(lld) = support::lld() else { return };
    let run = Build::new("ways_out")
        .flag(&format!("--ld-path={lld}"))
        .flag("-Wl,--gc-sections")
        .program()
        .run();
    assert_eq!((run.status(), run.stderr()), (42, ""));
    assert_eq!(Counts::of(&run.profile(), 3).events, 1);
}

#[test]
fn only_the_runtimes_own_names_are_global() {
    const SPARING: [&str; 2] = [SPARING_ENTER_SYMBOL, SPARING_CONTEXT_ENTER_SYMBOL];
    let on_this = |symbol: &&str| support::is_x86_64() || !SPARING.contains(symbol);
    let mut exported: Vec<_> = RUNTIME_SYMBOLS.into_iter().filter(on_this).collect();
    exported.sort_unstable();
    assert_eq!(support::defined_symbols("libmidflight_rt.so", &["-D"]), exported);
    // What registers an image is each image's own; the unwinder is linked for who asks for it.
    exported.extend(["midflight_image", "midflight_unwinder"]);
    exported.sort_unstable();
    assert_eq!(support::defined_symbols("libmidflight_rt.a", &["-g"]), exported);
}

#[test]
fn the_header_declares_what_the_runtime_exports() {
    let header = include_str!("../include/midflight.h");
    let names = header.match_indices("midflight_").filter_map(|(at, _)| {
        let name = &header[at..];
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        name[end..].starts_with('(').then_some(&name[..end])
    });
    // Macros, what the plugin replaces, and types of functions
    let of_others = [
        "midflight_assume",
        "midflight_osr_point_here",
        "midflight_osr_open_here",
        "midflight_osr_points",
        "midflight_osr_visit",
        "midflight_generator",
    ];
    for name in names.filter(|name| !of_others.contains(name)) {
        assert!(RUNTIME_SYMBOLS.contains(&name), "{name}");
    }
}

#[test]
fn it_neither_allocates_nor_panics() {
    let symbols = support::all_symbols("libmidflight_rt.a");
    for unwanted in [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "__tls_get_addr",
        "_Unwind_Resume",
        "rust_begin_unwind",
    ] {
        assert!(!symbols.iter().any(|symbol| symbol == unwanted), "{unwanted}");
    }
    assert!(!symbols.iter().any(|symbol| symbol.contains("panic")), "{symbols:?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn code_without_a_frame_enters_the_runtime() {
    let run = Program::build("sparing").run();
    assert_eq!((run.status(), run.stderr(), run.stdout()), (0, "", ""));
    let profile = run.profile();
    assert_eq!((Counts::of(&profile, 1).entries, Counts::of(&profile, 1).events), (2, 2));
    assert_eq!((Counts::of(&profile, 2).entries, Counts::of(&profile, 2).events), (1, 1));
}

/// How often each function of `own_libc` is called.
const OWN_LIBC: [(u64, u64); 6] = [(1, 10), (2, 10), (3, 10), (4, 20), (5, 10), (6, 0)];

#[test]
fn a_program_may_define_what_the_runtime_would_call() {
    let program = Build::new("own_libc").flag("-fno-builtin").program();
    for (pattern, memory) in [("%p.mfp", "1G"), ("%p.mfp", "48K"), ("%m.mfp", "1M"), ("%c", "1M")] {
        let run = program
            .command()
            .env("MIDFLIGHT_PROFILE", pattern)
            .env("MIDFLIGHT_THREAD_MEMORY", memory)
            .run();
        assert_eq!((run.status(), run.stderr()), (0, ""), "{pattern} {memory}");
        let profile = run.profile();
        for (key, calls) in OWN_LIBC {
            let expected = Counts { entries: calls, events: calls, short: 0, lost: 0 };
            assert_eq!(Counts::of(&profile, key), expected, "function {key}, {pattern} {memory}");
        }
        let many = Counts::of(&profile, 7);
        assert_eq!((many.entries, many.events, many.lost), (1, 60_000, 0));
        assert_eq!(many.short > 0, memory != "1G", "{pattern} {memory}");
    }
}

/// It is in every program that is linked with it.
#[test]
fn it_is_smaller_than_288_kib() {
    let size = support::code_size();
    assert!(size < 288 << 10, "{size} bytes");
}

/// The runtime calls nothing that a program may define, but where the program asks for the very
/// function.
#[test]
fn it_needs_nothing_that_a_program_may_define() {
    const NEEDED: [(&str, &str); 46] = [
        ("LLVMFuzzerRunDriver", "only whether it is there"),
        ("_Unwind_Backtrace", "the unwinder's, where a program is linked with it for contexts"),
        ("_Unwind_FindEnclosingFunction", "as above"),
        ("_Unwind_GetCFA", "as above"),
        ("_Unwind_GetGR", "as above"),
        ("_Unwind_GetIP", "as above"),
        ("_Unwind_GetRegionStart", "as above"),
        ("_ZN11__sanitizer14AddDieCallbackEPFvvE", "a sanitizer's"),
        ("__cxa_atexit", "a name that is libc's, called without locks"),
        ("__environ", "a name that is libc's"),
        ("__errno_location", "a name that is libc's"),
        ("__getauxval", "a name that is libc's"),
        ("__sanitizer_set_death_callback", "a sanitizer's"),
        ("__start_midflight_calls", "made by the linker"),
        ("__start_midflight_open", "made by the linker"),
        ("__start_midflight_open_body", "made by the linker"),
        ("__start_midflight_osr", "made by the linker"),
        ("__start_midflight_osr_patch", "made by the linker"),
        ("__start_midflight_tables", "made by the linker"),
        ("__stop_midflight_calls", "made by the linker"),
        ("__stop_midflight_open", "made by the linker"),
        ("__stop_midflight_open_body", "made by the linker"),
        ("__stop_midflight_osr", "made by the linker"),
        ("__stop_midflight_osr_patch", "made by the linker"),
        ("__stop_midflight_tables", "made by the linker"),
        ("at_quick_exit", "a list of libc's, called without locks"),
        ("daemon", "called where the program calls it"),
        ("dl_iterate_phdr", "a list of the loader's, called without locks"),
        ("dlerror", "weak, called without locks where the code generator is loaded"),
        ("dlopen", "as above"),
        ("dlsym", "as above"),
        ("midflight_unwinder", "weak, in the same archive"),
        ("pthread_atfork", "a list of libc's, called without locks"),
        ("pthread_attr_destroy", "weak, called without locks where versions are to be made"),
        ("pthread_attr_init", "as above"),
        ("pthread_attr_setdetachstate", "as above"),
        ("pthread_attr_setstacksize", "as above"),
        ("pthread_create", "as above"),
        ("pthread_getspecific", "libc's threads: who replaces them has no path in it"),
        ("pthread_key_create", "as above, called without locks"),
        ("pthread_key_delete", "as above"),
        ("pthread_setspecific", "as above, called without locks"),
        ("sigaction", "called where the program calls it"),
        ("sigaltstack", "called where the program calls it"),
        ("signal", "called where the program calls it"),
        ("sigset", "called where the program calls it"),
    ];
    // A Rust that is built with stack protectors, as Debian's is, brings their needs along.
    const PROTECTION: [&str; 2] = ["__stack_chk_fail", "__stack_chk_guard"];
    let mut needed = support::undefined_symbols("libmidflight_rt.a");
    needed.retain(|name| !PROTECTION.contains(&name.as_str()));
    let allowed: Vec<_> = NEEDED.iter().map(|&(name, _)| name).collect();
    assert_eq!(needed, allowed);
}
