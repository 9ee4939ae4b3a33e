//! The report of recovery.

/// The report of recovery: the files that opening the tree found, replayed, removed or quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The number of operations that recovery replayed from the WAL.
    pub replayed_operations: u64,
    /// The number of WAL bytes that recovery dropped. These bytes belong to commits that a crash interrupted before
    /// the tree acknowledged them.
    pub dropped_log_bytes: u64,
    /// The number of manifest bytes that recovery dropped. These bytes belong to a change that a crash interrupted.
    pub dropped_manifest_bytes: u64,
    /// The names of the orphaned files that recovery removed.
    pub removed_files: Vec<String>,
    /// The corrupt and the missing files, each with its error.
    ///
    /// Recovery moved the corrupt files to the quarantine together with their data. Reads of their keys may return
    /// older values, and deleted keys may reappear.
    pub quarantined_files: Vec<String>,
}
