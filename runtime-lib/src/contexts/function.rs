//! The functions in a tree.

use crate::arena::{Arena, Purpose};
use crate::process::image::Image;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::RecordHeader;

/// A function, as the nodes of a tree know it.
pub use midflight_abi::memory::CalledFunction as Function;

/// Lists of the first hash table.
const FIRST: usize = 64;

/// All functions of a tree: a hash table of lists. Looked up by the tree's thread at any time,
/// changed under the lock of its context.
pub struct Functions {
    table: AtomicPtr<Table>,
    count: usize,
}

/// A power of two, and so many lists.
#[repr(C)]
struct Table {
    lists: usize,
}

impl Table {
    fn list(this: *mut Self, hash: usize) -> *mut *mut Function {
        // SAFETY: the caller gives a table, behind which its lists are.
        unsafe { this.add(1).cast::<*mut Function>().add(hash & ((*this).lists - 1)) }
    }
}

fn hash(record: *const RecordHeader) -> usize {
    (record as usize >> 3).wrapping_mul(0x9E37_79B1) >> 8
}

impl Functions {
    pub const fn new() -> Self {
        Self { table: AtomicPtr::new(null_mut()), count: 0 }
    }

    /// The function of a record, if it is known. The record is not read: it may be gone.
    ///
    /// # Safety
    /// `this` points at the functions of a tree, whose thread is the caller's, or whose lock is
    /// held.
    pub unsafe fn find(this: *const Self, record: *const RecordHeader) -> Option<*mut Function> {
        // SAFETY: the caller's; functions are never freed.
        unsafe {
            let table = (*this).table.load(Ordering::Acquire);
            if table.is_null() {
                return None;
            }
            let list = Table::list(table, hash(record));
            chain(AtomicPtr::from_ptr(list).load(Ordering::Acquire))
                .find(|&at| (*at).record.load(Ordering::Relaxed).cast_const() == record)
        }
    }

    /// The same; it is made where it is not known. That of an image that was unloaded, and is
    /// loaded again, becomes that of the new record.
    ///
    /// # Safety
    /// As for [`Self::find`]; the lock of the tree's context is held, and signals are blocked.
    /// `record` is a usable record, and `first` the list that a reader of a file finds.
    pub unsafe fn find_or_make(
        &mut self,
        arena: &mut Arena,
        record: *const RecordHeader,
        first: &AtomicPtr<Function>,
    ) -> Option<*mut Function> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(known) = Self::find(self, record) {
                return Some(known);
            }
            self.make_room(arena)?;
            let function = match self.take_unloaded(record) {
                Some(function) => function,
                None => {
                    let new = arena.allocate(size_of::<Function>(), Purpose::Growth)?.as_ptr();
                    let new = new.cast::<Function>();
                    new.write(Function {
                        before: first.load(Ordering::Relaxed),
                        record: AtomicPtr::new(null_mut()),
                        image: AtomicPtr::new(null_mut()),
                        key: (*record).key,
                        slots: (*record).num_paths,
                        code: 0,
                        elsewhere: AtomicU64::new(0),
                        free: null_mut(),
                        forest: AtomicPtr::new(null_mut()),
                        number: 0,
                        epoch: 0,
                        next: null_mut(),
                    });
                    self.count += 1;
                    first.store(new, Ordering::Release);
                    new
                }
            };
            let list = Table::list(*self.table.get_mut(), hash(record));
            (*function).record.store(record.cast_mut(), Ordering::Release);
            (*function).code = 0;
            (*function).next = *list;
            AtomicPtr::from_ptr(list).store(function, Ordering::Release);
            Some(function)
        }
    }

    /// Takes the function of an image that is loaded again out of its list.
    unsafe fn take_unloaded(&mut self, record: *const RecordHeader) -> Option<*mut Function> {
        // SAFETY: the caller's.
        unsafe {
            let key = (*record).key;
            let function = self.iter().find(|&at| {
                let is_unloaded = (*at).record.load(Ordering::Relaxed).is_null();
                let image = (*at).image.load(Ordering::Relaxed).cast::<Image>();
                is_unloaded && (*at).key == key && !image.is_null() && (*image).contains(record)
            })?;
            for index in 0..(**self.table.get_mut()).lists {
                let mut link = Table::list(*self.table.get_mut(), index);
                while !(*link).is_null() {
                    if *link == function {
                        *link = (*function).next;
                        return Some(function);
                    }
                    link = &raw mut (**link).next;
                }
            }
            None
        }
    }

    /// All of them. They are not changed meanwhile.
    pub fn iter(&self) -> impl Iterator<Item = *mut Function> + use<> {
        let table = self.table.load(Ordering::Acquire);
        // SAFETY: tables and functions are never freed.
        let lists = if table.is_null() { 0 } else { unsafe { (*table).lists } };
        (0..lists).flat_map(move |index| {
            // SAFETY: the index is below the number of lists.
            let first = unsafe { *Table::list(table, index) };
            chain(first)
        })
    }

    /// Has no more functions than lists.
    fn make_room(&mut self, arena: &mut Arena) -> Option<()> {
        let old = *self.table.get_mut();
        // SAFETY: the table was made here.
        let lists = if old.is_null() { 0 } else { unsafe { (*old).lists } };
        if self.count < lists {
            return Some(());
        }
        let wanted = (lists * 2).max(FIRST);
        let bytes = size_of::<Table>() + wanted * size_of::<*mut Function>();
        let new = arena.allocate(bytes, Purpose::Growth)?.as_ptr().cast::<Table>();
        // SAFETY: the memory has that size. Functions move from list to list: who looks one up
        // meanwhile, in a handler, may not find it, so signals are blocked.
        unsafe {
            new.write(Table { lists: wanted });
            // A link is read before its function is given.
            for function in self.iter() {
                let record = (*function).record.load(Ordering::Relaxed);
                let list = Table::list(new, hash(record));
                (*function).next = *list;
                *list = function;
            }
        }
        self.table.store(new, Ordering::Release);
        Some(())
    }
}

/// A function and those behind it in its list, which are never freed; none where it is null.
fn chain(first: *mut Function) -> impl Iterator<Item = *mut Function> {
    let some = |function: *mut Function| (!function.is_null()).then_some(function);
    // SAFETY: a list holds functions.
    core::iter::successors(some(first), move |&at| some(unsafe { (*at).next }))
}
