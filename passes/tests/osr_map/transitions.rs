//! What mappings say, carried out.

use crate::Counts;
use crate::generator::Random;
use crate::ir::{Inst, Op, Program, Word, mask};
use crate::lockstep::{Constants, End, Lockstep, Trace, agree, is_same as is_same_word, run};
use crate::machine::{Event, Memory, State, Stop, evaluate};
use midflight_ir::ids::{InstId, ValueId};
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap, VARIANTS};
use midflight_mapping::versions::version::{PerVersion, Version};
use std::collections::HashMap;
use std::rc::Rc;

/// Times that a point of a run is tried
const MOST_TIMES: usize = 3;

/// Instructions that a run may have behind a transition
const MOST_STEPS: usize = 6000;

/// What a transition hands over.
struct Handed {
    values: Vec<(ValueId, Word)>,
    memory: Rc<Memory>,
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

/// The maps of a version's points, in all strengths, each once.
pub fn maps_of(mapper: &Mapper<'_>, from: Version) -> Vec<Vec<PointMap>> {
    let of_point = |point: usize| {
        let mut maps = Vec::new();
        for map in VARIANTS.iter().filter_map(|&v| mapper.point(from, point, v).ok()) {
            if !maps.contains(&map) {
                maps.push(map);
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
    maps: &PerVersion<Vec<Vec<PointMap>>>,
    programs: &PerVersion<Program>,
    traces: &PerVersion<Trace>,
    found: &Lockstep,
    constant: Constants<'_>,
    counts: &mut Counts,
) -> Result<(), String> {
    for from in Version::BOTH {
        let (to, side) = (from.other(), &mapper.sides[from]);
        let mut times: HashMap<usize, usize> = HashMap::new();
        for (number, step) in traces[from].steps.iter().enumerate() {
            let Some(point) = side.point_at[step.at] else { continue };
            let time = times.entry(point).or_default();
            *time += 1;
            if *time > MOST_TIMES {
                continue;
            }
            let time = *time;
            for map in &maps[from][point] {
                let says = |message: String| {
                    format!(
                        "{message}\nat point {point} of version {from:?}, before instruction {}: {map:?}",
                        step.at
                    )
                };
                let of = [&programs.base, &programs[to]];
                let handed = hand_over(map, of, step, constant).map_err(says)?;
                // The visit that it is in, or else the next one.
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
            for _ in 0..MOST_STEPS {
                let point = mapper.sides[which].point_at[state.at];
                let map = point.and_then(|p| maps[which].points[p].as_ref().ok());
                if let Some(map) = map.filter(|_| may_fire && random.one_in(often)) {
                    path.push((which, state.at));
                    let says = |message| format!("{message}\non the way {path:?}: {map:?}");
                    let to = &programs[which.other()];
                    let of = [&programs.base, to];
                    let handed = hand_over(map, of, &state, constant).map_err(says)?;
                    state = enter(map, to, &state, &handed);
                    which = which.other();
                    counts.transitions += 1;
                    // At most one without an instruction between.
                    may_fire = false;
                    continue;
                }
                may_fire = true;
                match state.step(&programs[which]) {
                    Ok(None) => {}
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
