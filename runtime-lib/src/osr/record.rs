//! What emitted code has of a function with OSR points, and of its sites.
//!
//! Records are checked once, when their image is registered; only those that passed are walked.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, AtomicU64};
use midflight_abi::osr::{
    OSR_FUNCTION_SIZE, OSR_STATE_SIZE, OSR_VERSION, OsrFunction, OsrPointInfo, OsrPointState,
};

/// Records and padding between them are multiples of this.
const GRANULE: usize = 8;

/// Why the records of an image cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Compiled for another version of the interface.
    Version(u16),
    /// Not records at all.
    Malformed,
    /// No memory for what the runtime must know of it.
    Memory,
}

/// Whether the records from `start` to `stop` can be used.
///
/// # Safety
/// They are the bounds of a mapped section.
pub unsafe fn check(start: usize, stop: usize) -> Result<(), Refusal> {
    let mut functions = Functions { at: start, stop };
    // SAFETY: the caller's.
    while unsafe { functions.advance() }?.is_some() {}
    Ok(())
}

/// The functions of an image, one after the other.
#[derive(Clone)]
pub struct Functions {
    at: usize,
    stop: usize,
}

impl Functions {
    /// Those from `start` to `stop`.
    ///
    /// # Safety
    /// [`check`] has passed them, and they outlive the iterator and what it gives.
    pub unsafe fn new(start: usize, stop: usize) -> Self {
        Self { at: start, stop }
    }

    /// # Safety
    /// The bytes up to `self.stop` are mapped.
    unsafe fn advance(&mut self) -> Result<Option<Function>, Refusal> {
        while self.at < self.stop {
            let left = self.stop - self.at;
            if !self.at.is_multiple_of(GRANULE) || left < GRANULE {
                return Err(Refusal::Malformed);
            }
            // SAFETY: the section has that many bytes here, and a record begins with its size.
            let size = unsafe { *(self.at as *const u32) } as usize;
            if size == 0 {
                self.at += GRANULE;
                continue;
            }
            if size < OSR_FUNCTION_SIZE || size > left || !size.is_multiple_of(GRANULE) {
                return Err(Refusal::Malformed);
            }
            let function = Function(self.at as *mut OsrFunction);
            // SAFETY: a whole head is in the section, aligned to 8.
            unsafe { function.check(size) }?;
            self.at += size;
            return Ok(Some(function));
        }
        Ok(None)
    }
}

impl Iterator for Functions {
    type Item = Function;

    fn next(&mut self) -> Option<Function> {
        // SAFETY: that of `new`.
        unsafe { self.advance() }.ok().flatten()
    }
}

/// A function's record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Function(*mut OsrFunction);

impl Function {
    /// # Safety
    /// A record's head is there.
    unsafe fn check(self, size: usize) -> Result<(), Refusal> {
        // SAFETY: the caller's.
        let head = unsafe { &*self.0 };
        if head.version != OSR_VERSION {
            return Err(Refusal::Version(head.version));
        }
        let states = (head.sites as usize).checked_mul(OSR_STATE_SIZE);
        let whole = states.and_then(|states| states.checked_add(OSR_FUNCTION_SIZE));
        let fits = whole.is_some_and(|whole| whole <= size);
        let sites_are_known = head.sites == 0 || !head.infos.is_null();
        if !fits || head.points > head.sites || !sites_are_known {
            return Err(Refusal::Malformed);
        }
        Ok(())
    }

    /// The function of a record that emitted code names; `None` if it is of another version.
    ///
    /// # Safety
    /// `record` is a record that outlives its use.
    pub unsafe fn emitted(record: *mut OsrFunction) -> Option<Self> {
        // SAFETY: the caller's.
        unsafe { ((*record).version == OSR_VERSION).then_some(Self(record)) }
    }

    pub fn record(self) -> *mut OsrFunction {
        self.0
    }

    fn head(&self) -> &OsrFunction {
        // SAFETY: functions are only made of valid records. Their heads never change.
        unsafe { &*self.0 }
    }

    pub fn name(&self) -> &[u8] {
        // SAFETY: that of a valid record.
        unsafe { text(self.head().name) }
    }

    pub fn file(&self) -> &[u8] {
        // SAFETY: that of a valid record.
        unsafe { text(self.head().file) }
    }

    pub fn site(self, number: u32) -> Option<Site> {
        (number < self.head().sites).then_some(Site { function: self, number })
    }

    pub fn sites(self) -> impl Iterator<Item = Site> + Clone {
        (0..self.head().sites).map(move |number| Site { function: self, number })
    }

    /// The sites of the base version, one for each point.
    pub fn points(self) -> impl Iterator<Item = Site> {
        (0..self.head().points).map(move |number| Site { function: self, number })
    }
}

/// A point in one version of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Site {
    function: Function,
    number: u32,
}

impl Site {
    pub fn function(&self) -> &Function {
        &self.function
    }

    pub fn number(self) -> u32 {
        self.number
    }

    pub fn info(&self) -> &OsrPointInfo {
        // SAFETY: sites are only made with numbers that their function has.
        unsafe { &*self.function.head().infos.add(self.number as usize) }
    }

