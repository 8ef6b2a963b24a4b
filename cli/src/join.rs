//! Binaries and profiles, joined: each profiled function with its table.
//!
//! Nothing is shown that does not fit: a profile names the images that it was made from by
//! signatures of their tables, each function by a hash of its table, and each sequence of paths
//! must be one that the function's graph allows.

use crate::binary::{BinaryError, Image};
use crate::input;
use crate::names::readable;
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{
    FLAG_WENT_ON, FunctionProfile, MemoryState, MergeError, Module, Profile, ReadError,
};
use midflight_profile::table::{
    ForestMismatch, FunctionTable, Loc, NumberingError, Path, PathDecoder, PathEnd,
};
use midflight_profile::visible;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

/// Why binaries and profiles cannot be shown together.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// A binary cannot be used.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// A profile cannot be read.
    #[error("reading the profile '{path}': {error}")]
    Unreadable {
        /// The file
        path: String,
        /// Why
        error: std::io::Error,
    },
    /// A profile is no good one.
    #[error("reading the profile '{path}': {error}")]
    BadProfile {
        /// The file
        path: String,
        /// Why
        error: ReadError,
    },
    /// Two profiles do not go together.
    #[error("adding the profile '{path}' to those before it: {error}")]
    Merge {
        /// The file
        path: String,
        /// Why
        error: MergeError,
    },
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
    /// A function of a profile is not in its image.
    #[error(
        "matching the profile with '{binary}': it has no function with key {key:016x}, though the \
         signatures agree; the profile is damaged"
    )]
    NoFunction {
        /// The binary
        binary: String,
        /// The function
        key: u64,
    },
    /// A function's table makes no sense.
    #[error("reading the path table of function '{function}': {error}")]
    BadTable {
        /// The function
        function: String,
        /// Why
        error: NumberingError,
    },
    /// A function's forest is not one of its graph.
    #[error("matching the profile of function '{function}' with its table: {error}")]
    BadForest {
        /// The function
        function: String,
        /// Why
        error: ForestMismatch,
    },
}

/// A function with what was counted in it.
pub struct Function<'a> {
    /// Its table
    pub table: &'a FunctionTable,
    /// Turns IDs into paths
    pub decoder: PathDecoder,
    /// What was counted; none if it never ran
    pub profile: Option<&'a FunctionProfile>,
}

impl Function<'_> {
    /// Activations begun.
    pub fn entries(&self) -> u64 {
        self.profile.map_or(0, |p| p.entries)
    }

    /// The k-SF.
    pub fn forest(&self) -> Option<&PrefixForest> {
        self.profile.map(|p| &p.forest)
    }

    /// The path of an ID.
    pub fn path(&self, id: u32) -> Option<Path> {
        self.decoder.decode(id)
    }

    /// k of the function's profile.
    pub fn k(&self) -> u32 {
        self.table.k
    }

    /// True if no sequence was lost for want of memory.
    pub fn is_whole(&self) -> bool {
        self.profile.is_none_or(|p| p.restarts | p.lost | p.pruned == 0)
    }

    /// Instructions on a path.
    pub fn instructions(&self, path: &Path) -> u64 {
        self.size_of(path.blocks.iter().copied()).0
    }

    /// The instructions in some blocks, and whether one of them calls a function.
    pub fn size_of(&self, blocks: impl IntoIterator<Item = u32>) -> (u64, bool) {
        let blocks = blocks.into_iter().filter_map(|b| self.table.blocks.get(b as usize));
        blocks.fold((0, false), |(size, calls), block| {
            (size + u64::from(block.instructions), calls | block.calls)
        })
    }

    /// How often each acyclic path was taken, by ID, ascending.
    pub fn acyclic(&self) -> Vec<(u32, u64)> {
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        if let Some(forest) = self.forest() {
            // A k-SF counts each event at exactly one node, so the sum over a label is the label's.
            for node in forest.ids() {
                *counts.entry(forest.label(node)).or_default() += forest.count(node);
            }
        }
        let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.sort_unstable();
        counts
    }

    /// Activations that ended: paths that end at an exit.
    pub fn completed(&self) -> u64 {
        let ends = self.acyclic().into_iter().filter(|(id, _)| {
            self.path(*id).is_some_and(|path| matches!(path.end, PathEnd::Exit(_)))
        });
        ends.map(|(_, count)| count).sum()
    }

    /// Activations that began and did not end. Behind a second return of `setjmp` more may end than
    /// began; none is interrupted then.
    pub fn interrupted(&self) -> u64 {
        self.entries().saturating_sub(self.completed())
    }

    /// True if its name, or its demangled name, contains this.
    pub fn is_named(&self, part: &str) -> bool {
        let name = &self.table.name;
        name.contains(part) || readable(name).contains(part)
    }

    /// The first line of a block in the function's own file; 0 if it has none.
    pub fn line_of(&self, block: u32) -> u32 {
        self.locs_of(block).first().map_or(0, |loc| loc.outer_line)
    }

    /// The last line of a block in the function's own file, that of its branch; 0 if it has none.
    pub fn last_line_of(&self, block: u32) -> u32 {
        self.locs_of(block).last().map_or(0, |loc| loc.outer_line)
    }

    fn locs_of(&self, block: u32) -> &[Loc] {
        self.table.blocks.get(block as usize).map_or(&[], |block| &block.locs)
    }

    /// The file that the function is declared in, as debug information names it.
    pub fn file(&self) -> &str {
        self.table.files.get(self.table.file as usize).map_or("", String::as_str)
    }
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

