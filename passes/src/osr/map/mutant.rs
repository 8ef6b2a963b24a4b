//! What a mutant of `osr-opt` does wrong; tests must notice.

use midflight_ir::ids::{BlockId, InstId, InstRange};
use midflight_mapping::mapping::mapper::OsrMap;
use midflight_mapping::mapping::reconstruct::Expr;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::graph::{Graph, Oracle};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::FxHashSet as HashSet;

/// What is done wrong.
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
}

impl Mutant {
    /// All, by their names in the option `debug-mutant`
    pub const NAMES: [(&str, Mutant); 6] = [
        ("landing", Mutant::Landing),
        ("keep", Mutant::Keep),
        ("load", Mutant::Load),
        ("store", Mutant::Store),
        ("copy", Mutant::Copy),
        ("arms", Mutant::Arms),
    ];
}

/// So many instructions in a row, the last one an anchor, tell code from other code.
const WINDOW: usize = 3;

/// The blocks of opt of which a pass made a copy: the same instructions are there again, and none
/// of them was in base. Good for a mutant: what is not found is not changed.
pub fn copied(versions: &Versions) -> HashSet<BlockId> {
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

/// How many points lead into these blocks of opt.
pub fn landings_in(
    maps: &PerVersion<OsrMap>,
    versions: &Versions,
    blocks: &HashSet<BlockId>,
) -> usize {
    let landings = maps.base.points.iter().flatten().map(|map| map.landing);
    landings.filter(|&l| blocks.contains(&versions.of.opt.graph.block(l))).count()
}

/// How many loads are made again though something may have written to their places.
pub fn stale_loads(maps: &PerVersion<OsrMap>, versions: &Versions, oracle: &dyn Oracle) -> usize {
    let in_map = |from: Version| -> usize {
        let to = from.other();
        let is_stale = |landing: InstId, expr: &Expr| match expr {
            Expr::Repeat(inst, _) => {
                versions.graph(to).nodes[*inst].facts.is_load()
                    && !oracle.is_unchanged(to, *inst, landing)
            }
            _ => false,
        };
        let points = maps[from].points.iter().flatten();
        points.map(|map| map.exprs.iter().filter(|e| is_stale(map.landing, e)).count()).sum()
    };
    in_map(Version::Base) + in_map(Version::Opt)
}
