//! Reading records, and refusing those that are not whole or make no sense.

use super::contexts::ContextTable;
use super::encode::{REASONS, TAG_CUT, TAG_EXIT, TAG_FLOW};
use super::model::{Block, Edge, FunctionTable, Loc, Stage};
use super::path::{NumberingError, PathDecoder};
use super::signature::image_signature;
use crate::cursor::{Cursor, Malformed, u16_at, u32_at, u64_at};
use crate::record::{self, Damage, check_padding};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::contexts::FLAG_CONTEXTS;
use midflight_abi::{
    ABI_VERSION, FLAG_INLINED, FLAG_LATE, LLVM_SHIFT, MAX_K, Mode, RECORD_HEADER_SIZE, RecordHeader,
};

/// A record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table at byte {offset} of the section {kind}")]
pub struct TableError {
    /// Where the record begins, from the start of the bytes given.
    pub offset: usize,
    /// What is wrong with it.
    pub kind: TableErrorKind,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableErrorKind {
    /// It is not whole, or of another version.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// Flags that mean nothing.
    #[error("has unknown flags {0:#x}")]
    Flags(u16),
    /// k is out of range.
    #[error("is for k = {0}, which is not in 1..={MAX_K}")]
    K(u32),
    /// A record about calling contexts has what is of paths.
    #[error("is of calling contexts, and has a k or a hash of a graph")]
    NotOfContexts,
    /// A record about calling contexts has another number of slots than of call sites.
    #[error("of '{function}' has {found} slots for contexts, and should have {expected}")]
    Slots {
        /// The function's name
        function: String,
        /// That of its call sites; 1 where contexts are told apart by functions
        expected: usize,
        /// What its header says
        found: u32,
    },
    /// A field makes no sense.
    #[error("is malformed: {0}")]
    Malformed(#[from] Malformed),
    /// A location or the function itself is in a file that is not in its list.
    #[error("of '{function}' names file {file}, and has {files}")]
    File {
        /// The function's name
        function: String,
        /// Index of the file
        file: u32,
        /// How many there are
        files: usize,
    },
    /// Its numbers are not those of Algorithm 3.
    #[error("of '{function}' is not a path numbering: {error}")]
    Numbering {
        /// The function's name
        function: String,
        /// What is wrong
        error: NumberingError,
    },
}

/// The records of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Those of functions of which paths are profiled.
    pub paths: Vec<FunctionTable>,
    /// Those of functions of which calling contexts are profiled. A function may have one of each.
    pub contexts: Vec<ContextTable>,
}

impl Records {
    /// The [signature](image_signature) of the image that has them.
    pub fn signature(&self) -> u64 {
        let paths = self.paths.iter().map(|table| table.key);
        image_signature(paths.chain(self.contexts.iter().map(|table| table.key)))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.contexts.is_empty()
    }
}

/// Reads all records of a section `midflight_tables`.
///
/// # Errors
/// [`TableError`] about the first record that is damaged, of another version, or inconsistent: see
/// [`FunctionTable::decode`] and [`ContextTable::decode`].
pub fn read_section(section: &[u8]) -> Result<Records, TableError> {
    enum Record {
        Paths(FunctionTable),
        Contexts(ContextTable),
    }
    let records = record::read_all(section, |at, rest| {
        let record = match is_about_contexts(rest) {
            false => FunctionTable::decode(rest).map(|(table, size)| (Record::Paths(table), size)),
            true => ContextTable::decode(rest).map(|(table, size)| (Record::Contexts(table), size)),
        };
        record.map_err(|error| TableError { offset: error.offset + at, ..error })
    })?;
    let mut all = Records::default();
    for record in records {
        match record {
            Record::Paths(table) => all.paths.push(table),
            Record::Contexts(table) => all.contexts.push(table),
        }
    }
    Ok(all)
}

/// Whether the flags of the record that begins there, if it is one, say that it is about calling
/// contexts.
fn is_about_contexts(bytes: &[u8]) -> bool {
    const FLAGS: usize = offset_of!(RecordHeader, flags);
    bytes.len() >= RECORD_HEADER_SIZE && u16_at(bytes, FLAGS) & FLAG_CONTEXTS != 0
}

impl FunctionTable {
    /// Reads the record at the start of `bytes`, and tells its size.
    ///
    /// Checks that it is whole (its key is the hash of its contents), that all indices in it are in
    /// range, and that its values are those that Algorithm 3 assigns to its graph: so
    /// [`PathDecoder::new`] accepts what this returns.
    ///
    /// # Errors
    /// [`TableError`] with offset 0, with what does not hold.
    pub fn decode(bytes: &[u8]) -> Result<(FunctionTable, usize), TableError> {
        let decode = || -> Result<_, TableErrorKind> {
            let record = record::whole(bytes, RECORD_HEADER_SIZE, ABI_VERSION)?;
            let table = read_table(record)?;
            check_files(&table)?;
            PathDecoder::new(&table).map_err(|error| TableErrorKind::Numbering {
                function: table.name.clone(),
                error,
            })?;
            Ok((table, record.len()))
        };
        decode().map_err(|kind| TableError { offset: 0, kind })
    }
}

fn read_table(record: &[u8]) -> Result<FunctionTable, TableErrorKind> {
    let flags = u16_at(record, offset_of!(RecordHeader, flags));
    let (stage, llvm, own) = read_compiler(flags)?;
    let mode = Mode::of_flags(own)
        .filter(|_| own & !Mode::FLAGS == 0)
        .ok_or(TableErrorKind::Flags(flags))?;
    let k = u32_at(record, offset_of!(RecordHeader, k));
    if !(1..=MAX_K).contains(&k) {
        return Err(TableErrorKind::K(k));
    }
    let mut body = Cursor::new(&record[RECORD_HEADER_SIZE..], RECORD_HEADER_SIZE);
    let Declaration { name, unit, files, file, line } = Declaration::read(&mut body)?;
    let blocks = read_blocks(&mut body, line)?;
    let edges = read_edges(&mut body)?;
    check_padding(&body)?;
    Ok(FunctionTable {
        key: u64_at(record, offset_of!(RecordHeader, key)),
        cfg_hash: u64_at(record, offset_of!(RecordHeader, cfg_hash)),
        k,
        num_paths: u32_at(record, offset_of!(RecordHeader, num_paths)),
        stage,
        mode,
        llvm,
        name,
        unit,
        files,
        file,
        line,
        blocks,
        edges,
    })
}

/// What flags say of the compiler: the stage and LLVM's major version. And all others.
pub(super) fn read_compiler(flags: u16) -> Result<(Stage, u8, u16), TableErrorKind> {
    let own = flags & ((1 << LLVM_SHIFT) - 1);
    let stage = match own & (FLAG_INLINED | FLAG_LATE) {
        0 => Stage::Early,
        FLAG_INLINED => Stage::Inlined,
        FLAG_LATE => Stage::Late,
        _ => return Err(TableErrorKind::Flags(flags)),
    };
    Ok((stage, (flags >> LLVM_SHIFT) as u8, own & !(FLAG_INLINED | FLAG_LATE)))
}

/// What a record says of its function before all else.
pub(super) struct Declaration {
    pub name: String,
    pub unit: String,
    pub files: Vec<String>,
    pub file: u32,
    pub line: u32,
}

impl Declaration {
    pub(super) fn read(body: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Declaration {
            name: body.string("the function's name")?,
            unit: body.string("the unit's name")?,
            files: read_files(body)?,
            file: body.varint32("the function's file")?,
            line: body.varint32("the function's line")?,
        })
    }
}

