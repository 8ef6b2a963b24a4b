//! Points whose landing depends on how control came there.
//!
//! A pass that rotates a loop makes two of its head's test: one before the loop, and one at its
//! end. Base has one head, and at a point there the other version is at the first test if control
//! came from before the loop, else at the second one. What is known in the unfolded version of each
//! copy of the point is known in the version, too, of the edge over which control last came to a
//! block that dominates the point: which copies of the block that edge leads to, and which copies
//! of the point are reached from these before the block is entered again.

use crate::mapping::reconstruct::PointMap;
use crate::unfold::Product;
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, ValueId};
use rustc_hash::FxHashMap as HashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The last edge into a block came from one of these others. What leaves these otherwise changes
/// nothing: only where control comes to the block is it known anew (`passes/src/osr/came.rs`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct History {
    /// The block, which dominates the point
    pub block: BlockId,
    /// The blocks that control may have come from, sorted
    pub from: Vec<BlockId>,
}

/// Where a point leads that control came to like this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// How it came
    pub history: History,
    /// The values that are used and that are there only since it came like that, sorted
    pub carried: Vec<ValueId>,
    /// Where that leads
    pub map: PointMap,
}

/// What a history leaves of a block.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// How control came
    pub history: History,
    /// The copies of the block that it may be in, sorted
    pub blocks: Vec<BlockId>,
}

/// Those of a block
type Shared = Rc<Vec<Copies>>;

/// The histories of blocks, each made when it is asked for.
#[derive(Default)]
pub(super) struct Histories {
    known: RefCell<HashMap<(Version, BlockId, BlockId), Shared>>,
}

impl Histories {
    /// By the last edge into a block that dominates `home`, the copies of `home` that control may
    /// be in.
    pub fn of(
        &self,
        product: &Product,
        which: Version,
        block: BlockId,
        home: BlockId,
    ) -> Rc<Vec<Copies>> {
        let mut known = self.known.borrow_mut();
        let of_blocks = known.entry((which, block, home));
        of_blocks.or_insert_with(|| Rc::new(histories(product, which, block, home))).clone()
    }
}

fn histories(product: &Product, which: Version, block: BlockId, home: BlockId) -> Vec<Copies> {
    let (live, fold) = (&product.versions.of[which].live, &product.folds[which]);
    // For each block before it the copies that its edges lead to.
    let mut entered: BTreeMap<BlockId, BTreeSet<BlockId>> = BTreeMap::new();
    for (copy, successors) in live.successors.iter_enumerated().filter(|&(c, _)| live.reached[c]) {
        for &to in successors.iter().filter(|&&to| fold.blocks[to] == block) {
            entered.entry(fold.blocks[copy]).or_default().insert(to);
        }
    }
    let reached = |heads: &BTreeSet<BlockId>| -> Vec<BlockId> {
        let mut seen = heads.clone();
        let mut work: Vec<BlockId> = heads.iter().copied().collect();
        while let Some(copy) = work.pop() {
            for &to in live.successors[copy].iter().filter(|&&to| fold.blocks[to] != block) {
                if seen.insert(to) {
                    work.push(to);
                }
            }
        }
        seen.into_iter().filter(|&copy| fold.blocks[copy] == home).collect()
    };
    let mut found: Vec<Copies> = Vec::new();
    for (from, heads) in &entered {
        let blocks = reached(heads);
        match found.iter_mut().find(|copies| copies.blocks == blocks) {
            Some(copies) => copies.history.from.push(*from),
            None => found.push(Copies { history: History { block, from: vec![*from] }, blocks }),
        }
    }
    // Where control never comes to the point there is nothing to say.
    found.retain(|copies| !copies.blocks.is_empty());
    found
}
