//! What LLVM's passes prove of two expressions, and what they must not.
//!
//! Each case is a function with a value `%b` of base and a value `%o` of opt, and an instruction
//! `%at`, at which base's value must be well defined. `%c` is a condition that holds there.

mod modules;
mod predicates;
#[path = "prover/small.rs"]
mod small;

use inkwell::context::Context;
use midflight_bridge::ir::{Function, Inst, Value};
use midflight_bridge::prover::{Kind, Terms};
use midflight_bridge::sandbox::Sandbox;
use modules::{function, named, parse};
use proptest::prelude::*;
use small::Expr;
use std::collections::HashMap;

/// Operations are looked into so far.
const DEEPEST: usize = 32;

/// What may be used of base.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    /// Nothing: both are equal as total functions.
    Nothing,
    /// Its flags, and what its values can be at `%at`
    Use,
    /// What `%c` says, too
    Condition,
}

/// The terms of one of both.
struct Side<'t, 'm> {
    terms: &'t mut Terms<'m>,
    known: &'t mut HashMap<Value<'m>, u32>,
    operation: Kind,
    leaf: Kind,
}

impl<'m> Side<'_, 'm> {
    fn term(&mut self, value: Value<'m>, depth: usize) -> u32 {
        let looked_into = value.as_instruction().filter(|inst| depth > 0 && inst.is_total());
        if looked_into.is_none()
            && let Some(&known) = self.known.get(&value)
        {
            return known;
        }
        let Some(inst) = looked_into else {
            let kind = if value.is_plain_operand() { Kind::Constant } else { self.leaf };
            let term = self.terms.add(kind, value, &[]);
            self.known.insert(value, term);
            return term;
        };
        let operands: Vec<u32> = inst.operands().map(|o| self.term(o, depth - 1)).collect();
        let kind = match self.operation {
            Kind::Operation if inst.is_exact() => Kind::Exact,
            kind => kind,
        };
        self.terms.add(kind, value, &operands)
    }
}

fn is_proved(function: Function<'_>, by: By) -> bool {
    let sandbox = Sandbox::default();
    let (mut terms, mut known) = (Terms::default(), HashMap::new());
    let value = |name: &str| named(function, name).value();
    let plain = by == By::Nothing;
    let (operation, leaf) =
        if plain { (Kind::Operation, Kind::Leaf) } else { (Kind::Flagged, Kind::Bounded) };
    let mut of_base = Side { terms: &mut terms, known: &mut known, operation, leaf };
    let base = of_base.term(value("b"), DEEPEST);
    let condition = (by == By::Condition).then(|| of_base.term(value("c"), DEEPEST));
    let mut of_opt =
        Side { terms: &mut terms, known: &mut known, operation: Kind::Operation, leaf: Kind::Leaf };
    let opt = of_opt.term(value("o"), DEEPEST);
    condition.into_iter().for_each(|condition| terms.add_condition(condition, true));
    let at: Option<Inst<'_>> = (!plain).then(|| named(function, "at"));
    terms.are_equal(&sandbox, (base, opt), false, at)
}

fn check(body: &str, by: By, expected: bool) {
    let context = Context::create();
    let text = format!(
        "define void @f(i32 noundef %x, i32 noundef %y, i32 %z, i64 %w, double %d, ptr %p) {{\n\
         entry:\n{body}\n  ret void\n}}\n"
    );
    let module = parse(&context, &text);
    assert_eq!(is_proved(function(&module, "f"), by), expected, "{by:?}: {body}");
}

