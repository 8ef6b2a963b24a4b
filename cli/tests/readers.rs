//! What others write and the command reads, besides binaries and profiles (see `damage.rs`): a
//! value or a refusal, never a panic, and neither time nor memory without bounds.

use midflight_cli::commands::cc::response;
use midflight_cli::commands::osr::fuzz::log::Log;
use midflight_cli::commands::osr::show;
use midflight_cli::format::json::write_line;
use midflight_cli::format::names::readable;
use midflight_profile::osr_maps::{
    Both, FunctionMaps, MapExpr, MapPoint, Maps, PerVersion, key_of, read_section,
};
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// A function's mappings, with an expression of each kind.
fn maps() -> FunctionMaps {
    let instructions = |name: &str| vec![format!("%x = add i32 %{name}, 1"), "ret i32 %x".into()];
    let leads = MapPoint::Leads {
        point: 0,
        at: 0,
        landing: 1,
        values: vec![(1, 2)],
        exprs: vec![
            MapExpr::Source { source: 0 },
            MapExpr::Constant { constant: 3 },
            MapExpr::Repeat { repeat: 0, of: vec![0, 1] },
        ],
        stores: vec![],
        differs: false,
        keep: vec![],
        ahead: None,
        came: None,
    };
    FunctionMaps {
        name: "_Z1fi".into(),
        file: "a.c".into(),
        pipeline: "gvn".into(),
        maps: Maps {
            arguments: 1,
            instructions: PerVersion { base: instructions("a"), opt: instructions("b") },
            constants: [(3, "i32 1".to_string())].into(),
            points: Both { base_to_opt: vec![leads], opt_to_base: vec![] },
        },
    }
}

proptest! {
    #[test]
    fn any_name_is_made_readable(
        start in prop::sample::select(vec!["_Z", "_ZN", "_ZTV", "_Z1fI", ""]),
        rest in prop_oneof!["[0-9A-Z_a-z]{0,60}", "([NISTLXEPKRO]|S[0-9]?_|[ivcbz]|1[a-c]|St|Li3E){0,60}", ".{0,30}"],
    ) {
        let text = readable(&format!("{start}{rest}"));
        prop_assert!(text.len() <= 1 << 18 && !text.chars().any(char::is_control));
    }

    #[test]
    fn words_of_response_files_are_split(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let words = response::split(&text);
        prop_assert!(words.iter().map(|word| word.len()).sum::<usize>() <= text.len());
        let plain = || words.iter().all(|word| !word.as_encoded_bytes().starts_with(b"@"));
        if plain() {
            prop_assert_eq!(response::expanded(&words).unwrap(), words);
        }
    }

    /// Files that name each other, and themselves.
    #[test]
    fn response_files_end(files in prop::collection::vec(prop::collection::vec(0usize..4, 0..3), 3)) {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        for (number, names) in files.iter().enumerate() {
            let words: Vec<String> =
                names.iter().map(|&name| format!("@{} x{name}", path(name).display())).collect();
            std::fs::write(path(number), words.join("\n")).unwrap();
        }
        let first = OsString::from_vec(format!("@{}", path(0).display()).into_bytes());
        prop_assert!(response::expanded(&[first]).unwrap().len() <= 100);
    }

    #[test]
    fn logs_are_added_up_or_refused(
        lines in prop::collection::vec(
            prop_oneof![
                (prop::sample::select(vec!["point", "transition", ""]), any::<u64>(), any::<u64>()).prop_map(
                    |(event, hits, transitions)| format!(
                        r#"{{"event":"{event}","point":"p","file":"f","condition":"fuzz","hits":{hits},"transitions":{transitions}}}"#
                    )
                ),
                ".{0,40}",
                Just("[".repeat(5000)),
            ],
            0..6,
        ),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = lines.join("\n");
        let end = (0..=cut.index(text.len() + 1)).rev().find(|&end| text.is_char_boundary(end));
        _ = Log::default().add(&text);
        _ = Log::default().add(&text[..end.unwrap_or(0)]);
    }

    /// Records with right hashes: what is accepted can be shown.
    #[test]
    fn forged_mappings_are_shown_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![0u8..8, any::<u8>()]), 0..4),
    ) {
        let mut record = maps().encode().unwrap();
        for (at, byte) in changes {
            let at = 16 + at.index(record.len() - 16);
            record[at] = byte;
        }
        let key = key_of(&record).to_le_bytes();
        record[8..16].copy_from_slice(&key);
        if let Ok(functions) = read_section(&record) {
            show::text::write(&mut std::io::sink(), &functions).unwrap();
            write_line(&mut std::io::sink(), &show::document(&functions)).unwrap();
        }
    }
}
