//! Options and lists of functions, good and bad.

use midflight_abi::Mode;
use midflight_passes::function_list::FunctionList;
use midflight_passes::osr::map::opt_options::OptOptions;
use midflight_passes::paths::options::parse;
use midflight_passes::paths::oracle::Oracle;
use midflight_passes::registry::options_of_passes;
use midflight_profile::table::Stage;

#[test]
fn no_options_are_the_defaults() {
    let options = parse("").unwrap();
    assert_eq!((options.k, options.max_paths(), options.stage), (4, 1 << 20, Stage::Early));
    assert_eq!((options.oracle, options.algorithm), (Oracle::None, Mode::Automaton));
    assert!(options.functions.is_none());
}

#[test]
fn every_option_is_read() {
    let options = parse("k=64; stage=late;max-paths=7;verify;oracle=blocks;").unwrap();
    assert_eq!((options.k, options.max_paths(), options.stage), (64, 7, Stage::Late));
    assert_eq!(parse("stage=inlined").unwrap().stage, Stage::Inlined);
    assert!(options.verify);
    assert_eq!(options.oracle, Oracle::Blocks);
    assert_eq!(parse("algorithm=published").unwrap().algorithm, Mode::Published);
    assert_eq!(parse("algorithm=automaton;k=1").unwrap().algorithm, Mode::Automaton);
}

#[test]
fn bad_options_say_what_is_allowed() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    for k in ["k=0", "k=65", "k=", "k=-1", "k=eight", "k=99999999999"] {
        assert_eq!(message(k), format!("option '{k}': it must be a whole number from 1 to 64"));
    }
    assert_eq!(message("stage=soon"), "option 'stage=soon': it must be early, inlined or late");
    assert_eq!(message("algorithm=4"), "option 'algorithm=4': it must be automaton or published");
    for order in ["algorithm=published;k=1", "k=1;algorithm=published"] {
        assert!(message(order).contains("k of 2 and more"));
    }
    assert_eq!(message("oracle=tea"), "option 'oracle=tea': it must be edges or blocks");
    assert!(message("verify=1").starts_with("unknown option 'verify=1'; known are k=K"));
    assert!(message("functions=/does/not/exist").contains("'/does/not/exist': No such file"));
}

#[test]
fn every_option_is_in_the_documentation_and_in_one_place_of_its_table() {
    let page = |pass| match pass {
        "path-profile-gen" | "path-profile-use" | "cct-profile-gen" => "guide.md",
        "osr-opt" => "osr-opt.md",
        "osr-deopt" => "osr-deopt.md",
        "print<osr-map>" => "osr-report.md",
        _ => "osr.md",
    };
    for (pass, shapes) in options_of_passes() {
        let path = format!("{}/../docs/{}", env!("CARGO_MANIFEST_DIR"), page(pass));
        let text = std::fs::read_to_string(&path).unwrap();
        for (place, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..place].contains(shape), "{pass}: '{shape}' is there twice");
            let is_named = match shape.split_once('=') {
                Some((key, _)) => text.contains(&format!("{key}=")),
                None => {
                    text.contains(&format!("`{shape}`")) || text.contains(&format!(";{shape}>"))
                }
            };
            assert!(is_named, "{pass}: '{shape}' is not in {path}");
        }
    }
}

#[test]
fn what_fuzz_decides_cannot_be_chosen_beside_it() {
    for (option, value) in
        [("up", "always"), ("down", "flag"), ("up-at", "entry"), ("down-at", "call")]
    {
        for text in [format!("fuzz;{option}={value}"), format!("{option}={value};verify;fuzz")] {
            let message = OptOptions::parse(&text, None).unwrap_err().to_string();
            assert_eq!(message, format!("'fuzz' and '{option}' exclude each other"));
        }
    }
    assert!(OptOptions::parse("fuzz;unchecked;max-points=3", None).is_ok());
}

#[test]
fn a_version_by_itself_has_no_points() {
    let message = |text: &str| OptOptions::parse(text, None).unwrap_err().to_string();
    assert_eq!(
        message("alone=both"),
        "option 'alone=both': it must be base, base:flags, opt or opt:flags"
    );
    for option in ["up=entry", "up=always", "down=flag", "up-at=entry", "down-at=call"]
        .into_iter()
        .chain(["fuzz", "max-points=3", "keep=90%", "maps=section"])
    {
        let key = option.split('=').next().unwrap();
        for text in [format!("alone=opt;{option}"), format!("{option};alone=base:flags")] {
            assert_eq!(message(&text), format!("'alone' and '{key}' exclude each other"));
        }
    }
    assert!(OptOptions::parse("alone=opt:flags;sroa;stage=late;verify", None).is_ok());
}

#[test]
fn the_last_matching_line_of_a_list_decides() {
    let list = |text: &str| FunctionList::parse("list", text).unwrap();
    let both = list("parse_* # the parser\n\n!fun:parse_debug\nsrc:*/json/*.c\n");
    assert!(both.includes("parse_value", "a.c"));
    assert!(!both.includes("parse_debug", "a.c"));
    assert!(both.includes("parse_debug", "src/json/b.c"));
    assert!(!both.includes("main", "a.c"));
    let only_excludes = list("!main");
    assert!(only_excludes.includes("other", "a.c"));
    assert!(!only_excludes.includes("main", "a.c"));
    assert!(list("# nothing\n").includes("anything", "a.c"));
}

#[test]
fn a_list_line_without_a_pattern_is_an_error_with_its_number() {
    let error = FunctionList::parse("list", "main\n!fun:\n").unwrap_err().to_string();
    assert!(error.contains("'list', line 2: '!fun:' has no pattern"), "{error}");
}
