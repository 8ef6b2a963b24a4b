//! Two profiles side by side: `diff`, `overlap`, and `merge` with weights.

mod support;

use midflight_profile::table::{Edge, FunctionTable};
use support::{Fixture, bar, elf, idle, profile, section, sum};

/// The fixture, and another run of its program: the loop runs longer and turns away more often.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let other = [vec![0, 4, 4, 4, 4, 4, 3, 5], vec![2], vec![2]];
    let runs = [("sum", other.to_vec()), ("idle", vec![vec![0]; 3])];
    fixture.write("b.mfp", &profile("/build/prog", &[sum(), idle(), bar()], &runs).write());
    fixture
}

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn diff() {
    check("diff", &fixture().printed("diff prog prog.mfp b.mfp"));
}

#[test]
fn diff_as_json() {
    let fixture = fixture();
    let text = fixture.printed("diff prog prog.mfp b.mfp --format json --function sum");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["version"], 2);
    let function = &document["functions"][0];
    assert_eq!((&function["name"], &function["graph"]), (&"sum".into(), &"same".into()));
    assert_eq!(function["entries"], serde_json::json!([12, 3]));
    let turned =
        function["changed"].as_array().unwrap().iter().find(|c| c["ids"] == serde_json::json!([4]));
    assert_eq!(turned.unwrap()["count"], serde_json::json!([2, 5]));
}

#[test]
fn a_profile_does_not_differ_from_itself_or_a_multiple() {
    let fixture = Fixture::new();
    fixture.printed("merge -o five.mfp --weighted-input 5,prog.mfp");
    for other in ["prog.mfp", "five.mfp"] {
        let text = fixture.printed(&format!("diff prog prog.mfp {other}"));
        assert_eq!(text, "no function has another share of the work, or other paths\n");
        let text = fixture.printed(&format!("overlap prog prog.mfp {other}"));
        assert_eq!(text.matches("100.0 %").count(), 6, "{text}");
    }
}

#[test]
fn overlap() {
    let fixture = fixture();
    check("overlap", &fixture.printed("overlap prog prog.mfp b.mfp"));
    let text = fixture.printed("overlap prog prog.mfp b.mfp --format json");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let functions = document["functions"].as_f64().unwrap();
    assert!(functions > 0.8 && functions < 0.9, "{text}");
    assert_eq!(document["by_function"][0]["name"], "sum");
}

/// The same function with one block more in it: another graph, so IDs mean other paths.
fn other_sum() -> FunctionTable {
    let mut table = sum();
    table.cfg_hash = 2;
    table.blocks.push(table.blocks[5].clone());
    table.edges[7] = Edge::Flow { from: 5, to: 6, value: 0 };
    table.edges.push(Edge::Exit { from: 6, value: 0 });
    table
}

#[test]
fn builds_are_compared_by_the_names_of_functions_and_by_paths_of_one_graph() {
    let fixture = Fixture::new();
    // Another file name makes another table of the same graph.
    let renamed = |mut table: FunctionTable| {
        table.files[0] = "/elsewhere/sum.c".into();
        table
    };
    for (name, table) in [("same", renamed(sum())), ("changed", renamed(other_sum()))] {
        let tables = [table];
        fixture.write(name, &elf(&section(&tables)));
        let runs = [("sum", vec![vec![0, 4, 5]; 2])];
        fixture.write(&format!("{name}.mfp"), &profile(name, &tables, &runs).write());
    }
    let text = fixture.printed("diff prog prog.mfp same.mfp --binary-b same --function sum");
    assert!(text.contains("from the entry") && !text.contains("other paths"), "{text}");
    let text = fixture.printed("diff prog prog.mfp changed.mfp --binary-b changed");
    assert!(text.contains("sum  sum.c:5  (other paths: its code is another)\n"), "{text}");
    assert!(text.contains("foo::bar(int)  bar.cc:2  (ran in A only)\n"), "{text}");
    assert!(!text.contains("from the entry, lines 6"), "{text}");
    let text = fixture.printed("overlap prog prog.mfp changed.mfp --binary-b changed");
    assert!(text.contains("paths         0.0 %"), "{text}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let fixture = Fixture::new();
    fixture.write("other", &elf(&section(&[other_sum()])));
    for line in ["diff prog prog.mfp prog.mfp --binary-b other", "overlap other prog.mfp prog.mfp"]
    {
        assert!(fixture.complaint(line).contains("made by another build"), "{line}");
    }
    assert!(fixture.complaint("diff prog prog.mfp absent.mfp").contains("'absent.mfp'"));
}

#[test]
fn a_weight_multiplies_all_counts() {
    let fixture = fixture();
    fixture.printed("merge -o sum.mfp prog.mfp --weighted-input 2,b.mfp");
    fixture.printed("merge -o same.mfp prog.mfp b.mfp b.mfp");
    assert_eq!(fixture.read("sum.mfp"), fixture.read("same.mfp"));
    fixture.printed("merge -o sum.mfp --weighted 3,prog.mfp --weighted 1,b.mfp");
    fixture.printed("merge -o same.mfp prog.mfp prog.mfp prog.mfp b.mfp");
    assert_eq!(fixture.read("sum.mfp"), fixture.read("same.mfp"));
}

#[test]
fn weights_that_cannot_be_are_refused() {
    let fixture = Fixture::new();
    for weight in ["0,prog.mfp", "-1,prog.mfp", "prog.mfp", "2,", "x,prog.mfp"] {
        let output = fixture.run(&format!("merge -o sum.mfp --weighted-input={weight}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{weight}: {stderr}");
        assert!(stderr.contains("a weight of at least 1, a comma and a file"), "{stderr}");
    }
    let line = "merge -o sum.mfp --weighted-input 18446744073709551615,prog.mfp";
    assert!(fixture.complaint(line).contains("add up to more than 2^64 - 1"));
}
