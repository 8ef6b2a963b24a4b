//! Compiles the C++ that only the plugin has, as the bridge compiles its own.
//!
//! Functions of LLVM are bound when they are first called: so the check of the host's version,
//! which runs when the plugin is loaded, comes before a message about a missing symbol.

const SOURCE: &str = "cpp/plugin.cpp";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    let flags = std::env::var("DEP_MIDFLIGHT_SHIM_FLAGS").expect("the bridge's build script");
    cc::Build::new().cpp(true).file(SOURCE).flags(flags.split('\x1f')).compile("midflight_entry");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,lazy");
}
