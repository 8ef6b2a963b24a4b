//! Where a profile or a log goes: its directory, opened once, and its name there.
//!
//! All that is done to the file is done in that directory, so nobody can lead it elsewhere
//! meanwhile. A file is written under a temporary name and renamed when it is whole.
//!
//! # Whose files and links are used
//!
//! A program may run with other rights than those who can write to a directory on the way. The
//! kernel keeps it from opening their links and files (`fs.protected_symlinks`,
//! `fs.protected_regular`), but not from finding out where a link leads and renaming a file to
//! there. So that is kept here, whatever the kernel's settings:
//!
//! - In a directory that others may write to and that is sticky, as `/tmp` is, links and files are
//!   used if they belong to the process's user or to the directory's.
//! - A link in the place of the file itself belongs to the process's user or to root, and the file
//!   that it leads to belongs to the process's user.
//! - A descriptor (`/dev/stdout`, `/dev/fd/N`, `/proc/PID/fd/N`) is no place: what would be
//!   replaced is a file that the program has open.

use crate::file::text::Text;
use crate::file::{Failure, File, Identity, NO_FILE, Refusal};
use crate::message::Decimal;
use crate::sys;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

/// Links that are followed, as in Linux.
const MAX_LINKS: u32 = 40;

/// Temporary names that are tried.
const MAX_ATTEMPTS: u64 = 100;

/// Longest name in a directory, with its terminator.
const LEAF: usize = 256;

/// A name in a directory.
pub type Leaf = Text<LEAF>;

/// What is done about directories that are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// They are made.
    Made,
    /// `ENOENT`.
    Refused,
}

/// What is done about a file that has the name already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Publish {
    /// The new one takes its place.
    InPlace,
    /// It stays; `EEXIST`.
    IfNew,
}

/// A directory and a name in it.
pub struct Place {
    directory: File,
    leaf: Leaf,
    /// Whether a link stood in the place of the file.
    is_linked: bool,
}

/// A symbolic link on the way along a name.
struct Link {
    link: File,
    /// The bytes of the name that it takes.
    start: usize,
    end: usize,
    is_last: bool,
}

impl Place {
    /// Finds the place of a name, which becomes the one without links on the way. `None`: what is
    /// written there is unwanted, it would go to `/dev/null`.
    pub fn find(name: &mut Text, missing: Missing) -> Result<Option<Self>, Failure> {
        // Also where it is missing, as in a jail.
        if name.bytes() == b"/dev/null" {
            return Ok(None);
        }
        if is_descriptor(name.bytes()) {
            return Err(Failure::Refused(Refusal::Descriptor));
        }
        let mut is_linked = false;
        for _ in 0..MAX_LINKS {
            match walk(name.bytes(), missing)? {
                Ok(mut place) => {
                    place.is_linked = is_linked;
                    return Ok(place.is_wanted()?.then_some(place));
                }
                Err(Link { link, start, end, is_last }) => {
                    is_linked |= is_last;
                    let mut target = link.target()?;
                    target.push(name.bytes().get(end..).unwrap_or_default())?;
                    name.cut(if target.bytes().first() == Some(&b'/') { 0 } else { start });
                    name.push(target.bytes())?;
                }
            }
        }
        Err(Failure::System(libc::ELOOP))
    }

    /// Whether a file may be put here; not in the place of `/dev/null`.
    fn is_wanted(&self) -> Result<bool, Failure> {
        let there = match File::open_at(Some(&self.directory), self.leaf.c_str(), LOOK) {
            Err(Failure::System(libc::ENOENT)) => return Ok(true),
            there => there?.stat()?,
        };
        match there.st_mode & libc::S_IFMT {
            libc::S_IFREG => self.check_owner(&there).map(|()| true),
            libc::S_IFCHR if there.st_rdev == libc::makedev(1, 3) => Ok(false),
            libc::S_IFDIR => Err(Failure::System(libc::EISDIR)),
            _ => Err(Failure::System(libc::EINVAL)),
        }
    }

    fn check_owner(&self, file: &libc::stat) -> Result<(), Failure> {
        let is_own = file.st_uid == user();
        if is_own || !self.is_linked && is_trusted(&self.directory.stat()?, file.st_uid) {
            return Ok(());
        }
        Err(Failure::Refused(Refusal::ForeignFile))
    }

