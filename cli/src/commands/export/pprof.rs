//! Calling contexts as pprof reads them: `profile.proto`
//! (<https://github.com/google/pprof/blob/main/proto/profile.proto>), compressed by gzip.
//!
//! A sample is a context, with its activations and, where it was taken, its time. Its locations are
//! the function, at the line of its declaration, and the calls that lead to it, each at its line.

use crate::commands::export::{Format, View, Writer};
use crate::document::{ContextDocument, Shape};
use flate2::Compression;
use flate2::write::GzEncoder;
use midflight_profile::visible;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "pprof",
    about: "calls with their counts, for pprof and speedscope",
    writer: Writer::Contexts(View { shape: Shape::Tree, write }),
};

/// Calls of a sample, at most: it has a location for each.
const CALLS: u32 = 512;

/// Numbers of fields.
mod field {
    /// Of `Profile`
    pub const SAMPLE_TYPE: u64 = 1;
    pub const SAMPLE: u64 = 2;
    pub const LOCATION: u64 = 4;
    pub const FUNCTION: u64 = 5;
    pub const STRING: u64 = 6;
    /// Of `ValueType`
    pub const TYPE: u64 = 1;
    pub const UNIT: u64 = 2;
    /// Of `Sample`
    pub const LOCATIONS: u64 = 1;
    pub const VALUES: u64 = 2;
    /// Of `Location` and of `Function`
    pub const ID: u64 = 1;
    /// Of `Location`
    pub const LINE: u64 = 4;
    /// Of `Line`
    pub const LINE_FUNCTION: u64 = 1;
    pub const LINE_LINE: u64 = 2;
    /// Of `Function`
    pub const NAME: u64 = 2;
    pub const SYSTEM_NAME: u64 = 3;
    pub const FILE: u64 = 4;
    pub const START_LINE: u64 = 5;
}

/// Writes all contexts; what is deeper counts for the deepest that is written.
pub fn write(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let mut compressed = GzEncoder::new(out, Compression::default());
    compressed.write_all(&encoded(document))?;
    compressed.finish()?;
    Ok(())
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, parts: impl FnOnce(&mut Message)) {
        let mut message = Message::default();
        parts(&mut message);
        self.bytes(field, &message.0);
    }

    fn numbers(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        self.message(field, |packed| values.for_each(|value| packed.varint(value)));
    }
}

/// The strings of a profile: the first is empty.
struct Strings {
    places: FxHashMap<String, u64>,
    all: Vec<String>,
}

impl Strings {
    fn place(&mut self, text: &str) -> u64 {
        let text = visible(text);
        let next = self.all.len() as u64;
        let place = *self.places.entry(text.clone()).or_insert(next);
        if place == next {
            self.all.push(text);
        }
        place
    }
}

fn encoded(document: &ContextDocument<'_>) -> Vec<u8> {
    let mut profile = Message::default();
    let mut strings = Strings { places: FxHashMap::default(), all: Vec::new() };
    strings.place("");
    let mut types = vec![("activations", "count")];
    types.extend(document.times.map(|_| ("time", "nanoseconds")));
    for &(kind, unit) in &types {
        let (kind, unit) = (strings.place(kind), strings.place(unit));
        profile.message(field::SAMPLE_TYPE, |value| {
            value.number(field::TYPE, kind);
            value.number(field::UNIT, unit);
        });
    }
    let mut locations: FxHashMap<(usize, u32), u64> = FxHashMap::default();
    let mut location = |function: usize, line: u32| {
        let next = locations.len() as u64 + 1;
        *locations.entry((function, line)).or_insert(next)
    };
    // The calls under way, each at the line of the next one, outermost first
    let mut way: Vec<u64> = Vec::new();
    for (context, values) in document.down_to(CALLS) {
        way.truncate(context.level as usize);
        if let (Some(call), Some((caller, line))) = (way.last_mut(), document.call_line(context)) {
            *call = location(caller, line);
        }
        way.push(location(context.function, document.function(context).line()));
        if values != [0, 0] {
            profile.message(field::SAMPLE, |sample| {
                sample.numbers(field::LOCATIONS, way.iter().rev().copied());
                sample.numbers(field::VALUES, values.into_iter().take(types.len()));
            });
        }
    }
    let mut locations: Vec<((usize, u32), u64)> = locations.into_iter().collect();
    locations.sort_unstable_by_key(|&(_, id)| id);
    for ((function, line), id) in locations {
        profile.message(field::LOCATION, |location| {
            location.number(field::ID, id);
            location.message(field::LINE, |part| {
                part.number(field::LINE_FUNCTION, function as u64 + 1);
                part.number(field::LINE_LINE, line.into());
            });
        });
    }
    for (function, id) in document.functions.iter().zip(1..) {
        let names = [&function.readable()[..], &function.name(), function.file()];
        let [name, system_name, file] = names.map(|text| strings.place(text));
        profile.message(field::FUNCTION, |message| {
            message.number(field::ID, id);
            message.number(field::NAME, name);
            message.number(field::SYSTEM_NAME, system_name);
            message.number(field::FILE, file);
            message.number(field::START_LINE, function.line().into());
        });
    }
    strings.all.iter().for_each(|text| profile.bytes(field::STRING, text.as_bytes()));
    profile.0
}
