//! `set`, `source`, `echo`, `help`, `quit`: the shell itself.

use super::{COMMANDS, Command};
use crate::problem::Problem;
use crate::shell::{Shell, command_named};
use crate::words::unquoted;

pub const SET: Command = Command {
    name: "set",
    usage: "set verbose|echo on|off",
    brief: "verbose: show buffers after each call, and more; echo: print commands as they are done",
    more: "",
    run: set,
};

pub const SOURCE: Command = Command {
    name: "source",
    usage: "source FILE",
    brief: "do the commands in a file",
    more: "",
    run: source,
};

pub const ECHO: Command =
    Command { name: "echo", usage: "echo [WORDS...]", brief: "print words", more: "", run: echo };

pub const HELP: Command = Command {
    name: "help",
    usage: "help [COMMAND]",
    brief: "list the commands, or explain one",
    more: "",
    run: help,
};

pub const QUIT: Command = Command {
    name: "quit",
    usage: "quit",
    brief: "end",
    more: "So does the end of the input.",
    run: quit,
};

fn set(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let words = SET.take(words, 2, 2)?;
    let is_on = match words[1].as_str() {
        "on" => true,
        "off" => false,
        other => return Err(SET.misused(format!("'{other}' is neither on nor off"))),
    };
    match words[0].as_str() {
        "verbose" => shell.verbose = is_on,
        "echo" => shell.echo = is_on,
        other => return Err(SET.misused(format!("there is no '{other}' to set"))),
    }
    Ok(())
}

fn source(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    let file = &SOURCE.take(words, 1, 1)?[0];
    let in_quotes = unquoted(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    shell.script(&in_quotes.unwrap_or_else(|| file.clone()))
}

fn echo(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    shell.say(&(words.join(" ") + "\n"));
    Ok(())
}

fn help(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    if let Some(name) = HELP.take(words, 0, 1)?.first() {
        let command = command_named(name)?;
        shell.say(&format!("{}\n  {}\n{}", command.usage, command.brief, command.more));
        return Ok(());
    }
    for command in COMMANDS {
        shell.say(&format!("{:<10} {}", command.name, command.brief));
    }
    shell.say("`help COMMAND` explains one; # begins a comment");
    Ok(())
}

fn quit(shell: &mut Shell, words: &[String]) -> Result<(), Problem> {
    QUIT.take(words, 0, 0)?;
    shell.is_open = false;
    Ok(())
}
