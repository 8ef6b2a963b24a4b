//! What is live in a version at each of its boundaries: strong liveness, in which what only dead
//! code and blocks that are never reached use is not.
//!
//! Sets of a block are made when one of them is asked for: where points are at the heads of loops
//! only, most blocks never are.

use midflight_ir::body::Body;
use midflight_ir::code::Use;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_ir::liveness::{insert, live_out_of, step_over};
use rustc_hash::FxHashMap as HashMap;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// For instructions the values that their points hand on besides those that are used.
pub type Handed = HashMap<InstId, BTreeSet<ValueId>>;

/// The uses that count.
pub struct Uses {
    body: Rc<Body>,
    all: Vec<Use>,
    /// For each instruction its uses, in `all`
    of_inst: TiVec<InstId, Range<u32>>,
}

impl Uses {
    /// Those of a body for which `counts` holds.
    pub fn new(body: &Rc<Body>, counts: impl Fn(InstId, &Use) -> bool) -> Self {
        let mut all = Vec::new();
        let of_inst = body.code.instructions.keys().map(|inst| {
            let first = all.len() as u32;
            all.extend(body.code.uses(inst).filter(|used| counts(inst, used)));
            first..all.len() as u32
        });
        Uses { of_inst: of_inst.collect(), body: body.clone(), all }
    }

    fn of(&self, inst: InstId) -> &[Use] {
        let range = &self.of_inst[inst];
        &self.all[range.start as usize..range.end as usize]
    }
}

/// The sets at the boundary before an instruction.
#[derive(Clone, Default)]
struct Sets {
    landing: Vec<ValueId>,
    /// If it is not the same
    live: Option<Vec<ValueId>>,
}

/// The live values of a version.
pub struct LiveSets {
    /// For each block the values live at its end; sorted
    at_end: TiVec<BlockId, Vec<ValueId>>,
    handed: Handed,
    /// For each block those of its instructions
    sets: TiVec<BlockId, OnceCell<Vec<Sets>>>,
}

impl LiveSets {
    /// With the uses that count.
    pub fn new(uses: &Uses) -> Self {
        let at_end = live_out_of(&uses.body, |inst| uses.of(inst).iter().copied(), |_, _| {});
        let sets = vec![OnceCell::new(); at_end.len()].into();
        LiveSets { at_end, handed: Handed::default(), sets }
    }

    /// And with what points hand on besides.
    pub fn with(&self, uses: &Uses, handed: Handed) -> Self {
        let of_points = |inst: InstId| {
            let of_point = handed.get(&inst).into_iter().flatten();
            of_point.map(|&value| Use { value, from: None })
        };
        let more = live_out_of(&uses.body, of_points, |_, _| {});
        let mut at_end = self.at_end.clone();
        for (live, more) in at_end.iter_mut().zip(more).filter(|(_, more)| !more.is_empty()) {
            live.extend(more);
            live.sort_unstable();
            live.dedup();
        }
        LiveSets { at_end, handed, sets: vec![OnceCell::new(); self.sets.len()].into() }
    }

    /// The values that are needed to land before an instruction, which is no phi; sorted.
    pub fn landing(&self, uses: &Uses, inst: InstId) -> &[ValueId] {
        &self.sets(uses, inst).landing
    }

    /// The same, and what the point there hands on.
    pub fn live(&self, uses: &Uses, inst: InstId) -> &[ValueId] {
        let sets = self.sets(uses, inst);
        sets.live.as_ref().unwrap_or(&sets.landing)
    }

    fn sets(&self, uses: &Uses, inst: InstId) -> &Sets {
        let code = &uses.body.code;
        let block = code.instructions[inst].block;
        let of_block = self.sets[block].get_or_init(|| self.of_block(uses, block));
        &of_block[code.of_block[block].place(inst)]
    }

    fn of_block(&self, uses: &Uses, block: BlockId) -> Vec<Sets> {
        let code = &uses.body.code;
        let range = code.of_block[block];
        let mut sets = vec![Sets::default(); range.iter().len()];
        let mut live = self.at_end[block].clone();
        for inst in range.iter().rev().take_while(|&i| !code.instructions[i].facts.is_phi()) {
            step_over(&mut live, code.result(inst), uses.of(inst).iter().copied());
            let of_inst = &mut sets[range.place(inst)];
            of_inst.landing.clone_from(&live);
            if let Some(handed) = self.handed.get(&inst) {
                handed.iter().for_each(|&value| insert(&mut live, value));
                of_inst.live = Some(live.clone());
            }
        }
        sets
    }
}
