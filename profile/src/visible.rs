//! Foreign texts, as they may be shown: names of files and functions, values of variables.
//!
//! Such a text may be anything. What would end a line, control a terminal, change the order of what
//! is read, or not be seen at all is shown as its bytes, each as `\x` and two hexadecimal digits,
//! and so is what is not UTF-8. What was made visible is not changed when that is done again.

use core::str::Utf8Chunks;

/// True of a character that shows itself and nothing else.
pub fn is_visible(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            // Soft hyphen, Arabic letter mark, Mongolian vowel separator
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            // Zero width, marks of direction; ends of lines and paragraphs, embeddings and
            // overrides
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates
            | '\u{2060}'..='\u{206f}'
            // Byte order mark, annotations, tags
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        // No characters, which XML forbids
        && u32::from(c) & 0xfffe != 0xfffe
}

/// `\x00` to `\xff`.
const ESCAPES: &[[u8; 4]; 256] = &{
    let digits = b"0123456789abcdef";
    let mut escapes = [*b"\\x00"; 256];
    let mut byte = 0;
    while byte < 256 {
        escapes[byte][2] = digits[byte >> 4];
        escapes[byte][3] = digits[byte & 15];
        byte += 1;
    }
    escapes
};

/// The pieces of a text that is to be shown, one behind the other; each is UTF-8. Takes time in
/// proportion to the text.
pub fn visible_pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    Pieces { chunks: text.utf8_chunks(), valid: "", invalid: b"", hidden: b"" }
}

/// A text that is to be shown.
#[cfg(feature = "alloc")]
pub fn visible(text: &(impl AsRef<[u8]> + ?Sized)) -> alloc::string::String {
    let pieces = visible_pieces(text.as_ref()).flat_map(<[u8]>::utf8_chunks);
    pieces.map(|piece| piece.valid()).collect()
}

struct Pieces<'a> {
    chunks: Utf8Chunks<'a>,
    /// What is left of the chunk at hand, and what is not UTF-8 behind it.
    valid: &'a str,
    invalid: &'a [u8],
    /// Bytes that are shown as such before that.
    hidden: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some((byte, rest)) = self.hidden.split_first() {
                self.hidden = rest;
                return ESCAPES.get(usize::from(*byte)).map(<[u8; 4]>::as_slice);
            }
            let is_hidden = |c: char| !is_visible(c);
            let end = self.valid.find(is_hidden).unwrap_or(self.valid.len());
            if let Some((plain, rest)) = self.valid.split_at_checked(end).filter(|_| end != 0) {
                self.valid = rest;
                return Some(plain.as_bytes());
            }
            if let Some(c) = self.valid.chars().next() {
                let (hidden, rest) = self.valid.split_at_checked(c.len_utf8())?;
                (self.hidden, self.valid) = (hidden.as_bytes(), rest);
                continue;
            }
            self.hidden = core::mem::take(&mut self.invalid);
            if self.hidden.is_empty() {
                let chunk = self.chunks.next()?;
                (self.valid, self.invalid) = (chunk.valid(), chunk.invalid());
            }
        }
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::visible;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_seen_is_shown_as_its_bytes() {
        for (text, expected) in [
            (b"".as_slice(), ""),
            (b"main.c", "main.c"),
            (b"a\nb\x1b[31m\x7f\0", r"a\x0ab\x1b[31m\x7f\x00"),
            (b"\xff\xfea\xc3", r"\xff\xfea\xc3"),
            ("größe, 名前 \u{1f600}".as_bytes(), "größe, 名前 \u{1f600}"),
            ("\u{9b}\u{202e}x\u{feff}".as_bytes(), r"\xc2\x9b\xe2\x80\xaex\xef\xbb\xbf"),
            (br"C:\x0a".as_slice(), r"C:\x0a"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_disturbs(text in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..32], 0..64)) {
            let shown = visible(&text);
            prop_assert!(shown.chars().all(super::is_visible));
            prop_assert_eq!(&visible(&shown), &shown, "nothing is changed twice");
        }

        #[test]
        fn what_is_seen_is_left(text: Vec<char>) {
            let hidden = text.iter().filter(|&&c| !super::is_visible(c)).count();
            let text: String = text.into_iter().collect();
            prop_assert_eq!(visible(&text) == text, hidden == 0);
        }
    }
}
