//! The page of `midflight export --to html` in a browser, with pointer and keys.

mod browser_support;
mod context_support;
mod support;

use browser_support::Browser;
use midflight_profile::format::ContextMode;
use serde_json::json;
use support::{Fixture, bar, elf, idle, profile, section, sum};

/// The page of the fixture's profile, opened; `None` if there is no browser.
fn opened() -> Option<(Browser, Fixture)> {
    let mut browser = Browser::new()?;
    let fixture = Fixture::new();
    fixture.printed("export --to html -o prog.html prog prog.mfp --source-dir .");
    browser.open(&fixture.path("prog.html"));
    Some((browser, fixture))
}

/// The lines of the source that are lit.
const LIT: &str =
    "[...document.querySelectorAll('.line.over')].map(row => Number(row.dataset.line))";
/// The letters of the forest's nodes, level by level.
const NODES: &str = "[...document.querySelectorAll('.node')].map(node => \
                     node.getAttribute('aria-label').split(':')[0])";

#[test]
fn source_counts_and_paths_stand_side_by_side() {
    let Some((mut browser, _fixture)) = opened() else { return };
    assert_eq!(browser.text("#name"), "sum");
    let about = browser.text("#about");
    assert!(about.contains("sum.c:5, 83.3 % of the work; entered 12×, 1 interrupted"), "{about}");
    assert!(browser.text("#events").starts_with("25 paths by 19 activations"));
    let line = browser.text("#code .line[data-line='7']").replace('\n', "");
    assert!(line.contains("18") && line.contains("for (int i = 0; i < n; i++) {"), "{line}");
    assert_eq!(browser.text("#columns").split_whitespace().collect::<String>(), "ABCDEF");
    // A goes down from line 6 and leaves; B goes from 7 to 9 and up again.
    let drawn = |place: u32| {
        format!("document.querySelectorAll('#drawing [data-path=\"{place}\"] circle').length")
    };
    assert_eq!(browser.value(&drawn(0)), 3);
    assert_eq!(browser.value(&drawn(1)), 3);
    let shape = "document.querySelector('#drawing [data-path=\"1\"] path').getAttribute('d')";
    let shape = browser.value(shape);
    assert!(shape.as_str().unwrap().contains('q'), "a cycle turns back: {shape}");
    let panel = browser.text("#panel");
    assert!(panel.contains("unrolling will not pay"), "{panel}");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn a_click_chooses_a_path_and_a_sequence_zooms() {
    let Some((mut browser, _fixture)) = opened() else { return };
    browser.click("#columns .letter:nth-child(2)");
    assert_eq!(browser.value(LIT), json!([7, 8, 9]));
    let dimmed = "document.querySelectorAll('#drawing .path.dimmed').length";
    assert_eq!(browser.value(dimmed), 5);
    browser.click("#columns .letter:nth-child(2)");
    assert_eq!((browser.value(LIT), browser.value(dimmed)), (json!([]), json!(0)));
    browser.click("#panel .entry[data-paths='3 1 1 2']");
    assert_eq!(browser.value(LIT), json!([6, 7, 8, 9, 11]));
    assert!(browser.text("#zoomed").contains("below D → B ×2 → C"));
    assert_eq!(browser.value(NODES), json!(["D", "D → B", "D → B ×2", "D → B ×2 → C"]));
    assert_eq!(browser.value("location.hash"), "#f=sum&s=3.1.1.2");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn the_forest_is_walked_and_zoomed_by_keys() {
    let Some((mut browser, _fixture)) = opened() else { return };
    browser.value("document.querySelector('#icicle .node').focus()");
    assert!(browser.text("#told").starts_with("A: 10×, 43.1 % of the work; from the entry"));
    browser.press("ArrowRight");
    assert!(browser.text("#told").starts_with("B: 3×"));
    browser.press("ArrowDown");
    let told = browser.text("#told");
    assert!(told.starts_with("B ×2: 1×, 33.3 % of the parent, 33.3 % of the root"), "{told}");
    assert_eq!(browser.value(LIT), json!([7, 8, 9]));
    browser.press("Enter");
    assert_eq!(browser.value(NODES), json!(["B", "B ×2", "B ×2 → C", "B ×2 → C ×2"]));
    let width =
        "document.activeElement.offsetWidth === document.getElementById('icicle').clientWidth";
    assert_eq!(browser.value(width), true, "what is zoomed to is as wide as all");
    browser.press("Escape");
    assert!(browser.text("#zoomed").contains("below B "));
    browser.press("Escape");
    assert!(browser.text("#zoomed").contains("as wide as the work"));
    assert_eq!(browser.value("location.hash"), "#f=sum");
    browser.press("ArrowUp");
    assert!(browser.text("#told").starts_with("B: 3×"), "what had the focus has kept it");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn a_slash_searches_functions_and_the_tabulator_stops_once_in_each_part() {
    let Some((mut browser, _fixture)) = opened() else { return };
    let mut stops = Vec::new();
    for _ in 0..5 {
        browser.press("Tab");
        let stop = "document.activeElement.closest('[id]').id";
        stops.push(browser.value(stop).as_str().unwrap().to_string());
    }
    assert_eq!(stops, ["search", "functions", "columns", "panel", "icicle"]);
    browser.press("/");
    for letter in ["b", "a", "r"] {
        browser.press(letter);
    }
    assert_eq!(browser.text("#found"), "1 of 2 functions");
    browser.press("Enter");
    assert_eq!(browser.text("#name"), "foo::bar(int)");
    assert!(browser.text("#code").contains("The source was not found"));
    assert_eq!(browser.faults, Vec::<String>::new());
}

/// Reads a pixel of a picture, in the browser.
fn pixel(browser: &mut Browser, picture: &str, x: u32, y: u32) -> Vec<u64> {
    let script = format!(
        "window.pixel = null; (() => {{ const image = new Image(); image.onload = () => {{ \
         const canvas = document.createElement('canvas'); canvas.width = image.width; \
         canvas.height = image.height; const drawing = canvas.getContext('2d'); \
         drawing.drawImage(image, 0, 0); \
         window.pixel = [...drawing.getImageData({x}, {y}, 1, 1).data]; }}; \
         image.src = 'data:image/png;base64,{picture}'; }})()"
    );
    browser.value(&script);
    browser.wait_for("window.pixel !== null");
    serde_json::from_value(browser.value("window.pixel")).unwrap()
}

#[test]
fn the_picture_is_light_or_dark_as_people_prefer() {
    let Some((mut browser, _fixture)) = opened() else { return };
    // In the first box of the forest, which has a colour, and in the middle of the source, which
    // has none.
    let place = |selector: &str| {
        format!(
            "(() => {{ const r = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [Math.round(r.right - 12), Math.round(r.y + r.height / 2)]; }})()"
        )
    };
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let picture = browser.picture();
        let mut colors = Vec::new();
        for selector in ["#icicle .node", "#code .line[data-line='12']"] {
            let at = browser.value(&place(selector));
            let (x, y) = (at[0].as_u64().unwrap() as u32, at[1].as_u64().unwrap() as u32);
            colors.push(pixel(&mut browser, &picture, x, y));
        }
        seen.push(colors);
    }
    let [light, dark] = &seen[..] else { unreachable!() };
    assert_eq!((&light[1], &dark[1]), (&vec![255, 255, 255, 255], &vec![22, 24, 28, 255]));
    let brightness = |color: &[u64]| color[..3].iter().sum::<u64>();
    assert!(brightness(&light[0]) > 500, "dark letters stand on it: {light:?}");
    assert!(brightness(&dark[0]) < 350, "light letters stand on it: {dark:?}");
    let colorful =
        |color: &[u64]| color[..3].iter().max().unwrap() - color[..3].iter().min().unwrap();
    assert!(colorful(&light[0]) > 25 && colorful(&dark[0]) > 25, "{seen:?}");
}

#[test]
fn the_address_leads_to_a_function_and_a_sequence() {
    let Some((mut browser, fixture)) = opened() else { return };
    let page = fixture.path("prog.html").display().to_string();
    browser.value(&format!("location.href = 'file://{page}#f=sum&s=1.1'"));
    browser.wait_for("document.getElementById('zoomed').innerText.includes('below B ×2')");
    assert_eq!(browser.value(LIT), json!([7, 8, 9]));
    browser.value("location.hash = '#f=nobody&s=9.9'");
    browser.wait_for("document.getElementById('zoomed').innerText.includes('as wide')");
    assert_eq!(browser.text("#name"), "sum");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn names_and_source_are_text_and_a_page_may_be_empty() {
    let Some((mut browser, fixture)) = opened() else { return };
    let mut table = sum();
    table.name = "</script><script>window.broken=1</script>".into();
    fixture.write("evil", &elf(&section(&[table.clone()])));
    fixture.write("src/sum.c", b"</script><img src=x onerror=window.broken=1>\n\n\n\n\n<b>6</b>\n");
    let runs = [(table.name.as_str(), vec![vec![0, 3, 5]])];
    fixture.write("evil.mfp", &profile("evil", &[table.clone()], &runs).write());
    fixture.printed("export --to html -o evil.html evil evil.mfp --source-dir .");
    browser.open(&fixture.path("evil.html"));
    assert_eq!(browser.text("#name"), "</script><script>window.broken=1</script>");
    assert!(browser.text("#code").contains("<b>6</b>"));
    assert_eq!(browser.value("window.broken === undefined"), true);
    let none = profile("/build/prog", &[sum(), idle(), bar()], &[]);
    fixture.write("none.mfp", &none.write());
    fixture.printed("export --to html -o none.html prog none.mfp");
    browser.open(&fixture.path("none.html"));
    assert_eq!(browser.text("#name"), "No function ran");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn calls_are_zoomed_and_searched() {
    let Some(mut browser) = Browser::new() else { return };
    let fixture = context_support::fixture();
    fixture.printed("export --to html --contexts -o calls.html calls calls.mfp");
    browser.open(&fixture.path("calls.html"));
    assert!(browser.text("#counted").starts_with("1,003 activations, 3 of them without context"));
    browser.click(".node[data-node='5']");
    let told = browser.text("#told");
    assert!(told.starts_with("main → walk → walk (calls.c:10): 30 activations"), "{told}");
    assert!(browser.text("#zoomed").starts_with("below walk"));
    browser.press("ArrowDown");
    let told = browser.text("#told");
    assert!(told.starts_with("main → walk → walk → walk (calls.c:10): 60 activations"), "{told}");
    browser.press("Escape");
    browser.press("Escape");
    browser.press("Escape");
    assert_eq!(browser.text("#zoomed"), "");
    browser.press("/");
    for letter in ["V", "I", "S", "I", "T"] {
        browser.press(letter);
    }
    assert_eq!(browser.text("#found"), "1 function; 89.4 % of all in and below");
    let lit = "document.querySelectorAll('.node.lit').length";
    assert_eq!(browser.value(lit), 3);
    assert_eq!(browser.faults, Vec::<String>::new());
}

/// What has the focus: an ID, or the place of a context.
const FOCUS: &str = "document.activeElement.id || document.activeElement.dataset.node || ''";

#[test]
fn calls_are_walked_by_keys() {
    let Some(mut browser) = Browser::new() else { return };
    let fixture = context_support::fixture();
    fixture.printed("export --to html --contexts -o calls.html calls calls.mfp");
    browser.open(&fixture.path("calls.html"));
    let mut stops = Vec::new();
    for _ in 0..3 {
        browser.press("Tab");
        stops.push(browser.value(FOCUS));
    }
    assert_eq!(stops, ["search", "1", ""], "the tabulator stops once in the icicle, at `main`");
    browser.value("document.querySelector('.node').focus()");
    let told = |browser: &mut Browser, begin: &str| {
        let told = browser.text("#told");
        assert!(told.starts_with(begin), "{told}");
    };
    told(&mut browser, "main (calls.c:20): 1 activation; 999 with those below");
    // Down to the widest of what it calls, and there to the one beside it
    browser.press("ArrowDown");
    told(&mut browser, "main → walk (calls.c:10): 12 activations; 998 with those below");
    browser.press("ArrowDown");
    told(&mut browser, "main → walk → walk (calls.c:10): 30 activations; 795 with those below");
    browser.press("ArrowLeft");
    told(&mut browser, "main → walk → foo::visit(int) (calls.c:3): 190 activations");
    browser.press("ArrowLeft");
    told(&mut browser, "main → walk → foo::visit(int) (calls.c:3): 190 activations");
    let levels = "document.getElementById('icicle').clientHeight";
    let all = browser.value(levels);
    browser.press("Enter");
    // Less is drawn below it, and what has the focus keeps it when the page notices.
    browser.wait_for(&format!("{levels} < {all}"));
    browser.press("ArrowUp");
    told(&mut browser, "main → walk (calls.c:10)");
    browser.press("ArrowUp");
    told(&mut browser, "main (calls.c:20)");
    browser.press("Escape");
    assert_eq!(browser.text("#zoomed"), "below walk – Escape goes up");
    browser.press("Escape");
    browser.press("Escape");
    assert_eq!(browser.text("#zoomed"), "");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn a_search_of_calls_leads_to_what_is_too_narrow_to_be_drawn() {
    let Some(mut browser) = Browser::new() else { return };
    let fixture = context_support::fixture();
    let section = context_support::section(&[], &context_support::tables());
    let mut counted = context_support::Builder::new(&section, ContextMode::All);
    let main = counted.call(None, 0, "main", 1, 0);
    counted.call(main, 0, "idle", 1, 0);
    counted.call(main, 1, "walk", 50_000, 0);
    fixture.write("narrow.mfp", &counted.profile("/build/calls").write());
    fixture.printed("export --to html --contexts --min-percent 0 -o calls.html calls narrow.mfp");
    browser.open(&fixture.path("calls.html"));
    let drawn = "[...document.querySelectorAll('.node')].map(node => node.textContent)";
    assert_eq!(browser.value(drawn), json!(["main", "walk"]));
    browser.press("/");
    for letter in ["i", "d", "l", "e"] {
        browser.press(letter);
    }
    assert_eq!(browser.text("#found"), "1 function; 0.0 % of all in and below");
    browser.press("Enter");
    assert_eq!(browser.value(drawn), json!(["main", "idle"]));
    assert!(browser.text("#told").starts_with("main → idle (calls.c:1): 1 activation;"));
    browser.press("/");
    browser.value("document.getElementById('search').select()");
    browser.press("w");
    browser.press("Enter");
    assert!(browser.text("#told").starts_with("main → walk"), "it is zoomed to, if need be");
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn calls_are_as_wide_as_their_time_or_their_activations() {
    let Some(mut browser) = Browser::new() else { return };
    let fixture = context_support::fixture();
    let section = context_support::section(&[], &context_support::tables());
    let mut counted = context_support::Builder::new(&section, ContextMode::All);
    let main = counted.call(None, 0, "main", 1, 0);
    let often = counted.call(main, 0, "walk", 75, 0).unwrap();
    let long = counted.call(main, 1, "idle", 25, 0).unwrap();
    counted.contexts.time = Some(0);
    counted.contexts.add_time(often, 1_500);
    counted.contexts.add_time(long, 3_000_000);
    fixture.write("timed.mfp", &counted.profile("/build/calls").write());
    fixture.printed("export --to html --contexts -o calls.html calls timed.mfp");
    browser.open(&fixture.path("calls.html"));
    let widest = "[...document.querySelectorAll('.node')].slice(1).map(n => [n.offsetWidth, n.textContent]).sort((a, b) => b[0] - a[0])[0][1]";
    assert_eq!(browser.value(widest), json!("idle"));
    assert!(browser.text("#counted").contains("101 activations, 3.002 ms; as wide as the time"));
    // By keys alone
    browser.press("Tab");
    browser.press("Tab");
    assert_eq!(browser.value(FOCUS), json!("by"));
    browser.press("ArrowDown");
    assert_eq!(browser.value(widest), json!("walk"));
    assert!(browser.text("#counted").contains("as wide as the activations"));
    browser.press("Tab");
    browser.press("ArrowDown");
    let told = browser.text("#told");
    let expected = "main → walk (calls.c:10): 75 activations; 1.500 µs, 1.500 µs with what they call; 75 with those below, 74.3 % of all activations";
    assert_eq!(told, expected);
    assert_eq!(browser.faults, Vec::<String>::new());
}

#[test]
fn the_picture_of_calls_is_light_or_dark_as_people_prefer() {
    let Some(mut browser) = Browser::new() else { return };
    let fixture = context_support::fixture();
    fixture.printed("export --to html --contexts -o calls.html calls calls.mfp");
    browser.open(&fixture.path("calls.html"));
    let brightness = |color: &[u64]| color[..3].iter().sum::<u64>();
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let picture = browser.picture();
        // At the end of main's box, and on the ground below all
        let at = browser.value(
            "(() => { const r = document.querySelector('.node').getBoundingClientRect(); \
             return [Math.round(r.right - 12), Math.round(r.y + r.height / 2)]; })()",
        );
        let (x, y) = (at[0].as_u64().unwrap() as u32, at[1].as_u64().unwrap() as u32);
        let letters = browser.value("getComputedStyle(document.querySelector('.node')).color");
        let letters = letters.as_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit());
        let letters: Vec<u64> = letters.split(", ").map(|part| part.parse().unwrap()).collect();
        let [tint, ground] = [(x, y), (x, 700)].map(|(x, y)| pixel(&mut browser, &picture, x, y));
        let contrast = brightness(&tint).abs_diff(brightness(&letters));
        assert!(contrast > 300, "{scheme}: letters are read on the box: {tint:?} {letters:?}");
        seen.push(ground);
    }
    assert_eq!(seen, [[255, 255, 255, 255], [22, 24, 28, 255]]);
    assert_eq!(browser.faults, Vec::<String>::new());
}
