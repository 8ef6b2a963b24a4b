//! Two expressions that may be equal though they are not the same operations on the same values:
//! what is asked of LLVM ([`Oracle::are_equal`]), and when the answer may be taken for a number.
//!
//! An expression is looked into down to values that are no total operations (loads, calls, phis,
//! divisions), so far; values of one number are one term. LLVM compares both as total functions,
//! which give a value whatever the leaves are. What is proved of these holds of the values if none
//! of the instructions that were looked into has flags that make it poison, which `flags.rs` of the
//! passes sees to. It does not follow that they are poison or undefined at the same times: one may
//! not depend on a leaf that the other one depends on, or use what is undefined twice. So each
//! value that both expressions are made of must be well defined, or each of them must use it just
//! once, where it makes it poison if it is.
//!
//! [`Oracle::are_equal`]: crate::versions::graph::Oracle::are_equal

use crate::proof::numbers::Number;
use crate::versions::graph::ConstId;
use crate::versions::version::Version;
use midflight_ir::ids::{InstId, ValueId};
use rustc_hash::FxHashMap as HashMap;

/// Terms of an expression; with more, the rest are leaves.
pub(super) const MOST_TERMS: usize = 40;

/// Expressions are looked into so far.
pub(super) const DEEPEST: usize = 8;

/// Ways from a root to what an expression is made of; with more, nothing is proved.
const MOST_WAYS: usize = 64;

/// A term of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A value that is not looked into
    Leaf(Version, ValueId),
    /// A constant
    Constant(ConstId),
    /// An operation on former terms
    Operation(Version, InstId, Vec<usize>),
    /// A former term extended to the type of a value, as a signed number or not
    Extended {
        /// What is extended
        term: usize,
        /// The sign is.
        signed: bool,
        /// The value
        like: (Version, ValueId),
    },
}

/// Two expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The terms of both; each has those that it is made of before it
    pub terms: Vec<Term>,
    /// The two that are compared
    pub roots: [usize; 2],
    /// For each term its number
    pub(super) numbers: Vec<Number>,
    /// For each number its term
    pub(super) known: HashMap<Number, usize>,
}

/// How an expression uses a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    count: usize,
    /// It is poison if the term is.
    is_poisoned: bool,
}

/// The instructions of both expressions above what both are made of.
pub(super) type LookedInto = Vec<(Version, InstId)>;

impl Terms {
    pub(super) fn add(&mut self, term: Term, number: Number) -> usize {
        self.terms.push(term);
        self.numbers.push(number);
        self.known.insert(number, self.terms.len() - 1);
        self.terms.len() - 1
    }

    /// The same for one that no other is taken for.
    pub(super) fn add_unknown(&mut self, term: Term) -> usize {
        self.terms.push(term);
        self.numbers.push(Number::MAX);
        self.terms.len() - 1
    }

    /// The instructions that were looked into, if equal expressions are poison and undefined
    /// together once these have no flags. `is_select` says so of an instruction.
    pub(super) fn looked_into(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<LookedInto> {
        let reached = self.roots.map(|root| self.reached(root));
        let is_shared = |term: usize| reached.iter().all(|reached| reached[term]);
        let mut uses = vec![[Uses::default(); 2]; self.terms.len()];
        let mut looked_into = LookedInto::new();
        for (side, &root) in self.roots.iter().enumerate() {
            let mut work = vec![(root, true)];
            let mut ways = 0;
            while let Some((term, is_poisoned)) = work.pop() {
                ways += 1;
                if ways > MOST_WAYS {
                    return None;
                }
                match &self.terms[term] {
                    Term::Constant(_) if is_well_defined(self.numbers[term]) => {}
                    Term::Constant(_) => return None,
                    Term::Extended { term, .. } => work.push((*term, is_poisoned)),
                    Term::Operation(which, inst, operands) if !is_shared(term) => {
                        looked_into.push((*which, *inst));
                        let is_choice = is_select(*which, *inst);
                        let operands = operands.iter().enumerate();
                        // What is not chosen does not matter.
                        work.extend(
                            operands.map(|(n, &o)| (o, is_poisoned && !(is_choice && n > 0))),
                        );
                    }
                    _ => {
                        let of = &mut uses[term][side];
                        of.count += 1;
                        of.is_poisoned |= is_poisoned;
                    }
                }
            }
        }
        let once = Uses { count: 1, is_poisoned: true };
        let holds = |(term, uses): (usize, &[Uses; 2])| {
            uses.iter().all(|of| of.count == 0)
                || uses.iter().all(|of| *of == once)
                || is_well_defined(self.numbers[term])
        };
        looked_into.sort_unstable();
        looked_into.dedup();
        uses.iter().enumerate().all(holds).then_some(looked_into)
    }

    /// For each term whether another one is made of it, or is it.
    fn reached(&self, root: usize) -> Vec<bool> {
        let mut reached = vec![false; self.terms.len()];
        reached[root] = true;
        for term in (0..=root).rev() {
            match &self.terms[term] {
                _ if !reached[term] => {}
                Term::Operation(_, _, operands) => {
                    operands.iter().for_each(|&operand| reached[operand] = true);
                }
                Term::Extended { term, .. } => reached[*term] = true,
                Term::Leaf(..) | Term::Constant(_) => {}
            }
        }
        reached
    }
}
