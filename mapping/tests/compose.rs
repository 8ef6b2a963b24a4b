//! Composition of mappings (thesis Lemma 4.6), on mappings made by hand and on random ones that are
//! run.

use midflight_ir::ids::{InstId, ValueId};
use midflight_mapping::mapping::check_composed::Ancestry;
use midflight_mapping::mapping::compose::{
    Between, Broken, ComposedMap, ComposedPoint, StepExpr, compose,
};
use midflight_mapping::mapping::mapper::OsrMap;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::refusal::Refusal;
use proptest::prelude::*;
use std::collections::BTreeMap;
use typed_index_collections::{TiSlice, TiVec};

fn i(inst: usize) -> InstId {
    inst.into()
}

fn v(value: usize) -> ValueId {
    value.into()
}

/// A mapping of a point; sources as used, `keep` those at least `first_kept`.
fn point(
    landing: usize,
    values: &[(usize, usize)],
    exprs: Vec<Expr>,
    first_kept: usize,
) -> PointMap {
    let mut sources: Vec<ValueId> = exprs
        .iter()
        .filter_map(|e| if let Expr::Source { source } = e { Some(*source) } else { None })
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let keep = sources.iter().copied().filter(|&s| usize::from(s) >= first_kept).collect();
    PointMap {
        landing: i(landing),
        values: values.iter().map(|&(value, expr)| (v(value), expr)).collect(),
        exprs,
        stores: Vec::new(),
        differs: false,
        sources,
        ahead: None,
        keep,
    }
}

fn of_points(step: usize, points: Vec<PointMap>) -> ComposedMap {
    ComposedMap::of_step(
        step,
        &OsrMap { points: points.into_iter().map(Ok).collect(), ways: BTreeMap::new() },
    )
}

const ANY: usize = usize::MAX;

#[test]
fn what_the_second_step_uses_is_reconstructed_as_the_first_one_says() {
    let (a, b) = (10, 11);
    let first = point(
        4,
        &[(20, 0), (21, 2)],
        vec![
            Expr::Source { source: v(a) },
            Expr::Constant { constant: 7 },
            Expr::Repeat { repeat: i(5), of: vec![0, 1] },
        ],
        ANY,
    );
    let second = point(
        6,
        &[(30, 1), (31, 0), (32, 2)],
        vec![
            Expr::Source { source: v(21) },
            Expr::Repeat { repeat: i(8), of: vec![0, 0] },
            Expr::Constant { constant: 7 },
        ],
        ANY,
    );
    let mut point_at = TiVec::from(vec![None; 5]);
    point_at[i(4)] = Some(0);
    let between = Between { point_at: &point_at, arguments: 2 };
    let composed = of_points(0, vec![first]).then(&of_points(1, vec![second]), &between);
    let composed = composed.points[0].clone().expect("all that is used is given");
    assert_eq!(composed.landing, i(6));
    assert_eq!(
        composed.exprs,
        [
            StepExpr::Source { source: v(a) },
            // The steps number their constants and instructions themselves.
            StepExpr::Constant { constant: (0, 7) },
            StepExpr::Repeat { repeat: (0, i(5)), of: vec![0, 1] },
            StepExpr::Repeat { repeat: (1, i(8)), of: vec![2, 2] },
            StepExpr::Constant { constant: (1, 7) },
        ]
    );
    assert_eq!(composed.values, [(v(30), 3), (v(31), 2), (v(32), 4)]);
    assert_eq!((composed.size(), composed.sources.as_slice()), (2, [v(a)].as_slice()));
    assert!(!composed.sources.contains(&v(b)));
}

#[test]
fn only_what_is_used_is_kept() {
    let first = point(
        0,
        &[(20, 0), (21, 1)],
        vec![Expr::Source { source: v(10) }, Expr::Source { source: v(11) }],
        10,
    );
    let second = point(0, &[(30, 0)], vec![Expr::Source { source: v(21) }], ANY);
    let between = Between { point_at: TiSlice::from_ref(&[Some(0)]), arguments: 0 };
    let composed = of_points(0, vec![first]).then(&of_points(1, vec![second]), &between);
    let composed = composed.points[0].clone().expect("it is given");
    assert_eq!(composed.sources, [v(11)]);
    assert_eq!(composed.keep, [v(11)]);
}

