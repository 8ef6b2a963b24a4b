//! What can be said of the mappings of a function, in the format of
//! `midflight_profile::osr_maps::report`.

use crate::osr::map::actions::{actions, claims};
use crate::osr::map::keep::Feasible;
use crate::osr::map::optimize::TwoVersions;
use crate::osr::map::parts::parts;
use crate::osr::map::read::Handles;
use crate::read_code::CodeSnapshot;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::mapping::history::{History, Way};
use midflight_mapping::mapping::mapper::{Mapper, OsrMap};
use midflight_mapping::mapping::reconstruct::{
    Expr, PointMap, VARIANTS, Variant as MappingVariant,
};
use midflight_mapping::proof::partings::{Parting, Partings};
use midflight_mapping::refusal::Refusal;
use midflight_mapping::versions::graph::Operand;
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_profile::osr_maps::report::{
    Block, Compensation, Detail, Function, Instruction, Mapping, Place, Points, Reasons, Size,
    Unproved, Variant,
};
use midflight_profile::osr_maps::{Both, name_in};
use typed_index_collections::TiVec;

/// Refusals of a point for itself: it is no point of any mapping. What a mapping says is never
/// reached is so whatever the mapping.
fn is_of_itself(
    mapper: &Mapper<'_>,
    map: &OsrMap,
    which: Version,
    point: usize,
) -> Option<Refusal> {
    let side = &mapper.sides[which];
    let version = &mapper.proof.versions.of[which];
    let block = version.graph.block(side.points[point].at);
    let is_unreached =
        !version.live.reached[block] || map.refusal(point) == Some(Refusal::NeverReached);
    side.points[point].refusal.or(is_unreached.then_some(Refusal::NeverReached))
}

/// How many points of each version lead to the other one, of those that are points at all.
pub fn feasible(mapper: &Mapper<'_>) -> PerVersion<Feasible> {
    PerVersion::from_fn(|from| {
        let map = mapper.map(from, MappingVariant::Avail);
        let points = 0..map.points.len();
        let counted: Vec<usize> =
            points.filter(|&p| is_of_itself(mapper, &map, from, p).is_none()).collect();
        let count = counted.iter().filter(|&&p| map.refusal(p).is_none()).count();
        Feasible { count, of: counted.len() }
    })
}

/// Reports on a function. With `detail`, everything that a picture shows.
pub fn report<'m>(
    two: &TwoVersions<'m>,
    mapper: &Mapper<'_>,
    handles: &Handles<'_, 'm>,
    sandbox: &Sandbox,
    detail: bool,
) -> Function {
    let versions = &mapper.proof.versions;
    let phis =
        |which: Version| count(versions.graph(which).nodes.iter().filter(|n| n.facts.is_phi()));
    let directions = PerVersion::from_fn(|from| Direction::new(mapper, from));
    let detail = detail.then(|| {
        let texts = Texts::new(mapper, handles);
        Detail {
            base: texts.code(Version::Base),
            opt: texts.code(Version::Opt),
            base_to_opt: texts.points(&directions.base, Version::Base),
            opt_to_base: texts.points(&directions.opt, Version::Opt),
        }
    });
    Function {
        name: two.base.name(),
        instructions: PerVersion::from_fn(|which| versions.graph(which).nodes.len() as u64),
        phis: PerVersion::from_fn(phis),
        actions: actions(two, handles, versions),
        claims: claims(two, handles, versions, mapper.proof),
        points: Both::from_fn(|from| directions[from].points()),
        parts: parts(mapper, handles, sandbox, &directions),
        compensation: Both::from_fn(|from| directions[from].sizes()),
        keep: Both::from_fn(|from| directions[from].keep()),
        refused: Both::from_fn(|from| directions[from].refused()),
        unproved: unproved(mapper, handles, &directions),
        composed: None,
        maps: None,
        detail,
    }
}

/// The mappings of a direction, at all strengths.
pub(super) struct Direction {
    of_itself: Vec<Option<Refusal>>,
    maps: Vec<OsrMap>,
}

