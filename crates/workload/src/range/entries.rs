//! The number of entries that a range reads, as a parameter.

use catalog::Count;

/// A count as the length of a range: at least 1.
pub(super) fn entries(key: &str, count: Count) -> Result<u32, String> {
    match u32::try_from(count.0) {
        Ok(0) => Err(format!("{key} is 0; a range reads at least 1 entry")),
        Ok(entries) => Ok(entries),
        Err(_) => Err(format!("{key} is {}; a range reads at most {} entries", count.0, u32::MAX)),
    }
}
