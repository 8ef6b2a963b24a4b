//! The section of windows: counters of the windows of paths of a function, by what comes before the
//! last path.
//!
//! A group is the paths that have followed one window of a state: the counter of a path is that of
//! the window with the path behind it. In the file a group is
//!
//! ```text
//! 1 + 2 · number of labels + (1 if the window is anchored at ∗)
//! the labels, first to last
//! for each path: its ID + 1, and its counter
//! 0
//! ```
//!
//! and behind the last group stands another 0.

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::header::ForestHeader;
use super::sections::Kind;
use crate::cursor::Cursor;
use midflight_abi::MAX_K;

/// Labels that the window of a group has at most.
const MOST_LABELS: usize = MAX_K as usize - 1;

/// The window of a state.
pub(super) struct State {
    labels: [u32; MOST_LABELS],
    length: usize,
    /// Whether the activation began with it.
    pub is_anchored: bool,
}

impl State {
    /// The labels, first to last.
    pub fn labels(&self) -> &[u32] {
        self.labels.get(..self.length).unwrap_or_default()
    }

    /// Whether what came before the window is unknown, for windows of up to `k` paths.
    #[cfg(feature = "alloc")]
    pub fn is_truncated(&self, k: u32) -> bool {
        !self.is_anchored && self.length + 1 < k as usize
    }
}

/// What is read of a function's windows.
pub(super) enum Part<'a> {
    /// A group begins.
    State(&'a State),
    /// A path that followed the window of the group, and how often.
    Path { label: u32, count: u64 },
}

/// Visits all groups of a function; an error of `visit` ends the walk. How many labels and paths
/// there are.
pub(super) fn walk<E: From<ReadError>>(
    cursor: &mut Cursor<'_>,
    header: &ForestHeader,
    mut visit: impl FnMut(Part<'_>) -> Result<(), E>,
) -> Result<usize, E> {
    let mut state = State { labels: [0; MOST_LABELS], length: 0, is_anchored: false };
    let mut nodes = 0;
    loop {
        let at = cursor.at();
        let Some(form) = read_form(cursor)? else { return Ok(nodes) };
        (state.length, state.is_anchored) = ((form / 2) as usize, form % 2 == 1);
        let most = header.k as usize - usize::from(state.is_anchored);
        if state.length >= most {
            return Err(ReadError::TooDeep { at, k: header.k }.into());
        }
        for label in state.labels.iter_mut().take(state.length) {
            *label = cursor.varint32("a label of a window").map_err(ReadError::from)?;
        }
        visit(Part::State(&state))?;
        nodes += state.length;
        while let Some(label) = read_label(cursor)? {
            let count = cursor.varint("a window's count").map_err(ReadError::from)?;
            visit(Part::Path { label, count })?;
            nodes += 1;
        }
    }
}

fn read_form(cursor: &mut Cursor<'_>) -> Result<Option<u32>, ReadError> {
    Ok(cursor.varint32("the length of a window")?.checked_sub(1))
}

fn read_label(cursor: &mut Cursor<'_>) -> Result<Option<u32>, ReadError> {
    let too_large = cursor.malformed("a path behind a window", "is 2^32 or more");
    let label = cursor.varint("a path behind a window")?.checked_sub(1);
    label.map(|label| u32::try_from(label).map_err(|_| too_large.into())).transpose()
}

impl<S: Sink> Encoder<S> {
    /// Begins the windows of a function. Groups follow, and [`Self::end`].
    ///
    /// # Errors
    /// Those of the sink.
    pub fn windows(&mut self, header: &ForestHeader) -> Result<(), S::Error> {
        self.forest_header(Kind::Windows, header)
    }

    /// Begins a group: the paths that followed a window of fewer than k paths, of fewer than k − 1
    /// if it is anchored. Paths follow, and [`Self::end`].
    ///
    /// # Errors
    /// Those of the sink.
    pub fn group(
        &mut self,
        is_anchored: bool,
        labels: impl ExactSizeIterator<Item = u32>,
    ) -> Result<(), S::Error> {
        self.varint(1 + 2 * labels.len() as u64 + u64::from(is_anchored))?;
        labels.into_iter().try_for_each(|label| self.varint(label.into()))
    }

    /// A path that followed the window of the group, and how often.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn path(&mut self, label: u32, count: u64) -> Result<(), S::Error> {
        self.varint(u64::from(label) + 1)?;
        self.varint(count)
    }

    /// Ends the group begun last or, where there is none, the function.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end(&mut self) -> Result<(), S::Error> {
        self.varint(0)
    }
}
