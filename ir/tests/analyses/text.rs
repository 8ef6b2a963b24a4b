//! A snapshot as text, parsed and printed: what an analysis, or a rule of mappings, is shown with.
//!
//! ```text
//! snapshot(%p, %q):
//! head:
//!   %x = add.i32 %p, 1
//!   %s = store %x, %q
//!   br -> loop
//! loop:
//!   %i = phi [head: 0], [loop: %i]
//!   condbr %i -> loop, exit
//! ...
//! ```
//!
//! An operation is a word, and behind a dot its type. The words of [`TERMINATORS`] end a block, and
//! those of [`WITHOUT_RESULT`] have no result, though they may have a name; `phi` and `pad` begin a
//! block. Numbers and words that begin with `@` are constants. What stands behind the colon of a
//! block, behind each `!`, and parentheses around a target mean something to mappings only.

use midflight_ir::body::{Block, Body, EdgeKind, Terminator, edges};
use midflight_ir::code::{Code, Operand};
use midflight_ir::facts::InstFacts;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use typed_index_collections::TiVec;

const TERMINATORS: &[(&str, Terminator)] = &[
    ("br", Terminator::Branch),
    ("condbr", Terminator::Branch),
    ("indirectbr", Terminator::IndirectBranch),
    ("invoke", Terminator::Invoke),
    ("resume", Terminator::Resume),
    ("ret", Terminator::Return),
    ("switch", Terminator::Switch),
    ("unreachable", Terminator::Unreachable),
];

const WITHOUT_RESULT: &[&str] = &["assume", "do", "store"];

/// Between what is given and what is found
const LINE: &str = "----";

/// Words by number.
#[derive(Default)]
pub struct Table {
    words: Vec<String>,
}

impl Table {
    pub fn id(&mut self, word: &str) -> u32 {
        self.known(word).unwrap_or_else(|| {
            self.words.push(word.to_string());
            self.words.len() as u32 - 1
        })
    }

    pub fn known(&self, word: &str) -> Option<u32> {
        self.words.iter().position(|known| known == word).map(|id| id as u32)
    }

    pub fn word(&self, id: u32) -> &str {
        &self.words[id as usize]
    }
}

/// A snapshot, and all else that its text says.
#[derive(Default)]
pub struct Snapshot {
    pub body: Body,
    pub values: TiVec<ValueId, String>,
    pub blocks: TiVec<BlockId, String>,
    /// For each block what stands behind its name
    pub heads: TiVec<BlockId, String>,
    /// For each block and edge whether its target is in parentheses
    pub parenthesized: TiVec<BlockId, Vec<bool>>,
    pub operations: TiVec<InstId, String>,
    /// For each instruction what stands behind each `!`
    pub notes: TiVec<InstId, Vec<String>>,
}

impl Snapshot {
    /// Reads lines, of which the first has the arguments.
    pub fn parse(lines: &[&str], constants: &mut Table) -> Self {
        let mut result = Snapshot::default();
        let arguments = lines[0].split(['(', ')']).nth(1).expect("arguments");
        result.values =
            arguments.split(", ").filter(|a| !a.is_empty()).map(str::to_string).collect();
        result.body.code = Code::new(result.values.len());
        // Names first: they may be used before.
        for line in &lines[1..] {
            if let Some(inst) = line.strip_prefix("  ") {
                let unnamed = format!("#{}", result.values.len() - result.body.code.arguments);
                let name = inst.split_once(" = ").map(|(name, _)| name.to_string());
                result.values.push(name.unwrap_or(unnamed));
            } else {
                let (name, head) = line.split_once(':').expect("a block");
                result.blocks.push(name.to_string());
                result.heads.push(head.to_string());
            }
        }
        let blocks = lines[1..].split(|line| !line.starts_with(' ')).skip(1);
        for block in blocks {
            result.begin_block(block.last().expect("a terminator"), lines);
            block.iter().for_each(|line| result.instruction(line.trim_start(), constants));
        }
        result
    }

    /// A block that ends so.
    fn begin_block(&mut self, last: &str, lines: &[&str]) {
        let (last, targets) = last.split_once(" -> ").unwrap_or((last, ""));
        let targets: Vec<&str> = targets.split(", ").filter(|t| !t.is_empty()).collect();
        let word = word_of(last.rsplit_once(" = ").map_or(last.trim_start(), |(_, rest)| rest));
        let terminator = TERMINATORS.iter().find(|known| known.0 == word);
        let terminator = terminator.unwrap_or_else(|| panic!("'{last}' ends no block")).1;
        let name = |target: &&str| target.trim_matches(['(', ')']).to_string();
        let is_pad = |target: &&str| {
            let head = format!("{}:", name(target));
            let mut behind = lines.iter().skip_while(|line| !line.starts_with(&head)).skip(1);
            behind.find(|l| word_of(l.trim_start()) != "phi").is_some_and(|l| l.contains("= pad"))
        };
        let kind = |target: &str| match terminator {
            Terminator::IndirectBranch => EdgeKind::Unsplittable,
            Terminator::Invoke if is_pad(&target) => EdgeKind::Unsplittable,
            _ => EdgeKind::Plain,
        };
        let id = |target: &str| self.block(&name(&target));
        let (edges, successors) = edges(targets.iter().copied(), id, kind);
        let first = |edge| successors.iter().position(|&of| of == edge).expect("its target");
        let parenthesized = (0..edges.len()).map(|edge| targets[first(edge)].starts_with('('));
        self.parenthesized.push(parenthesized.collect());
        self.body.blocks.push(Block { terminator, edges });
        self.body.code.begin_block(successors);
    }

