//! From a log of blocks to streams of acyclic paths, by the definition (thesis 3.2.2).
//!
//! Nothing of the numbering is used but which edges are cut: an activation's blocks are split into
//! acyclic paths where it took a cut edge.

use crate::error::{Error, Result};
use midflight_profile::table::{CutReason, Edge, FunctionTable};
use std::collections::HashMap;

/// An acyclic path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AcyclicPath {
    /// The cut edge that it begins after; none if it begins at the entry
    pub after: Option<usize>,
    /// Its blocks
    pub blocks: Vec<u32>,
    /// The cut edge that it ends on; none if it ends for good
    pub cut: Option<usize>,
}

/// What an activation's blocks say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Its streams: one, and one more after each return of a call that returns twice
    pub streams: Vec<Vec<AcyclicPath>>,
    /// How often it came to a block where paths end for good: once, and once more for each time
    /// that a call that does not return in fact went back to one that returns twice.
    pub ended: u64,
}

/// The edges of a function, as a replay looks them up.
pub struct Graph {
    edges: HashMap<(u32, u32), (usize, Option<CutReason>)>,
    exits: HashMap<u32, usize>,
    restarts: HashMap<u32, usize>,
}

impl Graph {
    /// The graph of a function.
    pub fn new(table: &FunctionTable) -> Graph {
        let (mut edges, mut exits) = (HashMap::new(), HashMap::new());
        let mut restarts = HashMap::new();
        for (index, edge) in table.edges.iter().enumerate() {
            match *edge {
                Edge::Flow { from, to, .. } => {
                    edges.insert((from, to), (index, None));
                }
                Edge::Cut { from, to, why, .. } => {
                    edges.insert((from, to), (index, Some(why)));
                    if why == CutReason::Restart {
                        restarts.insert(to, index);
                    }
                }
                Edge::Exit { from, .. } => {
                    exits.insert(from, index);
                }
            }
        }
        Graph { edges, exits, restarts }
    }

    /// Splits the blocks of one activation. Its last path is left out if it did not end.
    ///
    /// # Errors
    /// If the activation went where there is no edge.
    pub fn replay(&self, blocks: &[u32]) -> Result<Replayed> {
        let mut streams = vec![Vec::new()];
        let (mut after, mut path, mut last) = (None, Vec::new(), None);
        let mut ended = 0;
        for &block in blocks {
            let step = last.map(|last| (self.edges.get(&(last, block)), last));
            match step {
                None | Some((Some((_, None)), _)) => path.push(block),
                Some((Some(&(edge, Some(why))), _)) => {
                    let blocks = std::mem::replace(&mut path, vec![block]);
                    if let Some(stream) = streams.last_mut() {
                        stream.push(AcyclicPath { after, blocks, cut: Some(edge) });
                    }
                    if why == CutReason::Restart {
                        streams.push(Vec::new());
                    }
                    after = Some(edge);
                }
                Some((None, last)) => {
                    // A call that returns twice returned again; what went before is left out, if
                    // it did not end.
                    let restart = *self.restarts.get(&block).ok_or_else(|| no_edge(last, block))?;
                    let blocks = std::mem::replace(&mut path, vec![block]);
                    ended += self.end(last, AcyclicPath { after, blocks, cut: None }, &mut streams);
                    after = Some(restart);
                    streams.push(Vec::new());
                }
            }
            last = Some(block);
        }
        if let Some(last) = last {
            ended += self.end(last, AcyclicPath { after, blocks: path, cut: None }, &mut streams);
        }
        Ok(Replayed { streams, ended })
    }

    /// Adds a path to the last stream if paths end in its last block. How many were added.
    fn end(&self, last: u32, path: AcyclicPath, streams: &mut [Vec<AcyclicPath>]) -> u64 {
        match streams.last_mut() {
            Some(stream) if self.exits.contains_key(&last) => {
                stream.push(path);
                1
            }
            _ => 0,
        }
    }
}

fn no_edge(from: u32, to: u32) -> Error {
    Error::Malformed {
        what: "the log of blocks".to_string(),
        problem: format!("an activation went from block {from} to {to}, where no edge is"),
    }
}

/// Size in bytes of an event in the log.
const EVENT: usize = 24;

/// Blocks of an activation, with the key of its function.
pub type Activations = HashMap<u64, (u64, Vec<u32>)>;

