//! The API for compiler writers: a resolved OSR point at a place of one's own (thesis 4.1.1 and
//! Fig. 4.2; OSRKit's `insertResolvedOSR`).

use crate::driver::reason_to_refuse;
use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::state_map::{Compute, Effect, StateMap};
use crate::osr::weave::{Body, Departure, Plan, Weaver};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::Home;
use midflight_bridge::ir::{Block, Function, Inst, Value};
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::{InstId, ValueId};
use midflight_ir::liveness::liveness;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::points::{Point, point_at};
use midflight_mapping::refusal::Refusal;
use rustc_hash::FxHashMap as HashMap;
use std::borrow::Cow;
use std::cell::RefCell;

/// Where a transition may start.
///
/// ```no_run
/// # use midflight_passes::osr::api::Function;
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
        /// The value's name in the destination, and the destination's
        value: String,
    },
    /// Results differ.
    #[error("inserting OSR point '{0}': the two functions return different types")]
    Results(String),
    /// The point is in another function than the map begins in.
    #[error("inserting OSR point '{0}': it is not in the function that the state map leads from")]
    OtherFunction(String),
    /// The destination is in another module than the point.
    #[error(
        "inserting OSR point '{point}': the state map leads to '{destination}', which has no body \
         in the module of the point; link the two modules first"
    )]
    OtherModule {
        /// The point
        point: String,
        /// The destination
        destination: String,
    },
    /// The landing is not in the function that the map leads to.
    #[error("inserting OSR point '{point}': its landing is not in '{destination}'")]
    LandingElsewhere {
        /// The point
        point: String,
        /// The destination
        destination: String,
    },
    /// Code is to compute what is no value of the destination.
    #[error(
        "inserting OSR point '{point}': compensation code is given for {value}, which is no value \
         of '{destination}'"
    )]
    ComputesOther {
        /// The point
        point: String,
        /// What the code is given for
        value: String,
        /// The destination
        destination: String,
    },
    /// Code asks for what is not there.
    #[error(
        "inserting OSR point '{point}': {code} needs {need}, which is not available at the point; \
         it can have arguments of '{source_name}' and what is computed on every way to the point"
    )]
    NotAvailable {
        /// The point
        point: String,
        /// Whose code it is
        code: String,
        /// What it asks for
        need: String,
        /// The source
        source_name: String,
    },
    /// Code does what it must not.
    #[error("inserting OSR point '{point}': {code} {problem}")]
    Code {
        /// The point
        point: String,
        /// Whose code it is
        code: String,
        /// What it does
        problem: String,
    },
    /// The module's target has no points that are patched.
    #[error(
        "inserting OSR point '{point}': a patch point needs x86-64 or AArch64, and the module is for \
         '{triple}'; set the module's target triple, or use flag"
    )]
    NoPatch {
        /// The point
        point: String,
        /// The module's target triple, empty if it has none
        triple: String,
    },
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
    flag: Option<Value<'m>>,
}

impl<'m> Insertion<'m> {
    /// The address of a flag point's flag, a constant of the module: an `i32` that arms the point
    /// while it is not 0. Code that is generated may set it by a relaxed atomic store, as
    /// `midflight_osr_arm` does. None for points of other conditions.
    pub fn flag(&self) -> Option<Value<'m>> {
        self.flag
    }
}

