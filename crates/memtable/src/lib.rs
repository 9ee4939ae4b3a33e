//! The memtables of the workbench. A memtable is a sorted structure in memory that collects writes until a flush.
//!
//! A [`MemtablePolicy`] creates the [`Memtable`]s of a tree. A memtable keeps all versions of a key, and a sequence
//! number orders these versions. [`CATALOG`] lists all memtables. This crate reads and writes no files. The crate
//! `tree` assigns the sequence numbers, and flushes a full memtable to an SSTable.
//!
//! ```
//! use lsmbench_memtable::CATALOG;
//! use types::{HashedKey, KeyHash, Lookup};
//!
//! let policy = CATALOG.build(&CATALOG.choose(&"skiplist".into())?)?;
//! let memtable = policy.create(1 << 20);
//! let key = HashedKey { bytes: b"key", hash: KeyHash(42) };
//! memtable.insert(key, 1, Some(b"value"));
//! memtable.insert(key, 2, None); // a tombstone
//!
//! let mut value = Vec::new();
//! assert_eq!(memtable.get(key, 2, &mut value), Lookup::Deleted);
//! assert_eq!(memtable.get(key, 1, &mut value), Lookup::Found, "a snapshot of sequence number 1 keeps the value");
//! assert_eq!(value, b"value");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
mod arena;
mod arena_skiplist;
mod art;
mod avl;
mod bplus;
mod bplus_node;
mod btree;
mod chain;
pub mod conformance;
mod filtered;
mod hash_skiplist;
mod hash_vector;
mod inline_key;
mod key_range;
mod memtable;
mod merged;
mod pass_on;
mod per_thread;
mod radix;
mod ring;
mod scc;
mod shard;
mod sharded_btree;
mod shared_arena;
mod skiplist;
mod sync;
mod vector;
mod version_map;
mod versions;

use catalog::Catalog;

pub use filtered::with_filter;
pub use key_range::with_key_range;
pub use memtable::{Memtable, MemtablePolicy, NewEntry};

/// All memtables. The first memtable is the baseline.
pub static CATALOG: Catalog<dyn MemtablePolicy> = Catalog::new(
    catalog::origin!(),
    "memtable",
    "the structure in memory that collects writes until a flush",
    &[
        btree::VARIANT,
        sharded_btree::VARIANT,
        skiplist::VARIANT,
        avl::VARIANT,
        arena_skiplist::VARIANT,
        hash_skiplist::VARIANT,
        per_thread::VARIANT,
        bplus::VARIANT,
        art::VARIANT,
        scc::VARIANT,
        vector::VARIANT,
        hash_vector::VARIANT,
    ],
);
