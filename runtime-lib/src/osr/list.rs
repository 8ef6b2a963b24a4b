//! The table of points that `MIDFLIGHT_OSR_FIRE=list` prints on standard error.

use crate::file::{BUFFER, Buffered, Failure};
use crate::message::Decimal;
use crate::osr::choice;
use crate::osr::image::{self, Image};
use crate::osr::log;
use crate::osr::record::Site;
use crate::osr::state::State;
use core::sync::atomic::Ordering;
use midflight_profile::format::Sink;
use midflight_profile::visible_pieces;

const HITS_WIDTH: usize = 12;
const CONDITION_WIDTH: usize = 9;

/// Prints all points with their hits. Those that are not fuzzed do not count theirs.
pub fn print(state: &State, buffer: &mut [u8; BUFFER]) -> Result<(), Failure> {
    let points = || image::all(state).flat_map(Image::functions).flat_map(|f| f.points());
    let mut to = Buffered::to_standard_error(buffer);
    to.put(b"midflight: ")?;
    to.put(Decimal::new(points().count() as u64).bytes())?;
    to.put(b" OSR points in process ")?;
    to.put(Decimal::new(state.process.unsigned_abs().into()).bytes())?;
    to.put(b"\n")?;
    put_right(b"hits", &mut to)?;
    to.put(b"  condition  point  (file:line)\n")?;
    for point in points() {
        put_row(point, &mut to)?;
    }
    to.flush()
}

fn put_row<S: Sink>(point: Site, to: &mut S) -> Result<(), S::Error> {
    if choice::is_fuzzed(point) {
        put_right(Decimal::new(point.hits().load(Ordering::Relaxed)).bytes(), to)?;
    } else {
        put_right(b"-", to)?;
    }
    let condition = log::condition(point);
    to.put(b"  ")?;
    to.put(condition)?;
    put_spaces(CONDITION_WIDTH.saturating_sub(condition.len()), to)?;
    to.put(b"  ")?;
    put_visible(point.name(), to)?;
    to.put(b"  (")?;
    put_visible(point.function().file(), to)?;
    if point.info().line != 0 {
        to.put(b":")?;
        to.put(Decimal::new(point.info().line.into()).bytes())?;
    }
    to.put(b")\n")
}

fn put_right<S: Sink>(text: &[u8], to: &mut S) -> Result<(), S::Error> {
    put_spaces(HITS_WIDTH.saturating_sub(text.len()), to)?;
    to.put(text)
}

fn put_spaces<S: Sink>(count: usize, to: &mut S) -> Result<(), S::Error> {
    (0..count).try_for_each(|_| to.put(b" "))
}

fn put_visible<S: Sink>(text: &[u8], to: &mut S) -> Result<(), S::Error> {
    visible_pieces(text).try_for_each(|piece| to.put(piece))
}