    pub fn name(&self) -> &[u8] {
        // SAFETY: that of a valid record.
        unsafe { text(self.info().name) }
    }

    /// Name of the version that it is in.
    pub fn from(&self) -> &[u8] {
        // SAFETY: that of a valid record.
        unsafe { text(self.info().from) }
    }

    /// Name of the version that it leads to.
    pub fn to(&self) -> &[u8] {
        // SAFETY: that of a valid record.
        unsafe { text(self.info().to) }
    }

    /// The site of its point in the base version.
    pub fn base(self) -> Option<Self> {
        let point = self.info().point;
        self.function.site(point)
    }

    fn state(&self) -> *mut OsrPointState {
        // SAFETY: the states follow the head, and sites only have numbers that their function has.
        unsafe {
            let states = self.function.0.cast::<u8>().add(OSR_FUNCTION_SIZE);
            states.cast::<OsrPointState>().add(self.number as usize)
        }
    }

    pub fn armed(&self) -> &AtomicU32 {
        // SAFETY: the state is valid, aligned, and everyone accesses it atomically.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.state()).armed) }
    }

    pub fn hits(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.state()).hits) }
    }

    pub fn transitions(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.state()).transitions) }
    }
}

/// The bytes of a C string; none if there is none.
///
/// # Safety
/// It is null or valid as long as it is used.
unsafe fn text<'a>(string: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's.
    if string.is_null() { b"" } else { unsafe { CStr::from_ptr(string) }.to_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null;

    const INFO: OsrPointInfo = OsrPointInfo {
        id: 7,
        name: c"f#0".as_ptr(),
        from: null(),
        to: null(),
        point: 0,
        line: 0,
        condition: 0,
        number: 0,
    };

    struct Infos([OsrPointInfo; 2]);

    // SAFETY: the pointers are to constants.
    unsafe impl Sync for Infos {}

    static INFOS: Infos = Infos([INFO, INFO]);

    const WORDS_OF_HEAD: usize = OSR_FUNCTION_SIZE / 8;
    const WORDS_OF_STATE: usize = OSR_STATE_SIZE / 8;

    fn head(points: u32, sites: u32) -> OsrFunction {
        let size = OSR_FUNCTION_SIZE + sites as usize * OSR_STATE_SIZE;
        OsrFunction {
            size: u32::try_from(size).unwrap(),
            version: OSR_VERSION,
            reserved: 0,
            points,
            sites,
            name: c"f".as_ptr(),
            file: null(),
            infos: &raw const INFOS.0[0],
        }
    }

    /// A section with the heads, each with room for two states, and padding between them.
    fn section(heads: Vec<OsrFunction>) -> Vec<u64> {
        let mut words = vec![0, 0];
        for head in heads {
            let at = words.len();
            words.resize(at + WORDS_OF_HEAD + 2 * WORDS_OF_STATE, 0);
            // SAFETY: there is room, aligned to 8.
            unsafe { words.as_mut_ptr().add(at).cast::<OsrFunction>().write(head) };
            words.push(0);
        }
        words
    }

    fn check_section(words: &[u64]) -> Result<(), Refusal> {
        let range = words.as_ptr_range();
        // SAFETY: the bounds are those of the words.
        unsafe { check(range.start as usize, range.end as usize) }
    }

    #[test]
    fn functions_are_found_behind_padding() {
        let words = section(vec![head(1, 2), head(0, 0), head(2, 2)]);
        // The second has no states: zeroes, which are padding, are in their place.
        assert_eq!(check_section(&words), Ok(()));
        let range = words.as_ptr_range();
        // SAFETY: they have just been checked.
        let functions = unsafe { Functions::new(range.start as usize, range.end as usize) };
        let found: Vec<_> = functions
            .map(|function| (function.points().count(), function.sites().count()))
            .collect();
        assert_eq!(found, [(1, 2), (0, 0), (2, 2)]);
    }

    #[test]
    fn texts_that_are_not_there_are_empty() {
        let words = section(vec![head(1, 1)]);
        let range = words.as_ptr_range();
        // SAFETY: the section is well formed.
        let mut functions = unsafe { Functions::new(range.start as usize, range.end as usize) };
        let site = functions.next().unwrap().site(0).unwrap();
        assert_eq!((site.name(), site.from(), site.to()), (&b"f#0"[..], &b""[..], &b""[..]));
        assert_eq!((site.function().name(), site.function().file()), (&b"f"[..], &b""[..]));
    }

    #[test]
    fn damaged_records_are_refused() {
        let damage = |change: fn(&mut OsrFunction)| {
            let mut bad = head(1, 2);
            change(&mut bad);
            check_section(&section(vec![head(1, 1), bad]))
        };
        assert_eq!(damage(|_| {}), Ok(()));
        assert_eq!(damage(|head| head.version = 3), Err(Refusal::Version(3)));
        for change in [
            (|head| head.size -= 1) as fn(&mut OsrFunction),
            |head| head.size -= 8,
            |head| head.size = 8,
            |head| head.size = u32::MAX - 7,
            |head| head.points = 3,
            |head| head.sites = 3,
            |head| head.sites = u32::MAX,
            |head| head.infos = null(),
        ] {
            assert_eq!(damage(change), Err(Refusal::Malformed));
        }
    }
}
