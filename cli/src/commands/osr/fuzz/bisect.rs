//! From a run that differs to one point, and one hit of it, that makes it differ alone.

use crate::commands::osr::fuzz::judge::Judge;
use crate::commands::osr::fuzz::log::{Point, PointName};
use crate::commands::osr::fuzz::plan::{Fire, Firing};
use crate::commands::osr::fuzz::program::{Difference, ProgramError};
use std::collections::BTreeSet;
use std::time::Instant;

/// So many hits of a point are tried one by one, spread over all.
const HITS: u64 = 64;

/// The simplest firing with a difference that can be found, and the difference; the run itself if
/// no point makes one alone.
pub fn to_one_point(
    judge: &Judge<'_>,
    firing: Firing,
    fired: &BTreeSet<PointName>,
    difference: Difference,
    deadline: Option<Instant>,
) -> Result<(Firing, Difference), ProgramError> {
    let is_narrow = matches!(firing.fire(), None | Some(Fire::At(..)));
    if is_narrow || difference.kind == "not-fired" {
        return Ok((firing, difference));
    }
    let is_exits = matches!(firing, Firing::Exits(_));
    let firing_of = |fire| if is_exits { Firing::Exits(fire) } else { Firing::Points(fire) };
    let points = if is_exits { &judge.open } else { &judge.points };
    // A run that crashed has logged nothing.
    let is_suspect = |point: &&Point| fired.is_empty() || fired.contains(&point.name);
    let suspects: Vec<&Point> = points.iter().filter(is_suspect).collect();
    let at = |point: &&Point| firing_of(Fire::At(point.name.clone(), None));
    let alone: Vec<Firing> = suspects.iter().map(at).collect();
    let Some((found, difference)) = first(judge, &alone, deadline)? else {
        return Ok((firing, difference));
    };
    let point = suspects.iter().find(|point| at(point) == found);
    let hits = point.map(|point| hits_of(point)).unwrap_or_default();
    let hits: Vec<Firing> = hits.into_iter().map(firing_of).collect();
    Ok(first(judge, &hits, deadline)?.unwrap_or((found, difference)))
}

fn hits_of(point: &Point) -> Vec<Fire> {
    let at = |hit| Fire::At(point.name.clone(), Some(hit));
    let step = point.hits.div_ceil(HITS).max(1);
    let spread = (1..point.hits).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    spread.chain([point.hits]).map(at).collect()
}

fn first(
    judge: &Judge<'_>,
    firings: &[Firing],
    deadline: Option<Instant>,
) -> Result<Option<(Firing, Difference)>, ProgramError> {
    let verdicts = judge.run_all(firings, deadline, true)?;
    let real = |difference: &Difference| difference.kind != "not-fired";
    Ok(verdicts
        .into_iter()
        .find_map(|v| v.difference.filter(real).map(|difference| (v.firing, difference))))
}
