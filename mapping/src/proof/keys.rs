//! What values are, by number: the same number just for the same operation on the same numbers.

use crate::proof::matching::PairId;
use crate::proof::numbers::Number;
use crate::versions::version::Version;
use midflight_ir::ids::BlockId;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Number of a key
pub(super) type KeyId = u32;

/// What a value is, but for the numbers that it is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    /// An operation on numbers; the last one is that of memory, if it reads it.
    Operation(u32),
    /// A phi of a pair, by its edges
    Together(PairId),
    /// A phi of a block of one version
    Alone(Version, BlockId),
    /// States of memory that meet
    Memory(PairId),
    /// The same in a block of one version
    MemoryAlone(Version, BlockId),
    /// The exception of the landing pads of a pair
    Pad,
    /// A sum of a type with so many bits; the numbers are those of [`Form::words`].
    Sum(u32, u32),
    /// Of a type: if the atom holds, whose words the first two numbers are, the third one, else
    /// the fourth one (see [`super::gates`])
    Choice(u32),
    /// Two numbers compared by a predicate
    Comparison(u32),
    /// What an operation, the first number, reads by operands, the others, behind so many anchors
    /// of a pair
    Read(PairId, u32),
    /// Whether two pieces of memory are the same: by pointers, a size, and the state of memory
    Compared,
    /// An atom, by its words, that is negated, or is not
    Literal(bool),
}

/// What booleans are made of: each is one, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// A comparison, by its key
    Comparison(KeyId),
    /// Any other boolean, by its number
    Number(Number),
}

impl Atom {
    pub(super) fn words(self) -> [Number; 2] {
        match self {
            Atom::Comparison(key) => [0, key],
            Atom::Number(number) => [1, number],
        }
    }
}

/// A boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) atom: Atom,
    pub(super) negated: bool,
}

impl Literal {
    pub(super) fn not(self) -> Self {
        Literal { negated: !self.negated, ..self }
    }
}

impl Key {
    fn words(self) -> [u32; HEAD] {
        match self {
            Key::Operation(operation) => [0, operation, 0],
            Key::Together(pair) => [1, pair.into(), 0],
            Key::Alone(which, block) => [2, which as u32, block.into()],
            Key::Memory(pair) => [3, pair.into(), 0],
            Key::MemoryAlone(which, block) => [4, which as u32, block.into()],
            Key::Pad => [5, 0, 0],
            Key::Sum(data_type, bits) => [6, data_type, bits],
            Key::Choice(data_type) => [7, data_type, 0],
            Key::Comparison(predicate) => [8, predicate, 0],
            Key::Read(pair, segment) => [10, pair.into(), segment],
            Key::Compared => [11, 0, 0],
            Key::Literal(negated) => [9, u32::from(negated), 0],
        }
    }
}

/// Words of a key before its numbers
const HEAD: usize = 3;

/// All keys that were seen so far. They are in one vector, so that a new one seldom needs memory.
#[derive(Default)]
pub(super) struct Keys {
    words: Vec<u32>,
    /// For each key the end of its words, and their hash
    known: Vec<(usize, u32)>,
    /// Keys by hash, counted from 1; their number is a power of two, or zero.
    slots: Vec<KeyId>,
}

impl Keys {
    /// The number of a key.
    pub(super) fn id(&mut self, key: Key, numbers: &[Number]) -> KeyId {
        if self.known.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let begin = self.words.len();
        self.words.extend_from_slice(&key.words());
        self.words.extend_from_slice(numbers);
        let hash = hash(&self.words[begin..]);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(id) = self.slots[slot].checked_sub(1) {
            if self.known[id as usize].1 == hash
                && self.words[self.range(id)] == self.words[begin..]
            {
                self.words.truncate(begin);
                return id;
            }
            slot = (slot + 1) & mask;
        }
        let id = self.known.len() as KeyId;
        self.known.push((self.words.len(), hash));
        self.slots[slot] = id + 1;
        id
    }

    /// The numbers of a key.
    pub(super) fn numbers(&self, id: KeyId) -> &[Number] {
        let range = self.range(id);
        &self.words[range.start + HEAD..range.end]
    }

    /// The bits of a sum's type; none for another key
    pub(super) fn bits_of_sum(&self, id: KeyId) -> Option<u32> {
        let range = self.range(id);
        (self.words[range.start] == Key::Sum(0, 0).words()[0]).then(|| self.words[range.start + 2])
    }

