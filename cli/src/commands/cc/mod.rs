//! `midflight cc` and `midflight c++`: clang with the plugin and the runtime.
//!
//! Everything goes to clang as it is. In front come the plugin and its options, and behind, for the
//! linker, the runtime; between `--start-no-unused-arguments` and its end, so that clang does not
//! warn where a call does not compile or does not link. The plugin's options travel as
//! `-Xclang -mllvm -Xclang …`, because a plain `-mllvm` goes to the integrated assembler too.
//! Neither is added where there is nothing to compile, or nothing to link: to clang an argument for
//! the linker is an input, so `clang -v` or the compilation of a header would begin to link.

mod arguments;
mod command_line;
mod options;
pub mod response;

use crate::commands::cc::options::Options;
use crate::format::shell::quoted_word;
use crate::input::file::Unreadable;
use crate::install::{self, Install, InstallError};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub(crate) const HELP: &str = "\
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
  --midflight-contexts            calling contexts: how often each function is called by which chain of
                                  calls; in the place of paths, unless --midflight-k or
                                  --midflight-algorithm asks for these, too; at stage late, if no
                                  other is given
  --midflight-granularity=sites|functions
                                  what tells contexts apart: call sites, or the functions that call alone
                                  [default: sites]
  --midflight-bursts              contexts are counted in bursts alone, for 2 ms every 20 ms unless
                                  MIDFLIGHT_BURSTS says otherwise: a sample, at little cost
  --midflight-times               the time that contexts take, too, by the processor's counter
  --midflight-context-paths       with --midflight-contexts and --midflight-k: the paths of a function are
                                  counted for each context that it is called in often
  --midflight-recursion=levels|folded
                                  what a call of a function that is above in its context becomes: a
                                  level of the tree, or a context that goes on in the one above, so
                                  that no tree is deeper than there are functions [default: levels]
  --midflight-llvm=VERSION        which clang [default: the newest that there is a plugin for]
  --midflight-functions=@FILE     which functions: a pattern a line, ! excludes, src: for files
  --midflight-clang=PATH          this clang, with the plugin of its version
  --midflight-osr-fuzz[=PARAMETERS]
                                  no profiling: every OSR point can be fired, for `midflight osr
                                  fuzz`; PARAMETERS of the pass osr-fuzz, with ; between them
  --midflight-osr-point[=PARAMETERS]
                                  no profiling: insert OSR points, as where=loop-header;when=flag;
                                  with to=open:GENERATOR they lead to versions that are made while
                                  the program runs
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
  midflight cc -O2 --midflight-contexts -o x x.c && ./x && midflight report ./x *.mfp
  midflight cc -O2 --midflight-osr-fuzz -o x x.c && midflight osr fuzz -- ./x
  midflight cc --midflight-osr-fuzz --midflight-osr-opt='gvn,adce' -o x x.c
  midflight cc -O2 --midflight-osr-point='where=loop-header;when=count:1000;to=open:inline-callee' x.c
  make CC='ccache midflight-cc'";

/// The name of clang that compiles the language, and clang's arguments, if this is a call of the
/// compiler: by the names `midflight-cc` and `midflight-c++`, or as a subcommand. These go past the
/// parser of options, so that clang gets every argument, `--` and `--help` too.
pub(crate) fn call(arguments: &[OsString]) -> Option<(&'static str, &[OsString])> {
    let name = arguments.first()?.to_string_lossy();
    match name.rsplit('/').next() {
        Some("midflight-cc") => return Some(("clang", &arguments[1..])),
        Some("midflight-c++") => return Some(("clang++", &arguments[1..])),
        _ => {}
    }
    match arguments.get(1)?.to_str()? {
        "cc" => Some(("clang", &arguments[2..])),
        "c++" => Some(("clang++", &arguments[2..])),
        _ => None,
    }
}

