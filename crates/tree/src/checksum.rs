//! The checksum under every block and record: CRC-32C, seeded with the place it belongs to.

use crc_fast::{CrcAlgorithm, Digest};

/// CRC-32C over where the bytes belong and the bytes themselves.
///
/// The place (a file number and an offset) is part of the sum, so that a block that is intact but stands in
/// the wrong file or at the wrong offset is found out.
pub(crate) fn checksum(file: u64, offset: u64, bytes: &[u8]) -> u32 {
    let mut place = [0u8; 16];
    place[..8].copy_from_slice(&file.to_le_bytes());
    place[8..].copy_from_slice(&offset.to_le_bytes());
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&place);
    digest.update(bytes);
    digest.finalize() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_and_bytes_both_count() {
        let sum = checksum(7, 4096, b"block");
        assert_eq!(sum, checksum(7, 4096, b"block"));
        for other in [checksum(8, 4096, b"block"), checksum(7, 0, b"block"), checksum(7, 4096, b"blocK")] {
            assert_ne!(sum, other);
        }
    }

    #[test]
    fn the_polynomial_is_castagnoli() {
        // RFC 3720, appendix B.4: 32 bytes of zeros.
        assert_eq!(crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, &[0; 32]), 0x8a91_36aa);
    }
}
