//! Writing the profile.
//!
//! The file is written under a temporary name in its directory and then renamed, so that a reader
//! sees a whole profile or none. What goes wrong is reported in one line on standard error; the
//! program's exit status and `errno` stay what they are.

use crate::arena;
use crate::config::PROFILE_VARIABLE;
use crate::contexts;
use crate::contexts::write::Written;
use crate::file::destination;
use crate::file::live;
use crate::file::pattern;
use crate::file::place::{Missing, Place, Publish};
use crate::file::scratch::{SCRATCH, Scratch};
use crate::file::sharing;
use crate::file::text::Text;
use crate::file::{BUFFER, Buffered, Failure, File};
use crate::message::{self, Decimal};
use crate::paths::baseline;
use crate::paths::fallback;
use crate::paths::forest::ThreadForest;
use crate::process::ending;
use crate::process::image::{self, Inspected};
use crate::process::loader::Found;
use crate::process::privilege;
use crate::process::signal::Blocked;
use crate::process::{self, PROCESS, Process};
use crate::sys;
use core::ffi::CStr;
use midflight_abi::Mode;
use midflight_profile::format::{Encoder, FLAG_LOWER_BOUNDS, HEADER_SIZE, MemoryUse, Sink, Totals};

/// Writes the profile when the image that has the state ends.
pub fn write_at_exit() {
    let signals = Blocked::new();
    let Some(mut process) = process::lock() else { return };
    process.exit = Some(activations(&process));
    _ = write_and_report(&mut process, &When::End, &signals);
    let may_be_unloaded = process.is_in_library;
    drop(process);
    if may_be_unloaded {
        ending::release();
        crate::paths::context::delete_key();
    }
}

/// Writes the profile again when a shared library ends after the program: its destructors may have
/// counted since.
pub fn write_after_exit() {
    let signals = Blocked::new();
    let Some(mut process) = process::lock() else { return };
    if process.exit.is_some() {
        write_what_is_new(&mut process, &signals);
    }
}

/// Writes the profile when the process is about to end without destructors, or to become another
/// program. A process in which nothing was counted, as many are between `fork` and `exec`, leaves
/// none.
pub extern "C" fn write_before_end() {
    let signals = Blocked::new();
    if live::is_stranger() {
        return;
    }
    let Some(mut process) = PROCESS.lock_in_handler() else {
        message::print(&[
            b"the profile is not written: the runtime was busy when the program ended",
        ]);
        return;
    };
    if process.id == sys::process_id() {
        write_if_counted(&mut process, &signals);
    }
}

/// Writes the profile if anything was counted. A function of its own: a child that was made by
/// `clone`, and writes nothing, may have a stack on which there is no room for what a walk needs.
#[inline(never)]
fn write_if_counted(process: &mut Process, signals: &Blocked) {
    let mut any = process.exit.is_some();
    // SAFETY: the process lock and the context's are held.
    process.for_each_forest(|forest| any |= unsafe { ThreadForest::mark(forest) });
    // SAFETY: as above.
    process.for_each_tree(|tree| any |= unsafe { contexts::write::activations(tree) } != 0);
    if any {
        write_what_is_new(process, signals);
    } else {
        leave_file();
    }
}

/// Writes the profile unless that was done at exit and no function was entered since.
fn write_what_is_new(process: &mut Process, signals: &Blocked) {
    let now = activations(process);
    if process.exit != Some(now) {
        process.exit = process.exit.map(|_| now);
        _ = write_and_report(process, &When::End, signals);
    }
}

/// Writes the profile now, to `path` or to where the pattern says. Returns 0 or an error number.
pub fn write_now(path: Option<&CStr>) -> i32 {
    if privilege::is_raised() {
        return libc::EPERM;
    }
    let signals = Blocked::new();
    let Some(mut process) = process::lock() else { return libc::EBUSY };
    let result = write_and_report(&mut process, &When::Now(path), &signals);
    result.map_or_else(Failure::number, |()| 0)
}

/// Sets all counters to zero. Activations go on from where they are. What other threads count at
/// this moment may survive.
#[unsafe(no_mangle)]
extern "C" fn midflight_profile_reset() {
    let _signals = Blocked::new();
    if let Some(mut process) = process::lock() {
        process.begin_within();
    }
}

