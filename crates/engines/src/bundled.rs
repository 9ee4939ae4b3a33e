//! Helpers shared by the engines that are crates. A build contains such an engine only if its feature is enabled.

use types::quantity::format_bytes;

use crate::engine::{Identity, Missing, UNEQUAL};
use crate::options::{Codec, EngineOptions, Filters, Log, Reads, ValuePlace};

/// The Cargo feature that compiles the engines of this module into the program.
const FEATURE: &str = "peers";

/// The version of an engine in this build, or an error if the engine is not built in.
pub(crate) fn identify(version: &str) -> Result<Identity, Missing> {
    if cfg!(feature = "peers") {
        let version = Some(version.to_owned()).filter(|version| !version.is_empty());
        Ok(Identity { version, ..Identity::default() })
    } else {
        Err(Missing::NotBuilt { feature: FEATURE })
    }
}

/// Opens a store if this build contains the adapter of the engine.
macro_rules! open {
    ($($store:ident)::+, $directory:expr, $settings:expr) => {{
        #[cfg(feature = "peers")]
        let opened: Result<Box<dyn crate::store::Store>, workload::TargetError> =
            $($store)::+::open($directory, $settings).map(|store| Box::new(store) as _);
        #[cfg(not(feature = "peers"))]
        let opened: Result<Box<dyn crate::store::Store>, workload::TargetError> = {
            let _ = ($directory, $settings);
            Err(crate::bundled::identify("").map_or_else(Into::into, |_| "the engine cannot be opened".into()))
        };
        opened
    }};
}

pub(crate) use open;

/// The mapping line of a memtable's bytes.
pub(crate) fn memtable(settings: &EngineOptions, option: &str) -> String {
    let line = format!("memtable {}: {option}", format_bytes(settings.memtable_bytes));
    match settings.memtable_filter_bytes {
        0 => line,
        _ => unequal(format!("{line}; the engine has no memtable filter")),
    }
}

/// The mapping line of a cache's bytes.
pub(crate) fn cache(settings: &EngineOptions, option: &str) -> String {
    format!("cache {}: {option}", format_bytes(settings.cache_bytes))
}

/// The mapping line of a WAL mode that the engine also has.
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

/// The mapping line of filters that are not Bloom filters, which the engine lacks.
pub(crate) fn without_filters(settings: &EngineOptions, name: &str) -> Option<String> {
    let kind = match &settings.filters {
        Filters::Bloom => return None,
        Filters::Ribbon => "ribbon",
        Filters::Other(kind) => kind,
    };
    (settings.filter_bits_per_key > 0.0).then(|| {
        unequal(format_args!("{kind} filters: {name} uses Bloom filters, here with equal bits per key"))
    })
}

/// The mapping line of values apart from their keys, for an engine that keeps all values with their keys.
pub(crate) fn without_blob_files(settings: &EngineOptions, name: &str) -> Option<String> {
    (settings.values != ValuePlace::Inline)
        .then(|| unequal(format_args!("values {}: {name} keeps values with their keys", settings.values)))
}

/// The mapping line of a WAL with syncs at intervals, for an engine that syncs either every commit or no commit.
pub(crate) fn without_interval(settings: &EngineOptions, name: &str) -> Option<String> {
    matches!(settings.log, Log::Interval { .. }).then(|| {
        unequal(format_args!(
            "log {}: {name} syncs either every write or no write, and here no write",
            settings.log
        ))
    })
}
