//! What a pass moved over a phi: an operation on a phi that became a phi of operations, and a phi
//! of loads that became a load of a phi.

use crate::proof::candidates::Candidate;
use crate::proof::congruence::value_over;
use crate::proof::matching::{OutEdge, PairId, Walk};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::terms::{DEPTHS, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::facts::VersionFacts;
use crate::versions::graph::Operand;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

/// How a pair was entered
pub(super) type Way<'a> = (PairId, PerVersion<&'a Walk>);

/// Ways into a pair besides one for each edge
const MOST_WALKS: usize = 8;

/// Pairs that are looked back over
const MOST_PAIRS: usize = 3;

/// What proves that expressions are the same where base is at an instruction
type Proves<'p> = dyn Fn(&Terms, InstId) -> Option<LookedInto> + 'p;

impl Round<'_> {
    /// The instructions that were looked into to prove that a phi of opt has on each way in what an
    /// operation of base gives on what comes in there.
    pub(super) fn through_phi(&self, phi: InstId, candidate: Candidate) -> Option<LookedInto> {
        let (base, opt) = (&self.versions.of.base.graph, &self.versions.of.opt.graph);
        let pair = self.matching.entered(self.versions, Version::Opt, opt.block(phi))?;
        let Operand::Value(value) = candidate.operand else { return None };
        let operation = base.definition(value).filter(|&inst| base.nodes[inst].is_total)?;
        let phi = Operand::Value(opt.result(phi));
        let operands = PerVersion { base: candidate.operand, opt: phi };
        let is_defined = self.extends_defined(pair, operation);
        let proves = |terms: &Terms, at| {
            let negated = candidate.negated;
            self.are_equal(terms, negated)
                .or_else(|| is_defined.then(|| self.stands_for(terms, negated, at))?)
        };
        self.over_ways(pair, operands, &mut Vec::new(), &proves)
    }

    /// The number of the phi of base that one of opt is guessed to be, and the instructions that
    /// were looked into to prove that both have the same on each way in. Where base's is well
    /// defined wherever the pair is entered, flags of base say what comes in there.
    pub(super) fn phi_as_guessed(&self, phi: InstId) -> Option<(Number, LookedInto)> {
        let (pair, phis) = self.guessed_pair(phi)?;
        let graphs = self.versions.of.as_ref().map(|version| &version.graph);
        let operands = PerVersion::from_fn(|w| Operand::Value(graphs[w].result(phis[w])));
        let is_defined = self.oracle.is_defined_by_uses(phis.base);
        let proves = |terms: &Terms, at| {
            let is_constant = matches!(terms.terms[terms.roots[0]], Term::Constant(_));
            let stands_for =
                || (is_defined || is_constant).then(|| self.stands_for(terms, false, at))?;
            self.are_equal(terms, false).or_else(stands_for)
        };
        let edges = &self.matching.pairs[pair].incoming;
        let walks_of = |&(from, place): &(PairId, usize)| {
            self.matching.pairs[from].out.as_ref().map(|out| &out[place].walks)
        };
        let begins_again = |walks: &PerVersion<Vec<Walk>>| {
            let mut both = Version::BOTH.into_iter();
            both.any(|w| walks[w].iter().any(|walk| self.computes_again(w, walk)))
        };
        // There values of two times would be compared.
        if edges.is_empty() || edges.iter().any(|edge| walks_of(edge).is_none_or(begins_again)) {
            return None;
        }
        let mut all = LookedInto::new();
        for &edge in edges {
            let over = |which: Version| self.phi_over_edge(which, phis[which], edge);
            let is_one = over(Version::Base).is_some_and(|one| over(Version::Opt) == Some(one));
            if !is_one && !self.are_same_over_edge(pair, edge, operands) {
                let (from, place) = edge;
                let OutEdge { walks, .. } = &self.matching.pairs[from].out.as_ref()?[place];
                let looked_into = match (&walks.base[..], &walks.opt[..]) {
                    ([base], [opt]) => {
                        let mut ways = vec![(pair, PerVersion { base, opt })];
                        self.over_way(from, operands, &mut ways, &proves)
                    }
                    _ => self.at_end_of(walks, phis, &proves),
                };
                all.extend(looked_into?);
            }
        }
        Some((self.congruence.of.base[graphs.base.result(phis.base)], all))
    }

    /// The same over several walks that end with one edge in each version: for what comes in over
    /// that.
    fn at_end_of(
        &self,
        walks: &PerVersion<Vec<Walk>>,
        phis: PerVersion<InstId>,
        proves: &Proves<'_>,
    ) -> Option<LookedInto> {
        let end = |which: Version| {
            let mut edges = walks[which].iter().map(|walk| walk.edges.last());
            let &(from, to) = edges.next()??;
            let is_same = edges.all(|edge| edge == Some(&(from, to)));
            (is_same && to == self.versions.graph(which).block(phis[which])).then_some(from)
        };
        let ends = PerVersion { base: end(Version::Base)?, opt: end(Version::Opt)? };
        let at = self.versions.of.base.graph.terminator(ends.base);
        DEPTHS.into_iter().find_map(|(depth, into)| {
            let mut terms = Terms::new(into);
            let mut root = |which: Version| {
                let graph = self.versions.graph(which);
                let incoming = graph.incoming(phis[which], ends[which])?;
                terms.choice = graph.definition_of(incoming).map(|inst| (which, inst));
                let number = self.congruence.number(which, incoming);
                self.term_of(&mut terms, which, incoming, Some(number), depth)
            };
            terms.roots = [root(Version::Base)?, root(Version::Opt)?];
            proves(&terms, at)
        })
    }

    /// True for what extends a phi of base that is well defined wherever a pair is entered: so it
    /// is on each way in, and flags say what comes in there.
    fn extends_defined(&self, pair: PairId, inst: InstId) -> bool {
        let base = &self.versions.of.base.graph;
        let entries = &self.matching.pairs[pair].entries.base;
        let is_phi_there =
            |&phi: &InstId| base.nodes[phi].facts.is_phi() && entries.contains(&base.block(phi));
        let extended =
            base.nodes[inst].extends.and_then(|_| base.definition_of(base.operands(inst)[0]));
        extended.filter(is_phi_there).is_some_and(|phi| self.oracle.is_defined_by_uses(phi))
    }

    /// The same for an operation of opt behind the head of a pair on phis there, and a phi of base
    /// that has on each way in what the operation gives on what comes in.
    pub(super) fn operation_of_phi(
        &self,
        operation: InstId,
        candidate: Candidate,
    ) -> Option<LookedInto> {
        let (base, opt) = (&self.versions.of.base.graph, &self.versions.of.opt);
        let Operand::Value(value) = candidate.operand else { return None };
        let phi = base.definition(value).filter(|&inst| base.nodes[inst].facts.is_phi())?;
        let pair = self.matching.entered(self.versions, Version::Base, base.block(phi))?;
        let head = opt.chains.head(self.matching.pairs[pair].chains.opt);
        let is_behind = opt.scopes.dominates(head, opt.graph.block(operation));
        is_behind.then_some(())?;
        let operation = Operand::Value(opt.graph.result(operation));
        let operands = PerVersion { base: candidate.operand, opt: operation };
        let proves = |terms: &Terms, _| self.are_equal(terms, candidate.negated);
        self.over_ways(pair, operands, &mut Vec::new(), &proves)
    }

    /// The instructions that were looked into to prove that operands behind the head of a pair, or
    /// of a pair that was entered from it over some ways, are the same on each way in.
    pub(super) fn over_ways<'a>(
        &'a self,
        pair: PairId,
        operands: PerVersion<Operand>,
        ways: &mut Vec<Way<'a>>,
        proves: &Proves<'_>,
    ) -> Option<LookedInto> {
        let mut all = LookedInto::new();
        for (from, walks) in self.ways_from(pair)? {
            ways.push((pair, walks));
            let looked_into = self.over_way(from, operands, ways, proves);
            ways.pop();
            all.extend(looked_into?);
        }
        Some(all)
    }

    /// The same on one way, or on each way into the pair that that begins at.
    fn over_way<'a>(
        &'a self,
        from: PairId,
        operands: PerVersion<Operand>,
        ways: &mut Vec<Way<'a>>,
        proves: &Proves<'_>,
    ) -> Option<LookedInto> {
        let &(pair, walks) = ways.last()?;
        if let Ok(operand) = self.entered_with(Version::Opt, pair, walks.opt, operands.opt)?
            && self.congruence.number(Version::Opt, operand) == UNKNOWN
        {
            // It is taken to be the same until it is known.
            return Some(LookedInto::new());
        }
        if Version::BOTH.into_iter().any(|w| self.computes_again(w, walks[w])) {
            return None;
        }
        let &edge = walks.base.edges.last()?;
        let end = self.versions.of.base.graph.terminator(edge.0);
        // Of a walk that goes round it is not known which time an edge speaks of.
        let count = if walks.base.goes_round { 1 } else { walks.base.edges.len() };
        let mut before = None;
        for (depth, into) in DEPTHS {
            let mut terms = Terms::new(into);
            let mut root = |w: Version| self.term_behind(&mut terms, ways, w, operands[w], depth);
            terms.roots = [root(Version::Base)?, root(Version::Opt)?];
            before = before.or_else(|| self.before_way(from, &terms));
            if let Some(looked_into) = proves(&terms, end) {
                return Some(looked_into);
            }
            let edges = walks.base.edges.iter().rev().take(count);
            let terms = edges.fold(terms, |terms, &edge| self.with_edge(terms, edge));
            let has_conditions = !terms.conditions.is_empty();
            if let Some(looked_into) = has_conditions.then(|| proves(&terms, end)).flatten() {
                return Some(looked_into);
            }
        }
        let before = before.filter(|_| ways.len() < MOST_PAIRS)?;
        let is_new = ways.iter().all(|&(known, _)| known != before);
        is_new.then(|| self.over_ways(before, operands, ways, proves))?
    }

    /// True for a walk that leads over the head of a loop that it begins in: behind that, values
    /// that were there at its begin are computed again, and branches speak of the new ones.
    pub(super) fn computes_again(&self, which: Version, walk: &Walk) -> bool {
        let Some((_, edges)) = walk.edges.split_last() else { return false };
        let scopes = &self.versions.of[which].scopes;
        edges.iter().any(|&(_, to)| scopes.dominates(to, walk.edges[0].0))
    }

    /// The pair at whose entries a phi is that expressions at the end of another one are made of:
    /// the last one that both versions came to with such.
    pub(super) fn before_way(&self, from: PairId, terms: &Terms) -> Option<PairId> {
        let leaves = terms.terms.iter().filter_map(|term| match *term {
            Term::Leaf(which, value) => {
                Some((which, self.versions.graph(which).definition(value)?))
            }
            _ => None,
        });
        let of_phi = |(which, inst): (Version, InstId)| {
            let graph = self.versions.graph(which);
            let phi = Some(inst).filter(|&inst| graph.nodes[inst].facts.is_phi())?;
            self.matching.entered(self.versions, which, graph.block(phi))
        };
        let pairs: Vec<PairId> = leaves.clone().filter_map(of_phi).collect();
        if pairs.contains(&from) {
            return Some(from);
        }
        // What silent chains compute they may have computed again since.
        let is_matched = |(which, inst): (Version, InstId)| {
            let VersionFacts { graph, chains, .. } = &self.versions.of[which];
            let chain = chains.of_inst(graph, inst);
            chain.is_some_and(|chain| self.matching.of_chain[which][chain].is_some())
        };
        let &first = pairs.first()?;
        (pairs.iter().all(|&other| other == first) && leaves.clone().all(is_matched))
            .then_some(first)
    }

    /// The same for a load of opt at the head of a pair, of an address that is made of phis, and a
    /// phi of base: on each way in that has what the address that comes in has in memory, where the
    /// way ends. There memory is the same in both versions.
    pub(super) fn load_of_phi(&self, load: InstId, candidate: Candidate) -> Option<LookedInto> {
        let opt = &self.versions.of.opt;
        let base = &self.versions.of.base.graph;
        let Operand::Value(value) = candidate.operand else { return None };
        let phi = base.definition(value).filter(|&inst| base.nodes[inst].facts.is_phi())?;
        let pair = self.matching.entered(self.versions, Version::Base, base.block(phi))?;
        let is_at_head = opt.chains.of_inst(&opt.graph, load)
            == Some(self.matching.pairs[pair].chains.opt)
            && opt.chains.segment[load] == 0;
        (is_at_head && self.reads_at_head(Version::Opt, pair, load)?).then_some(())?;
        let mut looked_into = vec![(Version::Opt, load)];
        for (from, walks) in self.ways_from(pair)? {
            let incoming = self.comes_in(Version::Base, phi, walks.base)?;
            let number = self.congruence.number(Version::Base, incoming);
            let way = (from, (pair, walks));
            self.witness(&mut looked_into, way, (Version::Opt, load), number)?;
        }
        Some(looked_into)
    }

    /// The ways into a pair, with the pairs that they begin at: for each edge each walk of one
    /// version with each of the other one; none if there are none, or too many.
    pub(super) fn ways_from(&self, pair: PairId) -> Option<Vec<(PairId, PerVersion<&Walk>)>> {
        let edges = &self.matching.pairs[pair].incoming;
        let mut ways = Vec::new();
        for &(from, place) in edges {
            let OutEdge { walks, .. } = &self.matching.pairs[from].out.as_ref()?[place];
            let both = |base| walks.opt.iter().map(move |opt| (from, PerVersion { base, opt }));
            ways.extend(walks.base.iter().flat_map(both));
        }
        (!ways.is_empty() && ways.len() <= edges.len() + MOST_WALKS).then_some(ways)
    }

    pub(super) fn comes_in(&self, which: Version, phi: InstId, walk: &Walk) -> Option<Operand> {
        value_over(self.versions, &self.congruence, which, phi, walk)
    }

    /// What an operand behind the head of a pair is if that was entered over a walk: of phis of its
    /// entries what comes in. What is computed behind the head is the error.
    pub(super) fn entered_with(
        &self,
        which: Version,
        pair: PairId,
        walk: &Walk,
        operand: Operand,
    ) -> Option<Result<Operand, InstId>> {
        let graph = self.versions.graph(which);
        let Operand::Value(value) = operand else { return Some(Ok(operand)) };
        let Some(inst) = graph.definition(value) else { return Some(Ok(operand)) };
        let block = graph.block(inst);
        let is_entry = self.matching.pairs[pair].entries[which].contains(&block);
        if graph.nodes[inst].facts.is_phi() && is_entry {
            return Some(Ok(self.comes_in(which, inst, walk)?));
        }
        Some(if self.is_above(which, pair, block) { Ok(operand) } else { Err(inst) })
    }

    /// True if a block is above all entries of a pair.
    pub(super) fn is_above(&self, which: Version, pair: PairId, block: BlockId) -> bool {
        let mut entries = self.matching.pairs[pair].entries[which].iter();
        let scopes = &self.versions.of[which].scopes;
        entries.all(|&entry| block != entry && scopes.dominates(block, entry))
    }

    /// The term of an operand behind the head of a pair that was entered over some ways, the last
    /// one first: phis of entries are what comes in. None if it is made of what the pair computes
    /// behind its head.
    pub(super) fn term_behind(
        &self,
        terms: &mut Terms,
        ways: &[Way<'_>],
        which: Version,
        operand: Operand,
        depth: usize,
    ) -> Option<usize> {
        let graph = self.versions.graph(which);
        let plain = |terms: &mut Terms, which: Version, operand: Operand| {
            let number = self.congruence.number(which, operand);
            self.term_of(terms, which, operand, Some(number), depth)
        };
        let [(pair, walks), before @ ..] = ways else { return plain(terms, which, operand) };
        let inst = match self.entered_with(which, *pair, walks[which], operand)? {
            Ok(operand) => return self.term_behind(terms, before, which, operand, depth),
            Err(inst) => inst,
        };
        let number = self.congruence.of[which][graph.result(inst)];
        if !self.can_be(terms, which, inst)
            && which == Version::Base
            && let Some(phi) = self.phi_with(*pair, number)
        {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            return self.term_behind(terms, before, Version::Opt, incoming, depth);
        }
        let can_be = self.can_be(terms, which, inst)
            && depth > 0
            && terms.terms.len() < MOST_TERMS
            && number != UNKNOWN;
        can_be.then_some(())?;
        let operands = graph.operands(inst).iter();
        let operands: Option<Vec<usize>> =
            operands.map(|&o| self.term_behind(terms, ways, which, o, depth - 1)).collect();
        Some(terms.add_unknown(Term::Operation(which, inst, operands?)))
    }
}
