//! What the environment says, read once when the program starts.

use crate::arena;
use crate::contexts::{burst, hot, paths};
use crate::file::pattern::{self, Unknown};
use crate::file::place;
use crate::file::text::Text;
use crate::message;
use crate::paths::room;
use crate::process::signal_name;
use core::ffi::CStr;

/// Pattern of the profile's file name.
pub const PROFILE_VARIABLE: &CStr = c"MIDFLIGHT_PROFILE";

/// Limit on the runtime's memory.
pub const MEMORY_VARIABLE: &CStr = c"MIDFLIGHT_MAX_MEMORY";

/// Memory for the sequences of a thread.
pub const THREAD_MEMORY_VARIABLE: &CStr = c"MIDFLIGHT_THREAD_MEMORY";

/// What is done about signals.
pub const SIGNALS_VARIABLE: &CStr = c"MIDFLIGHT_SIGNALS";

/// The signal at which the profile is written.
pub const DUMP_VARIABLE: &CStr = c"MIDFLIGHT_PROFILE_SIGNAL";

pub struct Config {
    pattern: Text,
    /// Directory at start, with a slash: relative patterns start there, although the program may
    /// go elsewhere. Empty for an absolute pattern.
    pub directory: Text,
    /// Whether signals that end the program are caught.
    pub catches_fatal: bool,
    /// The signal at which the profile is written while the program goes on.
    pub dump: Option<i32>,
}

impl Config {
    /// Settings before the environment was read.
    pub const fn new() -> Self {
        Self { pattern: Text::new(), directory: Text::new(), catches_fatal: true, dump: None }
    }

    /// The pattern of the profile's file name, checked.
    pub fn pattern(&self) -> &[u8] {
        if self.pattern.bytes().is_empty() { pattern::DEFAULT } else { self.pattern.bytes() }
    }

    /// Reads the environment. What makes no sense is reported on standard error, and the default
    /// holds.
    pub fn read(&mut self) {
        if let Some(value) = variable(MEMORY_VARIABLE) {
            read_size(value, MEMORY_VARIABLE, "using 1G", arena::set_limit);
        }
        if let Some(value) = variable(THREAD_MEMORY_VARIABLE) {
            read_size(
                value,
                THREAD_MEMORY_VARIABLE,
                "using 64M, or 4M for k above 4",
                room::set_budget,
            );
        }
        if let Some(value) = variable(PROFILE_VARIABLE) {
            self.read_pattern(value);
        }
        if let Some(value) = variable(SIGNALS_VARIABLE) {
            self.read_signals(value);
        }
        if let Some(value) = variable(DUMP_VARIABLE) {
            let consequence = "the profile is written when the program ends";
            self.dump = read_signal(value, DUMP_VARIABLE, consequence);
        }
        hot::configure();
        burst::configure();
        paths::configure();
        place::note_root();
        if !pattern::is_absolute(self.pattern()) {
            read_directory(&mut self.directory, PROFILE_VARIABLE);
        }
    }

    fn read_signals(&mut self, value: &[u8]) {
        match value {
            b"fatal" => {}
            b"none" => self.catches_fatal = false,
            _ => {
                let problem =
                    "it is 'fatal' (write the profile when a signal ends the program) or 'none'";
                tell_unusable(SIGNALS_VARIABLE, value, problem, "using 'fatal'");
            }
        }
    }

    fn read_pattern(&mut self, value: &[u8]) {
        // A name without a name is the default's.
        let name: &[u8] = if value == b"%c" { pattern::DEFAULT } else { b"" };
        match pattern::check(value) {
            Ok(()) if self.pattern.push(value).and_then(|()| self.pattern.push(name)).is_ok() => {}
            Ok(()) => message::print(&[
                b"cannot use the value of MIDFLIGHT_PROFILE: it is too long; using '",
                pattern::DEFAULT,
                b"'",
            ]),
            Err(Unknown(kind)) => message::print(&[
                b"cannot use MIDFLIGHT_PROFILE='",
                value,
                b"': '%",
                kind.as_slice(),
                b"' has no meaning (there are %p, %h, %m, %1m to %9m, %c and %%); using '",
                pattern::DEFAULT,
                b"'",
            ]),
        }
    }
}

/// Puts the current directory with a slash in `to`. If it has no name nothing, and that is
/// reported.
pub fn read_directory(to: &mut Text, variable: &CStr) {
    // SAFETY: the buffer has the size that is passed.
    to.fill_with(|room, size| unsafe { !libc::getcwd(room, size).is_null() });
    if !to.bytes().is_empty() && to.push(b"/").is_err() {
        to.clear();
    }
    if to.bytes().is_empty() {
        message::print(&[
            b"the directory that the program was started in was removed, or has too long a name: what is written goes to the one that the program is in by then; set ",
            variable.to_bytes(),
            b" to a name that begins with '/'",
        ]);
    }
}

fn read_size(value: &[u8], variable: &CStr, default: &str, set: fn(usize)) {
    match parse_size(value) {
        Some(size) => set(size),
        None => {
            let problem = "it is not a number of bytes, as in 500000, 64K, 512M or 2G";
            tell_unusable(variable, value, problem, default);
        }
    }
}

/// The signal that a variable's value names. If there is none, that is reported.
pub fn read_signal(value: &[u8], variable: &CStr, consequence: &str) -> Option<i32> {
    let signal = signal_name::parse(value);
    signal.map_err(|problem| tell_unusable(variable, value, problem, consequence)).ok()
}

/// Tells that a variable's value makes no sense, and what is done instead.
pub fn tell_unusable(variable: &CStr, value: &[u8], problem: &str, consequence: &str) {
    message::print(&[
        b"cannot use ",
        variable.to_bytes(),
        b"='",
        value,
        b"': ",
        problem.as_bytes(),
        b"; ",
        consequence.as_bytes(),
    ]);
}

/// A variable of the environment that is set and not empty.
pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name is a C string; the environment's texts are not freed while the program
    // starts.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        Some(CStr::from_ptr(value).to_bytes()).filter(|value| !value.is_empty())
    }
}

/// A number of bytes with an optional suffix K, M or G.
pub fn parse_size(text: &[u8]) -> Option<usize> {
    let (digits, unit) = match text {
        [digits @ .., b'K' | b'k'] => (digits, 1usize << 10),
        [digits @ .., b'M' | b'm'] => (digits, 1 << 20),
        [digits @ .., b'G' | b'g'] => (digits, 1 << 30),
        digits => (digits, 1),
    };
    usize::try_from(message::parse_decimal(digits)?).ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!(parse_size(b"123"), Some(123));
        assert_eq!(parse_size(b"64K"), Some(64 << 10));
        assert_eq!(parse_size(b"5m"), Some(5 << 20));
        assert_eq!(parse_size(b"2G"), Some(2 << 30));
        for wrong in ["", "G", "1T", "1.5G", "-1", "1 G", "99999999999999999999", "99999999999999G"]
        {
            assert_eq!(parse_size(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