impl Direction {
    fn new(mapper: &Mapper<'_>, from: Version) -> Self {
        let count = mapper.sides[from].points.len();
        let maps: Vec<OsrMap> = VARIANTS.map(|variant| mapper.map(from, variant)).into();
        let most = maps.last().expect("there are strengths");
        let of_itself = (0..count).map(|p| is_of_itself(mapper, most, from, p)).collect();
        Direction { of_itself, maps }
    }

    /// The points that are never reached.
    pub(super) fn unreached(&self) -> impl Iterator<Item = usize> {
        (0..self.of_itself.len()).filter(|&p| self.of_itself[p] == Some(Refusal::NeverReached))
    }

    /// The points that count.
    pub(super) fn counted(&self) -> impl Iterator<Item = usize> {
        (0..self.of_itself.len()).filter(|&p| self.of_itself[p].is_none())
    }

    /// The mappings of a point: one for each way in which control may have come there.
    fn leads(&self, variant: usize, point: usize) -> impl Iterator<Item = &PointMap> {
        self.maps[variant].leads(point).map(|(_, map)| map)
    }

    fn is_mapped(&self, variant: usize, point: usize) -> bool {
        self.leads(variant, point).next().is_some()
    }

    /// True for a point at which OSR is possible.
    pub(super) fn is_feasible(&self, point: usize) -> bool {
        self.weakest(point).is_some()
    }

    /// The weakest strength that a point is feasible with.
    fn weakest(&self, point: usize) -> Option<usize> {
        (0..self.maps.len()).find(|&v| self.is_mapped(v, point))
    }

    fn is_empty(&self, point: usize) -> bool {
        self.is_mapped(0, point) && self.leads(0, point).all(|map| map.size() == 0)
    }

    fn points(&self) -> Points {
        let feasible = |up_to: usize| {
            self.counted().filter(move |&p| (0..=up_to).any(|v| self.is_mapped(v, p)))
        };
        Points {
            total: count(self.counted()),
            empty: count(self.counted().filter(|&p| self.is_empty(p))),
            live: count(feasible(0)),
            live_e: count(feasible(1)),
            alias: count(feasible(2)),
            avail: count(feasible(3)),
            // Nothing else is used.
            proved: count(feasible(3)),
        }
    }

    fn sizes(&self) -> Compensation {
        let sizes = |v: usize| {
            size_of_all(self.counted().flat_map(|p| self.leads(v, p)).map(PointMap::size))
        };
        Compensation { live: sizes(0), live_e: sizes(1), alias: sizes(2), avail: sizes(3) }
    }

    /// Over the points that need a keep set, as the thesis counts.
    fn keep(&self) -> Size {
        let strongest = VARIANTS.len() - 1;
        let kept = self.counted().flat_map(|p| self.leads(strongest, p)).map(|map| map.keep.len());
        size_of_all(kept.filter(|&count| count > 0))
    }

    fn refused(&self) -> Reasons {
        let mut refused = Reasons::new();
        for point in 0..self.of_itself.len() {
            let reason = self.of_itself[point].or(match self.weakest(point) {
                Some(_) => None,
                None => self.maps[VARIANTS.len() - 1].refusal(point),
            });
            if let Some(reason) = reason {
                *refused.entry(reason.name().to_string()).or_default() += 1;
            }
        }
        refused
    }
}