    fn range(&self, id: KeyId) -> std::ops::Range<usize> {
        let id = id as usize;
        let begin = id.checked_sub(1).map_or(0, |before| self.known[before].0);
        begin..self.known[id].0
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(64);
        self.slots.clear();
        self.slots.resize(count, 0);
        for (id, &(_, hash)) in self.known.iter().enumerate() {
            let mut slot = hash as usize & (count - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = id as KeyId + 1;
        }
    }
}

fn hash(words: &[u32]) -> u32 {
    let mut hasher = FxHasher::default();
    words.iter().for_each(|&word| hasher.write_u32(word));
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// A sum of multiples of numbers and a constant. Terms of one number are added up just if it is
/// well defined: `(x + y) - y` is poison if `y` is, and what is undefined may be something else
/// each time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) constant: i64,
    /// Bits of the type
    pub(super) bits: u32,
    /// Numbers and their factors, sorted
    pub(super) terms: Vec<(Number, i64)>,
}

/// Longer sums are not looked through.
const MOST_TERMS: usize = 12;

/// Words of a term: its number, and both halves of its factor
const TERM: usize = 3;

fn halves(value: i64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn whole(halves: &[u32]) -> i64 {
    (i64::from(halves[1]) << 32) | i64::from(halves[0])
}

impl Form {
    /// The factor, modulo the size of the type.
    pub(super) fn wrap(&self, value: i64) -> i64 {
        let unused = 64 - self.bits.clamp(1, 64);
        value.wrapping_shl(unused).wrapping_shr(unused)
    }

    /// Adds a multiple of a number. `is_well_defined` is asked where that matters.
    pub(super) fn add(
        &mut self,
        number: Number,
        factor: i64,
        is_well_defined: &dyn Fn(Number) -> bool,
    ) {
        let mut factor = self.wrap(factor);
        let place = self.terms.partition_point(|&(n, _)| n < number);
        let known = self.terms.get(place).filter(|&&(n, _)| n == number).map(|&(_, factor)| factor);
        if (known.is_some() || factor == 0) && is_well_defined(number) {
            if let Some(known) = known {
                self.terms.remove(place);
                factor = self.wrap(known.wrapping_add(factor));
            }
            if factor == 0 {
                return;
            }
        }
        let place = self.terms.partition_point(|&term| term < (number, factor));
        self.terms.insert(place, (number, factor));
    }

    /// The terms of a sum and its constant, by its words.
    pub(super) fn parts(words: &[u32]) -> (Vec<(Number, i64)>, i64) {
        let (constant, terms) = words.split_at(2);
        let terms = terms.chunks_exact(TERM).map(|term| (term[0], whole(&term[1..])));
        (terms.collect(), whole(constant))
    }

    /// Adds a multiple of a sum, by its words; false if it is too long to be looked through.
    pub(super) fn add_form(
        &mut self,
        words: &[u32],
        factor: i64,
        is_well_defined: &dyn Fn(Number) -> bool,
    ) -> bool {
        let (constant, terms) = words.split_at(2);
        if terms.len() / TERM > MOST_TERMS {
            return false;
        }
        self.constant = self.constant.wrapping_add(whole(constant).wrapping_mul(factor));
        for term in terms.chunks_exact(TERM) {
            let factor = whole(&term[1..]).wrapping_mul(factor);
            self.add(term[0], factor, is_well_defined);
        }
        true
    }

    /// The number that it is, if it adds up nothing else.
    pub(super) fn single(&self) -> Option<Number> {
        match self.terms[..] {
            [(number, 1)] if self.constant == 0 => Some(number),
            _ => None,
        }
    }

    /// The constant, then the terms, as the numbers of a key.
    pub(super) fn words(&self, words: &mut Vec<u32>) {
        words.clear();
        words.extend(halves(self.constant));
        for &(number, factor) in &self.terms {
            words.push(number);
            words.extend(halves(factor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_same_words_are_the_same_key() {
        let mut keys = Keys::default();
        let mut known: HashMap<Vec<u32>, KeyId> = HashMap::new();
        for n in 0..2000_u32 {
            let numbers = [n % 7, n % 5, n % 3];
            let numbers = &numbers[..n as usize % 4];
            let id = keys.id(Key::Operation(n % 2), numbers);
            let words = [&[n % 2], numbers].concat();
            assert_eq!(*known.entry(words).or_insert(id), id);
            assert_eq!(keys.numbers(id), numbers);
            assert_eq!(keys.bits_of_sum(id), None);
        }
        assert_eq!(keys.known.len(), known.len());
    }

    #[test]
    fn a_sum_is_read_from_its_key() {
        let mut inner = Form { constant: -3, bits: 32, terms: Vec::new() };
        inner.add(7, -1, &|_| true);
        inner.add(5, i64::from(i32::MAX), &|_| true);
        let mut words = Vec::new();
        inner.words(&mut words);
        let mut keys = Keys::default();
        let id = keys.id(Key::Sum(1, 32), &words);
        assert_eq!(keys.bits_of_sum(id), Some(32));
        let mut outer = Form { constant: 1, bits: 32, terms: Vec::new() };
        outer.add(7, 2, &|_| true);
        let mut other = outer.clone();
        assert!(outer.add_form(keys.numbers(id), 2, &|_| true));
        assert_eq!((outer.constant, outer.terms), (-5, vec![(5, -2)]));
        assert!(other.add_form(keys.numbers(id), 2, &|number| number == 5));
        assert_eq!((other.constant, other.terms), (-5, vec![(5, -2), (7, -2), (7, 2)]));
    }

    #[test]
    fn what_is_not_well_defined_does_not_vanish_from_a_sum() {
        let mut sum = Form { constant: 0, bits: 32, terms: Vec::new() };
        sum.add(3, 1 << 32, &|_| false);
        assert_eq!(sum.terms, vec![(3, 0)]);
        let mut sum = Form { constant: 0, bits: 32, terms: Vec::new() };
        sum.add(3, 1 << 32, &|_| true);
        assert_eq!(sum.terms, vec![]);
    }
}
