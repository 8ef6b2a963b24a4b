//! Random programs, all as the thesis assumes ([`crate::assumptions`]), made of a list of numbers,
//! so that a shorter list is a smaller program.
//!
//! First the control flow and what is assigned: sequences, two-way branches, loops that count to at
//! most three, loops that test a random condition, forward exits, `abort`s, and `skip`s for Hoist.
//! Then, from that, the variables that are assigned on every path to each point; then expressions
//! over these.

use crate::assumptions::definitely_assigned;
use crate::do_passes::Transformation;
use crate::language::{Expr, Instr, Op, Point, Program, Var};
use crate::rules::Rule;
use crate::semantics::{Store, Trace, trace};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What traces are cut at. Nested loops take less; a program that takes more is likely endless.
pub const STEPS: usize = 200;

/// A program with stores to run it on.
#[derive(Clone, Debug)]
pub struct Run {
    pub program: Program,
    pub stores: Vec<Store>,
}

impl Run {
    pub fn traces(&self) -> Vec<Trace> {
        self.stores.iter().map(|store| trace(&self.program, store, STEPS)).collect()
    }
}

/// Random programs.
pub fn programs() -> impl Strategy<Value = Program> {
    bytes().prop_map(|bytes| Generator::new(&bytes).program(false))
}

/// Random programs that assign each variable once. Most have no result, because their loops compute
/// the same again and again.
pub fn single_assignment() -> impl Strategy<Value = Program> {
    bytes().prop_map(|bytes| Generator::new(&bytes).program(true))
}

/// Random programs with stores that define their inputs, and more.
pub fn runs() -> impl Strategy<Value = Run> {
    let values = prop::collection::vec(-3i64..8, 6);
    (programs(), prop::collection::vec(values, 1..4)).prop_map(|(program, all)| {
        let names = INPUTS.into_iter().chain(POOL);
        let store = |values: Vec<i64>| names.clone().map(Var::named).zip(values).collect();
        Run { program, stores: all.into_iter().map(store).collect() }
    })
}

