//! Compiles the C++ shim against the LLVM that the enabled feature names.

use midflight_ir::facts::{FunctionFacts, InstFacts, MapFacts};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

const MAJOR: &str = if cfg!(feature = "llvm22-1") { "22" } else { "19" };

fn main() {
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-env-changed=MIDFLIGHT_LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=MIDFLIGHT_CHECK_ONLY");
    if cfg!(feature = "llvm22-1") == cfg!(feature = "llvm19-1") {
        fail("building the bridge: enable exactly one of the features llvm22-1 and llvm19-1");
    }
    let config = llvm_config();
    let version = ask(&config, "--version");
    if version.split('.').next() != Some(MAJOR) {
        fail(&format!("building for LLVM {MAJOR}: {config} is of LLVM {version}"));
    }
    let include = format!("-isystem{}", ask(&config, "--includedir"));
    let facts = [
        facts("INST", InstFacts::NAMES),
        facts("MAP", MapFacts::NAMES),
        facts("FUNCTION", FunctionFacts::NAMES),
    ];
    let flags = [
        &include,
        &facts[0],
        &facts[1],
        &facts[2],
        // The same in all profiles, so that a cache of compiled files serves them all.
        "-g1",
        "-std=c++17",
        "-fno-rtti",
        "-fno-exceptions",
        "-fvisibility=hidden",
        "-Wno-unused-parameter",
        "-D_GNU_SOURCE",
        "-D__STDC_CONSTANT_MACROS",
        "-D__STDC_FORMAT_MACROS",
        "-D__STDC_LIMIT_MACROS",
    ];
    let files = std::fs::read_dir("cpp").expect("the package's own folder");
    let mut sources: Vec<_> = files.map(|file| file.expect("it is there").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    sources.sort();
    // Code that is only checked is not linked.
    if std::env::var_os("MIDFLIGHT_CHECK_ONLY").is_none() {
        let mut shim = cc::Build::new();
        shim.cpp(true).opt_level(2).debug(false).files(sources).flags(flags);
        shim.compile("midflight_shim");
    }
    // For the plugin's own C++, which also uses headers of this one.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::metadata=flags={}\x1f-I{folder}/cpp", flags.join("\x1f"));
}

/// Defines constants in C++ of a list of facts that Rust has.
fn facts(of: &str, names: &[(&str, u32)]) -> String {
    let mut text = format!("-DMIDFLIGHT_{of}_FACTS=");
    for (name, bit) in names {
        let words = name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
        let name: String = words.collect();
        let _ = write!(text, "constexpr uint32_t {name} = 1u << {bit};");
    }
    text
}

fn llvm_config() -> String {
    // The second is that of the LLVM that llvm-sys links, if it does.
    for name in ["MIDFLIGHT_LLVM_CONFIG", &format!("DEP_LLVM_{MAJOR}_CONFIG_PATH")] {
        if let Ok(path) = std::env::var(name) {
            return path;
        }
    }
    let debian = format!("/usr/lib/llvm-{MAJOR}/bin/llvm-config");
    if PathBuf::from(&debian).exists() { debian } else { format!("llvm-config-{MAJOR}") }
}

fn ask(config: &str, what: &str) -> String {
    match Command::new(config).arg(what).output() {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_string(),
        _ => fail(&format!(
            "building for LLVM {MAJOR}: cannot run `{config} {what}`; install llvm-{MAJOR}-dev \
             or set MIDFLIGHT_LLVM_CONFIG"
        )),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    std::process::exit(1)
}
