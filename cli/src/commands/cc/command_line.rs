//! What is added to the command line of clang.

use crate::commands::cc::DriverError;
use crate::commands::cc::arguments::Task;
use crate::commands::cc::options::{Options, with};
use crate::install::Install;
use midflight_abi::contexts::CONTEXT_WORD_SYMBOL;
use std::ffi::{OsStr, OsString};

/// What stands in front of a command line, for the compiler: the plugin with its options.
pub(crate) fn for_compiler(
    install: &Install,
    options: &Options,
    task: &Task,
) -> Result<Vec<OsString>, DriverError> {
    let plugin = install.plugin.as_os_str();
    let mut result = vec!["--start-no-unused-arguments".into(), with("-fpass-plugin=", plugin)];
    if install.llvm < 20 {
        // It must be loaded before -mllvm is read.
        result.push(with("-fplugin=", plugin));
    }
    let more = std::env::var_os("MIDFLIGHT_OPTIONS");
    let mut for_plugin = options.for_plugin(more.as_deref())?;
    if options.weights.is_none() && options.osr_pass().is_none() && !task.names_lines {
        for_plugin.push(";strip-lines");
    }
    result.extend(for_frontend(["-mllvm".into(), with("-midflight=", &for_plugin)]));
    let headers = install.runtime.with_file_name("include");
    if headers.is_dir() {
        // <midflight.h>, where the program has none of its own.
        result.extend(["-idirafter".into(), headers.into_os_string()]);
    }
    if options.osr_pass().is_some() {
        // The marker of midflight.h is nothing without it.
        result.push("-DMIDFLIGHT_OSR=1".into());
    }
    if options.needs_names() {
        result.push("-fno-discard-value-names".into());
    }
    if options.weights.is_none() {
        // Clang tracks lines for whom it writes remarks to a file in some format, though none is
        // named: the IR has them then, without a level of debug information, and nothing of them is
        // in what comes out. Only what the user says of the format must stand.
        let format = task.remarks_format.clone().unwrap_or_else(|| "yaml".into());
        result.extend(for_frontend(["-opt-record-format".into(), format]));
    }
    result.push("--end-no-unused-arguments".into());
    Ok(result)
}

/// Hands two words on to the front end alone.
fn for_frontend([option, value]: [OsString; 2]) -> [OsString; 4] {
    ["-Xclang".into(), option, "-Xclang".into(), value]
}

/// What the linker gets: the runtime, and what keeps it and its names.
pub(crate) fn for_linker(
    install: &Install,
    task: &Task,
    before_inputs: bool,
    options: &Options,
) -> Vec<OsString> {
    let mut result: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    let mut linker = |argument: &OsStr| {
        result.push("-Xlinker".into());
        result.push(argument.into());
    };
    // An archive gives only what is asked for. An instrumented library, which has a runtime in it,
    // gives all that the image's own functions ask for, but not this. A link without libc may have
    // nothing instrumented, and then must not have the runtime.
    if task.has_default_libraries {
        linker(OsStr::new("--undefined=midflight_image"));
    } else if before_inputs {
        linker(OsStr::new("--undefined=midflight_enter"));
    }
    if options.osr_pass().is_some() {
        // A flag that is tested refers to nothing in the runtime, which arms it.
        linker(OsStr::new("--undefined=midflight_osr_register"));
    }
    if options.contexts && task.has_default_libraries {
        // Which frames were left is found by the unwinder, which C programs do not ask for.
        linker(OsStr::new("--undefined=midflight_unwinder"));
    }
    if options.has_open_points()
        && let Some(folder) = install.plugin.parent()
    {
        // The code generator is beside the plugin; it is loaded when a point has fired.
        linker(OsStr::new("-rpath"));
        linker(folder.as_os_str());
    }
    if task.has_fuzzer && task.has_default_libraries {
        // libFuzzer, which is not instrumented, ends the process by it.
        linker(OsStr::new(&format!("--defsym=_Exit={}", midflight_abi::EXIT_SYMBOL)));
    }
    // As a linker argument the archive is not subject to -x.
    linker(install.runtime.as_os_str());
    // The runtime needs libc, which stands before it if clang does not add it behind.
    task.own_libraries.iter().for_each(|library| linker(library));
    // Instrumented libraries that are loaded later must find this runtime.
    for symbol in midflight_abi::RUNTIME_SYMBOLS {
        // A program that relocates itself has no thread-local variables yet then; it loads nothing.
        if task.relocates_itself && symbol == CONTEXT_WORD_SYMBOL {
            continue;
        }
        linker(OsStr::new(&format!("--export-dynamic-symbol={symbol}")));
    }
    result.push("--end-no-unused-arguments".into());
    result
}
