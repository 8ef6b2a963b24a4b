//! The windows that states stand for, and which one follows.
//!
//! A state's window is the last k − 1 paths of the activation (fewer while it has had fewer: the
//! window is then anchored at ∗; fewer, and truncated, where the earlier ones are unknown). Behind
//! the path r the window is that of the paths with r, without the first where they are too many.

use core::ptr::copy_nonoverlapping;
use midflight_abi::MAX_K;
use midflight_abi::memory::{Node, WindowKind, label_size};

/// Labels of the longest window.
const MOST: usize = MAX_K as usize;

/// A window in the making.
#[derive(Clone, Copy)]
pub struct Window {
    labels: [u32; MOST],
    length: usize,
    pub kind: WindowKind,
}

impl Window {
    /// A window without labels.
    pub fn empty(kind: WindowKind) -> Self {
        Self { labels: [0; MOST], length: 0, kind }
    }

    /// That of the state after `label`, where windows of states have up to `k` − 1 labels.
    ///
    /// # Safety
    /// `node` is a node of a forest of that k.
    pub unsafe fn after(node: *mut Node, label: u32, k: u32) -> Self {
        let full = k.saturating_sub(1) as usize;
        // SAFETY: the caller's.
        let before = unsafe { Self::of(node) };
        let dropped = usize::from(before.length == full);
        let labels = before.labels().iter().copied().chain([label]).skip(dropped);
        let length = before.length + 1 - dropped;
        let kind = if length == full { WindowKind::Full } else { before.kind };
        let mut this = Self { length, ..Self::empty(kind) };
        this.labels.iter_mut().zip(labels).for_each(|(to, label)| *to = label);
        this
    }

    /// That of a node.
    ///
    /// # Safety
    /// `node` is a node of a forest.
    #[inline(always)]
    pub unsafe fn of(node: *mut Node) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let length = usize::from((*node).length);
            let mut this = Self { length, ..Self::empty((*node).kind) };
            let size = label_size((*(*node).forest).num_paths);
            for (index, label) in this.labels.iter_mut().take(length).enumerate() {
                *label = label_at(node, index, size);
            }
            this
        }
    }

    pub fn labels(&self) -> &[u32] {
        self.labels.get(..self.length).unwrap_or_default()
    }

    /// The last labels of it, so many, of which the earlier ones are not known.
    pub fn suffix(&self, length: usize) -> Self {
        let mut suffix = Self { length, ..Self::empty(WindowKind::Truncated) };
        let from = self.length.saturating_sub(length);
        for (to, &label) in suffix.labels.iter_mut().zip(self.labels().get(from..).unwrap_or(&[])) {
            *to = label;
        }
        suffix
    }

    /// Whether it is that of a node of a function with labels of that size.
    ///
    /// # Safety
    /// `node` is a node of a forest.
    pub unsafe fn is_of(&self, node: *mut Node, size: usize) -> bool {
        // SAFETY: the caller's.
        unsafe {
            usize::from((*node).length) == self.length
                && (*node).kind == self.kind
                && (0..).zip(self.labels()).all(|(at, &label)| label_at(node, at, size) == label)
        }
    }

    /// Writes the labels behind the fields of a node that has room for them.
    ///
    /// # Safety
    /// `node` has room for them.
    pub unsafe fn write(&self, node: *mut Node, size: usize) {
        for (index, label) in self.labels().iter().enumerate() {
            // SAFETY: the caller's; labels are little-endian.
            unsafe {
                let to = (&raw mut (*node).labels).cast::<u8>().add(index * size);
                copy_nonoverlapping((&raw const *label).cast::<u8>(), to, size);
            }
        }
    }

    /// A hash for which windows of different kinds or forests differ, too.
    #[inline(always)]
    pub fn hash(&self, forest: usize) -> u64 {
        let mut hash = (forest as u64).wrapping_add(self.kind as u64);
        for &label in self.labels() {
            hash = (hash ^ u64::from(label)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 32;
        }
        hash.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 16
    }
}

/// A label of the window of a node.
unsafe fn label_at(node: *mut Node, index: usize, size: usize) -> u32 {
    let mut label = 0u32;
    // SAFETY: the caller gives a node with so many labels of that size, which are little-endian.
    unsafe {
        let from = (&raw const (*node).labels).cast::<u8>().add(index * size);
        copy_nonoverlapping(from, (&raw mut label).cast::<u8>(), size);
    }
    label
}
