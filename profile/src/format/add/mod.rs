//! Adding two profile files up without allocating.
//!
//! This is how many processes share one file: each adds what it has counted to what is there. It is
//! for the runtime library, which has no allocator and must not panic, so all memory is the
//! caller's ([`Room`]). [`Profile::merge`](super::Profile::merge) gives the same sums, and is the
//! oracle of the tests.
//!
//! Four phases: modules of both files are written, each signature once; forests are found and
//! those of one function chained; then each chain is written, a single forest byte for byte as it
//! was, several as one forest, their counts added up ([`trie`]); and the trees of calling
//! contexts as one ([`mod@contexts`]).

mod contexts;
mod trie;

use super::encoder::{Encoder, Sink};
use super::error::{ReadError, other_counters, other_k};
use super::header::{self, ForestHeader};
use super::modules;
use super::sections::{HEADER_SIZE, Kind, Section, Sections};
use super::slabs::{self, LEVELS};
use super::windows::{self, Part};
use crate::checksum::mix64;
use crate::cursor::Cursor;
use contexts::{LEAST_CONTEXT, LEAST_FUNCTION, Tree, slots_for};
pub use contexts::{SumContext, SumFunction};
use midflight_abi::Totals;
pub use trie::Node;
use trie::{Top, Trie};

/// Files cannot be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError<E> {
    /// One is no profile.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is less room than [`Pair::needs`] says.
    #[error("there is too little memory to add profiles up")]
    Room,
    /// The sink took no more.
    #[error("the sum could not be written")]
    Sink(E),
}

/// A module of one of the files, and its place in the sum. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    signature: u64,
    place: u32,
}

/// A forest of one of the files. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece {
    /// With the place of the module in the sum
    header: ForestHeader,
    is_second: bool,
    /// Whether it is a k-SF
    is_slabs: bool,
    /// Bounds of what follows the header in the section, and how many nodes it has at most
    start: usize,
    end: usize,
    nodes: usize,
    /// True if it is the first of its function's
    is_head: bool,
    /// One more than the index of the next of the function's; 0 if there is none
    next: u32,
}

/// Memory to add files up in, as much as [`Pair::needs`] says. What is in it does not matter.
#[derive(Debug)]
pub struct Room<'a> {
    /// For the modules of both files
    pub modules: &'a mut [Place],
    /// For the forests of both files
    pub pieces: &'a mut [Piece],
    /// For the nodes of one function
    pub nodes: &'a mut [Node],
    /// For the calling contexts of both files
    pub contexts: &'a mut [SumContext],
    /// For their functions
    pub functions: &'a mut [SumFunction],
    /// For hash tables
    pub slots: &'a mut [u32],
}

/// Lengths of the parts of a [`Room`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Of [`Room::modules`]
    pub modules: usize,
    /// Of [`Room::pieces`]
    pub pieces: usize,
    /// Of [`Room::nodes`]
    pub nodes: usize,
    /// Of [`Room::contexts`]
    pub contexts: usize,
    /// Of [`Room::functions`]
    pub functions: usize,
    /// Of [`Room::slots`]
    pub slots: usize,
}

/// Two whole and undamaged files.
pub struct Pair<'a> {
    files: [Sections<'a>; 2],
}

impl<'a> Pair<'a> {
    /// Two files to be added up.
    ///
    /// # Errors
    /// [`ReadError`] if one is damaged, or no profile of a known version.
    pub fn new(first: &'a [u8], second: &'a [u8]) -> Result<Self, ReadError> {
        Ok(Pair { files: [Sections::read(first)?, Sections::read(second)?] })
    }

