//! What compiler writers use, in one place: `use midflight_passes::osr::api::*`.
//!
//! Handles ([`Function`], [`Inst`], [`Value`]) are made of llvm-c's references with `from_llvm`,
//! and give them with `as_llvm`; so does [`Builder`], whose own functions are those that this crate
//! needs. All else that LLVM can insert is inserted by llvm-c or inkwell at the builder's position:
//!
//! ```no_run
//! # use inkwell::basic_block::BasicBlock;
//! # use inkwell::values::{AsValueRef, IntValue};
//! # use midflight_passes::osr::api::{Builder, Value};
//! # use std::mem::ManuallyDrop;
//! # unsafe fn double<'m>(builder: &Builder<'m>, of: &[Value<'m>], one: IntValue<'m>) -> Value<'m> {
//! # unsafe {
//! // The builder is lent: dropping inkwell's would dispose of it. inkwell must know the position.
//! let inkwell = ManuallyDrop::new(inkwell::builder::Builder::<'m>::new(builder.as_llvm()));
//! inkwell.position_at_end(BasicBlock::new(builder.block().as_llvm()).unwrap());
//! let twice = inkwell.build_left_shift(IntValue::new(of[0].as_llvm()), one, "twice").unwrap();
//! Value::from_llvm(twice.as_value_ref())
//! # }
//! # }
//! ```
//!
//! `examples/jit` is a crate that does all of it; `examples/interpreter` exits to its host.

pub use crate::osr::check::{Check, Comparison, Mismatch, emit_check, observer};
pub use crate::osr::condition::Condition;
pub use crate::osr::deopt::lower::{DeoptError, WrongFrames};
pub use crate::osr::deopt::options::DeoptOptions;
pub use crate::osr::deopt::pass::{LoweringError, lower_deoptimization, prepare_deoptimization};
pub use crate::osr::insert::{
    Insertion, OsrError, OsrPoint, insert_resolved_osr, live_values, remove_osr_point,
};
pub use crate::osr::insert_exit::insert_host_exit;
pub use crate::osr::jit::{RegistrationError, emit_registration};
pub use crate::osr::open::generator::Generator;
pub use crate::osr::open::insert::insert_open_osr;
pub use crate::osr::state_map::{Compensation, Compute, Effect, Prologue, StateMap, StateMapError};
pub use midflight_bridge::builder::Builder;
pub use midflight_bridge::ir::{Block, Function, Inst, Module, Type, Value};
pub use midflight_bridge::ir::{BlockRef, BuilderRef, Home, ModuleRef, ValueRef};
pub use midflight_mapping::refusal::Refusal;
