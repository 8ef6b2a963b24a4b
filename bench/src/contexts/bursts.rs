//! What hot contexts that are counted in bursts alone tell of a whole run: the thesis's Figure 5.9.

use crate::contexts::accuracy::{Hot, largest_and_average};
use crate::contexts::skew::threshold;
use crate::percent::{percent, share};
use crate::table::markdown;
use midflight_profile::format::Contexts;

/// τ̃ / τ: τ̃ is the least share of the hottest context's activations from which on the exact HCCT
/// has all edges, and τ that from which on they are asked for.
const PARTS: [f64; 5] = [1.0, 0.75, 0.5, 0.25, 0.1];

/// A run in bursts beside a whole one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Activations in bursts, of all
    pub seen: f64,
    /// Of contexts that are hot and counted so: by how much their counts over `seen` are wrong, on
    /// average and at most
    pub error: [f64; 2],
    /// Contexts that are hot, and those of them that are not counted so
    pub hot: [usize; 2],
    /// By τ̃ / τ: of edges with τ of the hottest context's activations, those that are in the HCCT;
    /// none where there are no such edges
    pub coverage: [Option<f64>; PARTS.len()],
}

impl Sample {
    /// Compares; contexts are hot from φ of the activations of each on.
    pub fn of(whole: &Contexts, sample: &Contexts, phi: f64) -> Sample {
        let seen = sample.activations as f64 / whole.activations.max(1) as f64;
        let least = threshold(phi, whole);
        let found = Hot::of(whole, sample, threshold(phi, sample).max(1));
        let errors: Vec<f64> = found
            .hot
            .iter()
            .map(|&(id, place)| (sample.count(id) as f64 / seen, whole.count(place)))
            .filter(|&(_, truth)| truth >= least)
            .map(|(count, truth)| (count - truth as f64).abs() / truth.max(1) as f64)
            .collect();
        let hot = whole.ids().filter(|&id| whole.count(id) >= least).count();
        let coverage = PARTS.map(|part| {
            // τ̃ of the hottest context's activations are φ of all.
            let edges = whole.ids().filter(|&id| whole.count(id) as f64 >= least as f64 / part);
            let edges: Vec<bool> = edges.map(|id| found.tree.contains(&id)).collect();
            let covered = edges.iter().filter(|&&covered| covered).count();
            (!edges.is_empty()).then(|| covered as f64 / edges.len() as f64)
        });
        let [most, mean] = largest_and_average(&errors);
        Sample { seen, error: [mean, most], hot: [hot, hot - errors.len()], coverage }
    }

    /// Its row: the program, which tree, and the figures.
    pub fn row(&self, program: &str, tree: &str) -> Vec<String> {
        let mut cells = vec![program.to_string(), tree.to_string(), share(Some(self.seen))];
        cells.extend(self.error.map(percent));
        cells.extend(self.hot.map(|count| count.to_string()));
        cells.extend(self.coverage.map(share));
        cells
    }
}

/// The table of these rows.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut header = ["program", "tree", "seen", "error, average", "most", "hot", "missing"]
        .map(String::from)
        .to_vec();
    header.extend(PARTS.map(|part| format!("coverage, τ̃/τ = {part}")));
    markdown(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::accuracy::tests::tree;

    #[test]
    fn counts_in_bursts_stand_for_more() {
        // 1000 activations. φ = 0.1, so that τ̃ is a sixth.
        let whole = [(None, 10, 0), (Some(0), 600, 0), (Some(0), 240, 0), (None, 150, 0)];
        let whole = tree(None, &whole);
        let sample = tree(None, &[(None, 0, 0), (Some(0), 75, 0), (Some(0), 22, 0), (None, 3, 0)]);
        let found = Sample::of(&whole, &sample, 0.1);
        let expected = Sample {
            seen: 0.1,
            error: [(0.25 + 20.0 / 240.0) / 2.0, 0.25],
            hot: [3, 1],
            coverage: [Some(2.0 / 3.0), Some(2.0 / 3.0), Some(1.0), Some(1.0), None],
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert_eq!((found.hot, found.seen), (expected.hot, expected.seen));
        assert!(found.error.iter().zip(expected.error).all(|(&a, b)| near(a, b)), "{found:?}");
        assert_eq!(found.coverage, expected.coverage);
    }
}
