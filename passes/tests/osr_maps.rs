//! Mappings as JSON, and back.

use midflight_mapping::mapping::reconstruct::{Ahead, Expr, OwedStore, PointMap};
use midflight_mapping::refusal::Refusal;
use midflight_passes::osr::map::do_passes::passes;
use midflight_passes::osr::map::maps::{MapError, for_binary, read_point, write_point};
use midflight_profile::osr_maps::{Both, MapPoint, Maps, PerVersion};

fn leads() -> PointMap {
    PointMap {
        landing: 4.into(),
        values: vec![(2.into(), 0), (5.into(), 2)],
        exprs: vec![
            Expr::Source { source: 3.into() },
            Expr::Constant { constant: 6 },
            Expr::Repeat { repeat: 3.into(), of: vec![0, 1] },
            Expr::Content { content: 9.into(), address: 0 },
            Expr::Narrow { narrow: 2.into(), of: 3 },
        ],
        stores: vec![OwedStore { store: 9.into(), value: 2, address: 0 }],
        differs: true,
        sources: vec![3.into()],
        ahead: Some(Ahead { to: 9.into(), runs: vec![7.into()] }),
        keep: vec![3.into()],
    }
}

#[test]
fn mappings_are_read_back_as_they_were() {
    let points = [(0_usize, Ok(leads())), (7, Err(Refusal::NeedsPhi))];
    let maps = Maps {
        arguments: 2,
        instructions: PerVersion {
            base: vec!["%x = add i32 %a, %b".to_string()],
            opt: vec!["ret void".to_string()],
        },
        constants: [(6, "i32 1".to_string())].into(),
        points: Both {
            base_to_opt: points
                .iter()
                .map(|(at, point)| write_point(at + 1, (*at).into(), point))
                .collect(),
            opt_to_base: Vec::new(),
        },
    };
    let text = serde_json::to_string(&maps).expect("it can be written");
    let read: Maps = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(read, maps);
    let back: Vec<_> = read.points.base_to_opt.iter().map(read_point).collect();
    assert_eq!(back, points.map(|(_, point)| Ok(point)));
}

#[test]
fn the_format_is_as_documented() {
    let text =
        serde_json::to_string(&write_point(0, 1.into(), &Ok(leads()))).expect("it can be written");
    assert_eq!(
        text,
        r#"{"point":0,"at":1,"landing":4,"values":[[2,0],[5,2]],"exprs":[{"source":3},{"constant":6},{"repeat":3,"of":[0,1]},{"content":9,"address":0},{"narrow":2,"of":3}],"stores":[{"store":9,"value":2,"address":0}],"differs":true,"keep":[3],"ahead":{"to":9,"runs":[7]}}"#
    );
    let page = include_str!("../../docs/osr-report.md");
    let (_, example) = page.split_once("\"maps\":").expect("there is an example");
    let (example, _) = example.split_once("```").expect("it ends");
    let maps: Maps = serde_json::from_str(example).expect("the example is right");
    let points: Result<Vec<_>, _> = maps.points.base_to_opt.iter().map(read_point).collect();
    assert_eq!(points.map(|p| p[1].clone()), Ok(Err(Refusal::TailPosition)));
}

#[test]
fn what_cannot_be_a_mapping_is_refused() {
    let later =
        r#"{"point":0,"at":1,"landing":4,"values":[],"exprs":[{"repeat":3,"of":[0]}],"keep":[]}"#;
    let absent =
        r#"{"point":0,"at":1,"landing":4,"values":[[9,1]],"exprs":[{"source":3}],"keep":[]}"#;
    let store = r#"{"point":0,"at":1,"landing":4,"values":[],"exprs":[{"source":3}],
        "stores":[{"store":9,"value":0,"address":1}],"keep":[]}"#;
    let reason = r#"{"point":0,"at":1,"refused":"Mood"}"#;
    let large = r#"{"point":0,"at":1,"landing":4294967296,"values":[],"exprs":[],"keep":[]}"#;
    let read = |text: &str| {
        let point: MapPoint = serde_json::from_str(text).expect("the fields are right");
        read_point(&point)
    };
    assert_eq!(read(later), Err(MapError::Order { at: 1, expr: 0 }));
    assert_eq!(read(absent), Err(MapError::Order { at: 1, expr: 1 }));
    assert_eq!(read(store), Err(MapError::Order { at: 1, expr: 1 }));
    assert_eq!(read(large), Err(MapError::Number { at: 1, number: 1 << 32 }));
    assert_eq!(read(reason), Err(MapError::Reason { at: 1, name: "Mood".to_string() }));
}

#[test]
fn a_binary_has_what_mappings_name() {
    let texts = |name: &str, count: usize| {
        let mut texts: Vec<String> = (0..count).map(|n| format!("{name}{n}")).collect();
        texts[3] += " #7, !tbaa !5, !dbg !12";
        texts[4] += " #8 asm \"add #9 x\", !\"x\" !y";
        texts
    };
    let points =
        [(3_usize, Ok(leads())), (5, Err(Refusal::NotListed)), (6, Err(Refusal::NeedsPhi))];
    let maps = Maps {
        arguments: 2,
        instructions: PerVersion { base: texts("base", 10), opt: texts("opt", 8) },
        constants: [(6, "i32 1".to_string())].into(),
        points: Both {
            base_to_opt: points
                .iter()
                .map(|(at, point)| write_point(*at, (*at).into(), point))
                .collect(),
            opt_to_base: Vec::new(),
        },
    };
    let found = for_binary(maps.clone());
    let named = |texts: &[String]| texts.iter().filter(|t| !t.is_empty()).cloned().collect();
    let base: Vec<String> = named(&found.instructions.base);
    let opt: Vec<String> = named(&found.instructions.opt);
    // Value 3 is that of instruction 1. Value 2 is that of instruction 0, value 5 of instruction 3.
    assert_eq!(base, ["base1", "base3", "base6", "base7", "base9"]);
    assert_eq!(opt, ["opt0", "opt2", "opt3", "opt4 asm \"add #9 x\", !\"x\" !y"]);
    let at: Vec<usize> = found.points.base_to_opt.iter().map(MapPoint::at).collect();
    assert_eq!(at, [3, 6]);
    assert_eq!(found.constants, maps.constants);
}

#[test]
fn pipelines_are_split_between_passes_only() {
    assert_eq!(
        passes("adce, loop-mssa(licm,loop-rotate),simplifycfg<bonus-inst-threshold=1;no-x>,sink"),
        ["adce", "loop-mssa(licm,loop-rotate)", "simplifycfg<bonus-inst-threshold=1;no-x>", "sink"]
    );
    assert!(passes("").is_empty());
}
