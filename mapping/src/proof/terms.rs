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
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Terms of an expression; with more, the rest are leaves.
pub(super) const MOST_TERMS: usize = 80;

/// Expressions are looked into so far.
pub(super) const DEEPEST: usize = 8;

/// How far they are, first and then, and whether loads and phis are looked into, too: what is the
/// same already is best not looked into.
pub(super) const DEPTHS: [(usize, bool); 2] = [(DEEPEST, false), (14, true)];

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
    /// A phi that a branch decides: a select of former terms, its condition and what comes in if
    /// that holds, and if not
    Chosen(Version, InstId, [usize; 3]),
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

impl Term {
    /// The former terms that it is made of
    pub fn operands(&self) -> &[usize] {
        match self {
            Term::Operation(_, _, operands) => operands,
            Term::Chosen(_, _, operands) => operands,
            Term::Extended { term, .. } => std::slice::from_ref(term),
            Term::Leaf(..) | Term::Constant(_) => &[],
        }
    }
}

/// Two expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The terms of both; each has those that it is made of before it
    pub terms: Vec<Term>,
    /// The two that are compared
    pub roots: [usize; 2],
    /// Booleans of base that hold, or do not, where they are compared
    pub conditions: Vec<(usize, bool)>,
    /// For each term its number
    pub(super) numbers: Vec<Number>,
    /// For each number its term
    pub(super) known: HashMap<Number, usize>,
    /// Terms that stand for several instructions of one number
    pub(super) shared: HashSet<usize>,
    /// What is loaded is what was stored, and what a branch decides is looked into.
    pub(super) is_deep: bool,
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
    /// No terms yet
    pub(super) fn new(is_deep: bool) -> Self {
        Terms { is_deep, ..Terms::default() }
    }

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
    /// together once these have no flags. `is_select` says so of an instruction, and `is_exact`
    /// that it is proved to be poison together with others if it leaves a remainder.
    pub(super) fn looked_into(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_exact: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<LookedInto> {
        let sides = self.roots.each_ref().map(std::slice::from_ref);
        let (uses, mut looked_into) = self.uses(sides, is_select, &is_well_defined)?;
        let once = Uses { count: 1, is_poisoned: true };
        let holds = |(term, uses): (usize, &[Uses; 2])| {
            uses.iter().all(|of| of.count == 0)
                || uses.iter().all(|of| *of == once)
                || is_well_defined(self.numbers[term])
        };
        looked_into.retain(|&(which, inst)| !is_exact(which, inst));
        looked_into.sort_unstable();
        looked_into.dedup();
        uses.iter().enumerate().all(holds).then_some(looked_into)
    }

    /// The same of opt, if its expression is well defined wherever base's is, once these have no
    /// flags.
    pub(super) fn defined_with_base(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<LookedInto> {
        let [base, opt] = self.roots.map(|root| self.reached(root));
        // What opt's alone is made of hardly ever vanishes from it: LLVM need not be asked.
        let is_of_opt_alone =
            |term: usize| opt[term] && !base[term] && matches!(self.terms[term], Term::Leaf(..));
        if (0..self.terms.len()).any(is_of_opt_alone) {
            return None;
        }
        let sides = self.roots.each_ref().map(std::slice::from_ref);
        self.defined_with(sides, is_select, is_well_defined)
    }

    /// The same if its expression is well defined wherever all conditions are.
    pub(super) fn defined_with_conditions(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<LookedInto> {
        let conditions: Vec<usize> = self.conditions.iter().map(|&(term, _)| term).collect();
        self.defined_with([&conditions, &self.roots[1..]], is_select, is_well_defined)
    }

    fn defined_with(
        &self,
        sides: [&[usize]; 2],
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<LookedInto> {
        let (uses, mut looked_into) = self.uses(sides, is_select, &is_well_defined)?;
        let is_leaf = |root: &usize| !uses[*root].iter().all(|of| of.count == 0);
        let are_leaves = sides.iter().all(|roots| roots.iter().all(is_leaf));
        if are_leaves {
            return None;
        }
        // What is undefined may be something else for each use.
        let holds = |(term, [base, opt]): (usize, &[Uses; 2])| {
            let is_of_base = base.count > 0 && base.is_poisoned;
            let is_of_none = base.count == 0 && opt.count == 0;
            is_of_none || (is_of_base && opt.count <= 1) || is_well_defined(self.numbers[term])
        };
        looked_into.retain(|&(which, _)| which == Version::Opt);
        looked_into.sort_unstable();
        looked_into.dedup();
        uses.iter().enumerate().all(holds).then_some(looked_into)
    }

    /// For each term how the expressions of both sides use it, if both are made of it or it is a
    /// leaf, and the instructions above these.
    fn uses(
        &self,
        sides: [&[usize]; 2],
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<(Vec<[Uses; 2]>, LookedInto)> {
        let reached = sides.map(|roots| {
            let mut all = vec![false; self.terms.len()];
            for &root in roots {
                all.iter_mut().zip(self.reached(root)).for_each(|(all, of)| *all |= of);
            }
            all
        });
        let is_shared = |term: usize| reached.iter().all(|reached| reached[term]);
        let mut uses = vec![[Uses::default(); 2]; self.terms.len()];
        let mut looked_into = LookedInto::new();
        for (side, roots) in sides.into_iter().enumerate() {
            let mut work: Vec<(usize, bool)> = roots.iter().map(|&root| (root, true)).collect();
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
                    Term::Chosen(which, inst, [condition, arms @ ..]) if !is_shared(term) => {
                        looked_into.push((*which, *inst));
                        work.push((*condition, is_poisoned));
                        work.extend(arms.map(|arm| (arm, false)));
                    }
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
        Some((uses, looked_into))
    }

    /// For each term whether it stands for several instructions, or is in the expression of one
    /// that does: the first one need not have the flags of the others.
    pub fn of_several(&self) -> Vec<bool> {
        let mut of_several = vec![false; self.terms.len()];
        for &shared in &self.shared {
            let below = self.reached(shared);
            of_several.iter_mut().zip(below).for_each(|(of, is_below)| *of |= is_below);
        }
        of_several
    }

    /// For each term whether one of both expressions is made of it, and the other one is not.
    pub fn of_one(&self) -> Vec<bool> {
        let [base, opt] = self.roots.map(|root| self.reached(root));
        base.into_iter().zip(opt).map(|(base, opt)| base != opt).collect()
    }

    /// For each term whether the second expression is not made of it, so that it is of base alone.
    pub fn of_base_alone(&self) -> Vec<bool> {
        self.reached(self.roots[1]).into_iter().map(|is_of_opt| !is_of_opt).collect()
    }

    /// Adds what a condition of base says if it says something of a term that was there before, and
    /// takes its terms away again if not.
    pub(super) fn add_condition(
        &mut self,
        condition: impl FnOnce(&mut Self) -> Option<usize>,
        holds: bool,
    ) {
        let begin = self.terms.len();
        if let Some(condition) = condition(self)
            && self.says_of_former(condition, begin)
        {
            self.conditions.push((condition, holds));
        } else {
            self.take_back(begin);
        }
    }

    /// True for a condition that is made of a value before some terms.
    fn says_of_former(&self, condition: usize, begin: usize) -> bool {
        let is_value = |term: usize| !matches!(self.terms[term], Term::Constant(_));
        let reached = self.reached(condition);
        is_value(condition) && (0..begin).any(|term| reached[term] && is_value(term))
    }

    /// Takes the terms behind some away again.
    fn take_back(&mut self, begin: usize) {
        self.terms.truncate(begin);
        self.numbers.truncate(begin);
        self.known.retain(|_, term| *term < begin);
        self.shared.retain(|&term| term < begin);
    }

    /// For each term whether another one is made of it, or is it.
    fn reached(&self, root: usize) -> Vec<bool> {
        let mut reached = vec![false; self.terms.len()];
        reached[root] = true;
        for term in (0..=root).rev() {
            if reached[term] {
                self.terms[term].operands().iter().for_each(|&operand| reached[operand] = true);
            }
        }
        reached
    }
}
