//! `libmidflight.so`: the pass plugin that `opt -load-pass-plugin` and `clang -fpass-plugin` load.
//!
//! Nothing but the entry point, and the C face of the OSR API: passes, names and options are in
//! `midflight-passes`.

pub mod osr_api;

use midflight_bridge::plugin::{PassPluginLibraryInfo, plugin_info};
use std::ffi::CStr;

/// Passes ask for many small pieces of memory, between which LLVM asks for its own: from a heap
/// that both share that takes a fifth of the time of `osr-opt`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"unknown",
    };

/// LLVM's entry point of a pass plugin.
// SAFETY: the name is LLVM's, and the signature is that of `llvmGetPassPluginInfo`.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    plugin_info(VERSION, midflight_passes::registry::PASSES)
}
