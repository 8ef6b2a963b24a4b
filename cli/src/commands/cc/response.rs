//! Response files: `@FILE` in a command line stands for the words in the file.
//!
//! Clang reads them itself; here they are read only to know what it will do.

use crate::input::file::{self, Unreadable};
use std::ffi::{OsStr, OsString};
use std::fs::FileType;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A response file that does not end, as `@/dev/zero`.
#[derive(Debug, thiserror::Error)]
#[error("reading the response file '{}': it does not end", .0.display())]
pub struct Endless(PathBuf);

/// Replaces response files by the words in them. One that cannot be read, or is within itself,
/// stays as it is: clang takes it for a file name then, or for an error, and so do we. So does a
/// pipe: clang could not read it any more.
///
/// # Errors
/// If clang would read forever.
pub fn expanded(arguments: &[OsString]) -> Result<Vec<OsString>, Endless> {
    let mut result = Vec::new();
    expand(arguments.to_vec(), &mut Vec::new(), &mut result)?;
    Ok(result)
}

/// `within` are the files that are being read.
fn expand(
    words: Vec<OsString>,
    within: &mut Vec<PathBuf>,
    result: &mut Vec<OsString>,
) -> Result<(), Endless> {
    for word in words {
        let file = word.as_bytes().strip_prefix(b"@");
        let path = file.and_then(|file| Path::new(OsStr::from_bytes(file)).canonicalize().ok());
        let new = path.filter(|path| !within.contains(path));
        let read = new.map(|path| Ok((contents(&path)?, path))).transpose()?;
        match read {
            Some((Some(bytes), path)) => {
                within.push(path);
                expand(split(&bytes), within, result)?;
                within.pop();
            }
            _ => result.push(word),
        }
    }
    Ok(())
}

/// What is in a file, if it can be read more than once.
fn contents(path: &Path) -> Result<Option<Vec<u8>>, Endless> {
    let again = |kind: FileType| kind.is_file() || kind.is_char_device();
    if !path.metadata().is_ok_and(|metadata| again(metadata.file_type())) {
        return Ok(None);
    }
    match file::read("the response file", path) {
        Err(Unreadable { error, .. }) if error.kind() == ErrorKind::FileTooLarge => {
            Err(Endless(path.to_path_buf()))
        }
        read => Ok(read.ok()),
    }
}

/// Splits text into words as GNU's and LLVM's tools do: at white space; `'` and `"` quote, and `\`
/// takes the next byte as it is, except between `'`.
pub fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(b'"') | None, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() || byte == b'\x0b' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_gnu_tools_do() {
        let cases: [(&str, &[&str]); 8] = [
            ("", &[]),
            (" \n\t", &[]),
            ("-c x.c\n-O2", &["-c", "x.c", "-O2"]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            ("a' 'b\"\"", &["a b"]),
            (r#"a\ b "c\"d" '\'"#, &["a b", "c\"d", "\\"]),
            ("'' x", &["", "x"]),
            ("'open end", &["open end"]),
        ];
        for (text, words) in cases {
            assert_eq!(split(text.as_bytes()), words, "{text}");
        }
        assert_eq!(split(b"\xff x"), [OsString::from_vec(vec![0xff]), "x".into()]);
    }

    #[test]
    fn files_are_followed_and_one_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let mut word = OsString::from("@");
            word.push(folder.path().join(name));
            word
        };
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("inner", "b.c");
        write("outer", &format!("-O2 '{}' a.c", at("inner").to_string_lossy()));
        write("self", &format!("x '{0}' '{0}'", at("self").to_string_lossy()));
        let expanded = |words: &[OsString]| super::expanded(words).unwrap();
        assert_eq!(expanded(&["-c".into(), at("outer")]), ["-c", "-O2", "b.c", "a.c"]);
        assert_eq!(expanded(&[at("missing")]), [at("missing")]);
        assert_eq!(expanded(&[at("self")]), ["x".into(), at("self"), at("self")]);
        assert_eq!(expanded(&[at("inner"), at("inner")]), ["b.c", "b.c"]);
        assert_eq!(expanded(&["@/dev/null".into(), "x.c".into()]), ["x.c"]);
        let error = super::expanded(&["@/dev/zero".into()]).unwrap_err().to_string();
        assert_eq!(error, "reading the response file '/dev/zero': it does not end");
        // Nobody writes to it, and clang is to read it.
        let status = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        assert!(status.unwrap().success());
        assert_eq!(expanded(&[at("pipe")]), [at("pipe")]);
    }
}
