//! The record of a function of which calling contexts are profiled: see `docs/format.md`, "Records
//! of calling contexts".

use super::decode::{
    Declaration, TableError, TableErrorKind, check_files_of, read_compiler, read_lines,
};
use super::encode::{compiler_flags, put_declaration, put_header, put_lines};
use super::model::{Loc, Stage};
use crate::cursor::{Cursor, Malformed, u16_at, u32_at, u64_at};
use crate::put::put_varint;
use crate::record::{self, check_padding, seal};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::contexts::{
    FLAG_BURSTS, FLAG_BY_FUNCTION, FLAG_CONTEXTS, FLAG_OWN_FRAME, KIND_FOLDED, KIND_PATHS,
    KIND_TIMED,
};
use midflight_abi::{ABI_VERSION, RECORD_HEADER_SIZE, RecordHeader};

/// The record of a function of which calling contexts are profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextTable {
    /// Identity of the function as compiled: the hash of all else in the record. Set by
    /// [`decode`](ContextTable::decode); [`encode`](ContextTable::encode) computes it anew and does
    /// not look at it.
    pub key: u64,
    /// When in the pipeline the function was instrumented.
    pub stage: Stage,
    /// Major version of the LLVM that compiled the function; 0 if it is not known.
    pub llvm: u8,
    /// What tells contexts apart.
    pub granularity: Granularity,
    /// Whether each activation has a frame of its own: the function is never inlined.
    pub has_own_frame: bool,
    /// Whether contexts are counted in bursts.
    pub bursts: bool,
    /// Whether the times are taken that contexts take; never with `bursts`.
    pub times: bool,
    /// Whether the paths of the function are counted for each context; never with `bursts`, nor
    /// where recursion is folded.
    pub paths: bool,
    /// What becomes of a call of a function that is under way; never folded with `bursts`.
    pub recursion: Recursion,
    /// The function's name, as the linker knows it.
    pub name: String,
    /// The translation unit that a local function belongs to; empty for others.
    pub unit: String,
    /// Source files that locations refer to.
    pub files: Vec<String>,
    /// The file that the function was declared in: an index in `files`. Meaningless where `files`
    /// is empty.
    pub file: u32,
    /// The line that the function was declared at; 0 if it is not known.
    pub line: u32,
    /// The call sites by their slots; none where functions tell contexts apart.
    pub sites: Vec<Site>,
}

/// What tells the contexts of two calls by one function apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// The call site, and the function that is called.
    #[default]
    Sites,
    /// The function that is called alone: all calls have slot 0.
    Functions,
}

/// What becomes of a call of a function that is above in the context of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recursion {
    /// A context of its own, with what it calls.
    #[default]
    Levels,
    /// A context that has the call alone: the activation goes on in the one above (Ammons, Ball,
    /// Larus, PLDI 1997).
    Folded,
}

/// A call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Where it is in the source. The file has no meaning where the line is 0, which is not known.
    pub loc: Loc,
    /// True if who is called takes its caller's place on the stack.
    pub is_tail: bool,
}

impl ContextTable {
    /// The number of slots that a context of the function has: each call is from one of them.
    pub fn slots(&self) -> usize {
        match self.granularity {
            Granularity::Sites => self.sites.len(),
            Granularity::Functions => 1,
        }
    }

    /// The whole record with its header, padded to a multiple of 8 bytes. `self.key` is ignored;
    /// [`key_of`](super::key_of) tells the key of the result.
    ///
    /// # Panics
    /// If the record would have 4 GiB or more.
    pub fn encode(&self) -> Vec<u8> {
        let granularity = match self.granularity {
            Granularity::Sites => 0,
            Granularity::Functions => FLAG_BY_FUNCTION,
        };
        let own_frame = if self.has_own_frame { FLAG_OWN_FRAME } else { 0 };
        let bursts = if self.bursts { FLAG_BURSTS } else { 0 };
        let own = FLAG_CONTEXTS | granularity | own_frame | bursts;
        let flags = compiler_flags(self.stage, self.llvm) | own;
        let mut record = Vec::new();
        // Where there are 2^32 of them, the record is too large.
        let times = if self.times { KIND_TIMED } else { 0 };
        let paths = if self.paths { KIND_PATHS } else { 0 };
        let folded = if self.recursion == Recursion::Folded { KIND_FOLDED } else { 0 };
        put_header(&mut record, flags, 0, times | paths | folded, self.slots() as u32);
        put_declaration(&mut record, &self.name, &self.unit, &self.files, (self.file, self.line));
        put_varint(&mut record, self.sites.len() as u64);
        let mut last = self.line;
        for Site { loc, is_tail } in &self.sites {
            put_varint(&mut record, u64::from(loc.file) << 1 | u64::from(*is_tail));
            put_lines(&mut record, &mut last, loc);
        }
        seal(&mut record).expect("a record has less than 4 GiB");
        record
    }

