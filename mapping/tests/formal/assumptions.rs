//! What the thesis assumes of a program without saying so. Each assumption has a test that shows
//! what fails without it.
//!
//! 1. *Jumps lead to points 2 to n.* With a jump to 1, backward paths never end at `in`, so no
//!    complete path begins, and every backward A holds of everything: CP replaces at will. Program
//!    composition (Def. 4.20) drops `in`, so such a jump would lead to the other program.
//! 2. *Every point is on a path from `in` to a sink.* From a point that cannot be reached, a
//!    backward path ends before any definition, and variables cease to be live where it joins. From
//!    a loop without an exit no complete path begins, so nothing is used there, and DCE deletes
//!    what the loop needs.
//! 3. *A variable is used only where every path defines it*, as in LLVM IR. Else it is not live
//!    where it is used, OSR drops it, and DCE can delete an instruction that was stuck.
//!
//! Rewriting changes no jump and keeps (3), so what holds of a program holds of its versions.

use crate::ctl::Graph;
use crate::language::{Instr, Point, Program, Var};
use crate::predicates::{Reading, defines, uses, variables};
use std::collections::BTreeSet;

/// True if a program is as the thesis assumes.
pub fn holds(program: &Program) -> bool {
    let (forward, backward) = Graph::both(program);
    let targets_are_inside = program.iter().all(|(_, instruction)| match instruction {
        Instr::If(_, m) | Instr::Goto(m) => (2..=program.len()).contains(m),
        _ => true,
    });
    let start = forward.points(|l| l == 1);
    let everywhere = forward.points(|_| true);
    let reached = backward.e_until(&everywhere, &start);
    let on_paths = program.points().all(|l| reached[l] && forward.can_end(l));
    let defined = definitely_assigned(program);
    let all = variables(program);
    let uses_are_defined = program.iter().all(|(l, instruction)| {
        all.iter().all(|x| !uses(instruction, *x, Reading::Literal) || defined[l].contains(x))
    });
    targets_are_inside && on_paths && uses_are_defined
}

/// For each point the variables that every path from `in` defines before it: the greatest solution
/// of the equations of data flow, by itself and not from [`crate::predicates`].
pub fn definitely_assigned(program: &Program) -> Vec<BTreeSet<Var>> {
    let all = variables(program);
    let (_, backward) = Graph::both(program);
    let mut before: Vec<BTreeSet<Var>> = vec![all.clone(); program.len() + 1];
    let is_defined_here = |l: Point, x: Var| program.get(l).is_some_and(|i| defines(i, x));
    before[1].clear();
    loop {
        let old = before.clone();
        for l in 2..=program.len() {
            for &from in backward.next(l) {
                let arriving = before[from].clone();
                before[l].retain(|x| arriving.contains(x) || is_defined_here(from, *x));
            }
        }
        if before == old {
            return before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checking::check;
    use crate::osr_trans::{OsrTrans, osr_trans};
    use crate::predicates::Facts;
    use crate::programs::{programs, single_assignment};
    use crate::renamed::build_comp;
    use crate::rules::{Rewrite, Rule};
    use crate::semantics::{End, run, store, trace};
    use proptest::prelude::*;

    #[test]
    fn generated_programs_are_as_assumed() {
        check(300, (programs(), single_assignment()), |(one, other)| {
            prop_assert!(holds(&one) && holds(&other));
            Ok(())
        });
    }

    /// The program after a rule was applied to a point.
    fn rewritten(rule: Rule, program: &Program, at: Point) -> Program {
        let matches = rule.matches(program);
        let found = matches.iter().find(|r| r.changes.iter().any(|(l, _)| *l == at));
        found.unwrap_or_else(|| panic!("no match at {at}")).apply(program)
    }

    #[test]
    fn a_jump_to_the_first_point_makes_constant_propagation_wrong() {
        let program = Program::read("in a b\n x := b + 0\n if (a - 1) goto 1\n b := 7\n out x");
        assert!(!holds(&program));
        let other = rewritten(Rule::ConstantPropagation, &program, 2);
        let (one, other) = [&program, &other].map(|p| run(p, &store("a=1 b=2"), 20)).into();
        assert_eq!(one, Some(store("x=2")));
        assert_ne!(one, other);
    }

    #[test]
    fn joining_what_cannot_be_reached_ends_liveness() {
        let program = Program::read("in a\n x := a\n goto 5\n skip\n out x");
        assert!(!holds(&program));
        assert!(!Facts::of(&program, Reading::Repaired).live(5).contains(&Var::named('x')));
        assert_eq!(run(&program, &store("a=1"), 20), Some(store("x=1")), "it is used");
    }

    #[test]
    fn dead_code_elimination_breaks_a_loop_without_an_exit() {
        let program = Program::read("in a\n x := a\n y := x\n goto 3\n out a");
        assert!(!holds(&program));
        let other = rewritten(Rule::DeadCode, &program, 2);
        let ends = [&program, &other].map(|p| trace(p, &store("a=1"), 50).end);
        assert_eq!(ends, [End::Cut, End::Stuck], "the traces are not of equal length (Eq. 4.8)");
    }

    #[test]
    fn dead_code_elimination_unsticks_a_program() {
        let program = Program::read("in a\n x := y\n out a");
        assert!(!holds(&program));
        let other = rewritten(Rule::DeadCode, &program, 2);
        assert_eq!(run(&program, &store("a=1"), 20), None);
        assert_eq!(run(&other, &store("a=1"), 20), Some(store("a=1")));
    }

    /// x is defined and used under the same condition. At 4 it is not live, so an OSR there loses
    /// it (against Theorem 4.3).
    #[test]
    fn an_osr_loses_what_only_some_paths_define() {
        let program = Program::read(
            "in a
             if (a < 1) goto 4
             x := a
             skip
             if (a < 1) goto 7
             a := x + 1
             out a",
        );
        assert!(!holds(&program));
        let OsrTrans { there, .. } = osr_trans(&program, &Rewrite::default(), build_comp);
        let (landing, compensation) = &there[&4];
        let before = &trace(&program, &store("a=5"), 3).states[3];
        assert_eq!((before.1, *landing), (4, 4));
        let after = run(compensation, &before.0, 20);
        assert_eq!(after, Some(store("a=5")), "without x");
        assert_eq!(run(&program, &store("a=5"), 20), Some(store("a=6")));
    }
}
