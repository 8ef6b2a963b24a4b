//! Reading trees of calling contexts, and adding them up.

use super::tree::Sum;
use super::{
    CalledFunction, CalledId, ContextFunction, ContextId, ContextOverflow, Contexts,
    ContextsHeader, walk, walk_elsewhere, walk_forests,
};
use crate::cursor::Cursor;
use crate::format::error::ReadError;
use crate::format::profile::Counters;
use crate::format::read::read_forest;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The trees of a file, added up.
#[derive(Default)]
pub(in crate::format) struct Reader {
    sum: Option<Sum>,
}

/// The nodes above the next one, and the functions of a tree.
#[derive(Default)]
struct State {
    way: Vec<ContextId>,
    functions: Vec<CalledId>,
    /// All nodes of the tree
    ids: Vec<ContextId>,
    known: BTreeSet<CalledId>,
    /// A library that was loaded twice, or linked in twice, has its functions twice: only then two
    /// nodes may be the same.
    has_twins: bool,
}

impl State {
    /// A function of the tree, which stands at `at`.
    fn function(
        &mut self,
        sum: &mut Sum,
        at: usize,
        function: ContextFunction,
        places: &[usize],
    ) -> Result<CalledId, ReadError> {
        let (module, key, slots) = match function {
            ContextFunction::Known(number) => return Ok(self.functions[number as usize]),
            ContextFunction::New { module, key, slots } => (module, key, slots),
        };
        let called = CalledFunction { module: places[module as usize], key, slots };
        let id = sum.contexts.intern_at(called, at)?;
        self.has_twins |= !self.known.insert(id);
        self.functions.push(id);
        Ok(id)
    }
}

impl Reader {
    /// Reads the tree of a thread; `places` has the module here of each of the file.
    pub fn read(&mut self, cursor: &mut Cursor<'_>, places: &[usize]) -> Result<(), ReadError> {
        let header = ContextsHeader::read(cursor)?;
        let sum = self.begin(&header)?;
        let (mut state, modules) = (State::default(), places.len() as u32);
        let functions = walk(cursor, &header, modules, |node| {
            let malformed = |what, problem| {
                ReadError::Malformed(crate::Malformed { what, at: node.at, problem })
            };
            let function = state.function(sum, node.at, node.function, places)?;
            // No more than the depth of the way, which `walk` has seen to.
            state.way.truncate(state.way.len() - node.up as usize);
            let parent = state.way.last().copied();
            let slots = parent.map(|id| sum.contexts.function(id).slots);
            if slots.is_some_and(|slots| node.counts.site >= slots) {
                return Err(malformed("a context's call site", "is not in the function above"));
            }
            let id = sum.contexts.child_or_insert(parent, node.counts.site, function);
            let is_new = sum.add(id, &node.counts)?;
            if !is_new && !state.has_twins {
                return Err(malformed("a context", "is there twice"));
            }
            state.way.push(id);
            state.ids.push(id);
            Ok(())
        })?;
        walk_elsewhere(cursor, &header, modules, functions, |at, function, count| {
            let function = state.function(sum, at, function, places)?;
            Ok::<_, ReadError>(sum.contexts.add_elsewhere(function, count)?)
        })?;
        let no_context = cursor.malformed("the context of a forest", "is not there");
        walk_forests(cursor, &header, |context, cursor| {
            let id = *state.ids.get(context).ok_or(no_context)?;
            let at = cursor.at();
            let function = read_forest(cursor, places, Counters::Windows)?;
            sum.contexts.add_forest(id, function).map_err(|error| error.of(at))
        })
    }

    /// Begins the tree of another thread, which is added to the sum.
    pub fn begin(&mut self, header: &ContextsHeader) -> Result<&mut Sum, ContextOverflow> {
        let sum = self.sum.get_or_insert_with(|| Sum::new(header.mode));
        sum.begin(header)?;
        Ok(sum)
    }

    /// All of them; none if there was no tree.
    pub fn finish(self) -> Result<Option<Contexts>, ReadError> {
        Ok(self.sum.map(Sum::finish).transpose()?)
    }
}
