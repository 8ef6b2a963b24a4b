//! What mappings say, carried out.

use crate::Counts;
use crate::generator::Random;
use crate::ir::{Inst, Op, Program, Word, mask};
use crate::lockstep::{Constants, End, Lockstep, Trace, agree, is_same as is_same_word, run};
use crate::machine::{Event, Memory, State, Stop, evaluate};
use midflight_ir::ids::{BlockId, InstId, InstRange, ValueId};
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::reconstruct::{Ahead, Expr, PointMap, VARIANTS};
use midflight_mapping::versions::version::{PerVersion, Version};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Times that a point of a run is tried
const MOST_TIMES: usize = 3;

/// Instructions that a run may have behind a transition
const MOST_STEPS: usize = 6000;

/// Instructions that a transition may run ahead
const MOST_AHEAD: usize = 40;

/// What a transition hands over.
struct Handed {
    values: Vec<(ValueId, Word)>,
    memory: Rc<Memory>,
}

/// What the source runs before it is left.
fn run_ahead(map: &PointMap, program: &Program, from: &State) -> Result<State, String> {
    let mut now = from.clone();
    let mut ahead = map.ahead.as_ref().map_or(&[][..], |ahead| &ahead.runs);
    while let Some((&at, mut rest)) = ahead.split_first() {
        let inst = &program.insts[at];
        if matches!(inst.op, Op::Branch) {
            let from = program.block_of[at];
            let is_phi = |i: &&InstId| matches!(program.insts[**i].op, Op::Phi);
            let (phis, behind) = rest.split_at(rest.iter().take_while(is_phi).count());
            let incoming = |&phi: &InstId| {
                let place = program.insts[phi].from.iter().position(|&f| f == from);
                now.get(program.insts[phi].args[place.expect("the branch leads to the phi")])
            };
            let incoming: Vec<Word> = phis.iter().map(incoming).collect();
            for (&phi, word) in phis.iter().zip(incoming) {
                now.values[program.result(phi)] = word;
            }
            rest = behind;
        } else {
            let words: Vec<Word> = inst.args.iter().map(|&arg| now.get(arg)).collect();
            if words.contains(&Word::Unset) {
                return Err(format!("what {inst:?} is run on is not there: {map:?}"));
            }
            let word = evaluate(inst, &words, &now.memory, now.seed);
            let word = word.map_err(|stop| format!("running {inst:?} ahead: {stop:?}"))?;
            now.values[program.result(at)] = word;
        }
        ahead = rest;
    }
    Ok(now)
}

/// How control came to where a run stands, since it began or since a transition.
#[derive(Clone, Default)]
struct Came {
    /// For each block from where it was entered last
    from: HashMap<BlockId, BlockId>,
    /// What was computed
    computed: HashSet<InstId>,
}

impl Came {
    /// A run went on from one instruction to another one.
    fn step(&mut self, program: &Program, before: InstId, at: InstId) {
        let (from, to) = (program.block_of[before], program.block_of[at]);
        self.computed.insert(before);
        if !program.insts[before].to.is_empty() {
            self.from.insert(to, from);
            let (first, behind) = program.blocks[to];
            self.computed.extend(InstRange { start: first, end: behind }.iter());
        }
    }

    fn is(&self, program: &Program, way: Option<&Way>) -> bool {
        way.is_none_or(|Way { history, carried, .. }| {
            let from = self.from.get(&history.block);
            let arguments = program.arguments;
            let is_there = |&value: &ValueId| {
                self.computed.contains(&InstId::from(usize::from(value) - arguments))
            };
            from.is_some_and(|from| history.from.contains(from)) && carried.iter().all(is_there)
        })
    }
}

