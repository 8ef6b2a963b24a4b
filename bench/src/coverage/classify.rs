//! Why two line counts differ. Each reason is a test that a machine makes; a difference that none
//! of them explains is a defect until it is understood.

use super::clang::ClangLine;
use super::ours::OurLine;

/// What is known of a line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// clang's count; none if it does not count the line
    pub clang: Option<u64>,
    /// Ours
    pub ours: Option<u64>,
    /// Its text, without blanks around it
    pub text: &'a str,
    /// The line stands in the arguments of a macro, or in the region that begins behind one.
    pub behind_macro: bool,
    /// A count changes from one run of the same program to the next.
    pub unsteady: bool,
    /// clang's regions
    pub regions: &'a ClangLine,
    /// Our blocks
    pub blocks: &'a OurLine,
}

/// Why the counts of a line differ, or that they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// They do not.
    Equal,
    /// clang counts every line inside a region; this one has no code.
    NoCode,
    /// The line has code and is in no region.
    NoRegion,
    /// The program takes other ways from run to run: it hashes addresses, or looks at the time.
    Unsteady,
    /// An activation was left by `exit`, `longjmp` or the like: its last path is not counted.
    /// clang derives the count of a loop's condition from that of its body, as if the body had
    /// ended, so that it may count such an activation twice.
    Interrupted,
    /// A macro is expanded on the line, or the line is in a macro's arguments or in the region that
    /// begins behind it. Its code belongs to the line of its name in debug information; for clang
    /// it is a region of its own, and labels in it are counted with all that falls into them.
    Macro,
    /// The line has several regions or blocks, and one count of the other side is among those of
    /// this side: both are right, and take the maximum over different sets.
    Several,
    /// Nothing but a closing brace: ours is what reaches it, or the code that all returns share;
    /// clang gives the region around it.
    Brace,
    /// The head of a loop without a region for the condition. For `for (;;)` and `while (true)` the
    /// only code is the jump back, and clang gives the body's region, which begins on the line. If
    /// the condition is on another line, the branch on it belongs to the `for`, and clang gives the
    /// region around the loop.
    LoopHead,
    /// Several functions have code of the line: copies of an inline function.
    Copies,
    /// None of these
    Unclassified,
}

/// All reasons, in the order in which they are tried.
pub const REASONS: [Reason; 11] = [
    Reason::Equal,
    Reason::NoCode,
    Reason::NoRegion,
    Reason::Unsteady,
    Reason::Interrupted,
    Reason::Macro,
    Reason::Several,
    Reason::Brace,
    Reason::LoopHead,
    Reason::Copies,
    Reason::Unclassified,
];

impl Reason {
    /// A title for a table.
    pub fn title(self) -> &'static str {
        match self {
            Reason::Equal => "equal",
            Reason::NoCode => "no code",
            Reason::NoRegion => "no region",
            Reason::Unsteady => "unsteady",
            Reason::Interrupted => "interrupted",
            Reason::Macro => "macro",
            Reason::Several => "several",
            Reason::Brace => "brace",
            Reason::LoopHead => "loop head",
            Reason::Copies => "copies",
            Reason::Unclassified => "unclassified",
        }
    }

    /// True if the reason holds for a line.
    fn holds(self, line: &Line<'_>) -> bool {
        let (Some(clang), Some(ours)) = (line.clang, line.ours) else {
            return match self {
                // A line without code has no block; one without a region has no count of clang's.
                Reason::NoCode => line.ours.is_none() && line.blocks.counts.is_empty(),
                Reason::NoRegion => {
                    line.clang.is_none() && (line.regions.counts.is_empty() || line.regions.skipped)
                }
                Reason::Unsteady => line.unsteady,
                Reason::Unclassified => true,
                _ => false,
            };
        };
        match self {
            Reason::Equal => clang == ours,
            Reason::NoCode | Reason::NoRegion => false,
            Reason::Interrupted => clang > ours && clang - ours <= 2 * line.blocks.interrupted,
            Reason::Unsteady => line.unsteady,
            Reason::Macro => line.regions.expansion || line.behind_macro || has_hint(line.text),
            Reason::Several => {
                let (regions, blocks) = (&line.regions.counts, &line.blocks.counts);
                regions.len() + blocks.len() > 2
                    && (regions.contains(&ours) || blocks.contains(&clang))
            }
            Reason::Brace => is_brace(line.text),
            Reason::LoopHead => {
                is_endless(line.text) && ours <= clang || is_open_head(line.text) && ours >= clang
            }
            Reason::Copies => line.blocks.functions > 1,
            Reason::Unclassified => true,
        }
    }
}

/// Braces, and perhaps a comment behind them.
fn is_brace(text: &str) -> bool {
    let code = text.split("/*").next().unwrap_or_default().trim_end();
    let code = code.split("//").next().unwrap_or_default();
    !code.is_empty() && code.chars().all(|c| "};".contains(c) || c.is_whitespace())
}

/// A loop whose parenthesis is not closed on the line.
fn is_open_head(text: &str) -> bool {
    let head = ["for (", "for(", "while (", "while("].iter().any(|head| text.starts_with(head));
    head && text.matches('(').count() > text.matches(')').count()
}

/// A hint to the optimizer, which programs define as a macro. clang maps no expansion for it where
/// the macro comes from a source file that another includes.
fn has_hint(text: &str) -> bool {
    text.contains("likely(")
}

fn is_endless(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    ["for(;;", "while(1)", "while(true)", "do{"].iter().any(|head| text.starts_with(head))
}

/// The first reason that holds.
pub fn classify(line: &Line<'_>) -> Reason {
    REASONS.into_iter().find(|reason| reason.holds(line)).unwrap_or(Reason::Unclassified)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn reason(clang: Option<u64>, ours: Option<u64>, regions: &[u64], blocks: &[u64]) -> Reason {
        let regions = ClangLine { counts: regions.iter().copied().collect(), ..Default::default() };
        let counts: BTreeSet<u64> = blocks.iter().copied().collect();
        let blocks = OurLine { counts, interrupted: 0, functions: 1 };
        classify(&Line {
            clang,
            ours,
            text: "x();",
            behind_macro: false,
            unsteady: false,
            regions: &regions,
            blocks: &blocks,
        })
    }

    #[test]
    fn a_planted_difference_is_not_explained_away() {
        assert_eq!(reason(Some(5), Some(5), &[5], &[5]), Reason::Equal);
        assert_eq!(reason(Some(5), Some(6), &[5], &[6]), Reason::Unclassified);
        assert_eq!(reason(Some(5), Some(4), &[5], &[4]), Reason::Unclassified);
    }

    #[test]
    fn a_line_with_several_regions_must_share_a_count() {
        assert_eq!(reason(Some(5), Some(2), &[5], &[2, 5]), Reason::Several);
        assert_eq!(reason(Some(5), Some(3), &[5, 4], &[3, 1]), Reason::Unclassified);
    }

    #[test]
    fn only_a_line_of_braces_is_a_brace() {
        assert!(is_brace("}") && is_brace("} }  /* end */") && is_brace("};"));
        assert!(!is_brace("} else {") && !is_brace("} while (x);") && !is_brace(""));
    }

    #[test]
    fn a_missing_count_is_explained_by_missing_code_only() {
        assert_eq!(reason(Some(5), None, &[5], &[]), Reason::NoCode);
        assert_eq!(reason(Some(5), None, &[5], &[5]), Reason::Unclassified);
        assert_eq!(reason(None, Some(5), &[], &[5]), Reason::NoRegion);
        assert_eq!(reason(None, Some(5), &[5], &[5]), Reason::Unclassified);
    }
}
