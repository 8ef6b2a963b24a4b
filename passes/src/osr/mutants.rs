//! Mutants: mappings and plans that are wrong in one way, so that tests can show that they would
//! notice. A plugin that is shipped has none: they come with the feature `mutants`.

use crate::osr::map::optimize::{Trust, TwoVersions};
use crate::osr::map::read::Handles;
use crate::osr::weave::Plan;
use crate::read_code::CodeSnapshot;
use midflight_abi::osr::OSR_MUTANT_SECTION;
use midflight_bridge::ir::Module;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::ids::{BlockId, InstId, InstRange, ValueId};
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::mapper::{Mapper, OsrMap};
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::proof::terms::Terms;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::graph::{Access, ConstId, Graph, Operand, Oracle};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::FxHashSet as HashSet;

/// What is done wrong by `osr-opt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// It lands one instruction too late.
    Landing,
    /// A value that is kept for a point is not.
    Keep,
    /// A load is made again from another place: it is stale.
    Load,
    /// What opt owes to memory is not stored.
    Store,
    /// It lands in the block of opt that was copied, in the one that has the old name: tracking is
    /// believed where the matching would refuse.
    Copy,
    /// The arms of a phi that is made again are exchanged.
    Arms,
    /// Of two ways to a point each leads where the other one does.
    Way,
}

impl Mutant {
    /// All, by their names in the option `debug-mutant`
    pub const NAMES: [(&str, Mutant); 7] = [
        ("landing", Mutant::Landing),
        ("keep", Mutant::Keep),
        ("load", Mutant::Load),
        ("store", Mutant::Store),
        ("copy", Mutant::Copy),
        ("arms", Mutant::Arms),
        ("way", Mutant::Way),
    ];

    /// What of tracking is used: all of it where it is to land in a copy.
    pub fn trust<'m>(
        self,
        two: &TwoVersions<'m>,
        sandbox: &Sandbox,
        snapshots: &PerVersion<CodeSnapshot<'m>>,
    ) -> Trust {
        if self != Mutant::Copy {
            return Trust::Proved;
        }
        let (versions, _) = two.compare(Trust::Proved, sandbox, snapshots).end();
        if copied(&versions).is_empty() { Trust::Proved } else { Trust::Claimed }
    }

    /// Makes mappings wrong. The binary says in how many places.
    pub fn mutate(
        self,
        mut maps: PerVersion<OsrMap>,
        mapper: &Mapper<'_>,
        handles: &Handles<'_, '_>,
    ) -> PerVersion<OsrMap> {
        let mut changes = 0;
        for from in Version::BOTH {
            if self == Mutant::Way {
                changes += maps[from].ways.values_mut().map(|ways| exchange(ways)).sum::<usize>();
            }
            for (_, map) in maps[from].all_mut() {
                changes += self.mutate_point(from, map, mapper, handles);
            }
        }
        if maps.base.leads_somewhere() {
            emit_changes(handles.snapshots.base.function.module(), changes);
        }
        maps
    }

    fn mutate_point(
        self,
        from: Version,
        map: &mut PointMap,
        mapper: &Mapper<'_>,
        handles: &Handles<'_, '_>,
    ) -> usize {
        let to = from.other();
        let versions = &mapper.proof.versions;
        let nodes = &versions.graph(to).nodes;
        match self {
            Mutant::Landing => {
                let late = late_landing(mapper, to, map.landing);
                late.map_or(0, |late| {
                    map.landing = late;
                    1
                })
            }
            Mutant::Keep => {
                let PointMap { exprs, keep, .. } = map;
                change(exprs, |expr| match *expr {
                    Expr::Source { source: value } if keep.contains(&value) => {
                        let null = handles.snapshots[from].value(value).ty().null();
                        let Some(Operand::Constant(null)) = handles.operand(from, null) else {
                            unreachable!("a null is a constant")
                        };
                        *expr = Expr::Constant { constant: null };
                        true
                    }
                    _ => false,
                })
            }
            Mutant::Way => 0,
            Mutant::Store => std::mem::take(&mut map.stores).len(),
            Mutant::Arms => change(&mut map.exprs, |expr| match expr {
                Expr::Repeat { repeat: inst, of }
                    if of.len() == 3 && nodes[*inst].facts.is_phi() =>
                {
                    of.swap(1, 2);
                    true
                }
                _ => false,
            }),
            Mutant::Load => change(&mut map.exprs, |expr| match expr {
                Expr::Repeat { repeat: inst, .. } => {
                    nodes[*inst].facts.is_load() && !handles.is_unchanged(to, *inst, map.landing)
                }
                _ => false,
            }),
            Mutant::Copy => {
                let lands_in = versions.graph(to).block(map.landing);
                usize::from(to == Version::Opt && copied(versions).contains(&lands_in))
            }
        }
    }
}

/// The first two ways each lead where the other one does.
fn exchange(ways: &mut [Way]) -> usize {
    let [one, other, ..] = ways else { return 0 };
    std::mem::swap(&mut one.history, &mut other.history);
    1
}

/// How many expressions are changed.
fn change(exprs: &mut [Expr], mut change: impl FnMut(&mut Expr) -> bool) -> usize {
    exprs.iter_mut().map(|expr| usize::from(change(expr))).sum()
}

