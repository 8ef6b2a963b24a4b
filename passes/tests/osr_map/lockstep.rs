//! What matching and congruence claim, checked on runs of both versions.

use crate::ir::{Program, Word};
use crate::machine::{Event, State, Stop};
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::proof::matching::PairId;
use midflight_mapping::unfold::Product;
use midflight_mapping::versions::graph::{ConstId, Graph, Operand};
use midflight_mapping::versions::version::{PerVersion, Version};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// Instructions that a run of base may have
const MOST_STEPS: usize = 1500;

/// What came of a run.
pub struct End {
    pub result: Word,
    pub last: State,
}

/// A run: where it stood before each instruction, and what came of it.
pub struct Trace {
    pub steps: Vec<State>,
    pub end: End,
}

/// Constants by number
pub type Constants<'a> = &'a dyn Fn(ConstId) -> Option<Word>;

/// A time when matched chains ran, with the steps of each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    pub pair: PairId,
    pub steps: PerVersion<Range<usize>>,
}

/// What was found.
pub struct Lockstep {
    pub visits: Vec<Visit>,
    /// Values that were compared
    pub values: usize,
    /// For each step of both runs how many anchors have run that both versions should have
    pub anchors_before: PerVersion<Vec<usize>>,
}

/// Runs a program from a state on. `see` is shown each state.
///
/// # Errors
/// Why the run says nothing.
pub fn run(
    program: &Program,
    mut state: State,
    most: usize,
    mut see: impl FnMut(&State),
) -> Result<End, Stop> {
    for _ in 0..most {
        see(&state);
        if let Some(result) = state.step(program)? {
            return Ok(End { result, last: state });
        }
    }
    Err(Stop::Fuel)
}

/// A run of base; none if it has undefined behaviour, or takes too long.
pub fn trace(program: &Program, arguments: &[u64], seed: u64) -> Option<Trace> {
    trace_of(program, arguments, seed, MOST_STEPS)
}

/// Runs of both versions; none if a run has undefined behaviour, or takes too long.
pub fn traces(
    programs: &PerVersion<Program>,
    arguments: &[u64],
    seed: u64,
) -> Option<PerVersion<Trace>> {
    let opt = || trace_of(&programs.opt, arguments, seed, 4 * MOST_STEPS);
    Some(PerVersion { base: trace(&programs.base, arguments, seed)?, opt: opt()? })
}

fn trace_of(program: &Program, arguments: &[u64], seed: u64, most: usize) -> Option<Trace> {
    let mut steps = Vec::new();
    let state = State::new(program, arguments, seed);
    let end = run(program, state, most, |state| steps.push(state.clone())).ok()?;
    Some(Trace { steps, end })
}

/// The times when a version enters matched chains.
fn visits(
    mapper: &Mapper<'_>,
    which: Version,
    trace: &Trace,
) -> Result<Vec<(PairId, Range<usize>)>, String> {
    let version = &mapper.proof.proved().of[which];
    let mut found: Vec<(Option<PairId>, Range<usize>)> = Vec::new();
    for (number, step) in trace.steps.iter().enumerate() {
        let block = version.graph.block(step.at);
        let Some(chain) = version.chains.of_block[block] else {
            return Err(format!(
                "version {which:?} runs block {block}, which is said to be never reached"
            ));
        };
        let phis = version.graph.phis(block).count();
        let is_first = version.graph.insts(block).iter().nth(phis) == Some(step.at);
        if is_first && version.chains.head(chain) == block {
            found.push((mapper.proof.matching.of_chain[which][chain], number..number));
        }
        found.last_mut().ok_or("does not begin with a chain")?.1.end = number + 1;
    }
    Ok(found.into_iter().filter_map(|(pair, steps)| Some((pair?, steps))).collect())
}

