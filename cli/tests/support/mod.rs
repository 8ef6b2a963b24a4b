//! A made-up program with its path tables, its source and profiles of its runs.
#![allow(dead_code, reason = "each test program uses a part")]

use midflight_profile::format::{Counters, FunctionProfile, Module, Profile, Totals};
use midflight_profile::table::{
    Block, CutReason, Edge, FunctionTable, Loc, Mode, Stage, image_signature, read_section,
};
use midflight_profile::windows::{WindowForest, Windows};
use object::write::{Object, StandardSegment};
use object::{Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// k of all functions.
pub const K: u32 = 4;

/// The source of `sum` and `idle`, in the file that the tables name.
pub const SOURCE: &str = "\
#include <stdio.h>

static int idle(void) { return 0; }

int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    if (p[i] > 3)
      total += p[i];
    else
      total -= 1;
  }
  return total;
}
";

/// A block of `sum.c`.
pub fn block(instructions: u32, lines: &[u32]) -> Block {
    let loc = |&line: &u32| Loc { file: 0, line, outer_line: line };
    Block { instructions, calls: false, locs: lines.iter().map(loc).collect() }
}

/// A loop with a branch. Its paths are
/// 0: entry, then (8-9), back. 1: entry, else (11), back. 2: entry, out.
/// 3, 4, 5: the same from the loop's head.
pub fn sum() -> FunctionTable {
    let flow = |from, to, value| Edge::Flow { from, to, value };
    FunctionTable {
        key: 0,
        cfg_hash: 1,
        k: K,
        num_paths: 6,
        stage: Stage::Early,
        mode: Mode::Automaton,
        llvm: 22,
        name: "sum".into(),
        unit: String::new(),
        files: vec!["/build/src/sum.c".into()],
        file: 0,
        line: 5,
        blocks: [
            block(4, &[6, 7]),
            block(3, &[7]),
            block(9, &[8, 9]),
            block(7, &[8, 11]),
            block(4, &[7]),
            block(2, &[13]),
        ]
        .to_vec(),
        edges: vec![
            flow(0, 1, 0),
            flow(1, 2, 0),
            flow(1, 3, 1),
            flow(1, 5, 2),
            flow(2, 4, 0),
            flow(3, 4, 0),
            Edge::Cut { from: 4, to: 1, end: 0, start: 3, why: CutReason::Retreating },
            Edge::Exit { from: 5, value: 0 },
        ],
    }
}

/// The same with blocks so many times as large, whose last ones may call functions, instrumented at
/// a stage.
pub fn sum_with(times: u32, calls: bool, stage: Stage) -> FunctionTable {
    let mut table = FunctionTable { stage, ..sum() };
    for block in &mut table.blocks {
        block.instructions *= times;
    }
    table.blocks[4].calls = calls;
    table
}

/// A function of one block; it stands in the unit `sum.c` and never runs.
pub fn idle() -> FunctionTable {
    FunctionTable {
        name: "idle".into(),
        unit: "sum.c".into(),
        line: 3,
        num_paths: 1,
        mode: Mode::Counting,
        blocks: vec![block(1, &[3])],
        edges: vec![Edge::Exit { from: 0, value: 0 }],
        ..sum()
    }
}

/// A C++ function of one block, with code of `sum.c` inlined.
pub fn bar() -> FunctionTable {
    FunctionTable {
        name: "_ZN3foo3barEi".into(),
        line: 2,
        num_paths: 1,
        mode: Mode::Counting,
        files: vec!["/build/src/bar.cc".into(), "/build/src/sum.c".into()],
        blocks: vec![Block {
            instructions: 6,
            calls: false,
            locs: vec![
                Loc { file: 0, line: 2, outer_line: 2 },
                Loc { file: 1, line: 8, outer_line: 3 },
            ],
        }],
        edges: vec![Edge::Exit { from: 0, value: 0 }],
        ..sum()
    }
}

/// The activations of `sum` in a run: one that takes the branch 3 times, turns away twice and ends;
/// `more` with an empty loop, and one that is interrupted.
pub fn streams(more: usize) -> Vec<Vec<u32>> {
    let mut streams = vec![vec![0, 3, 3, 4, 4, 5], vec![1, 3]];
    streams.extend(std::iter::repeat_n(vec![2], more));
    streams
}

/// The tables as the section holds them.
pub fn section(tables: &[FunctionTable]) -> Vec<u8> {
    tables.iter().flat_map(FunctionTable::encode).collect()
}

