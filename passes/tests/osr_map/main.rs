//! The checker of OSR mappings, against functions that are run: what it claims of two versions must
//! hold whenever both are run on the same input, whatever the passes between them did.

mod arms;
mod generator;
mod ir;
mod lockstep;
mod machine;
mod mutants;
#[path = "../predicates/mod.rs"]
mod predicates;
mod transitions;
mod wrong_pairs;

use generator::Random;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use ir::Frame;
use lockstep::{End, Trace};
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::facts::MapFacts;
use midflight_mapping::proof::Proof;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_passes::osr::map::flags::Classes;
use midflight_passes::osr::map::optimize::{Comparison, THESIS_PIPELINE, Trust, TwoVersions};
use midflight_passes::osr::map::read::read;
use mutants::{MUTATIONS, Mutation};
use std::collections::BTreeMap;
use wrong_pairs::Tried;

/// What is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Runs of both versions that say something
    runs: usize,
    /// Chains that were seen to run together
    together: usize,
    /// Values that were compared, with a value of the other version
    values: usize,
    /// Points that were seen to lead where they say
    points: usize,
    /// Stores that were owed, and carried out
    stores: usize,
    /// Values that were had from memory
    contents: usize,
    /// Phis that were made again
    chosen: usize,
    /// Points that were fired by how control came there
    ways: usize,
    /// Those of them for which values were carried
    carried: usize,
    /// Points at which the source ran ahead
    ahead: usize,
    /// Runs that went on in the other version to the end
    continued: usize,
    /// Runs in which the versions end differently
    otherwise: usize,
    /// Runs in which something that was poison or undefined was frozen
    chose: usize,
    /// Transitions of runs that went to and fro
    transitions: usize,
}

/// Pipelines whose claims are tested; a base is made of the source by the first of each.
const PIPELINES: [&str; 23] = [
    THESIS_PIPELINE,
    "adce",
    "sccp",
    "early-cse<memssa>",
    "loop-simplify,lcssa,loop-mssa(licm)",
    "sink",
    "mldst-motion",
    "gvn",
    "instcombine<no-verify-fixpoint>",
    "simplifycfg",
    "loop-simplify,lcssa,loop(loop-rotate)",
    "loop-simplify,lcssa,loop(loop-rotate),loop-unroll",
    "jump-threading",
    "reassociate",
    "loop-simplify,lcssa,loop-mssa(simple-loop-unswitch<nontrivial>)",
    "dse",
    "memcpyopt",
    "newgvn",
    "simplifycfg<sink-common-insts;hoist-common-insts>,gvn-hoist,gvn-sink",
    "early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,dse,adce",
    "simplifycfg<sink-common-insts>,sink",
    "default<O1>",
    "default<O2>",
];

/// Random functions with freezes, by their seeds, on which a pass of LLVM's own does not end and
/// takes all memory.
const ENDLESS: [(&str, u64); 2] = [("newgvn", 4090), ("newgvn", 6505)];

/// How many random functions; `PROPTEST_CASES` says.
fn cases(otherwise: usize) -> usize {
    std::env::var("PROPTEST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(otherwise)
}

/// The only one to try, to see again what a seed has found.
fn only_seed() -> Option<usize> {
    std::env::var("MIDFLIGHT_TEST_SEED").ok().and_then(|seed| seed.parse().ok())
}

/// Which of them: so many from the first on, or only that of `MIDFLIGHT_TEST_SEED`.
fn seeds(count: usize) -> std::ops::Range<usize> {
    only_seed().map_or(0..count, |seed| seed..seed + 1)
}

/// Checks what is claimed of a function and what a pipeline makes of it.
///
/// # Errors
/// What does not hold, with both versions.
fn check(text: &str, prepare: &str, pipeline: &str, seed: u64) -> Result<Counts, String> {
    check_mutant(text, prepare, pipeline, seed, None).map(|counts| counts.unwrap_or_default())
}

/// The same after one place of the optimized version was changed; none if there is no such place.
fn check_mutant(
    text: &str,
    prepare: &str,
    pipeline: &str,
    seed: u64,
    mutation: Option<Mutation>,
) -> Result<Option<Counts>, String> {
    let context = Context::create();
    let (module, sandbox) = (module(&context, text)?, Sandbox::default());
    let function = prepared(&module, &sandbox, prepare)?;
    let two = TwoVersions::make(&sandbox, function, pipeline)?;
    let mut changed = String::new();
    if let Some(mutation) = mutation {
        let opt = module.get_function("f.opt").ok_or("no function f.opt")?;
        match mutants::mutate(opt, mutation, &mut Random(!seed)) {
            Some(change) if opt.verify(false) => changed = change,
            _ => {
                two.opt.erase();
                return Ok(None);
            }
        }
    }
    let result = compare(&sandbox, &two, seed, mutation.is_none(), None);
    two.opt.erase();
    result.map(Some).map_err(|message| format!("{pipeline}, seed {seed}: {changed} {message}"))
}

fn module<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, String> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "m");
    context.create_module_from_ir(buffer).map_err(|e| e.to_string())
}

