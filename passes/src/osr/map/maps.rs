//! Mappings as data that other programs read (`print<osr-map;maps>`, `osr-opt<maps=section>`), and
//! back. The formats are described in `docs/osr-report.md` and `docs/format.md`.

use crate::osr::map::read::Handles;
use crate::osr::map::report::texts;
use midflight_ir::ids::{InstId, ValueId};
use midflight_mapping::mapping::history::{History, Way};
use midflight_mapping::mapping::mapper::{Mapper, OsrMap};
use midflight_mapping::mapping::reconstruct::{Expr, PointMap, Variant};
use midflight_mapping::refusal::Refusal;
use midflight_mapping::versions::graph::Graph;
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_profile::osr_maps::{Both, Came, MapExpr, MapPoint, Maps, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Data that is no mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A reason that there is not
    #[error(
        "reading OSR mappings: the point before instruction {at} is refused for '{name}', which is no reason; write one of the names in docs/osr.md"
    )]
    Reason {
        /// The point's instruction
        at: usize,
        /// The name
        name: String,
    },
    /// A number that no instruction or value has
    #[error(
        "reading OSR mappings: the point before instruction {at} names instruction or value {number}; numbers are below 2^32"
    )]
    Number {
        /// The point's instruction
        at: usize,
        /// The number
        number: usize,
    },
    /// An expression that is not there, or comes later
    #[error(
        "reading OSR mappings: the point before instruction {at} uses expression {expr} before it is there; name former expressions only"
    )]
    Order {
        /// The point's instruction
        at: usize,
        /// The expression
        expr: usize,
    },
}

fn written(expr: &Expr) -> MapExpr {
    let code = |_| unreachable!("only a compiler writer's state map has code");
    expr.map(usize::from, usize::from, |constant| constant, code)
}

fn read(expr: &MapExpr) -> Expr {
    expr.map(ValueId::from, InstId::from, |constant| constant, |never| match never {})
}

/// The instruction or value that an expression names.
fn named(expr: &MapExpr) -> Option<usize> {
    match *expr {
        MapExpr::Source { source: number }
        | MapExpr::Repeat { repeat: number, .. }
        | MapExpr::Content { content: number, .. }
        | MapExpr::Narrow { narrow: number, .. } => Some(number),
        MapExpr::Constant { .. } | MapExpr::Code { .. } => None,
    }
}

/// Where the point of a number, which is before an instruction, leads.
pub fn write_point(point: usize, at: InstId, map: &Result<PointMap, Refusal>) -> MapPoint {
    match map {
        Ok(map) => MapPoint::Leads {
            point,
            at: at.into(),
            landing: map.landing.into(),
            values: map.values.iter().map(|&(value, expr)| (value.into(), expr)).collect(),
            exprs: map.exprs.iter().map(written).collect(),
            stores: map.stores.iter().map(|store| store.map(usize::from, |expr| expr)).collect(),
            differs: map.differs,
            keep: map.keep.iter().map(|&value| value.into()).collect(),
            ahead: map.ahead.as_ref().map(|ahead| ahead.map(usize::from)),
            came: None,
        },
        Err(refusal) => {
            MapPoint::Refused { point, at: at.into(), refused: refusal.name().to_string() }
        }
    }
}

/// All that is known of a point of a version: one mapping, or one for each way to it.
fn write_ways(graph: &Graph, map: &OsrMap, point: usize, at: InstId) -> Vec<MapPoint> {
    if let Some(refusal) = map.refusal(point) {
        return vec![write_point(point, at, &Err(refusal))];
    }
    let one = |(way, map): (Option<&Way>, &PointMap)| {
        let mut one = write_point(point, at, &Ok(map.clone()));
        if let (MapPoint::Leads { came, .. }, Some(way)) = (&mut one, way) {
            let History { block, from } = &way.history;
            let from = from.iter().map(|&block| graph.terminator(block).into()).collect();
            *came = Some(Came { into: graph.body.code.of_block[*block].start.into(), from });
        }
        one
    };
    map.leads(point).map(one).collect()
}

/// What [`write_point`] was given.
///
/// # Errors
/// [`MapError`] if it cannot have been made so.
pub fn read_point(point: &MapPoint) -> Result<Result<PointMap, Refusal>, MapError> {
    match point {
        MapPoint::Refused { at, refused, .. } => {
            let reason = Refusal::ALL.into_iter().find(|reason| reason.name() == refused);
            let error = || MapError::Reason { at: *at, name: refused.clone() };
            reason.map(Err).ok_or_else(error)
        }
        MapPoint::Leads { at, landing, values, exprs, stores, differs, keep, ahead, .. } => {
            let of_ahead = ahead.iter().flat_map(|ahead| ahead.runs.iter().chain([&ahead.to]));
            let numbers = values.iter().map(|(value, _)| value).chain(keep).chain(of_ahead);
            let numbers = numbers.chain([landing]);
            let numbers = numbers.chain(stores.iter().map(|store| &store.store)).copied();
            let mut numbers = numbers.chain(exprs.iter().filter_map(named));
            if let Some(number) = numbers.find(|&number| u32::try_from(number).is_err()) {
                return Err(MapError::Number { at: *at, number });
            }
            let exprs: Vec<Expr> = exprs.iter().map(read).collect();
            for (number, expr) in exprs.iter().enumerate() {
                if let Some(&expr) = expr.operands().iter().find(|&&o| o >= number) {
                    return Err(MapError::Order { at: *at, expr });
                }
            }
            let of_stores = stores.iter().flat_map(|store| [store.value, store.address]);
            let mut used = values.iter().map(|&(_, expr)| expr).chain(of_stores);
            if let Some(expr) = used.find(|&expr| expr >= exprs.len()) {
                return Err(MapError::Order { at: *at, expr });
            }
            Ok(Ok(PointMap {
                landing: (*landing).into(),
                values: values.iter().map(|&(value, expr)| (value.into(), expr)).collect(),
                stores: stores.iter().map(|store| store.map(InstId::from, |expr| expr)).collect(),
                differs: *differs,
                ahead: ahead.as_ref().map(|ahead| ahead.map(InstId::from)),
                sources: sources(&exprs),
                exprs,
                keep: keep.iter().map(|&value| value.into()).collect(),
            }))
        }
    }
}

