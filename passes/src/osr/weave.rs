//! Points and continuations of one function, together.
//!
//! The destination of every transition is a clone of the function, so its state map is the identity
//! (thesis 4.1.2). What differs is how many continuations there are and where their own points
//! lead:
//!
//! | form | chain | continuations |
//! |---|---|---|
//! | single | no | one for each point |
//! | single | yes | two for each point, each of which leads to the other's kind, without end |
//! | multi | no | one, entered at any point |
//! | multi | yes | one, entered at any point, also from itself |

use crate::osr::continuation::{Incoming, Landing, SiteAt, build};
use crate::osr::host_exit;
use crate::osr::mutant::Changes;
use crate::osr::options::{Form, OsrOptions};
use crate::osr::prototype::Prototype;
use crate::osr::record::{Record, SiteInfo};
use crate::osr::site::{Inserted, SharedTransition, Site, Target, promote_counters, values_of};
use crate::read_code::CodeSnapshot;
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Module};
use midflight_ir::ids::ValueId;
use midflight_mapping::points::Point;

/// Marks a function that has points, or is a continuation.
pub const MARK: &str = "midflight-osr";

/// More points than this that lead to one continuation share the transition.
pub const MOST_TRANSITIONS: usize = 4;

/// A point that was chosen and is eligible.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its number among the function's points
    pub number: usize,
    /// Its name: that of its marker, or `function#number`
    pub name: String,
}

/// A continuation that is to be made.
struct Plan {
    suffix: String,
    /// Chosen points that it is entered at
    landings: Vec<usize>,
    /// For each chosen point the continuation that it leads to from here, if it is a point here
    leads_to: Vec<Option<usize>>,
    /// Number of the site of its first point
    first_site: usize,
}

/// Inserts the chosen points into a function that was prepared, and makes their continuations.
pub fn weave<'m>(
    module: Module<'m>,
    snapshot: &CodeSnapshot<'m>,
    points: &[Point],
    chosen: &[Chosen],
    options: &OsrOptions,
) -> Vec<Function<'m>> {
    Weave { module, snapshot, points, chosen, options, changes: Changes::default() }.run()
}

struct Weave<'a, 'm> {
    module: Module<'m>,
    snapshot: &'a CodeSnapshot<'m>,
    points: &'a [Point],
    chosen: &'a [Chosen],
    options: &'a OsrOptions,
    /// What a mutant has changed
    changes: Changes,
}