/// The function of a module, ready for points.
fn prepared<'m>(
    module: &'m Module<'_>,
    sandbox: &Sandbox,
    prepare: &str,
) -> Result<Function<'m>, String> {
    let function = module.get_function("f").ok_or("no function f")?;
    // SAFETY: the module outlives the handle, in one thread.
    let function = unsafe { Function::from_llvm(function.as_value_ref()) };
    sandbox.run(function, prepare)?;
    function.prepare_for_points();
    Ok(function)
}

fn compare(
    sandbox: &Sandbox,
    two: &TwoVersions<'_>,
    seed: u64,
    is_right: bool,
    tamper: Option<Tamper>,
) -> Result<Counts, String> {
    let snapshots = two.snapshots();
    let mut random = Random(seed);
    let comparison = match tamper {
        None => two.compare(Trust::Proved, sandbox, &snapshots),
        Some(tamper) => {
            let (mut versions, handles) = read(&snapshots, &two.tracker, sandbox, &[]);
            tamper(&mut versions);
            Comparison::new(sandbox, Proof::new(versions, &handles), handles)
        }
    };
    let (mut mapper, handles) = (comparison.mapper(), &comparison.handles);
    let mapper = &mut mapper;
    let mut run = || {
        // They run as they are emitted, on what the function is defined for.
        let mut frame = Frame::default();
        let originals = PerVersion::from_fn(|w| ir::read(&snapshots[w], &mut frame));
        Classes::new(mapper.proof, handles).equalize_flags();
        let programs = PerVersion::from_fn(|w| ir::read(&snapshots[w], &mut frame));
        let mut counts = Counts::default();
        let constant = |id| ir::constant(&handles.constant(id).text());
        let mut inputs = Vec::new();
        for _ in 0..6 {
            let region = random.below(4) as u64 % 3;
            let p = ir::MEMORY_AT + region * ir::REGION;
            let mut arguments: Vec<u64> = (0..3).map(|_| random.word() & 0xffff_ffff).collect();
            arguments.push(p);
            inputs.push((arguments, random.word()));
        }
        let (mut traces, mut ends): (Vec<PerVersion<Trace>>, Vec<PerVersion<End>>) =
            Default::default();
        for (arguments, memory) in &inputs {
            let Some(base) = lockstep::trace(&originals.base, arguments, *memory) else {
                continue;
            };
            let Some(both) = lockstep::traces(&programs, arguments, *memory) else { continue };
            traces.push(both);
            let opt = lockstep::trace(&originals.opt, arguments, *memory);
            ends.extend(opt.map(|opt| PerVersion { base: base.end, opt: opt.end }));
        }
        let maps = PerVersion::from_fn(|from| transitions::maps_of(mapper, from));
        for traces in &traces {
            counts.runs += 1;
            let found = lockstep::lockstep(mapper, traces, &constant)?;
            counts.together += found.visits.len();
            counts.values += found.values;
            transitions::points(mapper, &maps, &programs, traces, &found, &constant, &mut counts)?;
        }
        // What was poison may be frozen to another value by each.
        let chose = |end: &End| end.last.chose;
        counts.chose = traces.iter().filter(|of| of.iter().any(|trace| chose(&trace.end))).count();
        // Without flags base may have a number where the pass saw poison.
        let ends = ends.iter().filter(|of| !of.iter().any(chose));
        let otherwise: Vec<String> =
            ends.filter_map(|of| transitions::is_same(&of.opt, &of.base).err()).collect();
        counts.otherwise = otherwise.len();
        if let Some(difference) = otherwise.first().filter(|_| is_right) {
            return Err(format!("the passes, or the interpreter, are wrong: {difference}"));
        }
        if !is_right {
            return Ok(counts);
        }
        transitions::to_and_fro(mapper, &programs, &traces, &constant, &mut random, &mut counts)?;
        Ok(counts)
    };
    run().map_err(|message: String| {
        let text = |w: Version| {
            let blocks = snapshots[w].function.texts();
            blocks.iter().map(|(b, i)| format!("{b}:\n  {}\n", i.join("\n  "))).collect::<String>()
        };
        format!("{message}\n--- base\n{}--- opt\n{}", text(Version::Base), text(Version::Opt))
    })
}

