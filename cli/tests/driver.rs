//! `midflight cc` with a clang that only writes down what it was called with.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Writes its name and arguments, with a zero byte after each, then does what FAKE_CLANG says.
const CLANG: &str = "#!/bin/sh\n\
    if [ \"$1\" = -dumpversion ]; then echo 22.1.8; exit 0; fi\n\
    printf '%s\\0' \"$(basename \"$0\")\" \"$@\" >\"$CALLED\"\n\
    eval \"$FAKE_CLANG\"\n";

/// A folder with the command, its libraries and a fake clang for each LLVM.
struct Installed {
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// These tests run one at a time: a program that another thread forks while this one writes an
/// executable holds the file open for a moment, and then it cannot be run (ETXTBSY).
static ALONE: Mutex<()> = Mutex::new(());

impl Installed {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let installed = Installed { folder: tempfile::tempdir().unwrap(), _alone: alone };
        for llvm in ["19", "22"] {
            installed.file(&format!("lib/midflight/llvm-{llvm}/libmidflight.so"), "");
            installed.program(&format!("path/clang-{llvm}"));
            installed.program(&format!("path/clang++-{llvm}"));
        }
        // The newest folder has no plugin in it, so it does not count.
        std::fs::create_dir(installed.path("lib/midflight/llvm-23")).unwrap();
        installed.file("lib/midflight/libmidflight_rt.a", "");
        std::fs::copy(env!("CARGO_BIN_EXE_midflight"), installed.path("midflight")).unwrap();
        symlink("midflight", installed.path("midflight-cc")).unwrap();
        symlink("midflight", installed.path("midflight-c++")).unwrap();
        installed
    }

    /// The folder's real path, as the command sees it.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn program(&self, name: &str) {
        self.file(name, CLANG);
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.path(name));
        command
            .current_dir(self.path(""))
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("path").display()))
            .env("CALLED", self.path("called"));
        for variable in ["MIDFLIGHT_CC_OPTIONS", "MIDFLIGHT_OPTIONS", "MIDFLIGHT_LIB_DIR"] {
            command.env_remove(variable);
        }
        command
    }

    fn output(&self, command: &mut Command) -> Output {
        let _ = std::fs::remove_file(self.path("called"));
        command.output().unwrap()
    }

    /// What clang was called with.
    fn called(&self) -> Vec<OsString> {
        let bytes = std::fs::read(self.path("called")).unwrap();
        let words = bytes.strip_suffix(b"\0").unwrap().split(|&b| b == 0);
        words.map(|word| OsString::from_vec(word.to_vec())).collect()
    }

    /// What clang is called with for a command line.
    fn of(&self, line: &str) -> Vec<OsString> {
        let mut words = line.split_whitespace();
        let output = self.output(self.command(words.next().unwrap()).args(words));
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        self.called()
    }

    fn complaint(&self, command: &mut Command) -> String {
        let output = self.output(command);
        assert_eq!(output.status.code(), Some(1));
        assert!(!self.path("called").exists(), "clang was called");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.matches('\n').count(), 1, "{stderr}");
        stderr.strip_prefix("midflight: error: ").unwrap().to_string()
    }

    fn for_compiler(&self, options: &str) -> Vec<OsString> {
        let mut plugin = OsString::from("-fpass-plugin=");
        plugin.push(self.path("lib/midflight/llvm-22/libmidflight.so"));
        let mut words = vec!["--start-no-unused-arguments".into(), plugin];
        words.extend(["-Xclang", "-mllvm", "-Xclang"].map(OsString::from));
        words.push(format!("-midflight={options}").into());
        words.extend(LINES.map(OsString::from));
        words.push("--end-no-unused-arguments".into());
        words
    }
}

fn position(words: &[OsString], word: impl AsRef<OsStr>) -> Option<usize> {
    words.iter().position(|w| w == word.as_ref())
}

/// What makes clang keep track of lines, of which it writes nothing.
const LINES: [&str; 4] = ["-Xclang", "-opt-record-format", "-Xclang", "yaml"];

