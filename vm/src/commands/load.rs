//! `load`: programs from files.

use super::Command;
use crate::problem::Problem;
use crate::shell::Shell;
use crate::sys::MAJOR;
use crate::words::unquoted;
use std::ffi::CString;
use std::path::Path;
use std::process::{Command as Process, Stdio};

pub const LOAD: Command = Command {
    name: "load",
    usage: "load FILE.ll|.bc|.c|.cpp|.so [CLANG-FLAGS...]",
    brief: "add the functions of a file to the program",
    more: "C and C++ are compiled by clang without optimization, and brought into SSA form \
           (mem2reg); with\nflags of your own, as those say. Several files are linked into one \
           program. A shared library\n(.so) gives addresses to functions that are only declared.",
    run: load,
};

/// What clang is given if nothing else is asked for: code that may be optimized later, and is not
/// yet.
const FLAGS: [&str; 6] = [
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-fno-discard-value-names",
];

fn load(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let Some((file, flags)) = words.split_first() else {
        return Err(LOAD.misused("a file is missing"));
    };
    let in_quotes = unquoted(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let file = in_quotes.unwrap_or_else(|| file.clone());
    let doing = format!("loading '{file}'");
    let problem = |what: String| Problem::new(&*doing, what, "");
    let extension = Path::new(&file).extension().unwrap_or_default().to_string_lossy();
    let (bytes, promote) = match &*extension {
        "so" => return open_library(&file).map_err(problem),
        "ll" | "bc" => {
            if let Some(flag) = flags.first() {
                return Err(LOAD.misused(format!("'{flag}': only C and C++ take flags")));
            }
            (std::fs::read(&file).map_err(|error| problem(error.to_string()))?, false)
        }
        "c" => (compile("clang", &file, flags, &doing)?, flags.is_empty()),
        "cpp" | "cc" | "cxx" => (compile("clang++", &file, flags, &doing)?, flags.is_empty()),
        _ => {
            let todo = "a file to load ends in .ll, .bc, .c, .cpp or .so";
            return Err(Problem::new(doing, "its name does not say what it is", todo));
        }
    };
    let count = shell.program.add(&bytes, &file, promote).map_err(problem)?;
    shell.changed();
    let functions = if count == 1 { "function" } else { "functions" };
    shell.say(&format!("loaded {file}: {count} {functions}"));
    Ok(())
}

/// Bitcode of a file of C or C++. What clang says goes to standard error.
fn compile(clang: &str, file: &str, flags: &[String], doing: &str) -> Result<Vec<u8>, Problem> {
    std::fs::metadata(file).map_err(|error| Problem::new(doing, error.to_string(), ""))?;
    let of_version = format!("{clang}-{MAJOR}");
    let debian = format!("/usr/lib/llvm-{MAJOR}/bin/{clang}");
    let run = |program: &str| {
        let mut process = Process::new(program);
        match flags.is_empty() {
            true => process.args(FLAGS),
            false => process.args(flags),
        };
        process.args(["-emit-llvm", "-c", "-o", "-", "--", file]);
        process.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    };
    let Some(output) = [&of_version, &debian].iter().find_map(|program| run(program).ok()) else {
        let todo = format!("install it (Debian: apt-get install clang-{MAJOR})");
        return Err(Problem::new(doing, format!("there is no {of_version} in PATH"), todo));
    };
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Problem::new(doing, format!("{clang} fails"), "see what it says above")),
    }
}

/// Makes the functions of a shared library known to the process.
fn open_library(file: &str) -> Result<(), String> {
    // Without a slash it would be looked for elsewhere.
    let path = std::fs::canonicalize(file).map_err(|error| error.to_string())?;
    let path = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: the path is a C string; what the library does when it is loaded is the user's.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    match library.is_null() {
        true => Err("the dynamic loader refuses it; see `ldd`".to_string()),
        false => Ok(()),
    }
}
