//! The keys of sparse tables.

use midflight_abi::{MOST_PATHS, Register, id_of_key, key};

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
