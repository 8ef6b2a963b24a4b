//! The crate's tests run LLVM in their own process, so they link it; the plugin must not.

fn main() {
    let libdir = std::env::var("DEP_MIDFLIGHT_SHIM_LIBDIR").unwrap_or_default();
    let major = std::env::var("DEP_MIDFLIGHT_SHIM_MAJOR").unwrap_or_default();
    println!("cargo:rustc-link-arg-tests=-L{libdir}");
    println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{libdir}");
    println!("cargo:rustc-link-arg-tests=-lLLVM-{major}");
}
