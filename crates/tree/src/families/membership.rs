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
    /// The last sequence number of the family in the segments of the WAL that were removed before the opening.
    pub(crate) released: SequenceNumber,
    /// The WAL of all families.
    pub(crate) log: Arc<SharedLog>,
    /// The memory limit of all families, if the design has a limit.
    pub(crate) memory: Option<Arc<MemoryShare>>,
}
