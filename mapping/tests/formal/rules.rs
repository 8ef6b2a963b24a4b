//! Rewrite rules (Def. 4.12, 4.13) with side conditions: CP, DCE and Hoist of Fig. 4.11, and the
//! strength reduction that follows Def. 4.12.
//!
//! [[T]] is a relation: a rule may match in many ways. [`Rule::matches`] finds all of them.
//!
//! The side condition of CP is checked from m itself, so `v := v + 1` never matches, although v is
//! read before it is written: ←AX←A would do. That loses a chance and is sound, as it stands.

use crate::ctl::{Graph, Points, and, not};
use crate::language::{Expr, Instr, Op, Point, Program, Var};
use crate::predicates::{Reading, defines, transparent, uses};
use std::collections::BTreeSet;

/// A rewrite rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    ConstantPropagation,
    DeadCode,
    Hoist,
    StrengthReduction,
}

/// A rule with its meta-variables bound: what becomes of which points. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    pub changes: Vec<(Point, Instr)>,
}

impl Rewrite {
    /// π′ = [[T]](π)
    pub fn apply(&self, program: &Program) -> Program {
        let change = |program: Program, (l, i): &(Point, Instr)| program.with(*l, i.clone());
        self.changes.iter().fold(program.clone(), change)
    }
}

impl Rule {
    pub const ALL: [Rule; 4] =
        [Rule::ConstantPropagation, Rule::DeadCode, Rule::Hoist, Rule::StrengthReduction];

    /// All ways in which the rule matches.
    pub fn matches(self, program: &Program) -> Vec<Rewrite> {
        let find = Matcher::new(program);
        match self {
            Rule::ConstantPropagation => find.constant_propagation(),
            Rule::DeadCode => find.dead_code(),
            Rule::Hoist => find.hoist(),
            Rule::StrengthReduction => find.strength_reduction(),
        }
    }
}

struct Matcher<'a> {
    program: &'a Program,
    forward: Graph,
    backward: Graph,
}

impl<'a> Matcher<'a> {
    fn new(program: &'a Program) -> Self {
        let (forward, backward) = Graph::both(program);
        Matcher { program, forward, backward }
    }

    fn points(&self, holds: impl Fn(&Instr) -> bool) -> Points {
        self.forward.points(|l| self.program.get(l).is_some_and(&holds))
    }

    fn assignments(&self) -> impl Iterator<Item = (Point, Var, &'a Expr)> {
        self.program.iter().filter_map(|(m, instruction)| match instruction {
            Instr::Assign(x, e) => Some((m, *x, e)),
            _ => None,
        })
    }

    /// m : x := e[v] ⟹ x := e[c]
    /// if conlit(c) ∧ m ⊨ ←A(¬def(v) U stmt(v := c))
    fn constant_propagation(&self) -> Vec<Rewrite> {
        let mut found = Vec::new();
        let constants = self.assignments().filter(|(_, _, e)| matches!(e, Expr::Num(_)));
        let mut tried: Vec<Instr> = Vec::new();
        for (_, v, c) in constants {
            let statement = Instr::Assign(v, c.clone());
            if tried.contains(&statement) {
                continue;
            }
            let other = not(&self.points(|i| defines(i, v)));
            let here = self.backward.a_until(&other, &self.points(|i| *i == statement));
            tried.push(statement);
            for (m, x, e) in self.assignments().filter(|(m, _, e)| e.has(v) && here[*m]) {
                let e = e.replace(&|y| if y == v { c.clone() } else { Expr::Var(y) });
                found.push(Rewrite { changes: vec![(m, Instr::Assign(x, e))] });
            }
        }
        found
    }

    /// m : x := e ⟹ skip
    /// if m ⊨ →AX ¬→E(true U use(x))
    fn dead_code(&self) -> Vec<Rewrite> {
        let mut found = Vec::new();
        let assigned: BTreeSet<Var> = self.assignments().map(|(_, x, _)| x).collect();
        for x in assigned {
            let used = self.points(|i| uses(i, x, Reading::Literal));
            let used_later = self.forward.e_until(&self.points(|_| true), &used);
            let dead = self.forward.ax(&not(&used_later));
            for (m, ..) in self.assignments().filter(|(m, y, _)| *y == x && dead[*m]) {
                found.push(Rewrite { changes: vec![(m, Instr::Skip)] });
            }
        }
        found
    }

