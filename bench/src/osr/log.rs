//! What the runtime's log (`MIDFLIGHT_OSR_LOG`) tells.

use crate::error::{Error, Result, read};
use serde::Deserialize;
use std::path::Path;

/// A line of the log: one type of event, with its counts.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A point of a function
    Point {
        /// Its name
        point: String,
        /// The source file, as the compiler was given it
        file: String,
        /// How often it was reached, as far as the runtime was asked
        hits: u64,
    },
    /// A site that has fired
    Transition {
        /// Name of its point
        point: String,
        /// The source file
        file: String,
        /// The version that was left
        from: String,
        /// The version that was entered
        to: String,
        /// How often
        transitions: u64,
    },
    /// A version that was asked for while the program ran
    Version(Made),
}

/// A version of an open point. What a log does not have is zero.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Made {
    /// Name of its point
    pub point: String,
    /// The source file
    pub file: String,
    /// `ready` if it can be gone on in
    pub state: String,
    /// What it took to make it
    pub microseconds: u64,
    /// Its object file
    pub bytes: u64,
    /// Guards in it
    pub guards: u64,
    /// How often they were asked whether to fail
    pub checks: u64,
    /// How often one failed
    pub exits: u64,
}

impl Made {
    /// Whether it can be gone on in.
    pub fn is_ready(&self) -> bool {
        self.state == "ready"
    }
}

/// A point that was reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    /// File and name, as `MIDFLIGHT_OSR_FIRE=at:` takes them
    pub point: String,
    /// How often
    pub hits: u64,
}

/// The log of one run.
#[derive(Clone, Debug, Default)]
pub struct Log {
    events: Vec<Event>,
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// If there is none, or it cannot be understood.
    pub fn read(path: &Path) -> Result<Log> {
        let bytes = read(path)?;
        let malformed = |problem: String| Error::Malformed {
            what: format!("the log '{}'", path.display()),
            problem,
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| malformed(error.to_string()))?;
        Log::parse(text).map_err(|error| malformed(error.to_string()))
    }

    fn parse(text: &str) -> serde_json::Result<Log> {
        Ok(Log {
            events: text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?,
        })
    }

    /// Points that the log names, reached or not. Under `list` it names all.
    pub fn points(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Point { .. })).count()
    }

    /// The points that were reached. Of points with the same file and name there is one, with the
    /// hits of the one that was reached most.
    pub fn reached(&self) -> Vec<Reached> {
        let mut reached: Vec<Reached> = Vec::new();
        for event in &self.events {
            if let Event::Point { point, file, hits } = event
                && *hits > 0
            {
                reached.push(Reached { point: format!("{file}:{point}"), hits: *hits });
            }
        }
        reached.sort_by(|a, b| (&a.point, b.hits).cmp(&(&b.point, a.hits)));
        reached.dedup_by(|later, first| later.point == first.point);
        reached
    }

    /// How many points of a name, as [`Reached::point`] has it, were hit so often.
    pub fn ways(&self, name: &str, hit: u64) -> usize {
        let is_one = |event: &&Event| match event {
            Event::Point { point, file, hits } => *hits >= hit && format!("{file}:{point}") == name,
            _ => false,
        };
        self.events.iter().filter(is_one).count()
    }

    /// How many transitions there were.
    pub fn transitions(&self) -> u64 {
        self.events
            .iter()
            .map(
                |event| {
                    if let Event::Transition { transitions, .. } = event { *transitions } else { 0 }
                },
            )
            .sum()
    }

    /// The points that fired, in whichever version.
    pub fn fired(&self) -> impl Iterator<Item = String> {
        self.events.iter().filter_map(|event| match event {
            Event::Transition { point, file, .. } => Some(format!("{file}:{point}")),
            Event::Point { .. } | Event::Version(_) => None,
        })
    }

    /// The versions that were asked for.
    pub fn versions(&self) -> impl Iterator<Item = &Made> {
        self.events.iter().filter_map(|event| match event {
            Event::Version(made) => Some(made),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_transitions_are_told_apart() {
        let log = Log::parse(
            r#"{"event":"point","point":"f#1","file":"a.c","function":"f","line":3,"condition":"fuzz","hits":7}
{"event":"point","point":"f#2","file":"a.c","function":"f","line":3,"condition":"fuzz","hits":0}
{"event":"transition","point":"f#1","file":"a.c","from":"f","to":"f.osr","transitions":1}
{"event":"transition","point":"f#1","file":"a.c","from":"f.osr","to":"f.osr","transitions":6}"#,
        )
        .unwrap();
        assert_eq!((log.points(), log.transitions()), (2, 7));
        assert_eq!(log.reached(), [Reached { point: "a.c:f#1".to_string(), hits: 7 }]);
        assert_eq!(log.fired().collect::<Vec<_>>(), ["a.c:f#1", "a.c:f#1"]);
        assert_eq!((log.ways("a.c:f#1", 7), log.ways("a.c:f#1", 8)), (1, 0));
    }

    #[test]
    fn versions_are_read_whatever_else_is_told_of_them() {
        let log = Log::parse(
            r#"{"event":"version","point":"f#1","file":"a.c","function":"f","generator":"reoptimize","key":0,"state":"ready","microseconds":7,"bytes":9,"guards":1,"checks":0,"exits":2}
{"event":"version","state":"nothing"}"#,
        )
        .unwrap();
        let exits: Vec<_> = log.versions().map(|made| (made.is_ready(), made.exits)).collect();
        assert_eq!(exits, [(true, 2), (false, 0)]);
    }
}