#[test]
fn total_functions_are_equal_or_not() {
    let both = |body: &str, expected: bool| check(body, By::Nothing, expected);
    both("  %b = mul i32 %x, 2\n  %o = shl i32 %x, 1", true);
    both("  %b = icmp slt i32 %x, 5\n  %o = icmp sle i32 %x, 4", true);
    // A swapped predicate, an end that is off by one, signed for unsigned.
    both("  %b = icmp slt i32 %x, 5\n  %o = icmp sgt i32 %x, 5", false);
    both("  %b = icmp slt i32 %x, 5\n  %o = icmp sle i32 %x, 5", false);
    both("  %b = icmp slt i32 %x, 5\n  %o = icmp ult i32 %x, 5", false);
    both("  %b = sext i32 %x to i64\n  %o = zext i32 %x to i64", false);
    // Flags are not used: of neither.
    let wide = "  %n = add nsw i32 %x, 1\n  %b = sext i32 %n to i64\n  %s = sext i32 %x to i64\n  \
                %o = add nsw i64 %s, 1";
    both(wide, false);
    both("  %b = sext i32 %x to i64\n  %o = zext nneg i32 %x to i64", false);
    both("  %n = add nsw i32 %x, 1\n  %b = icmp slt i32 %y, %n\n  %o = icmp sle i32 %y, %x", false);
}

#[test]
fn a_phi_is_what_a_boolean_chooses() {
    let context = Context::create();
    let text = "define i32 @f(i1 noundef %c) {\n\
                entry:\n  %n = xor i1 %c, true\n  %is = zext i1 %c to i32\n  \
                %not = zext i1 %n to i32\n  br i1 %c, label %yes, label %no\n\
                yes:\n  br label %join\n\
                no:\n  br label %join\n\
                join:\n  %phi = phi i32 [ 0, %yes ], [ 1, %no ]\n  ret i32 %phi\n}\n";
    let module = parse(&context, text);
    let function = function(&module, "f");
    let inst = |name: &str| named(function, name);
    let is_proved = |swapped: bool, of_opt: &str| {
        let mut terms = Terms::default();
        let condition = inst("n").operands().next().expect("an operand");
        let condition = terms.add(Kind::Leaf, condition, &[]);
        let arms: Vec<u32> =
            inst("phi").operands().map(|arm| terms.add(Kind::Constant, arm, &[])).collect();
        let [holds, fails] = if swapped { [arms[1], arms[0]] } else { [arms[0], arms[1]] };
        let base = terms.add(Kind::Chosen, inst("phi").value(), &[condition, holds, fails]);
        let one = inst("n").operands().nth(1).expect("an operand");
        let one = terms.add(Kind::Constant, one, &[]);
        let negated = terms.add(Kind::Operation, inst("n").value(), &[condition, one]);
        let of = if of_opt == "not" { negated } else { condition };
        let opt = terms.add(Kind::Operation, inst(of_opt).value(), &[of]);
        terms.are_equal(&Sandbox::default(), (base, opt), false, None)
    };
    assert!(is_proved(false, "not") && is_proved(true, "is"));
    assert!(!is_proved(false, "is") && !is_proved(true, "not"));
}

#[test]
fn a_division_is_total_only_by_a_constant() {
    let both = |body: &str, expected: bool| check(body, By::Nothing, expected);
    both("  %b = udiv i32 %x, 8\n  %o = lshr i32 %x, 3", true);
    both("  %b = sdiv i32 %x, 8\n  %o = ashr i32 %x, 3", false);
    // LLVM would say that these are equal: where it divides, %y is not 0.
    let guarded = "  %q = udiv i32 %x, %y\n  %n = icmp eq i32 %y, 0\n  \
                   %b = select i1 %n, i32 7, i32 %q\n  %o = add i32 %q, 0";
    both(guarded, false);
}

#[test]
fn what_is_exact_is_poison_together() {
    let both = |body: &str, expected: bool| check(body, By::Nothing, expected);
    let narrow = |base: &str, opt: &str| {
        format!(
            "  %q = {base}\n  %b = trunc i64 %q to i32\n  %r = {opt}\n  %o = trunc i64 %r to i32"
        )
    };
    both(&narrow("sdiv exact i64 %w, 16", "lshr exact i64 %w, 4"), true);
    both(&narrow("sdiv exact i64 %w, 16", "lshr i64 %w, 4"), false);
    both(&narrow("sdiv i64 %w, 16", "lshr exact i64 %w, 4"), false);
    both(&narrow("sdiv exact i64 %w, 16", "lshr exact i64 %w, 5"), false);
    // Both are equal where they are defined, but one is poison where the other one is not.
    both("  %q = lshr exact i32 %x, 1\n  %b = shl i32 %q, 1\n  %o = and i32 %x, -2", false);
    // The arm of a select that is not chosen makes nothing poison.
    let masked = "  %n = icmp slt i32 %y, 0\n  %q = sdiv exact i32 %x, 4\n  \
                  %m = sext i1 %n to i32\n  %b = and i32 %q, %m\n  \
                  %r = ashr exact i32 %x, 2\n  %o = select i1 %n, i32 %r, i32 0";
    both(masked, false);
}

