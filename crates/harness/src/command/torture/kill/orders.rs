//! The orders that the processes of `lsmbench torture kill` receive, and the constants of all stores.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use torture::kill::Commits;

/// The capacity of memtables. A small capacity causes frequent flushes.
pub(super) const MEMTABLE: &str = "8KiB";

/// The task that a process receives.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Orders {
    /// Write to a tree until killed.
    WriteTree(TreeOrders),
    /// Write to a store of any engine until killed.
    WriteEngine(EngineOrders),
    /// Check a store of any engine against the reports of its killed writers.
    CheckEngine(EngineOrders, String),
}

/// The tree to which a writer process writes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TreeOrders {
    /// The design, as TOML.
    pub(super) design: String,
    /// The directory of the store.
    pub(super) directory: PathBuf,
    /// The seed for the operations of the writers.
    pub(super) seed: u64,
    /// The number of commits of each writer that the store already contains.
    pub(super) from: Commits,
}

/// The store of any engine to which a process writes, or which a process checks.
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
    /// The number of commits of each writer that the store already contains.
    pub(super) from: Commits,
}
