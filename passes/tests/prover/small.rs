//! Expressions of numbers so small that all of them can be tried.

use super::predicates;
use proptest::prelude::*;
use std::fmt::Write;

/// Bits of a number: as many as a shift can be by have bits of their own.
pub const BITS: u32 = 4;

const MASK: u32 = (1 << BITS) - 1;

/// An operation on two numbers
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    UDiv,
    SDiv,
    URem,
    SRem,
    SMax,
    UMin,
    /// The first one if it is below the second one, else the difference
    Below(&'static str),
}

/// An expression over `%x` and `%y`
#[derive(Clone, Debug)]
pub enum Expr {
    X,
    Y,
    Number(u32),
    /// With `nsw` and `nuw`, if the operation can have them
    Of(Op, [bool; 2], Box<Expr>, Box<Expr>),
    /// Made wider, with its sign or not, shifted to the right by a bit, and made narrow again
    Wide(bool, Box<Expr>),
}

fn signed(number: u32) -> i32 {
    ((number << (32 - BITS)) as i32) >> (32 - BITS)
}

impl Op {
    fn has_flags(self) -> bool {
        matches!(self, Op::Add | Op::Sub | Op::Mul | Op::Shl)
    }

    fn is_shift(self) -> bool {
        matches!(self, Op::Shl | Op::LShr | Op::AShr)
    }

    /// Of small constants alone it is total.
    fn is_by_constant(self) -> bool {
        matches!(self, Op::UDiv | Op::SDiv | Op::URem | Op::SRem)
    }

    fn name(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Shl => "shl",
            Op::LShr => "lshr",
            Op::AShr => "ashr",
            Op::UDiv => "udiv",
            Op::SDiv => "sdiv",
            Op::URem => "urem",
            Op::SRem => "srem",
            Op::SMax => "llvm.smax",
            Op::UMin => "llvm.umin",
            Op::Below(predicate) => predicate,
        }
    }

    /// The result as it is in mathematics, of signed or unsigned numbers.
    fn wide(self, a: i64, b: i64) -> i64 {
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            _ => a << b,
        }
    }

    fn narrow(self, a: u32, b: u32) -> u32 {
        let (of_a, of_b) = (signed(a), signed(b));
        let result = match self {
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Shl => a << b,
            Op::LShr => a >> b,
            Op::AShr => (of_a >> b) as u32,
            Op::UDiv => a / b,
            Op::SDiv => (of_a / of_b) as u32,
            Op::URem => a % b,
            Op::SRem => (of_a % of_b) as u32,
            Op::SMax => of_a.max(of_b) as u32,
            Op::UMin => a.min(b),
            Op::Below(predicate) if predicates::holds(predicate, (a, b), (of_a, of_b)) => a,
            Op::Below(_) => a.wrapping_sub(b),
        };
        result & MASK
    }
}

impl Expr {
    /// True if it shifts by more than a constant.
    pub fn has_partial_shifts(&self) -> bool {
        match self {
            Expr::X | Expr::Y | Expr::Number(_) => false,
            Expr::Of(op, _, a, b) => {
                let is_partial = op.is_shift() && !matches!(**b, Expr::Number(1..BITS));
                is_partial || a.has_partial_shifts() || b.has_partial_shifts()
            }
            Expr::Wide(_, of) => of.has_partial_shifts(),
        }
    }

    /// What it is for some arguments; none if it is poison, which it is without flags only if it
    /// shifts too far.
    pub fn value(&self, x: u32, y: u32, has_flags: bool) -> Option<u32> {
        match self {
            Expr::X => Some(x),
            Expr::Y => Some(y),
            Expr::Number(number) => Some(*number),
            Expr::Of(op, flags, a, b) => {
                let (a, b) = (a.value(x, y, has_flags)?, b.value(x, y, has_flags)?);
                if op.is_shift() && b >= BITS {
                    return None;
                }
                let result = op.narrow(a, b);
                if has_flags && op.has_flags() {
                    // What is shifted by is no signed number.
                    let by = if *op == Op::Shl { i64::from(b) } else { i64::from(signed(b)) };
                    let of_signed = op.wide(signed(a).into(), by);
                    let of_unsigned = op.wide(a.into(), b.into());
                    let overflows =
                        [of_signed != i64::from(signed(result)), of_unsigned != i64::from(result)];
                    if flags.iter().zip(overflows).any(|(&flag, overflows)| flag && overflows) {
                        return None;
                    }
                }
                Some(result)
            }
            Expr::Wide(is_signed, of) => {
                let of = of.value(x, y, has_flags)?;
                let wide = if *is_signed { signed(of) as u32 } else { of };
                Some((wide >> 1) & MASK)
            }
        }
    }

