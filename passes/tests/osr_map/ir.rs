//! Functions over integers and pointers, read from the text that LLVM prints, so that a fact that
//! the checker has from LLVM's data structures is not shared with what it is tested with.

use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_passes::read_code::CodeSnapshot;
use std::collections::HashMap;
use typed_index_collections::TiVec;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// No instruction has defined it.
    Unset,
    /// Poison
    Poison,
    /// Undefined: each use may have another value, whichever.
    Undef,
    /// Bits; those above its type are zero
    Int(u64),
}

impl Word {
    /// It is poison or undefined.
    pub fn is_loose(self) -> bool {
        matches!(self, Word::Poison | Word::Undef)
    }
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    Value(ValueId),
    Constant(Word),
}

/// A type: its bits, and what an array is an array of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ty {
    pub bits: u32,
    pub bytes: u64,
    pub element: Option<Box<Ty>>,
}

/// What makes a result poison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub nsw: bool,
    pub nuw: bool,
    pub exact: bool,
    pub disjoint: bool,
    pub nneg: bool,
    pub samesign: bool,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Two operands of a type, by LLVM's name
    Binary(String),
    Compare(String),
    Select,
    /// By LLVM's name, from so many bits
    Cast(String, u32),
    /// The bytes that each index counts
    Address(Vec<(u64, u32)>),
    Load,
    Store(u32),
    /// A call of `llvm.memset`, of so many bytes
    Fill(u64),
    /// At this address
    Alloca(u64, u64),
    Call(String, Vec<u32>),
    /// In each run it chooses what what is poison or undefined becomes, by this name.
    Freeze(String),
    Phi,
    Branch,
    Switch,
    Return,
    Unreachable,
}

/// An instruction. Operands are in LLVM's order, blocks left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    pub op: Op,
    pub flags: Flags,
    /// Bits of the result, of a comparison's operands
    pub bits: u32,
    pub args: Vec<Arg>,
    /// For a phi where operands come from
    pub from: Vec<BlockId>,
    /// For a terminator where it leads
    pub to: Vec<BlockId>,
}

/// A function that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    pub arguments: usize,
    pub insts: TiVec<InstId, Inst>,
    /// For each block its first instruction, and the first that is no phi
    pub blocks: TiVec<BlockId, (InstId, InstId)>,
    pub block_of: TiVec<InstId, BlockId>,
}

impl Program {
    /// The value that an instruction defines.
    pub fn result(&self, inst: InstId) -> ValueId {
        ValueId::from(self.arguments + usize::from(inst))
    }
}

/// Where allocas are, by name, so that those of both versions are in the same place.
#[derive(Debug, Default)]
pub struct Frame(Vec<String>);

pub const MEMORY_AT: u64 = 0x1000;
pub const REGION: u64 = 128;
const FRAME_AT: u64 = MEMORY_AT + 3 * REGION;
const SLOT: u64 = 64;
pub const SLOTS: u64 = 12;
pub const MEMORY_SIZE: u64 = 3 * REGION + SLOTS * SLOT;

impl Frame {
    fn address(&mut self, name: &str) -> u64 {
        let place = self.0.iter().position(|n| n == name).unwrap_or_else(|| {
            self.0.push(name.to_string());
            self.0.len() - 1
        });
        assert!((place as u64) < SLOTS, "too many allocas");
        FRAME_AT + place as u64 * SLOT
    }
}

fn global(name: &str) -> u64 {
    match name {
        "@g" => MEMORY_AT,
        "@h" => MEMORY_AT + REGION,
        _ => 1,
    }
}

pub fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// Reads a function.
pub fn read(snapshot: &CodeSnapshot<'_>, frame: &mut Frame) -> Program {
    let texts: HashMap<_, _> = snapshot.function.blocks().zip(snapshot.function.texts()).collect();
    let arguments = snapshot.arguments.len();
    let mut names: HashMap<String, ValueId> = HashMap::new();
    for (value, name) in snapshot.names().into_iter_enumerated() {
        names.insert(name, value);
    }
    let blocks: HashMap<String, BlockId> =
        snapshot.blocks.iter_enumerated().map(|(id, b)| (texts[b].0.clone(), id)).collect();
    let mut program =
        Program { arguments, insts: TiVec::new(), blocks: TiVec::new(), block_of: TiVec::new() };
    for (id, block) in snapshot.blocks.iter_enumerated() {
        let begin = program.insts.next_key();
        for text in &texts[block].1 {
            let mut reader =
                Reader { tokens: tokens(text), next: 0, names: &names, blocks: &blocks, frame };
            program.insts.push(reader.inst().unwrap_or_else(|| panic!("unknown: {text}")));
            program.block_of.push(id);
        }
        let phis = program.insts[begin..].iter().take_while(|i| i.op == Op::Phi).count();
        program.blocks.push((begin, InstId::from(usize::from(begin) + phis)));
    }
    program
}

