//! Writing a record: see `docs/format.md`, "The table section".

use super::model::{Block, CutReason, Edge, FunctionTable, Loc, Stage};
use crate::put::{overwrite, put_delta, put_string, put_varint};
use crate::record::seal;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::{
    ABI_VERSION, FLAG_INLINED, FLAG_LATE, LLVM_SHIFT, RECORD_HEADER_SIZE, RecordHeader,
};

/// Tags of edges. Those of cut edges are [`TAG_CUT`] plus the place of their reason in [`REASONS`].
pub(super) const TAG_FLOW: u8 = 0;
pub(super) const TAG_EXIT: u8 = 1;
pub(super) const TAG_CUT: u8 = 2;

/// The reasons for cuts, in the order of their tags, which is that of their declaration.
pub(super) const REASONS: [CutReason; 4] =
    [CutReason::Retreating, CutReason::Bound, CutReason::Unsplittable, CutReason::Restart];

impl FunctionTable {
    /// The whole record with its header, padded to a multiple of 8 bytes. `self.key` is ignored;
    /// [`key_of`](super::key_of) tells the key of the result.
    ///
    /// # Panics
    /// If the record would have 4 GiB or more.
    pub fn encode(&self) -> Vec<u8> {
        let FunctionTable { cfg_hash, k, num_paths, .. } = *self;
        let flags = compiler_flags(self.stage, self.llvm) | self.mode.flags();
        let mut record = Vec::new();
        put_header(&mut record, flags, cfg_hash, k, num_paths);
        put_declaration(&mut record, &self.name, &self.unit, &self.files, (self.file, self.line));
        put_blocks(&mut record, &self.blocks, self.line);
        put_edges(&mut record, &self.edges);
        seal(&mut record).expect("a record has less than 4 GiB");
        record
    }
}

/// What a record's flags say of the compiler.
pub(super) fn compiler_flags(stage: Stage, llvm: u8) -> u16 {
    let stage = match stage {
        Stage::Early => 0,
        Stage::Inlined => FLAG_INLINED,
        Stage::Late => FLAG_LATE,
    };
    stage | u16::from(llvm) << LLVM_SHIFT
}

/// Begins a record: its header, without what [`seal`] fills in.
pub(super) fn put_header(out: &mut Vec<u8>, flags: u16, cfg_hash: u64, k: u32, num_paths: u32) {
    out.resize(RECORD_HEADER_SIZE, 0);
    overwrite(out, offset_of!(RecordHeader, version), &ABI_VERSION.to_le_bytes());
    overwrite(out, offset_of!(RecordHeader, flags), &flags.to_le_bytes());
    overwrite(out, offset_of!(RecordHeader, cfg_hash), &cfg_hash.to_le_bytes());
    overwrite(out, offset_of!(RecordHeader, k), &k.to_le_bytes());
    overwrite(out, offset_of!(RecordHeader, num_paths), &num_paths.to_le_bytes());
}

/// What a record says of its function before all else; `place` is the file and the line of its
/// declaration.
pub(super) fn put_declaration(
    out: &mut Vec<u8>,
    name: &str,
    unit: &str,
    files: &[String],
    place: (u32, u32),
) {
    put_string(out, name);
    put_string(out, unit);
    put_varint(out, files.len() as u64);
    files.iter().for_each(|file| put_string(out, file));
    put_varint(out, place.0.into());
    put_varint(out, place.1.into());
}

fn put_blocks(out: &mut Vec<u8>, blocks: &[Block], line: u32) {
    put_varint(out, blocks.len() as u64);
    let mut last = line;
    for block in blocks {
        put_varint(out, u64::from(block.instructions) << 1 | u64::from(block.calls));
        put_varint(out, block.locs.len() as u64);
        for loc in &block.locs {
            put_varint(out, loc.file.into());
            put_lines(out, &mut last, loc);
        }
    }
}

/// The lines of a location; `last` is the line of the one before.
pub(super) fn put_lines(out: &mut Vec<u8>, last: &mut u32, loc: &Loc) {
    put_delta(out, *last, loc.line);
    put_delta(out, loc.line, loc.outer_line);
    *last = loc.line;
}

fn put_edges(out: &mut Vec<u8>, edges: &[Edge]) {
    put_varint(out, edges.len() as u64);
    let mut last = 0;
    for edge in edges {
        out.push(tag_of(edge));
        put_delta(out, last, edge.from());
        last = edge.from();
        match *edge {
            Edge::Flow { from, to, value } => {
                put_delta(out, from, to);
                put_varint(out, value.into());
            }
            Edge::Cut { from, to, end, start, .. } => {
                put_delta(out, from, to);
                put_varint(out, end.into());
                put_varint(out, start.into());
            }
            Edge::Exit { value, .. } => put_varint(out, value.into()),
        }
    }
}

fn tag_of(edge: &Edge) -> u8 {
    match edge {
        Edge::Flow { .. } => TAG_FLOW,
        Edge::Exit { .. } => TAG_EXIT,
        Edge::Cut { why, .. } => TAG_CUT + *why as u8,
    }
}
