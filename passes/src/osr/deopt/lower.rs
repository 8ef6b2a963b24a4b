//! Frames become transitions: a function's calls with frames, and its deoptimizations.
//!
//! ```text
//! call deoptimize() [frames]; ret        ──►  r = call continuation(values…); ret r
//! r = call f(…) [frames, after it]       ──►  r = call f(…); fire? ─► call continuation(values…)
//! ```
//!
//! Where a call was inlined there are several frames. The innermost one goes on first; what it
//! returns is the result of the call in the next one, see [`super::landing`].

use crate::osr::condition::Condition;
use crate::osr::deopt::frame::{Entry, Frame, FrameError, When};
use crate::osr::deopt::landing::{Continuation, LandingError, continuation};
use crate::osr::deopt::options::DeoptOptions;
use crate::osr::deopt::versions::{calls_with_frames, has_frames_of, is_point, name_of};
use crate::osr::open::key::Profiled;
use crate::osr::prototype::Prototype;
use crate::osr::record::{Record, SiteInfo};
use crate::osr::site::{Destination, Inserted, Site, Target, promote_variables};
use crate::osr::weave::{MARK, tail_of_first};
use crate::read_code::read_code;
use midflight_bridge::builder::Builder;
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Inst, Module, Type, TypeKind, Value};
use midflight_bridge::sandbox::Sandbox;
use rustc_hash::FxHashMap as HashMap;

/// What a front end did wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lowering the deoptimization of '{function}': the call of {callee}{place}: {error}")]
pub struct DeoptError {
    /// The function
    pub function: String,
    /// What the call calls whose frames are wrong
    pub callee: String,
    /// Its place in the source, as ` at FILE:LINE`, if that is known
    pub place: String,
    /// What is wrong
    pub error: Box<WrongFrames>,
}

impl DeoptError {
    /// For the frames of a call.
    pub fn at(call: Inst<'_>, error: WrongFrames) -> DeoptError {
        let location = debug::location(call);
        DeoptError {
            function: call.block().function().name(),
            callee: call.called_function().map_or_else(|| "a pointer".to_string(), |f| f.name()),
            place: location
                .map_or_else(String::new, |l| format!(" at {}:{}", l.inner.file, l.inner.line)),
            error: Box::new(error),
        }
    }
}

/// What is wrong with the frames of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongFrames {
    /// The operands of a bundle do not fit the schema.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// There is no continuation.
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// The number of values is wrong.
    #[error("frame {frame} gives {given} values, and point {point} of '{version}' takes {taken}")]
    Count {
        /// Which frame, from 1
        frame: usize,
        /// How many values it has
        given: usize,
        /// The point
        point: String,
        /// The version
        version: String,
        /// How many are wanted
        taken: usize,
    },
    /// A value has another type.
    #[error(
        "frame {frame}: value {number}, {value}, has not the type that it has at point {point} of \
         '{version}'"
    )]
    Type {
        /// Which frame, from 1
        frame: usize,
        /// Which value, from 0
        number: usize,
        /// The value
        value: String,
        /// The point
        point: String,
        /// The version
        version: String,
    },
    /// The results differ.
    #[error("'{version}' returns another type than this function")]
    Results {
        /// The version of the outermost frame
        version: String,
    },
    /// A frame says what cannot be where it stands.
    #[error("frame {frame} {problem}")]
    Place {
        /// Which frame, from 1
        frame: usize,
        /// What it says, and what it must say
        problem: &'static str,
    },
    /// Something was inlined whose caller has no frame.
    #[error(
        "its outermost frame is of '{version}', of which this function has none: what was inlined \
         here was called without a \"deopt\" bundle"
    )]
    Inlined {
        /// The version
        version: String,
    },
}

/// Lowers functions, and makes the continuations that they need.
pub struct Lowering<'a, 'm> {
    module: Module<'m>,
    sandbox: &'a Sandbox,
    options: &'a DeoptOptions,
    /// The versions were kept before anything was inlined.
    are_kept: bool,
    made: HashMap<(Function<'m>, u64, Option<Function<'m>>), Option<Continuation<'m>>>,
    /// Continuations that were not lowered themselves yet
    pub new: Vec<Function<'m>>,
}

/// A call that becomes a transition.
struct Transition<'m> {
    /// The point is before it.
    call: Inst<'m>,
    condition: Condition,
    name: String,
    to: Function<'m>,
    values: Vec<Value<'m>>,
}

/// What a function is called before a frame goes on.
fn is_deoptimize(call: Inst<'_>) -> bool {
    let starts = |f: Function<'_>| f.name().starts_with("llvm.experimental.deoptimize.");
    call.called_function().is_some_and(starts)
}

