//! The language (thesis Fig. 4.9, Def. 4.1), with a text form.
//!
//! A program is written one instruction a line, as it is printed:
//!
//! ```text
//! 1  in a
//! 2  x := a + 1
//! 3  if (x < 5) goto 5
//! 4  x := 0
//! 5  out x
//! ```
//!
//! Numbers of lines are optional when read. Operators are `+`, `-`, `*` and `<`, without
//! precedence: an operand that is an expression stands in parentheses.

use std::fmt;

/// A program point: the index of an instruction, from 1.
pub type Point = usize;

/// A variable, a letter. `x@3` is another variable than `x`: it is named for the value that `x` got
/// at point 3, as SSA form would name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Var {
    name: char,
    at: Option<Point>,
}

/// Arithmetic is modulo 2^64, so that every expression over defined variables has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Less,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Num(i64),
    Var(Var),
    Binary(Op, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instr {
    Assign(Var, Expr),
    /// Goes to the point if the value is not 0
    If(Expr, Point),
    Goto(Point),
    Skip,
    Abort,
    In(Vec<Var>),
    Out(Vec<Var>),
}

/// Instructions 1 to n: the first, and no other, is `in`, the last, and no other, is `out`.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    instructions: Vec<Instr>,
}

impl Var {
    pub fn named(name: char) -> Self {
        Var { name, at: None }
    }

    /// The variable for the value that this one got at a point.
    pub fn defined_at(self, at: Point) -> Self {
        Var { name: self.name, at: Some(at) }
    }

    /// The variable that this one is for a value of.
    pub fn without_point(self) -> Self {
        Var { name: self.name, at: None }
    }
}

impl Op {
    const ALL: [(Op, &str); 4] = [(Op::Add, "+"), (Op::Sub, "-"), (Op::Mul, "*"), (Op::Less, "<")];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(op, _)| *op == self).map_or("?", |(_, sign)| sign)
    }
}

impl Expr {
    pub fn binary(op: Op, left: Expr, right: Expr) -> Self {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// `freevar(e)`: its variables from left to right, each as often as it occurs.
    pub fn vars(&self) -> Vec<Var> {
        match self {
            Expr::Num(_) => Vec::new(),
            Expr::Var(x) => vec![*x],
            Expr::Binary(_, left, right) => [left.vars(), right.vars()].concat(),
        }
    }

    /// `freevar(x, e)`, and the pattern `e[x]`.
    pub fn has(&self, x: Var) -> bool {
        match self {
            Expr::Num(_) => false,
            Expr::Var(y) => *y == x,
            Expr::Binary(_, left, right) => left.has(x) || right.has(x),
        }
    }

    /// The expression with each of its variables replaced.
    pub fn replace(&self, with: &impl Fn(Var) -> Expr) -> Expr {
        match self {
            Expr::Num(value) => Expr::Num(*value),
            Expr::Var(x) => with(*x),
            Expr::Binary(op, left, right) => {
                Expr::binary(*op, left.replace(with), right.replace(with))
            }
        }
    }
}

impl Program {
    /// A program (Def. 4.1); none if the instructions are not one.
    pub fn new(instructions: Vec<Instr>) -> Option<Self> {
        let [Instr::In(_), inner @ .., Instr::Out(_)] = instructions.as_slice() else {
            return None;
        };
        let is_end = |i: &Instr| matches!(i, Instr::In(_) | Instr::Out(_));
        (!inner.iter().any(is_end)).then_some(Program { instructions })
    }

    /// |π|
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// The points 1 to n.
    pub fn points(&self) -> std::ops::RangeInclusive<Point> {
        1..=self.len()
    }

    /// I_l; none if l is not a point of the program.
    pub fn get(&self, l: Point) -> Option<&Instr> {
        self.instructions.get(l.checked_sub(1)?)
    }

    /// The instructions with the points that they are at.
    pub fn iter(&self) -> impl Iterator<Item = (Point, &Instr)> {
        (1..).zip(&self.instructions)
    }

    pub fn instructions(&self) -> &[Instr] {
        &self.instructions
    }

    /// The program with another instruction at a point.
    pub fn with(&self, l: Point, instruction: Instr) -> Self {
        let mut result = self.clone();
        result.instructions[l - 1] = instruction;
        result
    }

    /// The variables of `in`.
    pub fn inputs(&self) -> &[Var] {
        match self.instructions.first() {
            Some(Instr::In(inputs)) => inputs,
            _ => &[],
        }
    }

    /// The variables of `out`.
    pub fn outputs(&self) -> &[Var] {
        match self.instructions.last() {
            Some(Instr::Out(outputs)) => outputs,
            _ => &[],
        }
    }

