//! Contexts that changed alike.
//!
//! If a function is called more often in a context, so are those that it calls. So contexts are
//! taken together with the one above them where they are called as often for each activation there
//! in both profiles; and so are those that only one profile has, where that is so of the one above,
//! too. What changed is then said once, where it begins.

use super::{Both, Node, Side, Sum};
use crate::analysis::interval::Interval;
use crate::commands::compare::diff::SMALL;
use crate::format::numbers::{add, share};

/// What is known of contexts in both profiles.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Activations, without those that have no context
    pub times: [Interval<u64>; 2],
    /// Shares of all activations, whatever those without context were
    pub share: [Interval<f64>; 2],
}

impl Known {
    /// By how much the share is larger in the second profile, for sure; smaller, if negative.
    pub fn more(&self) -> f64 {
        self.share[1].above(self.share[0])
    }

    /// Whether the share may differ, for all that is known.
    pub fn may_differ(&self) -> bool {
        let [a, b] = self.share;
        is_seen(b.most - a.least) || is_seen(a.most - b.least)
    }

    /// Whether all counts are known.
    pub fn is_exact(&self) -> bool {
        self.times.iter().all(Interval::is_exact)
    }

    /// Whether the counts may be the same, but for such a part of them.
    pub fn may_be_same(&self, part: f64) -> bool {
        let [a, b] = self.times;
        let reaches = |low: u64, high: u64| low as f64 <= high as f64 * (1.0 + part);
        reaches(a.least, b.most) && reaches(b.least, a.most)
    }
}

/// Whether a difference of shares is large enough to be shown.
pub fn is_seen(difference: f64) -> bool {
    100.0 * difference >= SMALL
}

/// Contexts that changed alike.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The place of the topmost
    pub node: usize,
    /// What is known of them all
    pub known: Known,
    /// How many are below the topmost
    pub below: usize,
}

/// What is known of a context.
pub fn known(both: &Both<'_, '_>, node: &Node) -> Known {
    let mut sums = [Sum::default(); 2];
    sums.iter_mut().zip(node.sides).for_each(|(sum, side)| sum.add(side));
    known_of(both, sums)
}

/// What is known of contexts, added up.
fn known_of(both: &Both<'_, '_>, sums: [Sum; 2]) -> Known {
    let of = |side: usize| {
        let all = both.known(side, sums[side]);
        // Those without context are of no context in particular.
        let most = all.most.saturating_sub(both.documents[side].elsewhere);
        (Interval::new(all.least, most), both.share(side, all))
    };
    let [a, b] = [of(0), of(1)];
    Known { times: [a.0, b.0], share: [a.1, b.1] }
}

/// For each context the topmost of those that changed like it; itself, if that is the topmost. None
/// for those that are not asked for, nor below one that is.
pub fn heads(both: &Both<'_, '_>, own: &[Known], is_in: &[bool]) -> Vec<Option<usize>> {
    let within = within(both);
    let mut heads: Vec<Option<usize>> = vec![None; both.nodes.len()];
    for (index, node) in both.nodes.iter().enumerate() {
        let alike = node.parent.filter(|&parent| {
            both.is_nested()
                && are_alike(both, [parent, index], [&own[parent], &own[index]], &within)
        });
        let head = alike.and_then(|parent| heads[parent]);
        heads[index] = head.or(is_in[index].then_some(index));
    }
    heads
}

/// Activations in each context and below it in both profiles, for certain.
fn within(both: &Both<'_, '_>) -> Vec<[u64; 2]> {
    let least = |side: Option<Side>| side.map_or(0, |side| side.times.least);
    let mut sums: Vec<[u64; 2]> = both.nodes.iter().map(|node| node.sides.map(least)).collect();
    for (index, node) in both.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            let own = sums[index];
            sums[parent].iter_mut().zip(own).for_each(|(sum, own)| add(sum, own));
        }
    }
    sums
}

/// Whether a context changed like the one above it, but for what is too small to be shown.
fn are_alike(
    both: &Both<'_, '_>,
    [above, below]: [usize; 2],
    known: [&Known; 2],
    within: &[[u64; 2]],
) -> bool {
    let [above, one] = [above, below].map(|index| both.nodes[index].only());
    let activations = both.documents.map(|document| document.activations);
    match (above, one) {
        (Some(_), _) => true,
        (None, Some(side)) => !is_seen(share(within[below][side], activations[side])),
        (None, None) => {
            let [above, own] = known.map(|known| known.times.map(|times| times.least as f64));
            let parts = activations.map(|all| all.max(1) as f64);
            let expected = match above {
                // How often it is called each time is not known.
                [a, b] if a == 0.0 || b == 0.0 => own[0] / parts[0],
                [a, b] => own[0] * (b / a) / parts[1],
            };
            !is_seen((own[1] / parts[1] - expected).abs())
        }
    }
}

/// What changed alike, added up.
pub fn added_up(both: &Both<'_, '_>, heads: &[Option<usize>]) -> Vec<Change> {
    struct Group {
        node: usize,
        sums: [Sum; 2],
        contexts: usize,
    }
    let mut places = vec![0; both.nodes.len()];
    let mut groups: Vec<Group> = Vec::new();
    for (index, (node, head)) in both.nodes.iter().zip(heads).enumerate() {
        let Some(head) = *head else { continue };
        if head == index {
            places[index] = groups.len();
            groups.push(Group { node: index, sums: [Sum::default(); 2], contexts: 0 });
        }
        let group = &mut groups[places[head]];
        group.sums.iter_mut().zip(node.sides).for_each(|(sum, side)| sum.add(side));
        group.contexts += 1;
    }
    let change = |Group { node, sums, contexts }| Change {
        node,
        known: known_of(both, sums),
        below: contexts - 1,
    };
    groups.into_iter().map(change).collect()
}
