//! Variable-length integers: unsigned and signed LEB128 of at most 64 bits, in one way only.

/// Bytes that a 64-bit integer takes at most.
pub(crate) const MAX_LEN: usize = 10;

/// Writes `value` to the front of `buffer` and returns how many bytes that took.
pub(crate) fn encode(mut value: u64, buffer: &mut [u8; MAX_LEN]) -> usize {
    let mut len = 0;
    for byte in buffer.iter_mut() {
        *byte = (value & 0x7f) as u8;
        value >>= 7;
        len += 1;
        if value == 0 {
            break;
        }
        *byte |= 0x80;
    }
    len
}

/// Signed integers as unsigned ones, small magnitudes first: 0, −1, 1, −2, …
#[cfg(feature = "alloc")]
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[cfg(feature = "alloc")]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Why no integer could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LebError {
    /// The bytes end within it
    Ended,
    /// It does not fit 64 bits, or has more bytes than it needs
    Overlong,
}

/// Reads an integer from the front of `bytes`: the value, and how many bytes it took.
pub(crate) fn decode(bytes: &[u8]) -> Result<(u64, usize), LebError> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(MAX_LEN).enumerate() {
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit only.
        if i == MAX_LEN - 1 && byte > 1 {
            return Err(LebError::Overlong);
        }
        value |= bits << (7 * i);
        if byte & 0x80 == 0 {
            // A last byte of zero adds nothing: the same integer has a shorter form.
            return if byte == 0 && i > 0 { Err(LebError::Overlong) } else { Ok((value, i + 1)) };
        }
    }
    Err(LebError::Ended)
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn there_is_one_form_of_each_integer() {
        assert_eq!(decode(&[0]), Ok((0, 1)));
        assert_eq!(decode(&[0x80, 0]), Err(LebError::Overlong));
        assert_eq!(decode(&[0xff, 0x80, 0]), Err(LebError::Overlong));
        assert_eq!(decode(&[0x80]), Err(LebError::Ended));
        assert_eq!(decode(&[]), Err(LebError::Ended));
        let mut max = [0xff; 10];
        max[9] = 1;
        assert_eq!(decode(&max), Ok((u64::MAX, 10)));
        max[9] = 2;
        assert_eq!(decode(&max), Err(LebError::Overlong));
        assert_eq!(decode(&[0x80; 11]), Err(LebError::Overlong));
    }

    proptest! {
        #[test]
        fn integers_survive(value: u64, shift in 0u32..64) {
            let value = value >> shift;
            let mut buffer = [0; MAX_LEN];
            let len = encode(value, &mut buffer);
            prop_assert_eq!(decode(&buffer[..len]), Ok((value, len)));
            for cut in 0..len {
                prop_assert_eq!(decode(&buffer[..cut]), Err(LebError::Ended));
            }
        }

        #[test]
        fn signed_integers_survive(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
