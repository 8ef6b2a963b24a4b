//! The 64-bit hash of records and signatures: FNV-1a with a final mix.
//!
//! It tells apart what compilers and people make. It does not withstand an adversary, and need
//! not: who can forge a profile can also forge what it is a profile of.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a of the parts, one after the other, then [`mix64`].
#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
pub(crate) fn hash64(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    mix64(bytes.fold(OFFSET_BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
}

/// A bijection in which every input bit reaches every output bit (the finalizer of MurmurHash3).
pub(crate) fn mix64(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a_then_the_mix() {
        // FNV-1a 64 of "a", from the function's reference vectors.
        assert_eq!(hash64(&[b"a"]), mix64(0xaf63_dc4c_8601_ec8c));
        assert_eq!(hash64(&[b"foo", b"bar"]), mix64(0x8594_4171_f739_67e8));
    }
}
