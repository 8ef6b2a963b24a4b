//! Adding two profile files up without allocating.
//!
//! This is how many processes share one file: each adds what it has counted to what is there. It is
//! for the runtime library, which has no allocator and must not panic, so all memory is the
//! caller's ([`Room`]). [`Profile::merge`](super::Profile::merge) gives the same sums, and is the
//! oracle of the tests.
//!
//! Three phases: modules of both files are written, each signature once; forests are found and
//! those of one function chained; then each chain is written, a single forest byte for byte as it
//! was, several as one forest, their counts added node by node ([`trie`]).

mod trie;

use super::encoder::{Encoder, ForestHeader, Sink};
use super::error::ReadError;
use super::header::{HEADER_SIZE, Header, LEAST_NODE};
use crate::checksum::mix64;
use crate::cursor::{Cursor, Malformed};
use crate::max_levels;
use midflight_abi::MAX_K;
pub use trie::Node;
use trie::Trie;

/// Levels that a forest has at most.
const LEVELS: usize = max_levels(MAX_K) as usize;

/// Bytes that a module takes at least: its signature and the length of its path.
const LEAST_MODULE: usize = 9;

/// Bytes that a forest takes at least.
const LEAST_FOREST: usize = 15;

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
    /// Place of the module in the sum
    module: u32,
    key: u64,
    k: u32,
    roots: u32,
    entries: u64,
    restarts: u64,
    lost: u64,
    pruned: u64,
    is_second: bool,
    /// Bounds of the nodes in the payload, and their number
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
    /// Of [`Room::slots`]
    pub slots: usize,
}

