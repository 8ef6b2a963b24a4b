//! Calls in the format of Valgrind's callgrind, for KCachegrind and `callgrind_annotate`
//! (<https://valgrind.org/docs/manual/cl-format.html>).
//!
//! What a function costs is its activations and, where it was taken, its time in nanoseconds, at
//! the line of its declaration. A call costs those of the context that it made and of all below;
//! but where the function that is called is under way already, the call that began it has them, and
//! this one costs nothing: else what is recursive would cost more than all.

use crate::commands::export::{Format, View, Writer};
use crate::document::{ContextDocument, Shape};
use crate::format::numbers::add;
use midflight_profile::visible;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "callgrind",
    about: "calls with their counts, for KCachegrind and callgrind_annotate",
    writer: Writer::Contexts(View { shape: Shape::Tree, write }),
};

/// A call: the caller's line, and the function that is called.
type Call = (u32, usize);

/// What a function has done.
#[derive(Default)]
struct Cost {
    own: [u64; 2],
    calls: BTreeMap<Call, CallCost>,
}

#[derive(Default)]
struct CallCost {
    count: u64,
    /// Activations in it and below, and their time
    within: [u64; 2],
}

/// Writes all functions that ran.
pub fn write(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let costs = costs(document);
    let mut total = [0; 2];
    costs.values().for_each(|cost| add_both(&mut total, cost.own));
    let (events, number) = match document.times {
        Some(_) => ("Activations Nanoseconds", 2),
        None => ("Activations", 1),
    };
    let words = |cost: [u64; 2]| cost.map(|cost| cost.to_string())[..number].join(" ");
    let total = words(total);
    writeln!(
        out,
        "# callgrind format\nversion: 1\ncreator: midflight {}",
        env!("CARGO_PKG_VERSION")
    )?;
    writeln!(out, "cmd: {}\npositions: line", visible(&document.binary))?;
    writeln!(out, "events: {events}\nsummary: {total}")?;
    let mut known = Known::default();
    for (&function, cost) in &costs {
        writeln!(out)?;
        known.write(out, document, function, "")?;
        let line = document.functions[function].line();
        writeln!(out, "{line} {}", words(cost.own))?;
        for (&(line, callee), CallCost { count, within }) in &cost.calls {
            known.write(out, document, callee, "c")?;
            writeln!(out, "calls={count} {}", document.functions[callee].line())?;
            writeln!(out, "{line} {}", words(*within))?;
        }
    }
    writeln!(out, "\ntotals: {total}")
}

fn add_both(sum: &mut [u64; 2], more: [u64; 2]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| add(sum, more));
}

/// Names that were written: they have numbers.
#[derive(Default)]
struct Known {
    names: FxHashMap<(&'static str, String), usize>,
    functions: FxHashSet<usize>,
}

impl Known {
    /// Names a function with its image and its file, or what is called with `c` before each word.
    fn write(
        &mut self,
        out: &mut dyn Write,
        document: &ContextDocument<'_>,
        function: usize,
        called: &str,
    ) -> io::Result<()> {
        let of = &document.functions[function];
        let file = if of.file().is_empty() { "???" } else { of.file() };
        let file_word = if called.is_empty() { "fl" } else { "fi" };
        for (word, kind, name) in [("ob", "ob", of.module), (file_word, "fl", file)] {
            let next = self.names.len() + 1;
            let name = visible(name);
            let number = *self.names.entry((kind, name.clone())).or_insert(next);
            let name = if number == next { format!(" {name}") } else { String::new() };
            writeln!(out, "{called}{word}=({number}){name}")?;
        }
        // Functions of one name are apart.
        let name = match self.functions.insert(function) {
            true => format!(" {}", of.readable()),
            false => String::new(),
        };
        writeln!(out, "{called}fn=({}){name}", function + 1)
    }
}

/// What each function has done.
fn costs(document: &ContextDocument<'_>) -> BTreeMap<usize, Cost> {
    let mut costs: BTreeMap<usize, Cost> = BTreeMap::new();
    // The functions of the context at hand, and how often each is there
    let mut way: Vec<usize> = Vec::new();
    let mut times = vec![0u32; document.functions.len()];
    for context in &document.contexts {
        way.drain(context.level as usize..).for_each(|function| times[function] -= 1);
        let function = context.function;
        let own = [context.count, context.time];
        add_both(&mut costs.entry(function).or_default().own, own);
        if let Some((caller, line)) = document.call_line(context) {
            let calls = &mut costs.entry(caller).or_default().calls;
            let cost = calls.entry((line, function)).or_default();
            cost.count += context.count;
            if times[function] == 0 {
                add_both(&mut cost.within, [context.within, context.time_within]);
            }
        }
        way.push(function);
        times[function] += 1;
    }
    costs
}
