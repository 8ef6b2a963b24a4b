//! `midflight vm`: its help teaches, it starts the environment of an LLVM, and says what is
//! missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// An installation for LLVM 22 and 19, whose environment prints its name and its arguments.
fn installed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("libmidflight_rt.a"), "").unwrap();
    for llvm in [19, 22] {
        let own = folder.path().join(format!("llvm-{llvm}"));
        fs::create_dir(&own).unwrap();
        fs::write(own.join("libmidflight.so"), "").unwrap();
        let program = own.join("midflight-vm");
        fs::write(&program, format!("#!/bin/sh\necho {llvm} \"$@\"\nexit 3\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_midflight"))
        .args(arguments.split_whitespace())
        .env("MIDFLIGHT_LIB_DIR", folder)
        .output()
        .unwrap()
}

#[test]
fn the_newest_environment_is_started_or_the_one_that_is_asked_for() {
    let folder = installed();
    for (arguments, said) in [
        ("vm", "22\n"),
        ("vm --llvm 19", "19\n"),
        ("vm --midflight-llvm=19 x.mf", "19 ./x.mf\n"),
        ("vm /tmp/x.mf", "22 /tmp/x.mf\n"),
        ("vm -- --help", "22 ./--help\n"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{arguments}");
        assert_eq!(output.status.code(), Some(3), "its status is that of the command");
    }
}

#[test]
fn help_teaches() {
    let output = run(Path::new("/does/not/exist"), "vm --help");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    for needle in ["midflight vm SCRIPT", "--llvm", "insert isord", "`help`", "docs/vm.md"] {
        assert!(text.contains(needle), "{needle}: {text}");
    }
}

#[test]
fn a_missing_environment_is_one_clear_error() {
    let folder = installed();
    fs::remove_file(folder.path().join("llvm-22/midflight-vm")).unwrap();
    for (arguments, needle) in [
        ("vm", "llvm-22/midflight-vm'; run `make build`"),
        ("vm --llvm 18", "looking for the plugin for LLVM 18: there is none in"),
    ] {
        let output = run(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text.starts_with("midflight: error: looking for") && text.contains(needle),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
