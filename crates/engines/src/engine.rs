//! The interface of an engine before it is opened.

use std::path::PathBuf;

use catalog::Limit;
pub use results::UNEQUAL;
use thiserror::Error;
use tree::Design;
use workload::{Kind, TargetError};

use crate::entry_limits::EntryLimits;
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;
use crate::survival::Survival;

/// An engine: an ordered key-value store that can be opened in a directory.
///
/// The methods with a default body declare a capability that an engine may have beyond the minimum. The default body is
/// for engines other than the tree of lsmbench.
pub trait Engine: Send + Sync {
    /// Returns the version and the library of the engine, without running code of the engine.
    ///
    /// # Errors
    /// Returns the steps to get the engine, if the engine is not on this machine or not in this build.
    fn identify(&self) -> Result<Identity, Missing>;

    /// Lists each setting of `options` with the corresponding option of the engine, one per line. Settings that the
    /// engine cannot match come last, in lines that begin with [`UNEQUAL`].
    fn mapping(&self, options: &EngineOptions) -> Vec<String>;

    /// Opens the store in the directory of `opening`, which exists. If the directory contains no store, creates a
    /// store.
    ///
    /// # Errors
    /// The error of the engine.
    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError>;

    /// Whether a scan reads a consistent snapshot of the store. If not, a scan may see half of a batch.
    fn ranges_are_of_one_moment(&self) -> bool {
        true
    }

    /// Whether a batch of several writes is atomic. If not, a crash may leave a part of a batch.
    fn writes_batches_atomically(&self) -> bool {
        true
    }

    /// The writes that survive `kill -9` of the process, with a WAL mode. `None` if the store is not in the process.
    fn survival(&self, log: Log) -> Option<Survival> {
        Some(Survival::of_log(log))
    }

    /// The sizes of keys and values that stores with the settings `options` accept.
    fn entry_limits(&self, _options: &EngineOptions) -> EntryLimits {
        EntryLimits::default()
    }

    /// Whether the engine reads the complete design, rather than only [`EngineOptions`].
    fn reads_whole_design(&self) -> bool {
        false
    }

    /// Limits of stores of the engine. An engine that reads the complete design has the limits of the design.
    fn limits(&self, _: &Design) -> Vec<Limit> {
        Vec::new()
    }

    /// Whether the engine validates its options only when a store is opened. If so, the store of a single configuration
    /// may fail to open.
    fn may_reject_options(&self) -> bool {
        true
    }

    /// Whether a copy of a closed store opens as an equal store, so that the copy can be a fixture.
    fn stores_can_be_cloned(&self) -> bool {
        false
    }

    /// Whether stores of the engine can [compact](Store::compact) the whole store.
    fn compacts_on_request(&self) -> bool {
        false
    }

    /// Whether stores of the engine can make a [checkpoint](Store::checkpoint).
    fn makes_checkpoints(&self) -> bool {
        false
    }

    /// Whether stores of the engine have a call that [merges](workload::Target::merge) operands, with the operators
    /// of a design.
    fn merges(&self) -> bool {
        false
    }

    /// Whether stores of the engine have an atomic [conditional put](workload::Target::put_if_absent).
    fn puts_if_absent(&self) -> bool {
        false
    }

    /// Whether stores of the engine can [delete a range](workload::Target::delete_range) of keys.
    fn deletes_ranges(&self) -> bool {
        false
    }

    /// Whether stores of the engine can have [column families](Store::family) that are trees of their own.
    fn has_families(&self) -> bool {
        false
    }

    /// Whether stores of the engine have a call for [single deletes](workload::Target::single_delete).
    fn single_deletes(&self) -> bool {
        false
    }

    /// Whether an atomic batch of the engine can contain writes of a kind.
    fn batches(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Put | Kind::Insert | Kind::Delete)
    }

    /// Whether [`stats`](Store::stats) report how many sorted runs each level has and how long writers waited.
    fn reports_levels_and_stalls(&self) -> bool {
        false
    }

    /// Whether [`stats`](Store::stats) report the memory of every part of a store.
    fn reports_memory(&self) -> bool {
        false
    }

    /// Whether the engine uses the allocator of this program. If so, lsmbench can count the allocations of the engine.
    fn allocates_in_program(&self) -> bool {
        false
    }
}

/// The identity of an engine: version, library, and reasons to doubt its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Version of the engine, if known before a store is opened.
    pub version: Option<String>,
    /// Path of the shared library, if the engine is a shared library.
    pub library: Option<PathBuf>,
    /// The reasons why times of the engine are doubtful.
    pub doubts: Vec<String>,
}

/// The reason why an engine is unavailable.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Missing {
    /// No library with one of the names was found.
    #[error("no {names} in {searched}; {advice}")]
    NoLibrary {
        /// The names that were searched for.
        names: String,
        /// Places that were searched for the engine.
        searched: String,
        /// Advice on how to install the engine.
        advice: String,
    },
    /// The file is not a library of the engine.
    #[error("{}: {reason}", path.display())]
    NotThis {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the library cannot be used.
        reason: String,
    },
    /// The engine was not compiled in.
    #[error(
        "this build of lsmbench does not contain the engine; build with: cargo build --release --features {feature}"
    )]
    NotBuilt {
        /// The feature of the package `lsmbench` that contains the engine.
        feature: &'static str,
    },
}
