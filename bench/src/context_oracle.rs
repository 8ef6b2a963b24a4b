//! Context for context: the calling context tree of a profile against that of an oracle, which
//! keeps a stack of its own and asks the unwinder (`bench/oracle/contexts.c`).

use crate::error::{Error, Result};
use midflight_profile::format::{ContextId, Contexts};
use std::collections::BTreeMap;

/// Activations by context: for each function from the root on its key, and the slot that it was
/// called from.
pub type Tree = BTreeMap<Vec<(u64, u32)>, u64>;

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Contexts of the oracle
    pub contexts: usize,
    /// Activations in them
    pub activations: u64,
    /// Contexts whose counts differ, one line each
    pub wrong: Vec<String>,
}

/// Reads what the oracle wrote: in preorder lines of a depth, a key in hex, a slot and a count.
///
/// # Errors
/// At the first line that is not so.
pub fn parse(text: &str) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut path = Vec::new();
    for line in text.lines() {
        let parsed = parse_line(line).filter(|&(depth, ..)| depth <= path.len());
        let (depth, key, slot, count) = parsed.ok_or_else(|| Error::Malformed {
            what: "what the context oracle wrote".to_string(),
            problem: format!("the line '{line}' is not a depth, a key, a slot and a count"),
        })?;
        path.truncate(depth);
        path.push((key, slot));
        *tree.entry(path.clone()).or_default() += count;
    }
    Ok(tree)
}

fn parse_line(line: &str) -> Option<(usize, u64, u32, u64)> {
    let mut words = line.split(' ');
    let depth = words.next()?.parse().ok()?;
    let key = u64::from_str_radix(words.next()?, 16).ok()?;
    Some((depth, key, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The same of a profile.
pub fn tree_of(contexts: &Contexts) -> Tree {
    let step = |id: ContextId| (contexts.function(id).key, contexts.site(id));
    let mut path = Vec::new();
    let mut tree = Tree::new();
    for (id, depth) in contexts.preorder() {
        path.truncate(depth as usize);
        path.push(step(id));
        *tree.entry(path.clone()).or_default() += contexts.count(id);
    }
    tree
}

/// Compares two trees. `name` tells what a key is called.
pub fn compare(ours: &Tree, oracle: &Tree, name: impl Fn(u64) -> String) -> Comparison {
    let mut result = Comparison {
        contexts: oracle.len(),
        activations: oracle.values().sum(),
        ..Comparison::default()
    };
    let told = |path: &[(u64, u32)]| {
        let steps = path.iter().map(|&(key, slot)| format!("{}@{slot}", name(key)));
        steps.collect::<Vec<_>>().join(" > ")
    };
    for (path, &expected) in oracle {
        let count = ours.get(path).copied().unwrap_or(0);
        if count != expected {
            result.wrong.push(format!("{}: {count}, and {expected} by the oracle", told(path)));
        }
    }
    let unknown = ours.iter().filter(|(path, count)| **count != 0 && !oracle.contains_key(*path));
    result.wrong.extend(unknown.map(|(path, count)| format!("{}: {count}, and none", told(path))));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_by_its_context() {
        let oracle = parse("0 0a 0 1\n1 0b 2 5\n1 0c 3 4\n0 0b 0 7\n").unwrap();
        assert_eq!(oracle[&vec![(10, 0), (12, 3)]], 4);
        let name = |key: u64| format!("f{key}");
        assert_eq!(compare(&oracle, &oracle, name).wrong, Vec::<String>::new());
        let mut ours = oracle.clone();
        ours.insert(vec![(10, 0), (11, 2)], 6);
        ours.insert(vec![(12, 0)], 1);
        let wrong = compare(&ours, &oracle, name).wrong;
        assert_eq!(wrong, ["f10@0 > f11@2: 6, and 5 by the oracle", "f12@0: 1, and none"]);
    }

    #[test]
    fn lines_that_skip_a_level_are_refused() {
        assert!(parse("1 0a 0 1").is_err());
        assert!(parse("0 0a 0").is_err());
    }
}