/// The next point behind a landing, if only what has no result is skipped: without a value that is
/// used the verifier would find it, not a run.
fn late_landing(mapper: &Mapper<'_>, to: Version, landing: InstId) -> Option<InstId> {
    let side = &mapper.sides[to];
    let graph = mapper.proof.versions.graph(to);
    let code = &graph.body.code;
    let next = side.points.iter().find(|p| p.at > landing && side.is_useful_inst(p.at))?.at;
    let is_plain = graph.block(next) == graph.block(landing)
        && !code.instructions[landing..next].iter().any(|inst| inst.facts.has_result());
    is_plain.then_some(next)
}

/// Two values of one type come in exchanged at each landing, where there are two.
pub fn swap<'a, 'm>(module: Module<'m>, mut plan: Plan<'a, 'm>) -> Plan<'a, 'm> {
    let mut changes = 0;
    for departure in &mut plan.departures {
        let version = departure.version;
        let ty = |expr: &Expr| match expr {
            Expr::Source { source } => version.value(*source).ty(),
            _ => unreachable!("values are passed as they are"),
        };
        let exprs = &mut departure.map.to_mut().exprs;
        // Arguments last: they change the least.
        let arguments = ValueId::from(version.arguments.len());
        let mut order: Vec<usize> = (0..exprs.len()).collect();
        order.sort_by_key(|&e| matches!(exprs[e], Expr::Source { source } if source < arguments));
        let pairs = (0..order.len()).flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)));
        let mut pairs = pairs.map(|(a, b)| (order[a], order[b]));
        if let Some((a, b)) = pairs.find(|&(a, b)| ty(&exprs[a]) == ty(&exprs[b])) {
            exprs.swap(a, b);
            changes += 1;
        }
    }
    emit_changes(module, changes);
    plan
}

/// In how many places of a function something is done wrong. A binary sums them up: where a mutant
/// has nothing to change, nothing can be noticed.
fn emit_changes(module: Module<'_>, changes: usize) {
    let number = module.int_type(64).constant(changes as u64);
    module.section_record("midflight.osr.mutant", OSR_MUTANT_SECTION, number);
}

/// So many instructions in a row, the last one an anchor, tell code from other code.
const WINDOW: usize = 3;

/// The blocks of opt of which a pass made a copy: the same instructions are there again, and none
/// of them was in base. Good for a mutant: what is not found is not changed.
fn copied(versions: &Versions) -> HashSet<BlockId> {
    let graph = &versions.of.opt.graph;
    let origin = &versions.tracked.origin;
    let is_new = |window: &[InstId]| window.iter().all(|&inst| origin[inst].is_none());
    let operations = |window: &[InstId]| -> Vec<u32> {
        window.iter().map(|&i| graph.nodes[i].operation).collect()
    };
    let windows = windows(graph);
    let copies: HashSet<Vec<u32>> =
        windows.iter().filter(|w| is_new(w)).map(|w| operations(w)).collect();
    let is_copied = |w: &&Vec<InstId>| {
        w.iter().all(|&inst| origin[inst].is_some()) && copies.contains(&operations(w))
    };
    windows.iter().filter(is_copied).map(|w| graph.block(w[0])).collect()
}

fn windows(graph: &Graph) -> Vec<Vec<InstId>> {
    let of_block = |nodes: InstRange| {
        let plain: Vec<InstId> = nodes.iter().filter(|&i| !graph.nodes[i].facts.is_phi()).collect();
        let ends_in_anchor = |w: &&[InstId]| graph.nodes[w[WINDOW - 1]].facts.is_anchor();
        plain.windows(WINDOW).filter(ends_in_anchor).map(<[InstId]>::to_vec).collect::<Vec<_>>()
    };
    graph.body.code.of_block.iter().flat_map(|&range| of_block(range)).collect()
}

/// Says of each load that it reads what it read before.
pub struct StaleLoads<'a>(pub &'a dyn Oracle);

impl Oracle for StaleLoads<'_> {
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand> {
        self.0.simplify(which, inst, operands)
    }

    fn is_well_defined(&self, which: Version, operand: Operand) -> bool {
        self.0.is_well_defined(which, operand)
    }

    fn is_defined_by_uses(&self, inst: InstId) -> bool {
        self.0.is_defined_by_uses(inst)
    }

    fn are_equal(&self, terms: &Terms, negated: bool) -> bool {
        self.0.are_equal(terms, negated)
    }

    fn stands_for(&self, terms: &Terms, negated: bool, at: Option<InstId>) -> bool {
        self.0.stands_for(terms, negated, at)
    }

    fn said(
        &self,
        which: Version,
        asked: (InstId, [Operand; 2]),
        known: (InstId, [Operand; 2], bool),
    ) -> Option<bool> {
        self.0.said(which, asked, known)
    }

    fn integer(&self, constant: ConstId) -> Option<i64> {
        self.0.integer(constant)
    }

    fn address(&self, constant: ConstId) -> Option<(ConstId, i64)> {
        self.0.address(constant)
    }

    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access> {
        self.0.place_before(which, place_of, before)
    }

    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access> {
        self.0.place_at_end(which, place_of, block)
    }

    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool {
        self.0.touches(which, place_of, inst)
    }

    fn writes_around(&self, which: Version, address: Operand, inst: InstId) -> bool {
        self.0.writes_around(which, address, inst)
    }

    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access> {
        self.0.memory_before(which, inst)
    }

    fn is_unchanged(&self, _: Version, _: InstId, _: InstId) -> bool {
        true
    }
}
