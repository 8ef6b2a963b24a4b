//! Reading records, and refusing those that are not whole or make no sense.

use super::model::{Ahead, Both, Came, FunctionMaps, MapExpr, MapPoint, Maps, OwedStore};
use super::pieces::Reader;
use super::version::{PerVersion, Version};
use super::{TAG_BITS, TAG_CONSTANT, TAG_CONTENT, TAG_NARROW, TAG_REPEAT, TAG_SOURCE};
use crate::Malformed;
use crate::cursor::Cursor;
use crate::leb128::unzigzag;
use crate::record::{self, Damage, check_padding};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use midflight_abi::osr::{OSR_MAPS_HEADER_SIZE, OSR_MAPS_VERSION};

/// A record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record at byte {offset} of the section {kind}")]
pub struct MapsError {
    /// Where the record begins, from the start of the bytes given.
    pub offset: usize,
    /// What is wrong with it.
    pub kind: MapsErrorKind,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapsErrorKind {
    /// It is not whole, or of another version.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// A field makes no sense.
    #[error("is malformed: {0}")]
    Malformed(#[from] Malformed),
    /// A point names something that is not there.
    #[error("of '{function}' is malformed: the point before instruction {at} names {what}")]
    Point {
        /// The function's name
        function: String,
        /// The point's instruction
        at: usize,
        /// What it names
        what: &'static str,
    },
}

/// Reads all records of a section `midflight_osr_maps`, in its order.
///
/// # Errors
/// [`MapsError`] about the first record that is damaged, of another version, or inconsistent.
pub fn read_section(section: &[u8]) -> Result<Vec<FunctionMaps>, MapsError> {
    record::read_all(section, |at, rest| {
        FunctionMaps::decode(rest).map_err(|kind| MapsError { offset: at, kind })
    })
}

impl FunctionMaps {
    /// Reads the record at the start of `bytes`, and tells its size. All that a point names is
    /// there.
    ///
    /// # Errors
    /// [`MapsErrorKind`], with what does not hold.
    pub fn decode(bytes: &[u8]) -> Result<(FunctionMaps, usize), MapsErrorKind> {
        let record = record::whole(bytes, OSR_MAPS_HEADER_SIZE, OSR_MAPS_VERSION)?;
        let mut body = Cursor::new(&record[OSR_MAPS_HEADER_SIZE..], OSR_MAPS_HEADER_SIZE);
        let function = FunctionMaps {
            name: body.string("the function's name")?,
            file: body.string("the name of the source file")?,
            pipeline: body.string("the pipeline")?,
            maps: read_maps(&mut body)?,
        };
        check_padding(&body)?;
        check(&function)?;
        Ok((function, record.len()))
    }
}

fn read_maps(body: &mut Cursor<'_>) -> Result<Maps, Malformed> {
    let arguments = body.varint32("the number of arguments")? as usize;
    let texts = Reader::new(body)?;
    let instructions = PerVersion {
        base: read_instructions(body, &texts)?,
        opt: read_instructions(body, &texts)?,
    };
    let mut constants = BTreeMap::new();
    let mut last = 0;
    for _ in 0..body.count(2, "the number of constants")? {
        let twice = body.malformed("a constant", "is there twice");
        last = body.delta32(last, "a constant")?;
        if constants.insert(last, texts.text(body, "the text of a constant")?).is_some() {
            return Err(twice);
        }
    }
    let points =
        Both { base_to_opt: read_points(body, &texts)?, opt_to_base: read_points(body, &texts)? };
    Ok(Maps { arguments, instructions, constants, points })
}

fn read_instructions(body: &mut Cursor<'_>, texts: &Reader) -> Result<Vec<String>, Malformed> {
    let count = body.count(1, "the number of instructions")?;
    (0..count).map(|_| texts.text(body, "the text of an instruction")).collect()
}

fn read_points(body: &mut Cursor<'_>, texts: &Reader) -> Result<Vec<MapPoint>, Malformed> {
    let count = body.count(4, "the number of points")?;
    let mut last = (0, 0);
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        last = (body.delta32(last.0, "a point")?, body.delta32(last.1, "a point's instruction")?);
        points.push(read_point(body, texts, last)?);
    }
    Ok(points)
}

fn read_point(
    body: &mut Cursor<'_>,
    texts: &Reader,
    (point, at): (u32, u32),
) -> Result<MapPoint, Malformed> {
    const KIND: &str = "the kind of a point";
    let unknown = body.malformed(KIND, "is unknown");
    let number = |at: u32| at as usize;
    let kind = body.varint(KIND)?;
    match kind {
        0 => Ok(MapPoint::Refused {
            point: number(point),
            at: number(at),
            refused: texts.text(body, "the reason of a refusal")?,
        }),
        1..=3 => {
            let landing = number(body.delta32(at, "a landing")?);
            let exprs = read_exprs(body)?;
            let mut last = (0, 0);
            let mut values = Vec::new();
            for _ in 0..body.count(2, "the number of values of a point")? {
                last = (body.delta32(last.0, "a value")?, body.delta32(last.1, "an expression")?);
                values.push((number(last.0), number(last.1)));
            }
            let mut last = 0;
            let mut keep = Vec::new();
            for _ in 0..body.count(1, "the number of kept values of a point")? {
                last = body.delta32(last, "a kept value")?;
                keep.push(number(last));
            }
            let (differs, stores) =
                if kind >= 2 { read_stores(body)? } else { (false, Vec::new()) };
            let (mut ahead, mut came) = (None, None);
            if kind == 3 {
                ahead = read_insts(body, "whether a point is left further ahead")?;
                came = read_insts(body, "whether it matters how control came to a point")?;
            }
            let ahead = ahead.map(|(to, runs)| Ahead { to, runs });
            let came = came.map(|(into, from)| Came { into, from });
            Ok(MapPoint::Leads {
                point: number(point),
                at: number(at),
                landing,
                values,
                exprs,
                stores,
                differs,
                keep,
                ahead,
                came,
            })
        }
        _ => Err(unknown),
    }
}

/// What is stored before execution goes on, and whether memory is not the same then.
fn read_stores(body: &mut Cursor<'_>) -> Result<(bool, Vec<OwedStore>), Malformed> {
    let differs = read_flag(body, "whether memory is the same")?;
    let mut stores = Vec::new();
    for _ in 0..body.count(3, "the number of stores of a point")? {
        stores.push(OwedStore {
            store: body.varint32("a store")? as usize,
            value: body.varint32("what is stored")? as usize,
            address: body.varint32("the address of a store")? as usize,
        });
    }
    Ok((differs, stores))
}

/// An instruction and others, if they are there.
fn read_insts(
    body: &mut Cursor<'_>,
    what: &'static str,
) -> Result<Option<(usize, Vec<usize>)>, Malformed> {
    if !read_flag(body, what)? {
        return Ok(None);
    }
    const INST: &str = "an instruction of a point";
    let one = body.varint32(INST)? as usize;
    let count = body.count(1, "the number of instructions of a point")?;
    let others: Result<_, Malformed> =
        (0..count).map(|_| Ok(body.varint32(INST)? as usize)).collect();
    Ok(Some((one, others?)))
}

fn read_flag(body: &mut Cursor<'_>, what: &'static str) -> Result<bool, Malformed> {
    let unknown = body.malformed(what, "is neither 0 nor 1");
    match body.varint(what)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(unknown),
    }
}

