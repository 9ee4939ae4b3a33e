//! The parts of an input that several targets parse in the same way.

/// The constant part of an input's memory limit, in bytes.
pub(super) const SPARE_BYTES: usize = 1 << 20;

/// Splits the first byte, which selects a variant, from an input.
pub(super) fn choose(input: &[u8]) -> Option<(usize, &[u8])> {
    input.split_first().map(|(first, rest)| (usize::from(*first), rest))
}
