//! The driver's own options: `--midflight-…`.

use crate::commands::cc::{DriverError, response};
use crate::input::file::Unreadable;
use midflight_abi::MAX_K;
use midflight_profile::table::{Stage, UnknownStage};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What the driver was told.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Sequences of up to so many paths; the plugin knows the default
    k: Option<u32>,
    /// When in the pipeline
    stage: Option<Stage>,
    /// `automaton` or `published`
    algorithm: Option<String>,
    /// The LLVM to use
    pub(crate) llvm: Option<u32>,
    /// The list of functions, absolute
    functions: Option<PathBuf>,
    /// The clang to use
    pub(crate) clang: Option<PathBuf>,
    /// Profile calling contexts
    pub(crate) contexts: bool,
    /// Count contexts in bursts
    bursts: bool,
    /// Take the times of contexts
    times: bool,
    /// Count the paths of each context
    context_paths: bool,
    /// What becomes of recursion: `levels` or `folded`
    recursion: Option<String>,
    /// What distinguishes calls: `sites` or `functions`
    granularity: Option<String>,
    /// Insert OSR points, in place of profiling, that can all be fired; with parameters of the pass
    osr_fuzz: Option<OsString>,
    /// Insert chosen OSR points, in place of profiling; with parameters of the pass
    osr_point: Option<OsString>,
    /// Insert OSR points between a function and its optimized version, in place of profiling; with
    /// the passes that make it, if they are given
    osr_opt: Option<OsString>,
    /// The weights to optimize for, in place of profiling; absolute
    pub(crate) weights: Option<PathBuf>,
    /// Print the command line
    pub(crate) verbose: bool,
}

impl Options {
    /// Takes the options out of a command line, after those in the text of `MIDFLIGHT_CC_OPTIONS`,
    /// and gives back what is left for clang.
    pub(crate) fn parse(
        from_environment: &OsStr,
        arguments: impl Iterator<Item = OsString>,
    ) -> Result<(Self, Vec<OsString>), DriverError> {
        let mut options = Options::default();
        for word in response::split(from_environment.as_bytes()) {
            options.take(&word)?;
        }
        let mut rest = Vec::new();
        let mut only_inputs = false;
        for argument in arguments {
            if !only_inputs && argument.as_bytes().starts_with(b"--midflight-") {
                options.take(&argument)?;
            } else {
                only_inputs |= argument == "--";
                rest.push(argument);
            }
        }
        if options.weights.is_some() {
            let others = [
                (options.osr_pass().is_some(), "osr-…"),
                (options.k.is_some(), "k"),
                (options.stage.is_some(), "stage"),
                (options.algorithm.is_some(), "algorithm"),
                (options.contexts, "contexts"),
                (options.functions.is_some(), "functions"),
            ];
            if let Some((_, other)) = others.into_iter().find(|(is_there, _)| *is_there) {
                return Err(DriverError::UseWith(other));
            }
        }
        if options.granularity.is_some() && !options.contexts {
            return Err(DriverError::Granularity);
        }
        if options.bursts && !options.contexts {
            return Err(DriverError::Bursts);
        }
        if options.times && !options.contexts {
            return Err(DriverError::Times);
        }
        if options.times && options.bursts {
            return Err(DriverError::TimesInBursts);
        }
        let has_automaton = options.algorithm.as_deref() != Some("published");
        if options.context_paths && !(options.contexts && options.k.is_some() && has_automaton) {
            return Err(DriverError::ContextPaths);
        }
        if options.context_paths && options.bursts {
            return Err(DriverError::ContextPathsInBursts);
        }
        if options.recursion.is_some() && !options.contexts {
            return Err(DriverError::Recursion);
        }
        if options.recursion.as_deref() == Some("folded") && options.bursts {
            return Err(DriverError::FoldedInBursts);
        }
        if options.recursion.as_deref() == Some("folded") && options.context_paths {
            return Err(DriverError::FoldedPaths);
        }
        match options.osr_pass() {
            Some(pass) if options.contexts => Err(DriverError::OsrWith("contexts", pass)),
            Some(pass) if options.k.is_some() => Err(DriverError::OsrWith("k", pass)),
            Some(pass) if options.algorithm.is_some() => {
                Err(DriverError::OsrWith("algorithm", pass))
            }
            _ => Ok((options, rest)),
        }
    }

