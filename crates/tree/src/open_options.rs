//! The options with which a tree is opened.

use std::sync::Arc;

use cache::Cache;
use storage::Storage;

use crate::design::Design;
use crate::families::Membership;
use crate::inner::Mode;

/// The options for opening a tree.
pub struct OpenOptions {
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    pub(crate) storage: Option<Arc<dyn Storage>>,
    pub(crate) cache: Option<Arc<dyn Cache>>,
    pub(crate) clock: fn() -> u64,
    pub(crate) quarantine: bool,
    pub(crate) create_if_missing: bool,
    pub(crate) error_if_exists: bool,
    pub(crate) identity: Option<u64>,
    /// The family number of the tree, and the WAL and memory limit of its store. `None` if the tree is not a family of
    /// a store.
    pub(crate) membership: Option<Membership>,
}

impl OpenOptions {
    /// Creates options that open a tree with this design, in [`Mode::Timed`].
    pub fn new(design: Design) -> Self {
        Self {
            design,
            mode: Mode::Timed,
            storage: None,
            cache: None,
            clock: || 0,
            quarantine: false,
            create_if_missing: true,
            error_if_exists: false,
            identity: None,
            membership: None,
        }
    }

    /// Sets where flushes and compactions run: on background threads, or inside the writes. The default is
    /// [`Mode::Timed`].
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Replaces the storage of the design, for example to count calls, to inject faults, or to reopen a store in
    /// memory.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.storage = Some(storage);
        self
    }

    /// Replaces the cache of the design with a cache that several trees may share.
    #[must_use]
    pub fn cache(mut self, cache: Arc<dyn Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the clock that measures the times of write stalls and compactions. `clock` returns nanoseconds. Without a
    /// clock, these times are 0.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }

    /// Sets whether opening moves corrupt files to `quarantine/` in the tree's directory, and then opens the tree
    /// without their data. With `false`, the default, opening fails if a file is corrupt.
    #[must_use]
    pub fn quarantine(mut self, quarantine: bool) -> Self {
        self.quarantine = quarantine;
        self
    }

    /// Sets whether a missing tree is created. The default is `true`. With `false`, opening fails if the tree is
    /// missing, and creates no file.
    #[must_use]
    pub fn create_if_missing(mut self, create: bool) -> Self {
        self.create_if_missing = create;
        self
    }

    /// Sets whether opening fails if the tree already exists. The default is `false`.
    #[must_use]
    pub fn error_if_exists(mut self, error: bool) -> Self {
        self.error_if_exists = error;
        self
    }

    /// Sets the identity of a new tree. Without this option, the identity is random. With equal identities, equal
    /// operations write equal bytes to storage. If the tree already exists, it keeps its identity.
    #[must_use]
    pub fn identity(mut self, identity: u64) -> Self {
        self.identity = Some(identity);
        self
    }
}
