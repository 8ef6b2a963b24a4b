//! The weaver: points, and the continuations that they lead to, of one function.
//!
//! What is to be woven is data, a [`Plan`]: departures, with the mapping of each; continuations,
//! which are entered where departures land; and sites, the departures of each function. Plans are
//! made for the forms of `osr-point` ([`super::forms`]), for two versions
//! ([`super::map::multi_version`]), and for a state map ([`super::insert`]).

use crate::osr::came::Came;
use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::continuation::{Landing, SiteAt, build};
use crate::osr::host_exit::{self, Handover};
use crate::osr::open::fire::Asked;
use crate::osr::open::guard::Guard;
use crate::osr::open::key::Profiled;
use crate::osr::prototype::{Prototype, Transfer};
use crate::osr::record::{Record, SiteInfo};
use crate::osr::site::{Destination, Inserted, SharedTransition, Site, Target, promote_variables};
use crate::read_code::CodeSnapshot;
use midflight_abi::osr::OSR_MAPS_SECTION;
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Inst};
use midflight_bridge::operations::erase_dead;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::reconstruct::PointMap;
use std::borrow::Cow;

/// Marks a function that has points, or is a continuation.
pub const MARK: &str = "midflight-osr";

/// More points than this that lead to one continuation share the transition.
const MOST_TRANSITIONS: usize = 4;

/// A point of a version that leads somewhere.
pub struct Departure<'a, 'm> {
    /// The version that it is in
    pub version: &'a CodeSnapshot<'m>,
    /// It is before this instruction of the version.
    pub at: InstId,
    /// Its name, by which it is armed
    pub name: String,
    /// When it fires
    pub condition: Condition,
    /// What it checks, under [`Condition::Guard`]
    pub guard: Option<Guard<'m>>,
    /// How control must have come there
    pub way: Option<&'a Way>,
    /// Where it lands, what travels, and how the state there is reconstructed
    pub map: Cow<'a, PointMap>,
}

/// The body of a continuation.
pub enum Body<'a, 'm> {
    /// A copy of a version's
    CopyOf(&'a CodeSnapshot<'m>),
    /// A version's own, which is used up
    Of(&'a CodeSnapshot<'m>),
    /// None: it hands its values to a callback of the host.
    Host(Handover<'a, 'm>),
    /// None that is known yet: a version is asked for when a departure fires.
    Open(Asked<'m>),
}

/// A function that departures lead to.
pub struct Continuation<'a, 'm> {
    /// Its name
    pub name: String,
    /// The code that it goes on with
    pub body: Body<'a, 'm>,
    /// The departures that lead to it, sorted; each has a landing of its own
    pub entries: Vec<usize>,
    /// What of the body never runs
    pub dead: Dead,
}

/// Code of a version that never runs in its continuation. It is removed: it would need values that
/// are not reconstructed.
#[derive(Clone, Default)]
pub struct Dead {
    /// Blocks
    pub blocks: Vec<BlockId>,
    /// Edges between other blocks
    pub edges: Vec<(BlockId, BlockId)>,
    /// Instructions in other blocks, sorted
    pub instructions: Vec<InstId>,
}

/// A departure of a function.
pub struct PlannedSite {
    /// Which
    pub departure: usize,
    /// The continuation that it is in; none if it is in base
    pub from: Option<usize>,
    /// The continuation that it leads to
    pub to: usize,
    /// False if it has just its place in the record, so that numbers are simple.
    pub is_inserted: bool,
    /// How it fires
    pub kind: SiteKind,
}

/// What is special about a departure of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// Nothing
    Plain,
    /// The frame of the continuation that it is in must stay: it has made an alloca, or the result
    /// goes through memory.
    KeepsFrame,
    /// It always fires: the continuation ends there. Its frame stays.
    Cut,
}

/// How values travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Each continuation has a prototype of its own, for its single landing.
    Alone,
    /// All have one, so that they can move into each other.
    Together {
        /// The first parameter says which landing is meant.
        has_selector: bool,
    },
}

/// What is woven.
pub struct Plan<'a, 'm> {
    /// All points that lead somewhere
    pub departures: Vec<Departure<'a, 'm>>,
    /// What they lead to
    pub continuations: Vec<Continuation<'a, 'm>>,
    /// The record's sites; the first ones are base's
    pub sites: Vec<PlannedSite>,
    /// Prototypes
    pub passing: Passing,
    /// Continuations move into each other, without end.
    pub chain: bool,
    /// They do so all the time: they preserve no registers.
    pub preserves_none: bool,
    /// What mappings refer to
    pub material: Material<'a, 'm>,
    /// The record of the mappings for the binary, if it is to have one
    pub description: Option<Vec<u8>>,
}

