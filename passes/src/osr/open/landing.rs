//! How a version that is entered in the middle gets its values (thesis 4.2.5, `live(e)`).
//!
//! All that is live at the point travels. What can be computed from the rest is computed again in
//! the version: an address in an array that travelled beside the array's own would be an object of
//! its own to alias analysis, and what is stored by the one and loaded by the other would go
//! through memory.

use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::Value;
use midflight_ir::ids::ValueId;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::points::Point;
use rustc_hash::FxHashMap;

/// The mapping from a point to the same point of a version.
pub struct Landing<'s, 'm> {
    snapshot: &'s CodeSnapshot<'m>,
    point: &'s Point,
    /// Expressions of values, where they are known
    known: FxHashMap<ValueId, usize>,
    map: PointMap,
    constants: Vec<Value<'m>>,
}

impl<'s, 'm> Landing<'s, 'm> {
    /// The mapping to a version in which a value is a constant, and the constants in it.
    pub fn map(
        snapshot: &'s CodeSnapshot<'m>,
        point: &'s Point,
        constant: Option<(ValueId, Value<'m>)>,
    ) -> (PointMap, Vec<Value<'m>>) {
        let mut landing = Landing {
            snapshot,
            point,
            known: FxHashMap::default(),
            // All that is live is a source, used or not: versions for all keys have one prototype.
            map: PointMap { sources: point.live.clone(), ..PointMap::identity(point.at, &[]) },
            constants: Vec::new(),
        };
        if let Some((value, constant)) = constant {
            let expr = landing.constant(constant);
            landing.known.insert(value, expr);
        }
        for &value in &point.live {
            let expr = landing.value(value).expect("a live value travels");
            landing.map.values.push((value, expr));
        }
        (landing.map, landing.constants)
    }

    fn push(&mut self, expr: Expr) -> usize {
        self.map.exprs.push(expr);
        self.map.exprs.len() - 1
    }

    fn constant(&mut self, value: Value<'m>) -> usize {
        self.constants.push(value);
        self.push(Expr::Constant { constant: self.constants.len() as u32 - 1 })
    }

    /// A value that is live at the point. `None`: it is not, so it cannot be used.
    fn value(&mut self, value: ValueId) -> Option<usize> {
        if let Some(&expr) = self.known.get(&value) {
            return Some(expr);
        }
        self.point.live.binary_search(&value).ok()?;
        let again = self.again(value);
        let expr = again.unwrap_or_else(|| self.push(Expr::Source { source: value }));
        self.known.insert(value, expr);
        Some(expr)
    }

    /// The value computed again, if what it is computed from is live too.
    fn again(&mut self, value: ValueId) -> Option<usize> {
        let inst = self.snapshot.body.code.definition(value)?;
        let facts = self.snapshot.instructions[inst].map_facts();
        if !facts.is_repeatable() || facts.is_phi() {
            return None;
        }
        let operands: Vec<Value<'m>> = self.snapshot.instructions[inst].operands().collect();
        let is_live = |operand: &Value<'m>| match self.snapshot.ids().value(*operand) {
            Some(id) => self.known.contains_key(&id) || self.point.live.binary_search(&id).is_ok(),
            None => operand.is_constant(),
        };
        if !operands.iter().all(is_live) {
            return None;
        }
        let of = operands.iter().map(|&operand| match self.snapshot.ids().value(operand) {
            Some(id) => self.value(id),
            None => Some(self.constant(operand)),
        });
        let of = of.collect::<Option<Vec<usize>>>()?;
        Some(self.push(Expr::Repeat { repeat: inst, of }))
    }
}
