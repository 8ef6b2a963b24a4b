//! What can go wrong with a command: one line each, of what was being done, what is wrong, and what
//! to do.

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no such command.
    #[error("there is no command '{word}'{}; `help` lists all", suggestion(.nearest))]
    NoCommand {
        /// What was typed
        word: String,
        /// The command that is most like it
        nearest: Option<String>,
    },
    /// A command was given the wrong words.
    #[error("{command}: {why}; usage: {usage}")]
    Usage {
        /// The command
        command: &'static str,
        /// What is wrong with them
        why: String,
        /// How it is used
        usage: &'static str,
    },
    /// There is no such function.
    #[error(
        "{doing}: there is no function '{name}' with a body{}; `functions` lists all",
        suggestion(.nearest)
    )]
    NoFunction {
        /// What was being done
        doing: String,
        /// The name that was given
        name: String,
        /// The name that is most like it
        nearest: Option<String>,
    },
    /// Anything else: what was being done, what is wrong, and what to do, if that is known.
    #[error("{doing}: {what}{}", remedy(.todo))]
    Failed {
        /// What was being done
        doing: String,
        /// What is wrong
        what: String,
        /// What to do; empty if nobody knows
        todo: String,
    },
}

impl Problem {
    /// A command that cannot be done.
    pub fn new(
        doing: impl Into<String>,
        what: impl Into<String>,
        todo: impl Into<String>,
    ) -> Problem {
        Problem::Failed { doing: doing.into(), what: what.into(), todo: todo.into() }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!(", did you mean '{name}'?"))
}

fn remedy(todo: &str) -> String {
    if todo.is_empty() { String::new() } else { format!("; {todo}") }
}

/// The word that is most like one that does not exist, if any is like it.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (word.chars().count() / 3).max(1);
    let near = known.map(|name| (distance(word, name), name)).filter(|(far, _)| *far <= most);
    near.min_by_key(|(far, _)| *far).map(|(_, name)| name.to_string())
}

/// How many characters must be inserted, removed or replaced, or neighbours exchanged.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_lead_to_the_command_that_was_meant() {
        let known = || ["load", "lines", "live", "insert", "run"].into_iter();
        assert_eq!(nearest("inesrt", known()).as_deref(), Some("insert"));
        assert_eq!(nearest("laod", known()).as_deref(), Some("load"));
        assert_eq!(nearest("frobnicate", known()), None);
    }
}
