//! What test suites tell of their tests, each in its own words.

use std::collections::BTreeMap;

/// The words of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// `NAME: RESULT`: there is no right result, only the same
    Lines,
    /// `NAME... Ok`, of SQLite's Tcl tests
    Sqlite,
    /// `test : NAME`, of a script that stops at the first failure
    Zstd,
    /// ctest's summary
    Ctest,
    /// Perl's own `t/TEST`
    Perl,
}

/// The text of a test that has passed.
const PASSED: &str = "ok";

/// What a run of a suite found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The result of each test; a name that comes again has a number
    pub results: BTreeMap<String, String>,
    /// Whether the suite itself says that all is well
    pub is_success: bool,
    /// Whether it says of a single test that it is well; else what is the same is
    knows_right: bool,
}

impl Verdicts {
    /// Reads a suite's output.
    pub fn read(self, output: &str, is_success: bool) -> Found {
        let knows_right = self != Verdicts::Lines;
        let mut found = Found { is_success, knows_right, ..Found::default() };
        let mut again: BTreeMap<&str, u32> = BTreeMap::new();
        for (name, result) in output.lines().filter_map(|line| self.verdict(line)) {
            let times = again.entry(name).and_modify(|n| *n += 1).or_insert(1);
            let name = if *times == 1 { name.to_string() } else { format!("{name} #{times}") };
            found.results.insert(name, result.to_string());
        }
        found
    }

    /// Name and result of the test that a line tells of.
    fn verdict(self, line: &str) -> Option<(&str, &str)> {
        match self {
            Verdicts::Lines => line.split_once(": "),
            Verdicts::Sqlite => match line.strip_prefix("! ") {
                Some(failure) => failure.split_once(" expected: "),
                None => Some((line.strip_suffix("... Ok")?, PASSED)),
            },
            Verdicts::Zstd => Some((line.strip_prefix("test : ")?.trim(), PASSED)),
            Verdicts::Ctest => {
                let (_, test) = line.split_once(" Test ")?;
                let (name, rest) = test.split_once(": ")?.1.split_once(' ')?;
                let result = rest.trim_start_matches(['.', ' ', '*']).split(' ').next()?;
                Some((name, if result == "Passed" { PASSED } else { result }))
            }
            Verdicts::Perl => {
                let (name, rest) = line.split_once(' ')?;
                let result = rest.strip_prefix("..")?.trim_start_matches('.').strip_prefix(' ')?;
                Some((name, result.trim()))
            }
        }
    }
}

impl Found {
    /// How many tests passed, beside those of plain programs.
    pub fn passed(&self, plain: &Found) -> usize {
        let is_right = |(name, result): &(&String, &String)| match self.knows_right {
            true => *result == PASSED,
            false => plain.results.get(*name) == Some(*result),
        };
        self.results.iter().filter(is_right).count()
    }

    /// What is another than in `plain`, for a person; none if all is the same.
    pub fn difference(&self, plain: &Found) -> Option<String> {
        let of = |found: &Found, name: &String| {
            found.results.get(name).map_or("not run".to_string(), String::clone)
        };
        let mut names: Vec<&String> = plain.results.keys().chain(self.results.keys()).collect();
        names.sort();
        names.dedup();
        let differing: Vec<String> = names
            .into_iter()
            .filter(|name| plain.results.get(*name) != self.results.get(*name))
            .map(|name| {
                format!("'{name}' is '{}', and '{}' plainly", of(self, name), of(plain, name))
            })
            .collect();
        let more = differing.len().saturating_sub(SHOWN);
        let mut text = differing[..differing.len() - more].join("; ");
        if more > 0 {
            text += &format!("; and {more} more");
        }
        if differing.is_empty() && self.is_success != plain.is_success {
            text = format!("success is {}, and {} plainly", self.is_success, plain.is_success);
        }
        if plain.results.is_empty() {
            text = "the suite tells of no test".to_string();
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Differences that are shown.
const SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn results(verdicts: Verdicts, output: &str) -> Vec<(String, String)> {
        verdicts.read(output, true).results.into_iter().collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn each_suite_has_its_own_words() {
        let lines = "text 50: 123 45\nother\n";
        assert_eq!(results(Verdicts::Lines, lines), pairs(&[("text 50", "123 45")]));
        let sqlite =
            "a-1.0... Ok\na-1.1...\n! a-1.1 expected: [1]\n! a-1.1 got:      [2]\na-1.0... Ok\n";
        let expected = [("a-1.0", "ok"), ("a-1.0 #2", "ok"), ("a-1.1", "[1]")];
        assert_eq!(results(Verdicts::Sqlite, sqlite), pairs(&expected));
        let zstd = "\n===>  simple tests \ntest : basic compression \n";
        assert_eq!(results(Verdicts::Zstd, zstd), pairs(&[("basic compression", "ok")]));
        let ctest = "      Start 40: other\n 9/45 Test  #9: some_test .......   Passed    0.96 sec\n\
                     10/45 Test #10: bad .............***Failed    1.00 sec\n";
        assert_eq!(
            results(Verdicts::Ctest, ctest),
            pairs(&[("bad", "Failed"), ("some_test", "ok")])
        );
        let perl =
            "base/cond .......... ok\nio/dup . skipped: no fork\nop/x ... FAILED at test 3\nok\n";
        let expected = [("base/cond", "ok"), ("op/x", "FAILED at test 3")];
        assert_eq!(results(Verdicts::Perl, perl), pairs(&expected));
    }

    #[test]
    fn every_difference_is_told() {
        let read = |output, is_success| Verdicts::Perl.read(output, is_success);
        let plain = read("a .. ok\nb .. ok\n", true);
        assert_eq!(plain.passed(&plain), 2);
        assert_eq!(read("a .. ok\nb .. no\n", true).passed(&plain), 1);
        let lines = |output| Verdicts::Lines.read(output, true);
        assert_eq!(lines("a: 1\nb: 2\n").passed(&lines("a: 1\nb: 3\n")), 1);
        assert_eq!(plain.difference(&plain), None);
        let failed = read("a .. ok\nb .. FAILED\n", true).difference(&plain).unwrap();
        assert_eq!(failed, "'b' is 'FAILED', and 'ok' plainly");
        let missing = read("a .. ok\n", true).difference(&plain).unwrap();
        assert_eq!(missing, "'b' is 'not run', and 'ok' plainly");
        assert!(read("a .. ok\nb .. ok\n", false).difference(&plain).is_some());
        let none = Found::default();
        assert!(none.difference(&none).is_some());
    }
}
