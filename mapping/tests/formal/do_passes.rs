//! Composition of programs and of mappings (Def. 4.20, Lemmas 4.5 and 4.6) and do_passes
//! (Algorithm 10).
//!
//! Lemma 4.5 needs that the second program uses no variable that it may not have defined: π ∘ π′
//! forgets that `out` undefines all but its variables ([`crate::assumptions`]).

use crate::language::{Instr, Program};
use crate::osr_trans::{BuildComp, Mapping, OsrTrans, osr_trans};
use crate::rules::{Rewrite, Rule};

/// π ∘ π′ (Def. 4.20); none if they are not composable.
pub fn compose(one: &Program, other: &Program) -> Option<Program> {
    let n = one.len();
    if !other.inputs().iter().all(|x| one.outputs().contains(x)) {
        return None;
    }
    let relocated = |instruction: &Instr| match instruction {
        Instr::Goto(m) => Instr::Goto(m + n - 2),
        Instr::If(e, m) => Instr::If(e.clone(), m + n - 2),
        _ => instruction.clone(),
    };
    let first = one.instructions()[..n - 1].iter().cloned();
    Program::new(first.chain(other.instructions()[1..].iter().map(relocated)).collect())
}

/// µππ′ ∘ µπ′π″ (Lemma 4.6).
pub fn compose_mappings(one: &Mapping, other: &Mapping) -> Mapping {
    let through = |(l, (landing, first)): (&usize, &(usize, Program))| {
        let (landing, second) = other.get(landing)?;
        Some((*l, (*landing, compose(first, second)?)))
    };
    one.iter().filter_map(through).collect()
}

/// A transformation: a rule, and a number that chooses one of its matches.
pub type Transformation = (Rule, u16);

/// The chosen match; where the rule matches nowhere, the program stays as it is.
pub fn choose((rule, choice): Transformation, program: &Program) -> Rewrite {
    let mut matches = rule.matches(program);
    match matches.len() {
        0 => Rewrite::default(),
        count => matches.swap_remove(usize::from(choice) % count),
    }
}

/// All transformations of a list as one, for OSR_trans to build compensation code that undoes all
/// of them together.
pub fn choose_all(list: &[Transformation], program: &Program) -> Rewrite {
    let apply = |program: Program, t: &Transformation| choose(*t, &program).apply(&program);
    let last = list.iter().fold(program.clone(), apply);
    let changed = last.iter().filter(|(l, instruction)| program.get(*l) != Some(instruction));
    Rewrite { changes: changed.map(|(l, instruction)| (l, instruction.clone())).collect() }
}

/// Algorithm 10. An empty list is one transformation that changes nothing.
pub fn do_passes(program: &Program, list: &[Transformation], build_comp: BuildComp) -> OsrTrans {
    let (rewrite, rest) = match list {
        [] => (Rewrite::default(), list),
        [first, rest @ ..] => (choose(*first, program), rest),
    };
    let first = osr_trans(program, &rewrite, build_comp);
    if rest.is_empty() {
        return first;
    }
    let others = do_passes(&first.program, rest, build_comp);
    OsrTrans {
        there: compose_mappings(&first.there, &others.there),
        back: compose_mappings(&others.back, &first.back),
        program: others.program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checking::{Share, check};
    use crate::language::{Expr, Var};
    use crate::programs::{STEPS, runs};
    use crate::semantics::{End, Trace, run, store, trace};
    use proptest::prelude::*;

    #[test]
    fn jumps_are_relocated() {
        let one = Program::read("in a\n if (a) goto 4\n a := 7\n out a b");
        let other = Program::read("in a\n a := a - 1\n if (a) goto 2\n out a");
        let both = compose(&one, &other).expect("composable");
        assert_eq!(
            both.to_string(),
            "1  in a\n2  if (a) goto 4\n3  a := 7\n4  a := a - 1\n5  if (a) goto 4\n6  out a\n"
        );
        assert!(compose(&other, &Program::read("in b\n out b")).is_none(), "b is not put out");
    }

    /// Lemma 4.5.
    #[test]
    fn a_composition_is_one_program_after_the_other() {
        let defined = Share::default();
        check(300, (runs(), runs()), |(one, other)| {
            // Let the other begin with what this one puts out.
            let inputs = other.program.inputs();
            let assign = |(x, value): (&Var, i64)| Instr::Assign(*x, Expr::Num(value));
            let start = [Instr::In(one.program.outputs().to_vec())];
            let end = [Instr::Out(inputs.to_vec())];
            let glue = start.into_iter().chain(inputs.iter().zip(3..).map(assign)).chain(end);
            let glue = Program::new(glue.collect()).expect("straight-line code");
            let second = compose(&glue, &other.program).expect("composable");
            let both = compose(&one.program, &second).expect("composable");
            for store in &one.stores {
                let first = trace(&one.program, store, STEPS);
                if first.end == End::Cut {
                    continue;
                }
                let second = first.result().map(|inner| trace(&second, inner, STEPS));
                if second.as_ref().is_some_and(|second| second.end == End::Cut) {
                    continue;
                }
                let expected = second.as_ref().and_then(Trace::result).cloned();
                prop_assert_eq!(&run(&both, store, 2 * STEPS), &expected);
                defined.saw(expected.is_some());
            }
            Ok(())
        });
        defined.is_at_least(50, "compositions with a result");
    }

    #[test]
    fn a_composition_forgets_what_out_undefines() {
        let one = Program::read("in a\n x := 1\n out a");
        let other = Program::read("in a\n a := x\n out a");
        let both = compose(&one, &other).expect("composable");
        let apart = run(&one, &store("a=5"), 20).and_then(|inner| run(&other, &inner, 20));
        assert_eq!(apart, None);
        assert_eq!(run(&both, &store("a=5"), 20), Some(store("a=1")));
    }

    #[test]
    fn a_jump_to_in_is_relocated_into_the_other_program() {
        let one = Program::read("in a\n a := a - 1\n out a");
        let other = Program::read("in a\n a := a - 10\n if (0 < a) goto 1\n out a");
        let both = compose(&one, &other).expect("composable");
        let apart = run(&one, &store("a=12"), 20).and_then(|inner| run(&other, &inner, 20));
        assert_eq!(apart, Some(store("a=-9")));
        assert_eq!(run(&both, &store("a=12"), 20), Some(store("a=-10")));
    }
}
