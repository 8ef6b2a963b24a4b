//! The file of weights that `path-profile-use` reads, and finding functions in it.

use crate::input;
use midflight_profile::table::Stage;
use midflight_profile::weights::{FunctionWeights, WEIGHTS_VERSION, Weights};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// A file that was read.
pub struct WeightsFile {
    /// When in the pipeline the functions were instrumented
    pub stage: Stage,
    /// Major version of the LLVM that compiled the functions; 0 if it is not known
    pub llvm: u8,
    /// The file
    pub path: String,
    functions: Vec<FunctionWeights>,
    /// Indices of the functions of a name and unit
    by_name: FxHashMap<(String, String), Vec<usize>>,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// It cannot be read.
    #[error("reading the weights '{path}': {error}")]
    Unreadable {
        /// The file
        path: String,
        /// Why
        error: std::io::Error,
    },
    /// It is something else, or damaged.
    #[error(
        "reading the weights '{path}': it is not a file of weights ({error}); make one with \
         `midflight export --to weights`"
    )]
    Malformed {
        /// The file
        path: String,
        /// What is wrong
        error: serde_json::Error,
    },
    /// Another version wrote it.
    #[error(
        "reading the weights '{path}': it has version {found}, and this Midflight reads version \
         {WEIGHTS_VERSION}; export it anew"
    )]
    Version {
        /// The file
        path: String,
        /// Its version
        found: u32,
    },
}

/// What a file says of a function.
pub enum Found<'a> {
    /// Its counts.
    Counts(&'a FunctionWeights),
    /// It was there with another control flow graph.
    OtherGraph,
    /// It was not there, or not instrumented.
    Unknown,
}

impl WeightsFile {
    /// Reads a file. In a process each file is read once.
    ///
    /// # Errors
    /// [`WeightsError`]
    pub fn read(path: &str) -> Result<Arc<Self>, WeightsError> {
        static KNOWN: Mutex<Option<(String, Arc<WeightsFile>)>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, file)) = known.as_ref().filter(|(name, _)| name == path) {
            return Ok(file.clone());
        }
        let name = || path.to_string();
        let text =
            input::read(path).map_err(|error| WeightsError::Unreadable { path: name(), error })?;
        let weights: Weights = serde_json::from_slice(&text)
            .map_err(|error| WeightsError::Malformed { path: name(), error })?;
        if weights.version != WEIGHTS_VERSION {
            return Err(WeightsError::Version { path: name(), found: weights.version });
        }
        let file = Arc::new(Self::new(path, weights));
        *known = Some((name(), file.clone()));
        Ok(file)
    }

    fn new(path: &str, weights: Weights) -> Self {
        let mut by_name: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (index, function) in weights.functions.iter().enumerate() {
            by_name.entry((function.name.clone(), function.unit.clone())).or_default().push(index);
        }
        let Weights { stage, llvm, functions, .. } = weights;
        Self { stage, llvm, path: path.to_string(), functions, by_name }
    }

    /// The function of a name and unit with that graph.
    pub fn find(&self, name: &str, unit: &str, cfg_hash: u64) -> Found<'_> {
        let hash = FunctionWeights::hash_text(cfg_hash);
        let Some(indices) = self.by_name.get(&(name.to_string(), unit.to_string())) else {
            return Found::Unknown;
        };
        let mut functions = indices.iter().map(|&index| &self.functions[index]);
        functions
            .find(|function| function.cfg_hash == hash)
            .map_or(Found::OtherGraph, Found::Counts)
    }

    /// The counts of all functions: that of entries, and those of blocks that are no entries.
    pub fn all_counts(&self) -> impl Iterator<Item = (u64, &[u64])> {
        self.functions.iter().map(|f| (f.entries, f.blocks.get(1..).unwrap_or_default()))
    }
}
