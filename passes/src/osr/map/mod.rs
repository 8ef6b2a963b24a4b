//! Versions that differ, mapped both ways (thesis 4.2): what LLVM has to do with it.
//!
//! [`midflight_mapping`] has the versions, the proof and the mappings. Here, [`optimize`] makes a
//! version and keeps track of what passes do to it, [`read`] reads both, [`claims`] asks LLVM's
//! solver, [`fills`] and [`local_constants`] see what became of arrays, [`flags`] drops what values
//! of one number do not share, [`multi_version`] plans what is woven, [`alone`] leaves one version
//! by itself, [`do_passes`] makes those of a pipeline, pass by pass (Alg. 10), [`keep`] leaves out
//! passes that would lose too many points, and [`report`] and [`maps`] say what was found.

pub mod actions;
pub mod alone;
pub mod claims;
pub mod do_passes;
pub mod entry;
pub mod fills;
pub mod flags;
pub mod keep;
pub mod local_constants;
pub mod maps;
pub mod multi_version;
pub mod opt_options;
pub mod opt_pass;
pub mod optimize;
pub mod parts;
pub mod print_map;
pub mod read;
pub mod report;
