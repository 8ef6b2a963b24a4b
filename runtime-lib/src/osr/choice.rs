//! Names of points, and which points are meant by them.
//!
//! A point is named by its name, as in `main#3`, or by its source file and its name, as in
//! `src/main.c:main#3`. `*` stands for any characters, none included.

use crate::osr::record::Site;
use midflight_abi::osr::{OSR_FLAG, OSR_FUZZ, OSR_PATCH};

/// Whether a name means a site's point.
pub fn means(name: &[u8], site: Site) -> bool {
    is_point(name, site.function().file(), site.name())
}

/// Whether a name, in which `*` stands for any characters, means a point of a file.
pub fn is_point(name: &[u8], file: &[u8], point: &[u8]) -> bool {
    matches(name, &[point]) || matches(name, &[file, b":", point])
}

/// Whether one of several names, with commas between them, means a site's point.
pub fn any_means(names: &[u8], site: Site) -> bool {
    names_of(names).any(|name| means(name, site))
}

/// The names in a list with commas between them.
pub fn names_of(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',')
}

/// Whether a site can be armed by name.
pub fn can_be_armed(site: Site) -> bool {
    matches!(site.info().condition, OSR_FLAG | OSR_PATCH)
}

/// Whether a site fires as `MIDFLIGHT_OSR_FIRE` says.
pub fn is_fuzzed(site: Site) -> bool {
    site.info().condition == OSR_FUZZ
}

/// Whether a pattern matches the texts, one after the other.
///
/// The last `*` takes as little as possible, and a byte more each time that what follows fails;
/// earlier ones never need to be tried again.
fn matches(pattern: &[u8], texts: &[&[u8]]) -> bool {
    let (mut at, mut of_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let wanted = pattern.get(at).copied();
        let found = byte_of(texts, of_text);
        if wanted == Some(b'*') {
            star = Some((at, of_text));
            at += 1;
        } else if wanted == found {
            if found.is_none() {
                return true;
            }
            at += 1;
            of_text += 1;
        } else {
            let Some((star_at, taken)) = star else { return false };
            if byte_of(texts, taken).is_none() {
                return false;
            }
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            of_text = taken + 1;
        }
    }
}

fn byte_of(texts: &[&[u8]], mut index: usize) -> Option<u8> {
    for text in texts {
        if let Some(&byte) = text.get(index) {
            return Some(byte);
        }
        index -= text.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("main#3", "main#3", true),
            ("main#3", "main#31", false),
            ("main#31", "main#3", false),
            ("*", "", true),
            ("*", "anything", true),
            ("main#*", "main#", true),
            ("main#*", "main", false),
            ("*#3", "a#3#3", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("*aab", "aaaaab", true),
            ("**", "x", true),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), &[text.as_bytes()]), expected, "{pattern}");
        }
    }

    #[test]
    fn the_file_comes_before_the_name() {
        let texts: [&[u8]; 3] = [b"src/x.c", b":", b"f#1"];
        assert!(matches(b"src/x.c:f#1", &texts));
        assert!(matches(b"*/x.c:f#*", &texts));
        assert!(!matches(b"x.c:f#1", &texts));
    }

    #[test]
    fn a_list_has_commas() {
        assert!(names_of(b"a,b:c,*").eq([b"a".as_slice(), b"b:c", b"*"]));
    }
}
