//! `midflight cc` with the real clang, the plugin and the runtime, where they are there.

use object::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SOURCE: &str = "\
#include <stdio.h>
int named(void);
int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; i++)
    sum += i % 3 ? i : -1;
  printf(\"%d %d\\n\", sum, named());
  return 0;
}
";

const ASSEMBLY: &str = "\
.globl named
.type named, @function
named: mov $7, %eax
ret
.section .note.GNU-stack,\"\",@progbits
";

/// The plugin and the runtime as `make build` leaves them.
fn libraries() -> Option<PathBuf> {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/lib/midflight");
    let folder = std::env::var_os("MIDFLIGHT_LIB_DIR").map_or(built.into(), PathBuf::from);
    folder.join("llvm-22/libmidflight.so").is_file().then_some(folder)
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A folder with sources, and the command under its names.
struct Project {
    folder: TempDir,
    libraries: PathBuf,
}

impl Project {
    /// None, with a word on standard error, where something is missing.
    fn new() -> Option<Self> {
        let found = libraries().filter(|_| cfg!(target_arch = "x86_64") && is_there("clang-22"));
        let Some(libraries) = found else {
            eprintln!("skipped: there is no clang-22, or no plugin for it (make build)");
            return None;
        };
        let project = Project { folder: tempfile::tempdir().unwrap(), libraries };
        for name in ["midflight", "midflight-cc"] {
            symlink(env!("CARGO_BIN_EXE_midflight"), project.path(name)).unwrap();
        }
        let preprocessed = format!("#define NAME named\n{}", ASSEMBLY.replace("named", "NAME"));
        for (name, text) in
            [("main.c", SOURCE), ("named.s", ASSEMBLY), ("upper.S", preprocessed.as_str())]
        {
            std::fs::write(project.path(name), text).unwrap();
        }
        Some(project)
    }

    /// Versions of LLVM with a clang and a plugin.
    fn llvms(&self) -> Vec<u32> {
        let has_plugin =
            |llvm: &u32| self.libraries.join(format!("llvm-{llvm}/libmidflight.so")).is_file();
        let mut llvms = vec![22, 19];
        llvms.retain(|llvm| has_plugin(llvm) && is_there(&format!("clang-{llvm}")));
        llvms
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, program: &str, line: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(program)
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.folder.path().display()))
            .env("MIDFLIGHT_LIB_DIR", &self.libraries)
            .env("MIDFLIGHT_PROFILE", self.path("out.mfp"))
            .env("CCACHE_DIR", self.path("cache"))
            .env("CCACHE_COMPILERCHECK", "content")
            .env_remove("MIDFLIGHT_CC_OPTIONS")
            .env_remove("MIDFLIGHT_OPTIONS")
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// Runs it; it must succeed without a word on standard error. Gives what it printed.
    fn quiet(&self, program: &str, line: &str) -> String {
        let output = self.run(program, line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{program} {line}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn cc(&self, line: &str) -> String {
        self.quiet("midflight-cc", line)
    }

    /// The program must run as ever, and its profile must count the loop.
    fn check_program(&self, program: &str) {
        let _ = std::fs::remove_file(self.path("out.mfp"));
        let printed = self.quiet(&self.path(program).display().to_string(), "");
        assert_eq!(printed, "3233 7\n");
        let line = format!("show {program} out.mfp --edges --function main");
        let text = self.quiet("midflight", &line);
        assert!(text.contains("main entries=1 completed=1 interrupted=0"), "{text}");
        assert!(text.lines().any(|line| line.contains(" 100")), "the loop ran 100 times: {text}");
    }
}

/// Nothing that is added may be unused, or `-Werror` builds break.
#[test]
fn all_kinds_of_calls_are_quiet_with_werror() {
    let Some(project) = Project::new() else { return };
    let flags = "-Werror -Wall -Wextra";
    for line in [
        "-c main.c",
        "-c named.s",
        "-c upper.S",
        "-S main.c -o main.out.s",
        "-c -emit-llvm main.c -o main.bc",
        "-fsyntax-only main.c",
        "-O2 main.o named.o -o prog",
    ] {
        assert_eq!(project.cc(&format!("{flags} {line}")), "", "{line}");
    }
    project.check_program("prog");
    project.cc(&format!("{flags} -O2 main.c upper.S -o both"));
    project.check_program("both");
}

#[test]
fn what_does_not_compile_prints_what_clang_prints() {
    let Some(project) = Project::new() else { return };
    for line in ["-M main.c", "-MM main.c", "-E main.c", "--version", "-dumpmachine"] {
        assert_eq!(project.cc(line), project.quiet("clang-22", line), "{line}");
    }
    let ours = project.run("midflight-cc", "main.c missing.c");
    assert_eq!(ours.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ours.stderr).contains("missing.c"), "clang says what it is");
}

#[test]
fn an_outdated_object_is_a_compile_away() {
    let Some(project) = Project::new() else { return };
    project.cc("-O1 -MMD -MF main.d -c main.c");
    let dependencies = std::fs::read_to_string(project.path("main.d")).unwrap();
    assert!(dependencies.starts_with("main.o: main.c"), "{dependencies}");
}

#[test]
fn a_project_of_bitcode_is_linked_by_lld() {
    let Some(project) = Project::new() else { return };
    if !Path::new("/usr/lib/llvm-22/bin/ld.lld").exists() {
        eprintln!("skipped: there is no lld-22");
        return;
    }
    project.cc("-Werror -flto -O2 -c main.c");
    project.cc("-Werror -c named.s");
    project.cc("-Werror -flto -O2 -fuse-ld=lld main.o named.o -o prog");
    project.check_program("prog");
}

#[test]
fn a_compiler_cache_hits_and_its_object_is_instrumented() {
    let Some(project) = Project::new() else { return };
    if !is_there("ccache") {
        eprintln!("skipped: there is no ccache");
        return;
    }
    let hits = || {
        let text = project.quiet("ccache", "--print-stats");
        let counts = text.lines().filter_map(|line| line.split_once('\t'));
        let hits = counts.filter(|(name, _)| name.ends_with("_cache_hit"));
        hits.map(|(_, count)| count.parse::<u32>().unwrap()).sum::<u32>()
    };
    project.quiet("ccache", "midflight-cc -O1 -c main.c");
    assert_eq!(hits(), 0);
    std::fs::remove_file(project.path("main.o")).unwrap();
    project.quiet("ccache", "midflight-cc -O1 -c main.c");
    assert_eq!(hits(), 1);
    project.quiet("ccache", "midflight-cc -O1 --midflight-k=8 -c main.c");
    assert_eq!(hits(), 1, "another k is another object");
    project.quiet("ccache", "midflight-cc -O1 -c main.c");
    project.cc("main.o named.s -o prog");
    project.check_program("prog");
}

/// Sections that tell of code, beside the code: for debuggers, profilers, and tools that count or
/// trace.
fn sections_about_code(object: &Path) -> BTreeSet<String> {
    const ABOUT: [&str; 8] = [
        ".debug_",
        ".gnu_debug",
        ".pseudo_probe",
        ".stack_sizes",
        "__llvm_",
        "__san",
        "asan_",
        "xray_",
    ];
    let bytes = std::fs::read(object).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let names = file.sections().map(|section| section.name().unwrap().to_string());
    // Whether a variable has several places, a scope several ranges, and whether there are calls by
    // pointers is a matter of the code.
    let of_shape = |name: &str| ["_loc", "_r", "prf_v"].iter().any(|part| name.contains(part));
    let is_about = |name: &String| ABOUT.iter().any(|start| name.starts_with(start));
    names.filter(|name| is_about(name) && !of_shape(name)).collect()
}

/// Of each line of options, objects have the debug information that clang alone makes.
#[test]
fn debug_information_is_that_of_clang_alone() {
    let Some(project) = Project::new() else { return };
    let options = [
        "",
        "-g",
        "-g0",
        "-g1",
        "-ggdb3",
        "-gdwarf-4",
        "-gline-tables-only",
        "-gline-directives-only",
        "-g -gsplit-dwarf",
        "-g -gz",
        "-gz",
        "-g -gpubnames",
        "-g -O2 -fno-omit-frame-pointer",
        "-fdebug-info-for-profiling",
        "-g -fdebug-info-for-profiling",
        "-fpseudo-probe-for-profiling",
        "-fprofile-arcs -ftest-coverage",
        "--coverage -g",
        "-fprofile-instr-generate -fcoverage-mapping",
        "-fprofile-generate",
        "-fsanitize=address",
        "-fsanitize=undefined",
        "-fsanitize=thread",
        "-fsanitize-coverage=trace-pc-guard,pc-table",
        "-fsanitize-coverage=inline-8bit-counters",
        "-fxray-instrument -fxray-instruction-threshold=1",
        "-fstack-size-section",
        "-fsave-optimization-record",
        "-Rpass=none",
    ];
    let mut with_some = 0;
    for llvm in project.llvms() {
        for option in options {
            let line = format!("-O1 {option} -c main.c -o");
            project.quiet(&format!("clang-{llvm}"), &format!("{line} alone.o"));
            let alone = sections_about_code(&project.path("alone.o"));
            with_some += usize::from(!alone.is_empty());
            for stage in ["early", "inlined", "late"] {
                let own = format!("--midflight-llvm={llvm} --midflight-stage={stage}");
                project.cc(&format!("{own} {line} ours.o"));
                let ours = sections_about_code(&project.path("ours.o"));
                assert_eq!(ours, alone, "clang-{llvm} {option}, at {stage}");
            }
        }
    }
    assert!(with_some > options.len() / 2, "there is something to compare");
}

/// What LLVM says of the optimizations that come before the profiler, with its lines and columns.
#[test]
fn remarks_are_those_of_clang_alone() {
    let Some(project) = Project::new() else { return };
    for llvm in project.llvms() {
        let line = "-O2 -Rpass=.* -c main.c -o main.o";
        let alone = project.run(&format!("clang-{llvm}"), line);
        let ours = format!("--midflight-llvm={llvm} --midflight-stage=late {line}");
        let ours = project.run("midflight-cc", &ours);
        let text = String::from_utf8_lossy(&alone.stderr);
        assert!(text.contains("main.c:5:3: remark:"), "{text}");
        assert_eq!(String::from_utf8_lossy(&ours.stderr), text, "clang-{llvm}");
        // Remarks in files keep the format that is asked for.
        for (option, start) in [("", "--- !"), ("=bitstream", "RMRK")] {
            if llvm == 19 && option == "=bitstream" {
                // That clang crashes by itself.
                continue;
            }
            let line = format!(
                "-O2 -fsave-optimization-record{option} -foptimization-record-file=record -c main.c"
            );
            let alone = project.run(&format!("clang-{llvm}"), &line);
            let ours = project.run("midflight-cc", &format!("--midflight-llvm={llvm} {line}"));
            assert!(ours.status.success());
            assert_eq!(ours.stderr, alone.stderr, "clang-{llvm} {option}");
            let record = std::fs::read(project.path("record")).unwrap();
            assert!(record.starts_with(start.as_bytes()), "clang-{llvm} {option}");
        }
    }
}

/// `leaf` runs often where `visit` is called by `often`, and never where `rarely` calls it.
const CONTEXTS: &str = "\
#include <stdio.h>
unsigned seen[256];
unsigned leaf(unsigned x, unsigned y) {
  unsigned r = x;
  for (int i = 0; i < 3; i++) {
    r = r * 1664525u + y;
    r ^= (r << 13) + i;
    seen[r & 255] += r;
    r ^= r >> 17;
    seen[(r >> 8) & 255] ^= y;
    if (r & 0x1000)
      r ^= seen[(r >> 7) & 255];
    else
      r += seen[(r >> 3) & 255];
    seen[(r >> 16) & 255] -= r;
  }
  if (r % 1000003 == 7)
    printf(\"%u\\n\", r);
  return r;
}
unsigned visit(unsigned x, unsigned n) {
  unsigned r = x;
  for (unsigned i = 0; i < n; i++)
    r += leaf(r, i);
  return r;
}
unsigned often(unsigned x) {
  return visit(x, 100);
}
unsigned rarely(unsigned x) {
  return visit(x, x == 1);
}
int main(int argc, char **argv) {
  unsigned s = argc;
  for (int i = 0; i < 1000; i++) {
    s += i % 2 ? often(s) : often(s + 1); s += rarely(s);
  }
  printf(\"%u\\n\", s);
  return 0;
}
";

/// A sample profile with contexts has clang inline `leaf` for one caller of its caller, and not for
/// the other; without contexts both or none have it. Calls on one line are one without
/// discriminators.
#[test]
fn clang_inlines_by_contexts() {
    let Some(project) = Project::new() else { return };
    std::fs::write(project.path("calls.c"), CONTEXTS).unwrap();
    for llvm in project.llvms() {
        let of = format!("--midflight-llvm={llvm} -O2 calls.c");
        project.cc(&format!("--midflight-contexts --midflight-stage=early -o calls {of}"));
        project.quiet(&project.path("calls").display().to_string(), "");
        let line = "export --to sample-profile --contexts -o calls.prof calls out.mfp";
        project.quiet("midflight", line);
        let text = std::fs::read_to_string(project.path("calls.prof")).unwrap();
        let inner = "[main:3 @ often:1 @ visit:3 @ leaf]:100000:100000\n 0: 100000\n";
        assert!(text.contains(inner), "{text}");
        assert!(text.contains("\n 3: 1000 often:1000 rarely:1000\n"), "{text}");
        let line = "-O2 -g -c -fprofile-sample-use=calls.prof -mllvm -no-discriminators -Rpass=inline \
                    calls.c -o fast.o";
        let compiled = project.run(&format!("clang-{llvm}"), line);
        let told = String::from_utf8(compiled.stderr).unwrap();
        assert!(compiled.status.success(), "{told}");
        let inlined = |at: &str| {
            let of_leaf = |line: &&str| line.contains("'leaf' inlined into 'main'");
            told.lines().filter(of_leaf).filter(|line| line.contains(at)).count()
        };
        assert_eq!((inlined("@ often:1:"), inlined("@ rarely:1:")), (2, 0), "{llvm}: {told}");
    }
}
