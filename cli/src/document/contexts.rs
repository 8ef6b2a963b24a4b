//! All that is told of calling contexts: reports, exports and JSON are views of it.

use crate::analysis::interval::Interval;
use crate::format::json::Each;
use crate::format::names::file_name;
use crate::format::numbers::add;
use crate::input::contexts::{Called, Joined, are_by_function};
use crate::input::session::{Session, Skipped};
use midflight_profile::format::{Bursts, CalledId, ContextId, ContextMode, Contexts};
use midflight_profile::table::Site;
use midflight_profile::visible;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How contexts are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As they were counted: each context below that of the call
    Tree,
    /// The same, with all calls of a function by another in one place
    ByFunction,
    /// Each function with its last so many callers below it, as far as there are any: the k-calling
    /// contexts (Ausiello, Demetrescu, Finocchi, Firmani, OOPSLA 2012), from the end. With 1 this
    /// is the call graph
    Callers(u32),
}

/// What contexts are ordered by, and drawn as wide as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Measure {
    /// How often functions were called
    Activations,
    /// The time that they have taken
    Time,
}

/// The times of contexts, where they were taken.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// Nanoseconds of all functions that are profiled
    pub total: u64,
    /// Those of them without context, or in contexts that were removed
    pub elsewhere: u64,
}

/// The document.
pub struct ContextDocument<'a> {
    /// The binary
    pub binary: String,
    /// How contexts are arranged
    pub shape: Shape,
    /// What of the tree was kept
    pub mode: ContextMode,
    /// All activations
    pub activations: u64,
    /// Those without context
    pub elsewhere: u64,
    /// Those of them of which the function is known, by its place: most first
    pub elsewhere_of: Vec<(usize, u64)>,
    /// What a context may have had that is not here, at most
    pub floor: u64,
    /// Where they were counted in bursts: when these were
    pub bursts: Option<Bursts>,
    /// Their times, where these were taken
    pub times: Option<Times>,
    /// What contexts are ordered by
    pub measure: Measure,
    /// Whether the call sites of a function are not told apart
    pub by_function: bool,
    /// The functions
    pub functions: Vec<Called<'a>>,
    /// Contexts in preorder, siblings with the highest count, or with the most time, first
    pub contexts: Vec<Context>,
    /// What is not among them
    pub left_out: LeftOut,
    /// Activations that may be of any context, and are for certain of none of those that were kept
    unknown: u64,
    /// How many functions of the images are profiled, those that never ran too
    pub profiled: usize,
    /// The functions that are not, by the reason
    pub skipped: Skipped,
}

/// A context, or with [`Shape::Callers`] a function with its last callers.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Place of the one that it is below
    pub parent: Option<usize>,
    /// 0 for roots
    pub level: u32,
    /// Place of the function that it adds
    pub function: usize,
    /// Slot of the call; none for roots
    pub slot: Option<u32>,
    /// Activations, by the sum of the counts of all contexts that are here one
    pub count: u64,
    /// By how much these counts may be too high
    pub error: u64,
    /// Activations in it and in all that were below it in the tree
    pub within: u64,
    /// Nanoseconds in it; 0 where times were not taken
    pub time: u64,
    /// And in all that were below it in the tree
    pub time_within: u64,
    /// Whether these are calls of a function of which recursion is folded, and which is above: what
    /// they called is there
    pub is_recursive: bool,
}

/// A call that has led to a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Place of the function that has called
    pub caller: usize,
    /// The slot of its call site
    pub slot: u32,
    /// Place of the function that was called
    pub callee: usize,
}

impl Context {
    /// How many activations there were at least.
    fn least(&self) -> u64 {
        self.count.saturating_sub(self.error)
    }
}

/// Contexts that are too cold to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many
    pub contexts: usize,
    /// Their activations
    pub activations: u64,
    /// Their nanoseconds, where times were taken
    pub time: Option<u64>,
}

/// Which contexts are shown.
#[derive(Clone, Copy, Debug)]
pub struct ContextExtent {
    /// What they are ordered by; time if it is not said, and times were taken
    pub measure: Option<Measure>,
    /// Those with so many percent of all activations, or of all time, or more
    pub min_percent: f64,
    /// And so many, those with the most, even if they have less
    pub in_any_case: usize,
    /// But no more than so many
    pub top: usize,
}

impl ContextExtent {
    /// All contexts.
    pub const ALL: Self = ContextExtent {
        measure: Some(Measure::Activations),
        min_percent: 0.0,
        in_any_case: 0,
        top: usize::MAX,
    };
}