/// What is wrong with the driver's own options.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
    #[error("'{0}': {1}")]
    Value(String, String),
    #[error(
        "unknown option '{0}'; known are --midflight-k=K, --midflight-stage=early|inlined|late, \
         --midflight-algorithm=automaton|published, --midflight-contexts, \
         --midflight-bursts, --midflight-times, --midflight-context-paths, \
         --midflight-granularity=sites|functions, --midflight-recursion=levels|folded, \
         --midflight-llvm=VERSION, \
         --midflight-functions=@FILE, --midflight-clang=PATH, \
         --midflight-osr-fuzz[=PARAMETERS], --midflight-osr-point[=PARAMETERS], \
         --midflight-osr-opt[=PIPELINE], --midflight-use=FILE and --midflight-verbose"
    )]
    Unknown(String),
    #[error(
        "--midflight-osr-point and the options --midflight-osr-fuzz and --midflight-osr-opt exclude \
         each other; fuzzed points can be fired one by one too"
    )]
    TwoOsrPasses,
    #[error(
        "--midflight-{0} and --midflight-{1} exclude each other: paths are not profiled where OSR \
         points are inserted; leave one of them out, in MIDFLIGHT_CC_OPTIONS too"
    )]
    OsrWith(&'static str, &'static str),
    #[error(
        "--midflight-use and --midflight-{0} exclude each other: nothing is profiled where a profile          is used; leave one of them out, in MIDFLIGHT_CC_OPTIONS too"
    )]
    UseWith(&'static str),
    #[error("--midflight-bursts needs --midflight-contexts: it tells when contexts are counted")]
    Bursts,
    #[error("--midflight-times needs --midflight-contexts: it takes the times of contexts")]
    Times,
    #[error(
        "--midflight-context-paths needs --midflight-contexts and --midflight-k, and no \
         --midflight-algorithm=published: it counts the paths of each context"
    )]
    ContextPaths,
    #[error("--midflight-context-paths and --midflight-bursts exclude each other")]
    ContextPathsInBursts,
    #[error("--midflight-context-paths and --midflight-recursion=folded exclude each other")]
    FoldedPaths,
    #[error(
        "--midflight-times and --midflight-bursts exclude each other: the times of bursts are not \
         those of the program"
    )]
    TimesInBursts,
    #[error(
        "--midflight-recursion needs --midflight-contexts: it tells what contexts recursion has"
    )]
    Recursion,
    #[error(
        "--midflight-recursion=folded and --midflight-bursts exclude each other: what is under way \
         when a burst begins is known level by level"
    )]
    FoldedInBursts,
    #[error(
        "--midflight-granularity needs --midflight-contexts: it tells what distinguishes contexts"
    )]
    Granularity,
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    Response(#[from] response::Endless),
    #[error(
        "'{path}' is clang {found}, and --midflight-llvm={wanted} asks for another; leave one of the \
         two out, in MIDFLIGHT_CC_OPTIONS too"
    )]
    OtherClang { path: String, found: u32, wanted: u32 },
    #[error("the path '{0}' has a ';' in it, which separates options; use another path")]
    Separator(String),
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error("running '{0}': {1}")]
    Exec(String, std::io::Error),
}

/// Becomes clang. Returns only if that fails.
pub(crate) fn run(clang: &'static str, arguments: &[OsString]) -> DriverError {
    match command(clang, arguments) {
        Ok((mut command, verbose)) => {
            if verbose {
                // Nobody to tell if standard error is closed.
                let _ = writeln!(std::io::stderr(), "{}", quoted(&command));
            }
            let error = command.exec();
            DriverError::Exec(command.get_program().to_string_lossy().into_owned(), error)
        }
        Err(error) => error,
    }
}

/// The command line of clang, and whether it is to be printed.
fn command(clang: &str, arguments: &[OsString]) -> Result<(Command, bool), DriverError> {
    let environment = std::env::var_os("MIDFLIGHT_CC_OPTIONS").unwrap_or_default();
    let (options, rest) = Options::parse(&environment, arguments.iter().cloned())?;
    let llvm = match &options.clang {
        Some(path) => Some(version_of(path, options.llvm)?),
        None => options.llvm,
    };
    let install = Install::find(llvm)?;
    let clang = match &options.clang {
        Some(path) => path.clone(),
        None => install::find_clang(install.llvm, clang)?,
    };
    let task = arguments::task(&rest)?;
    // Behind `--` everything is an input file, so what goes to the linker must come before.
    let inputs = rest.iter().position(|a| a == "--").unwrap_or(rest.len());
    let mut command = Command::new(clang);
    if task.compiles {
        command.args(command_line::for_compiler(&install, &options, &task)?);
    }
    command.args(&rest[..inputs]);
    if task.links && options.weights.is_none() {
        command.args(command_line::for_linker(&install, &task, inputs < rest.len(), &options));
    }
    command.args(&rest[inputs..]);
    Ok((command, options.verbose))
}

/// The version of a clang that was given, which must be the one that is asked for, if one is.
fn version_of(clang: &Path, wanted: Option<u32>) -> Result<u32, DriverError> {
    let path = || clang.display().to_string();
    let found = install::clang_version(clang)
        .map_err(|error| DriverError::Exec(path(), error))?
        .map_err(|said| InstallError::NotClang(path(), said))?;
    match wanted {
        Some(wanted) if wanted != found => {
            Err(DriverError::OtherClang { path: path(), found, wanted })
        }
        _ => Ok(found),
    }
}

/// A command line that a shell reads as it is.
fn quoted(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(quoted_word)
        .collect::<Vec<_>>()
        .join(" ")
}
