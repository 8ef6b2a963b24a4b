//! Local predicates of points (Fig. 4.10) and live variables (Def. 4.11), as the formulas say.
//!
//! Where formula and text differ:
//!
//! - `in x` is no use of x in Fig. 4.10, but Eq. 4.6 does not let a program begin without x. So
//!   nothing is live at point 1, Lemma 4.1 fails there, and an OSR at point 1 loses all inputs.
//!   [`Reading::Repaired`] counts it as a use.
//! - The text explains urdef with forward paths, from the definition; the formula goes backward,
//!   from the use. The formula is meant: it is written `urdef(x, l′)` with l′ the definition.
//! - `is_live` wants x defined on *every* path to l. A variable that is used where only some paths
//!   define it is not live, although execution may depend on it ([`crate::assumptions`]).

use crate::ctl::{Graph, Points, and, not};
use crate::language::{Expr, Instr, Point, Program, Var};
use std::collections::{BTreeMap, BTreeSet};

/// How Fig. 4.10 is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// To the letter
    Literal,
    /// `in` uses its variables too
    Repaired,
}

/// def(x)
pub fn defines(instruction: &Instr, x: Var) -> bool {
    match instruction {
        Instr::Assign(y, _) => *y == x,
        Instr::In(vars) => vars.contains(&x),
        _ => false,
    }
}

/// use(x)
pub fn uses(instruction: &Instr, x: Var, reading: Reading) -> bool {
    match instruction {
        Instr::Assign(_, e) | Instr::If(e, _) => e.has(x),
        Instr::Out(vars) => vars.contains(&x),
        Instr::In(vars) => reading == Reading::Repaired && vars.contains(&x),
        _ => false,
    }
}

/// trans(e)
pub fn transparent(instruction: &Instr, e: &Expr) -> bool {
    !matches!(instruction, Instr::Assign(x, _) if e.has(*x))
}

/// The variables that occur in a program.
pub fn variables(program: &Program) -> BTreeSet<Var> {
    let of = |instruction: &Instr| match instruction {
        Instr::Assign(x, e) => [e.vars(), vec![*x]].concat(),
        Instr::If(e, _) => e.vars(),
        Instr::In(vars) | Instr::Out(vars) => vars.clone(),
        Instr::Goto(_) | Instr::Skip | Instr::Abort => Vec::new(),
    };
    program.instructions().iter().flat_map(of).collect()
}

/// What OSR asks of a program: live variables and unique reaching definitions at every point.
pub struct Facts {
    live: Vec<BTreeSet<Var>>,
    /// For each definition the points where it is the unique one that reaches
    reached: BTreeMap<(Var, Point), Points>,
}

impl Facts {
    pub fn of(program: &Program, reading: Reading) -> Self {
        let (forward, backward) = Graph::both(program);
        let mut live = vec![BTreeSet::new(); program.len() + 1];
        let mut reached = BTreeMap::new();
        let at =
            |holds: &dyn Fn(&Instr) -> bool| forward.points(|l| program.get(l).is_some_and(holds));
        for x in variables(program) {
            let (def, used) = (at(&|i| defines(i, x)), at(&|i| uses(i, x, reading)));
            let no_def = not(&def);
            let defined = backward.ax(&backward.a_until(&at(&|_| true), &def));
            let is_live = and(&defined, &forward.e_until(&no_def, &used));
            for l in program.points() {
                if is_live[l] {
                    live[l].insert(x);
                }
                if def[l] {
                    // point(l′) ∧ def(x)
                    let here = forward.points(|m| m == l);
                    let urdef = backward.ax(&backward.a_until(&no_def, &here));
                    reached.insert((x, l), urdef);
                }
            }
        }
        Facts { live, reached }
    }

    /// live(π, l)
    pub fn live(&self, l: Point) -> &BTreeSet<Var> {
        &self.live[l]
    }

    /// True if π, l ⊨ urdef(x, l′).
    pub fn is_urdef(&self, l: Point, x: Var, definition: Point) -> bool {
        self.reached.get(&(x, definition)).is_some_and(|points| points[l])
    }

