//! `%c` for calling contexts: trees in a file that the program counts in, which survive a SIGKILL.

mod support;

use midflight_profile::format::{ContextId, ContextMode, Contexts, MemoryState, Profile};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::{Build, FullDisk, Invocation, Program, Run, Started};

const MODES: [&str; 2] = ["cct", "hcct:0.02:0.01"];

/// Keys of functions of `contexts.c`.
const LEAF: u64 = 1;
const DEEP: u64 = 5;
const WORK: u64 = 7;
const GROW: u64 = 8;
const GO: u64 = 9;

/// Activations in each call of `go`.
const IN_GO: u64 = 17;

fn program() -> Program {
    Build::new("contexts").flag("-Wl,--export-dynamic-symbol=midflight_*").flag("-ldl").program()
}

fn continuous(command: Invocation, mode: &str) -> Invocation {
    command.env("MIDFLIGHT_PROFILE", "%cmidflight-%p.mfp").env("MIDFLIGHT_CONTEXTS", mode)
}

fn own_name(names: &[String]) -> &str {
    let own: Vec<_> = names.iter().filter(|name| name.ends_with(".mfp")).collect();
    let [own] = own.as_slice() else { panic!("{own:?}") };
    own
}

/// The profile under its own name, as it is, and the one that the program has written besides.
fn both(run: &Run) -> (Vec<u8>, Profile) {
    let ordinary = Profile::read(&run.bytes("ordinary")).unwrap();
    (run.bytes(own_name(&run.names())), Profile { used: None, ..ordinary })
}

fn contexts(profile: &Profile) -> &Contexts {
    profile.contexts.as_ref().expect("there are contexts")
}

/// What a tree has of the contexts that functions with these keys lead to, from a root on: the
/// least and the most that it may be.
fn bounds(contexts: &Contexts, keys: &[u64]) -> (u64, u64) {
    let below = |parent: Option<ContextId>, key: u64| {
        let children = contexts.children(parent).into_iter();
        children.filter(move |&id| contexts.function(id).key == key)
    };
    let mut found: Vec<Option<ContextId>> = vec![None];
    for &key in keys {
        found = found.iter().flat_map(|&parent| below(parent, key)).map(Some).collect();
    }
    let found: Vec<ContextId> = found.into_iter().flatten().collect();
    let most = found.iter().map(|&id| contexts.count(id)).sum::<u64>();
    let error = found.iter().map(|&id| contexts.error(id)).sum::<u64>();
    (most - error, if found.is_empty() { contexts.floor } else { most })
}

#[test]
fn a_killed_program_leaves_the_contexts_that_it_would_have_written() {
    let program = program();
    let library = Build::new("contexts_library").flag("-shared").flag("-fPIC").program();
    let library = library.path().to_str().unwrap();
    for mode in MODES {
        for what in ["plain", "paused", "resumed", "reset", "deep", library] {
            let is_hot = mode != "cct";
            if is_hot && ["paused", "resumed"].contains(&what) {
                // Where only hot contexts are kept, pausing is refused.
                continue;
            }
            let run = continuous(program.command().arg(what).arg("kill"), mode).run();
            assert_eq!((run.signal(), run.stderr()), (Some(libc::SIGKILL), ""), "{what} {mode}");
            let (file, ordinary) = both(&run);
            assert!(MemoryState::of(&file).is_some());
            let killed = Profile::read(&file).unwrap();
            assert!(
                killed == ordinary,
                "{what} {mode}: {} {}",
                killed.flags,
                contexts(&killed).len()
            );
            let tree = contexts(&killed);
            assert_eq!(matches!(tree.mode, ContextMode::Hot { .. }), is_hot);
            assert_eq!(tree.elsewhere, 0);
            let (least, most) = bounds(tree, &[WORK, LEAF]);
            let rounds = match what {
                "reset" => 9,
                "resumed" => 2220,
                _ => 2200,
            };
            assert!(least <= rounds && rounds <= most, "{least} {most} {what} {mode}");
            assert!(is_hot || least == most, "{what}");
            if what == library {
                let (least, most) = bounds(tree, &[20, 21]);
                assert!(least <= 20 && 20 <= most, "{least} {most} {mode}");
            }
            assert_eq!(is_hot, tree.floor != 0, "{what}");
        }
    }
}