/// Two whole and undamaged files.
pub struct Pair<'a> {
    files: [(Header, &'a [u8]); 2],
}

impl<'a> Pair<'a> {
    /// Two files to be added up.
    ///
    /// # Errors
    /// [`ReadError`] if one is damaged, or no profile of a known version.
    pub fn new(first: &'a [u8], second: &'a [u8]) -> Result<Self, ReadError> {
        Ok(Pair { files: [Header::read(first)?, Header::read(second)?] })
    }

    /// How much room it takes: no more than a multiple of the files' sizes.
    pub fn needs(&self) -> Needs {
        let sum = |least: usize, of: fn(&Header) -> u32| -> usize {
            let within = |(header, payload): &(Header, &[u8])| {
                usize::try_from(of(header)).unwrap_or(usize::MAX).min(payload.len() / least)
            };
            self.files.iter().map(within).fold(0, usize::saturating_add)
        };
        let pieces = sum(LEAST_FOREST, |header| header.forests);
        // The root above all roots is one more.
        let nodes = sum(LEAST_NODE, |_| u32::MAX).saturating_add(1);
        let slots = pieces.max(nodes).saturating_mul(2).checked_next_power_of_two();
        let modules = sum(LEAST_MODULE, |header| header.modules);
        Needs { modules, pieces, nodes, slots: slots.unwrap_or(usize::MAX) }
    }

    /// Writes the payload of the sum, and returns its header, as [`Encoder`] does.
    ///
    /// # Errors
    /// [`AddError`]; what was written is of no use then.
    pub fn write<S: Sink>(
        &self,
        room: Room<'_>,
        sink: S,
    ) -> Result<[u8; HEADER_SIZE], AddError<S::Error>> {
        let mut encoder = Encoder::new(sink);
        let Room { modules, pieces, nodes, slots } = room;
        let starts = self.write_modules(modules, &mut encoder)?;
        let count = self.find_forests(starts, modules, pieces)?;
        let pieces = pieces.get_mut(..count).ok_or(AddError::Room)?;
        chain(pieces, slots).ok_or(AddError::Room)?;
        for piece in pieces.iter().filter(|piece| piece.is_head) {
            match pieces.get((piece.next as usize).wrapping_sub(1)) {
                None => {
                    encoder.forest(&piece.header()).map_err(AddError::Sink)?;
                    encoder.nodes(self.bytes_of(piece)).map_err(AddError::Sink)?;
                }
                Some(_) => self.write_sum(piece, pieces, nodes, slots, &mut encoder)?,
            }
        }
        Ok(encoder.finish(self.files.iter().fold(0, |flags, (header, _)| flags | header.flags)))
    }

    /// Phase 1: writes the modules of both files. Where the forests of each begin.
    fn write_modules<S: Sink>(
        &self,
        modules: &mut [Place],
        encoder: &mut Encoder<S>,
    ) -> Result<[usize; 2], AddError<S::Error>> {
        let (mut known, mut places) = (0, 0);
        let mut starts = [0; 2];
        for ((header, payload), start) in self.files.iter().zip(&mut starts) {
            let mut cursor = Cursor::new(payload, HEADER_SIZE);
            for _ in 0..header.modules {
                let signature = cursor.fixed64("a module's signature").map_err(read)?;
                let len = cursor.varint("the length of a module's name").map_err(read)?;
                let name = cursor.bytes(len, "a module's name").map_err(read)?;
                let (before, rest) = modules.split_at_mut_checked(known).ok_or(AddError::Room)?;
                let same = before.iter().find(|module| module.signature == signature);
                let place = same.map_or(places, |module| module.place);
                *rest.first_mut().ok_or(AddError::Room)? = Place { signature, place };
                known += 1;
                if place == places {
                    encoder.module(signature, name).map_err(AddError::Sink)?;
                    places += 1;
                }
            }
            *start = payload.len() - cursor.rest().len();
        }
        Ok(starts)
    }

    /// Phase 2: finds all forests, the first file's before the second's. Their number.
    fn find_forests<E>(
        &self,
        starts: [usize; 2],
        modules: &[Place],
        pieces: &mut [Piece],
    ) -> Result<usize, AddError<E>> {
        let mut count = 0;
        let mut modules = modules;
        for (second, ((header, payload), start)) in self.files.iter().zip(starts).enumerate() {
            let own = modules.get(..header.modules as usize).ok_or(AddError::Room)?;
            let forests = payload.get(start..).unwrap_or_default();
            let mut cursor = Cursor::new(forests, HEADER_SIZE + start);
            for _ in 0..header.forests {
                let mut piece = Piece { is_second: second == 1, ..Piece::default() };
                read_forest(&mut cursor, own, payload.len(), &mut piece)?;
                *pieces.get_mut(count).ok_or(AddError::Room)? = piece;
                count += 1;
            }
            if !cursor.rest().is_empty() {
                let what = cursor.malformed("the payload", "goes on after the last forest");
                return Err(read(what));
            }
            modules = modules.get(header.modules as usize..).unwrap_or_default();
        }
        Ok(count)
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
        let mut sum = ForestHeader { entries: 0, restarts: 0, lost: 0, pruned: 0, ..head.header() };
        for piece in members() {
            if piece.k != head.k {
                let problem = "is not that of the function's others";
                return Err(read(Malformed { what: "a forest's k", at: piece.start, problem }));
            }
            sum.entries = sum.entries.saturating_add(piece.entries);
            sum.restarts = sum.restarts.saturating_add(piece.restarts);
            sum.lost = sum.lost.saturating_add(piece.lost);
            sum.pruned = sum.pruned.saturating_add(piece.pruned);
            let mut cursor = Cursor::new(self.bytes_of(piece), HEADER_SIZE + piece.start);
            let mut way = [0; LEVELS + 1];
            walk(&mut cursor, piece.roots as usize, piece.k, |level, label, count| {
                let parent = way.get(level).copied()?;
                let node = trie.add(parent, label, count)?;
                *way.get_mut(level + 1)? = node;
                Some(())
            })?;
        }
        sum.roots = trie.children(Trie::TOP);
        encoder.forest(&sum).map_err(AddError::Sink)?;
        for (label, count, children) in trie.preorder() {
            encoder.node(label, count, children).map_err(AddError::Sink)?;
        }
        Ok(())
    }

    /// The nodes of a forest.
    fn bytes_of(&self, piece: &Piece) -> &'a [u8] {
        let [(_, first), (_, second)] = self.files;
        let payload = if piece.is_second { second } else { first };
        payload.get(piece.start..piece.end).unwrap_or_default()
    }
}

