//! Versions that frames name, kept as the front end made them.
//!
//! A version may be optimized like any function; where its markers stand then, and what is live
//! there, would not be what the frames give. So the landings are those of a copy that no pass of
//! functions touches, and frames name the copy, which lives for as long as a frame does. Passes of
//! modules do touch it (LLVM's IPSCCP replaces single uses by what branches before them say), so
//! its markers *pin* their values: what is used behind one is what the marker gives back.

use crate::osr::deopt::frame::{Entry, Frame, FrameError, When, behind, frames};
use crate::osr::weave::MARK;
use midflight_bridge::ir::{Function, Inst, Module, Opcode, Value, pin};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Marks where a version goes on: `call void (i64, ...) @midflight.landing(i64 POINT, values…)`.
pub const MARKER: &str = "midflight.landing";

/// Marks, in a copy, the call that a marker stands directly behind; it has the same arguments.
const CALL_MARKER: &str = "midflight.landing-at-call";

/// A point behind a call: it is there for its frames.
const POINT: &str = "midflight.point";

/// Ends the name of a copy.
const SUFFIX: &str = ".midflight";

/// On a copy
const COPY: &str = "midflight-landings";

/// On a function that had frames before anything was inlined; `=VERSION` behind it: they were of
/// this version.
const FRAMES: &str = "midflight-deopt";

/// True for a copy that has a version's landings.
pub fn is_copy(function: Function<'_>) -> bool {
    function.is_marked(COPY)
}

/// The name that the front end gave to a version.
pub fn name_of(version: Function<'_>) -> String {
    let name = version.name();
    match name.split_once(SUFFIX) {
        Some((original, _)) if is_copy(version) => original.to_string(),
        _ => name,
    }
}

/// True if the versions were kept before anything was inlined.
pub fn are_kept(functions: &[Function<'_>]) -> bool {
    functions.iter().any(|function| function.is_marked(FRAMES))
}

fn frames_of(version: Function<'_>) -> String {
    format!("{FRAMES}={}", name_of(version))
}

/// True if the function had frames of this version before anything was inlined. Else what was
/// inlined at a call without a bundle has brought them along.
pub fn has_frames_of(function: Function<'_>, version: Function<'_>) -> bool {
    function.is_marked(&frames_of(version))
}

/// Makes of a function that was declared like a copy one like all others.
pub fn is_copy_no_more(function: Function<'_>) {
    function.unmark(COPY);
    function.allow_optimization();
}

/// Erases the copies. Nothing but copies refers to them any more.
pub fn erase_copies(module: Module<'_>) {
    let copies: Vec<_> = module.functions().filter(|&function| is_copy(function)).collect();
    for copy in &copies {
        copy.value().replace_global(module.pointer_type().null());
    }
    copies.into_iter().for_each(Function::erase);
}

/// Calls, with their frames
type Framed<'m> = Vec<(Inst<'m>, Vec<Frame<'m>>)>;

/// The calls of a function that have frames, in their order.
///
/// # Errors
/// [`FrameError`], and the call whose bundle it is about.
pub fn calls_with_frames<'m>(function: Function<'m>) -> Result<Framed<'m>, (Inst<'m>, FrameError)> {
    let calls = function.blocks().flat_map(|block| block.instructions());
    let with_frames = calls.filter_map(|call| Some((call, frames(call)?)));
    with_frames.map(|(call, frames)| Ok((call, frames.map_err(|e| (call, e))?))).collect()
}

/// True for a call that stands behind another one, for its frames.
pub fn is_point(call: Inst<'_>) -> bool {
    call.called_function().is_some_and(|f| f.name() == POINT)
}

/// The markers of a function; in a copy, with those before calls.
fn markers(function: Function<'_>) -> Vec<Inst<'_>> {
    let all = function.blocks().flat_map(|block| block.instructions());
    all.filter(|inst| inst.called_function().is_some_and(|f| f.name().starts_with(MARKER)))
        .collect()
}

/// The number of a marker.
fn number_of(marker: Inst<'_>) -> Option<u64> {
    marker.operands().next().and_then(Value::as_integer).map(|number| number as u64)
}

/// The arguments of a marker, its number first. The last operand of a call is what it calls.
fn arguments_of<'m>(marker: Inst<'m>) -> Vec<Value<'m>> {
    let mut operands: Vec<_> = marker.operands().collect();
    operands.pop();
    operands
}

/// A place in a copy, where a marker stood.
pub struct Marked<'m> {
    /// The first instruction behind it
    pub at: Inst<'m>,
    /// The marker's values there
    pub values: Vec<Value<'m>>,
}

/// Where the marker of a copy with one number stood.
pub struct Landing<'m> {
    /// Behind it; none if it is gone, where LLVM has found out that control never comes there
    pub behind: Option<Marked<'m>>,
    /// The call that it stood directly behind, if control comes there
    pub at_call: Option<Marked<'m>>,
}

