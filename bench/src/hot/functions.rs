//! The functions, as data: one for each row of Tables 5.5 and 5.6 of the thesis.
//!
//! Where the thesis's program is not available, one that does the same work stands for it:
//! x264 for h264ref, the short-range energy of LAMMPS's CHARMM force field for NAMD's, GNU Chess's
//! evaluation of pieces for sjeng's, GLPK's steepest-edge pricing for SoPlex's, and the project's
//! own alpha-beta search for fhourstones'.

use crate::debian::SourcePackage;
use crate::debian::packages::{BIOSQUID, HMMER2, PERL};
use crate::hot::count::Size;
use crate::origin::Origin;

/// A hot function.
#[derive(Clone, Copy, Debug)]
pub struct Hot {
    /// Its benchmark's name in the thesis
    pub name: &'static str,
    /// The program that it is taken from
    pub program: &'static str,
    /// Where the source is
    pub origin: Origin,
    /// The source file
    pub file: &'static str,
    /// Flags of the compiler
    pub flags: &'static [&'static str],
    /// The function's name, for people
    pub function: &'static str,
    /// Its name in LLVM
    pub symbol: &'static str,
    /// The function that the thesis has
    pub thesis: &'static str,
    /// The size of that after mem2reg
    pub thesis_size: Size,
}

const PLAIN: SourcePackage = SourcePackage { name: "", only: &[], prepare: &[] };

const fn size(instructions: usize, phis: usize) -> Size {
    Size { instructions, phis }
}

