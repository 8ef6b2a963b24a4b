//! Carries a [`Plan`] out on the LLVM function that its body was read from.
//!
//! Phases:
//! 1. Split: behind calls that return twice, the entry, and edges on which a path is emitted.
//! 2. Enter: the entry finds the thread's forest and counts the activation.
//! 3. Registers: r and σ of each block, in topological order, phis left empty.
//! 4. Emissions: on edges, at heads, before calls that return twice, at exits.
//! 5. Phis: filled from every LLVM edge, with poison from blocks that cannot be reached.

use crate::paths::enter::{FOREST, enter};
use crate::paths::oracle::Oracle;
use crate::paths::plan::{Plan, Transfer};
use crate::paths::read::Handle;
use crate::paths::runs::Run;
use crate::read_code::reachable_blocks;
use midflight_abi::{self as abi, Mode};
use midflight_bridge::builder::{Builder, Phi};
use midflight_bridge::ir::{Block, Callee, Function, Inst, Module, Type, Value};
use midflight_ir::body::Body;
use midflight_ir::depth_first::depth_first;
use midflight_ir::ids::BlockId;
use std::cell::RefCell;
use std::collections::HashMap;
use typed_index_collections::{TiSlice, TiVec};

/// What a plan is applied to.
pub struct Target<'a, 'm> {
    /// The module
    pub module: Module<'m>,
    /// The function
    pub function: Function<'m>,
    /// The snapshot's body
    pub body: &'a Body,
    /// The snapshot's handles
    pub handles: &'a TiSlice<BlockId, Handle<'m>>,
    /// The function's record
    pub record: Value<'m>,
    /// The function's thread-local slot
    pub slot: Value<'m>,
    /// The function's number of paths
    pub num_paths: u32,
    /// Paths of up to so many acyclic paths are counted
    pub k: u32,
    /// Whether nothing is inlined any more
    pub is_final: bool,
    /// Instrumentation of another kind, to check this one against
    pub oracle: Oracle,
}

/// What is to be completed once the graph is the planned one: calls of the runtime in automaton
/// mode, by [`crate::paths::step`], and lookups in counting mode, by [`crate::paths::enter`].
#[derive(Default)]
pub struct Calls<'m> {
    /// Steps
    pub steps: Vec<Step<'m>>,
    /// Steps, and calls for rounds of loops, that not all need who come there
    pub guarded: Vec<Guarded<'m>>,
    /// Loads of the slot, of which the results are used as forests
    pub lookups: Vec<Inst<'m>>,
}

/// A call of the runtime's step, of which the callee and the register are still to be filled in.
pub struct Step<'m> {
    /// The call
    pub call: Inst<'m>,
    /// The path register with which the path ends
    pub register: Value<'m>,
    /// How often, for each 1024 activations
    pub frequency: u64,
    /// Whether no path follows in the stream, so that its result has no use
    pub is_last: bool,
}

/// A call that is made under a condition.
pub struct Guarded<'m> {
    /// The call
    pub call: Inst<'m>,
    /// When it is made
    pub condition: Value<'m>,
    /// The state if it is not
    pub otherwise: Value<'m>,
}

/// A plan did not fit its function: a defect, which fails the compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the edge from block {from} to block {to} cannot be split")]
pub struct Unsplittable {
    /// Source of the edge
    pub from: BlockId,
    /// Target of the edge
    pub to: BlockId,
}

/// Applies a plan. The body and the handles are stale afterwards. Returns what is to be
/// completed.
///
/// # Errors
/// [`Unsplittable`] if the plan puts an emission where no block can be.
pub fn apply<'m>(plan: &Plan, target: &Target<'_, 'm>) -> Result<Calls<'m>, Unsplittable> {
    let blocks = split_blocks(target)?;
    let edges = split_edges(plan, target, &blocks)?;
    let mut work = Work::new(plan, target, blocks, edges);
    work.enter();
    work.registers();
    work.emissions();
    work.oracle();
    work.fill_phis();
    target.function.drop_purity();
    Ok(work.calls.into_inner())
}

