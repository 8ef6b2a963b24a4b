//! Files, and what can go wrong with them.

pub mod age;
pub mod destination;
pub mod live;
pub mod output;
pub mod pattern;
pub mod place;
pub mod scratch;
pub mod sharing;
pub mod text;

use crate::file::text::{Text, TooLong};
use crate::mapping::Bytes;
use crate::sys;
use core::ffi::CStr;
use midflight_profile::format::Sink;

/// Size of the buffer that a profile goes through.
pub const BUFFER: usize = 32 << 10;

/// Why a file was not written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An error number of the system.
    System(i32),
    /// The runtime would not.
    Refused(Refusal),
}

/// Why the runtime will not write to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a descriptor of the process, see `place`.
    Descriptor,
    /// Another user's symbolic link leads there.
    ForeignLink,
    /// Another user's file is there.
    ForeignFile,
}

impl Failure {
    /// Why the last call failed.
    pub fn last() -> Self {
        Self::System(sys::errno())
    }

    /// The error number that the program gets.
    pub fn number(self) -> i32 {
        match self {
            Self::System(error) => error,
            Self::Refused(Refusal::Descriptor) => libc::EINVAL,
            Self::Refused(Refusal::ForeignLink | Refusal::ForeignFile) => libc::EACCES,
        }
    }
}

impl From<TooLong> for Failure {
    fn from(_: TooLong) -> Self {
        Self::System(libc::ENAMETOOLONG)
    }
}

/// Which file it is, whatever its name: its device, and its number there.
pub type Identity = [u64; 2];

/// That of no file.
pub const NO_FILE: Identity = [0; 2];

/// An open file, closed when dropped.
pub struct File(i32);

impl File {
    /// Opens what has a name in a directory, or in that in which the program is.
    pub fn open_at(directory: Option<&Self>, name: &CStr, flags: i32) -> Result<Self, Failure> {
        let directory = directory.map_or(libc::AT_FDCWD, |directory| directory.0);
        // SAFETY: the name is a C string.
        let descriptor =
            unsafe { libc::openat(directory, name.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
        if descriptor < 0 { Err(Failure::last()) } else { Ok(Self(descriptor)) }
    }

    pub fn stat(&self) -> Result<libc::stat, Failure> {
        // SAFETY: zeroes are a valid value; the descriptor is open.
        unsafe { sys::written(|stat| libc::fstat(self.0, stat)) }.ok_or_else(Failure::last)
    }

    /// Which file it is.
    pub fn identity(&self) -> Result<Identity, Failure> {
        self.stat().map(|stat| [stat.st_dev, stat.st_ino])
    }

    /// Whether it is in `/proc`, wherever that is mounted.
    pub fn is_in_proc(&self) -> Result<bool, Failure> {
        // SAFETY: zeroes are a valid value; the descriptor is open.
        let system: Option<libc::statfs> =
            unsafe { sys::written(|system| libc::fstatfs(self.0, system)) };
        system.map(|system| system.f_type == libc::PROC_SUPER_MAGIC).ok_or_else(Failure::last)
    }

    /// Where it leads, if it is a symbolic link that was opened itself.
    pub fn target(&self) -> Result<Text, Failure> {
        let mut target = Text::new();
        // SAFETY: the buffer has the size that is passed.
        let is_read = target.fill_with(|room, size| unsafe {
            libc::readlinkat(self.0, c"".as_ptr(), room, size) >= 0
        });
        if is_read { Ok(target) } else { Err(Failure::last()) }
    }

    /// Waits until no other process has a lock on it, and takes one, which is let go of when the
    /// file is closed; at most so many milliseconds, which are taken from `patience`. A file system
    /// that has no locks is no error: then there is none.
    ///
    /// # Errors
    /// `ETIMEDOUT`
    pub fn lock(&self, most: u32, patience: &mut u32) -> Result<(), Failure> {
        for _ in 0..=most {
            // SAFETY: takes numbers.
            if unsafe { libc::flock(self.0, libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return Ok(());
            }
            match sys::errno() {
                libc::EWOULDBLOCK | libc::EINTR if *patience != 0 => {
                    sys::sleep_a_millisecond();
                    *patience -= 1;
                }
                libc::EWOULDBLOCK | libc::EINTR => break,
                _ => return Ok(()),
            }
        }
        Err(Failure::System(libc::ETIMEDOUT))
    }

    pub fn read(&self) -> Result<Bytes, Failure> {
        let size =
            usize::try_from(self.stat()?.st_size).map_err(|_| Failure::System(libc::EFBIG))?;
        let mut content = Bytes::new(size)?;
        let room = content.bytes().as_mut_ptr();
        // SAFETY: there is room for so many bytes, which nothing else uses meanwhile.
        transfer(size, libc::EBADMSG, |done| unsafe {
            libc::pread(self.0, room.add(done).cast(), size - done, done as i64)
        })?;
        Ok(content)
    }

    /// Writes all bytes at an offset.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        // SAFETY: the bytes live through the call.
        transfer(bytes.len(), libc::ENOSPC, |done| unsafe {
            let rest = bytes.as_ptr().add(done).cast();
            libc::pwrite(self.0, rest, bytes.len() - done, offset.cast_signed() + done as i64)
        })
    }

    pub fn descriptor(&self) -> i32 {
        self.0
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

/// Reads or writes `size` bytes: `go_on` gets how many were, and makes the next system call.
/// `ended` is the error where it does nothing.
fn transfer(size: usize, ended: i32, mut go_on: impl FnMut(usize) -> isize) -> Result<(), Failure> {
    let mut done = 0;
    while done < size {
        match usize::try_from(go_on(done)) {
            Ok(0) => return Err(Failure::System(ended)),
            Ok(more) => done += more,
            Err(_) if sys::errno() == libc::EINTR => {}
            Err(_) => return Err(Failure::last()),
        }
    }
    Ok(())
}

/// The first bytes of a file, as many as there is room for; `None` if it cannot be read.
pub fn read_start<'a>(name: &CStr, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let file = File::open_at(None, name, libc::O_RDONLY).ok()?;
    // SAFETY: the room lives through the call.
    let read = unsafe { libc::read(file.0, room.as_mut_ptr().cast(), room.len()) };
    room.get(..usize::try_from(read).ok()?)
}

/// What is on its way to a file.
pub struct Buffered<'a> {
    /// The file, and where in it the buffer goes; none: standard error.
    file: Option<(&'a File, u64)>,
    buffer: &'a mut [u8; BUFFER],
    filled: usize,
}

impl<'a> Buffered<'a> {
    /// Nothing yet, to begin at `offset` of the file.
    pub fn new(file: &'a File, buffer: &'a mut [u8; BUFFER], offset: u64) -> Self {
        Self { file: Some((file, offset)), buffer, filled: 0 }
    }

    /// The same, to standard error.
    pub fn to_standard_error(buffer: &'a mut [u8; BUFFER]) -> Self {
        Self { file: None, buffer, filled: 0 }
    }

    pub fn flush(&mut self) -> Result<(), Failure> {
        let bytes = self.buffer.get(..core::mem::take(&mut self.filled)).unwrap_or_default();
        let Some((file, offset)) = &mut self.file else {
            // SAFETY: the bytes live through the call.
            return transfer(bytes.len(), libc::EIO, |done| unsafe {
                let rest = bytes.as_ptr().add(done).cast();
                libc::write(libc::STDERR_FILENO, rest, bytes.len() - done)
            });
        };
        file.write_at(bytes, *offset)?;
        *offset += bytes.len() as u64;
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
