//! The orders of the processes of `lsmbench torture kill`, and the constants of all stores.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use torture::kill::Commits;

/// The capacity of memtables. A small capacity causes frequent flushes.
pub(super) const MEMTABLE: &str = "8KiB";

/// The task of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Orders {
    /// Write to a tree until killed.
    WriteTree(TreeOrders),
    /// Write to a store of any engine until killed.
    WriteEngine(EngineOrders),
    /// Check a store of any engine against the reports of its killed writers.
    CheckEngine(EngineOrders, String),
}

/// The tree of a writer process.
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

/// The store of any engine of a process.
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
