//! `libmidflight.so`: the pass plugin that `opt -load-pass-plugin` and `clang -fpass-plugin` load.
//!
//! Nothing but the entry point, and the C face of the OSR API: passes, names and options are in
//! `midflight-passes`.

pub mod entry;
pub mod osr_api;

/// Passes ask for many small pieces of memory, between which LLVM asks for its own: from a heap
/// that both share that takes a fifth of the time of `osr-opt`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