impl<'a, 'm> Plan<'a, 'm> {
    /// A plan with one departure, from base to a continuation with this name and body.
    pub fn resolved(name: String, body: Body<'a, 'm>, departure: Departure<'a, 'm>) -> Self {
        let dead = Dead::default();
        Plan {
            departures: vec![departure],
            continuations: vec![Continuation { name, body, entries: vec![0], dead }],
            sites: vec![PlannedSite {
                departure: 0,
                from: None,
                to: 0,
                is_inserted: true,
                kind: SiteKind::Plain,
            }],
            passing: Passing::Alone,
            chain: false,
            preserves_none: false,
            material: Material::NONE,
            description: None,
        }
    }
}

/// A plan for a function, with its continuations declared.
pub struct Weaver<'a, 'm> {
    /// The function that it is for
    base: Function<'m>,
    plan: &'a Plan<'a, 'm>,
    prototypes: Vec<Prototype<'m>>,
    /// The continuations; none for those that are open
    shells: Vec<Option<Function<'m>>>,
}

/// Inserts the planned points into a function that was prepared, and makes their continuations,
/// which are returned, with what leads into chains.
pub fn weave<'m>(snapshot: &CodeSnapshot<'m>, plan: &Plan<'_, 'm>) -> Vec<Function<'m>> {
    let weaver = Weaver::declare(snapshot.function, plan);
    let record = weaver.record();
    weaver.build(Some(&record));
    let (mut made, _) = weaver.insert(snapshot, Some(&record));
    made.extend(weaver.shells.into_iter().flatten());
    made
}

impl<'a, 'm> Weaver<'a, 'm> {
    /// Declares the continuations of a plan.
    pub fn declare(base: Function<'m>, plan: &'a Plan<'a, 'm>) -> Self {
        let prototype = |of: &mut dyn Iterator<Item = usize>, has_selector: bool| {
            let of: Vec<&Departure<'_, 'm>> = of.map(|d| &plan.departures[d]).collect();
            let lists: Vec<&[ValueId]> = of.iter().map(|d| d.map.sources.as_slice()).collect();
            let arguments = base.arguments().count();
            let type_of = |index: usize, value| of[index].version.value(value).ty();
            Prototype::new(&lists, arguments, has_selector, type_of)
        };
        let prototypes: Vec<_> = match plan.passing {
            Passing::Alone => plan
                .continuations
                .iter()
                .map(|c| prototype(&mut c.entries.iter().copied(), false))
                .collect(),
            Passing::Together { has_selector } => {
                vec![prototype(&mut (0..plan.departures.len()), has_selector)]
            }
        };
        let mut weaver = Weaver { base, plan, prototypes, shells: Vec::new() };
        for (index, continuation) in plan.continuations.iter().enumerate() {
            if let Body::Open(_) = continuation.body {
                weaver.shells.push(None);
                continue;
            }
            let ty = weaver.prototype(index).function_type(base);
            let shell = base.declare_continuation(ty, &continuation.name);
            if plan.preserves_none {
                shell.preserve_none();
            }
            weaver.shells.push(Some(shell));
        }
        weaver
    }

