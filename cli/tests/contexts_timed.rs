//! The times of calling contexts: what is shown, reported, exported and added up.

mod context_support;
mod support;

use context_support::readers::{annotated, fields, unpacked};
use context_support::{section, tables, timed_run};
use serde_json::{Value, json};
use support::Fixture;

const MS: u64 = 1_000_000;

/// That of calling contexts with a run that has times, `timed.mfp`.
fn fixture() -> Fixture {
    let fixture = context_support::fixture();
    let section = section(&[], &tables());
    fixture.write("timed.mfp", &timed_run(&section).write());
    fixture
}

fn parsed(fixture: &Fixture, line: &str) -> Value {
    serde_json::from_str(&fixture.printed(line)).unwrap()
}

#[test]
fn times_are_shown() {
    let fixture = fixture();
    let shown = parsed(&fixture, "show calls timed.mfp --contexts --format json");
    assert_eq!(shown["time"], json!({ "total": 1005 * MS, "elsewhere": 5 * MS }));
    let contexts = shown["contexts"].as_array().unwrap();
    let main = contexts.iter().find(|context| context["function"] == "main").unwrap();
    assert_eq!(main["time"], json!({ "self": MS, "total": 999 * MS }));
    let text = fixture.printed("show calls timed.mfp --contexts");
    assert!(text.contains("time=1005000000ns time-elsewhere=5000000ns\n"), "{text}");
    assert!(text.contains("    1    1000000  main"), "{text}");
    // All that a function has taken, whoever has called it
    let callers = parsed(&fixture, "show calls timed.mfp --contexts=1 --format json");
    let is_walk = |c: &&Value| c["function"] == "walk" && c["parent"].is_null();
    let walk = callers["contexts"].as_array().unwrap().iter().find(is_walk);
    assert_eq!(walk.unwrap()["time"], json!({ "self": 103 * MS, "total": null }));
}

#[test]
fn contexts_are_reported_by_time() {
    let fixture = fixture();
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        let report = fixture.printed("report calls timed.mfp --min-percent 5");
        insta::assert_snapshot!("contexts-timed", report);
        let callers = fixture.printed("report calls timed.mfp --contexts=1 --top 3");
        insta::assert_snapshot!("contexts-timed-callers", callers);
    });
    let by_count = fixture.printed("report calls timed.mfp --by activations --no-legend");
    assert!(by_count.contains("% all    % parent   context\n"), "{by_count}");
    let without = fixture.complaint("report calls calls.mfp --by time");
    assert!(without.contains("there are no times in the profile"), "{without}");
}

#[test]
fn times_are_exported() {
    let fixture = fixture();
    let folded = fixture.printed("export --to folded --contexts calls timed.mfp");
    let sum: u64 =
        folded.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 1005 * MS);
    let counts = fixture.printed("export --to folded --contexts --by activations calls timed.mfp");
    let plain = fixture.printed("export --to folded --contexts calls calls.mfp");
    assert_eq!(counts, plain);
    let svg = fixture.printed("export --to svg --contexts calls timed.mfp");
    assert!(svg.contains("1 activations; 1.000 ms, 999.0 ms with what they call, 99.4 %"), "{svg}");
    let text = fixture.printed("export --to callgrind calls timed.mfp");
    assert!(text.contains("events: Activations Nanoseconds\nsummary: 1000 1000000000\n"), "{text}");
    fixture.write("callgrind.out", text.as_bytes());
    if let Some(all) = annotated(&fixture, &["--threshold=100", "--inclusive=yes"]) {
        assert!(
            all.contains("999 (99.90%) 999,000,000 (99.90%)  /build/src/calls.c:main"),
            "{all}"
        );
    }
    fixture.printed("export --to pprof -o timed.pb.gz calls timed.mfp");
    let profile = fields(&unpacked(&fixture.read("timed.pb.gz")));
    let of = |number| profile.iter().filter(move |field| field.0 == number).map(|field| &field.2);
    let strings: Vec<&str> = of(6).map(|text| std::str::from_utf8(text).unwrap()).collect();
    assert_eq!(strings[..5], ["", "activations", "count", "time", "nanoseconds"]);
    assert_eq!(of(1).count(), 2);
    let mut sums = [0, 0];
    for sample in of(2).map(|bytes| fields(bytes)) {
        let mut values = vec![0];
        let mut shift = 0;
        for byte in &sample[1].2 {
            *values.last_mut().unwrap() |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                (shift, _) = (0, values.push(0));
            }
        }
        assert_eq!(values.len(), 3);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    assert_eq!(sums, [1000, 1000 * MS]);
}

#[test]
fn times_add_up() {
    let fixture = fixture();
    fixture.printed("merge -o sum.mfp timed.mfp timed.mfp");
    let sum = parsed(&fixture, "show calls sum.mfp --contexts --format json");
    assert_eq!(sum["time"], json!({ "total": 2010 * MS, "elsewhere": 10 * MS }));
    // One that has none adds none.
    fixture.printed("merge -o mixed.mfp timed.mfp calls.mfp");
    let mixed = parsed(&fixture, "show calls mixed.mfp --contexts --format json");
    assert_eq!(mixed["time"], json!({ "total": 1005 * MS, "elsewhere": 5 * MS }));
}
