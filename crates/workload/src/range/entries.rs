//! Conversion of a TOML count to the number of entries that a scan reads.

use catalog::Count;

/// Converts the value of the TOML key `key` to the number of entries that a scan reads. Returns an error if the count
/// is 0 or too large.
pub(super) fn entries(key: &str, count: Count) -> Result<u32, String> {
    match u32::try_from(count.0) {
        Ok(0) => Err(format!("{key} is 0; a scan reads at least 1 entry")),
        Ok(entries) => Ok(entries),
        Err(_) => Err(format!("{key} is {}; a scan reads at most {} entries", count.0, u32::MAX)),
    }
}
