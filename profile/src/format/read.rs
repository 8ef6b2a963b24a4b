//! Reading a profile file, and refusing what is not one.

use super::error::{ReadError, other_k};
use super::forests::{ForestHeader, LEVELS, walk};
use super::memory;
use super::modules;
use super::profile::{FunctionProfile, Module, Profile};
use super::sections::{Kind, Sections};
use crate::cursor::{Cursor, Malformed};
use crate::forest::PrefixForest;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

impl Profile {
    /// Reads a profile file, or the memory of a program that counts in its file. Modules with one
    /// signature become one, and the forests of one function are added up.
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
        sections.of(Kind::Forests).read(|cursor| reader.read_function(cursor))?;
        Ok(reader.finish(sections.flags))
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

    fn read_function(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let at = cursor.at();
        let header = ForestHeader::read(cursor, self.places.len() as u32)?;
        let forest = read_forest(cursor, &header)?;
        let ForestHeader { module, key, k, totals, .. } = header;
        let module = self.places[module as usize];
        let function = FunctionProfile { module, key, k, totals, forest };
        self.add_function(function, at)
    }

    /// Adds a forest of the file, which stands at `at`, to its function's.
    pub(super) fn add_function(
        &mut self,
        function: FunctionProfile,
        at: usize,
    ) -> Result<(), ReadError> {
        function.check_total()?;
        let place =
            *self.by_key.entry((function.module, function.key)).or_insert(self.functions.len());
        match self.functions.get_mut(place) {
            None => self.functions.push(function),
            Some(known) if known.k != function.k => return Err(other_k(at).into()),
            Some(known) => known.add(&function)?,
        }
        Ok(())
    }

    /// The profile with all that was added.
    pub(super) fn finish(self, flags: u32) -> Profile {
        let Reader { modules, functions, .. } = self;
        let k = functions.iter().map(|function| function.k).max().unwrap_or(0);
        Profile { k, flags, modules, functions }
    }
}

fn read_forest(cursor: &mut Cursor<'_>, header: &ForestHeader) -> Result<PrefixForest, ReadError> {
    let mut forest = PrefixForest::new();
    // Above each level, the node that is open.
    let mut open = [None; LEVELS + 1];
    walk(cursor, header, |node| {
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