/// Reads a profile file: an ordinary one, or that of a program that counts in it, which was killed
/// or still runs.
///
/// # Errors
/// If it cannot be read or is no good profile.
pub fn read_profile(path: &FilePath) -> Result<Profile, JoinError> {
    let name = path.display().to_string();
    let unreadable = |error| JoinError::Unreadable { path: name.clone(), error };
    let bad = |error| JoinError::BadProfile { path: name.clone(), error };
    let mut attempt = 0;
    loop {
        let bytes = input::read(path).map_err(unreadable)?;
        let result = Profile::read(&bytes).map_err(bad);
        let Some(before) = MemoryState::of(&bytes) else { return result };
        let after = input::read(path).map_err(unreadable)?;
        let is_at_rest = before.begun == before.ended && MemoryState::of(&after) == Some(before);
        attempt += 1;
        if is_at_rest && result.is_ok() || attempt == ATTEMPTS {
            let mut profile = result?;
            tell_state(&name, before);
            // What nothing has changed between two readings is of one moment.
            if bytes != after {
                profile.flags |= FLAG_WENT_ON;
            }
            return Ok(profile);
        }
        std::thread::sleep(PATIENCE);
    }
}

/// Tells on standard error that a program has not finished its profile.
fn tell_state(name: &str, state: MemoryState) {
    let process = state.process;
    let until = if state.is_frozen { ", and had no room for what it counted later" } else { "" };
    let name = visible(name);
    anstream::eprintln!(
        "midflight: '{name}' has what process {process} counted before it was killed, or has counted \
         so far{until}"
    );
}

/// A program that runs may change its file while it is read. It is read again then, and finally
/// taken as it is: so it stays where the program was killed in the middle of a change.
const ATTEMPTS: u32 = 40;
const PATIENCE: Duration = Duration::from_millis(2);

/// Reads profiles, each with a weight by which its counts are multiplied, and adds them up. `check`
/// sees each one before.
///
/// # Errors
/// If one cannot be read, does not go with those before it, or `check` refuses it.
pub fn read_profiles(
    inputs: &[(PathBuf, u64)],
    check: impl Fn(&FilePath, &Profile) -> Result<(), JoinError>,
    progress: &dyn Fn(u64),
) -> Result<Profile, JoinError> {
    let mut sum: Option<Profile> = None;
    for ((path, weight), done) in inputs.iter().zip(1..) {
        let mut profile = read_profile(path)?;
        check(path, &profile)?;
        profile.scale(*weight).map_err(|error| JoinError::Merge {
            path: path.display().to_string(),
            error: error.into(),
        })?;
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum
                .merge(&profile)
                .map_err(|error| JoinError::Merge { path: path.display().to_string(), error })?,
        }
        progress(done);
    }
    Ok(sum.unwrap_or_default())
}

/// A profile must be of one of the images, and of the same build of all of them.
fn check_build(images: &[Image], path: &FilePath, profile: &Profile) -> Result<(), JoinError> {
    let file_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let stale = |image: &&Image| {
        let name = file_name(&image.path.display().to_string());
        profile.modules.iter().any(|module| file_name(&module.name) == name)
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
    let path = FilePath::new(&module.name);
    // A profile may name anything: a pipe would never end.
    if !path.is_file() {
        return Err("is not there");
    }
    match Image::open(path) {
        Ok(image) if image.signature == module.signature => Ok(image),
        _ => Err("is another build now"),
    }
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

impl Session {
    /// Reads a binary, the libraries that go with it, and profiles. Libraries that the profiles
    /// name are read too, where they were loaded from, if they are what was loaded.
    ///
    /// # Errors
    /// [`JoinError`]
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
        let check = |path: &FilePath, profile: &Profile| check_build(&images, path, profile);
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
                    let functions = &self.profile.functions;
                    left_out.push((
                        module,
                        why,
                        functions.iter().filter(|f| f.module == index).count(),
                    ));
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
        let tables = self.images.iter().flat_map(|image| &image.tables);
        let known: rustc_hash::FxHashSet<&str> = tables.map(|table| table.name.as_str()).collect();
        let mut result = Skipped::new();
        for (name, reason) in self.images.iter().flat_map(|image| &image.skipped) {
            if !known.contains(name.as_str()) {
                result.entry(reason.clone()).or_default().push(readable(name));
            }
        }
        result
    }

    /// All functions of the images, in the order of their tables, with what was counted.
    ///
    /// # Errors
    /// If a function of the profile does not fit its table.
    pub fn functions(&self) -> Result<Vec<Function<'_>>, JoinError> {
        let mut result = Vec::new();
        for image in &self.images {
            let mut profiles = self.profiles_of(image)?;
            let mut seen = rustc_hash::FxHashSet::default();
            for table in image.tables.iter().filter(|t| seen.insert(t.key)) {
                let decoder = PathDecoder::new(table)
                    .map_err(|error| JoinError::BadTable { function: table.name.clone(), error })?;
                let profile = profiles.remove(&table.key);
                if let Some(profile) = profile {
                    table.check_forest(&profile.forest).map_err(|error| JoinError::BadForest {
                        function: table.name.clone(),
                        error,
                    })?;
                }
                result.push(Function { table, decoder, profile });
            }
        }
        Ok(result)
    }

    fn profiles_of(&self, image: &Image) -> Result<FxHashMap<u64, &FunctionProfile>, JoinError> {
        let mut profiles = FxHashMap::default();
        for function in &self.profile.functions {
            let of_image = self
                .profile
                .modules
                .get(function.module)
                .is_some_and(|module| module.signature == image.signature);
            if of_image {
                if !image.by_key.contains_key(&function.key) {
                    let binary = image.path.display().to_string();
                    return Err(JoinError::NoFunction { binary, key: function.key });
                }
                profiles.insert(function.key, function);
            }
        }
        Ok(profiles)
    }
}
