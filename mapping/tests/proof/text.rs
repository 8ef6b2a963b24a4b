//! Two versions as text, parsed and printed: what a rule is shown with.
//!
//! ```text
//! base(%p, %q):
//! head:
//!   %x = add.i32 %p, 1
//!   %s = store %x, %q
//!   br -> loop
//! loop: states head: %s, loop: loop
//!   %i = phi [head: 0], [loop: %i]
//!   %l = load %q !reads loop
//!   condbr %l -> loop, exit
//! ...
//! ```
//!
//! Each is a [`Snapshot`]; an operation is a word of [`FACTS`]. Behind `!` is what else is known:
//! `reads ACCESS`, `constant C`, `copied OPERAND`, `unsigned OPERATION`, and `linear CONSTANT
//! BITS PLACE*FACTOR…` of a sum; `compares PREDICATE`, with `swapped`, `negated`, `symmetric`,
//! and `not PLACE` of booleans; `cases BITS VALUE…` of a switch; `bits N` of an integer, and
//! `extends N` of one that is made of another one of so many bits, with `signed`; `writes BYTES`
//! of what copies memory, with the constant if it fills it, `bytes N` of an integer that is
//! loaded or stored, `accesses N` of any load or store of so many bytes, `aligned` of one whose
//! address is a multiple of that; `fills WHAT` of what has one byte all over, with how many
//! instructions before it that begins if it ends a group, and `varies` if the byte is an operand;
//! `defined PLACE…` of operands that must be well defined, `exact`, `partial` of a shift, and
//! `compares-memory`, with the bytes if strings are. An edge in parentheses is never taken.
//! `states` has what meets in memory at the head of a block, `implied` what branches say there.
//! What has one name in both versions is tracked as kept; `replaced %a by %b` and `folded %a` say
//! what else is. `oracle QUESTION [is ANSWER]` is what LLVM answered, by the names of
//! [`Oracle`]'s methods.

use crate::snapshot::{Snapshot, Table, word_of};
use midflight_ir::facts::MapFacts;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::proof::terms::{Term, Terms};
use midflight_mapping::versions::facts::Tracked;
use midflight_mapping::versions::graph::{
    Access, Boolean, Cases, ConstId, Effect, Extends, Fill, Graph, GraphBlock, Linear, Node,
    Operand, Oracle,
};
use midflight_mapping::versions::version::{PerVersion, Version};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

/// For each operation what LLVM would say of it.
const FACTS: &[(&str, &str)] = &[
    ("add", "repeatable speculatable commutative"),
    ("alloca", "pinned"),
    ("and", "repeatable speculatable commutative logical_and"),
    ("assume", "marker"),
    ("br", "terminator unconditional"),
    ("call", "anchor reads_memory"),
    ("condbr", "terminator conditional"),
    ("div", "repeatable"),
    ("do", "anchor reads_memory"),
    ("eq", "repeatable speculatable commutative equal"),
    ("freeze", "pinned"),
    ("gep", "repeatable speculatable"),
    ("invoke", "anchor reads_memory terminator"),
    ("copy", "anchor reads_memory"),
    ("less", "repeatable speculatable"),
    ("load", "load reads_memory"),
    ("mul", "repeatable speculatable commutative"),
    ("own", "own"),
    ("pad", "landing_pad anchor reads_memory"),
    ("pad_pointer", "pad_pointer repeatable speculatable"),
    ("ne", "repeatable speculatable commutative differ"),
    ("phi", "phi"),
    ("read", "reads_memory"),
    ("ret", "terminator"),
    ("sdiv", "repeatable"),
    ("sext", "repeatable speculatable"),
    ("select", "repeatable speculatable select"),
    ("store", "store anchor"),
    ("sub", "repeatable speculatable"),
    ("switch", "terminator"),
    ("trunc", "repeatable speculatable"),
    ("udiv", "repeatable"),
    ("xor", "repeatable speculatable commutative"),
    ("zext", "repeatable speculatable"),
];

