//! What is known of two versions before anything is proved, from their graphs and tracking.

use crate::versions::chains::Chains;
use crate::versions::facts::{Tracked, VersionFacts, Versions};
use crate::versions::gates::gates;
use crate::versions::graph::{Graph, Operand};
use crate::versions::hammocks::find_chains;
use crate::versions::live::live;
use crate::versions::scopes::scopes;
use crate::versions::version::PerVersion;
use midflight_ir::ids::InstId;

/// Derives all that is known of each version, and of both.
pub fn derived(mut graphs: PerVersion<Graph>, tracked: Tracked) -> Versions {
    mark_overwritten(&mut graphs.base, &tracked);
    derived_as_marked(graphs, tracked)
}

/// The same for graphs in which it is known which stores are overwritten.
pub(crate) fn derived_as_marked(graphs: PerVersion<Graph>, tracked: Tracked) -> Versions {
    let own = |graph: &Graph| {
        graph.nodes.iter().any(|n| n.facts.is_own())
            && graph.nodes.iter().any(|n| n.facts.is_landing_pad())
    };
    let own_selectors = graphs.iter().any(own);
    let of = graphs.map(|graph| {
        let live = live(&graph);
        let scopes = scopes(&graph, &live);
        let gates = gates(&graph, &live, &scopes);
        VersionFacts { graph, live, chains: Chains::default(), scopes, gates }
    });
    let sees_place = |version: &VersionFacts| version.graph.nodes.iter().any(|n| n.sees_place);
    let has_places = of.iter().any(sees_place);
    let mut versions = Versions { of, tracked, has_lone: false, has_places, own_selectors };
    find_chains(&mut versions);
    versions
}

/// Finds the stores of base that a pass deleted since the next anchor writes to the same place.
fn mark_overwritten(base: &mut Graph, tracked: &Tracked) {
    for range in base.body.code.of_block.clone() {
        let anchors: Vec<InstId> =
            range.iter().filter(|&i| base.nodes[i].facts.is_anchor()).collect();
        for pair in anchors.windows(2) {
            let [first, next] = [&base.nodes[pair[0]], &base.nodes[pair[1]]];
            let is_overwritten = tracked.kept[pair[0]].is_none()
                && first.facts.is_store()
                && next.facts.is_store()
                && first.data_type == next.data_type
                && is_same(
                    base,
                    base.operands(pair[0])[1],
                    base.operands(pair[1])[1],
                    DEEPEST_POINTER,
                );
            base.nodes[pair[0]].is_overwritten = is_overwritten;
        }
    }
}

/// Operations that are looked through to see that two pointers are equal
const DEEPEST_POINTER: usize = 8;

/// True if two operands are the same whenever both are there: one value, or the same operations on
/// such.
fn is_same(graph: &Graph, a: Operand, b: Operand, depth: usize) -> bool {
    if a == b {
        return true;
    }
    let (Operand::Value(a), Operand::Value(b)) = (a, b) else { return false };
    let (Some(a), Some(b)) = (graph.definition(a), graph.definition(b)) else { return false };
    let [of_a, of_b] = [a, b].map(|inst| graph.operands(inst));
    let [a, b] = [a, b].map(|inst| &graph.nodes[inst]);
    depth > 0
        && a.operation == b.operation
        && of_a.len() == of_b.len()
        && (a.facts.is_repeatable() || a.facts.is_load())
        && a.clobber == b.clobber
        && of_a.iter().zip(of_b).all(|(&a, &b)| is_same(graph, a, b, depth - 1))
}