/// Makes what was read of two versions wrong.
type Tamper = fn(&mut Versions);

/// How a base is made of what the generator writes
const PREPARE: [&str; 3] = ["mem2reg", "mem2reg,simplifycfg", "sroa"];

/// What is checked of random functions under each pipeline but those that do not end on one; none
/// if that was asked of one function only.
fn claims(
    seeds: std::ops::Range<usize>,
    text: impl Fn(usize) -> String,
    is_endless: impl Fn(&str, usize) -> bool,
) -> Option<[Counts; PIPELINES.len()]> {
    let mut sum = [Counts::default(); PIPELINES.len()];
    let mut failures = Vec::new();
    for case in seeds {
        let text = text(case);
        let pipelines = PIPELINES.iter().zip(&mut sum).filter(|(p, _)| !is_endless(p, case));
        for (pipeline, sum) in pipelines {
            match check(&text, PREPARE[case % PREPARE.len()], pipeline, case as u64) {
                Ok(counts) => sum.add(counts),
                Err(message) => note(&mut failures, message),
            }
        }
    }
    assert_none(failures);
    only_seed().is_none().then(|| {
        for (pipeline, sum) in PIPELINES.iter().zip(&sum) {
            println!("{pipeline}: {sum:?}");
            assert!(sum.values > 0 && sum.points > 0 && sum.continued > 0);
        }
        sum
    })
}

#[test]
fn what_is_claimed_of_random_functions_holds() {
    // Each goes through all pipelines: a second or so.
    let text = |case: usize| generator::module(case as u64, 3 + case % 24);
    let Some(sum) = claims(seeds(cases(12).min(500)), text, |_, _| false) else { return };
    assert!(sum.iter().any(|sum| sum.chosen > 0), "no phi was made again");
    assert!(sum.iter().any(|sum| sum.ways > 0), "no way was taken");
    assert!(sum.iter().any(|sum| sum.ahead > 0), "nothing was run ahead");
    assert!(sum.iter().all(|sum| sum.transitions > 0));
}

/// The same with freezes, with much that is poison or undefined, and with branches, selects and
/// addresses that are mostly frozen.
#[test]
fn what_is_claimed_of_frozen_values_holds() {
    let text = |case: usize| generator::with_freezes(case as u64, 2 + case % 9);
    let is_endless = |pipeline: &str, case| ENDLESS.contains(&(pipeline, case as u64));
    let Some(sum) = claims(seeds(cases(24)), text, is_endless) else { return };
    assert!(sum.iter().all(|sum| sum.chose > 0));
}

/// The same with blocks that lead anywhere among themselves.
#[test]
fn what_is_claimed_of_mazes_holds() {
    let text = |case: usize| generator::with_mazes(case as u64, 1 + case % 7);
    claims(seeds(cases(12)), text, |_, _| false);
}

/// Freezes, and calls that may freeze, are taken for operations that always give the same.
fn forget_choices(versions: &mut Versions) {
    for version in Version::BOTH {
        let graph = &mut versions.of[version].graph;
        for (inst, node) in graph.nodes.iter_mut_enumerated().filter(|n| n.1.facts.is_pinned()) {
            // Allocas have an operand each, too, which is a constant.
            if graph.body.code.uses(inst).next().is_some() {
                node.facts = MapFacts::from_bits(1 << 2);
            }
        }
    }
}

/// What a freeze gives belongs to the one time that it ran: that the tests notice it if that is
/// lost.
#[test]
fn freezes_that_are_taken_for_copies_are_noticed() {
    let noticed = (0..cases(40).min(400)).filter(|&case| {
        let text = generator::with_freezes(case as u64, 2 + case % 9);
        let context = Context::create();
        let module = module(&context, &text).expect("what the generator writes is IR");
        let sandbox = Sandbox::default();
        let function = prepared(&module, &sandbox, PREPARE[0]).expect("it has a function");
        let two = TwoVersions::make(&sandbox, function, "gvn").expect("a pipeline");
        let result = compare(&sandbox, &two, case as u64, true, Some(forget_choices));
        two.opt.erase();
        result.is_err()
    });
    assert!(noticed.count() > 0, "the test above could not fail");
}