/// Removes the markers of a copy; gives the landing that had this number.
pub fn take_markers<'m>(copy: Function<'m>, point: u64) -> Landing<'m> {
    let all = markers(copy);
    let is_at_call = |marker: Inst<'m>| {
        marker.called_function().is_some_and(|f| f.name().starts_with(CALL_MARKER))
    };
    let ours = all.iter().filter(|&&marker| number_of(marker) == Some(point));
    // What one marker pins comes to others: it is read where all are unpinned.
    let held: Vec<_> = ours
        .map(|&marker| {
            let holder = marker.insert_variadic_call(MARKER, &arguments_of(marker));
            (holder, behind_marker(marker, &all), is_at_call(marker))
        })
        .collect();
    all.into_iter().for_each(Inst::unpin);
    let mut landing = Landing { behind: None, at_call: None };
    for (holder, at, is_at_call) in held {
        let marked = Marked { at, values: arguments_of(holder).split_off(1) };
        let place = if is_at_call { &mut landing.at_call } else { &mut landing.behind };
        let other = place.replace(marked);
        assert!(other.is_none(), "a copy has one marker of each number, as its version had");
        holder.erase();
    }
    landing
}

/// The first instruction behind a marker that is there when all are unpinned.
fn behind_marker<'m>(marker: Inst<'m>, markers: &[Inst<'m>]) -> Inst<'m> {
    let mut inst = marker;
    while let Some(next) = next_in_copy(inst, markers) {
        inst = next;
        let of = inst.operands().next().and_then(Value::as_inst);
        let is_pinned = of.is_some_and(|of| markers.contains(&of));
        if !markers.contains(&inst) && !is_pinned && !inst.facts().is_lifetime_marker() {
            break;
        }
    }
    inst
}

/// The next instruction; behind a block that was split before a marker, the marker.
fn next_in_copy<'m>(inst: Inst<'m>, markers: &[Inst<'m>]) -> Option<Inst<'m>> {
    let next = inst.next()?;
    match next.block().successors()[..] {
        [to] if next.next().is_none() && next.opcode() == Opcode::Br => {
            let first = to.instructions().next().filter(|first| markers.contains(first));
            Some(first.unwrap_or(next))
        }
        _ => Some(next),
    }
}

/// Makes the copies of all versions that frames of these functions name by a landing, has the
/// frames name them, and takes the markers from all other functions. True if anything was changed.
///
/// # Errors
/// [`FrameError`], and the call whose bundle it is about; then nothing is changed.
pub fn keep_versions<'m>(
    module: Module<'m>,
    functions: &[Function<'m>],
) -> Result<bool, (Inst<'m>, FrameError)> {
    let is_first = !are_kept(functions);
    let mut versions: Vec<Function<'m>> = Vec::new();
    let mut with_frames: Vec<Function<'m>> = Vec::new();
    for &function in functions {
        let calls = calls_with_frames(function)?;
        let frames = calls.iter().flat_map(|(_, frames)| frames);
        versions.extend(frames.filter(|f| f.entry != Entry::Call).map(|f| f.version));
        if let Some(&(call, _)) = calls.first() {
            if is_first && function.must_be_inlined() {
                return Err((call, FrameError::MustBeInlined));
            }
            with_frames.push(function);
        }
    }
    check_markers(&with_frames)?;
    let mut copies: HashMap<Function<'m>, Function<'m>> = HashMap::default();
    let mut callees = HashMap::default();
    for version in versions.into_iter().filter(|&version| !is_copy(version)) {
        copies.entry(version).or_insert_with(|| {
            let copy = version.clone_as(&(version.name() + SUFFIX));
            copy.mark(COPY);
            // No other pass of ours is to put anything into it.
            copy.mark(MARK);
            call_copies(copy, &mut callees);
            copy.forbid_optimization();
            // Only an alloca may have lifetime markers, and no pinned one.
            copy.prepare_for_points();
            pin_landings(copy);
            copy
        });
    }
    let mut changed = !copies.is_empty();
    // A copy may have frames itself, of its own version even.
    for &function in with_frames.iter().chain(copies.values()) {
        let calls = calls_with_frames(function)?;
        for (call, frames) in &calls {
            for frame in frames.iter().filter(|frame| frame.entry != Entry::Call) {
                if let Some(copy) = copies.get(&frame.version) {
                    call.set_operand(frame.operand, copy.value());
                }
            }
            let innermost = &frames[frames.len() - 1];
            if is_first && innermost.when == When::After {
                // The result is used there, so that LLVM keeps it.
                let operands = behind(module, *call, innermost);
                if let Some(at) = place_behind(*call) {
                    at.insert_call_with_deopt(POINT, &operands);
                }
            }
            if is_first {
                function.mark(FRAMES);
                function.mark(&frames_of(frames[0].version));
                changed = true;
            }
        }
    }
    for &function in functions {
        for marker in markers(function) {
            marker.erase();
            changed = true;
        }
    }
    if is_first {
        changed |= forbid_inlining_without_frames(module, &with_frames);
    }
    Ok(changed)
}

/// That each frame's landing is marked, once, unless it is in a copy: then it was.
fn check_markers<'m>(functions: &[Function<'m>]) -> Result<(), (Inst<'m>, FrameError)> {
    let mut counts: HashMap<Function<'m>, HashMap<Option<u64>, usize>> = HashMap::default();
    for &function in functions {
        for (call, frames) in calls_with_frames(function)? {
            for (number, frame) in (1..).zip(&frames).filter(|(_, f)| !is_copy(f.version)) {
                let Entry::Landing(point) = frame.entry else { continue };
                let counts = counts.entry(frame.version).or_insert_with(|| {
                    let mut counts = HashMap::default();
                    for marker in markers(frame.version) {
                        *counts.entry(number_of(marker)).or_default() += 1;
                    }
                    counts
                });
                let count = counts.get(&Some(point)).copied().unwrap_or(0);
                if count != 1 {
                    let version = name_of(frame.version);
                    let error = FrameError::Marker { frame: number, point, version, count };
                    return Err((call, error));
                }
            }
        }
    }
    Ok(())
}