/// Inserts a point that leads, when `condition` holds, to a continuation of `map.to`. That function
/// stays as it is. Values that are live at the landing must be given by the map, from values that
/// are available at the point.
///
/// # Errors
/// [`OsrError`]; then nothing was inserted.
///
/// ```no_run
/// use midflight_passes::osr::api::Function;
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
    let landing = check_request(point, condition, map)?;
    let base = map.from;
    let boundary = || OsrError::NoBoundary(point.name.clone());
    // Nothing may be changed in the base before all is known to go well.
    let source = Copy::of(base, point.before).ok_or_else(boundary)?;
    let Some(destination) = Copy::of(map.to, landing) else {
        source.erase();
        return Err(boundary());
    };
    let planned = refuse_place(&source.side.point, &point.name)
        .and_then(|()| plan(point, map, &source, &destination));
    let transition = match planned {
        Ok(transition) => transition,
        Err(error) => {
            source.erase();
            destination.erase();
            return Err(error);
        }
    };
    let watch = Watch::default();
    let code = transition.code(&watch, true);
    let version = &source.side.snapshot;
    let departure = Departure {
        version,
        at: source.side.point.at,
        name: point.name.clone(),
        condition,
        guard: None,
        way: None,
        map: Cow::Borrowed(&transition.map),
    };
    let name = format!("{}.osr", map.to.name());
    let plan = Plan {
        material: Material { code: &code, ..Material::NONE },
        ..Plan::resolved(name, Body::Of(&destination.side.snapshot), departure)
    };
    let weaver = Weaver::declare(base, &plan);
    weaver.build(None);
    let continuation = weaver.continuation(0);
    if let Some((code, problem)) = transition.problem(&watch, continuation) {
        continuation.erase();
        source.erase();
        return Err(OsrError::Code { point: point.name.clone(), code, problem });
    }

    base.prepare_for_points();
    let snapshot = read_code(base);
    let counts = [&snapshot, version].map(|of| of.instructions.len());
    assert_eq!(counts[0], counts[1], "a function and its copy are prepared alike");
    let insertion = insert_planned(&weaver, &snapshot, source.side.point.at, condition);
    source.erase();
    Ok(insertion)
}

/// Inserts the single point of a plan, whose continuation is made, into its function.
pub(crate) fn insert_planned<'m>(
    weaver: &Weaver<'_, 'm>,
    snapshot: &CodeSnapshot<'m>,
    at: InstId,
    condition: Condition,
) -> Insertion<'m> {
    let function = snapshot.function;
    let at = snapshot.instructions[at];
    let last = inst_before(at);
    let record = weaver.record();
    let (_, inserted) = weaver.insert(snapshot, Some(&record));
    inserted.iter().for_each(|inserted| mark_check(inserted.check, last));
    let builder = Builder::new(function.module(), function);
    let flag = (condition == Condition::Flag).then(|| record.armed(&builder, 0));
    Insertion { function, continuation: weaver.continuation(0), at, flag }
}

/// What can be said of what is asked for before anything is made. Returns the landing.
pub(crate) fn check_request<'m>(
    point: &OsrPoint<'m>,
    condition: Condition,
    map: &StateMap<'m>,
) -> Result<Inst<'m>, OsrError> {
    let name = || point.name.clone();
    let (base, destination) = (point.before.block().function(), || map.to.name());
    if base != map.from {
        return Err(OsrError::OtherFunction(name()));
    }
    let module = base.module();
    if map.to.module() != module || !map.to.is_definition() {
        return Err(OsrError::OtherModule { point: name(), destination: destination() });
    }
    if base.result_type() != map.to.result_type() {
        return Err(OsrError::Results(name()));
    }
    check_condition(point, condition)?;
    let landing = map.landing(point.before).ok_or_else(|| OsrError::NoLanding(name()))?;
    if landing.value().home() != Home::Function(map.to) {
        return Err(OsrError::LandingElsewhere { point: name(), destination: destination() });
    }
    for (value, _) in map.compensations(point.before) {
        if value.home() != Home::Function(map.to) {
            let (value, destination) = (value.described(), destination());
            return Err(OsrError::ComputesOther { point: name(), value, destination });
        }
    }
    check_function(point, base)?;
    check_function(point, map.to)?;
    Ok(landing)
}

/// That the point's module can have points of this condition.
pub(crate) fn check_condition(point: &OsrPoint<'_>, condition: Condition) -> Result<(), OsrError> {
    let triple = point.before.block().function().module().target();
    if condition.on_target(&triple) == condition {
        return Ok(());
    }
    Err(OsrError::NoPatch { point: point.name.clone(), triple })
}

