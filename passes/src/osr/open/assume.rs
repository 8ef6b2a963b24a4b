//! Assumptions that others invalidate (RJIT thesis 4.3.2, lazy deoptimization).
//!
//! `midflight_assume(&a)` is a relaxed atomic load of `a` with an annotation. In a version it is
//! the constant that `a` held when the version was made, and the version is left at its next point
//! when `midflight_invalidate` has run: behind each call, which may have run it; behind what may
//! synchronize with another thread that has, and at the head of each loop; and where calls begin in
//! it, since a thread that calls does not wait for one that invalidates. Who enters it in the
//! middle has looked before ([`super::fire`]). Points from which nothing assumed can be reached are
//! left out.
//!
//! A callee that was inlined has guards of its own, made before it is inlined: its frame is left
//! first, by a call of its continuation. Its result goes to the caller, whose point directly behind
//! the call is the next: frames are left one by one, the innermost first.

use crate::osr::compensate::Material;
use crate::osr::open::guard::{Guard, Holds, Shared};
#[cfg(feature = "mutants")]
use crate::osr::open::mutant::Mutant;
use crate::osr::weave::{Body, Continuation, Dead, Passing, Plan, PlannedSite, SiteKind, Weaver};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::ir::{Function, Inst};
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::liveness::liveness;
use midflight_ir::loops::loops;
use midflight_mapping::points::{Point, points};
use typed_index_collections::TiVec;

/// The annotation, as `midflight.h` has it.
const ANNOTATION: &str = "midflight.assume";

/// Reads what is assumed of the variable that a global is, so many bytes behind its beginning, and
/// notes that the version relies on it. `None`: it is not known where that is.
pub type Read<'r> = &'r dyn Fn(&str, i64) -> Option<i64>;

/// What a function assumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// What is a constant, and which
    pub uses: Vec<(InstId, i64)>,
    /// Before these instructions it is checked that the assumptions hold, sorted.
    pub places: Vec<InstId>,
}

impl Assumed {
    /// What a function assumes; nothing if it cannot be left at a place where it must be.
    pub fn of(snapshot: &CodeSnapshot<'_>, points: &[Point], read: Read<'_>) -> Self {
        let known = snapshot.instructions.iter_enumerated().filter_map(|(id, &inst)| {
            let (name, offset) = place_of(inst)?;
            Some((id, read(&name, offset)?))
        });
        let uses: Vec<(InstId, i64)> = known.collect();
        let assumed: Vec<InstId> = uses.iter().map(|&(inst, _)| inst).collect();
        if assumed.is_empty() {
            return Self::default();
        }
        places(snapshot, points, &assumed)
            .map_or_else(Self::default, |places| Assumed { uses, places })
    }

    /// Makes constants of what is assumed, in a version.
    pub fn apply(&self, version: &CodeSnapshot<'_>) {
        for &(inst, is) in &self.uses {
            let inst = version.instructions[inst];
            inst.replace_uses(inst.value().ty().constant(is.cast_unsigned()));
        }
    }
}

/// The variable that an assumption is about: a global, and bytes behind its beginning.
fn place_of(inst: Inst<'_>) -> Option<(String, i64)> {
    let callee = inst.called_function()?;
    if !callee.name().starts_with("llvm.annotation.") {
        return None;
    }
    let mut operands = inst.operands();
    let (loaded, text) = (operands.next()?, operands.next()?);
    let load = loaded.as_inst().filter(|load| load.opcode_name() == "load")?;
    if text.c_text().as_deref() != Some(ANNOTATION) || loaded.ty().bits() != i64::BITS {
        return None;
    }
    load.operands().next()?.constant_place()
}

/// True for atomic operations that may see what another thread has done before, but for the loads
/// of what is assumed.
fn may_synchronize(snapshot: &CodeSnapshot<'_>, inst: InstId, assumed: &[InstId]) -> bool {
    let of = snapshot.instructions[inst];
    if !of.map_facts().is_anchor() {
        return false;
    }
    match of.opcode_name().as_str() {
        "fence" | "cmpxchg" | "atomicrmw" => true,
        "load" => {
            let loaded = |&by: &InstId| snapshot.instructions[by].operands().next();
            !assumed.iter().any(|by| loaded(by) == Some(of.value()))
        }
        _ => false,
    }
}