/// Checks that matched chains run at the same time, with the same anchors before, and that values
/// of the same number are equal then.
///
/// # Errors
/// What does not hold.
pub fn lockstep(
    mapper: &Mapper<'_>,
    traces: &PerVersion<Trace>,
    constant: Constants<'_>,
) -> Result<Lockstep, String> {
    let traces = match &mapper.proof.product {
        Some(product) => {
            let unfolded = |w: Version| unfolded(product, w, &traces[w]);
            let [base, opt] = Version::BOTH.map(unfolded);
            &PerVersion { base: base?, opt: opt? }
        }
        None => traces,
    };
    let [base, opt] = Version::BOTH.map(|w| visits(mapper, w, &traces[w]));
    let (base, opt) = (base?, opt?);
    let pairs = |visits: &[(PairId, Range<usize>)]| visits.iter().map(|v| v.0).collect::<Vec<_>>();
    if pairs(&base) != pairs(&opt) {
        return Err(format!(
            "matched chains are visited at other times: {:?} and {:?} of {:?}",
            pairs(&base),
            pairs(&opt),
            mapper.proof.matching.pairs
        ));
    }
    let ran = |w: Version| {
        let graph = mapper.proof.proved().graph(w);
        traces[w].steps.iter().map(|step| anchors(graph, step).len()).collect()
    };
    let anchors_before = PerVersion::from_fn(ran);
    let mut found = Lockstep { visits: Vec::new(), values: 0, anchors_before };
    for ((pair, of_base), (_, of_opt)) in base.into_iter().zip(opt) {
        let visit = Visit { pair, steps: PerVersion { base: of_base, opt: of_opt } };
        let [a, b] = Version::BOTH.map(|w| {
            let graph = mapper.proof.proved().graph(w);
            anchors(graph, &traces[w].steps[visit.steps[w].start])
        });
        if !same_log(mapper, &a, &b) {
            return Err(format!("pair {pair} is entered after other anchors: {a:?} and {b:?}"));
        }
        for segment in 0..=mapper.proof.matching.pairs[pair].prefix {
            found.values += same_values(mapper, traces, &visit, segment, constant)?;
        }
        found.visits.push(visit);
    }
    for which in Version::BOTH {
        for step in &traces[which].steps {
            if mapper.proof.proved().graph(which).nodes[step.at].facts.is_terminator() {
                let mut known = HashMap::new();
                compare(mapper, which, step, &mut known, constant)?;
            }
        }
    }
    Ok(found)
}

/// The anchors that have run and that both versions should have.
pub fn anchors<'a>(graph: &Graph, state: &'a State) -> Vec<&'a Event> {
    state.log.iter().filter(|e| graph.is_shared_anchor(e.at)).collect()
}

