//! What clang's coverage says of each line: the counts of its regions (`llvm-cov export`).

use super::lcov::plain_name;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Regions of a file, as they touch its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClangLine {
    /// Counts of the regions that the line is in, or that begin or end on it
    pub counts: BTreeSet<u64>,
    /// A macro is expanded on it.
    pub expansion: bool,
    /// A part that the preprocessor skips, or a comment, begins or ends on it: clang counts a line
    /// only if a region begins on it or holds where it begins.
    pub skipped: bool,
    /// The line where the region that it begins in begins, if that is before
    pub since: Option<u32>,
}

/// By file and line.
pub type ClangLines = BTreeMap<String, BTreeMap<u32, ClangLine>>;

#[derive(Deserialize)]
struct Document {
    data: Vec<Export>,
}

#[derive(Deserialize)]
struct Export {
    files: Vec<FileRow>,
    functions: Vec<FunctionRow>,
}

#[derive(Deserialize)]
struct FileRow {
    filename: String,
    segments: Vec<Segment>,
}

/// Line, column, count, whether it has a count, whether a region begins, whether it is a gap.
type Segment = (u32, u32, u64, bool, bool, bool);

#[derive(Deserialize)]
struct FunctionRow {
    filenames: Vec<String>,
    /// Line and column where it begins, and where it ends; count; its file; the file that it
    /// expands; kind
    regions: Vec<[u64; 8]>,
}

/// [`FunctionRow::regions`]: an expansion of a macro.
const EXPANSION: u64 = 1;

/// Reads what `llvm-cov export` writes.
///
/// # Errors
/// If it is not such a document.
pub fn parse(json: &[u8]) -> Result<ClangLines> {
    let document: Document = serde_json::from_slice(json).map_err(|error| Error::Malformed {
        what: "the output of 'llvm-cov export'".to_string(),
        problem: error.to_string(),
    })?;
    let mut lines = ClangLines::new();
    for export in document.data {
        for file in export.files {
            add_segments(lines.entry(plain_name(&file.filename)).or_default(), &file.segments);
        }
        for function in export.functions {
            add_expansions(&mut lines, &function);
        }
    }
    Ok(lines)
}

/// A segment's count holds from where it begins to where the next begins.
fn add_segments(lines: &mut BTreeMap<u32, ClangLine>, segments: &[Segment]) {
    for (index, &(begin, _, count, counted, entry, _)) in segments.iter().enumerate() {
        if !counted {
            lines.entry(begin).or_default().skipped |= entry;
            continue;
        }
        let resumes = !entry && index > 0 && !segments[index - 1].3;
        lines.entry(begin).or_default().skipped |= resumes;
        let end = segments.get(index + 1).map_or(begin, |next| next.0);
        for number in begin..=end {
            let line = lines.entry(number).or_default();
            line.counts.insert(count);
            if number > begin {
                line.since = Some(begin);
            }
        }
    }
}

fn add_expansions(lines: &mut ClangLines, function: &FunctionRow) {
    for [begin, _, end, _, _, file, _, kind] in &function.regions {
        let name = usize::try_from(*file).ok().and_then(|file| function.filenames.get(file));
        let (Some(name), true) = (name, *kind == EXPANSION) else { continue };
        let lines = lines.entry(plain_name(name)).or_default();
        for line in *begin..=*end {
            if let Ok(line) = u32::try_from(line) {
                lines.entry(line).or_default().expansion = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_hold_until_the_next() {
        let json = br#"{"data":[{"files":[{"filename":"a.c","segments":[
            [1,1,7,true,true,false],[3,5,2,true,true,false],[3,9,7,true,false,false],
            [5,2,0,false,false,false]]}],
            "functions":[{"filenames":["a.c"],"regions":[[4,1,4,8,7,0,1,1]]}]}]}"#;
        let lines = &parse(json).unwrap()["a.c"];
        assert_eq!(lines[&2].counts, BTreeSet::from([7]));
        assert_eq!(lines[&3].counts, BTreeSet::from([2, 7]));
        assert_eq!(lines[&5].counts, BTreeSet::from([7]));
        assert!(lines[&4].expansion && !lines[&3].expansion);
        assert!(!lines.contains_key(&6));
    }
}
