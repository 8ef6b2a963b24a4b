//! The functions that Rust and the C++ of the bridge and of the plugin call of each other have one
//! signature in both.
//!
//! No compiler sees both sides: a parameter that only one of them has is a miscompile of the
//! compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Name, and the types of the parameters and of the result
type Signatures = BTreeMap<String, Vec<String>>;

/// All text of the files with an extension in a folder of the bridge and of the plugin.
fn texts(folder: &str, extension: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["bridge", "plugin"].map(|of| std::fs::read_dir(root.join(of).join(folder)));
    let files = folders.into_iter().flat_map(Result::unwrap).map(|entry| entry.unwrap().path());
    let of_kind = files.filter(|path| path.extension().is_some_and(|e| e == extension));
    of_kind.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The text in the parentheses that begin here, and what is behind them.
fn in_parentheses(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (place, character) in text.char_indices() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth == 0 {
            return (&text[1..place], &text[place + 1..]);
        }
    }
    panic!("a parenthesis is not closed: {text}")
}

/// Parts between commas that are in no parentheses.
fn parts(list: &str) -> Vec<String> {
    let mut result = vec![String::new()];
    let mut depth = 0;
    for character in list.chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if character == ',' && depth == 0 {
            result.push(String::new());
        } else {
            result.last_mut().unwrap().push(character);
        }
    }
    result.iter().map(|part| words(part)).filter(|part| !part.is_empty()).collect()
}

/// The same with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A Rust type as C writes it, without spaces.
fn rust_type(text: &str) -> String {
    let text = text.trim().trim_start_matches("prelude::");
    if let Some(of) = text.strip_prefix("*mut ") {
        return format!("{}*", rust_type(of));
    }
    if let Some(of) = text.strip_prefix("*const ") {
        return format!("const{}*", rust_type(of));
    }
    if let Some(rest) = text.strip_prefix("unsafe extern \"C\" fn") {
        let (parameters, _) = in_parentheses(rest);
        return format!("void(*)({})", rust_parameters(parameters).join(","));
    }
    match text {
        "c_void" => "void".to_string(),
        "c_char" => "char".to_string(),
        "c_int" => "int".to_string(),
        "usize" => "size_t".to_string(),
        "TakeText" => "void(*)(void*,constchar*,size_t)".to_string(),
        "TakeLine" => "void(*)(void*,bool,constchar*,size_t)".to_string(),
        "bool" => "bool".to_string(),
        _ if text.starts_with("LLVM") => text.to_string(),
        _ => match text.split_at(1) {
            ("u", bits) => format!("uint{bits}_t"),
            ("i", bits) => format!("int{bits}_t"),
            _ => panic!("a type that the shim does not know: {text}"),
        },
    }
}

