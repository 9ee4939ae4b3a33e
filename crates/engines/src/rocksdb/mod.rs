//! `RocksDB` and the forks that kept its C interface: `SpeedB`, `TerarkDB` and `ToplingDB`.
//!
//! The library is loaded by its path when a store is opened. Several builds of version 5.18 or later can therefore run
//! next to each other. If the user names no library, and a library was linked into this program when it was built, the
//! linked library is used. Source: `include/rocksdb/c.h` of `RocksDB` 5.18, 7.8 and 11.8.

mod api;
mod callbacks;
mod fork;
mod linked;
mod merge_operator;
mod options;
mod overrides;
mod params;
mod source;
mod store;

use std::marker::PhantomData;

use catalog::{Build, Limit, Variant};
use workload::{Kind, TargetError};

use crate::bundled::without_filters;
use crate::engine::{Engine, Identity, MISMATCH, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Filters};
use crate::store::Store;
use fork::{RocksDb, RocksDbFork, SpeedB, TerarkDb};
use overrides::Overrides;
use params::{CacheKind, Params};
use source::LibrarySource;

/// Returns the parameters of a fork as TOML with comments. The texts of two forks differ only in the name of the fork,
/// and in the places where its library is found.
macro_rules! reference {
    ($kind:literal, $variable:literal, $else:literal) => {
        concat!(
            "# Path of the shared library. An empty path selects the library that the environment variable\n# ",
            $variable,
            " names, or else ",
            $else,
            ".\nlibrary = \"\"\n# Name of the engine in results. Set a name if \"",
            $kind,
            "\" does not distinguish two libraries.\nlabel = \"\"\n\
             # Compaction style. Valid values: leveled, universal.\n\
             compaction = \"leveled\"\n\
             # Kind of block cache. Valid values: lru, and hyper-clock if the library has this kind.\n\
             cache = \"lru\"\n\
             # Whether the engine counts events, such as bytes per flush and compaction. Counting makes the engine\n\
             # a few percent slower.\n\
             statistics = false\n\
             # Whether gets and scans compute the checksum of each block that is not in the block cache. The blocks of\n\
             # mapped SSTables are never in the block cache.\n\
             verify_checksums = true\n\
             # Further options in the syntax of RocksDB options files, such as\n\
             # max_bytes_for_level_base=64M;num_levels=5. These options override all other options.\n\
             options = \"\"\n"
        )
    };
}

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<Member<RocksDb>>(
    "rocksdb",
    "RocksDB, or another library with its C interface, loaded from a path or built in",
    reference!(
        "rocksdb",
        "LSMBENCH_ROCKSDB",
        "the library built in with --features rocksdb, or else the system's librocksdb.so"
    ),
)
.limited(&[Limit::NotDeterministic]);

pub(crate) const SPEEDB: Variant<dyn Engine> = Variant::new::<Member<SpeedB>>(
    "speedb",
    "SpeedB, a fork of RocksDB 8.1, loaded from a path or built in",
    reference!(
        "speedb",
        "LSMBENCH_SPEEDB",
        "the library built in with --features speedb, or else the system's libspeedb.so"
    ),
)
.limited(&[Limit::NotDeterministic]);

pub(crate) const TERARKDB: Variant<dyn Engine> = Variant::new::<Member<TerarkDb>>(
    "terarkdb",
    "TerarkDB, a fork of RocksDB 5.18, loaded from a path",
    reference!("terarkdb", "LSMBENCH_TERARKDB", "the system's libterarkdb.so"),
)
.limited(&[Limit::NotDeterministic]);

/// An engine with the C interface of `RocksDB`: the fork `K` with its parameters.
struct Member<K> {
    params: Params,
    overrides: Overrides,
    fork: PhantomData<K>,
}

impl<K: RocksDbFork> Build<dyn Engine> for Member<K> {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        let overrides = Overrides::parse(&params.options)?;
        Ok(Box::new(Self { params, overrides, fork: PhantomData::<K> }))
    }
}

impl<K: RocksDbFork> Member<K> {
    /// Whether stores use the library that is linked into this program. The result is true if the linked library
    /// belongs to this fork, and neither the parameters nor the environment name another library.
    fn is_linked(&self) -> bool {
        linked::KIND == Some(K::KIND) && !K::WANTED.is_named(&self.params.library)
    }

    /// Returns the settings that the fork supports. Without memtable filters in the fork, the settings have no memtable
    /// filter. Unsupported filters of SSTables become Bloom filters.
    fn terms(settings: &EngineOptions) -> EngineOptions {
        let filter = if K::FILTERS_MEMTABLES { settings.memtable_filter_bytes } else { 0 };
        let has_ribbons = K::HAS_RIBBONS && settings.filters == Filters::Ribbon;
        let filters = if has_ribbons { Filters::Ribbon } else { Filters::Bloom };
        EngineOptions { memtable_filter_bytes: filter, filters, ..settings.clone() }
    }

