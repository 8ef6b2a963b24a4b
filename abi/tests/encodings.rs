//! What numbers of records and tables stand for: keys of paths, and modes.

use midflight_abi::{MOST_PATHS, Mode, Register, id_of_key, key};

#[test]
fn keys_are_even_differ_and_tell_their_path() {
    for id in (0..1 << 16).chain((0..1 << 31).step_by(65_537)).chain([MOST_PATHS - 1]) {
        let key = key(id);
        assert!(key != 0 && key.is_multiple_of(2), "{id}");
        assert_eq!((id_of_key(key), id_of_key(key | 1)), (id, id));
        assert_eq!(Register::new(MOST_PATHS).value(id), key);
        assert_eq!(Register::new(MOST_PATHS).id(key), id);
    }
    assert_eq!(key(MOST_PATHS), 0);
}

/// Other bits of the flags are none of the mode's; two modes at once are none.
#[test]
fn flags_name_a_mode() {
    for (mode, flags) in [(Mode::Automaton, 0), (Mode::Counting, 2), (Mode::Published, 4)] {
        assert_eq!(mode.flags(), flags);
        assert_eq!(Mode::of_flags(flags | !Mode::FLAGS), Some(mode));
        assert_eq!(Mode::of_byte(mode as u8), Some(mode));
    }
    assert_eq!((Mode::of_flags(6), Mode::of_byte(3)), (None, None));
}