/// That there can be points in a function. More points may join those that it has.
pub(crate) fn check_function(point: &OsrPoint<'_>, function: Function<'_>) -> Result<(), OsrError> {
    let refusal = reason_to_refuse(function.module(), function, None);
    match refusal.filter(|&refusal| refusal != Refusal::Processed) {
        Some(refusal) => Err(OsrError::Refused { point: point.name.clone(), refusal }),
        None => Ok(()),
    }
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
/// # use midflight_passes::osr::api::Inst;
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
pub(crate) struct Side<'m> {
    pub(crate) snapshot: CodeSnapshot<'m>,
    pub(crate) point: Point,
}

impl<'m> Side<'m> {
    fn of(function: Function<'m>, before: Inst<'m>) -> Option<Self> {
        let snapshot = read_code(function);
        let at = snapshot.id_of(before)?;
        let live = liveness(&snapshot.body);
        let point = point_at(&snapshot.body, &live, function.facts(), at)?;
        Some(Side { snapshot, point })
    }
}

/// A copy of a function that is prepared for points. That of the destination becomes the
/// continuation.
pub(crate) struct Copy<'m> {
    pub(crate) side: Side<'m>,
    /// For each value of the copy the one of the function; what preparing adds has none
    pub(crate) original: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Copy<'m> {
    pub(crate) fn of(function: Function<'m>, before: Inst<'m>) -> Option<Self> {
        let copy = function.clone_as(&format!("{}.version", function.name()));
        let all = |f: Function<'m>| f.blocks().flat_map(|b| b.instructions());
        let mut original: HashMap<_, _> = copy.arguments().zip(function.arguments()).collect();
        let mut at = None;
        for (ours, theirs) in all(copy).zip(all(function)) {
            original.insert(ours.value(), theirs.value());
            at = at.or((theirs == before).then(|| behind_markers(ours)));
        }
        copy.prepare_for_points();
        let side = at.and_then(|at| Side::of(copy, at));
        if side.is_none() {
            copy.erase();
        }
        Some(Copy { side: side?, original })
    }

    pub(crate) fn erase(self) {
        self.side.snapshot.function.erase();
    }

    /// What there is at the point.
    pub(crate) fn available(&self) -> Available<'_, 'm> {
        let dominators = dominators(&self.side.snapshot.body);
        Available { side: &self.side, dominators, numbers: self.numbers() }
    }

    /// For each value of the function its number in the copy
    fn numbers(&self) -> HashMap<Value<'m>, ValueId> {
        let numbers = (0..self.side.snapshot.body.code.num_values()).map(ValueId::from);
        let of_copy = numbers.map(|id| (self.side.snapshot.value(id), id));
        of_copy.filter_map(|(value, id)| Some((*self.original.get(&value)?, id))).collect()
    }
}

/// The mapping of one point, and what it runs.
pub(crate) struct Transition<'m> {
    pub(crate) map: PointMap,
    code: Vec<Code<'m>>,
}

/// Code of the user's.
enum Code<'m> {
    /// For the whole point
    Prologue(Effect<'m>),
    /// Computes this value of the destination
    Value(Value<'m>, Compute<'m>),
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

pub(crate) fn plan<'m>(
    point: &OsrPoint<'m>,
    map: &StateMap<'m>,
    source: &Copy<'m>,
    destination: &Copy<'m>,
) -> Result<Transition<'m>, OsrError> {
    let landing = &destination.side;
    if let Some(refusal) = landing.point.refusal {
        return Err(OsrError::Refused { point: point.name.clone(), refusal });
    }
    let available = source.available();
    let needed = |needs: &[Value<'m>], code: &dyn Fn() -> String| {
        let number = |&need: &Value<'m>| {
            available.number(need).ok_or_else(|| OsrError::NotAvailable {
                point: point.name.clone(),
                code: code(),
                need: need.described(),
                source_name: map.from.name(),
            })
        };
        needs.iter().map(number).collect::<Result<Vec<_>, _>>()
    };
    let mut transition = Transition::new(landing.point.at);
    if let Some(prologue) = map.prologue(point.before) {
        let needs = needed(&prologue.needs, &|| PROLOGUE.to_string())?;
        transition.run(Code::Prologue(prologue.effect.clone()), &needs);
    }
    for &live in &landing.point.live {
        let value = landing.snapshot.value(live);
        let exception = exception_of(&landing.snapshot, live);
        let original = exception.unwrap_or(value);
        let unmapped = |value: String| OsrError::Unmapped { point: point.name.clone(), value };
        let Some(&original) = destination.original.get(&original) else {
            return Err(unmapped("the selector of an exception".to_string()));
        };
        let expr = if let Some(code) = map.compensation(point.before, original) {
            let needs = needed(&code.needs, &|| computing(original))?;
            transition.run(Code::Value(original, code.compute.clone()), &needs)
        } else {
            let number = map.from_of(original).and_then(|from| match exception {
                Some(_) => {
                    let pad = *available.numbers.get(&from)?;
                    let pad = portable(&source.side.snapshot, source.side.snapshot.value(pad))?;
                    available.has(pad).then_some(pad)
                }
                None => available.number(from),
            });
            transition.pass(number.ok_or_else(|| unmapped(original.described()))?)
        };
        transition.map.values.push((live, expr));
    }
    transition.map.sources.sort_unstable();
    Ok(transition)
}