/// Pauses the profile, or goes on with it: what is counted while it is paused is not in it. Returns
/// 0 or an error number.
pub fn pause(paused: bool) -> i32 {
    let _signals = Blocked::new();
    let Some(process) = process::lock() else { return libc::EBUSY };
    if baseline::is_paused() == paused {
        return 0;
    }
    contexts::time::settle();
    let mut has_hot = false;
    process.for_each_tree(|tree| has_hot |= tree.hot.is_kept());
    if has_hot {
        // What is monitored while counts are not to be told would drive out what is.
        return libc::ENOTSUP;
    }
    let mut is_prepared = true;
    process.for_each_context(|context| {
        // SAFETY: the process lock and the context's are held.
        unsafe {
            let mut forests = ThreadForest::list((*context).forests());
            is_prepared = is_prepared
                && forests.all(|forest| ThreadForest::prepare_turn(forest))
                && contexts::write::prepare_turn(context);
        }
    });
    if !is_prepared {
        return libc::ENOMEM;
    }
    baseline::turn();
    0
}

/// Number of activations of all functions.
fn activations(process: &Process) -> u64 {
    let mut sum = 0u64;
    process.for_each_forest(|forest| {
        // SAFETY: the forest's context is locked.
        sum = sum.wrapping_add(unsafe {
            crate::paths::counter::read(&raw mut (*forest).shared.forest.totals.entries)
        });
    });
    process.for_each_tree(|tree| {
        // SAFETY: its context is locked.
        sum = sum.wrapping_add(unsafe { contexts::write::activations(tree) });
    });
    sum
}

/// When and where a profile is written.
enum When<'a> {
    /// While the program goes on: to a path, or to where the pattern says.
    Now(Option<&'a CStr>),
    /// When it ends.
    End,
}

fn write_and_report(
    process: &mut Process,
    when: &When<'_>,
    signals: &Blocked,
) -> Result<(), Failure> {
    // A child that shares its parent's memory, or was made without the handlers of `fork`, would
    // write its parent's counts a second time.
    if process.id != sys::process_id() {
        return Ok(());
    }
    if process.images.is_null() {
        tell_of_strangers(process);
        if let When::End = when {
            leave_file();
        }
        return Ok(());
    }
    contexts::time::settle();
    let Some(mut scratch) = SCRATCH.lock() else { return Err(Failure::System(libc::EBUSY)) };
    let scratch = &mut *scratch;
    let result = write(process, when, scratch);
    match &result {
        Ok(None) => {}
        Ok(Some(summary)) => {
            if !matches!(when, When::Now(Some(_))) {
                message::tell_new_root(b"profile", scratch.name.bytes());
            }
            tell_what_is_missing(summary, scratch.name.bytes());
        }
        Err(failure) => {
            signals.discard_write_signal(failure.number());
            message::tell_failure(b"profile", scratch.name.bytes(), *failure, PROFILE_VARIABLE);
        }
    }
    result.map(|_| ())
}

/// What the user has to know about a profile that was written.
struct Summary {
    totals: Totals,
    /// Events that were counted at truncated windows.
    truncated: u64,
    /// Forests whose image was never registered.
    strangers: u64,
    /// Activations without a calling context.
    elsewhere: u64,
}

fn tell_what_is_missing(summary: &Summary, name: &[u8]) {
    // That a thread's own memory was full is said by the profile, and that an image was refused has
    // been told.
    let is_told = image::any_was_refused() && !arena::has_run_out();
    let Totals { restarts, lost, .. } = summary.totals;
    let short = restarts.saturating_add(summary.truncated);
    if lost != 0 && !is_told || short != 0 && arena::has_run_out() {
        message::print(&[
            b"the profile '",
            name,
            b"' has lower bounds, since memory has run out: ",
            Decimal::new(short).bytes(),
            b" paths were counted with fewer paths before them than k tells, and ",
            Decimal::new(lost).bytes(),
            b" were not counted; raise MIDFLIGHT_MAX_MEMORY or use a smaller k",
        ]);
    }
    if summary.elsewhere != 0 && !is_told {
        let why: &[u8] = match contexts::outside::was_too_deep() {
            true => b" calls, since the stack was too deep when a burst began, or memory has run out; raise MIDFLIGHT_MAX_MEMORY",
            false => b" calls, since memory has run out; raise MIDFLIGHT_MAX_MEMORY",
        };
        message::print(&[
            b"the profile '",
            name,
            b"' has no calling context for ",
            Decimal::new(summary.elsewhere).bytes(),
            why,
            b" or, where hot ones are kept, MIDFLIGHT_THREAD_MEMORY",
        ]);
    }
    if summary.strangers != 0 {
        message::print(&[
            b"the profile '",
            name,
            b"' leaves out ",
            Decimal::new(summary.strangers).bytes(),
            b" functions of an image that was not registered; link it with libmidflight_rt.a",
        ]);
    }
}

