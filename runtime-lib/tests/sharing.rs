//! One file that many processes add to.

mod support;

use midflight_profile::format::{FLAG_BEGAN_WITHIN, Profile};
use std::path::{Path, PathBuf};
use support::{Counts, Invocation, Program};
use tempfile::TempDir;

/// A place for a profile that the processes share.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A run that adds to the file that the pattern names here.
    fn command(&self, program: &Program, pattern: &str) -> Invocation {
        program.command().env("MIDFLIGHT_PROFILE", self.0.path().join(pattern))
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.0.path()).unwrap();
        files.map(|entry| entry.unwrap().path()).collect()
    }

    fn profiles(&self) -> Vec<Profile> {
        self.files().iter().map(|file| read(file)).collect()
    }
}

fn read(file: &Path) -> Profile {
    Profile::read(&std::fs::read(file).unwrap()).unwrap()
}

/// What so many runs of the program `plain` count.
fn plain(runs: u64) -> Counts {
    Counts { entries: runs, events: 10 * runs, short: 0, lost: 0 }
}

#[test]
fn each_run_adds_to_the_file_of_its_program() {
    let (place, program) = (Place::new(), Program::build("plain"));
    for runs in 1..=3 {
        let run = place.command(&program, "x-%m.mfp").run();
        assert_eq!((run.status(), run.stderr()), (3, ""));
        let [profile] = place.profiles().try_into().unwrap();
        assert_eq!(Counts::of(&profile, 77), plain(runs));
        assert_eq!((profile.modules.len(), profile.functions.len()), (1, 1));
    }
    let other = place.command(&Program::build("recursion"), "x-%m.mfp").run();
    assert_eq!((other.status(), other.stderr()), (0, ""));
    assert_eq!(place.files().len(), 2, "another program has another file");
}

#[test]
fn processes_that_end_at_the_same_time_lose_nothing() {
    let program = Program::build("plain");
    for (pattern, files) in [("%m.mfp", 1), ("%3m.mfp", 3)] {
        let place = Place::new();
        let running: Vec<_> = (0..120).map(|_| place.command(&program, pattern).spawn()).collect();
        for process in running {
            let run = process.finish();
            assert_eq!((run.status(), run.stderr()), (3, ""));
        }
        let profiles = place.profiles();
        assert!(profiles.len() <= files, "{:?}", place.files());
        let entries = profiles.iter().map(|profile| Counts::of(profile, 77).entries).sum::<u64>();
        assert_eq!(entries, 120);
    }
}

#[test]
fn a_process_and_its_forked_children_share_a_file() {
    let (place, program) = (Place::new(), Program::build("fork"));
    let run = place.command(&program, "%m.mfp").env("MIDFLIGHT_THREAD_MEMORY", "1G").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let [profile] = place.profiles().try_into().unwrap();
    let counts = |entries, events| Counts { entries, events, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 1), counts(1, 1020 + 20));
    assert_eq!(Counts::of(&profile, 2), counts(20, 20 * 100));
    assert_eq!(profile.flags, FLAG_BEGAN_WITHIN);
}

#[test]
fn what_was_written_once_is_not_added_again() {
    let (place, program) = (Place::new(), Program::build("rewritten"));
    let run = place.command(&program, "%m.mfp").run();
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let [profile] = place.profiles().try_into().unwrap();
    let counts = Counts::of(&profile, 5);
    assert_eq!((counts.entries, counts.events), (30, 300));
}

#[test]
fn what_is_no_profile_is_left_alone() {
    let (place, program) = (Place::new(), Program::build("plain"));
    let signature = midflight_profile::table::image_signature([77].into_iter());
    let file = place.0.path().join(format!("{signature:016x}.mfp"));
    std::fs::write(&file, "something else").unwrap();
    let run = place.command(&program, "%m.mfp").run();
    assert_eq!(run.status(), 3);
    let expected = format!(
        "midflight: cannot write the profile '{}': what is there is damaged or of another version, \
         and cannot be added to; remove it or set MIDFLIGHT_PROFILE to another place\n",
        file.display()
    );
    assert_eq!(run.stderr(), expected);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "something else");
    assert_eq!(place.files().len(), 1, "the temporary file is removed");
    std::fs::write(&file, "").unwrap();
    assert_eq!(place.command(&program, "%m.mfp").run().stderr(), "");
    assert_eq!(Counts::of(&read(&file), 77), plain(1), "an empty file is as none");
}
