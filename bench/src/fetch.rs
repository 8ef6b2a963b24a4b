//! Fetching the packages that carry the corpus's sources, and copying them to where they are built.

use crate::error::{Error, Result, io, write};
use crate::layout::Layout;
use crate::process::Job;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// Name of the file in a copied package whose first line says which version it is of.
pub const STAMP: &str = ".version";

/// The version of a package that was copied to a folder.
pub fn version(folder: &Path) -> Option<String> {
    Some(fs::read_to_string(folder.join(STAMP)).ok()?.lines().next()?.to_string())
}

/// Makes sure that the sources of these packages are in [`Layout::sources`], in the pinned
/// versions.
///
/// # Errors
/// If cargo cannot fetch them, or they cannot be copied.
pub fn fetch(layout: &Layout, packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let manifest = layout.corpus().join("Cargo.toml");
    let outcome = Job::new("cargo")
        .args(["metadata", "--locked", "--format-version=1", "--manifest-path"])
        .arg(&manifest)
        .limit(600)
        .expect_success()?;
    let metadata: Metadata =
        serde_json::from_slice(&outcome.stdout).map_err(|error| Error::Malformed {
            what: "what 'cargo metadata' says of the corpus".to_string(),
            problem: error.to_string(),
        })?;
    for name in packages {
        let package = metadata.packages.iter().find(|p| p.name == *name);
        let package = package.ok_or_else(|| Error::Missing {
            what: format!("the corpus needs the package '{name}'"),
            remedy: format!("add it to '{}'", manifest.display()),
        })?;
        copy_package(layout, package)?;
    }
    Ok(())
}

fn copy_package(layout: &Layout, package: &Package) -> Result<()> {
    let to = layout.sources().join(&package.name);
    let stamp = to.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|version| version == package.version) {
        return Ok(());
    }
    if to.exists() {
        fs::remove_dir_all(&to).map_err(io("removing the old", &to))?;
    }
    let from = package.manifest_path.parent().unwrap_or(Path::new("."));
    copy_tree(from, &to)?;
    write(&stamp, package.version.as_bytes())
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(io("making the folder", to))?;
    for entry in fs::read_dir(from).map_err(io("listing", from))? {
        let entry = entry.map_err(io("listing", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(io("copying", &source))?;
        }
    }
    Ok(())
}
