//! The node of an activation that has not found it by itself.

use crate::contexts::burst;
use crate::contexts::fallback;
use crate::contexts::function::Function;
use crate::contexts::head;
use crate::contexts::hot;
use crate::contexts::outside;
use crate::contexts::recover::{Activation, under_way};
use crate::contexts::time;
use crate::contexts::tree::{self, TAIL, Tree};
use crate::contexts::unwinder::{self, code_of};
use crate::contexts::word::{self, word};
use crate::file::live;
use crate::paths::context;
use crate::process::privilege;
use crate::process::signal::Blocked;
#[cfg(target_arch = "x86_64")]
use crate::sparing::sparing;
use crate::sys;
#[cfg(target_arch = "x86_64")]
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, Ordering};
use midflight_abi::RecordHeader;
#[cfg(target_arch = "x86_64")]
use midflight_abi::contexts::{
    CACHE_BITS, CACHE_FACTOR, CACHE_SHIFT, CONTEXT_BACK_OFFSET, CONTEXT_FRAME_OFFSET,
    CONTEXT_PARENT_OFFSET, CONTEXT_RECORD_OFFSET, WORD_BURST_OFFSET,
};
use midflight_abi::contexts::{
    ContextNode, ContextWord, FLAG_BURSTS, FLAG_OWN_FRAME, NO_BURST, cached_at,
};

/// The node of an activation of a function, of which `frame` is the address of the return address.
/// Never returns null: without memory it returns a node that stands in for all, whose activations
/// have no context, which is stated when the profile is written.
///
/// # Safety
/// `record` is a record of a registered image, with the flag of calling contexts.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn midflight_context_enter(
    frame: u64,
    record: *const RecordHeader,
) -> *mut ContextNode {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rdx, [rsp]", "jmp {enter}", enter = sym enter);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x2, x30", "b {enter}", enter = sym enter);
}

/// The node of an activation that is outside all the same, of a function that has no other body.
///
/// # Safety
/// As for [`midflight_context_enter`], with the flag of bursts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_context_visit(
    frame: u64,
    record: *const RecordHeader,
) -> *mut ContextNode {
    // SAFETY: the caller's; the thread has a tree where it has a node.
    unsafe {
        let node = enter(frame, record, 0);
        let is_outside = is_in_bursts(record) && tree::slots(node) != 0;
        if is_outside && !fallback::is_fallback(node) {
            let word = word();
            outside::note((*word).tree.cast(), node, record, frame);
            (*word).slot = tree::slot(node, 0);
        }
        node
    }
}

/// The same; `pc` is an address in the function's code.
unsafe extern "C" fn enter(frame: u64, record: *const RecordHeader, pc: u64) -> *mut ContextNode {
    // SAFETY: the caller's.
    unsafe {
        if !time::is_timed(&*record) || !time::are_taken() {
            return find_or_stand_in(frame, record, pc);
        }
        let from = time::counter();
        let node = find_or_stand_in(frame, record, pc);
        time::pass_over(from);
        node
    }
}

unsafe fn find_or_stand_in(frame: u64, record: *const RecordHeader, pc: u64) -> *mut ContextNode {
    let word = word();
    // SAFETY: the word is the calling thread's; the rest is the caller's. What is called from here
    // may be instrumented, and may leave the word elsewhere.
    unsafe {
        let slot = (*word).slot;
        if let Some(Entered { node, slot }) = try_enter(word, frame, record, pc) {
            (*word).slot = slot;
            return node;
        }
        let node = fallback::node();
        fallback::count(node, (*word).tree.cast(), record);
        // Where it could not be found out what is outside, nobody knows in this burst.
        let is_unknown = is_in_bursts(record)
            && !live::is_stranger()
            && !(*word).tree.is_null()
            && !(*(*word).tree.cast::<Tree>()).is_asking;
        (*word).slot = if is_unknown { tree::slot(node, 0) } else { slot };
        node
    }
}

/// Whether contexts of a function are counted in bursts. Without an unwinder there is one, which
/// does not end, and nothing is outside.
unsafe fn is_in_bursts(record: *const RecordHeader) -> bool {
    // SAFETY: the caller gives a record.
    unsafe { (*record).flags & FLAG_BURSTS != 0 && unwinder::is_there() }
}

/// A node, and the slot that it was called from.
struct Entered {
    node: *mut ContextNode,
    slot: tree::Slot,
}

