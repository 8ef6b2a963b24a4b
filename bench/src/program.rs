//! What a program of the corpus is: sources, flags, and work for it to do.

use crate::origin::Origin;

/// How heavy a program is to build, which decides where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Built in every test run
    Light,
    /// For `make bench` and `make nightly`
    Heavy,
}

/// A program of the corpus.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name
    pub name: &'static str,
    /// How heavy it is to build
    pub weight: Weight,
    /// Where its sources are
    pub origin: Origin,
    /// Source files, relative to the origin; `FOLDER/*.c` stands for all in a folder, and
    /// `PACKAGE:FILE` for a file of another package
    pub sources: &'static [&'static str],
    /// Files that a `*` finds and that are not wanted
    pub without: &'static [&'static str],
    /// A main program of the harness's own for a library, in `bench/corpus/drivers`
    pub driver: Option<&'static str>,
    /// Folders of headers, relative to the origin
    pub include: &'static [&'static str],
    /// Flags of the compiler
    pub flags: &'static [&'static str],
    /// Flags of the linker
    pub link: &'static [&'static str],
    /// What it is given to do, in three sizes
    pub work: Works,
}

/// The same work in three sizes.
#[derive(Clone, Copy, Debug)]
pub struct Works {
    /// For logs of every block: some 100,000 blocks
    pub tiny: Work,
    /// For tests: well under a second at -O0
    pub test: Work,
    /// For measurements: some seconds at -O2
    pub bench: Work,
}

/// Arguments of a run. In them `{text:N}` is a file with N bytes of C source, `{xml:N}` an XML file
/// with N elements, `{sql:N}` a script of N nested queries, `{work:NAME}` a file in
/// `bench/corpus/work`, `{source:PACKAGE/FILE}` one of a pinned package, and
/// `{debian:PACKAGE/FILE}` one of a source package of Debian.
pub type Work = &'static [&'static str];

/// Which size, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Size {
    /// [`Works::tiny`]
    Tiny,
    /// [`Works::test`]
    Test,
    /// [`Works::bench`]
    Bench,
}

impl Size {
    /// All, the least first.
    pub const ALL: [Size; 3] = [Size::Tiny, Size::Test, Size::Bench];
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Size::Tiny => "tiny",
            Size::Test => "test",
            Size::Bench => "bench",
        })
    }
}

impl Program {
    /// The arguments of a size.
    pub fn work(&self, size: Size) -> Work {
        match size {
            Size::Tiny => self.work.tiny,
            Size::Test => self.work.test,
            Size::Bench => self.work.bench,
        }
    }
}
