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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// The function that a pointer turned out to lead to is inlined where it is called (thesis
    /// Fig. 4.3, `isord`).
    InlineCallee,
    /// A value that is live at the point is a constant.
    SpecializeValue,
    /// The same code, for the processor that the program runs on.
    Reoptimize,
    /// The program's own, by the name under which it makes it known
    /// (`midflight_osr_generator`).
    User(String),
}

/// What the names of programs' own generators begin with.
const USER: &str = "user:";

/// Those that there are, with their names.
const NAMES: [(Generator, &str); 3] = [
    (Generator::InlineCallee, "inline-callee"),
    (Generator::SpecializeValue, "specialize-value"),
    (Generator::Reoptimize, "reoptimize"),
];

/// A destination that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown destination '{0}'; there are open:inline-callee, open:specialize-value, \
     open:reoptimize and open:user:NAME"
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
        if let Some(name) = name.strip_prefix(USER).filter(|name| !name.is_empty()) {
            return Some(Generator::User(name.to_string()));
        }
        NAMES.iter().find(|(_, of)| *of == name).map(|(generator, _)| generator.clone())
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Generator::User(name) => format!("{USER}{name}"),
            known => {
                let (_, name) = NAMES.iter().find(|(of, _)| of == known).expect("it has a name");
                (*name).to_string()
            }
        }
    }
}
