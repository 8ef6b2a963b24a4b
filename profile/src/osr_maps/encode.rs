//! Writing a record: see `docs/format.md`, "The section of mappings".

use super::model::{Ahead, Came, FunctionMaps, MapExpr, MapPoint, Maps};
use super::pieces::Writer;
use super::{TAG_BITS, TAG_CONSTANT, TAG_CONTENT, TAG_NARROW, TAG_REPEAT, TAG_SOURCE};
use crate::leb128::zigzag;
use crate::put::{overwrite, put_delta, put_string, put_varint};
use crate::record::seal;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::osr::{OSR_MAPS_HEADER_SIZE, OSR_MAPS_VERSION, OsrMapsHeader};

impl FunctionMaps {
    /// The whole record with its header, padded to a multiple of 8 bytes. None if it would have
    /// 4 GiB or more, or a number in it is 2^32 or more.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut out = vec![0; OSR_MAPS_HEADER_SIZE];
        let version = offset_of!(OsrMapsHeader, version);
        overwrite(&mut out, version, &OSR_MAPS_VERSION.to_le_bytes());
        put_string(&mut out, &self.name);
        put_string(&mut out, &self.file);
        put_string(&mut out, &self.pipeline);
        put_maps(&mut out, &self.maps)?;
        seal(&mut out)?;
        Some(out)
    }
}

fn number(value: usize) -> Option<u32> {
    u32::try_from(value).ok()
}

fn put_maps(out: &mut Vec<u8>, maps: &Maps) -> Option<()> {
    put_varint(out, number(maps.arguments)?.into());
    let points = || maps.points.each().into_iter().flatten();
    let reasons = points().filter_map(|point| match point {
        MapPoint::Refused { refused, .. } => Some(refused),
        MapPoint::Leads { .. } => None,
    });
    let instructions = maps.instructions.iter().flatten();
    let texts = instructions.chain(maps.constants.values()).chain(reasons).map(String::as_str);
    let texts = Writer::new(out, texts);
    for instructions in maps.instructions.iter() {
        put_varint(out, number(instructions.len())?.into());
        instructions.iter().for_each(|text| texts.put(out, text));
    }
    put_varint(out, maps.constants.len() as u64);
    let mut last = 0;
    for (&constant, text) in &maps.constants {
        put_delta(out, last, constant);
        last = constant;
        texts.put(out, text);
    }
    for points in maps.points.each() {
        put_varint(out, points.len() as u64);
        let mut last = (0, 0);
        for point in points {
            put_point(out, point, last, &texts)?;
            last = (number(point.point())?, number(point.at())?);
        }
    }
    Some(())
}

fn put_point(
    out: &mut Vec<u8>,
    point: &MapPoint,
    last: (u32, u32),
    texts: &Writer<'_>,
) -> Option<()> {
    let at = number(point.at())?;
    put_delta(out, last.0, number(point.point())?);
    put_delta(out, last.1, at);
    match point {
        MapPoint::Refused { refused, .. } => {
            put_varint(out, 0);
            texts.put(out, refused);
        }
        MapPoint::Leads { landing, values, exprs, stores, differs, keep, ahead, came, .. } => {
            let is_plain = stores.is_empty() && !differs;
            let is_direct = ahead.is_none() && came.is_none();
            put_varint(out, if !is_direct { 3 } else { 2 - u64::from(is_plain) });
            put_delta(out, at, number(*landing)?);
            put_exprs(out, exprs)?;
            put_varint(out, values.len() as u64);
            let mut last = (0, 0);
            for &(value, expr) in values {
                let next = (number(value)?, number(expr)?);
                put_delta(out, last.0, next.0);
                put_delta(out, last.1, next.1);
                last = next;
            }
            put_varint(out, keep.len() as u64);
            let mut last = 0;
            for &value in keep {
                put_delta(out, last, number(value)?);
                last = number(value)?;
            }
            if !is_plain || !is_direct {
                put_varint(out, u64::from(*differs));
                put_varint(out, stores.len() as u64);
                for store in stores {
                    for part in [store.store, store.value, store.address] {
                        put_varint(out, number(part)?.into());
                    }
                }
            }
            if !is_direct {
                put_varint(out, ahead.is_some().into());
                if let Some(Ahead { to, runs }) = ahead {
                    put_insts(out, *to, runs)?;
                }
                put_varint(out, came.is_some().into());
                if let Some(Came { into, from }) = came {
                    put_insts(out, *into, from)?;
                }
            }
        }
    }
    Some(())
}

fn put_insts(out: &mut Vec<u8>, one: usize, insts: &[usize]) -> Option<()> {
    put_varint(out, number(one)?.into());
    put_varint(out, insts.len() as u64);
    for &inst in insts {
        put_varint(out, number(inst)?.into());
    }
    Some(())
}

fn put_exprs(out: &mut Vec<u8>, exprs: &[MapExpr]) -> Option<()> {
    put_varint(out, exprs.len() as u64);
    let mut last = 0;
    for (place, expr) in exprs.iter().enumerate() {
        match expr {
            MapExpr::Source { source } => {
                let source = i64::from(number(*source)?);
                put_varint(out, zigzag(source - last) << TAG_BITS | TAG_SOURCE);
                last = source;
            }
            MapExpr::Constant { constant } => {
                put_varint(out, u64::from(*constant) << TAG_BITS | TAG_CONSTANT);
            }
            MapExpr::Repeat { repeat, of } => {
                put_varint(out, u64::from(number(*repeat)?) << TAG_BITS | TAG_REPEAT);
                put_varint(out, of.len() as u64);
                for &operand in of {
                    put_delta(out, number(place)?, number(operand)?);
                }
            }
            MapExpr::Content { content, address } => {
                put_varint(out, u64::from(number(*content)?) << TAG_BITS | TAG_CONTENT);
                put_delta(out, number(place)?, number(*address)?);
            }
            MapExpr::Narrow { narrow, of } => {
                put_varint(out, u64::from(number(*narrow)?) << TAG_BITS | TAG_NARROW);
                put_delta(out, number(place)?, number(*of)?);
            }
            MapExpr::Code { code, .. } => match *code {},
        }
    }
    Some(())
}