    fn take(&mut self, argument: &OsStr) -> Result<(), DriverError> {
        let text = argument.to_string_lossy().into_owned();
        let bytes = argument.as_bytes();
        let split = bytes.iter().position(|&b| b == b'=').unwrap_or(bytes.len());
        let value = OsString::from_vec(bytes.get(split + 1..).unwrap_or_default().to_vec());
        let value_text = value.to_string_lossy();
        let bad = |why: String| DriverError::Value(text.clone(), why);
        match &bytes[..split] {
            b"--midflight-k" => match value_text.parse() {
                Ok(k) if (1..=MAX_K).contains(&k) => self.k = Some(k),
                _ => return Err(bad(format!("k must be a whole number from 1 to {MAX_K}"))),
            },
            b"--midflight-stage" => {
                let stage = value_text.parse();
                self.stage = Some(stage.map_err(|error: UnknownStage| bad(error.to_string()))?);
            }
            b"--midflight-algorithm" => match &*value_text {
                "automaton" | "published" => self.algorithm = Some(value_text.into_owned()),
                _ => return Err(bad("the algorithm must be automaton or published".into())),
            },
            b"--midflight-contexts" if split == bytes.len() => self.contexts = true,
            b"--midflight-bursts" if split == bytes.len() => self.bursts = true,
            b"--midflight-times" if split == bytes.len() => self.times = true,
            b"--midflight-context-paths" if split == bytes.len() => self.context_paths = true,
            b"--midflight-recursion" => match &*value_text {
                "levels" | "folded" => self.recursion = Some(value_text.into_owned()),
                _ => return Err(bad("recursion must be levels or folded".into())),
            },
            b"--midflight-granularity" => match &*value_text {
                "sites" | "functions" => self.granularity = Some(value_text.into_owned()),
                _ => return Err(bad("the granularity must be sites or functions".into())),
            },
            b"--midflight-llvm" => {
                let llvm = value_text.parse();
                self.llvm =
                    Some(llvm.map_err(|_| bad("the LLVM must be a major version, as 22".into()))?);
            }
            b"--midflight-functions" => {
                let path = value.as_bytes();
                let path = path.strip_prefix(b"@").unwrap_or(path);
                self.functions = Some(readable("the list of functions", path)?);
            }
            b"--midflight-use" => self.weights = Some(readable("the weights", value.as_bytes())?),
            b"--midflight-clang" => self.clang = Some(PathBuf::from(value)),
            b"--midflight-osr-fuzz" => self.osr_fuzz = Some(value),
            b"--midflight-osr-point" => self.osr_point = Some(value),
            b"--midflight-osr-opt" => self.osr_opt = Some(value),
            b"--midflight-verbose" if split == bytes.len() => self.verbose = true,
            _ => return Err(DriverError::Unknown(text)),
        }
        if self.osr_point.is_some() && (self.osr_fuzz.is_some() || self.osr_opt.is_some()) {
            return Err(DriverError::TwoOsrPasses);
        }
        Ok(())
    }

