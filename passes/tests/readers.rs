//! Options, lists of functions and files of weights: read, or refused with a reason, never a panic.

use midflight_passes::function_list::FunctionList;
use midflight_passes::osr::map::opt_options::OptOptions;
use midflight_passes::osr::map::print_map::PrintMap;
use midflight_passes::osr::options::OsrOptions;
use midflight_passes::paths::options::{parse, parse_use};
use midflight_passes::paths::weights_file::{Found, WeightsFile};
use midflight_profile::table::Stage;
use midflight_profile::weights::{FunctionWeights, LoopWeights, WEIGHTS_VERSION, Weights};
use proptest::prelude::*;

/// Text of pieces that options are made of, and of others.
fn options() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "k", "max-paths", "stage", "algorithm", "functions", "oracle", "verify", "where", "when", "file", "exit", "maps",
            "fire", "passes", "single", "alone", "early", "late", "edges", "loop-header", "count:", "every:", "always",
            "flag", "@/nowhere", "section", "=", "=", ";", ";", ",", "0", "1", "4294967296", "-1", " ", "(", ")",
        ])
        .prop_map(str::to_string),
        1 => ".{0,6}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Patterns of functions, with the names that they are asked about.
fn lists() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof!["!?(src:|fun:)?[*?ab/.]{0,30}( #.*)?", ".{0,20}"], 0..8)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_options_are_read_or_refused(text in options(), pipeline in prop::option::of(options())) {
        let pipeline = pipeline.as_deref();
        let problems = [
            parse(&text).err().map(|error| error.to_string()),
            parse_use(&text).err().map(|error| error.to_string()),
            OsrOptions::parse_point(&text).err().map(|error| error.to_string()),
            OsrOptions::parse_fuzz(&text).err().map(|error| error.to_string()),
            OptOptions::parse(&text, pipeline).err().map(|error| error.to_string()),
            PrintMap::parse(&text, pipeline).err().map(|error| error.to_string()),
        ];
        prop_assert!(problems.iter().flatten().all(|problem| !problem.is_empty()));
    }

    #[test]
    fn any_list_of_functions_is_read_or_refused(text in lists(), name in "[ab./]{0,60}") {
        match FunctionList::parse("list", &text) {
            Ok(list) => {
                let wanted = list.includes(&name, "a/b.c");
                let all = FunctionList::parse("list", &format!("{text}\n{}*", if wanted { "!" } else { "" }));
                prop_assert_eq!(all.unwrap().includes(&name, "a/b.c"), !wanted);
            }
            Err(error) => prop_assert!(error.to_string().contains("'list'"), "{}", error),
        }
    }

    #[test]
    fn damaged_weights_are_read_or_refused(
        counts in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u64>()), 0..4),
        blocks in prop::collection::vec(any::<u64>(), 0..4),
        loops in prop::collection::vec(any::<(u32, u32)>(), 0..3),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(b'"'), Just(b'9'), any::<u8>()]), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let function = FunctionWeights {
            name: "f".into(),
            unit: String::new(),
            cfg_hash: FunctionWeights::hash_text(7),
            entries: 3,
            blocks,
            edges: counts,
            loops: loops.into_iter().map(|(header, unroll)| LoopWeights { header, unroll }).collect(),
        };
        let weights = Weights { version: WEIGHTS_VERSION, stage: Stage::Late, llvm: 22, functions: vec![function.clone()] };
        let mut bytes = serde_json::to_vec(&weights).unwrap();
        let whole = changes.is_empty() && cut.is_none();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights").display().to_string();
        std::fs::write(&path, bytes).unwrap();
        match WeightsFile::read(&path) {
            Ok(file) => {
                let found = matches!(file.find("f", "", 7), Found::Counts(counts) if *counts == function);
                prop_assert!(found || !whole);
            }
            Err(error) => prop_assert!(!whole && error.to_string().contains(&path), "{}", error),
        }
    }
}

#[test]
fn nested_weights_do_not_fill_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").display().to_string();
    std::fs::write(&path, "[".repeat(1 << 20)).unwrap();
    assert!(WeightsFile::read(&path).is_err());
}
