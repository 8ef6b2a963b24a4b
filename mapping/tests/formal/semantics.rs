//! Stores, states, transitions, traces and the semantic function (Def. 4.2 to 4.7).
//!
//! Traces are cut at a number of steps, so that a program that runs forever can be told: what is
//! compared below is compared for the same number of steps, because two programs that the thesis
//! calls bisimilar take equally many (Lemma 4.2).

use crate::language::{Expr, Instr, Op, Point, Program, Var};
use std::collections::BTreeSet;
use std::fmt;

/// A memory store (Def. 4.2), sorted by variable: one that it does not hold is ⊥.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Store(Vec<(Var, i64)>);

/// A program state (Def. 4.3): a store, and the point of the instruction that is next.
pub type State = (Store, Point);

/// How a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Behind `out`: the store is the result.
    Final,
    /// No transition applies.
    Stuck,
    /// The bound was reached.
    Cut,
}

/// The trace of a program from a store (Def. 4.7).
#[derive(Clone, Debug)]
pub struct Trace {
    pub states: Vec<State>,
    pub end: End,
}

impl Store {
    pub fn get(&self, x: Var) -> Option<i64> {
        self.0.iter().find(|(y, _)| *y == x).map(|(_, value)| *value)
    }

    /// σ[x ← v]
    pub fn set(&mut self, x: Var, value: i64) {
        match self.0.binary_search_by_key(&x, |(y, _)| *y) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (x, value)),
        }
    }

    /// σ|A
    pub fn restrict(&self, to: &BTreeSet<Var>) -> Store {
        Store(self.0.iter().filter(|(x, _)| to.contains(x)).copied().collect())
    }

    fn defines(&self, vars: &[Var]) -> bool {
        vars.iter().all(|x| self.get(*x).is_some())
    }
}

impl FromIterator<(Var, i64)> for Store {
    fn from_iter<T: IntoIterator<Item = (Var, i64)>>(pairs: T) -> Self {
        let mut store = Store::default();
        pairs.into_iter().for_each(|(x, value)| store.set(x, value));
        store
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|(x, v)| format!("{x}={v}")).collect();
        write!(f, "[{}]", pairs.join(" "))
    }
}

/// (σ, e) ⇓ v; none if a variable of the expression is undefined.
pub fn evaluate(store: &Store, e: &Expr) -> Option<i64> {
    match e {
        Expr::Num(value) => Some(*value),
        Expr::Var(x) => store.get(*x),
        Expr::Binary(op, left, right) => {
            let (left, right) = (evaluate(store, left)?, evaluate(store, right)?);
            Some(match op {
                Op::Add => left.wrapping_add(right),
                Op::Sub => left.wrapping_sub(right),
                Op::Mul => left.wrapping_mul(right),
                Op::Less => i64::from(left < right),
            })
        }
    }
}

/// One transition (Def. 4.4); none if none applies.
pub fn step(program: &Program, (store, l): &State) -> Option<State> {
    let stay = |next: Point| Some((store.clone(), next));
    match program.get(*l)? {
        Instr::Assign(x, e) => {
            let value = evaluate(store, e)?;
            let mut store = store.clone();
            store.set(*x, value);
            Some((store, l + 1))
        }
        Instr::If(e, m) => match evaluate(store, e)? {
            0 => stay(l + 1),
            _ => stay(*m),
        },
        Instr::Goto(m) => stay(*m),
        Instr::Skip => stay(l + 1),
        Instr::Abort => None,
        Instr::In(vars) => store.defines(vars).then(|| (store.clone(), l + 1)),
        Instr::Out(vars) => {
            store.defines(vars).then(|| (store.restrict(&vars.iter().copied().collect()), l + 1))
        }
    }
}

/// τ_πσ, of at most so many steps.
pub fn trace(program: &Program, store: &Store, steps: usize) -> Trace {
    let mut states = vec![(store.clone(), 1)];
    for _ in 0..steps {
        match step(program, &states[states.len() - 1]) {
            Some(state) => states.push(state),
            None => break,
        }
    }
    let last = &states[states.len() - 1];
    let end = match (last.1 > program.len(), step(program, last)) {
        (true, _) => End::Final,
        (false, None) => End::Stuck,
        (false, Some(_)) => End::Cut,
    };
    Trace { states, end }
}

impl Trace {
    /// The result; none if the trace has not come to it.
    pub fn result(&self) -> Option<&Store> {
        (self.end == End::Final).then(|| &self.states[self.states.len() - 1].0)
    }
}

/// [[π]](σ) (Def. 4.5); none if it is undefined, or not reached in so many steps.
pub fn run(program: &Program, store: &Store, steps: usize) -> Option<Store> {
    trace(program, store, steps).result().cloned()
}

/// A store from its text: `a=1 b=-2`.
///
/// # Panics
///
/// If the text is not a store.
pub fn store(text: &str) -> Store {
    let pair = |pair: &str| -> Option<(Var, i64)> {
        let (name, value) = pair.split_once('=')?;
        Some((Var::named(name.parse().ok()?), value.parse().ok()?))
    };
    let pairs: Option<Store> = text.split_whitespace().map(pair).collect();
    pairs.unwrap_or_else(|| panic!("not a store: {text}"))
}

#[test]
fn a_loop_computes_a_factorial() {
    let program = Program::read(
        "in n
         r := 1
         if (n < 1) goto 7
         r := r * n
         n := n - 1
         goto 3
         out r",
    );
    assert_eq!(run(&program, &store("n=5 x=1"), 100), Some(store("r=120")));
    assert_eq!(run(&program, &store("x=1"), 100), None, "`in` wants n");
    assert_eq!(trace(&program, &store("n=5"), 9).end, End::Cut);
}

#[test]
fn a_program_without_a_result_is_stuck_or_cut() {
    let end = |text: &str| trace(&Program::read(text), &store("a=1"), 50).end;
    assert_eq!(end("in a\n abort\n out a"), End::Stuck);
    assert_eq!(end("in a\n x := y\n out a"), End::Stuck);
    assert_eq!(end("in a\n out x"), End::Stuck);
    assert_eq!(end("in a\n goto 2\n out a"), End::Cut);
    assert_eq!(end("in a\n skip\n out a"), End::Final);
}
