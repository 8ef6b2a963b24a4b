//! The k-slab forest, built online: thesis 3.2.3, Algorithm 4.
//!
//! A stream is cut into chunks of k − 1 IDs, and each chunk together with the next is a sequence of
//! the forest (Definition 3.7): so every run of up to k IDs lies within one sequence. Two nodes are
//! current at any time: τ in the upper slab (levels 0 to k − 2), for the chunk that is being read
//! as the first of its pair, and β in the lower slab (levels k − 1 to 2k − 3), for the same chunk
//! as the second of the pair before. Only the lower of them counts, hence the sum of all counters
//! is the length of the stream.
//!
//! Beside the forest of Definition 3.7 the algorithm makes the nodes of each activation's last
//! chunk in the upper slab, in case another chunk follows. Where none does they count 0, as does
//! all below them, and they add nothing to the k-IPF: whoever writes a k-SF may leave them out.
//!
//! This is the paper's algorithm line by line, the reference that the runtime library is checked
//! against. It is no slower than it must be, but not the fast one either.

use crate::forest::{NodeId, PrefixForest};

/// A k-SF and the state of its construction (Algorithm 4).
///
/// For k = 1 the algorithm is not defined (`n mod (k − 1)` in line 6): there, each event counts its
/// root, which is plain Ball-Larus profiling, and the 1-IPF is the forest itself.
#[derive(Clone, Debug)]
pub struct SlabForest {
    k: u32,
    forest: PrefixForest,
    /// IDs since the last ∗
    n: u64,
    /// τ, the top
    tau: Option<NodeId>,
    /// β, the bottom
    beta: Option<NodeId>,
}

impl SlabForest {
    /// An empty k-SF, before any ∗ (which an ID then may follow as if it were there).
    ///
    /// # Panics
    /// If `k` is 0.
    pub fn new(k: u32) -> Self {
        assert!(k >= 1, "paths of no acyclic path cannot be profiled");
        SlabForest { k, forest: PrefixForest::new(), n: 0, tau: None, beta: None }
    }

    /// The marker ∗: an activation begins.
    pub fn enter(&mut self) {
        // Lines 1 to 5. β needs nothing: line 7 sets it from τ before it is next used.
        self.n = 0;
        self.tau = None;
    }

    /// The path `r` was taken.
    ///
    /// # Panics
    /// If a counter passes 2^64 − 1.
    pub fn event(&mut self, r: u32) {
        if self.k == 1 {
            self.tau = Some(self.forest.child_or_insert(None, r));
        } else if self.n.is_multiple_of(u64::from(self.k - 1)) {
            // Line 6: a chunk begins
            self.beta = self.tau; // 7
            self.tau = Some(self.forest.child_or_insert(None, r)); // 8 to 11; R is the roots
        } else {
            self.tau = Some(self.forest.child_or_insert(self.tau, r)); // 13 to 18
        }
        if self.beta.is_some() {
            self.beta = Some(self.forest.child_or_insert(self.beta, r)); // 20 to 26
        }
        let counted = self.beta.or(self.tau).expect("line 8 or 18 has set τ");
        // Lines 27 and 29
        self.forest.add(counted, 1).expect("a run does not last for 2^64 paths");
        self.n += 1; // 31
    }

    /// k.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The forest so far.
    pub fn forest(&self) -> &PrefixForest {
        &self.forest
    }

    /// The forest, for keeps.
    pub fn into_forest(self) -> PrefixForest {
        self.forest
    }
}
