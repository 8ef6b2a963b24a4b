//! Making a second version: a clone, stock passes run on it, and what they did.

use crate::osr::map::flags::Classes;
use crate::osr::map::read::{Handles, read};
use crate::read_code::{CodeSnapshot, Constants, read_with};
use midflight_bridge::ir::{Function, Inst, Value};
use midflight_bridge::sandbox::{Sandbox, Tracker};
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::points::{Boundary, boundaries};
use midflight_mapping::proof::Proof;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::version::PerVersion;

/// The passes of the thesis (5.4.1): ADCE, constant propagation (as a part of SCCP), common
/// subexpression elimination, loop canonicalization, LCSSA, LICM, sinking.
pub const THESIS_PIPELINE: &str = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink";

/// What of tracking is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// What is proved
    Proved,
    /// Everything: for experiments, and as a mutant that tests must notice
    Claimed,
}

/// A function and its optimized clone.
pub struct TwoVersions<'m> {
    /// The function, as it was prepared for points
    pub base: Function<'m>,
    /// The clone
    pub opt: Function<'m>,
    /// What became of the clone's instructions
    pub tracker: Tracker<'m>,
}

/// The points of a version.
pub fn points_of(snapshot: &CodeSnapshot<'_>) -> Vec<Boundary> {
    boundaries(&snapshot.body, snapshot.function.facts())
}

impl<'m> TwoVersions<'m> {
    /// Clones a function that was prepared for points, and runs a pipeline of function passes on
    /// the clone.
    ///
    /// # Errors
    /// LLVM's message if there is no such pipeline.
    pub fn make(sandbox: &Sandbox, base: Function<'m>, pipeline: &str) -> Result<Self, String> {
        sandbox.check_pipeline(pipeline)?;
        let opt = base.clone_as(&format!("{}.opt", base.name()));
        let tracker = Tracker::new(opt);
        sandbox.run(opt, pipeline)?;
        Ok(TwoVersions { base, opt, tracker })
    }

    /// Snapshots of both, with constants.
    pub fn snapshots(&self) -> PerVersion<CodeSnapshot<'m>> {
        let base = read_with(self.base, Some(Constants::default()));
        let opt = read_with(self.opt, Some((*base.constants).clone()));
        PerVersion { base, opt }
    }

    /// Compares the versions: finds what is proved, or all that tracking says.
    pub fn compare<'a>(
        &self,
        trust: Trust,
        sandbox: &'a Sandbox,
        snapshots: &'a PerVersion<CodeSnapshot<'m>>,
    ) -> Comparison<'a, 'm> {
        // What rests on flags is proved only if these stay: it is tried again without those that
        // go.
        let mut losing: Vec<Inst<'m>> = Vec::new();
        loop {
            let (versions, handles) = read(snapshots, &self.tracker, sandbox, &losing);
            let proof = match trust {
                Trust::Proved => Proof::new(versions, &handles),
                Trust::Claimed => Proof::claimed(versions, &handles),
            };
            if trust == Trust::Claimed || !handles.rests_on_flags() {
                return Comparison::new(sandbox, proof, handles);
            }
            let of_base = |inst: &Inst<'m>| inst.block().function() == self.base;
            losing.extend(Classes::new(&proof, &handles).losing().filter(of_base));
            if handles.holds_without_flags(&losing) {
                return Comparison::new(sandbox, proof, handles);
            }
        }
    }
}

/// Two versions, compared.
pub struct Comparison<'a, 'm> {
    /// What is proved
    pub proof: Proof,
    /// What leads back into LLVM
    pub handles: Handles<'a, 'm>,
    // Behind what uses the analyses: fields are dropped in order.
    _analyses: Analyses<'a, 'm>,
}

/// What the sandbox knows of two functions, which it forgets with this.
struct Analyses<'a, 'm>(&'a Sandbox, PerVersion<Function<'m>>);

impl Drop for Analyses<'_, '_> {
    fn drop(&mut self) {
        self.1.iter().for_each(|&function| self.0.forget(function));
    }
}

impl<'a, 'm> Comparison<'a, 'm> {
    /// With what was found by these handles, which the sandbox analyses for.
    pub fn new(sandbox: &'a Sandbox, proof: Proof, handles: Handles<'a, 'm>) -> Self {
        let functions = handles.snapshots.map(|snapshot| snapshot.function);
        Comparison { proof, handles, _analyses: Analyses(sandbox, functions) }
    }

    /// What maps between the versions, at their points.
    pub fn mapper(&self) -> Mapper<'_> {
        let snapshots = self.handles.snapshots;
        Mapper::new(&self.proof, &self.handles, snapshots.map(points_of))
    }

    /// The versions and the LLVM side of constants: what is left when the functions change.
    pub fn end(self) -> (Versions, Vec<Value<'m>>) {
        (self.proof.versions, self.handles.into_constants())
    }
}
