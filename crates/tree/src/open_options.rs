//! The options with which a tree is opened.

use std::sync::Arc;

use cache::Cache;
use storage::Storage;

use crate::design::Design;
use crate::inner::Mode;

/// How to open a tree.
pub struct OpenOptions {
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    pub(crate) storage: Option<Arc<dyn Storage>>,
    pub(crate) cache: Option<Arc<dyn Cache>>,
    pub(crate) clock: fn() -> u64,
    pub(crate) quarantine: bool,
    pub(crate) identity: Option<u64>,
}

impl OpenOptions {
    /// Opens with this design, in [`Mode::Timed`].
    pub fn new(design: Design) -> Self {
        Self {
            design,
            mode: Mode::Timed,
            storage: None,
            cache: None,
            clock: || 0,
            quarantine: false,
            identity: None,
        }
    }

    /// When background work is done.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Uses this storage in place of the one the design names: to count, to inject faults, or to open again
    /// what lives in memory.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.storage = Some(storage);
        self
    }

    /// Shares this cache with other trees, in place of the one the design names.
    #[must_use]
    pub fn cache(mut self, cache: Arc<dyn Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// A clock in nanoseconds for the time that writers wait and that merges take; without one these times are 0.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }

    /// Goes on without files that are damaged: they are moved to `quarantine/` in the tree's directory, and
    /// what they held is missing. Without this, damage is an error.
    #[must_use]
    pub fn quarantine(mut self, quarantine: bool) -> Self {
        self.quarantine = quarantine;
        self
    }

    /// What a new tree is told from other trees by, in place of a random number: so that the same life leaves
    /// the same bytes. A tree that is there keeps what it has.
    #[must_use]
    pub fn identity(mut self, identity: u64) -> Self {
        self.identity = Some(identity);
        self
    }
}