/// No option for debug information is added to a command line.
fn leaves_debug_information_alone(words: &[OsString], line: &str) -> bool {
    let levels = words.iter().filter(|word| word.as_bytes().starts_with(b"-g"));
    levels.eq(line.split_whitespace().filter(|word| word.starts_with("-g")))
}

#[test]
fn the_users_arguments_stay_together_between_what_is_added() {
    let installed = Installed::new();
    let words = installed.of("midflight cc -O2 -o x x.c -lm");
    let front = installed.for_compiler("stage=early;strip-lines");
    assert_eq!(words[0], "clang-22");
    assert_eq!(words[1..=front.len()], front);
    let rest = &words[1 + front.len()..];
    assert_eq!(rest[..5], ["-O2", "-o", "x", "x.c", "-lm"]);
    let archive = installed.path("lib/midflight/libmidflight_rt.a");
    let place = position(rest, &archive).expect("the runtime is linked");
    assert_eq!(rest[place - 1], "-Xlinker");
    assert!(position(rest, "--export-dynamic-symbol=midflight_enter").is_some());
    assert_eq!(rest.last().unwrap(), "--end-no-unused-arguments");
}

#[test]
fn all_names_of_the_compiler_do_the_same() {
    let installed = Installed::new();
    let expected = installed.of("midflight cc -c x.c");
    assert_eq!(installed.of("midflight-cc -c x.c"), expected);
    let expected = installed.of("midflight c++ -c x.cc");
    assert_eq!(expected[0], "clang++-22");
    assert_eq!(installed.of("midflight-c++ -c x.cc"), expected);
}

#[test]
fn own_options_reach_the_plugin_and_not_clang() {
    let installed = Installed::new();
    installed.file("list", "main\n");
    let line = "midflight cc -c --midflight-k=8 x.c --midflight-stage=late \
                --midflight-functions=@list";
    let words = installed.of(line);
    let list = installed.path("list").display().to_string();
    let front = installed.for_compiler(&format!("stage=late;k=8;functions={list};strip-lines"));
    assert_eq!(words[1..=front.len()], front);
    assert_eq!(words[1 + front.len()..3 + front.len()], ["-c", "x.c"]);
    let mut command = installed.command("midflight-cc");
    let command = command.env("MIDFLIGHT_CC_OPTIONS", "--midflight-k=2 --midflight-stage=late");
    installed.output(command.args(["-c", "x.c", "--midflight-k=3"]));
    assert!(position(&installed.called(), "-midflight=stage=late;k=3;strip-lines").is_some());
}

#[test]
fn osr_passes_take_the_place_of_the_profiler_and_switch_the_marker_on() {
    let installed = Installed::new();
    let words = installed.of("midflight cc --midflight-osr-fuzz=max-points=9;mem2reg -c x.c");
    let options = "-midflight=osr-fuzz;stage=early;max-points=9;mem2reg";
    assert!(position(&words, options).is_some(), "{words:?}");
    assert!(position(&words, "-DMIDFLIGHT_OSR=1") < position(&words, "x.c"));
    assert!(position(&words, "-DMIDFLIGHT_OSR=1").is_some());
    let words = installed.of("midflight cc --midflight-osr-point=when=flag x.o -o x");
    assert_eq!(position(&words, "-DMIDFLIGHT_OSR=1"), None, "nothing is compiled");
    for symbol in ["hit", "fuel", "arm", "disarm", "count", "register", "unregister"] {
        let export = format!("--export-dynamic-symbol=midflight_osr_{symbol}");
        assert!(position(&words, &export).is_some(), "{symbol}");
    }
    assert_eq!(position(&installed.of("midflight cc -c x.c"), "-DMIDFLIGHT_OSR=1"), None);
    let mut command = installed.command("midflight-cc");
    let command = command.args(["-c", "x.c", "--midflight-osr-fuzz", "--midflight-osr-point"]);
    assert!(installed.complaint(command).contains("exclude each other"));
}

