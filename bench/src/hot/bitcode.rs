//! From a source file to the bitcode of one of its functions.
//!
//! As in 5.4.1 of the thesis: what clang makes without optimization, and mem2reg. Only the mark
//! that forbids to optimize a function later is left off.

use crate::error::{Error, Result, io, write};
use crate::hot::count::{Size, count};
use crate::llvm::tool;
use crate::process::Job;
use std::fs;
use std::path::{Path, PathBuf};

/// What clang is to do; only definitions and headers are the program's own.
pub const FLAGS: [&str; 8] =
    ["-O0", "-Xclang", "-disable-O0-optnone", "-g0", "-w", "-c", "-emit-llvm", "-o"];

/// A function to extract.
pub struct Extraction<'a> {
    /// Version of LLVM
    pub llvm: u32,
    /// Where the compiler runs, which other paths of the program are relative to
    pub folder: &'a Path,
    /// The program's version, which decides whether an older result can stay
    pub version: &'a str,
    /// The source file
    pub file: &'a str,
    /// Flags of the compiler
    pub flags: &'a [&'a str],
    /// The function's name in LLVM
    pub symbol: &'a str,
    /// Where results go, without an extension
    pub output: PathBuf,
}

impl Extraction<'_> {
    /// Writes, unless they are there already: `.file.bc` with all functions of the source file,
    /// `.bc` with the one, `.ll` its text. Returns the function's size.
    ///
    /// # Errors
    /// If tools are missing or fail, or the function is not defined in the file.
    pub fn run(&self) -> Result<Size> {
        let jobs = self.jobs()?;
        let commands: Vec<String> = jobs.iter().map(Job::command_line).collect();
        let made = format!("{}\n{}\n", self.version, commands.join("\n"));
        let stamp = self.path("made");
        if !fs::read_to_string(&stamp).is_ok_and(|text| text == made) {
            let folder = self.output.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).map_err(io("making the folder", folder))?;
            for job in &jobs {
                job.expect_success()?;
            }
            let unoptimized = self.path("raw.bc");
            fs::remove_file(&unoptimized).map_err(io("removing", &unoptimized))?;
            write(&stamp, made.as_bytes())?;
        }
        let text = self.path("ll");
        let size = count(&fs::read_to_string(&text).map_err(io("reading", &text))?);
        if size.instructions == 0 {
            return Err(Error::Malformed {
                what: format!("the functions of '{}'", self.folder.join(self.file).display()),
                problem: format!("'{}' is declared there, but not defined", self.symbol),
            });
        }
        Ok(size)
    }

    fn jobs(&self) -> Result<[Job; 4]> {
        let tool = |name| Ok(Job::new(tool(name, self.llvm)?).folder(self.folder));
        let [raw, file, one, text] = ["raw.bc", "file.bc", "bc", "ll"].map(|end| self.path(end));
        Ok([
            tool("clang")?.args(FLAGS).arg(&raw).args(self.flags).arg(self.file),
            tool("opt")?.arg("-passes=mem2reg").arg(&raw).arg("-o").arg(&file),
            tool("llvm-extract")?
                .arg(format!("--func={}", self.symbol))
                .arg(&file)
                .arg("-o")
                .arg(&one),
            tool("llvm-dis")?.arg(&one).arg("-o").arg(&text),
        ])
    }

    fn path(&self, extension: &str) -> PathBuf {
        let mut path = self.output.clone().into_os_string();
        path.push(format!(".{extension}"));
        path.into()
    }
}
