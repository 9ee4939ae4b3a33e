//! Defines the kinds of stores on which a race can run.

use tree::wal::WalMode;
use tree::{Design, Error, Result};

use super::families::TimedFamiliesMaker;
use super::store::{SharedMaker, TimedMaker};

/// A kind of store on which a race can run, such as a tree of one design.
pub struct Contestant {
    /// The name of this kind of store.
    pub name: String,
    /// The WAL mode of the store, which determines when a write is acknowledged.
    pub wal: WalMode,
    /// Opens stores of this kind.
    pub maker: Box<dyn SharedMaker>,
}

impl Contestant {
    /// Creates a contestant of the race whose stores are trees of `design` in `timed` mode. A store is one tree, or one
    /// tree per column family.
    ///
    /// # Errors
    /// The WAL mode of the design cannot be built, or is not supported with column families.
    pub fn tree(name: &str, design: Design) -> Result<Self> {
        let wal = tree::wal::CATALOG.build(design.choice("wal"));
        let wal = wal.map_err(|error| Error::Misuse(error.message))?.mode();
        let maker: Box<dyn SharedMaker> = match design.has_family_trees() {
            true if wal.period.is_some() => {
                let message = "column families cannot use a WAL with periodic syncs; use wal = \
                               \"buffered\", \"sync\", \"group\" or \"none\"";
                return Err(Error::Misuse(message.to_owned()));
            }
            true => Box::new(TimedFamiliesMaker(design)),
            false => Box::new(TimedMaker(design)),
        };
        Ok(Self { name: name.to_owned(), wal, maker })
    }
}
