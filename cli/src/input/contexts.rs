//! Calling contexts, joined with the records of their functions.

use crate::format::names::{base_name, readable};
use crate::input::session::{JoinError, Session};
use midflight_profile::format::{CalledFunction, Contexts};
use midflight_profile::table::{ContextTable, Granularity, Recursion, Site};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A function of calling contexts.
pub struct Called<'a> {
    /// Its record; none if its image is not there
    pub table: Option<&'a ContextTable>,
    /// The path of its image
    pub module: &'a str,
    /// Key of its record
    pub key: u64,
}

impl Called<'_> {
    /// Its name, as the linker knows it; of a function without record the image and the key.
    pub fn name(&self) -> Cow<'_, str> {
        match self.table {
            Some(table) => Cow::Borrowed(&table.name),
            None => Cow::Owned(format!("{}!{:016x}", base_name(self.module), self.key)),
        }
    }

    /// Its name as the source has it.
    pub fn readable(&self) -> String {
        readable(&self.name())
    }

    /// The file that it is declared in; empty if it is not known.
    pub fn file(&self) -> &str {
        self.table.map_or("", |table| file(table, table.file))
    }

    /// The line that it is declared at; 0 if it is not known.
    pub fn line(&self) -> u32 {
        self.table.map_or(0, |table| table.line)
    }

    /// Whether its activations go on in the context above that has it, where there is one.
    pub fn folds_recursion(&self) -> bool {
        self.table.is_some_and(|table| table.recursion == Recursion::Folded)
    }

    /// One of its call sites, with its file; none where they are not told apart or not known.
    pub fn site(&self, slot: u32) -> Option<(&Site, &str)> {
        let table = self.table?;
        let site = table.sites.get(slot as usize)?;
        let file = if site.loc.line == 0 { "" } else { file(table, site.loc.file) };
        Some((site, file))
    }
}

fn file(table: &ContextTable, index: u32) -> &str {
    table.files.get(index as usize).map_or("", String::as_str)
}

/// The calling contexts of a profile, with the functions by their IDs.
pub struct Joined<'a> {
    /// The contexts
    pub contexts: &'a Contexts,
    /// Their functions
    pub functions: Vec<Called<'a>>,
}

impl Session {
    /// The calling contexts, if they were counted.
    ///
    /// # Errors
    /// If a function does not fit its record.
    pub fn contexts(&self) -> Result<Option<Joined<'_>>, JoinError> {
        let Some(contexts) = &self.profile.contexts else { return Ok(None) };
        let mut tables: FxHashMap<(u64, u64), &ContextTable> = FxHashMap::default();
        for image in &self.images {
            let own = image.contexts.iter().map(|table| ((image.signature, table.key), table));
            tables.extend(own);
        }
        let functions =
            contexts.functions().iter().map(|&CalledFunction { module, key, slots }| {
                let module = &self.profile.modules[module];
                let table = tables.get(&(module.signature, key)).copied();
                let image = self.images.iter().find(|image| image.signature == module.signature);
                match (table, image) {
                    (None, Some(image)) => {
                        Err(JoinError::NoFunction(image.path.display().to_string(), key))
                    }
                    (Some(table), _) if table.slots() != slots as usize => {
                        Err(JoinError::Slots(table.name.clone(), slots, table.slots()))
                    }
                    _ => Ok(Called { table, module: &module.name, key }),
                }
            });
        Ok(Some(Joined { contexts, functions: functions.collect::<Result<_, _>>()? }))
    }

    /// True if calling contexts were counted and paths were not.
    pub fn has_only_contexts(&self) -> bool {
        self.profile.contexts.is_some() && self.profile.functions.is_empty()
    }
}

/// True if all of these functions are told apart by functions, and not by call sites.
pub fn are_by_function(functions: &[Called<'_>]) -> bool {
    let mut tables = functions.iter().filter_map(|function| function.table).peekable();
    tables.peek().is_some() && tables.all(|table| table.granularity == Granularity::Functions)
}