/// An ELF object file with the section.
pub fn elf(section: &[u8]) -> Vec<u8> {
    elf_with(&[(midflight_abi::RECORD_SECTION, section)])
}

/// An ELF object file with sections.
pub fn elf_with(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    for (name, section) in sections {
        let segment = object.segment_name(StandardSegment::Data).to_vec();
        let id = object.add_section(segment, name.as_bytes().to_vec(), SectionKind::ReadOnlyData);
        object.section_mut(id).flags = SectionFlags::Elf { sh_flags: 2 };
        object.append_section_data(id, section, 8);
    }
    object.write().unwrap()
}

/// What a run of an image with these tables writes.
pub fn profile(name: &str, tables: &[FunctionTable], runs: &[(&str, Vec<Vec<u32>>)]) -> Profile {
    let tables = read_section(&section(tables)).unwrap().paths;
    let signature = image_signature(tables.iter().map(|t| t.key));
    let functions = runs.iter().map(|(function, streams)| {
        let table = tables.iter().find(|t| t.name == *function).unwrap();
        let mut windows = WindowForest::new(table.k);
        for stream in streams {
            windows.enter();
            stream.iter().for_each(|&id| windows.event(id));
        }
        let Windows { all: forest, truncated } = windows.windows().clone();
        FunctionProfile {
            module: 0,
            key: table.key,
            k: table.k,
            totals: Totals { entries: streams.len() as u64, ..Totals::default() },
            counters: Counters::Windows,
            forest,
            truncated,
        }
    });
    let functions: Vec<FunctionProfile> = functions.collect();
    let k = functions.iter().map(|f| f.k).max().unwrap_or(0);
    Profile {
        k,
        flags: 0,
        modules: vec![Module { signature, name: name.into() }],
        functions,
        contexts: None,
        used: None,
    }
}

/// What a function has of these activations in place of what it has, if before some of its events,
/// counted from 0, only so many paths were still known.
pub fn forget(
    function: &mut FunctionProfile,
    streams: &[Vec<u32>],
    known: impl Fn(usize) -> Option<usize>,
) {
    let mut windows = WindowForest::new(function.k);
    let mut events = 0..;
    for stream in streams {
        windows.enter();
        for (event, &id) in events.by_ref().zip(stream) {
            if let Some(known) = known(event) {
                windows.forget_all_but(known);
            }
            windows.event(id);
        }
    }
    let Windows { all, truncated } = windows.windows().clone();
    (function.forest, function.truncated) = (all, truncated);
}

/// A folder with `prog`, `prog.mfp` and the source.
pub struct Fixture {
    /// The folder
    pub folder: TempDir,
}

impl Fixture {
    /// Makes the folder.
    pub fn new() -> Self {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        let tables = [sum(), idle(), bar()];
        fixture.write("prog", &elf(&section(&tables)));
        let runs = [("sum", streams(10)), ("_ZN3foo3barEi", vec![vec![0]; 7])];
        fixture.write("prog.mfp", &profile("/build/prog", &tables, &runs).write());
        std::fs::create_dir(fixture.path("src")).unwrap();
        fixture.write("src/sum.c", SOURCE.as_bytes());
        fixture
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command, to be run in the folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_midflight"));
        command.current_dir(self.folder.path()).env_remove("MIDFLIGHT_CC_OPTIONS");
        command
    }

    /// Runs the command on words.
    pub fn run(&self, line: &str) -> Output {
        self.command().args(line.split_whitespace()).output().unwrap()
    }

    /// Runs it, and gives what it printed; it must succeed and say nothing on standard error.
    pub fn printed(&self, line: &str) -> String {
        let output = self.run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.is_empty(), "{line}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it, and gives its complaint; it must fail with status 1, print nothing, complain in one
    /// line, and leave the folder as it was.
    pub fn complaint(&self, line: &str) -> String {
        let before = self.contents();
        let output = self.run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
        assert_eq!(output.stdout, b"", "{line}");
        assert_eq!(stderr.matches('\n').count(), 1, "{line}: {stderr}");
        assert_eq!(self.contents(), before, "{line}: no file is changed, none is left behind");
        let complaint = stderr.strip_prefix("midflight: error: ");
        complaint.unwrap_or_else(|| panic!("{line}: {stderr}")).trim_end().to_string()
    }

    /// The files of the folder, hidden ones too, with what is in them.
    fn contents(&self) -> BTreeMap<OsString, Vec<u8>> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        entries.map(|e| (e.file_name(), std::fs::read(e.path()).unwrap_or_default())).collect()
    }
}