    /// How much room it takes: no more than a multiple of the files' sizes.
    pub fn needs(&self) -> Needs {
        let sum = |kind, most: &dyn Fn(Section<'_>) -> usize| {
            self.files.iter().map(|file| most(file.of(kind))).fold(0, usize::saturating_add)
        };
        let of_forests = |most: &dyn Fn(Section<'_>) -> usize| {
            Kind::FORESTS.map(|kind| sum(kind, most)).into_iter().fold(0, usize::saturating_add)
        };
        let pieces = of_forests(&|section| section.most(header::LEAST));
        // A node takes a byte at least, in the window of a group. There are those above all others.
        let nodes = of_forests(&|section| section.bytes.len()).saturating_add(Top::ALL.len());
        let slots = pieces.max(nodes).saturating_mul(2).checked_next_power_of_two();
        let modules = sum(Kind::Modules, &|section| section.most(modules::LEAST));
        let of_contexts = sum(Kind::Contexts, &|section| section.bytes.len());
        // One is above all roots.
        let contexts = of_contexts / LEAST_CONTEXT + 1;
        let functions = of_contexts / LEAST_FUNCTION;
        let slots_of_contexts = slots_for(contexts).saturating_add(slots_for(functions));
        let slots = slots.unwrap_or(usize::MAX).max(slots_of_contexts);
        Needs { modules, pieces, nodes, contexts, functions, slots }
    }

    /// Writes the sections of the sum, and returns its header, as [`Encoder`] does.
    ///
    /// # Errors
    /// [`AddError`]; what was written is of no use then.
    pub fn write<S: Sink>(
        &self,
        room: Room<'_>,
        sink: S,
    ) -> Result<[u8; HEADER_SIZE], AddError<S::Error>> {
        let mut encoder = Encoder::new(sink);
        let Room { modules, pieces, nodes, contexts, functions, slots } = room;
        self.write_modules(modules, &mut encoder)?;
        let count = self.find_forests(modules, pieces)?;
        let pieces = pieces.get_mut(..count).ok_or(AddError::Room)?;
        chain(pieces, slots).ok_or(AddError::Room)?;
        for piece in pieces.iter().filter(|piece| piece.is_head) {
            match pieces.get((piece.next as usize).wrapping_sub(1)) {
                None => {
                    encoder.forest_header(piece.kind(), &piece.header).map_err(AddError::Sink)?;
                    let nodes = self.nodes_of(piece);
                    encoder.put(nodes.rest()).map_err(AddError::Sink)?;
                }
                Some(_) => self.write_sum(piece, pieces, nodes, slots, &mut encoder)?,
            }
        }
        let tree = Tree::new(contexts, functions, slots).ok_or(AddError::Room)?;
        self.write_contexts(modules, tree, &mut encoder)?;
        Ok(encoder.finish(self.files.iter().fold(0, |flags, file| flags | file.flags)))
    }