/// Random transformations, more of those that leave something to rebuild.
pub fn transformations(
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<Transformation>> {
    let rule = prop_oneof![
        1 => Just(Rule::ConstantPropagation),
        3 => Just(Rule::DeadCode),
        3 => Just(Rule::Hoist),
        1 => Just(Rule::StrengthReduction),
    ];
    prop::collection::vec((rule, any::<u16>()), count)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

const INPUTS: [char; 2] = ['a', 'b'];
const POOL: [char; 6] = ['u', 'v', 'w', 'x', 'y', 'z'];
/// The counters of loops, by depth
const COUNTERS: [char; 2] = ['i', 'j'];

struct Generator<'a> {
    bytes: std::slice::Iter<'a, u8>,
    code: Vec<Draft>,
    /// For each label its point
    labels: Vec<Point>,
}

/// An instruction whose expression is not there yet, and jumps lead to labels.
enum Draft {
    Assign(char, Blank),
    If(Blank, usize),
    Goto(usize),
    Skip,
    Abort,
}

/// An expression to be.
enum Blank {
    Known(Expr),
    /// Random, from these numbers
    Random([u8; 4]),
}

impl<'a> Generator<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Generator { bytes: bytes.iter(), code: Vec::new(), labels: Vec::new() }
    }

    /// A number below a limit; 0 when the list is at its end.
    fn draw(&mut self, limit: usize) -> usize {
        self.bytes.next().map_or(0, |&byte| usize::from(byte)) % limit
    }

    fn blank(&mut self) -> Blank {
        Blank::Random([(); 4].map(|()| self.draw(256) as u8))
    }

    fn label(&mut self) -> usize {
        self.labels.push(0);
        self.labels.len() - 1
    }

    /// Puts a label before the next instruction.
    fn place(&mut self, label: usize) {
        // `in` is point 1.
        self.labels[label] = self.code.len() + 2;
    }

    fn block(&mut self, depth: usize) {
        let end = self.label();
        let count = if depth == 0 { 4 + self.draw(7) } else { 1 + self.draw(4) };
        for _ in 0..count {
            self.statement(depth, end);
        }
        self.place(end);
    }

    fn statement(&mut self, depth: usize, end: usize) {
        match self.draw(32) {
            0..=13 => {
                let x = POOL[self.draw(POOL.len())];
                let e = self.blank();
                self.code.push(Draft::Assign(x, e));
            }
            14 => {
                let e = self.blank();
                self.code.push(Draft::Assign(INPUTS[0], e));
            }
            15..=20 => self.code.push(Draft::Skip),
            21 | 22 => {
                let e = self.blank();
                self.code.push(Draft::If(e, end));
            }
            23 => {
                let (e, over) = (self.blank(), self.label());
                self.code.push(Draft::If(e, over));
                self.code.push(Draft::Abort);
                self.place(over);
            }
            24..=26 if depth < 2 => self.branch(depth),
            27..=30 if depth < 2 => self.counted_loop(depth),
            31 if depth < 2 => {
                let head = self.label();
                self.place(head);
                self.block(depth + 1);
                let e = self.blank();
                self.code.push(Draft::If(e, head));
            }
            _ => self.code.push(Draft::Skip),
        }
    }

    fn branch(&mut self, depth: usize) {
        let (e, then, end) = (self.blank(), self.label(), self.label());
        self.code.push(Draft::If(e, then));
        self.block(depth + 1);
        self.code.push(Draft::Goto(end));
        self.place(then);
        self.block(depth + 1);
        self.place(end);
    }

    fn counted_loop(&mut self, depth: usize) {
        let (counter, head) = (COUNTERS[depth], self.label());
        let x = Var::named(counter);
        let times = Expr::Num(1 + self.draw(3) as i64);
        let less = Expr::binary(Op::Sub, Expr::Var(x), Expr::Num(1));
        self.code.push(Draft::Assign(counter, Blank::Known(times)));
        self.place(head);
        self.block(depth + 1);
        self.code.push(Draft::Assign(counter, Blank::Known(less)));
        self.code.push(Draft::If(Blank::Known(Expr::Var(x)), head));
    }

    fn program(mut self, single_assignment: bool) -> Program {
        self.block(0);
        let outputs: Vec<usize> = (0..3).map(|_| self.draw(256)).collect();
        let target = |l: Point, name: char| {
            let x = Var::named(name);
            if single_assignment { x.defined_at(l) } else { x }
        };
        let zero = || Expr::Num(0);
        let inputs = Instr::In(INPUTS.map(Var::named).to_vec());
        let inner = (2..).zip(&self.code).map(|(l, draft)| match draft {
            Draft::Assign(name, _) => Instr::Assign(target(l, *name), zero()),
            Draft::If(_, label) => Instr::If(zero(), self.labels[*label]),
            Draft::Goto(label) => Instr::Goto(self.labels[*label]),
            Draft::Skip => Instr::Skip,
            Draft::Abort => Instr::Abort,
        });
        let end = [Instr::Out(Vec::new())];
        let all: Vec<Instr> = [inputs].into_iter().chain(inner).chain(end).collect();
        let mut program = Program::new(all).expect("in, others, out");
        let defined = definitely_assigned(&program);
        for (l, draft) in (2..).zip(&self.code) {
            let fill = |blank: &Blank| match blank {
                Blank::Known(e) if !single_assignment => e.clone(),
                Blank::Known(_) => expression([200, 0, 0, 0], &defined[l]),
                Blank::Random(numbers) => expression(*numbers, &defined[l]),
            };
            program = match draft {
                Draft::Assign(name, e) => program.with(l, Instr::Assign(target(l, *name), fill(e))),
                Draft::If(e, label) => program.with(l, Instr::If(fill(e), self.labels[*label])),
                _ => program,
            };
        }
        let n = program.len();
        let available: Vec<Var> = defined[n].iter().copied().collect();
        let chosen: BTreeSet<Var> =
            outputs.into_iter().map(|number| available[number % available.len()]).collect();
        program.with(n, Instr::Out(chosen.into_iter().collect()))
    }
}

/// An expression from numbers: a constant, a variable, or an operation on two of these.
fn expression(numbers: [u8; 4], defined: &BTreeSet<Var>) -> Expr {
    let [kind, left, right, op] = numbers;
    let defined: Vec<Var> = defined.iter().copied().collect();
    let constant = |number: u8| Expr::Num(i64::from(number) % 4);
    let var = |number: u8| match defined.get(usize::from(number) % defined.len().max(1)) {
        Some(x) => Expr::Var(*x),
        None => constant(number),
    };
    let op = [Op::Add, Op::Sub, Op::Mul, Op::Less][usize::from(op) % 4];
    match kind {
        0..=59 => constant(left),
        60..=89 => var(left),
        90..=129 => Expr::binary(op, var(left), constant(right)),
        // What strength reduction matches.
        130..=149 => Expr::binary(Op::Mul, Expr::Num(2), var(right)),
        _ => Expr::binary(op, var(left), var(right)),
    }
}
