//! Storage engines with a common interface: lsmbench's own tree, and all other engines that experiments can compare
//! with it.
//!
//! An engine is one file, or one folder, with one line in [`CATALOG`]. Engines that are shared libraries are loaded by
//! path when they are opened, so that several builds of them can run next to each other. Engines that are Rust crates
//! are compiled in with the features `peers` and `more-peers`, or with their own feature. The error of an unavailable
//! engine explains how to get the engine.
//!
//! An [`Engine`] opens a [`Store`] in a directory, and an [`OpenStore`] can also reopen the store. This crate measures
//! no time, because the crate `trial` runs and measures the operations.
//!
//! ```
//! use lsmbench_engines::{CATALOG, OpenStore, Opening};
//! use tree::Design;
//!
//! let engine = CATALOG.build(&CATALOG.choose(&"lsmbench".into())?)?;
//! let design = Design::default().with(&"storage = \"memory\"".parse()?)?;
//! let store = OpenStore::open(engine, Opening::new("db".as_ref(), &design))?;
//! store.target().put(b"key", b"value")?;
//!
//! let mut value = Vec::new();
//! assert!(store.target().get(b"key", &mut value)?);
//! assert_eq!(value, b"value");
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod bf_tree;
mod bundled;
mod canopydb;
pub mod conformance;
mod engine;
mod entry_limits;
mod family_target;
mod fjall;
mod fjall2;
mod leveldb;
mod library;
mod lmdb;
mod lsmbench;
mod open_store;
mod opening;
mod options;
mod prefixed;
mod redb;
mod resp;
mod rocksdb;
mod settle;
mod sled;
mod sqlite;
mod stats;
mod store;
mod surrealkv;
mod survival;
mod symbols;
mod tidesdb;
#[cfg(feature = "peers")]
mod walk;
mod wiredtiger;

use catalog::Catalog;

pub use engine::{Engine, Identity, MISMATCH, Missing};
pub use entry_limits::EntryLimits;
pub use family_target::FamilyTarget;
pub use open_store::{ClosedStore, OpenStore, disk_bytes};
pub use opening::Opening;
pub use options::{Codec, EngineOptions, Filters, Log, Reads, ValuePlace};
pub use stats::{EngineStats, Readings};
pub use store::Store;
pub use survival::Survival;

/// All engines. The first engine is lsmbench's own tree.
pub static CATALOG: Catalog<dyn Engine> = Catalog::new(
    catalog::origin!(),
    "engine",
    "the engine that runs, either lsmbench's own tree or another engine",
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
        sqlite::VARIANT,
        bf_tree::VARIANT,
        surrealkv::VARIANT,
        resp::VARIANT,
    ],
);
