//! Files, and what can go wrong with them.

use crate::mapping::Bytes;
use crate::sys;
use crate::text::TooLong;
use core::ffi::CStr;
use midflight_profile::format::Sink;

/// Size of the buffer that a profile goes through.
pub const BUFFER: usize = 32 << 10;

/// Milliseconds that a lock is waited for.
const PATIENCE: u32 = 60_000;

/// An error number of the system.
#[derive(Clone, Copy)]
pub struct Failure(pub i32);

impl Failure {
    /// Why the last call failed.
    pub fn last() -> Self {
        Self(sys::errno())
    }
}

impl From<TooLong> for Failure {
    fn from(_: TooLong) -> Self {
        Self(libc::ENAMETOOLONG)
    }
}

/// An open file, closed when dropped.
pub struct File(i32);

impl File {
    /// Creates a file that does not exist.
    pub fn create(name: &CStr) -> Result<Self, Failure> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::open(name.as_ptr(), flags, 0o666) };
        if descriptor < 0 { Err(Failure::last()) } else { Ok(Self(descriptor)) }
    }

    /// Opens a file to read it.
    pub fn open(name: &CStr) -> Result<Self, Failure> {
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if descriptor < 0 { Err(Failure::last()) } else { Ok(Self(descriptor)) }
    }

    /// Waits until no other process has a lock on it, and takes one, which is let go of when the file
    /// is closed. A file system that has no locks is no error: then there is none.
    pub fn lock(&self) -> Result<(), Failure> {
        for _ in 0..PATIENCE {
            // SAFETY: takes numbers.
            if unsafe { libc::flock(self.0, libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return Ok(());
            }
            match sys::errno() {
                libc::EWOULDBLOCK | libc::EINTR => sys::sleep_a_millisecond(),
                _ => return Ok(()),
            }
        }
        Err(Failure(libc::ETIMEDOUT))
    }

    /// Whether the name is that of this file.
    pub fn has_name(&self, name: &CStr) -> bool {
        // SAFETY: zeroes are a valid value; the name is a C string.
        unsafe {
            let (mut this, mut named): (libc::stat, libc::stat) = core::mem::zeroed();
            libc::fstat(self.0, &raw mut this) == 0
                && libc::stat(name.as_ptr(), &raw mut named) == 0
                && (this.st_dev, this.st_ino) == (named.st_dev, named.st_ino)
        }
    }

    /// All that is in it.
    pub fn read(&self) -> Result<Bytes, Failure> {
        // SAFETY: zeroes are a valid value.
        let size = unsafe {
            let mut kind: libc::stat = core::mem::zeroed();
            if libc::fstat(self.0, &raw mut kind) != 0 {
                return Err(Failure::last());
            }
            usize::try_from(kind.st_size).map_err(|_| Failure(libc::EFBIG))?
        };
        let mut content = Bytes::new(size)?;
        let mut offset = 0;
        while let Some(room) = content.bytes().get_mut(offset..).filter(|room| !room.is_empty()) {
            let position = i64::try_from(offset).map_err(|_| Failure(libc::EFBIG))?;
            // SAFETY: the room lives through the call.
            let read =
                unsafe { libc::pread(self.0, room.as_mut_ptr().cast(), room.len(), position) };
            match usize::try_from(read) {
                Ok(0) => return Err(Failure(libc::EBADMSG)),
                Ok(read) => offset += read,
                Err(_) if sys::errno() == libc::EINTR => {}
                Err(_) => return Err(Failure::last()),
            }
        }
        Ok(content)
    }

    /// Writes all bytes at an offset.
    pub fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let position = i64::try_from(offset).map_err(|_| Failure(libc::EFBIG))?;
            // SAFETY: the bytes live through the call.
            let written =
                unsafe { libc::pwrite(self.0, bytes.as_ptr().cast(), bytes.len(), position) };
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

    /// Its descriptor, which is not closed any more.
    pub fn into_descriptor(self) -> i32 {
        let descriptor = self.0;
        core::mem::forget(self);
        descriptor
    }

    /// Closes it; some file systems tell of a full disk only here.
    pub fn close(self) -> Result<(), Failure> {
        let descriptor = self.into_descriptor();
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

/// The first bytes of a file, as many as there is room for; `None` if it cannot be read.
pub fn read_start<'a>(name: &CStr, room: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if descriptor < 0 {
        return None;
    }
    // SAFETY: the room lives through the call; the descriptor is open and not used again.
    let read = unsafe {
        let read = libc::read(descriptor, room.as_mut_ptr().cast(), room.len());
        libc::close(descriptor);
        read
    };
    room.get(..usize::try_from(read).ok()?)
}

/// The payload on its way to the file.
pub struct Buffered<'a> {
    file: &'a File,
    buffer: &'a mut [u8; BUFFER],
    filled: usize,
    offset: u64,
}

impl<'a> Buffered<'a> {
    /// Nothing yet, to begin at `offset` of the file.
    pub fn new(file: &'a File, buffer: &'a mut [u8; BUFFER], offset: u64) -> Self {
        Self { file, buffer, filled: 0, offset }
    }

    /// Writes what is in the buffer.
    pub fn flush(&mut self) -> Result<(), Failure> {
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
