//! A function's table, joined with what was counted in it.

use crate::format::names::has_in_name;
use midflight_profile::format::FunctionProfile;
use midflight_profile::table::{FunctionTable, Loc, Path, PathDecoder, PathEnd};
use rustc_hash::FxHashMap;

/// A function with what was counted in it.
pub struct Function<'a> {
    /// Its table
    pub table: &'a FunctionTable,
    /// Turns IDs into paths
    pub decoder: PathDecoder,
    /// What was counted; none if it never ran
    pub profile: Option<&'a FunctionProfile>,
}

impl Function<'_> {
    /// Activations begun.
    pub fn entries(&self) -> u64 {
        self.profile.map_or(0, |p| p.totals.entries)
    }

    /// The path of an ID.
    pub fn path(&self, id: u32) -> Option<Path> {
        self.decoder.decode(id)
    }

    /// k of the function's profile.
    pub fn k(&self) -> u32 {
        self.table.k
    }

    /// Paths that were counted at truncated windows: with fewer paths before them than k tells.
    pub fn truncated(&self) -> u64 {
        // All counts of a function together fit.
        self.profile.map_or(0, |p| u64::try_from(p.truncated.total()).unwrap_or(u64::MAX))
    }

    /// Paths that were not counted for want of memory.
    pub fn lost(&self) -> u64 {
        self.profile.map_or(0, |p| p.totals.lost)
    }

    /// Instructions on a path.
    pub fn instructions(&self, path: &Path) -> u64 {
        self.size_of(path.blocks.iter().copied()).0
    }

    /// The instructions in some blocks, and whether one of them calls a function.
    pub fn size_of(&self, blocks: impl IntoIterator<Item = u32>) -> (u64, bool) {
        let blocks = blocks.into_iter().filter_map(|b| self.table.blocks.get(b as usize));
        blocks.fold((0, false), |(size, calls), block| {
            (size + u64::from(block.instructions), calls | block.calls)
        })
    }

    /// How often each acyclic path was taken, by ID, ascending.
    pub fn acyclic(&self) -> Vec<(u32, u64)> {
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        if let Some(FunctionProfile { forest, .. }) = self.profile {
            // Each event is counted at exactly one node, so the sum over a label is the label's.
            for node in forest.ids() {
                *counts.entry(forest.label(node)).or_default() += forest.count(node);
            }
        }
        let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.sort_unstable();
        counts
    }

    /// The acyclic paths that were taken, with their IDs and counts.
    pub fn taken(&self) -> impl Iterator<Item = (u32, u64, Path)> {
        self.acyclic().into_iter().filter_map(|(id, count)| Some((id, count, self.path(id)?)))
    }

    /// Activations that ended: paths that end at an exit.
    pub fn completed(&self) -> u64 {
        let ends = self.taken().filter(|(_, _, path)| matches!(path.end, PathEnd::Exit(_)));
        ends.map(|(_, count, _)| count).sum()
    }

    /// Activations that began and did not end. Behind a second return of `setjmp` more may end than
    /// began; none is interrupted then.
    pub fn interrupted(&self) -> u64 {
        self.entries().saturating_sub(self.completed())
    }

    /// True if its name, or its demangled name, contains this.
    pub fn is_named(&self, part: &str) -> bool {
        has_in_name(&self.table.name, part)
    }

    /// The first line of a block in the function's own file; 0 if it has none.
    pub fn line_of(&self, block: u32) -> u32 {
        self.locs_of(block).first().map_or(0, |loc| loc.outer_line)
    }

    /// The last line of a block in the function's own file, that of its branch; 0 if it has none.
    pub fn last_line_of(&self, block: u32) -> u32 {
        self.locs_of(block).last().map_or(0, |loc| loc.outer_line)
    }

    fn locs_of(&self, block: u32) -> &[Loc] {
        self.table.blocks.get(block as usize).map_or(&[], |block| &block.locs)
    }

    /// The locations of some blocks, in order.
    pub fn locs(&self, blocks: &[u32]) -> impl Iterator<Item = &Loc> {
        blocks.iter().flat_map(|&block| self.locs_of(block))
    }

    /// The lines of a path in the function's own file, in order, runs of the same line once.
    /// Inlined code has the line of its outermost call.
    pub fn lines(&self, path: &Path) -> Vec<u32> {
        let mut lines: Vec<u32> = self.locs(&path.blocks).map(|loc| loc.outer_line).collect();
        lines.dedup();
        lines
    }

    /// The file that the function is declared in, as debug information names it.
    pub fn file(&self) -> &str {
        self.table.files.get(self.table.file as usize).map_or("", String::as_str)
    }
}
