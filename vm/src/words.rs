//! Lines of input as words.
//!
//! Words are separated by spaces. What stands in brackets or in double quotes is of one word;
//! single quotes around a word are taken away, as a shell does. A `#` that stands alone, or that a
//! line begins with, begins a comment; `#4` is a point.

/// Splits a line.
///
/// # Errors
/// What is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0_u32);
    let mut chars = line.chars().peekable();
    let mut is_word = false;
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() && depth == 0 => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                    is_word = false;
                }
                continue;
            }
            '#' if !is_word
                && depth == 0
                && (words.is_empty() || chars.peek().is_none_or(|next| next.is_whitespace())) =>
            {
                break;
            }
            '\'' if !is_word => {
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote is not closed".to_string()),
                    }
                }
                is_word = true;
                continue;
            }
            '"' => {
                word.push(c);
                loop {
                    let Some(c) = chars.next() else {
                        return Err("a double quote is not closed".to_string());
                    };
                    word.push(c);
                    match c {
                        '\\' => word.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                is_word = true;
                continue;
            }
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        word.push(c);
        is_word = true;
    }
    if depth > 0 {
        return Err("a bracket is not closed".to_string());
    }
    if is_word {
        words.push(word);
    }
    Ok(words)
}

/// What stands in double quotes, with `\n`, `\t`, `\0`, `\\`, `\"` and `\xNN` as in C. None if the
/// text is not in quotes, or has another escape.
pub fn unquoted(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'0' => 0,
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            same @ (b'\\' | b'"') => same,
            _ => return None,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_keep_words_together() {
        let line = r#"run f buffer:i32[1, 2] string:"a b\"c" 'x y'  # rest"#;
        let expected = ["run", "f", "buffer:i32[1, 2]", r#"string:"a b\"c""#, "x y"];
        assert_eq!(split(line).unwrap(), expected);
    }

    #[test]
    fn comments_are_left_out_and_numbers_of_points_are_not() {
        assert_eq!(split("  # all of it").unwrap(), Vec::<String>::new());
        assert_eq!(split("#all of it").unwrap(), Vec::<String>::new());
        assert_eq!(split("insert f #4 always").unwrap(), ["insert", "f", "#4", "always"]);
    }

    #[test]
    fn what_is_not_closed_is_an_error() {
        for line in ["run f [1", "echo \"x", "echo 'x", "f(", "echo \"x\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    #[test]
    fn escapes_are_those_of_c() {
        assert_eq!(unquoted(r#""a\n\x41\0""#).unwrap(), b"a\nA\0");
        assert!(
            unquoted(r#""\q""#).is_none() && unquoted("x").is_none() && unquoted("\"").is_none()
        );
    }
}
