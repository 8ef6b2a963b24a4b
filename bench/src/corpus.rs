//! The programs, as data.
//!
//! Sources come from packages that are pinned in `bench/corpus/Cargo.lock`, and from Debian. The
//! programs of the thesis's 5.3 (the "shootout"), an alpha-beta search, an LU factorization and a
//! suffix sort are the project's own.

use crate::debian::packages::{BIOSQUID, HMMER2, PERL};
use crate::origin::Origin;
use crate::program::{Program, Weight, Works};

/// What most programs have in common.
pub(crate) const BASE: Program = Program {
    name: "",
    weight: Weight::Light,
    origin: Origin::Own,
    sources: &[],
    without: &[],
    driver: None,
    include: &[],
    flags: &["-w"],
    link: &[],
    work: Works { tiny: &[], test: &[], bench: &[] },
};

const fn shootout(name: &'static str, sources: &'static [&'static str], work: Works) -> Program {
    Program { name, sources, link: &["-lm"], work, ..BASE }
}

/// All programs, light ones first.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "bzip2",
        origin: Origin::Package("bzip2-sys", "bzip2-1.0.8"),
        sources: &[
            "blocksort.c",
            "bzip2.c",
            "bzlib.c",
            "compress.c",
            "crctable.c",
            "decompress.c",
            "huffman.c",
            "randtable.c",
        ],
        flags: &["-w", "-D_FILE_OFFSET_BITS=64"],
        work: Works {
            tiny: &["-9", "-c", "{text:3000}"],
            test: &["-9", "-c", "{text:150000}"],
            bench: &["-9", "-c", "{text:9000000}"],
        },
        ..BASE
    },
    // Its hash seed and a cache keyed by addresses would make counts change from run to run.
    Program {
        name: "lua",
        origin: Origin::Package("lua-src", "lua-5.4.9"),
        sources: &["*.c"],
        driver: Some("lua.c"),
        flags: &[
            "-w",
            "-DLUA_USE_POSIX",
            "-Dluai_makeseed(L)=0",
            "-DSTRCACHE_N=1",
            "-DSTRCACHE_M=2",
        ],
        link: &["-lm"],
        work: Works {
            tiny: &["{work:tiny.lua}"],
            test: &["{work:mixed.lua}", "1"],
            bench: &["{work:mixed.lua}", "60"],
        },
        ..BASE
    },
    Program {
        name: "zlib",
        origin: Origin::Package("libz-sys", "src/zlib"),
        sources: &["*.c"],
        driver: Some("zlib.c"),
        flags: &["-w", "-D_LARGEFILE64_SOURCE=1", "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"],
        work: Works {
            tiny: &["{text:8000}"],
            test: &["{text:600000}"],
            bench: &["{text:9000000}"],
        },
        ..BASE
    },
    Program {
        name: "lz4",
        origin: Origin::Package("lz4-sys", "liblz4"),
        sources: &["programs/*.c", "lib/*.c"],
        include: &["lib", "programs"],
        flags: &["-w", "-DXXH_NAMESPACE=LZ4_"],
        work: Works {
            tiny: &["-9", "-c", "{text:6000}"],
            test: &["-9", "-c", "{text:600000}"],
            bench: &["-12", "-c", "{text:9000000}"],
        },
        ..BASE
    },
    Program {
        name: "expat",
        origin: Origin::Package("expat-sys", "expat/lib"),
        sources: &["xmlparse.c", "xmlrole.c", "xmltok.c"],
        driver: Some("expat.c"),
        flags: &[
            "-w",
            "-DHAVE_MEMMOVE",
            "-DXML_NS",
            "-DXML_DTD",
            "-DXML_CONTEXT_BYTES=1024",
            "-DBYTEORDER=1234",
        ],
        work: Works { tiny: &["{xml:60}"], test: &["{xml:20000}"], bench: &["{xml:900000}"] },
        ..BASE
    },
    Program {
        name: "xz",
        origin: Origin::Package("lzma-sys", "."),
        sources: &[
            "xz-5.2/src/liblzma/check/*.c",
            "xz-5.2/src/liblzma/common/*.c",
            "xz-5.2/src/liblzma/delta/*.c",
            "xz-5.2/src/liblzma/lz/*.c",
            "xz-5.2/src/liblzma/lzma/*.c",
            "xz-5.2/src/liblzma/rangecoder/*.c",
            "xz-5.2/src/liblzma/simple/*.c",
            "xz-5.2/src/common/tuklib_cpucores.c",
            "xz-5.2/src/common/tuklib_physmem.c",
        ],
        without: &["crc32_small.c", "crc64_small.c", "*tablegen.c"],
        driver: Some("xz.c"),
        include: &[
            ".",
            "xz-5.2/src/liblzma/api",
            "xz-5.2/src/liblzma/lzma",
            "xz-5.2/src/liblzma/lz",
            "xz-5.2/src/liblzma/check",
            "xz-5.2/src/liblzma/simple",
            "xz-5.2/src/liblzma/delta",
            "xz-5.2/src/liblzma/common",
            "xz-5.2/src/liblzma/rangecoder",
            "xz-5.2/src/common",
        ],
        flags: &["-w", "-DHAVE_CONFIG_H=1", "-pthread"],
        link: &["-pthread"],
        work: Works {
            tiny: &["{text:2000}"],
            test: &["{text:100000}"],
            bench: &["{text:5000000}"],
        },
        ..BASE
    },
    Program {
        name: "tree-sitter",
        origin: Origin::Package("tree-sitter", "."),
        sources: &["src/lib.c", "tree-sitter-c:src/parser.c"],
        driver: Some("tree-sitter.c"),
        include: &["include", "src"],
        flags: &["-w", "-std=gnu11", "-D_DEFAULT_SOURCE"],
        work: Works {
            tiny: &["{text:3000}"],
            test: &["{text:200000}"],
            bench: &["{text:9000000}"],
        },
        ..BASE
    },
    shootout(
        "binary-trees",
        &["binary-trees.c"],
        Works { tiny: &["5"], test: &["12"], bench: &["18"] },
    ),
    shootout("fannkuch", &["fannkuch.c"], Works { tiny: &["6"], test: &["9"], bench: &["10"] }),
    shootout(
        "fasta",
        &["fasta.c"],
        Works { tiny: &["500"], test: &["100000"], bench: &["8000000"] },
    ),
    shootout(
        "fasta-redux",
        &["fasta-redux.c"],
        Works { tiny: &["500"], test: &["100000"], bench: &["16000000"] },
    ),
    shootout(
        "mandelbrot",
        &["mandelbrot.c"],
        Works { tiny: &["40"], test: &["400"], bench: &["4000"] },
    ),
    shootout(
        "n-body",
        &["n-body.c"],
        Works { tiny: &["500"], test: &["100000"], bench: &["10000000"] },
    ),
    shootout(
        "reverse-complement",
        &["reverse-complement.c"],
        Works { tiny: &["3000"], test: &["400000"], bench: &["40000000"] },
    ),
    shootout(
        "spectral-norm",
        &["spectral-norm.c"],
        Works { tiny: &["15"], test: &["150"], bench: &["2500"] },
    ),
    shootout("lu", &["lu.c"], Works { tiny: &["1"], test: &["20"], bench: &["4000"] }),
    shootout(
        "suffix-sort",
        &["suffix-sort.c"],
        Works { tiny: &["2000"], test: &["60000"], bench: &["8000000"] },
    ),
    shootout("connect4", &["connect4.c"], Works { tiny: &["3"], test: &["8"], bench: &["14"] }),
    Program {
        name: "sqlite",
        weight: Weight::Heavy,
        origin: Origin::Package("libsqlite3-sys", "sqlite3"),
        sources: &["sqlite3.c"],
        driver: Some("sqlite.c"),
        flags: &["-w", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        link: &["-lm"],
        work: Works {
            tiny: &["{work:mixed.sql}", "30"],
            test: &["{work:mixed.sql}", "4000"],
            bench: &["{work:mixed.sql}", "160000"],
        },
        ..BASE
    },
    Program {
        name: "zstd",
        weight: Weight::Heavy,
        origin: Origin::Package("zstd-sys", "zstd/lib"),
        sources: &["common/*.c", "compress/*.c", "decompress/*.c"],
        driver: Some("zstd.c"),
        flags: &["-w", "-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0"],
        work: Works {
            tiny: &["{text:6000}"],
            test: &["{text:600000}"],
            bench: &["{text:9000000}"],
        },
        ..BASE
    },
    Program {
        name: "quickjs",
        weight: Weight::Heavy,
        origin: Origin::Package("rquickjs-sys", "quickjs"),
        sources: &[
            "qjs.c",
            "quickjs.c",
            "quickjs-libc.c",
            "libregexp.c",
            "libunicode.c",
            "dtoa.c",
            "gen/repl.c",
            "gen/standalone.c",
        ],
        flags: &["-w", "-D_GNU_SOURCE", "-pthread"],
        link: &["-lm", "-ldl", "-pthread"],
        work: Works {
            tiny: &["{work:mixed.js}", "1"],
            test: &["{work:mixed.js}", "1"],
            bench: &["{work:mixed.js}", "50"],
        },
        ..BASE
    },
    Program {
        name: "hmmer2",
        weight: Weight::Heavy,
        origin: Origin::Debian(HMMER2, &[BIOSQUID]),
        sources: &[
            "src/alphabet.c",
            "src/core_algorithms.c",
            "src/debug.c",
            "src/display.c",
            "src/emit.c",
            "src/emulation.c",
            "src/fast_algorithms.c",
            "src/histogram.c",
            "src/hmmio.c",
            "src/hmmsearch.c",
            "src/mathsupport.c",
            "src/masks.c",
            "src/misc.c",
            "src/modelmakers.c",
            "src/plan7.c",
            "src/plan9.c",
            "src/postprob.c",
            "src/prior.c",
            "src/pvm.c",
            "src/threads.c",
            "src/tophits.c",
            "src/trace.c",
            "../biosquid/*.c",
        ],
        without: &["*_main.c"],
        include: &["src", "../biosquid"],
        // Its own headers leave out what it calls there.
        flags: &["-w", "-std=gnu89", "-include", "dirichlet.h"],
        link: &["-lm"],
        work: Works {
            tiny: &["{debian:hmmer2/tutorial/rrm.hmm}", "{debian:hmmer2/tutorial/Artemia.fa}"],
            test: &["{debian:hmmer2/tutorial/rrm.hmm}", "{debian:hmmer2/tutorial/globins630.fa}"],
            bench: &[
                "{debian:hmmer2/tutorial/rrm.hmm}",
                "{debian:hmmer2/tutorial/globins63000.fa}",
            ],
        },
        ..BASE
    },
    // Without the seed of its hashes, keys come in the same order each time.
    Program {
        name: "miniperl",
        weight: Weight::Heavy,
        origin: Origin::Debian(PERL, &[]),
        sources: &["*.c"],
        without: &["op.c", "perl.c", "universal.c", "malloc.c", "vutil.c", "generate_uudmap.c"],
        include: &["."],
        flags: &[
            "-w",
            "-DPERL_CORE",
            "-DPERL_IS_MINIPERL",
            "-DPERL_EXTERNAL_GLOB",
            "-DNO_HASH_SEED",
            "-D_GNU_SOURCE",
            "-D_FILE_OFFSET_BITS=64",
            "-fwrapv",
            "-fno-strict-aliasing",
        ],
        link: &["-lm", "-lcrypt"],
        work: Works {
            tiny: &["{work:mixed.pl}", "{text:1000}"],
            test: &["{work:mixed.pl}", "{text:150000}"],
            bench: &["{work:mixed.pl}", "{text:9000000}"],
        },
        ..BASE
    },
];

/// A program in which each mutant of `osr-opt` has something to change, under the passes that it is
/// made for.
pub const MUTANTS: Program =
    shootout("mutants", &["mutants.c"], Works { tiny: &["40"], test: &["400"], bench: &["40000"] });

/// C++ with exceptions, for points around invokes and landing pads.
pub const EXCEPTIONS: Program = Program {
    flags: &["-w", "-std=c++17"],
    link: &["-lstdc++", "-lm"],
    ..shootout(
        "exceptions",
        &["exceptions.cpp"],
        Works { tiny: &["3"], test: &["40"], bench: &["4000"] },
    )
};