/// Where no image was registered there is no profile; that is reported if there was something to
/// count.
fn tell_of_strangers(process: &Process) {
    let mut strangers = 0;
    process.for_each_forest(|_| strangers += 1);
    if strangers != 0 {
        message::print(&[
            b"no profile is written: ",
            Decimal::new(strangers).bytes(),
            b" functions were counted in images that were not registered; link them with libmidflight_rt.a",
        ]);
    }
}

/// Writes a profile. `None`: none is wanted, or there is one that always has all counts.
fn write(
    process: &mut Process,
    when: &When<'_>,
    scratch: &mut Scratch,
) -> Result<Option<Summary>, Failure> {
    let path = if let When::Now(path) = when { *path } else { None };
    if path.is_none() && live::is_left_behind() {
        // The file has all counts, and its name leads elsewhere now.
        if let When::End = when {
            live::tell_left_behind();
        }
        return Ok(None);
    }
    choose_name(process, path, scratch)?;
    let Some(place) = Place::find(&mut scratch.name, Missing::Made)? else { return Ok(None) };
    match when {
        When::Now(_) if live::is_at(&place) => return Ok(None),
        When::Now(_) => {}
        When::End => live::freeze(),
    }
    let Scratch { name, buffer, .. } = scratch;
    let summary = if path.is_some() || !pattern::is_shared(process.config.pattern()) {
        place.write_whole(Publish::InPlace, |file| write_file(process, file, buffer))?
    } else {
        let summary = sharing::add(&place, name, buffer, |sink| encode_sections(process, sink))?;
        // What is in the file is not to be added a second time.
        process.clear();
        process.exit = process.exit.map(|_| 0);
        summary
    };
    if let When::End = when {
        live::remove();
    }
    Ok(Some(summary))
}

/// The program does not count in a file any more, and the file goes.
fn leave_file() {
    live::freeze();
    live::remove();
}

/// Notes what the records tell of an image that is about to be registered. With the first one the
/// program begins to count in a file, if the environment asks for it.
///
/// Where some function carries out Algorithm 4 as published, it does not; if it does already, the
/// file goes.
pub fn note_image(process: &mut Process, inspected: &Inspected, found: &Found) {
    let is_first = process.images.is_null();
    let is_continuous = pattern::is_continuous(process.config.pattern());
    let is_refused = inspected.has_published && is_continuous && (is_first || live::is_live());
    if is_refused {
        message::print(&[
            b"no profile is left if the program is killed, since functions that were compiled with algorithm=published cannot count in a file",
        ]);
        leave_file();
    }
    if is_first || found.is_program {
        process.signature = inspected.signature;
        if is_first && !is_refused {
            begin_file(process);
        } else if live::is_live() && pattern::has_signature(process.config.pattern()) {
            process.serial = None;
            rename_file(process);
        }
    }
    if inspected.has_contexts {
        contexts::fallback::put_in_file(&mut process.arena);
    }
    if inspected.needs_heads && !contexts::head::want() {
        message::print(&[
            b"'",
            found.path(),
            b"' has no calling contexts: more is to be kept of each than of those of functions that ran before, which were compiled with other options; compile all of the program with the same",
        ]);
    } else if inspected.has_times {
        contexts::time::want();
    }
}

fn begin_file(process: &mut Process) {
    if !pattern::is_continuous(process.config.pattern()) {
        return;
    }
    if !process.contexts.is_null() {
        message::print(&[
            b"no profile is left if the program is killed, since functions ran before their image was registered",
        ]);
        return;
    }
    at_live_place(process, live::open, tell_no_file);
}

