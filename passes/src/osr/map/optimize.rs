//! Making a second version: a clone, stock passes run on it, and what they did.

use crate::osr::map::flags::Classes;
use crate::osr::map::read::{Handles, read};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::ir::{Function, Inst};
use midflight_bridge::map::{Sandbox, Tracker};
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::side::{Proof, Side};
use midflight_mapping::points::{Boundary, boundaries};
use midflight_mapping::proof::pending::{self, Pending};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::FxHashSet as HashSet;

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
    boundaries(&snapshot.body, snapshot.function.osr_facts())
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

    /// Snapshots of both.
    pub fn snapshots(&self) -> PerVersion<CodeSnapshot<'m>> {
        PerVersion { base: read_code(self.base), opt: read_code(self.opt) }
    }

    /// Compares the versions, and hands a mapper over what is proved to `then`.
    pub fn compare<R>(
        &self,
        sandbox: &Sandbox,
        snapshots: &PerVersion<CodeSnapshot<'m>>,
        then: impl FnOnce(&mut Mapper<'_>, &Handles<'_, 'm>) -> R,
    ) -> R {
        let points = snapshots.as_ref().map(points_of);
        self.compare_as(Trust::Proved, sandbox, snapshots, points, then)
    }

    /// The same, with what is proved or all that tracking says, and with the points of both.
    pub fn compare_as<R>(
        &self,
        trust: Trust,
        sandbox: &Sandbox,
        snapshots: &PerVersion<CodeSnapshot<'m>>,
        points: PerVersion<Vec<Boundary>>,
        then: impl FnOnce(&mut Mapper<'_>, &Handles<'_, 'm>) -> R,
    ) -> R {
        let PerVersion { base, opt } = snapshots;
        // What rests on flags is proved only if these stay: it is tried again without those that
        // go.
        let mut losing: HashSet<Inst<'m>> = HashSet::default();
        let (versions, handles, matching, congruence, pending) = loop {
            let known: Vec<_> = losing.iter().copied().collect();
            let (mut versions, handles) = read(base, opt, &self.tracker, sandbox, &known);
            let (matching, congruence, pending) = match trust {
                Trust::Proved => pending::matched(&mut versions, &handles),
                Trust::Claimed => {
                    let (matching, congruence) = versions.claimed(&handles);
                    (matching, congruence, Pending::default())
                }
            };
            if trust == Trust::Proved && handles.rests_on_flags {
                let proof = Proof {
                    versions: &versions,
                    matching: &matching,
                    congruence: &congruence,
                    pending: &pending,
                };
                let of_base = |inst: &Inst<'m>| inst.block().function() == self.base;
                let classes = Classes::new(proof, &handles, snapshots);
                let before = losing.len();
                losing.extend(classes.losing().filter(of_base));
                if losing.len() != before {
                    continue;
                }
            }
            break (versions, handles, matching, congruence, pending);
        };
        let sides = PerVersion {
            base: Side::new(Version::Base, &versions, &congruence, &base.body, points.base),
            opt: Side::new(Version::Opt, &versions, &congruence, &opt.body, points.opt),
        };
        let proof = Proof {
            versions: &versions,
            matching: &matching,
            congruence: &congruence,
            pending: &pending,
        };
        let bodies = snapshots.as_ref().map(|snapshot| &snapshot.body);
        let mut mapper = Mapper::new(proof, &handles, bodies, sides);
        let result = then(&mut mapper, &handles);
        drop(mapper);
        drop(handles);
        sandbox.forget(self.base);
        sandbox.forget(self.opt);
        result
    }
}
