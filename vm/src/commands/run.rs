//! `run`, `repeat`, `time`, `buffers`: functions that are called.

use super::Command;
use super::points::set_armed;
use crate::code::{Call, kinds};
use crate::problem::Problem;
use crate::program::function_of;
use crate::shell::Shell;
use crate::values::{self, Argument, Buffer, Kind};
use midflight_rt::midflight_osr_count;
use std::ffi::CString;
use std::io::Write;
use std::time::{Duration, Instant};

pub const RUN: Command = Command {
    name: "run",
    usage: "run FUNCTION [ARGUMENTS...]",
    brief: "call a function",
    more: "Arguments are integers (decimal, 0x..., negative), numbers with a point, and for pointers \
           null,\nbuffer:TYPE[VALUES] or buffer:TYPE:COUNT (TYPE is i8, i16, i32, i64, f32, f64 or \
           bytes; a value may\nbe a range, FROM..TO without TO), string:\"text\", @NAME for a \
           function or variable, or 0xADDRESS.\nThe code runs in this process: if it crashes, this \
           ends.",
    run: |shell, words| call(shell, words, 1, false),
};

pub const REPEAT: Command = Command {
    name: "repeat",
    usage: "repeat N [time] run FUNCTION [ARGUMENTS...]",
    brief: "call a function N times, with the same arguments",
    more: "Buffers have their first contents again before each call. The result is that of the \
           last one.",
    run: repeat,
};

pub const TIME: Command = Command {
    name: "time",
    usage: "time [repeat N] run FUNCTION [ARGUMENTS...]",
    brief: "call a function, and show how long it took: the shortest time and the median",
    more: "",
    run: time,
};

pub const BUFFERS: Command = Command {
    name: "buffers",
    usage: "buffers",
    brief: "show what the buffers of the last call have now",
    more: "",
    run: buffers,
};

/// Most calls of one command.
const MOST: u32 = 1_000_000_000;

fn repeat(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let (count, rest) = count(words)?;
    match rest.split_first() {
        Some((word, rest)) if word == "run" => call(shell, rest, count, false),
        Some((word, rest)) if word == "time" => match rest.split_first() {
            Some((word, rest)) if word == "run" => call(shell, rest, count, true),
            _ => Err(REPEAT.misused("only `run` is repeated")),
        },
        _ => Err(REPEAT.misused("only `run` is repeated")),
    }
}

fn time(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    match words.split_first() {
        Some((word, rest)) if word == "run" => call(shell, rest, 1, true),
        Some((word, rest)) if word == "repeat" => {
            let (count, rest) = count(rest)?;
            match rest.split_first() {
                Some((word, rest)) if word == "run" => call(shell, rest, count, true),
                _ => Err(TIME.misused("only `run` is timed")),
            }
        }
        _ => Err(TIME.misused("only `run` is timed")),
    }
}

fn count(words: &[String]) -> Result<(u32, &[String]), Problem> {
    let Some((first, rest)) = words.split_first() else {
        return Err(REPEAT.misused("a number of calls is missing"));
    };
    match first.parse() {
        Ok(count) if (1..=MOST).contains(&count) => Ok((count, rest)),
        _ => Err(REPEAT.misused(format!("'{first}' is no number of calls from 1 to {MOST}"))),
    }
}

/// What a function is called with.
struct Arguments {
    places: Vec<u128>,
    buffers: Vec<(usize, Buffer)>,
}

fn call(shell: &mut Shell, words: &[String], count: u32, is_timed: bool) -> Result<(), Problem> {
    let Some((name, texts)) = words.split_first() else {
        return Err(RUN.misused("a function is missing"));
    };
    let doing = format!("running '{name}'");
    compile(shell, name, &doing)?;
    let (call, mut arguments, result) = prepare(shell, name, texts, &doing)?;
    let before = fired(shell);
    let mut times: Vec<Duration> = Vec::new();
    let mut value = 0;
    let _ = std::io::stdout().flush();
    for _ in 0..count {
        arguments.buffers.iter_mut().for_each(|(_, buffer)| buffer.reset());
        let begin = Instant::now();
        // SAFETY: the code is that of the function, which gets values of the types that it asks
        // for. What it does with them is the user's.
        value = unsafe { call.enter(&arguments.places) };
        if is_timed {
            times.push(begin.elapsed());
        }
    }
    // SAFETY: null stands for all of C's streams, which the code may have written to.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    shell.say(&format!("=> {}", values::result(value, result)));
    for ((name, count), (_, before)) in fired(shell).into_iter().zip(before) {
        let count = count - before;
        if count > 0 {
            let times = if count == 1 { "once".to_string() } else { format!("{count} times") };
            shell.say(&format!("   {name} fired {times}"));
        }
    }
    if is_timed {
        say_times(shell, times);
    }
    shell.buffers = arguments.buffers;
    if shell.verbose {
        say_buffers(shell);
    }
    Ok(())
}

