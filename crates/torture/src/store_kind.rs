//! Defines a kind of store under test, with the promises of its WAL mode.

use tree::wal::WalMode;
use tree::{Design, Error, Result};

use crate::families::FamiliesMaker;
use crate::subject::{Maker, TreeMaker};

/// A kind of store under test, such as a tree of one design. Its WAL mode determines how many commits must survive a
/// crash.
pub struct StoreKind {
    /// The name of the kind of store.
    pub name: String,
    /// The WAL mode of the store, which determines which commits must survive a crash.
    pub wal: WalMode,
    /// Opens stores of this kind.
    pub maker: Box<dyn Maker>,
}

impl StoreKind {
    /// Creates the kind of store for a design: one tree, or one tree per column family.
    ///
    /// # Errors
    /// The WAL mode of the design cannot be built. With column families, a WAL mode without a WAL or with periodic
    /// syncs is also an error, because the commits of different families may then not survive in order.
    pub fn tree(name: &str, design: Design) -> Result<Self> {
        let wal = tree::wal::CATALOG.build(design.choice("wal"));
        let wal = wal.map_err(|error| Error::Misuse(error.message))?.mode();
        let maker: Box<dyn Maker> = match design.has_family_trees() {
            true if !wal.has_log || wal.period.is_some() => {
                let message = "the torture tests need column families whose commits survive in order; use \
                               wal = \"buffered\", \"sync\" or \"group\"";
                return Err(Error::Misuse(message.to_owned()));
            }
            true => Box::new(FamiliesMaker(design)),
            false => Box::new(TreeMaker(design)),
        };
        Ok(Self { name: name.to_owned(), wal, maker })
    }
}
