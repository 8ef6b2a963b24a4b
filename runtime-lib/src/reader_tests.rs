//! Whatever the environment and the kernel say: a value or a refusal, never a panic.

use crate::config;
use crate::file::age;
use crate::file::pattern::{self, Values};
use crate::file::text::Text;
use crate::osr::fire::Fire;
use crate::osr::gap::Probability;
use crate::process::signal_name;
use proptest::prelude::*;

/// Bytes that mean something, and others.
fn bytes_of(meaning: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => prop::sample::select(meaning), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..40)
}

proptest! {
    #[test]
    fn a_pattern_that_is_accepted_can_be_expanded(text in bytes_of(b"%%%pphm19/a.")) {
        let values = Values { process: 42, host: b"box", signature: 7 };
        let mut name = Text::new();
        if pattern::check(&text).is_ok() {
            prop_assert!(pattern::expand(&text, &values, &mut name).is_ok());
            prop_assert!(text.contains(&b'%') || name.bytes() == text);
            prop_assert!(!(pattern::has_process(&text) && pattern::is_shared(&text)));
        } else {
            prop_assert!(text.contains(&b'%'));
            _ = pattern::expand(&text, &values, &mut name);
        }
    }

    #[test]
    fn sizes_are_numbers_with_a_suffix(text in bytes_of(b"0123456789KMG")) {
        let known = std::str::from_utf8(&text).ok().and_then(|text| {
            let (digits, shift) = match text.as_bytes().last()? {
                b'K' | b'k' => (&text[..text.len() - 1], 10),
                b'M' | b'm' => (&text[..text.len() - 1], 20),
                b'G' | b'g' => (&text[..text.len() - 1], 30),
                _ => (text, 0),
            };
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let number: u128 = plain.then(|| digits.parse().ok())??;
            usize::try_from(number.checked_mul(1 << shift)?).ok()
        });
        prop_assert_eq!(config::parse_size(&text), known);
    }

    #[test]
    fn signals_are_such_as_can_be_caught(text in bytes_of(b"SIGUSR12KILTEM0345")) {
        if let Ok(signal) = signal_name::parse(&text) {
            prop_assert!((1..=64).contains(&signal) && signal != 9 && signal != 11 && signal != 19);
        }
    }

    #[test]
    fn what_fires_is_read_or_refused(
        mode in prop::sample::select(vec!["list", "at:", "every:", "random:", "always", "arm:", ""]),
        rest in bytes_of(b":::,,0123456789.*#ab"),
    ) {
        let text = [mode.as_bytes(), &rest].concat();
        match Fire::parse(&text) {
            Ok(Fire::At { point, hit }) => prop_assert!(!point.is_empty() && hit != Some(0)),
            Ok(Fire::Every(n)) => prop_assert_ne!(n, 0),
            Ok(_) => {}
            Err(problem) => prop_assert!(!problem.is_empty()),
        }
        _ = Probability::parse(&rest);
    }

    #[test]
    fn the_start_of_a_process_is_found_behind_any_name(
        name in prop::collection::vec(any::<u8>(), 0..16),
        start: u64,
        end in any::<prop::sample::Index>(),
        noise in bytes_of(b"() 0123456789"),
    ) {
        let fields = format!(") S 1 2 3 0 -1 4 1 0 0 0 1 2 0 0 20 0 1 0 {start} 11 12");
        let text = [b"7 (", name.as_slice(), fields.as_bytes()].concat();
        prop_assert_eq!(age::parse(&text), Some(start));
        let cut = &text[..end.index(text.len())];
        prop_assert!(age::parse(cut).is_none_or(|part| part <= start || cut.len() < text.len()));
        _ = age::parse(&noise);
    }
}
