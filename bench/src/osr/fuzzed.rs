//! Programs in which every OSR point is fireable, as the plugin is asked for them.

use crate::variant::Stage;
use std::fmt;

/// Which points are inserted, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuzzed {
    /// Where they lead
    pub to: To,
    /// When
    pub stage: Stage,
    /// At most so many points of a function, spread evenly; all if none
    pub max_points: Option<u32>,
    /// What is done wrong, if anything
    pub mutant: Option<Mutant>,
}

/// Where points lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Into continuations of the same code (`osr-fuzz`)
    Same,
    /// Into the version that these passes make, and back (`osr-opt`)
    Optimized(&'static str),
}

/// A mistake that must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Two values are exchanged at each landing.
    Swap,
    /// Execution goes on one point too late.
    Landing,
    /// A value that only later landings need is lost.
    Keep,
    /// What the optimized version has yet to store is not stored.
    Store,
    /// Execution goes on in one of the copies that a pass made of a block.
    Copy,
    /// A phi that is made again has what came from the other side of the branch.
    Arms,
    /// Of two ways to a point each leads where the other one does.
    Way,
}

/// All of them.
pub const MUTANTS: [Mutant; 7] = [
    Mutant::Swap,
    Mutant::Landing,
    Mutant::Keep,
    Mutant::Store,
    Mutant::Copy,
    Mutant::Arms,
    Mutant::Way,
];

impl Mutant {
    /// Where it surely has something to change, in the program for mutants.
    pub fn home(self) -> To {
        match self {
            Mutant::Swap => To::Same,
            Mutant::Landing | Mutant::Keep => To::Optimized("early-cse"),
            Mutant::Store => To::Optimized("loop-simplify,lcssa,loop-mssa(licm)"),
            Mutant::Copy => To::Optimized("loop-simplify,lcssa,loop-unroll"),
            Mutant::Arms => To::Optimized("simplifycfg<sink-common-insts>"),
            Mutant::Way => To::Optimized("loop-simplify,lcssa,loop(loop-rotate)"),
        }
    }
}

impl To {
    /// What must be noticed there, if there is anything of the kind. Some of the copies of a block
    /// may be entered, and phis are seldom made again: that is tried at home only.
    pub fn mutants(self) -> &'static [Mutant] {
        match self {
            To::Same => &[Mutant::Swap],
            To::Optimized(_) => &[Mutant::Landing, Mutant::Keep, Mutant::Store],
        }
    }

    /// What can be done wrong there or in versions of the kind.
    pub fn all_mutants(self) -> impl Iterator<Item = Mutant> {
        MUTANTS.into_iter().filter(move |m| (m.home() == To::Same) == (self == To::Same))
    }
}

impl Fuzzed {
    /// The plugin's options.
    pub fn options(self) -> String {
        let mut text = match self.to {
            To::Same => "osr-fuzz".to_string(),
            To::Optimized(passes) => format!("osr-opt;fuzz;passes={passes}"),
        };
        text += &format!(";stage={};verify", self.stage);
        if let Some(most) = self.max_points {
            text += &format!(";max-points={most}");
        }
        match self.mutant {
            Some(Mutant::Swap) => text += ";debug-swap",
            Some(mutant) => text += &format!(";debug-mutant={mutant}"),
            None => {}
        }
        text
    }
}

/// A pipeline as it can be part of a file's name.
pub fn part_of_name(passes: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    passes.chars().map(plain).collect()
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mutant::Swap => "swap",
            Mutant::Landing => "landing",
            Mutant::Keep => "keep",
            Mutant::Store => "store",
            Mutant::Copy => "copy",
            Mutant::Arms => "arms",
            Mutant::Way => "way",
        })
    }
}

impl fmt::Display for Fuzzed {
    /// A name that can be part of a file's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "osr-{}", self.stage)?;
        if let To::Optimized(passes) = self.to {
            write!(f, "-{}", part_of_name(passes))?;
        }
        self.max_points.map_or(Ok(()), |most| write!(f, "-max{most}"))?;
        self.mutant.map_or(Ok(()), |mutant| write!(f, "-{mutant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Fuzzed =
        Fuzzed { to: To::Same, stage: Stage::Early, max_points: None, mutant: None };

    #[test]
    fn options_and_names_tell_where_points_lead_and_what_is_wrong_with_them() {
        assert_eq!(PLAIN.options(), "osr-fuzz;stage=early;verify");
        let swap = Fuzzed { max_points: Some(7), mutant: Some(Mutant::Swap), ..PLAIN };
        assert_eq!(swap.options(), "osr-fuzz;stage=early;verify;max-points=7;debug-swap");
        assert_eq!(swap.to_string(), "osr-early-max7-swap");
        let opt = Fuzzed {
            to: To::Optimized("gvn,default<O1>"),
            stage: Stage::Late,
            mutant: Some(Mutant::Keep),
            ..PLAIN
        };
        let options = "osr-opt;fuzz;passes=gvn,default<O1>;stage=late;verify;debug-mutant=keep";
        assert_eq!(opt.options(), options);
        assert_eq!(opt.to_string(), "osr-late-gvn_default_O1_-keep");
    }
}
