//! Deoptimization that a front end writes: `llvm.experimental.deoptimize`, guards and widenable
//! conditions, and `deopt` bundles on calls become transitions to a version that it names.
//!
//! [`frame`] reads the operands of a bundle, by the schema of `docs/osr-deopt.md`; [`versions`]
//! keeps the versions that frames name as the front end made them; [`landing`] makes the function
//! that goes on in a version, at a landing that is marked there; [`lower`] inserts the points, and
//! [`pass`] does all of it for a module.

pub mod frame;
pub mod landing;
pub mod lower;
pub mod options;
pub mod pass;
#[cfg(feature = "mutants")]
pub mod self_frames;
pub mod versions;
