//! Programs with hundreds of thousands of calling contexts and more, as the thesis has them
//! (5.1.2): parsers, compilers and interpreters on input that is nested at random, and a game that
//! is read ahead.

use crate::corpus::{BASE, PROGRAMS};
use crate::debian::packages;
use crate::origin::Origin;
use crate::program::{Program, Weight, Works};

/// All of them.
pub fn programs() -> Vec<Program> {
    let mut all = vec![GNUGO, TCC];
    all.extend(NESTED.iter().filter_map(|&(name, of, work)| {
        let program = PROGRAMS.iter().find(|program| program.name == of)?;
        Some(Program { name, work, ..*program })
    }));
    all
}

/// Programs of the corpus with other work: a name, that of the program, and the work.
const NESTED: [(&str, &str, Works); 4] = [
    (
        "lua-nested",
        "lua",
        Works {
            tiny: &["{work:nested.lua}", "20"],
            test: &["{work:nested.lua}", "400"],
            bench: &["{work:nested.lua}", "3000"],
        },
    ),
    (
        "sqlite-nested",
        "sqlite",
        Works { tiny: &["{sql:10}", "1"], test: &["{sql:400}", "1"], bench: &["{sql:6000}", "1"] },
    ),
    (
        "miniperl-nested",
        "miniperl",
        Works {
            tiny: &["{work:nested.pl}", "10"],
            test: &["{work:nested.pl}", "600"],
            bench: &["{work:nested.pl}", "8000"],
        },
    ),
    (
        "quickjs-nested",
        "quickjs",
        Works {
            tiny: &["{work:nested.js}", "10"],
            test: &["{work:nested.js}", "200"],
            bench: &["{work:nested.js}", "2500"],
        },
    ),
];

/// Arguments of the Tiny C Compiler, with the files.
macro_rules! compile {
    ($($file:expr),*) => {
        &[
            "-B",
            "{debian:tcc}",
            "-I",
            "{debian:tcc/include}",
            "-I",
            // The C library's, where Debian has them
            "/usr/include/x86_64-linux-gnu",
            "-DONE_SOURCE=1",
            "-DTCC_GITHASH=\"tcc\"",
            "-DSQLITE_THREADSAFE=0",
            "-DSQLITE_OMIT_LOAD_EXTENSION",
            "-c",
            $($file),*
        ]
    };
}

const SQLITE: &str = "{source:libsqlite3-sys/sqlite3/sqlite3.c}";

/// The Tiny C Compiler, which compiles SQLite: in the largest work again and again, since with more
/// activations smaller shares of them are whole numbers.
const TCC: Program = Program {
    name: "tcc",
    weight: Weight::Heavy,
    origin: Origin::Debian(packages::TCC, &[]),
    sources: &["tcc.c"],
    include: &["."],
    flags: &["-w", "-DONE_SOURCE=1", "-DTCC_GITHASH=\"tcc\""],
    link: &["-lm", "-ldl", "-pthread"],
    work: Works {
        tiny: compile!("{debian:tcc/tcc.c}"),
        test: compile!(SQLITE),
        bench: compile!(
            SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE, SQLITE,
            SQLITE, SQLITE, SQLITE, SQLITE, SQLITE
        ),
    },
    ..BASE
};

/// GNU Go, as in SPEC CPU2006 (gobmk), which plays against itself.
const GNUGO: Program = Program {
    name: "gnugo",
    weight: Weight::Heavy,
    origin: Origin::Debian(packages::GNUGO, &[]),
    sources: &[
        "engine/*.c",
        "sgf/sgf_utils.c",
        "sgf/sgfnode.c",
        "sgf/sgftree.c",
        "utils/*.c",
        "interface/*.c",
        "patterns/*.c",
    ],
    // Programs that make the patterns
    without: &[
        "compress_fuseki.c",
        "dfa.c",
        "extract_fuseki.c",
        "joseki.c",
        "mkeyes.c",
        "mkmcpat.c",
        "mkpat.c",
        "uncompress_fuseki.c",
    ],
    include: &[".", "engine", "sgf", "utils", "patterns"],
    flags: &["-w", "-fcommon", "-fwrapv", "-fwrapv-pointer", "-DHAVE_CONFIG_H"],
    link: &["-lm"],
    work: Works {
        tiny: &["--mode", "gtp", "--seed", "1", "--gtp-input", "{work:tiny.gtp}"],
        test: &["--mode", "gtp", "--seed", "1", "--gtp-input", "{work:short.gtp}"],
        bench: &["--mode", "gtp", "--seed", "1", "--gtp-input", "{work:game.gtp}"],
    },
    ..BASE
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_there_and_no_name_is_one_of_the_corpus() {
        let all = programs();
        assert_eq!(all.len(), 2 + NESTED.len());
        for program in all {
            assert!(PROGRAMS.iter().all(|other| other.name != program.name), "{}", program.name);
        }
    }
}
