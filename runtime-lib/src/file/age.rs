//! Since when the process exists.
//!
//! A process keeps its ID and its age when it becomes another program by `exec`, and so what is
//! younger than it and has its ID in its name is its own.

use crate::file;
use crate::message::parse_decimal;
use crate::sys;

const NANOSECONDS: i128 = 1_000_000_000;
/// What clocks of files and processes may be apart.
const SLACK: i128 = 50_000_000;
/// Room for `/proc/self/stat`; the field that is read comes early.
const ROOM: usize = 1024;
/// The field with the time of the start, counted behind the parenthesis that ends the name.
const START_FIELD: usize = 19;

/// Whether a file that was last changed then was changed since this process exists. `false` where
/// that is not known.
pub fn is_of_this_process(seconds: i64, nanoseconds: i64) -> bool {
    let Some(started) = ticks_at_start() else { return false };
    // SAFETY: takes a number.
    let per_second = i128::from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) });
    if per_second <= 0 {
        return false;
    }
    let started = i128::from(started) * NANOSECONDS / per_second;
    let age = now(libc::CLOCK_BOOTTIME) - started;
    let changed = i128::from(seconds) * NANOSECONDS + i128::from(nanoseconds);
    changed + SLACK >= now(libc::CLOCK_REALTIME) - age
}

fn now(clock: libc::clockid_t) -> i128 {
    // SAFETY: zeroes are a valid value, in whose place the time is written.
    let time: Option<libc::timespec> =
        unsafe { sys::written(|time| libc::clock_gettime(clock, time)) };
    time.map_or(0, |time| i128::from(time.tv_sec) * NANOSECONDS + i128::from(time.tv_nsec))
}

/// When the process was made, in ticks since the system was booted.
fn ticks_at_start() -> Option<u64> {
    let mut room = [0; ROOM];
    let text = file::read_start(c"/proc/self/stat", &mut room)?;
    parse(text)
}

/// When the process was made, from the text of `/proc/self/stat`.
pub fn parse(text: &[u8]) -> Option<u64> {
    let end_of_name = text.iter().rposition(|&byte| byte == b')')?;
    let fields = text.get(end_of_name + 2..)?;
    parse_decimal(fields.split(|&byte| byte == b' ').nth(START_FIELD)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_start_is_found_behind_any_name() {
        let text =
            b"123 (a ) (b) 7) S 1 123 123 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 987654 11 12";
        assert_eq!(parse(text), Some(987_654));
        assert_eq!(parse(b"123 (a) S 1"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the system")]
    fn what_is_written_now_is_of_this_process_and_what_was_long_ago_is_not() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert!(is_of_this_process(now.as_secs().try_into().unwrap(), now.subsec_nanos().into()));
        assert!(!is_of_this_process(1_000_000_000, 0));
    }
}
