//! Defines the interface of an engine before a store is opened.

use std::path::PathBuf;

use catalog::Limit;
pub use results::MISMATCH;
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
/// Most methods with a default body declare whether the engine has an optional capability. The default body returns the
/// value that is right for most engines other than the tree of lsmbench.
pub trait Engine: Send + Sync {
    /// Returns the version and the library of the engine, without running code of the engine.
    ///
    /// # Errors
    /// The engine is not on this machine or not in this build. The error explains how to get the engine.
    fn identify(&self) -> Result<Identity, Missing>;

    /// Returns one line per setting of `options`. A line names the option of the engine that corresponds to the
    /// setting. Lines about settings that the engine cannot match begin with [`MISMATCH`].
    fn mapping(&self, options: &EngineOptions) -> Vec<String>;

    /// Opens the store in `opening.directory`, which must exist. If the directory contains no store, creates a store.
    ///
    /// # Errors
    /// The error of the engine, for example if the files are corrupt or an option is invalid.
    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError>;

    /// Returns whether a scan reads a consistent snapshot of the store. If not, a scan may see half of a batch.
    fn ranges_are_of_one_moment(&self) -> bool {
        true
    }

    /// Whether a batch of several writes is atomic. If not, only a part of a batch may survive a crash.
    fn writes_batches_atomically(&self) -> bool {
        true
    }

    /// Returns which writes survive `kill -9` of this process when the WAL mode is `log`. Returns `None` if another
    /// process, such as a server, holds the store.
    fn survival(&self, log: Log) -> Option<Survival> {
        Some(Survival::of_log(log))
    }

    /// Returns the sizes of keys and values that stores with the settings `options` accept.
    fn entry_limits(&self, _options: &EngineOptions) -> EntryLimits {
        EntryLimits::default()
    }

    /// Whether the engine reads the complete design. If not, the engine reads only [`EngineOptions`].
    fn reads_whole_design(&self) -> bool {
        false
    }

    /// Returns the limits of the engine's stores, such as [`Limit::NotDurable`]. An engine that reads the complete
    /// design has the limits of the design.
    fn limits(&self, _: &Design) -> Vec<Limit> {
        Vec::new()
    }

    /// Whether the engine validates its options only when a store is opened. If so, lsmbench opens an empty store for
    /// each configuration before a run. If a trial fails nevertheless, only its configuration ends, and not the whole
    /// run.
    fn may_reject_options(&self) -> bool {
        true
    }

    /// Whether a copy of the files of a closed store opens as an identical store. If so, lsmbench can save the copy as
    /// a fixture, and start several trials from it.
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

    /// Whether stores of the engine have a call that [merges](workload::Target::merge) operands with the merge operator
    /// of the design.
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

    /// Whether stores of the engine can have [column families](Store::family) that are separate trees.
    fn has_families(&self) -> bool {
        false
    }

    /// Whether stores of the engine have a call for [single deletes](workload::Target::single_delete).
    fn single_deletes(&self) -> bool {
        false
    }

    /// Whether an atomic batch of the engine can contain writes of the given kind.
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

    /// Whether the engine uses the memory allocator of this program. If so, lsmbench can count the allocations of the
    /// engine.
    fn allocates_in_program(&self) -> bool {
        false
    }
}

/// The identity of an engine: version, library, and reasons why its measured times are doubtful.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Version of the engine, if known before a store is opened.
    pub version: Option<String>,
    /// Path of the shared library, if the engine is a shared library.
    pub library: Option<PathBuf>,
    /// The reasons why measured times of the engine are doubtful, such as a build with assertions. Empty if there are
    /// none.
    pub doubts: Vec<String>,
}

/// The reason why an engine is unavailable.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Missing {
    /// No library or program of the engine was found.
    #[error("cannot find {names} in {searched}; {advice}")]
    NoLibrary {
        /// The name of the library, or of the program, that was searched for.
        names: String,
        /// The folders that were searched for the library.
        searched: String,
        /// Instructions to install the engine.
        advice: String,
    },
    /// The file is not a usable library of the engine.
    #[error("{}: {reason}", path.display())]
    NotThis {
        /// The path of the file that is not a usable library.
        path: PathBuf,
        /// The reason why the file is not usable as a library of the engine.
        reason: String,
    },
    /// The engine was not compiled into this program.
    #[error(
        "this build of lsmbench does not contain the engine; build with: cargo build --release --features {feature}"
    )]
    NotBuilt {
        /// The Cargo feature of the package `lsmbench` that compiles in the engine.
        feature: &'static str,
    },
}
