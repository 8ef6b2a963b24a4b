//! The API for compiler writers: a resolved OSR point at a place of one's own (thesis 4.1.1 and
//! Fig. 4.2; OSRKit's `insertResolvedOSR`).

use crate::dominators::dominators;
use crate::liveness::liveness;
use crate::osr::condition::Condition;
use crate::osr::continuation::{Effect, Incoming, Landing, build};
use crate::osr::pass::reason_to_refuse;
use crate::osr::points::{Point, point_at};
use crate::osr::prototype::Prototype;
use crate::osr::record::{Record, SiteInfo};
use crate::osr::refusal::Refusal;
use crate::osr::site::{Site, Target, promote_counters};
use crate::osr::state_map::StateMap;
use crate::osr::weave::{MARK, tail_of_first};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::debug;
use midflight_bridge::ir::{Block, Function, Inst, Value};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Where a transition may start.
///
/// ```no_run
/// # use midflight_bridge::ir::Function;
/// use midflight_passes::osr::insert::OsrPoint;
///
/// # fn example<'m>(function: Function<'m>) {
/// let block = function.blocks().nth(1).unwrap();
/// let point = OsrPoint { before: block.insertion_point(), name: "loop".to_string() };
/// # }
/// ```
#[derive(Clone)]
pub struct OsrPoint<'m> {
    /// It is before this instruction.
    pub before: Inst<'m>,
    /// Its name, by which it is armed at run time
    pub name: String,
}

/// Why there is no point.
#[derive(Debug, thiserror::Error)]
pub enum OsrError {
    /// For one of the listed reasons.
    #[error("inserting OSR point '{point}': {} [{}]", .refusal.message(), .refusal.name())]
    Refused {
        /// The point
        point: String,
        /// The reason
        refusal: Refusal,
    },
    /// The place is no instruction boundary behind the phis of a block that can be reached.
    #[error(
        "inserting OSR point '{0}': it is inside the phis or before the landing pad of a block, or \
         in a block that cannot be reached; use the block's insertion point"
    )]
    NoBoundary(String),
    /// The state map does not say where to go.
    #[error("inserting OSR point '{0}': the state map has no landing for it; use map_landing")]
    NoLanding(String),
    /// A value is live at the landing that the state map does not give.
    #[error(
        "inserting OSR point '{point}': {value} is live at the landing, and the state map gives no \
         value for it that is available at the point; use map_values or compensate"
    )]
    Unmapped {
        /// The point
        point: String,
        /// The value's name in the destination
        value: String,
    },
    /// Results differ.
    #[error("inserting OSR point '{0}': the two functions return different types")]
    Results(String),
    /// The point is in another function than the map begins in.
    #[error("inserting OSR point '{0}': it is not in the function that the state map leads from")]
    OtherFunction(String),
}

/// A point that was inserted.
#[derive(Clone, Copy)]
pub struct Insertion<'m> {
    /// The function with the point
    pub function: Function<'m>,
    /// What the point leads to
    pub continuation: Function<'m>,
    /// The instruction that the point is before
    at: Inst<'m>,
}

