//! The membership of the tree of a column family in its store.

use std::sync::Arc;

use types::SequenceNumber;

use super::memory_share::MemoryShare;
use super::shared_log::SharedLog;
use crate::manifest::FamilyIdentity;

/// The membership of the tree of a column family in its store: the number and the identity of the family, and the WAL
/// and the memory limit that all families share.
pub(crate) struct Membership {
    /// The number of the column family in its store.
    pub(crate) family: usize,
    /// The identity of the column family: its name and its store.
    pub(crate) identity: FamilyIdentity,
    /// The last sequence number of the column family in the removed WAL segments, which no longer existed when the
    /// store was opened. 0 if the removed segments had no writes of the family.
    pub(crate) released: SequenceNumber,
    /// The WAL that all column families of the store share.
    pub(crate) log: Arc<SharedLog>,
    /// The memory limit that all column families of the store share. `None` if the design has no memory limit.
    pub(crate) memory: Option<Arc<MemoryShare>>,
}