#[test]
fn what_shifts_too_far_is_poison_together() {
    let both = |body: &str, expected: bool| check(body, By::Nothing, expected);
    both("  %b = shl i32 %x, %y\n  %k = add i32 %y, 0\n  %o = shl i32 %x, %k", true);
    // Both are equal where they are defined, but one is poison where the other one is not.
    let masked = "  %m = and i32 %y, 31\n  %b = shl i32 %x, %m\n  %o = shl i32 %x, %y";
    both(masked, false);
    both("  %b = shl i32 %x, %y\n  %m = and i32 %y, 31\n  %o = shl i32 %x, %m", false);
    both("  %b = shl i32 %x, 32\n  %o = add i32 %x, 0", false);
    // An arm that is not chosen makes nothing poison.
    let chosen = |of: &str| {
        format!(
            "  %n = icmp ult i32 %y, 32\n  %q = lshr i32 %x, %y\n  \
             %b = select i1 %n, i32 %q, i32 0\n  %r = lshr i32 %x, %y\n  \
             %m = sext i1 %n to i32\n  %o = {of}"
        )
    };
    both(&chosen("select i1 %n, i32 %r, i32 0"), true);
    both(&chosen("and i32 %r, %m"), false);

    let stands = |body: &str, expected: bool| {
        check(&format!("{body}\n  %at = add i32 %x, %y"), By::Use, expected);
    };
    stands("  %b = shl i32 %x, %y\n  %m = and i32 %y, 31\n  %o = shl i32 %x, %m", true);
    stands(masked, false);
    stands(&chosen("and i32 %r, %m"), false);
    // Of a width that is no power of two it is not asked.
    let wide = |of: &str| format!("  %v = zext i32 %y to i33\n  %q = shl i33 1, %v\n{of}");
    stands(
        &wide("  %b = trunc i33 %q to i32\n  %r = shl i33 1, %v\n  %o = trunc i33 %r to i32"),
        false,
    );
}

#[test]
fn floats_are_compared_and_no_more() {
    let both = |body: &str, expected: bool| check(body, By::Nothing, expected);
    both("  %b = fcmp oeq double %d, %d\n  %o = fcmp ord double %d, 0.0", true);
    both("  %b = fcmp ueq double %d, %d\n  %o = fcmp ord double %d, 0.0", false);
    both("  %b = fcmp olt double %d, 1.0\n  %o = fcmp ult double %d, 1.0", false);
}

#[test]
fn a_use_may_rest_on_flags_of_base_alone() {
    let stands = |body: &str, expected: bool| {
        check(&format!("{body}\n  %at = add i32 %x, %y"), By::Use, expected);
    };
    stands(
        "  %n = add nsw i32 %x, 1\n  %b = icmp slt i32 %y, %n\n  %o = icmp sle i32 %y, %x",
        true,
    );
    // Without its flag, or with opt's
    stands("  %n = add i32 %x, 1\n  %b = icmp slt i32 %y, %n\n  %o = icmp sle i32 %y, %x", false);
    stands(
        "  %b = icmp sle i32 %y, %x\n  %n = add nsw i32 %x, 1\n  %o = icmp slt i32 %y, %n",
        false,
    );
    // The other wrap
    stands(
        "  %n = add nuw i32 %x, 1\n  %b = icmp slt i32 %y, %n\n  %o = icmp sle i32 %y, %x",
        false,
    );
    let address = |back: i32, flag: &str| {
        format!(
            "  %n = sub {flag} i32 %x, 1\n  %s = sext i32 %n to i64\n  \
             %b = getelementptr i32, ptr %p, i64 %s\n  %t = sext i32 %x to i64\n  \
             %g = getelementptr i32, ptr %p, i64 %t\n  %o = getelementptr i8, ptr %g, i64 {back}"
        )
    };
    stands(&address(-4, "nsw"), true);
    stands(&address(-4, ""), false);
    // One too far
    stands(&address(-8, "nsw"), false);
}

