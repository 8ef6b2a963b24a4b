//! The list of functions and files to include or exclude.
//!
//! One pattern a line, `#` begins a comment. `fun:PATTERN` (or just `PATTERN`) matches a function's
//! name as the linker sees it, `src:PATTERN` the path of its source file; `*` and `?` are
//! wildcards. A line with `!` in front excludes. The last line that matches decides; a function
//! that none matches is left out if the list includes anything, else it is profiled.

use crate::input;
use std::io;
use wildmatch::WildMatch;

/// A parsed list.
#[derive(Clone, Debug)]
pub struct FunctionList {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    includes: bool,
    of_source: bool,
    pattern: WildMatch,
}

/// What is wrong with a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The file cannot be read.
    #[error("reading the list of functions '{path}': {error}")]
    Unreadable {
        /// The file
        path: String,
        /// Why
        error: std::io::Error,
    },
    /// A line makes no sense.
    #[error(
        "reading the list of functions '{path}', line {line}: '{text}' has no pattern; write \
         fun:PATTERN or src:PATTERN, with ! in front to exclude"
    )]
    NoPattern {
        /// The file
        path: String,
        /// The line, from 1
        line: usize,
        /// Its text
        text: String,
    },
}

impl FunctionList {
    /// Reads a list; `@` before the path is allowed.
    ///
    /// # Errors
    /// [`ListError`] if the file cannot be read or a line has no pattern.
    pub fn read(path: &str) -> Result<Self, ListError> {
        let path = path.strip_prefix('@').unwrap_or(path);
        let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let text = input::read(path)
            .and_then(|bytes| String::from_utf8(bytes).map_err(not_text))
            .map_err(|error| ListError::Unreadable { path: path.to_string(), error })?;
        Self::parse(path, &text)
    }

    /// Parses the text of a list; `path` is for messages.
    ///
    /// # Errors
    /// [`ListError::NoPattern`]
    pub fn parse(path: &str, text: &str) -> Result<Self, ListError> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let (includes, rest) = match line.strip_prefix('!') {
                Some(rest) => (false, rest.trim_start()),
                None => (true, line),
            };
            let (of_source, pattern) = match (rest.strip_prefix("src:"), rest.strip_prefix("fun:"))
            {
                (Some(pattern), _) => (true, pattern),
                (None, Some(pattern)) => (false, pattern),
                (None, None) => (false, rest),
            };
            if pattern.is_empty() {
                let (path, text) = (path.to_string(), line.to_string());
                return Err(ListError::NoPattern { path, line: index + 1, text });
            }
            rules.push(Rule { includes, of_source, pattern: WildMatch::new(pattern) });
        }
        Ok(FunctionList { rules })
    }

    /// True if the list wants this function.
    pub fn includes(&self, function: &str, source: &str) -> bool {
        let decisive = self
            .rules
            .iter()
            .rev()
            .find(|rule| rule.pattern.matches(if rule.of_source { source } else { function }));
        decisive.map_or(!self.rules.iter().any(|rule| rule.includes), |rule| rule.includes)
    }
}