unsafe fn try_enter(
    word: *mut ContextWord,
    frame: u64,
    record: *const RecordHeader,
    pc: u64,
) -> Option<Entered> {
    // SAFETY: the caller's; what a slot leads to is never freed.
    unsafe {
        // Its memory may be a copy that was made while the parent went on.
        if live::is_stranger() {
            return None;
        }
        let mut slot = (*word).slot;
        let mut parent = tree::owner(AtomicPtr::from_ptr(slot).load(Ordering::Acquire));
        let in_bursts = is_in_bursts(record);
        let number = burst::number();
        if in_bursts {
            burst::begin();
        } else if (*record).flags & FLAG_BURSTS != 0 {
            (*word).burst = number;
        }
        let is_new_burst = in_bursts && ((*word).burst != number || number == 0);
        let is_fallback = fallback::is_fallback(parent);
        let begins = (*word).tree.is_null() || parent == word::start();
        if begins {
            head::prepare(&*record);
            (*word).tree = begin()?.cast();
        } else if is_fallback && !is_new_burst {
            return None;
        }
        let tree = (*word).tree.cast::<Tree>();
        if begins || is_fallback {
            (parent, slot) = ((*tree).root(), tree::slot((*tree).root(), 0));
        }
        let is_hot = (*tree).hot.is_kept();
        // A handler that comes while nodes are removed has no context.
        let _guard = if is_hot { Some(Tree::lock(tree)?) } else { None };
        if is_hot {
            (slot, parent) = tree::kept(slot, parent);
            (*tree).hot.frame = frame;
        }
        let function = Tree::know(tree, record)?;
        // What is inlined has the frame of its caller.
        let least = frame + u64::from((*record).flags & FLAG_OWN_FRAME != 0);
        if (*parent).frame >= least
            && !is_new_burst
            && let Some(node) = Tree::find(parent, slot, record, frame)
        {
            if is_hot {
                hot::monitor(tree, node);
            }
            remember(word, parent, slot, node);
            return Some(Entered { node, slot });
        }
        let errno = sys::errno();
        let caller = if !in_bursts {
            Some(by_addresses(tree, (parent, slot), function, (frame, record, pc)))
        } else if (*tree).is_asking {
            None
        } else {
            if is_new_burst {
                (*word).burst = if number == 0 { NO_BURST } else { number };
            }
            by_stack(tree, (parent, slot), frame, is_new_burst)
        };
        let entered = caller.and_then(|Caller { mut node, mut slot, code }| {
            if is_hot {
                (slot, node) = tree::kept(slot, node);
            }
            let node = match Tree::find(node, slot, record, frame) {
                Some(known) => known,
                None => Tree::make(tree, node, slot, function, code)?,
            };
            Some(Entered { node, slot })
        });
        sys::set_errno(errno);
        let entered = entered?;
        if is_hot {
            hot::monitor(tree, entered.node);
        }
        Some(entered)
    }
}

/// Who has called an activation.
struct Caller {
    /// Its node
    node: *mut ContextNode,
    /// The slot of the call
    slot: tree::Slot,
    /// The lower half of where the code begins that the activation runs; 0 where that is not known
    code: u32,
}

/// The caller by the addresses of frames, where the word has a node and its slot.
unsafe fn by_addresses(
    tree: *mut Tree,
    (parent, slot): (*mut ContextNode, tree::Slot),
    function: *mut Function,
    (frame, record, pc): (u64, *const RecordHeader, u64),
) -> Caller {
    // SAFETY: the caller's.
    unsafe {
        // The unwinder may call what is instrumented, and a handler may come: then it is done
        // without.
        let is_nested = core::mem::replace(&mut (*tree).is_asking, true);
        let mut code = (*function).code;
        if code == 0 && !is_nested {
            code = code_of(pc);
            if (*record).flags & FLAG_OWN_FRAME != 0 {
                (*function).code = code;
            }
        }
        let activation = Activation { frame, record, code, is_nested };
        let (slot, node) = under_way(parent, slot, activation);
        (*tree).is_asking = is_nested;
        Caller { node, slot, code }
    }
}