impl<'m> Weave<'_, 'm> {
    fn run(&self) -> Vec<Function<'m>> {
        let base = self.snapshot.function;
        let plans = self.plans();
        let prototypes = self.prototypes(plans.len());
        let shells: Vec<Function<'m>> = plans
            .iter()
            .enumerate()
            .map(|(index, plan)| {
                let ty = prototype_of(&prototypes, index).function_type(base);
                base.declare_continuation(ty, &format!("{}.osr{}", base.name(), plan.suffix))
            })
            .collect();
        if self.preserves_none() {
            shells.iter().for_each(|shell| shell.preserve_none());
        }
        let record = self.record(&plans, &shells);
        for (index, plan) in plans.iter().enumerate() {
            let prototype = prototype_of(&prototypes, index);
            match &self.options.exit {
                Some(callback) => self.build_exit(plan, prototype, shells[index], callback),
                None => self.build(plan, prototype, &shells, index, &record),
            }
            shells[index].mark(MARK);
            if self.options.chain {
                shells[index].forbid_specialization();
            }
        }
        self.insert_base(&plans, &prototypes, &shells, &record);
        base.drop_purity();
        base.mark(MARK);
        if self.options.swap {
            self.changes.emit(self.module);
        }
        shells
    }

    /// True if the continuations preserve no registers: where they move into each other all the
    /// time, and the target has such a convention.
    fn preserves_none(&self) -> bool {
        let target = self.module.target();
        let has = ["x86_64", "amd64", "aarch64"].iter().any(|arch| target.starts_with(arch));
        has && self.options.form == Form::Single && self.options.chain
    }

    /// What the base calls to get to a continuation.
    fn first(&self, continuation: Function<'m>, prototype: &Prototype<'m>) -> Function<'m> {
        if !self.options.chain {
            return continuation;
        }
        enter(self.snapshot.function, continuation, prototype)
    }

    fn plans(&self) -> Vec<Plan> {
        let count = self.chosen.len();
        let all = || (0..count).collect::<Vec<_>>();
        let numbered = |what: &str, p: usize| format!(".{}{what}", self.chosen[p].number);
        let mut plans: Vec<Plan> = Vec::new();
        let mut add =
            |suffix: String, landings: Vec<usize>, to: &dyn Fn(usize) -> Option<usize>| {
                let leads_to =
                    (0..count).map(|p| to(p).filter(|_| self.point(p).further.is_none())).collect();
                let first_site = count * (plans.len() + 1);
                plans.push(Plan { suffix, landings, leads_to, first_site });
            };
        match (self.options.form, self.options.chain) {
            (Form::Single, false) => {
                (0..count).for_each(|p| add(numbered("", p), vec![p], &|_| None));
            }
            (Form::Single, true) => {
                (0..count).for_each(|p| add(numbered("", p), vec![p], &|q| Some(count + q)));
                (0..count).for_each(|p| add(numbered(".back", p), vec![p], &|q| Some(q)));
            }
            (Form::Multi, false) => add(String::new(), all(), &|_| None),
            (Form::Multi, true) => add(String::new(), all(), &|_| Some(0)),
        }
        plans
    }

    /// One prototype, or, where continuations never move into each other, one for each.
    fn prototypes(&self, plans: usize) -> Vec<Prototype<'m>> {
        let lives: Vec<&[ValueId]> =
            (0..self.chosen.len()).map(|p| self.point(p).live.as_slice()).collect();
        let arguments = self.snapshot.arguments.len();
        let type_of = |_, value| self.snapshot.value(value).ty();
        if self.options.form == Form::Single && !self.options.chain {
            let one = |p: usize| Prototype::new(&lives[p..=p], arguments, false, type_of);
            return (0..plans).map(one).collect();
        }
        let has_selector = self.options.form == Form::Multi && lives.len() > 1;
        vec![Prototype::new(&lives, arguments, has_selector, type_of)]
    }

    fn point(&self, chosen: usize) -> &Point {
        &self.points[self.chosen[chosen].number]
    }

    fn record(&self, plans: &[Plan], shells: &[Function<'m>]) -> Record<'m> {
        let base = self.snapshot.function.name();
        let names: Vec<String> = shells.iter().map(|s| s.name()).collect();
        let condition = self.options.condition.on_target(&self.module.target());
        let info = |p: usize, from: &str, to: usize| SiteInfo {
            point: p as u32,
            name: self.chosen[p].name.clone(),
            from: from.to_string(),
            to: self.options.exit.clone().unwrap_or_else(|| names[to].clone()),
            line: debug::location(self.snapshot.instructions[self.point(p).at])
                .map_or(0, |l| l.inner.line),
            condition,
        };
        let count = self.chosen.len();
        let mut sites: Vec<SiteInfo> =
            (0..count).map(|p| info(p, &base, self.first_target(p))).collect();
        if self.options.chain {
            for (index, plan) in plans.iter().enumerate() {
                // A place for each point, so that numbers are simple; not all of them are sites.
                sites.extend(
                    (0..count)
                        .map(|p| info(p, &names[index], plan.leads_to[p].unwrap_or_default())),
                );
            }
        }
        Record::emit(self.module, &base, &self.module.source_file(), count, &sites, None)
    }

    /// The continuation that a point of the base leads to.
    fn first_target(&self, chosen: usize) -> usize {
        match self.options.form {
            Form::Single => chosen,
            Form::Multi => 0,
        }
    }

    fn build(
        &self,
        plan: &Plan,
        prototype: &Prototype<'m>,
        shells: &[Function<'m>],
        index: usize,
        record: &Record<'m>,
    ) {
        let base = self.snapshot.function;
        let version = self.snapshot.of_copy(base.clone_as(&format!("{}.version", base.name())));
        let transfers = |p: usize| &prototype.transfers[self.place_in(prototype, p)];
        let landings: Vec<Landing> = plan
            .landings
            .iter()
            .map(|&p| {
                let mut incoming: Vec<_> = transfers(p)
                    .iter()
                    .map(|&(value, slot)| (value, Incoming::Slot(slot)))
                    .collect();
                if self.options.swap {
                    self.changes.add(usize::from(swap_two(&mut incoming, prototype)));
                }
                Landing { at: self.point(p).at, incoming, prologue: None }
            })
            .collect();
        let values: Vec<_> = (0..self.chosen.len())
            .map(|p| match plan.leads_to[p] {
                Some(_) => values_of(transfers(p), |value| version.value(value)),
                None => Vec::new(),
            })
            .collect();
        let sites: Vec<SiteAt> = (0..self.chosen.len())
            .filter_map(|p| {
                let to = plan.leads_to[p]?;
                let target = self.target(prototype, shells[to], p, Tail::Must);
                let number = plan.first_site + p;
                let site =
                    self.site(shells[index], &version, p, &values[p], target, record, number);
                Some(SiteAt { at: self.point(p).at, site })
            })
            .collect();
        let share = self.shares().then_some((shells[0], Tail::Must));
        build(shells[index], &version, prototype, &landings, &sites, share);
    }

    fn insert_base(
        &self,
        plans: &[Plan],
        prototypes: &[Prototype<'m>],
        shells: &[Function<'m>],
        record: &Record<'m>,
    ) {
        let base = self.snapshot.function;
        let tail = match tail_of_first(self.snapshot) {
            Tail::May if plans.is_empty() => Tail::No,
            tail => tail,
        };
        let targets = match self.options.form {
            Form::Single => self.chosen.len(),
            Form::Multi => self.chosen.len().min(1),
        };
        let firsts: Vec<_> =
            (0..targets).map(|to| self.first(shells[to], prototype_of(prototypes, to))).collect();
        let shared = self
            .shares()
            .then(|| SharedTransition::new(base, firsts[0], prototype_of(prototypes, 0), tail));
        let inserted: Vec<Inserted> = (0..self.chosen.len())
            .map(|p| {
                let to = self.first_target(p);
                let prototype = prototype_of(prototypes, to);
                let transfers = &prototype.transfers[self.place_in(prototype, p)];
                let values = values_of(transfers, |value| self.snapshot.value(value));
                let target = self.target(prototype, firsts[to], p, tail);
                let site = self.site(base, self.snapshot, p, &values, target, record, p);
                Site { shared: shared.as_ref(), ..site }.insert()
            })
            .collect();
        promote_counters(base, &inserted);
    }

    /// True if all points lead to one continuation and are so many that they share the transition.
    fn shares(&self) -> bool {
        self.options.form == Form::Multi && self.chosen.len() > MOST_TRANSITIONS
    }

    /// Where a chosen point's transfers are in a prototype.
    fn place_in(&self, prototype: &Prototype<'m>, chosen: usize) -> usize {
        if prototype.transfers.len() == self.chosen.len() { chosen } else { 0 }
    }

    fn target<'p>(
        &self,
        prototype: &'p Prototype<'m>,
        continuation: Function<'m>,
        chosen: usize,
        tail: Tail,
    ) -> Target<'p, 'm> {
        Target { continuation, prototype, selector: chosen as u32, tail }
    }

    #[allow(clippy::too_many_arguments)]
    fn site<'p>(
        &self,
        function: Function<'m>,
        version: &CodeSnapshot<'m>,
        chosen: usize,
        values: &'p [(midflight_bridge::ir::Value<'m>, usize)],
        target: Target<'p, 'm>,
        record: &'p Record<'m>,
        number: usize,
    ) -> Site<'p, 'm> {
        Site {
            function,
            at: version.instructions[self.point(chosen).at],
            condition: self.options.condition.on_target(&self.module.target()),
            values,
            target,
            shared: None,
            record: Some(record),
            number,
            point: chosen,
        }
    }

    fn build_exit(
        &self,
        plan: &Plan,
        prototype: &Prototype<'m>,
        shell: Function<'m>,
        callback: &str,
    ) {
        for &p in &plan.landings {
            let transfers = &prototype.transfers[self.place_in(prototype, p)];
            host_exit::build(shell, self.snapshot, transfers, &self.chosen[p].name, callback);
        }
    }
}

