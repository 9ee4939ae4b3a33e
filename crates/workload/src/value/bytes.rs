//! The size of a value, as a parameter in TOML.

use catalog::ByteSize;
use types::MAX_VALUE_BYTES;

/// Returns a size as the length of a value, within the limits of a store.
pub(super) fn bytes(key: &str, size: ByteSize) -> Result<u32, String> {
    if size.0 > MAX_VALUE_BYTES as u64 {
        return Err(format!("{key} is {size}; values are at most {}", ByteSize(MAX_VALUE_BYTES as u64)));
    }
    Ok(size.0 as u32)
}