#[test]
fn a_value_that_only_the_second_step_keeps_is_not_given() {
    let first = point(0, &[(20, 0)], vec![Expr::Source { source: v(10) }], ANY);
    let second = point(0, &[(30, 0)], vec![Expr::Source { source: v(21) }], 21);
    let between = Between { point_at: TiSlice::from_ref(&[Some(0)]), arguments: 2 };
    let composed = of_points(0, vec![first]).then(&of_points(1, vec![second]), &between);
    assert_eq!(composed.points, [Err(Broken::NotGiven(v(21)))]);
}

#[test]
fn arguments_are_passed_as_themselves() {
    let first = point(0, &[], Vec::new(), ANY);
    let second = point(0, &[(30, 0)], vec![Expr::Source { source: v(1) }], ANY);
    let between = Between { point_at: TiSlice::from_ref(&[Some(0)]), arguments: 2 };
    let composed = of_points(0, vec![first]).then(&of_points(1, vec![second]), &between);
    let composed = composed.points[0].clone().expect("an argument is always had");
    assert_eq!(composed.exprs, [StepExpr::Source { source: v(1) }]);
    assert_eq!(composed.sources, [v(1)]);
}

#[test]
fn a_step_without_a_mapping_breaks_the_chain() {
    let to = |landing| point(landing, &[], Vec::new(), ANY);
    let first = of_points(0, vec![to(0), to(1), to(2)]);
    let second = OsrMap { points: vec![Ok(to(9)), Err(Refusal::NeedsPhi)], ways: BTreeMap::new() };
    // There is no point before instruction 2.
    let between = Between { point_at: TiSlice::from_ref(&[Some(0), Some(1), None]), arguments: 0 };
    let composed = first.then(&ComposedMap::of_step(1, &second), &between);
    assert!(composed.points[0].as_ref().is_ok_and(|point| point.landing == i(9)));
    assert_eq!(composed.points[1..], [Err(Broken::NoMapping), Err(Broken::NoMapping)]);
}

#[test]
fn what_a_later_step_does_not_need_must_not_be_given() {
    let first = of_points(0, vec![point(0, &[(20, 0)], vec![Expr::Source { source: v(10) }], ANY)]);
    let second = point(
        0,
        &[(30, 0), (31, 1)],
        vec![Expr::Source { source: v(20) }, Expr::Source { source: v(29) }],
        29,
    );
    let second = of_points(1, vec![second]);
    let third = of_points(2, vec![point(0, &[(40, 0)], vec![Expr::Source { source: v(30) }], ANY)]);
    let between = || Between { point_at: TiSlice::from_ref(&[Some(0)]), arguments: 0 };
    let composed =
        compose(&[first.clone(), second.clone(), third.clone()], &[between(), between()]);
    let only = composed.points[0].clone().expect("the second step's other value is not used");
    assert_eq!(only.exprs, [StepExpr::Source { source: v(10) }]);
    let other_way = first.then(&second, &between()).then(&third, &between());
    assert_eq!(other_way.points, [Err(Broken::NotGiven(v(29)))]);
}

#[test]
fn expressions_that_share_operands_stay_small() {
    // x, x + x, (x + x) + (x + x), …
    let mut exprs = vec![Expr::Source { source: v(3) }];
    exprs.extend((0..60).map(|n| Expr::Repeat { repeat: i(n), of: vec![n, n] }));
    let first = of_points(0, vec![point(0, &[(20, 60)], exprs, ANY)]);
    let second =
        of_points(1, vec![point(0, &[(30, 0)], vec![Expr::Source { source: v(20) }], ANY)]);
    let composed =
        first.then(&second, &Between { point_at: TiSlice::from_ref(&[Some(0)]), arguments: 0 });
    assert_eq!(composed.points[0].as_ref().map(ComposedPoint::size), Ok(60));
}

#[test]
fn instructions_are_followed_both_ways() {
    // 0 is deleted by the second step; 1 moves; 2 is new in the second version.
    let now = |insts: &[Option<usize>]| insts.iter().map(|inst| inst.map(i)).collect();
    let steps = [now(&[Some(0), Some(1)]), now(&[None, Some(0), Some(1)])];
    let ancestry = Ancestry::new(&steps, &[2, 3, 2]);
    assert_eq!(ancestry.first[1], now(&[Some(0), Some(1), None]));
    assert_eq!(ancestry.first[2], now(&[Some(1), None]));
    assert_eq!(ancestry.last[0], now(&[None, Some(0)]));
    assert_eq!(ancestry.last[1], now(&[None, Some(0), Some(1)]));
}

// --- random mappings, run -----------------------------------------------------------------------

type State = BTreeMap<ValueId, u64>;

