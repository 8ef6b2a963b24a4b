//! The machines that programs are built for and run on.

use crate::process::Job;
use std::path::Path;

/// A machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Machine {
    /// The one that the harness runs on
    #[default]
    Host,
    /// AArch64, in QEMU, with Debian's libraries for it
    Aarch64,
}

/// Flags for AArch64. Programs find Debian's libraries by themselves: with its option -L, QEMU
/// would lead `/` to the folder that these are in, and files that programs make would be below
/// that.
const FOR_AARCH64: [&str; 5] = [
    "--target=aarch64-linux-gnu",
    "--start-no-unused-arguments",
    "-Wl,--dynamic-linker=/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
    "-Wl,-rpath,/usr/aarch64-linux-gnu/lib",
    "--end-no-unused-arguments",
];

impl Machine {
    /// Flags with which clang compiles and links for it.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Machine::Host => &[],
            Machine::Aarch64 => &FOR_AARCH64,
        }
    }

    /// The folder below `target` with what is built for it.
    pub fn folder(self) -> &'static str {
        match self {
            Machine::Host => "",
            Machine::Aarch64 => "aarch64",
        }
    }

    /// The folder below that one with the plugins and the runtime library for it.
    pub fn library(self) -> &'static str {
        match self {
            Machine::Host => "release/lib/midflight",
            Machine::Aarch64 => "lib/midflight",
        }
    }

    /// Runs a program that was built for it.
    pub fn job(self, program: &Path) -> Job {
        match self {
            Machine::Host => Job::new(program),
            Machine::Aarch64 => qemu().arg(program),
        }
    }

    /// The same with a stack of so many KiB.
    pub fn job_with_stack(self, program: &Path, kib: u64) -> Job {
        match self {
            Machine::Host => Job::new("sh")
                .args(["-c", &format!("ulimit -s {kib} && exec \"$0\" \"$@\"")])
                .arg(program),
            Machine::Aarch64 => qemu().args(["-s", &(kib << 10).to_string()]).arg(program),
        }
    }
}

fn qemu() -> Job {
    Job::new("qemu-aarch64")
}
