//! `midflight osr report` with an `opt` that is a script: it writes down what it was asked, and
//! leaves a file as the plugin would.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod large;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// What a plugin may have found in a small module.
pub const FOUND: &str = include_str!("found.json");

/// `found.json` is where the plugin's parameter says; FAULT says what goes wrong.
const OPT: &str = r#"#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$@" >"$here/asked"
eval "$FAULT"
cp "$here/result.json" found.json
"#;

/// Clang makes an empty output, and writes down its arguments.
const CLANG: &str = r#"#!/bin/sh
printf '%s\n' "$@" >"$(dirname "$0")/compiled"
while [ "$1" != -o ]; do shift; done
eval "$FAULT"
: >"$2"
"#;

/// A folder with a module, programs, and a plugin that nothing loads.
pub struct Fixture {
    pub folder: TempDir,
}

impl Fixture {
    /// One in which the plugin finds this.
    pub fn new(found: &str) -> Self {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        for folder in ["lib/llvm-19", "lib/llvm-22", "bin"] {
            std::fs::create_dir_all(fixture.path(folder)).unwrap();
        }
        let ends = ["lib/llvm-19/libmidflight.so", "lib/llvm-22/libmidflight.so"];
        for name in ends.into_iter().chain(["lib/libmidflight_rt.a"]) {
            fixture.write(name, b"");
        }
        for (name, script) in [
            ("bin/opt-22", OPT),
            ("bin/opt-19", OPT),
            ("bin/clang-22", CLANG),
            ("bin/clang++-22", CLANG),
        ] {
            fixture.write(name, script.as_bytes());
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(fixture.path(name), mode).unwrap();
        }
        fixture.write("bin/result.json", found.as_bytes());
        fixture.write("x.bc", b"BC\xc0\xde");
        fixture
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `midflight osr report`.
    pub fn run(&self, arguments: &[&str], fault: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        Command::new(env!("CARGO_BIN_EXE_midflight"))
            .args(["osr", "report"])
            .args(arguments)
            .current_dir(self.folder.path())
            .env("MIDFLIGHT_LIB_DIR", self.path("lib"))
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("FAULT", fault)
            .output()
            .unwrap()
    }

    /// What a run that goes well prints.
    pub fn printed(&self, line: &str) -> String {
        let output = self.run(&line.split_whitespace().collect::<Vec<_>>(), "");
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one line that a run complains with.
    pub fn complaint(&self, line: &str, fault: &str) -> String {
        let output = self.run(&line.split_whitespace().collect::<Vec<_>>(), fault);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {text}");
        assert!(output.stdout.is_empty(), "{line}");
        let complaint = text.lines().last().unwrap_or_default();
        assert!(complaint.starts_with("midflight: error: "), "{text}");
        complaint.into()
    }

    /// What opt or clang was asked, an argument a line.
    pub fn asked(&self, what: &str) -> Vec<String> {
        self.read(&format!("bin/{what}")).lines().map(String::from).collect()
    }
}