    /// The pass that inserts OSR points; that for optimized versions fuzzes them too.
    pub(crate) fn osr_pass(&self) -> Option<&'static str> {
        let opt = self.osr_opt.as_ref().map(|_| "osr-opt");
        let fuzz = self.osr_fuzz.as_ref().map(|_| "osr-fuzz");
        opt.or(fuzz).or(self.osr_point.as_ref().map(|_| "osr-point"))
    }

    /// True if points ask for versions at run time.
    pub(crate) fn has_open_points(&self) -> bool {
        self.osr_point.as_ref().is_some_and(|text| text.to_string_lossy().contains("to=open:"))
    }

    /// True if a value is meant by its name.
    pub(crate) fn needs_names(&self) -> bool {
        let points = self.osr_point.as_ref().map(|text| text.to_string_lossy());
        points.is_some_and(|text| text.split(';').any(|part| part.trim().starts_with("key=")))
    }

    /// As the plugin reads them. What `MIDFLIGHT_OPTIONS` says, for the plugin's options that have
    /// none here, comes last: `-mllvm` would hide it from the plugin.
    pub(crate) fn for_plugin(&self, more: Option<&OsStr>) -> Result<OsString, DriverError> {
        let mut parts: Vec<OsString> = Vec::new();
        if let Some(path) = &self.weights {
            parts.push(with("use=", without_separator(path)?));
        } else {
            parts.extend(self.osr_pass().map(Into::into));
            if let Some(pipeline) = &self.osr_opt {
                parts.extend(self.osr_fuzz.as_ref().map(|_| "fuzz".into()));
                parts.extend((!pipeline.is_empty()).then(|| with("passes=", pipeline)));
            }
            let has_paths = self.k.is_some() || self.algorithm.is_some();
            let contexts = if has_paths { "contexts+paths" } else { "contexts" };
            parts.extend(self.contexts.then(|| contexts.into()));
            let stage = if self.contexts { Stage::Late } else { Stage::Early };
            parts.push(format!("stage={}", self.stage.unwrap_or(stage).name()).into());
            parts.extend(self.granularity.iter().map(|g| with("granularity=", g.as_ref())));
            parts.extend(self.bursts.then(|| "bursts".into()));
            parts.extend(self.times.then(|| "times".into()));
            parts.extend(self.context_paths.then(|| "context-paths".into()));
            parts.extend(self.recursion.iter().map(|r| with("recursion=", r.as_ref())));
            parts.extend(self.k.map(|k| format!("k={k}").into()));
            parts.extend(self.algorithm.iter().map(|a| with("algorithm=", a.as_ref())));
            if let Some(path) = &self.functions {
                parts.push(with("functions=", without_separator(path)?));
            }
            parts.extend(self.osr_fuzz.iter().chain(&self.osr_point).cloned());
        }
        parts.extend(more.map(Into::into));
        parts.retain(|part| !part.is_empty());
        Ok(parts.join(OsStr::new(";")))
    }
}

/// An option with its value.
pub(crate) fn with(option: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(option);
    text.push(value);
    text
}

/// A path that the plugin's options can carry.
fn without_separator(path: &Path) -> Result<&OsStr, DriverError> {
    if path.as_os_str().as_bytes().contains(&b';') {
        return Err(DriverError::Separator(path.display().to_string()));
    }
    Ok(path.as_os_str())
}