/// The same where contexts are counted in bursts. `None`: that cannot be told.
unsafe fn by_stack(
    tree: *mut Tree,
    (parent, at): (*mut ContextNode, tree::Slot),
    frame: u64,
    is_new_burst: bool,
) -> Option<Caller> {
    // SAFETY: the caller's.
    unsafe {
        let known = if is_new_burst {
            None
        } else if (*parent).frame > frame && outside::is_direct(tree, parent, at, frame) {
            Some((at, parent))
        } else if (*parent).frame == 0 {
            outside::quick(tree, frame)
        } else {
            None
        };
        let (slot, node) = known.or_else(|| outside::locate(tree, parent, at, frame))?;
        Some(Caller { node, slot, code: 0 })
    }
}

/// Lets [`midflight_context_enter_sparing`] find a node, whose call site has several callees.
unsafe fn remember(
    word: *mut ContextWord,
    parent: *mut ContextNode,
    slot: tree::Slot,
    node: *mut ContextNode,
) {
    // SAFETY: the caller's; the cache has that many entries.
    unsafe {
        // One that was called in tail position has the slot of another call.
        if (*node).site & TAIL != 0 || (*node).parent != parent {
            return;
        }
        if (*word).cache.is_null() {
            (*word).cache = Tree::cache((*word).tree.cast());
        }
        if !(*word).cache.is_null() {
            *(*word).cache.add(cached_at(slot as u64, (*node).record as u64)) = node;
        }
    }
}

/// The calling thread's tree. `None`: there is no memory, or the thread is in the runtime.
#[cold]
unsafe fn begin() -> Option<*mut Tree> {
    let signals = Blocked::new();
    if privilege::is_raised() {
        return None;
    }
    let context = context::own(&signals)?;
    let _guard = context.lock.lock_as_owner()?;
    // SAFETY: the lock is held.
    unsafe {
        let data = context.data.get();
        (*data).tree.begin(&mut (*data).arena, context)?;
        time::begin();
        Some(&raw mut (*data).tree)
    }
}

#[cfg(target_arch = "x86_64")]
sparing! {
    /// [`midflight_context_enter`] as emitted code reaches it from where it has no frame yet: with
    /// the frame in `rax`, and the node in the place of that when it goes on.
    ///
    /// A call site with several callees is met often: which node is whose is remembered, and found
    /// here.
    ///
    /// # Safety
    /// As for [`midflight_context_enter`].
    midflight_context_enter_sparing calls enter with ["mov rdi, rax", "mov rsi, r10", "mov rdx, r11"]
    unless {
        "push rcx",
        ".cfi_adjust_cfa_offset 8",
        "push rdx",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "mov rdx, qword ptr [rip + midflight_context_word@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rdx + {slot}]",
        // In a burst that is new to the thread it is found out what is on the stack.
        "test byte ptr [r10 + {flags}], {bursts}",
        "jz 3f",
        "mov rsi, qword ptr [rip + midflight_context_burst@GOTPCREL]",
        "mov esi, dword ptr [rsi]",
        "cmp esi, dword ptr fs:[rdx + {burst}]",
        "jne 2f",
        "3:",
        "mov rdx, qword ptr fs:[rdx + {cache}]",
        "test rdx, rdx",
        "jz 2f",
        "lea rsi, [rcx + 4 * rcx]",
        "add rsi, r10",
        "imul rsi, rsi, {factor}",
        "shr rsi, {shift}",
        "and esi, {mask}",
        "mov rsi, [rdx + 8 * rsi]",
        "test rsi, rsi",
        "jz 2f",
        "cmp [rsi + {record}], r10",
        "jne 2f",
        // It was called from there, and not in tail position.
        "cmp [rsi + {back}], rcx",
        "jne 2f",
        "mov rdx, [rsi + {parent}]",
        "cmp [rdx + {frame}], rax",
        "jle 2f",
        "mov [rcx], rsi",
        "mov rax, rsi",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "lea rsp, [rsp + 128]",
        ".cfi_def_cfa_offset 0",
        "jmp r11",
        "2:",
        ".cfi_def_cfa_offset 152",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
    }
    slot = const offset_of!(ContextWord, slot),
    cache = const offset_of!(ContextWord, cache),
    factor = const CACHE_FACTOR,
    shift = const CACHE_SHIFT,
    mask = const (1 << CACHE_BITS) - 1,
    record = const CONTEXT_RECORD_OFFSET,
    back = const CONTEXT_BACK_OFFSET,
    parent = const CONTEXT_PARENT_OFFSET,
    frame = const CONTEXT_FRAME_OFFSET,
    flags = const offset_of!(RecordHeader, flags),
    bursts = const FLAG_BURSTS,
    burst = const WORD_BURST_OFFSET,
}
