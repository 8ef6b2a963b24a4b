//! `scripts/need.sh`, on systems that are made of a few programs: what it installs, and what it
//! says.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder that is all of `PATH`.
struct System {
    folder: TempDir,
}

/// Writes down what it is called with; what it installs is a cargo of the version in the file
/// `debian`.
const APT_GET: &str = "echo \"$@\" >>\"$HERE/calls\"\n\
    case $* in *cargo-web*)\n\
        echo \"echo cargo 1.$(cat \"$HERE/debian\").0\" >\"$HERE/cargo\" && chmod +x \"$HERE/cargo\" ;;\n\
    esac";

/// Knows the files of packages, and those of `installed` as packages.
const DPKG_QUERY: &str = "case $1 in\n\
    -S) grep -qx \"$2\" \"$HERE/packaged\" ;;\n\
    -W) grep -qx \"$4\" \"$HERE/installed\" && printf installed ;;\n\
    esac";

impl System {
    /// With apt-get, run by root, where nothing is installed.
    fn new() -> System {
        let system = System { folder: tempfile::tempdir().unwrap() };
        for tool in ["cat", "chmod", "dirname", "env", "grep", "readlink", "sed", "sh"] {
            let found = ["/usr/bin", "/bin"].map(|dir| PathBuf::from(dir).join(tool));
            symlink(found.iter().find(|path| path.exists()).unwrap(), system.path(tool)).unwrap();
        }
        for (name, text) in [("packaged", ""), ("installed", ""), ("debian", "96\n")] {
            std::fs::write(system.path(name), text).unwrap();
        }
        system.program("apt-get", APT_GET);
        system.program("dpkg-query", DPKG_QUERY);
        system.program("id", "echo 0");
        system
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        std::fs::write(self.path(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn need(&self, words: &[&str]) -> Output {
        // Run by the shell: what was just written may still be open in another thread's child.
        Command::new("/bin/sh")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/need.sh"))
            .args(words)
            .env_clear()
            .env("PATH", self.path(""))
            .env("HERE", self.path(""))
            .output()
            .unwrap()
    }

    /// What was installed, if it succeeds.
    fn installs(&self, words: &[&str]) -> Option<String> {
        let _ = std::fs::remove_file(self.path("calls"));
        let output = self.need(words);
        assert!(output.status.success(), "{output:?}");
        let calls = std::fs::read_to_string(self.path("calls")).ok()?;
        let (update, install) = calls.split_once('\n').unwrap();
        assert_eq!(update, "update -q");
        let packages = install.trim_end().strip_prefix("install -y -q --no-install-recommends ");
        Some(packages.expect("packages are installed").to_string())
    }

    /// The one line that it says, if it fails without installing anything.
    fn complains(&self, words: &[&str]) -> String {
        let output = self.need(words);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(!self.path("calls").exists(), "something was installed");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        text
    }
}

const RUST: &str = "rustc-web cargo-web ca-certificates";

#[test]
fn a_bare_system_gets_debians_own_rust() {
    let system = System::new();
    assert_eq!(system.installs(&["g++"]), Some(format!("{RUST} g++")));
    std::fs::write(system.path("installed"), "g++\n").unwrap();
    assert_eq!(system.installs(&["g++"]), None, "all is there");
}

#[test]
fn a_cargo_that_is_new_enough_is_taken() {
    let system = System::new();
    system.program("cargo", "echo 'cargo 1.88.0 (873a06493 2025-05-10)'");
    assert_eq!(system.installs(&[]), None);
    assert_eq!(system.installs(&["g++", "make"]).as_deref(), Some("g++ make"));
}

#[test]
fn debians_old_rust_is_replaced() {
    let system = System::new();
    system.program("cargo", "echo 'cargo 1.65.0'");
    std::fs::write(system.path("packaged"), system.path("cargo").display().to_string()).unwrap();
    std::fs::write(system.path("installed"), "cargo-web\n").unwrap();
    assert_eq!(system.installs(&[]).as_deref(), Some(RUST), "though some is installed");
}

#[test]
fn an_old_rust_from_elsewhere_is_the_users_to_update() {
    let system = System::new();
    for script in ["echo 'cargo 1.87.0'", "echo 'no default toolchain' >&2; exit 1"] {
        system.program("cargo", script);
        let text = system.complains(&["g++"]);
        let parts = ["/cargo' is no cargo of 1.88 or later", "rustup update"];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn tools_that_are_there_need_no_package() {
    let system = System::new();
    system.program("cargo", "echo 'cargo 1.96.0'");
    system.program("rustfmt", "");
    let words = ["rustfmt:rustfmt-web", "cargo-clippy:rust-web-clippy"];
    assert_eq!(system.installs(&words).as_deref(), Some("rust-web-clippy"));
}

#[test]
fn where_nothing_can_be_installed_a_line_says_what_to_do() {
    let system = System::new();
    system.program("id", "echo 1000");
    assert!(system.complains(&["g++"]).contains("there is no sudo"));
    std::fs::remove_file(system.path("apt-get")).unwrap();
    assert!(system.complains(&["g++"]).contains("https://rustup.rs"));
    system.program("cargo", "echo 'cargo 1.96.0'");
    assert!(system.complains(&["g++"]).contains("not installed: g++"));
}

#[test]
fn a_debian_without_such_a_rust_is_told() {
    let system = System::new();
    std::fs::write(system.path("debian"), "85\n").unwrap();
    let output = system.need(&[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("Debian's cargo is 1.85"), "{text}");
    let system = System::new();
    system.program("apt-get", "[ \"$1\" = update ]");
    let output = system.need(&[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("bookworm-security"), "{text}");
}
