//! What identifies an image: a program or a shared object with records in it.

use crate::checksum::mix64;

/// The signature of an image, from the keys of all its records.
///
/// The order of the keys does not matter, since linkers choose it; a key that occurs twice counts
/// twice. The program computes it from the records in its memory and the command from those in the
/// file, so a profile can be matched with the binary that made it.
pub fn image_signature(keys: impl Iterator<Item = u64>) -> u64 {
    // A sum of the keys themselves would be the same for {a + 1, b} and {a, b + 1}.
    let sum = keys.fold(0u64, |sum, key| sum.wrapping_add(mix64(key ^ 0x9e37_79b9_7f4a_7c15)));
    mix64(sum)
}

#[cfg(test)]
mod tests {
    use super::image_signature;

    #[test]
    fn a_signature_depends_on_the_keys_and_not_on_their_order() {
        let of = |keys: &[u64]| image_signature(keys.iter().copied());
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        assert_ne!(of(&[1, 2, 3]), of(&[1, 2]));
        assert_ne!(of(&[1, 2]), of(&[1, 2, 2]));
        assert_ne!(of(&[1, 4]), of(&[2, 3]));
        assert_ne!(of(&[0]), of(&[]));
    }
}