fn calls(function: Function<'_>, name: &str) -> bool {
    let mut all = function.blocks().flat_map(|block| block.instructions());
    all.any(|i| i.called_function().is_some_and(|f| f.name() == name))
}

impl<'a, 'm> Lowering<'a, 'm> {
    /// For a module whose versions are kept; `are_kept`: they were before anything was inlined.
    pub fn new(
        module: Module<'m>,
        sandbox: &'a Sandbox,
        options: &'a DeoptOptions,
        are_kept: bool,
    ) -> Self {
        let (made, new) = (HashMap::default(), Vec::new());
        Lowering { module, sandbox, options, are_kept, made, new }
    }

    /// Lowers a function. False if there was nothing to do.
    ///
    /// # Errors
    /// [`DeoptError`]; then the function has no points.
    pub fn function(&mut self, function: Function<'m>) -> Result<bool, DeoptError> {
        let mut changed = false;
        for (pass, intrinsic) in [
            ("lower-guard-intrinsic", "llvm.experimental.guard"),
            ("lower-widenable-condition", "llvm.experimental.widenable.condition"),
        ] {
            if calls(function, intrinsic) {
                self.sandbox.run(function, pass).expect("LLVM has this pass");
                changed = true;
            }
        }
        let calls = calls_with_frames(function)
            .map_err(|(call, error)| DeoptError::at(call, error.into()))?;
        if calls.is_empty() {
            return Ok(changed);
        }
        function.prepare_for_points();
        let (mut transitions, mut others) = (Vec::new(), Vec::new());
        for (call, frames) in calls {
            let transition = self.transition(function, call, &frames);
            match transition.map_err(|error| DeoptError::at(call, error))? {
                Some(transition) => transitions.push(transition),
                None => others.push(call),
            }
        }
        self.insert(function, &transitions);
        others.into_iter().for_each(take_frames);
        Ok(true)
    }

    /// None if there is no point: the frame is for what is inlined at the call, or control never
    /// comes there.
    fn transition(
        &mut self,
        function: Function<'m>,
        call: Inst<'m>,
        frames: &[Frame<'m>],
    ) -> Result<Option<Transition<'m>>, WrongFrames> {
        let (outermost, innermost) = (&frames[0], &frames[frames.len() - 1]);
        if self.are_kept && !has_frames_of(function, outermost.version) {
            return Err(WrongFrames::Inlined { version: name_of(outermost.version) });
        }
        let is_deoptimize = is_deoptimize(call);
        let place = |problem| Err(WrongFrames::Place { frame: frames.len(), problem });
        match (innermost.when, innermost.slot) {
            (When::After, _) if is_deoptimize => {
                return place("goes on behind the call, and a deoptimization does not return");
            }
            (When::Before, Some(_)) => {
                return place("has a slot for a result, and goes on before the call");
            }
            // The point is behind it.
            (When::After, _) => return Ok(None),
            (When::Before, None) => {}
        }
        let mut to: Option<Function<'m>> = None;
        let mut values = Vec::new();
        for (index, frame) in frames.iter().enumerate().rev() {
            let number = index + 1;
            let Some(its) = self.going_on(number, frame, to)? else { return Ok(None) };
            check_values(number, frame, &its.values)?;
            values.splice(0..0, frame.values.iter().copied());
            to = Some(its.function);
        }
        let to = to.expect("there is a frame");
        #[cfg(feature = "mutants")]
        if self.options.swap {
            swap(&mut values);
        }
        // LLVM takes away results that no caller uses.
        let result = function.result_type();
        if to.result_type() != result && result.kind() != TypeKind::Void {
            return Err(WrongFrames::Results { version: name_of(outermost.version) });
        }
        let condition = if is_deoptimize { Condition::Always } else { self.options.condition };
        let name = format!("{}:{}", name_of(innermost.version), text_of(innermost.entry));
        Ok(Some(Transition { call, condition, name, to, values }))
    }

