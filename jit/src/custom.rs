//! Generators of the program's own, which are C functions.

use midflight_abi::open::{OPEN_GENERATION_VERSION, OpenGeneration, OpenMake, OpenTransform};
use midflight_bridge::ir::{Function, Value};
use midflight_bridge::pass::LLVM_MAJOR;
use midflight_passes::osr::open::specialize::Specialization;
use midflight_passes::osr::open::version::NoVersion;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// What a generator has for what it is handed, and behind it what that leads to.
#[repr(C)]
struct Running<'r, 's, 'm> {
    generation: OpenGeneration,
    specialization: &'r mut Specialization<'s, 'm>,
    why: Option<String>,
}

/// Runs a generator.
///
/// # Errors
/// What it says.
///
/// # Safety
/// The generator is one of the program's.
pub unsafe fn run(
    make: OpenMake,
    user: *mut c_void,
    specialization: &mut Specialization<'_, '_>,
) -> Result<(), NoVersion> {
    let generation = OpenGeneration {
        version: OPEN_GENERATION_VERSION,
        llvm: u32::from(LLVM_MAJOR),
        function: specialization.base().as_llvm().cast(),
        point: specialization.point().as_llvm().cast(),
        value: specialization.profiled().map_or(null_mut(), |value| value.as_llvm().cast()),
        key: specialization.key(),
        assume,
        transform,
        fail,
    };
    let mut running = Running { generation, specialization, why: None };
    // SAFETY: the caller's; the generation is the first field of what it leads to.
    let answer = unsafe { make((&raw mut running).cast(), user) };
    match (answer, running.why) {
        (0, None) => Ok(()),
        (1, None) => Err(NoVersion::Nothing("the generator has nothing for it")),
        (_, Some(why)) => Err(NoVersion::Failed(why)),
        (answer, None) => Err(NoVersion::Failed(format!("the generator failed with {answer}"))),
    }
}

/// # Safety
/// The generation is the one that the generator was called with, and it still runs; the values are
/// live.
unsafe extern "C" fn assume(
    generation: *mut OpenGeneration,
    value: *mut c_void,
    before: *mut c_void,
    is: u64,
) -> i32 {
    // SAFETY: the caller's.
    let running = unsafe { &mut *generation.cast::<Running<'_, '_, '_>>() };
    let assumed = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller's.
        let (value, before) =
            unsafe { (Value::from_llvm(value.cast()), Value::from_llvm(before.cast())) };
        let before = before.as_inst().ok_or("the place is no instruction")?;
        running.specialization.assume(value, before, is)
    }));
    i32::from(!matches!(assumed, Ok(Ok(()))))
}

/// # Safety
/// As [`assume`]; the transform may be called as long as the version is made.
unsafe extern "C" fn transform(
    generation: *mut OpenGeneration,
    transform: OpenTransform,
    user: *mut c_void,
) {
    // SAFETY: the caller's.
    let running = unsafe { &mut *generation.cast::<Running<'_, '_, '_>>() };
    running.specialization.transform(Box::new(move |function: Function<'_>| {
        // SAFETY: the contract of this function.
        match unsafe { transform(function.as_llvm().cast(), user) } {
            0 => Ok(()),
            number => Err(format!("the generator's transform failed with {number}")),
        }
    }));
}

/// # Safety
/// As [`assume`]; the text is a C string.
unsafe extern "C" fn fail(generation: *mut OpenGeneration, why: *const c_char) {
    // SAFETY: the caller's.
    unsafe {
        let running = &mut *generation.cast::<Running<'_, '_, '_>>();
        let text = if why.is_null() { c"no reason is given" } else { CStr::from_ptr(why) };
        running.why = Some(text.to_string_lossy().into_owned());
    }
}
