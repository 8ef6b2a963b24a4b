//! `alone=base|opt`: a function is one of its versions, without points.
//!
//! What two versions cost beside their points is the flags that values lose that are taken for each
//! other. A version that has lost them, as it does for transitions between all points, is measured
//! against the same one with its flags (`:flags`). Nothing else differs: both are made and compared
//! either way.

use crate::osr::map::flags::Classes;
use crate::osr::map::opt_options::Alone;
use crate::osr::map::opt_pass::{OptPass, takes_part};
use crate::osr::map::optimize::TwoVersions;
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_mapping::versions::version::{PerVersion, Version};

impl OptPass {
    /// Makes a function that was prepared for points one of its versions. One with computed gotos
    /// stays base. Returns it.
    ///
    /// # Errors
    /// LLVM's message if there is no such pipeline.
    pub(super) fn leave_alone<'m>(
        &self,
        alone: Alone,
        function: Function<'m>,
        sandbox: &Sandbox,
    ) -> Result<Vec<Function<'m>>, String> {
        let two = TwoVersions::make(sandbox, function, &self.0.pipeline)?;
        let snapshots = two.snapshots();
        let comparison = two.compare(self.0.trust, sandbox, &snapshots);
        let all = PerVersion::<&dyn Fn(usize) -> bool> { base: &|_| true, opt: &|_| true };
        let maps = comparison.mapper().closed(&takes_part, all);
        let classes = Classes::new(&comparison.proof, &comparison.handles);
        // From here on the functions change.
        comparison.end();
        if maps.base.leads_somewhere() && !alone.keeps_flags {
            classes.equalize_flags();
        }
        if alone.version == Version::Opt {
            function.take_body(two.opt);
        }
        two.opt.erase();
        Ok(vec![function])
    }
}
