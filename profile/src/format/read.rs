//! Reading a profile file, and refusing what is not one.

use super::header::{FLAG_LOWER_BOUNDS, HEADER_SIZE, Header, at};
use super::profile::{FunctionProfile, Module, Profile, SumOverflow};
use crate::cursor::{Cursor, Malformed};
use crate::forest::PrefixForest;
use crate::max_levels;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use midflight_abi::{MAX_K, PROFILE_HEADER_SIZE, PROFILE_MAGIC, PROFILE_VERSION};

/// A file is not a profile that this version can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It has no bytes.
    #[error("it is empty: the program may have been killed, or the disk full, when it was written")]
    Empty,
    /// It begins as a profile and ends before its header does.
    #[error("it has {actual} bytes, and the header of a profile {HEADER_SIZE}: it is truncated")]
    TooShort {
        /// Size of the file
        actual: usize,
    },
    /// It is something else.
    #[error("it is not a Midflight profile")]
    Foreign,
    /// A later version wrote it.
    #[error(
        "it has format version {found}, and this Midflight reads up to version {known}: use a \
         newer Midflight"
    )]
    Newer {
        /// That of the file
        found: u32,
        /// [`PROFILE_VERSION`]
        known: u32,
    },
    /// Bytes are missing at its end.
    #[error("it is truncated: it has {actual} bytes of {expected}")]
    Truncated {
        /// The size that its header says
        expected: u64,
        /// The size that it has
        actual: u64,
    },
    /// There is more than the payload.
    #[error("it has {actual} bytes, and its header says {expected}: something was added to it")]
    TooLong {
        /// The size that its header says
        expected: u64,
        /// The size that it has
        actual: u64,
    },
    /// The header is not as it was written.
    #[error("its header is damaged: the checksum does not match")]
    HeaderChecksum,
    /// The payload is not as it was written.
    #[error("its contents are damaged: the checksum does not match")]
    PayloadChecksum,
    /// k is out of range.
    #[error("it is for k = {0}, which is not in 1..={MAX_K}")]
    K(u32),
    /// A field makes no sense.
    #[error("it is malformed: {0}")]
    Malformed(#[from] Malformed),
    /// A forest is deeper than its k allows.
    #[error("it is malformed: the forest at byte {at} is deeper than 2k - 2 for k = {k}")]
    TooDeep {
        /// Where the node stands that is too deep
        at: usize,
        /// k of the forest
        k: u32,
    },
    /// Counts add up to too much.
    #[error("it is malformed: {0}")]
    Overflow(#[from] SumOverflow),
}

impl Profile {
    /// Reads a profile file. Modules with one signature become one, and the forests of one
    /// function are added up.
    ///
    /// Memory is bounded by a multiple of the file's size, whatever it contains.
    ///
    /// # Errors
    /// [`ReadError`] for anything that is not a whole and undamaged profile of a known version.
    pub fn read(file: &[u8]) -> Result<Profile, ReadError> {
        let (header, payload) = read_header(file)?;
        let mut cursor = Cursor::new(payload, HEADER_SIZE);
        let mut reader = Reader::default();
        for _ in 0..header.modules {
            reader.read_module(&mut cursor)?;
        }
        for _ in 0..header.forests {
            reader.read_function(&mut cursor)?;
        }
        if !cursor.rest().is_empty() {
            return Err(cursor.malformed("the payload", "goes on after the last forest").into());
        }
        let Reader { modules, functions, .. } = reader;
        let k = functions.iter().map(|function| function.k).max().unwrap_or(0);
        if k != header.k {
            let at = at::K.start;
            return Err(Malformed { what: "k", at, problem: "is not that of the forests" }.into());
        }
        Ok(Profile { k, flags: header.flags, modules, functions })
    }
}

/// The header, and the payload that it vouches for.
fn read_header(file: &[u8]) -> Result<(Header, &[u8]), ReadError> {
    check_kind(file)?;
    let field = |range: Range<usize>| little_endian(&file[range]);
    // The format of a header is only known once the version is.
    let found = field(at::VERSION) as u32;
    if found > PROFILE_VERSION {
        return Err(ReadError::Newer { found, known: PROFILE_VERSION });
    }
    if field(at::HEADER_CRC) as u32 != crc32fast::hash(&file[..at::HEADER_CRC.start]) {
        return Err(ReadError::HeaderChecksum);
    }
    check_constants(file)?;
    let header = Header {
        k: field(at::K) as u32,
        flags: field(at::FLAGS) as u32,
        modules: field(at::MODULES) as u32,
        forests: field(at::FORESTS) as u32,
        payload_size: field(at::PAYLOAD_SIZE),
        payload_crc: field(at::PAYLOAD_CRC) as u32,
    };
    let payload = &file[HEADER_SIZE..];
    check_payload(&header, payload)?;
    Ok((header, payload))
}

fn check_kind(file: &[u8]) -> Result<(), ReadError> {
    if file.is_empty() {
        return Err(ReadError::Empty);
    }
    let shared = file.len().min(PROFILE_MAGIC.len());
    if file[..shared] != PROFILE_MAGIC[..shared] {
        return Err(ReadError::Foreign);
    }
    if file.len() < HEADER_SIZE {
        return Err(ReadError::TooShort { actual: file.len() });
    }
    Ok(())
}

/// Fields that have one value in this version.
fn check_constants(file: &[u8]) -> Result<(), ReadError> {
    let field = |range: Range<usize>| little_endian(&file[range]);
    let malformed = |what, range: Range<usize>, problem| {
        Err(ReadError::Malformed(Malformed { what, at: range.start, problem }))
    };
    if field(at::VERSION) as u32 != PROFILE_VERSION {
        return malformed("the version", at::VERSION, "is unknown");
    }
    if field(at::HEADER_SIZE) as u32 != PROFILE_HEADER_SIZE {
        return malformed("the header's size", at::HEADER_SIZE, "is not 64");
    }
    if field(at::FLAGS) as u32 & !FLAG_LOWER_BOUNDS != 0 {
        return malformed("the flags", at::FLAGS, "are unknown");
    }
    if file[at::RESERVED].iter().any(|&byte| byte != 0) {
        return malformed("the reserved space", at::RESERVED, "is not zero");
    }
    match field(at::K) as u32 {
        k if k > MAX_K => Err(ReadError::K(k)),
        _ => Ok(()),
    }
}

fn check_payload(header: &Header, payload: &[u8]) -> Result<(), ReadError> {
    let expected = header.payload_size.saturating_add(HEADER_SIZE as u64);
    let actual = (payload.len() + HEADER_SIZE) as u64;
    if actual < expected {
        return Err(ReadError::Truncated { expected, actual });
    }
    if actual > expected {
        return Err(ReadError::TooLong { expected, actual });
    }
    if crc32fast::hash(payload) != header.payload_crc {
        return Err(ReadError::PayloadChecksum);
    }
    Ok(())
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// What was read of the payload.
#[derive(Default)]
struct Reader {
    modules: Vec<Module>,
    functions: Vec<FunctionProfile>,
    /// Index in `modules` of each module of the file
    places: Vec<usize>,
    /// Index in `modules` by signature
    by_signature: BTreeMap<u64, usize>,
    /// Index in `functions` by module and key
    by_key: BTreeMap<(usize, u64), usize>,
}

impl Reader {
    fn read_module(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let signature = cursor.fixed64("a module's signature")?;
        let len = cursor.varint("the length of a module's name")?;
        let name = cursor.bytes(len, "a module's name")?;
        let place = *self.by_signature.entry(signature).or_insert(self.modules.len());
        if place == self.modules.len() {
            let name = String::from_utf8_lossy(name).into_owned();
            self.modules.push(Module { signature, name });
        }
        self.places.push(place);
        Ok(())
    }

    fn read_function(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let no_module = cursor.malformed("a forest's module", "is not there");
        let module = cursor.varint32("a forest's module")?;
        let module = *self.places.get(module as usize).ok_or(no_module)?;
        let key = cursor.fixed64("a forest's key")?;
        let other_k = cursor.malformed("a forest's k", "is not that of the function's others");
        let k = cursor.varint32("a forest's k")?;
        if !(1..=MAX_K).contains(&k) {
            return Err(ReadError::K(k));
        }
        let function = FunctionProfile {
            module,
            key,
            k,
            entries: cursor.varint("a forest's entries")?,
            restarts: cursor.varint("a forest's restarts")?,
            lost: cursor.varint("a forest's lost events")?,
            pruned: cursor.varint("a forest's pruned events")?,
            forest: read_forest(cursor, k)?,
        };
        function.check_total()?;
        let place = *self.by_key.entry((module, key)).or_insert(self.functions.len());
        match self.functions.get_mut(place) {
            None => self.functions.push(function),
            Some(known) if known.k != k => return Err(other_k.into()),
            Some(known) => known.add(&function)?,
        }
        Ok(())
    }
}

/// Bytes that a node takes at least: its label, its count and its number of children.
const LEAST_NODE: usize = 3;

fn read_forest(cursor: &mut Cursor<'_>, k: u32) -> Result<PrefixForest, ReadError> {
    let mut forest = PrefixForest::new();
    let roots = cursor.count(LEAST_NODE, "the number of a forest's roots")?;
    // The node that is open on each level, and how many of its children are to come. No higher
    // than a forest is deep.
    let mut open = vec![(None, roots)];
    while let Some((parent, to_come)) = open.last_mut() {
        if *to_come == 0 {
            open.pop();
            continue;
        }
        *to_come -= 1;
        let parent = *parent;
        let twice = cursor.malformed("a node's label", "is that of a sibling, too");
        let label = cursor.varint32("a node's label")?;
        if open.len() > max_levels(k) as usize {
            return Err(ReadError::TooDeep { at: twice.at, k });
        }
        if forest.child(parent, label).is_some() {
            return Err(twice.into());
        }
        let id = forest.child_or_insert(parent, label);
        forest.add_saturating(id, cursor.varint("a node's count")?);
        open.push((Some(id), cursor.count(LEAST_NODE, "the number of a node's children")?));
    }
    Ok(forest)
}
