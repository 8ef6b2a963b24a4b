//! The control flow graph and the temporal operators (Def. 4.8 to 4.10).
//!
//! Def. 4.8 makes nodes of instructions; here they are points, or two `skip`s would be one node.
//!
//! A and E quantify over *complete* paths, which are finite and end where no edge leads on (Def.
//! 4.9). So a path that never ends is no witness and no objection: both operators are least
//! fixpoints, of the points with a complete path that does, or does not, satisfy φ U ψ. Where no
//! complete path begins, every A holds and no E does; [`crate::assumptions`] says when that
//! matters.

use crate::language::{Instr, Point, Program};

/// A set of points: what a formula says at point l is at index l; index 0 is not used.
pub type Points = Vec<bool>;

/// A control flow graph, or the reverse of one.
pub struct Graph {
    /// For each point where its edges lead
    next: Vec<Vec<Point>>,
    /// The points where edges lead from, for the reverse
    previous: Vec<Vec<Point>>,
    /// The points from which a complete path begins
    ending: Points,
}

impl Graph {
    /// The control flow graph (Def. 4.8), and the reverse control flow graph of Def. 4.10.
    pub fn both(program: &Program) -> (Graph, Graph) {
        let mut next = vec![Vec::new(); program.len() + 1];
        let mut previous = next.clone();
        for (l, instruction) in program.iter() {
            let falls = !matches!(instruction, Instr::Abort | Instr::Goto(_));
            let jumps = match instruction {
                Instr::If(_, m) | Instr::Goto(m) => Some(*m),
                _ => None,
            };
            for to in falls.then_some(l + 1).into_iter().chain(jumps) {
                if program.points().contains(&to) && !next[l].contains(&to) {
                    next[l].push(to);
                    previous[to].push(l);
                }
            }
        }
        (Graph::new(next.clone(), previous.clone()), Graph::new(previous, next))
    }

    fn new(next: Vec<Vec<Point>>, previous: Vec<Vec<Point>>) -> Graph {
        let mut graph = Graph { next, previous, ending: Points::new() };
        let sinks = graph.points(|l| graph.next[l].is_empty());
        graph.ending = graph.leading_to(sinks, |_| true);
        graph
    }

    /// The points where a property holds.
    pub fn points(&self, holds: impl Fn(Point) -> bool) -> Points {
        (0..self.next.len()).map(|l| l > 0 && holds(l)).collect()
    }

    pub fn next(&self, l: Point) -> &[Point] {
        &self.next[l]
    }

    /// True if a complete path begins at the point.
    pub fn can_end(&self, l: Point) -> bool {
        self.ending[l]
    }

    /// AX(φ)
    pub fn ax(&self, holds: &Points) -> Points {
        self.points(|l| self.next[l].iter().all(|&m| holds[m]))
    }

    /// EX(φ)
    pub fn ex(&self, holds: &Points) -> Points {
        self.points(|l| self.next[l].iter().any(|&m| holds[m]))
    }

    /// A(φ U ψ): no complete path comes to its end, or to where φ does not hold, before ψ does.
    pub fn a_until(&self, holds: &Points, until: &Points) -> Points {
        let broken = |l: Point| (!holds[l] && self.ending[l]) || self.next[l].is_empty();
        let fails = self.points(|l| !until[l] && broken(l));
        let fails = self.leading_to(fails, |l| !until[l]);
        self.points(|l| !fails[l])
    }

    /// E(φ U ψ): some complete path comes to where ψ holds, through points where φ holds.
    pub fn e_until(&self, holds: &Points, until: &Points) -> Points {
        let found = self.points(|l| until[l] && self.ending[l]);
        self.leading_to(found, |l| holds[l])
    }

    /// The least set with the given points, and each point from which an edge leads into the set
    /// and that may be passed through.
    fn leading_to(&self, mut set: Points, through: impl Fn(Point) -> bool) -> Points {
        let mut work: Vec<Point> = (1..set.len()).filter(|&l| set[l]).collect();
        while let Some(m) = work.pop() {
            for &l in &self.previous[m] {
                if !set[l] && through(l) {
                    set[l] = true;
                    work.push(l);
                }
            }
        }
        set
    }
}

/// ¬φ
pub fn not(holds: &Points) -> Points {
    holds.iter().map(|h| !h).collect()
}

/// φ ∧ ψ
pub fn and(one: &Points, other: &Points) -> Points {
    one.iter().zip(other).map(|(a, b)| *a && *b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checking::check;
    use proptest::prelude::*;

    /// All complete paths from a point that come to no point a third time. If some complete path
    /// is a witness, one of these is: one simple path to where the formula is decided, one from
    /// there to a sink.
    fn complete_paths(graph: &Graph, from: Point) -> Vec<Vec<Point>> {
        let mut found = Vec::new();
        let mut work = vec![vec![from]];
        while let Some(path) = work.pop() {
            let last = path[path.len() - 1];
            if graph.next(last).is_empty() {
                found.push(path.clone());
            }
            for &to in graph.next(last) {
                if path.iter().filter(|&&l| l == to).count() < 2 {
                    work.push([path.as_slice(), &[to]].concat());
                }
            }
        }
        found
    }

    /// Until(π, p, φ, ψ)
    fn until(path: &[Point], holds: &Points, until: &Points) -> bool {
        let j = path.iter().position(|&l| until[l]);
        j.is_some_and(|j| path[..j].iter().all(|&l| holds[l]))
    }

    /// A program without variables whose graph is given by a number for each point: jumps may make
    /// parts of it unreachable, or without an end.
    fn graph_of(shape: &[u8]) -> Program {
        let last = shape.len() + 2;
        let inner = shape.iter().map(|byte| {
            let target = 1 + usize::from(*byte) / 4 % last;
            match byte % 4 {
                0 => Instr::Skip,
                1 => Instr::Goto(target),
                2 => Instr::If(crate::language::Expr::Num(1), target),
                _ if byte / 4 % 4 == 0 => Instr::Abort,
                _ => Instr::If(crate::language::Expr::Num(0), target),
            }
        });
        let ends = [Instr::In(Vec::new()), Instr::Out(Vec::new())];
        let [start, end] = ends;
        let all: Vec<Instr> = std::iter::once(start).chain(inner).chain([end]).collect();
        Program::new(all).expect("in, others, out")
    }

    #[test]
    fn the_operators_quantify_over_complete_paths() {
        let shapes = prop::collection::vec(any::<u8>(), 0..5);
        let sets = (any::<u8>(), any::<u8>());
        check(600, (shapes, sets), |(shape, (one, other))| {
            let (forward, backward) = Graph::both(&graph_of(&shape));
            for graph in [forward, backward] {
                let holds = graph.points(|l| one >> l & 1 == 1);
                let goal = graph.points(|l| other >> l & 1 == 1);
                let paths: Vec<_> =
                    (0..graph.next.len()).map(|l| complete_paths(&graph, l.max(1))).collect();
                let ok = |p: &Vec<Point>| until(p, &holds, &goal);
                let every = graph.points(|l| paths[l].iter().all(ok));
                let some = graph.points(|l| paths[l].iter().any(ok));
                prop_assert_eq!(graph.a_until(&holds, &goal), every);
                prop_assert_eq!(graph.e_until(&holds, &goal), some);
                prop_assert_eq!(&graph.ending, &graph.points(|l| !paths[l].is_empty()));
                // The duals.
                prop_assert_eq!(
                    graph.ax(&holds)[1..].to_vec(),
                    not(&graph.ex(&not(&holds)))[1..].to_vec()
                );
            }
            Ok(())
        });
    }
}
