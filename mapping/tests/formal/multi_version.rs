//! Multi-version programs (Def. 4.21 to 4.26): a tree of versions with mappings both ways along its
//! edges, and an oracle that chooses between the rules (Norm) and (OSR).
//!
//! Theorem 4.3 needs an oracle that lets execution go on. Nothing in Def. 4.23 keeps it from firing
//! forever between two versions, and then the trace is infinite where that of the base version is
//! not (Def. 4.25); the proof begins with "the indexes ω1, …, ωk" and takes it for granted that
//! they are finitely many. [`Oracle::Impatient`] shows it. So after an OSR one instruction is
//! executed before the next ([`Oracle::Random`]).

use crate::do_passes::{Transformation, do_passes};
use crate::language::{Point, Program};
use crate::osr_trans::{BuildComp, Mapping};
use crate::semantics::{End, Store, run, step};
use std::collections::BTreeMap;

/// Π = (V, E, M). Versions count from 0, the base version.
pub struct MultiVersion {
    pub versions: Vec<Program>,
    pub mappings: BTreeMap<(usize, usize), Mapping>,
}

/// The state of a multi-version program (Def. 4.22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MState {
    pub version: usize,
    pub store: Store,
    pub point: Point,
}

/// Chooses what happens where an OSR can fire.
#[derive(Clone, Debug)]
pub enum Oracle {
    /// Fires at random, once in so many chances, never twice without an instruction between
    Random { state: u64, one_in: u64 },
    /// Fires wherever it can
    Impatient,
}

/// How an execution went.
#[derive(Clone, Debug)]
pub struct Execution {
    pub end: End,
    pub last: MState,
    /// The OSRs that fired
    pub transitions: Vec<Transition>,
}

/// An OSR that fired.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Number of instructions that were executed before
    pub executed: usize,
    /// Where it led
    pub arrival: MState,
}

impl Execution {
    /// [[Π]](σ) (Def. 4.26)
    pub fn result(&self) -> Option<&Store> {
        (self.end == End::Final).then_some(&self.last.store)
    }
}

impl Oracle {
    /// One of so many OSRs, or none.
    fn choose(&mut self, chances: usize, has_just_fired: bool) -> Option<usize> {
        match self {
            _ if chances == 0 => None,
            Oracle::Impatient => Some(0),
            Oracle::Random { .. } if has_just_fired => None,
            Oracle::Random { state, one_in } => {
                // SplitMix64.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                let drawn = mixed ^ (mixed >> 31);
                let fires = drawn.is_multiple_of(*one_in);
                fires.then(|| (drawn >> 32) as usize % chances)
            }
        }
    }
}

impl MultiVersion {
    /// Grows a tree: each entry makes a version from an earlier one.
    pub fn grow(
        base: &Program,
        tree: &[(usize, Vec<Transformation>)],
        build_comp: BuildComp,
    ) -> Self {
        let mut result = MultiVersion { versions: vec![base.clone()], mappings: BTreeMap::new() };
        for (parent, list) in tree {
            let child = result.versions.len();
            let parent = parent % child;
            let made = do_passes(&result.versions[parent], list, build_comp);
            result.versions.push(made.program);
            result.mappings.insert((parent, child), made.there);
            result.mappings.insert((child, parent), made.back);
        }
        result
    }

    /// The OSRs that can fire in a state (rule (OSR) of Def. 4.23), as what they lead to.
    fn chances(&self, state: &MState) -> Vec<(usize, &(Point, Program))> {
        let from = self.mappings.range((state.version, 0)..=(state.version, usize::MAX));
        from.filter_map(|((_, to), mapping)| Some((*to, mapping.get(&state.point)?))).collect()
    }

    /// Rule (Norm) of Def. 4.23
    fn step(&self, state: &MState) -> Option<MState> {
        let version = state.version;
        let next = step(&self.versions[version], &(state.store.clone(), state.point));
        next.map(|(store, point)| MState { version, store, point })
    }

    /// A trace (Def. 4.24) of at most so many transitions.
    pub fn run(&self, store: &Store, mut oracle: Oracle, bound: usize) -> Execution {
        let mut state = MState { version: 0, store: store.clone(), point: 1 };
        let mut transitions = Vec::new();
        let mut has_just_fired = false;
        let mut end = End::Cut;
        let mut executed = 0;
        for _ in 0..bound {
            let chances = self.chances(&state);
            let chosen = oracle.choose(chances.len(), has_just_fired);
            has_just_fired = chosen.is_some();
            let next = match chosen {
                Some(index) => fire(&state, chances[index]),
                None => self.step(&state),
            };
            let Some(next) = next else {
                let is_final = state.point > self.versions[state.version].len();
                end = if is_final { End::Final } else { End::Stuck };
                break;
            };
            state = next;
            if has_just_fired {
                transitions.push(Transition { executed, arrival: state.clone() });
            } else {
                executed += 1;
            }
        }
        Execution { end, last: state, transitions }
    }
}

/// Rule (OSR) of Def. 4.23; χ is straight-line code.
fn fire(state: &MState, (version, (point, chi)): (usize, &(Point, Program))) -> Option<MState> {
    let store = run(chi, &state.store, chi.len())?;
    Some(MState { version, store, point: *point })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rule;
    use crate::semantics::store;

    fn two_versions() -> MultiVersion {
        let base = Program::read("in a\n x := 2\n y := x + a\n w := y\n out y");
        let passes = vec![(Rule::ConstantPropagation, 0), (Rule::DeadCode, 0)];
        MultiVersion::grow(&base, &[(0, passes)], crate::renamed::build_comp)
    }

    #[test]
    fn a_tree_has_mappings_both_ways() {
        let versions = two_versions();
        assert_eq!(versions.versions.len(), 2);
        assert_eq!(versions.mappings.keys().copied().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
        assert_ne!(versions.versions[0], versions.versions[1]);
    }

    #[test]
    fn an_oracle_that_always_fires_never_ends() {
        let versions = two_versions();
        let base = versions.run(&store("a=1"), Oracle::Random { state: 0, one_in: u64::MAX }, 100);
        assert_eq!(base.result(), Some(&store("y=3")));
        let trace = versions.run(&store("a=1"), Oracle::Impatient, 100);
        assert_eq!((trace.end, trace.last.point), (End::Cut, 1));
        assert_eq!(trace.transitions.len(), 100);
    }
}