impl<'a> ContextDocument<'a> {
    /// Makes the document of contexts that a session has. Times, if it is these that contexts are
    /// to be ordered by, were taken.
    pub fn of(
        binary: String,
        session: &Session,
        joined: Joined<'a>,
        shape: Shape,
        measure: Option<Measure>,
    ) -> Self {
        let Joined { contexts, functions } = joined;
        let tables = session.images.iter().flat_map(|image| &image.contexts);
        let profiled: BTreeSet<u64> = tables.map(|table| table.key).collect();
        let Contexts { mode, activations, elsewhere, floor, bursts, .. } = *contexts;
        let times = contexts.time.map(|elsewhere| {
            let known: u64 =
                contexts.ids().fold(0, |sum, id| sum.saturating_add(contexts.time(id)));
            Times { total: known.saturating_add(elsewhere), elsewhere }
        });
        let measured = if times.is_some() { Measure::Time } else { Measure::Activations };
        let measure = measure.unwrap_or(measured);
        let rows = match shape {
            Shape::Tree => rows(contexts, &functions, measure, false),
            Shape::ByFunction => rows(&without_sites(contexts), &functions, measure, false),
            Shape::Callers(k) => rows(&callers(contexts, k), &functions, measure, true),
        };
        let mut elsewhere_of: Vec<(usize, u64)> =
            contexts.elsewhere_of().map(|(id, count)| (id.index(), count)).collect();
        elsewhere_of.sort_by_cached_key(|&(function, count)| {
            (Reverse(count), functions[function].readable())
        });
        let by_function = shape == Shape::ByFunction || are_by_function(&functions);
        ContextDocument {
            binary,
            shape,
            mode,
            activations,
            elsewhere,
            elsewhere_of,
            floor,
            bursts,
            times,
            measure,
            by_function,
            functions,
            contexts: rows,
            left_out: LeftOut { time: times.map(|_| 0), ..LeftOut::default() },
            unknown: unknown(contexts),
            profiled: profiled.len(),
            skipped: session.skipped(),
        }
    }

    /// How many activations there were in a context. Where only hot contexts were kept, and several
    /// are one here, any of those that were not may be, too.
    pub fn times(&self, context: &Context) -> Interval<u64> {
        match (self.shape, self.mode) {
            (Shape::Tree, _) | (_, ContextMode::All) => {
                Interval::new(context.least(), context.count)
            }
            (_, ContextMode::Hot { .. }) => Interval::counted(context.least(), self.unknown),
        }
    }