/// Inserts a point that leads, when `condition` holds, to a continuation of `map.to`. That function
/// stays as it is. Values that are live at the landing must be given by the map, from values that
/// are available at the point.
///
/// # Errors
/// [`OsrError`]; then nothing was inserted.
///
/// ```no_run
/// use midflight_bridge::ir::Function;
/// use midflight_passes::osr::condition::Condition;
/// use midflight_passes::osr::insert::{OsrPoint, insert_resolved_osr};
/// use midflight_passes::osr::state_map::StateMap;
///
/// # fn example<'m>(base: Function<'m>) -> Result<(), Box<dyn std::error::Error>> {
/// // Move to a copy of the function after 1000 iterations.
/// let copy = base.clone_as("base.copy");
/// let map = StateMap::identity(base, copy)?;
/// let header = base.blocks().nth(1).unwrap();
/// let point = OsrPoint { before: header.insertion_point(), name: "hot".to_string() };
/// let inserted = insert_resolved_osr(&point, Condition::Count(1000), &map)?;
/// assert!(inserted.continuation.verify().is_none());
/// copy.erase();
/// # Ok(())
/// # }
/// ```
pub fn insert_resolved_osr<'m>(
    point: &OsrPoint<'m>,
    condition: Condition,
    map: &StateMap<'m>,
) -> Result<Insertion<'m>, OsrError> {
    let name = || point.name.clone();
    let base = point.before.block().function();
    if base != map.from {
        return Err(OsrError::OtherFunction(name()));
    }
    if base.result_type() != map.to.result_type() {
        return Err(OsrError::Results(name()));
    }
    let landing = map.landing(point.before).ok_or_else(|| OsrError::NoLanding(name()))?;
    for function in [base, map.to] {
        let refusal = reason_to_refuse(base.module(), function, None);
        // More points may join those that a function has.
        if let Some(refusal) = refusal.filter(|&r| r != Refusal::Processed) {
            return Err(OsrError::Refused { point: name(), refusal });
        }
    }
    let at = behind_markers(point.before);
    let line = debug::location(at).map_or(0, |l| l.inner.line);
    base.prepare_for_points();
    let source = Side::of(base, at).ok_or_else(|| OsrError::NoBoundary(name()))?;
    refuse_place(&source.point, &point.name)?;
    let copy = Copy::of(map.to, landing).ok_or_else(|| OsrError::NoBoundary(name()))?;
    let transition = match plan(point, map, &source, &copy) {
        Ok(transition) => transition,
        Err(error) => {
            copy.side.snapshot.function.erase();
            return Err(error);
        }
    };
    Ok(carry_out(point, line, condition, map, &source, copy, &transition))
}

/// Removes a point: its check and the call, and the continuation if nothing else leads to it. The
/// instruction that the point is before must still be there.
///
/// ```no_run
/// # use midflight_passes::osr::insert::{Insertion, remove_osr_point};
/// # fn example(inserted: Insertion<'_>) {
/// let function = inserted.function;
/// remove_osr_point(inserted);
/// assert!(function.verify().is_none());
/// # }
/// ```
pub fn remove_osr_point(insertion: Insertion<'_>) {
    insertion.at.remove_check();
    if !insertion.continuation.is_used() {
        insertion.continuation.erase();
    }
}

/// The values live at a point, in the order of arguments and instructions (thesis 4.2.1,
/// `live(f, l)`). None if the place is no boundary behind the phis of a block that can be reached.
///
/// ```no_run
/// # use midflight_bridge::ir::Inst;
/// # use midflight_passes::osr::insert::live_values;
/// # fn example(before: Inst<'_>) {
/// let live = live_values(before).expect("the place can be reached");
/// println!("{} values travel", live.len());
/// # }
/// ```
pub fn live_values(before: Inst<'_>) -> Option<Vec<Value<'_>>> {
    let side = Side::of(before.block().function(), before)?;
    Some(side.point.live.iter().map(|&v| side.snapshot.value(v)).collect())
}

/// A function and a point in it.
struct Side<'m> {
    snapshot: CodeSnapshot<'m>,
    point: Point,
}

impl<'m> Side<'m> {
    fn of(function: Function<'m>, before: Inst<'m>) -> Option<Self> {
        let snapshot = read_code(function);
        let at = snapshot.id_of(before)?;
        let live = liveness(&snapshot.body);
        let point = point_at(&snapshot.body, &live, function.osr_facts(), at)?;
        Some(Side { snapshot, point })
    }
}

/// A copy of the destination, which becomes the continuation.
struct Copy<'m> {
    side: Side<'m>,
    /// For each value of the copy the one of the destination
    original: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Copy<'m> {
    fn of(destination: Function<'m>, landing: Inst<'m>) -> Option<Self> {
        let copy = destination.clone_as(&format!("{}.version", destination.name()));
        let all = |f: Function<'m>| f.blocks().flat_map(|b| b.instructions());
        let mut original: HashMap<_, _> = copy.arguments().zip(destination.arguments()).collect();
        let mut at = None;
        for (ours, theirs) in all(copy).zip(all(destination)) {
            original.insert(ours.value(), theirs.value());
            at = at.or((theirs == landing).then(|| behind_markers(ours)));
        }
        copy.prepare_for_points();
        let side = at.and_then(|at| Side::of(copy, at));
        if side.is_none() {
            copy.erase();
        }
        Some(Copy { side: side?, original })
    }
}

/// What travels, and what becomes of it.
struct Transition<'m> {
    /// Values of the source, in the order of the slots
    values: Vec<Value<'m>>,
    /// For each value live at the landing how it is had
    ways: Vec<(usize, Way<'m>)>,
    /// Slots of what the code for the whole point needs
    prologue: Vec<usize>,
}