/// Reads a log: key, activation, block and zero of each event, in this machine's byte order.
///
/// # Errors
/// If it is cut off.
pub fn parse_log(bytes: &[u8]) -> Result<Activations> {
    let events = bytes.chunks_exact(EVENT);
    if !events.remainder().is_empty() {
        return Err(Error::Malformed {
            what: "the log of blocks".to_string(),
            problem: format!("its {} bytes are no whole number of events", bytes.len()),
        });
    }
    let mut activations = Activations::new();
    for event in events {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&event[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        let mut block = [0; 4];
        block.copy_from_slice(&event[16..20]);
        let (_, blocks) = activations.entry(word(8)).or_insert_with(|| (word(0), Vec::new()));
        blocks.push(u32::from_ne_bytes(block));
    }
    Ok(activations)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use midflight_profile::table::{Mode, Stage};

    /// Block 0 enters a loop 1 ⇄ 2, which is left from 1 to 3.
    pub(crate) fn table(why: CutReason) -> FunctionTable {
        FunctionTable {
            key: 7,
            cfg_hash: 0,
            k: 2,
            num_paths: 4,
            stage: Stage::Early,
            mode: Mode::Automaton,
            llvm: 22,
            name: "f".to_string(),
            unit: String::new(),
            files: vec![],
            file: 0,
            line: 0,
            blocks: vec![Default::default(); 4],
            edges: vec![
                Edge::Flow { from: 0, to: 1, value: 0 },
                Edge::Flow { from: 1, to: 2, value: 0 },
                Edge::Flow { from: 1, to: 3, value: 1 },
                Edge::Cut { from: 2, to: 1, end: 0, start: 2, why },
                Edge::Exit { from: 3, value: 0 },
            ],
        }
    }

    fn path(after: Option<usize>, blocks: &[u32], cut: Option<usize>) -> AcyclicPath {
        AcyclicPath { after, blocks: blocks.to_vec(), cut }
    }

    #[test]
    fn blocks_are_split_at_cut_edges() {
        let graph = Graph::new(&table(CutReason::Retreating));
        let replayed = graph.replay(&[0, 1, 2, 1, 2, 1, 3]).unwrap();
        let expected = vec![
            path(None, &[0, 1, 2], Some(3)),
            path(Some(3), &[1, 2], Some(3)),
            path(Some(3), &[1, 3], None),
        ];
        assert_eq!(replayed, Replayed { streams: vec![expected], ended: 1 });
    }

    #[test]
    fn a_path_that_did_not_end_is_left_out() {
        let graph = Graph::new(&table(CutReason::Retreating));
        let replayed = graph.replay(&[0, 1, 2, 1, 2]).unwrap();
        assert_eq!(replayed.streams, [vec![path(None, &[0, 1, 2], Some(3))]]);
        assert_eq!(replayed.ended, 0);
    }

    #[test]
    fn a_call_that_returns_twice_begins_a_stream() {
        let graph = Graph::new(&table(CutReason::Restart));
        let replayed = graph.replay(&[0, 1, 2, 1, 1, 3]).unwrap();
        let (first, rest) = (path(None, &[0, 1, 2], Some(3)), path(Some(3), &[1, 3], None));
        assert_eq!(replayed, Replayed { streams: vec![vec![first], vec![], vec![rest]], ended: 1 });
    }

    #[test]
    fn a_path_that_ended_before_such_a_call_returned_again_is_kept() {
        let graph = Graph::new(&table(CutReason::Restart));
        let replayed = graph.replay(&[0, 1, 2, 1, 3, 1, 3]).unwrap();
        let (first, rest) = (path(None, &[0, 1, 2], Some(3)), path(Some(3), &[1, 3], None));
        let streams = vec![vec![first], vec![rest.clone()], vec![rest]];
        assert_eq!(replayed, Replayed { streams, ended: 2 });
    }

    #[test]
    fn a_step_without_an_edge_is_an_error() {
        let graph = Graph::new(&table(CutReason::Retreating));
        assert!(graph.replay(&[0, 2]).is_err());
    }

    #[test]
    fn a_log_that_is_cut_off_is_an_error() {
        assert!(parse_log(&[0; 24]).is_ok());
        assert!(parse_log(&[0; 23]).is_err());
    }
}