    /// The function that a context adds.
    pub fn function(&self, context: &Context) -> &Called<'a> {
        &self.functions[context.function]
    }

    /// Activations that may be of any context: those without one, and those that are for certain of
    /// none that was kept.
    pub fn unknown(&self) -> u64 {
        self.unknown.saturating_add(self.elsewhere)
    }

    /// How many activations a context may have had that is not here, at most, but for those without
    /// context.
    pub fn absent(&self) -> u64 {
        match self.shape {
            Shape::Tree => self.floor,
            Shape::ByFunction | Shape::Callers(_) => self.unknown,
        }
    }

    /// The call that has led to a context; none for roots.
    pub fn call(&self, context: &Context) -> Option<Call> {
        let (own, parent) = (context.function, self.contexts[context.parent?].function);
        let (caller, callee) = match self.shape {
            Shape::Callers(_) => (own, parent),
            Shape::Tree | Shape::ByFunction => (parent, own),
        };
        Some(Call { caller, slot: context.slot?, callee })
    }

    /// The call site of a context's call, with its file; none for roots, and where it is not known.
    pub fn site(&self, context: &Context) -> Option<(&Site, &str)> {
        if self.by_function {
            return None;
        }
        let Call { caller, slot, .. } = self.call(context)?;
        self.functions[caller].site(slot)
    }

    /// The call site of a context's call, for JSON.
    pub fn site_row(&self, context: &Context) -> Option<SiteRow> {
        let (Site { loc, is_tail }, file) = self.site(context)?;
        Some(SiteRow {
            file: file.to_string(),
            line: loc.line,
            outer_line: loc.outer_line,
            slot: context.slot?,
            tail: *is_tail,
        })
    }

    /// The place of the function that has made a context's call, and the line of the call in its
    /// own file; that of its declaration where it is not known. None for roots.
    pub fn call_line(&self, context: &Context) -> Option<(usize, u32)> {
        let caller = self.call(context)?.caller;
        let line = self.site(context).map_or(0, |(site, _)| site.loc.outer_line);
        Some((caller, if line == 0 { self.functions[caller].line() } else { line }))
    }

    /// The name of a context's function, and where it was called, or is declared if that is a root:
    /// `f`, `a.c:3`. Files have their folders with `full`.
    pub fn words(&self, context: &Context, full: bool) -> (String, String) {
        let called = self.function(context);
        let at = |file: &str, line: u32| match (line, full) {
            (0, _) => String::new(),
            (_, false) => format!("{}:{line}", file_name(file)),
            (_, true) => format!("{}:{line}", visible(file)),
        };
        let place = match (context.parent, self.site(context)) {
            (None, _) => at(called.file(), called.line()),
            (_, None) => String::new(),
            (_, Some((Site { loc, is_tail }, file))) => {
                let inlined = match loc.line == loc.outer_line || loc.line == 0 {
                    true => String::new(),
                    false => format!(" inlined in line {}", loc.outer_line),
                };
                let tail = if *is_tail { " in tail position" } else { "" };
                format!("{}{inlined}{tail}", at(file, loc.line)).trim_start().to_string()
            }
        };
        (called.readable(), place)
    }

    /// What a context has of a measure.
    pub fn own(context: &Context, measure: Measure) -> u64 {
        match measure {
            Measure::Activations => context.count,
            Measure::Time => context.time,
        }
    }

    /// The same with all that were below it in the tree.
    pub fn within(context: &Context, measure: Measure) -> u64 {
        match measure {
            Measure::Activations => context.within,
            Measure::Time => context.time_within,
        }
    }

    /// What all contexts have of what they are ordered by.
    pub fn all(&self) -> u64 {
        match (self.measure, self.times) {
            (Measure::Time, Some(times)) => times.total,
            _ => self.activations,
        }
    }

    /// What has no context of what they are ordered by.
    pub fn all_elsewhere(&self) -> u64 {
        match (self.measure, self.times) {
            (Measure::Time, Some(times)) => times.elsewhere,
            _ => self.elsewhere,
        }
    }

    /// The contexts of the first `levels`, with their counts and their times; what is deeper counts
    /// for the deepest of these.
    pub fn down_to(&self, levels: u32) -> impl Iterator<Item = (&Context, [u64; 2])> {
        let own = |context: &Context| {
            [Measure::Activations, Measure::Time].map(|measure| Self::own(context, measure))
        };
        let mut sums: Vec<[u64; 2]> = self.contexts.iter().map(own).collect();
        for (index, context) in self.contexts.iter().enumerate().rev() {
            if let Some(parent) = context.parent.filter(|_| context.level >= levels) {
                let [count, time] = sums[index];
                add(&mut sums[parent][0], count);
                add(&mut sums[parent][1], time);
            }
        }
        let all = self.contexts.iter().zip(sums);
        all.filter(move |(context, _)| context.level < levels)
    }

    /// Leaves out what is too cold, or of functions that are not asked for, unless it is above
    /// something else.
    pub fn cut(&mut self, extent: &ContextExtent, is_asked: impl Fn(&Called<'a>) -> bool) {
        let ContextExtent { min_percent, in_any_case, top, .. } = *extent;
        let own = |context: &Context| Self::own(context, self.measure);
        let is_named: Vec<bool> = self.functions.iter().map(is_asked).collect();
        self.elsewhere_of.retain(|&(function, _)| is_named[function]);
        let least = self.all() as f64 * min_percent / 100.0;
        let is_hot = |context: &Context| own(context) as f64 >= least;
        // Below a function stand its callers: these are asked for with it.
        let mut is_asked = vec![false; self.contexts.len()];
        for (index, context) in self.contexts.iter().enumerate() {
            is_asked[index] = match (self.shape, context.parent) {
                (Shape::Callers(_), Some(parent)) => is_asked[parent],
                _ => is_named[context.function],
            };
        }
        let all = self.contexts.iter().enumerate();
        let mut hot: Vec<(usize, &Context)> = all.filter(|(index, _)| is_asked[*index]).collect();
        hot.sort_by_key(|(index, context)| (Reverse(own(context)), *index));
        let number = hot.partition_point(|(_, context)| is_hot(context));
        hot.truncate(number.max(in_any_case).min(top));
        let mut is_shown = vec![false; self.contexts.len()];
        hot.iter().for_each(|(index, _)| is_shown[*index] = true);
        for (index, context) in self.contexts.iter().enumerate().rev() {
            if let Some(parent) = context.parent.filter(|_| is_shown[index]) {
                is_shown[parent] = true;
            }
        }
        self.keep(&is_shown);
    }

    fn keep(&mut self, is_shown: &[bool]) {
        let mut place = vec![0; self.contexts.len()];
        let mut kept = Vec::new();
        for (index, context) in self.contexts.iter().enumerate() {
            if is_shown[index] {
                place[index] = kept.len();
                kept.push(Context {
                    parent: context.parent.map(|parent| place[parent]),
                    ..*context
                });
            } else {
                self.left_out.contexts += 1;
                // With callers, all activations of a function are at its root.
                let is_counted = !matches!(self.shape, Shape::Callers(_)) || context.level == 0;
                if is_counted {
                    add(&mut self.left_out.activations, context.count);
                    self.left_out.time.iter_mut().for_each(|sum| add(sum, context.time));
                }
            }
        }
        self.contexts = kept;
    }

    /// As JSON; the schema is in `docs/command.md`.
    pub fn json(&self) -> impl Serialize + '_ {
        let (mode, shares) = match self.mode {
            ContextMode::All => ("cct", None),
            ContextMode::Hot { phi, epsilon } => ("hcct", Some((phi, epsilon))),
        };
        let row = |(id, context): (usize, &Context)| {
            let called = self.function(context);
            let times = self.times(context);
            Row {
                id,
                parent: context.parent,
                function: called.name().into_owned(),
                file: called.file().to_string(),
                line: called.line(),
                site: self.site_row(context),
                recursive: context.is_recursive,
                count: times.most,
                error: times.most - times.least,
                time: self.times.map(|_| TimeRow {
                    own: context.time,
                    // Callers stand below, whose time that is not.
                    total: match self.shape {
                        Shape::Callers(_) => None,
                        Shape::Tree | Shape::ByFunction => Some(context.time_within),
                    },
                }),
            }
        };
        Json {
            version: 1,
            mode,
            phi: shares.map(|(phi, _)| phi),
            epsilon: shares.map(|(_, epsilon)| epsilon),
            activations: self.activations,
            elsewhere: self.elsewhere,
            elsewhere_of: self
                .elsewhere_of
                .iter()
                .map(|&(function, count)| {
                    let called = &self.functions[function];
                    let (function, file) = (called.name().into_owned(), called.file().to_string());
                    ElsewhereRow { function, file, line: called.line(), count }
                })
                .collect(),
            floor: self.floor,
            bursts: self.bursts.map(|Bursts { interval, length }| BurstsRow { interval, length }),
            time: self.times,
            contexts: Each(move || self.contexts.iter().enumerate().map(row)),
            callers: match self.shape {
                Shape::Callers(k) => Some(k),
                Shape::Tree | Shape::ByFunction => None,
            },
            left_out: self.left_out,
        }
    }
}