fn mix(step: usize, salt: u64, operands: impl Iterator<Item = u64>) -> u64 {
    operands.fold(salt.wrapping_mul(0x9e37_79b9).wrapping_add(step as u64), |hash, operand| {
        (hash ^ operand).wrapping_mul(0x100_0000_01b3).rotate_left(17)
    })
}

/// [[χ]](σ)
fn run(point: &ComposedPoint, state: &State) -> State {
    let mut values: Vec<u64> = Vec::new();
    for expr in &point.exprs {
        values.push(match expr {
            StepExpr::Source { source } => state[source],
            StepExpr::Constant { constant: (step, constant) } => {
                mix(*step, u64::from(*constant), [].into_iter())
            }
            StepExpr::Content { .. } | StepExpr::Narrow { .. } => {
                unreachable!("steps have values and instructions done again only")
            }
            StepExpr::Code { code, .. } => match *code {},
            StepExpr::Repeat { repeat: (step, inst), of } => {
                mix(*step, 1000 + u64::from(u32::from(*inst)), of.iter().map(|&o| values[o]))
            }
        });
    }
    point.values.iter().map(|&(value, expr)| (value, values[expr])).collect()
}

const ARGUMENTS: usize = 2;
const VALUES: usize = 8;
const POINTS: usize = 3;

fn expr(number: usize) -> impl Strategy<Value = Expr> {
    let operands = prop::collection::vec(0..number.max(1), 1..3);
    prop_oneof![
        (0..VALUES).prop_map(|value| Expr::Source { source: v(value) }),
        (0..3_u32).prop_map(|constant| Expr::Constant { constant }),
        (0..4_usize, operands).prop_map(move |(inst, of)| match number {
            0 => Expr::Source { source: v(inst) },
            _ => Expr::Repeat { repeat: i(inst), of },
        }),
    ]
}

/// A mapping of a version of [`VALUES`] values, the first of them arguments, with a point before
/// each of its [`POINTS`] instructions.
fn map() -> impl Strategy<Value = OsrMap> {
    let exprs = (0..6).map(expr).collect::<Vec<_>>();
    let values = prop::collection::btree_map(ARGUMENTS..VALUES, 0..6_usize, 3..6);
    let one = (0..POINTS, exprs, values).prop_map(|(landing, exprs, values)| {
        point(landing, &values.into_iter().collect::<Vec<_>>(), exprs, 6)
    });
    prop::collection::vec(one, POINTS).prop_map(|points| OsrMap {
        points: points.into_iter().map(Ok).collect(),
        ways: BTreeMap::new(),
    })
}

proptest! {
    /// [[χ ∘ χ']](σ) = [[χ']]([[χ]](σ)), and composition is associative where it is defined both
    /// ways.
    #[test]
    fn a_composition_does_what_its_steps_do(maps in prop::collection::vec(map(), 3)) {
        let point_at: TiVec<InstId, _> = (0..POINTS).map(Some).collect();
        let between = || Between { point_at: &point_at, arguments: ARGUMENTS };
        let steps: Vec<_> =
            maps.iter().enumerate().map(|(step, map)| ComposedMap::of_step(step, map)).collect();
        let whole = compose(&steps, &[between(), between()]);
        let left = steps[0].then(&steps[1], &between()).then(&steps[2], &between());
        let start: State = (0..VALUES).map(|value| (v(value), 77 * value as u64 + 5)).collect();
        let arguments: State = start.iter().take(ARGUMENTS).map(|(&v, &x)| (v, x)).collect();
        for (number, composed) in whole.points.iter().enumerate() {
            let mut at = number;
            let mut state = Some(start.clone());
            for step in &steps {
                let Ok(point) = &step.points[at] else { unreachable!("all points have one") };
                state = state.filter(|s| point.sources.iter().all(|v| s.contains_key(v))).map(|s| {
                    let mut next = run(point, &s);
                    next.extend(&arguments);
                    next
                });
                at = usize::from(point.landing);
            }
            if let (Some(mut state), Ok(composed)) = (state.clone(), composed) {
                state.retain(|value, _| *value >= v(ARGUMENTS));
                prop_assert_eq!(run(composed, &start), state);
                prop_assert_eq!(composed.landing, i(at));
            }
            // What can be run step by step can be composed.
            prop_assert!(state.is_none() || composed.is_ok());
            if let Ok(left) = &left.points[number] {
                let right = composed.as_ref().expect("it needs no more");
                prop_assert_eq!(run(left, &start), run(right, &start));
                prop_assert_eq!((left.landing, left.size()), (right.landing, right.size()));
            }
        }
    }
}
