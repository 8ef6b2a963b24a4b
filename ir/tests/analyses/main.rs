//! What is read off a snapshot, shown with text: `fixtures/*.txt`.
//!
//! A fixture has a comment with what it shows, a snapshot in the form of [`text`], and behind a
//! line of dashes for each block its immediate dominator, the loops around it, the values live at
//! its head and at its end, the edges that cannot be split, what is live before each instruction,
//! and what is defined on every path to the last one.

mod text;

use midflight_ir::body::EdgeKind;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, ValueId};
use midflight_ir::liveness::liveness;
use midflight_ir::loops::loops;
use std::fmt::Write;
use std::path::Path;
use text::{Snapshot, Table, check_fixtures};

fn found(snapshot: &Snapshot) -> String {
    let body = &snapshot.body;
    let (tree, live) = (dominators(body), liveness(body));
    let loops = loops(body, &tree);
    let innermost = loops.innermost(body.blocks.len());
    let block = |id: BlockId| snapshot.blocks[id].as_str();
    let values = |of: &[ValueId]| -> String {
        of.iter().flat_map(|&value| [" ", &snapshot.values[value]]).collect()
    };
    let mut out = String::new();
    for (id, range) in body.code.of_block.iter_enumerated() {
        out += block(id);
        if let Some(above) = tree.immediate(id) {
            write!(out, ", below {}", block(above)).unwrap();
        }
        for around in std::iter::successors(innermost[id], |&l| loops.loops[l].parent) {
            write!(out, ", in loop {}", block(loops.loops[around].header)).unwrap();
        }
        if loops.irreducible.contains(&id) {
            out += ", of several entries";
        }
        for edge in body.blocks[id].edges.iter().filter(|e| e.kind == EdgeKind::Unsplittable) {
            write!(out, ", tied to {}", block(edge.to)).unwrap();
        }
        writeln!(out, ":{} ->{}", values(&live.live_in[id]), values(&live.live_out[id])).unwrap();
        for inst in *range {
            let name = &snapshot.values[body.code.result(inst)];
            writeln!(out, "  {name}:{}", values(&live.before(body, inst))).unwrap();
        }
        let terminator = range.iter().next_back().expect("a block has a terminator");
        let has = |&value: &ValueId| {
            let inst = body.code.definition(value);
            inst.is_none_or(|inst| body.code.instructions[inst].facts.has_result())
                && tree.is_available(body, value, terminator)
        };
        let had: Vec<ValueId> = snapshot.values.keys().filter(has).collect();
        writeln!(out, "  has{}", values(&had)).unwrap();
    }
    out
}

#[test]
fn analyses_find_what_fixtures_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analyses/fixtures");
    check_fixtures(&folder, |lines| {
        let mut constants = Table::default();
        let snapshot = Snapshot::parse(lines, &mut constants);
        let none = |_| String::new();
        (snapshot.print("snapshot", &constants, none, |_| String::new()), found(&snapshot))
    });
}
