//! Reading the memory of a program that counts in a file: `midflight_abi::memory`.
//!
//! The file is read as it is, while the program runs or after it was killed. It has no checksum, so
//! nothing in it is believed: an address is looked at only where it is within the file, and each
//! byte can be asked for once only, since no two things that are reached share any. So whatever the
//! addresses are, the work and the memory are bounded by a multiple of the file's size.
//!
//! What the addresses lead to may be zeroes, where a running program has changed the one after the
//! other was read: that is read as if nothing had been counted there yet.

mod bytes;
mod contexts;
mod counts;
mod forest;

use super::contexts::Reader as Trees;
use super::error::ReadError;
use super::profile::{FunctionProfile, Profile};
use super::read::Reader;
use super::sections::{FLAG_BEGAN_WITHIN, FLAG_LOWER_BOUNDS};
use crate::cursor::u32_at;
use alloc::vec::Vec;
use bytes::{Bytes, Object};
use core::mem::offset_of;
use midflight_abi::memory::{
    BYTE_ORDER, Context, Image, MEMORY_BEGAN_WITHIN, MEMORY_CLEARING, MEMORY_FROZEN, MEMORY_LOST,
    MEMORY_MAGIC, MEMORY_VERSION, MemoryHeader, ThreadForest,
};
use midflight_abi::{ABI_VERSION, MAX_K};

const HEADER_SIZE: usize = size_of::<MemoryHeader>();

/// Which state of a program's memory a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryState {
    /// ID of the process.
    pub process: u32,
    /// Whether the process has gone on elsewhere, since the file could not grow.
    pub is_frozen: bool,
    /// How many changes were begun that must not be read halfway.
    pub begun: u64,
    /// How many of them are over. What was read while the process runs is whole if both numbers are
    /// the same, and the same before and after.
    pub ended: u64,
}

impl MemoryState {
    /// That of a file that begins with these bytes; none if it is no program's memory.
    pub fn of(file: &[u8]) -> Option<Self> {
        if !is_memory(file) || file.len() < HEADER_SIZE {
            return None;
        }
        let header = Object::at_start(file);
        Some(Self {
            process: header.u32(offset_of!(MemoryHeader, process)),
            is_frozen: header.u32(offset_of!(MemoryHeader, flags)) & MEMORY_FROZEN != 0,
            begun: header.u64(offset_of!(MemoryHeader, begun)),
            ended: header.u64(offset_of!(MemoryHeader, ended)),
        })
    }
}

/// Whether a file is a program's memory, and no ordinary profile.
pub(super) fn is_memory(file: &[u8]) -> bool {
    file.starts_with(&MEMORY_MAGIC)
}

/// Reads a program's memory as the profile that the program would write.
pub(super) fn read(file: &[u8]) -> Result<Profile, ReadError> {
    if file.len() < HEADER_SIZE {
        return Err(ReadError::Truncated {
            expected: HEADER_SIZE as u64,
            actual: file.len() as u64,
        });
    }
    check_layout(file)?;
    let header = Object::at_start(file);
    let (expected, actual) = (header.u64(offset_of!(MemoryHeader, length)), file.len() as u64);
    if actual < expected {
        return Err(ReadError::Truncated { expected, actual });
    }
    let flags = header.u32(offset_of!(MemoryHeader, flags));
    let mut bytes = Bytes::new(file, header.u64(offset_of!(MemoryHeader, base)), HEADER_SIZE);
    let mut reader = Reader::default();
    let images =
        read_images(&mut bytes, header.u64(offset_of!(MemoryHeader, images)), &mut reader)?;
    let turns = header.u64(offset_of!(MemoryHeader, turns));
    let mut walk = Walk {
        bytes,
        reader,
        images,
        kept: contexts::kept(&header)?,
        trees: Trees::default(),
        is_paused: turns % 2 == 1,
        has_lower_bounds: flags & MEMORY_LOST != 0,
    };
    if flags & MEMORY_CLEARING == 0 {
        walk.read_contexts(header.u64(offset_of!(MemoryHeader, contexts)))?;
        let elsewhere = header.u64(offset_of!(MemoryHeader, elsewhere));
        contexts::read_elsewhere(&mut walk.bytes, elsewhere, walk.kept, &mut walk.trees)?;
    }
    let contexts = walk.trees.finish()?;
    let began_within = turns != 0 || flags & MEMORY_BEGAN_WITHIN != 0;
    let flags = [(walk.has_lower_bounds, FLAG_LOWER_BOUNDS), (began_within, FLAG_BEGAN_WITHIN)];
    let flags = flags.into_iter().filter_map(|(holds, flag)| holds.then_some(flag)).sum();
    Ok(Profile { contexts, ..walk.reader.finish(flags)? })
}