#[derive(Serialize)]
struct Json<T> {
    version: u32,
    mode: &'static str,
    phi: Option<f64>,
    epsilon: Option<f64>,
    activations: u64,
    elsewhere: u64,
    elsewhere_of: Vec<ElsewhereRow>,
    floor: u64,
    bursts: Option<BurstsRow>,
    time: Option<Times>,
    contexts: T,
    callers: Option<u32>,
    left_out: LeftOut,
}

/// Activations of a function that have no context.
#[derive(Serialize)]
struct ElsewhereRow {
    function: String,
    file: String,
    line: u32,
    count: u64,
}

#[derive(Serialize)]
struct BurstsRow {
    interval: u64,
    length: u64,
}

#[derive(Serialize)]
struct Row {
    id: usize,
    parent: Option<usize>,
    function: String,
    file: String,
    line: u32,
    site: Option<SiteRow>,
    recursive: bool,
    count: u64,
    error: u64,
    time: Option<TimeRow>,
}

/// Nanoseconds.
#[derive(Serialize)]
struct TimeRow {
    #[serde(rename = "self")]
    own: u64,
    total: Option<u64>,
}

/// A call site.
#[derive(Serialize)]
pub struct SiteRow {
    file: String,
    line: u32,
    outer_line: u32,
    slot: u32,
    tail: bool,
}

