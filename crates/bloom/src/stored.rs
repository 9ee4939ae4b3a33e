//! The stored format that most filters share: a header of 24 bytes, followed by 64-bit little-endian words.
//!
//! ```text
//! tag [u8; 4] | probes u32 | keys u64 | words u64 | words × u64
//! ```

use types::KeyHash;

use crate::corrupt::CorruptFilter;

const HEAD_BYTES: usize = 24;
const WORD_BYTES: usize = 8;

/// The largest number of bits that a key may set. Because of this limit, a corrupt header cannot cause a very slow
/// probe.
pub(crate) const MAX_PROBES: u32 = 64;

/// The header of a stored filter: the variant that wrote the bytes, and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The four bytes that identify the filter variant.
    pub(crate) tag: [u8; 4],
    /// The number of bits that each key sets. If a variant does not set bits, the field has another parameter of the
    /// variant, or 0.
    pub(crate) probes: u32,
    /// The number of keys from which the filter was built. Some variants store another count, such as the number of
    /// fingerprints.
    pub(crate) keys: u64,
}

impl Head {
    /// Creates the header of a filter of the variant `tag` that was built from the keys with these hashes.
    pub(crate) fn new(tag: [u8; 4], probes: u32, hashes: &[KeyHash]) -> Self {
        Self { tag, probes, keys: hashes.len() as u64 }
    }

    /// Returns the size in bytes of a header and `words` words.
    pub(crate) fn stored_bytes(words: usize) -> usize {
        HEAD_BYTES + words * WORD_BYTES
    }

    /// Encodes the header and the words that follow the header.
    pub(crate) fn encode(self, words: impl ExactSizeIterator<Item = u64>) -> Vec<u8> {
        let mut stored = Vec::with_capacity(HEAD_BYTES + words.len() * WORD_BYTES);
        stored.extend(self.tag);
        stored.extend(self.probes.to_le_bytes());
        stored.extend(self.keys.to_le_bytes());
        stored.extend((words.len() as u64).to_le_bytes());
        words.for_each(|word| stored.extend(word.to_le_bytes()));
        stored
    }

    /// Decodes the header and the words of a filter that was stored with the tag `tag`.
    ///
    /// # Errors
    /// Returns an error if the stored tag is not `tag`, or if the number of bytes does not match the header.
    pub(crate) fn decode(
        stored: &[u8],
        tag: [u8; 4],
    ) -> Result<(Self, impl ExactSizeIterator<Item = u64>), CorruptFilter> {
        let Some((head, body)) = stored.split_at_checked(HEAD_BYTES) else {
            return Err(CorruptFilter(format!(
                "the stored filter has {} bytes, which are too few for its header",
                stored.len()
            )));
        };
        if head[..4] != tag {
            return Err(CorruptFilter(format!(
                "the stored filter begins with the tag \"{}\", expected \"{}\"; another variant may have \
                 written the filter",
                head[..4].escape_ascii(),
                tag.escape_ascii()
            )));
        }
        let number = |at: usize| {
            u64::from_le_bytes(
                head[at..at + 8].try_into().expect("a number in a stored filter must have eight bytes"),
            )
        };
        let probes = (number(0) >> 32) as u32;
        let (keys, words) = (number(8), number(16));
        if words.checked_mul(WORD_BYTES as u64) != Some(body.len() as u64) {
            return Err(CorruptFilter(format!(
                "the header of the stored filter states {words} words of 8 bytes, but {} bytes follow",
                body.len()
            )));
        }
        let words = body.chunks_exact(WORD_BYTES);
        Ok((
            Self { tag, probes, keys },
            words.map(|word| {
                u64::from_le_bytes(
                    word.try_into().expect("a number in a stored filter must have eight bytes"),
                )
            }),
        ))
    }

    /// Decodes the header and the words of a stored filter whose probes read units of `unit_words` words.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode). Also returns an error if the number of words is 0 or not a
    /// multiple of `unit_words`, or if the number of probes is invalid.
    pub(crate) fn decode_probed(
        stored: &[u8],
        tag: [u8; 4],
        unit_words: usize,
    ) -> Result<(Self, impl ExactSizeIterator<Item = u64>), CorruptFilter> {
        let (head, words) = Self::decode(stored, tag)?;
        if head.probes == 0 || head.probes > MAX_PROBES {
            return Err(CorruptFilter(format!(
                "the header of the stored filter states {} probes per key; the number must be from 1 to \
                 {MAX_PROBES}",
                head.probes
            )));
        }
        if words.len() == 0 || !words.len().is_multiple_of(unit_words) {
            return Err(CorruptFilter(format!(
                "the stored filter has {} words; the number must be a multiple of {unit_words}, and above 0",
                words.len()
            )));
        }
        Ok((head, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_words_read_back() {
        let head = Head::new(*b"test", 7, &[KeyHash(0); 3]);
        let stored = head.encode([1u64, u64::MAX, 3].into_iter());
        let (read, words) = Head::decode(&stored, *b"test").unwrap();
        assert_eq!(read, Head { tag: *b"test", probes: 7, keys: 3 });
        assert!(words.eq([1, u64::MAX, 3]));
        assert!(Head::decode_probed(&stored, *b"test", 3).is_ok());
        assert!(Head::decode_probed(&stored, *b"test", 2).is_err());
        assert!(Head::decode(&stored, *b"tset").is_err());
    }

    #[test]
    fn impossible_numbers_of_probes_are_refused() {
        for probes in [0, MAX_PROBES + 1, u32::MAX] {
            let stored = Head::new(*b"test", probes, &[]).encode([0u64].into_iter());
            assert!(Head::decode_probed(&stored, *b"test", 1).is_err(), "{probes}");
        }
        let none = Head::new(*b"test", 1, &[]).encode(std::iter::empty());
        assert!(Head::decode_probed(&none, *b"test", 1).is_err());
    }
}