/// Has the program compiled, with all points that are armed.
fn compile(shell: &mut Shell, name: &str, doing: &str) -> Result<(), Problem> {
    let built = shell.built()?;
    if function_of(&built.ir, name).is_none() {
        // The error names what is near.
        shell.program.function(name, doing)?;
        return Ok(());
    }
    if built.code.is_some() {
        return Ok(());
    }
    let ir = built.ir.copied();
    ir.export_functions(|_| true);
    let begin = Instant::now();
    let code = shell.jit.compile(&ir);
    let code = code.map_err(|what| {
        Problem::new("compiling the program", what, "`load` what defines what it needs")
    })?;
    shell.built()?.code = Some(code);
    if shell.verbose {
        shell.say(&format!("compiled in {:?}", begin.elapsed()));
    }
    for point in &shell.armed {
        set_armed(point, true)
            .map_err(|what| Problem::new(format!("arming '{point}'"), what, ""))?;
    }
    Ok(())
}

/// Reads arguments as the types of the function say.
fn prepare(
    shell: &Shell,
    name: &str,
    texts: &[String],
    doing: &str,
) -> Result<(Call, Arguments, Kind), Problem> {
    let problem = |what: String, todo: &str| Problem::new(doing, what, todo);
    let gone = || problem("its code is gone".to_string(), "");
    let built = shell.built.as_ref().ok_or_else(gone)?;
    let code = built.code.as_ref().ok_or_else(gone)?;
    let function = function_of(&built.ir, name).ok_or_else(gone)?;
    let (types, result) = kinds(function)
        .map_err(|what| problem(what, "write a function that calls it, and load that"))?;
    if types.len() != texts.len() {
        let what = format!("it takes {} arguments, and there are {}", types.len(), texts.len());
        let todo = format!("its type is {}", crate::ir::signature(function));
        return Err(problem(what, &todo));
    }
    let mut arguments = Arguments { places: Vec::new(), buffers: Vec::new() };
    for (number, (text, &kind)) in texts.iter().zip(&types).enumerate() {
        let wrong =
            |what: String| problem(format!("argument {}: {what}", number + 1), "`help run`");
        let bits = match values::argument(text, kind).map_err(wrong)? {
            Argument::Bits(bits) => bits,
            Argument::Buffer(mut buffer) => {
                let address = buffer.address();
                arguments.buffers.push((number + 1, buffer));
                address
            }
            Argument::Address(name) => shell
                .jit
                .address(code, &name)
                .map_err(|_| wrong(format!("there is no function or variable '{name}'")))?,
        };
        arguments.places.push(bits.into());
    }
    let call = shell.jit.call(code, function).map_err(|what| problem(what, ""))?;
    Ok((call, arguments, result))
}

/// How often each point that was inserted has fired so far.
fn fired(shell: &Shell) -> Vec<(String, u64)> {
    let count = |name: &String| {
        let text = CString::new(name.as_str()).unwrap_or_default();
        // SAFETY: the name is a C string.
        (name.clone(), unsafe { midflight_osr_count(text.as_ptr()) })
    };
    shell.program.points.iter().map(|asked| count(&asked.name)).collect()
}

fn say_times(shell: &Shell, mut times: Vec<Duration>) {
    times.sort_unstable();
    let (Some(least), Some(median)) = (times.first(), times.get(times.len() / 2)) else { return };
    let calls = if times.len() == 1 { "call" } else { "calls" };
    shell.say(&format!("   time: min {least:?}, median {median:?}, {} {calls}", times.len()));
}

fn buffers(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    BUFFERS.take(words, 0, 0)?;
    if shell.buffers.is_empty() {
        shell.say("the last call had no buffers");
    }
    say_buffers(shell);
    Ok(())
}

fn say_buffers(shell: &Shell) {
    for (number, buffer) in &shell.buffers {
        shell.say(&format!("argument {number}: {}", buffer.text()));
    }
}