/// A loop from 0 to `%y`: its counter is not negative, if that does not wrap.
fn counted(flag: &str, rest: &str) -> String {
    format!(
        "  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %next, %body ]\n  \
         %more = icmp slt i32 %i, %y\n  br i1 %more, label %body, label %end\nbody:\n{rest}\n  \
         %next = add {flag} i32 %i, 1\n  br label %loop\nend:"
    )
}

#[test]
fn a_use_may_rest_on_what_values_can_be() {
    let extended = "  %b = sext i32 %i to i64\n  %o = zext i32 %i to i64\n  %at = add i32 %i, 0";
    check(&counted("nsw", extended), By::Use, true);
    check(&counted("", extended), By::Use, false);
    check(&counted("nsw", extended), By::Nothing, false);
    // What is read may be undefined: a branch on it says nothing of each of its uses.
    let read = "  %l = load i32, ptr %p, align 4\n  %n = icmp sgt i32 %l, -1\n  \
                br i1 %n, label %in, label %end\nin:\n  %b = sext i32 %l to i64\n  \
                %o = zext i32 %l to i64\n  %at = add i32 %x, 0\n  br label %end\nend:";
    check(read, By::Use, false);
}

#[test]
fn conditions_hold_where_they_are_said_to() {
    let within = |condition: &str| {
        format!(
            "  %c = icmp {condition}\n  %b = sext i32 %x to i64\n  %o = zext i32 %x to i64\n  \
             %at = add i32 %x, 0"
        )
    };
    check(&within("sgt i32 %x, -1"), By::Condition, true);
    check(&within("sgt i32 %x, -1"), By::Use, false);
    check(&within("sge i32 %x, -1"), By::Condition, false);
    check(&within("sgt i32 %y, -1"), By::Condition, false);
    check(&within("ugt i32 %x, 7"), By::Condition, false);
    // Nothing is proved where it cannot come to.
    check(&within("ult i32 %x, 0"), By::Condition, false);
}

/// True if two expressions are the same for all arguments, or, with flags, for all for which base's
/// is not poison.
fn are_same(base: &Expr, opt: &Expr, has_flags: bool) -> bool {
    (0..1 << small::BITS).all(|x| {
        (0..1 << small::BITS).all(|y| {
            let of_base = base.value(x, y, has_flags);
            of_base == opt.value(x, y, false) || (has_flags && of_base.is_none())
        })
    })
}

proptest! {
    /// Of small numbers what holds of all of them is proved, and nothing else.
    #[test]
    fn what_holds_of_all_numbers_is_proved((base, opt) in small::pair(), by_use in any::<bool>()) {
        let by = if by_use { By::Use } else { By::Nothing };
        let mut body = String::new();
        let mut sides = Vec::new();
        for (name, side) in [("b", &base), ("o", &opt)] {
            let value = side.write(&format!("{name}0"), &mut body);
            sides.push(format!("  %{name} = add i{} {value}, 0\n", small::BITS));
        }
        let text = format!(
            "declare i4 @llvm.smax.i4(i4, i4)\ndeclare i4 @llvm.umin.i4(i4, i4)\n\
             define i4 @f(i4 noundef %x, i4 noundef %y) {{\nentry:\n{body}{}{}  \
             %at = add i4 %x, %y\n  ret i4 %at\n}}\n",
            sides[0], sides[1]
        );
        let context = Context::create();
        let module = parse(&context, &text);
        let proved = is_proved(function(&module, "f"), by);
        let same = are_same(&base, &opt, by_use);
        prop_assert!(same || !proved, "{}", text);
        // Where one shifts too far, both may be the same, though not as what is proved is.
        if ![&base, &opt].iter().any(|side| side.has_partial_shifts()) {
            prop_assert_eq!(proved, same, "{}", text);
        }
    }
}
