//! How things are written, in all outputs alike: numbers and shares ([`numbers`]), names
//! ([`names`]), source lines ([`lines`]), words of a shell ([`shell`]), [`json`], pages for
//! browsers ([`page`]); and where to ([`sink`], [`progress`]).

pub mod json;
pub mod lines;
pub mod names;
pub mod numbers;
pub mod page;
pub mod progress;
pub mod shell;
pub mod sink;
