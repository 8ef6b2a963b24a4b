//! Whether a fuzzed point fires.
//!
//! Emitted code asks when its fuel is used up, which is how `every` and `random` work, or when the
//! point is armed, which is how the other modes do. It asks from anywhere, so nothing here waits.
//!
//! Threads share the fuel without locked instructions: they may use less than they should, or find
//! it used up several times. So with threads `every` and `random` fire about as often as they say;
//! the other modes are exact.

use crate::osr::fire::Fire;
use crate::osr::gap::Gaps;
use crate::osr::record::Function;
use core::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use midflight_abi::osr::OsrFunction;

/// Fuel that is never used up.
const ENDLESS: i64 = i64::MAX;

/// Alone in its cache line, since all threads write to it.
#[repr(C, align(64))]
struct Fuel(AtomicI64);

/// Hits of fuzzed points until the runtime wants to be asked.
#[unsafe(export_name = "midflight_osr_fuel")]
static FUEL: Fuel = Fuel(AtomicI64::new(ENDLESS));

/// `NEVER`, …
static DECISION: AtomicU8 = AtomicU8::new(NEVER);
const NEVER: u8 = 0;
/// At each hit.
const EACH: u8 = 1;
/// At the hit with number `NUMBER` of its point.
const NUMBERED: u8 = 2;
/// Every `NUMBER`-th hit.
const EVERY: u8 = 3;
/// As `GAPS` says.
const RANDOM: u8 = 4;

static NUMBER: AtomicU64 = AtomicU64::new(0);
static GAPS: Gaps = Gaps::new();

/// Lets fuzzed points fire as the environment says.
pub fn begin(fire: &Fire) {
    let (decision, fuel) = match *fire {
        Fire::Never | Fire::List | Fire::Arm(_) => (NEVER, ENDLESS),
        Fire::Always | Fire::At { hit: None, .. } => (EACH, ENDLESS),
        Fire::At { hit: Some(number), .. } => {
            NUMBER.store(number, Ordering::Relaxed);
            (NUMBERED, ENDLESS)
        }
        Fire::Every(number) => {
            NUMBER.store(number, Ordering::Relaxed);
            (EVERY, number.cast_signed())
        }
        Fire::Random { seed, probability } => {
            GAPS.start(seed, probability);
            (RANDOM, GAPS.next())
        }
    };
    DECISION.store(decision, Ordering::Release);
    FUEL.0.store(fuel, Ordering::Relaxed);
}

/// Decides whether a fuzzed site fires, and counts the hit and the transition.
///
/// # Safety
/// `record` is a record of an image that is mapped.
#[unsafe(no_mangle)]
unsafe extern "C" fn midflight_osr_hit(record: *mut OsrFunction, site: u32) -> bool {
    // SAFETY: the caller's.
    let Some(function) = (unsafe { Function::emitted(record) }) else { return false };
    let Some(site) = function.site(site) else { return false };
    let Some(base) = site.base() else { return false };
    let hits = base.hits().fetch_add(1, Ordering::Relaxed) + 1;
    let fires = match DECISION.load(Ordering::Acquire) {
        EACH => true,
        NUMBERED => hits == NUMBER.load(Ordering::Relaxed),
        EVERY => {
            FUEL.0.store(NUMBER.load(Ordering::Relaxed).cast_signed(), Ordering::Relaxed);
            true
        }
        RANDOM => {
            FUEL.0.store(GAPS.next(), Ordering::Relaxed);
            true
        }
        _ => false,
    };
    if fires {
        site.transitions().fetch_add(1, Ordering::Relaxed);
    }
    fires
}
