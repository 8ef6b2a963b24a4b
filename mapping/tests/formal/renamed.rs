//! build_comp and reconstruct (Algorithms 8 and 9), repaired: each definition that χ repeats gets a
//! variable of its own, as SSA form would give it, so that no value is overwritten. `x@3` is the
//! value that x got at point 3. At the end the wanted variables are assigned, which are not live at
//! the origin, so that nothing that was read is overwritten before.
//!
//! Why the value is the right one, in a loop too. Say urdef(x, l̂) holds at l″, which is l′ or a
//! definition that χ repeats. If every point is on a path from `in` (see [`crate::assumptions`]),
//! then every path to l″ passes l̂, and by induction every path to l′ passes l″. Between the last
//! l″ and l′ no l̂ is executed: from there the path would reach l′ without l″, and so would the
//! path from `in` to l̂ that it can be put behind. So "the value just before l′" is the one of the
//! last execution, for all repeated definitions together, and they may be repeated in order.

use crate::language::{Expr, Instr, Point, Program, Var};
use crate::osr_trans::{Known, compensation};
use std::collections::BTreeSet;

/// χ for an OSR from a point of π to a point of π′; none if a value cannot be reconstructed.
pub fn build_comp(from: Known<'_>, l: Point, to: Known<'_>, landing: Point) -> Option<Program> {
    let (live, wanted) = (from.facts.live(l), to.facts.live(landing));
    let mut search = Reconstruct { live, to, landing, visited: BTreeSet::new(), code: Vec::new() };
    let mut results = Vec::new();
    for &x in wanted.difference(live) {
        results.push((x, Expr::Var(search.reconstruct(x, landing)?)));
    }
    search.code.extend(results);
    compensation(live, search.code, wanted)
}

struct Reconstruct<'a> {
    /// live(π, l)
    live: &'a BTreeSet<Var>,
    to: Known<'a>,
    /// l′
    landing: Point,
    visited: BTreeSet<Point>,
    code: Vec<(Var, Expr)>,
}

impl Reconstruct<'_> {
    /// The variable that holds, behind the code, the value that x would have had at a point just
    /// before the landing; none for `throw undef`.
    fn reconstruct(&mut self, x: Var, at: Point) -> Option<Var> {
        let definition = self.to.facts.urdef(at, x)?;
        if self.is_available(x, definition) {
            return Some(x);
        }
        let Some(Instr::Assign(_, e)) = self.to.program.get(definition) else {
            return None;
        };
        let result = x.defined_at(definition);
        if self.visited.insert(definition) {
            let mut names = Vec::new();
            for y in e.vars() {
                names.push((y, self.reconstruct(y, definition)?));
            }
            let name = |y| names.iter().find(|(z, _)| *z == y).map_or(y, |(_, name)| *name);
            self.code.push((result, e.replace(&|y| Expr::Var(name(y)))));
        }
        Some(result)
    }

    /// Line 4: the definition made the value that x has at the origin too.
    fn is_available(&self, x: Var, definition: Point) -> bool {
        self.to.facts.is_urdef(self.landing, x, definition)
            && self.to.facts.live(self.landing).contains(&x)
            && self.live.contains(&x)
    }
}
