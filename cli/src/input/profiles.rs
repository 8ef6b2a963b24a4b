//! Profiles, read and added up.

use crate::input::file;
use crate::input::session::JoinError;
use midflight_profile::format::{FLAG_WENT_ON, MemoryState, Profile};
use midflight_profile::visible;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads a profile file: an ordinary one, or that of a program that counts in it, which was killed
/// or still runs.
///
/// # Errors
/// If it cannot be read or is no good profile.
pub fn read_profile(path: &Path) -> Result<Profile, JoinError> {
    let name = path.display().to_string();
    let bad = |error| JoinError::BadProfile(name.clone(), error);
    let mut attempt = 0;
    loop {
        let bytes = file::read("the profile", path)?;
        let result = Profile::read(&bytes).map_err(bad);
        let Some(before) = MemoryState::of(&bytes) else { return result };
        let after = file::read("the profile", path)?;
        let is_at_rest = before.begun == before.ended && MemoryState::of(&after) == Some(before);
        attempt += 1;
        if is_at_rest && result.is_ok() || attempt == ATTEMPTS {
            let mut profile = result?;
            tell_state(&name, before);
            // What nothing has changed between two readings is of one moment.
            if bytes != after {
                profile.flags |= FLAG_WENT_ON;
            }
            return Ok(profile);
        }
        std::thread::sleep(PATIENCE);
    }
}

/// Tells on standard error that a program has not finished its profile.
fn tell_state(name: &str, state: MemoryState) {
    let process = state.process;
    let until = if state.is_frozen { ", and had no room for what it counted later" } else { "" };
    let name = visible(name);
    anstream::eprintln!(
        "midflight: '{name}' has what process {process} counted before it was killed, or has counted \
         so far{until}"
    );
}

/// A program that runs may change its file while it is read. It is read again then, and finally
/// taken as it is: so it stays where the program was killed in the middle of a change.
const ATTEMPTS: u32 = 40;
const PATIENCE: Duration = Duration::from_millis(2);

/// Reads profiles, each with a weight by which its counts are multiplied, and adds them up. `check`
/// sees each one before.
///
/// # Errors
/// If one cannot be read, does not go with those before it, or `check` refuses it.
pub fn read_profiles(
    inputs: &[(PathBuf, u64)],
    check: impl Fn(&Path, &Profile) -> Result<(), JoinError>,
    progress: &dyn Fn(u64),
) -> Result<Profile, JoinError> {
    let mut sum: Option<Profile> = None;
    for ((path, weight), done) in inputs.iter().zip(1..) {
        let mut profile = read_profile(path)?;
        check(path, &profile)?;
        let failed = |error| JoinError::Merge(path.display().to_string(), error);
        profile.scale(*weight).map_err(failed)?;
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum.merge(&profile).map_err(failed)?,
        }
        progress(done);
    }
    Ok(sum.unwrap_or_default())
}