/// What there is at a point of the source.
pub(crate) struct Available<'a, 'm> {
    side: &'a Side<'m>,
    dominators: Dominators,
    /// For each value its number
    numbers: HashMap<Value<'m>, ValueId>,
}

impl<'m> Available<'_, 'm> {
    /// True for arguments, and what is defined on every way to the point. What is live there is,
    /// even if other edges lead where the normal one of an `invoke` does.
    fn has(&self, id: ValueId) -> bool {
        let (body, point) = (&self.side.snapshot.body, &self.side.point);
        let defining = body.code.definition(id).map(|inst| body.code.instructions[inst].facts);
        defining.is_none_or(|facts| facts.has_result())
            && (point.live.binary_search(&id).is_ok()
                || self.dominators.is_available(body, id, point.at))
    }

    /// The number of a value of the function that there is.
    pub(crate) fn number(&self, value: Value<'m>) -> Option<ValueId> {
        self.numbers.get(&value).copied().filter(|&id| self.has(id))
    }
}

/// Whose code it is, in messages.
const PROLOGUE: &str = "the code for the whole point";

fn computing(value: Value<'_>) -> String {
    format!("the compensation code for {}", value.described())
}

impl<'m> Transition<'m> {
    fn new(landing: InstId) -> Self {
        Transition { map: PointMap::identity(landing, &[]), code: Vec::new() }
    }

    /// The expression that is a value of the source.
    fn pass(&mut self, value: ValueId) -> usize {
        let PointMap { exprs, sources, .. } = &mut self.map;
        let known = exprs.iter().position(|expr| *expr == Expr::Source { source: value });
        known.unwrap_or_else(|| {
            sources.push(value);
            exprs.push(Expr::Source { source: value });
            exprs.len() - 1
        })
    }

    /// The expression that code computes from values of the source.
    fn run(&mut self, code: Code<'m>, needs: &[ValueId]) -> usize {
        let of = needs.iter().map(|&value| self.pass(value)).collect();
        self.map.exprs.push(Expr::Code { code: self.code.len(), of });
        self.code.push(code);
        self.map.exprs.len() - 1
    }

    /// Runs the code of the mapping, that for the whole point only if that is asked for.
    pub(crate) fn code(
        &self,
        watch: &Watch,
        with_prologue: bool,
    ) -> impl Fn(usize, &Builder<'m>, &[Value<'m>]) -> Value<'m> {
        move |code, builder, of| match &self.code[code] {
            Code::Prologue(effect) => {
                if with_prologue {
                    watch.straight(builder, || PROLOGUE.to_string(), || effect(builder, of));
                }
                // Nothing uses it.
                builder.block().function().module().int_type(1).poison()
            }
            Code::Value(original, compute) => {
                watch.value(builder, *original, || compute(builder, of))
            }
        }
    }

    /// Whose code did wrong in a function, and what. Code of the user's may insert what it likes.
    fn problem(&self, watch: &Watch, made: Function<'m>) -> Option<(String, String)> {
        let broken = |message: String| {
            let all = self.code.iter().map(|code| match code {
                Code::Prologue(_) => PROLOGUE.to_string(),
                Code::Value(original, _) => computing(*original),
            });
            let problem = format!("makes a function that is not valid: {}", message.trim());
            (all.collect::<Vec<_>>().join(" or "), problem)
        };
        let verify = || made.verify().filter(|_| !self.code.is_empty());
        watch.problem().or_else(|| verify().map(broken))
    }
}

