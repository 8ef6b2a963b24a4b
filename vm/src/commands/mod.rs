//! The commands, a file for each family: names, help, and what they do.

mod code;
mod load;
mod optimize;
mod points;
mod run;
mod session;
mod show;

use crate::problem::Problem;
use crate::shell::Shell;

/// What a command does with the words behind its name.
type Run = fn(&mut Shell, &[String]) -> Result<(), Problem>;

/// A command.
pub struct Command {
    /// Its name
    pub name: &'static str,
    /// How it is used
    pub usage: &'static str,
    /// What it does, in a line
    pub brief: &'static str,
    /// What else there is to know of it
    pub more: &'static str,
    /// What it does
    pub run: Run,
}

impl Command {
    /// That it was given the wrong words.
    pub fn misused(&self, why: impl Into<String>) -> Problem {
        Problem::Usage { command: self.name, why: why.into(), usage: self.usage }
    }

    /// Its words, if there are as many as it takes.
    ///
    /// # Errors
    /// If there are too few or too many.
    pub fn take<'w>(
        &self,
        words: &'w [String],
        least: usize,
        most: usize,
    ) -> Result<&'w [String], Problem> {
        match words.len() {
            count if count < least => Err(self.misused("there are too few words")),
            count if count > most => {
                Err(self.misused(format!("'{}' is one word too many", words[most])))
            }
            _ => Ok(words),
        }
    }
}

/// All commands, as `help` lists them.
pub const COMMANDS: &[Command] = &[
    load::LOAD,
    show::FUNCTIONS,
    show::LINES,
    show::LIVE,
    show::POINTS,
    show::PRINT,
    code::CFG,
    code::ASM,
    optimize::OPT,
    optimize::OSR_OPT,
    optimize::VERSIONS,
    optimize::MAPS,
    points::INSERT,
    points::REMOVE,
    points::ARM,
    points::DISARM,
    run::RUN,
    run::REPEAT,
    run::TIME,
    run::BUFFERS,
    session::SET,
    session::SOURCE,
    session::ECHO,
    session::HELP,
    session::QUIT,
];
