//! The hash function of YCSB for the numbers of keys. The function is FNV-1a over the eight bytes of a number.

/// Returns the 64-bit FNV-1a hash of the little-endian bytes of `number`, made positive as Java's `Math.abs` does.
///
/// For the most negative number, which `Math.abs` returns unchanged, the result is 2⁶³.
#[inline]
pub(crate) fn fnv1a_abs(number: u64) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = OFFSET_BASIS;
    for octet in number.to_le_bytes() {
        hash = (hash ^ u64::from(octet)).wrapping_mul(PRIME);
    }
    hash.cast_signed().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the hashes of YCSB's first keys, which every YCSB store contains: "user6284781860667377211" and so on.
    #[test]
    fn the_first_keys_of_ycsb() {
        assert_eq!(fnv1a_abs(0), 6_284_781_860_667_377_211);
        assert_eq!(fnv1a_abs(1), 8_517_097_267_634_966_620);
    }
}
