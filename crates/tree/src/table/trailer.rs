//! The trailer after each stored block.

/// The length of a trailer, in bytes. The trailer contains the codec, the stored length, the length before compression,
/// and the checksum.
pub const TRAILER_BYTES: usize = 1 + 4 + 4 + 4;
