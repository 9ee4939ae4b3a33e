//! The number of entries of a scan, as a parameter in TOML.

use catalog::Count;

/// Returns a count as the length of a scan, which is at least 1.
pub(super) fn entries(key: &str, count: Count) -> Result<u32, String> {
    match u32::try_from(count.0) {
        Ok(0) => Err(format!("{key} is 0; a scan reads at least 1 entry")),
        Ok(entries) => Ok(entries),
        Err(_) => Err(format!("{key} is {}; a scan reads at most {} entries", count.0, u32::MAX)),
    }
}
