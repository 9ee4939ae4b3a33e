//! The orders that `lsmbench torture kill` sends to its processes, and the memtable size of all stores.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use torture::kill::Commits;

/// The capacity of the memtables of a store in a kill test. A small capacity makes flushes frequent.
pub(super) const MEMTABLE: &str = "8KiB";

/// The orders that a process of the kill test receives as JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Orders {
    /// Write to a tree of lsmbench until killed.
    WriteTree(TreeOrders),
    /// Write to a store of an engine until killed.
    WriteEngine(EngineOrders),
    /// Check a store of an engine against the reports that its killed writers printed (the second field).
    CheckEngine(EngineOrders, String),
}

/// The arguments of a process that writes to a tree of lsmbench.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TreeOrders {
    /// The design, as TOML.
    pub(super) design: String,
    /// The directory of the store.
    pub(super) directory: PathBuf,
    /// The seed for the operations of the writers.
    pub(super) seed: u64,
    /// The number of commits of each writer that the store contains when the process starts.
    pub(super) from: Commits,
}

/// The arguments of a process that writes to a store of an engine, or checks such a store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EngineOrders {
    /// The label of the engine.
    pub(super) engine: String,
    /// The design, as TOML.
    pub(super) design: String,
    /// The directory of the store.
    pub(super) directory: PathBuf,
    /// The seed for the operations of the writers.
    pub(super) seed: u64,
    /// The number of commits of each writer that the store contains when the process starts.
    pub(super) from: Commits,
}
