//! From a run that differs to one point, and one hit of it, that makes it differ alone.

use crate::commands::osr::fuzz::judge::Judge;
use crate::commands::osr::fuzz::log::{Point, PointName};
use crate::commands::osr::fuzz::plan::Fire;
use crate::commands::osr::fuzz::program::{Difference, ProgramError};
use std::collections::BTreeSet;
use std::time::Instant;

/// So many hits of a point are tried one by one, spread over all.
const HITS: u64 = 64;

/// The simplest firing with a difference that can be found, and the difference; the run itself if
/// no point makes one alone.
pub fn to_one_point(
    judge: &Judge<'_>,
    fire: Fire,
    fired: &BTreeSet<PointName>,
    difference: Difference,
    deadline: Option<Instant>,
) -> Result<(Fire, Difference), ProgramError> {
    if matches!(fire, Fire::At(..)) || difference.kind == "not-fired" {
        return Ok((fire, difference));
    }
    // A run that crashed has logged nothing.
    let is_suspect = |point: &&Point| fired.is_empty() || fired.contains(&point.name);
    let suspects: Vec<&Point> = judge.points.iter().filter(is_suspect).collect();
    let at = |point: &&Point| Fire::At(point.name.clone(), None);
    let alone: Vec<Fire> = suspects.iter().map(at).collect();
    let Some((found, difference)) = first(judge, &alone, deadline)? else {
        return Ok((fire, difference));
    };
    let point = suspects.iter().find(|point| at(point) == found);
    let hits = point.map(|point| hits_of(point)).unwrap_or_default();
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
    fires: &[Fire],
    deadline: Option<Instant>,
) -> Result<Option<(Fire, Difference)>, ProgramError> {
    let verdicts = judge.run_all(fires, deadline, true)?;
    let real = |difference: &Difference| difference.kind != "not-fired";
    Ok(verdicts
        .into_iter()
        .find_map(|v| v.difference.filter(real).map(|difference| (v.fire, difference))))
}