fn facts(names: &str) -> MapFacts {
    let bit = |name: &str| {
        let known =
            MapFacts::NAMES.iter().find(|(known, _)| known.trim_start_matches("is_") == name);
        1 << known.unwrap_or_else(|| panic!("there is no fact '{name}'")).1
    };
    MapFacts::from_bits(names.split(' ').map(bit).fold(0, |all, bit| all | bit))
}

fn inst(snapshot: &Snapshot, name: &str) -> InstId {
    snapshot.body.code.definition(snapshot.value(name)).expect("an instruction")
}

fn access(snapshot: &Snapshot, text: &str) -> Access {
    match text {
        "entry" => Access::Entry,
        name if name.starts_with('%') => Access::Def(inst(snapshot, name)),
        block => Access::Phi(snapshot.block(block)),
    }
}

/// What a fixture says.
#[derive(Default)]
pub struct Text {
    pub snapshots: PerVersion<Snapshot>,
    pub graphs: PerVersion<Graph>,
    pub tracked: Tracked,
    pub constants: Table,
    operations: Table,
    types: Table,
    answers: HashMap<String, String>,
    /// Lines behind the versions
    rest: Vec<String>,
}

impl Text {
    pub fn parse(lines: &[&str]) -> Self {
        let mut result = Text::default();
        let begin = |name: &str| lines.iter().position(|l| l.starts_with(name)).expect(name);
        let (base, opt) = (begin("base("), begin("opt("));
        let is_inside = |l: &&&str| l.starts_with(' ') || l.ends_with(':') || l.contains(": ");
        let is_rest = |l: &&str| {
            ["replaced", "folded", "oracle", "mappings", "unfolded"]
                .iter()
                .any(|word| l.starts_with(word))
        };
        let end = opt + lines[opt..].iter().position(is_rest).unwrap_or(lines.len() - opt);
        assert!(lines[base + 1..end].iter().all(|l| is_inside(&l) || l.starts_with("opt(")));
        result.version(Version::Base, &lines[base..opt]);
        result.version(Version::Opt, &lines[opt..end]);
        result.track();
        for line in &lines[end..] {
            result.rest.push(line.to_string());
            result.say(line);
        }
        result
    }

    fn version(&mut self, which: Version, lines: &[&str]) {
        let snapshot = Snapshot::parse(lines, &mut self.constants);
        for (block, head) in snapshot.heads.iter_enumerated() {
            let feasible = snapshot.parenthesized[block].iter().map(|never| !never).collect();
            let block = GraphBlock { feasible, ..self.head(&snapshot, head) };
            self.graphs[which].blocks.push(block);
        }
        for (inst, operation) in snapshot.operations.iter_enumerated() {
            let node = self.node(&snapshot, operation, &snapshot.notes[inst]);
            self.graphs[which].nodes.push(node);
        }
        self.graphs[which].body = Rc::new(snapshot.body.clone());
        self.snapshots[which] = snapshot;
    }