fn rust_parameters(list: &str) -> Vec<String> {
    let of = |part: &String| match part.split_once(": ") {
        Some((name, of)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => rust_type(of),
        _ => rust_type(part),
    };
    parts(list).iter().map(of).collect()
}

/// What is declared or defined as `fn NAME(…) -> …`, with a prefix of its name.
fn of_rust(text: &str, prefix: &str) -> Signatures {
    let mut found = Signatures::new();
    for (place, _) in text.match_indices(&format!("fn {prefix}")) {
        let rest = &text[place + 3..];
        let (name, rest) = rest.split_at(rest.find('(').unwrap());
        let (parameters, rest) = in_parentheses(rest);
        let end = rest.find([';', '{']).unwrap();
        let result = rest[..end].trim().strip_prefix("->").map_or("void".to_string(), rust_type);
        let mut signature = rust_parameters(parameters);
        signature.push(result);
        found.insert(name.to_string(), signature);
    }
    found
}

/// A C parameter's type, without its name.
fn c_type(text: &str) -> String {
    if let Some((result, rest)) = text.split_once("(*") {
        let (_, parameters) = rest.split_once(')').unwrap();
        let (parameters, _) = in_parentheses(parameters);
        let parameters: Vec<_> = parts(parameters).iter().map(|part| c_type(part)).collect();
        return format!("{}(*)({})", result.trim(), parameters.join(","));
    }
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && !word.starts_with("LLVM");
    let name_at = text.rfind([' ', '*']).map_or(0, |place| place + 1);
    let of = if is_name(&text[name_at..]) { &text[..name_at] } else { text };
    of.replace(' ', "")
}

/// What C++ declares or defines, a line's beginning before the name.
fn of_c(text: &str, prefix: &str) -> Signatures {
    let mut found = Signatures::new();
    for (place, _) in text.match_indices(prefix) {
        let line = text[..place].rfind('\n').map_or(0, |end| end + 1);
        let result = text[line..place].trim_start_matches("extern \"C\" ");
        let is_type = |c: char| c.is_alphanumeric() || "_ *".contains(c);
        // A call is indented, or behind something else than a type.
        let is_declared = result.starts_with(|c: char| c.is_alphabetic());
        let rest = &text[place..];
        let Some(open) = rest.find('(').filter(|&open| rest[..open].chars().all(is_type)) else {
            continue;
        };
        if !is_declared || !result.chars().all(is_type) || result.contains("return") {
            continue;
        }
        let (parameters, _) = in_parentheses(&rest[open..]);
        let mut signature: Vec<_> = parts(parameters).iter().map(|part| c_type(part)).collect();
        signature.push(result.replace(' ', ""));
        found.insert(rest[..open].to_string(), signature);
    }
    found
}

/// Asserts that both have the same functions with a prefix, at least so many.
fn check(prefix: &str, least: usize) {
    let rust = of_rust(&texts("src", "rs"), prefix);
    assert!(rust.len() >= least, "{}", rust.len());
    assert_eq!(rust, of_c(&texts("cpp", "cpp"), prefix));
}

#[test]
fn what_rust_calls_of_the_shim_is_what_the_shim_has() {
    check("mfb_", 80);
    check("mfp_", 1);
}

#[test]
fn what_the_shim_calls_of_rust_is_what_rust_has() {
    check("mf_rust_", 4);
}

#[test]
fn the_header_of_the_osr_api_declares_what_the_plugin_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("plugin");
    let header = std::fs::read_to_string(root.join("include/midflight_osr_api.h")).unwrap();
    let api = std::fs::read_to_string(root.join("src/osr_api.rs")).unwrap();
    let declarations = header.lines().filter(|line| {
        line.starts_with(|c: char| c.is_alphabetic()) && !line.starts_with("typedef")
    });
    let declared =
        declarations.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let declared: BTreeSet<_> = declared.collect();
    let defined = api.split("extern \"C\" fn midflight_").skip(1);
    let defined = defined.map(|rest| format!("midflight_{}", rest.split('(').next().unwrap()));
    let defined: BTreeSet<_> = defined.collect();
    let defined: BTreeSet<_> = defined.iter().map(String::as_str).collect();
    assert!(defined.len() > 10, "{defined:?}");
    assert_eq!(declared, defined);
}

#[test]
fn another_type_or_one_more_parameter_is_noticed() {
    let declared = "pub fn mfb_f(inst: LLVMValueRef, to: *mut c_void, n: u32) -> bool;";
    let as_c = |text: &str| of_c(text, "mfb_f");
    let rust = of_rust(declared, "mfb_f");
    assert_eq!(rust, as_c("\nbool mfb_f(LLVMValueRef Inst, void *To, uint32_t N) {"));
    assert_ne!(rust, as_c("\nbool mfb_f(LLVMValueRef Inst, void *To, uint64_t N) {"));
    assert_ne!(rust, as_c("\nbool mfb_f(LLVMValueRef Inst, void *To) {"));
    assert_ne!(rust, as_c("\nvoid mfb_f(LLVMValueRef Inst, void *To, uint32_t N) {"));
}
