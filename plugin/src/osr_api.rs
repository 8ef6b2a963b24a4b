//! The API of on-stack replacement for C and everything that calls C: `midflight_osr_api.h`.
//!
//! The functions take and return llvm-c references of the LLVM that the library was built for. No
//! panic leaves them: what the Rust side says as an error is a text here, to be freed with
//! `midflight_osr_free_text`.

use midflight_bridge::pass::{guard, internal_error};
use midflight_passes::osr::api::{
    BuilderRef, Compensation, Condition, Function, Generator, Insertion, Inst, Module, ModuleRef,
    OsrPoint, Prologue, StateMap, Value, ValueRef, emit_registration, insert_open_osr,
    insert_resolved_osr, live_values, remove_osr_point,
};
use std::ffi::{CStr, CString, c_char, c_void};

/// Code that computes a value of the destination.
type Compute = unsafe extern "C" fn(
    user: *mut c_void,
    builder: BuilderRef,
    needs: *const ValueRef,
    count: usize,
) -> ValueRef;

/// Code that runs at a transition.
type Effect = unsafe extern "C" fn(
    user: *mut c_void,
    builder: BuilderRef,
    needs: *const ValueRef,
    count: usize,
);

/// What the C side holds as `midflight_state_map`.
pub struct Map {
    map: StateMap<'static>,
    /// The first thing that it was told and that makes no sense; points are refused with it.
    problem: Option<String>,
}

impl Map {
    fn new(map: StateMap<'static>) -> Self {
        Map { map, problem: None }
    }

    fn tell(&mut self, told: Result<(), String>) {
        if let Err(problem) = told {
            self.problem.get_or_insert(problem);
        }
    }
}

/// # Safety
/// `raw` is null or a value of a live module.
unsafe fn instruction(raw: ValueRef, what: &str) -> Result<Inst<'static>, String> {
    // SAFETY: the caller's.
    let value: Value<'static> = unsafe { Value::from_llvm(raw) };
    value.as_inst().ok_or_else(|| format!("{what} is no instruction of a function"))
}

/// # Safety
/// `raw` is null or a value of a live module.
unsafe fn function(raw: ValueRef) -> Option<Function<'static>> {
    // SAFETY: the caller's.
    let value: Value<'static> = unsafe { Value::from_llvm(raw) };
    value.as_defined_function()
}

/// # Safety
/// `map` is null or a live map.
unsafe fn known<'a>(map: *const Map) -> Result<&'a Map, String> {
    // SAFETY: the caller's.
    unsafe { map.as_ref() }.ok_or_else(|| "there is no state map".to_string())
}

/// What the C side holds as `midflight_osr_point`.
pub struct Point(Insertion<'static>);

/// Stores a text for the caller, if it wants one.
///
/// # Safety
/// `place` is null or can be written to.
unsafe fn tell(place: *mut *mut c_char, text: &str) {
    if !place.is_null() {
        let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
        // SAFETY: the caller's.
        unsafe { *place = text.into_raw() };
    }
}

/// Runs `body`; an error or a panic becomes a text, and None.
///
/// # Safety
/// `message` is null or can be written to.
unsafe fn protected<R>(
    message: *mut *mut c_char,
    doing: &str,
    body: impl FnOnce() -> Result<R, String>,
) -> Option<R> {
    let error = match guard(body) {
        Ok(Ok(result)) => return Some(result),
        Ok(Err(error)) => error,
        Err(defect) => internal_error(doing, &defect),
    };
    // SAFETY: the caller's.
    unsafe { tell(message, &error) };
    None
}

fn boxed<T>(value: Option<T>) -> *mut T {
    value.map_or(std::ptr::null_mut(), |value| Box::into_raw(Box::new(value)))
}

/// A map from one function to another in which nothing corresponds yet; null if one of them is no
/// function with a body.
///
/// # Safety
/// `from` and `to` are null or values of a live module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_create(from: ValueRef, to: ValueRef) -> *mut Map {
    // SAFETY: the caller's.
    let functions = unsafe { function(from).zip(function(to)) };
    boxed(functions.map(|(from, to)| Map::new(StateMap::new(from, to))))
}

/// The identity from a function to an exact copy of it; null with a message if it is none.
///
/// # Safety
/// As [`midflight_state_map_create`]; `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_identity(
    from: ValueRef,
    copy: ValueRef,
    message: *mut *mut c_char,
) -> *mut Map {
    // SAFETY: the caller's.
    unsafe {
        boxed(protected(message, "mapping a function to its copy", || {
            let (from, copy) = function(from)
                .zip(function(copy))
                .ok_or("mapping a function to its copy: one of them is no function with a body")?;
            StateMap::identity(from, copy).map(Map::new).map_err(|error| error.to_string())
        }))
    }
}