#[test]
fn llvm_19_loads_the_plugin_before_it_reads_its_options() {
    let installed = Installed::new();
    let words = installed.of("midflight cc --midflight-llvm=19 -c x.c");
    assert_eq!(words[0], "clang-19");
    let mut plugin = OsString::from("-fplugin=");
    plugin.push(installed.path("lib/midflight/llvm-19/libmidflight.so"));
    assert!(position(&words, &plugin) < position(&words, "-mllvm"));
    assert!(position(&words, &plugin).is_some());
}

#[test]
fn calls_that_neither_compile_nor_link_are_left_as_they_are() {
    let installed = Installed::new();
    for line in ["-v", "--version", "--help", "-print-file-name=crt1.o", "-dumpmachine", "-###"] {
        assert_eq!(installed.of(&format!("midflight cc {line}")), ["clang-22", line]);
    }
    assert_eq!(installed.of("midflight cc"), ["clang-22"]);
    let words = installed.of("midflight cc -r x.o -o y.o");
    assert_eq!(words, ["clang-22", "-r", "x.o", "-o", "y.o"]);
    let words = installed.of("midflight cc x.h -o x.pch");
    assert_eq!(position(&words, "-Xlinker"), None, "to clang that is an input to be linked");
    let words = installed.of("midflight cc -c x.s");
    assert_eq!(position(&words, "-opt-record-format"), None, "there is nothing to compile");
}

#[test]
fn libraries_stand_behind_the_runtime_that_needs_them() {
    let installed = Installed::new();
    let words = installed.of("midflight cc -nostdlib x.o -lc");
    let archive = position(&words, installed.path("lib/midflight/libmidflight_rt.a")).unwrap();
    assert_eq!(words[archive + 1..archive + 3], ["-Xlinker", "-lc"]);
}

#[test]
fn debug_information_is_left_to_clang_which_keeps_track_of_lines() {
    let installed = Installed::new();
    for line in ["x.c", "-g x.c", "-g0 x.c", "-gdwarf-4 x.c", "x.bc", "--midflight-osr-fuzz x.c"] {
        let words = installed.of(&format!("midflight cc -c {line}"));
        assert!(leaves_debug_information_alone(&words, line), "{line}: {words:?}");
        assert!(words.windows(4).any(|four| four == LINES), "{line}: {words:?}");
    }
}

#[test]
fn the_format_of_remarks_is_the_users() {
    let installed = Installed::new();
    installed.file("options", "-fsave-optimization-record=bitstream -c x.c");
    let words = installed.of("midflight cc @options");
    let format = position(&words, "-opt-record-format").unwrap();
    assert_eq!(words[format + 2], "bitstream", "also in a response file");
    assert!(position(&words, "@options").is_some(), "which clang reads itself");
}

#[test]
fn behind_two_dashes_is_nothing_but_inputs() {
    let installed = Installed::new();
    let words = installed.of("midflight cc -o x -- --midflight-k=0 x.c");
    let dashes = position(&words, "--").unwrap();
    assert_eq!(words[dashes..], ["--", "--midflight-k=0", "x.c"]);
    assert!(position(&words, "--undefined=midflight_image").unwrap() < dashes);
    assert_eq!(installed.of("midflight cc -- x.c").last().unwrap(), "x.c");
}

#[test]
fn arguments_are_bytes() {
    let installed = Installed::new();
    let odd = OsStr::from_bytes(b"-D\xff='a b\"'\n$x");
    let mut command = installed.command("midflight-cc");
    installed.output(command.args([odd, OsStr::new(""), OsStr::new("x.c")]));
    assert!(position(&installed.called(), odd).is_some());
    assert!(position(&installed.called(), "").is_some());
}

#[test]
fn clang_takes_over_the_process() {
    let installed = Installed::new();
    let mut command = installed.command("midflight-cc");
    let status = installed.output(command.arg("x.c").env("FAKE_CLANG", "exit 42")).status;
    assert_eq!(status.code(), Some(42));
    let mut command = installed.command("midflight-cc");
    let status = installed.output(command.arg("x.c").env("FAKE_CLANG", "kill -KILL $$")).status;
    assert_eq!(status.signal(), Some(9));
}

