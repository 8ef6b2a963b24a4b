//! A program that does nothing but move between two continuations, and a bare loop of tail calls
//! beside it.
//!
//! The program is made for a number of live values, half of them integers and half doubles. Its one
//! loop changes one of each and carries all of them; with a point at the loop's head that always
//! fires, and points in the continuations too, each iteration is a transition. The bare loop does
//! the same by two functions that call each other by `musttail`, with the calling convention that
//! continuations have.

use crate::error::{Result, write};
use crate::layout::Layout;
use crate::osr::compile::Compile;
use crate::process::Job;
use crate::variant::Stage;
use std::path::{Path, PathBuf};

/// What lives at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Integers, the counter included, and doubles
    pub values: u32,
    /// An array in the frame lives, too.
    pub alloca: bool,
}

/// Those that are tested and measured. The paper's programs have up to 15 values.
pub const SHAPES: [Shape; 6] = [
    Shape { values: 3, alloca: false },
    Shape { values: 15, alloca: false },
    Shape { values: 24, alloca: false },
    Shape { values: 3, alloca: true },
    Shape { values: 15, alloca: true },
    Shape { values: 24, alloca: true },
];

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values{}", self.values, if self.alloca { " and an alloca" } else { "" })
    }
}

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Nothing: the plain loop
    None,
    /// Transitions between two continuations
    Transitions,
    /// Tail calls between two functions
    TailCalls,
}

impl Shape {
    /// Integers besides the counter
    fn integers(self) -> u32 {
        (self.values - 1) / 2
    }

    fn doubles(self) -> u32 {
        self.values - 1 - self.integers()
    }

    /// `, u64 i0, …, double d0, …`
    fn parameters(self) -> String {
        let integers = (0..self.integers()).map(|n| format!(", u64 i{n}"));
        integers.chain((0..self.doubles()).map(|n| format!(", double d{n}"))).collect()
    }

    fn arguments(self) -> String {
        let integers = (0..self.integers()).map(|n| format!(", i{n}"));
        integers.chain((0..self.doubles()).map(|n| format!(", d{n}"))).collect()
    }

    /// What one iteration does: as little as the optimizer cannot do at once for all.
    fn step(self) -> String {
        let array = if self.alloca { "array[n & 3] += i0; seen(array); " } else { "" };
        format!("{array}i0 = (i0 ^ n) + 1; d0 = -d0;")
    }

    /// A number that depends on all values.
    fn result(self) -> String {
        let integers = (0..self.integers()).map(|n| format!(" + i{n} * {}", 2 * n + 3));
        let doubles = (0..self.doubles()).map(|n| format!(" + (u64)(d{n} * {})", 16 * (n + 1)));
        let array = if self.alloca { " + array[0] + 3 * array[1] + array[3]" } else { "" };
        format!("n{}{array}", integers.chain(doubles).collect::<String>())
    }

    /// The program, in C.
    pub fn source(self, moves: Moves) -> String {
        let (parameters, arguments) = (self.parameters(), self.arguments());
        let (step, result) = (self.step(), self.result());
        let initial: String = (0..self.integers())
            .map(|n| format!(", start + {n}"))
            .chain((0..self.doubles()).map(|n| format!(", start * 0.25 + {n}")))
            .collect();
        let declared = if self.alloca { "u64 array[4] = {1, 2, 3, 4}; seen(array);" } else { "" };
        let body = if moves == Moves::TailCalls {
            let (extra, pass) = if self.alloca { (", u64 *array", ", array") } else { ("", "") };
            let function = |name: &str, other: &str| {
                format!(
                    "__attribute__((preserve_none, noinline)) static u64 {name}(u64 n{parameters}{extra}) {{\n    \
                     if (!n) return {result};\n    {step}\n    n--;\n    \
                     __attribute__((musttail)) return {other}(n{arguments}{pass});\n}}\n"
                )
            };
            format!(
                "__attribute__((preserve_none)) static u64 pong(u64 n{parameters}{extra});\n{}{}\
                 __attribute__((noinline)) static u64 run(u64 n{parameters}) {{\n    {declared}\n    \
                 return ping(n{arguments}{pass});\n}}\n",
                function("ping", "pong"),
                function("pong", "ping"),
            )
        } else {
            format!(
                "__attribute__((noinline)) static u64 run(u64 n{parameters}) {{\n    {declared}\n\
                 #pragma clang loop unroll(disable) vectorize(disable)\n    \
                 while (n) {{ {step} n--; }}\n    return {result};\n}}\n"
            )
        };
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\ntypedef unsigned long long u64;\n\
             static inline __attribute__((always_inline)) void seen(u64 *array) \
             {{ __asm__ volatile(\"\" : : \"r\"(array) : \"memory\"); }}\n{body}\
             int main(int argc, char **argv) {{\n    \
             u64 n = argc > 1 ? strtoull(argv[1], 0, 10) : 1000, start = argc;\n    \
             printf(\"%llx\\n\", run(n{initial}));\n}}\n"
        )
    }
}

/// Builds the program of a shape.
///
/// # Errors
/// If it does not compile.
pub fn build(
    layout: &Layout,
    llvm: u32,
    opt: u32,
    shape: Shape,
    moves: Moves,
    folder: &Path,
) -> Result<PathBuf> {
    let name = format!("{moves:?}-{llvm}-O{opt}-{}-{}", shape.values, shape.alloca).to_lowercase();
    let source = folder.join(format!("{name}.c"));
    write(&source, shape.source(moves).as_bytes())?;
    let executable = folder.join(name);
    // Earlier, the optimizer would make one function of the two continuations.
    let stage = if opt == 0 { Stage::Early } else { Stage::Late };
    let points = (moves == Moves::Transitions).then(|| {
        format!("osr-point;where=loop-header;when=always;form=single;chain;verify;stage={stage}")
    });
    let compile = Compile { llvm, opt, points, flags: vec!["-w".to_string()] };
    compile.run(layout, &[source], &executable)?;
    Ok(executable)
}

/// Runs a program for so many iterations in a stack of 256 KiB.
pub fn job(layout: &Layout, executable: &Path, iterations: u64) -> Job {
    layout.machine.job_with_stack(executable, 256).arg(iterations.to_string()).limit(600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_as_many_values_as_they_say() {
        for shape in SHAPES {
            let carried = shape.parameters().matches(',').count() as u32;
            assert_eq!(carried + 1, shape.values);
            assert!(shape.integers().abs_diff(shape.doubles()) <= 1);
        }
    }
}
