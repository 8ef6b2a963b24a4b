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
//! An operation is a word of [`FACTS`]; behind a dot is its type. Numbers and words that begin with
//! `@` are constants. Behind `!` is what else is known: `reads ACCESS`, `constant C`, `copied
//! OPERAND`, `unsigned OPERATION`, and `linear CONSTANT BITS PLACE*FACTOR…` of a sum. An edge in
//! parentheses is never taken. `states` has what meets in memory at the head of a block, `implied`
//! what branches say there. What has one name in both versions is tracked as kept; `replaced %a by
//! %b` and `folded %a` say what else is. `oracle QUESTION [is ANSWER]` is what LLVM answered, by
//! the names of [`Oracle`]'s methods.

use midflight_ir::body::{Block, Body, EdgeKind, Terminator, edges};
use midflight_ir::code::Code;
use midflight_ir::facts::{InstFacts, MapFacts};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::versions::facts::Tracked;
use midflight_mapping::versions::graph::{
    Access, ConstId, Graph, GraphBlock, Linear, Node, Operand, Oracle,
};
use midflight_mapping::versions::version::{PerVersion, Version};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// For each operation whether it has a result, and what LLVM would say of it.
const FACTS: &[(&str, bool, &str)] = &[
    ("add", true, "repeatable speculatable commutative"),
    ("alloca", true, "pinned"),
    ("and", true, "repeatable speculatable commutative logical_and"),
    ("assume", false, "marker"),
    ("br", false, "terminator unconditional"),
    ("call", true, "anchor reads_memory"),
    ("condbr", false, "terminator conditional"),
    ("div", true, "repeatable"),
    ("do", false, "anchor reads_memory"),
    ("eq", true, "repeatable speculatable commutative equal"),
    ("freeze", true, "pinned"),
    ("gep", true, "repeatable speculatable"),
    ("invoke", true, "anchor reads_memory terminator"),
    ("less", true, "repeatable speculatable"),
    ("load", true, "load reads_memory"),
    ("mul", true, "repeatable speculatable commutative"),
    ("own", true, "own"),
    ("pad", true, "landing_pad anchor reads_memory"),
    ("pad_pointer", true, "pad_pointer repeatable speculatable"),
    ("phi", true, "phi"),
    ("read", true, "reads_memory"),
    ("ret", false, "terminator"),
    ("sdiv", true, "repeatable"),
    ("select", true, "repeatable speculatable select"),
    ("store", false, "store anchor"),
    ("sub", true, "repeatable speculatable"),
    ("udiv", true, "repeatable"),
];

fn facts(names: &str) -> MapFacts {
    let bit = |name: &str| {
        let known =
            MapFacts::NAMES.iter().find(|(known, _)| known.trim_start_matches("is_") == name);
        1 << known.unwrap_or_else(|| panic!("there is no fact '{name}'")).1
    };
    MapFacts::from_bits(names.split(' ').map(bit).fold(0, |all, bit| all | bit))
}

/// Words by number.
#[derive(Default)]
pub struct Table {
    words: Vec<String>,
}

impl Table {
    fn id(&mut self, word: &str) -> u32 {
        let known = self.words.iter().position(|known| known == word);
        known.unwrap_or_else(|| {
            self.words.push(word.to_string());
            self.words.len() - 1
        }) as u32
    }

    pub fn word(&self, id: u32) -> &str {
        &self.words[id as usize]
    }
}

/// Names of a version.
#[derive(Default)]
pub struct Names {
    pub values: TiVec<ValueId, String>,
    pub blocks: TiVec<BlockId, String>,
}

impl Names {
    fn value(&self, name: &str) -> ValueId {
        self.values.position(|n| n == name).unwrap_or_else(|| panic!("there is no '{name}'"))
    }

    fn block(&self, name: &str) -> BlockId {
        self.blocks.position(|n| n == name).unwrap_or_else(|| panic!("there is no block '{name}'"))
    }

    fn access(&self, graph: &Graph, text: &str) -> Access {
        match text {
            "entry" => Access::Entry,
            name if name.starts_with('%') => {
                Access::Def(graph.definition(self.value(name)).expect("an instruction"))
            }
            block => Access::Phi(self.block(block)),
        }
    }
}

