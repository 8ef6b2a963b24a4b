//! Whether two runs of a program did the same.

use crate::process::Outcome;

/// The first difference between what two runs did, for a person; none if they did the same.
///
/// Compared are the end, the standard output and the standard error; the CPU time is not.
pub fn difference(expected: &Outcome, found: &Outcome) -> Option<String> {
    if expected.end != found.end {
        let first = String::from_utf8_lossy(&found.stderr);
        let first = first.lines().next().unwrap_or_default();
        return Some(format!("ended with {} and not with {}: {first}", found.end, expected.end));
    }
    stream("standard output", &expected.stdout, &found.stdout)
        .or_else(|| stream("standard error", &expected.stderr, &found.stderr))
}

fn stream(name: &str, expected: &[u8], found: &[u8]) -> Option<String> {
    if expected == found {
        return None;
    }
    let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let piece = |bytes: &[u8]| {
        let end = bytes.len().min(at + 40);
        format!("'{}'", bytes[at..end].escape_ascii())
    };
    Some(format!("{name} at byte {at}: {} and not {}", piece(found), piece(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::End;
    use std::time::Duration;

    fn outcome(end: End, stdout: &str) -> Outcome {
        Outcome { end, stdout: stdout.into(), stderr: Vec::new(), cpu: Duration::ZERO }
    }

    #[test]
    fn cpu_time_makes_no_difference() {
        let mut slow = outcome(End::Exit(0), "x");
        slow.cpu = Duration::from_secs(9);
        assert_eq!(difference(&outcome(End::Exit(0), "x"), &slow), None);
    }

    #[test]
    fn a_single_byte_or_status_makes_one() {
        let plain = outcome(End::Exit(0), "abcd");
        let text = difference(&plain, &outcome(End::Exit(0), "abXd")).unwrap();
        assert!(text.contains("byte 2"), "{text}");
        assert!(difference(&plain, &outcome(End::Exit(0), "abc")).is_some());
        assert!(difference(&plain, &outcome(End::Exit(1), "abcd")).is_some());
        assert!(difference(&plain, &outcome(End::Signal(11), "abcd")).is_some());
    }
}
