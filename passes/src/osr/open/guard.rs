//! Guards of versions that are made at run time: what they were made for is checked, and where it
//! does not hold the function goes on in its base version.

#[cfg(feature = "mutants")]
use crate::osr::open::mutant::Mutant;
use crate::read_code::CodeSnapshot;
use midflight_abi::open::{OPEN_EXIT_SYMBOL, OPEN_GUARD_SYMBOL};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::Value;
use midflight_ir::ids::ValueId;

/// A guard.
#[derive(Clone, Copy)]
pub struct Guard<'m> {
    /// This value of the function
    pub value: ValueId,
    /// is this constant.
    pub expected: Value<'m>,
    /// The `OpenSite` for which the version was made
    pub site: Value<'m>,
    /// The version's `OpenMade`
    pub made: Value<'m>,
    /// The runtime says whether it fails though it holds.
    pub is_tested: bool,
}

/// The same in a version.
#[derive(Clone, Copy)]
pub struct CheckedValue<'m> {
    /// The value
    pub value: Value<'m>,
    /// What it must be
    pub expected: Value<'m>,
    site: Value<'m>,
    made: Value<'m>,
    is_tested: bool,
}

impl<'m> Guard<'m> {
    /// The guard in a version.
    pub fn of(&self, version: &CodeSnapshot<'m>) -> CheckedValue<'m> {
        let Guard { value, expected, site, made, is_tested } = *self;
        CheckedValue { value: version.value(value), expected, site, made, is_tested }
    }
}

impl<'m> CheckedValue<'m> {
    /// Whether it fails, at the builder's position.
    pub(crate) fn fails(&self, builder: &Builder<'m>) -> Value<'m> {
        // Frozen as the key is (`key::as_integer`).
        let differs = builder.differs(builder.freeze(self.value), self.expected);
        #[cfg(feature = "mutants")]
        let differs = if Mutant::GuardDropped.is_on() { differs.ty().constant(0) } else { differs };
        if !self.is_tested {
            return differs;
        }
        let module = builder.block().function().module();
        let (int1, pointer) = (module.int_type(1), module.pointer_type());
        let asked = module.runtime_function(OPEN_GUARD_SYMBOL, int1, &[pointer, pointer]);
        builder.or(differs, builder.call(asked, &[self.site, self.made]))
    }

    /// Reports that it does not hold, so that no more activations begin in the version.
    pub(crate) fn report(&self, builder: &Builder<'m>) {
        let module = builder.block().function().module();
        let (void, pointer) = (module.void_type(), module.pointer_type());
        let left = module.runtime_function(OPEN_EXIT_SYMBOL, void, &[pointer, pointer]);
        builder.call(left, &[self.site, self.made]);
    }
}
