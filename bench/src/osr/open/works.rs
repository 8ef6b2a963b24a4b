//! The programs, and what is measured of them.

use crate::osr::open::Plan;

/// A program with what it is given to do, and its open points.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// What it is called in tables
    pub name: &'static str,
    /// Its source in `bench/corpus/open`, without the ending
    pub source: &'static str,
    /// Arguments before its size
    pub arguments: &'static [&'static str],
    /// With this size the first call takes about a second
    pub size: u64,
    /// With this one a few milliseconds
    pub tiny: u64,
    /// Flags of the compiler
    pub flags: &'static [&'static str],
    /// Flags of the one that is specialized by hand
    pub hand: &'static [&'static str],
    /// Where its points are, and at which stage
    pub place: &'static str,
    /// What makes versions, with its key
    pub generator: &'static str,
    /// Whether there is anything to gain, and a program that has it by hand
    pub gains: bool,
}

const WORK: Work = Work {
    name: "",
    source: "",
    arguments: &[],
    size: 0,
    tiny: 0,
    flags: &[],
    hand: &["-DHAND"],
    place: "where=loop-header",
    generator: "inline-callee",
    gains: true,
};

/// The thesis's 6.2.
const FEVAL: Work = Work { source: "feval", tiny: 100_000, ..WORK };

/// Points at the calls, behind the optimizer, which by then has taken boxes apart.
const LATE_CALLS: &str = "where=call;stage=late";

/// All of them.
pub const WORKS: &[Work] = &[
    Work { name: "isord", source: "isord", size: 10_000, tiny: 20, ..WORK },
    Work { name: "isord, once", source: "isord-once", size: 100_000_000, tiny: 100_000, ..WORK },
    Work { name: "isord, changing", source: "isord-change", size: 60_000, tiny: 60, ..WORK },
    Work { name: "odeEuler", arguments: &["euler"], size: 300_000_000, ..FEVAL },
    Work { name: "odeMidpt", arguments: &["midpoint"], size: 150_000_000, ..FEVAL },
    Work { name: "odeRK4", arguments: &["rk4"], size: 60_000_000, ..FEVAL },
    Work {
        name: "odeRK4, handle",
        arguments: &["rk4"],
        size: 60_000_000,
        flags: &["-DHANDLE"],
        ..FEVAL
    },
    Work {
        name: "odeEuler, late",
        arguments: &["euler"],
        size: 300_000_000,
        place: LATE_CALLS,
        ..FEVAL
    },
    Work {
        name: "odeMidpt, late",
        arguments: &["midpoint"],
        size: 150_000_000,
        place: LATE_CALLS,
        ..FEVAL
    },
    Work {
        name: "odeRK4, late",
        arguments: &["rk4"],
        size: 60_000_000,
        place: LATE_CALLS,
        ..FEVAL
    },
    Work { name: "quicksort", source: "sort", size: 12_000_000, tiny: 20_000, ..WORK },
    Work { name: "hash table", source: "hash", size: 50_000, tiny: 30, ..WORK },
    Work { name: "regex", source: "regex", size: 60_000_000, tiny: 100_000, ..WORK },
    Work {
        name: "bytecode",
        source: "bytecode",
        size: 40_000_000,
        tiny: 30_000,
        generator: "specialize-value;key=mode",
        ..WORK
    },
    Work {
        name: "bits",
        source: "bits",
        size: 800_000,
        tiny: 100,
        hand: &["-march=native"],
        generator: "reoptimize",
        ..WORK
    },
    Work {
        name: "callees in turn",
        source: "alternate",
        arguments: &["callee"],
        size: 800_000_000,
        tiny: 100_000,
        gains: false,
        ..WORK
    },
    Work {
        name: "values in turn",
        source: "alternate",
        arguments: &["value"],
        size: 2_000_000_000,
        tiny: 100_000,
        generator: "specialize-value;key=kind",
        gains: false,
        ..WORK
    },
];

impl Work {
    /// The options of its points, with a condition.
    pub fn points(&self, when: &str) -> String {
        format!("{};when={when};to=open:{}", self.place, self.generator)
    }

    /// Its arguments, for a share of the full work in percent; none of it is the tiny work.
    pub fn arguments(&self, percent: u64) -> Vec<String> {
        let size = if percent == 0 { self.tiny } else { (self.size * percent / 100).max(1) };
        let arguments = self.arguments.iter().map(|argument| argument.to_string());
        arguments.chain([size.to_string()]).collect()
    }
}

/// Those that a plan asks for.
pub fn chosen(plan: &Plan) -> impl Iterator<Item = &'static Work> {
    let is_wanted = |work: &&Work| {
        plan.only.is_empty() || plan.only.iter().any(|name| work.name.starts_with(name.as_str()))
    };
    WORKS.iter().filter(is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_scaled_but_not_what_is_to_be_done() {
        let euler = WORKS.iter().find(|work| work.name == "odeEuler").unwrap();
        assert_eq!(euler.arguments(10), ["euler", "30000000"]);
        assert_eq!(euler.arguments(0), ["euler", "100000"]);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = WORKS.iter().map(|work| work.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), WORKS.len());
    }
}
