//! Numbers that a seed chooses, the same ones everywhere and always.

/// A generator of random numbers (SplitMix64: Steele, Lea and Flood, *Fast Splittable Pseudorandom
/// Number Generators*, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// What a seed chooses.
    pub fn new(seed: u64) -> Self {
        Dice { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908 }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn number(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// An index below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.number(0, end as u64 - 1) as usize
    }

    /// True in so many of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.number(1, 100) <= percent
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_sequence_and_another_seed_another() {
        let throw = |seed| [(); 8].map(|()| Dice::new(seed).number(0, 1 << 40));
        assert_eq!(throw(3), throw(3));
        assert_ne!(throw(3), throw(4));
    }

    #[test]
    fn numbers_are_in_their_range_and_all_of_it() {
        let mut dice = Dice::new(1);
        let mut met = [false; 5];
        (0..200).for_each(|_| met[dice.number(3, 7) as usize - 3] = true);
        assert_eq!(met, [true; 5]);
    }
}
