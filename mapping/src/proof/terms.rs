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
//! once, where it makes it poison if it is. What the program branched by is neither: the branch
//! goes the same way whatever each undefined value in its condition is taken for. Several values in
//! common may be made of one leaf that is undefined, and something else for each of them: LLVM is
//! asked about expressions in which each has leaves of its own.
//!
//! A shift that may be by too much is poison then, though its leaves are not: LLVM is asked about
//! that beside, and it must see the shift.
//!
//! [`Oracle::are_equal`]: crate::versions::graph::Oracle::are_equal

use crate::proof::numbers::Number;
use crate::versions::graph::ConstId;
use crate::versions::version::Version;
use midflight_ir::ids::{InstId, ValueId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::borrow::Cow;

/// Terms of an expression; with more, the rest are leaves.
pub(super) const MOST_TERMS: usize = 80;

/// The same with copies; with more, nothing is proved.
const MOST_COPIED: usize = 4 * MOST_TERMS;

/// Expressions are looked into so far.
pub(super) const DEEPEST: usize = 8;

/// What expressions are looked into: all that the former one is, too. What is the same already is
/// best not looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Into {
    /// Total operations
    #[default]
    Operations,
    /// What is loaded is what was stored, and what a branch decides.
    Loads,
    /// Shifts that may be by too much: that both are poison by that together must be proved.
    Shifts,
}

/// How far expressions are looked into, and what, one after the other
pub(super) const DEPTHS: [(usize, Into); 3] =
    [(DEEPEST, Into::Operations), (14, Into::Loads), (14, Into::Shifts)];

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
    /// A phi that a branch decides, or a value of its type: a select of former terms, its condition
    /// and what comes in if that holds, and if not
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

    /// The same of other terms
    fn with_operands(&self, of: impl Fn(usize) -> usize) -> Term {
        let mut term = self.clone();
        match &mut term {
            Term::Operation(_, _, operands) => operands.iter_mut().for_each(|o| *o = of(*o)),
            Term::Chosen(_, _, operands) => operands.iter_mut().for_each(|o| *o = of(*o)),
            Term::Extended { term, .. } => *term = of(*term),
            Term::Leaf(..) | Term::Constant(_) => {}
        }
        term
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
    /// What is looked into
    pub(super) into: Into,
    /// A choice of a branch that may have become an operation: it is looked into, whatever it is
    /// of.
    pub(super) choice: Option<(Version, InstId)>,
}

/// How an expression uses a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    /// It does at all.
    is_used: bool,
    /// How often besides in conditions of branches: these are the same whatever is undefined
    count: usize,
    /// It is poison if the term is, or the program has undefined behaviour.
    is_poisoned: bool,
    /// The program has undefined behaviour if the term is poison.
    is_branched: bool,
    /// The program branches by the term itself: it is one value, whatever what it is made of is
    /// taken for.
    is_condition: bool,
}

/// The instructions of both expressions above what both are made of.
pub(super) type LookedInto = Vec<(Version, InstId)>;

/// The terms that expressions were looked into down to
pub(super) struct DownTo {
    /// For each term whether it is one of them that may be several values, as what it is made of is
    /// undefined
    is: Vec<bool>,
    /// For each term whether both expressions are made of it
    is_shared: Vec<bool>,
}

impl Uses {
    const ONCE: Uses = Uses {
        is_used: true,
        count: 1,
        is_poisoned: true,
        is_branched: false,
        is_condition: false,
    };

    /// Both are used.
    fn add(&mut self, other: Uses) {
        self.is_used |= other.is_used;
        self.count += other.count;
        self.is_poisoned |= other.is_poisoned;
        self.is_branched |= other.is_branched;
        self.is_condition |= other.is_condition;
    }

    /// The uses of a value, of what a branch decides by.
    fn branched_by(self) -> Uses {
        Uses { count: 0, is_branched: self.is_poisoned, ..self }
    }
}

/// What is known of an instruction
type OfInst<'a> = &'a dyn Fn(Version, InstId) -> bool;

/// Whether an instruction is a select, the value of a number well defined, and a shift poison if it
/// is by too much
type OfValues<'a> = (OfInst<'a>, &'a dyn Fn(Number) -> bool, OfInst<'a>);

