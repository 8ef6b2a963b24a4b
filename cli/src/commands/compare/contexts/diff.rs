//! `midflight diff` of calling contexts: what share of all activations each had in both profiles.
//!
//! *What changed is said once*, where it begins: contexts below that changed alike are added to it
//! ([`alike`](super::alike)).
//!
//! *Only what is known is said.* Counts of hot contexts are known within bounds, and a context that
//! is not there may have had up to the floor. Shares differ by what they differ by whatever the
//! counts are in truth.

use super::Both;
use super::alike::{Change, Known, added_up, heads, is_seen, known};
use crate::analysis::interval::Interval;
use crate::commands::compare::diff::points;
use crate::document::{ContextDocument, Shape, SiteRow};
use crate::format::json::Each;
use crate::format::known;
use crate::format::numbers::{grouped, plural};
use crate::format::tree::indent;
use crate::input::contexts::Called;
use midflight_profile::format::ContextMode;
use serde::Serialize;
use std::io::{self, Write};

/// Contexts of which as many activations begin are the same if those below them differ in all by
/// less than this part.
const SAME: f64 = 0.05;

/// The contexts of two profiles, with what changed.
pub struct ContextDiff<'b, 'd, 'a> {
    both: &'b Both<'d, 'a>,
    /// For each context, what is known of it
    own: Vec<Known>,
    /// For each context the topmost of those that changed like it
    heads: Vec<Option<usize>>,
    /// What changed, most first
    changes: Vec<Change>,
    /// How many contexts may have changed, by counts that are not known well enough
    unclear: usize,
}

