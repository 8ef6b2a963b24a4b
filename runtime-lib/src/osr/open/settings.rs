//! What the environment says about open points, read once when the first of them are registered.

use crate::config;
use crate::file::text::Text;
use crate::osr::fire::Fire;
use core::ffi::CStr;

/// When versions are made.
pub const COMPILE_VARIABLE: &CStr = c"MIDFLIGHT_OSR_COMPILE";
/// The file of the generator.
pub const JIT_VARIABLE: &CStr = c"MIDFLIGHT_JIT";

/// Which guards fail though they hold.
pub const EXIT_VARIABLE: &CStr = c"MIDFLIGHT_OSR_EXIT";
/// Bytes of code that versions may have together.
pub const MEMORY_VARIABLE: &CStr = c"MIDFLIGHT_JIT_MEMORY";

/// Bytes of code that versions may have together if nothing is said.
const DEFAULT_MEMORY: u64 = 256 << 20;

/// When versions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// While the program goes on, by a thread of the runtime's own.
    Background,
    /// Before the point goes on, by the thread that asks.
    Now,
    /// Never.
    Never,
}

pub struct Settings {
    pub when: When,
    /// The file of the generator; empty: the one that belongs to the LLVM of the code.
    pub generator: Text,
    /// Which guards fail though they hold.
    pub exit: Fire<'static>,
    /// Bytes of code that versions may have together.
    pub memory: u64,
}

/// Bytes that are shown of a value that is too long.
const SHOWN: usize = 60;

impl Settings {
    /// Settings before the environment was read.
    pub const fn new() -> Self {
        Self {
            when: When::Background,
            generator: Text::new(),
            exit: Fire::Never,
            memory: DEFAULT_MEMORY,
        }
    }

    /// Reads the environment. What makes no sense is reported on standard error, and is as if it
    /// were not set.
    pub fn read(&mut self) {
        if let Some(value) = config::variable(COMPILE_VARIABLE) {
            self.read_when(value);
        }
        if let Some(value) = config::variable(JIT_VARIABLE) {
            self.read_generator(value);
        }
        if let Some(value) = config::variable(EXIT_VARIABLE) {
            self.read_exit(value);
        }
        if let Some(value) = config::variable(MEMORY_VARIABLE) {
            self.read_memory(value);
        }
    }

    fn read_exit(&mut self, value: &'static [u8]) {
        match Fire::parse(value) {
            Ok(exit @ (Fire::Always | Fire::Every(_) | Fire::At { .. })) => self.exit = exit,
            _ => {
                let problem = "it is always, every:N or at:POINT[:HIT]";
                let shown = value.get(..SHOWN).unwrap_or(value);
                config::tell_unusable(EXIT_VARIABLE, shown, problem, "guards fail by themselves");
            }
        }
    }

    fn read_memory(&mut self, value: &[u8]) {
        match config::parse_size(value) {
            Some(bytes) => self.memory = bytes as u64,
            None => {
                let problem = "it is a number of bytes, with K, M or G behind it or not";
                let shown = value.get(..SHOWN).unwrap_or(value);
                config::tell_unusable(MEMORY_VARIABLE, shown, problem, "using 256M");
            }
        }
    }

    fn read_when(&mut self, value: &[u8]) {
        self.when = match value {
            b"background" => When::Background,
            b"now" => When::Now,
            b"never" => When::Never,
            _ => {
                let problem = "it is 'background' (make versions while the program goes on), \
                               'now' (before it goes on) or 'never'";
                let shown = value.get(..SHOWN).unwrap_or(value);
                config::tell_unusable(COMPILE_VARIABLE, shown, problem, "using 'background'");
                When::Background
            }
        };
    }

    /// A name with a slash is that of a file, which is looked for from the directory at start.
    fn read_generator(&mut self, value: &[u8]) {
        if value.contains(&b'/') && value.first() != Some(&b'/') {
            config::read_directory(&mut self.generator, JIT_VARIABLE);
        }
        if self.generator.push(value).is_err() {
            self.generator.clear();
            config::tell_unusable(
                JIT_VARIABLE,
                value.get(..SHOWN).unwrap_or(value),
                "it is too long; use a shorter name",
                "using the library that is installed",
            );
        }
    }
}
