//! Defines the parameters with which an engine opens a store.

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
    /// The settings that engines other than lsmbench read, derived from the design.
    pub options: EngineOptions,
    /// Who does flushes and compactions: background threads, or the operations themselves at fixed points so that
    /// counts are reproducible.
    pub mode: Mode,
    /// A clock in nanoseconds, with which the store measures how long writers wait.
    pub clock: fn() -> u64,
    /// An identifier that the store writes into its files. `Some` if the same operations must produce identical files.
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