fn same_log(mapper: &Mapper<'_>, a: &[&Event], b: &[&Event]) -> bool {
    let same = |(x, y): (&&Event, &&Event)| {
        let mut args = x.args.iter().zip(&y.args);
        // What is filled begins where others of a group write; what it has then is compared.
        let at = [(Version::Base, x.at), (Version::Opt, y.at)];
        let fills = at.map(|(w, at)| mapper.proof.proved().graph(w).nodes[at].fills);
        let fill_alike = fills[0].zip(fills[1]).is_some_and(|(a, b)| a.what == b.what);
        x.what == y.what && (fill_alike || args.all(|(&x, &y)| is_same(x, y)))
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// What is poison or undefined may be anything.
pub fn agree(a: Word, b: Word) -> bool {
    a == b || a.is_loose() || b.is_loose()
}

/// What is poison or undefined is so in both.
pub fn is_same(a: Word, b: Word) -> bool {
    a == b || a.is_loose() && b.is_loose()
}

/// The last step of a visit in a segment: all values of the segment are there.
fn last_of(
    mapper: &Mapper<'_>,
    which: Version,
    trace: &Trace,
    steps: Range<usize>,
    segment: usize,
) -> Option<usize> {
    let chains = &mapper.proof.proved().of[which].chains;
    steps.rev().find(|&s| chains.segment[trace.steps[s].at] == segment)
}

fn same_values(
    mapper: &Mapper<'_>,
    traces: &PerVersion<Trace>,
    visit: &Visit,
    segment: usize,
    constant: Constants<'_>,
) -> Result<usize, String> {
    let last = |w: Version| last_of(mapper, w, &traces[w], visit.steps[w].clone(), segment);
    let (Some(base), Some(opt)) = (last(Version::Base), last(Version::Opt)) else {
        return Err(format!(
            "one version does not get to segment {segment} of pair {}",
            visit.pair
        ));
    };
    let mut known = HashMap::new();
    compare(mapper, Version::Base, &traces.base.steps[base], &mut known, constant)?;
    compare(mapper, Version::Opt, &traces.opt.steps[opt], &mut known, constant)
}

/// A run of a version as one of the unfolded version, step by step.
fn unfolded(product: &Product, which: Version, trace: &Trace) -> Result<Trace, String> {
    let (graph, fold) = (product.versions.graph(which), &product.folds[which]);
    let arguments = graph.body.code.arguments;
    let mut copy = BlockId::ENTRY;
    let mut values = TiVec::from(vec![Word::Unset; graph.body.code.num_values()]);
    let mut log: Vec<Event> = Vec::new();
    let mut steps: Vec<State> = Vec::new();
    let there = |copy: BlockId, inst: InstId| {
        graph.insts(copy).iter().find(|&i| fold.is_copy(i) && fold.insts[i] == inst)
    };
    for state in &trace.steps {
        for argument in (0..arguments).map(ValueId::from) {
            values[argument] = state.values[argument];
        }
        let now = |inst: InstId| state.values[ValueId::from(arguments + usize::from(inst))];
        if let Some(before) = steps.last() {
            let done = before.at;
            if graph.has_result(done) {
                values[graph.result(done)] = now(fold.insts[done]);
            }
            for event in &state.log[log.len()..] {
                let at = there(copy, event.at).ok_or("an anchor of another block")?;
                log.push(Event { at, ..event.clone() });
            }
            if graph.nodes[done].facts.is_terminator() {
                let mut edges = graph.body.blocks[copy].edges.iter().map(|edge| edge.to);
                let next = edges.find(|&to| there(to, state.at).is_some());
                let next = next.ok_or("no copy of the next block")?;
                let phis: Vec<(ValueId, Word)> = graph
                    .phis(next)
                    .map(|phi| {
                        let word = match fold.is_copy(phi) {
                            true => now(fold.insts[phi]),
                            false => match graph.incoming(phi, copy) {
                                Some(Operand::Value(value)) => values[value],
                                _ => Word::Unset,
                            },
                        };
                        (graph.result(phi), word)
                    })
                    .collect();
                phis.into_iter().for_each(|(value, word)| values[value] = word);
                copy = next;
            }
        }
        let at = there(copy, state.at).ok_or("an instruction of another block")?;
        steps.push(State {
            at,
            values: values.clone(),
            log: Rc::new(log.clone()),
            ..state.clone()
        });
    }
    let last = State { log: Rc::new(log), ..trace.end.last.clone() };
    Ok(Trace { steps, end: End { result: trace.end.result, last } })
}

/// What is known of numbers: a value with it, and what that is.
type Known = HashMap<u32, (Version, Option<ValueId>, Word)>;

/// Compares the values that dominate where a version stands with those known; how many there were.
fn compare(
    mapper: &Mapper<'_>,
    which: Version,
    state: &State,
    known: &mut Known,
    constant: Constants<'_>,
) -> Result<usize, String> {
    let proof = mapper.proof;
    let graph = proof.proved().graph(which);
    let above = dominators(&graph.body);
    let mut count = 0;
    for (value, &word) in state.values.iter_enumerated() {
        let has_result = graph.definition(value).is_none_or(|i: InstId| graph.has_result(i));
        if !has_result || !above.is_available(&graph.body, value, state.at) {
            continue;
        }
        let number = proof.congruence.of[which][value];
        let other = match proof.congruence.constant(number) {
            Some(id) => constant(id).map(|word| (which, None, word)),
            None => Some(*known.entry(number).or_insert((which, Some(value), word))),
        };
        let Some((of, same, expected)) = other else { continue };
        count += usize::from(of != which);
        if !is_same(word, expected) {
            return Err(format!(
                "value {value} of version {which:?} is {word:?}, but value {same:?} of version {of:?} has the same number {number} and is {expected:?}, before instruction {} of version {which:?}",
                state.at
            ));
        }
    }
    Ok(count)
}
