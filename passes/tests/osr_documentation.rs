//! What `docs/osr.md` lists is what there is.

use midflight_mapping::refusal::Refusal;
use midflight_passes::osr::condition::Condition;
use midflight_passes::osr::place::Where;

const PAGE: &str = include_str!("../../docs/osr.md");

/// The names in the first column of the table in a chapter.
fn table(chapter: &str) -> Vec<&'static str> {
    let (_, text) = PAGE.split_once(&format!("\n{chapter}\n")).expect("the chapter is there");
    let text = text.split("\n#").next().unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split('`').next())
        .collect()
}

#[test]
fn every_refusal_is_documented_in_its_order() {
    let names: Vec<_> = Refusal::ALL.iter().map(|r| r.name()).collect();
    assert_eq!(table("## Refusals"), names, "make the table in docs/osr.md agree with refusal.rs");
}

#[test]
fn refusals_have_names_and_messages_of_their_own() {
    for (place, refusal) in Refusal::ALL.iter().enumerate() {
        assert!(refusal.name().chars().all(|c| c.is_ascii_alphanumeric()), "{refusal:?}");
        let same = |r: &&Refusal| r.name() == refusal.name() || r.message() == refusal.message();
        assert_eq!(Refusal::ALL.iter().filter(same).count(), 1, "{refusal:?} at {place}");
    }
}

#[test]
fn every_place_that_is_documented_exists() {
    for place in table("### Where") {
        let given = place.replace("FILE:LINE", "dir/x.c:3");
        assert!(given.parse::<Where>().is_ok(), "{place}");
    }
    assert_eq!(table("### Where").len(), 8);
}

#[test]
fn every_condition_that_is_documented_exists() {
    for condition in table("### When") {
        assert!(condition.replace(":N", ":7").parse::<Condition>().is_ok(), "{condition}");
    }
    assert_eq!(table("### When").len(), 6);
}
