//! The trailer after each data block in an SSTable.

/// The length in bytes of the trailer after a data block: the codec, the stored length, the length before compression,
/// and the checksum.
pub const TRAILER_BYTES: usize = 1 + 4 + 4 + 4;
