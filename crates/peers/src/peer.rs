//! What an engine is to a run: something that can be looked at, opened, and driven like our own tree.

use std::path::{Path, PathBuf};

use thiserror::Error;
use workload::{Target, TargetError};

use crate::budget::Budget;

/// What the axis `engine` chooses from.
pub enum Engine {
    /// Our own tree, assembled from the design of the cell.
    Tree,
    /// Another engine.
    Peer(Box<dyn Peer>),
}

/// Another engine, before it is opened.
pub trait Peer: Send + Sync {
    /// What would run. None of its code is run to find out.
    ///
    /// # Errors
    /// How to get it, where it is not there.
    fn identify(&self) -> Result<Identity, Missing>;

    /// What each term of `budget` becomes among its options, one a line; what cannot be made equal comes last, as
    /// lines that begin with [`UNEQUAL`].
    fn mapping(&self, budget: &Budget) -> Vec<String>;

    /// Whether a range sees the store as of one moment; where it does not, it may see half a batch.
    fn ranges_are_of_one_moment(&self) -> bool {
        true
    }

    /// Opens the store in `directory`, which exists, and makes it where there is none.
    ///
    /// # Errors
    /// What the engine says.
    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError>;
}

/// How lines of a mapping begin that name what is not equal.
pub const UNEQUAL: &str = "not equal: ";

/// A store of another engine, open.
pub trait Store: Target {
    /// The version of the engine as the running code tells it.
    fn version(&self) -> Option<String>;

    /// What the engine tells of itself now.
    fn stats(&self) -> Stats;
}

/// Which engine it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The version, as far as it can be told before it is opened.
    pub version: Option<String>,
    /// The shared library, where it is one.
    pub library: Option<PathBuf>,
    /// What makes its times doubtful.
    pub doubts: Vec<String>,
}

/// What an engine tells of itself; `None` is what it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of its sorted files, without logs.
    pub table_bytes: Option<u64>,
    /// Levels that hold something.
    pub levels: Option<u64>,
    /// Sorted runs.
    pub runs: Option<u64>,
    /// Bytes of memory in memtables.
    pub memtable_bytes: Option<u64>,
    /// Bytes of memory in the block cache.
    pub cache_bytes: Option<u64>,
    /// Bytes of memory in filters and indexes together.
    pub table_memory_bytes: Option<u64>,
    /// Bytes written to logs so far.
    pub wal_bytes: Option<u64>,
    /// Bytes written by flushes so far.
    pub flush_bytes: Option<u64>,
    /// Bytes read by compactions so far.
    pub compaction_bytes_read: Option<u64>,
    /// Bytes written by compactions so far.
    pub compaction_bytes_written: Option<u64>,
    /// Blocks found in the cache so far.
    pub blocks_from_cache: Option<u64>,
    /// Blocks not found in the cache so far.
    pub blocks_read: Option<u64>,
    /// Nanoseconds that writers waited so far.
    pub stall_ns: Option<u64>,
}

/// An engine that is not there.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Missing {
    /// No such library was found.
    #[error("no {names} in {searched}; {advice}")]
    NoLibrary {
        /// What was looked for.
        names: String,
        /// Where.
        searched: String,
        /// How to get it.
        advice: String,
    },
    /// The file is no library of the engine.
    #[error("{}: {reason}", path.display())]
    NotThis {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine was not compiled in.
    #[error("it is not in this build; cargo build --release --features {feature} builds it in")]
    NotBuilt {
        /// The feature of the package `lsmbench`.
        feature: &'static str,
    },
}