/// Looks for what an expression is made of.
struct Looking<'a> {
    terms: &'a Terms,
    is_shared: &'a dyn Fn(usize) -> bool,
    is_select: &'a dyn Fn(Version, InstId) -> bool,
    is_well_defined: &'a dyn Fn(Number) -> bool,
    looked_into: LookedInto,
    ways: usize,
}

impl Looking<'_> {
    /// What a term is made of, and how it uses that.
    fn uses(&mut self, term: usize) -> Option<HashMap<usize, Uses>> {
        self.ways += 1;
        (self.ways <= MOST_WAYS).then_some(())?;
        let terms = self.terms;
        let (inst, operands, is_choice, is_branch) = match &terms.terms[term] {
            Term::Constant(_) => {
                let is_well_defined = (self.is_well_defined)(terms.numbers[term]);
                return is_well_defined.then(HashMap::default);
            }
            Term::Extended { term, .. } => return self.uses(*term),
            Term::Chosen(which, inst, operands) if !(self.is_shared)(term) => {
                ((*which, *inst), &operands[..], true, true)
            }
            Term::Operation(which, inst, operands) if !(self.is_shared)(term) => {
                ((*which, *inst), &operands[..], (self.is_select)(*which, *inst), false)
            }
            _ => return Some(HashMap::from_iter([(term, Uses::ONCE)])),
        };
        self.looked_into.push(inst);
        let mut all = HashMap::default();
        let add = |all: &mut HashMap<usize, Uses>, of: HashMap<usize, Uses>| {
            of.into_iter().for_each(|(term, of)| all.entry(term).or_default().add(of));
        };
        if let (&[condition, first, second], true) = (operands, is_choice) {
            let mut of_condition = self.uses(condition)?;
            if is_branch {
                of_condition.values_mut().for_each(|of| *of = of.branched_by());
                of_condition.entry(condition).and_modify(|of| of.is_condition = true);
            }
            add(&mut all, of_condition);
            add(&mut all, either(&self.uses(first)?, &self.uses(second)?));
        } else {
            for &operand in operands {
                add(&mut all, self.uses(operand)?);
            }
        }
        Some(all)
    }
}

/// One of both is used: what is not chosen does not matter.
fn either(one: &HashMap<usize, Uses>, other: &HashMap<usize, Uses>) -> HashMap<usize, Uses> {
    let of =
        |uses: &HashMap<usize, Uses>, term: &usize| uses.get(term).copied().unwrap_or_default();
    let both = |term: &usize| {
        let (one, other) = (of(one, term), of(other, term));
        let uses = Uses {
            is_used: one.is_used || other.is_used,
            count: one.count.max(other.count),
            is_poisoned: one.is_poisoned && other.is_poisoned,
            is_branched: one.is_branched && other.is_branched,
            is_condition: one.is_condition && other.is_condition,
        };
        (*term, uses)
    };
    one.keys().chain(other.keys()).map(both).collect()
}

