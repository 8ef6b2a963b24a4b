//! Activations that are outside: they began between bursts, and have no nodes of their own.
//!
//! When a thread comes to the runtime for the first time in a burst, the unwinder tells what is on
//! its stack. The return address of each frame tells the call site that is under way there
//! (`calls`), and whether the activation is outside; nodes are made of all of them. From then on
//! only such activations are outside that were found now, for what is entered in a burst is not,
//! unless it has no other body, and then it is noted here. So a call that an activation outside
//! makes is known by its return address: it must be the innermost of those that were found and
//! whose frames are above. Where it has called by way of a library, that is where the return
//! address was when the unwinder was asked about the same.

use crate::contexts::calls::{self, Call};
use crate::contexts::tree::{self, FREE, Slot, Tree};
use crate::contexts::unwinder::{self, Frame};
use crate::process::signal::Blocked;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::ContextNode;

/// Activations that are looked at, at most. Where there are more, what is entered in the burst has
/// no context.
const MOST: usize = 1024;

/// Frames that are looked at, at most.
const FRAMES: usize = 8192;

/// Return addresses whose calls are remembered; a power of two.
const REMEMBERED: usize = 512;

/// Ways through libraries that are remembered; a power of two.
const WAYS: usize = 128;

/// Whether a stack had more.
static WAS_TOO_DEEP: AtomicBool = AtomicBool::new(false);

/// Whether contexts are missing since a stack was too deep.
pub fn was_too_deep() -> bool {
    WAS_TOO_DEEP.load(Ordering::Relaxed)
}

/// An activation on the stack.
#[derive(Clone, Copy)]
struct Place {
    /// The address of its return address
    frame: u64,
    /// The call that is under way
    call: Call,
    /// Its node, once that is known
    node: *mut ContextNode,
}

/// A return address, and its call, if it is of one.
#[derive(Clone, Copy)]
struct Remembered {
    returns_to: u64,
    call: Option<Call>,
    /// How far the return address was below that of its activation, when the unwinder told both; 0:
    /// it was not asked. Where a frame is as large as it was, the same activation is above
    below: u64,
}

/// An activation that was called by way of a library, and where the return address is of the call
/// that has led there.
#[derive(Clone, Copy)]
struct Way {
    frame: u64,
    returns_to: u64,
    called_at: u64,
}

#[repr(C)]
struct Memory {
    /// While they are found innermost first; then those that are outside, outermost first
    places: [Place; MOST],
    remembered: [Remembered; REMEMBERED],
    ways: [Way; WAYS],
}

/// What a thread knows of it.
pub struct Outside {
    /// Null before it is needed
    memory: *mut Memory,
    /// How many places are activations outside
    len: usize,
    /// Whether their frames are one above the other, as on one stack
    is_ordered: bool,
    /// What `remembered` is of, see [`calls::generation`]
    generation: u32,
}

impl Outside {
    /// Nothing is outside.
    pub const fn new() -> Self {
        Self { memory: null_mut(), len: 0, is_ordered: true, generation: 0 }
    }

    unsafe fn place(&mut self, index: usize) -> *mut Place {
        // SAFETY: the caller's: there is memory, and the index is below `MOST`.
        unsafe { (&raw mut (*self.memory).places).cast::<Place>().add(index) }
    }

    /// Keeps of so many activations those that are outside, in the reverse order.
    unsafe fn keep(&mut self, found: usize) {
        // SAFETY: the caller's: so many were found.
        unsafe {
            self.len = 0;
            for index in 0..found {
                let place = *self.place(index);
                if place.call.is_outside {
                    self.place(self.len).write(place);
                    self.len += 1;
                }
            }
            for index in 0..self.len / 2 {
                self.place(index).swap(self.place(self.len - 1 - index));
            }
            self.is_ordered = (1..self.len)
                .all(|index| (*self.place(index - 1)).frame > (*self.place(index)).frame);
        }
    }

    /// The innermost activation above a frame. Those that are not are gone.
    unsafe fn above(&mut self, frame: u64) -> Option<*mut Place> {
        if self.memory.is_null() || !self.is_ordered {
            return None;
        }
        // SAFETY: the caller's; there is memory for so many.
        unsafe {
            while let Some(last) = self.len.checked_sub(1) {
                let place = self.place(last);
                if (*place).frame > frame {
                    return Some(place);
                }
                self.len = last;
            }
        }
        None
    }