#[test]
fn the_command_line_is_shown_as_a_shell_reads_it() {
    let installed = Installed::new();
    let mut command = installed.command("midflight-cc");
    command.args(["--midflight-verbose", "-DX=it's 1;2", "x.c"]);
    let output = installed.output(&mut command);
    let called = installed.called();
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(line.contains(r"'-DX=it'\''s 1;2'"), "{line}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &line]).env("CALLED", installed.path("called"));
    installed.output(&mut shell);
    assert_eq!(installed.called(), called);
}

#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let installed = Installed::new();
    let complain = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = installed.command("midflight-cc");
        installed.complaint(command.args(words).envs(variables.iter().copied()))
    };
    let text = complain(&["x.c", "--midflight-llvm=21"], &[]);
    assert!(text.contains("plugin for LLVM 21") && text.contains("make build"), "{text}");
    let text = complain(&["x.c"], &[("MIDFLIGHT_LIB_DIR", "/nowhere")]);
    assert!(text.contains("'/nowhere'") && text.contains("make build"), "{text}");
    let text = complain(&["x.c", "--midflight-clang=/nowhere/clang"], &[]);
    assert!(text.contains("running '/nowhere/clang'"), "{text}");
    let text = complain(&["x.c"], &[("MIDFLIGHT_CC_OPTIONS", "--midflight-k=65")]);
    assert!(text.contains("from 1 to 64"), "{text}");
    std::fs::remove_file(installed.path("lib/midflight/libmidflight_rt.a")).unwrap();
    let text = complain(&["x.c"], &[]);
    assert!(text.contains("libmidflight_rt.a") && text.contains("make build"), "{text}");
}

#[test]
fn a_clang_that_is_given_is_one_and_brings_its_plugin() {
    let installed = Installed::new();
    let script = |says: &str| {
        let answer = format!("if [ \"$1\" = --version ]; then {says}; exit; fi\nprintf");
        CLANG.replacen("printf", &answer, 1)
    };
    let given = |name: &str, says: &str| {
        installed.program(name);
        std::fs::write(installed.path(name), script(says)).unwrap();
        format!("--midflight-clang={}", installed.path(name).display())
    };
    let older = given("given/older", "echo Debian clang version 19.1.7; echo more");
    let words = installed.of(&format!("midflight cc {older} -c x.c"));
    assert_eq!(words[0], "older");
    let mut plugin = OsString::from("-fpass-plugin=");
    plugin.push(installed.path("lib/midflight/llvm-19/libmidflight.so"));
    assert!(position(&words, &plugin).is_some(), "that of its version: {words:?}");
    let complain = |words: &[&str]| {
        installed.complaint(installed.command("midflight-cc").args(words).args(["-c", "x.c"]))
    };
    let text = complain(&[&older, "--midflight-llvm=22"]);
    assert!(text.contains("older' is clang 19, and --midflight-llvm=22 asks"), "{text}");
    let text = complain(&[&given("given/newer", "echo clang version 99.0.0git")]);
    assert!(text.contains("the plugin for LLVM 99: there is none"), "{text}");
    let text = complain(&[&given("given/gcc", "echo 'gcc (Debian) 12.2.0'")]);
    assert!(text.contains("gcc' is none: to --version it says 'gcc (Debian) 12.2.0'"), "{text}");
    let text = complain(&[&given("given/yes", "yes")]);
    assert!(text.contains("yes' is none: to --version it says 'y'"), "{text}");
    let text = complain(&["--midflight-clang=/bin/true"]);
    assert!(text.contains("'/bin/true' is none"), "{text}");
}

#[test]
fn what_never_ends_is_not_read() {
    let installed = Installed::new();
    let pipe = installed.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.display();
    for (option, needle) in [
        (format!("--midflight-functions=@{pipe}"), "it is a device or a pipe, and must be a file"),
        ("--midflight-functions=@/dev/zero".into(), "it is a device or a pipe, and must be a file"),
        (format!("--midflight-use={pipe}"), "it is a device or a pipe, and must be a file"),
        ("--midflight-use=/dev/urandom".into(), "it is a device or a pipe, and must be a file"),
        ("@/dev/zero".into(), "reading the response file '/dev/zero': it does not end"),
    ] {
        let mut command = installed.command("midflight-cc");
        let text = installed.complaint(command.args([&option, "-c", "x.c"]));
        assert!(text.contains(needle), "{option}: {text}");
    }
}