/// The prototype of a continuation: one of its own, or the one that all share.
fn prototype_of<'a, 'm>(prototypes: &'a [Prototype<'m>], plan: usize) -> &'a Prototype<'m> {
    match prototypes {
        [shared] => shared,
        each => &each[plan],
    }
}

/// A function that base calls to get to a continuation that others move into. One that preserves no
/// registers would cost the base all of them in every activation, and one that must not be
/// duplicated would keep it from being inlined; so there is this one between.
pub fn enter<'m>(
    base: Function<'m>,
    continuation: Function<'m>,
    prototype: &Prototype<'m>,
) -> Function<'m> {
    let ty = prototype.function_type(base);
    let enter = base.declare_continuation(ty, &format!("{}.enter", continuation.name()));
    let builder = Builder::new(base.module(), enter);
    builder.at_end(enter.add_block("entry"));
    let arguments: Vec<_> = enter.arguments().collect();
    builder.ret(builder.call_function(continuation, &arguments, Tail::No));
    enter.mark(MARK);
    enter
}

/// The base's frame may go where nothing of it can be used any more: it has no allocas and no
/// parameters in memory. That of a variadic function has the registers that `va_start` has saved,
/// which LLVM's tail call elimination does not regard.
pub fn tail_of_first(snapshot: &CodeSnapshot<'_>) -> Tail {
    let allocas = snapshot
        .body
        .code
        .instructions
        .iter()
        .any(|i| i.facts.is_static_alloca() || i.facts.is_dynamic_alloca());
    let facts = snapshot.function.facts();
    if facts.is_variadic() {
        Tail::Never
    } else if allocas || facts.has_by_value() {
        Tail::No
    } else {
        Tail::May
    }
}

/// The mutant that tests must catch: two values of one type come in exchanged. True if there are
/// two.
fn swap_two(incoming: &mut [(ValueId, Incoming<'_, '_>)], prototype: &Prototype<'_>) -> bool {
    for a in 0..incoming.len() {
        for b in a + 1..incoming.len() {
            if let (Incoming::Slot(first), Incoming::Slot(second)) =
                (&incoming[a].1, &incoming[b].1)
                && prototype.slots[*first] == prototype.slots[*second]
            {
                let (first, second) = (*first, *second);
                incoming[a].1 = Incoming::Slot(second);
                incoming[b].1 = Incoming::Slot(first);
                return true;
            }
        }
    }
    false
}