/// The compensation code of a point, run where `from` stands.
fn hand_over(
    map: &PointMap,
    [base, to]: [&Program; 2],
    from: &State,
    constant: Constants<'_>,
) -> Result<Handed, String> {
    let bits_of = |store: InstId| match base.insts[store].op {
        Op::Store(bits) => Ok(bits),
        _ => Err(format!("{:?} is taken for a store", base.insts[store].op)),
    };
    let address_of = |word: Word| match word {
        Word::Int(address) => Ok(address),
        _ => Err(format!("{word:?} is taken for an address")),
    };
    let mut words: Vec<Word> = Vec::new();
    for expr in &map.exprs {
        words.push(match expr {
            Expr::Source { source: value } if from.values[*value] == Word::Unset => {
                return Err(format!("value {value} of the source is used and not there: {map:?}"));
            }
            Expr::Source { source: value } => from.values[*value],
            Expr::Constant { constant: id } => constant(*id).unwrap_or(Word::Poison),
            Expr::Repeat { repeat: inst, of } => {
                let inst = &to.insts[*inst];
                let mut operands: Vec<Word> = of.iter().map(|&o| words[o]).collect();
                // What is called is no number.
                if let (Op::Call(..), Some(callee)) = (&inst.op, operands.last_mut()) {
                    *callee = Word::Int(1);
                }
                if let (Op::Phi, [condition, holds, fails]) = (&inst.op, &operands[..]) {
                    words.push(choice(*condition, *holds, *fails)?);
                    continue;
                }
                let is_choice = matches!(inst.op, Op::Freeze(_)) && operands[0].is_loose();
                if is_choice || matches!(inst.op, Op::Phi | Op::Alloca(..) | Op::Store(_)) {
                    return Err(format!("{:?} is made again", inst.op));
                }
                match evaluate(inst, &operands, &from.memory, from.seed) {
                    // It did not run, and is not chosen.
                    Err(Stop::Partial) => Word::Poison,
                    word => word.map_err(|stop| format!("making {inst:?} again: {stop:?}"))?,
                }
            }
            Expr::Content { content: store, address } => from
                .memory
                .load(address_of(words[*address])?, bits_of(*store)?)
                .map_err(|stop| format!("loading what {store} stores: {stop:?}"))?,
            Expr::Narrow { narrow: inst, of } => narrowed(&to.insts[*inst], words[*of])?,
            Expr::Code { .. } => unreachable!("a proved mapping runs no code that was given"),
        });
    }
    let mut memory = from.memory.clone();
    for store in &map.stores {
        let (address, bits) = (address_of(words[store.address])?, bits_of(store.store)?);
        Rc::make_mut(&mut memory)
            .store(address, bits, words[store.value])
            .map_err(|stop| format!("{store:?}: {stop:?}"))?;
    }
    let values = map.values.iter().map(|&(value, expr)| (value, words[expr])).collect();
    Ok(Handed { values, memory })
}

/// What an instruction extends to a word.
fn narrowed(inst: &Inst, word: Word) -> Result<Word, String> {
    match (&inst.op, word) {
        (Op::Cast(name, bits), Word::Int(wide)) if matches!(name.as_str(), "sext" | "zext") => {
            Ok(Word::Int(wide & mask(*bits)))
        }
        (Op::Cast(..), word) => Ok(word),
        (op, _) => Err(format!("{op:?} is taken for an extension")),
    }
}

/// How many phis a mapping makes again.
fn chosen(map: &PointMap, to: &Program) -> usize {
    let is_phi = |e: &&Expr| match e {
        Expr::Repeat { repeat: inst, .. } => matches!(to.insts[*inst].op, Op::Phi),
        _ => false,
    };
    map.exprs.iter().filter(is_phi).count()
}

/// A phi that is made again: a select.
fn choice(condition: Word, holds: Word, fails: Word) -> Result<Word, String> {
    match condition {
        Word::Int(0) => Ok(fails),
        Word::Int(1) => Ok(holds),
        Word::Poison | Word::Undef => Ok(Word::Poison),
        _ => Err(format!("{condition:?} is taken for a condition")),
    }
}

/// Where the other version goes on.
fn enter(map: &PointMap, to: &Program, from: &State, handed: &Handed) -> State {
    let mut state = State {
        at: map.landing,
        values: vec![Word::Unset; to.arguments + to.insts.len()].into(),
        memory: handed.memory.clone(),
        log: from.log.clone(),
        seed: from.seed,
        chose: from.chose,
    };
    handed.values.iter().for_each(|&(value, word)| state.values[value] = word);
    state
}

/// A mapping of a point, and the way to it, if it is of one.
pub type Lead = (Option<Way>, PointMap);

/// The maps of a version's points, in all strengths, each once.
pub fn maps_of(mapper: &Mapper<'_>, from: Version) -> Vec<Vec<Lead>> {
    let of_point = |point: usize| {
        let mut maps: Vec<Lead> = Vec::new();
        for variant in VARIANTS {
            let leads = match mapper.point(from, point, variant) {
                Ok(map) => vec![(None, map)],
                Err(_) => {
                    let ways = mapper.ways(from, point, variant).into_iter().flatten();
                    ways.map(|way| (Some(way.clone()), way.map)).collect()
                }
            };
            for lead in leads {
                if !maps.contains(&lead) {
                    maps.push(lead);
                }
            }
        }
        maps
    };
    (0..mapper.sides[from].points.len()).map(of_point).collect()
}

