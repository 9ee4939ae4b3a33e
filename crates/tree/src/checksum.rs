//! Checksums of blocks and records.
//!
//! A checksum covers the bytes and their position: the seal of the file (see [`seals`](crate::seals)) and the offset in
//! the file. A reader therefore detects an intact block in the wrong file or at the wrong offset.

use crc_fast::{CrcAlgorithm, Digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;
use xxhash_rust::xxh64::xxh64;

/// The algorithm that computes the checksum of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Checksum {
    /// No checksum. Corruption inside a block may then remain undetected. Use this value to measure the cost of
    /// checksums.
    None,
    /// CRC-32C, the Castagnoli polynomial.
    Crc32c,
    /// CRC-32, the polynomial of Ethernet and gzip.
    Crc32,
    /// The lower 32 bits of the 64-bit hash XXH3.
    Xxh3,
    /// The lower 32 bits of XXH64, as in the second block format of the document cs265.
    Xxh64,
}

impl Checksum {
    /// All kinds of checksum, in the order of their codes in SSTables.
    pub const ALL: [Self; 5] = [Self::None, Self::Crc32c, Self::Crc32, Self::Xxh3, Self::Xxh64];
}

/// Returns the CRC-32C of `bytes` and their position. The position is the `offset` in the file and `file`, a number
/// that identifies the file and its store.
pub(crate) fn checksum(file: u64, offset: u64, bytes: &[u8]) -> u32 {
    crc(CrcAlgorithm::Crc32Iscsi, file, offset, bytes)
}

/// Returns the checksum of the data block `bytes` at `offset` in an SSTable, computed with the algorithm `kind`. The
/// checksum also covers `file`, a number that identifies the SSTable and its store. Returns 0 for [`Checksum::None`].
pub fn block_checksum(kind: Checksum, file: u64, offset: u64, bytes: &[u8]) -> u32 {
    match kind {
        Checksum::None => 0,
        Checksum::Crc32c => checksum(file, offset, bytes),
        Checksum::Crc32 => crc(CrcAlgorithm::Crc32IsoHdlc, file, offset, bytes),
        // The crate `twox-hash` detects CPU features at run time. The crate `xxhash-rust`, which the hash functions
        // use, would need compile-time CPU features.
        Checksum::Xxh3 => XxHash3_64::oneshot_with_seed(seed(file, offset), bytes) as u32,
        Checksum::Xxh64 => xxh64(bytes, seed(file, offset)) as u32,
    }
}

/// Returns the seed of a block checksum, which combines the offset of the block with `file`, the number that identifies
/// its file. A block in another file or at another offset therefore has a wrong checksum.
fn seed(file: u64, offset: u64) -> u64 {
    file.rotate_left(40) ^ offset
}

fn crc(algorithm: CrcAlgorithm, file: u64, offset: u64, bytes: &[u8]) -> u32 {
    let mut place = [0u8; 16];
    place[..8].copy_from_slice(&file.to_le_bytes());
    place[8..].copy_from_slice(&offset.to_le_bytes());
    let mut digest = Digest::new(algorithm);
    digest.update(&place);
    digest.update(bytes);
    digest.finalize() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_and_bytes_both_count() {
        for kind in Checksum::ALL.into_iter().filter(|kind| *kind != Checksum::None) {
            let sum = |file, offset, bytes: &[u8]| block_checksum(kind, file, offset, bytes);
            assert_eq!(sum(7, 4096, b"block"), sum(7, 4096, b"block"));
            for other in [sum(8, 4096, b"block"), sum(7, 0, b"block"), sum(7, 4096, b"blocK")] {
                assert_ne!(sum(7, 4096, b"block"), other, "{kind:?}");
            }
        }
    }

    #[test]
    fn the_functions_are_those_that_are_named() {
        // RFC 3720, appendix B.4: 32 bytes of zeros.
        assert_eq!(crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, &[0; 32]), 0x8a91_36aa);
        for len in [0, 1, 100, 240, 241, 4096, 70_000] {
            let bytes = vec![len as u8; len];
            let expected = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, seed(3, 8192)) as u32;
            assert_eq!(block_checksum(Checksum::Xxh3, 3, 8192, &bytes), expected);
        }
        // The XXH64 of no bytes with the seed 0, as the reference implementation computes it.
        assert_eq!(block_checksum(Checksum::Xxh64, 0, 0, b""), 0x51d8_e999);
        // The check value of CRC-32/ISO-HDLC in Greg Cook's catalog.
        assert_eq!(crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, b"123456789"), 0xcbf4_3926);
    }
}
