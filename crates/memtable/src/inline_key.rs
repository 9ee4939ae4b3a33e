//! A key that takes 32 bytes in a map. Short keys are stored inline as integers, so a comparison of two short keys
//! follows no pointer.
//!
//! Ordered maps of byte strings are slow, because every comparison follows a pointer. A key of up to [`INLINE_BYTES`]
//! bytes is stored as big-endian words with zero padding, and its length. To compare two keys, the words are compared
//! first, and then the lengths. The comparison of the lengths is necessary because of the zero padding. If two keys
//! differ only in the number of trailing zero bytes, their words are equal.

use std::cmp::Ordering;

use types::head;

/// The number of bytes of the longest key that is stored inline, without a pointer.
pub(crate) const INLINE_BYTES: usize = 30;

/// A key of a map, or a search key (probe) that borrows its bytes. A lookup with a probe needs no allocation, because a
/// map of `InlineKey<'static>` accepts a probe with a shorter lifetime.
#[derive(Clone, Debug)]
pub(crate) struct InlineKey<'a> {
    /// The first eight bytes of the key as a big-endian integer, with zero padding.
    head: u64,
    rest: Rest<'a>,
}

/// The bytes of a key after its first eight bytes.
#[derive(Clone, Debug)]
enum Rest<'a> {
    /// The bytes of a short key after its first eight bytes. In key order, these bytes are in `middle` (16 bytes),
    /// `low` (4 bytes) and `last` (2 bytes).
    Short { len: u8, last: u16, low: u32, middle: [u64; 2] },
    /// All bytes of a long key, including its first eight bytes, so that the key is available as a byte slice.
    Owned(Box<[u8]>),
    /// All bytes of a long key, which a probe only borrows.
    Borrowed(&'a [u8]),
}

impl<'a> InlineKey<'a> {
    /// Creates a key that owns its bytes, for storage in a map.
    #[inline]
    pub(crate) fn owned(key: &[u8]) -> Self {
        let rest = short_rest(key).unwrap_or_else(|| Rest::Owned(key.into()));
        Self { head: head(key), rest }
    }

    /// Creates a key that borrows its bytes, for a lookup.
    #[inline]
    pub(crate) fn probe(key: &'a [u8]) -> Self {
        Self { head: head(key), rest: short_rest(key).unwrap_or(Rest::Borrowed(key)) }
    }

    /// Returns a search key that borrows the bytes of this key.
    #[inline]
    pub(crate) fn to_probe(&self) -> InlineKey<'_> {
        let rest = match &self.rest {
            Rest::Short { len, last, low, middle } => {
                Rest::Short { len: *len, last: *last, low: *low, middle: *middle }
            }
            Rest::Owned(key) => Rest::Borrowed(key),
            Rest::Borrowed(key) => Rest::Borrowed(key),
        };
        InlineKey { head: self.head, rest }
    }

    /// Returns the bytes of the key. For a short key, the function writes the bytes into `buffer`, and the result
    /// borrows from `buffer`.
    #[inline]
    pub(crate) fn bytes<'b>(&'b self, buffer: &'b mut [u8; INLINE_BYTES]) -> &'b [u8] {
        match &self.rest {
            Rest::Short { len, last, low, middle } => {
                buffer[..8].copy_from_slice(&self.head.to_be_bytes());
                buffer[8..16].copy_from_slice(&middle[0].to_be_bytes());
                buffer[16..24].copy_from_slice(&middle[1].to_be_bytes());
                buffer[24..28].copy_from_slice(&low.to_be_bytes());
                buffer[28..].copy_from_slice(&last.to_be_bytes());
                &buffer[..usize::from(*len)]
            }
            Rest::Owned(key) => key,
            Rest::Borrowed(key) => key,
        }
    }

    /// Returns the number of heap bytes of this key, which is 0 for short keys.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.rest {
            Rest::Owned(key) => key.len(),
            Rest::Short { .. } | Rest::Borrowed(_) => 0,
        }
    }

    /// Compares two keys whose first eight bytes are equal. At least one of the keys is too long to be stored inline.
    #[cold]
    fn cmp_long(&self, other: &InlineKey<'_>) -> Ordering {
        let (mut a, mut b) = ([0; INLINE_BYTES], [0; INLINE_BYTES]);
        self.bytes(&mut a).cmp(other.bytes(&mut b))
    }
}

/// Returns the bytes of a short key after its first eight bytes. Returns `None` if the key is too long to be stored
/// inline.
#[inline]
fn short_rest(key: &[u8]) -> Option<Rest<'static>> {
    if key.len() > INLINE_BYTES {
        return None;
    }
    let mut padded = [0; INLINE_BYTES + 2];
    padded[..key.len()].copy_from_slice(key);
    let word = |at: usize| {
        u64::from_be_bytes(
            padded[at..at + 8].try_into().expect("a word of an inline key must have eight bytes"),
        )
    };
    let end = word(24);
    let middle = [word(8), word(16)];
    Some(Rest::Short { len: key.len() as u8, last: (end >> 16) as u16, low: (end >> 32) as u32, middle })
}

impl Ord for InlineKey<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if self.head != other.head {
            return self.head.cmp(&other.head);
        }
        match (&self.rest, &other.rest) {
            (
                Rest::Short { len, last, low, middle },
                Rest::Short { len: len_b, last: last_b, low: low_b, middle: middle_b },
            ) => (middle, low, last, len).cmp(&(middle_b, low_b, last_b, len_b)),
            _ => self.cmp_long(other),
        }
    }
}

impl PartialOrd for InlineKey<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InlineKey<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for InlineKey<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    #[test]
    fn it_takes_half_a_cache_line() {
        assert_eq!(size_of::<InlineKey<'_>>(), 32);
    }

    /// Generates keys with long common prefixes and trailing zeros. The lengths of the keys are near the lengths at
    /// which the layout changes.
    fn keys() -> impl Strategy<Value = Vec<u8>> {
        let lengths = prop_oneof![0..=9usize, 14..=18usize, 22..=34usize, Just(100)];
        (lengths, 0..3u8, any::<u8>()).prop_map(|(len, fill, last)| {
            let mut key = vec![fill / 2; len];
            if let (Some(byte), true) = (key.last_mut(), fill > 0) {
                *byte = last;
            }
            key
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn it_orders_and_reads_back_like_its_bytes(a in keys(), b in keys()) {
            let mut buffer = [0; INLINE_BYTES];
            let stored = InlineKey::owned(&a);
            for key in [stored.to_probe(), InlineKey::owned(&a), InlineKey::probe(&a)] {
                prop_assert_eq!(key.bytes(&mut buffer), &a[..]);
                for other in [InlineKey::owned(&b), InlineKey::probe(&b)] {
                    prop_assert_eq!(key.cmp(&other), a.cmp(&b));
                    prop_assert_eq!(key == other, a == b);
                }
            }
            prop_assert_eq!(InlineKey::owned(&a).heap_bytes(), if a.len() > INLINE_BYTES { a.len() } else { 0 });
        }
    }
}
