//! `midflight-bench fingerprint`: checksums of all that is made of the corpus, to compare two
//! checkouts with.
//!
//! | what is made | by |
//! |---|---|
//! | emitted IR, with the remarks on it, of each source file | [`ways::emitted`] |
//! | what analyses print of each source file | [`ways::printed`] |
//! | the profile of each program's tiny work, and what the command makes of it | [`reports`] |
//!
//! A line of the text is the name of a piece and its checksum. Names have no path of the machine:
//! compilers run in the checkout, and see names relative to it.

pub mod reports;
pub mod ways;

use crate::build::{flags, sources};
use crate::error::{Error, Result, io, read};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::Job;
use crate::program::Program;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Emitted IR, and remarks
    Ir,
    /// What analyses print
    Prints,
    /// Profiles and reports
    Reports,
}

/// What to take checksums of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of what
    pub what: Vec<What>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
}

/// Checksums by the names of pieces.
pub type Sums = BTreeMap<String, String>;

/// A piece: its name, and what makes it.
pub struct Piece {
    name: String,
    job: Job,
}

/// Takes the checksums of all pieces of programs.
///
/// # Errors
/// If a tool is missing, or a compiler fails.
pub fn fingerprint(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<Sums> {
    let mut sums = Sums::new();
    for &llvm in &plan.llvm {
        for program in programs {
            eprintln!("taking checksums: {}, LLVM {llvm}", program.name);
            for file in sources(layout, program)? {
                sums.extend(of_file(layout, plan, program, llvm, &file)?);
            }
            if plan.what.contains(&What::Reports) {
                sums.extend(reports::of_program(layout, program, llvm)?);
            }
        }
    }
    Ok(sums)
}

fn of_file(
    layout: &Layout,
    plan: &Plan,
    program: &Program,
    llvm: u32,
    file: &Path,
) -> Result<Vec<(String, String)>> {
    let source = Source { layout, llvm, file, flags: own_flags(layout, program) };
    let mut pieces = Vec::new();
    if plan.what.contains(&What::Ir) {
        pieces.extend(ways::emitted(&source)?);
    }
    // Analyses read a module that no pass has seen.
    let folder = tempfile::tempdir().map_err(io("making a folder", std::env::temp_dir()))?;
    if plan.what.contains(&What::Prints) {
        let module = folder.path().join("module.bc");
        source
            .clang()?
            .args(["-O2", "-gline-tables-only", "-Xclang", "-disable-llvm-passes"])
            .args(["-emit-llvm", "-c"])
            .arg(source.name())
            .arg("-o")
            .arg(&module)
            .expect_success()?;
        pieces.extend(ways::printed(&source, &module)?);
    }
    let sum = |piece: &Piece| {
        let outcome = piece.job.expect_success()?;
        let name = format!("{} llvm{llvm} {}", source.name().display(), piece.name);
        Ok((name, checksum(&[&outcome.stdout, &outcome.stderr])))
    };
    pieces.par_iter().with_max_len(1).map(sum).collect()
}

/// A source file and how it is compiled.
pub struct Source<'a> {
    layout: &'a Layout,
    llvm: u32,
    file: &'a Path,
    flags: Vec<String>,
}

impl Source<'_> {
    /// Its name as compilers see it, relative to the checkout.
    fn name(&self) -> PathBuf {
        self.file.strip_prefix(&self.layout.root).unwrap_or(self.file).to_path_buf()
    }

    /// clang, with the flags of the file's program.
    fn clang(&self) -> Result<Job> {
        let clang = Job::new(tool("clang", self.llvm)?).args(&self.flags);
        Ok(clang.folder(&self.layout.root).limit(600))
    }
}

/// A program's flags, such that no name in debug information tells where the checkout is.
pub(crate) fn own_flags(layout: &Layout, program: &Program) -> Vec<String> {
    let mut flags = flags(layout, program);
    flags.push(format!("-ffile-prefix-map={}=.", layout.root.display()));
    flags
}

/// A checksum of some outputs, with their lengths.
pub(crate) fn checksum(outputs: &[&[u8]]) -> String {
    let sum = |bytes: &&[u8]| format!("{:08x}:{}", crc32fast::hash(bytes), bytes.len());
    outputs.iter().map(sum).collect::<Vec<_>>().join(" ")
}

/// As text: a line for each piece.
pub fn to_text(sums: &Sums) -> String {
    sums.iter().map(|(name, sum)| format!("{name} = {sum}\n")).collect()
}

/// Reads what [`to_text`] wrote.
///
/// # Errors
/// If the file cannot be read, or a line is not a name and a checksum.
pub fn read_sums(path: &Path) -> Result<Sums> {
    let text = String::from_utf8_lossy(&read(path)?).into_owned();
    let parse = |line: &str| {
        let pair = line.split_once(" = ");
        let pair = pair.ok_or_else(|| Error::Malformed {
            what: format!("the checksums in '{}'", path.display()),
            problem: format!("the line '{line}' is not a name and a checksum"),
        })?;
        Ok((pair.0.to_string(), pair.1.to_string()))
    };
    text.lines().map(parse).collect()
}

/// Prints how checksums differ, and a closing line. True if all are the same, and there are some.
pub fn compare(before: &Sums, after: &Sums) -> bool {
    let differences = differences(before, after);
    differences.iter().for_each(|difference| println!("differs: {difference}"));
    println!("fingerprint: {} pieces, {} differ", after.len(), differences.len());
    differences.is_empty() && !after.is_empty()
}

/// The names of pieces that differ, and how.
fn differences(before: &Sums, after: &Sums) -> Vec<String> {
    let other = |name: &String, sum: &String| match before.get(name) {
        Some(former) if former == sum => None,
        Some(former) => Some(format!("{name}: {sum}, before {former}")),
        None => Some(format!("{name}: is new")),
    };
    let lost = before.keys().filter(|name| !after.contains_key(*name));
    let lost = lost.map(|name| format!("{name}: is gone"));
    after.iter().filter_map(|(name, sum)| other(name, sum)).chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_was_written() {
        let sums = Sums::from([("a.c llvm22 k4".to_string(), checksum(&[b"x", b""]))]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), to_text(&sums)).unwrap();
        assert_eq!(read_sums(file.path()).unwrap(), sums);
    }

    #[test]
    fn what_is_other_new_or_gone_is_a_difference() {
        let sums = |pairs: &[(&str, &str)]| -> Sums {
            pairs.iter().map(|(name, sum)| (name.to_string(), sum.to_string())).collect()
        };
        let before = sums(&[("same", "1"), ("other", "1"), ("gone", "1")]);
        let after = sums(&[("same", "1"), ("other", "2"), ("new", "1")]);
        let found = differences(&before, &after);
        assert_eq!(found, ["new: is new", "other: 2, before 1", "gone: is gone"]);
    }
}
