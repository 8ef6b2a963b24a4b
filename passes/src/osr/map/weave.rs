//! A multi-version program (thesis 4.2.4): points in base and in both continuations.
//!
//! ```text
//! base ──► opt.osr ◄──► base.osr
//! ```
//!
//! The first transition of an activation is a call; from then on the continuations move into each
//! other by tail calls of one prototype, so that the stack stays as it is. Each continuation is
//! entered at as many landings as the other version has points that lead there; the compensation
//! code is at its entries.

use crate::osr::condition::Condition;
use crate::osr::continuation::{Effect, Incoming, Landing, SiteAt, build};
use crate::osr::map::mutant::Mutant;
use crate::osr::mutant::Changes;
use crate::osr::prototype::{Prototype, Transfer};
use crate::osr::record::{Record, SiteInfo};
use crate::osr::site::{SharedTransition, Site, Target, promote_counters, values_of};
use crate::osr::weave::{MARK, MOST_TRANSITIONS, enter, tail_of_first};
use crate::read_code::CodeSnapshot;
use midflight_abi::osr::OSR_MAPS_SECTION;
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Inst, Module, Value};
use midflight_bridge::operations::erase_dead;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::mapping::mapper::OsrMap;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::points::Boundary;
use midflight_mapping::versions::version::{PerVersion, Version};
use std::cell::RefCell;
use typed_index_collections::TiSlice;

/// What is woven together.
pub struct Weave<'a, 'm> {
    /// The module
    pub module: Module<'m>,
    /// Base and opt
    pub snapshots: &'a PerVersion<CodeSnapshot<'m>>,
    /// Their points
    pub points: PerVersion<&'a [Boundary]>,
    /// The mappings both ways
    pub maps: &'a PerVersion<OsrMap>,
    /// The LLVM side of constants
    pub constant: &'a dyn Fn(u32) -> Value<'m>,
    /// For each version the instructions that are not dead code
    pub useful: PerVersion<&'a TiSlice<InstId, bool>>,
    /// For each version the blocks that are never reached
    pub unreached: PerVersion<Vec<BlockId>>,
    /// For each version the edges between other blocks that are never taken
    pub untaken: PerVersion<Vec<(BlockId, BlockId)>>,
    /// When points of each version fire
    pub conditions: PerVersion<Condition>,
    /// For each version and point whether it is one of the version's continuation too
    pub further: PerVersion<Vec<bool>>,
    /// The record of the mappings for the binary, if it is to have one
    pub description: Option<Vec<u8>>,
    /// The wrong thing to do, for tests
    pub mutant: Option<Mutant>,
    /// What it has changed
    pub changes: Changes,
}

/// A point that leads somewhere.
struct Chosen<'a> {
    version: Version,
    point: usize,
    map: &'a PointMap,
    /// Which landing of the other version's continuation it leads to
    landing: usize,
}