/// Checks all points that a run passes, in all strengths: what they hand over is what the other
/// version has there (Lemma 4.4), and it goes on with it to the same end.
///
/// # Errors
/// What does not hold.
pub fn points(
    mapper: &Mapper<'_>,
    maps: &PerVersion<Vec<Vec<Lead>>>,
    programs: &PerVersion<Program>,
    traces: &PerVersion<Trace>,
    found: &Lockstep,
    constant: Constants<'_>,
    counts: &mut Counts,
) -> Result<(), String> {
    for from in Version::BOTH {
        let (to, side) = (from.other(), &mapper.sides[from]);
        let mut times: HashMap<usize, usize> = HashMap::new();
        let mut came = Came::default();
        for (number, step) in traces[from].steps.iter().enumerate() {
            if let Some(before) = number.checked_sub(1).map(|n| &traces[from].steps[n]) {
                came.step(&programs[from], before.at, step.at);
            }
            let Some(point) = side.point_at[step.at] else { continue };
            let time = times.entry(point).or_default();
            *time += 1;
            if *time > MOST_TIMES {
                continue;
            }
            let time = *time;
            let leads = maps[from][point].iter();
            for (way, map) in leads.filter(|lead| came.is(&programs[from], lead.0.as_ref())) {
                let says = |message: String| {
                    format!(
                        "{message}\nat point {point} of version {from:?}, before instruction {}: {map:?}",
                        step.at
                    )
                };
                let of = [&programs.base, &programs[to]];
                let step = &run_ahead(map, &programs[from], step).map_err(says)?;
                let handed = hand_over(map, of, step, constant).map_err(says)?;
                // The visit that it is in, or else the next one.
                let to_left = |ahead: &Ahead| {
                    let rest = traces[from].steps[number..].iter();
                    rest.take(MOST_AHEAD).position(|step| step.at == ahead.to)
                };
                let number = match &map.ahead {
                    None => number,
                    Some(ahead) => {
                        let never = || says("it never comes there".to_string());
                        number + to_left(ahead).ok_or_else(never)?
                    }
                };
                let visit = found.visits.iter().find(|v| v.steps[from].end > number);
                // Of an unfolded version several copies may be in one chain.
                let landings = visit.into_iter().flat_map(|v| {
                    v.steps[to].clone().filter(|&s| traces[to].steps[s].at == map.landing)
                });
                let mut wrong = Err(format!("the other version is not at the landing: {visit:?}"));
                for landing in landings {
                    let expected = &traces[to].steps[landing];
                    let ran = [(from, number), (to, landing)]
                        .map(|(w, step)| found.anchors_before[w][step]);
                    match lands(mapper, ran, expected, from, &handed, map.landing) {
                        Err(what) if wrong.is_err() => wrong = Err(what),
                        Err(_) => {}
                        Ok(()) => wrong = Ok(()),
                    }
                }
                wrong.map_err(says)?;
                counts.points += 1;
                counts.ways += usize::from(way.is_some());
                counts.carried += usize::from(way.as_ref().is_some_and(|w| !w.carried.is_empty()));
                counts.ahead += usize::from(map.ahead.is_some());
                counts.stores += map.stores.len();
                counts.chosen += chosen(map, &programs[to]);
                counts.contents +=
                    map.exprs.iter().filter(|e| matches!(e, Expr::Content { .. })).count();
                if time > 1 {
                    continue;
                }
                let state = enter(map, &programs[to], step, &handed);
                finish(&programs[to], state, &traces[to].end).map_err(says)?;
                counts.continued += 1;
            }
        }
    }
    Ok(())
}

/// Whether what is handed over is what the other version has where it stands, with so many anchors
/// run in both.
fn lands(
    mapper: &Mapper<'_>,
    [of_from, of_to]: [usize; 2],
    expected: &State,
    from: Version,
    handed: &Handed,
    landing: InstId,
) -> Result<(), String> {
    let (to, versions) = (from.other(), &mapper.proof.versions);
    for &(value, word) in &handed.values {
        if !is_same_word(word, expected.values[value]) {
            return Err(format!(
                "value {value} is handed over as {word:?}, the other version has {:?}",
                expected.values[value]
            ));
        }
    }
    if of_to != of_from {
        return Err("other anchors have run".to_string());
    }
    // Base goes on with the memory that it would have, unless it overwrites at once what it lacks.
    let is_late = to == Version::Base && versions.of.base.chains.late[landing];
    if to == Version::Base && !is_late && !handed.memory.is_same(&expected.memory) {
        return Err("memory is not base's".to_string());
    }
    Ok(())
}

