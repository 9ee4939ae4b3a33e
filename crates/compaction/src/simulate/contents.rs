//! The entries of simulated SSTables, which a merge changes.

use std::sync::Arc;

use crate::shape::{TableId, TableShape};

/// The entries of the SSTables of a simulated tree. One implementation stores exact keys, and another stores expected
/// numbers of entries.
pub trait Contents {
    /// Merges SSTables into new SSTables. `inputs` are the SSTables of each input run, the newest run first.
    fn merge(&mut self, inputs: &[Vec<TableShape>], terms: &MergeTerms<'_>) -> Vec<TableShape>;

    /// Removes the entries of SSTables that are no longer in the tree.
    fn forget(&mut self, tables: &[TableId]);
}

/// The parameters of a merge, such as the keys that divide its output.
pub struct MergeTerms<'a> {
    /// The number of the first output SSTable. The next output SSTables have the next numbers.
    pub first_table: TableId,
    /// The keys at which the policy divides the output, in ascending order.
    pub cuts: &'a [Arc<[u8]>],
    /// Whether the merge drops tombstones, because no data is older than the output.
    pub drops_tombstones: bool,
}
