//! Function for function: activations by calling contexts, against those by the path profile of the
//! same stage, and at the stage `early` against clang's own counters of the source.

use crate::error::{Error, Result};
use midflight_profile::format::Profile;
use midflight_profile::table::{ContextTable, FunctionTable};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Activations by function: the translation unit of a local one without its folder, which is what
/// clang's counters have, or nothing for others, and its name. What is counted and never ran has 0.
pub type Entries = BTreeMap<Name, u64>;

/// A function's translation unit, if it is local, and its name.
pub type Name = (String, String);

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Functions that both count and that ran
    pub functions: usize,
    /// Activations of them
    pub activations: u64,
    /// Functions that ran and that only we count
    pub only_ours: Vec<Name>,
    /// Functions that ran and that only the oracle counts
    pub only_theirs: Vec<Name>,
    /// Functions whose counts differ, one line each
    pub wrong: Vec<String>,
}

/// Sums of the contexts of each function.
///
/// # Errors
/// If the profile has a function that has no record.
pub fn of_contexts(tables: &[ContextTable], profile: &Profile) -> Result<Entries> {
    let names = tables.iter().map(|t| (t.key, name_of(&t.unit, &t.name))).collect();
    let contexts = profile.contexts.iter();
    let counts = contexts.flat_map(|all| all.ids().map(|id| (all.function(id).key, all.count(id))));
    sums(&names, counts)
}

/// Entries of a path profile.
///
/// # Errors
/// As for [`of_contexts`].
pub fn of_paths(tables: &[FunctionTable], profile: &Profile) -> Result<Entries> {
    let names = tables.iter().map(|t| (t.key, name_of(&t.unit, &t.name))).collect();
    sums(&names, profile.functions.iter().map(|function| (function.key, function.totals.entries)))
}

fn name_of(unit: &str, name: &str) -> Name {
    (unit.rsplit('/').next().unwrap_or_default().to_string(), name.to_string())
}

/// Functions of one name in several records add up, as inline functions of several units.
fn sums(names: &HashMap<u64, Name>, counts: impl Iterator<Item = (u64, u64)>) -> Result<Entries> {
    let mut entries: Entries = names.values().map(|name| (name.clone(), 0)).collect();
    for (key, count) in counts {
        let name = names.get(&key).ok_or_else(|| Error::Malformed {
            what: "a profile".to_string(),
            problem: format!("the program has no record of its function {key:016x}"),
        })?;
        *entries.entry(name.clone()).or_default() += count;
    }
    Ok(entries)
}

/// Reads what `llvm-profdata merge --text` wrote: for each function a name, with a unit and `:` or
/// `;` before it if it is local, a hash, the number of counters and the counters. The first is that
/// of the function. clang forgets it in constructors that are a `try` block, which is left out: the
/// function has counted, and was never entered.
///
/// # Errors
/// If it is not so.
pub fn of_clang(text: &str) -> Result<Entries> {
    let malformed = |line: &str| Error::Malformed {
        what: "what llvm-profdata wrote".to_string(),
        problem: format!("there are no counters of a function behind '{line}'"),
    };
    let mut entries = Entries::new();
    let (mut last, mut function) = ("", None);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line {
            "# Func Hash:" => function = Some(last),
            "# Counter Values:" => {
                let counters = lines.by_ref().map_while(|line| line.parse::<u64>().ok());
                let counters: Vec<u64> = counters.collect();
                let name = function.take().ok_or_else(|| malformed(line))?;
                let (&entered, others) = counters.split_first().ok_or_else(|| malformed(name))?;
                if entered > 0 || others.iter().all(|&count| count == 0) {
                    let (unit, name) = name.rsplit_once([':', ';']).unwrap_or(("", name));
                    *entries.entry(name_of(unit, name)).or_default() += entered;
                }
            }
            _ if !line.is_empty() => last = line,
            _ => {}
        }
    }
    Ok(entries)
}

