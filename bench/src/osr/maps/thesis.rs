//! What the thesis reports (5.4): Tables 5.6 to 5.8.

/// Mean and maximum.
pub type Size = (f64, usize);

/// What is said of a benchmark's hottest function.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The benchmark
    pub name: &'static str,
    /// Instructions of base and of opt
    pub instructions: [usize; 2],
    /// Phis of base and of opt
    pub phis: [usize; 2],
    /// Added, deleted, hoisted, sunk; replaced by an instruction, a constant, an argument
    pub actions: [usize; 7],
    /// Base to opt: |χ| of `live-e`, `alias` and `avail`, then |K|
    pub forth: [Size; 4],
    /// Opt to base: |χ| of `live-e` and `avail`, then |K|
    pub back: [Size; 3],
}

const fn row(
    name: &'static str,
    [base, base_phis, opt, opt_phis]: [usize; 4],
    actions: [usize; 7],
    forth: [Size; 4],
    back: [Size; 3],
) -> Row {
    Row { name, instructions: [base, opt], phis: [base_phis, opt_phis], actions, forth, back }
}

/// All of them, in the order of the thesis.
pub const ROWS: [Row; 12] = [
    row(
        "bzip2",
        [657, 32, 596, 44],
        [16, 77, 12, 3, 71, 0, 2],
        [(4.29, 14), (4.3, 14), (4.73, 13), (3.6, 8)],
        [(1.55, 4), (1.77, 4), (1.47, 4)],
    ),
    row(
        "h264ref",
        [671, 28, 576, 36],
        [9, 105, 4, 21, 102, 0, 0],
        [(1.94, 2), (2.9, 5), (3.37, 5), (1.02, 2)],
        [(4.46, 9), (2.82, 9), (1.45, 7)],
    ),
    row(
        "hmmer",
        [568, 6, 383, 8],
        [2, 187, 13, 1, 187, 0, 0],
        [(3.3, 5), (16.11, 23), (16.63, 24), (4.02, 7)],
        [(1.0, 1), (1.0, 1), (1.02, 2)],
    ),
    row(
        "namd",
        [1737, 159, 1636, 224],
        [68, 169, 36, 73, 145, 17, 0],
        [(18.48, 28), (18.61, 28), (17.82, 28), (3.38, 6)],
        [(1.5, 2), (5.93, 15), (4.74, 18)],
    ),
    row(
        "perlbench",
        [5574, 305, 5001, 355],
        [86, 667, 96, 28, 627, 0, 0],
        [(46.29, 57), (46.12, 57), (45.82, 57), (1.24, 12)],
        [(4.09, 12), (4.22, 12), (1.37, 11)],
    ),
    row(
        "sjeng",
        [1940, 93, 1540, 105],
        [13, 413, 20, 34, 412, 1, 0],
        [(9.51, 21), (9.72, 21), (18.52, 32), (4.2, 12)],
        [(1.29, 2), (1.67, 11), (4.09, 14)],
    ),
    row(
        "soplex",
        [195, 2, 154, 2],
        [0, 41, 2, 4, 41, 0, 0],
        [(5.08, 7), (5.02, 7), (4.38, 7), (2.34, 4)],
        [(3.3, 4), (3.3, 4), (1.0, 1)],
    ),
    row(
        "bullet",
        [587, 24, 553, 42],
        [26, 60, 37, 3, 51, 1, 0],
        [(16.79, 46), (16.69, 46), (15.93, 46), (6.15, 17)],
        [(1.0, 1), (1.26, 3), (1.14, 2)],
    ),
    row(
        "dcraw",
        [590, 37, 545, 49],
        [13, 58, 25, 6, 58, 0, 0],
        [(7.72, 15), (7.6, 15), (7.32, 15), (1.97, 7)],
        [(1.68, 2), (3.84, 6), (4.06, 8)],
    ),
    row(
        "ffmpeg",
        [618, 34, 462, 40],
        [11, 168, 9, 17, 52, 51, 0],
        [(5.22, 8), (5.05, 8), (4.03, 8), (1.85, 3)],
        [(1.94, 5), (1.95, 6), (1.08, 4)],
    ),
    row(
        "fhourstones",
        [288, 29, 284, 39],
        [14, 20, 3, 0, 14, 2, 0],
        [(4.64, 6), (4.5, 6), (4.98, 6), (1.7, 2)],
        [(0.0, 0), (1.12, 4), (1.42, 4)],
    ),
    row(
        "vp8",
        [334, 41, 299, 60],
        [19, 54, 17, 34, 54, 0, 0],
        [(9.6, 16), (10.51, 16), (10.13, 17), (2.35, 6)],
        [(5.74, 13), (5.51, 13), (1.18, 5)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::functions::FUNCTIONS;

    #[test]
    fn each_function_has_its_row() {
        for (hot, row) in FUNCTIONS.iter().zip(&ROWS) {
            assert_eq!(hot.name, row.name);
            let size = hot.thesis_size;
            assert_eq!((size.instructions, size.phis), (row.instructions[0], row.phis[0]));
        }
    }

    /// The last rows of Tables 5.7 and 5.8.
    #[test]
    fn rows_have_the_means_of_the_thesis() {
        let mean = |of: &dyn Fn(&Row) -> f64| ROWS.iter().map(of).sum::<f64>() / 12.0;
        let means = [
            (mean(&|r| r.forth[0].0), 11.07),
            (mean(&|r| r.forth[1].0), 12.26),
            (mean(&|r| r.forth[2].0), 12.81),
            (mean(&|r| r.forth[3].0), 2.82),
            (mean(&|r| r.forth[2].1 as f64), 21.5),
            (mean(&|r| r.forth[3].1 as f64), 7.17),
            (mean(&|r| r.back[0].0), 2.30),
            (mean(&|r| r.back[1].0), 2.87),
            (mean(&|r| r.back[2].0), 2.0),
            (mean(&|r| r.back[1].1 as f64), 7.33),
            (mean(&|r| r.back[2].1 as f64), 6.67),
        ];
        for (found, said) in means {
            assert!((found - said).abs() < 0.01, "{found} is not {said}");
        }
    }
}
