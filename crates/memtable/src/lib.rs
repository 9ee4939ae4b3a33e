//! The memtables of the workbench. A memtable is a sorted structure in memory that collects writes until a flush.

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
