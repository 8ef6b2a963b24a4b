//! Changing code while it runs.
//!
//! A place is a nop while its point is not armed, and a jump while it is. It is within an aligned
//! word, which is replaced by a single store: a processor that executes it sees the one or the
//! other.

use crate::osr::record::Refusal;
use core::sync::atomic::Ordering;
use midflight_abi::osr::OsrPatch;

/// Why code was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// What is at a place is neither the nop nor the jump, or not where a place may be.
    NotAsLinked,
    /// The code could not be made writable, with the system's error number.
    NotWritable(i32),
    /// Code of this kind of machine is not changed.
    Unsupported,
}

impl Problem {
    /// The error number that stands for it.
    pub fn number(self) -> i32 {
        match self {
            Self::NotAsLinked => libc::ENOEXEC,
            Self::NotWritable(error) => error,
            Self::Unsupported => libc::ENOTSUP,
        }
    }
}

/// An image's places, as they are in its section; see [`Place::of`].
pub type Places = &'static [OsrPatch];

/// The places between two bounds.
///
/// # Safety
/// They are null, or bounds of a section that is mapped as long as the places are used.
pub unsafe fn places(start: *const OsrPatch, stop: *const OsrPatch) -> Result<Places, Refusal> {
    if start.is_null() || start >= stop {
        return Ok(&[]);
    }
    let size = stop as usize - start as usize;
    if !start.is_aligned() || !size.is_multiple_of(size_of::<OsrPatch>()) {
        return Err(Refusal::Malformed);
    }
    // SAFETY: the caller's; the bounds enclose whole entries, which nobody writes to.
    Ok(unsafe { core::slice::from_raw_parts(start, size / size_of::<OsrPatch>()) })
}

/// A place in the code.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Address of the nop or jump.
    pub address: usize,
    target: usize,
    /// Its site's identity.
    pub id: u64,
}

impl Place {
    /// The one that an entry of the section tells of, in which places are relative to its fields.
    pub fn of(patch: &OsrPatch) -> Self {
        let at = |field: &i32| (&raw const *field as usize).wrapping_add_signed(*field as isize);
        Self { address: at(&patch.nop), target: at(&patch.target), id: patch.id }
    }
}

/// Nops and jumps of x86-64: 5 bytes within a word of 8.
#[cfg(target_arch = "x86_64")]
mod code {
    pub type Atomic = core::sync::atomic::AtomicU64;
    pub type Word = u64;
    pub const LENGTH: usize = 5;
    pub const NOP: [u8; LENGTH] = [0x0f, 0x1f, 0x44, 0x00, 0x00];
    pub const JUMP: u8 = 0xe9;

    /// The jump to what is so far behind the place.
    pub fn jump(distance: isize) -> Option<[u8; LENGTH]> {
        let [a, b, c, d] =
            i32::try_from(distance.checked_sub_unsigned(LENGTH)?).ok()?.to_le_bytes();
        Some([JUMP, a, b, c, d])
    }

    /// Processors see stores to code by themselves.
    pub fn stored(_word: usize) {}
}

/// Nops and jumps of AArch64: a word of 4. Both are of the instructions that may be replaced by one
/// another while other processors execute them (Arm ARM, B2.2.5).
#[cfg(not(target_arch = "x86_64"))]
mod code {
    pub type Atomic = core::sync::atomic::AtomicU32;
    pub type Word = u32;
    pub const LENGTH: usize = 4;
    pub const NOP: [u8; LENGTH] = 0xd503_201f_u32.to_le_bytes();
    const JUMP: u32 = 0x1400_0000;

    /// The jump to what is so far behind the place: up to 128 MiB.
    pub fn jump(distance: isize) -> Option<[u8; LENGTH]> {
        let words = i32::try_from(distance / 4).ok().filter(|_| distance % 4 == 0)?;
        let is_near = (-(1 << 25)..1 << 25).contains(&words);
        is_near.then(|| (JUMP | (words.cast_unsigned() & 0x03ff_ffff)).to_le_bytes())
    }

    /// Lets instruction fetches see what was stored.
    pub fn stored(_word: usize) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the word is mapped; Linux lets programs do this.
        unsafe {
            core::arch::asm!(
                "dc cvau, {0}", "dsb ish", "ic ivau, {0}", "dsb ish", "isb",
                in(reg) _word,
                options(nostack, preserves_flags),
            );
        }
    }
}

use code::{LENGTH, NOP};

const WORD: usize = size_of::<code::Word>();

/// The word around a place, and where in it the place is.
struct Word {
    address: usize,
    offset: usize,
}

