//! Frames: what the operands of a `deopt` bundle say.
//!
//! ```text
//! frame  := ptr VERSION, i64 POINT, i32 WHEN, i32 SLOT, i32 COUNT, COUNT values
//! bundle := frame…                                          the outermost one first
//! ```
//!
//! LLVM's inliner puts the bundle of the call that it inlines in front of those inside; each frame
//! says how long it is, so that what results is read without knowing what was inlined.

use midflight_bridge::ir::{Function, Inst, Module, Value};

/// Operands of a frame before its values
const HEADER: usize = 5;

/// Places of operands in a frame
const WHEN: usize = 2;
const SLOT: usize = 3;

/// When a version goes on, as seen from the call that the frame is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before it: the version makes the call itself.
    Before,
    /// Behind it: it has returned.
    After,
}

/// Where a version goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// Behind the marker with this number
    Landing(u64),
    /// At its entry: the values are its arguments.
    Call,
}

/// An activation of a version, as it is at a call.
#[derive(Clone)]
pub struct Frame<'m> {
    /// The version
    pub version: Function<'m>,
    /// The operand of the call that names it
    pub operand: u32,
    /// Where it goes on
    pub entry: Entry,
    /// When
    pub when: When,
    /// The value that the result of the call is
    pub slot: Option<usize>,
    /// The values, in the order of the marker's or of the version's arguments
    pub values: Vec<Value<'m>>,
}

/// What is wrong with the operands of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// There are none.
    #[error("its \"deopt\" bundle is empty")]
    Empty,
    /// The last frame is not whole.
    #[error(
        "frame {frame} of its \"deopt\" bundle needs {needed} operands, and {left} are left of {of}"
    )]
    Short {
        /// Which frame, from 1
        frame: usize,
        /// How many operands it needs
        needed: u64,
        /// How many are left
        left: usize,
        /// How many there are in all
        of: usize,
    },
    /// It is in a function that must be inlined, also at calls without frames.
    #[error(
        "it has a \"deopt\" bundle, and is in a function that must be inlined (alwaysinline); drop \
         the attribute"
    )]
    MustBeInlined,
    /// The version has no such marker, or several.
    #[error(
        "frame {frame} of its \"deopt\" bundle goes on at point {point} of '{version}', which has \
         {count} markers `call void (i64, ...) @midflight.landing(i64 {point}, ...)`; it must have \
         one"
    )]
    Marker {
        /// Which frame, from 1
        frame: usize,
        /// The marker's number
        point: u64,
        /// The version
        version: String,
        /// How many such markers it has
        count: usize,
    },
    /// An operand is not what is wanted there.
    #[error("frame {frame} of its \"deopt\" bundle: {what} is {given}; it must be {wanted}")]
    Operand {
        /// Which frame, from 1
        frame: usize,
        /// The operand
        what: &'static str,
        /// What stands there
        given: String,
        /// What may stand there
        wanted: &'static str,
    },
}

/// The frames of a call's bundle, the outermost one first; none if it has no bundle.
///
/// # Errors
/// [`FrameError`] for the first operand that does not fit the schema.
pub fn frames<'m>(call: Inst<'m>) -> Option<Result<Vec<Frame<'m>>, FrameError>> {
    let (first, operands) = operands_of(call)?;
    Some(read(&operands, first))
}

/// The operands in a call's bundle, and the number of the first one among all of the call's.
fn operands_of<'m>(call: Inst<'m>) -> Option<(u32, Vec<Value<'m>>)> {
    let range = call.deopt_operands()?;
    let first = range.start;
    Some((first, call.operands().skip(first as usize).take(range.len()).collect()))
}

/// The operands of a bundle for the place behind a call with these frames, whose innermost one goes
/// on behind it: the result of the call is a value there.
pub fn behind<'m>(module: Module<'m>, call: Inst<'m>, innermost: &Frame<'m>) -> Vec<Value<'m>> {
    let int32 = module.int_type(32);
    let (first, mut operands) = operands_of(call).expect("it has frames");
    let at = (innermost.operand - first) as usize;
    operands[at + WHEN] = int32.constant(0);
    operands[at + SLOT] = int32.constant(u64::MAX);
    if let Some(slot) = innermost.slot {
        operands[at + HEADER + slot] = call.value();
    }
    operands
}

fn read<'m>(operands: &[Value<'m>], first: u32) -> Result<Vec<Frame<'m>>, FrameError> {
    if operands.is_empty() {
        return Err(FrameError::Empty);
    }
    let (mut frames, mut at) = (Vec::new(), 0);
    while at < operands.len() {
        let left = &operands[at..];
        let number = frames.len() + 1;
        let short = |needed| FrameError::Short {
            frame: number,
            needed,
            left: left.len(),
            of: operands.len(),
        };
        let Some((header, values)) = left.split_at_checked(HEADER) else {
            return Err(short(HEADER as u64));
        };
        let header = Header { frame: number, operands: header };
        let count = header.integer(4, "the number of values", "a constant of 0 or more", |n| {
            u32::try_from(n).ok()
        })?;
        let Some(values) = values.get(..count as usize) else {
            return Err(short(HEADER as u64 + u64::from(count)));
        };
        frames.push(Frame {
            version: header.version()?,
            operand: first + at as u32,
            entry: header.integer(1, "the point", "a constant of -1 or more", |n| match n {
                -1 => Some(Entry::Call),
                n => u64::try_from(n).ok().map(Entry::Landing),
            })?,
            when: header.integer(
                WHEN,
                "the operand for before or after",
                "0 or 1",
                |n| match n {
                    0 => Some(When::Before),
                    1 => Some(When::After),
                    _ => None,
                },
            )?,
            slot: header.integer(SLOT, "the result slot", "-1, or the number of a value", |n| {
                let slot = usize::try_from(n).ok().filter(|&slot| slot < values.len());
                (n == -1 || slot.is_some()).then_some(slot)
            })?,
            values: values.to_vec(),
        });
        at += HEADER + count as usize;
    }
    Ok(frames)
}

/// The operands of a frame before its values.
struct Header<'a, 'm> {
    frame: usize,
    operands: &'a [Value<'m>],
}

impl<'m> Header<'_, 'm> {
    fn wrong(&self, operand: usize, what: &'static str, wanted: &'static str) -> FrameError {
        let given = self.operands[operand].described();
        FrameError::Operand { frame: self.frame, what, given, wanted }
    }

    fn version(&self) -> Result<Function<'m>, FrameError> {
        let wrong = || self.wrong(0, "the version", "a function with a body in this module");
        self.operands[0].as_defined_function().ok_or_else(wrong)
    }

    fn integer<T>(
        &self,
        operand: usize,
        what: &'static str,
        wanted: &'static str,
        read: impl FnOnce(i64) -> Option<T>,
    ) -> Result<T, FrameError> {
        let number = self.operands[operand].as_integer();
        number.and_then(read).ok_or_else(|| self.wrong(operand, what, wanted))
    }
}