    /// What stands behind the name of a block.
    fn head(&mut self, snapshot: &Snapshot, text: &str) -> GraphBlock {
        let mut block = GraphBlock::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (kind, list) = part.split_once(' ').expect("states or implied");
            for item in list.split(", ") {
                let (from, what) = item.split_once(": ").expect("from a block");
                let from = snapshot.block(from);
                if kind == "states" {
                    let states = block.memory_phi.get_or_insert_default();
                    states.push((from, access(snapshot, what)));
                } else {
                    let (value, constant) = what.split_once(" = ").expect("a value");
                    let constant = self.constants.id(constant);
                    block.implied.push((from, snapshot.value(value), constant));
                }
            }
        }
        block
    }

    fn node(&mut self, snapshot: &Snapshot, operation: &str, notes: &[String]) -> Node {
        let word = word_of(operation);
        let &(_, of_word) =
            FACTS.iter().find(|f| f.0 == word).unwrap_or_else(|| panic!("no operation '{word}'"));
        let mut node = Node {
            facts: facts(of_word),
            data_type: self.types.id(operation.split_once('.').map_or("", |(_, ty)| ty)),
            operation: self.operations.id(operation),
            is_total: of_word.contains("repeatable speculatable"),
            ..Node::default()
        };
        for note in notes {
            let (kind, value) = note.split_once(' ').unwrap_or((note, ""));
            match kind {
                "reads" => node.clobber = Some(access(snapshot, value)),
                "constant" => node.constant = Some(self.constants.id(value)),
                "copied" => node.copied = Some(snapshot.operand(value, &mut self.constants)),
                "unsigned" => node.as_unsigned = Some(self.operations.id(value)),
                "compares" => {
                    let has = |name: &str| value.split(' ').any(|word| word == name);
                    node.boolean = Some(Boolean::Comparison {
                        predicate: word_of(value).parse().expect("a number"),
                        swapped: has("swapped"),
                        negated: has("negated"),
                        symmetric: has("symmetric"),
                    });
                }
                "not" => node.boolean = Some(Boolean::Not(value.parse().expect("a place"))),
                "cases" => {
                    let mut numbers = value.split(' ').map(|w| w.parse().expect("a number"));
                    let bits = numbers.next().expect("bits") as u32;
                    node.cases = Some(Cases { bits, values: numbers.collect() });
                }
                "effect" => {
                    let mut numbers = value.split(' ').map(|w| w.parse().expect("a number"));
                    let what = numbers.next().expect("what it does") as u32;
                    node.effect = Some(Effect { what, operands: numbers.collect() });
                }
                "copies" => node.copied_bytes = Some(value.parse().expect("a number")),
                "fills" => {
                    let (value, byte_varies) =
                        value.strip_suffix(" varies").map_or((value, false), |value| (value, true));
                    let mut numbers = value.split(' ').map(|w| w.parse().expect("a number"));
                    let what = numbers.next().expect("what it fills") as u32;
                    node.fills = Some(Fill { what, byte_varies, group: numbers.next() });
                }
                "grouped" => node.is_grouped = true,
                "aligned" => node.is_aligned = true,
                "compares-memory" => {
                    node.compares_memory = true;
                    node.compared_bytes = (!value.is_empty()).then(|| self.constants.id(value));
                }
                "exact" => node.is_exact = true,
                "partial" => node.is_partial = true,
                "defined" => {
                    let place = |word: &str| word.parse::<u32>().expect("a place");
                    node.well_defined = value.split(' ').map(|word| 1 << place(word)).sum();
                }
                "bytes" => node.integer_bytes = Some(value.parse().expect("a number")),
                "accesses" => node.accessed_bytes = Some(value.parse().expect("a number")),
                "bits" => node.bits = Some(value.parse().expect("a number")),
                "extends" => {
                    let bits = word_of(value).parse().expect("a number");
                    node.extends = Some(Extends { bits, signed: value.ends_with("signed") });
                }
                "linear" => {
                    let mut words = value.split(' ');
                    let mut number =
                        || words.next().and_then(|w| w.parse().ok()).expect("a number");
                    let (constant, bits) = (number(), number() as u32);
                    let term = |word: &str| {
                        let (place, factor) = word.split_once('*')?;
                        Some((place.parse().ok()?, factor.parse().ok()?))
                    };
                    let terms = words.map(|w| term(w).expect("a term")).collect();
                    node.linear = Some(Linear { constant, terms, bits });
                }
                other => panic!("'!{other}' is not known"),
            }
        }
        node
    }

    /// What has the same name is the same.
    fn track(&mut self) {
        let PerVersion { base, opt } = &self.snapshots;
        let insts = |which: Version| self.graphs[which].nodes.keys();
        let inst = |from: Version, inst: InstId| {
            let name = self.inst(from, inst);
            let to = from.other();
            let there = insts(to).find(|&i| self.inst(to, i) == name);
            there.filter(|_| name.starts_with('%'))
        };
        self.tracked = Tracked {
            blocks: base.blocks.iter().map(|name| opt.blocks.position(|n| n == name)).collect(),
            kept: insts(Version::Base).map(|i| inst(Version::Base, i)).collect(),
            origin: insts(Version::Opt).map(|i| inst(Version::Opt, i)).collect(),
            replaced: insts(Version::Base).map(|_| None).collect(),
            folded: insts(Version::Base).map(|_| false).collect(),
        };
    }

    fn say(&mut self, line: &str) {
        let of = |which: Version, name: &str| inst(&self.snapshots[which], name);
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["replaced", base, "by", opt] => {
                let (base, opt) = (of(Version::Base, base), of(Version::Opt, opt));
                self.tracked.replaced[base] = Some(opt);
            }
            ["folded", base] => {
                let base = of(Version::Base, base);
                self.tracked.folded[base] = true;
            }
            ["mappings" | "unfolded"] => {}
            _ => {
                let answer = line.strip_prefix("oracle ").expect("replaced, folded or oracle");
                let (question, answer) = answer.split_once(" is ").unwrap_or((answer, "yes"));
                self.answers.insert(question.to_string(), answer.to_string());
                if question.starts_with("simplify") && !answer.starts_with('%') {
                    self.constants.id(answer);
                }
            }
        }
    }

    /// Whether mappings are shown, too.
    pub fn shows_mappings(&self) -> bool {
        self.rest.iter().any(|line| line == "mappings")
    }

    pub fn is_unfolded(&self) -> bool {
        self.rest.iter().any(|line| line == "unfolded")
    }

    pub fn name(&self, which: Version, operand: Operand) -> &str {
        match operand {
            Operand::Value(value) => &self.snapshots[which].values[value],
            Operand::Constant(constant) => self.constants.word(constant),
        }
    }

    pub fn inst(&self, which: Version, inst: InstId) -> &str {
        &self.snapshots[which].values[self.graphs[which].result(inst)]
    }

    fn access(&self, which: Version, access: Access) -> &str {
        match access {
            Access::Entry => "entry",
            Access::Def(inst) => self.inst(which, inst),
            Access::Phi(block) => &self.snapshots[which].blocks[block],
        }
    }

    /// What [`Text::parse`] was given.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for (which, title) in [(Version::Base, "base"), (Version::Opt, "opt")] {
            let (head, notes) = (|id| self.printed_head(which, id), |i| self.notes(which, i));
            text += &self.snapshots[which].print(title, &self.constants, head, notes);
        }
        self.rest.iter().for_each(|line| writeln!(text, "{line}").unwrap());
        text
    }

    fn printed_head(&self, which: Version, id: BlockId) -> String {
        let block = &self.graphs[which].blocks[id];
        let names = &self.snapshots[which];
        let state = |&(from, access): &(BlockId, Access)| {
            format!("{}: {}", names.blocks[from], self.access(which, access))
        };
        let implied = |&(from, value, constant): &(BlockId, ValueId, ConstId)| {
            let constant = self.constants.word(constant);
            format!("{}: {} = {constant}", names.blocks[from], names.values[value])
        };
        let states = block.memory_phi.iter().flatten().map(state).collect::<Vec<_>>().join(", ");
        let implied = block.implied.iter().map(implied).collect::<Vec<_>>().join(", ");
        let parts = [("states", states), ("implied", implied)];
        let parts =
            parts.iter().filter(|p| !p.1.is_empty()).map(|(kind, list)| format!(" {kind} {list}"));
        parts.collect::<Vec<_>>().join(";")
    }

    fn notes(&self, which: Version, inst: InstId) -> String {
        let node = &self.graphs[which].nodes[inst];
        let mut line = String::new();
        if let Some(access) = node.clobber {
            write!(line, " !reads {}", self.access(which, access)).unwrap();
        }
        if let Some(Linear { constant, bits, terms }) = &node.linear {
            write!(line, " !linear {constant} {bits}").unwrap();
            terms.iter().for_each(|(place, factor)| write!(line, " {place}*{factor}").unwrap());
        }
        if let Some(constant) = node.constant {
            write!(line, " !constant {}", self.constants.word(constant)).unwrap();
        }
        if let Some(copied) = node.copied {
            write!(line, " !copied {}", self.name(which, copied)).unwrap();
        }
        if let Some(operation) = node.as_unsigned {
            write!(line, " !unsigned {}", self.operations.word(operation)).unwrap();
        }
        match node.boolean {
            Some(Boolean::Comparison { predicate, swapped, negated, symmetric }) => {
                write!(line, " !compares {predicate}").unwrap();
                let all = [("swapped", swapped), ("negated", negated), ("symmetric", symmetric)];
                let names = all.iter().filter(|(_, holds)| *holds);
                names.for_each(|(name, _)| write!(line, " {name}").unwrap());
            }
            Some(Boolean::Not(place)) => write!(line, " !not {place}").unwrap(),
            None => {}
        }
        if let Some(Cases { bits, values }) = &node.cases {
            write!(line, " !cases {bits}").unwrap();
            values.iter().for_each(|value| write!(line, " {value}").unwrap());
        }
        if let Some(Effect { what, operands }) = &node.effect {
            write!(line, " !effect {what}").unwrap();
            operands.iter().for_each(|place| write!(line, " {place}").unwrap());
        }
        if let Some(bytes) = node.copied_bytes {
            write!(line, " !copies {bytes}").unwrap();
        }
        if let Some(Fill { what, byte_varies, group }) = node.fills {
            write!(line, " !fills {what}").unwrap();
            group.iter().for_each(|first| write!(line, " {first}").unwrap());
            line.push_str(if byte_varies { " varies" } else { "" });
        }
        let marks = [
            ("aligned", node.is_aligned),
            ("compares-memory", node.compares_memory),
            ("exact", node.is_exact),
            ("partial", node.is_partial),
            ("grouped", node.is_grouped),
        ];
        let marks = marks.iter().filter(|(_, holds)| *holds);
        marks.for_each(|(mark, _)| write!(line, " !{mark}").unwrap());
        if let Some(bytes) = node.compared_bytes {
            write!(line, " {}", self.constants.word(bytes)).unwrap();
        }
        if node.well_defined != 0 {
            line += " !defined";
            let places = (0..64).filter(|&place| node.is_well_defined(place));
            places.for_each(|place| write!(line, " {place}").unwrap());
        }
        if let Some(bytes) = node.integer_bytes {
            write!(line, " !bytes {bytes}").unwrap();
        }
        if let Some(bytes) = node.accessed_bytes {
            write!(line, " !accesses {bytes}").unwrap();
        }
        if let Some(bits) = node.bits {
            write!(line, " !bits {bits}").unwrap();
        }
        if let Some(Extends { bits, signed }) = node.extends {
            write!(line, " !extends {bits}{}", if signed { " signed" } else { "" }).unwrap();
        }
        line
    }

    /// A term in words: operations by their names, with their operands; leaves of one value have
    /// strokes.
    fn term(&self, terms: &Terms, term: usize) -> String {
        let leaf = &terms.terms[term];
        let others = terms.terms[..term].iter().filter(|&other| other == leaf).count();
        let strokes = "'".repeat(others);
        match leaf {
            Term::Leaf(which, value) => {
                self.name(*which, Operand::Value(*value)).to_string() + &strokes
            }
            Term::Constant(constant) => self.constants.word(*constant).to_string() + &strokes,
            Term::Operation(which, inst, operands) => {
                let operation = self.graphs[*which].nodes[*inst].operation;
                let operands = operands.iter().map(|&operand| self.term(terms, operand));
                let operands = operands.collect::<Vec<_>>().join(", ");
                format!("{}({operands})", self.operations.word(operation))
            }
            Term::Chosen(_, _, operands) => {
                let [condition, holds, fails] = operands.map(|operand| self.term(terms, operand));
                format!("chosen({condition}, {holds}, {fails})")
            }
            Term::Extended { term, signed, .. } => {
                let kind = if *signed { "signed" } else { "unsigned" };
                format!("{kind}({})", self.term(terms, *term))
            }
        }
    }

    /// What is known where terms are compared, in words.
    fn conditions(&self, terms: &Terms) -> String {
        let conditions = terms.conditions.iter().map(|&(condition, holds)| {
            let word = if holds { "if" } else { "unless" };
            format!(" {word} {}", self.term(terms, condition))
        });
        conditions.collect()
    }

    fn answer(&self, which: Version, question: &str) -> Option<&str> {
        let which = if which == Version::Base { "base" } else { "opt" };
        let (kind, rest) = question.split_once(' ').expect("a kind of question");
        self.answers.get(&format!("{kind} {which} {rest}")).map(String::as_str)
    }

    fn place(&self, which: Version, question: &str) -> Option<Access> {
        Some(access(&self.snapshots[which], self.answer(which, question)?))
    }
}

