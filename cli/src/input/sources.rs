//! The text of source lines.

use midflight_profile::is_visible;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What stands for a tab.
const TAB: &str = "    ";

/// Finds source files and keeps their lines.
pub struct Sources {
    folders: Vec<PathBuf>,
    files: HashMap<String, Option<Vec<String>>>,
    enabled: bool,
}

impl Sources {
    /// Looks for files where debug information says, and in `folders`.
    pub fn new(folders: Vec<PathBuf>, enabled: bool) -> Self {
        Sources { folders, files: HashMap::new(), enabled }
    }

    /// The text of a line, without its indentation; none if the file is not found.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        self.text(file, line).map(str::trim)
    }

    /// The text of a line as it is.
    pub fn text(&mut self, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.lines(file)?.get(index).map(String::as_str)
    }

    /// True if the file is found.
    pub fn has(&mut self, file: &str) -> bool {
        self.lines(file).is_some()
    }

    fn lines(&mut self, file: &str) -> Option<&[String]> {
        if !self.enabled {
            return None;
        }
        let folders = &self.folders;
        let lines = self.files.entry(file.to_string()).or_insert_with(|| load(file, folders));
        lines.as_deref()
    }
}

/// The file as named, or the longest tail of its path that is in one of the folders.
fn load(file: &str, folders: &[PathBuf]) -> Option<Vec<String>> {
    let path = Path::new(file);
    let parts: Vec<_> = path.components().collect();
    let tails = (0..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
    let in_folders = tails.flat_map(|tail| folders.iter().map(move |f| f.join(&tail)));
    let bytes = std::iter::once(path.to_path_buf())
        .chain(in_folders)
        // A device may have no end, and a pipe nobody who writes to it.
        .filter(|candidate| candidate.is_file())
        .find_map(|candidate| std::fs::read(candidate).ok())?;
    let text = String::from_utf8_lossy(&bytes);
    // Control characters would disturb a terminal, and marks of direction who reads there.
    let clean = |line: &str| {
        let line = line.replace('\t', TAB);
        line.chars().map(|c| if is_visible(c) { c } else { ' ' }).collect()
    };
    Some(text.lines().map(clean).collect())
}