#[test]
fn a_plain_clang_is_taken_if_it_is_of_the_right_version() {
    let installed = Installed::new();
    // No Debian has this one, so the machine's own are not found.
    std::fs::rename(
        installed.path("lib/midflight/llvm-19"),
        installed.path("lib/midflight/llvm-18"),
    )
    .unwrap();
    let mut command = installed.command("midflight-cc");
    let command = command.args(["--midflight-llvm=18", "x.c"]).env("PATH", installed.path("path"));
    let text = installed.complaint(command);
    assert!(text.contains("apt-get install clang-18"), "{text}");
    installed.program("path/clang");
    let script = CLANG.replace("22.1.8", "18.1.0");
    std::fs::write(installed.path("path/clang"), script).unwrap();
    let words = installed.of("midflight-cc --midflight-llvm=18 -c x.c");
    assert_eq!(words[0], "clang");
}

#[test]
fn it_works_from_a_prefix_too() {
    let installed = Installed::new();
    std::fs::create_dir(installed.path("bin")).unwrap();
    std::fs::rename(installed.path("midflight"), installed.path("bin/midflight")).unwrap();
    std::fs::create_dir(installed.path("elsewhere")).unwrap();
    symlink("../bin/midflight", installed.path("elsewhere/midflight-cc")).unwrap();
    let words = installed.of("elsewhere/midflight-cc x.c");
    let archive = installed.path("lib/midflight/libmidflight_rt.a");
    assert!(position(&words, &archive).is_some());
}

#[test]
fn what_is_read_from_standard_input_is_compiled_and_linked() {
    let installed = Installed::new();
    let words = installed.of("midflight cc -x c - -o x");
    let place = position(&words, "-x").unwrap();
    assert_eq!(words[place..place + 5], ["-x", "c", "-", "-o", "x"]);
    assert!(position(&words, "-opt-record-format").is_some(), "it is compiled");
    // With -x all inputs behind it are source; the archive must not become one.
    let archive = position(&words, installed.path("lib/midflight/libmidflight_rt.a")).unwrap();
    assert_eq!(words[archive - 1], "-Xlinker");
}

#[test]
fn a_shared_library_is_linked_with_the_runtime() {
    let installed = Installed::new();
    let words = installed.of("midflight cc -shared -fPIC x.o -o libx.so");
    assert!(position(&words, installed.path("lib/midflight/libmidflight_rt.a")).is_some());
    assert_eq!(words[1..6], ["-shared", "-fPIC", "x.o", "-o", "libx.so"]);
}

#[test]
fn the_runtime_is_asked_for_where_there_is_a_libc_for_it() {
    let installed = Installed::new();
    let asks = |line| position(&installed.of(line), "--undefined=midflight_image").is_some();
    assert!(asks("midflight cc x.o -o x") && asks("midflight cc -shared x.o -o libx.so"));
    assert!(!asks("midflight cc -nostdlib x.o -o x"));
}

#[test]
fn what_may_be_unused_is_marked_so() {
    let installed = Installed::new();
    for line in ["-E x.c", "-M x.c", "-c x.c", "-S x.c", "-fsyntax-only x.c"] {
        let words = installed.of(&format!("midflight cc {line}"));
        let place = position(&words, line.split_once(' ').unwrap().0).unwrap();
        let own: Vec<_> = words[1..place].iter().chain(&words[place + 2..]).collect();
        // Blocks of own arguments, with nothing outside of them.
        let mut inside = false;
        for word in own {
            match word.to_str() {
                Some("--start-no-unused-arguments") => inside = true,
                Some("--end-no-unused-arguments") => inside = false,
                _ => assert!(inside, "{line}: {word:?}"),
            }
        }
        assert!(!inside, "{line}");
    }
}
