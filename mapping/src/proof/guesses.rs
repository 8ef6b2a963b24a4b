//! What is taken to be the same until it is refuted: values of a cycle that came apart while the
//! rest was not settled would never come together by themselves.

use crate::proof::matching::Matching;
use crate::proof::places::AtHead;
use crate::versions::facts::Versions;
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use typed_index_collections::TiVec;

/// Guesses
pub(super) struct Guesses {
    /// For each instruction of opt the phi of base that it is, as tracking says
    pub(super) phis: TiVec<InstId, Option<InstId>>,
    /// For phis of opt that are new what they may have: what base has in memory there
    /// (see [`super::round::contents`]). The last one is the guess.
    pub(super) contents: HashMap<InstId, Vec<AtHead>>,
    /// For places at heads of blocks of opt the same place of base
    pub(super) places: HashMap<AtHead, AtHead>,
    /// For each block of opt the block of base at whose head the same states of memory meet
    pub(super) memory: TiVec<BlockId, Option<BlockId>>,
}

/// Those of phis and of memory that did not hold under a matching: they do not hold either if less
/// is matched.
#[derive(Clone, Debug, Default)]
pub(super) struct Refuted {
    pub(super) phis: HashSet<InstId>,
    pub(super) memory: HashSet<BlockId>,
}

/// One of them, by the side of opt.
#[derive(Clone, Copy)]
pub(super) enum Guess {
    Phi(InstId),
    Memory(BlockId),
    Place(AtHead),
}

/// All that may be guessed: at the entries of pairs.
pub(super) fn guesses(versions: &Versions, matching: &Matching, refuted: &Refuted) -> Guesses {
    let opt = &versions.of.opt.graph;
    let mut guesses = Guesses {
        phis: vec![None; opt.nodes.len()].into(),
        contents: HashMap::default(),
        places: HashMap::default(),
        memory: vec![None; opt.blocks.len()].into(),
    };
    let tracked = &versions.tracked;
    for (id, pair) in matching.pairs.iter_enumerated() {
        for base in matching.entry_phis(versions, Version::Base, id) {
            let Some(phi) = tracked.kept[base].or(tracked.replaced[base]) else { continue };
            if opt.nodes[phi].facts.is_phi() && pair.entries.opt.contains(&opt.block(phi)) {
                guesses.phis[phi] = Some(base);
            }
        }
        let [base, opt] = Version::BOTH.map(|w| {
            let blocks = pair.entries[w].iter().copied();
            blocks.filter(move |&b| versions.graph(w).blocks[b].memory_phi.is_some())
        });
        opt.zip(base).for_each(|(opt, base)| guesses.memory[opt] = Some(base));
    }
    refuted.phis.iter().for_each(|&phi| guesses.phis[phi] = None);
    refuted.memory.iter().for_each(|&block| guesses.memory[block] = None);
    guesses
}