/// Where the proof ended, with the points that this costs.
fn unproved(
    mapper: &Mapper<'_>,
    handles: &Handles<'_, '_>,
    directions: &PerVersion<Direction>,
) -> Vec<Unproved> {
    let proof = mapper.proof;
    let partings = Partings::new(proof);
    if partings.all.is_empty() {
        return Vec::new();
    }
    let mut lost = vec![PerVersion::<u64>::default(); partings.all.len()];
    for from in Version::BOTH {
        let (direction, points) = (&directions[from], &mapper.sides[from].points);
        let refused = direction.counted().filter(|&p| direction.weakest(p).is_none());
        for point in refused {
            if let Some(parting) = partings.of_inst(proof, from, points[point].at) {
                lost[parting][from] += 1;
            }
        }
    }
    let texts = handles.snapshots.map(texts);
    let of_inst = |which: Version, inst: InstId| {
        let inst = proof.folded(which, inst);
        let llvm = handles.snapshots[which].instructions[inst];
        Place { text: texts[which][inst].clone(), operation: llvm.opcode_name(), line: llvm.line() }
    };
    let of_operand = |which: Version, operand: Operand| {
        let (operation, text) = match operand {
            Operand::Constant(constant) => ("constant", handles.constant(constant).text()),
            Operand::Value(value) => match proof.proved().graph(which).definition(value) {
                Some(inst) => return of_inst(which, inst),
                None => ("argument", handles.snapshots[which].value(value).text()),
            },
        };
        Place { text, operation: operation.to_string(), line: 0 }
    };
    let costs = |(_, lost): &(&Parting, PerVersion<u64>)| lost.base + lost.opt > 0;
    let all = partings.all.iter().zip(lost).filter(costs).map(|(parting, lost)| Unproved {
        cause: parting.cause.name().to_string(),
        at: PerVersion::from_fn(|w| of_inst(w, parting.at[w])),
        values: parting.unlike.map(|of| PerVersion::from_fn(|w| of_operand(w, of[w]))),
        lost: Both::from_fn(|from| lost[from]),
    });
    all.collect()
}

fn count(of: impl Iterator) -> u64 {
    of.count() as u64
}

fn size_of_all(sizes: impl Iterator<Item = usize>) -> Size {
    let (mut sum, mut count, mut max) = (0, 0, 0);
    for size in sizes {
        (sum, count, max) = (sum + size, count + 1, max.max(size));
    }
    let mean = if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    // Three digits are more than enough.
    Size { mean: (mean * 1000.0).round() / 1000.0, max: max as u64 }
}

/// The instructions of a snapshot, as in the IR.
pub fn texts(snapshot: &CodeSnapshot<'_>) -> TiVec<InstId, String> {
    // Blocks that cannot be reached are not in the snapshot.
    let mut all: std::collections::HashMap<_, _> =
        snapshot.function.blocks().zip(snapshot.function.texts()).collect();
    let blocks = snapshot.blocks.iter();
    blocks.flat_map(|b| all.remove(b).expect("the function has the block").1).collect()
}

/// Everything in words.
struct Texts<'a, 'm> {
    mapper: &'a Mapper<'a>,
    handles: &'a Handles<'a, 'm>,
    names: PerVersion<TiVec<ValueId, String>>,
    texts: PerVersion<TiVec<InstId, String>>,
    blocks: PerVersion<TiVec<BlockId, String>>,
}

impl<'a, 'm> Texts<'a, 'm> {
    fn new(mapper: &'a Mapper<'a>, handles: &'a Handles<'a, 'm>) -> Self {
        let snapshots = handles.snapshots;
        // Arguments are the same in both versions.
        let names = |which: Version| {
            let names = snapshots[which].names().into_iter_enumerated();
            let version = match which {
                Version::Base => "base",
                Version::Opt => "opt",
            };
            names
                .map(|(value, name)| match snapshots[which].body.code.definition(value) {
                    Some(_) => name_in(version, &name),
                    None => name,
                })
                .collect()
        };
        Texts {
            mapper,
            handles,
            names: PerVersion::from_fn(names),
            texts: snapshots.map(texts),
            blocks: snapshots.map(CodeSnapshot::block_names),
        }
    }

    fn code(&self, which: Version) -> Vec<Block> {
        let graph = self.mapper.proof.versions.graph(which);
        let instruction = |inst: InstId| Instruction {
            text: self.texts[which][inst].clone(),
            point: self.mapper.sides[which].point_at[inst].map(|point| point as u64),
        };
        let blocks = self.blocks[which].iter_enumerated();
        blocks
            .map(|(block, name)| Block {
                block: name.clone(),
                instructions: graph.insts(block).iter().map(instruction).collect(),
            })
            .collect()
    }

