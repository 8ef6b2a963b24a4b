//! Commands from a terminal: lines that can be edited, a history, and completion.

use crate::commands::COMMANDS;
use crate::shell::{Shell, complain};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::path::PathBuf;
use std::process::ExitCode;

const PROMPT: &str = "midflight> ";

/// Lines that are kept.
const MOST_LINES: usize = 1000;

/// Completes commands, then functions, points and versions; names of files where these are asked
/// for.
struct Names {
    files: FilenameCompleter,
    names: Vec<String>,
}

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..position];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let typed = &before[start..];
        let first = before.split_whitespace().next().unwrap_or_default();
        let pair = |name: &str| Pair { display: name.to_string(), replacement: name.to_string() };
        let matching = |names: &mut dyn Iterator<Item = &str>| -> Vec<Pair> {
            names.filter(|name| name.starts_with(typed)).map(pair).collect()
        };
        if before[..start].trim().is_empty() {
            return Ok((start, matching(&mut COMMANDS.iter().map(|command| command.name))));
        }
        match first {
            "load" | "source" => self.files.complete(line, position, context),
            "help" => Ok((start, matching(&mut COMMANDS.iter().map(|command| command.name)))),
            _ => Ok((start, matching(&mut self.names.iter().map(String::as_str)))),
        }
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

/// Does what is typed, until the input ends or it is told to. Failures are seen as they happen, so
/// the status is success.
pub fn talk(shell: &mut Shell) -> ExitCode {
    let config = Config::builder().completion_type(CompletionType::List);
    let config = config.max_history_size(MOST_LINES).map(|config| config.auto_add_history(true));
    let editor =
        config.and_then(|config| Editor::<Names, DefaultHistory>::with_config(config.build()));
    let mut editor = match editor {
        Ok(editor) => editor,
        Err(error) => {
            complain(&format!("opening the terminal: {error}; give commands by a pipe"));
            return ExitCode::FAILURE;
        }
    };
    let history = history();
    if let Some(file) = &history {
        // There is none the first time.
        let _ = editor.load_history(file);
    }
    shell.say(&format!("midflight vm, LLVM {}; `help` lists commands", crate::sys::MAJOR));
    while shell.is_open {
        let names = names(shell);
        editor.set_helper(Some(Names { files: FilenameCompleter::new(), names }));
        match editor.readline(PROMPT) {
            Ok(line) => {
                if let Some(file) = &history {
                    // Code that runs may end the process: nothing is left for later.
                    let _ = editor.append_history(file);
                }
                shell.line(&line, "");
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => {
                complain(&format!("reading the terminal: {error}"));
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn names(shell: &Shell) -> Vec<String> {
    let program = &shell.program;
    let mut names = program.function_names();
    names.extend(program.points.iter().map(|asked| asked.name.clone()));
    names.sort_unstable();
    names.dedup();
    names
}

/// The file of the history, in a folder that is there; none if there can be none.
fn history() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = set("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")))?;
    let folder = state.join("midflight");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("vm-history"))
}
