//! `midflight check`.

use super::{CommandError, Format, Inputs, open};
use crate::check;
use crate::sink::write_to;
use clap::Args;
use std::process::ExitCode;

pub(super) const HELP: &str = "\
Of each function: no more paths begin at the entry than activations, no more behind an edge than end
with it, each block is left as often as it is entered, and no sequence is continued more often than it
occurred. What memory was short for is allowed for, and what forked children, resets, pauses and threads
that counted on explain. Exit status: 0 if flow is conserved, else 1.

Examples:
  midflight check prog midflight-*.mfp
  midflight check prog a.mfp --format json";

#[derive(Args, Debug)]
pub(super) struct Check {
    #[command(flatten)]
    inputs: Inputs,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

impl Check {
    /// Status 1 if flow is not conserved.
    pub(super) fn run(self) -> Result<ExitCode, CommandError> {
        let session = open(self.inputs)?;
        let functions = session.functions()?;
        let findings = check::check(&functions, session.profile.flags);
        write_to(None, |out| match self.format {
            Format::Json => check::write_json(out, &findings),
            Format::Text => check::write_text(out, &findings),
        })?;
        let conserved = findings.conserved();
        Ok(if conserved { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
