//! `%c`: the profile is a file that the program counts in, and survives a SIGKILL.

mod support;

use midflight_profile::format::{FLAG_WENT_ON, MemoryState, Profile, ReadError};
use proptest::prelude::*;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{Build, Counts, FullDisk, Invocation, Program, Run, Started};

const PATTERN: &str = "%cmidflight-%p.mfp";

fn continuous(command: Invocation) -> Invocation {
    command.env("MIDFLIGHT_PROFILE", PATTERN)
}

fn host() -> Program {
    Build::new("continuous").flag("-Wl,--export-dynamic-symbol=midflight_*").flag("-ldl").program()
}

/// The profile under its own name, as it is, and the one that the program has written besides.
fn both(run: &Run) -> (Vec<u8>, Profile) {
    let name = own_name(run.names());
    (run.bytes(&name), without_use(&run.bytes("ordinary")))
}

/// A profile but for the memory that it took, which a killed program's does not tell.
fn without_use(file: &[u8]) -> Profile {
    Profile { used: None, ..Profile::read(file).unwrap() }
}

fn own_name(names: Vec<String>) -> String {
    let own: Vec<_> = names.into_iter().filter(|name| name.ends_with(".mfp")).collect();
    let [own] = own.as_slice() else { panic!("{own:?}") };
    own.clone()
}

#[test]
fn a_killed_program_leaves_the_profile_that_it_would_have_written() {
    let program = host();
    let library = Build::new("library").flag("-shared").flag("-fPIC").program();
    let library = library.path().to_str().unwrap();
    for memory in ["1G", "48K"] {
        for what in ["plain", "paused", "resumed", "reset", library] {
            let command = continuous(program.command().arg(what).arg("kill"));
            let run = command.env("MIDFLIGHT_THREAD_MEMORY", memory).run();
            assert_eq!((run.signal(), run.stderr()), (Some(libc::SIGKILL), ""), "{what}");
            let (file, ordinary) = both(&run);
            assert!(MemoryState::of(&file).is_some());
            let killed = Profile::read(&file).unwrap();
            assert_eq!(killed, ordinary, "{what} {memory}");
            let irregular = Counts::of(&killed, 5);
            assert_eq!(irregular.short != 0, memory == "48K", "{what}");
            let rounds = Counts::of(&killed, 7).events;
            assert_eq!(rounds > 15_000_000_000, memory == "1G", "{what}");
        }
    }
}

#[test]
fn an_ordinary_end_leaves_an_ordinary_profile_and_nothing_else() {
    let program = host();
    for how in ["exit", "kill"] {
        let run = continuous(program.command().arg("plain").arg(how))
            .env("MIDFLIGHT_THREAD_MEMORY", "1G")
            .run();
        let (file, ordinary) = both(&run);
        assert_eq!(run.names().len(), 2, "{:?}", run.names());
        assert_eq!(MemoryState::of(&file).is_some(), how == "kill");
        let profile = without_use(&file);
        assert_eq!(profile.write(), ordinary.write(), "{how}");
        let counts = Counts::of(&profile, 6);
        assert_eq!(counts, Counts { entries: 5, events: 5 * 12000, short: 0, lost: 0 });
    }
}

#[test]
fn the_name_has_the_signature_of_the_program() {
    let program = host();
    let run = program
        .command()
        .arg("plain")
        .arg("kill")
        .env("MIDFLIGHT_PROFILE", "%cdeep/%m/er-%p.mfp")
        .run();
    let (file, ordinary) = both(&run);
    let name = own_name(run.names());
    let signature = ordinary.modules[0].signature;
    assert!(name.starts_with(&format!("deep/{signature:016x}/er-")), "{name}");
    assert_eq!(Profile::read(&file), Ok(ordinary));
}

#[test]
fn processes_that_share_a_profile_count_beside_it() {
    let program = Build::new("fork").flag("-DKILLED").program();
    let command = program.command().env("MIDFLIGHT_PROFILE", "%cp-%m.mfp");
    let run = command.env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let exact = |entries, events| Counts { entries, events, short: 0, lost: 0 };
    for (name, profile) in run.named_profiles() {
        if name.ends_with(".live") {
            assert_eq!(Counts::of(&profile, 1), exact(0, 1));
            assert_eq!(Counts::of(&profile, 2), exact(1, 100));
        } else {
            assert_eq!(Counts::of(&profile, 1), exact(1, 1020));
        }
    }
    assert_eq!(run.names().len(), 21);
    let live = run.names().iter().filter(|name| name.ends_with(".live")).count();
    assert_eq!(live, 20);
    // Those that end by themselves leave nothing but the sum.
    let command = Program::build("fork").command().env("MIDFLIGHT_PROFILE", "%cp-%m.mfp");
    let run = command.env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.names().len()), (0, 1));
    assert_eq!(Counts::of(&run.profile(), 2), exact(20, 2000));
    assert_eq!(Counts::of(&run.profile(), 1), exact(1, 1040));
}