/// The LLVM block of each block of the body. The entry's comes to stand behind the split.
fn split_blocks<'m>(target: &Target<'_, 'm>) -> Result<TiVec<BlockId, Block<'m>>, Unsplittable> {
    let mut blocks: TiVec<BlockId, Block<'m>> = target.handles.iter().map(|h| h.block).collect();
    if let Some(first) = blocks.first_mut() {
        *first = target.function.split_entry();
    }
    for (id, handle) in target.handles.iter_enumerated() {
        if let Some(call) = handle.restart {
            let rest = call.split_after();
            let (from, to) = (id, id.next());
            *blocks.get_mut(to).ok_or(Unsplittable { from, to })? = rest;
        }
    }
    Ok(blocks)
}

type Edges<'m> = HashMap<(BlockId, BlockId), Block<'m>>;

fn split_edges<'m>(
    plan: &Plan,
    target: &Target<'_, 'm>,
    blocks: &TiSlice<BlockId, Block<'m>>,
) -> Result<Edges<'m>, Unsplittable> {
    let mut result = HashMap::new();
    for (from, block) in target.body.blocks.iter_enumerated() {
        for edge in &block.edges {
            let key = (from, edge.to);
            if plan.is_split(key) {
                let middle = blocks[from].split_edge(blocks[edge.to]);
                result.insert(key, middle.ok_or(Unsplittable { from, to: edge.to })?);
            }
        }
    }
    Ok(result)
}

/// Where a path ends.
#[derive(Clone, Copy)]
enum End {
    In(BlockId),
    On(BlockId, BlockId),
    /// In a block, with the activation or with its stream
    Last(BlockId),
}

/// What flows along an LLVM edge into phis.
#[derive(Clone, Copy)]
struct Flow<'m> {
    register: Value<'m>,
    end: Value<'m>,
    state: Value<'m>,
    /// The rounds so far of a loop of which they are counted
    rounds: Value<'m>,
    edge: u32,
}

/// The phis at the head of a block.
#[derive(Clone, Copy, Default)]
struct Phis<'m> {
    register: Option<Phi<'m>>,
    end: Option<Phi<'m>>,
    state: Option<Phi<'m>>,
    rounds: Option<Phi<'m>>,
    edge: Option<Phi<'m>>,
}

impl Phis<'_> {
    fn is_empty(&self) -> bool {
        let all = [self.register, self.end, self.state, self.rounds, self.edge];
        all.iter().all(Option::is_none)
    }
}

struct Work<'a, 'm> {
    plan: &'a Plan,
    target: &'a Target<'a, 'm>,
    builder: Builder<'m>,
    blocks: TiVec<BlockId, Block<'m>>,
    edges: Edges<'m>,
    /// For each block, the index of its first edge (or its exit) in the record's list of edges
    first_edge: TiVec<BlockId, u32>,
    /// Where code at the head of each block goes: fixed before anything is inserted
    heads: TiVec<BlockId, Inst<'m>>,
    i32: Type<'m>,
    i64: Type<'m>,
    /// Of the path register: i64 where it is an index of counters or slots
    id: Type<'m>,
    /// What the path register has for an ID
    coding: abi::Register,
    ptr: Type<'m>,
    events: Events<'m>,
    calls: RefCell<Calls<'m>>,
    forest: Value<'m>,
    /// The state of an activation that has just begun
    start: Value<'m>,
    /// r and σ in each block, behind an emission at its head
    register: TiVec<BlockId, Value<'m>>,
    state: TiVec<BlockId, Value<'m>>,
    phis: TiVec<BlockId, Phis<'m>>,
    flows: HashMap<(Block<'m>, Block<'m>), Flow<'m>>,
}

impl<'a, 'm> Work<'a, 'm> {
    fn new(
        plan: &'a Plan,
        target: &'a Target<'a, 'm>,
        blocks: TiVec<BlockId, Block<'m>>,
        edges: Edges<'m>,
    ) -> Self {
        let module = target.module;
        let (i32, i64) = (module.int_type(32), module.int_type(64));
        let ptr = module.pointer_type();
        let is_dense = abi::is_dense(target.num_paths, target.k);
        let plain = abi::Register { factor: 1, origin: 0 };
        let (id, coding) = match plan.mode {
            Mode::Automaton => {
                (if is_dense { i64 } else { i32 }, abi::Register::new(target.num_paths, target.k))
            }
            Mode::Counting => (i64, plain),
            Mode::Published => (i32, plain),
        };
        let count = blocks.len();
        Work {
            plan,
            target,
            builder: Builder::new(module, target.function),
            first_edge: first_edges(target.body),
            heads: blocks.iter().map(|b| b.insertion_point()).collect(),
            blocks,
            edges,
            i32,
            i64,
            id,
            coding,
            ptr,
            events: Events::of(module, plan.mode),
            calls: RefCell::default(),
            forest: ptr.poison(),
            start: i64.poison(),
            register: vec![id.constant(u64::from(coding.origin)); count].into(),
            state: vec![i64.poison(); count].into(),
            phis: vec![Phis::default(); count].into(),
            flows: HashMap::new(),
        }
    }

