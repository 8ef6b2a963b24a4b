//! The profile as a file that the program counts in, so that it survives a SIGKILL (`%c`).
//!
//! What arenas hand out for counters, and what leads to them, is then memory of a file that is
//! mapped and shared; emitted code notices nothing. `midflight_abi::memory` has the layouts, and
//! tells what makes them whole at each instruction. The file stands at the profile's name, so that
//! whoever looks for a profile there finds one: this file while the program runs and after it was
//! killed, and the ordinary one, which takes its place, after any other end.
//!
//! # One mapping
//!
//! Address space for all that the runtime may take (`MIDFLIGHT_MAX_MEMORY`) is mapped at once, and
//! the file is made longer as arenas take pieces of it: so an address stands for a place in the
//! file. The room on the disk is asked for before a piece is used, since a store to a page that has
//! none would be a SIGBUS. No descriptor is kept, which the program could see or close: the file is
//! opened again by its name, and nothing is done to it if another one has that name by then.
//!
//! # Where the file cannot go on
//!
//! Where the disk is full, the mapping becomes private in one step: what was counted before is in
//! the file, and what comes is memory of the process. The same is done when the ordinary profile
//! has taken the file's place. If the file cannot be opened any more, it does not grow, as if the
//! limit on memory were reached.

mod file;
mod fork;
mod stranger;

pub use fork::{Copy, before_publication};
pub use stranger::is_stranger;

use crate::arena;
use crate::contexts::{burst, hot};
use crate::file::place::{self, Missing, Place, Publish};
use crate::file::text::Text;
use crate::file::{Failure, File, Identity, NO_FILE};
use crate::lock::ProcessLock;
use crate::message;
use crate::sys;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use midflight_abi::ABI_VERSION;
use midflight_abi::contexts::ContextNode;
use midflight_abi::memory::{
    BYTE_ORDER, Context, Image, MEMORY_BEGAN_WITHIN, MEMORY_CLEARING, MEMORY_FROZEN, MEMORY_LOST,
    MEMORY_MAGIC, MEMORY_VERSION, MemoryHeader,
};
use midflight_profile::format::Bursts;

/// Bytes of the file before the first piece for an arena.
const FIRST: usize = arena::GRANULE;

/// Where the address space is limited, the runtime reserves no more than this part of it.
const SHARE: u64 = 4;

/// The file's header in memory; null: all memory is the process's own.
static HEADER: AtomicPtr<MemoryHeader> = AtomicPtr::new(null_mut());

/// Locked after all other locks, with all signals blocked.
static STATE: ProcessLock<State> =
    ProcessLock::new(State { name: Text::new(), identity: NO_FILE, is_stuck: false });

/// Bytes of address space from the header on.
static CAPACITY: AtomicUsize = AtomicUsize::new(0);

struct State {
    name: Text,
    identity: Identity,
    /// Whether it was told that the file does not grow any more.
    is_stuck: bool,
}

fn header() -> Option<&'static MemoryHeader> {
    // SAFETY: where a header is, memory stays.
    unsafe { HEADER.load(Ordering::Acquire).as_ref() }
}

/// Whether the profile is in a file that the program counts in.
pub fn is_live() -> bool {
    header().is_some()
}

/// Begins to keep the profile in a file of that name, before any arena has taken memory for it.
///
/// # Errors
/// Why there is no such file; all memory is the process's own then. `ENOMEM`: the address space is
/// limited, and has not room enough.
pub fn open(name: &Text, place: &Place) -> Result<(), Failure> {
    let Some(mut state) = STATE.lock() else { return Err(Failure::System(libc::EBUSY)) };
    let capacity = capacity()?;
    stranger::mark()?;
    let mut temporary = place.create_temporary()?;
    let file = temporary.take_file()?;
    let (header, identity) = begin(&file, capacity)?;
    temporary.publish(Publish::InPlace)?;
    state.set_file(name, identity)?;
    CAPACITY.store(capacity, Ordering::Relaxed);
    HEADER.store(header.as_ptr(), Ordering::Release);
    Ok(())
}

/// Address space to reserve.
fn capacity() -> Result<usize, Failure> {
    let capacity = arena::limit()
        .checked_add(FIRST)
        .and_then(|sum| sum.checked_next_multiple_of(arena::GRANULE))
        .ok_or(Failure::System(libc::ENOMEM))?;
    match sys::address_space() {
        Some(limit) if limit / SHARE < capacity as u64 => Err(Failure::System(libc::ENOMEM)),
        _ => Ok(capacity),
    }
}

