//! Guards of versions that are made at run time: what they were made for is checked, and where it
//! does not hold the function goes on in its base version.

use crate::read_code::CodeSnapshot;
use midflight_abi::open::OPEN_EXIT_SYMBOL;
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
}

impl<'m> Guard<'m> {
    /// The guard in a version.
    pub fn of(&self, version: &CodeSnapshot<'m>) -> CheckedValue<'m> {
        let Guard { value, expected, site, made } = *self;
        CheckedValue { value: version.value(value), expected, site, made }
    }
}

impl<'m> CheckedValue<'m> {
    /// Reports that it does not hold, so that no more activations begin in the version.
    pub(crate) fn report(&self, builder: &Builder<'m>) {
        let module = builder.block().function().module();
        let (void, pointer) = (module.void_type(), module.pointer_type());
        let left = module.runtime_function(OPEN_EXIT_SYMBOL, void, &[pointer, pointer]);
        builder.call(left, &[self.site, self.made]);
    }
}
