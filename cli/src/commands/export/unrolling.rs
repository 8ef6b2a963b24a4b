//! Which loops the compiler should unroll, and by how much: what cyclic paths tell and counts of
//! edges do not.

use crate::analysis::behaviour::loops::{NaturalLoop, loops};
use crate::analysis::behaviour::{behaviour, hints, trips};
use crate::analysis::rank::Ranked;
use midflight_profile::weights::LoopWeights;

/// Loops with less than one in so many of the program's instructions are left alone.
const SMALLEST_PART: u128 = 1000;
/// No loop is unrolled by more.
const MOST: u64 = 8;

/// The loops of a function that should be unrolled, where the program has executed `all`
/// instructions.
///
/// By how much is a divisor of the number of rounds where that is always the same, so that none is
/// left over; else what [`hints`] say of long runs and of sequences that repeat themselves.
pub fn of(ranked: &Ranked<'_>, all: u128) -> Vec<LoopWeights> {
    let is_hot = |l: &NaturalLoop| l.around > 0 && l.own_work >= all.div_ceil(SMALLEST_PART);
    if ranked.work < all.div_ceil(SMALLEST_PART) {
        return Vec::new();
    }
    let hot: Vec<NaturalLoop> = loops(ranked).into_iter().filter(is_hot).collect();
    if hot.is_empty() {
        return Vec::new();
    }
    let ipf = ranked.k_ipf();
    let reports = behaviour(ranked, &ipf);
    let of_loop = |l: &NaturalLoop| {
        let fixed = trips::fixed(ranked, &ipf, ranked.function.k(), l);
        let report = reports.iter().find(|report| report.header == l.header)?;
        let by_iterations = || hints::unroll(ranked.function, report, ranked.function.k());
        let unroll = fixed.and_then(divisor).or_else(by_iterations)?;
        Some(LoopWeights { header: l.header, unroll })
    };
    hot.iter().filter_map(of_loop).collect()
}

/// The largest number from 2 to [`MOST`] that divides `rounds`.
fn divisor(rounds: u64) -> Option<u32> {
    (2..=MOST).rev().find(|by| rounds.is_multiple_of(*by)).map(|by| by as u32)
}