#[test]
fn an_ordinary_end_leaves_ordinary_contexts_and_nothing_else() {
    let program = program();
    for mode in MODES {
        let run = continuous(program.command().arg("plain").arg("exit"), mode).run();
        assert_eq!((run.status(), run.stderr()), (0, ""));
        let (file, ordinary) = both(&run);
        assert_eq!(run.names().len(), 2, "{:?}", run.names());
        assert!(MemoryState::of(&file).is_none());
        let profile = Profile { used: None, ..Profile::read(&file).unwrap() };
        assert!(profile.write() == ordinary.write(), "{mode}");
        let tree = contexts(&profile);
        assert_eq!(tree.activations + tree.elsewhere, activations_of_plain());
    }
}

/// Of seven calls of `work`: in 2200 rounds `leaf`, `dispatch` and what that calls.
fn activations_of_plain() -> u64 {
    7 * (1 + 41 + 255 + 1) + 2200 * 3
}

/// Activations of functions by their keys, with a context or without.
fn by_function(contexts: &Contexts) -> BTreeMap<u64, u64> {
    let with = contexts.ids().map(|id| (contexts.function(id), contexts.count(id)));
    let without = contexts.elsewhere_of();
    let without = without.map(|(id, count)| (contexts.functions()[id.index()], count));
    let mut sums = BTreeMap::new();
    for (function, count) in with.chain(without) {
        *sums.entry(function.key).or_default() += count;
    }
    sums
}

#[test]
fn activations_without_memory_for_a_context_are_in_the_file() {
    let program = program();
    let whole = continuous(program.command().arg("deep").arg("exit"), "cct").run();
    let expected = by_function(contexts(&both(&whole).1));
    for mode in MODES {
        let command = continuous(program.command().arg("deep").arg("kill"), mode);
        let run = command.env("MIDFLIGHT_MAX_MEMORY", "1M").run();
        assert_eq!(run.signal(), Some(libc::SIGKILL), "{}", run.stderr());
        let (file, ordinary) = both(&run);
        let killed = Profile::read(&file).unwrap();
        assert!(killed == ordinary, "{mode}: {}", contexts(&killed).elsewhere);
        let tree = contexts(&killed);
        assert!(tree.elsewhere > 10_000, "{}", tree.elsewhere);
        let all = activations_of_plain() + 3 * 20_001;
        assert_eq!(tree.activations, all, "{mode}");
        assert!(bounds(tree, &[DEEP]).1 >= 3);
        // Of all of them it is known which function was called.
        let of_functions: u64 = tree.elsewhere_of().map(|(_, count)| count).sum();
        assert_eq!(of_functions, tree.elsewhere, "{mode}");
        if mode == "cct" {
            assert_eq!(by_function(tree), expected);
        }
    }
}

fn forever(program: &Program, mode: &str) -> Started {
    let mut child = continuous(program.command().arg("forever").arg("kill"), mode).spawn();
    child.wait_for_line("ready");
    child
}

/// How often `go` was begun, and ended, as the threads of the program have noted.
fn progress(file: &[u8]) -> (u64, u64) {
    let words = file.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let words: Vec<u64> = words.collect();
    let sum = |from| words.iter().skip(from).step_by(2).sum();
    (sum(0), sum(1))
}