impl<'b, 'd, 'a> ContextDiff<'b, 'd, 'a> {
    /// What changed among the contexts of functions that are asked for; with callers, also of those
    /// that have called them.
    pub fn of(both: &'b Both<'d, 'a>, is_asked: impl Fn(&Called<'a>) -> bool) -> Self {
        let mut is_in = vec![false; both.nodes.len()];
        for (index, node) in both.nodes.iter().enumerate() {
            let (document, context) = both.newest(node);
            is_in[index] = match (document.shape, node.parent) {
                (Shape::Callers(_), Some(parent)) => is_in[parent],
                _ => is_asked(document.function(context)),
            };
        }
        let own: Vec<Known> = both.nodes.iter().map(|node| known(both, node)).collect();
        let heads = heads(both, &own, &is_in);
        let (mut changes, mut unclear) = (Vec::new(), 0);
        for change in added_up(both, &heads) {
            let head = &own[change.node];
            // A share also falls where others rise.
            let may_be_same = head.may_be_same(0.0) && change.known.may_be_same(SAME);
            if !may_be_same && is_seen(change.known.more().abs()) {
                changes.push(change);
            } else if !(may_be_same && head.is_exact()) && change.known.may_differ() {
                unclear += 1;
            }
        }
        let size = |change: &Change| change.known.more().abs();
        changes.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.node.cmp(&b.node)));
        ContextDiff { both, own, heads, changes, unclear }
    }

    /// Writes up to `top` changes as text, as a tree: the contexts above them are there, too.
    pub fn write(&self, out: &mut dyn Write, top: usize) -> io::Result<()> {
        for (name, document) in ["A", "B"].into_iter().zip(self.both.documents) {
            writeln!(out, "{name}: {}", counted(document))?;
        }
        if self.changes.is_empty() {
            writeln!(out, "no context is known to have changed")?;
        } else {
            self.write_changes(out, &self.changes[..self.changes.len().min(top)])?;
        }
        let more = self.changes.len().saturating_sub(top);
        if more > 0 {
            writeln!(out, "{more} more change{}; --top shows more", plural(more))?;
        }
        match self.unclear {
            0 => Ok(()),
            unclear => writeln!(
                out,
                "{} more change{} there may be: counts are not known well enough to tell",
                grouped(unclear as u64),
                plural(unclear)
            ),
        }
    }

    fn write_changes(&self, out: &mut dyn Write, changes: &[Change]) -> io::Result<()> {
        let shown = Shown::of(self.both, changes);
        let lines: Vec<(usize, u32)> = shown.preorder().collect();
        let times = |&(index, _): &(usize, u32)| self.own[index].times.map(known::count);
        let counts: Vec<[String; 2]> = lines.iter().map(times).collect();
        let wide = |side: usize| {
            counts.iter().map(|counts| counts[side].chars().count()).fold(9, usize::max)
        };
        let wide = [wide(0), wide(1)];
        let [a, b] = wide;
        writeln!(out, "     A         B    points  {:>a$} → {:<b$}    context", "count", "count")?;
        for (&(index, level), [of_a, of_b]) in lines.iter().zip(&counts) {
            let change = shown.change(index);
            let shares = change.map_or(String::new(), |change| {
                let share = change.known.share;
                // The floor is the most of what is not there.
                let [a, b] = share.map(|share| match share.least > 0.0 {
                    true => known::percent(share),
                    false => known::percent_at_most(share),
                });
                format!("{a:>8}  {b:>8}  {:>7}", points(share))
            });
            let (document, context) = self.both.newest(&self.both.nodes[index]);
            let (name, place) = document.words(context, false);
            let place = if place.is_empty() { place } else { format!("  {place}") };
            let indent = indent(level, 2);
            let branch = if level == 0 { "" } else { "└ " };
            let note = change.map_or(String::new(), |change| self.note(change));
            writeln!(
                out,
                "{shares:>27}  {of_a:>a$} → {:<b$}  {indent}{branch}{name}{place}{note}",
                format!("{of_b}×"),
                b = b + 1
            )?;
        }
        Ok(())
    }

    /// What is said of contexts that changed alike.
    fn note(&self, change: &Change) -> String {
        let only = self.both.nodes[change.node].only().map(|side| {
            let is_whole = self.both.documents[1 - side].mode == ContextMode::All;
            match (is_whole, side) {
                (true, 0) => "in A only",
                (true, _) => "in B only",
                (false, 0) => "not hot in B",
                (false, _) => "not hot in A",
            }
        });
        let below = match change.below {
            0 => None,
            below => Some(format!("with {} below", grouped(below as u64))),
        };
        let notes: Vec<&str> = only.into_iter().chain(below.as_deref()).collect();
        if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
    }

    /// As JSON: all contexts, in preorder; the schema is in `docs/command.md`.
    pub fn json(&self) -> impl Serialize + '_ {
        let documents = self.both.documents;
        let shown = Shown::all(self.both, &self.own);
        let lines: Vec<usize> = shown.preorder().map(|(index, _)| index).collect();
        let mut ids = vec![0; self.both.nodes.len()];
        lines.iter().enumerate().for_each(|(id, &index)| ids[index] = id);
        Json {
            version: 1,
            callers: match documents[0].shape {
                Shape::Callers(k) => Some(k),
                Shape::Tree | Shape::ByFunction => None,
            },
            mode: documents.map(|document| match document.mode {
                ContextMode::All => "cct",
                ContextMode::Hot { .. } => "hcct",
            }),
            activations: documents.map(|document| document.activations),
            elsewhere: documents.map(|document| document.elsewhere),
            floor: documents.map(|document| document.floor),
            changes: self
                .changes
                .iter()
                .map(|change| ChangeRow {
                    context: ids[change.node],
                    below: change.below,
                    share: change.known.share,
                    change: change.known.more(),
                })
                .collect(),
            unclear: self.unclear,
            contexts: Each(move || {
                let row = |(id, &index): (usize, &usize)| self.row(id, index, &ids);
                lines.iter().enumerate().map(row).collect::<Vec<_>>()
            }),
        }
    }

    fn row(&self, id: usize, index: usize, ids: &[usize]) -> Row {
        let node = &self.both.nodes[index];
        let Known { times, share } = self.own[index];
        let (document, context) = self.both.newest(node);
        let called = document.function(context);
        let site = [0, 1].map(|side: usize| {
            let document = self.both.documents[side];
            document.site_row(&document.contexts[node.sides[side]?.row])
        });
        Row {
            id,
            parent: node.parent.map(|parent| ids[parent]),
            function: called.name().into_owned(),
            file: called.file().to_string(),
            line: called.line(),
            within: match node.only() {
                None => "both",
                Some(0) => "a",
                Some(_) => "b",
            },
            site,
            count: times.map(|times| times.least),
            most: times.map(|times| times.most),
            share,
            change: self.own[index].more(),
            alike: self.heads[index].map(|head| ids[head]),
        }
    }
}

