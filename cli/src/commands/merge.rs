//! `midflight merge`: profiles of one program, added up.

use crate::commands::CommandError;
use crate::format::progress::Progress;
use crate::format::sink::write_to;
use crate::input::profiles::read_profiles;
use clap::Args;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Counts add up exactly. Profiles of different builds or with different k are refused. With weights, all
counts of a profile are multiplied, as in llvm-profdata merge.

Examples:
  midflight merge -o all.mfp midflight-*.mfp
  midflight merge -o all.mfp --weighted-input 10,typical.mfp --weighted-input 1,rare.mfp";

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Where to write the sum
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A profile of the program whose counts are multiplied by N; may be repeated
    #[arg(long, visible_alias = "weighted", value_name = "N,PROFILE", value_parser = weighted)]
    weighted_input: Vec<(PathBuf, u64)>,
    /// Profiles of one program, with the same k
    #[arg(required_unless_present = "weighted_input", value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

fn weighted(text: &str) -> Result<(PathBuf, u64), String> {
    let parts = text.split_once(',');
    let input = parts.and_then(|(weight, path)| Some((path.into(), weight.parse().ok()?)));
    input
        .filter(|(path, weight): &(PathBuf, u64)| *weight > 0 && !path.as_os_str().is_empty())
        .ok_or("it must be a weight of at least 1, a comma and a file, as in 3,a.mfp".into())
}

impl Merge {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let plain = self.profiles.into_iter().map(|path| (path, 1));
        let inputs: Vec<(PathBuf, u64)> = plain.chain(self.weighted_input).collect();
        let progress = Progress::new("reading profiles", inputs.len() as u64);
        let sum = read_profiles(&inputs, |_, _| Ok(()), &|done| progress.done(done))?;
        let bytes = sum.write();
        Ok(write_to(Some(&self.output), |out| out.write_all(&bytes))?)
    }
}