fn forever(program: &Program, memory: &str) -> Started {
    let mut child = continuous(program.command().arg("forever").arg("kill"))
        .env("MIDFLIGHT_THREAD_MEMORY", memory)
        .spawn();
    child.wait_for_line("ready");
    child
}

/// Each activation of `forever` takes ten paths, but for those that `threads` are in.
fn check_forever(profile: &Profile, threads: u64) {
    assert_eq!(profile.flags & FLAG_WENT_ON, 0);
    let counts = Counts::of(profile, 9);
    assert!(counts.events <= 10 * counts.entries, "{counts:?}");
    assert!(counts.events + 10 * threads >= 10 * counts.entries, "{counts:?}");
    let irregular = Counts::of(profile, 5);
    assert!(irregular.events <= 3 * irregular.entries, "{irregular:?}");
    assert!(irregular.events + 3 * threads >= 3 * irregular.entries, "{irregular:?}");
    check_order(profile);
}

/// The paths of an activation of `forever` follow each other. Where a profile is written while
/// threads go on, there is nothing else to be said of it.
fn check_order(profile: &Profile) {
    for function in profile.functions.iter().filter(|function| function.key == 9) {
        for id in function.forest.ids() {
            let labels = function.forest.labels(id);
            assert!(labels.windows(2).all(|pair| pair[1] == pair[0] + 1), "{labels:?}");
        }
    }
}

#[test]
fn a_program_is_killed_at_any_time() {
    let program = host();
    for round in 0..25u64 {
        let child = forever(&program, if round % 2 == 0 { "32K" } else { "1M" });
        std::thread::sleep(Duration::from_micros(round * round * 97 % 9000));
        child.kill(libc::SIGKILL);
        let run = child.finish();
        let file = run.bytes(&own_name(run.names()));
        assert!(MemoryState::of(&file).is_some());
        let profile = Profile::read(&file).unwrap();
        check_forever(&profile, 8);
        assert!(Counts::of(&profile, 9).events > 0);
    }
}

/// As the command reads it.
fn read_live(path: &Path) -> Profile {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let file = std::fs::read(path).unwrap();
        let after = MemoryState::of(&std::fs::read(path).unwrap()).unwrap();
        let before = MemoryState::of(&file).unwrap();
        if before == after && before.begun == before.ended {
            match Profile::read(&file) {
                Ok(profile) => return profile,
                Err(error) if Instant::now() > end => panic!("{error}"),
                Err(_) => {}
            }
        }
        assert!(Instant::now() < end, "never at rest");
    }
}

#[test]
fn the_profile_of_a_running_program_can_be_read() {
    let program = host();
    let child = forever(&program, "64K");
    let path = child.directory().join(own_name(child.names()));
    let (mut entries, mut events) = (0, 0);
    for _ in 0..20 {
        let profile = read_live(&path);
        let counts = Counts::of(&profile, 9);
        assert!(counts.entries >= entries && counts.events >= events);
        (entries, events) = (counts.entries, counts.events);
    }
    child.kill(libc::SIGTERM);
    let run = child.finish();
    let file = run.bytes(&own_name(run.names()));
    assert_eq!(MemoryState::of(&file), None, "it ended by itself");
    let profile = Profile::read(&file).unwrap();
    assert_eq!(profile.flags & FLAG_WENT_ON, FLAG_WENT_ON);
    check_order(&profile);
    assert!(Counts::of(&profile, 9).events >= events);
}

#[test]
fn a_forked_child_counts_in_a_file_of_its_own() {
    let command = continuous(Program::build("fork").command());
    let run = command.env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let profiles = run.profiles();
    assert_eq!((profiles.len(), run.names().len()), (21, 21));
    let (parents, children): (Vec<_>, Vec<_>) =
        profiles.iter().partition(|profile| Counts::of(profile, 2).entries == 0);
    let exact = |entries, events| Counts { entries, events, short: 0, lost: 0 };
    assert_eq!(parents.len(), 1);
    assert_eq!(Counts::of(parents[0], 1), exact(1, 1020));
    for child in children {
        assert_eq!(Counts::of(child, 1), exact(0, 1));
        assert_eq!(Counts::of(child, 2), exact(1, 100));
        assert_eq!(Counts::of(child, 3), Counts::default());
    }
}