/// Activations that are for certain of no context that was kept.
fn unknown(contexts: &Contexts) -> u64 {
    let known: u64 =
        contexts.ids().map(|id| contexts.count(id).saturating_sub(contexts.error(id))).sum();
    contexts.activations.saturating_sub(contexts.elsewhere).saturating_sub(known)
}

/// Contexts without any counts, with the functions of others.
fn empty(contexts: &Contexts) -> Contexts {
    let mut new = Contexts::new(contexts.mode);
    for &function in contexts.functions() {
        new.intern(function);
    }
    new
}

/// No sum of counts is more than all together, and no error more than its count.
const FITS: &str = "the sum of all counts fits";

/// All calls of a function by another in one place.
fn without_sites(contexts: &Contexts) -> Contexts {
    let mut new = empty(contexts);
    let mut places: Vec<ContextId> = Vec::with_capacity(contexts.len());
    for id in contexts.ids() {
        let parent = contexts.parent(id).map(|parent| places[parent.index()]);
        let place = new.child_or_insert(parent, 0, contexts.function_id(id));
        new.add(place, contexts.count(id), contexts.error(id)).expect(FITS);
        new.add_time(place, contexts.time(id));
        places.push(place);
    }
    new
}

/// Each function, below it its last `k` callers.
fn callers(contexts: &Contexts, k: u32) -> Contexts {
    let mut new = empty(contexts);
    for id in contexts.ids().filter(|&id| contexts.count(id) | contexts.time(id) != 0) {
        let mut add = |parent, site, function: CalledId| {
            let place = new.child_or_insert(parent, site, function);
            new.add(place, contexts.count(id), contexts.error(id)).expect(FITS);
            new.add_time(place, contexts.time(id));
            place
        };
        let (mut at, mut place) = (id, add(None, 0, contexts.function_id(id)));
        for _ in 0..k {
            let Some(parent) = contexts.parent(at) else { break };
            place = add(Some(place), contexts.site(at), contexts.function_id(parent));
            at = parent;
        }
    }
    new
}

/// All contexts in preorder, siblings by descending count, or by the time with what is below them,
/// then by name and call site.
fn rows(
    contexts: &Contexts,
    functions: &[Called<'_>],
    measure: Measure,
    are_callers: bool,
) -> Vec<Context> {
    let names: Vec<String> = functions.iter().map(|function| function.readable()).collect();
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|&index| (&names[index], functions[index].module, functions[index].key));
    let mut ranks = vec![0; functions.len()];
    order.into_iter().enumerate().for_each(|(rank, index)| ranks[index] = rank);
    // With callers below, a function's time is at its root already.
    let mut times: Vec<u64> = contexts.ids().map(|id| contexts.time(id)).collect();
    for id in contexts.ids().rev().filter(|_| !are_callers) {
        if let Some(parent) = contexts.parent(id) {
            let time = times[id.index()];
            add(&mut times[parent.index()], time);
        }
    }
    let weight = |id: ContextId| match measure {
        Measure::Activations => contexts.count(id),
        Measure::Time => times[id.index()],
    };
    let children = |parent| {
        let mut ids = contexts.children(parent);
        ids.sort_by_key(|&id| {
            let rank = ranks[contexts.function_id(id).index()];
            (Reverse(weight(id)), rank, contexts.site(id))
        });
        ids
    };
    let mut rows: Vec<Context> = Vec::with_capacity(contexts.len());
    let mut way: Vec<usize> = Vec::new();
    // How often each function is on the way.
    let mut on_way = vec![0u32; functions.len()];
    for (id, level) in contexts.preorder_by(children) {
        for left in way.drain(level as usize..) {
            on_way[rows[left].function] -= 1;
        }
        let parent = way.last().copied();
        let function = contexts.function_id(id).index();
        let is_recursive =
            !are_callers && on_way[function] != 0 && functions[function].folds_recursion();
        on_way[function] += 1;
        way.push(rows.len());
        let (count, error) = (contexts.count(id), contexts.error(id));
        let slot = parent.map(|_| contexts.site(id));
        let (time, time_within) = (contexts.time(id), times[id.index()]);
        let within = count;
        rows.push(Context {
            parent,
            level,
            function,
            slot,
            count,
            error,
            within,
            time,
            time_within,
            is_recursive,
        });
    }
    for index in (0..rows.len()).rev().filter(|_| !are_callers) {
        if let Some(parent) = rows[index].parent {
            rows[parent].within += rows[index].within;
        }
    }
    rows
}
