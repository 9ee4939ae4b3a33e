//! The report of what opening a tree found.

/// What opening a tree found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Operations taken from logs.
    pub replayed_operations: u64,
    /// Bytes of logs that were not taken: commits that a crash cut off before they were acknowledged.
    pub dropped_log_bytes: u64,
    /// Bytes of the manifest that were not taken: a change that a crash cut off.
    pub dropped_manifest_bytes: u64,
    /// Files that belonged to nobody and were removed.
    pub removed_files: Vec<String>,
    /// Damaged files that were moved away, and files that are gone, each with what is wrong. What they held is
    /// missing: of the keys that they held older values may be read, and keys that were deleted may be back.
    pub quarantined_files: Vec<String>,
}
