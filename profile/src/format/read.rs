//! Reading a profile file, and refusing what is not one.

use super::contexts;
use super::error::{ReadError, SumOverflow, other_counters, other_k};
use super::header::ForestHeader;
use super::memory;
use super::modules;
use super::profile::{Counters, FunctionProfile, Module, Profile};
use super::sections::{Kind, Sections};
use super::slabs::{self, LEVELS};
use super::used::MemoryUse;
use super::windows::{self, Part};
use crate::cursor::{Cursor, Malformed};
use crate::forest::{CountOverflow, NodeId, PrefixForest};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

impl Profile {
    /// Reads a profile file, or the memory of a program that counts in its file. Modules with one
    /// signature become one, the forests of one function are added up, and so are the calling
    /// contexts of all threads.
    ///
    /// Memory is bounded by a multiple of the file's size, whatever it contains.
    ///
    /// # Errors
    /// [`ReadError`] for anything that is not a whole and undamaged profile of a known version.
    pub fn read(file: &[u8]) -> Result<Profile, ReadError> {
        if memory::is_memory(file) {
            return memory::read(file);
        }
        let sections = Sections::read(file)?;
        let mut reader = Reader::default();
        sections.of(Kind::Modules).read(|cursor| {
            let (signature, name) = modules::read(cursor)?;
            reader.add_module(signature, name);
            Ok::<_, ReadError>(())
        })?;
        for (kind, counters) in [(Kind::Windows, Counters::Windows), (Kind::Slabs, Counters::Slabs)]
        {
            sections.of(kind).read(|cursor| reader.read_function(cursor, counters))?;
        }
        let mut contexts = contexts::Reader::default();
        sections.of(Kind::Contexts).read(|cursor| contexts.read(cursor, &reader.places))?;
        let contexts = contexts.finish()?;
        let mut used = None;
        sections.of(Kind::Used).read(|cursor| {
            let second = cursor.malformed("the memory of a run", "is there twice");
            match used.replace(MemoryUse::read(cursor)?) {
                None => Ok(()),
                Some(_) => Err(ReadError::from(second)),
            }
        })?;
        Ok(Profile { contexts, used, ..reader.finish(sections.flags)? })
    }
}

/// What was read of a file.
#[derive(Default)]
pub(super) struct Reader {
    modules: Vec<Module>,
    functions: Vec<FunctionProfile>,
    /// Index in `modules` of each module of the file
    places: Vec<usize>,
    /// Index in `modules` by signature
    by_signature: BTreeMap<u64, usize>,
    /// Index in `functions` by module and key
    by_key: BTreeMap<(usize, u64), usize>,
}

impl Reader {
    /// Adds the next module of the file.
    pub(super) fn add_module(&mut self, signature: u64, name: &[u8]) {
        let place = *self.by_signature.entry(signature).or_insert(self.modules.len());
        if place == self.modules.len() {
            let name = String::from_utf8_lossy(name).into_owned();
            self.modules.push(Module { signature, name });
        }
        self.places.push(place);
    }

    /// Index in the modules of one that the file has at a place in its list.
    pub(super) fn module(&self, place: usize) -> Option<usize> {
        self.places.get(place).copied()
    }

    fn read_function(
        &mut self,
        cursor: &mut Cursor<'_>,
        counters: Counters,
    ) -> Result<(), ReadError> {
        let at = cursor.at();
        let function = read_forest(cursor, &self.places, counters)?;
        self.add_function(function, at)
    }

    /// Adds a forest of the file, which stands at `at`, to its function's.
    pub(super) fn add_function(
        &mut self,
        function: FunctionProfile,
        at: usize,
    ) -> Result<(), ReadError> {
        let place =
            *self.by_key.entry((function.module, function.key)).or_insert(self.functions.len());
        match self.functions.get_mut(place) {
            None => self.functions.push(function),
            Some(known) if known.k != function.k => return Err(other_k(at).into()),
            Some(known) if known.counters != function.counters => {
                return Err(other_counters(at).into());
            }
            Some(known) => known.add(&function)?,
        }
        Ok(())
    }

    /// The profile with all that was added.
    pub(super) fn finish(self, flags: u32) -> Result<Profile, SumOverflow> {
        let Reader { modules, functions, .. } = self;
        functions.iter().try_for_each(FunctionProfile::check_total)?;
        let k = functions.iter().map(|function| function.k).max().unwrap_or(0);
        Ok(Profile { k, flags, modules, functions, contexts: None, used: None })
    }
}

/// What was counted of a function; `places` has the module here of each of the file.
pub(super) fn read_forest(
    cursor: &mut Cursor<'_>,
    places: &[usize],
    counters: Counters,
) -> Result<FunctionProfile, ReadError> {
    let header = ForestHeader::read(cursor, places.len() as u32)?;
    let (forest, truncated) = match counters {
        Counters::Windows => read_windows(cursor, &header)?,
        Counters::Slabs => (read_slabs(cursor, header.k)?, PrefixForest::new()),
    };
    let ForestHeader { module, key, k, totals } = header;
    let module = places[module as usize];
    Ok(FunctionProfile { module, key, k, totals, counters, forest, truncated })
}

fn read_slabs(cursor: &mut Cursor<'_>, k: u32) -> Result<PrefixForest, ReadError> {
    let mut forest = PrefixForest::new();
    // Above each level, the node that is open.
    let mut open = [None; LEVELS + 1];
    slabs::walk(cursor, k, |node| {
        let parent = open[node.level];
        if forest.child(parent, node.label).is_some() {
            let (what, problem) = ("a node's label", "is that of a sibling, too");
            return Err(ReadError::from(Malformed { what, at: node.at, problem }));
        }
        let id = forest.child_or_insert(parent, node.label);
        forest.add_saturating(id, node.count);
        open[node.level + 1] = Some(id);
        Ok(())
    })?;
    Ok(forest)
}

/// All counters of a function that are not 0, and those of truncated windows.
fn read_windows(
    cursor: &mut Cursor<'_>,
    header: &ForestHeader,
) -> Result<(PrefixForest, PrefixForest), ReadError> {
    let overflow = |CountOverflow { .. }| ReadError::from(SumOverflow { key: header.key });
    let (mut forest, mut truncated) = (PrefixForest::new(), PrefixForest::new());
    let (mut labels, mut is_truncated): (Vec<u32>, bool) = (Vec::new(), false);
    // Where the paths of the group go, once one of them was counted.
    let mut windows: Option<[Option<NodeId>; 2]> = None;
    windows::walk(cursor, header, |part| {
        match part {
            Part::State(state) => {
                (windows, is_truncated) = (None, state.is_truncated(header.k));
                labels.clear();
                labels.extend_from_slice(state.labels());
            }
            Part::Path { count: 0, .. } => {}
            Part::Path { label, count } => {
                let [window, short] = *windows.get_or_insert_with(|| {
                    let short = if is_truncated { node_of(&mut truncated, &labels) } else { None };
                    [node_of(&mut forest, &labels), short]
                });
                let id = forest.child_or_insert(window, label);
                forest.add(id, count).map_err(overflow)?;
                if is_truncated {
                    let id = truncated.child_or_insert(short, label);
                    truncated.add(id, count).map_err(overflow)?;
                }
            }
        }
        Ok::<_, ReadError>(())
    })?;
    Ok((forest, truncated))
}

/// The node of a window, made if it is not there.
pub(super) fn node_of(forest: &mut PrefixForest, labels: &[u32]) -> Option<NodeId> {
    labels.iter().fold(None, |at, &label| Some(forest.child_or_insert(at, label)))
}
