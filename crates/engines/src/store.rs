//! Defines the interface of an open store.

use std::path::Path;
use std::time::Duration;

use workload::{Target, TargetError};

use crate::stats::EngineStats;

/// An open store of any engine: the operations of [`Target`], and the calls that lsmbench makes between phases.
///
/// A call that an engine may lack returns an `Option`, and `None` means that the engine has no such call.
pub trait Store: Target {
    /// Returns the version that the engine reports when it runs. `None` if the engine reports no version.
    fn version(&self) -> Option<String>;

    /// Returns the current counters and gauges of the store. Other threads may use the store during this call.
    fn stats(&self) -> EngineStats;

    /// Returns the time for which `settle` waits after the last background work has ended. The time is 0 if the engine
    /// reports the end of its background work. The work of any other engine counts as ended if nothing changes during
    /// this time.
    fn settle_margin(&self) -> Duration {
        Duration::ZERO
    }

    /// Compacts as much of the store as the engine can compact on request. Returns `None` if the engine has no such
    /// call.
    fn compact(&self) -> Option<Result<(), TargetError>> {
        None
    }

    /// Makes a copy of the store in `directory`, which must not exist. The copy is a separate store with all writes
    /// before the call. Returns `None` if the engine has no such call.
    fn checkpoint(&self, _: &Path) -> Option<Result<(), TargetError>> {
        None
    }

    /// Returns a handle for the operations on one column family. `None` if the store has no such family.
    fn family<'s>(&'s self, _: &str) -> Option<Box<dyn Target + 's>> {
        None
    }

    /// Closes the store: makes all writes durable, stops background work, and releases its files.
    ///
    /// # Errors
    /// The error of the engine.
    fn end(self: Box<Self>) -> Result<(), TargetError> {
        self.close()
    }
}
