//! Phis, of values and of states of memory: by what comes in, by what branches say of that, and by
//! the pair whose versions take the same edges.

use crate::proof::keys::{Key, KeyId};
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::{Number, UNKNOWN, copied};
use crate::proof::round::over::memory_over;
use crate::proof::round::{Found, MISSING, Restless, Round};
use crate::proof::shape::Entry;
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};

impl Round<'_> {
    /// What gives a phi its number, and another value that this depends on.
    pub(super) fn phi(
        &mut self,
        which: Version,
        inst: InstId,
        own: Number,
    ) -> (Found, Option<ValueId>) {
        let (versions, shapes) = (self.versions, self.shapes);
        let version = &versions.of[which];
        let block = version.graph.block(inst);
        let incoming = shapes[which].incoming(version, inst);
        let congruence = &self.congruence;
        let plain = incoming.iter().flatten().map(|&operand| congruence.number(which, operand));
        // What comes in everywhere is the same still where an edge says what it is.
        if let Some(copied) = copied(plain, own) {
            return (Found::Number(copied), None);
        }
        let mut numbers = std::mem::take(&mut self.scratch.numbers);
        numbers.clear();
        let is_plain = self.restless[which][inst] == Restless::Plain;
        let on_edge = |(operand, &from): (&Option<Operand>, &BlockId)| {
            let number = |o: Operand| match is_plain {
                true => congruence.number(which, o),
                false => congruence.on_edge(versions, which, o, (from, block)),
            };
            operand.map_or(MISSING, number)
        };
        numbers.extend(incoming.iter().zip(&version.live.predecessors[block]).map(on_edge));
        let found = match copied(numbers.iter().copied().filter(|&n| n != MISSING), own) {
            Some(copied) => Found::Number(copied),
            None => {
                let said = match is_plain {
                    true => None,
                    false => self.said(which, block, &numbers, own),
                };
                let key = self.met(
                    which,
                    block,
                    &numbers,
                    (Key::Together, Key::Alone(which, block)),
                    |round, walk, is_said| {
                        round.phi_over_walk(which, inst, walk, is_said && !is_plain)
                    },
                );
                let over = copied(self.keys.numbers(key).iter().copied(), own);
                let over = over.filter(|&number| self.congruence.constant(number).is_some());
                match (over, said) {
                    (Some(constant), _) => Found::Number(constant),
                    (None, Some(number)) => Found::Said(key, number),
                    (None, None) => Found::Key(key),
                }
            }
        };
        self.scratch.numbers = numbers;
        if is_plain {
            return (found, None);
        }
        if let Some(number) = self.same_over_ways(which, inst) {
            return (Found::Number(number), None);
        }
        match (found, self.choice(which, inst)) {
            (Found::Key(key), Some((choice, condition))) => (Found::Either(key, choice), condition),
            _ => (found, None),
        }
    }

    /// The phi of base that one of opt is guessed to be, with that, and the pair that both are at
    /// the entries of.
    pub(super) fn guessed_pair(&self, phi: InstId) -> Option<(PairId, PerVersion<InstId>)> {
        let graphs = self.versions.of.as_ref().map(|version| &version.graph);
        let phis = PerVersion { base: self.guesses.phi(phi)?, opt: phi };
        let nodes = PerVersion::from_fn(|w| &graphs[w].nodes[phis[w]]);
        let are_alike = nodes.iter().all(|node| node.facts.is_phi())
            && nodes.base.data_type == nodes.opt.data_type;
        are_alike.then_some(())?;
        let entered =
            |w: Version| self.matching.entered(self.versions, w, graphs[w].block(phis[w]));
        let pair = entered(Version::Opt)?;
        (entered(Version::Base) == Some(pair)).then_some((pair, phis))
    }

    /// The number of the phi of base that one of opt is guessed to be, if they have the same on
    /// each way in, of which there are several for an edge.
    fn same_over_ways(&self, which: Version, phi: InstId) -> Option<Number> {
        let (pair, phis) = (which == Version::Opt).then(|| self.guessed_pair(phi))??;
        let pairs = &self.matching.pairs;
        let has_several = pairs[pair].incoming.iter().any(|&(from, place)| {
            let walks = pairs[from].out.as_ref().map(|out| &out[place].walks);
            walks.is_some_and(|walks| walks.iter().any(|walks| walks.len() > 1))
        });
        let result = |w: Version| self.versions.graph(w).result(phis[w]);
        let operands = PerVersion::from_fn(|w| Operand::Value(result(w)));
        (has_several && self.are_same_over(pair, operands))
            .then(|| self.congruence.of.base[result(Version::Base)])
    }

    /// The one number that comes in at the head of a block, if otherwise constants do, where a
    /// branch has said that it is these.
    fn said(
        &self,
        which: Version,
        block: BlockId,
        numbers: &[Number],
        own: Number,
    ) -> Option<Number> {
        let congruence = &self.congruence;
        let is_other = |number: Number| {
            let is_none = number == MISSING || number == UNKNOWN || number == own;
            !is_none && congruence.constant(number).is_none()
        };
        let number = copied(numbers.iter().copied().filter(|&n| is_other(n)), own)?;
        let predecessors = &self.versions.of[which].live.predecessors[block];
        let mut edges = numbers.iter().zip(predecessors);
        let is_said = |(&incoming, &from): (&Number, &BlockId)| {
            congruence.constant(incoming).is_none()
                || incoming == self.said_on_edge(which, number, (from, block))
        };
        edges.all(is_said).then_some(number)
    }

    /// The key of a phi as the choice of a branch, and the value that decides.
    fn choice(&mut self, which: Version, phi: InstId) -> Option<(KeyId, Option<ValueId>)> {
        let graph = self.versions.graph(which);
        let number = |from: BlockId| {
            let incoming = graph.incoming(phi, from)?;
            Some(self.congruence.number(which, incoming))
        };
        let (block, data_type) = (graph.block(phi), graph.nodes[phi].data_type);
        let ([decided, holds, fails], decides) = self.chosen_at(which, block, number)?;
        Some((self.choice_of(data_type, decided, holds, fails), decides))
    }

    /// The numbers of the condition of the branch that decides a join, and of what comes in there
    /// if it holds and if it does not, by what comes in from each predecessor; and the value that
    /// decides.
    pub(super) fn chosen_at(
        &self,
        which: Version,
        block: BlockId,
        incoming: impl Fn(BlockId) -> Option<Number>,
    ) -> Option<([Number; 3], Option<ValueId>)> {
        let version = &self.versions.of[which];
        let gate = version.gates[block].as_ref()?;
        let condition = gate.condition(&version.graph)?;
        let [holds, fails] = [true, false].map(|holds| gate.one(holds, &incoming));
        let numbers = [self.congruence.number(which, condition), holds?, fails?];
        Some((numbers, if let Operand::Value(value) = condition { Some(value) } else { None }))
    }

    /// The number of what meets at the head of a block, if states of memory do.
    pub(super) fn memory_phi(&mut self, which: Version, block: BlockId) -> Option<Number> {
        let (versions, shapes) = (self.versions, self.shapes);
        let states = shapes[which].states[block].as_ref()?;
        let own = self.congruence.layout.phis[which] + u32::from(block);
        let mut numbers = std::mem::take(&mut self.scratch.numbers);
        numbers.clear();
        let number = |access: Access| self.congruence.access(versions, which, access);
        numbers.extend(states.iter().map(|access| access.map_or(MISSING, number)));
        let number = match copied(numbers.iter().copied().filter(|&n| n != MISSING), own) {
            Some(copied) => copied,
            None => {
                let keys = (Key::Memory, Key::MemoryAlone(which, block));
                let key = self.met(which, block, &numbers, keys, |round, walk, _| {
                    let access = memory_over(round.versions, which, block, walk)?;
                    Some(round.congruence.access(round.versions, which, access))
                });
                self.holder(which, key, own)
            }
        };
        self.scratch.numbers = numbers;
        Some(number)
    }

    /// The key of what meets at the head of a block, with these numbers from its predecessors: that
    /// of its pair, if on each edge that both versions take one number comes in, else one of its
    /// own. `over` gives the number on a walk.
    fn met(
        &mut self,
        which: Version,
        block: BlockId,
        numbers: &[Number],
        (together, alone): (impl Fn(PairId) -> Key, Key),
        over: impl Fn(&Self, &Walk, bool) -> Option<Number>,
    ) -> KeyId {
        let mut of_edges = std::mem::take(&mut self.scratch.over);
        of_edges.clear();
        let pair = match &self.entries[which][block] {
            Entry::Alone => None,
            Entry::Direct(pair, edges) => {
                let of_edge = |places: &Vec<usize>| {
                    let first = numbers[*places.first()?];
                    let is_same = |&place: &usize| numbers[place] == first;
                    (first != MISSING && places.iter().all(is_same)).then_some(first)
                };
                of_edges.extend(edges.iter().map_while(of_edge));
                (of_edges.len() == edges.len()).then_some(*pair)
            }
            Entry::Over => self.over_edges(which, block, over).map(|(pair, numbers)| {
                of_edges.extend(numbers);
                pair
            }),
        };
        let key = match pair {
            Some(pair) => self.keys.id(together(pair), &of_edges),
            None => self.keys.id(alone, numbers),
        };
        self.scratch.over = of_edges;
        key
    }
}