/// Runs on to the end, which must be that of another run.
fn finish(program: &Program, state: State, expected: &End) -> Result<(), String> {
    match run(program, state, MOST_STEPS, |_| {}) {
        Ok(end) => is_same(&end, expected),
        Err(Stop::Partial) => Ok(()),
        Err(stop) => Err(format!("{stop:?} behind it")),
    }
}

/// Checks that what others see of both runs is the same.
///
/// # Errors
/// What is not.
pub fn is_same<'a>(end: &'a End, expected: &'a End) -> Result<(), String> {
    let calls = |end: &'a End| end.last.log.iter().filter(|e| e.is_call());
    let is_same_call = |(a, b): (&Event, &Event)| {
        let mut args = a.args.iter().zip(&b.args);
        let same_memory = match (&a.saw, &b.saw) {
            (Some(a), Some(b)) => a.agrees(b),
            _ => true,
        };
        a.what == b.what && same_memory && args.all(|(&a, &b)| agree(a, b))
    };
    let same_calls = calls(end).count() == calls(expected).count()
        && calls(end).zip(calls(expected)).all(is_same_call);
    let (x, y) = (end.result, expected.result);
    if same_calls && agree(x, y) && end.last.memory.agrees(&expected.last.memory) {
        return Ok(());
    }
    let calls =
        |end: &'a End| calls(end).map(|e| (e.what.clone(), e.args.clone())).collect::<Vec<_>>();
    let places = end.last.memory.differences(&expected.last.memory);
    Err(format!(
        "ends with {x:?} and calls {:?}, not with {y:?} and {:?}; memory differs at {places:?}",
        calls(end),
        calls(expected)
    ))
}

/// Runs that move to and fro at random points, on closed mappings: each ends as it does without
/// (Theorem 4.3).
///
/// # Errors
/// What does not hold.
pub fn to_and_fro(
    mapper: &mut Mapper<'_>,
    programs: &PerVersion<Program>,
    traces: &[PerVersion<Trace>],
    constant: Constants<'_>,
    random: &mut Random,
    counts: &mut Counts,
) -> Result<(), String> {
    let maps = mapper.closed(&|_, _| true, PerVersion { base: &|_| true, opt: &|_| true });
    for ends in traces {
        let base = &ends.base;
        for often in [1, 3, 9] {
            let (mut which, mut state): (Version, State) = (Version::Base, base.steps[0].clone());
            let mut path = Vec::new();
            let mut may_fire = true;
            let mut came = Came::default();
            for _ in 0..MOST_STEPS {
                let point = mapper.sides[which].point_at[state.at];
                let mut leads = point.into_iter().flat_map(|p| maps[which].leads(p));
                let map = leads.find(|(way, _)| came.is(&programs[which], *way));
                let map = map.map(|(_, map)| map);
                if let Some(map) = map.filter(|_| may_fire && random.one_in(often)) {
                    path.push((which, state.at));
                    let says = |message| format!("{message}\non the way {path:?}: {map:?}");
                    let to = &programs[which.other()];
                    let of = [&programs.base, to];
                    state = run_ahead(map, &programs[which], &state).map_err(says)?;
                    let handed = hand_over(map, of, &state, constant).map_err(says)?;
                    came = Came::default();
                    state = enter(map, to, &state, &handed);
                    which = which.other();
                    counts.transitions += 1;
                    // At most one without an instruction between.
                    may_fire = false;
                    continue;
                }
                may_fire = true;
                let before = state.at;
                match state.step(&programs[which]) {
                    Ok(None) => came.step(&programs[which], before, state.at),
                    Ok(Some(result)) => {
                        let end = End { result, last: state };
                        is_same(&end, &ends[which].end)
                            .map_err(|m| format!("{m}\non the way {path:?}"))?;
                        break;
                    }
                    Err(Stop::Fuel | Stop::Partial) => break,
                    Err(stop) => {
                        let at = state.at;
                        return Err(format!("{stop:?} at {which:?}, {at} on the way {path:?}"));
                    }
                }
            }
        }
    }
    Ok(())
}