    /// Reads the record at the start of `bytes`, and tells its size.
    ///
    /// Checks that it is whole (its key is the hash of its contents), that all indices in it are in
    /// range, and that it has a slot for each call site.
    ///
    /// # Errors
    /// [`TableError`] with offset 0, with what does not hold.
    pub fn decode(bytes: &[u8]) -> Result<(ContextTable, usize), TableError> {
        let decode = || -> Result<_, TableErrorKind> {
            let record = record::whole(bytes, RECORD_HEADER_SIZE, ABI_VERSION)?;
            let table = read_table(record)?;
            let known = table.sites.iter().filter(|site| site.loc.line != 0);
            let of_sites = known.map(|site| site.loc.file);
            check_files_of(&table.name, &table.files, table.file, of_sites)?;
            Ok((table, record.len()))
        };
        decode().map_err(|kind| TableError { offset: 0, kind })
    }
}

fn read_table(record: &[u8]) -> Result<ContextTable, TableErrorKind> {
    let flags = u16_at(record, offset_of!(RecordHeader, flags));
    let (stage, llvm, own) = read_compiler(flags)?;
    let (has_own_frame, bursts) = (own & FLAG_OWN_FRAME != 0, own & FLAG_BURSTS != 0);
    let granularity = match (own & !(FLAG_OWN_FRAME | FLAG_BURSTS)).checked_sub(FLAG_CONTEXTS) {
        Some(0) => Granularity::Sites,
        Some(FLAG_BY_FUNCTION) => Granularity::Functions,
        _ => return Err(TableErrorKind::Flags(flags)),
    };
    let kind = u32_at(record, offset_of!(RecordHeader, k));
    let (times, paths) = (kind & KIND_TIMED != 0, kind & KIND_PATHS != 0);
    let is_known = kind & !(KIND_TIMED | KIND_PATHS | KIND_FOLDED) == 0;
    let is_contrary = bursts && kind != 0 || paths && kind & KIND_FOLDED != 0;
    if !is_known || is_contrary || u64_at(record, offset_of!(RecordHeader, cfg_hash)) != 0 {
        return Err(TableErrorKind::NotOfContexts);
    }
    let recursion = match kind & KIND_FOLDED {
        0 => Recursion::Levels,
        _ => Recursion::Folded,
    };
    let mut body = Cursor::new(&record[RECORD_HEADER_SIZE..], RECORD_HEADER_SIZE);
    let Declaration { name, unit, files, file, line } = Declaration::read(&mut body)?;
    let sites = read_sites(&mut body, line)?;
    let no_sites = body.malformed("the number of call sites", "is not 0, as by functions");
    check_padding(&body)?;
    if granularity == Granularity::Functions && !sites.is_empty() {
        return Err(no_sites.into());
    }
    let key = u64_at(record, offset_of!(RecordHeader, key));
    let table = ContextTable {
        key,
        stage,
        llvm,
        granularity,
        has_own_frame,
        bursts,
        times,
        paths,
        recursion,
        name,
        unit,
        files,
        file,
        line,
        sites,
    };
    let found = u32_at(record, offset_of!(RecordHeader, num_paths));
    match table.slots() {
        expected if expected == found as usize => Ok(table),
        expected => Err(TableErrorKind::Slots { function: table.name, expected, found }),
    }
}

fn read_sites(body: &mut Cursor<'_>, line: u32) -> Result<Vec<Site>, Malformed> {
    let count = body.count(3, "the number of call sites")?;
    let mut last = line;
    let mut sites = Vec::with_capacity(count);
    for _ in 0..count {
        let what = "the file of a call site";
        let too_large = body.malformed(what, "is 2^32 or more");
        let number = body.varint(what)?;
        let file = u32::try_from(number >> 1).map_err(|_| too_large)?;
        let loc = read_lines(body, &mut last, file)?;
        sites.push(Site { loc, is_tail: number & 1 != 0 });
    }
    Ok(sites)
}