    /// Phase 2: `forest = *slot; if (!forest) forest = midflight_enter(record, slot);
    /// forest->entries += 1`
    fn enter(&mut self) {
        let body = self.blocks[BlockId::ENTRY];
        let entry = self.entry();
        let b = &self.builder;
        b.before(entry.terminator());
        if let Events::Published { cursor, .. } = &mut self.events {
            let words = self.i64.array(abi::CURSOR_WORDS as u64);
            *cursor = b.variable(words, c"midflight.cursor");
        }
        let known = b.load(self.ptr, self.target.slot);
        let forest = b.phi(self.ptr, body, FOREST);
        self.forest = forest.value();
        enter(self.target, (entry, body), known, forest);
        b.before(self.heads[BlockId::ENTRY]);
        b.count(b.offset(self.forest, abi::FOREST_ENTRIES_OFFSET as u64));
        if self.plan.mode == Mode::Automaton {
            let start = b.offset(self.forest, abi::FOREST_START_OFFSET as u64);
            self.start = b.load_relaxed(self.i64, start);
        }
        self.state[BlockId::ENTRY] = self.start;
        self.begin_stream();
    }

    /// LLVM's entry, before the first block that is profiled.
    fn entry(&self) -> Block<'m> {
        self.target.function.blocks().next().expect("what is profiled has a body")
    }

    /// The marker ∗, at the builder's position, for Algorithm 4 as published: lines 2 and 3.
    fn begin_stream(&self) {
        let Events::Published { cursor, .. } = self.events else { return };
        let b = &self.builder;
        b.store(self.i64.constant(0), cursor);
        b.store(self.ptr.null(), b.offset(cursor, abi::CURSOR_TAU_OFFSET as u64));
    }

    /// Phase 3.
    fn registers(&mut self) {
        let predecessors = self.target.body.predecessors();
        let in_llvm = llvm_predecessor_counts(self.target.function);
        let mut order = depth_first(self.target.body).postorder;
        order.reverse();
        for &to in order.iter().filter(|&&to| to != BlockId::ENTRY) {
            if self.plan.unneeded.contains(&to) {
                self.register[to] = self.id.poison();
                continue;
            }
            match predecessors[to].as_slice() {
                &[from] if in_llvm.get(&self.blocks[to]) == Some(&1) => self.follow(from, to),
                _ => self.join(to),
            }
            if self.plan.heads.contains(&to) {
                let end = self.phis[to].end.map_or_else(|| self.register[to], Phi::value);
                self.builder.before(self.heads[to]);
                self.state[to] = self.emit(End::In(to), self.state[to], end);
                if let Some(&Transfer::AtHead { start, .. }) =
                    predecessors[to].first().and_then(|&from| self.plan.transfers.get(&(from, to)))
                {
                    self.register[to] = match self.phis[to].register {
                        Some(phi) => phi.value(),
                        None => self.begun(start),
                    };
                }
            }
        }
    }

    /// The only edge into a block: no phis. At a head, `register` is what is to be emitted there.
    fn follow(&mut self, from: BlockId, to: BlockId) {
        // Code on the edge makes a state of its own; phase 4 fills the phi.
        if self.plan.is_split((from, to)) {
            return self.join(to);
        }
        self.builder.before(self.heads[to]);
        let (register, state) = match self.plan.transfers[&(from, to)] {
            Transfer::Add(value) | Transfer::AtHead { end: value, .. } => {
                (self.plus(self.register[from], value), self.state[from])
            }
            Transfer::Begin { start } => (self.begun(start), self.state[from]),
            Transfer::Emit { .. } | Transfer::OnEdge { .. } => return self.join(to),
            Transfer::Restart { start, .. } => (self.begun(start), self.start),
        };
        self.register[to] = register;
        self.state[to] = state;
    }

    /// Empty phis for what differs between the edges into a block.
    fn join(&mut self, to: BlockId) {
        let block = self.blocks[to];
        let b = &self.builder;
        let mut phis = Phis::default();
        let register = b.phi(self.id, block, c"midflight.path");
        self.register[to] = register.value();
        phis.register = Some(register);
        if self.plan.heads.contains(&to) {
            phis.end = Some(b.phi(self.id, block, c"midflight.end"));
        }
        if self.plan.mode == Mode::Automaton {
            let state = b.phi(self.i64, block, c"midflight.state");
            self.state[to] = state.value();
            phis.state = Some(state);
        }
        if self.plan.runs.contains_key(&to) {
            phis.rounds = Some(b.phi(self.i64, block, c"midflight.rounds"));
        }
        self.phis[to] = phis;
    }

    /// Phase 4. Also notes what each edge carries into phis.
    fn emissions(&mut self) {
        for (from, block) in self.target.body.blocks.iter_enumerated() {
            for (edge, index) in block.edges.iter().zip(self.first_edge[from]..) {
                self.emit_on_edge(from, edge.to, index);
            }
            if let Some(&end) = self.plan.counted.get(&from) {
                let leaves = block.edges.is_empty();
                let terminator = self.blocks[from].terminator();
                self.builder.before(if leaves {
                    self.target.handles[from].exit
                } else {
                    terminator
                });
                self.emit(End::In(from), self.state[from], self.plus(self.register[from], end));
            }
            if let Some(&value) = self.plan.exits.get(&from) {
                self.builder.before(self.target.handles[from].exit);
                let id = self.plus(self.register[from], value);
                self.emit(End::Last(from), self.state[from], id);
            }
        }
    }

    fn emit_on_edge(&mut self, from: BlockId, to: BlockId, index: u32) {
        let (source, target) = (self.blocks[from], self.blocks[to]);
        let (register, mut state) = (self.register[from], self.state[from]);
        let mut origin = source;
        if let Some(&header) = self.plan.leaves.get(&(from, to)) {
            origin = self.edges[&(from, to)];
            self.builder.before(origin.terminator());
            state = self.emit_rounds(header, state);
        }
        if let Some(&end) = self.plan.undone.get(&(from, to)) {
            origin = self.edges[&(from, to)];
            self.builder.before(origin.terminator());
            let one_less = self.i64.constant(u64::MAX);
            let counter = self.counter(from, self.plus(register, end));
            self.builder.count_by(counter, one_less);
        }
        let none = self.i64.constant(0);
        let mut flow = Flow { register, end: register, state, rounds: none, edge: index };
        let joins = self.phis[to].register.is_some();
        match self.plan.transfers[&(from, to)] {
            Transfer::Add(value) if joins => {
                self.builder.before(origin.terminator());
                flow.register = self.plus(register, value);
            }
            Transfer::Add(_) => {}
            Transfer::Emit { value, end } => {
                origin = self.edges[&(from, to)];
                self.builder.before(origin.terminator());
                self.emit(End::On(from, to), state, self.plus(register, end));
                flow.register = self.plus(register, value);
            }
            Transfer::Begin { start } => flow.register = self.begun(start),
            Transfer::OnEdge { end, start } => {
                origin = self.edges[&(from, to)];
                self.builder.before(origin.terminator());
                flow.state = self.emit(End::On(from, to), state, self.plus(register, end));
                flow.register = self.begun(start);
                if let Some(run) = self.plan.runs.get(&to).filter(|run| run.latch == from) {
                    (flow.state, flow.rounds) = self.emit_round(to, run, state, flow.state);
                }
            }
            Transfer::AtHead { end, start } => {
                if joins {
                    self.builder.before(source.terminator());
                    flow.end = self.plus(register, end);
                }
                flow.register = self.begun(start);
            }
            Transfer::Restart { end, start } => {
                if let Some(call) = self.target.handles[from].restart {
                    self.builder.before(call);
                    self.emit(End::Last(from), state, self.plus(register, end));
                }
                self.builder.before(self.heads[to]);
                self.begin_stream();
                flow.register = self.begun(start);
                flow.state = self.start;
            }
        }
        self.flows.insert((origin, target), flow);
    }

    /// The path register where the number is `start`.
    fn begun(&self, start: u32) -> Value<'m> {
        self.id.constant(u64::from(self.coding.value(start)))
    }

    /// The path register where the number is `value` more.
    fn plus(&self, register: Value<'m>, value: u32) -> Value<'m> {
        if value == 0 {
            return register;
        }
        let more = value.wrapping_mul(self.coding.factor);
        self.builder.add(register, self.id.constant(u64::from(more)))
    }

    /// Emits the path of a register, which ends at the builder's position; returns the state after
    /// it.
    fn emit(&self, end: End, state: Value<'m>, register: Value<'m>) -> Value<'m> {
        match self.events {
            Events::Published { step, cursor } => {
                self.builder.call(step, &[cursor, register, self.forest]);
                state
            }
            Events::Automaton { step, .. } => {
                let to_come = self.i32.poison();
                let next = self.builder.call(step, &[state, to_come, self.forest]);
                let body = self.target.body;
                let frequency = match end {
                    End::In(block) | End::Last(block) => body.profile[block].frequency,
                    End::On(from, to) => body.edge_frequency((from, to)),
                };
                let is_last = matches!(end, End::Last(_));
                let call = next.as_instruction();
                let call = call.map(|call| Step { call, register, frequency, is_last });
                self.calls.borrow_mut().steps.extend(call);
                next
            }
            Events::Counting => {
                let (End::In(block) | End::On(block, _) | End::Last(block)) = end;
                self.builder.count(self.counter(block, register));
                state
            }
        }
    }

    /// The counter of a path, to which `block` led, in counting mode.
    fn counter(&self, block: BlockId, register: Value<'m>) -> Value<'m> {
        let mut forest = self.forest;
        if self.plan.lookup == Some(block) {
            forest = self.builder.load(self.ptr, self.target.slot);
            self.calls.borrow_mut().lookups.extend(forest.as_instruction());
        }
        let counters = self.builder.offset(forest, abi::FOREST_COUNTERS_OFFSET as u64);
        self.builder.index(counters, self.i64, register)
    }

    /// The back edge of a loop in automaton mode, where `after` is the state after a step: only the
    /// first rounds take it. Returns the state, and the rounds so far.
    fn emit_round(
        &self,
        header: BlockId,
        run: &Run,
        state: Value<'m>,
        after: Value<'m>,
    ) -> (Value<'m>, Value<'m>) {
        let Some(rounds) = self.phis[header].rounds.map(Phi::value) else {
            return (after, self.i64.constant(0));
        };
        let b = &self.builder;
        if let Some(call) = after.as_instruction() {
            b.before(call);
            let condition = b.at_most(rounds, self.i64.constant(u64::from(run.singles - 1)));
            b.before(call.block().terminator());
            self.calls.borrow_mut().guarded.push(Guarded { call, condition, otherwise: state });
        }
        (after, b.add(rounds, self.i64.constant(1)))
    }

    /// Emits the rounds of a loop that were not, at the builder's position, which is on an edge
    /// that leaves it; returns the state after them.
    fn emit_rounds(&self, header: BlockId, state: Value<'m>) -> Value<'m> {
        let (Some(rounds), Events::Automaton { run, .. }) = (self.phis[header].rounds, self.events)
        else {
            return state;
        };
        let (b, plan, number) = (&self.builder, &self.plan.runs[&header], rounds.value());
        let repeated = self.i32.constant(u64::from(plan.repeated));
        let singles = self.i64.constant(u64::from(plan.singles));
        let condition = b.more(number, singles);
        let after = b.call(run, &[state, repeated, b.sub(number, singles), self.forest]);
        if let Some(call) = after.as_instruction() {
            self.calls.borrow_mut().guarded.push(Guarded { call, condition, otherwise: state });
        }
        after
    }

    /// The other instrumentation, where it is asked for.
    fn oracle(&mut self) {
        match self.target.oracle {
            Oracle::None => {}
            Oracle::Edges => self.count_edges(),
            Oracle::Blocks => self.log_blocks(),
        }
    }

    /// A call at the head of each block with the index of the edge that was taken, a phi.
    fn count_edges(&mut self) {
        let callee = Oracle::edge_callee(self.target.module);
        for (to, block) in self.target.body.blocks.iter_enumerated() {
            if to != BlockId::ENTRY {
                let phi = self.builder.phi(self.i32, self.blocks[to], c"oracle.edge");
                self.phis[to].edge = Some(phi);
                self.builder.before(self.heads[to]);
                self.builder.call(callee, &[self.target.record, phi.value()]);
            }
            if block.edges.is_empty() {
                let index = self.i32.constant(u64::from(self.first_edge[to]));
                self.builder.before(self.target.handles[to].exit);
                self.builder.call(callee, &[self.target.record, index]);
            }
        }
    }

    /// A call at the head of each block, with the activation's number in its frame.
    fn log_blocks(&mut self) {
        let callee = Oracle::block_callee(self.target.module);
        self.builder.before(self.entry().terminator());
        let activation = self.builder.zeroed_variable(self.target.module.int_type(64));
        for (id, &head) in self.heads.iter_enumerated() {
            let block = self.i32.constant(u32::from(id).into());
            self.builder.before(head);
            self.builder.call(callee, &[self.target.record, activation, block]);
        }
    }

    /// Phase 5.
    fn fill_phis(&mut self) {
        let ids: HashMap<Block<'m>, BlockId> =
            self.blocks.iter_enumerated().map(|(id, &block)| (block, id)).collect();
        let unknown = Flow {
            register: self.id.poison(),
            end: self.id.poison(),
            state: self.i64.poison(),
            rounds: self.i64.poison(),
            edge: 0,
        };
        for from in self.target.function.blocks() {
            for to in from.successors() {
                let phis = ids.get(&to).map(|&id| self.phis[id]).filter(|phis| !phis.is_empty());
                let Some(phis) = phis else { continue };
                let flow = self.flows.get(&(from, to)).copied().unwrap_or_else(|| {
                    let reached = reachable_blocks(self.target.function);
                    assert!(!reached.contains(&from), "control takes an edge without a register");
                    unknown
                });
                let fill = |phi: Option<Phi<'m>>, value| {
                    if let Some(phi) = phi {
                        phi.add(value, from);
                    }
                };
                fill(phis.register, flow.register);
                fill(phis.end, flow.end);
                fill(phis.state, flow.state);
                fill(phis.rounds, flow.rounds);
                fill(phis.edge, self.i32.constant(u64::from(flow.edge)));
            }
        }
    }
}

