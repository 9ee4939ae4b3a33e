//! Describes `RocksDB` and its forks: their features, and how to find their libraries.

use super::api;
use crate::library::Wanted;

/// `RocksDB`, or a fork that kept the C interface of `RocksDB`.
pub(super) trait RocksDbFork: Send + Sync + 'static {
    /// The name of the engine in a design.
    const KIND: &'static str;
    /// The name of the shared library of the fork, and instructions to get it.
    const WANTED: Wanted;
    /// Whether a memtable can have a whole-key Bloom filter, as in `RocksDB` since 6.0.
    const FILTERS_MEMTABLES: bool = true;
    /// Whether the fork has ribbon filters, as in `RocksDB` since 6.15.
    const HAS_RIBBONS: bool = true;
    /// Whether the C interface has single deletes, as in `RocksDB` since 6.0.
    const HAS_SINGLE_DELETES: bool = true;
}

/// `RocksDB` itself.
pub(super) struct RocksDb;

impl RocksDbFork for RocksDb {
    const KIND: &'static str = "rocksdb";
    const WANTED: Wanted = Wanted {
        name: "librocksdb.so",
        variable: "LSMBENCH_ROCKSDB",
        advice: "extract the library from Maven's rocksdbjni, or build RocksDB with cmake \
                 -DROCKSDB_BUILD_SHARED=ON; then set engine.library or LSMBENCH_ROCKSDB to the path of the \
                 library. Alternatively, build lsmbench with --features rocksdb. docs/reference/engines.md \
                 has the commands",
        required: api::REQUIRED,
        namespace: "rocksdb::",
        has_fast_checksums: true,
    };
}

/// `SpeedB`, a fork of `RocksDB` 8.1.
pub(super) struct SpeedB;

impl RocksDbFork for SpeedB {
    const KIND: &'static str = "speedb";
    const WANTED: Wanted = Wanted {
        name: "libspeedb.so",
        variable: "LSMBENCH_SPEEDB",
        advice: "extract the library from Maven's speedbjni, or build SpeedB with cmake \
                 -DROCKSDB_BUILD_SHARED=ON; then set engine.library or LSMBENCH_SPEEDB to the path of the \
                 library. Alternatively, build lsmbench with --features speedb. docs/reference/engines.md \
                 has the commands",
        required: api::REQUIRED,
        namespace: "rocksdb::",
        has_fast_checksums: true,
    };
}

/// `TerarkDB`, a fork of `RocksDB` 5.18.
pub(super) struct TerarkDb;

impl RocksDbFork for TerarkDb {
    const KIND: &'static str = "terarkdb";
    const WANTED: Wanted = Wanted {
        name: "libterarkdb.so",
        variable: "LSMBENCH_TERARKDB",
        advice: "build TerarkDB as a shared library, and set engine.library or LSMBENCH_TERARKDB to the \
                 path of the library; docs/reference/engines.md has the commands",
        required: api::REQUIRED,
        namespace: "rocksdb::",
        has_fast_checksums: true,
    };
    const FILTERS_MEMTABLES: bool = false;
    const HAS_RIBBONS: bool = false;
    const HAS_SINGLE_DELETES: bool = false;
}