/// What is not recorded is not known.
impl Oracle for Text {
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand> {
        let operands: Vec<&str> = operands.iter().map(|&o| self.name(which, o)).collect();
        let question = format!("simplify {}({})", self.inst(which, inst), operands.join(", "));
        let answer = self.answer(which, &question)?;
        Some(match answer.starts_with('%') {
            true => Operand::Value(self.snapshots[which].value(answer)),
            false => Operand::Constant(self.constants.known(answer).expect("a constant")),
        })
    }

    fn said(
        &self,
        which: Version,
        (asked, of_asked): (InstId, [Operand; 2]),
        (known, of_known, holds): (InstId, [Operand; 2], bool),
    ) -> Option<bool> {
        let text = |inst: InstId, operands: [Operand; 2]| {
            let [first, second] = operands.map(|operand| self.name(which, operand));
            format!("{}({first}, {second})", self.inst(which, inst))
        };
        let known = text(known, of_known);
        let question = format!("said {} by {known} = {holds}", text(asked, of_asked));
        Some(self.answer(which, &question)? == "true")
    }

    fn is_well_defined(&self, which: Version, operand: Operand) -> bool {
        let name = self.name(which, operand);
        match operand {
            Operand::Constant(_) => !["poison", "undef"].contains(&name),
            Operand::Value(_) => self.answer(which, &format!("defined {name}")).is_some(),
        }
    }

