//! Signals as the environment names them.

use crate::message::parse_decimal;
use crate::process::ending::{LAST_SIGNAL, OF_LIBC};

/// Signals by their names.
const NAMES: [(&[u8], i32); 31] = [
    (b"HUP", libc::SIGHUP),
    (b"INT", libc::SIGINT),
    (b"QUIT", libc::SIGQUIT),
    (b"ILL", libc::SIGILL),
    (b"TRAP", libc::SIGTRAP),
    (b"ABRT", libc::SIGABRT),
    (b"BUS", libc::SIGBUS),
    (b"FPE", libc::SIGFPE),
    (b"KILL", libc::SIGKILL),
    (b"USR1", libc::SIGUSR1),
    (b"SEGV", libc::SIGSEGV),
    (b"USR2", libc::SIGUSR2),
    (b"PIPE", libc::SIGPIPE),
    (b"ALRM", libc::SIGALRM),
    (b"TERM", libc::SIGTERM),
    (b"STKFLT", libc::SIGSTKFLT),
    (b"CHLD", libc::SIGCHLD),
    (b"CONT", libc::SIGCONT),
    (b"STOP", libc::SIGSTOP),
    (b"TSTP", libc::SIGTSTP),
    (b"TTIN", libc::SIGTTIN),
    (b"TTOU", libc::SIGTTOU),
    (b"URG", libc::SIGURG),
    (b"XCPU", libc::SIGXCPU),
    (b"XFSZ", libc::SIGXFSZ),
    (b"VTALRM", libc::SIGVTALRM),
    (b"PROF", libc::SIGPROF),
    (b"WINCH", libc::SIGWINCH),
    (b"IO", libc::SIGIO),
    (b"PWR", libc::SIGPWR),
    (b"SYS", libc::SIGSYS),
];

/// Reads a signal's name, with or without SIG, or its number; what is wrong with it.
pub fn parse(text: &[u8]) -> Result<i32, &'static str> {
    const UNKNOWN: &str = "there is no such signal; use a name such as USR2, or a number";
    let name = text.strip_prefix(b"SIG").unwrap_or(text);
    let by_name = NAMES.iter().find(|(known, _)| *known == name).map(|&(_, signal)| signal);
    let signal = by_name.or_else(|| parse_number(name)).ok_or(UNKNOWN)?;
    match signal {
        libc::SIGKILL | libc::SIGSTOP => Err("it cannot be caught; use another, such as USR2"),
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL => {
            Err("it tells of a fault of the program; use another, such as USR2")
        }
        signal if OF_LIBC.contains(&signal) => {
            Err("libc has it for itself; use another, such as USR2")
        }
        1..=LAST_SIGNAL => Ok(signal),
        _ => Err(UNKNOWN),
    }
}

fn parse_number(digits: &[u8]) -> Option<i32> {
    if !(1..=2).contains(&digits.len()) {
        return None;
    }
    i32::try_from(parse_decimal(digits)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        assert_eq!(parse(b"USR2"), Ok(libc::SIGUSR2));
        assert_eq!(parse(b"SIGUSR1"), Ok(libc::SIGUSR1));
        assert_eq!(parse(b"12"), Ok(12));
        assert_eq!(parse(b"64"), Ok(64));
        for wrong in ["", "usr2", "USR3", "0", "65", "-1", "012", "KILL", "9", "STOP", "SEGV"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(parse(b"32").is_err() && parse(b"11").is_err());
    }
}
