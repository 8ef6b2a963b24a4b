//! Source beside the calls of each function.

mod context_support;
mod support;

use context_support::{Builder, fixture, run, section, table, tables};
use midflight_profile::format::ContextMode;
use midflight_profile::table::{Block, FunctionTable, Loc, Mode, Stage};
use support::{Fixture, elf, profile, streams, sum};

/// The source of `calls.c`.
const SOURCE: &str = "\
#include \"util.h\"
namespace foo {
void visit(int n) {
  EACH(n, walk(n));
}
}

/* Goes down. */
static
void walk(int n) {
  if (n > 3) walk(n - 1);
  foo::visit(n);
  if (n == 7)
    return twice(n);
}



/* The beginning */
int main(void) {
  walk(9);
  walk(1);
  return 0;
}
";

fn with_source() -> Fixture {
    let fixture = fixture();
    fixture.write("src/calls.c", SOURCE.as_bytes());
    fixture
}

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn callers_stand_below_the_declaration_and_callees_below_the_lines_that_call() {
    let fixture = with_source();
    check("calls-annotate", &fixture.printed("annotate calls calls.mfp --source-dir ."));
    let output = fixture.run("annotate calls calls.mfp");
    assert!(output.stderr.is_empty(), "there is something to show");
    let hot = fixture.printed("annotate calls hot.mfp --source-dir . --function walk");
    check("calls-annotate-hot", &hot);
    let color = fixture.printed("annotate calls calls.mfp --source-dir . --color always");
    assert!(color.contains("\x1b[1mwalk\x1b[0m  /build/src/calls.c:10"), "{color}");
}

/// The sum of what stands beside arrows.
fn sum_of(text: &str, arrow: char) -> u64 {
    let rows = text.lines().filter(|line| line.contains(arrow) && !line.contains("how often"));
    rows.map(|row| row.split_whitespace().next().unwrap().replace(',', "").parse::<u64>().unwrap())
        .sum()
}

#[test]
fn all_calls_are_told_once_from_both_ends() {
    let fixture = with_source();
    for options in ["", "--calls 1", "--calls 0", "--source-dir ."] {
        let text = fixture.printed(&format!("annotate calls calls.mfp {options}"));
        // Two activations were begun by none, `main` and a `visit`.
        assert_eq!((sum_of(&text, '←'), sum_of(&text, '→')), (1000, 998), "{options}: {text}");
    }
    let text = fixture.printed("annotate calls calls.mfp --calls 1 --function foo::visit");
    assert!(text.contains("5             ← 1 more; --calls shows more\n"), "{text}");
}

#[test]
fn functions_are_picked_by_name_and_number() {
    let fixture = with_source();
    let text = fixture.printed("annotate calls calls.mfp --top 1 --source-dir .");
    assert!(text.contains("foo::visit(int)  /build/src/calls.c:3  896 activations, 89.3 % of all"));
    assert!(!text.contains("\nwalk"), "{text}");
    let text = fixture.printed("annotate calls calls.mfp --function main --source-dir .");
    assert!(text.contains("\nmain  ") && !text.contains("\nwalk  "), "{text}");
    // It is profiled, and was never called.
    let text = fixture.printed("annotate calls calls.mfp --function idle");
    assert!(text.contains("no function that ran is to be shown"), "{text}");
    let complaint = fixture.complaint("annotate calls calls.mfp --function nosuch");
    assert!(complaint.contains("there is no function 'nosuch'"), "{complaint}");
}

#[test]
fn without_its_source_a_function_has_the_lines_that_call() {
    let fixture = fixture();
    let text = fixture.printed("annotate calls calls.mfp --function walk");
    assert!(text.contains("the file was not found; --source-dir says where to look"), "{text}");
    assert!(
        text.contains("\n            890        12 |\n            890             → foo::visit")
    );
    assert!(!text.contains(" 13 |"), "{text}");
    // Nor is there a line at all.
    let mut bare = tables();
    for table in &mut bare {
        table.line = 0;
        table.files.clear();
        table.sites.iter_mut().for_each(|site| site.loc = Loc { file: 0, line: 0, outer_line: 0 });
    }
    let section = section(&[], &bare);
    fixture.write("bare", &elf(&section));
    fixture.write("bare.mfp", &run(&section).write());
    let text = fixture.printed("annotate bare bare.mfp");
    assert!(text.contains("it has no lines: it was compiled without -g"), "{text}");
    assert!(text.contains("→ walk  on a line that is not known"), "{text}");
    assert_eq!((sum_of(&text, '←'), sum_of(&text, '→')), (1000, 998), "{text}");
}

/// `walk` with paths, too: its loop, and the line of a call.
fn walk_with_paths() -> FunctionTable {
    let loc = |line| Loc { file: 0, line, outer_line: line };
    let mut table = sum();
    (table.name, table.files, table.line) = ("walk".into(), vec!["/build/src/calls.c".into()], 10);
    (table.stage, table.mode) = (Stage::Early, Mode::Automaton);
    let lines = [10, 11, 12, 13, 14, 15];
    for (block, line) in table.blocks.iter_mut().zip(lines) {
        *block = Block { instructions: 2, calls: false, locs: vec![loc(line)] };
    }
    table
}

#[test]
fn a_function_with_paths_and_calls_has_both() {
    let fixture = with_source();
    let paths = [walk_with_paths(), sum()];
    let mut calls = tables();
    calls.push(table("sum", 5, &[]));
    let both = section(&paths, &calls);
    fixture.write("both", &elf(&both));
    let mut counted = run(&both);
    let of_paths = profile("/build/both", &paths, &[("walk", streams(3)), ("sum", streams(1))]);
    (counted.k, counted.functions) = (of_paths.k, of_paths.functions);
    fixture.write("both.mfp", &counted.write());
    let text = fixture.printed("annotate both both.mfp --source-dir . --function walk");
    check("calls-annotate-paths", &text);
    let all = fixture.printed("annotate both both.mfp --source-dir .");
    let order: Vec<&str> = all
        .lines()
        .filter(|line| line.contains("% of the work") || line.contains("% of all"))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(order, ["sum", "walk", "foo::visit(int)", "main"], "{all}");
}

/// Names are shown so that they cannot control a terminal.
#[test]
fn hostile_names_stay_text() {
    let fixture = fixture();
    let mut evil = tables();
    evil[1].name = "evil\x1b[31m\n".into();
    evil[1].files[1] = "/x/\x1b[2J.h".into();
    let section = section(&[], &evil);
    fixture.write("evil", &elf(&section));
    let mut all = Builder::new(&section, ContextMode::All);
    let main = all.call(None, 0, "main", 1, 0);
    let walk = all.call(main, 0, "evil\x1b[31m\n", 2, 0);
    all.call(walk, 2, "_ZN3foo5visitEi", 3, 0);
    fixture.write("evil.mfp", &all.profile("/build/calls").write());
    for line in
        ["annotate evil evil.mfp", "diff evil evil.mfp evil.mfp", "overlap evil evil.mfp evil.mfp"]
    {
        let text = fixture.printed(line);
        assert!(!text.contains('\x1b'), "{line}: {text:?}");
    }
    assert!(fixture.printed("annotate evil evil.mfp").contains(r"evil\x1b[31m\x0a"));
}
