//! The projects: how each is built, and how its test suite is run.
//!
//! Commands are for `sh`, in the folder of the sources. `$CC` and `$CXX` are the compilers, which
//! may be several words; nothing else tells a build that it is instrumented.

use super::verdicts::Verdicts;
use crate::debian::SourcePackage;

/// A project with a build system and a test suite of its own.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// Its name in tables
    pub name: &'static str,
    /// Its build system, for tables
    pub system: &'static str,
    /// Its sources, as upstream publishes them
    pub source: SourcePackage,
    /// Builds it and its tests
    pub build: &'static str,
    /// Runs its tests
    pub test: &'static str,
    /// How its tests tell what they found
    pub verdicts: Verdicts,
    /// Seconds that either may take
    pub limit: u64,
}

/// Sources that need nothing done before they are built.
const fn source(name: &'static str) -> SourcePackage {
    SourcePackage { name, only: &[], prepare: &[] }
}

/// All of them, the quickest first.
pub const PROJECTS: &[Project] = &[
    // Upstream's tests are not in the package: the interpreter runs programs, and what luac made of
    // them, with and without its libraries of its own in a shared object.
    Project {
        name: "lua",
        system: "make",
        source: source("lua5.4"),
        build: "make CC=\"$CC -std=gnu99\" MYCFLAGS=-fPIC linux && \
                cd src && $CC -shared -o liblua.so -Wl,--whole-archive liblua.a \
                -Wl,--no-whole-archive -lm -ldl && $CC -o lua-shared lua.o -Wl,-E -L. -llua -ldl -lm",
        test: "cd src && for size in 3 40; do for lua in ./lua ./lua-shared; do \
               export LD_LIBRARY_PATH=.; \
               echo \"text $lua $size: $($lua -e argument=$size $WORK/mixed.lua 2>&1 | cksum)\"; \
               ./luac -o mixed.out $WORK/mixed.lua && \
               echo \"bytecode $lua $size: $($lua -e argument=$size mixed.out 2>&1 | cksum)\"; \
               echo \"error $lua: $($lua -e 'error{}' 2>&1; echo $?)\"; done; done",
        verdicts: Verdicts::Lines,
        limit: 900,
    },
    // As root the suite stops in attach.test.
    Project {
        name: "sqlite",
        system: "configure, libtool",
        source: SourcePackage { name: "sqlite3", only: &[], prepare: &["rm test/attach.test"] },
        build: "./configure CC=\"$CC\" && make -j2 sqlite3 testfixture",
        test: "./testfixture test/extraquick.test",
        verdicts: Verdicts::Sqlite,
        limit: 3600,
    },
    Project {
        name: "zstd",
        system: "make",
        source: source("libzstd"),
        build: "make -j2 CC=\"$CC\" CXX=\"$CXX\" zstd",
        test: "make -C tests CC=\"$CC\" shortest",
        verdicts: Verdicts::Zstd,
        limit: 3600,
    },
    Project {
        name: "googletest",
        system: "CMake",
        source: source("googletest"),
        build: "cmake -S . -B build -Dgtest_build_tests=ON -DBUILD_GMOCK=OFF \
                -DBUILD_SHARED_LIBS=ON && make -C build -j2",
        test: "cd build && ctest -j2",
        verdicts: Verdicts::Ctest,
        limit: 3600,
    },
    Project {
        name: "perl",
        system: "Configure, MakeMaker",
        source: source("perl"),
        build: "./Configure -des -Dcc=\"$CC\" -Dusenm=n -Dusethreads && make -j2 && make test_prep",
        test: "cd t && ./perl TEST base/*.t comp/*.t cmd/*.t io/*.t re/*.t op/*.t lib/*.t",
        verdicts: Verdicts::Perl,
        limit: 5400,
    },
];