/// First `first`, then `second`; null with a message if they do not meet.
///
/// # Safety
/// Both are live maps; `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_compose(
    first: *const Map,
    second: *const Map,
    message: *mut *mut c_char,
) -> *mut Map {
    // SAFETY: the caller's.
    unsafe {
        boxed(protected(message, "composing state maps", || {
            let (first, second) = (known(first)?, known(second)?);
            let map = first.map.then(&second.map).map_err(|error| error.to_string())?;
            let problem = first.problem.clone().or_else(|| second.problem.clone());
            Ok(Map { map, problem })
        }))
    }
}

/// The way back, without compensation code; null for null.
///
/// # Safety
/// `map` is null or a live map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_inverse(map: *const Map) -> *mut Map {
    // SAFETY: the caller's.
    let map = unsafe { map.as_ref() };
    boxed(map.map(|map| Map { map: map.map.inverse(), problem: map.problem.clone() }))
}

/// Says that two values are the same. Returns 0, or 1 with a message.
///
/// # Safety
/// `map` is a live map, the values are of its functions; `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_values(
    map: *mut Map,
    from: ValueRef,
    to: ValueRef,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: the caller's.
    let done = unsafe {
        let (from, to) = (Value::from_llvm(from), Value::from_llvm(to));
        protected(message, "mapping values", || {
            let map = map.as_mut().ok_or("mapping values: there is no state map")?;
            map.map.map_values(from, to).map_err(|error| error.to_string())
        })
    };
    i32::from(done.is_none())
}

/// Says where execution goes on that leaves the source before `point`: before `landing`.
///
/// # Safety
/// `map` is a live map, the instructions are of its functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_landing(
    map: *mut Map,
    point: ValueRef,
    landing: ValueRef,
) {
    // SAFETY: the caller's.
    unsafe {
        let Some(map) = map.as_mut() else { return };
        let instructions = instruction(point, "the point of a landing")
            .and_then(|point| Ok((point, instruction(landing, "a landing")?)));
        let told = instructions.map(|(point, landing)| map.map.map_landing(point, landing));
        map.tell(told);
    }
}

/// # Safety
/// `needs` points to `count` values.
unsafe fn values<'m>(needs: *const ValueRef, count: usize) -> Vec<Value<'m>> {
    // SAFETY: the caller's.
    (0..count).map(|i| unsafe { Value::from_llvm(*needs.add(i)) }).collect()
}

/// Gives code that computes a value of the destination, for transitions from `point`. It is called
/// when the point is inserted, with a builder and the values of the source in the order of `needs`.
///
/// # Safety
/// `map` is a live map; point, value and needs are of its functions; `user` may be used as long as
/// the map and those composed of it live; `compute` returns a value of the type of `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_compensate(
    map: *mut Map,
    point: ValueRef,
    value: ValueRef,
    needs: *const ValueRef,
    count: usize,
    compute: Compute,
    user: *mut c_void,
) {
    // SAFETY: the caller's.
    unsafe {
        let Some(map) = map.as_mut() else { return };
        let code = Compensation::new(values(needs, count), move |builder, of| {
            let of: Vec<ValueRef> = of.iter().map(|v| v.as_llvm()).collect();
            // SAFETY: the contract of `midflight_state_map_compensate`.
            Value::from_llvm(compute(user, builder.as_llvm(), of.as_ptr(), of.len()))
        });
        let value = Value::from_llvm(value);
        let told = instruction(point, "the point of compensation code")
            .map(|point| map.map.compensate(point, value, code));
        map.tell(told);
    }
}

/// Gives code that runs at each transition from `point`, before other compensation code.
///
/// # Safety
/// As [`midflight_state_map_compensate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_prologue(
    map: *mut Map,
    point: ValueRef,
    needs: *const ValueRef,
    count: usize,
    effect: Effect,
    user: *mut c_void,
) {
    // SAFETY: the caller's.
    unsafe {
        let Some(map) = map.as_mut() else { return };
        let code = Prologue::new(values(needs, count), move |builder, of| {
            let of: Vec<ValueRef> = of.iter().map(|v| v.as_llvm()).collect();
            // SAFETY: the contract of `midflight_state_map_prologue`.
            effect(user, builder.as_llvm(), of.as_ptr(), of.len());
        });
        let told = instruction(point, "the point of code that runs at each transition")
            .map(|point| map.map.set_prologue(point, code));
        map.tell(told);
    }
}

/// Frees a map.
///
/// # Safety
/// `map` is null or a live map, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_state_map_dispose(map: *mut Map) {
    if !map.is_null() {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(map) });
    }
}

/// Writes the values live before an instruction to `to`, at most `room` of them, and returns how
/// many there are; -1 if the place is no point.
///
/// # Safety
/// `before` is an instruction of a live module; `to` has room for so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_live_values(
    before: ValueRef,
    to: *mut ValueRef,
    room: usize,
) -> isize {
    // SAFETY: the caller's.
    unsafe {
        let Ok(before) = instruction(before, "the place") else { return -1 };
        let Ok(Some(live)) = guard(|| live_values(before)) else { return -1 };
        for (place, value) in live.iter().take(room).enumerate() {
            *to.add(place) = value.as_llvm();
        }
        live.len() as isize
    }
}

