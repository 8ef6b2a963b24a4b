//! What the environment says about OSR points, read once when the first of them are registered.

use crate::config;
use crate::file::pattern::{self, Unknown};
use crate::file::place;
use crate::file::text::Text;
use crate::osr::fire::Fire;
use core::ffi::CStr;

/// Which points fire.
pub const FIRE_VARIABLE: &CStr = c"MIDFLIGHT_OSR_FIRE";
/// Pattern of the log's file name.
pub const LOG_VARIABLE: &CStr = c"MIDFLIGHT_OSR_LOG";
/// The signal that arms and disarms.
pub const SIGNAL_VARIABLE: &CStr = c"MIDFLIGHT_OSR_SIGNAL";

pub struct Settings {
    /// Checked; empty if nothing is to fire.
    fire: Text,
    /// Checked; empty if there is no log.
    log: Text,
    /// Directory at start, with a slash; empty for an absolute pattern.
    pub directory: Text,
    /// The signal that arms and disarms.
    pub signal: Option<i32>,
}

impl Settings {
    /// Settings before the environment was read.
    pub const fn new() -> Self {
        Self { fire: Text::new(), log: Text::new(), directory: Text::new(), signal: None }
    }

    /// Which points fire.
    pub fn fire(&self) -> Fire<'_> {
        // What is kept was checked.
        Fire::parse(self.fire.bytes()).unwrap_or(Fire::Never)
    }

    /// What the variable says that [`Self::fire`] is read from.
    pub fn fire_text(&self) -> &[u8] {
        self.fire.bytes()
    }

    /// The pattern of the log's file name, if there is to be one.
    pub fn log(&self) -> Option<&[u8]> {
        Some(self.log.bytes()).filter(|pattern| !pattern.is_empty())
    }

    /// Reads the environment. What makes no sense is reported on standard error, and is as if it
    /// were not set.
    pub fn read(&mut self) {
        place::note_root();
        if let Some(value) = config::variable(FIRE_VARIABLE) {
            self.read_fire(value);
        }
        if let Some(value) = config::variable(LOG_VARIABLE) {
            self.read_log(value);
        }
        if let Some(value) = config::variable(SIGNAL_VARIABLE) {
            self.signal = config::read_signal(value, SIGNAL_VARIABLE, "no signal is caught");
        }
    }

    fn read_fire(&mut self, value: &[u8]) {
        let problem = match Fire::parse(value) {
            Ok(_) if self.fire.push(value).is_ok() => return,
            Ok(_) => "it is too long; name fewer points, or use '*'",
            Err(problem) => problem,
        };
        // A value that is too long would make the message so.
        let shown = value.get(..SHOWN).unwrap_or(value);
        config::tell_unusable(FIRE_VARIABLE, shown, problem, "nothing is fired");
    }

    fn read_log(&mut self, value: &[u8]) {
        // A log is not written to while the program runs.
        let checked = match pattern::check(value) {
            Ok(()) if pattern::is_continuous(value) => Err(Unknown(Some(b'c'))),
            checked => checked,
        };
        match checked {
            Ok(()) if self.log.push(value).is_ok() => {
                if value.first() != Some(&b'/') {
                    config::read_directory(&mut self.directory, LOG_VARIABLE);
                }
            }
            Ok(()) => config::tell_unusable(
                LOG_VARIABLE,
                value.get(..SHOWN).unwrap_or(value),
                "it is too long; use a shorter name",
                "no log is written",
            ),
            Err(Unknown(_)) => config::tell_unusable(
                LOG_VARIABLE,
                value,
                "a '%' has no meaning in it (there are %p, %h, %m, %1m to %9m and %%)",
                "no log is written",
            ),
        }
    }
}

/// Bytes that are shown of a value that is too long.
const SHOWN: usize = 60;
