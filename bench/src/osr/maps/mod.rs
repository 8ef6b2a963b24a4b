//! `midflight-bench osr maps`: mappings between a function and what passes make of it (thesis 5.4).
//!
//! | question | module |
//! |---|---|
//! | What do the hot functions look like, beside the thesis's tables? | [`functions`], [`thesis`] |
//! | And whole programs, pass by pass, or under other passes, and where they run? | [`pipelines`], [`modules`] |
//! | How long does it take? | [`time`](mod@time) |
//! | Can they be woven under each pipeline? | [`woven`](mod@woven) |

pub mod functions;
pub mod mapping;
pub mod modules;
pub mod pipelines;
pub mod thesis;
pub mod time;
pub mod woven;

use crate::error::{Result, read, write};
use crate::layout::Layout;
use crate::tally::Tally;
use std::path::Path;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// The hot functions
    Functions,
    /// Whole modules, pass by pass and under other passes
    Pipelines,
    /// Whole programs, points by how often they ran
    Executed,
    /// How long it takes, with the first LLVM
    Time,
    /// Whole programs are woven under each pipeline, which only has to work
    Woven,
}

/// How to look at it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// What
    pub what: Vec<What>,
    /// Pipelines of whole modules; all if there are none
    pub only: Vec<String>,
    /// Programs that are woven
    pub programs: Vec<String>,
    /// Rounds of a measurement
    pub rounds: usize,
}

/// The report, in Markdown, and whether everything could be mapped.
///
/// # Errors
/// If something cannot be compiled, or not be measured.
pub fn maps(layout: &Layout, plan: &Plan) -> Result<(String, Tally)> {
    let (mut parts, mut tally) = (Vec::new(), Tally::default());
    for what in &plan.what {
        for &llvm in &plan.llvm {
            match what {
                What::Functions => parts.push(functions::functions(layout, llvm, &mut tally)?),
                What::Pipelines => {
                    let text = pipelines::pipelines(layout, llvm, &plan.only, &mut tally)?;
                    parts.push(text);
                }
                What::Executed => {
                    parts.push(pipelines::executed(layout, llvm, &plan.only, &mut tally)?);
                }
                What::Time if Some(&llvm) == plan.llvm.first() => {
                    parts.push(time::time(layout, llvm, plan.rounds)?);
                    tally.check("time", None);
                }
                What::Time => {}
                What::Woven => woven::woven(layout, llvm, &plan.programs, &mut tally)?,
            }
        }
    }
    Ok((parts.join("\n"), tally))
}

/// What is above this line of a document was written by hand, and stays.
const MARK: &str = "<!-- What follows is made by `midflight-bench osr maps --write`. -->\n";

/// Puts the report into a document, in place of the former one.
///
/// # Errors
/// If it cannot be read or written.
pub fn renew(document: &Path, text: &str) -> Result<()> {
    let former = if document.exists() { read(document)? } else { Vec::new() };
    write(document, renewed(&String::from_utf8_lossy(&former), text).as_bytes())
}

fn renewed(former: &str, text: &str) -> String {
    let above = former.split_once(MARK).map_or("", |(above, _)| above);
    format!("{above}{MARK}\n{text}")
}

/// A share in percent, rounded down, so that 100.0 means all.
fn share(part: u64, of: u64) -> String {
    if of == 0 {
        return "–".to_string();
    }
    let tenths = u128::from(part) * 1000 / u128::from(of);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_a_hundred_percent() {
        assert_eq!(share(9999, 10000), "99.9");
        assert_eq!(share(3, 3), "100.0");
        assert_eq!(share(0, 0), "–");
    }

    #[test]
    fn what_was_written_by_hand_stays() {
        let first = renewed("", "tables\n");
        assert_eq!(
            renewed(&format!("# Title\n\n{first}"), "new\n"),
            format!("# Title\n\n{MARK}\nnew\n")
        );
    }
}
