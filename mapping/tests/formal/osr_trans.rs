//! OSR mappings (Def. 4.15) and Algorithms 7, 8 and 9, to the letter: OSR_trans, build_comp,
//! reconstruct. Points map by identity, as in Theorem 4.1.
//!
//! To the letter, Lemma 4.4 does not hold: compensation code assigns the program's own variables,
//! and a variable has several values where a program is not in SSA form. The counterexamples below:
//!
//! - an operand is rebuilt in place of the value that it has at the landing;
//! - a definition that was `visited` is not emitted again, although its variable was overwritten;
//! - the code for one operand overwrites another that was rebuilt before.
//!
//! The lemma does hold where all variables that χ assigns have one definition (tested in
//! [`crate::properties`]), as in the SSA form of 4.2.5. [`crate::renamed`] repairs it for all
//! programs, with a variable for each definition.
//!
//! Apart from that, line 1 of reconstruct wants an assignment, so no operand can be an input of the
//! program, not even one that is live and unchanged at both ends: sound, and weak.
//! [`crate::renamed`] asks for an assignment only where it would emit one.

use crate::language::{Expr, Instr, Point, Program, Var};
use crate::predicates::{Facts, Reading};
use crate::rules::Rewrite;
use std::collections::{BTreeMap, BTreeSet};

/// An OSR mapping: for each point where OSR can fire the landing and the compensation code χ.
pub type Mapping = BTreeMap<Point, (Point, Program)>;

/// A program and what is known of it.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub program: &'a Program,
    pub facts: &'a Facts,
}

/// An algorithm as build_comp: χ for an OSR from a point of π to a point of π′.
pub type BuildComp = fn(Known<'_>, Point, Known<'_>, Point) -> Option<Program>;

/// The result of OSR_trans.
pub struct OsrTrans {
    /// π′
    pub program: Program,
    /// µππ′
    pub there: Mapping,
    /// µπ′π
    pub back: Mapping,
}

/// Algorithm 7.
pub fn osr_trans(program: &Program, rewrite: &Rewrite, build_comp: BuildComp) -> OsrTrans {
    let other = rewrite.apply(program);
    let [here, there] = [program, &other].map(|p| Facts::of(p, Reading::Repaired));
    let here = Known { program, facts: &here };
    let there = Known { program: &other, facts: &there };
    // The identity is Δ and Δ′.
    let mapping = |from: Known<'_>, to: Known<'_>| {
        let at = |l| Some((l, (l, build_comp(from, l, to, l)?)));
        program.points().filter_map(at).collect()
    };
    OsrTrans { there: mapping(here, there), back: mapping(there, here), program: other }
}

/// Algorithm 8.
pub fn build_comp(from: Known<'_>, l: Point, to: Known<'_>, landing: Point) -> Option<Program> {
    let (live, wanted) = (from.facts.live(l), to.facts.live(landing));
    let mut search = Reconstruct { live, to, landing, visited: BTreeSet::new() };
    let mut code = Vec::new();
    for &x in wanted.difference(live) {
        code.extend(search.reconstruct(x, landing)?);
    }
    compensation(live, code, wanted)
}

/// χ: `in`, the code, `out`.
pub fn compensation(
    live: &BTreeSet<Var>,
    code: Vec<(Var, Expr)>,
    wanted: &BTreeSet<Var>,
) -> Option<Program> {
    let start = Instr::In(live.iter().copied().collect());
    let end = Instr::Out(wanted.iter().copied().collect());
    let assignments = code.into_iter().map(|(x, e)| Instr::Assign(x, e));
    Program::new(std::iter::once(start).chain(assignments).chain([end]).collect())
}

/// Algorithm 9; what stays the same in its recursion is here.
struct Reconstruct<'a> {
    /// live(π, l)
    live: &'a BTreeSet<Var>,
    to: Known<'a>,
    /// l′
    landing: Point,
    visited: BTreeSet<Point>,
}