/// Compares what both count.
pub fn compare(ours: &Entries, oracle: &Entries) -> Comparison {
    let mut result = Comparison::default();
    for (name, &expected) in oracle {
        match ours.get(name) {
            None if expected > 0 => result.only_theirs.push(name.clone()),
            Some(&count) if count != expected => {
                let line = format!("{}: {count}, and {expected} by the oracle", told(name));
                result.wrong.push(line);
            }
            Some(_) if expected > 0 => {
                result.functions += 1;
                result.activations += expected;
            }
            _ => {}
        }
    }
    let others = ours.iter().filter(|(name, count)| **count > 0 && !oracle.contains_key(*name));
    result.only_ours = others.map(|(name, _)| name.clone()).collect();
    result
}

/// A function as people name it.
pub fn told((unit, name): &Name) -> String {
    if unit.is_empty() { name.clone() } else { format!("{unit}:{name}") }
}

/// True if clang may not count a function: a constructor or destructor of C++, which may have no
/// source, or be a `try` block.
pub fn may_be_uncounted((_, name): &Name) -> bool {
    const KINDS: [&str; 6] = ["C1E", "C2E", "CI2", "D0E", "D1E", "D2E"];
    name.starts_with("_Z") && KINDS.iter().any(|kind| name.contains(kind))
}

/// True if what runs is a copy of a function that is defined elsewhere, which the compiler had for
/// inlining alone: the executable has `symbols`, and not this. Such copies are not instrumented.
pub fn is_copy((unit, name): &Name, symbols: &BTreeSet<String>) -> bool {
    unit.is_empty() && !symbols.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/a/b.c:local
# Func Hash:
24
# Num Counters:
2
# Counter Values:
7
90

main
# Func Hash:
10
# Num Counters:
1
# Counter Values:
1

_ZN1AC2Ev
# Func Hash:
12
# Num Counters:
2
# Counter Values:
0
3

main
# Func Hash:
11
# Num Counters:
1
# Counter Values:
0

";

    fn entries(all: &[(&str, &str, u64)]) -> Entries {
        let entry = |&(unit, name, n): &(&str, &str, u64)| ((unit.into(), name.into()), n);
        all.iter().map(entry).collect()
    }

    #[test]
    fn the_first_counter_is_that_of_the_function() {
        assert_eq!(of_clang(TEXT).unwrap(), entries(&[("b.c", "local", 7), ("", "main", 1)]));
        assert!(of_clang(&TEXT.replace("\n7\n", "\nx\n")).is_err());
        assert!(of_clang(&TEXT.replace("# Func Hash:", "")).is_err());
    }

    #[test]
    fn a_difference_is_told_by_its_function() {
        let oracle = of_clang(TEXT).unwrap();
        assert_eq!(compare(&oracle, &oracle).wrong, Vec::<String>::new());
        assert_eq!(
            (compare(&oracle, &oracle).functions, compare(&oracle, &oracle).activations),
            (2, 8)
        );
        let ours = entries(&[("b.c", "local", 6), ("", "other", 2), ("", "idle", 0)]);
        let result = compare(&ours, &oracle);
        assert_eq!(result.wrong, ["b.c:local: 6, and 7 by the oracle"]);
        let name = |name: &str| (String::new(), name.to_string());
        assert_eq!(result.only_ours, [name("other")]);
        assert_eq!(result.only_theirs, [name("main")]);
    }

    #[test]
    fn only_constructors_and_copies_may_be_uncounted() {
        let name = |name: &str| (String::new(), name.to_string());
        assert!(may_be_uncounted(&name("_ZN1AC2Ev")) && may_be_uncounted(&name("_ZN1AD0Ev")));
        assert!(!may_be_uncounted(&name("_ZN1A3getEv")) && !may_be_uncounted(&name("C2E")));
        let symbols = BTreeSet::from(["main".to_string()]);
        assert!(is_copy(&name("atoi"), &symbols) && !is_copy(&name("main"), &symbols));
        assert!(!is_copy(&("b.c".to_string(), "local".to_string()), &symbols));
    }
}
