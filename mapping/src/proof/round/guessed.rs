//! Guesses ([`crate::proof::guesses`]) are numbers until the rules refute them.

use crate::proof::guesses::{Guess, Refuted};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::{Restless, Round};
use crate::versions::version::Version;

impl Round<'_> {
    /// The number that is guessed, if there is one; else what it was found to be.
    pub(super) fn guessed(&mut self, which: Version, guess: Guess, found: Number) -> Number {
        let guessed = match guess {
            _ if which == Version::Base => None,
            Guess::Phi(phi) => match self.guesses.phi(phi) {
                Some(base) => {
                    Some(self.congruence.of.base[self.versions.of.base.graph.result(base)])
                }
                None => {
                    let place = self.guesses.contents.get(&phi).and_then(|places| places.last());
                    place.and_then(|place| self.congruence.contents.number(place))
                }
            },
            Guess::Memory(block) => {
                self.guesses.memory[block].map(|b| self.congruence.memory.base[b])
            }
            Guess::Place(place) => {
                let base = self.guesses.places.get(&place);
                base.and_then(|base| self.congruence.contents.number(base))
            }
        };
        if guessed.is_some_and(|number| number != found) {
            self.refuted.push(guess);
        }
        guessed.unwrap_or(found)
    }

    /// Drops the guesses that do not follow from the others, and forgets what was built on them;
    /// true if there were any.
    pub(super) fn drop_refuted(&mut self, refuted: &mut Refuted) -> bool {
        // What tracking says of a phi may only be in the way of what is guessed of another one, or
        // of an operation. Of places in memory it is as likely where stores are lone, and phis
        // there for these.
        let has_lone = self.versions.has_lone;
        let opt = &self.versions.of.opt.graph;
        let likeliness = |guess: &Guess| match *guess {
            Guess::Phi(phi) => {
                let is_place = self.guesses.phi(phi).is_none();
                match self.guesses.phis[phi] {
                    Some(_) if !opt.nodes[phi].facts.is_phi() => 0,
                    Some(_) => 2,
                    None if is_place && has_lone => 2,
                    None => 1,
                }
            }
            Guess::Memory(_) | Guess::Place(_) => 2,
        };
        let mut dropped = std::mem::take(&mut self.refuted);
        let least = dropped.iter().map(likeliness).min();
        dropped.retain(|guess| Some(likeliness(guess)) == least);
        let is_any = !dropped.is_empty();
        for guess in &dropped {
            match *guess {
                Guess::Phi(phi) => {
                    if self.guesses.phis[phi].take().is_some() {
                        refuted.phis.insert(phi);
                        let before = self.guesses.before.remove(&phi).into_iter().flatten();
                        self.guesses.others.extend(before);
                    } else if self.guesses.others.get_mut(&phi).and_then(Vec::pop).is_some() {
                        if self.guesses.phi(phi).is_none() {
                            refuted.phis.insert(phi);
                        }
                    } else if let Some(places) = self.guesses.contents.get_mut(&phi) {
                        places.pop();
                    }
                }
                Guess::Place(place) => {
                    self.guesses.places.remove(&place);
                }
                Guess::Memory(block) => {
                    self.guesses.memory[block] = None;
                    refuted.memory.insert(block);
                }
            }
        }
        if !is_any {
            return false;
        }
        self.forget(Version::Opt);
        true
    }

    /// Forgets all numbers of a version but those of its arguments.
    pub(super) fn forget(&mut self, which: Version) {
        let graph = self.versions.graph(which);
        self.now += 1;
        for inst in graph.nodes.keys() {
            self.set(which, graph.result(inst), UNKNOWN);
        }
        self.congruence.memory[which].raw.fill(UNKNOWN);
        self.memory_changed[which].raw.fill(self.now);
        self.congruence.contents.forget(which, self.now);
        self.lost[which].raw.fill(0);
        self.restless[which].raw.fill(Restless::No);
        self.begun[which] = self.rounds[which];
        self.congruence.looked_into.retain(|&(of, _), _| of != which);
    }
}
