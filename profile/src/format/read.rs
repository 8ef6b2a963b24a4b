//! Reading a profile file, and refusing what is not one.

use super::error::ReadError;
use super::header::{HEADER_SIZE, Header, LEAST_NODE, at};
use super::memory;
use super::profile::{FunctionProfile, Module, Profile};
use crate::cursor::{Cursor, Malformed};
use crate::forest::PrefixForest;
use crate::max_levels;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use midflight_abi::MAX_K;

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
        let (header, payload) = Header::read(file)?;
        let mut cursor = Cursor::new(payload, HEADER_SIZE);
        let mut reader = Reader::default();
        for _ in 0..header.modules {
            reader.read_module(&mut cursor)?;
        }
        for _ in 0..header.forests {
            reader.read_function(&mut cursor)?;
        }
        if !cursor.rest().is_empty() {
            return Err(cursor.malformed("the payload", "goes on after the last forest").into());
        }
        let Reader { modules, functions, .. } = reader;
        let k = functions.iter().map(|function| function.k).max().unwrap_or(0);
        if k != header.k {
            let at = at::K.start;
            return Err(Malformed { what: "k", at, problem: "is not that of the forests" }.into());
        }
        Ok(Profile { k, flags: header.flags, modules, functions })
    }
}

/// What was read of the payload.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) modules: Vec<Module>,
    pub(super) functions: Vec<FunctionProfile>,
    /// Index in `modules` of each module of the file
    places: Vec<usize>,
    /// Index in `modules` by signature
    by_signature: BTreeMap<u64, usize>,
    /// Index in `functions` by module and key
    by_key: BTreeMap<(usize, u64), usize>,
}

impl Reader {
    fn read_module(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let signature = cursor.fixed64("a module's signature")?;
        let len = cursor.varint("the length of a module's name")?;
        let name = cursor.bytes(len, "a module's name")?;
        self.add_module(signature, name);
        Ok(())
    }

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
        let no_module = cursor.malformed("a forest's module", "is not there");
        let module = cursor.varint32("a forest's module")?;
        let module = self.module(module as usize).ok_or(no_module)?;
        let key = cursor.fixed64("a forest's key")?;
        let k_at = cursor.malformed("k", "").at;
        let k = cursor.varint32("a forest's k")?;
        if !(1..=MAX_K).contains(&k) {
            return Err(ReadError::K(k));
        }
        let function = FunctionProfile {
            module,
            key,
            k,
            entries: cursor.varint("a forest's entries")?,
            restarts: cursor.varint("a forest's restarts")?,
            lost: cursor.varint("a forest's lost events")?,
            pruned: cursor.varint("a forest's pruned events")?,
            forest: read_forest(cursor, k)?,
        };
        self.add_function(function, k_at)
    }

    /// Adds a forest of the file to its function's. `k_at` is where its k stands.
    pub(super) fn add_function(
        &mut self,
        function: FunctionProfile,
        k_at: usize,
    ) -> Result<(), ReadError> {
        function.check_total()?;
        let place =
            *self.by_key.entry((function.module, function.key)).or_insert(self.functions.len());
        match self.functions.get_mut(place) {
            None => self.functions.push(function),
            Some(known) if known.k != function.k => {
                let problem = "is not that of the function's others";
                return Err(Malformed { what: "a forest's k", at: k_at, problem }.into());
            }
            Some(known) => known.add(&function)?,
        }
        Ok(())
    }
}

fn read_forest(cursor: &mut Cursor<'_>, k: u32) -> Result<PrefixForest, ReadError> {
    let mut forest = PrefixForest::new();
    let roots = cursor.count(LEAST_NODE, "the number of a forest's roots")?;
    // The node that is open on each level, and how many of its children are to come. No higher
    // than a forest is deep.
    let mut open = vec![(None, roots)];
    while let Some((parent, to_come)) = open.last_mut() {
        if *to_come == 0 {
            open.pop();
            continue;
        }
        *to_come -= 1;
        let parent = *parent;
        let twice = cursor.malformed("a node's label", "is that of a sibling, too");
        let label = cursor.varint32("a node's label")?;
        if open.len() > max_levels(k) as usize {
            return Err(ReadError::TooDeep { at: twice.at, k });
        }
        if forest.child(parent, label).is_some() {
            return Err(twice.into());
        }
        let id = forest.child_or_insert(parent, label);
        forest.add_saturating(id, cursor.varint("a node's count")?);
        open.push((Some(id), cursor.count(LEAST_NODE, "the number of a node's children")?));
    }
    Ok(forest)
}
