//! Fetching Debian's source packages, with a configuration of apt of the harness's own.
//!
//! Where sources come from is read from the lists that the machine's own apt uses
//! ([`sources_list`]); neither these nor apt's state are touched. Only the upstream archive is
//! fetched, not Debian's patches.

pub mod packages;
mod sources_list;

use crate::error::{Error, Result, io, write};
use crate::fetch::STAMP;
use crate::layout::Layout;
use crate::process::{End, Job};
use std::fs;
use std::path::{Path, PathBuf};

/// A source package, and what makes it ready to be compiled from.
#[derive(Clone, Copy, Debug)]
pub struct SourcePackage {
    /// Its name in Debian
    pub name: &'static str,
    /// Patterns of the files that are unpacked; all if none
    pub only: &'static [&'static str],
    /// Commands for `sh` that run in its folder once it is unpacked
    pub prepare: &'static [&'static str],
}

/// Where packages are unpacked, side by side.
pub fn root(layout: &Layout) -> PathBuf {
    layout.at("target/corpus/debian")
}

/// The folder that a package is unpacked in.
pub fn folder(layout: &Layout, package: &SourcePackage) -> PathBuf {
    root(layout).join(package.name)
}

/// Makes sure that a package is unpacked and prepared; its version.
///
/// # Errors
/// [`Error::Missing`] if it is not available, which is for the caller to say and to go on; another
/// error if it cannot be prepared.
pub fn fetch(layout: &Layout, package: &SourcePackage) -> Result<String> {
    fetch_to(layout, package, &folder(layout, package))
}

/// As [`fetch`], in a folder of one's own.
///
/// # Errors
/// As for [`fetch`].
pub fn fetch_to(layout: &Layout, package: &SourcePackage, folder: &Path) -> Result<String> {
    let recipe = [package.only, package.prepare].concat().join("\n");
    if let Ok(stamp) = fs::read_to_string(folder.join(STAMP))
        && let Some((version, followed)) = stamp.split_once('\n')
        && followed == recipe
    {
        return Ok(version.to_string());
    }
    renew(folder)?;
    let downloads = layout.at("target/corpus/apt/downloads").join(package.name);
    let (archive, version) = download(layout, package.name, &downloads)?;
    unpack(&archive, package.only, folder)?;
    fs::remove_dir_all(&downloads).map_err(io("removing", &downloads))?;
    for command in package.prepare {
        Job::new("sh").args(["-c", command]).folder(folder).limit(900).expect_success()?;
    }
    write(&folder.join(STAMP), format!("{version}\n{recipe}").as_bytes())?;
    Ok(version)
}

/// Makes an empty folder.
fn renew(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(io("removing the old", folder))?;
    }
    fs::create_dir_all(folder).map_err(io("making the folder", folder))
}

/// The archive of a package, and its version.
fn download(layout: &Layout, name: &str, downloads: &Path) -> Result<(PathBuf, String)> {
    let base = layout.at("target/corpus/apt");
    configure(&base)?;
    renew(downloads)?;
    apt(&base, downloads, name, &["update"])?;
    apt(&base, downloads, name, &["source", "--tar-only", name])?;
    let archive = fs::read_dir(downloads)
        .map_err(io("listing", downloads))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find_map(|file| Some((downloads.join(&file), version_of(name, &file)?)));
    archive.ok_or_else(|| cannot_be_had(name, "apt fetched no '.orig.tar.*'"))
}

/// The version in the name of a package's archive, `NAME_VERSION.orig.tar.xz`.
fn version_of(name: &str, file: &str) -> Option<String> {
    let (version, end) = file.strip_prefix(name)?.strip_prefix('_')?.split_once(".orig.tar.")?;
    (!end.ends_with("asc")).then(|| version.to_string())
}

/// Writes the lists that apt is to use, and makes the folders of its state.
fn configure(base: &Path) -> Result<()> {
    let (name, text) = sources_list::of_this_machine()?;
    renew(&base.join("sources"))?;
    write(&base.join("sources").join(name), text.as_bytes())?;
    for folder in ["lists/partial", "cache/archives/partial"] {
        let folder = base.join(folder);
        fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    }
    Ok(())
}

fn apt(base: &Path, folder: &Path, name: &str, arguments: &[&str]) -> Result<()> {
    let set = |option: &str, path: &str| format!("-o{option}={}", base.join(path).display());
    let outcome = Job::new("apt-get")
        .args([
            "-oDir::Etc::sourcelist=/dev/null".to_string(),
            set("Dir::Etc::sourceparts", "sources"),
            set("Dir::State::lists", "lists"),
            set("Dir::Cache", "cache"),
            // As another user it could not write into the checkout.
            "-oAPT::Sandbox::User=root".to_string(),
        ])
        .args(arguments)
        .folder(folder)
        .limit(600)
        .run()
        .map_err(|error| cannot_be_had(name, &error.to_string()))?;
    if outcome.end == End::Exit(0) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&outcome.stderr);
    let problem = text.lines().find(|line| line.starts_with("E: ")).unwrap_or_default();
    Err(cannot_be_had(name, &format!("apt-get {}: {} {problem}", arguments[0], outcome.end)))
}

fn cannot_be_had(name: &str, problem: &str) -> Error {
    Error::Missing {
        what: format!("Debian's source package '{name}' cannot be had ({problem})"),
        remedy: "try again with a network and a release of Debian that has it".to_string(),
    }
}

fn unpack(archive: &Path, only: &[&str], folder: &Path) -> Result<()> {
    let list = Job::new("tar").arg("-tf").arg(archive).limit(600).expect_success()?;
    let levels = usize::from(has_one_folder(&String::from_utf8_lossy(&list.stdout)));
    let mut job = Job::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder);
    job = job.arg(format!("--strip-components={levels}"));
    job = job.arg("--wildcards").args(only).limit(600);
    job.expect_success()?;
    Ok(())
}

/// Whether all that an archive lists is in one folder, as it should be.
fn has_one_folder(list: &str) -> bool {
    let top = |line: &str| line.split_once('/').map(|(folder, _)| folder.to_string());
    let first = list.lines().next().and_then(top);
    first.is_some() && list.lines().all(|line| top(line) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_without_a_folder_of_its_own_is_known() {
        assert!(has_one_folder("x-1.0/\nx-1.0/a.c\nx-1.0/b/c.c\n"));
        assert!(!has_one_folder("a.c\nb/c.c\n"));
        assert!(!has_one_folder("x/a.c\ny/a.c\n"));
        assert!(!has_one_folder(""));
    }

    #[test]
    fn the_version_is_in_the_name_of_the_main_archive() {
        let version = |file| version_of("perl", file);
        assert_eq!(version("perl_5.36.0.orig.tar.xz"), Some("5.36.0".to_string()));
        assert_eq!(version("perl_5.36.0.orig-regen-configure.tar.xz"), None);
        assert_eq!(version("perl_5.36.0.orig.tar.xz.asc"), None);
        assert_eq!(version("perl-tk_804.036.orig.tar.gz"), None);
    }
}
