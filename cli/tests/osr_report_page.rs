//! The page of `midflight osr report --html` in a browser, with pointer and keys.

mod browser_support;
mod osr_report_support;

use browser_support::Browser;
use osr_report_support::{FOUND, Fixture, large};
use std::time::{Duration, Instant};

/// The page of what the plugin found, opened; `None` if there is no browser.
fn opened(found: &str) -> Option<(Browser, Fixture)> {
    let mut browser = Browser::new()?;
    let fixture = Fixture::new(found);
    fixture.printed("x.bc --html x.html");
    browser.open(&fixture.path("x.html"));
    Some((browser, fixture))
}

const LANDING: &str = "#opt .row.to code";

#[test]
fn pointing_at_a_point_shows_its_mapping() {
    let Some((mut browser, _fixture)) = opened(FOUND) else { return };
    assert!(browser.text("#panel").contains("Point at a mark"));
    browser.point_at("#base .row[data-point='3'] .mark");
    let panel = browser.text("#panel");
    assert!(panel.contains("Point 3 of base → before point 3 of opt"), "{panel}");
    assert!(
        panel.contains("live-e") && panel.contains("%going.c = icmp slt i32 %i, %n"),
        "{panel}"
    );
    assert!(panel.contains("Compensation (2)") && panel.contains("nothing to keep"), "{panel}");
    assert!(panel.contains("Passed\n%scale := %scale.c"), "{panel}");
    assert_eq!(browser.text(LANDING), "br i1 %going, label %body, label %done");
    browser.point_at("#base .row[data-point='6'] code");
    assert!(browser.text("#panel").contains("i32 %scale\ni32 %again"));
    browser.point_at("#base .row[data-point='8'] code");
    let panel = browser.text("#panel");
    assert!(panel.contains("Not possible") && panel.contains("TailPosition"), "{panel}");
    assert_eq!(browser.value("document.querySelectorAll('.to').length"), 0);
    browser.point_at("#name");
    assert!(browser.text("#panel").contains("Point at a mark"));
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn marks_have_letters_and_the_legend_has_counts() {
    let Some((mut browser, _fixture)) = opened(FOUND) else { return };
    let marks = browser
        .value("[...document.querySelectorAll('#base .mark')].map(m => m.textContent).join('')");
    assert_eq!(marks, "0LLEAVV××");
    let legend = browser.text("#legend").replace('\n', " ");
    assert!(
        legend.contains("L live 2 25.0 %") && legend.contains("× not possible 1 12.5 %"),
        "{legend}"
    );
    assert!(legend.contains("7 of 8 points proved; 1 more refused"), "{legend}");
}

#[test]
fn keys_move_between_points_and_versions() {
    let Some((mut browser, _fixture)) = opened(FOUND) else { return };
    browser.click("#base .row[data-point='0']");
    browser.press("ArrowDown");
    assert!(browser.text("#panel").contains("Point 1 of base"));
    assert!(browser.text("#panel").contains("%scale.c = mul i32 %n, 3"));
    browser.press("ArrowRight");
    assert!(browser.text("#panel").contains("Point 4 of base"), "the next block");
    browser.press("ArrowUp");
    assert!(browser.text("#panel").contains("Point 3 of base"));
    browser.press("End");
    assert!(browser.text("#panel").contains("Point 8 of base"));
    browser.point_at("#base .row[data-point='2']");
    browser.point_at("#name");
    assert!(browser.text("#panel").contains("Point 8 of base"), "it is still chosen");
    browser.press("d");
    assert!(browser.text("#panel").contains("Point 0 of opt → before point 0 of base"));
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    assert_eq!(browser.text("#base .row.to code"), "%scale = mul i32 %n, 3");
    assert_eq!(browser.value("location.hash"), "#f=sum&d=opt_to_base&p=2");
    browser.press("d");
    assert!(browser.text("#panel").contains("Point 1 of base"), "where point 2 lands");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn the_tabulator_stops_once_in_the_list_and_once_in_the_code() {
    let Some((mut browser, _fixture)) = opened(FOUND) else { return };
    let mut stops = Vec::new();
    for _ in 0..4 {
        browser.press("Tab");
        let stop = browser.value("document.activeElement.id || document.activeElement.value || document.activeElement.className || document.activeElement.title");
        stops.push(stop.as_str().unwrap().to_string());
    }
    assert_eq!(stops, ["search", "sum", "base_to_opt", "mark empty"]);
}

#[test]
fn a_slash_searches_functions() {
    let Some((mut browser, _fixture)) = opened(FOUND) else { return };
    browser.press("/");
    for letter in ["b", "a", "r", "("] {
        browser.press(letter);
    }
    assert_eq!(browser.text("#found"), "1 of 3 functions");
    browser.press("Enter");
    assert_eq!(browser.text("#name"), "foo::bar(int)");
    assert_eq!(browser.text("#base .label"), "</script><script>window.broken = 1</script>:");
    assert_eq!(browser.value("window.broken === undefined"), true);
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn a_function_of_5000_instructions_does_not_freeze_the_page() {
    let begun = Instant::now();
    let Some((mut browser, _fixture)) = opened(&large::found(5000)) else { return };
    browser.click("#base .row[data-point='7'] .mark");
    browser.press("End");
    browser.wait_for("document.querySelector('#panel').innerText.includes('Point 4999 of base')");
    let is_seen = "(() => { const r = document.querySelector('#opt .to').getBoundingClientRect(); \
                   return r.top > 0 && r.bottom < innerHeight; })()";
    browser.wait_for(is_seen);
    browser.press("Home");
    browser.wait_for("document.querySelector('#panel').innerText.includes('Point 0 of base')");
    browser.wait_for(is_seen);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn reports_without_functions_or_code_are_pages_too() {
    let none = r#"{"version":1,"pipeline":"p","functions":[],"refused_functions":{"Naked":3}}"#;
    let Some((mut browser, fixture)) = opened(none) else { return };
    assert_eq!(browser.text("#name"), "No function was mapped");
    assert_eq!(browser.text("#refused"), "Refused functions: Naked 3");
    let mut report: serde_json::Value = serde_json::from_str(FOUND).unwrap();
    let functions = report["functions"].as_array_mut().unwrap();
    functions[0]["detail"]["base_to_opt"][0]["landing"] = 99.into();
    functions[1].as_object_mut().unwrap().remove("detail");
    fixture.write("bin/result.json", report.to_string().as_bytes());
    fixture.printed("x.bc --html x.html");
    browser.open(&fixture.path("x.html"));
    browser.click("#base .row[data-point='0']");
    assert!(browser.text("#panel").contains("Point 0 of base"), "its landing is not in the code");
    browser.click("#functions li:nth-child(2) button");
    assert_eq!(browser.text("#name"), "foo::bar(int)");
    assert!(browser.text("#panel").contains("There is no code to show"));
    assert_eq!(browser.faults, Vec::<String>::new());
}