#[test]
fn a_killed_child_leaves_a_profile_of_its_own() {
    let program = Build::new("fork").flag("-DKILLED").program();
    let run = continuous(program.command()).env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let exact = |entries, events| Counts { entries, events, short: 0, lost: 0 };
    let mut children = 0;
    for name in run.names() {
        let file = run.bytes(&name);
        let profile = Profile::read(&file).unwrap();
        if MemoryState::of(&file).is_some() {
            children += 1;
            assert_eq!(Counts::of(&profile, 1), exact(0, 1));
            assert_eq!(Counts::of(&profile, 2), exact(1, 100));
            assert_eq!(Counts::of(&profile, 3), Counts::default());
        } else {
            assert_eq!(Counts::of(&profile, 1), exact(1, 1020));
        }
    }
    assert_eq!((children, run.names().len()), (20, 21));
}

/// It would take the name away from its parent.
#[test]
fn a_child_with_the_same_name_leaves_its_parents_file_alone() {
    let program = Build::new("fork").flag("-DKILLED").program();
    let run = program.command().env("MIDFLIGHT_PROFILE", "%cone.mfp").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    assert_eq!(run.names(), ["one.mfp"]);
    assert_eq!(Counts::of(&run.profile(), 1).events, 1020);
}

#[test]
fn ends_without_destructors_leave_ordinary_profiles() {
    let program = Program::build("endings");
    for how in ["_exit", "quick_exit", "abort", "fault", "15", "exec", "failing-exec", "fork-exec"]
    {
        let run = continuous(program.command().arg(how)).run();
        assert_eq!(run.stderr(), "", "{how}");
        let children = if how == "fork-exec" { 3 } else { 0 };
        assert_eq!(run.names().len(), 1 + children, "{how}: {:?}", run.names());
        for name in run.names() {
            assert_eq!(MemoryState::of(&run.bytes(&name)), None, "{how}");
        }
        let profiles = run.profiles();
        let parent = profiles.iter().find(|profile| Counts::of(profile, 1).entries == 1).unwrap();
        let events = if how == "failing-exec" { 501 } else { 500 };
        assert_eq!(Counts::of(parent, 1).events, events, "{how}");
        assert_eq!(Counts::of(parent, 2).events, 8000, "{how}");
    }
}

#[test]
fn a_process_that_libc_does_not_know_of_does_no_harm() {
    let program = host();
    for how in ["exit", "kill"] {
        let run = continuous(program.command().arg("stranger").arg(how)).run();
        assert_eq!(run.stderr(), "", "{how}");
        assert_eq!(run.signal(), (how == "kill").then_some(libc::SIGKILL), "{how}");
        assert_eq!(run.names().len(), 1, "{how}: {:?}", run.names());
        let counts = Counts::of(&run.profile(), 10);
        // What the child counts before it enters the runtime is its parent's.
        let own = 1000 + 50_000 + 1;
        assert_eq!(counts.entries, 1);
        assert!((own..own + 10 + 100_000).contains(&counts.events), "{counts:?}");
        assert_eq!(Counts::of(&run.profile(), 4), Counts::default());
    }
}

#[test]
fn a_profile_at_a_signal_is_the_file_itself() {
    let program = host();
    let mut child = continuous(program.command().arg("forever").arg("kill"))
        .env("MIDFLIGHT_PROFILE_SIGNAL", "USR1")
        .spawn();
    child.wait_for_line("ready");
    child.kill(libc::SIGUSR1);
    std::thread::sleep(Duration::from_millis(50));
    child.kill(libc::SIGKILL);
    let run = child.finish();
    assert!(MemoryState::of(&run.bytes(&own_name(run.names()))).is_some());
}

#[test]
fn without_room_for_the_file_memory_is_ordinary() {
    let program = host();
    let at = |place: &str, how: &str| {
        let pattern = format!("%c{place}/p-%p.mfp");
        program.command().arg("plain").arg(how).env("MIDFLIGHT_PROFILE", pattern)
    };
    let run = at("/proc/nowhere", "kill").run();
    let told = run.stderr().lines().filter(|line| line.contains("no profile is left if")).count();
    assert_eq!((run.signal(), told, run.stderr().lines().count()), (Some(libc::SIGKILL), 1, 1));
    let run = at(".", "exit").address_space(2 << 30).run();
    assert!(run.stderr().contains("there is not enough address space; raise its limit"));
    assert_eq!(run.names().len(), 2);
    let run = at(".", "exit").address_space(2 << 30).env("MIDFLIGHT_MAX_MEMORY", "100M").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let Some(disk) = FullDisk::mount() else { return };
    let run = at(disk.path().to_str().unwrap(), "kill").run();
    assert!(run.stderr().contains("no space left on device"), "{}", run.stderr());
    assert_eq!(disk.names(), ["ballast"]);
}

