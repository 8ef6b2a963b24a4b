//! What `midflight osr report` asks of opt, and what it makes of the answer. Run with
//! `INSTA_UPDATE=always` to accept changes of the snapshot.

mod osr_report_support;

use osr_report_support::{FOUND, Fixture};
use serde_json::Value;

#[test]
fn text() {
    let text = Fixture::new(FOUND).printed("x.bc");
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("osr-report-text", text);
    });
}

#[test]
fn a_module_without_functions_is_said_to_have_none() {
    let found = r#"{"version":1,"pipeline":"p","functions":[],"refused_functions":{"Naked":3}}"#;
    let text = Fixture::new(found).printed("x.bc");
    assert!(text.contains("no function was mapped") && text.contains("3  Naked"), "{text}");
}

#[test]
fn the_json_is_the_plugins_and_has_code_only_if_it_is_asked_for() {
    let fixture = Fixture::new(FOUND);
    let mut expected: Value = serde_json::from_str(FOUND).unwrap();
    expected["functions"][1].as_object_mut().unwrap().remove("later");
    let numbers_as_floats = |value: &Value| value.to_string().replace(":0.0", ":0");
    let json: Value =
        serde_json::from_str(&fixture.printed("x.bc --format json --detail")).unwrap();
    assert_eq!(numbers_as_floats(&json), numbers_as_floats(&expected));
    assert!(fixture.asked("asked")[1].contains(";detail>"));
    for function in expected["functions"].as_array_mut().unwrap() {
        function.as_object_mut().unwrap().remove("detail");
    }
    let json: Value = serde_json::from_str(&fixture.printed("x.bc --format json")).unwrap();
    assert_eq!(numbers_as_floats(&json), numbers_as_floats(&expected));
    assert!(!fixture.asked("asked")[1].contains("detail"));
}

#[test]
fn opt_is_asked_for_the_passes_and_functions() {
    let fixture = Fixture::new(FOUND);
    fixture.printed("x.bc");
    let asked = fixture.asked("asked");
    assert!(asked[0].starts_with("-load-pass-plugin=/") && asked[0].contains("llvm-22"));
    let passes = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink";
    let begin = "-passes=function(mem2reg),print<osr-map;file=found.json";
    assert_eq!(asked[1], format!("{begin}>({passes})"));
    assert_eq!(asked[2], "-disable-output");
    assert!(asked[3].starts_with('/') && asked[3].ends_with("/x.bc"));
    fixture.printed("x.bc --llvm 19 --passes gvn --function sum");
    let asked = fixture.asked("asked");
    assert!(asked[0].contains("llvm-19"));
    assert_eq!(asked[1], format!("{begin};function=sum>(gvn)"));
}

#[test]
fn functions_have_two_names() {
    let fixture = Fixture::new(FOUND);
    for name in ["foo::bar(int)", "_ZN3foo3barEi"] {
        let text = fixture.printed(&format!("x.bc --function {name}"));
        assert!(text.contains("= 1 function\n") && !text.contains("  sum\n"), "{text}");
    }
    let text = fixture.printed("x.bc --function foo::bar(int) --function sum");
    assert!(text.contains("= 2 functions\n"), "{text}");
}

#[test]
fn source_is_compiled_with_the_arguments_for_clang() {
    let fixture = Fixture::new(FOUND);
    for (name, compiler) in [("x.c", "clang"), ("x.cc", "clang++")] {
        fixture.write(name, b"");
        fixture.printed(&format!("{name} -- -DX=1 -Iinclude"));
        let asked = fixture.asked("compiled");
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let options = ["-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-DX=1"];
        assert_eq!(asked[..6], options, "{compiler}");
        assert!(asked[6] == "-Iinclude" && asked.last() == Some(&name), "{asked:?}");
        assert!(fixture.asked("asked")[3].ends_with("/input.bc"));
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let fixture = Fixture::new(FOUND);
    let complaint = fixture.complaint("missing.bc", "");
    assert!(complaint.contains("reading 'missing.bc': No such file"), "{complaint}");
    std::fs::create_dir(fixture.path("folder.bc")).unwrap();
    assert!(fixture.complaint("folder.bc", "").contains("reading 'folder.bc': is a directory"));
    fixture.write("text.bc", b"int main");
    assert!(fixture.complaint("text.bc", "").contains("'text.bc' is not LLVM bitcode"));
    fixture.write("empty.bc", b"");
    assert!(fixture.complaint("empty.bc", "").contains("'empty.bc' is not LLVM bitcode"));
    fixture.write("x.o", b"");
    assert!(fixture.complaint("x.o", "").contains("'x.o': its name does not tell what it is"));
    assert!(fixture.complaint("x.bc -- -O2", "").contains("'x.bc' is not compiled"));
    assert!(fixture.complaint("x.bc --llvm 7", "").contains("no"));
}

#[test]
fn what_clang_and_opt_refuse_is_told() {
    let fixture = Fixture::new(FOUND);
    fixture.write("x.c", b"");
    let complaint = fixture.complaint("x.c", "exit 3");
    assert!(complaint.contains("compiling 'x.c': clang ended with exit status: 3"), "{complaint}");
    let complaint = fixture.complaint("x.bc --passes nonsense", "echo unknown pass >&2; exit 1");
    let told = "running the passes 'nonsense' on 'x.bc': unknown pass";
    assert!(complaint.ends_with(told), "{complaint}");
    let fault = "echo \"error: midflight: running the passes 'x': no x\" >&2; exit 1";
    let complaint = fixture.complaint("x.bc --passes x", fault);
    assert!(complaint.ends_with("error: running the passes 'x' on 'x.bc': no x"), "{complaint}");
    assert!(fixture.complaint("x.bc", "exit 1").contains("opt ended with exit status: 1"));
    assert!(fixture.complaint("x.bc", "kill -SEGV $$").contains("opt ended with signal: 11"));
    assert!(fixture.complaint("x.bc", "exit 0").contains("No such file"));
}

#[test]
fn unknown_functions_are_named() {
    let fixture = Fixture::new(FOUND);
    let complaint = fixture.complaint("x.bc --function sum --function nobody", "");
    let told = "there is no function 'nobody' in 'x.bc' that could be mapped (refused functions: \
                Coroutine: 2, ReturnsTwice: 1)";
    assert!(complaint.ends_with(told), "{complaint}");
}

#[test]
fn a_report_of_another_version_is_refused() {
    let complaint = |found: &str| Fixture::new(found).complaint("x.bc", "");
    let newer = FOUND.replacen("\"version\":1", "\"version\":2", 1);
    assert!(complaint(&newer).contains("its format has version 2, not 1"));
    assert!(complaint("{").contains("reading what the plugin found in 'x.bc'"));
    let renamed = FOUND.replacen("live_e", "livee", 1);
    assert!(complaint(&renamed).contains("missing field `live_e`"));
}

#[test]
fn the_page_is_one_file_with_no_text_as_markup() {
    let fixture = Fixture::new(FOUND);
    let text = fixture.printed("x.bc --html x.html");
    assert_eq!(text, fixture.printed("x.bc"), "the text is printed too");
    let page = fixture.read("x.html");
    assert!(!page.contains("<img") && !page.contains("<script>window"), "text became markup");
    assert!(!page.contains("src=\"") && !page.contains("http:") && !page.contains("https:"));
    assert_eq!(page.matches("</script>").count(), 4, "the index, two functions, the script");
    let complaint = fixture.complaint("x.bc --html nowhere/x.html", "");
    assert!(complaint.contains("writing 'nowhere/x.html'"), "{complaint}");
}
