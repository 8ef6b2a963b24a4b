//! The file that memory is mapped from.
//!
//! Its system calls are made raw: a program that has functions of these names, instrumented ones
//! perhaps, does not see them.

use crate::file::Failure;
use crate::file::place::{Place, Temporary};
use crate::file::text::Text;
use crate::process::signal::Blocked;
use crate::sys;
use core::ptr::NonNull;

/// Zeroes to write where a file system cannot set room aside.
const ZEROES: [u8; 4096] = [0; 4096];

/// Which file it is, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    node: u64,
}

impl Identity {
    /// No file.
    pub const NONE: Self = Self { device: 0, node: 0 };

    fn from_stat(stat: &libc::stat) -> Self {
        Self { device: stat.st_dev, node: stat.st_ino }
    }

    /// That of the file in a place, not through a symbolic link; `None` if there is none.
    pub fn of(place: &Place) -> Option<Self> {
        place.stat().as_ref().map(Self::from_stat)
    }
}

/// An open file, closed when dropped.
pub struct OpenFile(i32);

impl OpenFile {
    /// The open file of a new one.
    pub fn of(temporary: &mut Temporary<'_>) -> Result<Self, Failure> {
        let file = temporary.take_file().ok_or(Failure::System(libc::EBADF))?;
        Ok(Self(file.into_descriptor()))
    }

    /// Opens a file by its name; `None` if that cannot be done, or it is another file.
    pub fn open(name: &Text, identity: Identity) -> Option<Self> {
        // Something else may have the name by now, which is not waited for.
        let flags =
            libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: the name is a C string.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.c_str().as_ptr(), flags)
        };
        let file = i32::try_from(descriptor).ok().filter(|&number| number >= 0).map(Self)?;
        file.identity().is_ok_and(|own| own == identity).then_some(file)
    }

    /// Which file it is.
    pub fn identity(&self) -> Result<Identity, Failure> {
        // SAFETY: zeroes are a valid value; the descriptor is open.
        unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            let result = libc::syscall(libc::SYS_fstat, self.0, &raw mut stat);
            if result == 0 { Ok(Identity::from_stat(&stat)) } else { Err(Failure::last()) }
        }
    }

    /// Makes the file longer, with room on the disk for what is added.
    pub fn extend(&self, from: usize, size: usize) -> Result<(), Failure> {
        let signals = Blocked::new();
        let result = match self.allocate(from, size) {
            Err(Failure::System(libc::EOPNOTSUPP)) => self.write_zeroes(from, size),
            other => other,
        };
        if let Err(failure) = &result {
            signals.discard_write_signal(failure.number());
        }
        result
    }

    fn allocate(&self, from: usize, size: usize) -> Result<(), Failure> {
        loop {
            // SAFETY: the descriptor is open.
            let result = unsafe { libc::syscall(libc::SYS_fallocate, self.0, 0, from, size) };
            if result == 0 {
                return Ok(());
            }
            if sys::errno() != libc::EINTR {
                return Err(Failure::last());
            }
        }
    }

    fn write_zeroes(&self, from: usize, size: usize) -> Result<(), Failure> {
        let end = from + size;
        let mut at = from;
        while at < end {
            let most = ZEROES.len().min(end - at);
            // SAFETY: the descriptor is open, and there are as many zeroes.
            let written =
                unsafe { libc::syscall(libc::SYS_pwrite64, self.0, ZEROES.as_ptr(), most, at) };
            match usize::try_from(written) {
                Ok(0) => return Err(Failure::System(libc::ENOSPC)),
                Ok(written) => at += written,
                Err(_) if sys::errno() == libc::EINTR => {}
                Err(_) => return Err(Failure::last()),
            }
        }
        Ok(())
    }

    /// Maps the file from its beginning, shared: at an address in the place of what is there, or
    /// anywhere.
    pub fn map_shared(&self, at: Option<NonNull<u8>>, size: usize) -> Result<NonNull<u8>, Failure> {
        self.map(at, size, libc::MAP_SHARED)
    }

    /// Maps the file from its beginning at an address, in the place of what is there: with what it
    /// has now, and what is changed from now on is the process's own.
    pub fn map_private(&self, at: NonNull<u8>, size: usize) -> Result<(), Failure> {
        self.map(Some(at), size, libc::MAP_PRIVATE).map(|_| ())
    }

    fn map(&self, at: Option<NonNull<u8>>, size: usize, kind: i32) -> Result<NonNull<u8>, Failure> {
        let fixed = if at.is_some() { libc::MAP_FIXED } else { 0 };
        // SAFETY: what is mapped at a given address is memory of this library, whose contents the
        // caller has taken care of.
        unsafe { sys::map_at(at, size, kind | fixed, self.0) }.ok_or_else(Failure::last)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor is open and not used again.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}
