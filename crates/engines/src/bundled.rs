//! Helpers shared by the engines that are crates. A build contains such an engine only if its feature is enabled.
//!
//! A mapping line is one line of [`Engine::mapping`](crate::Engine::mapping). The line names a setting of the design
//! and the corresponding option of the engine.

use types::quantity::format_bytes;

use crate::engine::{Identity, Missing, UNEQUAL};
use crate::options::{Codec, EngineOptions, Filters, Log, Reads, ValuePlace};

/// A group of engines that one feature compiles in.
pub(crate) struct Bundle {
    feature: &'static str,
    is_built: bool,
}

/// The engines of the feature `peers`.
pub(crate) const PEERS: Bundle = Bundle { feature: "peers", is_built: cfg!(feature = "peers") };

/// The engines of the feature `more-peers`.
pub(crate) const MORE_PEERS: Bundle =
    Bundle { feature: "more-peers", is_built: cfg!(feature = "more-peers") };

impl Bundle {
    /// The version of an engine of the group, or an error if the group is not built in. An empty version means that the
    /// engine reports its version only when it runs.
    pub(crate) fn identify(&self, version: &str) -> Result<Identity, Missing> {
        if self.is_built {
            let version = Some(version.to_owned()).filter(|version| !version.is_empty());
            Ok(Identity { version, ..Identity::default() })
        } else {
            Err(Missing::NotBuilt { feature: self.feature })
        }
    }
}

/// Opens a store if the feature with its adapter is in this build.
macro_rules! open {
    ($feature:literal, $($store:ident)::+, $directory:expr, $settings:expr) => {{
        #[cfg(feature = $feature)]
        let opened: Result<Box<dyn crate::store::Store>, workload::TargetError> =
            $($store)::+::open($directory, $settings).map(|store| Box::new(store) as _);
        #[cfg(not(feature = $feature))]
        let opened: Result<Box<dyn crate::store::Store>, workload::TargetError> = {
            let _ = ($directory, $settings);
            Err(crate::engine::Missing::NotBuilt { feature: $feature }.into())
        };
        opened
    }};
}

pub(crate) use open;

/// The mapping line of the capacity of memtables. The line is a mismatch if the design has memtable filters.
pub(crate) fn memtable(settings: &EngineOptions, option: &str) -> String {
    let line = format!("memtable {}: {option}", format_bytes(settings.memtable_bytes));
    match settings.memtable_filter_bytes {
        0 => line,
        _ => unequal(format!("{line}; the engine has no memtable filter")),
    }
}

/// The mapping line of the capacity of the cache.
pub(crate) fn cache(settings: &EngineOptions, option: &str) -> String {
    format!("cache {}: {option}", format_bytes(settings.cache_bytes))
}

/// The mapping line of a WAL mode that the engine supports.
pub(crate) fn log(settings: &EngineOptions, option: &str) -> String {
    format!("log {}: {option}", settings.log)
}

/// The mapping line of a setting that the engine cannot match.
pub(crate) fn unequal(what: impl std::fmt::Display) -> String {
    format!("{UNEQUAL}{what}")
}

/// The mapping lines of a B-tree, which has no memtable, no filters and no blocks.
pub(crate) fn of_pages(settings: &EngineOptions, name: &str) -> Vec<String> {
    let mut lines = vec![
        unequal(format_args!(
            "memtable, filters, {} background threads: {name} is a B-tree, which has none of these",
            settings.background_threads
        )),
        unequal(format_args!(
            "blocks {}: {name} chooses its own page size",
            format_bytes(settings.block_bytes)
        )),
    ];
    lines.extend(without_codec(settings, name));
    lines
}

/// The mapping line for an engine that does not read through memory maps.
pub(crate) fn without_maps(settings: &EngineOptions, name: &str) -> Option<String> {
    let what = format_args!("mapped tables: {name} reads its files without memory maps");
    (settings.reads == Reads::Mapped).then(|| unequal(what))
}

/// The mapping line of a codec that the engine lacks.
pub(crate) fn without_codec(settings: &EngineOptions, name: &str) -> Option<String> {
    let runs_without = || {
        unequal(format_args!(
            "compression {}: {name} cannot compress, so it runs without compression",
            settings.codec
        ))
    };
    (settings.codec != Codec::None).then(runs_without)
}

/// The mapping line of filters that are not Bloom filters, for an engine that has only Bloom filters.
pub(crate) fn without_filters(settings: &EngineOptions, name: &str) -> Option<String> {
    let kind = match &settings.filters {
        Filters::Bloom => return None,
        Filters::Ribbon => "ribbon",
        Filters::Other(kind) => kind,
    };
    (settings.filter_bits_per_key > 0.0).then(|| {
        unequal(format_args!("{kind} filters: {name} uses Bloom filters with the same bits per key instead"))
    })
}

/// The mapping line of values in blob files, for an engine that keeps all values with their keys.
pub(crate) fn without_blob_files(settings: &EngineOptions, name: &str) -> Option<String> {
    (settings.values != ValuePlace::Inline)
        .then(|| unequal(format_args!("values {}: {name} keeps values with their keys", settings.values)))
}

/// The mapping line of a WAL with syncs at intervals, for an engine that syncs either every commit or no commit.
pub(crate) fn without_interval(settings: &EngineOptions, name: &str) -> Option<String> {
    matches!(settings.log, Log::Interval { .. }).then(|| {
        unequal(format_args!(
            "log {}: {name} syncs either every write or no write, so this run syncs no write",
            settings.log
        ))
    })
}
