//! Writing the profile.
//!
//! The file is written under a temporary name in its directory and then renamed, so that a reader
//! sees a whole profile or none. What goes wrong is told in one line on standard error; the
//! program's exit status and `errno` stay what they are.

use crate::fallback;
use crate::forest::ThreadForest;
use crate::image::Image;
use crate::message::{self, Decimal};
use crate::pattern::{self, Values};
use crate::process::{PROCESS, Process};
use crate::signal::Blocked;
use crate::sys;
use crate::text::{Text, TooLong};
use core::ffi::CStr;
use core::ptr::null_mut;
use midflight_abi::PROFILE_HEADER_SIZE;
use midflight_profile::format::{Encoder, FLAG_LOWER_BOUNDS, ForestHeader, Sink};

const BUFFER: usize = 32 << 10;
/// Temporary names that are tried.
const MAX_ATTEMPTS: u64 = 100;

/// Memory that writing needs; there is one in a process, since stacks may be small.
pub struct Scratch {
    name: Text,
    temporary: Text,
    host: Text,
    buffer: [u8; BUFFER],
}

impl Scratch {
    /// Empty memory.
    pub const fn new() -> Self {
        Self { name: Text::new(), temporary: Text::new(), host: Text::new(), buffer: [0; BUFFER] }
    }
}

/// An error number of the system.
#[derive(Clone, Copy)]
struct Failure(i32);

impl Failure {
    fn last() -> Self {
        Self(sys::errno())
    }
}

impl From<TooLong> for Failure {
    fn from(_: TooLong) -> Self {
        Self(libc::ENAMETOOLONG)
    }
}

/// Writes the profile when the image that has the state ends.
pub fn write_at_exit() {
    let signals = Blocked::new();
    let Some(mut process) = PROCESS.lock() else { return };
    process.exit = Some(activations(&process));
    _ = write_and_report(&mut process, None, &signals);
    drop(process);
    crate::context::delete_key();
}

/// Writes the profile again when a shared library ends after the program: its destructors may have
/// counted since.
pub fn write_after_exit() {
    let signals = Blocked::new();
    let Some(mut process) = PROCESS.lock() else { return };
    let Some(written) = process.exit else { return };
    let now = activations(&process);
    if now != written {
        process.exit = Some(now);
        _ = write_and_report(&mut process, None, &signals);
    }
}

/// Writes the profile now, to `path` or to where the pattern says. Returns 0 or an error number.
pub fn write_now(path: Option<&CStr>) -> i32 {
    let signals = Blocked::new();
    let Some(mut process) = PROCESS.lock() else { return libc::EBUSY };
    match write_and_report(&mut process, path, &signals) {
        Ok(()) => 0,
        Err(Failure(error)) => error,
    }
}

/// Sets all counters to zero.
pub fn reset() {
    let _signals = Blocked::new();
    if let Some(mut process) = PROCESS.lock() {
        process.clear();
    }
}

/// Number of activations of all functions.
fn activations(process: &Process) -> u64 {
    let mut sum = 0u64;
    process.for_each_forest(|forest| {
        // SAFETY: the forest's context is locked.
        sum = sum.wrapping_add(unsafe { crate::counter::read(&raw mut (*forest).forest.entries) });
    });
    sum
}

fn write_and_report(
    process: &mut Process,
    path: Option<&CStr>,
    signals: &Blocked,
) -> Result<(), Failure> {
    // A child that shares its parent's memory, or was made without the handlers of `fork`, would
    // write its parent's counts a second time.
    if process.images.is_null() || process.id != sys::process_id() {
        return Ok(());
    }
    let uncancelled = sys::Uncancelled::new();
    // The scratch memory is moved out of the way of the rest by splitting the borrow.
    let scratch: *mut Scratch = &raw mut process.scratch;
    // SAFETY: nothing that is called here uses `process.scratch`.
    let scratch = unsafe { &mut *scratch };
    let result = write(process, path, scratch);
    match &result {
        Ok(summary) => tell_what_is_missing(summary, scratch.name.bytes()),
        Err(failure) => {
            signals.discard_write_signal(failure.0);
            tell_failure(*failure, scratch.name.bytes());
        }
    }
    drop(uncancelled);
    result.map(|_| ())
}

/// What the user has to know about a profile that was written.
struct Summary {
    restarts: u64,
    lost: u64,
    /// Forests whose image was never registered.
    strangers: u64,
}

fn tell_failure(failure: Failure, name: &[u8]) {
    let (what, advice) = message::explain(failure.0);
    message::print(&[
        b"cannot write the profile '",
        name,
        b"': ",
        what.as_bytes(),
        b"; ",
        advice.as_bytes(),
    ]);
}