impl Reconstruct<'_> {
    /// Code that assigns x with the value that it would have had at a point just before the
    /// landing; none for `throw undef`.
    fn reconstruct(&mut self, x: Var, at: Point) -> Option<Vec<(Var, Expr)>> {
        let definition = self.to.facts.urdef(at, x)?;
        let Some(Instr::Assign(_, e)) = self.to.program.get(definition) else {
            return None;
        };
        if !self.visited.insert(definition) {
            return Some(Vec::new());
        }
        if self.to.facts.is_urdef(self.landing, x, definition)
            && self.to.facts.live(self.landing).contains(&x)
            && self.live.contains(&x)
        {
            return Some(Vec::new());
        }
        let mut code = Vec::new();
        for y in e.vars() {
            code.extend(self.reconstruct(y, definition)?);
        }
        code.push((x, e.clone()));
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rule;
    use crate::semantics::{run, store, trace};

    /// Deletes the dead assignment at a point, and goes back to the program with it at that point:
    /// gives χ as each algorithm builds it, and whether Lemma 4.4 holds for it.
    fn undo(text: &str, at: Point) -> [(String, bool); 2] {
        let program = Program::read(text);
        assert!(crate::assumptions::holds(&program));
        let matches = Rule::DeadCode.matches(&program);
        let rewrite = matches.iter().find(|r| r.changes[0].0 == at).expect("dead code");
        [build_comp as BuildComp, crate::renamed::build_comp].map(|algorithm| {
            let result = osr_trans(&program, rewrite, algorithm);
            let chi = &result.back[&at].1;
            let facts = Facts::of(&program, Reading::Repaired);
            let [here, there] = [&result.program, &program]
                .map(|p| trace(p, &store("n=5"), at - 1).states[at - 1].0.clone());
            let rebuilt = run(chi, &here, 20);
            (chi.to_string(), rebuilt == Some(there.restrict(facts.live(at))))
        })
    }

    #[test]
    fn an_operand_is_not_rebuilt_over_a_live_variable() {
        let text = "in n\n y := 1\n x := y + 1\n y := 2\n w := x\n out y";
        let [literal, repaired] = undo(text, 5);
        assert_eq!(literal.0, "1  in y\n2  y := 1\n3  x := y + 1\n4  out x y\n");
        assert!(!literal.1, "y is 1 at the landing and should be 2");
        assert_eq!(
            repaired.0,
            "1  in y\n2  y@2 := 1\n3  x@3 := y@2 + 1\n4  x := x@3\n5  out x y\n"
        );
        assert!(repaired.1);
    }

    #[test]
    fn what_was_visited_may_have_been_overwritten() {
        // u and w use the first x, v the second.
        let text = "in n
             x := 1
             u := x + 1
             w := x + 2
             x := 5
             v := x + 3
             d := u + (v + w)
             out n";
        let [literal, repaired] = undo(text, 7);
        assert!(literal.0.contains("x := 5\n5  v := x + 3\n6  w := x + 2\n"), "{}", literal.0);
        assert!(!literal.1, "w is made of the second x");
        assert!(repaired.1, "{}", repaired.0);
    }

    #[test]
    fn an_operand_is_not_overwritten_by_the_code_for_the_next() {
        let text = "in n
             x := 1
             y := x + 1
             x := 5
             z := x + y
             d := z
             out n";
        let [literal, repaired] = undo(text, 6);
        assert!(
            literal.0.ends_with("x := 5\n3  x := 1\n4  y := x + 1\n5  z := x + y\n6  out n z\n")
        );
        assert!(!literal.1, "z is made of the first x");
        assert!(repaired.1, "{}", repaired.0);
    }

    #[test]
    fn to_the_letter_an_input_is_no_operand() {
        let program = Program::read("in n\n x := n + 1\n w := x\n out n");
        let rewrite = &Rule::DeadCode.matches(&program)[0];
        assert_eq!(rewrite.changes[0].0, 3);
        let literal = osr_trans(&program, rewrite, build_comp);
        assert!(!literal.back.contains_key(&3));
        let repaired = osr_trans(&program, rewrite, crate::renamed::build_comp);
        assert!(repaired.back.contains_key(&3));
    }
}