    /// Writes the instructions that compute it; its name.
    pub fn write(&self, name: &str, text: &mut String) -> String {
        match self {
            Expr::X => "%x".to_string(),
            Expr::Y => "%y".to_string(),
            Expr::Number(number) => number.to_string(),
            Expr::Of(op, flags, a, b) => {
                let a = a.write(&format!("{name}l"), text);
                let b = b.write(&format!("{name}r"), text);
                let own = op.name();
                let line = match op {
                    Op::SMax | Op::UMin => {
                        format!("  %{name} = call i{BITS} @{own}.i{BITS}(i{BITS} {a}, i{BITS} {b})")
                    }
                    Op::Below(_) => format!(
                        "  %{name}c = icmp {own} i{BITS} {a}, {b}\n  \
                         %{name}d = sub i{BITS} {a}, {b}\n  \
                         %{name} = select i1 %{name}c, i{BITS} {a}, i{BITS} %{name}d"
                    ),
                    _ => {
                        let [nsw, nuw] = flags.map(|flag| flag && op.has_flags());
                        let nsw = if nsw { " nsw" } else { "" };
                        let nuw = if nuw { " nuw" } else { "" };
                        format!("  %{name} = {own}{nuw}{nsw} i{BITS} {a}, {b}")
                    }
                };
                let _ = writeln!(text, "{line}");
                format!("%{name}")
            }
            Expr::Wide(is_signed, of) => {
                let of = of.write(&format!("{name}w"), text);
                let extended = if *is_signed { "sext" } else { "zext" };
                let _ = writeln!(
                    text,
                    "  %{name}e = {extended} i{BITS} {of} to i8\n  \
                     %{name}s = lshr i8 %{name}e, 1\n  \
                     %{name} = trunc i8 %{name}s to i{BITS}"
                );
                format!("%{name}")
            }
        }
    }

    /// Something that is often the same, and sometimes not.
    fn rewritten(&self, choice: u32) -> Expr {
        let of = |op: Op, a: &Expr, b: &Expr| {
            Expr::Of(op, [false; 2], Box::new(a.clone()), Box::new(b.clone()))
        };
        let next = choice.rotate_right(3) ^ 0x5bd1;
        match self {
            Expr::Of(op, flags, a, b) => {
                let (a, b) = (&a.rewritten(next), &b.rewritten(next.rotate_right(5)));
                match (op, choice % 4) {
                    (Op::Add, 0) => of(Op::Sub, a, &of(Op::Sub, &Expr::Number(0), b)),
                    (Op::Add, 1) => of(
                        Op::Add,
                        &of(Op::Xor, a, b),
                        &of(Op::Mul, &Expr::Number(2), &of(Op::And, a, b)),
                    ),
                    (Op::Sub, 0) => of(
                        Op::Add,
                        &of(Op::Xor, b, &Expr::Number(MASK)),
                        &of(Op::Add, a, &Expr::Number(1)),
                    ),
                    (Op::Xor, 0) => of(Op::Sub, &of(Op::Or, a, b), &of(Op::And, a, b)),
                    (Op::Mul | Op::And | Op::Or | Op::SMax | Op::UMin | Op::Sub, 1) => {
                        of(*op, b, a)
                    }
                    (Op::SMax, 2) => of(Op::UMin, a, b),
                    (Op::AShr, 2) => of(Op::LShr, a, b),
                    (Op::SDiv, 2) => of(Op::UDiv, a, b),
                    (Op::Below("slt"), 2) => of(Op::Below("ult"), a, b),
                    (Op::Below("ult"), 2) => of(Op::Below("ule"), a, b),
                    _ => Expr::Of(*op, *flags, Box::new(a.clone()), Box::new(b.clone())),
                }
            }
            Expr::Wide(is_signed, of) if choice.is_multiple_of(3) => {
                Expr::Wide(!is_signed, Box::new(of.rewritten(next)))
            }
            Expr::Wide(is_signed, of) => Expr::Wide(*is_signed, Box::new(of.rewritten(next))),
            Expr::X | Expr::Y | Expr::Number(_) => self.clone(),
        }
    }
}

const OPS: [Op; 15] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::SMax,
    Op::UMin,
];

const PREDICATES: [&str; 10] = ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"];

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        3 => Just(Expr::X),
        3 => Just(Expr::Y),
        1 => (0..=MASK).prop_map(Expr::Number),
    ];
    let op = prop_oneof![
        2 => prop::sample::select(&OPS[..]),
        1 => prop::sample::select(&PREDICATES[..]).prop_map(Op::Below),
    ];
    leaf.prop_recursive(3, 8, 2, move |inner| {
        let flags = any::<[bool; 2]>();
        prop_oneof![
            5 => (op.clone(), flags, inner.clone(), inner.clone(), 1..BITS, any::<bool>()).prop_map(
                |(op, flags, a, b, constant, is_partial)| {
                    let by_constant = op.is_by_constant() || (op.is_shift() && !is_partial);
                    let b = if by_constant { Expr::Number(constant) } else { b };
                    Expr::Of(op, flags, Box::new(a), Box::new(b))
                }
            ),
            1 => (any::<bool>(), inner).prop_map(|(s, of)| Expr::Wide(s, Box::new(of))),
        ]
    })
}

/// Two expressions that may be the same.
pub fn pair() -> impl Strategy<Value = (Expr, Expr)> {
    let rewritten = |(base, choice): (Expr, u32)| {
        let opt = base.rewritten(choice);
        (base, opt)
    };
    prop_oneof![3 => (expr(), any::<u32>()).prop_map(rewritten), 1 => (expr(), expr())]
}
