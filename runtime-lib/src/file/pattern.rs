//! The pattern of the profile's file name: `%p` is the process ID, `%h` the host's name, `%m` the
//! program's signature, `%Nm` the same and one of N numbers, `%%` a percent sign. `%c` stands for
//! nothing: it asks for a file that the program counts in.

use crate::file::text::{Text, TooLong};
use crate::message::Decimal;

/// The pattern where none is given.
pub const DEFAULT: &[u8] = b"midflight-%p.mfp";

/// What the pattern's parts stand for.
pub struct Values<'a> {
    /// `%p`.
    pub process: u64,
    /// `%h`.
    pub host: &'a [u8],
    /// `%m`, as 16 hexadecimal digits.
    pub signature: u64,
}

/// A `%` with something that has no meaning after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown(pub Option<u8>);

/// One piece of a pattern.
enum Piece<'a> {
    Literal(&'a [u8]),
    Process,
    Host,
    Signature,
    /// A signature, and the process's place in a pool of that many.
    Pool(u8),
    Continuous,
}

/// Splits the first piece off a pattern that is not empty.
fn split(pattern: &[u8]) -> Result<(Piece<'_>, &[u8]), Unknown> {
    match pattern {
        [b'%', digit @ b'1'..=b'9', b'm', rest @ ..] => Ok((Piece::Pool(digit - b'0'), rest)),
        [b'%', kind, rest @ ..] => {
            let piece = match kind {
                b'p' => Piece::Process,
                b'h' => Piece::Host,
                b'm' => Piece::Signature,
                b'c' => Piece::Continuous,
                b'%' => Piece::Literal(b"%"),
                other => return Err(Unknown(Some(*other))),
            };
            Ok((piece, rest))
        }
        [b'%'] => Err(Unknown(None)),
        _ => {
            let end = pattern.iter().position(|&byte| byte == b'%').unwrap_or(pattern.len());
            let (literal, rest) = pattern.split_at_checked(end).unwrap_or((pattern, b""));
            Ok((Piece::Literal(literal), rest))
        }
    }
}

/// The pieces of a pattern, up to what has no meaning.
fn pieces(mut pattern: &[u8]) -> impl Iterator<Item = Result<Piece<'_>, Unknown>> {
    core::iter::from_fn(move || {
        let piece = (!pattern.is_empty()).then(|| split(pattern))?;
        pattern = piece.as_ref().map_or(b"", |(_, rest)| rest);
        Some(piece.map(|(piece, _)| piece))
    })
}

/// Whether a pattern can be expanded.
pub fn check(pattern: &[u8]) -> Result<(), Unknown> {
    pieces(pattern).try_for_each(|piece| piece.map(drop))
}

/// Whether processes with the same pattern have names of their own.
pub fn has_process(pattern: &[u8]) -> bool {
    has(pattern, |piece| matches!(piece, Piece::Process))
}

/// Whether processes with the same pattern, and of the same program, share a file.
pub fn is_shared(pattern: &[u8]) -> bool {
    has_signature(pattern) && !has_process(pattern)
}

/// Whether the name begins at the root of all directories, whatever the process.
pub fn is_absolute(mut pattern: &[u8]) -> bool {
    while let Some(rest) = pattern.strip_prefix(b"%c") {
        pattern = rest;
    }
    pattern.first() == Some(&b'/')
}

/// Whether the name depends on the program's signature.
pub fn has_signature(pattern: &[u8]) -> bool {
    has(pattern, |piece| matches!(piece, Piece::Signature | Piece::Pool(_)))
}

/// Whether the program is to count in the file.
pub fn is_continuous(pattern: &[u8]) -> bool {
    has(pattern, |piece| matches!(piece, Piece::Continuous))
}

fn has(pattern: &[u8], is_it: fn(&Piece<'_>) -> bool) -> bool {
    pieces(pattern).flatten().any(|piece| is_it(&piece))
}

/// Adds what a checked pattern stands for to a text.
pub fn expand(pattern: &[u8], values: &Values, to: &mut Text) -> Result<(), TooLong> {
    for piece in pieces(pattern).flatten() {
        match piece {
            Piece::Literal(bytes) => to.push(bytes)?,
            Piece::Process => to.push(Decimal::new(values.process).bytes())?,
            Piece::Host => to.push(values.host)?,
            Piece::Signature => to.push(&hexadecimal(values.signature))?,
            Piece::Pool(size) => {
                let place = values.process.checked_rem(size.into()).unwrap_or(0);
                to.push(&hexadecimal(values.signature))?;
                to.push(b"_")?;
                to.push(Decimal::new(place).bytes())?;
            }
            Piece::Continuous => {}
        }
    }
    Ok(())
}

fn hexadecimal(value: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    for (index, digit) in digits.iter_mut().rev().enumerate() {
        let nibble = (value >> (4 * index)) as u8 & 15;
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(pattern: &str) -> String {
        let values = Values { process: 42, host: b"box", signature: 0x00ab_0000_0000_0019 };
        let mut text = Text::new();
        expand(pattern.as_bytes(), &values, &mut text).unwrap();
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    #[test]
    fn each_part_is_replaced() {
        assert_eq!(expanded("midflight-%p.mfp"), "midflight-42.mfp");
        assert_eq!(expanded("%h/%m.%p%p"), "box/00ab000000000019.4242");
        assert_eq!(expanded("100%%.mfp"), "100%.mfp");
        assert_eq!(expanded("a%5m"), "a00ab000000000019_2");
        assert_eq!(expanded("%cmidflight-%p.mfp"), "midflight-42.mfp");
        assert_eq!(expanded(""), "");
    }

    #[test]
    fn unknown_parts_are_found() {
        assert_eq!(check(b"a-%p-%h-%m-%%"), Ok(()));
        assert_eq!(check(b"a%x"), Err(Unknown(Some(b'x'))));
        assert_eq!(check(b"%p%"), Err(Unknown(None)));
        assert_eq!(check(b"%%%"), Err(Unknown(None)));
        assert_eq!(check(b"%9m%1m"), Ok(()));
        assert_eq!(check(b"%0m"), Err(Unknown(Some(b'0'))));
        assert_eq!(check(b"%3p"), Err(Unknown(Some(b'3'))));
    }

    #[test]
    fn the_process_is_found_in_a_pattern() {
        assert!(has_process(b"a-%p"));
        assert!(has_process(b"%h%p.mfp"));
        assert!(!has_process(b"%%p-%m"));
        assert!(!has_process(b""));
        assert!(is_shared(b"a-%m") && is_shared(b"%4m%h"));
        assert!(!is_shared(b"%m-%p") && !is_shared(b"%%m") && !is_shared(b""));
    }

    #[test]
    fn what_asks_for_a_file_to_count_in_is_found() {
        assert!(is_continuous(b"%ca-%p"));
        assert!(is_continuous(b"a-%p%c"));
        assert!(!is_continuous(b"a-%%c-%p"));
        assert!(is_absolute(b"%c/a") && is_absolute(b"/%c"));
        assert!(!is_absolute(b"%ca/") && !is_absolute(b"%h/a"));
        assert!(!is_continuous(b""));
    }

    #[test]
    fn a_name_that_does_not_fit_is_an_error() {
        let long = vec![b'a'; crate::file::text::CAPACITY];
        let values = Values { process: 1, host: b"", signature: 0 };
        assert_eq!(expand(&long, &values, &mut Text::new()), Err(TooLong));
    }
}
