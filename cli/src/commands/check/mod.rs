//! `midflight check`: whether the counts of a profile conserve flow. [`findings`] has what is
//! checked, `flow` checks a function, [`text`] tells what was found.

pub mod findings;
mod flow;
pub mod text;

use crate::commands::CommandError;
use crate::commands::arguments::{Format, Inputs};
use clap::Args;
pub use findings::{Checked, Findings, Violation, check};
use std::process::ExitCode;

pub(crate) const HELP: &str = "\
Of each function: no more paths begin at the entry than activations, no more behind an edge than end
with it, each block is left as often as it is entered, and no sequence is continued more often than it
occurred. What memory was short for is allowed for, and what forked children, resets, pauses and threads
that counted on explain. Exit status: 0 if flow is conserved, else 1.

Examples:
  midflight check prog midflight-*.mfp
  midflight check prog a.mfp --format json";

#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    inputs: Inputs,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

impl Check {
    /// Status 1 if flow is not conserved.
    pub(crate) fn run(self) -> Result<ExitCode, CommandError> {
        let session = self.inputs.open()?;
        let functions = session.functions()?;
        let findings = check(&functions, session.profile.flags);
        self.format.print(&findings, |out| text::write(out, &findings))?;
        Ok(if findings.conserved { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