/// Puts the name of the file that the program counts in in `scratch.name`: that of the profile or,
/// where many processes add to that, one beside it. `None`: no profile is wanted.
fn choose_live_place(
    process: &mut Process,
    scratch: &mut Scratch,
) -> Result<Option<Place>, Failure> {
    choose_name(process, None, scratch)?;
    let place = Place::find(&mut scratch.name, Missing::Made)?;
    if place.is_some() && pattern::is_shared(process.config.pattern()) {
        let number = Decimal::new(process.id.unsigned_abs().into());
        for part in [b".".as_slice(), number.bytes(), b".live"] {
            scratch.name.push(part)?;
        }
        return Place::find(&mut scratch.name, Missing::Made);
    }
    Ok(place)
}

/// Gives the file the name that the profile has now.
fn rename_file(process: &mut Process) {
    at_live_place(process, live::rename, |name, failure| {
        message::tell_failure(b"profile", name, failure, PROFILE_VARIABLE);
    });
}

/// Does something with the name and the place of the file that the program counts in, if a profile
/// is wanted; `tell` tells what goes wrong.
fn at_live_place(
    process: &mut Process,
    act: fn(&Text, &Place) -> Result<(), Failure>,
    tell: fn(&[u8], Failure),
) {
    let Some(mut scratch) = SCRATCH.lock() else { return };
    let scratch = &mut *scratch;
    let result = choose_live_place(process, scratch)
        .and_then(|place| place.map_or(Ok(()), |place| act(&scratch.name, &place)));
    if let Err(failure) = result {
        tell(scratch.name.bytes(), failure);
    }
}

/// In a forked child: it counts in a file of its own, if its parent's has the process's ID in its
/// name; else it would take the parent's name away, and counts in memory. `reset` makes the memory
/// the child's.
pub fn renew_file(
    process: &mut Process,
    memory: Option<live::Copy>,
    reset: impl FnOnce(&mut Process),
) {
    let Some(memory) = memory else {
        if live::is_live() {
            message::print(&[
                b"a child is not profiled: there was no memory to copy its parent's counters",
            ]);
        } else if live::take_over() {
            reset(process);
        }
        return;
    };
    let Some(mut scratch) = SCRATCH.lock() else { return };
    let scratch = &mut *scratch;
    let (mut place, mut file) = (None, None);
    let pattern = process.config.pattern();
    if pattern::has_process(pattern) || pattern::is_shared(pattern) {
        match choose_live_place(process, scratch) {
            Ok(found) => place = found,
            Err(failure) => tell_no_file(scratch.name.bytes(), failure),
        }
        match place.as_ref().map(|place| memory.put_in_file(place)) {
            Some(Ok(new)) => file = Some(new),
            Some(Err(failure)) => tell_no_file(scratch.name.bytes(), failure),
            None => {}
        }
    }
    if file.is_none() && !memory.keep() {
        return;
    }
    reset(process);
    if let Some(Err(failure)) = file.map(|file| file.settle(&scratch.name)) {
        tell_no_file(scratch.name.bytes(), failure);
    }
}

fn tell_no_file(name: &[u8], failure: Failure) {
    let (what, advice) = match failure {
        Failure::System(libc::ENOMEM) => (
            "there is not enough address space",
            "raise its limit (ulimit -v) or lower MIDFLIGHT_MAX_MEMORY",
        ),
        failure => message::explain(failure),
    };
    let parts: &[&[u8]] =
        &[b"no profile is left if the program is killed, since '", name, b"' cannot be made: "];
    message::tell(parts, what, advice, PROFILE_VARIABLE);
}

/// Puts the name of the profile in `scratch.name`.
fn choose_name(
    process: &mut Process,
    path: Option<&CStr>,
    scratch: &mut Scratch,
) -> Result<(), Failure> {
    scratch.name.clear();
    if let Some(path) = path {
        return Ok(scratch.name.push(path.to_bytes())?);
    }
    let pattern = process.config.pattern();
    let directory = process.config.directory.bytes();
    scratch.expand(directory, pattern, process.id, process.signature)?;
    if pattern::has_process(pattern) {
        destination::make_unique(&mut scratch.name, process.is_in_library, &mut process.serial)?;
    }
    Ok(())
}

