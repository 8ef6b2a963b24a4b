//! A function that is noisy costs another nothing of its accuracy, however little memory there is.
//!
//! The plain function of `programs/noisy-plain.c` has a loop that always goes one way, and the
//! noisy one has more sequences than there is room for.

use midflight_bench::layout::Layout;
use midflight_bench::memory::Memory;
use midflight_bench::process::Job;
use midflight_bench::profile_file::read_profile;
use midflight_bench::tables::tables;
use midflight_profile::bounds::Bounds;
use midflight_profile::format::{FunctionProfile, Profile};
use midflight_profile::kipf::make_k_ipf;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How often each function is called, and rounds of a call.
const CALLS: u64 = 1000;
const NOISY_ROUNDS: u64 = 2000;
const PLAIN_ROUNDS: u64 = 1000;

const BUDGETS: [&str; 4] = ["128K", "1M", "64M", "default"];

/// A sequence of paths, and how often it occurred at least and at most.
type Sequences = BTreeMap<Vec<u32>, (u64, u64)>;

struct Program {
    folder: tempfile::TempDir,
    /// By name: hash of the graph, and key
    functions: BTreeMap<String, (u64, u64)>,
}

impl Program {
    fn build(k: u32) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let layout = Layout::find(here).unwrap();
        let executable = folder.path().join("noisy-plain");
        let command = layout.midflight().expect("'make build' makes what is tested");
        let job = Job::new(command).arg("cc").arg(format!("--midflight-k={k}"));
        let source = here.join("tests/programs/noisy-plain.c");
        let job = job.args(["-O2", "-o"]).arg(&executable).arg(source);
        job.expect_success().unwrap();
        let tables = tables(&executable).unwrap().into_iter();
        let functions = tables.map(|table| (table.name, (table.cfg_hash, table.key)));
        Program { folder, functions: functions.collect() }
    }

    fn run(&self, arguments: &[&str], memory: &Memory) -> Profile {
        let file: PathBuf = self.folder.path().join("run.mfp");
        let job = Job::new(self.folder.path().join("noisy-plain")).args(arguments);
        memory.give(job.env("MIDFLIGHT_PROFILE", &file)).expect_success().unwrap();
        read_profile(&file).unwrap()
    }

    fn function<'a>(&self, profile: &'a Profile, name: &str) -> &'a FunctionProfile {
        let (_, key) = self.functions[name];
        profile.functions.iter().find(|function| function.key == key).unwrap()
    }

    /// The sequences that were counted in the plain function.
    fn plain(&self, profile: &Profile) -> Sequences {
        let function = self.function(profile, "plain");
        let paths = make_k_ipf(&function.forest, function.k);
        let bounds = Bounds::new(&paths, function);
        let counted = paths.ids().filter(|&id| paths.count(id) != 0);
        counted.map(|id| (paths.labels(id), (paths.count(id), bounds.most(id)))).collect()
    }

    /// The single paths that were counted in the noisy function: each event at the last label of a
    /// node.
    fn noisy(&self, profile: &Profile) -> BTreeMap<u32, u64> {
        let function = self.function(profile, "noisy");
        assert_eq!(function.totals.lost, 0);
        let mut paths = BTreeMap::new();
        for id in function.forest.ids() {
            *paths.entry(function.forest.label(id)).or_default() += function.forest.count(id);
        }
        paths.retain(|_, count| *count != 0);
        paths
    }
}

/// The single paths of the noisy function, which are exact where no longer ones are counted.
fn noisy_paths(graph: u64) -> BTreeMap<u32, u64> {
    let program = Program::build(1);
    assert_eq!(program.functions["noisy"].0, graph, "paths have the same numbers");
    let paths = program.noisy(&program.run(&[], &Memory::Default));
    let rounds: u64 = paths.values().sum();
    assert!((CALLS * NOISY_ROUNDS..=CALLS * (NOISY_ROUNDS + 2)).contains(&rounds), "{rounds}");
    assert!(paths.len() >= 64, "{} paths", paths.len());
    paths
}

/// All sequences of the plain function, by a run in which nothing else is noisy.
fn plain_sequences(program: &Program, k: u32) -> Sequences {
    let plain = program.plain(&program.run(&["0"], &Memory::ample()));
    let longest = plain.iter().filter(|(labels, _)| labels.len() == k as usize);
    let (labels, &(count, most)) = longest.max_by_key(|(_, counted)| **counted).unwrap();
    assert!(labels.iter().all(|label| label == &labels[0]), "it goes one way: {labels:?}");
    // The first round of a call has a path of its own, and maybe the last.
    let rounds = CALLS * (PLAIN_ROUNDS - u64::from(k) + 1);
    assert!((rounds - 2 * CALLS..=rounds).contains(&count), "{labels:?} {count}");
    assert_eq!(count, most);
    plain
}

fn check(k: u32) {
    let program = Program::build(k);
    let plain = plain_sequences(&program, k);
    let noisy = noisy_paths(program.functions["noisy"].0);
    for budget in BUDGETS {
        let profile = program.run(&[], &budget.parse().unwrap());
        assert_eq!(program.plain(&profile), plain, "{budget}, k = {k}");
        assert_eq!(program.noisy(&profile), noisy, "{budget}, k = {k}");
    }
}

#[test]
fn a_plain_loop_is_exact_beside_a_noisy_one_at_k_4() {
    check(4);
}

#[test]
fn a_plain_loop_is_exact_beside_a_noisy_one_at_k_16() {
    check(16);
}
