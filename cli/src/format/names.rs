//! Names of functions, for people.

use cpp_demangle::{DemangleOptions, Symbol};
use midflight_profile::visible;
use std::fmt;

/// Bytes that a demangled name has at most: each substitution in a mangled one may double it.
const LONGEST: usize = 1 << 16;

/// A function's name as the source has it: C++ names demangled, unless that were absurdly long, and
/// [`visible`].
pub fn readable(name: &str) -> String {
    // Symbol::new takes names of types too, as `f` for `float`, and may give up later.
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    let text = symbol.and_then(|symbol| demangled(&symbol)).unwrap_or_else(|| name.to_string());
    visible(&text)
}

/// True if a function is asked for by its name, that for the linker or that for people.
pub fn is_name(name: &str, asked: &str) -> bool {
    name == asked || readable(name) == asked
}

/// True if a function is asked for by a part of its name, that for the linker or that for people.
pub fn has_in_name(name: &str, part: &str) -> bool {
    name.contains(part) || readable(name).contains(part)
}

/// The name of a file without its folder, and [`visible`].
pub fn file_name(path: &str) -> String {
    visible(base_name(path))
}

/// The name of a file without its folder.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn demangled(symbol: &Symbol<&str>) -> Option<String> {
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &DemangleOptions::default()).ok()?;
    Some(text.0)
}

/// A text of at most [`LONGEST`] bytes.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    /// A name of some hundred bytes that stands for a text of billions.
    #[test]
    fn a_name_that_doubles_again_and_again_is_left() {
        let doublings: String = (0..36)
            .map(|n| char::from_digit(n, 36).unwrap().to_ascii_uppercase())
            .map(|digit| format!("S_IS{digit}_S{digit}_E"))
            .collect();
        let name = format!("_Z1f1AIiiE{doublings}");
        assert_eq!(readable(&name), name);
        assert_eq!(
            readable("_Z1f1AIiiES_IS0_S0_E"),
            "f(A<int, int>, A<A<int, int>, A<int, int> >)"
        );
    }

    #[test]
    fn cpp_names_are_demangled_and_others_left() {
        assert_eq!(readable("main"), "main");
        assert_eq!(readable("f"), "f");
        assert_eq!(readable("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(readable("_Zbroken"), "_Zbroken");
        assert_eq!(readable("a\x1b[31m\n"), r"a\x1b[31m\x0a");
    }
}