/// What `%m` stands for; `None` if no image has records.
pub fn signature() -> Option<u64> {
    let _signals = Blocked::new();
    let process = process::lock()?;
    (!process.images.is_null()).then_some(process.signature)
}

/// Writes the sections behind the header's place, then the header, which has their checksums.
fn write_file(
    process: &Process,
    file: &File,
    buffer: &mut [u8; BUFFER],
) -> Result<Summary, Failure> {
    let mut sink = Buffered::new(file, buffer, HEADER_SIZE as u64);
    let (header, summary) = encode_sections(process, &mut sink)?;
    sink.flush()?;
    file.write_at(&header, 0)?;
    Ok(summary)
}

/// Writes the sections; the header that belongs to them.
fn encode_sections<S: Sink<Error = Failure>>(
    process: &Process,
    sink: S,
) -> Result<([u8; HEADER_SIZE], Summary), Failure> {
    let mut encoder = Encoder::new(sink);
    let summary = encode(process, &mut encoder)?;
    let is_short = summary.totals.are_short() || summary.truncated != 0;
    let flags = process.flags() | if is_short { FLAG_LOWER_BOUNDS } else { 0 };
    Ok((encoder.finish(flags), summary))
}

fn encode<S: Sink<Error = Failure>>(
    process: &Process,
    encoder: &mut Encoder<S>,
) -> Result<Summary, Failure> {
    for image in process.images() {
        encoder.module(image.shared.signature, image.path())?;
    }
    let totals = Totals { lost: fallback::lost(), ..Totals::default() };
    let mut summary = Summary { totals, truncated: 0, strangers: 0, elsewhere: 0 };
    // What is counted as published has a section of its own behind the others'.
    for is_published in [false, true] {
        let mut result = Ok(());
        process.for_each_forest(|forest| {
            // SAFETY: the process lock and the context's are held.
            unsafe {
                let mode = (*forest).shared.mode;
                if result.is_ok() && is_published == (mode == Mode::Published) {
                    result = encode_forest(process, forest, encoder, &mut summary);
                }
            }
        });
        result?;
    }
    encode_trees(process, encoder, &mut summary)?;
    let mut used = MemoryUse::default();
    // SAFETY: the process lock and the context's are held.
    process.for_each_context(|context| unsafe {
        (*(*context).data.get()).room.add_to(&mut used);
    });
    if used.threads != 0 {
        encoder.memory_use(&used)?;
    }
    Ok(summary)
}

unsafe fn encode_forest<S: Sink<Error = Failure>>(
    process: &Process,
    this: *mut ThreadForest,
    encoder: &mut Encoder<S>,
    summary: &mut Summary,
) -> Result<(), Failure> {
    // SAFETY: the caller's.
    unsafe {
        if !ThreadForest::mark(this) {
            return Ok(());
        }
        let Some(module) = module_of(process, this) else {
            summary.strangers += 1;
            return Ok(());
        };
        let written = ThreadForest::encode(this, module, encoder)?;
        summary.totals.add_saturating(written.totals);
        summary.truncated = summary.truncated.saturating_add(written.truncated);
        Ok(())
    }
}

fn encode_trees<S: Sink<Error = Failure>>(
    process: &Process,
    encoder: &mut Encoder<S>,
    summary: &mut Summary,
) -> Result<(), Failure> {
    contexts::write::begin();
    summary.elsewhere = contexts::fallback::all_unknown();
    contexts::write::encode_elsewhere(summary.elsewhere, encoder)?;
    let mut result = Ok(());
    process.for_each_tree(|tree| {
        if result.is_ok() {
            // SAFETY: the process lock and the context's are held.
            let written = unsafe { contexts::write::encode(process, tree, encoder) };
            result = written.map(|Written { elsewhere, strangers }| {
                summary.elsewhere = summary.elsewhere.saturating_add(elsewhere);
                summary.strangers += strangers;
            });
        }
    });
    result
}

/// The place of a forest's image in the list.
///
/// # Safety
/// The process lock and the context's are held.
pub unsafe fn module_of(process: &Process, forest: *mut ThreadForest) -> Option<u32> {
    // SAFETY: the caller gives a forest.
    let (known, record) = unsafe { ((*forest).shared.image, (*forest).shared.record) };
    process.place_of(known.cast(), record)
}
