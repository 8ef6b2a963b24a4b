//! Where things are: the checkout, what was built from it, and the harness's own folders.

use crate::error::{Error, Result};
use crate::machine::Machine;
use std::path::{Path, PathBuf};

/// Folders of a checkout. All paths are absolute.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The checkout
    pub root: PathBuf,
    /// What programs are built for and run on
    pub machine: Machine,
}

impl Layout {
    /// Finds the checkout that a folder lies in.
    ///
    /// # Errors
    /// [`Error::Missing`] if it lies in none.
    pub fn find(from: &Path) -> Result<Layout> {
        let root = from.ancestors().find(|dir| dir.join("bench/corpus/Cargo.toml").is_file());
        match root {
            Some(root) => Ok(Layout { root: root.to_path_buf(), machine: Machine::Host }),
            None => Err(Error::Missing {
                what: format!("looking for the checkout: '{}' is not in one", from.display()),
                remedy: "run this in the checkout, or give --root".to_string(),
            }),
        }
    }

    /// A path inside the checkout.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// What belongs to the corpus and is committed: drivers, scripts, pins.
    pub fn corpus(&self) -> PathBuf {
        self.at("bench/corpus")
    }

    /// Fetched sources, one folder a package.
    pub fn sources(&self) -> PathBuf {
        self.at("target/corpus/src")
    }

    /// Inputs of workloads that were made.
    pub fn data(&self) -> PathBuf {
        self.at("target/corpus/data")
    }

    /// Where the harness builds and runs.
    pub fn work(&self) -> PathBuf {
        self.target().join("bench")
    }

    /// Where there is what is built for the machine.
    fn target(&self) -> PathBuf {
        self.at("target").join(self.machine.folder())
    }

    /// The plugins and the runtime library for the machine, as the command looks for them.
    pub fn library(&self) -> PathBuf {
        self.target().join(self.machine.library())
    }

    /// The command under test.
    ///
    /// # Errors
    /// [`Error::Missing`] if it was not built.
    pub fn midflight(&self) -> Result<PathBuf> {
        self.built(self.at("target/release/midflight"))
    }

    /// The plugin for a version of LLVM.
    ///
    /// # Errors
    /// [`Error::Missing`] if it was not built.
    pub fn plugin(&self, llvm: u32) -> Result<PathBuf> {
        self.built(self.library().join(format!("llvm-{llvm}/libmidflight.so")))
    }

    /// The runtime library.
    ///
    /// # Errors
    /// [`Error::Missing`] if it was not built.
    pub fn runtime(&self) -> Result<PathBuf> {
        self.built(self.library().join("libmidflight_rt.a"))
    }

    fn built(&self, path: PathBuf) -> Result<PathBuf> {
        if path.is_file() {
            return Ok(path);
        }
        Err(Error::Missing {
            what: format!("'{}' is not built", path.display()),
            remedy: match self.machine {
                Machine::Host => "run 'make build LLVMS=\"22 19\"'".to_string(),
                Machine::Aarch64 => "run 'make aarch64'".to_string(),
            },
        })
    }
}
