//! The sections of a profile file: how its header lists them, and how they are found and checked.
//!
//! Nothing else knows where a section is. A new kind of profile is a [`Kind`] here, and a file
//! beside this one that writes and reads the items of its section, as `modules` and `windows` do.

use super::error::ReadError;
use crate::cursor::{Cursor, Malformed};
use core::cmp::Ordering;
use core::ops::Range;
use midflight_abi::{PROFILE_MAGIC, PROFILE_VERSION};

/// Flag of a profile: some counts are lower bounds, because memory ran out.
pub const FLAG_LOWER_BOUNDS: u32 = 1 << 0;

/// Flag of a profile: counting began while activations were under way, in a forked child, after a
/// reset, or where it was paused. What they count has no entry.
pub const FLAG_BEGAN_WITHIN: u32 = 1 << 1;

/// Flag of a profile: other threads may have counted while it was written, so not all of its counts
/// are of one moment.
pub const FLAG_WENT_ON: u32 = 1 << 2;

const FLAGS: u32 = FLAG_LOWER_BOUNDS | FLAG_BEGAN_WITHIN | FLAG_WENT_ON;

/// What the items of a section are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The images of the process, see [`super::modules`].
    Modules,
    /// What was counted in windows of paths, see [`super::windows`].
    Windows,
    /// What Algorithm 4 has counted of paths as published, see [`super::slabs`].
    Slabs,
    /// How often functions were called in each calling context, see [`super::contexts`].
    Contexts,
    /// How much memory the run took, see [`super::used`].
    Used,
}

const KINDS: usize = Kind::ALL.len();

impl Kind {
    /// All, in the order in which they are written.
    pub const ALL: [Kind; 5] =
        [Kind::Modules, Kind::Windows, Kind::Slabs, Kind::Contexts, Kind::Used];

    /// Those that have forests.
    pub const FORESTS: [Kind; 2] = [Kind::Windows, Kind::Slabs];

    /// The name in the file: four letters. As in PNG, the first is a small one if a reader that
    /// does not know the kind may skip the section.
    const fn name(self) -> [u8; 4] {
        match self {
            Kind::Modules => *b"MODS",
            Kind::Windows => *b"WIND",
            Kind::Slabs => *b"SLAB",
            Kind::Contexts => *b"ctxt",
            Kind::Used => *b"used",
        }
    }
}

/// Where the fields of the header are; its checksum stands at its end.
pub(super) mod at {
    use core::ops::Range;

    pub const VERSION: Range<usize> = 8..12;
    pub const HEADER_SIZE: Range<usize> = 12..16;
    pub const FLAGS: Range<usize> = 16..20;
    /// Of the first entry
    pub const ENTRIES: usize = 20;
}

/// Size in bytes of a checksum.
const CRC: usize = 4;

/// Size in bytes of what the header says of a section.
const ENTRY: usize = 20;

/// Size in bytes of the header that is written, which has an entry for each kind.
pub const HEADER_SIZE: usize = at::ENTRIES + KINDS * ENTRY + CRC;

/// What the header says of a section.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// How many items it has
    pub items: u32,
    /// Its size in bytes
    pub size: u64,
    /// CRC-32 of its bytes
    pub crc: u32,
}

impl Entry {
    fn to_bytes(self, kind: Kind) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[0..4].copy_from_slice(&kind.name());
        bytes[4..8].copy_from_slice(&self.items.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.size.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let items = field(bytes, 4..8) as u32;
        Entry { items, size: field(bytes, 8..16), crc: field(bytes, 16..20) as u32 }
    }
}

