//! How much memory a run had at once.

use crate::error::Result;
use crate::process::{Job, Outcome};

/// Runs a job to a successful end. What it did, and the most memory that it had, in bytes: what was
/// resident, by GNU time. (What the harness's own children are told to have had is what the harness
/// has, or more.)
///
/// # Errors
/// If it does not succeed, or there is no GNU time.
pub fn run(job: &Job) -> Result<(Outcome, u64)> {
    let report = tempfile::NamedTempFile::new().map_err(|error| job.error(error.to_string()))?;
    let timed = Job { program: "time".into(), arguments: Vec::new(), ..job.clone() }
        .args(["-q", "-f", "%M", "-o"])
        .arg(report.path())
        .arg(&job.program)
        .args(&job.arguments);
    let outcome = timed.expect_success()?;
    let text = String::from_utf8_lossy(&crate::error::read(report.path())?).into_owned();
    let kilobytes: u64 = text.trim().parse().map_err(|_| {
        job.error(format!("GNU time reports '{}', which is no number of kilobytes", text.trim()))
    })?;
    Ok((outcome, kilobytes * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_is_seen() {
        let take = |megabytes: u32| {
            let script =
                format!("x=$(head -c {megabytes}000000 /dev/zero | tr '\\0' x); echo ${{#x}}");
            run(&Job::new("sh").args(["-c", &script])).unwrap()
        };
        let ((outcome, little), (_, much)) = (take(1), take(40));
        assert_eq!(outcome.stdout, b"1000000\n");
        assert!(much > little + 30_000_000, "{little} and {much}");
    }
}
