//! The trailer after each stored block.

/// The length of a trailer, in bytes: codec, stored length, length before compression, checksum.
pub const TRAILER_BYTES: usize = 1 + 4 + 4 + 4;
