//! What makes versions at run time.

use std::str::FromStr;

/// What makes the versions of an open point.
///
/// ```no_run
/// use midflight_passes::osr::open::generator::Generator;
///
/// assert_eq!("open:reoptimize".parse(), Ok(Generator::Reoptimize));
/// assert!("open:magic".parse::<Generator>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// The function that a pointer turned out to lead to is inlined where it is called (thesis
    /// Fig. 4.3, `isord`).
    InlineCallee,
    /// A value that is live at the point is a constant.
    SpecializeValue,
    /// The same code, for the processor that the program runs on.
    Reoptimize,
}

/// All of them, with their names.
const NAMES: [(Generator, &str); 3] = [
    (Generator::InlineCallee, "inline-callee"),
    (Generator::SpecializeValue, "specialize-value"),
    (Generator::Reoptimize, "reoptimize"),
];

/// A destination that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown destination '{0}'; there are open:inline-callee, open:specialize-value and \
     open:reoptimize"
)]
pub struct UnknownDestination(pub String);

impl FromStr for Generator {
    type Err = UnknownDestination;

    fn from_str(text: &str) -> Result<Self, UnknownDestination> {
        let known = text.strip_prefix("open:").and_then(Self::named);
        known.ok_or_else(|| UnknownDestination(text.to_string()))
    }
}

impl Generator {
    /// The generator with this name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|&&(_, of)| of == name).map(|&(generator, _)| generator)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|&&(of, _)| of == self).map_or("", |&(_, name)| name)
    }
}