/// All of them, in the order of the thesis.
pub const FUNCTIONS: &[Hot] = &[
    Hot {
        name: "bzip2",
        program: "bzip2",
        origin: Origin::Package("bzip2-sys", "bzip2-1.0.8"),
        file: "blocksort.c",
        flags: &["-D_FILE_OFFSET_BITS=64"],
        function: "mainSort",
        symbol: "mainSort",
        thesis: "mainSort",
        thesis_size: size(657, 32),
    },
    Hot {
        name: "h264ref",
        program: "x264",
        origin: Origin::Debian(
            SourcePackage {
                name: "x264",
                prepare: &[
                    "./configure --disable-asm --disable-thread --disable-cli --enable-static",
                ],
                ..PLAIN
            },
            &[],
        ),
        file: "encoder/me.c",
        flags: &["-std=gnu99", "-D_GNU_SOURCE", "-I.", "-DHIGH_BIT_DEPTH=0", "-DBIT_DEPTH=8"],
        function: "x264_me_search_ref",
        symbol: "x264_8_me_search_ref",
        thesis: "SetupFastFullPelSearch",
        thesis_size: size(671, 28),
    },
    Hot {
        name: "hmmer",
        program: "hmmer2",
        origin: Origin::Debian(HMMER2, &[BIOSQUID]),
        file: "src/fast_algorithms.c",
        flags: &["-std=gnu89", "-Isrc", "-I../biosquid"],
        function: "P7Viterbi",
        symbol: "P7Viterbi",
        thesis: "P7Viterbi",
        thesis_size: size(568, 6),
    },
    Hot {
        name: "namd",
        program: "lammps",
        origin: Origin::Debian(
            SourcePackage { name: "lammps", only: &["*/src/*.h", "*/src/KSPACE/*.cpp"], ..PLAIN },
            &[],
        ),
        file: "src/KSPACE/pair_lj_charmm_coul_long.cpp",
        flags: &["-std=c++11", "-Isrc", "-Isrc/STUBS", "-Isrc/KSPACE", "-DLAMMPS_SMALLBIG"],
        function: "PairLJCharmmCoulLong::compute",
        symbol: "_ZN9LAMMPS_NS20PairLJCharmmCoulLong7computeEii",
        thesis: "calc_pair_energy_fullelect",
        thesis_size: size(1737, 159),
    },
    Hot {
        name: "perlbench",
        program: "perl",
        origin: Origin::Debian(PERL, &[]),
        file: "regexec.c",
        flags: &["-DPERL_CORE", "-D_GNU_SOURCE", "-I."],
        function: "S_regmatch",
        symbol: "S_regmatch",
        thesis: "S_regmatch",
        thesis_size: size(5574, 305),
    },
    Hot {
        name: "sjeng",
        program: "gnuchess",
        origin: Origin::Debian(SourcePackage { name: "gnuchess", ..PLAIN }, &[]),
        file: "src/engine/eval.cpp",
        flags: &["-std=c++11", "-Isrc"],
        function: "eval_piece",
        symbol: "_ZN6engineL10eval_pieceEPKNS_7board_tEPKNS_15material_info_tEPKNS_11pawn_info_tEPiS9_",
        thesis: "std_eval",
        thesis_size: size(1940, 93),
    },
    Hot {
        name: "soplex",
        program: "glpk",
        origin: Origin::Debian(SourcePackage { name: "glpk", ..PLAIN }, &[]),
        file: "src/simplex/spxchuzc.c",
        flags: &["-Isrc", "-Isrc/env", "-Isrc/misc", "-Isrc/bflib", "-Isrc/draft"],
        function: "spx_update_gamma",
        symbol: "_glp_spx_update_gamma",
        thesis: "SPxSteepPR::entered4X",
        thesis_size: size(195, 2),
    },
    Hot {
        name: "bullet",
        program: "bullet",
        origin: Origin::Debian(SourcePackage { name: "bullet", only: &["*/src"], ..PLAIN }, &[]),
        file: "src/BulletCollision/NarrowPhaseCollision/btGjkPairDetector.cpp",
        flags: &["-std=c++11", "-Isrc"],
        function: "btGjkPairDetector::getClosestPointsNonVirtual",
        symbol: "_ZN17btGjkPairDetector26getClosestPointsNonVirtualERKN36btDiscreteCollisionDetectorInterface17ClosestPointInputERNS0_6ResultEP12btIDebugDraw",
        thesis: "getClosestPointsNonVirtual",
        thesis_size: size(587, 24),
    },
    Hot {
        name: "dcraw",
        program: "dcraw",
        origin: Origin::Debian(SourcePackage { name: "dcraw", ..PLAIN }, &[]),
        file: "dcraw.c",
        flags: &["-DNODEPS"],
        function: "vng_interpolate",
        symbol: "vng_interpolate",
        thesis: "vng_interpolate",
        thesis_size: size(590, 37),
    },
    Hot {
        name: "ffmpeg",
        program: "ffmpeg",
        origin: Origin::Debian(
            SourcePackage {
                name: "ffmpeg",
                prepare: &["./configure --disable-everything --enable-decoder=h264 --disable-asm \
                        --disable-x86asm --disable-autodetect --disable-doc"],
                ..PLAIN
            },
            &[],
        ),
        file: "libavcodec/h264_cabac.c",
        flags: &["-D_GNU_SOURCE", "-DHAVE_AV_CONFIG_H", "-I."],
        function: "decode_cabac_residual_nondc_internal",
        symbol: "decode_cabac_residual_nondc_internal",
        thesis: "decode_cabac_residual_internal",
        thesis_size: size(618, 34),
    },
    Hot {
        name: "fhourstones",
        program: "connect4",
        origin: Origin::Own,
        file: "connect4.c",
        flags: &[],
        function: "search",
        symbol: "search",
        thesis: "ab",
        thesis_size: size(288, 29),
    },
    Hot {
        name: "vp8",
        program: "libvpx",
        origin: Origin::Debian(
            SourcePackage {
                name: "libvpx",
                prepare: &[
                    "./configure --target=generic-gnu --disable-vp9 --disable-multithread \
                 --disable-unit-tests --disable-examples --disable-tools --disable-docs",
                    "perl build/make/rtcd.pl --arch=generic --sym=vp8_rtcd --config=config.mk \
                 vp8/common/rtcd_defs.pl >vp8_rtcd.h",
                    "perl build/make/rtcd.pl --arch=generic --sym=vpx_dsp_rtcd --config=config.mk \
                 vpx_dsp/vpx_dsp_rtcd_defs.pl >vpx_dsp_rtcd.h",
                ],
                ..PLAIN
            },
            &[],
        ),
        file: "vp8/encoder/mcomp.c",
        flags: &["-I."],
        function: "vp8_full_search_sad",
        symbol: "vp8_full_search_sad",
        thesis: "vp8_full_search_sadx8",
        thesis_size: size(334, 41),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_functions_share_a_folder() {
        let packages = FUNCTIONS.iter().filter_map(|hot| match hot.origin {
            Origin::Debian(main, others) => Some(std::iter::once(main).chain(others.to_vec())),
            _ => None,
        });
        let mut names: Vec<&str> = packages.flatten().map(|package| package.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
