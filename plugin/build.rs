//! Functions of LLVM are bound when they are first called: so the check of the host's version,
//! which runs when the plugin is loaded, comes before a message about a missing symbol.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,lazy");
}
