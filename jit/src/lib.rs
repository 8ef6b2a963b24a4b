//! `libmidflight_jit-N.so`: makes versions of functions while a program runs.
//!
//! The runtime loads it when the first open point fires, and asks it for a version by
//! [`midflight_jit_compile`]. [`request`] reads what the program carries, [`version`] makes the
//! version's module by the passes' code, and [`emit`] compiles it and puts it into memory by
//! `midflight-orc`; [`perf`] tells profilers where it is.
//!
//! **Invariant.** Nothing unwinds into the runtime, and nothing is written or printed: problems go
//! back as a text.

#![allow(non_upper_case_globals, reason = "the runtime looks for it by this name")]

mod custom;
mod emit;
mod perf;
mod request;
mod version;

use midflight_abi::open::{OPEN_FAILED, OPEN_MADE, OPEN_NOTHING, OpenAnswer, OpenRequest};
use midflight_passes::osr::open::version::NoVersion;
use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;
use std::ptr::null;
use std::sync::Mutex;

/// One version is made at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Says that the end of the program need not wait for it, see [`__cxa_atexit`].
#[unsafe(no_mangle)]
pub static midflight_jit_stays: u8 = 1;

/// What LLVM asks to be called at the end of the program, which is nothing: its objects stay as
/// they are, since a version may be in the making then. The runtime loads this library so that LLVM
/// finds this function, and not that of libc.
///
/// # Safety
/// None of the arguments is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_atexit(
    _function: *const c_void,
    _argument: *const c_void,
    _library: *const c_void,
) -> i32 {
    0
}

/// Makes a version.
///
/// # Safety
/// The request is one of the runtime's, all of which stays until this returns; the answer can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_jit_compile(
    request: *const OpenRequest,
    answer: *mut OpenAnswer,
) {
    // SAFETY: the caller's.
    let (request, answer) = unsafe { (&*request, &mut *answer) };
    let result = catch_unwind(|| {
        let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: the caller's.
        unsafe { version::make(request) }
    });
    let problem = match result {
        Ok(Ok(made)) => {
            *answer = OpenAnswer {
                status: OPEN_MADE,
                guards: made.guards,
                target: made.target,
                next: made.next,
                entry: made.entry,
                assumptions: made.assumptions.as_ptr(),
                num_assumptions: made.assumptions.len() as u64,
                size: made.size,
                message: answer.message,
            };
            return;
        }
        Ok(Err(problem)) => problem,
        Err(_) => NoVersion::Failed(
            "a defect of midflight's code generator; please report it".to_string(),
        ),
    };
    let is_final = matches!(problem, NoVersion::Failed(_));
    answer.status = if is_final { OPEN_FAILED } else { OPEN_NOTHING };
    (answer.target, answer.next, answer.entry) = (null(), null(), null());
    let text = problem.to_string();
    let most = answer.message.len() - 1;
    answer.message.fill(0);
    for (to, from) in answer.message.iter_mut().take(most).zip(text.bytes()) {
        *to = from.cast_signed() as c_char;
    }
}