fn check_layout(file: &[u8]) -> Result<(), ReadError> {
    let field = |at| u32_at(file, at);
    // The version is that of all that follows.
    let version = field(offset_of!(MemoryHeader, version));
    let abi = field(offset_of!(MemoryHeader, abi_version));
    if field(offset_of!(MemoryHeader, byte_order)) != BYTE_ORDER
        || field(offset_of!(MemoryHeader, pointer_size)) != 8
    {
        return Err(ReadError::Machine);
    }
    if (version, abi) != (MEMORY_VERSION, ABI_VERSION.into()) {
        let known_abi = ABI_VERSION.into();
        return Err(ReadError::Layout { version, abi, known: MEMORY_VERSION, known_abi });
    }
    Ok(())
}

/// An image of the process, by its place in the list.
struct KnownImage {
    address: u64,
    /// Addresses of its records while it is loaded
    records: core::ops::Range<u64>,
}

fn read_images(
    bytes: &mut Bytes<'_>,
    first: u64,
    reader: &mut Reader,
) -> Result<Vec<KnownImage>, ReadError> {
    let mut images = Vec::new();
    let mut address = first;
    while address != 0 {
        let image = bytes.object(address, size_of::<Image>(), "an image")?;
        let field = |at| image.u64(at);
        let path = match field(offset_of!(Image, path)) {
            0 => &[],
            path => bytes.object(path, image.usize(offset_of!(Image, path_len)), "a path")?.bytes(),
        };
        reader.add_module(field(offset_of!(Image, signature)), path);
        let records = field(offset_of!(Image, start))..field(offset_of!(Image, stop));
        images.push(KnownImage { address, records });
        address = field(offset_of!(Image, next));
    }
    Ok(images)
}

/// What the memory is read with.
struct Walk<'a> {
    bytes: Bytes<'a>,
    reader: Reader,
    images: Vec<KnownImage>,
    /// What of the trees of calling contexts was kept
    kept: contexts::Kept,
    /// The trees that were read
    trees: Trees,
    is_paused: bool,
    has_lower_bounds: bool,
}

impl Walk<'_> {
    fn read_contexts(&mut self, first: u64) -> Result<(), ReadError> {
        let mut address = first;
        while address != 0 {
            let context = self.bytes.object(address, size_of::<Context>(), "a thread's context")?;
            let baselines = context.u64(offset_of!(Context, baselines));
            let told = counts::Told::read(&mut self.bytes, baselines, self.is_paused)?;
            let mut of_contexts = Vec::new();
            let mut forest = context.u64(offset_of!(Context, forests));
            while forest != 0 {
                let object = self.bytes.object(forest, size_of::<ThreadForest>(), "a forest")?;
                of_contexts.extend(self.read_forest(forest, &object, &told)?);
                forest = object.u64(offset_of!(ThreadForest, next));
            }
            let tree = context.u64(offset_of!(Context, tree));
            let (bytes, trees) = (&mut self.bytes, &mut self.trees);
            let modules = (&self.images[..], &self.reader);
            contexts::read(bytes, tree, &told, self.kept, modules, of_contexts, trees)?;
            address = context.u64(offset_of!(Context, next));
        }
        Ok(())
    }

    /// Adds a forest to its function, if anything was counted in it, and returns it with its node
    /// where it counts in one context.
    fn read_forest(
        &mut self,
        address: u64,
        object: &Object<'_>,
        told: &counts::Told,
    ) -> Result<Option<(u64, FunctionProfile)>, ReadError> {
        let k = object.u32(offset_of!(ThreadForest, k));
        // Not written yet.
        if k == 0 {
            return Ok(None);
        }
        if k > MAX_K {
            return Err(ReadError::K(k));
        }
        let image = object.u64(offset_of!(ThreadForest, image));
        let record = object.u64(offset_of!(ThreadForest, record));
        let Some(module) = module_of(&self.images, &self.reader, image, record) else {
            return Ok(None);
        };
        let Some(function) = forest::read(&mut self.bytes, address, object, told)? else {
            return Ok(None);
        };
        self.has_lower_bounds |= function.is_short();
        let at = self.bytes.offset(address) + offset_of!(ThreadForest, k);
        let function = FunctionProfile { module, ..function };
        let node = object.u64(offset_of!(ThreadForest, node));
        let its_own = (node != 0).then(|| (node, function.clone()));
        self.reader.add_function(function, at)?;
        Ok(its_own)
    }
}

/// The module of a function: that of its image or, if none is named, of the image that has its
/// record.
fn module_of(images: &[KnownImage], reader: &Reader, image: u64, record: u64) -> Option<usize> {
    let is_it = |known: &KnownImage| match image {
        0 => known.records.contains(&record),
        image => known.address == image,
    };
    reader.module(images.iter().rposition(is_it)?)
}