    fn source(&self) -> Result<LibrarySource, Missing> {
        #[cfg(any(feature = "rocksdb", feature = "speedb"))]
        if self.is_linked() {
            return Ok(LibrarySource::Program);
        }
        Ok(LibrarySource::File(K::WANTED.find(&self.params.library)?))
    }
}

impl<K: RocksDbFork> Engine for Member<K> {
    fn identify(&self) -> Result<Identity, Missing> {
        match self.is_linked() {
            true => Ok(linked::identity()),
            false => K::WANTED.identify(&self.params.library),
        }
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn single_deletes(&self) -> bool {
        K::HAS_SINGLE_DELETES
    }

    fn batches(&self, kind: Kind) -> bool {
        Kind::BATCHED.contains(&kind) && (kind != Kind::SingleDelete || self.single_deletes())
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let terms = Self::terms(settings);
        let mut lines = options::mapping(&self.params, &self.overrides, &terms);
        if terms.filters != settings.filters {
            lines.extend(without_filters(settings, K::KIND));
        }
        if terms.memtable_filter_bytes != settings.memtable_filter_bytes {
            lines.push(format!("{MISMATCH}memtable filter: {} has no whole-key memtable filter", K::KIND));
        }
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        let source = self.source()?;
        let setup = store::Setup {
            version: source.version(),
            options: options::text(&self.params, &self.overrides, &Self::terms(settings)),
            log: settings.log,
            merge_operator: settings.merge_operator,
            statistics: self.params.statistics,
            verify_checksums: self.params.verify_checksums,
            hyper_clock: (self.params.cache == CacheKind::HyperClock && settings.cache_bytes > 0)
                .then_some(settings),
        };
        Ok(Box::new(store::RocksDbStore::open(&source, directory, &setup)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_nobody_can_read_are_refused() {
        let params = Params { options: "write_buffer_size".to_owned(), ..Params::default() };
        let refused = Member::<RocksDb>::build(params).err().unwrap();
        assert!(refused.starts_with("options: \"write_buffer_size\" is not key=value"), "{refused}");
    }

    #[test]
    fn reads_without_checksums_are_a_mismatch() {
        let lines = |verify_checksums| {
            let params = Params { verify_checksums, ..Params::default() };
            Member::<RocksDb>::build(params).unwrap().mapping(&EngineOptions::default()).join("\n")
        };
        assert!(!lines(true).contains("checksums"), "{}", lines(true));
        assert!(lines(false).contains("mismatch: checksums: gets and scans of RocksDB verify no"));
    }

    #[test]
    fn a_filter_that_one_of_the_family_cannot_have_is_told() {
        let settings = EngineOptions {
            memtable_filter_bytes: 1 << 10,
            filters: Filters::Ribbon,
            ..EngineOptions::default()
        };
        let lines = |engine: &dyn Engine| engine.mapping(&settings).join("\n");
        let overrides = || Overrides::parse("").unwrap();
        let (params, fork) = (Params::default(), PhantomData::<RocksDb>);
        let rocksdb = lines(&Member { params, overrides: overrides(), fork });
        assert!(rocksdb.contains("memtable_whole_key_filtering=true"), "{rocksdb}");
        assert!(
            rocksdb.contains("ribbonfilter:14.286:-1") && !rocksdb.contains("ribbon filters:"),
            "{rocksdb}"
        );
        let (params, fork) = (Params::default(), PhantomData::<TerarkDb>);
        let terarkdb = lines(&Member { params, overrides: overrides(), fork });
        assert!(!terarkdb.contains("memtable_whole_key_filtering"), "{terarkdb}");
        assert!(
            terarkdb.contains("mismatch: memtable filter: terarkdb has no whole-key memtable filter"),
            "{terarkdb}"
        );
        assert!(terarkdb.contains("mismatch: ribbon filters: terarkdb uses Bloom filters"), "{terarkdb}");
        let settings = EngineOptions { filters: Filters::Other("xor".to_owned()), ..settings };
        let (params, fork) = (Params::default(), PhantomData::<RocksDb>);
        let lines = Member { params, overrides: overrides(), fork }.mapping(&settings).join("\n");
        assert!(lines.contains("bloomfilter:10:false"), "{lines}");
        assert!(lines.contains("mismatch: xor filters: rocksdb uses Bloom filters"), "{lines}");
    }
}
