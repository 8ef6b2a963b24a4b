//! The two spin locks. Both are taken with all signals blocked.
//!
//! Order: the process lock first, then the lock of a context. Whoever takes the lock of another
//! thread's context holds the process lock.

use crate::sys;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// Milliseconds that a handler waits for the process lock.
const HANDLER_PATIENCE: u32 = 3000;

/// Data of the whole process behind a lock that knows its holder.
///
/// A thread that asks for what it holds already is refused rather than left to wait for ever: that
/// happens when a function that the runtime calls (`memcpy`, `calloc`) is itself instrumented.
pub struct ProcessLock<T> {
    holder: AtomicI32,
    /// Set between the handlers of `fork`, where the holder may safely enter again.
    open_to_holder: AtomicBool,
    data: UnsafeCell<T>,
}

// SAFETY: the data is reached only through a guard, which one thread at a time has.
unsafe impl<T: Send> Sync for ProcessLock<T> {}

impl<T> ProcessLock<T> {
    pub const fn new(data: T) -> Self {
        Self {
            holder: AtomicI32::new(0),
            open_to_holder: AtomicBool::new(false),
            data: UnsafeCell::new(data),
        }
    }

    /// Waits for the lock. `None`: the calling thread holds it already.
    pub fn lock(&self) -> Option<ProcessGuard<'_, T>> {
        self.lock_while(|| {
            sys::relax();
            true
        })
    }

    /// The same on behalf of a handler of signals, for a few seconds: the lock's holder may be in
    /// `fork` and wait for what the interrupted thread holds.
    pub fn lock_in_handler(&self) -> Option<ProcessGuard<'_, T>> {
        let mut left = HANDLER_PATIENCE;
        self.lock_while(|| {
            sys::sleep_a_millisecond();
            left -= 1;
            left != 0
        })
    }

    /// Takes the lock if nobody has it.
    pub fn try_lock(&self) -> Option<ProcessGuard<'_, T>> {
        self.lock_while(|| false)
    }

    fn lock_while(&self, mut wait: impl FnMut() -> bool) -> Option<ProcessGuard<'_, T>> {
        let thread = sys::thread_id();
        loop {
            match self.holder.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(ProcessGuard { lock: self, nested: false }),
                Err(holder) if holder == thread => {
                    let open = self.open_to_holder.load(Ordering::Relaxed);
                    return open.then_some(ProcessGuard { lock: self, nested: true });
                }
                Err(_) if wait() => {}
                Err(_) => return None,
            }
        }
    }

    /// Keeps the lock beyond the guard's life, for the time of a `fork`.
    pub fn hold_for_fork(&self, guard: ProcessGuard<'_, T>) {
        self.open_to_holder.store(true, Ordering::Relaxed);
        core::mem::forget(guard);
    }

    /// Takes back, in the parent or the child, the guard given to [`Self::hold_for_fork`]; `None`
    /// if none was.
    pub fn resume_after_fork(&self) -> Option<ProcessGuard<'_, T>> {
        if !self.open_to_holder.swap(false, Ordering::Relaxed) {
            return None;
        }
        // The child's only thread has an ID of its own.
        self.holder.store(sys::thread_id(), Ordering::Relaxed);
        Some(ProcessGuard { lock: self, nested: false })
    }
}

/// Access to the data of a [`ProcessLock`].
pub struct ProcessGuard<'a, T> {
    lock: &'a ProcessLock<T>,
    nested: bool,
}

impl<T> Deref for ProcessGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the calling thread holds the lock.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> DerefMut for ProcessGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the calling thread holds the lock.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T> Drop for ProcessGuard<'_, T> {
    fn drop(&mut self) {
        if !self.nested {
            self.lock.holder.store(0, Ordering::Release);
        }
    }
}

const FREE: u32 = 0;
const BY_OWNER: u32 = 1;
const BY_OTHER: u32 = 2;

/// The lock of a context: held by its owner while it changes structure, or by another thread that
/// reads the context.
pub struct ContextLock(AtomicU32);

impl ContextLock {
    pub const fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    /// Waits for the lock on behalf of the context's thread. `None`: it holds it already, so this
    /// call comes from a function that the runtime itself has called.
    pub fn lock_as_owner(&self) -> Option<ContextGuard<'_>> {
        loop {
            match self.0.compare_exchange_weak(FREE, BY_OWNER, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Some(ContextGuard(self)),
                Err(BY_OWNER) => return None,
                Err(_) => sys::relax(),
            }
        }
    }

    /// Waits for the lock on behalf of a reader.
    #[inline(never)]
    pub fn lock_as_other(&self) -> ContextGuard<'_> {
        while self
            .0
            .compare_exchange_weak(FREE, BY_OTHER, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            sys::relax();
        }
        ContextGuard(self)
    }

    /// Frees a lock whose guard was forgotten before a `fork`.
    ///
    /// # Safety
    /// The calling thread took the lock in its handler before the fork.
    pub unsafe fn release_after_fork(&self) {
        self.0.store(FREE, Ordering::Release);
    }
}

/// Possession of a [`ContextLock`].
pub struct ContextGuard<'a>(&'a ContextLock);

impl Drop for ContextGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(FREE, Ordering::Release);
    }
}