/// Lifetime markers go when a function is prepared: the instruction behind them.
fn behind_markers(inst: Inst<'_>) -> Inst<'_> {
    let mut inst = inst;
    while inst.facts().is_lifetime_marker()
        && let Some(next) = inst.next()
    {
        inst = next;
    }
    inst
}

/// The landing pad whose exception a value is, with a portable selector.
fn exception_of<'m>(snapshot: &CodeSnapshot<'m>, value: ValueId) -> Option<Value<'m>> {
    let inst = snapshot.body.code.definition(value)?;
    let glue = snapshot.body.code.instructions[inst].facts.is_glue();
    glue.then(|| snapshot.instructions[inst].operands().next()).flatten()
}

/// The exception of a landing pad with a portable selector.
fn portable<'m>(snapshot: &CodeSnapshot<'m>, pad: Value<'m>) -> Option<ValueId> {
    let of_pad = |&inst: &InstId| {
        let code = &snapshot.body.code.instructions[inst];
        let inst = snapshot.instructions[inst];
        code.facts.is_glue() && inst.value().ty() == pad.ty() && inst.operands().next() == Some(pad)
    };
    let inst = snapshot.instructions.keys().find(of_pad)?;
    Some(snapshot.body.code.result(inst))
}

/// Runs code of the user's, and remembers the first thing that is wrong with it.
#[derive(Default)]
pub(crate) struct Watch {
    problem: RefCell<Option<(String, String)>>,
}

impl Watch {
    /// Whose code it is, and what is wrong with it
    pub(crate) fn problem(&self) -> Option<(String, String)> {
        self.problem.borrow().clone()
    }

    fn report(&self, code: impl FnOnce() -> String, problem: &str) {
        let mut first = self.problem.borrow_mut();
        if first.is_none() {
            *first = Some((code(), problem.to_string()));
        }
    }

    /// Runs straight-line code that inserts at the end of a block.
    fn straight<'m, R>(
        &self,
        builder: &Builder<'m>,
        code: impl FnOnce() -> String,
        run: impl FnOnce() -> R,
    ) -> R {
        let block = builder.block();
        let result = run();
        if builder.block() != block || block.has_terminator() {
            self.report(code, "leaves the block that it is to insert into");
            while block.has_terminator() {
                block.terminator().erase();
            }
            builder.at_end(block);
        }
        result
    }

    /// The same for code that computes a value of the destination's.
    pub(crate) fn value<'m>(
        &self,
        builder: &Builder<'m>,
        original: Value<'m>,
        run: impl FnOnce() -> Value<'m>,
    ) -> Value<'m> {
        let function = builder.block().function();
        let value = self.straight(builder, || computing(original), run);
        let problem = match value.home() {
            Home::Nowhere => "gives no value".to_string(),
            Home::Function(of) if of != function => format!(
                "gives {}, which does not exist in the continuation; it may use what it asks for \
                 in `needs` only",
                value.described()
            ),
            _ if value.ty() != original.ty() => "gives a value of another type".to_string(),
            _ => return value,
        };
        self.report(|| computing(original), &problem);
        original.ty().poison()
    }
}

fn inst_before(inst: Inst<'_>) -> Option<Inst<'_>> {
    inst.block().instructions().take_while(|&i| i != inst).last()
}

/// Marks what stands behind `last` in a block as its check.
fn mark_check<'m>(check: Block<'m>, last: Option<Inst<'m>>) {
    let is_new = |i: &Inst<'m>| !i.facts().is_phi();
    match last {
        Some(last) => {
            check.instructions().skip_while(|&i| i != last).skip(1).for_each(Inst::mark_check)
        }
        None => check.instructions().filter(is_new).for_each(Inst::mark_check),
    }
}
