//! The trailer behind each stored block.

/// The bytes of a trailer: codec, stored length, length before compression, checksum.
pub const TRAILER_BYTES: usize = 1 + 4 + 4 + 4;
