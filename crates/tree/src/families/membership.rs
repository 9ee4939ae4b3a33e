//! The place of a tree among the families of a store.

use std::sync::Arc;

use super::memory_share::MemoryShare;
use super::shared_log::SharedLog;

/// The place of a tree among the families of a store.
pub(crate) struct Membership {
    /// The number of the family.
    pub(crate) family: usize,
    /// The WAL of all families.
    pub(crate) log: Arc<SharedLog>,
    /// The memory limit of all families, if the design has a limit.
    pub(crate) memory: Option<Arc<MemoryShare>>,
}
