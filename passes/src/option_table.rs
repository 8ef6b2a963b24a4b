//! Tables of options: what a pass takes stands once, and parsing and messages follow from it.
//!
//! Options are `key=value` and flags, separated by `;`, the same in a pass's `<…>`, in
//! `-mllvm -midflight=…` and in `MIDFLIGHT_OPTIONS`. A later one overrules an earlier one.

use crate::function_list::{FunctionList, ListError};
use crate::osr::condition::{Condition, UnknownCondition};
use crate::osr::open::generator::UnknownDestination;
use crate::osr::place::{UnknownPlace, Where};
use crate::paths::weights_file::WeightsError;

/// An option of a pass that keeps its options in a `T`.
pub struct Item<T> {
    /// `key=VALUE`; for a flag, `key`
    pub shape: &'static str,
    take: Take<T>,
    /// False for what only tests and the driver use: no message names it.
    pub is_public: bool,
}

/// What is done when an option is given.
enum Take<T> {
    Flag(fn(&mut T)),
    Value(fn(&mut T, &str) -> Result<(), OptionError>),
}

/// What is wrong with options.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// An option that does not exist
    #[error("unknown option '{option}'; known are {known}")]
    Unknown {
        /// The option
        option: String,
        /// Those that exist
        known: String,
    },
    /// A number is missing, no number, or out of range.
    #[error("option '{key}={value}': it must be a whole number from {min} to {max}")]
    Number {
        /// The option
        key: &'static str,
        /// What was given
        value: String,
        /// Least value
        min: u32,
        /// Greatest value
        max: u32,
    },
    /// A value that is not one of a few
    #[error("option '{key}={value}': it must be {choices}")]
    Choice {
        /// The option
        key: &'static str,
        /// What was given
        value: String,
        /// What may be given
        choices: String,
    },
    /// No value
    #[error("option '{0}=': it must have a value")]
    Empty(&'static str),
    /// A place that does not exist
    #[error("option '{0}': {1}")]
    Place(&'static str, UnknownPlace),
    /// A condition that does not exist
    #[error("option '{0}': {1}")]
    Condition(&'static str, UnknownCondition),
    /// A destination that does not exist
    #[error("option 'to': {0}")]
    Destination(UnknownDestination),
    /// A key where nothing is profiled
    #[error("'key' needs 'to=open:inline-callee' or 'to=open:specialize-value'")]
    Key,
    /// Options that exclude each other
    #[error("'{0}' and '{1}' exclude each other")]
    Conflict(&'static str, &'static str),
    /// Algorithm 4 takes a remainder by k − 1.
    #[error(
        "option 'algorithm=published': that algorithm is for k of 2 and more; leave it out for k=1"
    )]
    PublishedOne,
    /// A callee where no calls are of interest
    #[error("'callee' needs 'where=call' or 'where=loop-header…'")]
    Callee,
    /// No file of weights
    #[error("the option file=FILE is missing; make one with `midflight export --to weights`")]
    NoFile,
    /// The list of functions cannot be used.
    #[error(transparent)]
    List(#[from] ListError),
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// An option with a value: `key=VALUE`.
pub const fn item<T>(
    shape: &'static str,
    take: fn(&mut T, &str) -> Result<(), OptionError>,
) -> Item<T> {
    Item { shape, take: Take::Value(take), is_public: true }
}

/// An option without a value.
pub const fn flag<T>(shape: &'static str, take: fn(&mut T)) -> Item<T> {
    Item { shape, take: Take::Flag(take), is_public: true }
}

/// An option that only tests and the driver use.
pub const fn hidden<T>(item: Item<T>) -> Item<T> {
    Item { is_public: false, ..item }
}

/// Sets a field to what a value was parsed to.
///
/// # Errors
/// That of the value.
pub fn set<T>(field: &mut T, value: Result<T, OptionError>) -> Result<(), OptionError> {
    *field = value?;
    Ok(())
}

/// Splits options at semicolons, but for those of passes within: `passes=simplifycfg<a;b>` is one.
fn options_of(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ';' && depth == 0
    })
}

