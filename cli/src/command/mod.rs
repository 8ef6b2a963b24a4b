//! The command line.

mod annotate;
mod check;
mod compare;
mod export;

use crate::document::{Extent, document};
use crate::driver::{self, DriverError, Language};
use crate::export::weights::TwoStages;
use crate::join::{Function, JoinError, Session, read_profiles};
use crate::names::readable;
use crate::osr::fuzz::{FuzzError, Settings, fuzz};
use crate::osr::program::Program;
use crate::osr::report::{write_json, write_text};
use crate::osr_report::{self, ReportError, Request};
use crate::osr_show::{self, ShowError};
use crate::progress::Progress;
use crate::report::print::{self, Options};
use crate::report::source::Sources;
use crate::samples::{Samples, SamplesError};
use crate::show;
use crate::sink::{WriteError, write_to};
use crate::{binary, export as formats};
use clap::{Args, Parser, Subcommand, ValueEnum};
use midflight_profile::table::FunctionTable;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Profiles the cyclic paths that a program really takes.
#[derive(Parser, Debug)]
#[command(name = "midflight", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Command {
    #[command(subcommand)]
    action: Action,
}

const EXAMPLES: &str = "\
Examples:
  midflight cc -O2 -g -o prog prog.c      compile, as with clang
  CC='midflight cc' ./configure && make   compile a whole project
  ./prog                                  run it: writes midflight-<pid>.mfp at exit
  MIDFLIGHT_PROFILE=%c ./prog             the same, and what was counted survives a SIGKILL
  midflight report prog midflight-*.mfp   see its hottest paths
  midflight export --to lcov -o prog.info prog midflight-*.mfp && genhtml prog.info -o html";

const CC_HELP: &str = "\
Everything else goes to clang as it is, --help too. Paths have source lines without
an option -g… too. MIDFLIGHT_CC_OPTIONS holds these options too, separated by
spaces. The links midflight-cc and midflight-c++ are the compilers in one word.

Options:
  --midflight-k=K                 sequences of up to K acyclic paths, 1 to 64 [default: 4]
  --midflight-stage=early|inlined|late
                                  before optimization, after small functions are inlined, or after optimization
                                  [default: early]
  --midflight-algorithm=automaton|published
                                  how sequences are counted: by an automaton, or by Algorithm 4 of the thesis
                                  as it was published, for comparison [default: automaton]
  --midflight-llvm=VERSION        which clang [default: the newest that there is a plugin for]
  --midflight-functions=@FILE     which functions: a pattern a line, ! excludes, src: for files
  --midflight-clang=PATH          this clang, with the plugin of its version
  --midflight-osr-fuzz[=PARAMETERS]
                                  no profiling: every OSR point can be fired, for `midflight osr
                                  fuzz`; PARAMETERS of the pass osr-fuzz, with ; between them
  --midflight-osr-point[=PARAMETERS]
                                  no profiling: insert OSR points, as where=loop-header;when=flag
  --midflight-osr-opt[=PIPELINE]  no profiling: a version of each function that PIPELINE optimizes,
                                  and OSR points between both; with --midflight-osr-fuzz all of
                                  them can be fired
  --midflight-use=FILE            no profiling: optimize for the counts of a profile, as
                                  `midflight export --to weights` has written them; a warning
                                  (-Wbackend-plugin) tells where they do not fit
  --midflight-verbose             print the command line of clang

Examples:
  midflight cc -O2 -c x.c && midflight cc -o x x.o
  CC='midflight cc' ./configure && make
  midflight cc -O2 --midflight-osr-fuzz -o x x.c && midflight osr fuzz -- ./x
  midflight cc --midflight-osr-fuzz --midflight-osr-opt='gvn,adce' -o x x.c
  make CC='ccache midflight-cc'";