/// Where a function is left: where it begins, behind calls and what may synchronize, and at the
/// heads of loops, if something that is assumed can be reached from there. `None`: it cannot be
/// left at one of these.
fn places(
    snapshot: &CodeSnapshot<'_>,
    points: &[Point],
    assumed: &[InstId],
) -> Option<Vec<InstId>> {
    let (body, code) = (&snapshot.body, &snapshot.body.code);
    let block_of = |inst: InstId| code.instructions[inst].block;
    let mut reaches: TiVec<BlockId, bool> = vec![false; code.of_block.len()].into();
    assumed.iter().for_each(|&inst| reaches[block_of(inst)] = true);
    loop {
        let reaching = |block: BlockId| body.successors(block).any(|next| reaches[next]);
        let more: Vec<BlockId> =
            reaches.keys().filter(|&block| !reaches[block] && reaching(block)).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|block| reaches[block] = true);
    }
    let in_block = |block: BlockId, from: InstId| {
        assumed.iter().copied().filter(move |&inst| block_of(inst) == block && inst >= from)
    };
    let matters = |block: BlockId, from: InstId| {
        in_block(block, from).next().is_some() || body.successors(block).any(|next| reaches[next])
    };
    // The first point from an instruction on, in its block.
    let first = |block: BlockId, from: InstId| {
        let point = &points.get(points.partition_point(|point| point.at < from))?;
        let is_before = in_block(block, from).all(|inst| point.at <= inst);
        let fits = block_of(point.at) == block && point.refusal.is_none() && is_before;
        fits.then_some(point.at)
    };
    let entry = BlockId::ENTRY;
    let mut places = Vec::new();
    if reaches[entry] {
        places.push(first(entry, code.first_non_phi(entry))?);
    }
    for (inst, &call) in snapshot.instructions.iter_enumerated() {
        if !call.facts().is_real_call() && !may_synchronize(snapshot, inst, assumed) {
            continue;
        }
        #[cfg(feature = "mutants")]
        if Mutant::FrameKept.is_on() {
            continue;
        }
        let block = block_of(inst);
        let next = InstId::from(usize::from(inst) + 1);
        if next < code.of_block[block].end {
            if matters(block, next) {
                places.push(first(block, next)?);
            }
        } else {
            for to in body.successors(block).filter(|&to| reaches[to]) {
                places.push(first(to, code.first_non_phi(to))?);
            }
        }
    }
    for each in &loops(body, &dominators(body)).loops {
        if reaches[each.header] {
            places.push(first(each.header, code.first_non_phi(each.header))?);
        }
    }
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// Specializes a callee that is about to be inlined. Where it is left, its base version goes on,
/// and returns to the caller. Returns how many guards there are.
pub fn specialize_callee<'m>(callee: Function<'m>, shared: Shared<'m>, read: Read<'_>) -> usize {
    callee.allow_optimization();
    callee.prepare_for_points();
    let snapshot = read_code(callee);
    let all = points(&snapshot.body, &liveness(&snapshot.body), callee.facts());
    let assumed = Assumed::of(&snapshot, &all, read);
    if assumed.uses.is_empty() {
        return 0;
    }
    let departure = |&at: &InstId| {
        let point = all.iter().find(|point| point.at == at).expect("it is one of these");
        Guard { holds: Holds::Valid, shared }.departure(&snapshot, &all, point)
    };
    let departures: Vec<_> = assumed.places.iter().map(departure).collect();
    let guards = departures.len();
    let site = |departure| PlannedSite {
        departure,
        from: None,
        to: 0,
        is_inserted: true,
        kind: SiteKind::KeepsFrame,
    };
    let plan = Plan {
        departures,
        continuations: vec![Continuation {
            name: format!("{}.osr", callee.name()),
            body: Body::CopyOf(&snapshot),
            entries: (0..guards).collect(),
            dead: Dead::default(),
        }],
        sites: (0..guards).map(site).collect(),
        passing: Passing::Together { has_selector: true },
        chain: false,
        preserves_none: false,
        material: Material::NONE,
        description: None,
    };
    let weaver = Weaver::declare(callee, &plan);
    weaver.build(None);
    weaver.continuation(0).forbid_specialization();
    weaver.insert(&snapshot, None);
    assumed.apply(&snapshot);
    guards
}
