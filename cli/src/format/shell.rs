//! Words as a shell takes them.

use std::ffi::OsStr;

/// A word that a shell reads as it is.
pub fn quoted_word(word: &OsStr) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_=+,./:@%^".contains(&b);
    let text = word.to_string_lossy();
    if !text.is_empty() && text.bytes().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