/// One line on what a profile has.
fn counted(document: &ContextDocument<'_>) -> String {
    let exact = match document.mode {
        ContextMode::All => String::new(),
        ContextMode::Hot { .. } => {
            format!(", hot ones alone: others had {} at most", grouped(document.floor))
        }
    };
    let elsewhere = match document.elsewhere {
        0 => String::new(),
        elsewhere => format!(", and {} without context", grouped(elsewhere)),
    };
    let activations = document.activations;
    let (number, of_what) = match document.shape {
        Shape::Callers(_) => (document.functions.len(), "of # function"),
        Shape::Tree | Shape::ByFunction => (document.contexts.len(), "in # context"),
    };
    format!(
        "{} activation{} {}{}{exact}{elsewhere}",
        grouped(activations.saturating_sub(document.elsewhere)),
        plural(activations as usize),
        of_what.replace('#', &grouped(number as u64)),
        plural(number),
    )
}

/// Contexts that are shown: those that changed, and all above them.
struct Shown<'c> {
    /// The place in `changes` of each
    changes: Vec<Option<&'c Change>>,
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl<'c> Shown<'c> {
    fn of(both: &Both<'_, '_>, changes: &'c [Change]) -> Self {
        let mut of_node = vec![None; both.nodes.len()];
        let mut size = vec![None; both.nodes.len()];
        for change in changes {
            of_node[change.node] = Some(change);
            size[change.node] = Some(change.known.more().abs());
        }
        Self::sorted(both, of_node, size)
    }

    fn all(both: &Both<'_, '_>, own: &[Known]) -> Self {
        let size = own.iter().map(|known| Some(known.more().abs())).collect();
        Self::sorted(both, vec![None; both.nodes.len()], size)
    }

    /// The contexts with a size and all above them, siblings with the largest below them first.
    fn sorted(
        both: &Both<'_, '_>,
        changes: Vec<Option<&'c Change>>,
        mut size: Vec<Option<f64>>,
    ) -> Self {
        let nodes = &both.nodes;
        for (index, node) in nodes.iter().enumerate().rev() {
            if let (Some(parent), Some(own)) = (node.parent, size[index]) {
                size[parent] = Some(size[parent].map_or(own, |above| above.max(own)));
            }
        }
        let (mut roots, mut children) = (Vec::new(), vec![Vec::new(); nodes.len()]);
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| size[at].is_some()).collect();
        order.sort_by(|&a, &b| {
            let sizes = [a, b].map(|at| size[at].unwrap_or(0.0));
            sizes[1].total_cmp(&sizes[0]).then(a.cmp(&b))
        });
        for index in order {
            match nodes[index].parent {
                None => roots.push(index),
                Some(parent) => children[parent].push(index),
            }
        }
        Shown { changes, roots, children }
    }

    fn change(&self, index: usize) -> Option<&'c Change> {
        self.changes[index]
    }

    /// In preorder, with their levels.
    fn preorder(&self) -> impl Iterator<Item = (usize, u32)> {
        let mut stack: Vec<(usize, u32)> = self.roots.iter().rev().map(|&root| (root, 0)).collect();
        std::iter::from_fn(move || {
            let (index, level) = stack.pop()?;
            stack.extend(self.children[index].iter().rev().map(|&child| (child, level + 1)));
            Some((index, level))
        })
    }
}

#[derive(Serialize)]
struct Json<T> {
    version: u32,
    callers: Option<u32>,
    mode: [&'static str; 2],
    activations: [u64; 2],
    elsewhere: [u64; 2],
    floor: [u64; 2],
    changes: Vec<ChangeRow>,
    unclear: usize,
    contexts: T,
}

#[derive(Serialize)]
struct ChangeRow {
    context: usize,
    below: usize,
    share: [Interval<f64>; 2],
    change: f64,
}

#[derive(Serialize)]
struct Row {
    id: usize,
    parent: Option<usize>,
    function: String,
    file: String,
    line: u32,
    #[serde(rename = "in")]
    within: &'static str,
    site: [Option<SiteRow>; 2],
    count: [u64; 2],
    most: [u64; 2],
    share: [Interval<f64>; 2],
    change: f64,
    alike: Option<usize>,
}
