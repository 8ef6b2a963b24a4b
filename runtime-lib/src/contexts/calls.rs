//! Call sites by return addresses, of functions that are counted in bursts.
//!
//! Each loaded image has a table of [`ContextCall`]s, which linkers put in the order of the code. A
//! call returns to an address behind its own place and in front of the next one.

use crate::arena::{Arena, Purpose};
use crate::contexts::burst;
use crate::contexts::unwinder;
use crate::process::signal::Blocked;
use crate::process::{self, privilege};
use crate::sys;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{CALL_LEFT, CALL_OUTSIDE, ContextCall};

/// The calls of an image. It is never freed; without calls while the image is not loaded.
struct Table {
    start: AtomicUsize,
    stop: AtomicUsize,
    next: AtomicPtr<Table>,
}

static FIRST: AtomicPtr<Table> = AtomicPtr::new(null_mut());

/// Threads that read tables.
static READERS: AtomicU32 = AtomicU32::new(0);

/// Changes where a table goes: what was found before means nothing then.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// A call site.
#[derive(Clone, Copy)]
pub struct Call {
    /// The record of the function
    pub record: *const RecordHeader,
    /// The number of the slot
    pub site: u32,
    /// Whether it is in the body that is run between bursts
    pub is_outside: bool,
}

/// The number of tables that are gone, in a way.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

fn tables() -> impl Iterator<Item = &'static Table> {
    let at = |place: &AtomicPtr<Table>| place.load(Ordering::Acquire);
    // SAFETY: the list consists of tables, which are never freed.
    core::iter::successors(unsafe { at(&FIRST).as_ref() }, move |table| unsafe {
        at(&table.next).as_ref()
    })
}

/// Adds the calls of an image. `None`: there is no memory, or the linker has not kept their order.
///
/// # Safety
/// They are the bounds of the image's section, mapped until [`forget`] is called; the process lock
/// is held.
unsafe fn add(arena: &mut Arena, start: usize, stop: usize) -> Option<()> {
    // SAFETY: the caller's.
    if !unsafe { is_ordered(start, stop) } {
        return None;
    }
    let table = match tables().find(|table| table.start.load(Ordering::Relaxed) == 0) {
        Some(free) => free,
        None => {
            let memory = arena.allocate(size_of::<Table>(), Purpose::Root)?.as_ptr();
            let memory = memory.cast::<Table>();
            let next = AtomicPtr::new(FIRST.load(Ordering::Relaxed));
            let (start, stop) = (AtomicUsize::new(0), AtomicUsize::new(0));
            // SAFETY: the arena has handed out that much.
            unsafe { memory.write(Table { start, stop, next }) };
            FIRST.store(memory, Ordering::Release);
            // SAFETY: it was just written.
            unsafe { &*memory }
        }
    };
    table.stop.store(stop, Ordering::Release);
    table.start.store(start, Ordering::Release);
    Some(())
}

/// Makes the calls of an image known. Called by the constructor of each linked image.
///
/// # Safety
/// They are the bounds of the image's section `midflight_calls`, mapped until
/// [`midflight_unregister_calls`] is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_register_calls(
    start: *const ContextCall,
    stop: *const ContextCall,
) {
    if privilege::is_raised() {
        return burst::stop();
    }
    let _signals = Blocked::new();
    let Some(mut process) = process::lock() else { return };
    burst::prepare();
    if !unwinder::is_there() {
        drop(process);
        return burst::give_up(
            "the program is linked without an unwinder; link it by midflight cc with --midflight-contexts",
        );
    }
    // SAFETY: the caller's.
    if unsafe { add(&mut process.arena, start as usize, stop as usize) }.is_none() {
        drop(process);
        burst::give_up(
            "the tables of calls cannot be used, as there is no memory for them, or the linker has not kept their order",
        );
    }
}

/// Lets go of the calls that begin at `start`.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_unregister_calls(start: *const ContextCall) {
    let _signals = Blocked::new();
    let Some(_process) = process::lock() else { return };
    forget(start as usize);
}

/// Whether the places of calls ascend.
unsafe fn is_ordered(start: usize, stop: usize) -> bool {
    let mut last = 0;
    let mut at = start;
    while at + size_of::<ContextCall>() <= stop {
        // SAFETY: the caller's.
        let place = unsafe { place(at) };
        if place < last {
            return false;
        }
        last = place;
        at += size_of::<ContextCall>();
    }
    true
}

/// Lets go of the calls of an image.
fn forget(start: usize) {
    if let Some(table) = tables().find(|table| table.start.load(Ordering::Relaxed) == start) {
        table.start.store(0, Ordering::SeqCst);
        table.stop.store(0, Ordering::SeqCst);
        GENERATION.fetch_add(1, Ordering::SeqCst);
        // Whoever reads it may look at it to the end.
        while READERS.load(Ordering::SeqCst) != 0 {
            sys::relax();
        }
    }
}

/// In the child of a `fork`, which has one thread.
pub fn after_fork_in_child() {
    READERS.store(0, Ordering::Relaxed);
}

/// Where the code of a call begins.
unsafe fn place(at: usize) -> u64 {
    // SAFETY: the caller gives the address of a call in a table.
    unsafe { (at as u64).wrapping_add_signed(i64::from((*(at as *const ContextCall)).place)) }
}

/// The call that returns to an address in code that begins at `code`.
pub fn find(returns_to: u64, code: u64) -> Option<Call> {
    READERS.fetch_add(1, Ordering::SeqCst);
    let mut found = None;
    let mut nearest = code;
    for table in tables() {
        let (start, stop) = (table.start.load(Ordering::SeqCst), table.stop.load(Ordering::SeqCst));
        if start == 0 {
            continue;
        }
        let (mut low, mut high) = (0, stop.saturating_sub(start) / size_of::<ContextCall>());
        let address = |index: usize| start + index * size_of::<ContextCall>();
        // The last one in front of the address.
        while low < high {
            let middle = low + (high - low) / 2;
            // SAFETY: the table is mapped while this thread reads; the index is in it.
            if unsafe { place(address(middle)) } < returns_to {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(index) = low.checked_sub(1) else { continue };
        // SAFETY: as above.
        unsafe {
            let place = place(address(index));
            if place >= nearest {
                nearest = place;
                let call = address(index) as *const ContextCall;
                let field = &raw const (*call).record;
                let record = (field as usize).wrapping_add_signed((*call).record as isize);
                let is_left = (*call).site & CALL_LEFT != 0;
                found = (!is_left).then_some(Call {
                    record: record as *const RecordHeader,
                    site: (*call).site & !CALL_OUTSIDE,
                    is_outside: (*call).site & CALL_OUTSIDE != 0,
                });
            }
        }
    }
    READERS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).ok();
    found
}