const REPORT_HELP: &str = "\
For each of the hottest functions: its acyclic paths, with letters and their source lines; the
sequences of them, over loop iterations, that make up most of its work; and its loops: how long they
go the same way, what follows what, and what could be done about it (unroll, peel, unswitch). The
report begins with a legend, and --flat is a line a function. Work is count times instructions; with --perf it is samples of a run,
best of the program without instrumentation (with -g), which are matched by source lines.

Examples:
  midflight report prog midflight-*.mfp
  midflight report prog a.mfp --flat
  midflight report prog a.mfp --function compress --top 1 --tree
  midflight report prog a.mfp --source-dir ~/src --color always | less -R
  clang -O2 -g prog.c && perf record ./a.out && midflight report prog a.mfp --perf perf.data";

const SHOW_HELP: &str = "\
Without --edges or --tables: every sequence of up to k acyclic paths that was seen, with its count.
A path is named by its ID, which --tables explains.

Examples:
  midflight show prog a.mfp --function main
  midflight show prog a.mfp --format json >a.json
  midflight show prog a.mfp --edges
  midflight show prog --tables";

const MERGE_HELP: &str = "\
Counts add up exactly. Profiles of different builds or with different k are refused. With weights, all
counts of a profile are multiplied, as in llvm-profdata merge.

Examples:
  midflight merge -o all.mfp midflight-*.mfp
  midflight merge -o all.mfp --weighted-input 10,typical.mfp --weighted-input 1,rare.mfp";

const FUZZ_HELP: &str = "\
The program must be built with --midflight-osr-fuzz, and do the same each time. Exit status: 0 if all
runs did the same, 1 if one did not, 2 if nothing can be said.

Examples:
  midflight cc -O2 --midflight-osr-fuzz -o prog prog.c && midflight osr fuzz -- ./prog args
  midflight osr fuzz --seconds 0 --keep-going --format json -- ./prog >prog.json
  midflight osr fuzz --compare out.bz2 -- ./compress -o out.bz2 in";

const OSR_REPORT_HELP: &str = "\
Base is the function with mem2reg alone, opt what the passes make of it. Source is compiled by
clang, with the arguments behind --.

Examples:
  midflight osr report blocksort.c --function mainSort -- -Iinclude
  midflight osr report prog.bc --passes 'adce,gvn' --html prog.html
  midflight osr report prog.ll --format json --detail >prog.json";

const OSR_SHOW_HELP: &str = "\
Of programs whose plugin was told to leave them there. The JSON has the shape of `print<osr-map;maps>`.

Examples:
  midflight cc '--midflight-osr-opt=gvn;maps=section' -O2 -o prog prog.c && midflight osr show prog
  midflight osr show prog --function compress --format json >compress.json";

#[derive(Subcommand, Debug)]
enum Action {
    /// Compile C: clang with the profiler
    #[command(disable_help_flag = true, after_help = CC_HELP, override_usage = "midflight cc [--midflight-…] CLANG-ARGUMENTS")]
    Cc(Verbatim),
    /// Compile C++: clang++ with the profiler
    #[command(name = "c++", disable_help_flag = true, after_help = CC_HELP, override_usage = "midflight c++ [--midflight-…] CLANG-ARGUMENTS")]
    Cxx(Verbatim),
    /// Show the hottest cyclic paths, on source lines
    #[command(after_help = REPORT_HELP)]
    Report(Report),
    /// Show source beside counts and the colours of the hottest paths
    #[command(after_help = annotate::HELP)]
    Annotate(annotate::Annotate),
    /// Show everything: the whole k-iteration path forest, edges, or tables
    #[command(after_help = SHOW_HELP)]
    Show(Show),
    /// Verify that the counts of a profile conserve flow
    #[command(after_help = check::HELP)]
    Check(check::Check),
    /// Show what one profile has more of than another
    #[command(after_help = compare::DIFF_HELP)]
    Diff(compare::Diff),
    /// Measure how alike two profiles are
    #[command(after_help = compare::OVERLAP_HELP)]
    Overlap(compare::Overlap),
    /// Add up profiles of one program
    #[command(after_help = MERGE_HELP)]
    Merge(Merge),
    /// Write counts in a format of other tools
    #[command(after_help = export::HELP)]
    Export(export::Export),
    /// Test programs with OSR points, and see where OSR is possible
    #[command(subcommand)]
    Osr(Osr),
}

