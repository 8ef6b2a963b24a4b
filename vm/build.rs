//! The code generator for open points is beside the program; the runtime looks for it as for any
//! library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN");
}
