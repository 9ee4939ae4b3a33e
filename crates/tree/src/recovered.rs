//! The report of opening a tree.

/// The report of opening a tree: the files that were found, replayed, removed or quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The number of operations that were replayed from the WAL.
    pub replayed_operations: u64,
    /// The number of dropped WAL bytes. The bytes belong to commits that a crash cut off before the commits were
    /// acknowledged.
    pub dropped_log_bytes: u64,
    /// The bytes of the manifest that were dropped: a change that a crash cut off.
    pub dropped_manifest_bytes: u64,
    /// The names of orphaned files that were removed.
    pub removed_files: Vec<String>,
    /// Corrupt files that were moved away, and missing files, each with its error.
    ///
    /// Corrupt files that were moved away, with their data. Reads of their keys may return older values, and deleted
    /// keys may reappear.
    pub quarantined_files: Vec<String>,
}