    /// An l′ with π, l ⊨ urdef(x, l′).
    pub fn urdef(&self, l: Point, x: Var) -> Option<Point> {
        let of_x = self.reached.range((x, 0)..=(x, Point::MAX));
        of_x.filter(|(_, points)| points[l]).map(|((_, definition), _)| *definition).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checking::{Share, check};
    use crate::programs::single_assignment;
    use crate::semantics::{State, step, store};
    use midflight_ir::body::{Block, Body, EdgeKind, Terminator, edges};
    use midflight_ir::code::{Code, Operand};
    use midflight_ir::dominators::dominators;
    use midflight_ir::facts::InstFacts;
    use midflight_ir::liveness::liveness;
    use proptest::prelude::*;

    /// A program as a body: a block of one instruction for each point. The language is not in SSA
    /// form and the body is, so this is for programs that assign each variable once: it is then the
    /// value of its instruction, or an argument. The results of `if` and `out` nobody uses.
    fn body(program: &Program) -> Body {
        let inputs = program.inputs();
        let value = |x: Var| {
            let argument = inputs.iter().position(|y| *y == x);
            let assigned = || program.iter().find(|(_, i)| defines(i, x)).map(|(l, _)| l - 1);
            let value = argument.or_else(|| assigned().map(|inst| inputs.len() + inst));
            value.map(|value| (Operand::Value(value.into()), None))
        };
        let (forward, _) = Graph::both(program);
        let mut body = Body { code: Code::new(inputs.len()), ..Body::default() };
        for (l, instruction) in program.iter() {
            let (edges, successors) =
                edges(forward.next(l), |to: &Point| (to - 1).into(), |_| EdgeKind::Plain);
            body.blocks.push(Block { terminator: Terminator::Switch, edges });
            let used = match instruction {
                Instr::Assign(_, e) | Instr::If(e, _) => e.vars(),
                Instr::Out(vars) => vars.clone(),
                _ => Vec::new(),
            };
            body.code.begin_block(successors);
            body.code.push(InstFacts::default(), used.into_iter().filter_map(value));
        }
        body
    }

    #[test]
    fn the_formula_of_liveness_is_what_the_crate_computes() {
        let with_jumps = Share::default();
        check(400, single_assignment(), |program| {
            let facts = Facts::of(&program, Reading::Literal);
            let body = body(&program);
            let computed = liveness(&body);
            // Behind `in`: at point 1 the thesis says that nothing is live.
            for l in 2..=program.len() {
                let values = computed.before(&body, (l - 1).into());
                let inputs = program.inputs();
                let of_value = |value| match (body.code.definition(value), inputs) {
                    (None, inputs) => Some(inputs[usize::from(value)]),
                    (Some(inst), _) => match program.get(usize::from(inst.next())) {
                        Some(Instr::Assign(x, _)) => Some(*x),
                        _ => None,
                    },
                };
                let names: Option<BTreeSet<Var>> = values.into_iter().map(of_value).collect();
                prop_assert_eq!(names.as_ref(), Some(facts.live(l)), "at {}", l);
            }
            prop_assert!(facts.live(1).is_empty());
            let jump = |i: &Instr| matches!(i, Instr::If(..));
            with_jumps.saw(program.instructions().iter().any(jump));
            Ok(())
        });
        with_jumps.is_at_least(50, "single-assignment programs with jumps");
    }

    /// Example 4.1: dom(n, m) ⟺ π, I1 ⊨ ¬E(¬point(n) U point(m)). Every block dominates itself, but
    /// the formula says that no point does: a path to n has no n before it. So it is strict
    /// dominance.
    #[test]
    fn dominance_is_a_formula() {
        check(200, single_assignment(), |program| {
            let (forward, _) = Graph::both(&program);
            let tree = dominators(&body(&program));
            for n in program.points() {
                let without = forward.points(|l| l != n);
                for m in program.points() {
                    let until = forward.points(|l| l == m);
                    let formula = !forward.e_until(&without, &until)[1];
                    prop_assert_eq!(
                        formula,
                        n != m && tree.dominates((n - 1).into(), (m - 1).into()),
                        "{} {}",
                        n,
                        m
                    );
                }
            }
            Ok(())
        });
    }

    fn live(text: &str, reading: Reading) -> Vec<String> {
        let program = Program::read(text);
        let facts = Facts::of(&program, reading);
        let names = |l| facts.live(l).iter().map(Var::to_string).collect::<Vec<_>>().join(" ");
        program.points().map(names).collect()
    }

    #[test]
    fn what_is_live_is_used_later_and_defined_before() {
        let text = "in a b
             x := a + 1
             if (b) goto 5
             x := 0
             a := x
             out a";
        assert_eq!(live(text, Reading::Repaired), ["a b", "a b", "b x", "", "x", "a"]);
    }

    #[test]
    fn to_the_letter_nothing_is_live_at_the_first_point() {
        let text = "in a\n out a";
        assert_eq!(live(text, Reading::Literal), ["", "a"]);
        assert_eq!(live(text, Reading::Repaired), ["a", "a"]);
    }

    /// Lemma 4.1 as its proof begins: (σ, l) ⇒ (σ′, l′) iff (σ|live(l), l) ⇒ (σ̂, l′), with σ̂ and
    /// σ′ equal on live(l′).
    fn lemma_4_1(program: &Program, facts: &Facts, state: &State) -> bool {
        let (store, l) = state;
        let restricted = (store.restrict(facts.live(*l)), *l);
        match (step(program, state), step(program, &restricted)) {
            (None, None) => true,
            (Some((one, m)), Some((other, n))) if m == n => {
                // Behind `out`, where the thesis defines no live variables, the whole store.
                let live = if m > program.len() { None } else { Some(facts.live(m)) };
                live.map_or(one == other, |live| one.restrict(live) == other.restrict(live))
            }
            _ => false,
        }
    }

    #[test]
    fn a_step_depends_on_live_variables_only() {
        let dropped = Share::default();
        check(200, crate::programs::runs(), |run| {
            let facts = Facts::of(&run.program, Reading::Repaired);
            for state in run.traces().iter().flat_map(|t| &t.states) {
                if state.1 <= run.program.len() {
                    prop_assert!(lemma_4_1(&run.program, &facts, state), "{:?}", state);
                    let restricted = state.0.restrict(facts.live(state.1));
                    dropped.saw(restricted != state.0);
                }
            }
            Ok(())
        });
        dropped.is_at_least(50, "steps in stores with dead variables");
    }

    #[test]
    fn to_the_letter_the_first_step_depends_on_more_than_live_variables() {
        let program = Program::read("in a\n out a");
        let facts = Facts::of(&program, Reading::Literal);
        assert!(!lemma_4_1(&program, &facts, &(store("a=1"), 1)));
    }

    /// The lemma as it is stated wants the step itself between the restricted stores, and its proof
    /// ends with live(l′) ⊇ live(l) ∪ {x}. Variables die: neither holds.
    #[test]
    fn a_step_does_not_lead_from_live_store_to_live_store() {
        let program = Program::read("in a\n x := a\n out x");
        let facts = Facts::of(&program, Reading::Repaired);
        let (before, after) = (facts.live(2), facts.live(3));
        assert!(!before.is_subset(after), "a dies");
        let next = step(&program, &(store("a=1").restrict(before), 2));
        assert_eq!(next, Some((store("a=1 x=1"), 3)));
        assert_ne!(next, Some((store("a=1 x=1").restrict(after), 3)));
    }

    /// Two unique definitions would contradict each other; and the trace says which one it was.
    #[test]
    fn the_unique_reaching_definition_made_the_value() {
        let unique_ones = Share::default();
        check(100, crate::programs::runs(), |run| {
            let facts = Facts::of(&run.program, Reading::Repaired);
            for trace in run.traces() {
                let mut last: BTreeMap<Var, Point> = BTreeMap::new();
                for (_, l) in &trace.states {
                    let Some(instruction) = run.program.get(*l) else { continue };
                    for (&x, &at) in &last {
                        let unique: Vec<Point> =
                            run.program.points().filter(|&d| facts.is_urdef(*l, x, d)).collect();
                        prop_assert_eq!(facts.urdef(*l, x), unique.first().copied());
                        prop_assert!(unique.is_empty() || unique == [at], "{} at {}", x, l);
                        unique_ones.saw(!unique.is_empty());
                    }
                    last.extend(
                        variables(&run.program)
                            .into_iter()
                            .filter(|x| defines(instruction, *x))
                            .map(|x| (x, *l)),
                    );
                }
            }
            Ok(())
        });
        unique_ones.is_at_least(40, "values with a unique definition");
    }
}