/// Maps a new file, which has a header then.
fn begin(file: &File, capacity: usize) -> Result<(NonNull<MemoryHeader>, Identity), Failure> {
    file.extend(0, FIRST)?;
    let identity = file.identity()?;
    let memory = file.map_shared(None, capacity)?.cast::<MemoryHeader>();
    // SAFETY: the mapping has room for the header, and the file for this part of it.
    unsafe {
        memory.write(MemoryHeader {
            magic: MEMORY_MAGIC,
            version: MEMORY_VERSION,
            byte_order: BYTE_ORDER,
            pointer_size: size_of::<usize>() as u32,
            abi_version: ABI_VERSION.into(),
            flags: AtomicU32::new(0),
            process: sys::process_id().unsigned_abs(),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            base: memory.as_ptr() as u64,
            length: AtomicU64::new(FIRST as u64),
            contexts: AtomicPtr::new(null_mut()),
            images: AtomicPtr::new(null_mut()),
            shares: hot::shares().map_or([0; 2], |(phi, epsilon)| [phi, epsilon].map(f64::to_bits)),
            elsewhere: AtomicPtr::new(null_mut()),
            bursts: numbers_of(burst::kept()).map(AtomicU64::new),
            time_scale: AtomicU64::new(0),
        });
    }
    Ok((memory, identity))
}

/// Zeroed memory for counters and what leads to them. `None`: there is none.
pub fn map(size: usize) -> Option<NonNull<u8>> {
    if !is_live() {
        return sys::map(size);
    }
    let mut state = STATE.lock()?;
    // Another thread may have frozen it meanwhile.
    let Some(header) = header() else { return sys::map(size) };
    let length = header.length.load(Ordering::Relaxed) as usize;
    let longer =
        length.checked_add(size).filter(|&longer| longer <= CAPACITY.load(Ordering::Relaxed))?;
    let Some(file) = file::open(&state.name, state.identity) else {
        state.tell_stuck();
        return None;
    };
    if let Err(failure) = file.extend(length, size) {
        state.freeze(&file, header, MEMORY_FROZEN).ok()?;
        state.tell_frozen(failure);
        return sys::map(size);
    }
    header.length.store(longer as u64, Ordering::Release);
    NonNull::new((header.base as usize + length) as *mut u8)
}

impl State {
    fn set_file(&mut self, name: &Text, identity: Identity) -> Result<(), Failure> {
        self.name.clear();
        self.name.push(name.bytes())?;
        self.identity = identity;
        Ok(())
    }

    /// The file's place, if it is still there.
    fn place(&mut self) -> Option<Place> {
        let place = Place::find(&mut self.name, Missing::Refused).ok()??;
        (place.identity() == Some(self.identity)).then_some(place)
    }

    /// Makes the memory the process's own, with all that is in it.
    fn freeze(&mut self, file: &File, header: &MemoryHeader, flags: u32) -> Result<(), Failure> {
        let length = header.length.load(Ordering::Relaxed) as usize;
        header.flags.fetch_or(flags, Ordering::Relaxed);
        let Some(address) = NonNull::new(header.base as *mut u8) else {
            return Err(Failure::System(libc::EINVAL));
        };
        let frozen = file.map_private(address, length);
        if frozen.is_err() {
            header.flags.fetch_and(!flags, Ordering::Relaxed);
            return frozen;
        }
        HEADER.store(null_mut(), Ordering::Release);
        // SAFETY: nothing is there: no piece was taken behind the file's length.
        unsafe { sys::unmap(address.add(length), CAPACITY.load(Ordering::Relaxed) - length) };
        Ok(())
    }

    fn tell_frozen(&self, failure: Failure) {
        let (what, _) = message::explain(failure);
        message::print(&[
            b"if the program is killed, the profile '",
            self.name.bytes(),
            b"' has no more than what was counted up to now: ",
            what.as_bytes(),
            b"; the program goes on in ordinary memory",
        ]);
    }

    fn tell_stuck(&mut self) {
        if !core::mem::replace(&mut self.is_stuck, true) {
            message::print(&[
                b"the profile '",
                self.name.bytes(),
                b"' cannot grow any more, since the program cannot open it again: it was removed or replaced, or the program has given up the right or changed its root directory; its counts are lower bounds",
            ]);
        }
    }
}

/// Whether a file of that name is the one that the program counts in.
pub fn is_at(place: &Place) -> bool {
    is_live() && STATE.lock().is_some_and(|state| place.identity() == Some(state.identity))
}