    /// Phase 1: writes the modules of both files.
    fn write_modules<S: Sink>(
        &self,
        modules: &mut [Place],
        encoder: &mut Encoder<S>,
    ) -> Result<(), AddError<S::Error>> {
        let (mut known, mut places) = (0, 0);
        for file in &self.files {
            file.of(Kind::Modules).read::<AddError<S::Error>>(|cursor| {
                let (signature, name) = modules::read(cursor)?;
                let (before, rest) = modules.split_at_mut_checked(known).ok_or(AddError::Room)?;
                let same = before.iter().find(|module| module.signature == signature);
                let place = same.map_or(places, |module| module.place);
                *rest.first_mut().ok_or(AddError::Room)? = Place { signature, place };
                known += 1;
                if place == places {
                    encoder.module(signature, name).map_err(AddError::Sink)?;
                    places += 1;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Those of each file.
    fn modules_of<'m>(&self, mut modules: &'m [Place]) -> Option<[&'m [Place]; 2]> {
        let mut own = [modules; 2];
        for (own, file) in own.iter_mut().zip(&self.files) {
            let number = file.of(Kind::Modules).items as usize;
            (*own, modules) = modules.split_at_checked(number)?;
        }
        Some(own)
    }

    /// Phase 2: finds all forests, the first file's before the second's. Their number.
    fn find_forests<E>(
        &self,
        modules: &[Place],
        pieces: &mut [Piece],
    ) -> Result<usize, AddError<E>> {
        let own = self.modules_of(modules).ok_or(AddError::Room)?;
        let mut count = 0;
        // As they are written: sections one after the other.
        for kind in Kind::FORESTS {
            for ((file, own), is_second) in self.files.iter().zip(own).zip([false, true]) {
                let section = file.of(kind);
                section.read::<AddError<E>>(|cursor| {
                    let piece = read_piece(cursor, kind, own, section.at)?;
                    *pieces.get_mut(count).ok_or(AddError::Room)? = Piece { is_second, ..piece };
                    count += 1;
                    Ok(())
                })?;
            }
        }
        Ok(count)
    }

    /// Phase 4: adds up the trees of both files.
    fn write_contexts<S: Sink>(
        &self,
        modules: &[Place],
        mut tree: Tree<'_>,
        encoder: &mut Encoder<S>,
    ) -> Result<(), AddError<S::Error>> {
        let own = self.modules_of(modules).ok_or(AddError::Room)?;
        for (file, own) in self.files.iter().zip(own) {
            file.of(Kind::Contexts).read(|cursor| tree.add(cursor, own))?;
        }
        tree.write(encoder)
    }

    /// Phase 3, for a function with several forests: writes them as one.
    fn write_sum<S: Sink>(
        &self,
        head: &Piece,
        pieces: &[Piece],
        nodes: &mut [Node],
        slots: &mut [u32],
        encoder: &mut Encoder<S>,
    ) -> Result<(), AddError<S::Error>> {
        let members = || Members { pieces, next: Some(head) };
        let count = members().fold(0, |sum: usize, piece| sum.saturating_add(piece.nodes));
        let mut trie = Trie::new(nodes, slots, count).ok_or(AddError::Room)?;
        let mut sum = ForestHeader { totals: Totals::default(), ..head.header };
        for piece in members() {
            let own = &piece.header;
            let mut cursor = self.nodes_of(piece);
            if own.k != sum.k {
                return Err(ReadError::from(other_k(cursor.at())).into());
            }
            if piece.is_slabs != head.is_slabs {
                return Err(ReadError::from(other_counters(cursor.at())).into());
            }
            sum.totals.add_saturating(own.totals);
            match piece.is_slabs {
                true => add_slabs(&mut trie, &mut cursor, own)?,
                false => add_windows(&mut trie, &mut cursor, own)?,
            }
        }
        match head.is_slabs {
            true => write_slabs(&trie, &sum, encoder),
            false => write_windows(&trie, &sum, encoder),
        }
        .map_err(AddError::Sink)
    }

    /// The nodes of a forest.
    fn nodes_of(&self, piece: &Piece) -> Cursor<'a> {
        let [first, second] = &self.files;
        let file = if piece.is_second { second } else { first };
        file.of(piece.kind()).part(piece.start..piece.end)
    }
}

impl Piece {
    fn kind(&self) -> Kind {
        if self.is_slabs { Kind::Slabs } else { Kind::Windows }
    }
}

/// Reads a forest, of whose file the modules have these places in the sum.
fn read_piece<E>(
    cursor: &mut Cursor<'_>,
    kind: Kind,
    modules: &[Place],
    section: usize,
) -> Result<Piece, AddError<E>> {
    let mut header = ForestHeader::read(cursor, modules.len() as u32)?;
    header.module = modules.get(header.module as usize).ok_or(AddError::Room)?.place;
    let start = cursor.at() - section;
    let is_slabs = kind == Kind::Slabs;
    let nodes = match is_slabs {
        true => slabs::walk(cursor, header.k, |_| Ok::<_, ReadError>(()))?,
        false => windows::walk(cursor, &header, |_| Ok::<_, ReadError>(()))?,
    };
    let end = cursor.at() - section;
    Ok(Piece { header, is_slabs, start, end, nodes, ..Piece::default() })
}

fn add_slabs<E>(
    trie: &mut Trie<'_>,
    cursor: &mut Cursor<'_>,
    header: &ForestHeader,
) -> Result<(), AddError<E>> {
    let mut way = [Trie::top(Top::Known); LEVELS + 1];
    slabs::walk(cursor, header.k, |node| {
        let mut add = || {
            let parent = way.get(node.level).copied()?;
            *way.get_mut(node.level + 1)? = trie.add(parent, node.label, node.count)?;
            Some(())
        };
        add().ok_or(AddError::Room)
    })?;
    Ok(())
}

fn add_windows<E>(
    trie: &mut Trie<'_>,
    cursor: &mut Cursor<'_>,
    header: &ForestHeader,
) -> Result<(), AddError<E>> {
    let mut window = Trie::top(Top::Known);
    windows::walk(cursor, header, |part| {
        let mut add = || {
            match part {
                Part::State(state) => {
                    let top = if state.is_anchored { Top::Anchored } else { Top::Known };
                    let mut labels = state.labels().iter();
                    window =
                        labels.try_fold(Trie::top(top), |at, &label| trie.add(at, label, 0))?;
                }
                Part::Path { label, count } => _ = trie.add(window, label, count)?,
            }
            Some(())
        };
        add().ok_or(AddError::Room)
    })?;
    Ok(())
}

fn write_slabs<S: Sink>(
    trie: &Trie<'_>,
    header: &ForestHeader,
    encoder: &mut Encoder<S>,
) -> Result<(), S::Error> {
    let top = Trie::top(Top::Known);
    encoder.slabs(header, trie.children(top).count() as u32)?;
    for node in trie.preorder(top).skip(1) {
        let (label, count) = trie.counter(node);
        encoder.node(label, count, trie.children(node).count() as u32)?;
    }
    Ok(())
}

fn write_windows<S: Sink>(
    trie: &Trie<'_>,
    header: &ForestHeader,
    encoder: &mut Encoder<S>,
) -> Result<(), S::Error> {
    encoder.windows(header)?;
    for top in Top::ALL {
        for window in trie.preorder(Trie::top(top)) {
            let paths =
                || trie.children(window).map(|id| trie.counter(id)).filter(|path| path.1 != 0);
            if paths().next().is_none() {
                continue;
            }
            let mut labels = [0; LEVELS];
            let length = trie.labels(window, &mut labels);
            let labels = labels.get(..length).unwrap_or_default();
            encoder.group(top == Top::Anchored, labels.iter().copied())?;
            for (label, count) in paths() {
                encoder.path(label, count)?;
            }
            encoder.end()?;
        }
    }
    encoder.end()
}

/// The forests of one function.
struct Members<'a> {
    pieces: &'a [Piece],
    next: Option<&'a Piece>,
}

impl<'a> Iterator for Members<'a> {
    type Item = &'a Piece;

    fn next(&mut self) -> Option<&'a Piece> {
        let piece = self.next?;
        self.next = self.pieces.get((piece.next as usize).wrapping_sub(1));
        Some(piece)
    }
}

/// Chains the forests of each function behind the first of them. `None`: there are too few slots.
fn chain(pieces: &mut [Piece], slots: &mut [u32]) -> Option<()> {
    let size = pieces.len().checked_mul(2)?.checked_next_power_of_two()?;
    let slots = slots.get_mut(..size)?;
    slots.fill(0);
    for index in 0..pieces.len() {
        let (before, rest) = pieces.split_at_mut_checked(index)?;
        let piece = rest.first_mut()?;
        let function = |piece: &Piece| (piece.header.module, piece.header.key);
        let own = function(piece);
        let mut hash = mix64(piece.header.key ^ u64::from(piece.header.module)) as usize;
        loop {
            let slot = slots.get_mut(hash & (size - 1))?;
            let Some(head) = before.get_mut((*slot as usize).wrapping_sub(1)) else {
                *slot = u32::try_from(index + 1).ok()?;
                piece.is_head = true;
                break;
            };
            if function(head) == own {
                piece.next = head.next;
                head.next = u32::try_from(index + 1).ok()?;
                break;
            }
            hash = hash.wrapping_add(1);
        }
    }
    Some(())
}