    /// p : skip ⟹ x := e
    /// q : x := e ⟹ skip
    /// if p ⊨ →A(¬use(x) U point(q)) ∧
    ///    q ⊨ ←A((¬def(x) ∨ point(q)) ∧ trans(e) U point(p))
    fn hoist(&self) -> Vec<Rewrite> {
        let mut found = Vec::new();
        for (q, x, e) in self.assignments() {
            let at_q = self.forward.points(|l| l == q);
            let unused = not(&self.points(|i| uses(i, x, Reading::Literal)));
            let down = self.forward.a_until(&unused, &at_q);
            let kept = self
                .forward
                .points(|l| self.program.get(l).is_some_and(|i| !defines(i, x) || l == q));
            let kept = and(&kept, &self.points(|i| transparent(i, e)));
            for (p, _) in self.program.iter().filter(|(p, i)| **i == Instr::Skip && down[*p]) {
                let at_p = self.forward.points(|l| l == p);
                if self.backward.a_until(&kept, &at_p)[q] {
                    let moved = Instr::Assign(x, e.clone());
                    found.push(Rewrite { changes: vec![(p, moved), (q, Instr::Skip)] });
                }
            }
        }
        found
    }

    /// m : y := 2 ∗ x ⟹ y := x + x
    /// if true
    fn strength_reduction(&self) -> Vec<Rewrite> {
        let twice = |e: &Expr| match e {
            Expr::Binary(Op::Mul, two, x) if **two == Expr::Num(2) => match &**x {
                Expr::Var(x) => Some(*x),
                _ => None,
            },
            _ => None,
        };
        let matched = self.assignments().filter_map(|(m, y, e)| Some((m, y, twice(e)?)));
        let rewrite = |(m, y, x): (Point, Var, Var)| {
            let sum = Expr::binary(Op::Add, Expr::Var(x), Expr::Var(x));
            Rewrite { changes: vec![(m, Instr::Assign(y, sum))] }
        };
        matched.map(rewrite).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a program, for each match the points that change.
    fn rewrites(rule: Rule, text: &str) -> Vec<String> {
        let change = |(l, i): &(Point, Instr)| format!("{l}: {i}");
        let all = rule.matches(&Program::read(text));
        all.iter().map(|r| r.changes.iter().map(change).collect::<Vec<_>>().join("; ")).collect()
    }

    #[test]
    fn strength_reduction_is_a_sum() {
        let text = "in x\n y := 2 * x\n y := y * 2\n out y";
        assert_eq!(rewrites(Rule::StrengthReduction, text), ["2: y := x + x"]);
    }

    #[test]
    fn a_constant_replaces_a_variable_if_all_paths_agree() {
        let with = |first: i64| {
            format!("in a\n v := {first}\n if (a) goto 5\n v := 3\n x := v + v\n v := v\n out x")
        };
        assert_eq!(rewrites(Rule::ConstantPropagation, &with(3)), ["5: x := 3 + 3"]);
        assert_eq!(rewrites(Rule::ConstantPropagation, &with(2)), [""; 0]);
    }

    #[test]
    fn what_is_never_used_again_is_dead() {
        let text = "in a\n x := 1\n x := x + 1\n y := x\n x := 2\n out y";
        assert_eq!(rewrites(Rule::DeadCode, text), ["5: skip"]);
    }

    #[test]
    fn an_assignment_is_hoisted_to_a_skip_if_nothing_is_in_the_way() {
        let text = "in a
             skip
             a := a + 1
             skip
             if (a < 5) goto 2
             skip
             x := a + 1
             out x";
        assert_eq!(
            rewrites(Rule::Hoist, text),
            ["4: x := a + 1; 7: skip", "6: x := a + 1; 7: skip"]
        );
        let used = "in a x\n skip\n y := x\n x := a\n out x y";
        assert_eq!(rewrites(Rule::Hoist, used), ["2: y := x; 3: skip"], "not x, which 3 uses");
        let on_one_path = "in a\n if (a) goto 4\n skip\n x := a\n out x";
        assert_eq!(rewrites(Rule::Hoist, on_one_path), [""; 0]);
    }
}