enum Way<'m> {
    Slot(usize),
    Compute(Vec<usize>, crate::osr::state_map::Compute<'m>),
}

fn refuse_place(point: &Point, name: &str) -> Result<(), OsrError> {
    match point.refusal {
        // What follows does not run, if it is the destination that goes on.
        Some(refusal @ Refusal::TailPosition) => {
            Err(OsrError::Refused { point: name.to_string(), refusal })
        }
        _ => Ok(()),
    }
}

fn plan<'m>(
    point: &OsrPoint<'m>,
    map: &StateMap<'m>,
    source: &Side<'m>,
    copy: &Copy<'m>,
) -> Result<Transition<'m>, OsrError> {
    if let Some(refusal) = copy.side.point.refusal {
        return Err(OsrError::Refused { point: point.name.clone(), refusal });
    }
    let available = available_at(source);
    let mut transition = Transition { values: Vec::new(), ways: Vec::new(), prologue: Vec::new() };
    for &live in &copy.side.point.live {
        let value = copy.side.snapshot.value(live);
        let unmapped = || OsrError::Unmapped {
            point: point.name.clone(),
            value: copy.side.snapshot.names().get(live).cloned().unwrap_or_default(),
        };
        let exception = exception_of(&copy.side.snapshot, live);
        let original = exception.unwrap_or(value);
        let original = *copy.original.get(&original).ok_or_else(unmapped)?;
        let way = if let Some(code) = map.compensation(point.before, original) {
            if !code.needs.iter().all(|v| available.contains(v)) {
                return Err(unmapped());
            }
            Way::Compute(transition.slots(&code.needs), code.compute.clone())
        } else {
            let from = match map.from_of(original) {
                Some(pad) if exception.is_some() => portable(&source.snapshot, pad),
                from => from,
            };
            let from = from.filter(|v| available.contains(v));
            Way::Slot(transition.slot(from.ok_or_else(unmapped)?))
        };
        transition.ways.push((live, way));
    }
    if let Some(prologue) = map.prologue(point.before) {
        transition.prologue = transition.slots(&prologue.needs);
    }
    Ok(transition)
}

impl<'m> Transition<'m> {
    fn slot(&mut self, value: Value<'m>) -> usize {
        if let Some(known) = self.values.iter().position(|&v| v == value) {
            return known;
        }
        self.values.push(value);
        self.values.len() - 1
    }

    fn slots(&mut self, values: &[Value<'m>]) -> Vec<usize> {
        values.iter().map(|&v| self.slot(v)).collect()
    }
}

/// Lifetime markers go when a function is prepared: the instruction behind them.
fn behind_markers(inst: Inst<'_>) -> Inst<'_> {
    let mut inst = inst;
    while inst.osr_facts().is_lifetime_marker()
        && let Some(next) = inst.next()
    {
        inst = next;
    }
    inst
}

/// The landing pad whose exception a value is, with a portable selector.
fn exception_of<'m>(snapshot: &CodeSnapshot<'m>, value: usize) -> Option<Value<'m>> {
    let inst = snapshot.body.code.definition(value)?;
    let glue = snapshot.body.code.instructions[inst].facts.is_glue();
    glue.then(|| snapshot.instructions[inst].operands().next()).flatten()
}

/// The exception of a landing pad with a portable selector.
fn portable<'m>(snapshot: &CodeSnapshot<'m>, pad: Value<'m>) -> Option<Value<'m>> {
    let of_pad = |&inst: &usize| {
        let code = &snapshot.body.code.instructions[inst];
        let inst = snapshot.instructions[inst];
        code.facts.is_glue() && inst.value().ty() == pad.ty() && inst.operands().next() == Some(pad)
    };
    let inst = (0..snapshot.instructions.len()).find(of_pad)?;
    Some(snapshot.instructions[inst].value())
}

/// The source's values that exist at the point: arguments, and what is defined on every way to it.
fn available_at<'m>(source: &Side<'m>) -> HashSet<Value<'m>> {
    let (body, at) = (&source.snapshot.body, source.point.at);
    let (code, tree) = (&body.code, dominators(body));
    let block = code.instructions[at].block;
    let defined = (0..code.instructions.len()).filter(|&inst| {
        let facts = code.instructions[inst].facts;
        let of = code.instructions[inst].block;
        // The result of a call that may unwind exists on the normal edge only: where it is live.
        let before = if of == block { inst < at } else { tree.dominates(of, block) };
        let terminator = facts.is_invoke() || facts.is_callbr();
        facts.has_result()
            && if terminator {
                source.point.live.binary_search(&code.result(inst)).is_ok()
            } else {
                before
            }
    });
    let results = defined.map(|inst| source.snapshot.instructions[inst].value());
    source.snapshot.arguments.iter().copied().chain(results).collect()
}

