//! [`midflight_enter`] as emitted code reaches it from where it has no frame yet.

use crate::midflight_enter;
use crate::sparing::sparing;

sparing! {
    /// Jumped to with the slot in `rax` and the record in `r10`; goes on with the forest in `rax`.
    ///
    /// # Safety
    /// As for [`midflight_enter`].
    midflight_enter_sparing calls midflight_enter with ["mov rdi, r10", "mov rsi, rax"]
    unless {}
}