/// Nothing is claimed that does not hold of passes that are wrong in one place.
#[test]
fn what_is_claimed_of_wrong_passes_holds() {
    let mut failures = Vec::new();
    let mut sums: BTreeMap<Mutation, (usize, usize)> = BTreeMap::new();
    let (mut applied, mut seed) = (0, 0);
    while applied < cases(200) {
        seed += 1;
        let text = match seed % 3 {
            0 => generator::with_freezes(seed, 2 + seed as usize % 9),
            1 => generator::with_mazes(seed, 1 + seed as usize % 7),
            _ => generator::module(seed, 3 + seed as usize % 12),
        };
        let pipeline = PIPELINES[seed as usize / 7 % PIPELINES.len()];
        for mutation in MUTATIONS {
            match check_mutant(
                &text,
                PREPARE[seed as usize % PREPARE.len()],
                pipeline,
                seed,
                Some(mutation),
            ) {
                Ok(None) => continue,
                Ok(Some(counts)) => {
                    let sum = sums.entry(mutation).or_default();
                    *sum = (sum.0 + 1, sum.1 + usize::from(counts.otherwise > 0));
                }
                Err(message) => note(&mut failures, message),
            }
            applied += 1;
        }
    }
    for (mutation, (count, otherwise)) in &sums {
        println!("{mutation:?}: {count}, of which {otherwise} end differently");
    }
    let otherwise: usize = sums.values().map(|sum| sum.1).sum();
    assert!(otherwise * 10 > applied, "of {applied} only {otherwise} show");
    assert_none(failures);
}

/// No pair is taken for the same after it was made wrong in the graph.
#[test]
fn wrong_pairs_are_rejected() {
    let mut failures = Vec::new();
    let mut tried = Tried::default();
    let mut seed = 0;
    while tried.sum() < cases(300) {
        seed += 1;
        let pipeline = PIPELINES[seed as usize % PIPELINES.len()];
        let text = generator::module(seed, 5 + seed as usize % 15);
        let context = Context::create();
        let module = module(&context, &text).expect("what the generator writes is IR");
        let sandbox = Sandbox::default();
        let function = prepared(&module, &sandbox, PREPARE[0]).expect("it has a function");
        let random = &mut Random(!seed);
        let result = wrong_pairs::try_pairs(&sandbox, function, pipeline, random, 30, &mut tried);
        if let Err(message) = result {
            note(&mut failures, format!("seed {seed}, {message}"));
        }
    }
    println!("{tried:?}");
    assert!(tried.operations > 0 && tried.clobbers > 0 && tried.anchors > 0 && tried.arms > 0);
    assert!(tried.comparisons > 0 && tried.effects > 0 && tried.fills > 0);
    assert!(tried.claimed > 0, "the check could not fail");
    assert!(tried.equal_arms <= 1 + tried.arms / 100, "arms are too often the same");
    assert_none(failures);
}

/// Functions in which something was once claimed that did not hold, and such as are made to be
/// hard.
#[test]
fn what_is_claimed_of_known_functions_holds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/osr_map/data");
    let mut failures = Vec::new();
    let mut sum = Counts::default();
    for file in std::fs::read_dir(folder).expect("the folder of functions") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        for pipeline in PIPELINES {
            for seed in 0..4 {
                match check(&text, "mem2reg", pipeline, seed) {
                    Ok(counts) => sum.add(counts),
                    Err(message) => {
                        note(&mut failures, format!("{}: {message}", path.display()));
                    }
                }
            }
        }
    }
    println!("{sum:?}");
    assert!(
        sum.points > 0 && sum.stores > 0 && sum.contents > 0 && sum.chosen > 0 && sum.carried > 0,
        "not all was checked: {sum:?}"
    );
    assert_none(failures);
}

/// Long runs show at once what they find.
fn note(failures: &mut Vec<String>, message: String) {
    println!("{}", message.lines().next().unwrap_or_default());
    failures.push(message);
}

/// Shows the shortest.
fn assert_none(mut failures: Vec<String>) {
    failures.sort_by_key(String::len);
    if let Some(first) = failures.first() {
        panic!("{} claims do not hold; the shortest:\n{first}", failures.len());
    }
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.runs += other.runs;
        self.together += other.together;
        self.values += other.values;
        self.points += other.points;
        self.stores += other.stores;
        self.contents += other.contents;
        self.chosen += other.chosen;
        self.ways += other.ways;
        self.carried += other.carried;
        self.ahead += other.ahead;
        self.continued += other.continued;
        self.otherwise += other.otherwise;
        self.chose += other.chose;
        self.transitions += other.transitions;
    }
}
