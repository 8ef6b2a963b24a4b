//! Generators of the program's own.

use crate::file::text::Text;
use crate::osr::open::state::OPEN;
use crate::process::signal::Blocked;
use core::ffi::{CStr, c_char, c_int, c_void};
use midflight_abi::open::{OPEN_USER, OpenMake};

/// Most that a program may make known.
const MOST: usize = 16;

/// Most bytes of a name.
const LONGEST: usize = 64;

struct Custom {
    name: Text<LONGEST>,
    make: OpenMake,
    user: *mut c_void,
}

/// Those that are known.
pub struct Customs([Option<Custom>; MOST]);

impl Customs {
    pub const fn new() -> Self {
        Self([const { None }; MOST])
    }

    /// The one that a site means by the name of its generator.
    pub fn find(&self, generator: &[u8]) -> Option<(OpenMake, *mut c_void)> {
        let name = generator.strip_prefix(OPEN_USER.as_bytes())?;
        let found = self.0.iter().flatten().find(|custom| custom.name.bytes() == name)?;
        Some((found.make, found.user))
    }

    fn add(&mut self, custom: Custom) -> bool {
        let is_it = |known: &Option<Custom>| {
            known.as_ref().is_some_and(|known| known.name.bytes() == custom.name.bytes())
        };
        let place = self.0.iter().position(is_it);
        let place = place.or_else(|| self.0.iter().position(Option::is_none));
        let Some(place) = place.and_then(|place| self.0.get_mut(place)) else { return false };
        *place = Some(custom);
        true
    }
}

/// Makes a generator known, see `midflight.h`.
///
/// # Safety
/// `name` is null or a C string; `make` may be called with `user`, by a thread of the runtime,
/// until the program ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_generator(
    name: *const c_char,
    make: Option<OpenMake>,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's.
    let name = unsafe { if name.is_null() { b"" } else { CStr::from_ptr(name).to_bytes() } };
    let mut copy = Text::<LONGEST>::new();
    let Some(make) = make.filter(|_| !name.is_empty() && copy.push(name).is_ok()) else {
        return -libc::EINVAL;
    };
    let _signals = Blocked::new();
    let Some(mut open) = OPEN.lock() else { return -libc::EBUSY };
    if open.customs.add(Custom { name: copy, make, user }) { 0 } else { -libc::ENOSPC }
}
