//! Names of functions, for people.

use cpp_demangle::Symbol;

/// A function's name as the source has it: C++ names demangled, without what would disturb a
/// terminal.
pub fn readable(name: &str) -> String {
    // Symbol::new takes names of types too, as `f` for `float`, and may give up later.
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    let demangled = symbol.and_then(|symbol| symbol.demangle().ok());
    let text = demangled.unwrap_or_else(|| name.to_string());
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn cpp_names_are_demangled_and_others_left() {
        assert_eq!(readable("main"), "main");
        assert_eq!(readable("f"), "f");
        assert_eq!(readable("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(readable("_Zbroken"), "_Zbroken");
        assert_eq!(readable("a\x1b[31m\n"), "a?[31m?");
    }
}
