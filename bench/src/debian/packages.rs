//! Packages that both whole programs and single functions are taken from.

use crate::debian::SourcePackage;

/// HMMER 2, with a file to search that is a hundred times as long as the one that it has.
pub const HMMER2: SourcePackage = SourcePackage {
    name: "hmmer2",
    only: &[],
    prepare: &[
        "./configure CC=cc",
        // The library of later releases has functions of these names too.
        r"sed -i 's/\bSample\([A-Z]\)/HmmerSample\1/g' src/*.[ch]",
        "for i in $(seq 100); do cat tutorial/globins630.fa; done >tutorial/globins63000.fa",
    ],
};

/// The library of HMMER 2. Its release has no `configure`.
pub const BIOSQUID: SourcePackage = SourcePackage {
    name: "biosquid",
    only: &[],
    prepare: &[
        "sed -e 's/@SQD_UINT16@/unsigned short/' -e 's/@SQD_UINT32@/unsigned int/' \
         -e 's/@SQD_UINT64@/unsigned long/' squid.h.in >squid.h",
        r#"sed -e 's/^#undef \(SQUID_[A-Z]*\)/#define \1 ""/' squidconf.h.in >squidconf.h"#,
    ],
};

/// Perl, with the headers that its build makes.
pub const PERL: SourcePackage = SourcePackage {
    name: "perl",
    only: &[],
    prepare: &[
        "./Configure -des -Dcc=cc -Dusenm=n",
        "make uudmap.h opmini.c perlmini.c universalmini.c",
    ],
};

/// The Tiny C Compiler, and its tests.
pub const TCC: SourcePackage =
    SourcePackage { name: "tcc", only: &[], prepare: &["./configure --cc=cc"] };

/// GNU Go, with the patterns that its build makes of its databases.
pub const GNUGO: SourcePackage = SourcePackage {
    name: "gnugo",
    only: &[],
    prepare: &[
        "./configure CC=cc --without-readline --without-curses",
        "make CFLAGS='-O1 -w -fcommon -fwrapv' && rm -f */*.o */*.a",
    ],
};
