//! Where profiles and logs may go, and where not: other users' links and files, descriptors, jails.
//!
//! Other users' things are made by root for them; where the tests do not run as root, those say so.

mod support;

use midflight_profile::format::Profile;
use midflight_profile::table::image_signature;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{Build, Counts, Invocation, Program, Run};
use tempfile::TempDir;

/// Another user, who need not have an account.
const OTHER: u32 = 54_321;

fn user() -> u32 {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() }
}

/// True if the tests run as root; else a line says that they do not.
fn is_root() -> bool {
    let is_root = user() == 0;
    if !is_root {
        eprintln!("skipped: another user's files can be made by root only");
    }
    is_root
}

/// A directory with a mode and an owner, and one of this user beside it.
struct Directories {
    _all: TempDir,
    there: PathBuf,
    own: PathBuf,
}

impl Directories {
    fn new(mode: u32, owner: u32) -> Self {
        let all = tempfile::tempdir().unwrap();
        fs::set_permissions(all.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let root = all.path().canonicalize().unwrap();
        let (there, own) = (root.join("there"), root.join("own"));
        fs::create_dir(&there).unwrap();
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(mode)).unwrap();
        chown(&there, Some(owner), None).unwrap();
        Self { _all: all, there, own }
    }

    /// A file of this user, which nobody is to change.
    fn precious(&self, mode: u32) -> PathBuf {
        let path = self.own.join(format!("precious-{mode:o}"));
        fs::write(&path, "precious").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// A link in the directory that belongs to a user.
    fn link(&self, name: &str, target: impl AsRef<Path>, owner: u32) -> PathBuf {
        let link = self.there.join(name);
        symlink(target, &link).unwrap();
        lchown(&link, Some(owner), None).unwrap();
        link
    }

    fn names(&self, below: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(below)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn is_precious(path: &Path, mode: u32) -> bool {
    let metadata = fs::metadata(path).unwrap();
    metadata.is_file()
        && metadata.mode() & 0o777 == mode
        && fs::read_to_string(path).unwrap() == "precious"
}

/// The name of the profile of the program `plain` where the pattern has `%m`.
fn by_signature() -> String {
    format!("{:016x}", image_signature([77].into_iter()))
}

#[track_caller]
fn check_refused(run: &Run, kind: &str, name: &Path, reason: &str) {
    assert_eq!(run.status(), 3);
    let told = format!("midflight: cannot write the {kind} '{}': {reason}; ", name.display());
    assert!(run.stderr().starts_with(&told), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    assert!(run.names().is_empty(), "{:?}", run.names());
}

const FOREIGN_LINK: &str = "a symbolic link on the way there belongs to another user";
const FOREIGN_FILE: &str = "the file that is there belongs to another user";

#[track_caller]
fn check_profile(path: &Path) {
    let profile = Profile::read(&fs::read(path).unwrap()).unwrap();
    assert_eq!(Counts::of(&profile, 77).events, 10);
}

fn to(program: &Program, name: impl AsRef<Path>) -> Invocation {
    program.command().env("MIDFLIGHT_PROFILE", name.as_ref())
}

#[test]
fn another_users_link_does_not_lead_to_a_file() {
    if !is_root() {
        return;
    }
    let program = Program::build("plain");
    let signature = by_signature();
    // A directory for all, one of this user for all, the other user's own, and one for all that is
    // not sticky.
    for (mode, owner) in [(0o1777, 0), (0o1775, 0), (0o755, OTHER), (0o777, 0), (0o1777, OTHER)] {
        for (pattern, name) in [("x.mfp", "x.mfp"), ("%m", signature.as_str())] {
            for target_mode in [0o600, 0o644] {
                let directories = Directories::new(mode, owner);
                let precious = directories.precious(target_mode);
                let link = directories.link(name, &precious, OTHER);
                let run = to(&program, directories.there.join(pattern)).run();
                check_refused(&run, "profile", &link, FOREIGN_LINK);
                assert!(is_precious(&precious, target_mode));
                // Where there is nothing, nothing is made.
                fs::remove_file(&precious).unwrap();
                let run = to(&program, directories.there.join(pattern)).run();
                check_refused(&run, "profile", &link, FOREIGN_LINK);
                assert!(directories.names(&directories.own).is_empty());
            }
        }
    }
}

#[test]
fn another_users_link_does_not_lead_to_a_file_that_is_counted_in() {
    if !is_root() {
        return;
    }
    let directories = Directories::new(0o1777, 0);
    let precious = directories.precious(0o600);
    let link = directories.link("x.mfp", &precious, OTHER);
    let name = directories.there.join("%cx.mfp");
    let run = program_and_log(&name, None).run();
    assert_eq!(run.status(), 3);
    let told: Vec<&str> = run.stderr().lines().collect();
    let [begin, end] = told[..] else { panic!("{told:?}") };
    let start = "midflight: no profile is left if the program is killed, since ";
    assert!(
        begin.starts_with(&format!("{start}'{}' cannot be made: {FOREIGN_LINK}", link.display()))
    );
    assert!(end.contains(FOREIGN_LINK), "{end}");
    assert!(is_precious(&precious, 0o600));
}

/// The program `jailed`, with places for its profile and its log.
fn program_and_log(profile: &Path, log: Option<&Path>) -> Invocation {
    // Static, so that it needs nothing in a jail.
    let program = Build::new("jailed").flag("-static").program();
    let command = to(&program, profile);
    match log {
        Some(log) => command.env("MIDFLIGHT_OSR_LOG", log).env("MIDFLIGHT_OSR_FIRE", "list"),
        None => command,
    }
}

#[test]
fn another_users_link_does_not_lead_to_a_log() {
    if !is_root() {
        return;
    }
    let directories = Directories::new(0o1777, 0);
    let precious = directories.precious(0o644);
    let link = directories.link("log", &precious, OTHER);
    let run = program_and_log(Path::new("/dev/null"), Some(&link)).run();
    check_refused(&run, "log", &link, FOREIGN_LINK);
    assert!(is_precious(&precious, 0o644));
}

#[test]
fn another_users_link_to_a_directory_is_not_followed_where_all_may_write() {
    if !is_root() {
        return;
    }
    let program = Program::build("plain");
    let directories = Directories::new(0o1777, 0);
    let precious = directories.precious(0o644);
    let name = precious.file_name().unwrap();
    let link = directories.link("profiles", "../own", OTHER);
    let run = to(&program, link.join(name)).run();
    check_refused(&run, "profile", &link.join(name), FOREIGN_LINK);
    let run = to(&program, link.join("a/b.mfp")).run();
    check_refused(&run, "profile", &link.join("a/b.mfp"), FOREIGN_LINK);
    assert!(is_precious(&precious, 0o644));
    assert_eq!(directories.names(&directories.own), ["precious-644"]);
}

#[test]
fn another_users_file_is_left_alone_where_all_may_write() {
    if !is_root() {
        return;
    }
    let program = Program::build("plain");
    for (mode, pattern, name) in [
        (0o1777, "x.mfp", "x.mfp".into()),
        (0o1777, "%m", by_signature()),
        (0o1770, "y", "y".into()),
    ] {
        let directories = Directories::new(mode, 0);
        let file = directories.there.join(name);
        fs::write(&file, "").unwrap();
        chown(&file, Some(OTHER), None).unwrap();
        let run = to(&program, directories.there.join(pattern)).run();
        check_refused(&run, "profile", &file, FOREIGN_FILE);
        assert_eq!(fs::metadata(&file).unwrap().uid(), OTHER);
        assert_eq!(directories.names(&directories.there).len(), 1, "nothing is left beside it");
    }
}

#[test]
fn a_file_of_another_user_that_a_link_leads_to_is_left_alone() {
    if !is_root() {
        return;
    }
    let directories = Directories::new(0o755, 0);
    let precious = directories.precious(0o644);
    chown(&precious, Some(OTHER), None).unwrap();
    let link = directories.link("x.mfp", &precious, 0);
    let run = to(&Program::build("plain"), &link).run();
    check_refused(&run, "profile", &precious, FOREIGN_FILE);
    assert!(is_precious(&precious, 0o644));
}

#[test]
fn own_links_are_followed() {
    let program = Program::build("plain");
    let user = user();
    let directories = Directories::new(0o1777, user);
    let file = directories.precious(0o644);
    let link = directories.link("x.mfp", "chain", user);
    directories.link("chain", "../there/./up/precious-644", user);
    directories.link("up", &directories.own, user);
    let run = to(&program, &link).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    check_profile(&file);
    assert!(link.is_symlink());
    // One that leads nowhere yet.
    fs::remove_file(&file).unwrap();
    let run = to(&program, &link).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    check_profile(&file);
    let circle = directories.link("circle", "circle", user);
    let run = to(&program, &circle).run();
    check_refused(&run, "profile", &circle, "too many symbolic links");
    let to_directory = directories.link("directory", &directories.own, user);
    let run = to(&program, &to_directory).run();
    check_refused(&run, "profile", &directories.own, "is a directory");
}

#[test]
fn a_link_of_root_or_of_the_directorys_owner_is_followed_by_others() {
    if !is_root() {
        return;
    }
    let program = Program::build("plain");
    let directories = Directories::new(0o1777, 0);
    chown(&directories.own, Some(OTHER), None).unwrap();
    let link = directories.link("profiles", &directories.own, 0);
    let run = to(&program, link.join("x.mfp")).user(OTHER).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    let last = directories.link("last.mfp", directories.own.join("y.mfp"), 0);
    let run = to(&program, last).user(OTHER).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    for name in ["x.mfp", "y.mfp"] {
        check_profile(&directories.own.join(name));
        assert_eq!(fs::metadata(directories.own.join(name)).unwrap().uid(), OTHER);
    }
}

#[test]
fn a_file_with_another_name_keeps_its_content() {
    let program = Program::build("plain");
    let directories = Directories::new(0o755, user());
    let precious = directories.precious(0o600);
    let name = directories.there.join("x.mfp");
    fs::hard_link(&precious, &name).unwrap();
    let run = to(&program, &name).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    check_profile(&name);
    assert!(is_precious(&precious, 0o600));
}

#[test]
fn what_is_no_regular_file_is_neither_replaced_nor_waited_for() {
    let program = Program::build("plain");
    for pattern in ["x", "%m", "%cx"] {
        let command = program.command();
        let name = if pattern == "%m" { by_signature() } else { "x".into() };
        let pipe = command.directory().join(&name);
        let path = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the path is a C string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        let run = command.env("MIDFLIGHT_PROFILE", pattern).run();
        assert_eq!(run.status(), 3);
        assert!(run.stderr().contains(": not a regular file; "), "{}", run.stderr());
        assert_eq!(run.names(), [name]);
    }
}

#[test]
fn descriptors_are_no_places() {
    let program = Build::new("fuzzed").flag("-DPATHS").program();
    let own = tempfile::tempdir().unwrap();
    let link = own.path().join("link");
    symlink("/dev/stdout", &link).unwrap();
    for name in [
        "/dev/stdout",
        "/dev/stdin",
        "/dev/fd/1",
        "/proc/self/fd/1",
        "/proc/thread-self/fd/1",
        "/dev/../proc/self/fd//1",
        "%c/dev/stdout",
        "/proc/self/exe",
        link.to_str().unwrap(),
    ] {
        for variable in ["MIDFLIGHT_PROFILE", "MIDFLIGHT_OSR_LOG"] {
            if name.starts_with('%') && variable == "MIDFLIGHT_OSR_LOG" {
                continue;
            }
            let output = own.path().join("output");
            let command = program.command().env("MIDFLIGHT_PROFILE", "/dev/null");
            let run = command.env(variable, name).stdout(&output).run();
            assert_eq!(run.status(), 7);
            assert!(
                run.stderr().contains("that is an open file of the program"),
                "{name}: {}",
                run.stderr()
            );
            assert_eq!(run.stderr().lines().count(), 1 + usize::from(name.starts_with('%')));
            assert_eq!(fs::read_to_string(&output).unwrap().split_whitespace().count(), 7);
            assert!(run.names().is_empty(), "{:?}", run.names());
        }
    }
    assert!(fs::symlink_metadata("/dev/stdout").is_ok_and(|link| link.is_symlink()));
}

/// Keeps a file locked.
struct Locked(File);

impl Locked {
    fn new(path: &Path) -> Self {
        let file = File::open(path).unwrap();
        // SAFETY: takes numbers.
        assert_eq!(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) }, 0);
        Self(file)
    }
}

#[test]
fn a_file_that_stays_locked_holds_nobody_up_for_long_and_loses_nothing() {
    let program = Program::build("plain");
    let place = tempfile::tempdir().unwrap();
    let command = || to(&program, place.path().join("x-%m.mfp"));
    assert_eq!(command().run().stderr(), "");
    let shared = place.path().join(format!("x-{}.mfp", by_signature()));
    let before = fs::read(&shared).unwrap();
    let locked = Locked::new(&shared);
    let begun = Instant::now();
    // Of several at once, each is held up no longer.
    let running: Vec<_> = (0..3).map(|_| command().spawn()).collect();
    let runs: Vec<Run> = running.into_iter().map(support::Started::finish).collect();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    for run in runs {
        assert_eq!(run.status(), 3);
        let told = format!(
            "midflight: the profile '{}' is not added to, since another process keeps it locked: what \
             this process has counted is beside it, in 'x-{}.",
            shared.display(),
            by_signature()
        );
        assert!(run.stderr().starts_with(&told), "{}", run.stderr());
        assert_eq!(run.stderr().lines().count(), 1);
        let name = run.stderr().split('\'').nth(3).unwrap();
        check_profile(&place.path().join(name));
    }
    assert_eq!(fs::read(&shared).unwrap(), before);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 4);
    let mut still_open = Vec::new();
    (&locked.0).read_to_end(&mut still_open).unwrap();
    drop(locked);
    assert_eq!(command().run().stderr(), "");
    let sum = Profile::read(&fs::read(&shared).unwrap()).unwrap();
    assert_eq!(Counts::of(&sum, 77).events, 20);
}

#[test]
fn where_a_jail_has_the_profile_is_told() {
    if !is_root() {
        return;
    }
    let jail = tempfile::tempdir().unwrap();
    let (name, log) = (Path::new("/deep/below/x.mfp"), Path::new("/deep/log"));
    let run = program_and_log(name, Some(log)).arg(jail.path()).run();
    assert_eq!(run.status(), 3);
    let expected = "midflight: the profile '/deep/below/x.mfp' is below the root directory that the program has changed to\n\
                    midflight: the log '/deep/log' is below the root directory that the program has changed to\n";
    assert_eq!(run.stderr(), expected);
    check_profile(&jail.path().join("deep/below/x.mfp"));
    assert!(jail.path().join("deep/log").is_file());
    assert!(!name.exists() && !log.exists());
    // One that cannot be written there.
    let jail = tempfile::tempdir().unwrap();
    fs::set_permissions(jail.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = program_and_log(name, None).arg(jail.path()).arg(OTHER.to_string()).run();
    assert_eq!(run.status(), 3);
    let start = "midflight: cannot write the profile '/deep/below/x.mfp' below the root directory that the program has changed to: no such file or directory; ";
    assert!(run.stderr().starts_with(start), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    // The same root is no jail.
    let run = program_and_log(&jail.path().join("x.mfp"), None).arg("/").run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
}

#[test]
fn a_file_that_is_counted_in_stays_outside_of_a_jail() {
    if !is_root() {
        return;
    }
    let (jail, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = place.path().canonicalize().unwrap();
    fs::create_dir_all(&place).unwrap();
    let name = place.join("x.mfp");
    let run = program_and_log(&place.join("%cx.mfp"), None).arg(jail.path()).run();
    assert_eq!(run.status(), 3);
    let expected = format!(
        "midflight: the profile '{}' is below a root directory that the program has left, and stays as if it were killed\n",
        name.display()
    );
    assert_eq!(run.stderr(), expected);
    check_profile(&name);
    assert_eq!(fs::read_dir(jail.path()).unwrap().count(), 0);
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_child_that_is_born_in_a_jail_counts_in_a_file_there() {
    if !is_root() {
        return;
    }
    let (jail, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = place.path().canonicalize().unwrap();
    let pattern = place.join("%cx-%p.mfp");
    let run = program_and_log(&pattern, None).arg(jail.path()).arg("0").arg("fork").run();
    assert_eq!(run.status(), 3);
    let told: Vec<&str> = run.stderr().lines().collect();
    let [child, parent] = told[..] else { panic!("{told:?}") };
    let below = " is below the root directory that the program has changed to";
    assert!(child.ends_with(below) && parent.ends_with("stays as if it were killed"), "{told:?}");
    let own = |line: &str| PathBuf::from(line.split('\'').nth(1).unwrap());
    check_profile(&own(parent));
    check_profile(&jail.path().join(own(child).strip_prefix("/").unwrap()));
}

#[test]
fn dev_null_need_not_exist() {
    if !is_root() {
        return;
    }
    let jail = tempfile::tempdir().unwrap();
    let run = program_and_log(Path::new("/dev/null"), None).arg(jail.path()).run();
    assert_eq!((run.status(), run.stderr()), (3, ""));
    assert_eq!(fs::read_dir(jail.path()).unwrap().count(), 0);
}

/// What a program with raised rights says.
const RAISED: &str = "midflight: nothing is profiled, logged or armed, since the program runs with more rights than its user has (set-user-ID, set-group-ID, file capabilities); run it as a user who has these rights\n";

/// A copy of the program that others may run, with a mode and an owner, in a directory for all.
fn published(program: &Program, mode: u32, owner: (u32, u32)) -> (Directories, PathBuf) {
    let directories = Directories::new(0o777, 0);
    let path = directories.own.join("privileged");
    fs::copy(program.path(), &path).unwrap();
    chown(&path, Some(owner.0), Some(owner.1)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (directories, path)
}

/// What a program ends of at a signal that arms points, if anything is armed.
fn usr1(is_raised: bool) -> Option<i32> {
    is_raised.then_some(libc::SIGUSR1)
}

#[test]
fn a_program_with_raised_rights_writes_and_arms_nothing() {
    if !is_root() {
        return;
    }
    let program = Program::build("privileged");
    for (mode, owner, is_raised) in [
        (0o4755, (0, 0), true),
        (0o4755, (OTHER + 1, 0), true),
        (0o2755, (0, 0), true),
        (0o4755, (OTHER, 0), false),
        (0o755, (0, 0), false),
    ] {
        for (argument, signal) in
            [("", None), ("term", Some(libc::SIGTERM)), ("usr1", usr1(is_raised))]
        {
            let (directories, path) = published(&program, mode, owner);
            let log = directories.there.join("log");
            let run = program
                .command_of(&path)
                .current_dir(&directories.there)
                .env("MIDFLIGHT_OSR_LOG", &log)
                .env("MIDFLIGHT_OSR_FIRE", "always")
                .env("MIDFLIGHT_OSR_SIGNAL", "USR1")
                .arg(argument)
                .user(OTHER)
                .run();
            let names = directories.names(&directories.there);
            if is_raised {
                assert_eq!((run.stdout(), run.stderr()), ("1 1 -1 0 0\n", RAISED));
                assert!(names.is_empty(), "{names:?}");
            } else {
                assert_eq!((run.stdout(), run.stderr()), ("0 0 1 1 1\n", ""));
                assert!(names.len() >= 2, "{names:?}");
            }
            assert_eq!(run.signal(), signal);
            assert!(signal.is_some() || run.status() == 3);
        }
    }
}

#[test]
fn a_program_with_raised_rights_and_of_another_version_ends_and_writes_nothing() {
    if !is_root() {
        return;
    }
    let program = Build::new("privileged").flag("-DRECORD_VERSION=9").program();
    let (directories, path) = published(&program, 0o4755, (0, 0));
    let run = program.command_of(&path).current_dir(&directories.there).user(OTHER).run();
    assert_eq!((run.status(), run.stdout()), (127, ""));
    let told = "' cannot run: it was compiled for version 9 of the runtime's interface";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    assert!(directories.names(&directories.there).is_empty());
}

#[test]
fn a_program_with_capabilities_of_its_file_writes_and_arms_nothing() {
    if !is_root() {
        return;
    }
    // Revision 2, effective; CAP_NET_BIND_SERVICE.
    let capability: [u32; 5] = [0x0200_0001, 1 << 10, 0, 0, 0];
    let bytes: Vec<u8> = capability.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = Program::build("privileged");
    let (directories, path) = published(&program, 0o755, (0, 0));
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the name and the value live through the call.
    let result = unsafe {
        let value = bytes.as_ptr().cast();
        libc::setxattr(name.as_ptr(), c"security.capability".as_ptr(), value, bytes.len(), 0)
    };
    if result != 0 {
        eprintln!("skipped: the file system has no capabilities of files");
        return;
    }
    let run = program.command_of(&path).current_dir(&directories.there).user(OTHER).run();
    assert_eq!((run.status(), run.stdout(), run.stderr()), (3, "1 1 -1 0 0\n", RAISED));
    assert!(directories.names(&directories.there).is_empty());
}

#[test]
fn names_and_values_cannot_disturb_a_terminal() {
    let program = Program::build("plain");
    let hostile = "/proc/a\nmidflight: forged\x1b[31m\u{202e}\u{9b}\x7f/%q'";
    let run = to(&program, hostile).run();
    let shown = r"/proc/a\x0amidflight: forged\x1b[31m\xe2\x80\xae\xc2\x9b\x7f/%q'";
    assert!(
        run.stderr().starts_with(&format!("midflight: cannot use MIDFLIGHT_PROFILE='{shown}': ")),
        "{}",
        run.stderr()
    );
    assert_eq!(run.stderr().lines().count(), 1);
    let run = to(&program, "/proc/a\n\x1b/x").run();
    let start = r"midflight: cannot write the profile '/proc/a\x0a\x1b/x': no such file";
    assert!(run.stderr().starts_with(start), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    // More than a line has room for.
    let run = to(&program, "\x1b".repeat(2000) + "%q").run();
    let start = format!("midflight: cannot use MIDFLIGHT_PROFILE='{}%q': ", r"\x1b".repeat(2000));
    assert!(run.stderr().starts_with(&start) && run.stderr().lines().count() == 1);
    // Half a character.
    let half = std::ffi::OsStr::from_bytes(b"\xe2\x80%\xc3");
    let run = to(&program, Path::new(half)).run();
    let start = r"midflight: cannot use MIDFLIGHT_PROFILE='\xe2\x80%\xc3': '%\xc3' has no meaning";
    assert!(run.stderr().starts_with(start), "{}", run.stderr());
}

#[test]
fn a_directory_without_a_name_is_told() {
    let (program, place) = (Program::build("plain"), tempfile::tempdir().unwrap());
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$1\"";
    let command = program.command_of("sh").arg("-c").arg(script).arg(program.path());
    let run = command.arg(place.path()).env("MIDFLIGHT_PROFILE", "x.mfp").run();
    assert_eq!(run.status(), 3);
    let start = "midflight: the directory that the program was started in was removed, ";
    assert!(run.stderr().starts_with(start), "{}", run.stderr());
    assert_eq!(run.stderr().lines().count(), 1);
    check_profile(&place.path().join("x.mfp"));
}

/// The other user has two names change places all the time: a directory and a link to another one.
#[test]
fn a_directory_that_becomes_a_link_meanwhile_leads_nowhere_else() {
    if !is_root() {
        return;
    }
    let program = Program::build("plain");
    let directories = Directories::new(0o1777, 0);
    let precious = directories.precious(0o644);
    let (name, moving) = (precious.file_name().unwrap(), directories.there.join("moving"));
    fs::create_dir(&moving).unwrap();
    chown(&moving, Some(OTHER), None).unwrap();
    let link = directories.link("link", &directories.own, OTHER);
    let [one, two] =
        [&moving, &link].map(|path| std::ffi::CString::new(path.to_str().unwrap()).unwrap());
    let is_over = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let (here, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
                // SAFETY: the names are C strings.
                unsafe { libc::renameat2(here, one.as_ptr(), here, two.as_ptr(), exchange) };
            }
        });
        let mut written = 0;
        for round in 0..300 {
            let pattern = if round % 2 == 0 { "" } else { "%c" };
            let run = to(&program, moving.join(name).to_str().unwrap().to_owned() + pattern).run();
            assert_eq!(run.status(), 3);
            written += usize::from(run.stderr().is_empty());
        }
        is_over.store(true, Ordering::Relaxed);
        written
    });
    assert!(is_precious(&precious, 0o644));
    assert_eq!(directories.names(&directories.own), ["precious-644"]);
    assert!(written > 0 && written < 300, "{written} profiles were written");
}
