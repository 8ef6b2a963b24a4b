//! How the state of one version becomes that of another.
//!
//! A `StateMap` (OSRKit, CGO 2016, "StateMap"; the point-wise OSR mapping of thesis Def. 4.15)
//! says, for two functions, which values of one are which of the other, where execution that leaves
//! one at a point goes on in the other, and what has to be computed on the way: for a single value,
//! or for the point as a whole. Maps compose (Ř, "transitive StateMaps"; thesis Lemma 4.6).

use midflight_bridge::builder::Builder;
use midflight_bridge::ir::Home;
use midflight_bridge::ir::{Function, Inst, Value};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// Code that computes a value of the destination, from those of the source that it asked for, in
/// that order. Thesis 4.1.1, "compensation code".
pub type Compute<'m> = Rc<dyn Fn(&Builder<'m>, &[Value<'m>]) -> Value<'m> + 'm>;

/// Code that runs at a transition for its effects, given the source's values that it asked for.
pub type Effect<'m> = Rc<dyn Fn(&Builder<'m>, &[Value<'m>]) + 'm>;

/// Compensation code for one value.
#[derive(Clone)]
pub struct Compensation<'m> {
    /// Values of the source that it is computed from
    pub needs: Vec<Value<'m>>,
    /// The code
    pub compute: Compute<'m>,
}

impl<'m> Compensation<'m> {
    /// Code that is straight-line, at the builder's position.
    ///
    /// ```no_run
    /// use midflight_passes::osr::api::{Compensation, Value};
    ///
    /// # fn example(i: Value<'_>) {
    /// let twice = Compensation::new([i], |builder, of| builder.add(of[0], of[0]));
    /// # }
    /// ```
    pub fn new(
        needs: impl Into<Vec<Value<'m>>>,
        compute: impl Fn(&Builder<'m>, &[Value<'m>]) -> Value<'m> + 'm,
    ) -> Self {
        Compensation { needs: needs.into(), compute: Rc::new(compute) }
    }
}

/// Compensation code for a point as a whole.
#[derive(Clone)]
pub struct Prologue<'m> {
    /// Values of the source that it uses
    pub needs: Vec<Value<'m>>,
    /// The code
    pub effect: Effect<'m>,
}

impl<'m> Prologue<'m> {
    /// Code that is straight-line, at the builder's position.
    pub fn new(
        needs: impl Into<Vec<Value<'m>>>,
        effect: impl Fn(&Builder<'m>, &[Value<'m>]) + 'm,
    ) -> Self {
        Prologue { needs: needs.into(), effect: Rc::new(effect) }
    }
}

/// What is wrong with an entry of a map. Values are named with the functions that they are in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateMapError {
    /// Values correspond one to one.
    #[error("mapping {from} to {to}: one of the two corresponds to another value already")]
    NotOneToOne {
        /// The value of the source
        from: String,
        /// The value of the destination
        to: String,
    },
    /// They have not the same type.
    #[error("mapping {from} to {to}: their types differ; use compensation code to convert them")]
    Types {
        /// The value of the source
        from: String,
        /// The value of the destination
        to: String,
    },
    /// A value is on the wrong side.
    #[error(
        "mapping {from} to {to}: the first is to be a value of '{source_name}', and the second one \
         of '{destination}'"
    )]
    Sides {
        /// What was given as a value of the source
        from: String,
        /// What was given as a value of the destination
        to: String,
        /// The source
        source_name: String,
        /// The destination
        destination: String,
    },
    /// A constant is no state.
    #[error(
        "mapping {from} to {to}: a constant is the same in both functions and takes no mapping; \
         where a value of the destination is constant, use compensation code that returns it"
    )]
    Constant {
        /// What was given as a value of the source
        from: String,
        /// What was given as a value of the destination
        to: String,
    },
    /// The functions do not correspond block by block and instruction by instruction.
    #[error("mapping '{from}' to '{to}': it is no exact copy")]
    NoCopy {
        /// The function
        from: String,
        /// What is to be its copy
        to: String,
    },
    /// The maps do not meet.
    #[error(
        "composing state maps: the first one ends in '{ends}', the second begins in '{begins}'"
    )]
    NotComposable {
        /// The destination of the first one
        ends: String,
        /// The source of the second
        begins: String,
    },
}

