//! A made-up program of which calling contexts are profiled, and profiles of its runs.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod readers;

use crate::support::{Fixture, elf_with};
use midflight_profile::format::{
    CalledFunction, CalledId, ContextId, ContextMode, Contexts, Module, Profile,
};
use midflight_profile::table::{
    ContextTable, FunctionTable, Granularity, Loc, Recursion, Site, Stage, read_section,
};

/// A function of `calls.c`, which calls from these lines.
pub fn table(name: &str, line: u32, calls: &[u32]) -> ContextTable {
    let loc = |&line: &u32| Loc { file: 0, line, outer_line: line };
    ContextTable {
        key: 0,
        stage: Stage::Early,
        llvm: 22,
        granularity: Granularity::Sites,
        has_own_frame: false,
        bursts: false,
        times: false,
        paths: false,
        recursion: Recursion::Levels,
        name: name.into(),
        unit: String::new(),
        files: vec!["/build/src/calls.c".into(), "/build/src/util.h".into()],
        file: 0,
        line,
        sites: calls.iter().map(|line| Site { loc: loc(line), is_tail: false }).collect(),
    }
}

/// `main` calls `walk` from lines 21 and 22; `walk` calls itself (line 11), `visit` (line 12), and
/// in tail position something from code of `util.h` that was inlined in line 14; `foo::visit(int)`
/// calls from a line that is not known.
pub fn tables() -> Vec<ContextTable> {
    let mut walk = table("walk", 10, &[11, 12]);
    let inlined = Loc { file: 1, line: 5, outer_line: 14 };
    walk.sites.push(Site { loc: inlined, is_tail: true });
    let visit = table("_ZN3foo5visitEi", 3, &[0]);
    vec![table("main", 20, &[21, 22]), walk, visit, table("idle", 1, &[])]
}

/// The section of records.
pub fn section(paths: &[FunctionTable], contexts: &[ContextTable]) -> Vec<u8> {
    let paths = paths.iter().flat_map(FunctionTable::encode);
    paths.chain(contexts.iter().flat_map(ContextTable::encode)).collect()
}

/// Builds the contexts of an image's functions.
pub struct Builder {
    pub contexts: Contexts,
    tables: Vec<ContextTable>,
    signature: u64,
}

impl Builder {
    pub fn new(section: &[u8], mode: ContextMode) -> Self {
        let records = read_section(section).unwrap();
        let signature = records.signature();
        Builder { contexts: Contexts::new(mode), tables: records.contexts, signature }
    }

    fn function(&mut self, name: &str) -> CalledId {
        let table = self.tables.iter().find(|table| table.name == name).unwrap();
        let slots = table.slots() as u32;
        self.contexts.intern(CalledFunction { module: 0, key: table.key, slots }).unwrap()
    }

    /// Counts activations of a function that was called from a slot.
    pub fn call(
        &mut self,
        parent: Option<ContextId>,
        slot: u32,
        name: &str,
        count: u64,
        error: u64,
    ) -> Option<ContextId> {
        let function = self.function(name);
        let id = self.contexts.child_or_insert(parent, slot, function);
        self.contexts.add(id, count, error).unwrap();
        self.contexts.activations += count - error;
        Some(id)
    }

    pub fn profile(self, image: &str) -> Profile {
        let modules = vec![Module { signature: self.signature, name: image.into() }];
        Profile { modules, contexts: Some(self.contexts), ..Profile::default() }
    }
}

/// What a run has.
pub fn run(section: &[u8]) -> Profile {
    let mut all = Builder::new(section, ContextMode::All);
    let visit = "_ZN3foo5visitEi";
    let main = all.call(None, 0, "main", 1, 0);
    let first = all.call(main, 0, "walk", 10, 0);
    let again = all.call(first, 0, "walk", 30, 0);
    let deeper = all.call(again, 0, "walk", 60, 0);
    all.call(first, 1, visit, 100, 0);
    all.call(again, 1, visit, 200, 0);
    all.call(deeper, 1, visit, 500, 0);
    all.call(deeper, 2, visit, 5, 0);
    let second = all.call(main, 1, "walk", 2, 0);
    let visited = all.call(second, 1, visit, 90, 0);
    all.call(visited, 0, "walk", 1, 0);
    // A thread of its own
    all.call(None, 0, visit, 1, 0);
    // Of two activations without context it is known which function was called.
    (all.contexts.elsewhere, all.contexts.activations) = (1, all.contexts.activations + 1);
    let walk = all.contexts.function_id(first.expect("it was made"));
    all.contexts.add_elsewhere(walk, 2).unwrap();
    all.profile("/build/calls")
}

/// The same with times: a millisecond for each activation, and 5 in those without context.
pub fn timed_run(section: &[u8]) -> Profile {
    let mut profile = run(section);
    let contexts = profile.contexts.as_mut().unwrap();
    contexts.time = Some(5_000_000);
    for id in contexts.ids() {
        contexts.add_time(id, 1_000_000 * contexts.count(id));
    }
    profile
}

/// What is known of a run of which the hot contexts were kept.
pub fn hot_run(section: &[u8]) -> Profile {
    let mode = ContextMode::Hot { phi: 0.1, epsilon: 0.05 };
    let mut hot = Builder::new(section, mode);
    let main = hot.call(None, 0, "main", 1, 1);
    let walk = hot.call(main, 0, "walk", 60, 20);
    hot.call(walk, 1, "_ZN3foo5visitEi", 940, 0);
    hot.contexts.floor = 20;
    hot.contexts.activations = 1000;
    hot.profile("/build/calls")
}

/// A folder with `calls`, `calls.mfp`, `hot.mfp`, and what [`Fixture`] has.
pub fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let section = section(&[], &tables());
    let skipped = &b"numbers\0Coroutine\0main\0NotListed\0"[..];
    let sections =
        [(midflight_abi::RECORD_SECTION, &section[..]), (midflight_abi::SKIPPED_SECTION, skipped)];
    fixture.write("calls", &elf_with(&sections));
    fixture.write("calls.mfp", &run(&section).write());
    fixture.write("hot.mfp", &hot_run(&section).write());
    fixture
}