/// Whether the program counts in a file that it cannot reach any more, since its root directory is
/// another one than when the file was made.
pub fn is_left_behind() -> bool {
    is_live() && place::is_root_changed() && STATE.lock().is_some_and(|mut s| s.place().is_none())
}

/// Tells where the file is that was left behind.
pub fn tell_left_behind() {
    if let Some(state) = STATE.lock() {
        message::print(&[
            b"the profile '",
            state.name.bytes(),
            b"' is below a root directory that the program has left, and stays as if it were killed",
        ]);
    }
}

/// The file has another name from now on, if it is still there.
pub fn rename(name: &Text, place: &Place) -> Result<(), Failure> {
    let Some(mut state) = STATE.lock().filter(|_| is_live()) else { return Ok(()) };
    if let Some(old) = state.place() {
        old.rename(place)?;
        let identity = state.identity;
        state.set_file(name, identity)?;
    }
    Ok(())
}

/// Makes the memory the process's own: what was counted up to now is in the file.
pub fn freeze() {
    let Some(mut state) = STATE.lock() else { return };
    let Some(header) = header() else { return };
    if let Some(file) = file::open(&state.name, state.identity) {
        // Where that cannot be done, the program goes on in the file.
        _ = state.freeze(&file, header, 0);
    }
}

/// In a forked child whose memory is its own already: it is in order. False: it is not.
pub fn take_over() -> bool {
    !stranger::is_marking() || stranger::mark().is_ok()
}

/// Removes the file, unless something else has its name by now.
pub fn remove() {
    let Some(mut state) = STATE.lock() else { return };
    if let Some(place) = state.place() {
        place.remove();
        state.identity = NO_FILE;
    }
}

/// Makes a change of several stores, which who reads the file meanwhile must not see halfway.
pub fn change(make: impl FnOnce()) {
    let Some(header) = header() else { return make() };
    header.begun.fetch_add(1, Ordering::AcqRel);
    make();
    header.ended.fetch_add(1, Ordering::AcqRel);
}

/// Sets all counters to zero by `clear`, which takes many stores: who reads the file meanwhile
/// finds that nothing was counted.
pub fn clear(clear: impl FnOnce()) {
    let set = |bits: u32| header().map(|header| header.flags.fetch_or(bits, Ordering::AcqRel));
    change(|| {
        set(MEMORY_CLEARING);
        clear();
        if let Some(header) = header() {
            header.flags.fetch_and(!MEMORY_CLEARING, Ordering::AcqRel);
        }
    });
}

/// Tells the file that events are counted nowhere.
pub fn note_loss() {
    if let Some(header) = header() {
        header.flags.fetch_or(MEMORY_LOST, Ordering::Relaxed);
    }
}

/// Tells the file that counting begins while activations are under way.
pub fn note_beginning() {
    if let Some(header) = header() {
        header.flags.fetch_or(MEMORY_BEGAN_WITHIN, Ordering::AcqRel);
    }
}

/// Interval and length of bursts; 0 where there are none.
fn numbers_of(bursts: Option<Bursts>) -> [u64; 2] {
    bursts.map_or([0; 2], |Bursts { interval, length }| [interval, length])
}

/// Tells the file when contexts are counted.
pub fn set_bursts(bursts: Option<Bursts>) {
    if let Some(header) = header() {
        let ([to_interval, to_length], [interval, length]) = (&header.bursts, numbers_of(bursts));
        to_length.store(length, Ordering::Release);
        to_interval.store(interval, Ordering::Release);
    }
}

/// Tells the file in what unit times are.
pub fn set_time_scale(scale: u64) {
    if let Some(header) = header() {
        header.time_scale.store(scale, Ordering::Release);
    }
}

/// Tells the file how often the profile was paused and resumed.
pub fn set_turns(turns: u64) {
    if let Some(header) = header() {
        header.turns.store(turns, Ordering::Release);
    }
}

/// Tells the file the first of the contexts, once it is whole.
pub fn set_contexts(first: *mut Context) {
    if let Some(header) = header() {
        header.contexts.store(first, Ordering::Release);
    }
}

/// Tells the file the node that stands in where no context can be given, once it is whole.
pub fn set_elsewhere(node: *mut ContextNode) {
    if let Some(header) = header() {
        header.elsewhere.store(node, Ordering::Release);
    }
}

/// Tells the file the first of the images, once it is whole.
pub fn set_images(first: *mut Image) {
    if let Some(header) = header() {
        header.images.store(first, Ordering::Release);
    }
}