impl Piece {
    fn header(&self) -> ForestHeader {
        let Piece { module, key, k, entries, restarts, lost, pruned, roots, .. } = *self;
        ForestHeader { module, key, k, entries, restarts, lost, pruned, roots }
    }
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

fn read<E>(malformed: Malformed) -> AddError<E> {
    AddError::Read(malformed.into())
}

/// Reads a forest of a payload of `size` bytes, and goes over its nodes.
fn read_forest<E>(
    cursor: &mut Cursor<'_>,
    modules: &[Place],
    size: usize,
    piece: &mut Piece,
) -> Result<(), AddError<E>> {
    let no_module = cursor.malformed("a forest's module", "is not there");
    let module = cursor.varint32("a forest's module").map_err(read)?;
    piece.module = modules.get(module as usize).ok_or(read(no_module))?.place;
    piece.key = cursor.fixed64("a forest's key").map_err(read)?;
    piece.k = cursor.varint32("a forest's k").map_err(read)?;
    if !(1..=MAX_K).contains(&piece.k) {
        return Err(AddError::Read(ReadError::K(piece.k)));
    }
    piece.entries = cursor.varint("a forest's entries").map_err(read)?;
    piece.restarts = cursor.varint("a forest's restarts").map_err(read)?;
    piece.lost = cursor.varint("a forest's lost events").map_err(read)?;
    piece.pruned = cursor.varint("a forest's pruned events").map_err(read)?;
    let too_many = cursor.malformed("the number of a forest's roots", "is 2^32 or more");
    let roots = cursor.count(LEAST_NODE, "the number of a forest's roots").map_err(read)?;
    piece.roots = u32::try_from(roots).map_err(|_| read(too_many))?;
    piece.start = size - cursor.rest().len();
    piece.nodes = walk(cursor, roots, piece.k, |_, _, _| Some(()))?;
    piece.end = size - cursor.rest().len();
    Ok(())
}

/// Visits the nodes of a forest in preorder, each with its level, label and count; `None` ends the
/// walk. Their number.
fn walk<E>(
    cursor: &mut Cursor<'_>,
    roots: usize,
    k: u32,
    mut visit: impl FnMut(usize, u32, u64) -> Option<()>,
) -> Result<usize, AddError<E>> {
    // Children to come, of the node that is open on each level.
    let mut open = [0; LEVELS];
    let (mut level, mut nodes) = (0, 0);
    *open.first_mut().ok_or(AddError::Room)? = roots;
    loop {
        let to_come = open.get_mut(level).ok_or(AddError::Room)?;
        let Some(left) = to_come.checked_sub(1) else {
            match level.checked_sub(1) {
                None => return Ok(nodes),
                Some(above) => level = above,
            }
            continue;
        };
        *to_come = left;
        let at = cursor.at();
        let label = cursor.varint32("a node's label").map_err(read)?;
        let count = cursor.varint("a node's count").map_err(read)?;
        let children = cursor.count(LEAST_NODE, "the number of a node's children").map_err(read)?;
        visit(level, label, count).ok_or(AddError::Room)?;
        nodes += 1;
        if children != 0 {
            level += 1;
            let deeper = open.get_mut(level).filter(|_| level < max_levels(k) as usize);
            *deeper.ok_or(AddError::Read(ReadError::TooDeep { at, k }))? = children;
        }
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
        let mut hash = mix64(piece.key ^ u64::from(piece.module)) as usize;
        loop {
            let slot = slots.get_mut(hash & (size - 1))?;
            let Some(head) = before.get_mut((*slot as usize).wrapping_sub(1)) else {
                *slot = u32::try_from(index + 1).ok()?;
                piece.is_head = true;
                break;
            };
            if (head.module, head.key) == (piece.module, piece.key) {
                piece.next = head.next;
                head.next = u32::try_from(index + 1).ok()?;
                break;
            }
            hash = hash.wrapping_add(1);
        }
    }
    Some(())
}
