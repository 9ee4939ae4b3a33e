//! The family number of a tree, and the WAL and memory limit that the tree shares with the other families of its store.

use std::sync::Arc;

use types::SequenceNumber;

use super::memory_share::MemoryShare;
use super::shared_log::SharedLog;
use crate::manifest::FamilyIdentity;

/// The family number of a tree, and the WAL and memory limit that the tree shares with the other families of its store.
pub(crate) struct Membership {
    /// The number of the family.
    pub(crate) family: usize,
    /// The identity of the family.
    pub(crate) identity: FamilyIdentity,
    /// The last sequence number of the family in the WAL segments that were removed before the store was opened. 0 if
    /// these segments had no writes of the family.
    pub(crate) released: SequenceNumber,
    /// The WAL of all families.
    pub(crate) log: Arc<SharedLog>,
    /// The memory limit that all families share. `None` if the design has no memory limit.
    pub(crate) memory: Option<Arc<MemoryShare>>,
}