/// The absolute path of a file that the plugin will be able to read.
fn readable(what: &'static str, path: &[u8]) -> Result<PathBuf, DriverError> {
    let path = Path::new(OsStr::from_bytes(path));
    Ok(absolute(path).map_err(Unreadable::of(what, path))?)
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    // To open a pipe may take forever.
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is a device or a pipe, and must be a file"));
    }
    std::fs::File::open(path)?;
    path.canonicalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(environment: &str, line: &str) -> Result<(Options, Vec<OsString>), DriverError> {
        let words = line.split_whitespace().map(OsString::from);
        Options::parse(OsStr::new(environment), words)
    }

    #[test]
    fn own_options_are_taken_and_all_else_is_left() {
        let (options, rest) =
            parse("", "-O2 --midflight-k=64 -c x.c --midflight-stage=late -- --midflight-k=0")
                .unwrap();
        assert_eq!(rest, ["-O2", "-c", "x.c", "--", "--midflight-k=0"]);
        assert_eq!(options.for_plugin(None).unwrap(), "stage=late;k=64");
        assert_eq!(parse("", "x.c").unwrap().0.for_plugin(None).unwrap(), "stage=early");
    }

    #[test]
    fn contexts_are_late_by_default() {
        let of = |line| parse("", line).unwrap().0.for_plugin(None).unwrap();
        assert_eq!(of("--midflight-contexts"), "contexts;stage=late");
        let line = "--midflight-contexts --midflight-stage=early --midflight-granularity=functions";
        assert_eq!(of(line), "contexts;stage=early;granularity=functions");
        let line = "--midflight-contexts --midflight-k=2 --midflight-algorithm=published";
        assert_eq!(of(line), "contexts+paths;stage=late;k=2;algorithm=published");
        assert_eq!(of("--midflight-contexts --midflight-bursts"), "contexts;stage=late;bursts");
        assert_eq!(of("--midflight-contexts --midflight-times"), "contexts;stage=late;times");
        let line = "--midflight-contexts --midflight-k=1 --midflight-context-paths";
        assert_eq!(of(line), "contexts+paths;stage=late;context-paths;k=1");
        let line = "--midflight-contexts --midflight-times --midflight-recursion=folded";
        assert_eq!(of(line), "contexts;stage=late;times;recursion=folded");
        let line = "--midflight-contexts --midflight-bursts --midflight-recursion=levels";
        assert_eq!(of(line), "contexts;stage=late;bursts;recursion=levels");
    }

    #[test]
    fn the_environment_comes_first_and_the_command_line_overrules_it() {
        let (options, _) =
            parse("--midflight-k=3 '--midflight-clang=/a b/clang'", "--midflight-k=5").unwrap();
        assert_eq!(options.k, Some(5));
        assert_eq!(options.clang, Some("/a b/clang".into()));
    }

    #[test]
    fn bad_options_are_named() {
        for (line, needle) in [
            ("--midflight-k=0", "from 1 to 64"),
            ("--midflight-k=65", "from 1 to 64"),
            ("--midflight-k", "from 1 to 64"),
            ("--midflight-stage=never", "early, inlined or late"),
            ("--midflight-algorithm=4", "automaton or published"),
            ("--midflight-llvm=new", "major version"),
            ("--midflight-verbose=1", "unknown option"),
            ("--midflight-frobnicate", "--midflight-frobnicate"),
            ("--midflight-functions=@/does/not/exist", "/does/not/exist"),
            ("--midflight-functions=@/", "list of functions"),
            ("--midflight-functions=@/dev/zero", "'/dev/zero': it is a device or a pipe"),
            ("--midflight-use=/dev/zero", "'/dev/zero': it is a device or a pipe"),
            ("--midflight-use=/does/not/exist", "weights '/does/not/exist'"),
            ("--midflight-use=Cargo.toml --midflight-k=2", "--midflight-k exclude"),
            (
                "--midflight-use=Cargo.toml --midflight-algorithm=published",
                "--midflight-algorithm exclude",
            ),
            ("--midflight-use=Cargo.toml --midflight-osr-fuzz", "--midflight-osr-… exclude"),
            ("--midflight-use=Cargo.toml --midflight-contexts", "--midflight-contexts exclude"),
            ("--midflight-contexts=cct", "--midflight-contexts"),
            ("--midflight-contexts --midflight-osr-opt", "--midflight-osr-opt exclude"),
            ("--midflight-bursts", "needs --midflight-contexts"),
            ("--midflight-times", "needs --midflight-contexts"),
            ("--midflight-contexts --midflight-times --midflight-bursts", "exclude each other"),
            ("--midflight-context-paths --midflight-k=2", "needs --midflight-contexts"),
            ("--midflight-contexts --midflight-context-paths", "and --midflight-k"),
            (
                "--midflight-contexts --midflight-k=2 --midflight-context-paths --midflight-recursion=folded",
                "exclude each other",
            ),
            ("--midflight-contexts --midflight-bursts=20", "unknown option"),
            ("--midflight-recursion=folded", "needs --midflight-contexts"),
            ("--midflight-contexts --midflight-recursion", "levels or folded"),
            ("--midflight-contexts --midflight-recursion=none", "levels or folded"),
            (
                "--midflight-contexts --midflight-recursion=folded --midflight-bursts",
                "--midflight-recursion=folded and --midflight-bursts exclude each other",
            ),
            ("--midflight-granularity=functions", "needs --midflight-contexts"),
            ("--midflight-contexts --midflight-granularity=lines", "sites or functions"),
        ] {
            let error = parse("", line).unwrap_err().to_string();
            assert!(error.contains(needle) && !error.contains('\n'), "{line}: {error}");
        }
        assert!(parse("-O2", "").is_err(), "only own options in the environment");
    }

    #[test]
    fn osr_passes_come_first_and_their_parameters_behind_the_common_ones() {
        for (line, expected) in [
            ("--midflight-osr-fuzz", "osr-fuzz;stage=early;verify"),
            ("--midflight-osr-fuzz= --midflight-stage=late", "osr-fuzz;stage=late;verify"),
            (
                "--midflight-osr-point=where=loop-header:outer;when=flag",
                "osr-point;stage=early;where=loop-header:outer;when=flag;verify",
            ),
            ("--midflight-osr-fuzz=a --midflight-osr-fuzz=b", "osr-fuzz;stage=early;b;verify"),
            ("--midflight-osr-opt", "osr-opt;stage=early;verify"),
            ("--midflight-osr-opt=a --midflight-osr-opt=b", "osr-opt;passes=b;stage=early;verify"),
            (
                "--midflight-osr-opt=gvn,loop-mssa(licm) --midflight-stage=late",
                "osr-opt;passes=gvn,loop-mssa(licm);stage=late;verify",
            ),
            ("--midflight-osr-fuzz --midflight-osr-opt", "osr-opt;fuzz;stage=early;verify"),
            (
                "--midflight-osr-fuzz=max-points=9 --midflight-osr-opt=adce",
                "osr-opt;fuzz;passes=adce;stage=early;max-points=9;verify",
            ),
            (
                "--midflight-osr-opt=adce --midflight-osr-fuzz=max-points=9",
                "osr-opt;fuzz;passes=adce;stage=early;max-points=9;verify",
            ),
        ] {
            let (options, rest) = parse("", line).unwrap();
            assert!(rest.is_empty());
            assert_eq!(options.for_plugin(Some(OsStr::new("verify"))).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn osr_passes_exclude_each_other_and_path_profiling() {
        for both in [
            "--midflight-osr-fuzz --midflight-osr-point=when=always",
            "--midflight-osr-point --midflight-osr-opt",
            "--midflight-osr-opt --midflight-osr-point",
        ] {
            let error = parse("", both).unwrap_err().to_string();
            assert!(error.contains("exclude each other"), "{both}: {error}");
        }
        for k in ["--midflight-k=2 --midflight-osr-point", "--midflight-osr-point --midflight-k=2"]
        {
            let error = parse("", k).unwrap_err().to_string();
            assert!(error.contains("--midflight-k") && error.contains("osr-point"), "{error}");
        }
        assert!(parse("--midflight-k=2", "--midflight-osr-fuzz").is_err());
        let both = "--midflight-algorithm=published --midflight-osr-fuzz";
        let error = parse("", both).unwrap_err().to_string();
        assert!(error.contains("--midflight-algorithm and --midflight-osr-fuzz"), "{error}");
    }

    #[test]
    fn what_the_plugin_is_told_last_is_what_the_environment_says() {
        let (options, _) = parse("", "--midflight-algorithm=published").unwrap();
        assert_eq!(options.for_plugin(None).unwrap(), "stage=early;algorithm=published");
        let (options, _) = parse("", "--midflight-k=2").unwrap();
        assert_eq!(
            options.for_plugin(Some(OsStr::new("verify"))).unwrap(),
            "stage=early;k=2;verify"
        );
        assert_eq!(options.for_plugin(Some(OsStr::new(""))).unwrap(), "stage=early;k=2");
    }
}