fn tell_what_is_missing(summary: &Summary, name: &[u8]) {
    if summary.restarts != 0 || summary.lost != 0 {
        message::print(&[
            b"the profile '",
            name,
            b"' has lower bounds, because memory ran out: the history before ",
            Decimal::new(summary.restarts).bytes(),
            b" paths was dropped, and ",
            Decimal::new(summary.lost).bytes(),
            b" paths were not counted; raise MIDFLIGHT_MAX_MEMORY or use a smaller k",
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

fn write(
    process: &Process,
    path: Option<&CStr>,
    scratch: &mut Scratch,
) -> Result<Summary, Failure> {
    choose_name(process, path, scratch)?;
    if !resolve_target(&mut scratch.name)? {
        return Ok(Summary { restarts: 0, lost: 0, strangers: 0 });
    }
    let file = create_temporary(scratch)?;
    let result = write_file(process, &file, &mut scratch.buffer).and_then(|summary| {
        file.close()?;
        // SAFETY: both names are C strings.
        let renamed = unsafe {
            libc::rename(scratch.temporary.c_str().as_ptr(), scratch.name.c_str().as_ptr())
        };
        if renamed == 0 { Ok(summary) } else { Err(Failure::last()) }
    });
    if result.is_err() {
        // SAFETY: the name is a C string.
        unsafe { libc::unlink(scratch.temporary.c_str().as_ptr()) };
    }
    result
}

/// Puts the name of the profile in `scratch.name`.
fn choose_name(
    process: &Process,
    path: Option<&CStr>,
    scratch: &mut Scratch,
) -> Result<(), Failure> {
    scratch.name.clear();
    if let Some(path) = path {
        return Ok(scratch.name.push(path.to_bytes())?);
    }
    // SAFETY: the room has the size that is told.
    scratch.host.fill_with(|room, size| unsafe { libc::gethostname(room, size) == 0 });
    let values = Values {
        process: process.id.unsigned_abs().into(),
        host: scratch.host.bytes(),
        signature: program_signature(process),
    };
    scratch.name.push(process.config.directory.bytes())?;
    Ok(pattern::expand(process.config.pattern(), &values, &mut scratch.name)?)
}

/// The signature of the program or, if it is not instrumented, of the first library that is.
fn program_signature(process: &Process) -> u64 {
    let mut signature = None;
    for_each_image(process, |image| {
        if image.is_program || signature.is_none() {
            signature = Some(image.signature);
        }
    });
    signature.unwrap_or(0)
}

fn for_each_image(process: &Process, mut visit: impl FnMut(&Image)) {
    let mut image = process.images;
    while !image.is_null() {
        // SAFETY: images are never freed; the process lock is held.
        let current = unsafe { &*image };
        visit(current);
        image = current.next;
    }
}

/// Follows a symbolic link, which a rename would replace, and refuses what is no regular file.
/// `false`: the profile is unwanted, it would go to `/dev/null`.
fn resolve_target(name: &mut Text) -> Result<bool, Failure> {
    let Some(mut kind) = kind_of(name) else { return Ok(true) };
    if kind.st_mode & libc::S_IFMT == libc::S_IFLNK {
        let mut target = Text::new();
        let link = name.c_str().as_ptr();
        // SAFETY: the room has PATH_MAX bytes, as realpath asks for.
        if !target.fill_with(|room, _| unsafe { !libc::realpath(link, room).is_null() }) {
            return Err(Failure::last());
        }
        name.clear();
        name.push(target.bytes())?;
        kind = kind_of(name).ok_or(Failure(libc::ENOENT))?;
    }
    match kind.st_mode & libc::S_IFMT {
        libc::S_IFREG => Ok(true),
        libc::S_IFCHR if kind.st_rdev == libc::makedev(1, 3) => Ok(false),
        libc::S_IFDIR => Err(Failure(libc::EISDIR)),
        _ => Err(Failure(libc::EINVAL)),
    }
}

fn kind_of(name: &Text) -> Option<libc::stat> {
    // SAFETY: zeroes are a valid value; the name is a C string.
    unsafe {
        let mut kind: libc::stat = core::mem::zeroed();
        (libc::lstat(name.c_str().as_ptr(), &raw mut kind) == 0).then_some(kind)
    }
}

/// Creates a new file beside the profile's name, and the directories that it is in.
fn create_temporary(scratch: &mut Scratch) -> Result<File, Failure> {
    let mut directories_made = false;
    let mut attempt = 0;
    while attempt < MAX_ATTEMPTS {
        let temporary = &mut scratch.temporary;
        temporary.clear();
        temporary.push(scratch.name.bytes())?;
        temporary.push(b".tmp.")?;
        temporary.push(Decimal::new(sys::process_id().unsigned_abs().into()).bytes())?;
        temporary.push(b".")?;
        temporary.push(Decimal::new(attempt).bytes())?;
        match File::create(temporary.c_str()) {
            Ok(file) => return Ok(file),
            Err(Failure(libc::EEXIST)) => attempt += 1,
            Err(Failure(libc::ENOENT)) if !directories_made => {
                directories_made = true;
                make_directories(temporary);
            }
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure(libc::EEXIST))
}

/// Makes all directories on the way to a file. What fails shows when the file is created.
fn make_directories(name: &mut Text) {
    let whole = name.bytes().len();
    let mut path = Text::new();
    for index in 1..whole {
        if name.bytes().get(index) == Some(&b'/') {
            path.clear();
            if path.push(name.bytes().get(..index).unwrap_or_default()).is_ok() {
                // SAFETY: the path is a C string.
                unsafe { libc::mkdir(path.c_str().as_ptr(), 0o777) };
            }
        }
    }
}

/// An open file, closed when dropped.
struct File(i32);

impl File {
    fn create(name: &CStr) -> Result<Self, Failure> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::open(name.as_ptr(), flags, 0o666) };
        if descriptor < 0 { Err(Failure::last()) } else { Ok(Self(descriptor)) }
    }

    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let position = i64::try_from(offset).map_err(|_| Failure(libc::EFBIG))?;
            // SAFETY: the bytes live through the call.
            let written =
                unsafe { libc::pwrite64(self.0, bytes.as_ptr().cast(), bytes.len(), position) };
            match usize::try_from(written) {
                Ok(0) => return Err(Failure(libc::ENOSPC)),
                Ok(written) => {
                    bytes = bytes.get(written..).unwrap_or_default();
                    offset += written as u64;
                }
                Err(_) if sys::errno() == libc::EINTR => {}
                Err(_) => return Err(Failure::last()),
            }
        }
        Ok(())
    }

    /// Closes it; some file systems tell of a full disk only here.
    fn close(self) -> Result<(), Failure> {
        let descriptor = self.0;
        core::mem::forget(self);
        // SAFETY: the descriptor is open and not used again.
        if unsafe { libc::close(descriptor) } == 0 || sys::errno() == libc::EINTR {
            Ok(())
        } else {
            Err(Failure::last())
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is open and not used again.
        unsafe { libc::close(self.0) };
    }
}

/// The payload on its way to the file.
struct Buffered<'a> {
    file: &'a File,
    buffer: &'a mut [u8; BUFFER],
    filled: usize,
    offset: u64,
}

impl Buffered<'_> {
    fn flush(&mut self) -> Result<(), Failure> {
        self.file.write_at(self.buffer.get(..self.filled).unwrap_or_default(), self.offset)?;
        self.offset += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

impl Sink for Buffered<'_> {
    type Error = Failure;

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            if self.filled == BUFFER {
                self.flush()?;
            }
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let fits = room.len().min(bytes.len());
            let (now, later) = bytes.split_at_checked(fits).unwrap_or((bytes, b""));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.filled += now.len();
            bytes = later;
        }
        Ok(())
    }
}

