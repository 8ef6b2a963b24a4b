//! A sample profile with calling contexts, which clang inlines by (He, Yu, Wang, Oh: Revamping
//! Sampling-Based PGO with Context-Sensitivity and Pseudo-Instrumentation, CGO 2024), as
//! `llvm-profdata show --sample` reads it:
//!
//! ```text
//! [MAIN:OFFSET @ CALLER:OFFSET @ FUNCTION]:TOTAL:ACTIVATIONS
//!  OFFSET: COUNT TARGET:COUNT
//! ```
//!
//! The offset behind a caller's name is that of the call, and all others are lines of the function.
//! LLVM takes functions from callers to callees: what it inlines has the counts of its context, and
//! the contexts of what is left are added up before the function's own turn. So a context may begin
//! with any function, and stands for what is not known of its callers. No function may be twice in
//! one: LLVM adds such contexts up wrongly, and may crash. So recursion begins anew.
//!
//! Activations and calls are counted. Other lines of a context are its share of the function's,
//! where paths of the same function were counted at the same stage.

use crate::commands::export::sample_profile::{Samples, own_offset};
use crate::document::{Context, ContextDocument};
use crate::format::numbers::{add, grouped};
use crate::input::contexts::Called;
use crate::input::function::Function;
use midflight_profile::table::{ContextTable, Site, Stage};
use midflight_profile::visible;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Functions of a context, at most: each has all of its callers in its line.
const LEVELS: usize = 64;

/// A function as contexts and paths both know it.
type Identity<'a> = (&'a str, &'a str, Stage);

/// Writes all contexts with `min_percent` of all activations or more and those above them; others
/// count for their function without context. `functions` have counts of paths, if there are any;
/// `tables` are all functions that may have been called.
pub(super) fn write(
    out: &mut dyn Write,
    document: &ContextDocument<'_>,
    tables: &[&ContextTable],
    functions: &[Function<'_>],
    min_percent: f64,
) -> io::Result<()> {
    let mut tree = Tree::of(document, min_percent);
    tree.add_idle(tables);
    if tree.begun_anew > 0 {
        tell_begun_anew(tree.begun_anew, document.activations);
    }
    let lines = Lines::of(document, &tree, functions);
    tree.write(out, &lines)
}

fn tell_begun_anew(begun: u64, all: u64) {
    // Nobody to tell if standard error is closed.
    let _ = writeln!(
        io::stderr(),
        "midflight: note: {} of {} activations were called from no line of their caller: code was inlined \
         before it was instrumented, or has no lines, or calls are not told apart by call sites; their \
         contexts begin with them. Calling contexts of the stage early have all lines",
        grouped(begun),
        grouped(all)
    );
}

/// The contexts that are written, from the outermost caller on.
struct Tree<'a> {
    functions: &'a [Called<'a>],
    /// Names as they are written, sorted
    names: Vec<String>,
    roots: BTreeMap<usize, usize>,
    nodes: Vec<Node>,
    /// Activations with a caller of which the line of the call is not known
    begun_anew: u64,
}

#[derive(Default)]
struct Node {
    /// Place of the name of its function
    name: usize,
    parent: Option<usize>,
    level: usize,
    /// By the offset of the call, and the name of the function that is called
    children: BTreeMap<(u32, usize), usize>,
    /// By the functions that have the name: local ones of several units are one to LLVM
    activations: BTreeMap<usize, u64>,
    /// By function and slot
    calls: BTreeMap<(usize, u32), u64>,
    /// By the offset of the call: how often functions of which names were called
    targets: BTreeMap<u32, BTreeMap<usize, u64>>,
}

