//! The k-IPF as a tree, pruned: as thesis Fig. 6.2 draws it, `X%(Y%)` on each edge.

use crate::analysis::rank::Ranked;
use crate::format::numbers::grouped;
use midflight_profile::forest::{NodeId, PrefixForest};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Writes the trees of the function's paths. Children with less than `min_percent` of their parent
/// or of their root are left out.
pub fn write(
    text: &mut String,
    ranked: &Ranked<'_>,
    ipf: &PrefixForest,
    letters: &FxHashMap<u32, String>,
    min_percent: f64,
) {
    for path in &ranked.paths {
        let Some(root) = ipf.child(None, path.id) else { continue };
        if percent(path.count, ranked.paths.iter().map(|p| p.count).sum()) < min_percent {
            continue;
        }
        let _ = writeln!(text, "      {} {}×", name(letters, path.id), grouped(path.count));
        let mut stack: Vec<(NodeId, usize)> = vec![(root, 0)];
        while let Some((node, depth)) = stack.pop() {
            if depth > 0 {
                let (count, parent) = (ipf.count(node), ipf.parent(node));
                let of_parent = percent(count, parent.map_or(0, |p| ipf.count(p)));
                let of_root = percent(count, ipf.count(root));
                let indent = depth * 2;
                let _ = writeln!(
                    text,
                    "      {:indent$}└ {} {of_parent:.1}%({of_root:.1}%)",
                    "",
                    name(letters, ipf.label(node)),
                );
            }
            let mut children: Vec<NodeId> = ipf
                .children(node)
                .filter(|&c| {
                    percent(ipf.count(c), ipf.count(node)) >= min_percent
                        && percent(ipf.count(c), ipf.count(root)) >= min_percent
                })
                .collect();
            children.sort_by_key(|&c| (ipf.count(c), std::cmp::Reverse(ipf.label(c))));
            stack.extend(children.into_iter().map(|c| (c, depth + 1)));
        }
    }
}

fn name(letters: &FxHashMap<u32, String>, id: u32) -> &str {
    letters.get(&id).map_or("?", String::as_str)
}

/// `part` of `whole` in percent; 0 of nothing.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