    /// The name without its directory.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Opens the file to read it; `None` if there is none.
    pub fn open(&self) -> Result<Option<File>, Failure> {
        // Something that waits for a writer may have come here meanwhile.
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = match File::open_at(Some(&self.directory), self.leaf.c_str(), flags) {
            Err(Failure::System(libc::ENOENT)) => return Ok(None),
            file => file?,
        };
        let stat = file.stat()?;
        if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(Failure::System(libc::EINVAL));
        }
        self.check_owner(&stat)?;
        Ok(Some(file))
    }

    /// Which file is here, not through a symbolic link; `None` if there is none.
    pub fn identity(&self) -> Option<Identity> {
        File::open_at(Some(&self.directory), self.leaf.c_str(), LOOK).ok()?.identity().ok()
    }

    /// Creates a new file beside the place.
    pub fn create_temporary(&self) -> Result<Temporary<'_>, Failure> {
        let mut leaf = Leaf::new();
        for attempt in 0..MAX_ATTEMPTS {
            leaf.clear();
            leaf.push(self.leaf.bytes())?;
            leaf.push(b".tmp.")?;
            leaf.push(Decimal::new(sys::process_id().unsigned_abs().into()).bytes())?;
            leaf.push(b".")?;
            leaf.push(Decimal::new(attempt).bytes())?;
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
            match File::open_at(Some(&self.directory), leaf.c_str(), flags) {
                Err(Failure::System(libc::EEXIST)) => {}
                file => {
                    return Ok(Temporary {
                        place: self,
                        leaf,
                        file: Some(file?),
                        is_published: false,
                    });
                }
            }
        }
        Err(Failure::System(libc::EEXIST))
    }

    /// Lets `fill` write a new file, which then gets the name. What fails leaves the file that has
    /// the name as it is.
    pub fn write_whole<T>(
        &self,
        publish: Publish,
        fill: impl FnOnce(&File) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut temporary = self.create_temporary()?;
        let file = temporary.take_file()?;
        let value = fill(&file)?;
        file.close()?;
        temporary.publish(publish)?;
        Ok(value)
    }

    /// The same in a directory, under another name.
    pub fn beside(&self, leaf: &Leaf) -> Result<Self, Failure> {
        let mut own = Leaf::new();
        own.push(leaf.bytes())?;
        let directory = File::open_at(Some(&self.directory), c".", DIRECTORY)?;
        Ok(Self { directory, leaf: own, is_linked: false })
    }

    /// Gives the file that is here another place, and takes that from what has it, if anything has.
    pub fn rename(&self, to: &Self) -> Result<(), Failure> {
        rename(&self.directory, &self.leaf, to)
    }

    /// Removes the file that is here, if that can be done.
    pub fn remove(&self) {
        unlink(&self.directory, &self.leaf);
    }
}

/// A new file that is not yet in its place. It is removed unless it gets there.
pub struct Temporary<'a> {
    place: &'a Place,
    leaf: Leaf,
    file: Option<File>,
    is_published: bool,
}

impl Temporary<'_> {
    /// The open file; there is none the second time.
    pub fn take_file(&mut self) -> Result<File, Failure> {
        self.file.take().ok_or(Failure::System(libc::EBADF))
    }

    /// Puts it in its place.
    pub fn publish(mut self, publish: Publish) -> Result<(), Failure> {
        if publish == Publish::IfNew {
            let directory = self.place.directory.descriptor();
            let (from, to) = (self.leaf.c_str().as_ptr(), self.place.leaf.c_str().as_ptr());
            // SAFETY: both names are C strings. What was linked here is left to `drop` to remove.
            if unsafe { libc::linkat(directory, from, directory, to, 0) } == 0 {
                return Ok(());
            }
            if sys::errno() == libc::EEXIST {
                return Err(Failure::System(libc::EEXIST));
            }
            // There are file systems without links.
        }
        // It may have changed since it was looked at.
        if !self.place.is_wanted()? {
            return Err(Failure::System(libc::EINVAL));
        }
        rename(&self.place.directory, &self.leaf, self.place)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            unlink(&self.place.directory, &self.leaf);
        }
    }
}

/// To look at what has a name, and at what that is, in one.
const LOOK: i32 = libc::O_PATH | libc::O_NOFOLLOW;

/// To open a directory in which nothing is listed.
const DIRECTORY: i32 = libc::O_PATH | libc::O_DIRECTORY;

