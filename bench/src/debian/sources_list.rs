//! From where the machine installs packages to where their sources are.
//!
//! Two formats, both of sources.list(5): paragraphs of fields (`debian.sources`), and a line an
//! entry (`sources.list`). Of an entry for binary packages one for source packages is made; suites
//! of updates and of security are left out, which not every mirror has with sources.

use crate::error::{Error, Result};

const PARAGRAPHS: &str = "/etc/apt/sources.list.d/debian.sources";
const LINES: &str = "/etc/apt/sources.list";

/// File name and content of a list for source packages.
///
/// # Errors
/// [`Error::Missing`] if the machine has no list, or nothing in it can be used.
pub fn of_this_machine() -> Result<(&'static str, String)> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let lists = [
        ("corpus.sources", from_paragraphs(&read(PARAGRAPHS))),
        ("corpus.list", from_lines(&read(LINES))),
    ];
    lists.into_iter().find(|(_, text)| !text.is_empty()).ok_or_else(|| Error::Missing {
        what: format!("neither '{PARAGRAPHS}' nor '{LINES}' names a release of Debian"),
        remedy: "run this on Debian".to_string(),
    })
}

/// A suite that is a release itself: `bookworm`, not `bookworm-updates` or `bookworm/updates`.
fn is_release(suite: &str) -> bool {
    !suite.contains(['-', '/'])
}

fn from_paragraphs(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).filter_map(paragraph).collect()
}

/// Nothing if no suite is left.
fn paragraph(lines: &[&str]) -> Option<String> {
    let mut text = String::new();
    let mut is_left = false;
    for line in lines {
        match line.split_once(':') {
            Some(("Types", _)) => text += "Types: deb-src",
            Some(("Suites", suites)) => {
                let suites: Vec<&str> =
                    suites.split_whitespace().filter(|suite| is_release(suite)).collect();
                is_left = !suites.is_empty();
                text += &format!("Suites: {}", suites.join(" "));
            }
            _ => text += line,
        }
        text += "\n";
    }
    is_left.then(|| text + "\n")
}

fn from_lines(text: &str) -> String {
    let is_wanted = |entry: &&str| {
        // Options in brackets may contain blanks.
        let after_options = entry.split_once(']').map_or(*entry, |(_, rest)| rest);
        after_options.split_whitespace().nth(1).is_some_and(is_release)
    };
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("deb "));
    entries.filter(is_wanted).map(|entry| format!("deb-src {entry}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lose_updates_and_security() {
        let text = "Types: deb\n# a comment\nURIs: http://mirror/debian\nSuites: stable \
                    stable-updates\nComponents: main\n\nTypes: deb\nURIs: http://mirror/security\n\
                    Suites: stable-security\nComponents: main\n";
        let expected =
            "Types: deb-src\nURIs: http://mirror/debian\nSuites: stable\nComponents: main\n\n";
        assert_eq!(from_paragraphs(text), expected);
    }

    #[test]
    fn lines_lose_updates_and_security() {
        let text = "# deb http://mirror/debian old main\n\
                    deb [arch=amd64 signed-by=/key] http://mirror/debian stable main contrib\n\
                    deb http://mirror/debian stable-updates main\n\
                    deb http://mirror/security stable/updates main\n\
                    deb-src http://mirror/debian stable main\n";
        let expected =
            "deb-src [arch=amd64 signed-by=/key] http://mirror/debian stable main contrib\n";
        assert_eq!(from_lines(text), expected);
    }
}