    /// The function that goes on with a frame, where `inner` goes on with the next one.
    fn going_on(
        &mut self,
        number: usize,
        frame: &Frame<'m>,
        inner: Option<Function<'m>>,
    ) -> Result<Option<Continuation<'m>>, WrongFrames> {
        let place = |problem| Err(WrongFrames::Place { frame: number, problem });
        if inner.is_some() && frame.when == When::Before {
            return place("is that of an inlined call, and does not go on behind it");
        }
        let point = match frame.entry {
            Entry::Call if inner.is_some() => {
                return place("is that of an inlined call, and goes on at a version's entry");
            }
            Entry::Call => {
                let facts = frame.version.facts();
                let special = facts.is_variadic()
                    || facts.has_by_value()
                    || facts.has_unsupported_parameter();
                if special {
                    return place("goes on at the entry of a version whose arguments are special");
                }
                let values = frame.version.arguments().map(|a| a.ty()).collect();
                return Ok(Some(Continuation { function: frame.version, values, slot: None }));
            }
            Entry::Landing(point) => point,
        };
        let key = (frame.version, point, inner);
        if !self.made.contains_key(&key) {
            let made = continuation(frame.version, point, inner)?;
            self.new.extend(made.iter().map(|made| made.function));
            self.made.insert(key, made);
        }
        let Some(its) = self.made[&key].clone() else { return Ok(None) };
        if inner.is_some() && its.slot.is_some() && its.slot != frame.slot {
            return place("has another slot for the result than the call before its marker");
        }
        Ok(Some(its))
    }

    /// Inserts the points, and takes away what they come from.
    fn insert(&self, function: Function<'m>, transitions: &[Transition<'m>]) {
        let triple = self.module.target();
        let name = function.name();
        let infos: Vec<SiteInfo> = (0..)
            .zip(transitions)
            .map(|(point, transition)| SiteInfo {
                point,
                name: transition.name.clone(),
                from: name.clone(),
                to: transition.to.name(),
                line: debug::location(transition.call).map_or(0, |l| l.inner.line),
                condition: transition.condition.on_target(&triple),
            })
            .collect();
        let file = self.module.source_file();
        let record = Record::emit(self.module, &name, &file, infos.len(), &infos, None);
        let tail = tail_of_first(&read_code(function));
        let mut inserted: Vec<Inserted<'m>> = Vec::new();
        for (number, (transition, info)) in transitions.iter().zip(&infos).enumerate() {
            let slots: Vec<Type<'m>> = transition.values.iter().map(|value| value.ty()).collect();
            let prototype = Prototype { slots, has_selector: false, transfers: Vec::new() };
            let to = Destination::Continuation(transition.to);
            let site = Site {
                function,
                at: transition.call,
                condition: info.condition,
                guard: None,
                ahead: Vec::new(),
                values: transition.values.iter().copied().zip(0..).collect(),
                profiled: Profiled::None,
                target: Target { to, prototype: &prototype, tail },
                selector: 0,
                record: Some(&record),
                number,
                armed: number,
                point: number,
            };
            inserted.push(site.insert(None, None));
        }
        let builder = Builder::new(self.module, function);
        for (transition, inserted) in transitions.iter().zip(&inserted) {
            if is_deoptimize(transition.call) {
                inserted.check.terminator().erase();
                builder.at_end(inserted.check).branch(inserted.fire);
                inserted.rest.make_unreachable();
            } else {
                take_frames(transition.call);
            }
        }
        promote_variables(function, &inserted, std::iter::empty());
        function.drop_purity();
        function.mark(MARK);
    }
}

/// Exchanges the first two values that are of one type and not the same.
#[cfg(feature = "mutants")]
fn swap(values: &mut [Value<'_>]) {
    let pairs = (1..values.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let mut alike =
        pairs.filter(|&(a, b)| values[a].ty() == values[b].ty() && values[a] != values[b]);
    if let Some((a, b)) = alike.next() {
        values.swap(a, b);
    }
}

/// Takes the frames from a call, and the call away if it is there for them; a deoptimization that
/// control never comes to ends the program.
fn take_frames(call: Inst<'_>) {
    if is_point(call) {
        call.erase();
    } else if is_deoptimize(call) {
        call.end_program();
    } else {
        call.without_deopt();
    }
}

fn text_of(entry: Entry) -> String {
    match entry {
        Entry::Landing(point) => point.to_string(),
        Entry::Call => "entry".to_string(),
    }
}

fn check_values<'m>(
    number: usize,
    frame: &Frame<'m>,
    types: &[Type<'m>],
) -> Result<(), WrongFrames> {
    let values = &frame.values;
    let (version, point) = (name_of(frame.version), text_of(frame.entry));
    if values.len() != types.len() {
        let (given, taken) = (values.len(), types.len());
        return Err(WrongFrames::Count { frame: number, given, point, version, taken });
    }
    let wrong = values.iter().zip(types).position(|(value, &ty)| value.ty() != ty);
    wrong.map_or(Ok(()), |wrong| {
        let value = values[wrong].described();
        Err(WrongFrames::Type { frame: number, number: wrong, value, point, version })
    })
}