impl<'a> Tree<'a> {
    fn of(document: &'a ContextDocument<'_>, min_percent: f64) -> Tree<'a> {
        let functions = &document.functions;
        let mut names: Vec<String> = functions.iter().map(|called| frame(&called.name())).collect();
        let of_functions = names.clone();
        names.sort();
        names.dedup();
        let place = |name: &String| names.binary_search(name).unwrap_or_default();
        let of_functions: Vec<usize> = of_functions.iter().map(place).collect();
        let (roots, nodes) = Default::default();
        let mut tree = Tree { functions, names, roots, nodes, begun_anew: 0 };
        let is_kept = kept(document, min_percent);
        // Of each context, its node; none of functions that LLVM cannot know.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(document.contexts.len());
        for (index, context) in document.contexts.iter().enumerate() {
            let function = context.function;
            let is_known = functions[function].line() > 0;
            let place = is_known.then(|| {
                let name = of_functions[function];
                let below = is_kept[index] || context.parent.is_none();
                let call = tree.call(document, context, &places, name);
                let node = match call.filter(|(caller, _)| below && tree.may_call(*caller, name)) {
                    Some((caller, offset)) => tree.child(caller, offset, name),
                    None => tree.root(name),
                };
                add(tree.nodes[node].activations.entry(function).or_default(), context.count);
                node
            });
            places.push(place);
        }
        tree
    }

    /// Counts the call of a context at its caller, and tells which this is, and the offset. None of
    /// roots, and where the line of the call is not known.
    fn call(
        &mut self,
        document: &ContextDocument<'_>,
        context: &Context,
        places: &[Option<usize>],
        name: usize,
    ) -> Option<(usize, u32)> {
        let parent = context.parent?;
        let caller = document.contexts[parent].function;
        let slot = context.slot?;
        let site = offset_of(&self.functions[caller], slot).filter(|_| !document.by_function);
        let call = site.and_then(|offset| Some((places[parent]?, offset)));
        match call {
            None => add(&mut self.begun_anew, context.count),
            Some((node, offset)) => {
                let node = &mut self.nodes[node];
                add(node.calls.entry((caller, slot)).or_default(), context.count);
                let targets = node.targets.entry(offset).or_default();
                add(targets.entry(name).or_default(), context.count);
            }
        }
        call
    }

    /// Whether a function may stand below a caller.
    fn may_call(&self, caller: usize, name: usize) -> bool {
        let parent = |&node: &usize| self.nodes[node].parent;
        let mut callers = std::iter::successors(Some(caller), parent);
        self.nodes[caller].level + 1 < LEVELS && callers.all(|node| self.nodes[node].name != name)
    }

    fn root(&mut self, name: usize) -> usize {
        let Tree { roots, nodes, .. } = self;
        *roots.entry(name).or_insert_with(|| {
            nodes.push(Node { name, ..Node::default() });
            nodes.len() - 1
        })
    }

    fn child(&mut self, caller: usize, offset: u32, name: usize) -> usize {
        let new = self.nodes.len();
        let level = self.nodes[caller].level + 1;
        let node = *self.nodes[caller].children.entry((offset, name)).or_insert(new);
        if node == new {
            self.nodes.push(Node { name, parent: Some(caller), level, ..Node::default() });
        }
        node
    }

    /// Functions that never ran have no context, and are written with zeroes.
    fn add_idle(&mut self, tables: &[&ContextTable]) {
        let idle: BTreeSet<String> = tables
            .iter()
            .filter(|table| table.line > 0)
            .map(|table| frame(&table.name))
            .filter(|name| self.names.binary_search(name).is_err())
            .collect();
        for name in idle {
            // Behind the sorted names: they are looked up no more.
            self.names.push(name);
            self.root(self.names.len() - 1);
        }
    }

    fn write(&self, out: &mut dyn Write, lines: &Lines) -> io::Result<()> {
        let mut roots: Vec<usize> = self.roots.values().copied().collect();
        roots.sort_by_key(|&root| &self.names[self.nodes[root].name]);
        // Each with its callers; the next to be written is the last.
        let mut left: Vec<(usize, String)> =
            roots.into_iter().rev().map(|root| (root, String::new())).collect();
        while let Some((index, callers)) = left.pop() {
            let node = &self.nodes[index];
            let context = format!("{callers}{}", self.names[node.name]);
            self.write_node(out, node, &context, lines)?;
            let below = node.children.iter().rev();
            left.extend(below.map(|((at, _), &child)| (child, format!("{context}:{at} @ "))));
        }
        Ok(())
    }

    fn write_node(
        &self,
        out: &mut dyn Write,
        node: &Node,
        context: &str,
        lines: &Lines,
    ) -> io::Result<()> {
        let counts = lines.of_node(self, node);
        let total = counts.values().copied().fold(0, u64::saturating_add);
        let activations = node.activations.values().copied().fold(0, u64::saturating_add);
        writeln!(out, "[{context}]:{total}:{activations}")?;
        for (offset, count) in counts {
            write!(out, " {offset}: {count}")?;
            for (&name, count) in node.targets.get(&offset).into_iter().flatten() {
                write!(out, " {}:{count}", self.names[name])?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// How often a node's calls of each line were made, by function and offset. Of several calls of
    /// a line it is the one that was made most often, as LLVM takes the most of a block.
    fn called(&self, node: &Node) -> BTreeMap<(usize, u32), u64> {
        let mut called: BTreeMap<(usize, u32), u64> = BTreeMap::new();
        for (&(function, slot), &count) in &node.calls {
            if let Some(offset) = offset_of(&self.functions[function], slot) {
                let most = called.entry((function, offset)).or_default();
                *most = count.max(*most);
            }
        }
        called
    }
}

/// Counts of paths, by the functions of the contexts.
struct Lines {
    functions: BTreeMap<usize, OfFunction>,
}

/// Lines of a function, in all contexts.
struct OfFunction {
    samples: Samples,
    /// Of each line, the activations that its calls have led to
    called: BTreeMap<u32, u64>,
}

impl Lines {
    fn of(document: &ContextDocument<'_>, tree: &Tree<'_>, functions: &[Function<'_>]) -> Lines {
        let mut counted: FxHashMap<Identity<'_>, Samples> = FxHashMap::default();
        for function in functions.iter().filter(|function| function.table.line > 0) {
            let table = function.table;
            let identity = (&table.name[..], &table.unit[..], table.stage);
            counted.entry(identity).or_default().collect(function);
        }
        let mut lines = Lines { functions: BTreeMap::new() };
        for (place, called) in document.functions.iter().enumerate() {
            let samples = called.table.and_then(|ContextTable { name, unit, stage, .. }| {
                counted.get(&(&name[..], &unit[..], *stage))
            });
            if let Some(samples) = samples.filter(|samples| samples.entries > 0) {
                let of = OfFunction { samples: samples.clone(), called: BTreeMap::new() };
                lines.functions.insert(place, of);
            }
        }
        for node in &tree.nodes {
            for ((function, offset), count) in tree.called(node) {
                if let Some(of) = lines.functions.get_mut(&function) {
                    add(of.called.entry(offset).or_default(), count);
                }
            }
        }
        lines
    }

    /// The lines of a node.
    fn of_node(&self, tree: &Tree<'_>, node: &Node) -> BTreeMap<u32, u64> {
        let called = tree.called(node);
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let mut entered = 0;
        for (&function, &activations) in &node.activations {
            add(&mut entered, activations);
            let Some(of) = self.functions.get(&function) else { continue };
            for (&offset, &count) in &of.samples.lines {
                let here = called.get(&(function, offset)).copied().unwrap_or(0);
                add(counts.entry(offset).or_default(), of.share(offset, count, activations, here));
            }
        }
        for (&(function, offset), &count) in &called {
            let of = self.functions.get(&function);
            if of.is_none_or(|of| !of.samples.lines.contains_key(&offset)) {
                add(counts.entry(offset).or_default(), count);
            }
        }
        // The line of the declaration is that of the entry.
        let entry = counts.entry(0).or_default();
        *entry = entered.max(*entry);
        counts
    }
}

impl OfFunction {
    /// What `activations` in a context have of a line's count, where its calls there have led to
    /// `here` others. What calls have led to is of the context that they were made in, and the rest
    /// is shared out by activations. Callbacks lead to more than there were calls: then all is.
    fn share(&self, offset: u32, count: u64, activations: u64, here: u64) -> u64 {
        let called = self.called.get(&offset).copied().unwrap_or(0);
        let (own, rest) = match count.checked_sub(called) {
            Some(rest) => (here, rest),
            None => (0, count),
        };
        let entries = u128::from(self.samples.entries);
        let share = (u128::from(rest) * u128::from(activations) + entries / 2) / entries;
        own.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// Which contexts are hot, or above one that is.
fn kept(document: &ContextDocument<'_>, min_percent: f64) -> Vec<bool> {
    let least = document.activations as f64 * min_percent / 100.0;
    let mut is_kept: Vec<bool> =
        document.contexts.iter().map(|context| context.count as f64 >= least).collect();
    for (index, context) in document.contexts.iter().enumerate().rev() {
        if let Some(parent) = context.parent.filter(|_| is_kept[index]) {
            is_kept[parent] = true;
        }
    }
    is_kept
}

/// The offset of a call in its function; none where that is not known, or other code was inlined.
fn offset_of(called: &Called<'_>, slot: u32) -> Option<u32> {
    let table = called.table.filter(|table| table.line > 0)?;
    let Site { loc, .. } = table.sites.get(slot as usize)?;
    own_offset(loc, table.file, table.line)
}

/// A name in a context: what would end it is escaped, and so meets no function.
fn frame(name: &str) -> String {
    let mut frame = String::new();
    for c in visible(name).chars() {
        match c {
            ':' | '@' | ' ' | '[' | ']' | '#' => frame += &format!(r"\x{:02x}", c as u32),
            _ => frame.push(c),
        }
    }
    if frame.is_empty() { r"\x00".into() } else { frame }
}
