//! Where the programs of compilers' test suites come from.
//!
//! Each program ends by itself, with status 0 if what compiled it did so rightly. Nothing of them
//! is in the checkout.

use crate::debian::{self, SourcePackage, packages};
use crate::error::{Error, Result, io};
use crate::layout::Layout;
use std::path::{Path, PathBuf};

/// A test suite.
pub struct Suite {
    /// Its name
    pub name: &'static str,
    package: SourcePackage,
    /// What its verdicts were gathered on; another version may have other programs.
    version: &'static str,
    /// Folders of the package with their programs' endings, and what a program must have in its
    /// text
    folders: &'static [(&'static str, &'static str, &'static str)],
    /// Flags of the compiler
    flags: &'static [&'static str],
}

/// GCC's programs that run: they abort if they find something wrong.
const GCC: Suite = Suite {
    name: "gcc",
    package: SourcePackage {
        name: "gcc-12",
        only: &["*/gcc-*-dfsg.tar.xz"],
        prepare: &[
            "echo '50c63ff82919323c25fbbb4a9eae259edc974118a0fb30c905190cb782ec11c2  \
             gcc-12.2.0-dfsg.tar.xz' | sha256sum --check --quiet",
            "tar -xf gcc-12.2.0-dfsg.tar.xz --strip-components=3 --wildcards \
             '*/testsuite/gcc.c-torture/execute' '*/testsuite/gcc.dg/torture' \
             '*/testsuite/g++.dg/torture'",
            "rm gcc-12.2.0-dfsg.tar.xz",
        ],
    },
    version: "12.2.0",
    folders: &[
        ("gcc.c-torture/execute", "c", ""),
        ("gcc.c-torture/execute/ieee", "c", ""),
        ("gcc.dg/torture", "c", "{ dg-do run }"),
        ("g++.dg/torture", "C", "{ dg-do run }"),
    ],
    flags: &["-lm"],
};

/// The Tiny C Compiler's: they print what they find.
const TCC: Suite = Suite {
    name: "tcc",
    package: packages::TCC,
    version: "0.9.27+git20200814.62c30a4a",
    folders: &[("tests/tests2", "c", "")],
    flags: &["-lm", "-pthread"],
};

/// All of them.
pub const SUITES: [Suite; 2] = [GCC, TCC];

/// A program of a suite: one source file.
#[derive(Clone, Debug)]
pub struct Test {
    /// Suite, and path in it
    pub name: String,
    /// The file
    pub source: PathBuf,
    /// Flags of the compiler
    pub flags: Vec<String>,
}

impl Suite {
    /// Fetches its programs; none, and a line that says why, if they are not available.
    ///
    /// # Errors
    /// If what was fetched cannot be used.
    pub fn tests(&self, layout: &Layout) -> Result<Vec<Test>> {
        match debian::fetch(layout, &self.package) {
            Ok(version) if version == self.version => self.list(layout),
            Ok(version) => {
                println!("{}: skipped: it is {version}, and not {}", self.name, self.version);
                Ok(Vec::new())
            }
            Err(Error::Missing { what, .. }) => {
                println!("{}: skipped: {what}", self.name);
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self, layout: &Layout) -> Result<Vec<Test>> {
        let root = debian::folder(layout, &self.package);
        let mut tests = Vec::new();
        for &(folder, ending, mark) in self.folders {
            let folder = root.join(folder);
            let files = std::fs::read_dir(&folder).map_err(io("listing", &folder))?;
            for file in files.flatten().map(|entry| entry.path()) {
                if file.extension().is_some_and(|e| e == ending) {
                    tests.extend(self.test(&root, file, mark)?);
                }
            }
        }
        tests.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tests)
    }

    /// The program of a file, if it has the mark.
    fn test(&self, root: &Path, source: PathBuf, mark: &str) -> Result<Option<Test>> {
        // Some have bytes that are no text.
        let text = crate::error::read(&source)?;
        let text = String::from_utf8_lossy(&text);
        let path = source.strip_prefix(root).unwrap_or(&source);
        Ok(text.contains(mark).then(|| Test {
            name: format!("{}/{}", self.name, path.display()),
            flags: flags(self, &source, &text),
            source: source.clone(),
        }))
    }
}

/// Most programs are of times before C99. Those with options of their own ask for what they need.
fn flags(suite: &Suite, source: &Path, text: &str) -> Vec<String> {
    let is_c = source.extension().is_some_and(|ending| ending == "c");
    let standard = if is_c { ["-std=gnu89"].as_slice() } else { &["-lstdc++"] };
    let common = ["-w"].iter().chain(standard).chain(suite.flags).map(|flag| flag.to_string());
    common.chain(own_options(text)).collect()
}

/// What a program wants in `{ dg-options "…" }`, but for options that concern GCC's own passes.
fn own_options(text: &str) -> Vec<String> {
    let is_meant = |option: &&str| {
        ["-std=", "-fwrapv", "-fno-strict", "-fsigned", "-funsigned", "-D", "-fexceptions"]
            .iter()
            .any(|start| option.starts_with(start))
    };
    let lines = text.lines().filter_map(|line| {
        let (_, options) = line
            .split_once("{ dg-options \"")
            .or_else(|| line.split_once("{ dg-additional-options \""))?;
        options.split_once("\" }").map(|(options, _)| options)
    });
    lines.flat_map(str::split_whitespace).filter(is_meant).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_options_that_change_what_they_mean() {
        let text = "/* { dg-do run } */\n/* { dg-options \"-O3 -std=gnu11 -fwrapv -fdump-tree-x\" } */\n\
                    // { dg-additional-options \"-DSIZE=8\" { target { x86 } } }\n";
        assert_eq!(own_options(text), ["-std=gnu11", "-fwrapv"]);
    }
}