impl Place {
    /// Whether it is what it must be, so that it can be changed.
    pub fn check(&self) -> Result<(), Problem> {
        if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
            return Err(Problem::Unsupported);
        }
        let word = self.word()?;
        let jump = self.jump()?;
        let bytes = word.load().to_le_bytes();
        let found = bytes.get(word.offset..word.offset + LENGTH).unwrap_or_default();
        if found == NOP || found == jump { Ok(()) } else { Err(Problem::NotAsLinked) }
    }

    fn word(&self) -> Result<Word, Problem> {
        let offset = self.address % WORD;
        if offset + LENGTH > WORD {
            return Err(Problem::NotAsLinked);
        }
        Ok(Word { address: self.address - offset, offset })
    }

    /// The jump to the target.
    fn jump(&self) -> Result<[u8; LENGTH], Problem> {
        let distance = self.target.wrapping_sub(self.address).cast_signed();
        code::jump(distance).ok_or(Problem::NotAsLinked)
    }

    /// The word as it is, and as it is to be.
    fn change(&self, armed: bool) -> Result<(Word, code::Word, code::Word), Problem> {
        let word = self.word()?;
        let code = if armed { self.jump()? } else { NOP };
        let old = word.load();
        let mut bytes = old.to_le_bytes();
        if let Some(place) = bytes.get_mut(word.offset..word.offset + LENGTH) {
            place.copy_from_slice(&code);
        }
        Ok((word, old, code::Word::from_le_bytes(bytes)))
    }
}

impl Word {
    fn atomic(&self) -> &code::Atomic {
        // SAFETY: places are in mapped code, and the word is aligned.
        unsafe { code::Atomic::from_ptr(self.address as *mut code::Word) }
    }

    fn load(&self) -> code::Word {
        self.atomic().load(Ordering::Relaxed)
    }
}

/// Changes places, and keeps the page of the last one writable until it comes to another.
///
/// The pages are executable at every moment.
pub struct Writer {
    /// Whether the code is mapped so that it can be written to anyway.
    is_writable: bool,
    /// A power of two.
    page_size: usize,
    page: Option<usize>,
}

impl Writer {
    /// A writer of code that is mapped for writing or not.
    pub fn new(is_writable: bool) -> Self {
        // SAFETY: the call takes a number.
        let page_size = unsafe { libc::getauxval(libc::AT_PAGESZ) } as usize;
        Self { is_writable, page_size: page_size.max(4096), page: None }
    }

    /// Arms or disarms a place that was checked.
    pub fn write(&mut self, place: Place, armed: bool) -> Result<(), Problem> {
        let (word, old, new) = place.change(armed)?;
        if old == new {
            return Ok(());
        }
        self.open(word.address & self.page_size.wrapping_neg())?;
        word.atomic().store(new, Ordering::Release);
        code::stored(word.address);
        Ok(())
    }

    fn open(&mut self, page: usize) -> Result<(), Problem> {
        if self.is_writable || self.page == Some(page) {
            return Ok(());
        }
        self.close();
        self.protect(page, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)
            .map_err(Problem::NotWritable)?;
        self.page = Some(page);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(page) = self.page.take() {
            // A page that stays writable is no harm to what the program does.
            _ = self.protect(page, libc::PROT_READ | libc::PROT_EXEC);
        }
    }

    fn protect(&self, page: usize, protection: i32) -> Result<(), i32> {
        // Raw, since the program may have an mprotect of its own.
        // SAFETY: the page is one of an image's code, and stays readable and executable.
        let result = unsafe { libc::syscall(libc::SYS_mprotect, page, self.page_size, protection) };
        if result == 0 { Ok(()) } else { Err(crate::sys::errno()) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

// Not in Miri, which knows no memory that is code.
#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::code::JUMP;
    use super::*;

    /// Code that is never executed.
    #[repr(align(8))]
    struct Code([u8; 24]);

    fn place(code: &Code, offset: usize, distance: i32) -> Place {
        let address = code.0.as_ptr() as usize + offset;
        Place { address, target: (address + LENGTH).wrapping_add_signed(distance as isize), id: 1 }
    }

    fn nops_at(offset: usize) -> Code {
        let mut code = Code([0xcc; 24]);
        code.0[offset..offset + LENGTH].copy_from_slice(&NOP);
        code
    }

    #[test]
    fn only_the_five_bytes_change_and_come_back() {
        for offset in [0, 1, 2, 3, 8, 11] {
            let code = Box::leak(Box::new(nops_at(offset)));
            let place = place(code, offset, -0x1234);
            let address = &raw const *code;
            // SAFETY: nobody else has it.
            let bytes = || unsafe { core::ptr::read_volatile(address) }.0;
            let before = bytes();
            let mut writer = Writer::new(true);
            assert_eq!(place.check(), Ok(()));
            writer.write(place, true).unwrap();
            let mut expected = before;
            expected[offset] = JUMP;
            expected[offset + 1..offset + LENGTH].copy_from_slice(&(-0x1234i32).to_le_bytes());
            assert_eq!(bytes(), expected);
            assert_eq!(place.check(), Ok(()));
            writer.write(place, false).unwrap();
            assert_eq!(bytes(), before);
        }
    }

    #[test]
    fn foreign_bytes_and_bad_places_are_refused() {
        let code = nops_at(0);
        assert_eq!(place(&code, 8, 0).check(), Err(Problem::NotAsLinked));
        let crossing = nops_at(4);
        assert_eq!(place(&crossing, 4, 0).check(), Err(Problem::NotAsLinked));
        let mut far = place(&code, 0, 0);
        far.target = far.target.wrapping_add(1 << 40);
        assert_eq!(far.check(), Err(Problem::NotAsLinked));
    }
}