#[test]
fn where_the_disk_is_full_later_the_file_has_what_was_counted_before() {
    let Some(disk) = FullDisk::with_room("400k") else { return };
    let program = host();
    let command = |how| {
        let pattern = format!("%c{}/p-%p.mfp", disk.path().display());
        let command = program.command().arg("plain").arg(how);
        command.env("MIDFLIGHT_PROFILE", pattern).env("MIDFLIGHT_THREAD_MEMORY", "16M")
    };
    let run = command("kill").run();
    assert_eq!(run.signal(), Some(libc::SIGKILL));
    let told = "has no more than what was counted up to now: no space left on device";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    let file = std::fs::read(disk.path().join(own_name(disk.names()))).unwrap();
    assert!(MemoryState::of(&file).unwrap().is_frozen);
    let frozen = Profile::read(&file).unwrap();
    let ordinary = Profile::read(&run.bytes("ordinary")).unwrap();
    let (before, all) = (Counts::of(&frozen, 4), Counts::of(&ordinary, 4));
    assert_eq!(all, Counts { entries: 5, events: 30_000, short: 0, lost: 0 });
    assert!(before.events > 0 && before.events < all.events, "{before:?}");
    assert_eq!(frozen.flags, 0);
}

#[test]
fn a_file_that_was_removed_does_not_grow() {
    let program = host();
    let child = forever(&program, "64K");
    std::fs::remove_file(child.directory().join(own_name(child.names()))).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    child.kill(libc::SIGTERM);
    let run = child.finish();
    assert_eq!(run.signal(), Some(libc::SIGTERM));
    check_order(&run.profile());
    assert!(Counts::of(&run.profile(), 9).events > 0);
}

/// A group of processes with little memory.
struct Group(PathBuf);

impl Group {
    /// `None` where that is not permitted.
    fn new(bytes: u32) -> Option<Self> {
        let name = format!("midflight-test-{}", std::process::id());
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
            .into_iter()
            .find_map(|(root, limit)| {
                let group = Self(Path::new(root).join(&name));
                std::fs::create_dir(&group.0).ok()?;
                // A file of that name is there if the kernel has made it.
                let mut file = OpenOptions::new().write(true).open(group.0.join(limit)).ok()?;
                file.write_all(bytes.to_string().as_bytes()).ok()?;
                Some(group)
            })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_program_that_the_kernel_kills_for_want_of_memory_leaves_its_profile() {
    let Some(group) = Group::new(32 << 20) else { return };
    let program = host();
    let line = format!("echo $$ >{}/cgroup.procs && exec \"$0\" hungry kill", group.0.display());
    let shell = program.command_of("/bin/sh").arg("-c").arg(line).arg(program.path());
    let run = continuous(shell).env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!(run.signal(), Some(libc::SIGKILL), "{}", run.stderr());
    let profile = run.profile();
    let exact = |events| Counts { entries: 5, events, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 6), exact(5 * 12000));
    assert_eq!(Counts::of(&profile, 1), exact(5 * 6000));
}

fn killed() -> &'static [u8] {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    FILE.get_or_init(|| {
        let command = continuous(host().command().arg("resumed").arg("kill"));
        let run = command.env("MIDFLIGHT_THREAD_MEMORY", "48K").run();
        both(&run).0
    })
}

#[test]
fn a_file_that_ends_early_is_refused() {
    let file = killed();
    for len in [1, 7, 8, 50, 111, 112, 4096, 65_536, file.len() / 2, file.len() - 1] {
        assert!(Profile::read(&file[..len]).is_err(), "{len}");
    }
    let mut other = file.to_vec();
    other[12] ^= 1;
    assert_eq!(Profile::read(&other), Err(ReadError::Machine));
    let mut newer = file.to_vec();
    newer[8] = 99;
    assert!(matches!(Profile::read(&newer), Err(ReadError::Layout { version: 99, .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is changed, and wherever addresses lead then: an error or a profile.
    #[test]
    fn damaged_files_do_no_harm(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u64>(), 0u64..9]),
            1..40,
        ),
        swaps in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..40),
    ) {
        let mut file = killed().to_vec();
        let words: Vec<usize> =
            (0..file.len() / 8).filter(|&w| file[8 * w..8 * w + 8] != [0; 8]).collect();
        for (at, word) in changes {
            let at = 8 * words[at.index(words.len())];
            file[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for pair in swaps {
            let [from, to] = pair.map(|at| 8 * words[at.index(words.len())]);
            file.copy_within(from..from + 8, to);
        }
        let _ = Profile::read(&file);
    }
}