/// Goes along a name to its place, or to the first link on the way.
fn walk(name: &[u8], missing: Missing) -> Result<Result<Place, Link>, Failure> {
    let root = if name.first() == Some(&b'/') { c"/" } else { c"." };
    let mut directory = File::open_at(None, root, DIRECTORY)?;
    let mut start = 0;
    loop {
        let rest = name.get(start..).unwrap_or_default();
        let Some(slash) = rest.iter().position(|&byte| byte == b'/') else {
            return last(directory, rest, start);
        };
        let end = start + slash;
        if slash != 0 {
            let mut component = Leaf::new();
            component.push(rest.get(..slash).unwrap_or_default())?;
            let next = enter(&directory, component.c_str(), missing)?;
            let stat = next.stat()?;
            match stat.st_mode & libc::S_IFMT {
                libc::S_IFDIR => directory = next,
                libc::S_IFLNK if is_trusted(&directory.stat()?, stat.st_uid) => {
                    return Ok(Err(Link { link: next, start, end, is_last: false }));
                }
                libc::S_IFLNK => return Err(Failure::Refused(Refusal::ForeignLink)),
                _ => return Err(Failure::System(libc::ENOTDIR)),
            }
        }
        start = end + 1;
    }
}

/// Looks at the last component of a name.
fn last(directory: File, component: &[u8], start: usize) -> Result<Result<Place, Link>, Failure> {
    if component.is_empty() {
        return Err(Failure::System(libc::EISDIR));
    }
    let mut leaf = Leaf::new();
    leaf.push(component)?;
    let link = match File::open_at(Some(&directory), leaf.c_str(), LOOK) {
        Err(Failure::System(libc::ENOENT)) => None,
        there => {
            let there = there?;
            let stat = there.stat()?;
            (stat.st_mode & libc::S_IFMT == libc::S_IFLNK).then_some((there, stat.st_uid))
        }
    };
    let Some((link, owner)) = link else {
        return Ok(Ok(Place { directory, leaf, is_linked: false }));
    };
    if directory.is_in_proc()? {
        return Err(Failure::Refused(Refusal::Descriptor));
    }
    if ![user(), 0].contains(&owner) || !is_trusted(&directory.stat()?, owner) {
        return Err(Failure::Refused(Refusal::ForeignLink));
    }
    let end = start + component.len();
    Ok(Err(Link { link, start, end, is_last: true }))
}

/// Opens what has a name, which is made as a directory if it is missing.
fn enter(directory: &File, name: &CStr, missing: Missing) -> Result<File, Failure> {
    match File::open_at(Some(directory), name, LOOK) {
        Err(Failure::System(libc::ENOENT)) if missing == Missing::Made => {
            // SAFETY: the name is a C string. What fails shows when it is opened.
            unsafe { libc::mkdirat(directory.descriptor(), name.as_ptr(), 0o777) };
            File::open_at(Some(directory), name, LOOK)
        }
        next => next,
    }
}

/// Whether what has that owner in a directory was put there by someone who may lead this process.
fn is_trusted(directory: &libc::stat, owner: libc::uid_t) -> bool {
    let is_shared = directory.st_mode & libc::S_ISVTX != 0
        && directory.st_mode & (libc::S_IWGRP | libc::S_IWOTH) != 0;
    !is_shared || owner == user() || owner == directory.st_uid
}

fn user() -> libc::uid_t {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Names of descriptors, which need not exist.
fn is_descriptor(name: &[u8]) -> bool {
    matches!(name, b"/dev/stdin" | b"/dev/stdout" | b"/dev/stderr") || name.starts_with(b"/dev/fd/")
}

fn rename(directory: &File, leaf: &Leaf, to: &Place) -> Result<(), Failure> {
    let (from, into) = (directory.descriptor(), to.directory.descriptor());
    // SAFETY: both names are C strings.
    let result =
        unsafe { libc::renameat(from, leaf.c_str().as_ptr(), into, to.leaf.c_str().as_ptr()) };
    if result == 0 { Ok(()) } else { Err(Failure::last()) }
}

fn unlink(directory: &File, leaf: &Leaf) {
    // SAFETY: the name is a C string.
    unsafe { libc::unlinkat(directory.descriptor(), leaf.c_str().as_ptr(), 0) };
}

/// Identity of the directory that was the root when the program started.
static ROOT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Notes which directory is the root now.
pub fn note_root() {
    if let Some(root) = root() {
        ROOT.iter().zip(root).for_each(|(place, value)| place.store(value, Ordering::Relaxed));
    }
}

/// Whether names lead elsewhere than when the program started, since its root is another one.
pub fn is_root_changed() -> bool {
    let before = ROOT.each_ref().map(|value| value.load(Ordering::Relaxed));
    before != NO_FILE && root().is_some_and(|now| now != before)
}

fn root() -> Option<Identity> {
    // SAFETY: zeroes are a valid value; the name is a C string.
    let root: libc::stat = unsafe { sys::written(|stat| libc::stat(c"/".as_ptr(), stat)) }?;
    Some([root.st_dev, root.st_ino])
}
