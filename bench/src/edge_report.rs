//! `midflight show --edges --format json`: edge counts that were recovered from path counts.

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::process::Job;
use serde::Deserialize;
use std::path::Path;

/// The report of a binary and its profile.
#[derive(Clone, Debug, Deserialize)]
pub struct EdgeReport {
    /// Version of the schema
    pub version: u32,
    /// The functions
    pub functions: Vec<FunctionEdges>,
}

/// Edges of a function.
#[derive(Clone, Debug, Deserialize)]
pub struct FunctionEdges {
    /// Its name
    pub name: String,
    /// Identity of its record, in hex
    pub key: String,
    /// Activations begun
    pub entries: u64,
    /// Activations whose last path was counted
    pub completed: u64,
    /// Activations whose last path was not
    pub interrupted: u64,
    /// Edges in the order of the record
    pub edges: Vec<EdgeCount>,
}

/// An edge and its counts.
#[derive(Clone, Debug, Deserialize)]
pub struct EdgeCount {
    /// Source block
    pub from: u32,
    /// Target block; none if paths end for good
    pub to: Option<u32>,
    /// `flow`, `exit`, or why it was cut
    pub kind: String,
    /// Paths through it, or that it ended
    pub count: u64,
    /// Of a cut edge: paths that began after it
    pub started: Option<u64>,
}

/// Asks the command.
///
/// # Errors
/// If it fails, or says what cannot be understood.
pub fn edge_report(layout: &Layout, binary: &Path, profile: &Path) -> Result<EdgeReport> {
    let outcome = Job::new(layout.midflight()?)
        .args(["show", "--edges", "--format", "json"])
        .args([binary, profile])
        .expect_success()?;
    parse(&outcome.stdout)
}

fn parse(json: &[u8]) -> Result<EdgeReport> {
    serde_json::from_slice(json).map_err(|error| Error::Malformed {
        what: "the output of 'midflight show --edges'".to_string(),
        problem: error.to_string(),
    })
}