    fn instruction(&mut self, line: &str, constants: &mut Table) {
        let line = line.split_once(" = ").map_or(line, |(_, rest)| rest);
        let line = line.split_once(" -> ").map_or(line, |(line, _)| line);
        let mut parts = line.split(" !");
        let (operation, operands) =
            parts.next().map(|l| l.split_once(' ').unwrap_or((l, ""))).expect("an operation");
        let operands = operands.split(", ").filter(|o| !o.is_empty()).map(|text| {
            let text = text.trim_matches(['[', ']']);
            let from = text.split_once(": ");
            let value = from.map_or(text, |(_, value)| value);
            (self.operand(value, constants), from.map(|(block, _)| self.block(block)))
        });
        let operands: Vec<_> = operands.collect();
        let word = word_of(operation);
        let is_terminator = TERMINATORS.iter().any(|known| known.0 == word);
        let has_result = !WITHOUT_RESULT.contains(&word) && (!is_terminator || word == "invoke");
        let facts = [
            ("is_phi", word == "phi"),
            ("is_pad", word == "pad"),
            ("is_terminator", is_terminator),
            ("has_result", has_result),
        ];
        let bit = |name| InstFacts::NAMES.iter().find(|known| known.0 == name).expect(name).1;
        let bits = facts.iter().map(|&(name, holds)| u32::from(holds) << bit(name)).sum();
        self.body.code.push(InstFacts::from_bits(bits), operands);
        self.operations.push(operation.to_string());
        self.notes.push(parts.map(str::to_string).collect());
    }

    pub fn operand(&self, text: &str, constants: &mut Table) -> Operand {
        match text.starts_with('%') {
            true => Operand::Value(self.value(text)),
            false => Operand::Constant(constants.id(text)),
        }
    }

    pub fn value(&self, name: &str) -> ValueId {
        self.values.position(|n| n == name).unwrap_or_else(|| panic!("there is no '{name}'"))
    }

    pub fn block(&self, name: &str) -> BlockId {
        self.blocks.position(|n| n == name).unwrap_or_else(|| panic!("there is no block '{name}'"))
    }

    /// What [`Snapshot::parse`] was given, with these heads and notes.
    pub fn print(
        &self,
        title: &str,
        constants: &Table,
        head: impl Fn(BlockId) -> String,
        notes: impl Fn(InstId) -> String,
    ) -> String {
        let code = &self.body.code;
        let mut text = String::new();
        writeln!(text, "{title}({}):", self.values.raw[..code.arguments].join(", ")).unwrap();
        for (block, range) in code.of_block.iter_enumerated() {
            writeln!(text, "{}:{}", self.blocks[block], head(block)).unwrap();
            for inst in *range {
                self.print_instruction(&mut text, inst, constants);
                text += &notes(inst);
                if inst.next() == range.end && !code.successors[block].is_empty() {
                    let target = |&edge: &usize| {
                        let name = &self.blocks[self.body.blocks[block].edges[edge].to];
                        match self.parenthesized[block][edge] {
                            true => format!("({name})"),
                            false => name.clone(),
                        }
                    };
                    let targets: Vec<_> = code.successors[block].iter().map(target).collect();
                    write!(text, " -> {}", targets.join(", ")).unwrap();
                }
                text += "\n";
            }
        }
        text
    }

    fn print_instruction(&self, text: &mut String, inst: InstId, constants: &Table) {
        let code = &self.body.code;
        let name = &self.values[code.result(inst)];
        let is = if name.starts_with('%') { format!("{name} = ") } else { String::new() };
        let operand = |(place, &operand): (usize, &Operand)| {
            let value = match operand {
                Operand::Value(value) => &self.values[value],
                Operand::Constant(constant) => constants.word(constant),
            };
            match code.incoming_blocks(inst).get(place) {
                Some(&from) => format!("[{}: {value}]", self.blocks[from]),
                None => value.to_string(),
            }
        };
        let operands: Vec<String> = code.operands(inst).iter().enumerate().map(operand).collect();
        let space = if operands.is_empty() { "" } else { " " };
        write!(text, "  {is}{}{space}{}", self.operations[inst], operands.join(", ")).unwrap();
    }
}

/// The word of an operation.
pub fn word_of(operation: &str) -> &str {
    operation.split(['.', ' ']).next().expect("an operation")
}

/// Checks each fixture in a folder: `read` says what is given, as it is printed, and what is found.
/// With `MIDFLIGHT_BLESS` what is found is written.
pub fn check_fixtures(folder: &Path, read: impl Fn(&[&str]) -> (String, String)) {
    let bless = std::env::var_os("MIDFLIGHT_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let fixture = fs::read_to_string(&file).unwrap();
        let (given, _) = fixture.split_once(LINE).unwrap_or((&fixture, ""));
        let comments = given.lines().take_while(|line| line.starts_with(';'));
        let comments: String = comments.flat_map(|line| [line, "\n"]).collect();
        let read = |text: &str| {
            let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with(';'));
            read(&lines.collect::<Vec<_>>())
        };
        let (printed, found) = read(given);
        // The form is read as it is printed.
        assert_eq!(read(&printed).0, printed, "{}", file.display());
        let found = format!("{comments}{printed}{LINE}\n{found}");
        if found != fixture {
            wrong.push(format!("--- {}\n{found}", file.display()));
            if bless {
                fs::write(&file, found).unwrap();
            }
        }
    }
    assert!(
        bless || wrong.is_empty(),
        "what is found is not what fixtures say; if it is right, MIDFLIGHT_BLESS=1 writes it:\n{}",
        wrong.join("\n")
    );
}