impl Terms {
    /// No terms yet
    pub(super) fn new(into: Into) -> Self {
        Terms { into, ..Terms::default() }
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

    /// The instructions that were looked into, down to what both are made of or to the leaves, if
    /// equal expressions are poison and undefined together once these have no flags; and the terms
    /// that they were looked into down to. `is_select` says so of an instruction, `is_exact` that
    /// it is proved to be poison together with others if it leaves a remainder, and `is_partial`
    /// the same of one that shifts too far. LLVM is asked whether a remainder is left only above
    /// what both are made of.
    pub(super) fn looked_into(
        &self,
        to_leaves: bool,
        [is_select, is_exact, is_partial]: [OfInst<'_>; 3],
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<(LookedInto, DownTo)> {
        let is_well_defined: &dyn Fn(Number) -> bool = &is_well_defined;
        let of_values: OfValues<'_> = (is_select, is_well_defined, is_partial);
        let conditions = self.of_conditions();
        let [first, second] = self.roots.each_ref().map(std::slice::from_ref);
        let sides = [first, second, &conditions];
        let (uses, mut looked_into, is_shared) =
            self.uses(sides, to_leaves, is_select, is_well_defined)?;
        if !to_leaves {
            looked_into.retain(|&(which, inst)| !is_exact(which, inst));
        }
        let holds = |(term, [base, opt, condition]): (usize, &[Uses; 3])| {
            let both = [base, opt];
            // Base has branched by a condition, and the program by a branch: it was no poison.
            let is_branched = condition.is_poisoned || both.iter().any(|of| of.is_branched);
            let is_poisoned = is_branched || both.iter().all(|of| of.is_poisoned);
            let is_once = both.iter().all(|of| of.count <= 1);
            !both.iter().any(|of| of.is_used)
                || (is_once && is_poisoned)
                || is_well_defined(self.numbers[term])
                || (is_once && self.is_no_poison(term, &uses, of_values, &mut looked_into))
        };
        uses.iter().enumerate().all(holds).then_some(())?;
        looked_into.sort_unstable();
        looked_into.dedup();
        let is_used = |(term, [base, opt, _]): (usize, &[Uses; 3])| {
            let is_condition = base.is_condition || opt.is_condition || conditions.contains(&term);
            (base.is_used || opt.is_used) && !is_condition
        };
        let is = uses.iter().enumerate().map(is_used).collect();
        Some((looked_into, DownTo { is, is_shared }))
    }

    /// The terms to compare where both expressions are looked into down to some terms. A leaf that
    /// may be undefined, or a constant that is, may be another value for each use: each of these
    /// terms has leaves of its own, and one that is made of a leaf twice is a leaf itself. None if
    /// that shifts by what may be too much, since a leaf is never poison, or if it takes too many.
    pub(super) fn with_own_leaves(
        &self,
        down_to: &DownTo,
        result: impl Fn(Version, InstId) -> ValueId,
        is_partial: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<Cow<'_, Terms>> {
        // What was added since is of conditions.
        let is_shared = |term: usize| down_to.is_shared.get(term).is_some_and(|&is| is);
        // For each term how often it is made of each leaf that may be undefined, at most twice
        let mut of: Vec<HashMap<usize, u8>> = Vec::with_capacity(self.terms.len());
        let mut is_shifted: Vec<bool> = Vec::with_capacity(self.terms.len());
        let mut changed = Cow::Borrowed(self);
        for (number, term) in self.terms.iter().enumerate() {
            let shifts = match *term {
                Term::Operation(which, inst, _) => is_partial(which, inst),
                _ => false,
            };
            is_shifted.push(shifts || term.operands().iter().any(|&operand| is_shifted[operand]));
            let is_undefined = || !is_well_defined(self.numbers[number]);
            let alone = |is_leaf: bool| (is_leaf && is_undefined()).then_some((number, 1));
            let mut leaves: HashMap<usize, u8> = HashMap::default();
            leaves.extend(alone(term.operands().is_empty()));
            for (&leaf, &count) in term.operands().iter().flat_map(|&operand| &of[operand]) {
                let sum = leaves.entry(leaf).or_default();
                *sum = (*sum + count).min(2);
            }
            if is_shared(number)
                && leaves.values().any(|&count| count > 1)
                && let Term::Operation(which, inst, _) | Term::Chosen(which, inst, _) = *term
            {
                (!is_shifted[number]).then_some(())?;
                changed.to_mut().terms[number] = Term::Leaf(which, result(which, inst));
                leaves = alone(true).into_iter().collect();
            }
            of.push(leaves);
        }
        // The first one of these terms that is made of a leaf has it.
        let mut owner: HashMap<usize, usize> = HashMap::default();
        let mut has_others = vec![false; self.terms.len()];
        for (term, _) in down_to.is.iter().enumerate().filter(|&(_, &is)| is) {
            for &leaf in of[term].keys() {
                has_others[term] |= *owner.entry(leaf).or_insert(term) != term;
            }
        }
        if !has_others.contains(&true) {
            return Some(changed);
        }
        let own = |term: usize, leaf: usize| owner.get(&leaf).is_some_and(|&first| first != term);
        let copied = changed.with_copies(&is_shared, &has_others, &own);
        (copied.terms.len() <= MOST_COPIED).then_some(Cow::Owned(copied))
    }

    /// The same with copies of these terms, and of what they are made of, for what is not shared by
    /// both expressions: each copy has leaves of its own as it is said.
    fn with_copies(
        &self,
        is_shared: &dyn Fn(usize) -> bool,
        is_copied: &[bool],
        is_own: &dyn Fn(usize, usize) -> bool,
    ) -> Terms {
        let mut terms = Terms { into: self.into, choice: self.choice, ..Terms::default() };
        // For each term what it is where it is shared, and for what is not
        let mut places: Vec<[usize; 2]> = Vec::with_capacity(self.terms.len());
        for (number, term) in self.terms.iter().enumerate() {
            let is_above = !is_shared(number) || matches!(term, Term::Extended { .. });
            let kind = usize::from(is_above);
            let of = |operand: usize| places[operand][kind];
            let place = terms.copy(self, number, term.with_operands(of));
            let mut alone = place;
            if is_copied[number] {
                let reached = self.reached(number);
                let mut copies: HashMap<usize, usize> = HashMap::default();
                for below in (0..=number).filter(|&below| reached[below]) {
                    let term = &self.terms[below];
                    let is_new = match term.operands() {
                        [] => is_own(number, below),
                        operands => operands.iter().any(|operand| copies.contains_key(operand)),
                    };
                    if is_new {
                        let of = |operand: usize| {
                            copies.get(&operand).copied().unwrap_or_else(|| places[operand][0])
                        };
                        let copy = terms.copy(self, below, term.with_operands(of));
                        copies.insert(below, copy);
                    }
                }
                alone = copies[&number];
            }
            places.push([place, alone]);
        }
        terms.roots = self.roots.map(|root| places[root][1]);
        terms.conditions =
            self.conditions.iter().map(|&(c, holds)| (places[c][1], holds)).collect();
        terms
    }

    /// Adds what a term of other ones has become.
    fn copy(&mut self, of: &Terms, number: usize, term: Term) -> usize {
        let place = self.terms.len();
        self.terms.push(term);
        self.numbers.push(of.numbers[number]);
        if of.shared.contains(&number) {
            self.shared.insert(place);
        }
        place
    }

    /// True for a term that is no poison, as each leaf of it makes what was branched by poison,
    /// too, once the instructions above these have no flags. It adds them.
    fn is_no_poison(
        &self,
        term: usize,
        uses: &[[Uses; 3]],
        (is_select, is_well_defined, is_partial): OfValues<'_>,
        looked_into: &mut LookedInto,
    ) -> bool {
        let leaves = |term: usize| {
            let mut looking = Looking {
                terms: self,
                is_shared: &|_| false,
                is_select,
                is_well_defined,
                looked_into: LookedInto::new(),
                ways: 0,
            };
            looking.uses(term).map(|leaves| (leaves, looking.looked_into))
        };
        let Some((of_term, above)) = leaves(term) else { return false };
        // That all leaves are well defined says nothing of what shifts them.
        if above.iter().any(|&(which, inst)| is_partial(which, inst)) {
            return false;
        }
        let is_branched_by =
            |of: &[Uses; 3]| of[2].is_poisoned || of[..2].iter().any(|of| of.is_branched);
        let branched_by = (0..uses.len()).filter(|&other| is_branched_by(&uses[other]));
        let branched_by: Vec<_> = branched_by.filter_map(leaves).collect();
        let holds = of_term.keys().all(|leaf| {
            let makes_poison = |(of, _): &(HashMap<usize, Uses>, LookedInto)| {
                of.get(leaf).is_some_and(|of| of.is_poisoned)
            };
            branched_by.iter().any(makes_poison) || is_well_defined(self.numbers[*leaf])
        });
        if holds {
            looked_into.extend(above);
        }
        holds
    }

    /// The same of opt, if its expression is well defined wherever base's is, once these have no
    /// flags. So are the conditions: base branched by them.
    pub(super) fn defined_with_base(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<(LookedInto, DownTo)> {
        let [base, opt] = self.roots;
        let mut of_base = self.of_conditions();
        of_base.push(base);
        // What opt's alone is made of hardly ever vanishes from it: LLVM need not be asked.
        let (is_of_base, is_of_opt) = (self.reached_from(&of_base), self.reached(opt));
        let is_of_opt_alone = |term: usize| {
            is_of_opt[term] && !is_of_base[term] && matches!(self.terms[term], Term::Leaf(..))
        };
        if (0..self.terms.len()).any(is_of_opt_alone) {
            return None;
        }
        self.defined_with([&of_base, &[opt]], is_select, is_well_defined)
    }

    /// The same if its expression is well defined wherever all conditions are.
    pub(super) fn defined_with_conditions(
        &self,
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<(LookedInto, DownTo)> {
        self.defined_with([&self.of_conditions(), &self.roots[1..]], is_select, is_well_defined)
    }

    fn defined_with(
        &self,
        sides: [&[usize]; 2],
        is_select: impl Fn(Version, InstId) -> bool,
        is_well_defined: impl Fn(Number) -> bool,
    ) -> Option<(LookedInto, DownTo)> {
        let (uses, mut looked_into, is_shared) =
            self.uses(sides, false, &is_select, &is_well_defined)?;
        let is_leaf = |root: &usize| uses[*root].iter().any(|of| of.is_used);
        let are_leaves = sides.iter().all(|roots| roots.iter().all(is_leaf));
        if are_leaves {
            return None;
        }
        // What is undefined may be something else for each use.
        let holds = |(term, [base, opt]): (usize, &[Uses; 2])| {
            let is_poisoned = base.is_poisoned || opt.is_branched;
            let is_of_none = !base.is_used && !opt.is_used;
            is_of_none || (is_poisoned && opt.count <= 1) || is_well_defined(self.numbers[term])
        };
        looked_into.retain(|&(which, _)| which == Version::Opt);
        looked_into.sort_unstable();
        looked_into.dedup();
        uses.iter().enumerate().all(holds).then_some(())?;
        // Those of base are one value each, whatever each use of what is undefined is taken for.
        let is_used = |(term, [base, opt]): (usize, &[Uses; 2])| {
            let is_condition = base.is_condition || opt.is_condition || sides[0].contains(&term);
            opt.is_used && !is_condition
        };
        let is = uses.iter().enumerate().map(is_used).collect();
        Some((looked_into, DownTo { is, is_shared }))
    }

    /// For each term how the expressions of all sides use it, if both that are compared are made
    /// of it or it is a leaf, and the instructions above these; or just if it is a leaf. And
    /// whether both are made of it.
    fn uses<const N: usize>(
        &self,
        sides: [&[usize]; N],
        to_leaves: bool,
        is_select: &dyn Fn(Version, InstId) -> bool,
        is_well_defined: &dyn Fn(Number) -> bool,
    ) -> Option<(Vec<[Uses; N]>, LookedInto, Vec<bool>)> {
        let [base, opt] = [sides[0], sides[1]].map(|roots| self.reached_from(roots));
        let of_both: Vec<bool> = base.into_iter().zip(opt).map(|(base, opt)| base && opt).collect();
        let is_shared = |term: usize| !to_leaves && of_both[term];
        let mut uses = vec![[Uses::default(); N]; self.terms.len()];
        let mut looked_into = LookedInto::new();
        for (side, roots) in sides.into_iter().enumerate() {
            let mut looking = Looking {
                terms: self,
                is_shared: &is_shared,
                is_select,
                is_well_defined,
                looked_into: LookedInto::new(),
                ways: 0,
            };
            for &root in roots {
                for (term, of) in looking.uses(root)? {
                    uses[term][side].add(of);
                }
            }
            // Of conditions it is known what they are.
            if side < 2 {
                looked_into.append(&mut looking.looked_into);
            }
        }
        Some((uses, looked_into, of_both))
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

    /// The terms of the conditions
    fn of_conditions(&self) -> Vec<usize> {
        self.conditions.iter().map(|&(term, _)| term).collect()
    }

    /// For each term whether one of these is made of it, or is it.
    fn reached_from(&self, roots: &[usize]) -> Vec<bool> {
        let mut all = vec![false; self.terms.len()];
        for &root in roots {
            all.iter_mut().zip(self.reached(root)).for_each(|(all, of)| *all |= of);
        }
        all
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
