//! Rules of matching and congruence, each shown with two versions as text: `fixtures/*.txt`.
//!
//! A fixture has a comment with the rule, the versions in the form of [`text`], what LLVM answered,
//! and behind a line of dashes what is proved; with `mappings`, where each point leads, too; with
//! `unfolded`, just where each leads in versions that are unfolded. Those
//! named `_not` show where a rule must not apply.

#[path = "../../../ir/tests/analyses/text.rs"]
mod snapshot;
mod text;

use midflight_ir::facts::FunctionFacts;
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap, Variant};
use midflight_mapping::points::boundaries;
use midflight_mapping::proof::Proof;
use midflight_mapping::versions::derive::derived;
use midflight_mapping::versions::graph::Operand;
use midflight_mapping::versions::version::{PerVersion, Version};
use snapshot::check_fixtures;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use text::Text;

/// Which chains run together, which values are the same, and what opt owes to memory.
fn proved(text: &Text) -> String {
    let versions = derived(text.graphs.clone(), text.tracked.clone());
    if text.is_unfolded() {
        let mut out = String::new();
        mapped(text, &Proof::new(versions, text), &mut out);
        return out;
    }
    let proof = Proof::one_to_one(versions, text);
    let Proof { versions, matching, congruence, pending, .. } = &proof;
    let head = |which: Version, chain| {
        let chains = &versions.of[which].chains;
        text.snapshots[which].blocks[chains.head(chain)].as_str()
    };
    let mut out = String::new();
    for pair in &matching.pairs {
        let heads = PerVersion::from_fn(|w| head(w, pair.chains[w]));
        write!(out, "pair {} {}: {} anchors", heads.base, heads.opt, pair.prefix).unwrap();
        match &pair.out {
            None => out += ", then they part",
            Some(edges) => {
                for edge in edges {
                    write!(out, " -> {}", head(Version::Base, matching.pairs[edge.to].chains.base))
                        .unwrap();
                }
                if pair.is_lossy() {
                    out += ", and elsewhere they part";
                }
            }
        }
        out += "\n";
    }
    let mut classes: BTreeMap<u32, PerVersion<Vec<&str>>> = BTreeMap::new();
    for which in Version::BOTH {
        let graph = versions.graph(which);
        let has_value = |value| {
            graph.definition(value).is_none_or(|inst| {
                graph.has_result(inst) && versions.of[which].live.reached[graph.block(inst)]
            })
        };
        for value in congruence.of[which].keys().filter(|&v| has_value(v)) {
            let name = text.name(which, Operand::Value(value));
            classes.entry(congruence.of[which][value]).or_default()[which].push(name);
        }
    }
    for (number, PerVersion { base, opt }) in classes {
        let constant = congruence.constant(number).map(|c| text.constants.word(c).to_string());
        // Arguments are the same anyway.
        if base != opt || base.len() > 1 || constant.is_some() {
            let is = constant.map(|constant| format!(" is {constant}")).unwrap_or_default();
            writeln!(out, "{{{}}} {{{}}}{is}", base.join(" "), opt.join(" ")).unwrap();
        } else {
            writeln!(out, "{}", base.join(" ")).unwrap();
        }
    }
    for place in &pending.places {
        let stores = PerVersion::from_fn(|w| text.inst(w, place.store[w]));
        writeln!(out, "pending: {} {}", stores.base, stores.opt).unwrap();
    }
    if text.shows_mappings() {
        mapped(text, &proof, &mut out);
    }
    out
}

/// Where each point leads, and how what is live there is reconstructed.
fn mapped(text: &Text, proof: &Proof, out: &mut String) {
    let points = text.graphs.as_ref().map(|g| boundaries(&g.body, FunctionFacts::default()));
    let mapper = Mapper::new(proof, text, points);
    for (from, name) in [(Version::Base, "base"), (Version::Opt, "opt")] {
        let maps = mapper.map(from, Variant::Avail);
        let graph = &text.graphs[from];
        for (number, point) in mapper.sides[from].points.iter().enumerate() {
            let at = text.inst(from, point.at);
            if let Some(refusal) = maps.refusal(number) {
                writeln!(out, "{name} {at}: {}", refusal.name()).unwrap();
            }
            for (way, map) in maps.leads(number) {
                write!(out, "{name} {at}").unwrap();
                let came = way.iter().flat_map(|way| &way.history.from);
                let came: Vec<&str> =
                    came.map(|&block| text.inst(from, graph.terminator(block))).collect();
                if !came.is_empty() {
                    write!(out, " (came over {})", came.join(", ")).unwrap();
                }
                if let Some(ahead) = &map.ahead {
                    write!(out, " to {}", text.inst(from, ahead.to)).unwrap();
                }
                write_map(out, text, from, map);
            }
        }
    }
}

fn write_map(out: &mut String, text: &Text, from: Version, map: &PointMap) {
    let to = from.other();
    write!(out, " -> {}", text.inst(to, map.landing)).unwrap();
    let mut exprs: Vec<String> = Vec::new();
    for expr in &map.exprs {
        let of: Vec<&str> = expr.operands().iter().map(|&o| exprs[o].as_str()).collect();
        exprs.push(match expr {
            Expr::Source { source } => text.name(from, Operand::Value(*source)).to_string(),
            Expr::Constant { constant } => text.constants.word(*constant).to_string(),
            Expr::Repeat { repeat: inst, .. } => {
                format!("{}'({})", text.inst(to, *inst), of.join(", "))
            }
            Expr::Narrow { .. } => format!("narrow({})", of.join(", ")),
            Expr::Content { .. } => format!("memory({})", of.join(", ")),
            Expr::Code { code, .. } => format!("code {code}({})", of.join(", ")),
        });
    }
    for &(value, expr) in &map.values {
        write!(out, "; {} = {}", text.name(to, Operand::Value(value)), exprs[expr]).unwrap();
    }
    for store in &map.stores {
        write!(out, "; store {}, {}", exprs[store.value], exprs[store.address]).unwrap();
    }
    for &kept in &map.keep {
        write!(out, "; keeps {}", text.name(from, Operand::Value(kept))).unwrap();
    }
    *out += "\n";
}

#[test]
fn rules_prove_what_fixtures_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof/fixtures");
    check_fixtures(&folder, |lines| {
        let text = Text::parse(lines);
        (text.print(), proved(&text))
    });
}
