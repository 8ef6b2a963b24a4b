//! Memory that is needed for a while: unlike that of an arena it is given back.

use crate::file::Failure;
use crate::sys;
use core::marker::PhantomData;
use core::ptr::NonNull;
use midflight_profile::format::Sink;

/// Bytes that [`Bytes`] begins with.
const FIRST: usize = 64 << 10;

/// A number of values of which all bytes are zero at first.
pub struct Zeroed<T> {
    start: NonNull<u8>,
    size: usize,
    number: usize,
    values: PhantomData<T>,
}

impl<T: Copy> Zeroed<T> {
    /// So many values.
    ///
    /// # Safety
    /// Zeroes are a valid value of the type.
    pub unsafe fn new(number: usize) -> Result<Self, Failure> {
        let size =
            number.max(1).checked_mul(size_of::<T>()).ok_or(Failure::System(libc::ENOMEM))?;
        let start = sys::map(size).ok_or(Failure::System(libc::ENOMEM))?;
        Ok(Self { start, size, number, values: PhantomData })
    }

    pub fn values(&mut self) -> &mut [T] {
        // SAFETY: a mapping is aligned to pages, is this value's own, and has room for so many;
        // zeroes are valid, and nothing but values was stored.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.number) }
    }
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { sys::unmap(self.start, self.size) };
    }
}

/// Bytes that grow.
pub struct Bytes {
    room: Zeroed<u8>,
    len: usize,
}

impl Bytes {
    pub fn new(len: usize) -> Result<Self, Failure> {
        // SAFETY: bytes may be zero.
        Ok(Self { room: unsafe { Zeroed::new(len.max(FIRST)) }?, len })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        let len = self.len;
        self.room.values().get_mut(..len).unwrap_or_default()
    }

    fn reserve(&mut self, more: usize) -> Result<(), Failure> {
        let needed = self.len.checked_add(more).ok_or(Failure::System(libc::ENOMEM))?;
        if needed > self.room.number {
            // SAFETY: bytes may be zero.
            let mut larger = unsafe { Zeroed::<u8>::new(needed.max(self.room.number * 2)) }?;
            larger.values().iter_mut().zip(self.bytes()).for_each(|(to, from)| *to = *from);
            self.room = larger;
        }
        Ok(())
    }
}

impl Sink for Bytes {
    type Error = Failure;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.reserve(bytes.len())?;
        let end = self.len + bytes.len();
        let to = self.room.values().get_mut(self.len..end).unwrap_or_default();
        to.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_growth() {
        let mut memory = Bytes::new(3).unwrap_or_else(|_| panic!("no memory"));
        let mut expected = vec![0; 3];
        // In Miri it grows once.
        for n in 0..if cfg!(miri) { 1000 } else { 5000 } {
            assert!(memory.put(&[n as u8; 77]).is_ok());
            expected.extend([n as u8; 77]);
        }
        assert_eq!(memory.bytes(), expected);
    }
}
