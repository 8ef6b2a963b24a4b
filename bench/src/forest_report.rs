//! `midflight show --format json`: the k-IPF of each function.

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::process::Job;
use serde::Deserialize;
use std::path::Path;

/// The report of a binary and its profile.
#[derive(Clone, Debug, Deserialize)]
pub struct ForestReport {
    /// Version of the schema
    pub version: u32,
    /// Paths of up to k acyclic paths
    pub k: u32,
    /// The functions
    pub functions: Vec<FunctionPaths>,
}

/// Paths of a function.
#[derive(Clone, Debug, Deserialize)]
pub struct FunctionPaths {
    /// Its name
    pub name: String,
    /// The file that it is in
    pub file: String,
    /// The line that it is declared at
    pub line: u32,
    /// Identity of its record, in hex
    pub key: String,
    /// Activations begun
    pub entries: u64,
    /// Every node of the forest, as its path from the root
    pub paths: Vec<CyclicPath>,
}

impl FunctionPaths {
    /// The key as a number; 0 if it is none.
    pub fn key(&self) -> u64 {
        u64::from_str_radix(self.key.trim_start_matches("0x"), 16).unwrap_or(0)
    }
}

/// A sequence of acyclic paths.
#[derive(Clone, Debug, Deserialize)]
pub struct CyclicPath {
    /// IDs of the acyclic paths
    pub ids: Vec<u32>,
    /// How often the sequence occurred
    pub count: u64,
}

/// Asks the command.
///
/// # Errors
/// If it fails, or says what cannot be understood.
pub fn forest_report(layout: &Layout, binary: &Path, profile: &Path) -> Result<ForestReport> {
    let outcome = Job::new(layout.midflight()?)
        .args(["show", "--format", "json"])
        .args([binary, profile])
        .expect_success()?;
    serde_json::from_slice(&outcome.stdout).map_err(|error| Error::Malformed {
        what: "the output of 'midflight show'".to_string(),
        problem: error.to_string(),
    })
}
