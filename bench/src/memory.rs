//! How much memory the runtime of a profiled program may take.

use crate::process::Job;
use std::fmt::{Display, Formatter};

/// What all threads may take together.
const OF_PROCESS: &str = "MIDFLIGHT_MAX_MEMORY";

/// What the sequences of a thread may take.
const OF_THREAD: &str = "MIDFLIGHT_THREAD_MEMORY";

/// Memory of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// What the harness's own environment says, or the default
    AsGiven,
    /// What a user gets who says nothing
    Default,
    /// This for a thread, as in 128K
    Thread(String),
    /// This for a thread, and for all: nothing is to be dropped
    All(String),
}

impl Memory {
    /// Room for whatever the programs of the corpus count in tests.
    pub fn ample() -> Memory {
        Memory::All("8G".to_string())
    }

    /// Gives a run so much. Both variables are there whatever is said, since a program may look at
    /// its environment; an empty one says nothing.
    pub fn give(&self, job: Job) -> Job {
        let given = |name| std::env::var(name).unwrap_or_default();
        let (process, thread) = match self {
            Memory::AsGiven => (given(OF_PROCESS), given(OF_THREAD)),
            Memory::Default => (String::new(), String::new()),
            Memory::Thread(size) => (String::new(), size.clone()),
            Memory::All(size) => (size.clone(), size.clone()),
        };
        job.env(OF_PROCESS, process).env(OF_THREAD, thread)
    }
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Memory::AsGiven => f.write_str("as given"),
            Memory::Default => f.write_str("default"),
            Memory::Thread(size) | Memory::All(size) => f.write_str(size),
        }
    }
}

impl std::str::FromStr for Memory {
    type Err = String;

    /// `default`, or a size for each thread.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(['K', 'M', 'G']);
        let is_size = digits.parse::<u64>().is_ok() && text.len() - digits.len() <= 1;
        match text {
            "default" => Ok(Memory::Default),
            _ if is_size => Ok(Memory::Thread(text.to_string())),
            _ => Err("memory is 'default' or a size, as in 500000, 128K, 8M or 1G".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_variables_are_always_there() {
        let said = |memory: Memory| memory.give(Job::new("x")).command_line();
        assert_eq!(
            said(Memory::Thread("8M".to_string())),
            "MIDFLIGHT_MAX_MEMORY='' MIDFLIGHT_THREAD_MEMORY=8M x"
        );
        assert_eq!(said(Memory::Default), "MIDFLIGHT_MAX_MEMORY='' MIDFLIGHT_THREAD_MEMORY='' x");
        assert_eq!(said(Memory::ample()), "MIDFLIGHT_MAX_MEMORY=8G MIDFLIGHT_THREAD_MEMORY=8G x");
    }

    #[test]
    fn sizes_are_those_that_the_runtime_reads() {
        assert_eq!("128K".parse(), Ok(Memory::Thread("128K".to_string())));
        assert_eq!("default".parse(), Ok(Memory::Default));
        for wrong in ["", "K", "1KK", "1T", "-1", "lots"] {
            assert!(wrong.parse::<Memory>().is_err(), "{wrong}");
        }
    }
}
