//! The entries of the SSTables in a simulated tree.

use std::sync::Arc;

use crate::shape::{TableId, TableShape};

/// Stores the entries of simulated SSTables, and merges them. One implementation stores exact keys
/// ([`ExactKeys`](crate::ExactKeys)), and another stores expected numbers of entries ([`Spread`](crate::Spread)).
pub trait Contents {
    /// Merges the SSTables `inputs` into new SSTables, and returns the new SSTables in key order. `inputs` contains
    /// the SSTables of each input run, newest run first.
    fn merge(&mut self, inputs: &[Vec<TableShape>], terms: &MergeTerms<'_>) -> Vec<TableShape>;

    /// Removes the entries of SSTables that the tree no longer has.
    fn forget(&mut self, tables: &[TableId]);
}

/// The parameters of a merge of simulated SSTables: the number of its first output SSTable, the keys that divide the
/// output, and the treatment of tombstones.
pub struct MergeTerms<'a> {
    /// The number of the first output SSTable. The next output SSTables have the next numbers.
    pub first_table: TableId,
    /// The keys at which the policy divides the output of the merge, in ascending order.
    pub cuts: &'a [Arc<[u8]>],
    /// Whether the merge drops tombstones, because no data is older than the output.
    pub drops_tombstones: bool,
}