    /// Reads the text form.
    ///
    /// # Panics
    ///
    /// If the text is not a program, with the line that is not an instruction.
    pub fn read(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let instructions: Vec<Instr> = lines
            .map(|line| read_instruction(line).unwrap_or_else(|| panic!("not one: {line}")))
            .collect();
        Program::new(instructions).unwrap_or_else(|| panic!("not a program: {text}"))
    }
}

fn read_instruction(line: &str) -> Option<Instr> {
    let spaced = line.replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    if words.len() > 1 && words[0].parse::<Point>().is_ok() {
        words.remove(0);
    }
    let vars =
        |words: &[&str]| -> Option<Vec<Var>> { words.iter().map(|word| read_var(word)).collect() };
    match words.as_slice() {
        ["skip"] => Some(Instr::Skip),
        ["abort"] => Some(Instr::Abort),
        ["goto", point] => Some(Instr::Goto(point.parse().ok()?)),
        ["in", rest @ ..] => Some(Instr::In(vars(rest)?)),
        ["out", rest @ ..] => Some(Instr::Out(vars(rest)?)),
        ["if", "(", inner @ .., ")", "goto", point] => {
            Some(Instr::If(read_expression(inner)?, point.parse().ok()?))
        }
        [x, ":=", rest @ ..] => Some(Instr::Assign(read_var(x)?, read_expression(rest)?)),
        _ => None,
    }
}

fn read_expression(words: &[&str]) -> Option<Expr> {
    let (left, rest) = read_operand(words)?;
    let Some((sign, rest)) = rest.split_first() else {
        return Some(left);
    };
    let (op, _) = Op::ALL.into_iter().find(|(_, s)| s == sign)?;
    let (right, rest) = read_operand(rest)?;
    rest.is_empty().then(|| Expr::binary(op, left, right))
}

fn read_operand<'a>(words: &'a [&'a str]) -> Option<(Expr, &'a [&'a str])> {
    let (first, rest) = words.split_first()?;
    if *first == "(" {
        let mut depth = 1;
        let end = rest.iter().position(|word| {
            depth += i32::from(*word == "(") - i32::from(*word == ")");
            depth == 0
        })?;
        return Some((read_expression(&rest[..end])?, &rest[end + 1..]));
    }
    let expression = match first.parse() {
        Ok(value) => Expr::Num(value),
        Err(_) => Expr::Var(read_var(first)?),
    };
    Some((expression, rest))
}

fn read_var(word: &str) -> Option<Var> {
    let mut letters = word.chars();
    let var = Var::named(letters.next().filter(|c| c.is_alphabetic())?);
    match letters.as_str() {
        "" => Some(var),
        at => Some(var.defined_at(at.strip_prefix('@')?.parse().ok()?)),
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}@{at}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = |e: &Expr| match e {
            Expr::Binary(..) => format!("({e})"),
            _ => e.to_string(),
        };
        match self {
            Expr::Num(value) => write!(f, "{value}"),
            Expr::Var(x) => write!(f, "{x}"),
            Expr::Binary(op, left, right) => {
                write!(f, "{} {} {}", operand(left), op.sign(), operand(right))
            }
        }
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |vars: &[Var]| vars.iter().map(|x| format!(" {x}")).collect::<String>();
        match self {
            Instr::Assign(x, e) => write!(f, "{x} := {e}"),
            Instr::If(e, m) => write!(f, "if ({e}) goto {m}"),
            Instr::Goto(m) => write!(f, "goto {m}"),
            Instr::Skip => write!(f, "skip"),
            Instr::Abort => write!(f, "abort"),
            Instr::In(vars) => write!(f, "in{}", list(vars)),
            Instr::Out(vars) => write!(f, "out{}", list(vars)),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(l, instruction)| writeln!(f, "{l:<3}{instruction}"))
    }
}

/// Counterexamples are read by people.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

#[test]
fn a_program_is_read_as_it_is_printed() {
    let text = "1  in a b\n2  x := a - -3\n3  if ((x < b) * (a + 2)) goto 6\n4  skip\n\
                5  goto 7\n6  abort\n7  x@2 := x\n8  out x x@2\n";
    assert_eq!(Program::read(text).to_string(), text);
}

#[test]
fn only_the_first_is_in_and_only_the_last_is_out() {
    let (start, end) = (Instr::In(Vec::new()), Instr::Out(Vec::new()));
    assert!(Program::new(vec![start.clone(), end.clone()]).is_some());
    assert!(Program::new(vec![start.clone()]).is_none());
    assert!(Program::new(vec![end.clone(), end.clone()]).is_none());
    assert!(Program::new(vec![start.clone(), end.clone(), end.clone()]).is_none());
    assert!(Program::new(vec![start.clone(), start, end]).is_none());
}
