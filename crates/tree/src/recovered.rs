//! The report of recovery: the replayed operations, and the files that recovery changed or dropped when a store was
//! opened.

/// The report of recovery: the replayed operations, and the data and files that were dropped, removed or quarantined
/// when the tree was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The number of operations that recovery replayed from the WAL.
    pub replayed_operations: u64,
    /// The number of bytes that recovery dropped at the end of WALs, from the first record that a crash left
    /// incomplete. The dropped commits were not acknowledged, or were acknowledged without a sync before a power loss.
    pub dropped_log_bytes: u64,
    /// The number of manifest bytes that recovery dropped. These bytes are from a change that a crash interrupted.
    pub dropped_manifest_bytes: u64,
    /// The names of the orphaned files that recovery removed.
    pub removed_files: Vec<String>,
    /// The corrupt files and the missing files, each with its error, in the form `name: error`.
    ///
    /// Recovery moved the corrupt files to the quarantine together with their data. Reads of their keys may return
    /// older values, and deleted keys may reappear.
    pub quarantined_files: Vec<String>,
}

impl Recovery {
    /// Adds the recovery report of the tree in the subdirectory `name` to this report. The subdirectory comes before
    /// each file name.
    pub(crate) fn add(&mut self, tree: &Self, name: &str) {
        let named = |files: &[String]| files.iter().map(|file| format!("{name}/{file}")).collect::<Vec<_>>();
        self.replayed_operations += tree.replayed_operations;
        self.dropped_log_bytes += tree.dropped_log_bytes;
        self.dropped_manifest_bytes += tree.dropped_manifest_bytes;
        self.removed_files.extend(named(&tree.removed_files));
        self.quarantined_files.extend(named(&tree.quarantined_files));
    }
}