/// How the state of `from` becomes that of `to`.
///
/// ```no_run
/// use midflight_passes::osr::api::StateMap;
/// use midflight_passes::osr::api::Function;
///
/// # fn example<'m>(base: Function<'m>) -> Result<(), Box<dyn std::error::Error>> {
/// let copy = base.clone_as("base.copy");
/// let map = StateMap::identity(base, copy)?;
/// let entry = base.blocks().next().unwrap().instructions().next().unwrap();
/// assert!(map.landing(entry).is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StateMap<'m> {
    /// The source
    pub from: Function<'m>,
    /// The destination
    pub to: Function<'m>,
    forward: HashMap<Value<'m>, Value<'m>>,
    backward: HashMap<Value<'m>, Value<'m>>,
    landings: HashMap<Inst<'m>, Inst<'m>>,
    compensation: HashMap<Inst<'m>, HashMap<Value<'m>, Compensation<'m>>>,
    prologues: HashMap<Inst<'m>, Prologue<'m>>,
}

impl<'m> StateMap<'m> {
    /// A map in which nothing corresponds yet.
    ///
    /// ```no_run
    /// # use midflight_passes::osr::api::StateMap;
    /// # use midflight_passes::osr::api::Function;
    /// # fn example<'m>(slow: Function<'m>, fast: Function<'m>) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut map = StateMap::new(slow, fast);
    /// for (a, b) in slow.arguments().zip(fast.arguments()) {
    ///     map.map_values(a, b)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(from: Function<'m>, to: Function<'m>) -> Self {
        StateMap {
            from,
            to,
            forward: HashMap::default(),
            backward: HashMap::default(),
            landings: HashMap::default(),
            compensation: HashMap::default(),
            prologues: HashMap::default(),
        }
    }

    /// The identity: an exact copy, as [`Function::clone_as`] makes it. Every point lands at its
    /// counterpart.
    ///
    /// # Errors
    /// [`StateMapError::NoCopy`]
    pub fn identity(from: Function<'m>, copy: Function<'m>) -> Result<Self, StateMapError> {
        let no_copy = || StateMapError::NoCopy { from: from.name(), to: copy.name() };
        let mut map = StateMap::new(from, copy);
        let (mut theirs, mut ours) = (copy.arguments(), from.arguments());
        loop {
            match (ours.next(), theirs.next()) {
                (Some(a), Some(b)) => map.map_values(a, b)?,
                (None, None) => break,
                _ => return Err(no_copy()),
            }
        }
        let all = |f: Function<'m>| f.blocks().flat_map(|b| b.instructions());
        let (mut theirs, mut ours) = (all(copy), all(from));
        let count = all(from).count();
        map.forward.reserve(count);
        map.backward.reserve(count);
        map.landings.reserve(count);
        loop {
            match (ours.next(), theirs.next()) {
                (Some(a), Some(b)) if a.is_like(b) => {
                    map.forward.insert(a.value(), b.value());
                    map.backward.insert(b.value(), a.value());
                    map.map_landing(a, b);
                }
                (None, None) => return Ok(map),
                _ => return Err(no_copy()),
            }
        }
    }

    /// Says that two values, arguments or results of instructions, are the same.
    ///
    /// # Errors
    /// If one of them is another's already, their types differ, or one of them is no value of its
    /// function.
    pub fn map_values(&mut self, from: Value<'m>, to: Value<'m>) -> Result<(), StateMapError> {
        let described = || (from.described(), to.described());
        let homes = (from.home(), to.home());
        if homes != (Home::Function(self.from), Home::Function(self.to)) {
            let (from, to) = described();
            if matches!(homes, (Home::Module, _) | (_, Home::Module)) {
                return Err(StateMapError::Constant { from, to });
            }
            let (source_name, destination) = (self.from.name(), self.to.name());
            return Err(StateMapError::Sides { from, to, source_name, destination });
        }
        if from.ty() != to.ty() {
            let (from, to) = described();
            return Err(StateMapError::Types { from, to });
        }
        let known = (self.forward.get(&from), self.backward.get(&to));
        match known {
            (None, None) => {}
            (Some(&a), Some(&b)) if a == to && b == from => {}
            _ => {
                let (from, to) = described();
                return Err(StateMapError::NotOneToOne { from, to });
            }
        }
        self.forward.insert(from, to);
        self.backward.insert(to, from);
        Ok(())
    }

    /// Says where execution goes on that leaves the source before `point`: before `landing`.
    pub fn map_landing(&mut self, point: Inst<'m>, landing: Inst<'m>) {
        self.landings.insert(point, landing);
    }

    /// Gives compensation code for a value of the destination, for transitions from `point`.
    ///
    /// ```no_run
    /// # use midflight_passes::osr::api::{Compensation, Inst, StateMap, Value};
    /// # fn example<'m>(map: &mut StateMap<'m>, point: Inst<'m>, i: Value<'m>, next: Value<'m>, one: Value<'m>) {
    /// // `next` of the destination is `i + 1` of the source.
    /// map.compensate(point, next, Compensation::new([i], move |b, of| b.add(of[0], one)));
    /// # }
    /// ```
    pub fn compensate(&mut self, point: Inst<'m>, value: Value<'m>, code: Compensation<'m>) {
        self.compensation.entry(point).or_default().insert(value, code);
    }

    /// Gives code that runs at each transition from `point`, before any other compensation code.
    pub fn set_prologue(&mut self, point: Inst<'m>, code: Prologue<'m>) {
        self.prologues.insert(point, code);
    }

    /// The destination's value that is the same as this one of the source.
    pub fn to_of(&self, from: Value<'m>) -> Option<Value<'m>> {
        self.forward.get(&from).copied()
    }

    /// The source's value that is the same as this one of the destination.
    pub fn from_of(&self, to: Value<'m>) -> Option<Value<'m>> {
        self.backward.get(&to).copied()
    }

    /// Where execution goes on that leaves the source at a point.
    pub fn landing(&self, point: Inst<'m>) -> Option<Inst<'m>> {
        self.landings.get(&point).copied()
    }

    /// The compensation code for a value of the destination at a point of the source.
    pub fn compensation(&self, point: Inst<'m>, value: Value<'m>) -> Option<&Compensation<'m>> {
        self.compensation.get(&point)?.get(&value)
    }

    /// All compensation code at a point of the source.
    pub(crate) fn compensations(
        &self,
        point: Inst<'m>,
    ) -> impl Iterator<Item = (Value<'m>, &Compensation<'m>)> {
        self.compensation.get(&point).into_iter().flatten().map(|(&value, code)| (value, code))
    }

    /// The code that runs at transitions from a point.
    pub fn prologue(&self, point: Inst<'m>) -> Option<&Prologue<'m>> {
        self.prologues.get(&point)
    }

    /// The way back: values and landings the other way round. Compensation code has no inverse;
    /// what it computes must be given anew.
    pub fn inverse(&self) -> Self {
        StateMap {
            from: self.to,
            to: self.from,
            forward: self.backward.clone(),
            backward: self.forward.clone(),
            landings: self.landings.iter().map(|(&a, &b)| (b, a)).collect(),
            compensation: HashMap::default(),
            prologues: HashMap::default(),
        }
    }

    /// First this map, then `next`: from this one's source to `next`'s destination. Compensation
    /// code of both is kept: what `next` needs is reconstructed as this map says. A value that
    /// neither map gives stays unmapped.
    ///
    /// # Errors
    /// [`StateMapError::NotComposable`]
    pub fn then(&self, next: &StateMap<'m>) -> Result<StateMap<'m>, StateMapError> {
        if self.to != next.from {
            let (ends, begins) = (self.to.name(), next.from.name());
            return Err(StateMapError::NotComposable { ends, begins });
        }
        let mut result = StateMap::new(self.from, next.to);
        for (&from, middle) in &self.forward {
            if let Some(&to) = next.forward.get(middle) {
                result.map_values(from, to)?;
            }
        }
        for (&point, &middle) in &self.landings {
            let Some(landing) = next.landing(middle) else { continue };
            result.map_landing(point, landing);
            // A value that is computed on the first half of the way goes through the second.
            for (&value, code) in self.compensation.get(&point).into_iter().flatten() {
                if let Some(to) = next.to_of(value) {
                    result.compensate(point, to, code.clone());
                }
            }
            for (&value, code) in next.compensation.get(&middle).into_iter().flatten() {
                if let Some(inputs) = self.inputs(point, &code.needs) {
                    let (needs, compute) = (inputs.needs.clone(), code.compute.clone());
                    let compute: Compute<'m> =
                        Rc::new(move |b, of| compute(b, &inputs.resolve(b, of)));
                    result.compensate(point, value, Compensation { needs, compute });
                }
            }
            self.compose_prologues(next, point, middle, &mut result);
        }
        Ok(result)
    }

    fn compose_prologues(
        &self,
        next: &StateMap<'m>,
        point: Inst<'m>,
        middle: Inst<'m>,
        result: &mut StateMap<'m>,
    ) {
        let first = self.prologue(point).cloned();
        let second = next.prologue(middle).and_then(|code| {
            let inputs = self.inputs(point, &code.needs)?;
            let (needs, effect) = (inputs.needs.clone(), code.effect.clone());
            let effect: Effect<'m> = Rc::new(move |b, of| effect(b, &inputs.resolve(b, of)));
            Some(Prologue { needs, effect })
        });
        let both = match (first, second) {
            (Some(first), Some(second)) => {
                let count = first.needs.len();
                let needs = [first.needs, second.needs].concat();
                let effect: Effect<'m> = Rc::new(move |b, of| {
                    let (of_first, of_second) = of.split_at(count);
                    (first.effect)(b, of_first);
                    (second.effect)(b, of_second);
                });
                Prologue { needs, effect }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return,
        };
        result.set_prologue(point, both);
    }

    /// How values of the destination are reconstructed at a point; none if one of them cannot be.
    fn inputs(&self, point: Inst<'m>, values: &[Value<'m>]) -> Option<Inputs<'m>> {
        let mut inputs = Inputs { needs: Vec::new(), ways: Vec::new() };
        for &value in values {
            let start = inputs.needs.len();
            if let Some(code) = self.compensation(point, value) {
                inputs.needs.extend(&code.needs);
                let range = start..inputs.needs.len();
                inputs.ways.push((range, Some(code.compute.clone())));
            } else {
                inputs.needs.push(self.from_of(value)?);
                inputs.ways.push((start..start + 1, None));
            }
        }
        Some(inputs)
    }
}

/// How values of the middle function are reconstructed from those of the first.
struct Inputs<'m> {
    needs: Vec<Value<'m>>,
    ways: Vec<(std::ops::Range<usize>, Option<Compute<'m>>)>,
}

impl<'m> Inputs<'m> {
    fn resolve(&self, builder: &Builder<'m>, of: &[Value<'m>]) -> Vec<Value<'m>> {
        let had = |(range, compute): &(std::ops::Range<usize>, Option<Compute<'m>>)| {
            let of = &of[range.clone()];
            compute.as_ref().map_or_else(|| of[0], |compute| compute(builder, of))
        };
        self.ways.iter().map(had).collect()
    }
}