    /// Where it is remembered how an activation was called by way of a library.
    unsafe fn way(&mut self, frame: u64) -> *mut Way {
        // SAFETY: the caller's: there is memory, and the return address is there.
        unsafe {
            let returns_to = *(frame as *const u64);
            let hash = (frame ^ returns_to.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let ways = (&raw mut (*self.memory).ways).cast::<Way>();
            ways.add((hash >> 32) as usize & (WAYS - 1))
        }
    }
}

/// What is known of the call that an activation is of, by its return address.
unsafe fn call_of(this: *mut Tree, frame: u64) -> Option<*mut Remembered> {
    // SAFETY: the caller's: the return address is there; there is memory for what is remembered.
    unsafe {
        let outside = &raw mut (*this).outside;
        if (*outside).memory.is_null() || cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        let remembered = (&raw mut (*(*outside).memory).remembered).cast::<Remembered>();
        let generation = calls::generation();
        if (*outside).generation != generation {
            (*outside).generation = generation;
            (0..REMEMBERED).for_each(|index| (*remembered.add(index)).returns_to = 0);
        }
        let returns_to = *(frame as *const u64);
        let hash = returns_to.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let place = remembered.add(hash as usize & (REMEMBERED - 1));
        if (*place).returns_to != returns_to {
            let call = asking(this, || calls::find(returns_to, unwinder::code_around(returns_to)?));
            place.write(Remembered { returns_to, call, below: 0 });
        }
        Some(place)
    }
}

/// Asks the unwinder. No handler comes meanwhile, which might leave it by `siglongjmp`.
unsafe fn asking<T>(this: *mut Tree, ask: impl FnOnce() -> T) -> T {
    let _signals = Blocked::new();
    // SAFETY: the caller gives the calling thread's tree.
    unsafe {
        (*this).is_asking = true;
        let answer = ask();
        (*this).is_asking = false;
        answer
    }
}

/// What the unwinder's frames are looked through for.
struct Search {
    outside: *mut Outside,
    /// The activation that asks
    frame: u64,
    /// The node of the word, or one above it: whose activation is looked for next
    above: *mut ContextNode,
    frames: usize,
    /// The greatest address of a frame
    highest: u64,
    has_begun: bool,
    /// Where the return address is of the innermost call; 0: that is not known
    called_at: u64,
    /// The frame that was seen last, where the unwinder tells the address of it with the next one
    last: Option<Call>,
    len: usize,
    /// A node that has an activation, which is not outside, on the stack, and its call
    base: Option<(*mut ContextNode, Call)>,
    is_too_deep: bool,
}

impl Search {
    /// Takes an activation; true if no more are needed.
    unsafe fn take(&mut self, frame: u64, call: Call) -> bool {
        // SAFETY: the caller's; nodes are never unmapped.
        unsafe {
            if !call.is_outside {
                while !tree::is_root(self.above)
                    && ((*self.above).frame == 0 || (*self.above).frame < frame)
                {
                    self.above = (*self.above).parent;
                }
                let node = self.above;
                if (*node).frame == frame && tree::is_of(node, call.record) {
                    self.base = Some((node, call));
                    return true;
                }
            }
            if self.len == MOST {
                self.is_too_deep = true;
                return true;
            }
            (*self.outside).place(self.len).write(Place { frame, call, node: null_mut() });
            self.len += 1;
            false
        }
    }
}

extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: the unwinder gives a context, and what was given to it.
    unsafe {
        let search = &mut *search.cast::<Search>();
        let Frame { address, code } = Frame::of(context);
        search.frames += 1;
        search.highest = search.highest.max(address);
        if search.frames > FRAMES {
            search.is_too_deep = true;
            return unwinder::STOP;
        }
        let was_begun = search.has_begun;
        search.has_begun |= address == search.frame;
        if !search.has_begun || (!was_begun && !Frame::IS_OF_CALLEE) {
            return unwinder::GO_ON;
        }
        let at = unwinder::address_in(context);
        // Of code that it knows nothing of, the unwinder says what it has said before.
        let call = calls::find(at, code).filter(|_| unwinder::code_around(at) == Some(code));
        if Frame::IS_OF_CALLEE && call.is_some() && search.called_at == 0 {
            search.called_at = address;
        }
        let (frame, call) = match Frame::IS_OF_CALLEE {
            true => (address, core::mem::replace(&mut search.last, call)),
            false => (address, call),
        };
        match call {
            Some(call) if search.take(frame, call) => unwinder::STOP,
            _ => unwinder::GO_ON,
        }
    }
}

