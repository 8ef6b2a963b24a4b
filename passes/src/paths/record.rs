//! A function's record: the table that turns path IDs back into blocks and source lines.

use crate::paths::numbering::Numbering;
use crate::paths::options::Options;
use crate::paths::read::Snapshot;
use midflight_abi::Mode;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::LLVM_MAJOR;
use midflight_ir::body::Body;
use midflight_profile::table::{self, FunctionTable};

/// An encoded record.
pub struct Record {
    /// The bytes for the record section
    pub bytes: Vec<u8>,
    /// The key in them
    pub key: u64,
}

/// Makes the record of a function that was numbered.
pub fn record_of(
    module: Module<'_>,
    function: Function<'_>,
    snapshot: &Snapshot<'_>,
    numbering: &Numbering,
    options: &Options,
    mode: Mode,
) -> Record {
    let mut files = snapshot.files.clone();
    let (file, line) = match &snapshot.declared {
        Some(declared) => {
            let known = files.iter().position(|f| *f == declared.file);
            let index = known.unwrap_or_else(|| {
                files.push(declared.file.clone());
                files.len() - 1
            });
            (index, declared.line)
        }
        None => {
            files.push(module.source_file());
            (files.len() - 1, 0)
        }
    };
    let table = FunctionTable {
        key: 0,
        cfg_hash: snapshot.body.cfg_hash(),
        k: options.k,
        num_paths: numbering.num_paths,
        stage: options.stage,
        mode,
        llvm: LLVM_MAJOR,
        name: function.name(),
        // Static functions of one name in several units are several functions.
        unit: unit_of(module, function),
        files,
        file: u32::try_from(file).expect("fewer than 2^32 files"),
        line,
        blocks: table_blocks(&snapshot.body),
        edges: numbering.edges.clone(),
    };
    let bytes = table.encode();
    let key = table::key_of(&bytes);
    Record { bytes, key }
}

/// The translation unit that a local function belongs to; empty for others.
pub fn unit_of(module: Module<'_>, function: Function<'_>) -> String {
    if function.facts().is_local() { module.source_file() } else { String::new() }
}

fn table_blocks(body: &Body) -> Vec<table::Block> {
    let loc = |line: &midflight_ir::body::Line| table::Loc {
        file: line.file,
        line: line.line,
        outer_line: line.outer,
    };
    let block = |block: &midflight_ir::body::BlockProfile| table::Block {
        instructions: block.instructions,
        calls: block.calls > 0,
        locs: block.lines.iter().map(loc).collect(),
    };
    body.profile.iter().map(block).collect()
}
