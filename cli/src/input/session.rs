//! Binaries and profiles, joined: each profiled function with its table.
//!
//! Nothing is shown that does not fit: a profile names the images that it was made from by
//! signatures of their tables, each function by a hash of its table, and each sequence of paths
//! must be one that the function's graph allows.

use crate::format::names::{base_name, readable};
use crate::input::binary::{BinaryError, Image};
use crate::input::file::Unreadable;
use crate::input::function::Function;
use crate::input::profiles::read_profiles;
use midflight_profile::format::{FunctionProfile, MergeError, Module, Profile, ReadError};
use midflight_profile::table::{ForestMismatch, NumberingError, PathDecoder};
use midflight_profile::visible;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Why binaries and profiles cannot be shown together.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// A binary cannot be used.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// A profile cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A profile is no good one.
    #[error("reading the profile '{0}': {1}")]
    BadProfile(String, ReadError),
    /// Two profiles do not go together.
    #[error("adding the profile '{0}' to those before it: {1}")]
    Merge(String, MergeError),
    /// None of a profile's images is given, or a given one is not in any profile.
    #[error(
        "matching the profile '{profile}' with '{binary}' (signature {signature:016x}): the \
         profile was made by another build ({modules}); give the binary that wrote it"
    )]
    OtherBuild {
        /// The profile
        profile: String,
        /// The binary
        binary: String,
        /// Its signature
        signature: u64,
        /// The profile's modules with their signatures
        modules: String,
    },
    /// An image has no function with this key, which a profile has.
    #[error(
        "matching the profile with '{0}': it has no function with key {1:016x}, though the \
         signatures agree; the profile is damaged"
    )]
    NoFunction(String, u64),
    /// Contexts of a function have another number of call sites than its table.
    #[error(
        "matching the profile of function '{0}' with its table: its contexts have {1} call sites, \
         and it has {2}; the profile is damaged"
    )]
    Slots(String, u32, usize),
    /// A function's table makes no sense.
    #[error("reading the path table of function '{0}': {1}")]
    BadTable(String, NumberingError),
    /// A function's forest is not one of its graph.
    #[error("matching the profile of function '{0}' with its table: {1}")]
    BadForest(String, ForestMismatch),
}

/// The functions that are not profiled, by the reason.
pub type Skipped = std::collections::BTreeMap<String, Vec<String>>;

/// What a command works on.
pub struct Session {
    /// The binaries
    pub images: Vec<Image>,
    /// The profiles, added up
    pub profile: Profile,
}

impl Session {
    /// Reads a binary, the libraries that go with it, and profiles. Libraries that the profiles
    /// name are read too, where they were loaded from, if they are what was loaded.
    pub fn open(
        binaries: &[PathBuf],
        profiles: &[PathBuf],
        progress: &dyn Fn(u64),
    ) -> Result<Self, JoinError> {
        let mut images: Vec<Image> = Vec::new();
        for binary in binaries {
            let image = Image::open(binary)?;
            // The same image twice has nothing new to say.
            if images.iter().all(|known| known.signature != image.signature) {
                images.push(image);
            }
        }
        let check = |path: &Path, profile: &Profile| check_build(&images, path, profile);
        let inputs: Vec<(PathBuf, u64)> = profiles.iter().map(|path| (path.clone(), 1)).collect();
        let profile = read_profiles(&inputs, check, progress)?;
        let mut session = Session { images, profile };
        session.check_binary(profiles)?;
        session.open_modules();
        Ok(session)
    }

    /// The binary itself, the first of the images, must have run.
    fn check_binary(&self, profiles: &[PathBuf]) -> Result<(), JoinError> {
        let Some(image) = self.images.first() else { return Ok(()) };
        if self.profile.modules.is_empty() || has_module(&self.profile, image) {
            return Ok(());
        }
        let names: Vec<String> = profiles.iter().map(|p| p.display().to_string()).collect();
        Err(other_build(&names.join(", "), &self.profile, image))
    }

    /// Reads the images that the profile names and that were not given, where they were loaded
    /// from, and says in one line which of them are missing.
    fn open_modules(&mut self) {
        let mut left_out: Vec<(&Module, &str, usize)> = Vec::new();
        for (index, module) in self.profile.modules.iter().enumerate() {
            if self.images.iter().any(|image| image.signature == module.signature) {
                continue;
            }
            match loaded(module) {
                Ok(image) => self.images.push(image),
                Err(why) => {
                    left_out.push((module, why, functions_of(&self.profile, index)));
                }
            }
        }
        if !left_out.is_empty() {
            // Nobody to tell if standard error is closed.
            let _ = writeln!(std::io::stderr(), "{}", left_out_line(&left_out));
        }
    }

    /// Which functions were left alone when they were compiled, by the name of the reason. What is
    /// instrumented in one of the images was not.
    pub fn skipped(&self) -> Skipped {
        let mut known: FxHashSet<&str> = FxHashSet::default();
        for image in &self.images {
            known.extend(image.tables.iter().map(|table| table.name.as_str()));
            known.extend(image.contexts.iter().map(|table| table.name.as_str()));
        }
        let mut result = Skipped::new();
        for (name, reason) in self.images.iter().flat_map(|image| &image.skipped) {
            if !known.contains(name.as_str()) {
                result.entry(reason.clone()).or_default().push(readable(name));
            }
        }
        result
    }