/// Writes the payload after the header's place, then the header, which has its size and checksum.
fn write_file(
    process: &Process,
    file: &File,
    buffer: &mut [u8; BUFFER],
) -> Result<Summary, Failure> {
    let mut sink = Buffered { file, buffer, filled: 0, offset: PROFILE_HEADER_SIZE.into() };
    let mut encoder = Encoder::new(&mut sink);
    let summary = encode(process, &mut encoder)?;
    let flags = if summary.restarts != 0 || summary.lost != 0 { FLAG_LOWER_BOUNDS } else { 0 };
    let header = encoder.finish(flags);
    sink.flush()?;
    file.write_at(&header, 0)?;
    Ok(summary)
}

fn encode<S: Sink<Error = Failure>>(
    process: &Process,
    encoder: &mut Encoder<S>,
) -> Result<Summary, Failure> {
    let mut result = Ok(());
    for_each_image(process, |image| {
        if result.is_ok() {
            result = encoder.module(image.signature, image.path());
        }
    });
    result?;
    let mut summary = Summary { restarts: 0, lost: fallback::lost(), strangers: 0 };
    let mut result = Ok(());
    process.for_each_forest(|forest| {
        if result.is_ok() {
            // SAFETY: the process lock and the context's are held.
            result = unsafe { encode_forest(process, forest, encoder, &mut summary) };
        }
    });
    result.map(|()| summary)
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
        let forest = &raw mut (*this).forest;
        let header = ForestHeader {
            module,
            key: (*this).key,
            k: (*this).k,
            entries: crate::counter::read(&raw mut (*forest).entries),
            restarts: crate::counter::read(&raw mut (*forest).restarts),
            lost: crate::counter::read(&raw mut (*forest).lost),
            roots: ThreadForest::roots(this),
        };
        summary.restarts = summary.restarts.saturating_add(header.restarts);
        summary.lost = summary.lost.saturating_add(header.lost);
        encoder.forest(&header)?;
        ThreadForest::walk(this, |child| encoder.node(child.label, child.count, child.children))
    }
}

/// The place of a forest's image in the list.
unsafe fn module_of(process: &Process, forest: *mut ThreadForest) -> Option<u32> {
    let mut found = None;
    let mut index = 0;
    for_each_image(process, |image| {
        // SAFETY: the caller gives a forest.
        let (known, record) = unsafe { ((*forest).image, (*forest).record) };
        let is_it =
            if known == null_mut() { image.contains(record) } else { core::ptr::eq(known, image) };
        if is_it {
            found = Some(index);
        }
        index += 1;
    });
    found
}
