//! The parameters with which an engine opens a store.

use std::path::{Path, PathBuf};

use tree::{Design, Mode};

use crate::options::EngineOptions;

/// The parameters with which an engine opens a store.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The directory of the store. The directory exists.
    pub directory: PathBuf,
    /// The whole design, for an engine that [reads it](crate::Engine::reads_whole_design).
    pub design: Design,
    /// The settings of the design, for engines other than lsmbench.
    pub options: EngineOptions,
    /// Whether threads do the background work, or the operations do the work at fixed points.
    pub mode: Mode,
    /// A clock in nanoseconds, which measures the time that writers wait.
    pub clock: fn() -> u64,
    /// The identity of the store, which its files contain. Set if equal operations must produce equal files.
    pub identity: Option<u64>,
}

impl Opening {
    /// Opens a store of `design` in `directory`, in timed mode, without a clock and without an identity.
    pub fn new(directory: &Path, design: &Design) -> Self {
        Self {
            directory: directory.to_owned(),
            design: design.clone(),
            options: EngineOptions::of(design),
            mode: Mode::Timed,
            clock: || 0,
            identity: None,
        }
    }
}
