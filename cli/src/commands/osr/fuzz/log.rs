//! What a program writes to `MIDFLIGHT_OSR_LOG`: a line of JSON for each type of event.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The name that `MIDFLIGHT_OSR_FIRE` knows a point by: `FILE:NAME`.
pub(crate) type PointName = String;

/// A point that a run has hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub name: PointName,
    pub file: String,
    /// Source line, 0 if it is not known
    pub line: u64,
    /// The most hits in one process
    pub hits: u64,
}

#[derive(Deserialize)]
struct Event {
    event: String,
    point: String,
    file: String,
    #[serde(default)]
    line: u64,
    #[serde(default)]
    condition: String,
    #[serde(default)]
    hits: u64,
    #[serde(default)]
    transitions: u64,
    #[serde(default)]
    state: String,
    #[serde(default)]
    checks: u64,
    #[serde(default)]
    exits: u64,
}

/// The logs of all processes of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// There is a log, which may be empty.
    pub(crate) exists: bool,
    /// The fuzzed points in it
    pub(crate) points: BTreeMap<PointName, Point>,
    /// How often points have fired
    pub(crate) transitions: u64,
    /// Those that have
    pub(crate) fired: BTreeSet<PointName>,
    /// There are points that are not fuzzed.
    pub(crate) has_others: bool,
    /// Open points of which versions were asked for; their hits are the most checks of a version
    pub(crate) open: BTreeMap<PointName, Point>,
    /// Versions that were made
    pub(crate) versions: u64,
    /// How often guards have failed
    pub(crate) exits: u64,
    /// Points whose versions were left
    pub(crate) left: BTreeSet<PointName>,
}

impl Log {
    /// Adds the log of a process.
    ///
    /// # Errors
    /// A line that is not of a log.
    pub fn add(&mut self, text: &str) -> Result<(), serde_json::Error> {
        self.exists = true;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            self.add_event(serde_json::from_str(line)?);
        }
        Ok(())
    }

    fn add_event(&mut self, event: Event) {
        let name = format!("{}:{}", event.file, event.point);
        if event.event == "transition" && event.transitions > 0 {
            self.transitions = self.transitions.saturating_add(event.transitions);
            self.fired.insert(name);
        } else if event.event == "point" && event.condition == "fuzz" {
            let new = || Point { name: name.clone(), file: event.file, line: event.line, hits: 0 };
            let point = self.points.entry(name.clone()).or_insert_with(new);
            point.hits = point.hits.max(event.hits);
        } else if event.event == "point" {
            self.has_others = true;
        } else if event.event == "version" {
            self.versions += u64::from(event.state == "ready");
            self.exits = self.exits.saturating_add(event.exits);
            if event.exits > 0 {
                self.left.insert(name.clone());
            }
            let new = || Point { name: name.clone(), file: event.file, line: event.line, hits: 0 };
            let point = self.open.entry(name.clone()).or_insert_with(new);
            point.hits = point.hits.max(event.checks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_processes_are_added_up_and_hits_are_those_of_one() {
        let mut log = Log::default();
        let point = r#"{"event":"point","point":"f#3","file":"x.c","function":"f","line":12,"condition":"fuzz","hits":12}"#;
        let fired = r#"{"event":"transition","point":"f#3","file":"x.c","from":"f","to":"f.osr","transitions":5}"#;
        log.add(&format!("{point}\n{fired}\n")).unwrap();
        log.add(&format!("{}\n{fired}\n", point.replace(":12}", ":4}"))).unwrap();
        assert_eq!(log.points["x.c:f#3"].hits, 12);
        assert_eq!((log.transitions, log.fired.len()), (10, 1));
        log.add(&point.replace("fuzz", "flag").replace("f#3", "g")).unwrap();
        assert_eq!(log.points.len(), 1, "only fuzzed points are fired");
        assert!(log.has_others && log.open.is_empty());
        assert!(log.add("{").is_err());
    }

    #[test]
    fn an_open_point_has_as_many_hits_as_its_busiest_version_has_checks() {
        let mut log = Log::default();
        let version = |state: &str, checks: u64, exits: u64| {
            format!(
                r#"{{"event":"version","point":"f#1","file":"x.c","function":"f","generator":"inline-callee","key":7,"state":"{state}","microseconds":9,"bytes":9,"guards":1,"checks":{checks},"exits":{exits}}}"#
            ) + "\n"
        };
        log.add(&(version("ready", 5, 0) + &version("ready", 12, 3) + &version("nothing", 0, 0)))
            .unwrap();
        assert_eq!(log.open["x.c:f#1"].hits, 12);
        assert_eq!((log.versions, log.exits, log.left.len()), (2, 3, 1));
    }
}