/// The instruction that runs when a call has returned; none behind one in tail position.
fn place_behind(call: Inst<'_>) -> Option<Inst<'_>> {
    if call.opcode() == Opcode::Invoke {
        let normal = *call.block().successors().first()?;
        return Some(call.block().split_edge(normal)?.insertion_point());
    }
    call.next().filter(|_| !call.facts().is_must_tail())
}

/// What must be inlined LLVM inlines into any function, a copy too, and there may be no other body
/// of it. So a copy calls copies of such functions.
fn call_copies<'m>(copy: Function<'m>, known: &mut HashMap<Function<'m>, Function<'m>>) {
    let all: Vec<_> = copy.blocks().flat_map(|block| block.instructions()).collect();
    for call in all {
        let callee = call.called_function().filter(|f| f.must_be_inlined() && f.is_definition());
        let Some(callee) = callee.filter(|&callee| call.calls_like(callee)) else { continue };
        if let Some(&other) = known.get(&callee) {
            call.call_instead(other);
            continue;
        }
        let other = callee.clone_as(&(callee.name() + SUFFIX));
        other.allow_calls();
        known.insert(callee, other);
        call.call_instead(other);
        call_copies(other, known);
    }
}

/// Inlined at a call without a bundle, a function with frames would bring them without one of the
/// caller.
fn forbid_inlining_without_frames<'m>(module: Module<'m>, with_frames: &[Function<'m>]) -> bool {
    let with_frames: HashSet<_> = with_frames.iter().copied().collect();
    let all = module.functions().flat_map(|f| f.blocks()).flat_map(|block| block.instructions());
    let calls = all.filter(|call| {
        call.called_function().is_some_and(|callee| with_frames.contains(&callee))
            && call.deopt_operands().is_none()
    });
    calls.map(Inst::forbid_inlining).count() > 0
}

/// Pins the values of a copy's markers, and of the calls that these stand directly behind.
fn pin_landings<'m>(copy: Function<'m>) {
    let mut all = markers(copy);
    for marker in all.clone() {
        let Some(call) = call_before(marker, &all) else { continue };
        let result = call.value();
        let value = |value: Value<'m>| if value == result { value.ty().poison() } else { value };
        let arguments: Vec<_> = arguments_of(marker).into_iter().map(value).collect();
        all.push(call.insert_variadic_call(CALL_MARKER, &arguments));
    }
    pin(&all);
}

/// The call that a marker stands directly behind: before it in its block, or the invoke whose
/// normal destination begins with it.
fn call_before<'m>(marker: Inst<'m>, markers: &[Inst<'m>]) -> Option<Inst<'m>> {
    let block = marker.block();
    let before = block.instructions().take_while(|&inst| inst != marker);
    match before.filter(|inst| !markers.contains(inst)).last() {
        Some(inst) => (inst.opcode() == Opcode::Call).then_some(inst),
        None => {
            let blocks = block.function().blocks();
            let mut from = blocks.filter(|other| other.successors().contains(&block));
            let invoke = from.next()?.terminator();
            let is_alone = from.next().is_none() && invoke.opcode() == Opcode::Invoke;
            let is_normal = || invoke.block().successors().first() == Some(&block);
            (is_alone && is_normal()).then_some(invoke)
        }
    }
}
