//! The entries of simulated tables, which a merge changes.

use std::sync::Arc;

use crate::shape::{TableId, TableShape};

/// The entries of the tables of a simulated tree: their exact keys, or expected numbers.
pub trait Contents {
    /// Merges tables into new ones. `inputs` are the tables of each run, the newest run first.
    fn merge(&mut self, inputs: &[Vec<TableShape>], terms: &MergeTerms<'_>) -> Vec<TableShape>;

    /// Forgets the entries of tables that are no longer in the tree.
    fn forget(&mut self, tables: &[TableId]);
}

/// The conditions of a merge.
pub struct MergeTerms<'a> {
    /// The number of the first output table; the next tables have the next numbers.
    pub first_table: TableId,
    /// The keys at which the policy cuts the output, in ascending order.
    pub cuts: &'a [Arc<[u8]>],
    /// Whether no older data is below the output, so that tombstones go.
    pub drops_tombstones: bool,
}