    fn is_defined_by_uses(&self, inst: InstId) -> bool {
        self.answer(Version::Base, &format!("used {}", self.inst(Version::Base, inst))).is_some()
    }

    fn are_equal(&self, terms: &Terms, negated: bool) -> bool {
        let [a, b] = terms.roots.map(|root| self.term(terms, root));
        let kind = if negated { "opposite" } else { "equal" };
        let conditions = self.conditions(terms);
        self.answers.contains_key(&format!("{kind} {a} and {b}{conditions}"))
    }

    fn stands_for(&self, terms: &Terms, negated: bool, at: Option<InstId>) -> bool {
        let [a, b] = terms.roots.map(|root| self.term(terms, root));
        let block = |at: InstId| &self.snapshots.base.blocks[self.graphs.base.block(at)];
        let at = at.map_or("anywhere", |at| block(at).as_str());
        let kind = if negated { "opposes" } else { "stands" };
        let conditions = self.conditions(terms);
        self.answers.contains_key(&format!("{kind} {b} for {a} at {at}{conditions}"))
    }

    fn integer(&self, constant: ConstId) -> Option<i64> {
        self.constants.word(constant).parse().ok()
    }

    fn address(&self, constant: ConstId) -> Option<(ConstId, i64)> {
        let (global, bytes) = self.constants.word(constant).split_once('+')?;
        Some((self.constants.known(global)?, bytes.parse().ok()?))
    }

    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access> {
        let [of, before] = [place_of, before].map(|inst| self.inst(which, inst));
        self.place(which, &format!("place {of} before {before}"))
    }

    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access> {
        let block = &self.snapshots[which].blocks[block];
        self.place(which, &format!("place {} behind {block}", self.inst(which, place_of)))
    }

    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool {
        let [of, inst] = [place_of, inst].map(|inst| self.inst(which, inst));
        self.answer(which, &format!("touches {of} {inst}")).is_some()
    }

    fn writes_around(&self, which: Version, address: Operand, inst: InstId) -> bool {
        let [address, inst] = [self.name(which, address), self.inst(which, inst)];
        self.answer(which, &format!("leaves {address} {inst}")).is_none()
    }

    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access> {
        self.place(which, &format!("memory {}", self.inst(which, inst)))
    }

    fn is_unchanged(&self, which: Version, load: InstId, before: InstId) -> bool {
        let [load, before] = [load, before].map(|inst| self.inst(which, inst));
        self.answer(which, &format!("unchanged {load} {before}")).is_some()
    }
}