#[derive(Subcommand, Debug)]
enum Osr {
    /// Fire the points of a program, and compare what it does with what it does without
    #[command(after_help = FUZZ_HELP)]
    Fuzz(Fuzz),
    /// Show where OSR can go between functions and their optimized versions, and what it takes
    #[command(after_help = OSR_REPORT_HELP)]
    Report(OsrReport),
    /// Show the mappings that a binary carries: where each point leads, and what it takes
    #[command(after_help = OSR_SHOW_HELP)]
    Show(OsrShow),
}

#[derive(Args, Debug)]
struct Fuzz {
    /// Begin no run after so many seconds; 0: make all runs
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u64,
    /// Chooses the order of points and the random firings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Only points with this in their names, FILE:NAME
    #[arg(long, value_name = "PATTERN")]
    points: Option<String>,
    /// Runs at the same time; -j1 for programs that write files of fixed names [default: cores]
    #[arg(short, long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Do not compare standard error
    #[arg(long)]
    ignore_stderr: bool,
    /// A file that the command writes, removed before each run and compared after it; implies -j1;
    /// may be repeated
    #[arg(long, value_name = "FILE")]
    compare: Vec<PathBuf>,
    /// The command's standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Go on after a mismatch
    #[arg(long)]
    keep_going: bool,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args, Debug)]