    /// A continuation that is not open.
    pub fn continuation(&self, index: usize) -> Function<'m> {
        self.shells[index].expect("the continuation is not open")
    }

    /// Emits the record of the sites.
    pub fn record(&self) -> Record<'m> {
        let module = self.base.module();
        let base = self.base.name();
        let declared = |(shell, planned): (&Option<Function<'m>>, &Continuation<'_, 'm>)| {
            shell.map_or_else(|| planned.name.clone(), |shell| shell.name())
        };
        let names: Vec<String> =
            self.shells.iter().zip(&self.plan.continuations).map(declared).collect();
        let info = |site: &PlannedSite| {
            let departure = &self.plan.departures[site.departure];
            let at = departure.version.instructions[departure.at];
            SiteInfo {
                point: site.departure as u32,
                name: departure.name.clone(),
                from: site.from.map_or_else(|| base.clone(), |from| names[from].clone()),
                to: match self.plan.continuations[site.to].body {
                    Body::Host(handover) => handover.callback.to_string(),
                    _ => names[site.to].clone(),
                },
                line: debug::location(at).map_or(0, |l| l.inner.line),
                condition: match site.kind {
                    SiteKind::Cut => Condition::Always,
                    _ => departure.condition.on_target(&module.target()),
                },
            }
        };
        let sites: Vec<SiteInfo> = self.plan.sites.iter().map(info).collect();
        let description = self.plan.description.as_ref().map(|bytes| {
            module.section_bytes("midflight.osr.maps", OSR_MAPS_SECTION, bytes, false)
        });
        let points = self.plan.departures.len();
        Record::emit(module, &base, &module.source_file(), points, &sites, description)
    }

    /// Makes the continuations, the last one first: what passes found out about a version's result
    /// is a result attribute of its continuation then, which calls in the others take over. Without
    /// a record they have no sites.
    pub fn build(&self, record: Option<&Record<'m>>) {
        for (index, continuation) in self.plan.continuations.iter().enumerate().rev() {
            let Some(shell) = self.shells[index] else { continue };
            match continuation.body {
                Body::Of(version) => self.continue_with(index, version, record),
                Body::CopyOf(version) => {
                    let function = version.function;
                    let copy = function.clone_as(&format!("{}.version", function.name()));
                    self.continue_with(index, &version.of_copy(copy), record);
                }
                Body::Host(handover) => {
                    for &departure in &continuation.entries {
                        let transfers = self.transfers(index, departure);
                        let Departure { version, name, .. } = &self.plan.departures[departure];
                        host_exit::build(shell, version, transfers, name, handover);
                    }
                }
                Body::Open(_) => unreachable!("an open continuation is not declared"),
            }
            shell.mark(MARK);
            if self.plan.chain {
                shell.forbid_specialization();
            }
        }
    }

    fn continue_with(&self, index: usize, version: &CodeSnapshot<'m>, record: Option<&Record<'m>>) {
        let Continuation { entries, dead, .. } = &self.plan.continuations[index];
        let landings = entries.iter().map(|&departure| Landing {
            map: &self.plan.departures[departure].map,
            transfers: self.transfers(index, departure),
        });
        erase(dead, version);
        let target = |to: usize| Target {
            to: self.destination(to, self.shells[to]),
            prototype: self.prototype(to),
            tail: Tail::Must,
        };
        let sites = self.sites_in(Some(index), version, record, &target);
        let share = self.shared(Some(index)).map(target);
        let landings: Vec<_> = landings.collect();
        let material = &self.plan.material;
        build(
            self.continuation(index),
            version,
            &dead.instructions,
            self.prototype(index),
            &landings,
            material,
            &sites,
            share,
        );
    }

    /// Inserts the points of base into it or into a copy, which was prepared, and whose snapshot
    /// has the numbers of the plan's. Returns what leads into chains, and the points.
    pub fn insert(
        &self,
        snapshot: &CodeSnapshot<'m>,
        record: Option<&Record<'m>>,
    ) -> (Vec<Function<'m>>, Vec<Inserted<'m>>) {
        let base = snapshot.function;
        let mut firsts = vec![None; self.shells.len()];
        let mut made = Vec::new();
        for site in self.plan.sites.iter().filter(|site| site.from.is_none()) {
            let Some(shell) = self.shells[site.to] else { continue };
            firsts[site.to].get_or_insert_with(|| {
                if !self.plan.chain {
                    return shell;
                }
                made.push(enter(base, shell, self.prototype(site.to)));
                made[made.len() - 1]
            });
        }
        let tail = tail_of_first(snapshot);
        let target = |to: usize| Target {
            to: self.destination(to, firsts[to]),
            prototype: self.prototype(to),
            tail,
        };
        let sites = self.sites_in(None, snapshot, record, &target);
        let shared = self.shared(None).map(|to| SharedTransition::new(base, target(to)));
        let came = Came::keep(base, snapshot, sites.iter().filter_map(|site| site.way));
        let inserted: Vec<Inserted<'m>> =
            sites.iter().map(|site| site.insert(shared.as_ref(), &came)).collect();
        came.note(base);
        promote_variables(base, &inserted, came.variables());
        base.drop_purity();
        base.mark(MARK);
        (made, inserted)
    }

    /// The sites of base, or of a continuation with the body of this version.
    fn sites_in<'s>(
        &'s self,
        function: Option<usize>,
        version: &CodeSnapshot<'m>,
        record: Option<&'s Record<'m>>,
        target: &dyn Fn(usize) -> Target<'s, 'm>,
    ) -> Vec<SiteAt<'s, 'm>> {
        let triple = self.base.module().target();
        let site = |(number, site): (usize, &PlannedSite)| {
            let PlannedSite { departure, to, kind, .. } = *site;
            let Departure { at, condition, guard, way, ref map, .. } =
                self.plan.departures[departure];
            let ahead = map.ahead.iter().flat_map(|ahead| &ahead.runs);
            let transfers = self.transfers(to, departure).iter();
            let landing = self.plan.continuations[to].entries.binary_search(&departure);
            let landing = landing.expect("a departure has a landing where it leads to");
            let mut target = target(to);
            if kind != SiteKind::Plain && target.tail == Tail::Must {
                target.tail = Tail::No;
            }
            let site = Site {
                function: function.map_or(version.function, |index| self.continuation(index)),
                at: version.instructions[at],
                condition: match kind {
                    SiteKind::Cut => Condition::Always,
                    _ => condition.on_target(&triple),
                },
                guard: guard.map(|guard| guard.of(version)),
                ahead: ahead.map(|&inst| version.instructions[inst]).collect(),
                values: transfers.map(|&(id, slot)| (version.value(id), slot)).collect(),
                profiled: match self.plan.continuations[to].body {
                    Body::Open(asked) => asked.key.of(version),
                    _ => Profiled::None,
                },
                target,
                selector: landing as u32,
                // It is no transition that anyone has asked for: nothing is counted.
                record: record.filter(|_| kind != SiteKind::Cut),
                number,
                armed: self.first_way(number),
                point: departure,
            };
            SiteAt { at, way, site }
        };
        let of_function = |(_, site): &(usize, &PlannedSite)| site.from == function;
        let sites = self.plan.sites.iter().enumerate().filter(of_function);
        sites.filter(|(_, site)| site.is_inserted).map(site).collect()
    }

    /// The first site of the ways to the point that a site is at, which follow each other.
    fn first_way(&self, number: usize) -> usize {
        let key = |n: &usize| {
            let site = &self.plan.sites[*n];
            let Departure { at, way, .. } = self.plan.departures[site.departure];
            (site.from, at, way.is_some())
        };
        let is_way = key(&number).2;
        let before = (0..number).rev().take_while(|n| is_way && key(n) == key(&number));
        before.last().unwrap_or(number)
    }

    /// The continuation that all sites of a function lead to, if they are so many that they share
    /// the transition.
    fn shared(&self, function: Option<usize>) -> Option<usize> {
        let sites = self.plan.sites.iter().filter(|s| s.is_inserted && s.from == function);
        let targets: Vec<usize> = sites.map(|site| site.to).collect();
        let to = *targets.first()?;
        (targets.len() > MOST_TRANSITIONS && targets.iter().all(|&t| t == to)).then_some(to)
    }

    /// Where sites lead whose continuation is declared as `shell`, unless it is open.
    fn destination(&self, continuation: usize, shell: Option<Function<'m>>) -> Destination<'m> {
        match self.plan.continuations[continuation].body {
            Body::Open(asked) => Destination::Open(asked),
            _ => Destination::Continuation(shell.expect("it is declared")),
        }
    }

    /// The prototype of a continuation.
    pub fn prototype(&self, continuation: usize) -> &Prototype<'m> {
        match self.plan.passing {
            Passing::Alone => &self.prototypes[continuation],
            Passing::Together { .. } => &self.prototypes[0],
        }
    }

    /// How the values of a departure travel to a continuation.
    pub fn transfers(&self, continuation: usize, departure: usize) -> &[Transfer] {
        match self.plan.passing {
            Passing::Alone => &self.prototypes[continuation].transfers[0],
            Passing::Together { .. } => &self.prototypes[0].transfers[departure],
        }
    }
}

/// Removes what never runs. Phis lose what they take from edges that control never takes.
fn erase<'m>(dead: &Dead, version: &CodeSnapshot<'m>) {
    for &block in &dead.blocks {
        version.blocks[block].make_unreachable();
    }
    for &(from, to) in &dead.edges {
        version.blocks[to].poison_incoming(version.blocks[from]);
    }
    let instructions: Vec<Inst<'m>> =
        dead.instructions.iter().map(|&inst| version.instructions[inst]).collect();
    erase_dead(&instructions);
}

/// A function that base calls to get to a continuation that others move into. One that preserves no
/// registers would cost the base all of them in every activation, and one that must not be
/// duplicated would keep it from being inlined; so there is this one between.
fn enter<'m>(
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
pub(super) fn tail_of_first(snapshot: &CodeSnapshot<'_>) -> Tail {
    let mut instructions = snapshot.body.code.instructions.iter();
    let allocas = instructions.any(|i| i.facts.is_static_alloca() || i.facts.is_dynamic_alloca());
    let facts = snapshot.function.facts();
    if facts.is_variadic() {
        Tail::Never
    } else if allocas || facts.has_by_value() {
        Tail::No
    } else {
        Tail::May
    }
}
