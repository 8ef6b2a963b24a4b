//! The plan of a multi-version program (thesis 4.2.4): points in base and in both continuations.
//!
//! ```text
//! base ──► opt.osr ◄──► base.osr
//! ```
//!
//! The first transition of an activation is a call; from then on the continuations move into each
//! other by tail calls of one prototype, so that the stack stays as it is. Each continuation is
//! entered at as many landings as the other version has points that lead there; the compensation
//! code is at its entries.

use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::weave::{
    Body, Continuation, Dead, Departure, Passing, Plan, PlannedSite, SiteKind,
};
use crate::read_code::CodeSnapshot;
use midflight_ir::ids::InstId;
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::mapper::OsrMap;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::mapping::side::Side;
use midflight_mapping::versions::facts::VersionFacts;
use midflight_mapping::versions::version::{PerVersion, Version};
use std::borrow::Cow;

/// What is woven together.
pub struct MultiVersion<'a, 'm> {
    /// Base and opt
    pub snapshots: &'a PerVersion<CodeSnapshot<'m>>,
    /// For each version and point the instruction that it is before
    pub at: &'a PerVersion<Vec<InstId>>,
    /// For each version and point whether it is one of the version's continuation too
    pub further: &'a PerVersion<Vec<bool>>,
    /// The mappings both ways
    pub maps: &'a PerVersion<OsrMap>,
    /// For each version what never runs in its continuation
    pub dead: PerVersion<Dead>,
    /// What mappings refer to
    pub material: Material<'a, 'm>,
    /// When points of each version fire
    pub conditions: PerVersion<Condition>,
    /// The record of the mappings for the binary, if it is to have one
    pub description: Option<Vec<u8>>,
}

/// A point that leads somewhere, or one of the ways to it.
struct Leading<'a> {
    version: Version,
    point: usize,
    map: &'a PointMap,
    way: Option<&'a Way>,
}

impl<'a, 'm> MultiVersion<'a, 'm> {
    /// The plan; none if nothing leads from base to opt.
    pub fn plan(self) -> Option<Plan<'a, 'm>> {
        let MultiVersion { snapshots, at, further, maps, .. } = self;
        let name = snapshots.base.function.name();
        let mut points: Vec<Leading<'a>> = Vec::new();
        for version in Version::BOTH {
            for point in 0..maps[version].points.len() {
                let leads = maps[version].leads(point);
                points.extend(leads.map(|(way, map)| Leading { version, point, map, way }));
            }
        }
        if points.iter().all(|leading| leading.version != Version::Base) {
            return None;
        }
        let departure = |&Leading { version, point, map, way }: &Leading<'a>| {
            let opt = if version == Version::Opt { ".opt" } else { "" };
            Departure {
                version: &snapshots[version],
                at: at[version][point],
                name: format!("{name}{opt}#{point}"),
                condition: self.conditions[version],
                guard: None,
                way,
                map: Cow::Borrowed(map),
            }
        };
        let leaving = |which: Version| {
            points.iter().enumerate().filter(move |(_, leading)| leading.version == which)
        };
        let continuation = |which: Version, what: &str, body: Body<'a, 'm>, dead: Dead| {
            let entries = leaving(which.other()).map(|(departure, _)| departure).collect();
            Continuation { name: format!("{name}.{what}.osr"), body, entries, dead }
        };
        let PerVersion { base: of_base, opt: of_opt } = self.dead;
        let (base, opt) = (Body::CopyOf(&snapshots.base), Body::Of(&snapshots.opt));
        let continuations = vec![
            continuation(Version::Base, "base", base, of_base),
            continuation(Version::Opt, "opt", opt, of_opt),
        ];
        let sites = |which: Version, from: Option<usize>| {
            leaving(which).map(move |(departure, &Leading { point, .. })| PlannedSite {
                departure,
                from,
                to: number(which.other()),
                is_inserted: from.is_none() || further[which][point],
                kind: SiteKind::Plain,
            })
        };
        let [base, opt] = Version::BOTH;
        let mut all: Vec<_> = sites(base, None).chain(sites(opt, Some(number(opt)))).collect();
        all.extend(sites(base, Some(number(base))));
        Some(Plan {
            departures: points.iter().map(departure).collect(),
            sites: all,
            continuations,
            passing: Passing::Together { has_selector: true },
            chain: true,
            preserves_none: false,
            material: self.material,
            description: self.description,
        })
    }
}

/// The place of a version's continuation.
fn number(which: Version) -> usize {
    match which {
        Version::Base => 0,
        Version::Opt => 1,
    }
}

/// What never runs in the continuation of a version: what cannot be reached, edges that are never
/// taken, and what nothing needs.
pub fn dead(side: &Side, version: &VersionFacts) -> Dead {
    let VersionFacts { graph, live, .. } = version;
    let code = &graph.body.code;
    let is_dead = |&inst: &InstId| {
        let instruction = &code.instructions[inst];
        let facts = instruction.facts;
        live.reached[instruction.block]
            && !side.is_useful_inst(inst)
            && !facts.is_terminator()
            && !facts.is_static_alloca()
    };
    Dead {
        blocks: live.unreached(),
        edges: live.untaken(graph),
        instructions: code.instructions.keys().filter(is_dead).collect(),
    }
}
