//! Links the shared LLVM that the enabled feature names.

use std::path::Path;
use std::process::Command;

const MAJOR: &str = if cfg!(feature = "llvm22-1") { "22" } else { "19" };

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MIDFLIGHT_LLVM_CONFIG");
    let config = std::env::var("MIDFLIGHT_LLVM_CONFIG").unwrap_or_else(|_| {
        let debian = format!("/usr/lib/llvm-{MAJOR}/bin/llvm-config");
        if Path::new(&debian).exists() { debian } else { format!("llvm-config-{MAJOR}") }
    });
    let output = Command::new(&config).arg("--libdir").output();
    let Some(folder) = output.ok().filter(|output| output.status.success()) else {
        eprintln!(
            "building what makes code for LLVM {MAJOR}: cannot run `{config} --libdir`; install \
             llvm-{MAJOR}-dev or set MIDFLIGHT_LLVM_CONFIG"
        );
        std::process::exit(1);
    };
    println!("cargo:rustc-link-search=native={}", String::from_utf8_lossy(&folder.stdout).trim());
    println!("cargo:rustc-link-lib=dylib=LLVM-{MAJOR}");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
