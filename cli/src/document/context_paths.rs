//! Paths of hot contexts: which paths a function takes for which caller (flow and context sensitive
//! profiling; Ammons, Ball, Larus, PLDI 1997).

use crate::analysis::rank::{Ranked, letters, rank};
use crate::document::route;
use crate::format::names::readable;
use crate::format::numbers::add;
use crate::input::contexts::Joined;
use crate::input::function::Function;
use crate::input::session::JoinError;
use midflight_profile::format::{ContextId, FunctionProfile};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;

/// The document.
#[derive(Serialize)]
pub struct ContextPaths {
    /// Of this schema
    pub version: u32,
    /// The binary
    pub binary: String,
    /// Functions with contexts whose paths were counted, those with the most work first
    pub functions: Vec<FunctionPaths>,
    /// How many more there are
    pub left_out: usize,
}

/// A function.
#[derive(Serialize)]
pub struct FunctionPaths {
    /// As the linker knows it
    pub name: String,
    /// As the source has it
    #[serde(skip)]
    pub readable: String,
    /// Where it is declared
    pub file: String,
    /// Where it is declared; 0 if unknown
    pub line: u32,
    /// Activations begun
    pub entries: u64,
    /// The acyclic paths that were taken, most work first
    pub paths: Vec<PathOfAll>,
    /// Contexts whose paths were counted, those with the most activations first
    pub contexts: Vec<ContextOf>,
    /// All other contexts together
    pub others: Counted,
}

/// A path of a function.
#[derive(Serialize)]
pub struct PathOfAll {
    /// What stands for it in reports
    pub letter: String,
    /// Its ID
    pub id: u32,
    /// How often it was taken in all contexts
    pub count: u64,
    /// From where, on which lines, and where to
    pub route: String,
}

/// A context.
#[derive(Serialize)]
pub struct ContextOf {
    /// Who has called whom, outermost first: the last [`CALLERS`]
    pub callers: Vec<Caller>,
    /// How many callers there are above these
    pub more_callers: u64,
    /// What was counted in it
    #[serde(flatten)]
    pub counted: Counted,
}

/// A caller, and the line of its call; 0 where that is not known.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Caller {
    /// As the source has it
    pub function: String,
    /// In the caller's own file
    pub line: u32,
}

/// What was counted.
#[derive(Clone, Default, Serialize)]
pub struct Counted {
    /// Activations begun
    pub entries: u64,
    /// How often each path was taken, by its place among those of the function
    pub paths: Vec<u64>,
}

impl Counted {
    /// How often any path was taken.
    pub fn total(&self) -> u64 {
        self.paths.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl ContextPaths {
    /// Makes the document of functions that `is_asked` picks by their names, the first `top` of
    /// them.
    ///
    /// # Errors
    /// If what was counted in a context does not fit its function's table.
    pub fn of(
        binary: String,
        joined: &Joined<'_>,
        functions: &[Function<'_>],
        top: usize,
        is_asked: impl Fn(&str) -> bool,
    ) -> Result<Self, JoinError> {
        let mut by_function: FxHashMap<(usize, u64), Vec<(ContextId, &FunctionProfile)>> =
            FxHashMap::default();
        for id in joined.contexts.ids() {
            for profile in joined.contexts.forests(id) {
                let key = (profile.module, profile.key);
                by_function.entry(key).or_default().push((id, profile));
            }
        }
        let mut made = Vec::new();
        let mut left_out = 0;
        for ranked in rank(functions, None) {
            let key = (ranked.profile.module, ranked.profile.key);
            let Some(contexts) = by_function.get(&key) else { continue };
            if !is_asked(&ranked.function.table.name) {
                continue;
            }
            if made.len() == top {
                left_out += 1;
                continue;
            }
            made.push(function_paths(&ranked, contexts, joined)?);
        }
        Ok(ContextPaths { version: 1, binary, functions: made, left_out })
    }
}

fn function_paths(
    ranked: &Ranked<'_>,
    contexts: &[(ContextId, &FunctionProfile)],
    joined: &Joined<'_>,
) -> Result<FunctionPaths, JoinError> {
    let function = ranked.function;
    let table = function.table;
    let all = counted(ranked, ranked.profile);
    let mut others = all.clone();
    let mut rows = Vec::new();
    for &(id, profile) in contexts {
        let bad = |error| JoinError::BadForest(table.name.clone(), error);
        table.check_forest(&profile.forest).map_err(bad)?;
        let counted = counted(ranked, profile);
        others.entries = others.entries.saturating_sub(counted.entries);
        for (rest, own) in others.paths.iter_mut().zip(&counted.paths) {
            *rest = rest.saturating_sub(*own);
        }
        let (callers, more_callers) = callers(joined, id);
        rows.push(ContextOf { callers, more_callers, counted });
    }
    // Whatever the order is in which contexts were met.
    let key = |row: &ContextOf| (Reverse(row.counted.entries), row.more_callers);
    rows.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.callers.cmp(&b.callers)));
    let paths = ranked.paths.iter().enumerate().map(|(index, taken)| PathOfAll {
        letter: letters(index),
        id: taken.id,
        count: taken.count,
        route: function.path(taken.id).map_or(String::new(), |path| route(function, &path)),
    });
    Ok(FunctionPaths {
        name: table.name.clone(),
        readable: readable(&table.name),
        file: function.file().to_string(),
        line: table.line,
        entries: all.entries,
        paths: paths.collect(),
        contexts: rows,
        others,
    })
}

/// How often each path of a function was taken.
fn counted(ranked: &Ranked<'_>, profile: &FunctionProfile) -> Counted {
    let mut paths = vec![0; ranked.paths.len()];
    for node in profile.forest.ids() {
        // What one context has, all together have.
        if let Some(place) = ranked.place(ranked.merged(profile.forest.label(node))) {
            add(&mut paths[place], profile.forest.count(node));
        }
    }
    Counted { entries: profile.totals.entries, paths }
}

/// Callers of a context that are named: recursion may be as deep as memory is large.
const CALLERS: usize = 64;

/// Who has called whom up to a context, outermost first, and how many there are above.
fn callers(joined: &Joined<'_>, context: ContextId) -> (Vec<Caller>, u64) {
    let (mut callers, mut more) = (Vec::new(), 0);
    let mut at = context;
    while let Some(parent) = joined.contexts.parent(at) {
        if callers.len() == CALLERS {
            (at, more) = (parent, more + 1);
            continue;
        }
        let caller = &joined.functions[joined.contexts.function_id(parent).index()];
        let site = caller.site(joined.contexts.site(at));
        let line = site.map_or(0, |(site, _)| site.loc.outer_line);
        callers.push(Caller { function: caller.readable(), line });
        at = parent;
    }
    callers.reverse();
    (callers, more)
}
