//! How unevenly activations are spread over calling contexts: Figures 3.1, 5.4 and 5.5 of the
//! thesis, and its Table 5.1, all of the exact tree.

use midflight_profile::contexts::Share;
use midflight_profile::format::{ContextId, Contexts};
use std::cmp::Reverse;

/// What is told of a whole tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Skew {
    /// Share of all activations that the hottest tenth of the contexts has
    pub tenth: f64,
    /// By degree of overlap: the greatest φ for which the HCCT has that part of all activations
    pub phi: Vec<f64>,
    /// By φ: nodes of the HCCT
    pub nodes: Vec<usize>,
    /// By φ: ⌊φN⌋ over the activations of the hottest context. Above that share of these the HCCT
    /// covers all edges
    pub covered: Vec<f64>,
}

impl Skew {
    /// Of a tree, for these degrees of overlap and φ.
    pub fn of(whole: &Contexts, overlaps: &[f64], phi: &[f64]) -> Skew {
        let mut ids: Vec<ContextId> = whole.ids().collect();
        ids.sort_by_key(|&id| Reverse(whole.count(id)));
        let n = whole.activations.max(1) as f64;
        let tenth: u64 = ids.iter().take(ids.len().div_ceil(10)).map(|&id| whole.count(id)).sum();
        let most = ids.first().map_or(1, |&id| whole.count(id)).max(1) as f64;
        let thresholds: Vec<u64> = phi.iter().map(|&phi| threshold(phi, whole)).collect();
        let mut skew = Skew {
            tenth: tenth as f64 / n,
            phi: vec![0.0; overlaps.len()],
            nodes: vec![0; phi.len()],
            covered: thresholds.iter().map(|&threshold| threshold as f64 / most).collect(),
        };
        let mut in_tree = vec![false; ids.len()];
        let (mut nodes, mut covered) = (0, 0u64);
        for id in ids {
            let count = whole.count(id);
            let mut at = Some(id);
            while let Some(node) = at.filter(|node| !in_tree[node.index()]) {
                in_tree[node.index()] = true;
                nodes += 1;
                covered += whole.count(node);
                at = whole.parent(node);
            }
            for (phi, &overlap) in skew.phi.iter_mut().zip(overlaps) {
                if *phi == 0.0 && covered as f64 >= overlap * n {
                    *phi = count as f64 / n;
                }
            }
            for (known, &threshold) in skew.nodes.iter_mut().zip(&thresholds) {
                if count >= threshold {
                    *known = nodes;
                }
            }
        }
        skew
    }
}

/// ⌊φN⌋, from which on a context is hot.
pub fn threshold(phi: f64, whole: &Contexts) -> u64 {
    Share::new(phi).map_or(u64::MAX, |phi| phi.floor_of(whole.activations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::accuracy::tests::tree;

    #[test]
    fn ancestors_of_what_is_hot_are_in_the_tree() {
        // 100 activations; the second is below the first, which is called once.
        let whole = tree(None, &[(None, 1, 0), (Some(0), 60, 0), (Some(0), 30, 0), (None, 9, 0)]);
        let skew = Skew::of(&whole, &[0.61, 0.9], &[0.5, 0.1, 0.01]);
        assert_eq!(skew.nodes, [2, 3, 4]);
        assert_eq!(skew.phi, [0.6, 0.3]);
        assert_eq!(skew.tenth, 0.6);
        assert_eq!(skew.covered, [50.0 / 60.0, 10.0 / 60.0, 1.0 / 60.0]);
    }
}