fn read_files(body: &mut Cursor<'_>) -> Result<Vec<String>, Malformed> {
    let count = body.count(1, "the number of files")?;
    (0..count).map(|_| body.string("a file's name")).collect()
}

fn read_blocks(body: &mut Cursor<'_>, line: u32) -> Result<Vec<Block>, Malformed> {
    let count = body.count(2, "the number of blocks")?;
    let mut last = line;
    let mut blocks = Vec::with_capacity(count);
    for _ in 0..count {
        let what = "the number of instructions of a block";
        let too_large = body.malformed(what, "is 2^32 or more");
        let number = body.varint(what)?;
        let instructions = u32::try_from(number >> 1).map_err(|_| too_large)?;
        let count = body.count(3, "the number of lines of a block")?;
        let mut locs = Vec::with_capacity(count);
        for _ in 0..count {
            let file = body.varint32("the file of a line")?;
            locs.push(read_lines(body, &mut last, file)?);
        }
        blocks.push(Block { instructions, calls: number & 1 != 0, locs });
    }
    Ok(blocks)
}

/// The lines of a location in that file; `last` is the line of the one before.
pub(super) fn read_lines(
    body: &mut Cursor<'_>,
    last: &mut u32,
    file: u32,
) -> Result<Loc, Malformed> {
    let line = body.delta32(*last, "a line")?;
    let outer_line = body.delta32(line, "the line of an outer call")?;
    *last = line;
    Ok(Loc { file, line, outer_line })
}

fn read_edges(body: &mut Cursor<'_>) -> Result<Vec<Edge>, Malformed> {
    let count = body.count(3, "the number of edges")?;
    let mut last = 0;
    let mut edges = Vec::with_capacity(count);
    for _ in 0..count {
        let edge = read_edge(body, last)?;
        last = edge.from();
        edges.push(edge);
    }
    Ok(edges)
}

fn read_edge(body: &mut Cursor<'_>, last: u32) -> Result<Edge, Malformed> {
    const VALUE: &str = "the value of an edge";
    const TARGET: &str = "the target of an edge";
    let unknown = body.malformed("the kind of an edge", "is unknown");
    let tag = body.bytes(1, "the kind of an edge")?[0];
    let from = body.delta32(last, "the source of an edge")?;
    match tag {
        TAG_FLOW => {
            Ok(Edge::Flow { from, to: body.delta32(from, TARGET)?, value: body.varint32(VALUE)? })
        }
        TAG_EXIT => Ok(Edge::Exit { from, value: body.varint32(VALUE)? }),
        _ => Ok(Edge::Cut {
            why: *REASONS.get(usize::from(tag - TAG_CUT)).ok_or(unknown)?,
            from,
            to: body.delta32(from, TARGET)?,
            end: body.varint32(VALUE)?,
            start: body.varint32(VALUE)?,
        }),
    }
}

fn check_files(table: &FunctionTable) -> Result<(), TableErrorKind> {
    let of_lines = table.blocks.iter().flat_map(|block| &block.locs).map(|loc| loc.file);
    check_files_of(&table.name, &table.files, table.file, of_lines)
}

/// Checks that a function's own file and those of its locations are in its list. It has no own one
/// where the list is empty.
pub(super) fn check_files_of(
    name: &str,
    files: &[String],
    own: u32,
    of_locs: impl Iterator<Item = u32>,
) -> Result<(), TableErrorKind> {
    let own = Some(own).filter(|_| !files.is_empty());
    match own.into_iter().chain(of_locs).find(|&file| file as usize >= files.len()) {
        None => Ok(()),
        Some(file) => Err(TableErrorKind::File { function: name.into(), file, files: files.len() }),
    }
}