/// What is known of a profile of `forever`, in which `go` was begun and ended so often.
fn check_forever(profile: &Profile, (begun, ended): (u64, u64)) {
    let tree = contexts(profile);
    assert_eq!((profile.flags, tree.elsewhere), (0, 0));
    for way in [&[GO][..], &[GO, LEAF], &[GO, GROW]] {
        let (least, most) = bounds(tree, way);
        assert!(least <= begun, "{way:?}: {least}.., {begun} begun");
        assert!(most >= ended, "{way:?}: ..{most}, {ended} ended");
        assert!(tree.mode != ContextMode::All || least == most);
    }
    let all = tree.activations;
    assert!((IN_GO * ended..=IN_GO * begun).contains(&all), "{all}, {ended} to {begun}");
    if tree.mode == ContextMode::All {
        assert_eq!(u128::from(all), tree.total());
    } else {
        assert!(tree.ids().all(|id| tree.error(id) <= tree.floor));
        assert!(tree.len() <= 4 * 100 * (2 + 12), "{}", tree.len());
    }
}

#[test]
fn a_program_is_killed_at_any_time_while_it_makes_contexts() {
    let program = program();
    for mode in MODES {
        for round in 0..25u64 {
            let child = forever(&program, mode);
            std::thread::sleep(Duration::from_micros(round * round * 97 % 9000));
            child.kill(libc::SIGKILL);
            let run = child.finish();
            assert_eq!(run.stderr(), "");
            let file = run.bytes(own_name(&run.names()));
            assert!(MemoryState::of(&file).is_some());
            check_forever(&Profile::read(&file).unwrap(), progress(&run.bytes("progress")));
        }
    }
}

#[test]
fn contexts_of_a_running_program_can_be_read() {
    let program = program();
    for mode in MODES {
        let child = forever(&program, mode);
        let path = child.directory().join(own_name(&child.names()));
        let end = Instant::now() + Duration::from_secs(20);
        let (mut last, mut seen) = (0, 0);
        while seen < 5 {
            assert!(Instant::now() < end, "never at rest");
            let file = std::fs::read(&path).unwrap();
            let Ok(profile) = Profile::read(&file) else { continue };
            let (least, most) = bounds(contexts(&profile), &[GO, LEAF]);
            assert!(most >= last);
            (last, seen) = (least, seen + 1);
        }
        assert!(last > 0);
        child.kill(libc::SIGTERM);
        let run = child.finish();
        let file = run.bytes(own_name(&run.names()));
        assert_eq!(MemoryState::of(&file), None, "it ended by itself");
        let profile = Profile::read(&file).unwrap();
        assert!(bounds(contexts(&profile), &[GO, LEAF]).1 >= last);
    }
}

#[test]
fn children_of_a_program_that_makes_contexts_have_whole_trees() {
    let program = program();
    for mode in MODES {
        for how in ["exit", "kill"] {
            let run = continuous(program.command().arg("forks").arg(how), mode).run();
            assert_eq!((run.status(), run.stderr()), (0, ""), "{mode} {how}");
            let names = run.names();
            let names: Vec<_> = names.iter().filter(|name| *name != "progress").collect();
            assert_eq!(names.len(), 13, "{names:?}");
            let mut parents = 0;
            for name in names {
                let file = run.bytes(name);
                let profile = Profile::read(&file).unwrap();
                let tree = contexts(&profile);
                let is_child = tree.activations == IN_GO * 1000;
                parents += usize::from(!is_child);
                let (least, most) = bounds(tree, &[GO, LEAF]);
                assert!(!is_child || least <= 1000 && 1000 <= most, "{least} {most} {name}");
                assert!(is_child || least > 0, "{name}");
                assert_eq!(MemoryState::of(&file).is_some(), is_child && how == "kill");
                assert_eq!(tree.elsewhere, 0);
            }
            assert_eq!(parents, 1, "{mode} {how}");
        }
    }
}