    fn points(&self, direction: &Direction, from: Version) -> Vec<Mapping> {
        let names = [Variant::Live, Variant::LiveE, Variant::Alias, Variant::Avail];
        let refused = |p: usize, reason: Option<Refusal>| Mapping {
            point: p as u64,
            came_from: Vec::new(),
            landing: None,
            variant: None,
            compensation: Vec::new(),
            keep: Vec::new(),
            refused: reason.map(|reason| reason.name().to_string()),
        };
        let point = |p: usize| -> Vec<Mapping> {
            let reason = direction.of_itself[p];
            let Some(variant) = direction.weakest(p).filter(|_| reason.is_none()) else {
                let strongest = &direction.maps[VARIANTS.len() - 1];
                return vec![refused(p, reason.or(strongest.refusal(p)))];
            };
            let leads = |(way, map): (Option<&Way>, &PointMap)| Mapping {
                point: p as u64,
                came_from: way.map_or(Vec::new(), |way| self.came_from(from, &way.history)),
                landing: self.mapper.sides[from.other()].point_at[map.landing].map(|p| p as u64),
                variant: Some(if direction.is_empty(p) { Variant::Empty } else { names[variant] }),
                compensation: self.compensation(from, map),
                keep: map.keep.iter().map(|&v| self.names[from][v].clone()).collect(),
                refused: None,
            };
            direction.maps[variant].leads(p).map(leads).collect()
        };
        (0..direction.of_itself.len()).flat_map(point).collect()
    }

    /// The names of the blocks that control came from.
    fn came_from(&self, from: Version, history: &History) -> Vec<String> {
        history.from.iter().map(|&block| self.blocks[from][block].clone()).collect()
    }

    /// The values that need more than to be passed under the same name.
    fn compensation(&self, from: Version, map: &PointMap) -> Vec<String> {
        let to = from.other();
        let graph = self.mapper.proof.versions.graph(to);
        let name = |expr: usize| match &map.exprs[expr] {
            Expr::Source { source } => self.names[from][*source].clone(),
            Expr::Constant { constant } => self.handles.constant(*constant).text(),
            Expr::Repeat { repeat: inst, .. } => {
                format!("{}'", self.names[to][graph.result(*inst)])
            }
            Expr::Content { .. } => format!("memory'{expr}"),
            Expr::Narrow { .. } => format!("narrow'{expr}"),
            Expr::Code { .. } => unreachable!("only a compiler writer's state map has code"),
        };
        let run = |&inst: &InstId| format!("run {}", self.texts[from][inst]);
        let runs = map.ahead.iter().flat_map(|ahead| &ahead.runs);
        let mut lines: Vec<String> = runs.map(run).collect();
        for (number, expr) in map.exprs.iter().enumerate() {
            if let Expr::Content { address, .. } = expr {
                lines.push(format!("memory'{number} = load {}", name(*address)));
            }
            if let Expr::Narrow { of, .. } = expr {
                lines.push(format!("narrow'{number} = trunc {}", name(*of)));
            }
            if let Expr::Repeat { repeat: inst, of } = expr {
                let operands: Vec<String> = of.iter().map(|&o| name(o)).collect();
                let result = &self.names[to][graph.result(*inst)];
                let text = &self.texts[to][*inst];
                let operation = text.split_once(" = ").map_or(text.as_str(), |(_, rest)| rest);
                let operation = operation.split_whitespace().next().unwrap_or_default();
                // A phi is made again as one.
                let operation = if operation == "phi" { "select" } else { operation };
                lines.push(format!("{result}' = {operation} {}", operands.join(", ")));
            }
        }
        for store in &map.stores {
            lines.push(format!("store {}, {}", name(store.value), name(store.address)));
        }
        for &(value, expr) in &map.values {
            let (to_name, from_name) = (&self.names[to][value], name(expr));
            if *to_name != from_name {
                lines.push(format!("{to_name} := {from_name}"));
            }
        }
        lines
    }
}