    /// All functions of the images, in the order of their tables, with what was counted of paths.
    /// Where only calling contexts were, a note says so.
    ///
    /// # Errors
    /// If a function of the profile does not fit its table.
    pub fn functions(&self) -> Result<Vec<Function<'_>>, JoinError> {
        if self.has_only_contexts() {
            tell_no_paths();
        }
        let mut result = Vec::new();
        for image in &self.images {
            let mut profiles = self.profiles_of(image)?;
            let mut seen = FxHashSet::default();
            for table in image.tables.iter().filter(|t| seen.insert(t.key)) {
                let decoder = PathDecoder::new(table)
                    .map_err(|error| JoinError::BadTable(table.name.clone(), error))?;
                let profile = profiles.remove(&table.key);
                if let Some(profile) = profile {
                    let bad = |error| JoinError::BadForest(table.name.clone(), error);
                    table.check_forest(&profile.forest).map_err(bad)?;
                }
                result.push(Function { table, decoder, profile });
            }
        }
        Ok(result)
    }

    fn profiles_of(&self, image: &Image) -> Result<FxHashMap<u64, &FunctionProfile>, JoinError> {
        let mut profiles = FxHashMap::default();
        let keys: FxHashSet<u64> = image.tables.iter().map(|table| table.key).collect();
        let modules = &self.profile.modules;
        let is_of_image = |function: &&FunctionProfile| {
            modules.get(function.module).is_some_and(|m| m.signature == image.signature)
        };
        for function in self.profile.functions.iter().filter(is_of_image) {
            if !keys.contains(&function.key) {
                let binary = image.path.display().to_string();
                return Err(JoinError::NoFunction(binary, function.key));
            }
            profiles.insert(function.key, function);
        }
        Ok(profiles)
    }
}

/// A profile must be of one of the images, and of the same build of all of them.
fn check_build(images: &[Image], path: &Path, profile: &Profile) -> Result<(), JoinError> {
    let stale = |image: &&Image| {
        let path = image.path.display().to_string();
        profile.modules.iter().any(|module| base_name(&module.name) == base_name(&path))
    };
    let (known, unknown): (Vec<&Image>, Vec<&Image>) =
        images.iter().partition(|image| has_module(profile, image));
    let none = known.is_empty() && !profile.modules.is_empty();
    match unknown.iter().find(|image| none || stale(image)) {
        Some(image) => Err(other_build(&path.display().to_string(), profile, image)),
        None => Ok(()),
    }
}

fn has_module(profile: &Profile, image: &Image) -> bool {
    profile.modules.iter().any(|module| module.signature == image.signature)
}

fn other_build(profile_name: &str, profile: &Profile, image: &Image) -> JoinError {
    let modules: Vec<String> = profile
        .modules
        .iter()
        .map(|m| format!("'{}' with signature {:016x}", m.name, m.signature))
        .collect();
    JoinError::OtherBuild {
        profile: profile_name.into(),
        binary: image.path.display().to_string(),
        signature: image.signature,
        modules: modules.join(", "),
    }
}

/// The image of a module, from where the program has loaded it; or why it cannot be shown.
fn loaded(module: &Module) -> Result<Image, &'static str> {
    let path = Path::new(&module.name);
    // A profile may name anything: a pipe would never end.
    if !path.is_file() {
        return Err("is not there");
    }
    match Image::open(path) {
        Ok(image) if image.signature == module.signature => Ok(image),
        _ => Err("is another build now"),
    }
}

/// Says, once, that what is told of paths is nothing.
fn tell_no_paths() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        // Nobody to tell if standard error is closed.
        let _ = writeln!(
            std::io::stderr(),
            "midflight: note: there are calling contexts in the profile, and no paths; `midflight report \
             --contexts` shows them"
        );
    });
}

/// How many functions of a module there are in a profile.
fn functions_of(profile: &Profile, module: usize) -> usize {
    let called = profile.contexts.iter().flat_map(|contexts| contexts.functions());
    let modules = profile.functions.iter().map(|f| f.module).chain(called.map(|f| f.module));
    modules.filter(|&of| of == module).count()
}

/// Modules that are named in a note, at most.
const NAMED: usize = 3;

/// One line on images that are not shown, those with the most functions first.
fn left_out_line(left_out: &[(&Module, &str, usize)]) -> String {
    let functions: usize = left_out.iter().map(|(_, _, functions)| functions).sum();
    let (plural, are) = if functions == 1 { ("", "is") } else { ("s", "are") };
    let mut sorted: Vec<&(&Module, &str, usize)> = left_out.iter().collect();
    sorted.sort_by_key(|(module, _, functions)| (std::cmp::Reverse(*functions), &module.name));
    let named = sorted.iter().take(NAMED);
    let mut names: Vec<String> =
        named.map(|(module, why, _)| format!("'{}' {why}", visible(&module.name))).collect();
    let more = left_out.len().saturating_sub(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let (images, them) = match left_out.len() {
        1 => ("1 image".to_string(), "it"),
        number => (format!("{number} images"), "them"),
    };
    format!(
        "midflight: note: {functions} function{plural} of {images} {are} not shown: {}; give {them} with \
         --library",
        names.join(", ")
    )
}