/// What a mode needs at the ends of paths.
#[derive(Clone, Copy)]
enum Events<'m> {
    /// The runtime's functions for a path, and for a run
    Automaton { step: Callee<'m>, run: Callee<'m> },
    /// Nothing of the runtime
    Counting,
    /// The runtime's function for a path, which returns nothing, and the activation's cursor
    Published { step: Callee<'m>, cursor: Value<'m> },
}

impl<'m> Events<'m> {
    fn of(module: Module<'m>, mode: Mode) -> Self {
        let (i32, i64, ptr) = (module.int_type(32), module.int_type(64), module.pointer_type());
        match mode {
            Mode::Automaton => Events::Automaton {
                step: module.sparing_callee(ptr.poison(), i64, &[i64, i32, ptr]),
                run: module.runtime_function(abi::RUN_SYMBOL, i64, &[i64, i32, i64, ptr]),
            },
            Mode::Counting => Events::Counting,
            Mode::Published => {
                let name = abi::PUBLISHED_STEP_SYMBOL;
                let step = module.runtime_function(name, module.void_type(), &[ptr, i32, ptr]);
                Events::Published { step, cursor: ptr.poison() }
            }
        }
    }
}

/// In a record's list of edges, a block has its edges, or one exit if it has none.
fn first_edges(body: &Body) -> TiVec<BlockId, u32> {
    let mut next = 0;
    let mut first = TiVec::with_capacity(body.blocks.len());
    for block in &body.blocks {
        first.push(next);
        next += u32::try_from(block.edges.len().max(1)).expect("fewer than 2^32 edges");
    }
    first
}

/// How many LLVM edges lead to each block, parallel ones and those of unreachable blocks included.
fn llvm_predecessor_counts(function: Function<'_>) -> HashMap<Block<'_>, u32> {
    let mut result = HashMap::new();
    for block in function.blocks() {
        for successor in block.successors() {
            *result.entry(successor).or_insert(0) += 1;
        }
    }
    result
}