/// Mappings of both directions as data: each point, and all instructions.
pub fn write_maps(
    mapper: &Mapper<'_>,
    handles: &Handles<'_, '_>,
    maps: &PerVersion<OsrMap>,
) -> Maps {
    let mut constants = BTreeMap::new();
    let exprs = maps.iter().flat_map(OsrMap::all).flat_map(|map| &map.exprs);
    for expr in exprs {
        if let Expr::Constant { constant } = expr {
            constants
                .entry(*constant)
                .or_insert_with(|| handles.constant(*constant).operand_text());
        }
    }
    let points = |from: Version| -> Vec<MapPoint> {
        let graph = mapper.proof.versions.graph(from);
        let points = mapper.sides[from].points.iter().enumerate();
        points.flat_map(|(p, point)| write_ways(graph, &maps[from], p, point.at)).collect()
    };
    Maps {
        arguments: mapper.proof.versions.of.base.graph.body.code.arguments,
        instructions: handles.snapshots.map(|snapshot| texts(snapshot).into()),
        constants,
        points: Both::from_fn(points),
    }
}

/// The mappings of the strength `avail`, as [`write_maps`] has them.
pub fn strongest(mapper: &Mapper<'_>, handles: &Handles<'_, '_>) -> Maps {
    let maps = PerVersion::from_fn(|from| mapper.map(from, Variant::Avail));
    write_maps(mapper, handles, &maps)
}

/// What is worth a place in a binary: the points that were asked for, and the texts of the
/// instructions that their mappings name.
pub fn for_binary(mut maps: Maps) -> Maps {
    let unasked = Refusal::NotListed.name();
    let mut named = PerVersion::<BTreeSet<_>>::default();
    let Both { base_to_opt, opt_to_base } = &mut maps.points;
    for (from, points) in [(Version::Base, base_to_opt), (Version::Opt, opt_to_base)] {
        points.retain(|p| !matches!(p, MapPoint::Refused { refused, .. } if refused == unasked));
        let of_value = |value: usize| value.checked_sub(maps.arguments);
        for point in points {
            named[from].insert(point.at());
            let MapPoint::Leads { landing, values, exprs, stores, keep, ahead, came, .. } = point
            else {
                continue;
            };
            named.base.extend(stores.iter().map(|store| store.store));
            named[from.other()].insert(*landing);
            named[from].extend(ahead.iter().flat_map(|ahead| ahead.insts()));
            named[from].extend(came.iter().flat_map(|came| came.from.iter().chain([&came.into])));
            named[from.other()].extend(values.iter().filter_map(|&(value, _)| of_value(value)));
            named[from].extend(keep.iter().filter_map(|&value| of_value(value)));
            named[from.other()].extend(exprs.iter().filter_map(MapExpr::template));
            for expr in exprs {
                match expr {
                    MapExpr::Source { source } => named[from].extend(of_value(*source)),
                    MapExpr::Content { content, .. } => {
                        named.base.insert(*content);
                    }
                    MapExpr::Constant { .. }
                    | MapExpr::Repeat { .. }
                    | MapExpr::Narrow { .. }
                    | MapExpr::Code { .. } => {}
                }
            }
        }
    }
    for which in Version::BOTH {
        let texts = &mut maps.instructions[which];
        let unnamed = texts.iter_mut().enumerate().filter(|(inst, _)| !named[which].contains(inst));
        unnamed.for_each(|(_, text)| text.clear());
        texts.iter_mut().for_each(drop_attachments);
    }
    maps
}

/// Drops the metadata at the end of an instruction and its groups of attributes: their numbers mean
/// something in their module only.
fn drop_attachments(text: &mut String) {
    while let Some((rest, last)) = text.rsplit_once(", !") {
        let is_attachment = last
            .split_once(" !")
            .is_some_and(|(kind, number)| !kind.contains(' ') && is_number(number));
        if !is_attachment {
            break;
        }
        text.truncate(rest.len());
    }
    let mut quotes = 0;
    let kept = text.split_inclusive([' ', '\n']).filter(|word| {
        quotes += word.matches('"').count();
        quotes % 2 == 1 || !word.trim_end().strip_prefix('#').is_some_and(is_number)
    });
    let kept: String = kept.collect();
    *text = kept.trim_end().to_string();
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
