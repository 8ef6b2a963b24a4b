//! Random functions: loops, branches, switches, memory, calls, and much that passes can do
//! something about (the same expression again, what does not change in a loop, branches on
//! constants). Some have much that is poison or undefined, and freezes of it.

use crate::machine::mix;
use std::fmt::Write;

/// Numbers by seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(&[self.0]) >> 16) as usize % count
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = mix(&[self.0]);
        // Small numbers, and those around the ends, matter most.
        match word & 7 {
            0..4 => word >> 8 & 15,
            4 => (word >> 8 & 7).wrapping_neg(),
            5 => (1 << 31) - (word >> 8 & 1),
            _ => word >> 8,
        }
    }
}

/// What the functions may use.
pub const PRELUDE: &str = "
@g = global [32 x i32] zeroinitializer
@h = global [32 x i32] zeroinitializer
declare i32 @ext(i32)
declare i32 @take(ptr)
declare i32 @pure(i32 noundef) nounwind willreturn memory(none)
declare i32 @maybe(i32) nounwind willreturn memory(none)
declare i32 @peek(ptr noundef) nounwind willreturn memory(read)
";

/// An expression of 32 bits.
#[derive(Clone)]
enum Expr {
    Variable(usize),
    Constant(i32),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// Signed or unsigned, by something that is not zero
    Divide(&'static str, Box<Expr>, Box<Expr>),
    Choose(&'static str, Box<Expr>, Box<Expr>, Box<Expr>),
    /// Through another width
    Through(&'static str, &'static str, Box<Expr>),
    Load(&'static str, Box<Expr>),
    /// A byte that is put above another one and taken out again; the whole may be part of an
    /// address, which must not be poison
    Field(Box<Expr>, Box<Expr>, bool),
    Pure(Box<Expr>),
    /// A call that may choose what poison becomes
    Maybe(Box<Expr>),
    Freeze(Box<Expr>),
    /// By its name
    Loose(&'static str),
}

const VARIABLES: usize = 6;

struct Writer {
    random: Random,
    text: String,
    next: usize,
    /// What was written before, to be written again
    pool: Vec<Expr>,
    /// Where `break` and `continue` go
    loops: Vec<[String; 2]>,
    statements: usize,
    closed: bool,
    kind: Kind,
}

/// What there is more of than of other things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// There are freezes, and much that is poison or undefined.
    Freezes,
    /// Blocks that lead anywhere among themselves
    Mazes,
}

/// A module with a function `f`, of about so many statements.
pub fn module(seed: u64, statements: usize) -> String {
    text(seed, statements, Kind::Plain)
}

/// The same with freezes, and much that is poison or undefined.
pub fn with_freezes(seed: u64, statements: usize) -> String {
    text(seed, statements, Kind::Freezes)
}

/// The same with blocks that lead anywhere among themselves: joins of several branches where a loop
/// begins, jumps between them, loops with several ways in.
pub fn with_mazes(seed: u64, statements: usize) -> String {
    text(seed, statements, Kind::Mazes)
}

fn text(seed: u64, statements: usize, kind: Kind) -> String {
    let mut writer = Writer {
        random: Random(seed),
        text: String::new(),
        next: 0,
        pool: Vec::new(),
        loops: Vec::new(),
        statements,
        closed: false,
        kind,
    };
    writer.function();
    format!("{PRELUDE}\n{}", writer.text)
}

impl Writer {
    fn freezes(&self) -> bool {
        self.kind == Kind::Freezes
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn fresh(&mut self, what: &str) -> String {
        self.next += 1;
        format!("{what}{}", self.next)
    }

    fn begin(&mut self, label: &str) {
        if !self.closed {
            self.line(&format!("br label %{label}"));
        }
        let _ = writeln!(self.text, "{label}:");
        self.closed = false;
    }

    fn end(&mut self, line: &str) {
        if !self.closed {
            self.line(line);
        }
        self.closed = true;
    }

    fn function(&mut self) {
        self.text += "define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {\nentry:\n";
        for variable in 0..VARIABLES {
            self.line(&format!("%v{variable} = alloca i32"));
        }
        self.line("%t = alloca [4 x i32]");
        for (variable, first) in ["%a", "%b", "%n", "0", "3", "1"].into_iter().enumerate() {
            // One is undefined until it is written to.
            if !self.freezes() || variable != 4 {
                self.line(&format!("store i32 {first}, ptr %v{variable}"));
            }
        }
        // Passes fill those at once.
        let has_zeros = self.random.one_in(3);
        let mut places = [0, 1, 2, 3];
        places.rotate_left(if has_zeros { self.random.below(4) } else { 0 });
        for place in places {
            let cell = self.fresh("%x");
            self.line(&format!("{cell} = getelementptr [4 x i32], ptr %t, i32 0, i32 {place}"));
            let first = if has_zeros { 0 } else { place };
            self.line(&format!("store i32 {first}, ptr {cell}"));
        }
        while self.statements > 0 {
            self.statement(0);
        }
        let result = self.fresh("%x");
        self.line(&format!("{result} = load i32, ptr %v0"));
        self.end(&format!("ret i32 {result}"));
        self.text += "}\n";
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            if self.closed || self.statements == 0 {
                break;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        self.statements = self.statements.saturating_sub(1);
        let mazes = if self.kind == Kind::Mazes { 8 } else { 0 };
        match self.random.below(if depth < 3 { 20 + mazes } else { 9 }) {
            0..5 => {
                let expr = self.expr(3);
                let value = self.value(&expr);
                let variable = self.random.below(VARIABLES - 1);
                self.line(&format!("store i32 {value}, ptr %v{variable}"));
            }
            5 | 6 => {
                let (to, index) = (self.region(), self.expr(1));
                let (expr, address) = (self.expr(2), self.address(to, &index));
                let value = self.value(&expr);
                self.line(&format!("store i32 {value}, ptr {address}"));
            }
            7 => {
                let (expr, result) = (self.expr(1), self.fresh("%x"));
                let value = self.value(&expr);
                self.line(&format!("{result} = call i32 @ext(i32 {value})"));
                self.line(&format!("store i32 {result}, ptr %v{}", self.next % VARIABLES));
            }
            8 => match self.random.below(4) {
                0 if depth > 0 => {
                    let expr = self.expr(1);
                    let value = self.value(&expr);
                    self.end(&format!("ret i32 {value}"));
                }
                1 => {
                    let result = self.fresh("%x");
                    self.line(&format!("{result} = call i32 @take(ptr %t)"));
                }
                way => {
                    if let Some([next, out]) = self.loops.last().cloned() {
                        let to = if way == 2 { next } else { out };
                        self.end(&format!("br label %{to}"));
                    }
                }
            },
            9..12 => self.branch(depth),
            12 => self.switch(depth),
            13 => self.tally(depth),
            14 => self.split_store(depth),
            15 | 16 => self.choice(),
            20..24 => self.maze(),
            24.. => self.circuit(),
            _ => self.repeat(depth),
        }
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.condition();
        let [yes, no, after] = ["yes", "no", "after"].map(|what| self.fresh(what));
        self.end(&format!("br i1 {condition}, label %{yes}, label %{no}"));
        self.begin(&yes);
        self.block(depth + 1);
        self.end(&format!("br label %{after}"));
        self.begin(&no);
        if self.random.one_in(2) {
            self.block(depth + 1);
        }
        self.end(&format!("br label %{after}"));
        self.begin(&after);
    }

    fn switch(&mut self, depth: usize) {
        let expr = self.expr(1);
        let value = self.value(&expr);
        let value = self.strict("i32", value);
        let narrow = self.fresh("%x");
        self.line(&format!("{narrow} = and i32 {value}, 3"));
        let [one, two, other, after] =
            ["one", "two", "other", "after"].map(|what| self.fresh(what));
        self.end(&format!(
            "switch i32 {narrow}, label %{other} [ i32 0, label %{one} i32 1, label %{two} i32 2, \
             label %{one} ]"
        ));
        for (label, next) in [(&one, &two), (&two, &after), (&other, &after)] {
            self.begin(label);
            self.block(depth + 1);
            let to = if self.random.one_in(3) { next } else { &after };
            self.end(&format!("br label %{to}"));
        }
        self.begin(&after);
    }

    fn repeat(&mut self, depth: usize) {
        let [counter, head, body, next, out] =
            ["%i", "head", "body", "next", "out"].map(|what| self.fresh(what));
        let limit = if self.random.one_in(2) {
            let (expr, narrow) = (self.expr(0), self.fresh("%x"));
            let value = self.value(&expr);
            let value = self.strict("i32", value);
            self.line(&format!("{narrow} = and i32 {value}, 3"));
            narrow
        } else {
            (1 + self.random.below(4)).to_string()
        };
        self.allocate(&counter);
        self.line(&format!("store i32 0, ptr {counter}"));
        self.end(&format!("br label %{head}"));
        self.begin(&head);
        let [now, more] = ["%x", "%c"].map(|what| self.fresh(what));
        self.line(&format!("{now} = load i32, ptr {counter}"));
        self.line(&format!("{more} = icmp slt i32 {now}, {limit}"));
        self.end(&format!("br i1 {more}, label %{body}, label %{out}"));
        self.begin(&body);
        if self.random.one_in(2) {
            self.line(&format!("store i32 {now}, ptr %v{}", self.random.0 as usize % 4));
        }
        self.loops.push([next.clone(), out.clone()]);
        self.block(depth + 1);
        self.loops.pop();
        self.end(&format!("br label %{next}"));
        self.begin(&next);
        let [old, new] = ["%x", "%x"].map(|what| self.fresh(what));
        self.line(&format!("{old} = load i32, ptr {counter}"));
        self.line(&format!("{new} = add nsw i32 {old}, 1"));
        self.line(&format!("store i32 {new}, ptr {counter}"));
        self.end(&format!("br label %{head}"));
        self.begin(&out);
    }

    /// A loop that keeps numbers in places that stay the same: those can be promoted to registers.
    fn tally(&mut self, depth: usize) {
        let [counter, body, next, out] = ["%i", "body", "next", "out"].map(|what| self.fresh(what));
        self.allocate(&counter);
        self.line(&format!("store i32 0, ptr {counter}"));
        self.begin(&body);
        for _ in 0..1 + self.random.below(3) {
            let place = self.place();
            let expr = self.expr(1);
            let [old, new] = ["%x", "%x"].map(|what| self.fresh(what));
            let value = self.value(&expr);
            match self.random.below(4) {
                0 => self.line(&format!("{new} = add i32 {value}, 1")),
                way => {
                    self.line(&format!("{old} = load i32, ptr {place}"));
                    let operation = ["add", "xor", "mul"][way - 1];
                    self.line(&format!("{new} = {operation} i32 {old}, {value}"));
                }
            }
            self.line(&format!("store i32 {new}, ptr {place}"));
        }
        if self.random.one_in(2) {
            self.loops.push([next.clone(), out.clone()]);
            self.block(depth + 1);
            self.loops.pop();
        }
        self.end(&format!("br label %{next}"));
        self.begin(&next);
        let [old, new, more] = ["%x", "%x", "%c"].map(|what| self.fresh(what));
        self.line(&format!("{old} = load i32, ptr {counter}"));
        self.line(&format!("{new} = add nsw i32 {old}, 1"));
        self.line(&format!("store i32 {new}, ptr {counter}"));
        let most = self.random.below(4);
        self.line(&format!("{more} = icmp slt i32 {new}, {most}"));
        self.end(&format!("br i1 {more}, label %{body}, label %{out}"));
        self.begin(&out);
    }

    /// Both ways of a branch write to one place.
    fn split_store(&mut self, depth: usize) {
        let (condition, place) = (self.condition(), self.place());
        let [yes, no, after] = ["yes", "no", "after"].map(|what| self.fresh(what));
        self.end(&format!("br i1 {condition}, label %{yes}, label %{no}"));
        for label in [&yes, &no] {
            self.begin(label);
            let expr = self.expr(2);
            let value = self.value(&expr);
            self.line(&format!("store i32 {value}, ptr {place}"));
            if self.random.one_in(4) {
                self.block(depth + 1);
            }
            self.end(&format!("br label %{after}"));
        }
        self.begin(&after);
    }

    /// A branch that only chooses what a variable has: a pass may make a select of it.
    fn choice(&mut self) {
        let variable = self.random.below(VARIABLES - 1);
        let [from, other] = [0; 2].map(|_| self.random.below(VARIABLES));
        let number = 1 + self.random.below(9);
        let divisor = self.fresh("%x");
        let divides = self.random.one_in(4);
        let condition = if divides {
            let is_other = self.fresh("%c");
            let read = if self.freezes() { self.fresh("%x") } else { divisor.clone() };
            self.line(&format!("{read} = load i32, ptr %v{other}"));
            if self.freezes() {
                self.line(&format!("{divisor} = freeze i32 {read}"));
            }
            self.line(&format!("{is_other} = icmp ne i32 {divisor}, 0"));
            is_other
        } else {
            self.condition()
        };
        let [yes, no, after] = ["yes", "no", "after"].map(|what| self.fresh(what));
        self.end(&format!("br i1 {condition}, label %{yes}, label %{no}"));
        self.begin(&yes);
        let [old, new] = ["%x", "%x"].map(|what| self.fresh(what));
        self.line(&format!("{old} = load i32, ptr %v{from}"));
        if divides {
            self.line(&format!("{new} = udiv i32 {old}, {divisor}"));
        } else {
            let operation = ["add", "sub nsw", "mul", "xor", "lshr"][self.random.below(5)];
            self.line(&format!("{new} = {operation} i32 {old}, {number}"));
        }
        self.line(&format!("store i32 {new}, ptr %v{variable}"));
        self.end(&format!("br label %{after}"));
        self.begin(&no);
        if self.random.one_in(2) {
            let [old, new] = ["%x", "%x"].map(|what| self.fresh(what));
            self.line(&format!("{old} = load i32, ptr %v{other}"));
            self.line(&format!("{new} = mul i32 {old}, 3"));
            self.line(&format!("store i32 {new}, ptr %v{variable}"));
        }
        self.end(&format!("br label %{after}"));
        self.begin(&after);
    }

    /// Gives a variable memory of its own, in the entry block.
    fn allocate(&mut self, variable: &str) {
        let entry = self.text.find("entry:\n").map_or(0, |at| at + "entry:\n".len());
        self.text.insert_str(entry, &format!("  {variable} = alloca i32\n"));
    }

    /// Takes one of a variable; the condition that some is left.
    fn spend(&mut self, fuel: &str) -> String {
        let [old, new, is_left] = ["%x", "%x", "%c"].map(|what| self.fresh(what));
        self.line(&format!("{old} = load i32, ptr {fuel}"));
        self.line(&format!("{new} = sub i32 {old}, 1"));
        self.line(&format!("store i32 {new}, ptr {fuel}"));
        self.line(&format!("{is_left} = icmp sgt i32 {new}, 0"));
        is_left
    }

    /// Blocks that lead anywhere among themselves, back only a few times. What they compare is
    /// mostly what others of them have set.
    fn maze(&mut self) {
        let [fuel, out] = ["%i", "out"].map(|what| self.fresh(what));
        let blocks: Vec<String> =
            (0..3 + self.random.below(5)).map(|_| self.fresh("maze")).collect();
        self.allocate(&fuel);
        let most = 1 + self.random.below(4);
        self.line(&format!("store i32 {most}, ptr {fuel}"));
        let mut again = Vec::new();
        for (index, label) in blocks.iter().enumerate() {
            self.begin(label);
            match self.random.below(6) {
                0 | 1 => {}
                2 => {
                    let (value, variable) = (self.random.below(3), self.random.below(3));
                    self.line(&format!("store i32 {value}, ptr %v{variable}"));
                }
                3 => {
                    let expr = self.expr(1);
                    let (value, variable) = (self.value(&expr), self.random.below(3));
                    self.line(&format!("store i32 {value}, ptr %v{variable}"));
                }
                way => {
                    let (read, variable) = (self.fresh("%x"), self.random.below(3));
                    self.line(&format!("{read} = load i32, ptr %v{variable}"));
                    if way == 4 {
                        let result = self.fresh("%x");
                        self.line(&format!("{result} = call i32 @ext(i32 {read})"));
                    } else {
                        let place = self.place();
                        self.line(&format!("store i32 {read}, ptr {place}"));
                    }
                }
            }
            let mut to = |writer: &mut Self| match writer.random.below(8) {
                0..4 => blocks.get(index + 1).unwrap_or(&out).clone(),
                4 | 5 => {
                    let further = index + 1 + writer.random.below(blocks.len() - index);
                    blocks.get(further).unwrap_or(&out).clone()
                }
                _ => {
                    let [check, back] =
                        [writer.fresh("back"), blocks[writer.random.below(index + 1)].clone()];
                    again.push((check.clone(), back));
                    check
                }
            };
            let targets = [to(self), to(self)];
            if self.random.one_in(5) {
                self.end(&format!("br label %{}", targets[0]));
                continue;
            }
            let condition = self.test();
            self.end(&format!("br i1 {condition}, label %{}, label %{}", targets[0], targets[1]));
        }
        for (check, back) in again {
            self.begin(&check);
            let more = self.spend(&fuel);
            self.end(&format!("br i1 {more}, label %{back}, label %{out}"));
        }
        self.begin(&out);
    }

    /// A condition: mostly one of a variable and a small number.
    fn test(&mut self) -> String {
        if self.random.one_in(4) {
            return self.condition();
        }
        let [read, result] = ["%x", "%c"].map(|what| self.fresh(what));
        let predicate = ["eq", "ne", "eq", "ult"][self.random.below(4)];
        let (variable, constant) = (self.random.below(3), self.random.below(3));
        self.line(&format!("{read} = load i32, ptr %v{variable}"));
        self.line(&format!("{result} = icmp {predicate} i32 {read}, {constant}"));
        result
    }

    /// What a variable has is chosen by `&&` or `||`, and a loop may begin at their join, or lead
    /// back into them.
    fn circuit(&mut self) {
        let [fuel, second, other, join, more, out] =
            ["%i", "second", "other", "join", "more", "out"].map(|what| self.fresh(what));
        self.allocate(&fuel);
        let (most, variable) = (1 + self.random.below(3), self.random.below(3));
        self.line(&format!("store i32 {most}, ptr {fuel}"));
        let set = |writer: &mut Self| {
            if writer.random.one_in(2) {
                let expr = writer.expr(1);
                let value = writer.value(&expr);
                writer.line(&format!("store i32 {value}, ptr %v{variable}"));
            }
        };
        set(self);
        let (first, is_and) = (self.test(), self.random.one_in(2));
        let ways = |to: &str| match is_and {
            true => format!("label %{to}, label %{other}"),
            false => format!("label %{other}, label %{to}"),
        };
        self.end(&format!("br i1 {first}, {}", ways(&second)));
        self.begin(&second);
        let next = self.test();
        self.end(&format!("br i1 {next}, {}", ways(&join)));
        self.begin(&other);
        let constant = self.random.below(3);
        self.line(&format!("store i32 {constant}, ptr %v{variable}"));
        self.end(&format!("br label %{join}"));
        self.begin(&join);
        let [read, result] = ["%x"; 2].map(|what| self.fresh(what));
        self.line(&format!("{read} = load i32, ptr %v{variable}"));
        self.line(&format!("{result} = call i32 @ext(i32 {read})"));
        let again = self.test();
        self.end(&format!("br i1 {again}, label %{more}, label %{out}"));
        self.begin(&more);
        set(self);
        let is_left = self.spend(&fuel);
        let back = [&join, &join, &other, &second][self.random.below(4)];
        self.end(&format!("br i1 {is_left}, label %{back}, label %{out}"));
        self.begin(&out);
    }

    /// What must not be poison: it is frozen nearly always.
    fn strict(&mut self, ty: &str, value: String) -> String {
        if !self.freezes() || self.random.one_in(9) {
            return value;
        }
        let frozen = self.fresh("%f");
        self.line(&format!("{frozen} = freeze {ty} {value}"));
        frozen
    }

    /// A place that is always the same.
    fn place(&mut self) -> String {
        let index = self.random.below(3);
        match self.random.below(4) {
            0 => "@h".to_string(),
            1 => format!("getelementptr (i32, ptr @h, i32 {index})"),
            2 => {
                let cell = self.fresh("%x");
                self.line(&format!("{cell} = getelementptr i32, ptr %p, i32 {index}"));
                cell
            }
            _ => format!("getelementptr (i32, ptr @g, i32 {})", 8 + index),
        }
    }

    fn condition(&mut self) -> String {
        let predicates = ["eq", "ne", "slt", "ult", "sge", "ugt", "eq"];
        let predicate = predicates[self.random.below(predicates.len())];
        let (a, b) = (self.expr(1), self.expr(0));
        let (a, b) = (self.value(&a), self.value(&b));
        let result = self.fresh("%c");
        if self.random.one_in(3) {
            let [a, b] = [a, b].map(|value| self.strict("i32", value));
            self.line(&format!("{result} = icmp {predicate} i32 {a}, {b}"));
            return result;
        }
        self.line(&format!("{result} = icmp {predicate} i32 {a}, {b}"));
        self.strict("i1", result)
    }

    fn region(&mut self) -> &'static str {
        ["@g", "@h", "%p", "%t", "@g"][self.random.below(5)]
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.random.below(4) {
                0 if self.freezes() && self.random.one_in(6) => {
                    Expr::Loose(["poison", "undef"][self.random.below(2)])
                }
                0 => Expr::Constant(self.random.word() as i32),
                _ => Expr::Variable(self.random.below(VARIABLES)),
            };
        }
        if !self.pool.is_empty() && self.random.one_in(4) {
            let place = self.random.below(self.pool.len());
            return self.pool[place].clone();
        }
        let a = Box::new(self.expr(depth - 1));
        let b = Box::new(self.expr(depth - 1));
        let expr = match self.random.below(if self.freezes() { 24 } else { 16 }) {
            16 | 17 => Expr::Freeze(a),
            18 => Expr::Field(a, b, self.random.one_in(2)),
            19 => Expr::Maybe(a),
            20.. => {
                let of = [
                    "shl nuw",
                    "shl nsw",
                    "lshr exact",
                    "ashr exact",
                    "or disjoint",
                    "sub nuw",
                    "sub nsw",
                    "add nuw",
                    "mul nsw",
                    "shl",
                ];
                Expr::Binary(of[self.random.below(of.len())], a, b)
            }
            0..7 => {
                let of = ["add", "sub", "mul", "and", "or", "xor", "add nsw", "mul nuw", "add"];
                Expr::Binary(of[self.random.below(of.len())], a, b)
            }
            7 => Expr::Binary(["shl", "lshr", "ashr"][self.random.below(3)], a, b),
            8 => Expr::Divide(["udiv", "sdiv", "urem", "srem"][self.random.below(4)], a, b),
            9 | 10 => {
                let third = Box::new(self.expr(depth - 1));
                Expr::Choose(["slt", "eq", "ult", "ne"][self.random.below(4)], a, b, third)
            }
            11 | 12 => {
                let of = [("sext", "i64"), ("zext", "i64"), ("trunc", "i8"), ("trunc", "i1")];
                let (cast, width) = of[self.random.below(of.len())];
                Expr::Through(cast, width, a)
            }
            13 => Expr::Load(self.region(), a),
            14 => Expr::Field(a, b, self.random.one_in(2)),
            _ => Expr::Pure(a),
        };
        self.pool.push(expr.clone());
        expr
    }

    fn address(&mut self, region: &str, index: &Expr) -> String {
        let value = self.value(index);
        let value = self.strict("i32", value);
        let [narrow, cell] = ["%x", "%x"].map(|what| self.fresh(what));
        let most = if region == "%t" { 3 } else { 7 };
        self.line(&format!("{narrow} = and i32 {value}, {most}"));
        let inbounds = if self.freezes() && self.random.one_in(2) { "inbounds " } else { "" };
        self.line(&format!("{cell} = getelementptr {inbounds}i32, ptr {region}, i32 {narrow}"));
        cell
    }

    fn value(&mut self, expr: &Expr) -> String {
        let operation = match expr {
            Expr::Constant(constant) => return constant.to_string(),
            Expr::Loose(name) => return name.to_string(),
            Expr::Freeze(a) => format!("freeze i32 {}", self.value(a)),
            Expr::Maybe(a) => format!("call i32 @maybe(i32 {})", self.value(a)),
            Expr::Variable(variable) => format!("load i32, ptr %v{variable}"),
            Expr::Binary(operation, a, b) => {
                let (a, mut b) = (self.value(a), self.value(b));
                // A shift by too much is poison.
                if operation.contains("sh") && !(self.freezes() && self.random.one_in(3)) {
                    let by = self.fresh("%x");
                    self.line(&format!("{by} = and i32 {b}, 15"));
                    b = by;
                }
                format!("{operation} i32 {a}, {b}")
            }
            Expr::Divide(operation, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let b = self.strict("i32", b);
                let [narrow, by] = ["%x", "%x"].map(|what| self.fresh(what));
                self.line(&format!("{narrow} = and i32 {b}, 62"));
                self.line(&format!("{by} = or i32 {narrow}, 1"));
                format!("{operation} i32 {a}, {by}")
            }
            Expr::Choose(predicate, a, b, c) => {
                let [a, b, c] = [a, b, c].map(|e| self.value(e));
                let condition = self.fresh("%c");
                self.line(&format!("{condition} = icmp {predicate} i32 {a}, {b}"));
                let is_strict = self.random.one_in(2);
                let condition = if is_strict { self.strict("i1", condition) } else { condition };
                format!("select i1 {condition}, i32 {b}, i32 {c}")
            }
            Expr::Through(cast, width, a) => {
                let (a, wide) = (self.value(a), self.fresh("%x"));
                let nneg = self.freezes() && *cast == "zext" && self.random.one_in(2);
                let flag = if nneg { " nneg" } else { "" };
                self.line(&format!("{wide} = {cast}{flag} i32 {a} to {width}"));
                match (*cast, *width) {
                    ("trunc", "i8") => format!("sext {width} {wide} to i32"),
                    ("trunc", _) => format!("zext {width} {wide} to i32"),
                    _ => {
                        let high = self.fresh("%x");
                        self.line(&format!("{high} = lshr {width} {wide}, 7"));
                        format!("trunc {width} {high} to i32")
                    }
                }
            }
            Expr::Field(low, high, is_address) => {
                let bytes = [low, high].map(|part| {
                    let (part, byte) = (self.value(part), self.fresh("%x"));
                    self.line(&format!("{byte} = and i32 {part}, 255"));
                    byte
                });
                let [shifted, whole] = ["%x", "%x"].map(|what| self.fresh(what));
                self.line(&format!("{shifted} = shl nuw i32 {}, 8", bytes[1]));
                self.line(&format!("{whole} = or i32 {}, {shifted}", bytes[0]));
                if *is_address {
                    let [narrow, cell, read] = ["%x"; 3].map(|what| self.fresh(what));
                    self.line(&format!("{narrow} = and i32 {whole}, 7"));
                    self.line(&format!("{cell} = getelementptr i32, ptr @g, i32 {narrow}"));
                    self.line(&format!("{read} = load i32, ptr {cell}"));
                }
                format!("lshr i32 {whole}, 8")
            }
            Expr::Load(region, index) => format!("load i32, ptr {}", self.address(region, index)),
            Expr::Pure(a) => {
                let a = self.value(a);
                let a = self.strict("i32", a);
                if self.random.one_in(2) {
                    format!("call i32 @pure(i32 {a})")
                } else {
                    format!("call i32 @peek(ptr {})", self.address("@g", &Expr::Constant(1)))
                }
            }
        };
        let result = self.fresh("%x");
        self.line(&format!("{result} = {operation}"));
        result
    }
}
