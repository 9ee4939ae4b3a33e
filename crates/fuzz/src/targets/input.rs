//! Helpers that several targets use to parse an input.

/// The constant part of the memory limit for an input, in bytes.
pub(super) const SPARE_BYTES: usize = 1 << 20;

/// Splits an input into its first byte, which selects a variant, and the rest. Returns `None` for an empty input.
pub(super) fn choose(input: &[u8]) -> Option<(usize, &[u8])> {
    input.split_first().map(|(first, rest)| (usize::from(*first), rest))
}