/// Parses options by the tables of a pass; gives the keys, in their order.
///
/// # Errors
/// [`OptionError`] for the first option that is wrong.
pub fn parse<T>(
    tables: &[&'static [Item<T>]],
    text: &str,
    options: &mut T,
) -> Result<Vec<&'static str>, OptionError> {
    let items = || tables.iter().copied().flatten();
    let mut keys = Vec::new();
    for given in options_of(text).map(str::trim).filter(|given| !given.is_empty()) {
        let (key, value) = given.split_once('=').unwrap_or((given, ""));
        // A shape that has no value is a flag, even if others begin alike.
        let item = items().find(|item| item.shape == given).or_else(|| {
            items().find(|item| item.key() == key && matches!(item.take, Take::Value(_)))
        });
        let Some(item) = item else {
            let known = listed(&shapes(tables), "and");
            return Err(OptionError::Unknown { option: given.to_string(), known });
        };
        match item.take {
            Take::Flag(take) => take(options),
            Take::Value(take) => take(options, value)?,
        }
        keys.push(item.key());
    }
    Ok(keys)
}

impl<T> Item<T> {
    fn key(&self) -> &'static str {
        self.shape.split_once('=').map_or(self.shape, |(key, _)| key)
    }
}

/// The shapes of the options that users know.
pub fn shapes<T>(tables: &[&'static [Item<T>]]) -> Vec<&'static str> {
    let public = tables.iter().copied().flatten().filter(|item| item.is_public);
    public.map(|item| item.shape).collect()
}

/// `a, b and c`
fn listed(words: &[&str], last_word: &str) -> String {
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("{} {last_word} {last}", before.join(", "))
        }
        _ => words.concat(),
    }
}

/// A number in a range.
///
/// # Errors
/// [`OptionError::Number`] if it is none.
pub fn number(key: &'static str, value: &str, min: u32, max: u32) -> Result<u32, OptionError> {
    match value.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(OptionError::Number { key, value: value.to_string(), min, max }),
    }
}

/// One of the values that are known.
///
/// # Errors
/// [`OptionError::Choice`] if it is none of them.
pub fn choice<T: Copy>(
    key: &'static str,
    value: &str,
    known: &[(&str, T)],
) -> Result<T, OptionError> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|&(_, found)| found).ok_or_else(|| OptionError::Choice {
        key,
        value: value.to_string(),
        choices: listed(&known.iter().map(|&(name, _)| name).collect::<Vec<_>>(), "or"),
    })
}

/// A text.
///
/// # Errors
/// [`OptionError::Empty`] if there is none.
pub fn text(key: &'static str, value: &str) -> Result<String, OptionError> {
    if value.is_empty() { Err(OptionError::Empty(key)) } else { Ok(value.to_string()) }
}

/// At most so many points.
///
/// # Errors
/// [`OptionError::Number`] if it is no positive number.
pub fn most_points(value: &str) -> Result<Option<u32>, OptionError> {
    number("max-points", value, 1, u32::MAX).map(Some)
}

/// A list of functions.
///
/// # Errors
/// [`OptionError::List`] if it cannot be used.
pub fn functions(value: &str) -> Result<Option<FunctionList>, OptionError> {
    Ok(Some(FunctionList::read(value)?))
}

/// Where there are points.
///
/// # Errors
/// [`OptionError::Place`] if there is no such place.
pub fn place(key: &'static str, value: &str) -> Result<Where, OptionError> {
    value.parse().map_err(|error| OptionError::Place(key, error))
}

/// When points fire.
///
/// # Errors
/// [`OptionError::Condition`] if there is no such condition.
pub fn condition(key: &'static str, value: &str) -> Result<Condition, OptionError> {
    value.parse().map_err(|error| OptionError::Condition(key, error))
}
