//! What numbers of records and tables stand for: keys of paths, and modes.

use midflight_abi::{
    CLOSED, KEY_SHIFT, MOST_PATHS, Mode, Register, count_of_tally, id_of_key, is_dense, key,
};

#[test]
fn keys_are_even_differ_and_tell_their_path() {
    for id in (0..1 << 16).chain((0..1 << 31).step_by(65_537)).chain([MOST_PATHS - 1]) {
        let key = key(id);
        assert!(key != 0 && key.is_multiple_of(2), "{id}");
        assert_eq!((id_of_key(key), id_of_key(key | 1)), (id, id));
        assert_eq!(Register::new(MOST_PATHS, 4).value(id), key);
        assert_eq!(Register::new(MOST_PATHS, 4).id(key), id);
    }
    assert_eq!(key(MOST_PATHS), 0);
}

#[test]
fn a_tally_counts_whether_it_is_open_has_overflowed_or_is_closed() {
    let open = u64::from(key(7)) << KEY_SHIFT;
    assert_eq!(count_of_tally(open + 5), 5);
    assert_eq!(count_of_tally(open + u64::from(u32::MAX)), u32::MAX.into());
    // The next event makes the key odd.
    assert_eq!(count_of_tally(open + (1 << 32) + 3), (1 << 32) + 3);
    let closed = open | 1 << KEY_SHIFT | CLOSED;
    assert_eq!((count_of_tally(closed), count_of_tally(closed + 9)), (0, 9));
}

#[test]
fn tables_are_dense_where_all_windows_are_few() {
    let dense = |num_paths, k| is_dense(num_paths, k);
    assert!(dense(1, 64) && dense(2, 9) && dense(3, 6) && dense(4, 5) && dense(4, 1));
    assert!(!dense(2, 10) && !dense(3, 7) && !dense(4, 6) && !dense(5, 2) && !dense(4, 64));
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