/// The header of a file with these sections behind it, in the order of [`Kind::ALL`].
pub(super) fn header(flags: u32, entries: [Entry; KINDS]) -> [u8; HEADER_SIZE] {
    let mut bytes = [0; HEADER_SIZE];
    bytes[..PROFILE_MAGIC.len()].copy_from_slice(&PROFILE_MAGIC);
    bytes[at::VERSION].copy_from_slice(&PROFILE_VERSION.to_le_bytes());
    bytes[at::HEADER_SIZE].copy_from_slice(&(HEADER_SIZE as u32).to_le_bytes());
    bytes[at::FLAGS].copy_from_slice(&flags.to_le_bytes());
    let entries = Kind::ALL.into_iter().zip(entries).map(|(kind, entry)| entry.to_bytes(kind));
    let places = bytes[at::ENTRIES..].chunks_exact_mut(ENTRY);
    places.zip(entries).for_each(|(to, from)| to.copy_from_slice(&from));
    let crc = crc32fast::hash(&bytes[..HEADER_SIZE - CRC]);
    bytes[HEADER_SIZE - CRC..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// A section whose bytes are those that were written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section<'a> {
    /// How many items its header says that it has
    pub items: u32,
    /// Its bytes
    pub bytes: &'a [u8],
    /// Where in the file they begin
    pub at: usize,
}

impl<'a> Section<'a> {
    /// Some of its bytes.
    pub fn part(&self, range: Range<usize>) -> Cursor<'a> {
        let at = self.at.saturating_add(range.start);
        Cursor::new(self.bytes.get(range).unwrap_or_default(), at)
    }

    /// How many items of at least so many bytes it may have: no more than it has room for.
    pub fn most(&self, least: usize) -> usize {
        usize::try_from(self.items).unwrap_or(usize::MAX).min(self.bytes.len() / least)
    }

    /// Reads all items one after the other.
    ///
    /// # Errors
    /// Those of `item`; [`ReadError::Malformed`] if there is more in it than its items.
    pub fn read<E: From<ReadError>>(
        &self,
        mut item: impl FnMut(&mut Cursor<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cursor = self.part(0..self.bytes.len());
        for _ in 0..self.items {
            item(&mut cursor)?;
        }
        match cursor.rest() {
            [] => Ok(()),
            _ => {
                Err(ReadError::from(cursor.malformed("a section", "goes on after its last item")))?
            }
        }
    }
}

/// The sections of a whole and undamaged file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections<'a> {
    /// `FLAG_…` bits
    pub flags: u32,
    /// By kind
    pub known: [Option<Section<'a>>; KINDS],
}

impl<'a> Sections<'a> {
    /// The sections of a file. Those of unknown kinds are left out, if their names allow that.
    ///
    /// # Errors
    /// [`ReadError`] for anything but a whole and undamaged file of a known version.
    pub fn read(file: &'a [u8]) -> Result<Self, ReadError> {
        // The format of a header is only known once the version is.
        match version(file)? {
            PROFILE_VERSION => {}
            found if found < PROFILE_VERSION => return Err(ReadError::Older(found)),
            found => return Err(ReadError::Newer(found)),
        }
        let size = usize::try_from(field(file, at::HEADER_SIZE)).unwrap_or(usize::MAX);
        let (header, contents) = split_header(file, size)?;
        let entries = header.get(at::ENTRIES..).map(<[u8]>::as_chunks::<ENTRY>);
        let Some((entries, [])) = entries else {
            let (what, at) = ("the header's size", at::HEADER_SIZE.start);
            return Err(Malformed { what, at, problem: "is that of no number of entries" }.into());
        };
        let flags = read_flags(header, at::FLAGS)?;
        let sizes = entries.iter().map(|entry| Entry::of_bytes(entry).size);
        check_size(file, sizes.fold(size as u64, u64::saturating_add))?;
        let mut sections = Sections { flags, known: [None; KINDS] };
        let mut rest = contents;
        for (bytes, index) in entries.iter().zip(0..) {
            let at = file.len() - rest.len();
            let section;
            (section, rest) = take(rest, at, Entry::of_bytes(bytes))?;
            let name = bytes.first_chunk().copied().unwrap_or_default();
            sections.add(name, at::ENTRIES + index * ENTRY, section)?;
        }
        Ok(sections)
    }

    /// Adds a section of which the name stands at `at`.
    fn add(&mut self, name: [u8; 4], at: usize, section: Section<'a>) -> Result<(), ReadError> {
        let malformed = |problem| Err(Malformed { what: "a section's name", at, problem }.into());
        let place = Kind::ALL.iter().position(|kind| kind.name() == name);
        match place.and_then(|place| self.known.get_mut(place)) {
            Some(known @ None) => *known = Some(section),
            Some(Some(_)) => return malformed("is there twice"),
            None if !name.iter().all(u8::is_ascii_alphabetic) => {
                return malformed("is not four letters");
            }
            None if name.first().is_some_and(u8::is_ascii_lowercase) => {}
            None => return Err(ReadError::Section(name)),
        }
        Ok(())
    }

    /// The section of a kind; one without items if the file has none.
    pub fn of(&self, kind: Kind) -> Section<'a> {
        self.known.get(kind as usize).copied().flatten().unwrap_or_default()
    }
}

/// The version of a profile file.
fn version(file: &[u8]) -> Result<u32, ReadError> {
    if file.is_empty() {
        return Err(ReadError::Empty);
    }
    if !file.iter().zip(&PROFILE_MAGIC).all(|(byte, magic)| byte == magic) {
        return Err(ReadError::Foreign);
    }
    if file.len() < at::ENTRIES + CRC {
        return Err(ReadError::TooShort { actual: file.len(), expected: HEADER_SIZE });
    }
    Ok(field(file, at::VERSION) as u32)
}

/// The header of a file, without its checksum, and what is behind it.
pub(super) fn split_header(file: &[u8], size: usize) -> Result<(&[u8], &[u8]), ReadError> {
    let too_short = ReadError::TooShort { actual: file.len(), expected: size };
    let (header, contents) = file.split_at_checked(size).ok_or(too_short)?;
    match header.split_last_chunk() {
        Some((checked, crc)) if u32::from_le_bytes(*crc) == crc32fast::hash(checked) => {
            Ok((checked, contents))
        }
        _ => Err(ReadError::HeaderChecksum),
    }
}

/// The flags of a profile, none of them unknown.
pub(super) fn read_flags(header: &[u8], range: Range<usize>) -> Result<u32, ReadError> {
    let (at, flags) = (range.start, field(header, range) as u32);
    match flags & !FLAGS {
        0 => Ok(flags),
        _ => Err(Malformed { what: "the flags", at, problem: "are unknown" }.into()),
    }
}

/// Checks that a file is as long as its header says.
pub(super) fn check_size(file: &[u8], expected: u64) -> Result<(), ReadError> {
    let actual = file.len() as u64;
    match actual.cmp(&expected) {
        Ordering::Less => Err(ReadError::Truncated { expected, actual }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(ReadError::TooLong { expected, actual }),
    }
}

/// The section that `rest` begins with, which stands at `at`, and what is behind it.
pub(super) fn take(
    rest: &[u8],
    at: usize,
    entry: Entry,
) -> Result<(Section<'_>, &[u8]), ReadError> {
    let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
    match rest.split_at_checked(size) {
        Some((bytes, rest)) if crc32fast::hash(bytes) == entry.crc => {
            Ok((Section { items: entry.items, bytes, at }, rest))
        }
        _ => Err(ReadError::PayloadChecksum),
    }
}

/// A field of the header as a number; 0 if there is none.
pub(super) fn field(header: &[u8], range: Range<usize>) -> u64 {
    let bytes = header.get(range).unwrap_or_default();
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
