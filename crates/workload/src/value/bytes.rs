//! Conversion of a size in TOML to the size of a value.

use catalog::ByteSize;
use types::MAX_VALUE_BYTES;

/// Converts a size in bytes to the size of a value. Returns an error if no store accepts values of this size.
pub(super) fn bytes(key: &str, size: ByteSize) -> Result<u32, String> {
    if size.0 > MAX_VALUE_BYTES as u64 {
        return Err(format!("{key} is {size}; values are at most {}", ByteSize(MAX_VALUE_BYTES as u64)));
    }
    Ok(size.0 as u32)
}