fn read_exprs(body: &mut Cursor<'_>) -> Result<Vec<MapExpr>, Malformed> {
    const WHAT: &str = "an expression";
    let count = body.count(1, "the number of expressions of a point")?;
    let mut last = 0;
    let mut exprs = Vec::with_capacity(count);
    for place in 0..count {
        let large = body.malformed(WHAT, "is negative, or 2^32 or more");
        let word = body.varint(WHAT)?;
        let (tag, rest) = (word & ((1 << TAG_BITS) - 1), word >> TAG_BITS);
        let number = u32::try_from(rest).map_err(|_| large);
        exprs.push(match tag {
            TAG_SOURCE => {
                let source = unzigzag(rest).checked_add(i64::from(last));
                last = source.and_then(|source| u32::try_from(source).ok()).ok_or(large)?;
                MapExpr::Source { source: last as usize }
            }
            TAG_CONSTANT => MapExpr::Constant { constant: number? },
            TAG_REPEAT => {
                let repeat = number? as usize;
                let mut of = Vec::new();
                for _ in 0..body.count(1, "the number of operands of an expression")? {
                    of.push(body.delta32(place as u32, "an operand of an expression")? as usize);
                }
                MapExpr::Repeat { repeat, of }
            }
            TAG_CONTENT => {
                let address = body.delta32(place as u32, "the address of an expression")? as usize;
                MapExpr::Content { content: number? as usize, address }
            }
            TAG_NARROW => {
                let of = body.delta32(place as u32, "what an expression undoes")? as usize;
                MapExpr::Narrow { narrow: number? as usize, of }
            }
            _ => return Err(body.malformed(WHAT, "has a tag that is not known")),
        });
    }
    Ok(exprs)
}

