//! Constants that values are where control came over a path, as the counter of a loop is in each
//! copy of its blocks.

use super::{Path, Walk};
use crate::versions::graph::{ConstId, Operand};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;

/// Operands that are looked for, each at the end of a path
const MOST: usize = 256;

/// What operands are at the ends of paths, by copy, blocks behind that, and operand: none while
/// that is found out.
struct Constants<'w, 'a> {
    walk: &'w Walk<'a>,
    which: Version,
    found: HashMap<(Option<BlockId>, usize, Operand), Option<ConstId>>,
}

impl Walk<'_> {
    /// The constant that an operand is at the end of a path, as far as the walk came to the copy
    /// that it begins in until now.
    pub(super) fn constant(
        &self,
        which: Version,
        path: Path<'_>,
        operand: Operand,
    ) -> Option<ConstId> {
        Constants { walk: self, which, found: HashMap::default() }.of(path, operand)?
    }
}

impl Constants<'_, '_> {
    /// The same; none if it is not known, and no constant for an operand that is being found out: a
    /// value that came round a loop unchanged. One that is not known makes all that is made of it
    /// unknown, so that what was found on its way is of no use then.
    fn of(&mut self, path: Path<'_>, operand: Operand) -> Option<Option<ConstId>> {
        let value = match operand {
            Operand::Constant(constant) => return Some(Some(constant)),
            Operand::Value(value) => value,
        };
        let (walk, which) = (self.walk, self.which);
        let version = walk.version(which);
        let block = walk.end(which, path);
        if let Some(constant) = version.scopes.at(value, block) {
            return Some(Some(constant));
        }
        let key = (path.copy, path.blocks.len(), operand);
        if let Some(&found) = self.found.get(&key) {
            return Some(found);
        }
        (self.found.len() < MOST).then_some(())?;
        self.found.insert(key, None);
        let definition = version.graph.definition(value)?;
        let is_here = version.graph.block(definition) == block;
        let constant = match is_here && !version.graph.nodes[definition].facts.is_phi() {
            true => Some(self.computed(path, definition)?),
            false => self.comes_in(path, block, (operand, is_here.then_some(definition)))?,
        };
        self.found.insert(key, constant);
        Some(constant)
    }

    fn computed(&mut self, path: Path<'_>, inst: InstId) -> Option<ConstId> {
        let graph = &self.walk.version(self.which).graph;
        graph.nodes[inst].facts.is_repeatable().then_some(())?;
        let mut constants = Vec::new();
        for &operand in graph.operands(inst) {
            constants.push(Operand::Constant(self.of(path, operand)??));
        }
        match self.walk.oracle.simplify(self.which, inst, &constants)? {
            Operand::Constant(constant) => Some(constant),
            Operand::Value(_) => None,
        }
    }

    /// What an operand, or a phi of the block at the end of a path, has from before that block.
    fn comes_in(
        &mut self,
        path: Path<'_>,
        block: BlockId,
        (operand, phi): (Operand, Option<InstId>),
    ) -> Option<Option<ConstId>> {
        let (walk, which) = (self.walk, self.which);
        let version = walk.version(which);
        let sources = walk.before(which, path);
        (!sources.is_empty()).then_some(())?;
        let mut met = None;
        for source in sources {
            let from = walk.end(which, source);
            let operand = match phi {
                Some(phi) => version.graph.incoming(phi, from)?,
                None => operand,
            };
            let on_edge = match operand {
                Operand::Value(value) => version.scopes.on_edge(value, from, block),
                Operand::Constant(_) => None,
            };
            let found = match on_edge {
                Some(constant) => Some(constant),
                None => self.of(source, operand)?,
            };
            if met.is_some() && found.is_some() && met != found {
                return None;
            }
            met = met.or(found);
        }
        Some(met)
    }
}