impl<'m> Weave<'_, 'm> {
    /// Weaves them together; returns the continuations. `opt` is used up.
    pub fn run(&self) -> Vec<Function<'m>> {
        let chosen = self.chosen();
        if chosen.iter().all(|c| c.version != Version::Base) {
            self.snapshots.opt.function.erase();
            return Vec::new();
        }
        let base = self.snapshots.base.function;
        let prototype = self.prototype(&chosen);
        let ty = prototype.function_type(base);
        let name = base.name();
        let declare = |suffix: &str| base.declare_continuation(ty, &format!("{name}{suffix}"));
        // In the order of what they continue.
        let shells = PerVersion { base: declare(".base.osr"), opt: declare(".opt.osr") };
        let record = self.record(&chosen, &shells);
        let copy = self.snapshots.base.of_copy(base.clone_as(&format!("{name}.version")));
        for (which, version) in [(Version::Opt, &self.snapshots.opt), (Version::Base, &copy)] {
            self.build(which, version, &shells, &prototype, &chosen, &record);
            shells[which].mark(MARK);
            shells[which].forbid_specialization();
        }
        let enter = enter(base, shells.opt, &prototype);
        self.insert_base(&chosen, enter, &prototype, &record);
        base.drop_purity();
        base.mark(MARK);
        if self.mutant.is_some() {
            self.changes.emit(self.module);
        }
        let mut made = vec![enter];
        made.extend(shells.iter());
        made
    }

    /// The points of both mappings, base's first.
    fn chosen(&self) -> Vec<Chosen<'_>> {
        let mut chosen = Vec::new();
        for version in Version::BOTH {
            let mapped = self.maps[version].points.iter().enumerate();
            let mapped = mapped.filter_map(|(point, map)| Some((point, map.as_ref().ok()?)));
            for (landing, (point, map)) in mapped.enumerate() {
                chosen.push(Chosen { version, point, map, landing });
            }
        }
        chosen
    }

    fn prototype(&self, chosen: &[Chosen<'_>]) -> Prototype<'m> {
        let lists: Vec<&[ValueId]> = chosen.iter().map(|c| c.map.sources.as_slice()).collect();
        let arguments = self.snapshots.base.arguments.len();
        Prototype::new(&lists, arguments, true, |index, value| {
            self.snapshots[chosen[index].version].value(value).ty()
        })
    }

    fn record(&self, chosen: &[Chosen<'_>], shells: &PerVersion<Function<'m>>) -> Record<'m> {
        let base = self.snapshots.base.function.name();
        let info = |index: usize, from: &str| {
            let Chosen { version, point, .. } = chosen[index];
            let at = self.snapshots[version].instructions[self.points[version][point].at];
            let opt = if version == Version::Opt { ".opt" } else { "" };
            SiteInfo {
                point: index as u32,
                name: format!("{base}{opt}#{point}"),
                from: from.to_string(),
                to: shells[version.other()].name(),
                line: debug::location(at).map_or(0, |l| l.inner.line),
                condition: self.conditions[version].on_target(&self.module.target()),
            }
        };
        let of_point = |index: usize| match chosen[index].version {
            Version::Base => info(index, &base),
            Version::Opt => info(index, &shells.opt.name()),
        };
        let first: Vec<SiteInfo> = (0..chosen.len()).map(of_point).collect();
        let again = (0..chosen.len()).filter(|&i| chosen[i].version == Version::Base);
        let again = again.map(|i| info(i, &shells.base.name()));
        let sites: Vec<SiteInfo> = first.into_iter().chain(again).collect();
        let description = self.description.as_ref().map(|bytes| {
            self.module.section_bytes("midflight.osr.maps", OSR_MAPS_SECTION, bytes, false)
        });
        let file = self.module.source_file();
        Record::emit(self.module, &base, &file, chosen.len(), &sites, description)
    }

    /// The continuation of a version: entered where the other version's points lead.
    fn build(
        &self,
        which: Version,
        version: &CodeSnapshot<'m>,
        shells: &PerVersion<Function<'m>>,
        prototype: &Prototype<'m>,
        chosen: &[Chosen<'_>],
        record: &Record<'m>,
    ) {
        let computed: Vec<RefCell<Vec<Value<'m>>>> =
            chosen.iter().map(|_| RefCell::default()).collect();
        let entering = (0..chosen.len()).filter(|&i| chosen[i].version != which);
        type Code<'b, 'm> = Box<dyn Fn(&Builder<'m>, &[Value<'m>]) + 'b>;
        type Have<'b, 'm> = Box<dyn Fn(&Builder<'m>, &[Value<'m>]) -> Value<'m> + 'b>;
        type Entry<'b, 'm> = (usize, Code<'b, 'm>, Vec<(ValueId, Have<'b, 'm>)>);
        let codes: Vec<Entry<'_, 'm>> = entering
            .map(|i| {
                let map = chosen[i].map;
                let slots = &prototype.transfers[i];
                let cell = &computed[i];
                let code: Code<'_, 'm> = Box::new(move |builder, of| {
                    *cell.borrow_mut() = self.compensate(builder, version, map, slots, of);
                });
                let have = map.values.iter().map(|&(value, expr)| {
                    let have: Have<'_, 'm> = Box::new(move |_, _| cell.borrow()[expr]);
                    (value, have)
                });
                (i, code, have.collect())
            })
            .collect();
        let landings: Vec<Landing<'_, 'm>> = codes
            .iter()
            .map(|(i, code, values)| {
                let effect: Effect<'_, 'm> = code.as_ref();
                let incoming = values.iter().map(|(value, have)| {
                    let have: &dyn Fn(&Builder<'m>, &[Value<'m>]) -> Value<'m> = have.as_ref();
                    (*value, Incoming::Computed(have))
                });
                Landing {
                    at: self.landing(which, chosen[*i].map),
                    incoming: incoming.collect(),
                    prologue: Some(effect),
                }
            })
            .collect();
        self.erase_dead(which, version);
        let values: Vec<Vec<(Value<'m>, usize)>> = (0..chosen.len())
            .map(|i| match chosen[i].version == which {
                true => values_of(&prototype.transfers[i], |value| version.value(value)),
                false => Vec::new(),
            })
            .collect();
        let takes_part =
            |&i: &usize| chosen[i].version == which && self.further[which][chosen[i].point];
        let sites: Vec<SiteAt<'_, 'm>> = (0..chosen.len())
            .filter(takes_part)
            .map(|i| {
                let number = if which == Version::Base { chosen.len() + i } else { i };
                let target = Target {
                    continuation: shells[which.other()],
                    prototype,
                    selector: chosen[i].landing as u32,
                    tail: Tail::Must,
                };
                let site = self.site(
                    shells[which],
                    version,
                    &chosen[i],
                    &values[i],
                    target,
                    record,
                    (number, i),
                );
                SiteAt { at: self.points[which][chosen[i].point].at, site }
            })
            .collect();
        let share = (sites.len() > MOST_TRANSITIONS).then_some((shells[which.other()], Tail::Must));
        build(shells[which], version, prototype, &landings, &sites, share);
    }

    /// The values of a landing's expressions.
    fn compensate(
        &self,
        builder: &Builder<'m>,
        version: &CodeSnapshot<'m>,
        map: &PointMap,
        transfers: &[Transfer],
        slots: &[Value<'m>],
    ) -> Vec<Value<'m>> {
        let mut values: Vec<Value<'m>> = Vec::with_capacity(map.exprs.len());
        for expr in &map.exprs {
            values.push(match expr {
                Expr::Constant(constant) => (self.constant)(*constant),
                Expr::Source(source) => {
                    let transfer = transfers.iter().find(|(value, _)| value == source);
                    let &(_, slot) = transfer.expect("a point passes what its mapping uses");
                    let value = slots[slot];
                    let is_lost = self.mutant == Some(Mutant::Keep) && map.keep.contains(source);
                    self.changes.add(usize::from(is_lost));
                    if is_lost { value.ty().null() } else { value }
                }
                Expr::Repeat(inst, of) => {
                    let operands: Vec<Value<'m>> = of.iter().map(|&o| values[o]).collect();
                    self.repeat(builder, version.instructions[*inst], &operands)
                }
                Expr::Content(store, address) => {
                    let store = self.snapshots.base.instructions[*store];
                    builder.load_as_stored(store, values[*address])
                }
            });
        }
        if self.mutant == Some(Mutant::Store) {
            self.changes.add(map.stores.len());
            return values;
        }
        for store in &map.stores {
            let operands = [values[store.value], values[store.address]];
            builder.repeat(version.instructions[store.store], &operands);
        }
        values
    }

    /// An instruction made again; a phi as a select, which the mutant gives exchanged arms.
    fn repeat(&self, builder: &Builder<'m>, inst: Inst<'m>, operands: &[Value<'m>]) -> Value<'m> {
        match *operands {
            [condition, holds, fails] if inst.map_facts().is_phi() => {
                if self.mutant == Some(Mutant::Arms) {
                    self.changes.add(1);
                    return builder.select(condition, fails, holds);
                }
                builder.select(condition, holds, fails)
            }
            _ => builder.repeat(inst, operands),
        }
    }

    /// Where a mapped point lands. The mutant skips what has no result: without a value that is
    /// used the verifier would find it, not a run.
    fn landing(&self, which: Version, map: &PointMap) -> InstId {
        let points = self.points[which];
        let code = &self.snapshots[which].body.code.instructions;
        let next = points.iter().find(|p| p.at > map.landing && self.useful[which][p.at]);
        let is_skipped = |at: InstId| {
            code[at].block == code[map.landing].block
                && !code[map.landing..at].iter().any(|inst| inst.facts.has_result())
        };
        match (self.mutant, next) {
            (Some(Mutant::Landing), Some(next)) if is_skipped(next.at) => {
                self.changes.add(1);
                next.at
            }
            _ => map.landing,
        }
    }

    /// A continuation has no dead code: it would need values that are not reconstructed. Nor does
    /// it have what phis take from edges that control never takes.
    fn erase_dead(&self, which: Version, version: &CodeSnapshot<'m>) {
        for &block in &self.unreached[which] {
            version.blocks[block].make_unreachable();
        }
        for &(from, to) in &self.untaken[which] {
            version.blocks[to].poison_incoming(version.blocks[from]);
        }
        let dead = |&(inst, _): &(InstId, &Inst<'m>)| {
            if self.unreached[which].contains(&version.body.code.instructions[inst].block) {
                return false;
            }
            let facts = version.body.code.instructions[inst].facts;
            !self.useful[which][inst] && !facts.is_terminator() && !facts.is_static_alloca()
        };
        let dead: Vec<Inst<'m>> =
            version.instructions.iter_enumerated().filter(dead).map(|(_, &inst)| inst).collect();
        erase_dead(&dead);
    }

    fn insert_base(
        &self,
        chosen: &[Chosen<'_>],
        enter: Function<'m>,
        prototype: &Prototype<'m>,
        record: &Record<'m>,
    ) {
        let snapshot = &self.snapshots.base;
        let base = snapshot.function;
        let tail = tail_of_first(snapshot);
        let of_base: Vec<usize> =
            (0..chosen.len()).filter(|&i| chosen[i].version == Version::Base).collect();
        let shared = (of_base.len() > MOST_TRANSITIONS)
            .then(|| SharedTransition::new(base, enter, prototype, tail));
        let inserted: Vec<_> = of_base
            .into_iter()
            .map(|i| {
                let values = values_of(&prototype.transfers[i], |value| snapshot.value(value));
                let selector = chosen[i].landing as u32;
                let target = Target { continuation: enter, prototype, selector, tail };
                let site = self.site(base, snapshot, &chosen[i], &values, target, record, (i, i));
                Site { shared: shared.as_ref(), ..site }.insert()
            })
            .collect();
        promote_counters(base, &inserted);
    }

    #[allow(clippy::too_many_arguments)]
    fn site<'p>(
        &self,
        function: Function<'m>,
        version: &CodeSnapshot<'m>,
        chosen: &Chosen<'_>,
        values: &'p [(Value<'m>, usize)],
        target: Target<'p, 'm>,
        record: &'p Record<'m>,
        (number, point): (usize, usize),
    ) -> Site<'p, 'm> {
        Site {
            function,
            at: version.instructions[self.points[chosen.version][chosen.point].at],
            condition: self.conditions[chosen.version].on_target(&self.module.target()),
            values,
            target,
            shared: None,
            record: Some(record),
            number,
            point,
        }
    }
}