/// All that points name must be there.
fn check(function: &FunctionMaps) -> Result<(), MapsErrorKind> {
    let maps = &function.maps;
    let lengths = maps.instructions.as_ref().map(Vec::len);
    for (from, points) in Version::BOTH.into_iter().zip(maps.points.each()) {
        for point in points {
            let what = absent(maps, point, [lengths[from], lengths[from.other()]], lengths.base);
            if let Some(what) = what {
                let (function, at) = (function.name.clone(), point.at());
                return Err(MapsErrorKind::Point { function, at, what });
            }
        }
    }
    Ok(())
}

/// What a point names that is not there. The numbers of instructions are those of the version that
/// is left, of the one that is entered, and of base.
fn absent(
    maps: &Maps,
    point: &MapPoint,
    [source, destination]: [usize; 2],
    base: usize,
) -> Option<&'static str> {
    if point.at() >= source {
        return Some("an instruction that is not there");
    }
    let MapPoint::Leads { landing, values, exprs, stores, keep, ahead, came, .. } = point else {
        return None;
    };
    let is_value = |value: usize, count: usize| {
        value.checked_sub(maps.arguments).is_none_or(|inst| inst < count)
    };
    if *landing >= destination {
        return Some("a landing that is not there");
    }
    if keep.iter().any(|&value| !is_value(value, source)) {
        return Some("a kept value that is not there");
    }
    if values.iter().any(|&(value, _)| !is_value(value, destination)) {
        return Some("a value that is not there");
    }
    if values.iter().any(|&(_, expr)| expr >= exprs.len()) {
        return Some("an expression that is not there");
    }
    let mut of_ways = came.iter().flat_map(|came| came.from.iter().copied().chain([came.into]));
    if of_ways.any(|inst| inst >= source) {
        return Some("a block's first or last instruction that is not there");
    }
    if came.as_ref().is_some_and(|came| came.from.is_empty()) {
        return Some("a way that comes from nowhere");
    }
    if ahead.iter().flat_map(Ahead::insts).any(|inst| inst >= source) {
        return Some("an instruction to run that is not there");
    }
    if stores.iter().any(|store| store.store >= base) {
        return Some("a store that is not there");
    }
    if stores.iter().any(|store| store.value.max(store.address) >= exprs.len()) {
        return Some("an expression that is not there");
    }
    exprs.iter().enumerate().find_map(|(place, expr)| match expr {
        MapExpr::Source { source: value } if !is_value(*value, source) => {
            Some("a source value that is not there")
        }
        MapExpr::Constant { constant } if !maps.constants.contains_key(constant) => {
            Some("a constant that is not there")
        }
        MapExpr::Repeat { repeat, .. } if *repeat >= destination => {
            Some("an instruction to repeat that is not there")
        }
        MapExpr::Content { content, .. } if *content >= base => Some("a store that is not there"),
        MapExpr::Narrow { narrow, .. } if *narrow >= destination => {
            Some("an instruction to undo that is not there")
        }
        _ => {
            let is_later = expr.operands().iter().any(|&operand| operand >= place);
            is_later.then_some("an expression that comes later")
        }
    })
}