/// What a fixture says.
#[derive(Default)]
pub struct Text {
    pub graphs: PerVersion<Graph>,
    pub names: PerVersion<Names>,
    pub tracked: Tracked,
    pub constants: Table,
    operations: Table,
    types: Table,
    answers: HashMap<String, String>,
    /// Lines behind the versions
    rest: Vec<String>,
}

impl Text {
    pub fn parse(text: &str) -> Self {
        let mut result = Text::default();
        let lines: Vec<&str> =
            text.lines().filter(|l| !l.is_empty() && !l.starts_with(';')).collect();
        let begin = |name: &str| lines.iter().position(|l| l.starts_with(name)).expect(name);
        let (base, opt) = (begin("base("), begin("opt("));
        let is_inside = |l: &&&str| l.starts_with(' ') || l.ends_with(':') || l.contains(": ");
        let is_rest = |l: &&str| {
            ["replaced", "folded", "oracle", "mappings"].iter().any(|word| l.starts_with(word))
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

    fn operand(&mut self, which: Version, text: &str) -> Operand {
        match text.starts_with('%') {
            true => Operand::Value(self.names[which].value(text)),
            false => Operand::Constant(self.constants.id(text)),
        }
    }

    fn version(&mut self, which: Version, lines: &[&str]) {
        let arguments = lines[0].split(['(', ')']).nth(1).expect("arguments");
        let arguments: Vec<_> = arguments.split(", ").filter(|a| !a.is_empty()).collect();
        let names = &mut self.names[which];
        names.values = arguments.iter().map(|a| a.to_string()).collect();
        // Names first: they may be used before.
        for line in &lines[1..] {
            match line.strip_prefix("  ") {
                None => names.blocks.push(line.split(':').next().expect("a block").to_string()),
                Some(inst) => {
                    let unnamed = format!("#{}", names.values.len() - arguments.len());
                    let name = inst.split_once(" = ").map(|(name, _)| name.to_string());
                    names.values.push(name.unwrap_or(unnamed));
                }
            }
        }
        self.body(which).code = Code::new(arguments.len());
        let mut heads = Vec::new();
        for (number, line) in lines.iter().enumerate().skip(1) {
            match line.strip_prefix("  ") {
                None => {
                    heads.push(self.graphs[which].blocks.next_key());
                    let last = lines[number + 1..].iter().take_while(|l| l.starts_with(' ')).last();
                    self.block(which, last.and_then(|l| l.split_once(" -> ")).map_or("", |l| l.1));
                }
                Some(inst) => self.instruction(which, inst),
            }
        }
        let of_blocks = lines[1..].iter().filter(|l| !l.starts_with(' '));
        for (block, line) in heads.into_iter().zip(of_blocks) {
            self.head(which, block, line.split_once(':').expect("a block").1);
        }
    }

    /// A block whose terminator names these targets.
    fn block(&mut self, which: Version, targets: &str) {
        let targets: Vec<&str> = targets.split(", ").filter(|t| !t.is_empty()).collect();
        let id = |target: &str| self.names[which].block(target.trim_matches(['(', ')']));
        let (edges, successors) = edges(targets.iter().copied(), id, |_| EdgeKind::Plain);
        let is_feasible = |edge| {
            let first = successors.iter().position(|&of| of == edge).expect("a target of its own");
            !targets[first].starts_with('(')
        };
        let feasible = (0..edges.len()).map(is_feasible).collect();
        self.graphs[which].blocks.push(GraphBlock { feasible, ..GraphBlock::default() });
        self.body(which).blocks.push(Block { terminator: Terminator::Switch, edges });
        self.body(which).code.begin_block(successors);
    }

    fn body(&mut self, which: Version) -> &mut Body {
        Rc::get_mut(&mut self.graphs[which].body).expect("nobody else has it yet")
    }

    /// What stands behind the name of a block.
    fn head(&mut self, which: Version, block: BlockId, text: &str) {
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (kind, list) = part.split_once(' ').expect("states or implied");
            for item in list.split(", ") {
                let (from, what) = item.split_once(": ").expect("from a block");
                let from = self.names[which].block(from);
                if kind == "states" {
                    let access = self.names[which].access(&self.graphs[which], what);
                    let states = &mut self.graphs[which].blocks[block].memory_phi;
                    states.get_or_insert_default().push((from, access));
                } else {
                    let (value, constant) = what.split_once(" = ").expect("a value");
                    let value = self.names[which].value(value);
                    let constant = self.constants.id(constant);
                    self.graphs[which].blocks[block].implied.push((from, value, constant));
                }
            }
        }
    }

    fn instruction(&mut self, which: Version, line: &str) {
        let line = line.split_once(" = ").map_or(line, |(_, rest)| rest);
        let line = line.split_once(" -> ").map_or(line, |(line, _)| line);
        let mut parts = line.split(" !");
        let (operation, operands) =
            parts.next().map(|l| l.split_once(' ').unwrap_or((l, ""))).expect("an operation");
        let (word, ty) = operation.split_once('.').unwrap_or((operation, ""));
        let &(_, has_result, of_word) =
            FACTS.iter().find(|f| f.0 == word).unwrap_or_else(|| panic!("no operation '{word}'"));
        let operands: Vec<(Operand, Option<BlockId>)> = operands
            .split(", ")
            .filter(|o| !o.is_empty())
            .map(|text| {
                let text = text.trim_matches(['[', ']']);
                let (from, value) = match text.split_once(": ") {
                    Some((block, value)) => (Some(self.names[which].block(block)), value),
                    None => (None, text),
                };
                (self.operand(which, value), from)
            })
            .collect();
        let mut node = Node {
            facts: facts(of_word),
            data_type: self.types.id(ty),
            operation: self.operations.id(operation),
            ..Node::default()
        };
        for part in parts {
            let (kind, value) = part.split_once(' ').expect("what else is known");
            match kind {
                "reads" => {
                    node.clobber = Some(self.names[which].access(&self.graphs[which], value));
                }
                "constant" => node.constant = Some(self.constants.id(value)),
                "copied" => node.copied = Some(self.operand(which, value)),
                "unsigned" => node.as_unsigned = Some(self.operations.id(value)),
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
        let of_code = match word {
            "phi" => InstFacts::PHI,
            _ => InstFacts::from_bits(
                u32::from(node.facts.is_terminator()) << 2 | u32::from(has_result) << 19,
            ),
        };
        self.body(which).code.push(of_code, operands);
        self.graphs[which].nodes.push(node);
    }

    /// What has the same name is the same.
    fn track(&mut self) {
        let PerVersion { base, opt } = &self.names;
        let insts = |which: Version| self.graphs[which].nodes.keys();
        let inst = |from: Version, inst: InstId| {
            let name = &self.names[from].values[self.graphs[from].result(inst)];
            let to = from.other();
            let there =
                insts(to).find(|&i| self.names[to].values[self.graphs[to].result(i)] == *name);
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
        let of = |which: Version, name: &str| {
            self.graphs[which].definition(self.names[which].value(name)).expect("an instruction")
        };
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
            ["mappings"] => {}
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

    pub fn name(&self, which: Version, operand: Operand) -> &str {
        match operand {
            Operand::Value(value) => &self.names[which].values[value],
            Operand::Constant(constant) => self.constants.word(constant),
        }
    }

    pub fn inst(&self, which: Version, inst: InstId) -> &str {
        &self.names[which].values[self.graphs[which].result(inst)]
    }

    fn access(&self, which: Version, access: Access) -> &str {
        match access {
            Access::Entry => "entry",
            Access::Def(inst) => self.inst(which, inst),
            Access::Phi(block) => &self.names[which].blocks[block],
        }
    }

    /// What [`Text::parse`] was given, but for comments.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for which in Version::BOTH {
            let graph = &self.graphs[which];
            let name = if which == Version::Base { "base" } else { "opt" };
            let arguments = &self.names[which].values.raw[..graph.body.code.arguments];
            writeln!(text, "{name}({}):", arguments.join(", ")).unwrap();
            for id in graph.blocks.keys() {
                self.print_head(&mut text, which, id);
                for inst in graph.insts(id) {
                    self.print_instruction(&mut text, which, inst);
                }
            }
        }
        self.rest.iter().for_each(|line| writeln!(text, "{line}").unwrap());
        text
    }

    fn print_head(&self, text: &mut String, which: Version, id: BlockId) {
        let block = &self.graphs[which].blocks[id];
        let names = &self.names[which];
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
        let parts: Vec<String> = parts.collect();
        writeln!(text, "{}:{}", names.blocks[id], parts.join(";")).unwrap();
    }

    fn print_instruction(&self, text: &mut String, which: Version, inst: InstId) {
        let (graph, names) = (&self.graphs[which], &self.names[which]);
        let (node, code) = (&graph.nodes[inst], &graph.body.code);
        let name = self.inst(which, inst);
        let mut line = String::new();
        if name.starts_with('%') {
            write!(line, "{name} = ").unwrap();
        }
        line += self.operations.word(node.operation);
        let operand = |(place, &operand): (usize, &Operand)| {
            let value = self.name(which, operand);
            match code.incoming_blocks(inst).get(place) {
                Some(&from) => format!("[{}: {value}]", names.blocks[from]),
                None => value.to_string(),
            }
        };
        let operands: Vec<String> = code.operands(inst).iter().enumerate().map(operand).collect();
        if !operands.is_empty() {
            write!(line, " {}", operands.join(", ")).unwrap();
        }
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
        let block = graph.block(inst);
        if node.facts.is_terminator() && !code.successors[block].is_empty() {
            let target = |&edge: &usize| {
                let name = &names.blocks[graph.body.blocks[block].edges[edge].to];
                match graph.blocks[block].feasible[edge] {
                    true => name.clone(),
                    false => format!("({name})"),
                }
            };
            let targets: Vec<_> = code.successors[block].iter().map(target).collect();
            write!(line, " -> {}", targets.join(", ")).unwrap();
        }
        writeln!(text, "  {line}").unwrap();
    }

    fn answer(&self, which: Version, question: &str) -> Option<&str> {
        let which = if which == Version::Base { "base" } else { "opt" };
        let (kind, rest) = question.split_once(' ').expect("a kind of question");
        self.answers.get(&format!("{kind} {which} {rest}")).map(String::as_str)
    }

    fn place(&self, which: Version, question: &str) -> Option<Access> {
        Some(self.names[which].access(&self.graphs[which], self.answer(which, question)?))
    }
}

/// What is not recorded is not known.
impl Oracle for Text {
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand> {
        let operands: Vec<&str> = operands.iter().map(|&o| self.name(which, o)).collect();
        let question = format!("simplify {}({})", self.inst(which, inst), operands.join(", "));
        let answer = self.answer(which, &question)?;
        Some(match answer.starts_with('%') {
            true => Operand::Value(self.names[which].value(answer)),
            false => {
                let constant = self.constants.words.iter().position(|word| word == answer);
                Operand::Constant(constant.expect("a constant") as ConstId)
            }
        })
    }

    fn is_well_defined(&self, which: Version, operand: Operand) -> bool {
        self.answer(which, &format!("defined {}", self.name(which, operand))).is_some()
    }

    fn integer(&self, constant: ConstId) -> Option<i64> {
        self.constants.word(constant).parse().ok()
    }

    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access> {
        let [of, before] = [place_of, before].map(|inst| self.inst(which, inst));
        self.place(which, &format!("place {of} before {before}"))
    }

    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access> {
        let block = &self.names[which].blocks[block];
        self.place(which, &format!("place {} behind {block}", self.inst(which, place_of)))
    }

    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool {
        let [of, inst] = [place_of, inst].map(|inst| self.inst(which, inst));
        self.answer(which, &format!("touches {of} {inst}")).is_some()
    }

    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access> {
        self.place(which, &format!("memory {}", self.inst(which, inst)))
    }

    fn is_unchanged(&self, which: Version, load: InstId, before: InstId) -> bool {
        let [load, before] = [load, before].map(|inst| self.inst(which, inst));
        self.answer(which, &format!("unchanged {load} {before}")).is_some()
    }
}
