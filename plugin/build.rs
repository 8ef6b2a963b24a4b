//! Compiles the C++ that only the plugin has, as the bridge compiles its own.
//!
//! Functions of LLVM are bound when they are first called: so the check of the host's version,
//! which runs when the plugin is loaded, comes before a message about a missing symbol.

const SOURCE: &str = "cpp/plugin.cpp";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    let flags = std::env::var("DEP_MIDFLIGHT_SHIM_FLAGS").expect("the bridge's build script");
    let mut entry = cc::Build::new();
    entry.cpp(true).opt_level(2).debug(false).file(SOURCE).flags(flags.split('\x1f'));
    entry.compile("midflight_entry");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,lazy");
}
