//! A made-up function of any size.

use serde_json::{Value, json};

/// What the plugin may find in a module with a function of so many instructions, ten a block.
pub fn found(instructions: usize) -> String {
    let code: Vec<Value> = (0..instructions / 10).map(block).collect();
    let points = json!({ "total": instructions, "empty": 0, "live": instructions,
        "live_e": instructions, "alias": instructions, "avail": instructions, "proved": 0 });
    let size = json!({ "mean": 1, "max": 1 });
    let sizes = json!({ "live": size, "live_e": size, "alias": size, "avail": size });
    let count = json!({ "base": instructions, "opt": instructions });
    let both = |value: Value| json!({ "base_to_opt": value, "opt_to_base": value });
    let mappings: Vec<Value> = (0..instructions).map(mapping).collect();
    json!({ "version": 1, "pipeline": "adce", "refused_functions": {}, "functions": [{
        "name": "large", "instructions": count, "phis": { "base": 0, "opt": 0 },
        "actions": { "add": 0, "delete": 0, "hoist": 0, "sink": 0, "replace_operand": 0,
            "replace_all": { "instruction": 0, "constant": 0, "argument": 0 } },
        "claims": { "moved": { "total": 0, "proved": 0 }, "replaced": { "total": 0, "proved": 0 } },
        "points": both(points), "compensation": both(sizes), "keep": both(size),
        "refused": both(json!({})),
        "detail": { "base": code, "opt": code, "base_to_opt": mappings, "opt_to_base": mappings },
    }]})
    .to_string()
}

fn block(number: usize) -> Value {
    let instructions = (number * 10..number * 10 + 10).map(|point| {
        let text = format!("%v{point} = add nuw nsw i64 %v{}, {point}", point.saturating_sub(7));
        json!({ "text": text, "point": point })
    });
    json!({ "block": format!("block{number}"), "instructions": instructions.collect::<Vec<_>>() })
}

fn mapping(point: usize) -> Value {
    json!({ "point": point, "landing": point, "variant": "live", "refused": null, "keep": [],
        "compensation": [format!("%c = add i64 %v{point}, 1")] })
}
