//! Helpers that several targets use to parse an input.

/// The number of bytes of memory that a reader may use in addition to 64 bytes per byte of input.
pub(super) const SPARE_BYTES: usize = 1 << 20;

/// Splits an input into its first byte, which selects a variant, and the rest. Returns `None` for an empty input.
pub(super) fn choose(input: &[u8]) -> Option<(usize, &[u8])> {
    input.split_first().map(|(first, rest)| (usize::from(*first), rest))
}
