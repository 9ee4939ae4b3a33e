//! The family number of a tree, and the WAL and memory limit that the tree shares with the other families of its store.

use std::sync::Arc;

use super::memory_share::MemoryShare;
use super::shared_log::SharedLog;

/// The family number of a tree, and the WAL and memory limit that the tree shares with the other families of its store.
pub(crate) struct Membership {
    /// The number of the family.
    pub(crate) family: usize,
    /// The WAL of all families.
    pub(crate) log: Arc<SharedLog>,
    /// The memory limit of all families, if the design has a limit.
    pub(crate) memory: Option<Arc<MemoryShare>>,
}
