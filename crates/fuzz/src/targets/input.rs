//! The parts of an input that several targets read alike.

/// The bytes that an input may take whatever its length.
pub(super) const SPARE_BYTES: usize = 1 << 20;

/// Cuts one byte off the front of an input: it chooses among variants.
pub(super) fn choose(input: &[u8]) -> Option<(usize, &[u8])> {
    input.split_first().map(|(first, rest)| (usize::from(*first), rest))
}
