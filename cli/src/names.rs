//! Names of functions, for people.

use cpp_demangle::Symbol;

/// A function's name as the source has it: C++ names demangled, without what would disturb a
/// terminal.
pub fn readable(name: &str) -> String {
    // Symbol::new takes any name that begins like a mangled one, and may give up later.
    let demangled = Symbol::new(name).ok().and_then(|symbol| symbol.demangle().ok());
    let text = demangled.unwrap_or_else(|| name.to_string());
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn cpp_names_are_demangled_and_others_left() {
        assert_eq!(readable("main"), "main");
        assert_eq!(readable("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(readable("_Zbroken"), "_Zbroken");
        assert_eq!(readable("a\x1b[31m\n"), "a?[31m?");
    }
}
