//! The calls of each function: how often it was called from where, and how often it calls others
//! from which line. It is a view of its calling contexts with one caller.

use crate::document::{Context, ContextDocument, Shape, Source};
use crate::format::numbers::add;
use crate::input::contexts::Called;
use crate::input::sources::Sources;
use midflight_profile::format::ContextMode;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The calls of all functions that were called or have called.
pub struct Calls<'a> {
    /// Functions with their last callers
    pub document: ContextDocument<'a>,
    /// By the places of functions in that
    functions: Vec<FunctionCalls>,
}

/// The calls of a function: contexts of the document. Those that are added up have the place of one
/// of them.
#[derive(Clone, Debug, Default)]
pub struct FunctionCalls {
    /// All of its activations
    pub activations: Option<Context>,
    /// Those that no function is known to have called
    pub begun: Option<Context>,
    /// Calls of it, the most first
    pub callers: Vec<Context>,
    /// Calls that it makes, by their lines in its own file, the most first. Those whose lines are
    /// not known are at the line of the declaration. A line that has never called has none
    pub lines: BTreeMap<u32, Vec<Context>>,
}

impl<'a> Calls<'a> {
    /// Makes it of a document with one caller.
    ///
    /// # Panics
    /// If it is another document.
    pub fn of(document: ContextDocument<'a>) -> Self {
        assert_eq!(document.shape, Shape::Callers(1), "calls have one caller each");
        let mut functions = vec![FunctionCalls::default(); document.functions.len()];
        for (calls, called) in functions.iter_mut().zip(&document.functions) {
            let sites = called.table.into_iter().flat_map(|table| &table.sites);
            // Of hot contexts it is not known what is never called.
            let known = sites.filter(|_| document.mode == ContextMode::All);
            let lines = known.map(|site| site.loc.outer_line).filter(|&line| line != 0);
            calls.lines.extend(lines.map(|line| (line, Vec::new())));
        }
        for context in &document.contexts {
            match document.call_line(context) {
                None => {
                    let calls = &mut functions[context.function];
                    (calls.activations, calls.begun) = (Some(*context), Some(*context));
                }
                Some((caller, line)) => {
                    let callee = document.call(context).map_or(caller, |call| call.callee);
                    functions[callee].callers.push(*context);
                    if let Some(begun) = &mut functions[callee].begun {
                        begun.count = begun.count.saturating_sub(context.count);
                        begun.error = begun.error.saturating_sub(context.error);
                    }
                    functions[caller].lines.entry(line).or_default().push(*context);
                }
            }
        }
        for calls in &mut functions {
            calls.begun = calls.begun.filter(|begun| begun.count > 0);
            calls.lines.values_mut().for_each(|all| all.sort_by_key(|call| Reverse(call.count)));
        }
        Calls { document, functions }
    }

    /// The calls of a function, by its place.
    pub fn of_function(&self, place: usize) -> &FunctionCalls {
        &self.functions[place]
    }

    /// The places of functions, those with the most activations first.
    pub fn by_activations(&self) -> Vec<usize> {
        let count = |place: &usize| self.functions[*place].activations.map_or(0, |all| all.count);
        let name = |place: &usize| self.document.functions[*place].name().into_owned();
        let mut places: Vec<usize> = (0..self.functions.len()).collect();
        places.sort_by_cached_key(|place| (Reverse(count(place)), name(place)));
        places
    }

    /// The function at a place.
    pub fn called(&self, place: usize) -> &Called<'a> {
        &self.document.functions[place]
    }

    /// Calls as one; none of none.
    pub fn sum(calls: &[Context]) -> Option<Context> {
        let (first, rest) = calls.split_first()?;
        let mut sum = *first;
        for Context { count, error, .. } in rest {
            add(&mut sum.count, *count);
            add(&mut sum.error, *error);
        }
        Some(sum)
    }

    /// The lines of a function, from its declaration to the last that calls, with the calls made
    /// from each.
    pub fn source(&self, place: usize, sources: &mut Sources) -> Source {
        let called = self.called(place);
        let lines = self.functions[place].lines.iter().filter(|(line, _)| **line != 0);
        let count = |calls: &[Context]| Self::sum(calls).map_or(0, |sum| sum.count);
        let counts = lines.map(|(&line, calls)| (line, count(calls))).collect();
        Source::of_lines((called.file(), called.line()), counts, sources)
    }
}
