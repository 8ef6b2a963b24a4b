//! Whether a profile can be one of a function.

use super::model::{CutReason, Edge, FunctionTable};
use super::path::{NumberingError, PathDecoder, PathEnd, PathStart};
use crate::forest::{NodeId, PrefixForest};
use crate::max_slab_levels;
use alloc::vec::Vec;
use hashbrown::HashMap;
use midflight_abi::Mode;

/// A forest that no run of a function can have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForestMismatch {
    /// A label is no path ID of the function.
    #[error("it counts path {id}, and the function has paths 0 to {last}")]
    NoSuchPath {
        /// The label
        id: u32,
        /// The largest ID
        last: u32,
    },
    /// One path cannot follow another.
    #[error("it has path {child} after path {parent}, which ends elsewhere")]
    NotConnected {
        /// The path before
        parent: u32,
        /// The path after
        child: u32,
    },
    /// Paths are longer than k allows, or longer than one where the function was counted in an
    /// array.
    #[error("it has {found} paths in a row, where {most} is the most")]
    TooDeep {
        /// Levels of the forest
        found: u32,
        /// Levels that it may have
        most: u32,
    },
    /// The table is not one that Algorithm 3 makes.
    #[error("the function's table is not a path numbering: {0}")]
    Table(#[from] NumberingError),
}

impl FunctionTable {
    /// Checks that windows, or a k-SF, can have come from this function: labels are path IDs, each
    /// path begins where the one above it in the tree ended, and the forest is no deeper than `k`
    /// allows.
    ///
    /// A root may be any path, since windows begin anywhere, as chunks do (Definition 3.7).
    ///
    /// # Errors
    /// [`ForestMismatch`] with the first node that is wrong.
    pub fn check_forest(&self, forest: &PrefixForest) -> Result<(), ForestMismatch> {
        let mut ends = Ends { decoder: PathDecoder::new(self)?, known: HashMap::new() };
        let most = match self.mode {
            Mode::Counting => 1,
            Mode::Automaton => self.k,
            Mode::Published => max_slab_levels(self.k),
        };
        let mut levels: Vec<u32> = Vec::with_capacity(forest.len());
        for id in forest.ids() {
            let parent = forest.parent(id);
            let level = 1 + parent.map_or(0, |parent| levels[parent.index()]);
            if level > most {
                return Err(ForestMismatch::TooDeep { found: level, most });
            }
            levels.push(level);
            self.check_node(forest, parent, id, &mut ends)?;
        }
        Ok(())
    }

    fn check_node(
        &self,
        forest: &PrefixForest,
        parent: Option<NodeId>,
        id: NodeId,
        ends: &mut Ends,
    ) -> Result<(), ForestMismatch> {
        let child = forest.label(id);
        let (start, _) = ends.of(child)?;
        let Some(parent) = parent.map(|parent| forest.label(parent)) else { return Ok(()) };
        let (_, end) = ends.of(parent)?;
        let is_connected = match (end, start) {
            (PathEnd::Cut(left), PathStart::After(entered)) => {
                left == entered && !self.restarts_after(left)
            }
            _ => false,
        };
        if is_connected { Ok(()) } else { Err(ForestMismatch::NotConnected { parent, child }) }
    }

    fn restarts_after(&self, edge: usize) -> bool {
        matches!(self.edges[edge], Edge::Cut { why: CutReason::Restart, .. })
    }
}

/// Where paths begin and end, each looked up once.
struct Ends {
    decoder: PathDecoder,
    known: HashMap<u32, (PathStart, PathEnd)>,
}

impl Ends {
    fn of(&mut self, id: u32) -> Result<(PathStart, PathEnd), ForestMismatch> {
        if let Some(&ends) = self.known.get(&id) {
            return Ok(ends);
        }
        let last = self.decoder.num_paths() - 1;
        let ends = self.decoder.ends(id).ok_or(ForestMismatch::NoSuchPath { id, last })?;
        self.known.insert(id, ends);
        Ok(ends)
    }
}