struct OsrReport {
    /// C or C++ source, bitcode (.bc) or LLVM IR as text (.ll)
    file: PathBuf,
    /// What makes opt of base, as for `opt -passes`
    #[arg(long, default_value = osr_report::PASSES, value_name = "PIPELINE")]
    passes: String,
    /// Only this function, by its name or demangled name; may be repeated
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Which LLVM [default: the newest that there is a plugin for]
    #[arg(long, value_name = "VERSION")]
    llvm: Option<u32>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// The JSON has the code and each point's mapping too
    #[arg(long)]
    detail: bool,
    /// Write a page for browsers, which shows each point's mapping, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Arguments for clang
    #[arg(last = true, value_name = "CLANG-ARGUMENTS")]
    arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
struct OsrShow {
    /// A program, library or object file
    binary: PathBuf,
    /// Only this function, by its name or demangled name
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

#[derive(Args, Debug)]
struct Verbatim {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
struct Inputs {
    /// The program that wrote the profiles
    binary: PathBuf,
    /// Profiles; several are added up
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
    /// A library that the program loaded and that was instrumented too; may be repeated
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
}

#[derive(Args, Debug)]
struct Report {
    #[command(flatten)]
    inputs: Inputs,
    /// How many functions, those with the most work first [default: 10, with --flat all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// How many multi-iteration paths of each function
    #[arg(long, default_value_t = 5, value_name = "N")]
    sequences: usize,
    /// How many loops of each function, those with the most work first
    #[arg(long, default_value_t = 3, value_name = "N")]
    loops: usize,
    /// Leave out sequences and loops with less of the function's work, and in trees nodes with less
    /// of their parent or root, than so many percent
    #[arg(long, default_value_t = 1.0, value_name = "P", value_parser = percentage)]
    min_percent: f64,
    /// Only functions whose names, or demangled names, contain this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Show trees in place of chosen sequences, with % of the parent (% of the root)
    #[arg(long)]
    tree: bool,
    /// A line a function, and nothing else of it
    #[arg(long, conflicts_with = "tree")]
    flat: bool,
    /// Do not explain what the words mean
    #[arg(long)]
    no_legend: bool,
    /// Do not show source text
    #[arg(long)]
    no_source: bool,
    /// Where to look for source files that are not where debug information says; may be repeated
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
    /// Count work in samples: a perf.data file, or what `perf script -G -F ip,sym,srcline` printed
    #[arg(long, value_name = "DATA")]
    perf: Option<PathBuf>,
    /// When to use colour
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: Color,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// Functions that a report shows.
const TOP: usize = 10;

fn percentage(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=100.0).contains(value));
    value.ok_or_else(|| "it must be a number from 0 to 100".into())
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Args, Debug)]
struct Show {
    /// The program that wrote the profiles
    binary: PathBuf,
    /// Profiles; several are added up
    #[arg(value_name = "PROFILE", required_unless_present = "tables")]
    profiles: Vec<PathBuf>,
    /// A library that the program loaded and that was instrumented too; may be repeated
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Only functions of this name, demangled or not
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Edge counts, recovered from the counts of paths
    #[arg(long, conflicts_with = "tables")]
    edges: bool,
    /// The functions of the binary with their blocks, lines and edge values
    #[arg(long, conflicts_with = "profiles")]
    tables: bool,
}

#[derive(Args, Debug)]
struct Merge {
    /// Where to write the sum
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A profile of the program whose counts are multiplied by N; may be repeated
    #[arg(long, visible_alias = "weighted", value_name = "N,PROFILE", value_parser = weighted)]
    weighted_input: Vec<Weighted>,
    /// Profiles of one program, with the same k
    #[arg(required_unless_present = "weighted_input", value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

/// A profile and how much it weighs.
#[derive(Clone, Debug)]
struct Weighted {
    weight: u64,
    path: PathBuf,
}

fn weighted(text: &str) -> Result<Weighted, String> {
    let parts = text.split_once(',').and_then(|(weight, path)| Some((weight.parse().ok()?, path)));
    match parts {
        Some((weight, path)) if weight > 0 && !path.is_empty() => {
            Ok(Weighted { weight, path: path.into() })
        }
        _ => Err("it must be a weight of at least 1, a comma and a file, as in 3,a.mfp".into()),
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// `cc` or `c++`
    #[error("{0}")]
    Driver(#[from] DriverError),
    /// Binaries and profiles
    #[error("{0}")]
    Join(#[from] JoinError),
    /// `export --to weights`
    #[error("{0}")]
    TwoStages(#[from] TwoStages),
    /// A binary
    #[error("{0}")]
    Binary(#[from] binary::BinaryError),
    /// `--perf`
    #[error("{0}")]
    Samples(#[from] SamplesError),
    /// The function asked for
    #[error("there is no function '{0}' with path tables; `midflight show --tables` lists them")]
    NoFunction(String),
    /// `osr fuzz`
    #[error("{0}")]
    Fuzz(#[from] FuzzError),
    /// `osr report`
    #[error("{0}")]
    OsrReport(#[from] ReportError),
    /// `osr show`
    #[error("{0}")]
    OsrShow(#[from] ShowError),
    /// The output
    #[error("{0}")]
    Write(#[from] WriteError),
}

impl CommandError {
    /// The command's exit status. For `osr fuzz`, 1 is a mismatch.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Fuzz(FuzzError::Write(error)) if error.is_broken_pipe() => {
                ExitCode::SUCCESS
            }
            CommandError::Fuzz(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// The language and clang's arguments, if this is a call of the compiler: by the names
/// `midflight-cc` and `midflight-c++`, or as a subcommand. These go past the parser of options, so
/// that clang gets every argument, `--` and `--help` too.
pub fn driver_call(arguments: &[OsString]) -> Option<(Language, &[OsString])> {
    let name = arguments.first()?.to_string_lossy();
    match name.rsplit('/').next() {
        Some("midflight-cc") => return Some((Language::C, &arguments[1..])),
        Some("midflight-c++") => return Some((Language::Cxx, &arguments[1..])),
        _ => {}
    }
    let language = match arguments.get(1)?.to_str()? {
        "cc" => Language::C,
        "c++" => Language::Cxx,
        _ => return None,
    };
    Some((language, &arguments[2..]))
}

impl Command {
    /// Does what was asked for.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn run(self) -> Result<ExitCode, CommandError> {
        let done = match self.action {
            Action::Cc(v) => Err(driver::run(Language::C, v.arguments.into_iter()).into()),
            Action::Cxx(v) => Err(driver::run(Language::Cxx, v.arguments.into_iter()).into()),
            Action::Report(options) => options.run(),
            Action::Annotate(options) => options.run(),
            Action::Show(options) => options.run(),
            Action::Check(options) => return options.run(),
            Action::Diff(options) => options.run(),
            Action::Overlap(options) => options.run(),
            Action::Merge(options) => options.run(),
            Action::Export(options) => options.run(),
            Action::Osr(Osr::Fuzz(options)) => return Ok(options.run()?),
            Action::Osr(Osr::Report(options)) => options.run(),
            Action::Osr(Osr::Show(options)) => options.run(),
        };
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Fuzz {
    /// Status 1 if there is a mismatch.
    fn run(self) -> Result<ExitCode, FuzzError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone()).map_err(FuzzError::Signals)?;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = if self.compare.is_empty() { self.jobs.map_or(cores, usize::from) } else { 1 };
        let settings = Settings {
            bound: (self.seconds > 0).then(|| Duration::from_secs(self.seconds)),
            seed: self.seed,
            points: self.points,
            jobs,
            keep_going: self.keep_going,
        };
        let program = Program {
            command: self.command,
            stdin: self.stdin,
            compare: self.compare,
            ignore_stderr: self.ignore_stderr,
            interrupted,
        };
        let summary = fuzz(&program, &settings)?;
        write_to(None, |out| match self.format {
            Format::Json => write_json(out, &summary),
            Format::Text => write_text(out, &summary),
        })?;
        Ok(ExitCode::from(u8::from(!summary.mismatches.is_empty())))
    }
}

impl OsrReport {
    fn run(self) -> Result<(), CommandError> {
        let source = self.file.display().to_string();
        let request = Request {
            file: self.file,
            passes: self.passes,
            functions: self.function,
            llvm: self.llvm,
            detail: self.detail || self.html.is_some(),
            arguments: self.arguments,
        };
        let mut report = osr_report::report(&request)?;
        if let Some(path) = &self.html {
            write_to(Some(path), |out| osr_report::page::write(out, &source, &report))?;
        }
        if !self.detail {
            report.functions.iter_mut().for_each(|function| function.detail = None);
        }
        Ok(write_to(None, |out| match self.format {
            Format::Json => osr_report::write_json(out, &report),
            Format::Text => osr_report::text::write(out, &source, &report),
        })?)
    }
}

impl OsrShow {
    fn run(self) -> Result<(), CommandError> {
        let functions = osr_show::read(&self.binary, self.function.as_deref())?;
        Ok(write_to(None, |out| match self.format {
            Format::Json => osr_show::write_json(out, &functions),
            Format::Text => osr_show::text::write(out, &functions),
        })?)
    }
}

/// Prints text with colours where they are wanted.
fn print_colored(color: Color, text: &str) -> Result<(), CommandError> {
    match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| WriteError { path: "standard output".into(), error }.into())
}

fn open(inputs: Inputs) -> Result<Session, JoinError> {
    let Inputs { binary, profiles, library } = inputs;
    let progress = Progress::new("reading profiles", profiles.len() as u64);
    let binaries: Vec<PathBuf> = std::iter::once(binary).chain(library).collect();
    Session::open(&binaries, &profiles, &|done| progress.done(done))
}

impl Report {
    fn run(self) -> Result<(), CommandError> {
        let profiles = self.inputs.profiles.len();
        let title = format!(
            "midflight report of {}, {profiles} profile{}",
            self.inputs.binary.display(),
            if profiles == 1 { "" } else { "s" }
        );
        let binary = self.inputs.binary.display().to_string();
        let samples = self.perf.as_deref().map(Samples::read).transpose()?;
        let session = open(self.inputs)?;
        let functions = session.functions()?;
        let top = self.top.unwrap_or(if self.flat { usize::MAX } else { TOP });
        require_function(&functions, self.function.as_deref())?;
        let progress = Progress::new("counting sequences", top as u64);
        let done = |done| progress.done(done);
        let mut sources = Sources::new(self.source_dir, !self.no_source);
        if self.format == Format::Json {
            let Report { sequences, min_percent, function, .. } = self;
            let extent = Extent { top, sequences, min_percent, function, samples };
            let document = document(binary, &session, &functions, &extent, &mut sources, &done);
            return Ok(write_to(None, |out| formats::write_json(out, &document))?);
        }
        let options = Options {
            top,
            sequences: self.sequences,
            loops: self.loops,
            samples,
            min_percent: self.min_percent,
            function: self.function,
            tree: self.tree,
            flat: self.flat,
            legend: !self.no_legend,
            skipped: session.skipped(),
        };
        let text = print::report(&title, &functions, &options, &mut sources, &done);
        drop(progress);
        print_colored(self.color, &text)
    }
}

impl Show {
    fn run(self) -> Result<(), CommandError> {
        let json = self.format == Format::Json;
        if self.tables {
            return self.show_tables();
        }
        let Show { binary, profiles, library, .. } = self;
        let session = open(Inputs { binary, profiles, library })?;
        let mut functions = session.functions()?;
        if let Some(name) = &self.function {
            functions.retain(|f| has_name(f.table, name));
            if functions.is_empty() {
                return Err(CommandError::NoFunction(name.clone()));
            }
        }
        write_to(None, |out: &mut dyn Write| -> io::Result<()> {
            match (self.edges, json) {
                (true, true) => show::edges::write_json(out, &functions),
                (true, false) => show::edges::write_text(out, &functions),
                (false, true) => show::json::write(out, session.profile.k, &functions),
                (false, false) => show::text::write(out, &functions),
            }
        })?;
        Ok(())
    }
}

impl Show {
    fn show_tables(self) -> Result<(), CommandError> {
        let binaries = std::iter::once(self.binary).chain(self.library);
        let images = binaries.map(|b| binary::Image::open(&b)).collect::<Result<Vec<_>, _>>()?;
        let mut tables: Vec<&FunctionTable> = images.iter().flat_map(|i| &i.tables).collect();
        if let Some(name) = self.function {
            tables.retain(|table| has_name(table, &name));
            if tables.is_empty() {
                return Err(CommandError::NoFunction(name));
            }
        }
        Ok(write_to(None, |out| match self.format {
            Format::Json => show::tables::write_json(out, &tables),
            Format::Text => show::tables::write_text(out, &tables),
        })?)
    }
}

/// Fails if a function is asked for by a part of its name, and there is none.
fn require_function(functions: &[Function<'_>], name: Option<&str>) -> Result<(), CommandError> {
    match name {
        Some(name) if !functions.iter().any(|function| function.is_named(name)) => {
            Err(CommandError::NoFunction(name.to_string()))
        }
        _ => Ok(()),
    }
}

/// True if this is the function's name, for the linker or for people.
fn has_name(table: &FunctionTable, name: &str) -> bool {
    table.name == name || readable(&table.name) == name
}

impl Merge {
    fn run(self) -> Result<(), CommandError> {
        let files = self.profiles.len() + self.weighted_input.len();
        let progress = Progress::new("reading profiles", files as u64);
        let plain = self.profiles.into_iter().map(|path| (path, 1));
        let weighted = self.weighted_input.into_iter().map(|input| (input.path, input.weight));
        let inputs: Vec<(PathBuf, u64)> = plain.chain(weighted).collect();
        let sum = read_profiles(&inputs, |_, _| Ok(()), &|done| progress.done(done))?;
        let bytes = sum.write();
        Ok(write_to(Some(&self.output), |out| out.write_all(&bytes))?)
    }
}