#[test]
fn processes_that_share_a_profile_count_contexts_beside_it() {
    let program = program();
    for mode in MODES {
        for how in ["exit", "kill"] {
            let command = continuous(program.command().arg("forks").arg(how), mode);
            let run = command.env("MIDFLIGHT_PROFILE", "%cp-%m.mfp").run();
            assert_eq!((run.status(), run.stderr()), (0, ""), "{mode} {how}");
            let children = 12;
            let (mut live, mut all) = (0, 0);
            for name in run.names().iter().filter(|name| *name != "progress") {
                let profile = Profile::read(&run.bytes(name)).unwrap();
                let tree = contexts(&profile);
                all += tree.activations;
                if name.ends_with(".live") {
                    live += 1;
                    assert_eq!(tree.activations, IN_GO * 1000);
                } else {
                    assert!(bounds(tree, &[GO, LEAF]).1 >= if how == "exit" { 12_000 } else { 1 });
                }
            }
            assert_eq!(live, if how == "kill" { children } else { 0 }, "{mode} {how}");
            // The parent's thread goes on while its profile is written.
            let (begun, _) = progress(&run.bytes("progress"));
            let own = all - children * 1000 * IN_GO;
            assert!((IN_GO..=IN_GO * begun).contains(&own), "{own} {begun}");
        }
    }
}

#[test]
fn where_the_disk_is_full_later_the_file_has_the_contexts_of_before() {
    let Some(disk) = FullDisk::with_room("400k") else { return };
    let program = program();
    let pattern = format!("%c{}/p-%p.mfp", disk.path().display());
    let command = continuous(program.command().arg("deep").arg("kill"), "cct");
    let run = command.env("MIDFLIGHT_PROFILE", pattern).run();
    assert_eq!(run.signal(), Some(libc::SIGKILL));
    let told = "has no more than what was counted up to now: no space left on device";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    let file = std::fs::read(disk.path().join(own_name(&disk.names()))).unwrap();
    assert!(MemoryState::of(&file).unwrap().is_frozen);
    let (frozen, all) = (Profile::read(&file).unwrap(), activations_of_plain() + 3 * 20_001);
    let ordinary = Profile::read(&run.bytes("ordinary")).unwrap();
    assert_eq!((contexts(&ordinary).activations, contexts(&ordinary).elsewhere), (all, 0));
    let before = contexts(&frozen);
    assert!((1..all - 40_002).contains(&before.activations), "{}", before.activations);
    assert_eq!((u128::from(before.activations), before.elsewhere), (before.total(), 0));
}

#[test]
fn a_process_that_libc_does_not_know_of_does_contexts_no_harm() {
    let program = program();
    for mode in MODES {
        for how in ["exit", "kill"] {
            let run = continuous(program.command().arg("stranger").arg(how), mode).run();
            assert_eq!(run.stderr(), "", "{how}");
            assert_eq!(run.signal(), (how == "kill").then_some(libc::SIGKILL), "{how}");
            assert_eq!(run.names().len(), 1, "{how}: {:?}", run.names());
            let profile = run.profile();
            let tree = contexts(&profile);
            // What the child counts before it enters the runtime is its parent's.
            let (own, child) = (1000 + 5000 + 1, 9 + 3000);
            let all = tree.activations;
            assert!((own * IN_GO..=(own + child) * IN_GO).contains(&all), "{all} {mode} {how}");
            let (least, most) = bounds(tree, &[GO]);
            assert!(least <= own + child && most >= own, "{least} {most}");
            assert_eq!(bounds(tree, &[WORK]).0, 0);
        }
    }
}

fn killed(mode: &'static str) -> &'static [u8] {
    static FILES: [OnceLock<Vec<u8>>; 2] = [const { OnceLock::new() }; 2];
    let which = MODES.iter().position(|&known| known == mode).unwrap();
    FILES[which].get_or_init(|| {
        let what = if mode == "cct" { "resumed" } else { "plain" };
        both(&continuous(program().command().arg(what).arg("kill"), mode).run()).0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is changed, and wherever addresses lead then: an error or a profile.
    #[test]
    fn damaged_files_do_no_harm(
        mode in prop::sample::select(&MODES[..]),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u64>(), 0u64..9]),
            1..20,
        ),
        swaps in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..20),
    ) {
        let mut file = killed(mode).to_vec();
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