/// A constant as it is printed, with its type or, for a global, without.
pub fn constant(text: &str) -> Option<Word> {
    let (names, blocks) = (HashMap::new(), HashMap::new());
    let frame = &mut Frame::default();
    let mut reader =
        Reader { tokens: tokens(text), next: 0, names: &names, blocks: &blocks, frame };
    if text.starts_with('@') {
        return Some(Word::Int(global(&reader.tokens[0])));
    }
    match reader.typed()?.1 {
        Arg::Constant(word) => Some(word),
        Arg::Value(_) => None,
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let is_sign = ",()[]{}=".contains(c);
        if c.is_whitespace() || is_sign {
            if !word.is_empty() {
                result.push(std::mem::take(&mut word));
            }
            if is_sign {
                result.push(c.to_string());
            }
        } else {
            word.push(c);
        }
    }
    result.extend(Some(word).filter(|w| !w.is_empty()));
    result
}

struct Reader<'a> {
    tokens: Vec<String>,
    next: usize,
    names: &'a HashMap<String, ValueId>,
    blocks: &'a HashMap<String, BlockId>,
    frame: &'a mut Frame,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned().unwrap_or_default()
    }

    fn eat(&mut self, word: &str) -> bool {
        let is = self.peek() == word;
        self.next += usize::from(is);
        is
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                "nsw" => flags.nsw = true,
                "nuw" => flags.nuw = true,
                "exact" => flags.exact = true,
                "disjoint" => flags.disjoint = true,
                "nneg" => flags.nneg = true,
                "samesign" => flags.samesign = true,
                "inbounds" | "nusw" => {}
                _ => return flags,
            }
            self.next += 1;
        }
    }

    fn ty(&mut self) -> Option<Ty> {
        if self.eat("[") {
            let count: u64 = self.take().parse().ok()?;
            self.eat("x");
            let element = self.ty()?;
            self.eat("]");
            let bytes = count * element.bytes;
            return Some(Ty { bits: 0, bytes, element: Some(Box::new(element)) });
        }
        let word = self.take();
        let bits: u32 = match word.as_str() {
            "ptr" => 64,
            "void" | "label" => 0,
            _ => word.strip_prefix('i')?.parse().ok()?,
        };
        Some(Ty { bits, bytes: u64::from(bits.div_ceil(8)), element: None })
    }

    fn arg(&mut self, bits: u32) -> Option<Arg> {
        let word = self.take();
        let value = match word.as_str() {
            "true" => 1,
            "false" | "null" => 0,
            "poison" => return Some(Arg::Constant(Word::Poison)),
            "undef" => return Some(Arg::Constant(Word::Undef)),
            "getelementptr" => {
                self.flags();
                self.eat("(");
                let (op, args) = self.address()?;
                self.eat(")");
                let Op::Address(scales) = op else { return None };
                let mut sum = 0u64;
                for (place, arg) in args.iter().enumerate() {
                    let Arg::Constant(Word::Int(value)) = *arg else { return None };
                    let (scale, bits) = if place == 0 { (1, 64) } else { scales[place - 1] };
                    sum = sum.wrapping_add(signed(value, bits).wrapping_mul(scale as i64) as u64);
                }
                sum
            }
            _ if word.starts_with('%') => return self.names.get(&word).map(|&v| Arg::Value(v)),
            _ if word.starts_with('@') => global(&word),
            _ => word.parse::<i128>().ok()? as u64,
        };
        Some(Arg::Constant(Word::Int(value & mask(bits))))
    }

    /// A type, attributes, and a value.
    fn typed(&mut self) -> Option<(Ty, Arg)> {
        let ty = self.ty()?;
        loop {
            match self.peek() {
                "noundef" | "nonnull" | "signext" | "zeroext" | "nocapture" | "readonly" => {
                    self.next += 1;
                }
                "align" => self.next += 2,
                "captures" | "dereferenceable" | "range" => while self.take() != ")" {},
                _ => break,
            }
        }
        let arg = self.arg(ty.bits)?;
        Some((ty, arg))
    }

    fn block(&mut self) -> Option<BlockId> {
        self.eat("label");
        let name = self.take();
        self.blocks.get(&name).copied()
    }

    /// What follows `getelementptr` and its flags.
    fn address(&mut self) -> Option<(Op, Vec<Arg>)> {
        let mut ty = self.ty()?;
        self.eat(",");
        let mut args = vec![self.typed()?.1];
        let mut scales = Vec::new();
        while self.eat(",") {
            if self.peek().starts_with('!') {
                break;
            }
            let (index, arg) = self.typed()?;
            if !scales.is_empty() {
                ty = *ty.element?;
            }
            scales.push((ty.bytes, index.bits));
            args.push(arg);
        }
        Some((Op::Address(scales), args))
    }

    fn inst(&mut self) -> Option<Inst> {
        let mut name = String::new();
        if self.tokens.get(1).is_some_and(|t| t == "=") {
            name = self.take();
            self.next += 1;
        }
        let opcode = self.take();
        let flags = self.flags();
        let mut inst = Inst {
            op: Op::Unreachable,
            flags,
            bits: 0,
            args: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
        };
        match opcode.as_str() {
            "add" | "sub" | "mul" | "and" | "or" | "xor" | "shl" | "lshr" | "ashr" | "udiv"
            | "sdiv" | "urem" | "srem" => {
                let (ty, a) = self.typed()?;
                self.eat(",");
                inst.args = vec![a, self.arg(ty.bits)?];
                inst.bits = ty.bits;
                inst.op = Op::Binary(opcode);
            }
            "icmp" => {
                inst.op = Op::Compare(self.take());
                let (ty, a) = self.typed()?;
                self.eat(",");
                inst.args = vec![a, self.arg(ty.bits)?];
                inst.bits = ty.bits;
            }
            "select" => {
                inst.op = Op::Select;
                for _ in 0..3 {
                    let (ty, arg) = self.typed()?;
                    inst.bits = ty.bits;
                    inst.args.push(arg);
                    self.eat(",");
                }
            }
            "zext" | "sext" | "trunc" | "ptrtoint" | "inttoptr" => {
                let (ty, arg) = self.typed()?;
                inst.args.push(arg);
                self.eat("to");
                inst.bits = self.ty()?.bits;
                inst.op = Op::Cast(opcode, ty.bits);
            }
            "freeze" => {
                let (ty, arg) = self.typed()?;
                // Copies of it choose the same.
                let name = name.split('.').next().unwrap_or_default();
                (inst.op, inst.bits) = (Op::Freeze(name.to_string()), ty.bits);
                inst.args.push(arg);
            }
            "getelementptr" => {
                (inst.op, inst.args) = self.address()?;
                inst.bits = 64;
            }
            "load" => {
                (inst.op, inst.bits) = (Op::Load, self.ty()?.bits);
                self.eat(",");
                inst.args.push(self.typed()?.1);
            }
            "store" => {
                let (ty, value) = self.typed()?;
                self.eat(",");
                inst.args = vec![value, self.typed()?.1];
                inst.op = Op::Store(ty.bits);
            }
            "alloca" => {
                let bytes = self.ty()?.bytes;
                assert!(bytes <= SLOT, "large alloca");
                (inst.op, inst.bits) = (Op::Alloca(self.frame.address(&name), bytes), 64);
                inst.args.push(Arg::Constant(Word::Int(1)));
            }
            "phi" => {
                (inst.op, inst.bits) = (Op::Phi, self.ty()?.bits);
                while self.eat("[") {
                    let arg = self.arg(inst.bits);
                    self.eat(",");
                    let from = self.block();
                    self.eat("]");
                    self.eat(",");
                    if let Some(from) = from {
                        inst.args.push(arg?);
                        inst.from.push(from);
                    }
                }
            }
            "br" => {
                inst.op = Op::Branch;
                if self.peek() != "label" {
                    inst.args.push(self.typed()?.1);
                    self.eat(",");
                }
                inst.to.push(self.block()?);
                if !inst.args.is_empty() {
                    self.eat(",");
                    inst.to.push(self.block()?);
                }
            }
            "switch" => {
                inst.op = Op::Switch;
                inst.args.push(self.typed()?.1);
                self.eat(",");
                inst.to.push(self.block()?);
                self.eat("[");
                while !self.eat("]") {
                    inst.args.push(self.typed()?.1);
                    self.eat(",");
                    inst.to.push(self.block()?);
                }
            }
            "ret" => {
                inst.op = Op::Return;
                if self.peek() != "void" {
                    inst.args.push(self.typed()?.1);
                }
            }
            "unreachable" => {}
            "call" | "tail" => {
                self.eat("call");
                while matches!(self.peek(), "noundef" | "zeroext" | "signext" | "range") {
                    if self.take() == "range" {
                        while self.take() != ")" {}
                    }
                }
                inst.bits = self.ty()?.bits;
                let callee = self.take();
                self.eat("(");
                let mut bits = Vec::new();
                while !self.eat(")") {
                    let (ty, arg) = self.typed()?;
                    bits.push(ty.bits);
                    inst.args.push(arg);
                    self.eat(",");
                }
                inst.args.push(Arg::Constant(Word::Int(1)));
                // Each call of it is one of its own.
                let own = name.split('.').next().unwrap_or_default();
                let callee = if callee == "@maybe" { format!("@maybe{own}") } else { callee };
                inst.op = match (callee.starts_with("@llvm.memset"), inst.args.get(2)) {
                    (true, Some(&Arg::Constant(Word::Int(bytes)))) => Op::Fill(bytes),
                    (true, _) => return None,
                    _ => Op::Call(callee, bits),
                };
            }
            _ => return None,
        }
        Some(inst)
    }
}

pub fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64) >> unused
}
