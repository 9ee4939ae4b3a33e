//! Keys are byte strings in lexicographic order. This module defines the 64-bit hash of a key, and the head of a key
//! (its first 8 bytes).

/// The maximum length of a key in bytes.
pub const MAX_KEY_BYTES: usize = 64 << 10;

/// The maximum length of a value in bytes.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// The maximum size of a write batch: the total number of bytes of its keys and values.
pub const MAX_BATCH_BYTES: usize = 1 << 30;

/// The 64-bit hash of a key. Each operation computes the hash only once, for all filters and memtables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct KeyHash(pub u64);

/// A key with its hash. The tree computes the hash, so no component computes it again.
#[derive(Clone, Copy, Debug)]
pub struct HashedKey<'a> {
    /// The key itself.
    pub bytes: &'a [u8],
    /// The hash of the key, computed with the hash function of the design.
    pub hash: KeyHash,
}

/// Returns the head of a key: its first eight bytes as a big-endian number. A shorter key is padded with zeros at its
/// end.
///
/// If two heads differ, the key with the smaller head is smaller. If two heads are equal, the full keys must be
/// compared.
#[inline]
pub fn head(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => short_head(key),
    }
}

/// Returns the head (the first eight bytes as a number) of a key that is shorter than eight bytes.
#[inline]
fn short_head(key: &[u8]) -> u64 {
    let mut padded = [0u8; 8];
    padded[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(padded)
}

/// Returns the length of the common prefix of two keys, in bytes.
///
/// # Panics
/// Never panics, because the compared chunks always have eight bytes.
#[inline]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let x = u64::from_le_bytes(x.try_into().expect("each compared chunk of a key must have eight bytes"));
        let y = u64::from_le_bytes(y.try_into().expect("each compared chunk of a key must have eight bytes"));
        let difference = x ^ y;
        if difference != 0 {
            return shared + difference.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    shared + a[shared..].iter().zip(&b[shared..]).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_order_like_keys_or_tie() {
        let keys: [&[u8]; 8] = [
            b"",
            b"\0",
            b"a",
            b"a\0",
            b"ab",
            b"abcdefgh",
            b"abcdefghi",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ];
        for a in keys {
            for b in keys {
                if head(a) < head(b) {
                    assert!(a < b, "{a:?} {b:?}");
                }
            }
        }
        assert_eq!(head(b"\x01"), 1 << 56);
    }

    #[test]
    fn common_prefix_counts_bytes() {
        let a = b"user000000000000000012345";
        for shared in 0..a.len() {
            let mut b = a.to_vec();
            b[shared] ^= 1;
            assert_eq!(common_prefix(a, &b), shared);
            assert_eq!(common_prefix(a, &a[..shared]), shared);
        }
        assert_eq!(common_prefix(a, a), a.len());
    }
}