/// # Safety
/// `text` is null or a C string.
unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Inserts a resolved OSR point; null with a message if there can be none. `condition` is always,
/// never, count:N, every:N, flag or patch.
///
/// # Safety
/// `before` is null or a value of a live module, `name` and `condition` are null or C strings,
/// `map` is null or a live map, `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_insert_resolved(
    before: ValueRef,
    name: *const c_char,
    condition: *const c_char,
    map: *const Map,
    message: *mut *mut c_char,
) -> *mut Point {
    // SAFETY: the caller's.
    unsafe {
        let (name, condition) = (text_of(name), text_of(condition));
        boxed(protected(message, "inserting an OSR point", || {
            let refuse = |problem: String| format!("inserting OSR point '{name}': {problem}");
            let condition: Condition =
                condition.parse().map_err(|error| refuse(format!("{error}")))?;
            let map = known(map).map_err(refuse)?;
            if let Some(problem) = &map.problem {
                return Err(refuse(problem.clone()));
            }
            let before = instruction(before, "what it is to be before").map_err(refuse)?;
            let point = OsrPoint { before, name };
            insert_resolved_osr(&point, condition, &map.map)
                .map(Point)
                .map_err(|error| error.to_string())
        }))
    }
}

/// Inserts a point before an instruction, at which the running program asks for a version that is
/// made for `key`, a value that is live there, or for one that the generator chooses if it is null.
/// Returns 0, or 1 with a message.
///
/// # Safety
/// `before` and `key` are values of a live module, `key` may be null; the texts are C strings;
/// `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_insert_open(
    before: ValueRef,
    name: *const c_char,
    condition: *const c_char,
    generator: *const c_char,
    key: ValueRef,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: the caller's.
    let done = unsafe {
        let (name, condition, generator) = (text_of(name), text_of(condition), text_of(generator));
        protected(message, "inserting an open OSR point", || {
            let refuse = |problem: String| format!("inserting OSR point '{name}': {problem}");
            let condition: Condition =
                condition.parse().map_err(|error| refuse(format!("{error}")))?;
            let generator: Generator =
                format!("open:{generator}").parse().map_err(|error| refuse(format!("{error}")))?;
            let before = instruction(before, "what it is to be before").map_err(refuse)?;
            let key = (!key.is_null()).then(|| Value::from_llvm(key));
            let point = OsrPoint { before, name: name.clone() };
            insert_open_osr(&point, condition, &generator, key).map_err(|error| error.to_string())
        })
    };
    i32::from(done.is_none())
}

/// The continuation that a point leads to.
///
/// # Safety
/// `point` is a live point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_continuation(point: *const Point) -> ValueRef {
    // SAFETY: the caller's.
    unsafe { &*point }.0.continuation.as_llvm()
}

/// The address of a flag point's flag, a constant of the module; null for points of other
/// conditions.
///
/// # Safety
/// `point` is a live point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_point_flag(point: *const Point) -> ValueRef {
    // SAFETY: the caller's.
    unsafe { &*point }.0.flag().map_or(std::ptr::null_mut(), Value::as_llvm)
}

/// Adds a function to a module that a JIT compiles, which tells the runtime of its points; null
/// with a message if the name is taken or the module has such a function.
///
/// # Safety
/// `module` is a live module, `name` a C string, `message` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_emit_registration(
    module: ModuleRef,
    name: *const c_char,
    message: *mut *mut c_char,
) -> ValueRef {
    // SAFETY: the caller's.
    unsafe {
        let (module, name) = (Module::from_llvm(module), text_of(name));
        protected(message, "telling the runtime of a module's points", || {
            emit_registration(module, &name).map_err(|error| error.to_string())
        })
        .map_or(std::ptr::null_mut(), Function::as_llvm)
    }
}

/// Removes a point from its function, and frees it.
///
/// # Safety
/// `point` is null or a live point, which is not used again; its function is as it was after the
/// point was inserted, but for other points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_remove(point: *mut Point) {
    if !point.is_null() {
        // SAFETY: the caller's.
        let point = unsafe { Box::from_raw(point) };
        // A defect here has nobody to tell it to; the function is as the verifier will find it.
        let _ = guard(|| remove_osr_point(point.0));
    }
}

/// Frees a point and leaves it in its function.
///
/// # Safety
/// `point` is null or a live point, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_release(point: *mut Point) {
    if !point.is_null() {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(point) });
    }
}

/// Frees a message.
///
/// # Safety
/// `text` is null or a message of one of these functions, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's.
        drop(unsafe { CString::from_raw(text) });
    }
}
