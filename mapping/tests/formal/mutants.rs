//! The properties find mistakes: each mutant here breaks one, on cases that are always the same.

use crate::checking::fixed_cases;
use crate::do_passes::{choose, do_passes};
use crate::language::{Expr, Instr, Point, Program};
use crate::multi_version::{MultiVersion, Oracle};
use crate::programs::{Run, runs, transformations};
use crate::properties::{
    are_strict_mappings, gives_the_result_of_the_base, is_live_variable_equivalent,
    is_strict_mapping, preserves_semantics, transform_together, trees,
};
use crate::renamed;
use crate::rules::Rewrite;

/// Of the cases in which a mutant differs from what it was made of, those where a property finds
/// it.
fn report(what: &str, found: impl Iterator<Item = bool>) {
    let found: Vec<bool> = found.collect();
    let count = found.iter().filter(|found| **found).count();
    println!("{what}: found in {count} of {}", found.len());
    assert!(count > 0, "{what}: not found in {}", found.len());
}

/// For mappings of random rewrites, after a change to each χ: whether one is found to be wrong.
fn mutate_compensation(cases: usize, change: impl Fn(&Program) -> Option<Program>) -> Vec<bool> {
    let mut found = Vec::new();
    for (run, list) in fixed_cases(cases, (runs(), transformations(1..8))) {
        let Some(mut made) = transform_together(&run, &list, renamed::build_comp) else {
            continue;
        };
        assert!(are_strict_mappings(&run, &made).is_ok());
        for mapping in [&mut made.there, &mut made.back] {
            let changed = |(l, (landing, chi)): (&Point, &(Point, Program))| {
                Some((*l, (*landing, change(chi)?)))
            };
            *mapping = mapping.iter().filter_map(changed).collect();
        }
        if !made.there.is_empty() || !made.back.is_empty() {
            found.push(are_strict_mappings(&run, &made).is_err());
        }
    }
    found
}

#[test]
fn a_dropped_assignment_is_found() {
    let drop_last = |chi: &Program| {
        let mut code = chi.instructions().to_vec();
        (code.len() > 2).then(|| code.remove(chi.len() - 2))?;
        Program::new(code)
    };
    report("dropped assignment", mutate_compensation(150, drop_last).into_iter());
}

#[test]
fn an_exchanged_operand_is_found() {
    // The first operation's left operand becomes what its right one is.
    let exchange = |chi: &Program| {
        let changed = chi.iter().find_map(|(l, instruction)| match instruction {
            Instr::Assign(x, Expr::Binary(op, left, right)) if left != right => {
                let e = Expr::Binary(*op, right.clone(), right.clone());
                Some((l, Instr::Assign(*x, e)))
            }
            _ => None,
        });
        changed.map(|(l, instruction)| chi.with(l, instruction))
    };
    report("exchanged operand", mutate_compensation(150, exchange).into_iter());
}

/// Runs trees of versions, after a change, with an oracle that fires at every second chance.
fn mutate_versions(change: impl Fn(&mut MultiVersion)) -> impl Iterator<Item = bool> {
    fixed_cases(40, trees()).into_iter().map(move |(run, tree)| {
        let mut versions = MultiVersion::grow(&run.program, &tree, renamed::build_comp);
        let is_wrong = |versions: &MultiVersion| {
            run.stores.iter().any(|store| {
                let oracle = Oracle::Random { state: 1, one_in: 2 };
                gives_the_result_of_the_base(versions, store, oracle).is_err()
            })
        };
        assert!(!is_wrong(&versions));
        change(&mut versions);
        is_wrong(&versions)
    })
}

#[test]
fn a_landing_one_off_is_found() {
    let found = mutate_versions(|versions| {
        let mappings = versions.mappings.values_mut();
        for (landing, _) in mappings.flat_map(|mapping| mapping.values_mut()) {
            *landing += 1;
        }
    });
    report("landing one off", found);
}

#[test]
fn compensation_that_does_nothing_is_found_by_an_oracle() {
    let found = mutate_versions(|versions| {
        for (_, chi) in versions.mappings.values_mut().flat_map(|mapping| mapping.values_mut()) {
            let ends = [&chi.instructions()[0], &chi.instructions()[chi.len() - 1]];
            *chi = Program::new(ends.map(Clone::clone).to_vec()).expect("in, out");
        }
    });
    report("no compensation", found);
}

/// Deletes assignments of which DCE's side condition says nothing.
fn delete_any(run: &Run) -> Vec<Program> {
    let assignments = run.program.iter().filter(|(_, i)| matches!(i, Instr::Assign(..)));
    assignments
        .map(|(l, _)| Rewrite { changes: vec![(l, Instr::Skip)] }.apply(&run.program))
        .collect()
}

#[test]
fn dead_code_elimination_without_its_condition_is_found() {
    let cases = fixed_cases(40, runs());
    let mutants =
        || cases.iter().flat_map(|run| delete_any(run).into_iter().map(move |p| (run, p)));
    let changes_results = mutants()
        .map(|(run, other)| preserves_semantics(&run.program, &other, &run.stores).is_err());
    report("DCE of anything, by results", changes_results);
    let changes_traces = mutants().map(|(run, other)| {
        is_live_variable_equivalent(&run.program, &other, &run.stores).is_err()
    });
    report("DCE of anything, by traces", changes_traces);
}

#[test]
fn a_composition_that_leaves_out_the_first_mapping_is_found() {
    let cases = fixed_cases(100, (runs(), transformations(2..5)));
    let found = cases.into_iter().map(|(run, list)| {
        let second = choose(list[0], &run.program).apply(&run.program);
        let rest = do_passes(&second, &list[1..], renamed::build_comp);
        is_strict_mapping(&run.program, &rest.program, &rest.there, &run.stores).is_err()
    });
    report("first mapping left out", found);
}

/// What Algorithm 9 does to the letter, but for the inputs of the program as operands.
#[test]
fn values_of_one_variable_that_are_not_told_apart_are_found() {
    let merge = |e: &Expr| e.replace(&|x| Expr::Var(x.without_point()));
    let merge = |chi: &Program| {
        let merged = chi.instructions().iter().map(|instruction| match instruction {
            Instr::Assign(x, e) => Instr::Assign(x.without_point(), merge(e)),
            _ => instruction.clone(),
        });
        Program::new(merged.collect()).filter(|merged| merged != chi)
    };
    report("one variable for all its values", mutate_compensation(400, merge).into_iter());
}
