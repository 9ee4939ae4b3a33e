//! Entries of 116 bytes, of which no two have one key.

use types::avalanche;

/// The value of all.
pub(crate) const VALUE: [u8; 100] = [7; 100];

/// Key number `number`: 16 random-looking bytes.
pub(crate) fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&avalanche(number).to_be_bytes());
    key[8..].copy_from_slice(&avalanche(!number).to_be_bytes());
    key
}