fn carry_out<'m>(
    point: &OsrPoint<'m>,
    line: u32,
    condition: Condition,
    map: &StateMap<'m>,
    source: &Side<'m>,
    copy: Copy<'m>,
    transition: &Transition<'m>,
) -> Insertion<'m> {
    let base = source.snapshot.function;
    let module = base.module();
    let slots: Vec<_> = transition.values.iter().map(|v| v.ty()).collect();
    let prototype = Prototype { slots, has_selector: false, transfers: Vec::new() };
    let ty = prototype.function_type(base);
    let continuation = base.declare_continuation(ty, &format!("{}.osr", map.to.name()));

    let pick = |of: &[Value<'m>], slots: &[usize]| -> Vec<Value<'m>> {
        slots.iter().map(|&slot| of[slot]).collect()
    };
    type Computed<'a, 'm> = Box<dyn Fn(&Builder<'m>, &[Value<'m>]) -> Value<'m> + 'a>;
    let computed: Vec<Option<Computed<'_, 'm>>> = transition
        .ways
        .iter()
        .map(|(_, way)| match way {
            Way::Slot(_) => None,
            Way::Compute(needs, compute) => {
                let code: Computed<'_, 'm> =
                    Box::new(move |builder, of| compute(builder, &pick(of, needs)));
                Some(code)
            }
        })
        .collect();
    let incoming = transition
        .ways
        .iter()
        .zip(&computed)
        .map(|((value, way), code)| match (way, code) {
            (Way::Slot(slot), _) => (*value, Incoming::Slot(*slot)),
            (Way::Compute(..), Some(code)) => (*value, Incoming::Computed(code)),
            (Way::Compute(..), None) => (*value, Incoming::Slot(0)),
        })
        .collect();
    let prologue = map.prologue(point.before);
    let effect = prologue.map(|code| {
        move |builder: &Builder<'m>, of: &[Value<'m>]| {
            (code.effect)(builder, &pick(of, &transition.prologue));
        }
    });
    let prologue = effect.as_ref().map(|effect| effect as Effect<'_, 'm>);
    let landing = Landing { at: copy.side.point.at, incoming, prologue };
    build(continuation, &copy.side.snapshot, &prototype, &[landing], &[], None);
    continuation.mark(MARK);

    let condition = condition.on_target(&module.target());
    let info = SiteInfo {
        point: 0,
        name: point.name.clone(),
        from: base.name(),
        to: continuation.name(),
        line,
        condition,
    };
    let record = Record::emit(module, &base.name(), &module.source_file(), 1, &[info], None);
    let values: Vec<_> = transition.values.iter().copied().zip(0..).collect();
    let tail = match tail_of_first(&source.snapshot) {
        Tail::May => Tail::May,
        _ => Tail::No,
    };
    let at = source.snapshot.instructions[source.point.at];
    let last = inst_before(at);
    let inserted = Site {
        function: base,
        at,
        condition,
        values: &values,
        target: Target { continuation, prototype: &prototype, selector: 0, tail },
        shared: None,
        record: Some(&record),
        number: 0,
        point: 0,
    }
    .insert();
    mark_check(inserted.check, last);
    promote_counters(base, &[inserted]);
    base.drop_purity();
    base.mark(MARK);
    Insertion { function: base, continuation, at }
}

fn inst_before(inst: Inst<'_>) -> Option<Inst<'_>> {
    inst.block().instructions().take_while(|&i| i != inst).last()
}

/// Marks what stands behind `last` in a block as its check.
fn mark_check<'m>(check: Block<'m>, last: Option<Inst<'m>>) {
    let is_new = |i: &Inst<'m>| !i.osr_facts().is_phi();
    match last {
        Some(last) => {
            check.instructions().skip_while(|&i| i != last).skip(1).for_each(Inst::mark_check)
        }
        None => check.instructions().filter(is_new).for_each(Inst::mark_check),
    }
}
