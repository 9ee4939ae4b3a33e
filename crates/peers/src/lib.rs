//! Other engines behind the interface that our own tree is driven through.
//!
//! An engine is one file, or one folder, with one line in [`CATALOG`]. Those that are shared libraries are loaded
//! when they are opened, by path, so that any build of them can run beside any other; those that are crates are
//! compiled in with the feature `peers`, or with one of their own. What is not there says how to get it.

mod budget;
mod bundled;
mod canopydb;
mod fjall;
mod fjall2;
mod leveldb;
mod library;
mod lmdb;
mod lsmbench;
mod peer;
mod redb;
mod rocksdb;
mod settle;
mod sled;
mod symbols;
mod tidesdb;
#[cfg(feature = "peers")]
mod walk;
mod wiredtiger;

use catalog::Catalog;

pub use budget::{Budget, Codec, Filters, Log, Reads};
pub use peer::{Engine, Identity, Missing, Peer, Stats, Store, UNEQUAL};

/// All engines. The first is our own tree.
pub static CATALOG: Catalog<Engine> = Catalog::new(
    catalog::origin!(),
    "engine",
    "which engine runs: our own tree, or another one beside it",
    &[
        lsmbench::VARIANT,
        rocksdb::VARIANT,
        rocksdb::SPEEDB,
        rocksdb::TERARKDB,
        leveldb::VARIANT,
        fjall::VARIANT,
        fjall2::VARIANT,
        lmdb::VARIANT,
        redb::VARIANT,
        canopydb::VARIANT,
        sled::VARIANT,
        tidesdb::VARIANT,
        wiredtiger::VARIANT,
    ],
);