/// The slot of the call that is under way, by the stack. `None`: that is too deep, or there is no
/// memory.
///
/// # Safety
/// `this` is the calling thread's tree, `parent` a node of it, and `word` a slot of that: the one
/// of the word. What the tree needs to be changed is held.
pub unsafe fn locate(
    this: *mut Tree,
    parent: *mut ContextNode,
    word: Slot,
    frame: u64,
) -> Option<(Slot, *mut ContextNode)> {
    // SAFETY: the caller's.
    unsafe {
        let outside = &raw mut (*this).outside;
        (*outside).len = 0;
        if (*outside).memory.is_null() {
            let memory = Tree::take_memory(this, size_of::<Memory>())?;
            (*outside).memory = memory.as_ptr().cast();
        }
        let mut search = Search {
            outside,
            frame,
            above: parent,
            frames: 0,
            highest: 0,
            has_begun: false,
            called_at: 0,
            last: None,
            len: 0,
            base: None,
            is_too_deep: false,
        };
        asking(this, || unwinder::for_each_frame(visit, (&raw mut search).cast()));
        if let Some(last) = search.last.take()
            && search.base.is_none()
        {
            // Above it there was nothing that the unwinder knows.
            search.take(ABOVE_KNOWN, last);
        }
        if search.is_too_deep {
            WAS_TOO_DEEP.store(true, Ordering::Relaxed);
            return None;
        }
        let (mut node, mut at) = match search.base {
            Some((base, call)) => (base, slot(base, call)),
            None => above_all(parent, word, search.highest),
        };
        for index in (0..search.len).rev() {
            let place = (*outside).place(index);
            let Place { frame, call, .. } = *place;
            let function = Tree::know(this, call.record)?;
            node = match Tree::find(node, at, call.record, frame) {
                Some(known) => known,
                None => Tree::make(this, node, at, function, 0)?,
            };
            at = slot(node, call);
            (*node).frame = if call.is_outside { 0 } else { frame };
            (*place).node = node;
        }
        let is_outside = search.len != 0 && (*(*outside).place(0)).call.is_outside;
        (*outside).keep(search.len);
        if is_outside && search.called_at >= frame {
            let (returns_to, called_at) = (*(frame as *const u64), search.called_at);
            if called_at != frame {
                (*outside).way(frame).write(Way { frame, returns_to, called_at });
            }
            let innermost = (*(*outside).place((*outside).len - 1)).frame;
            if let Some(known) = call_of(this, called_at) {
                (*known).below = innermost.saturating_sub(called_at);
            }
        }
        Some((at, node))
    }
}

/// The innermost activation of the word's node, or of one above it, that is above all frames that
/// the unwinder has come to, and the call that is under way in it; else that of roots.
unsafe fn above_all(
    parent: *mut ContextNode,
    word: Slot,
    highest: u64,
) -> (*mut ContextNode, Slot) {
    // SAFETY: the caller's; nodes are never unmapped.
    unsafe {
        let (mut node, mut at) = (parent, word);
        while !tree::is_root(node) && (*node).frame <= highest {
            (node, at) = ((*node).parent, tree::slot_of(node));
        }
        (node, at)
    }
}

/// The slot of the call that is under way in an activation outside, which the thread has found in
/// this burst. `None`: that is not known so quickly.
///
/// # Safety
/// As for [`locate`]; `frame` is the address of the return address of an activation.
pub unsafe fn quick(this: *mut Tree, frame: u64) -> Option<(Slot, *mut ContextNode)> {
    // SAFETY: the caller's.
    unsafe {
        let outside = &raw mut (*this).outside;
        let Place { call: of_top, node, frame: above } = *(*outside).above(frame)?;
        let mut called_at = frame;
        let mut known = call_of(this, called_at)?;
        if (*known).call.is_none() {
            let way = *(*outside).way(frame);
            if way.frame != frame || way.returns_to != *(frame as *const u64) {
                return None;
            }
            called_at = way.called_at;
            known = call_of(this, called_at)?;
        }
        let Remembered { call, below, .. } = *known;
        let call = call?;
        let is_it = call.is_outside
            && call.record == of_top.record
            && above.checked_sub(called_at) == Some(below)
            && (*node).slots & FREE == 0;
        is_it.then(|| (slot(node, call), node))
    }
}

/// Whether an activation was called by one in a node that is not outside, and from that slot.
///
/// # Safety
/// As for [`quick`]; `at` is a slot of `node`.
pub unsafe fn is_direct(this: *mut Tree, node: *mut ContextNode, at: Slot, frame: u64) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let call = call_of(this, frame).and_then(|known| (*known).call);
        call.is_some_and(|call| {
            !call.is_outside && tree::is_of(node, call.record) && slot(node, call) == at
        })
    }
}

/// Notes an activation that has begun in a burst, and is outside all the same.
///
/// # Safety
/// As for [`locate`]; `node` is that of the activation.
pub unsafe fn note(
    this: *mut Tree,
    node: *mut ContextNode,
    record: *const RecordHeader,
    frame: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        (*node).frame = 0;
        let outside = &raw mut (*this).outside;
        (*outside).above(frame);
        if (*outside).memory.is_null() || (*outside).len == MOST {
            (*outside).is_ordered = false;
            return;
        }
        let call = Call { record, site: 0, is_outside: true };
        (*outside).place((*outside).len).write(Place { frame, call, node });
        (*outside).len += 1;
    }
}

/// The frame of an activation above which the unwinder knows nothing.
const ABOVE_KNOWN: u64 = i64::MAX as u64 - 1;

/// The slot of a call in a node of its function.
unsafe fn slot(node: *mut ContextNode, call: Call) -> Slot {
    // SAFETY: the caller's.
    unsafe { tree::slot(node, call.site.min(tree::slots(node).saturating_sub(1))) }
}
