//! Checks and computations that several value policies share.

use catalog::ByteSize;

use super::policy::BlobFileShape;

/// The minimum value of the parameter `file_size`, the size of a complete blob file, in bytes.
const LEAST_FILE_BYTES: u64 = 256;

/// Checks the parameter `file_size` of a value policy, and returns it in bytes.
///
/// # Errors
/// If the size is below 256 bytes.
pub(super) fn file_bytes(size: ByteSize) -> Result<u64, String> {
    match size.0 {
        LEAST_FILE_BYTES.. => Ok(size.0),
        _ => Err(format!("file_size is {size}; it must be at least {LEAST_FILE_BYTES}B")),
    }
}

/// Checks the parameter `stale_share` of a value policy.
///
/// # Errors
/// Returns an error if the share is not above 0, or if the share is above 1.
pub(super) fn check_share(share: f64) -> Result<(), String> {
    match share > 0.0 && share <= 1.0 {
        true => Ok(()),
        false => Err(format!("stale_share is {share}; it must be above 0 and at most 1")),
    }
}

/// Returns the numbers of the blob files that have stale bytes, and whose share of stale bytes is at least `share`.
pub(super) fn stale_files(files: &[BlobFileShape], share: f64) -> Vec<u64> {
    let is_stale = |file: &&BlobFileShape| file.stale_bytes() > 0 && file.stale_share() >= share;
    files.iter().filter(is_stale).map(|file| file.id).collect()
}
