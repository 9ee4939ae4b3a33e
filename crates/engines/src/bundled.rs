//! Helpers shared by the engines that are Rust crates. A build contains such an engine only if its Cargo feature is
//! enabled.
//!
//! A mapping line is one line of [`Engine::mapping`](crate::Engine::mapping). The line names a setting of the design
//! and the corresponding option of the engine.

use types::quantity::format_bytes;

use crate::engine::{Identity, MISMATCH, Missing};
use crate::options::{Codec, EngineOptions, Filters, Log, Reads, ValuePlace};

/// The engines that one Cargo feature of lsmbench compiles in.
pub(crate) struct Bundle {
    feature: &'static str,
    is_built: bool,
}

/// The engines that the Cargo feature `peers` compiles in.
pub(crate) const PEERS: Bundle = Bundle { feature: "peers", is_built: cfg!(feature = "peers") };

/// The engines that the Cargo feature `more-peers` compiles in.
pub(crate) const MORE_PEERS: Bundle =
    Bundle { feature: "more-peers", is_built: cfg!(feature = "more-peers") };

impl Bundle {
    /// Returns the identity of an engine with this version. An empty `version` means that the engine reports its
    /// version only when it runs.
    ///
    /// # Errors
    /// The Cargo feature of the bundle is not enabled in this build.
    pub(crate) fn identify(&self, version: &str) -> Result<Identity, Missing> {
        if self.is_built {
            let version = Some(version.to_owned()).filter(|version| !version.is_empty());
            Ok(Identity { version, ..Identity::default() })
        } else {
            Err(Missing::NotBuilt { feature: self.feature })
        }
    }
}

/// Opens a store if its adapter is compiled in. If the Cargo feature `$feature` is not enabled, the result is
/// the error `Missing::NotBuilt`.
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

/// Returns the mapping line of the memtable capacity, which the engine option `option` sets. If the design has a
/// memtable filter, the line reports a mismatch, because the engine has no such filter.
pub(crate) fn memtable(settings: &EngineOptions, option: &str) -> String {
    let line = format!("memtable of {}: {option}", format_bytes(settings.memtable_bytes));
    match settings.memtable_filter_bytes {
        0 => line,
        _ => mismatch(format!("{line}; the engine has no memtable filter")),
    }
}

/// Returns the mapping line of the cache capacity, which the engine option `option` sets.
pub(crate) fn cache(settings: &EngineOptions, option: &str) -> String {
    format!("cache of {}: {option}", format_bytes(settings.cache_bytes))
}

/// Returns the mapping line of the WAL mode, which the engine option `option` sets.
pub(crate) fn log(settings: &EngineOptions, option: &str) -> String {
    format!("WAL mode \"{}\": {option}", settings.log)
}

/// Returns the message that an engine cannot match a setting of the design. The message consists of the prefix
/// [`MISMATCH`] and the explanation `what`.
pub(crate) fn mismatch(what: impl std::fmt::Display) -> String {
    format!("{MISMATCH}{what}")
}

/// Returns the messages about the settings that a B-tree cannot match: memtable, filters, background threads, block
/// size and compression. `name` is the name of the B-tree.
pub(crate) fn of_pages(settings: &EngineOptions, name: &str) -> Vec<String> {
    let mut lines = vec![
        mismatch(format_args!(
            "memtable, filters, {} background threads: {name} is a B-tree, which has none of these",
            settings.background_threads
        )),
        mismatch(format_args!(
            "blocks of {}: {name} chooses its own page size",
            format_bytes(settings.block_bytes)
        )),
    ];
    lines.extend(without_codec(settings, name));
    lines
}

/// Returns the message that an engine cannot read through memory maps. Returns `None` if the design uses no memory
/// maps.
pub(crate) fn without_maps(settings: &EngineOptions, name: &str) -> Option<String> {
    let what = format_args!("memory-mapped SSTables: {name} reads its files without memory maps");
    (settings.reads == Reads::Mapped).then(|| mismatch(what))
}

/// Returns the message that an engine cannot compress blocks. Returns `None` if the design compresses no blocks.
pub(crate) fn without_codec(settings: &EngineOptions, name: &str) -> Option<String> {
    let runs_without = || {
        mismatch(format_args!(
            "compression {}: {name} cannot compress, so it runs without compression",
            settings.codec
        ))
    };
    (settings.codec != Codec::None).then(runs_without)
}

/// Returns the message that an engine uses Bloom filters instead of the filters of the design. Returns `None` if the
/// design has Bloom filters or no filters.
pub(crate) fn without_filters(settings: &EngineOptions, name: &str) -> Option<String> {
    let kind = match &settings.filters {
        Filters::Bloom => return None,
        Filters::Ribbon => "ribbon",
        Filters::Other(kind) => kind,
    };
    (settings.filter_bits_per_key > 0.0).then(|| {
        mismatch(format_args!("{kind} filters: {name} uses Bloom filters with the same bits per key instead"))
    })
}

/// Returns the message that an engine cannot store values in other files, because it stores all values next to their
/// keys. Returns `None` if the design also stores them there.
pub(crate) fn without_blob_files(settings: &EngineOptions, name: &str) -> Option<String> {
    (settings.values != ValuePlace::Inline)
        .then(|| mismatch(format_args!("values {}: {name} keeps values with their keys", settings.values)))
}

/// Returns the message that an engine cannot sync its WAL at intervals. Returns `None` if the design does not require
/// such syncs.
pub(crate) fn without_interval(settings: &EngineOptions, name: &str) -> Option<String> {
    matches!(settings.log, Log::Interval { .. }).then(|| {
        mismatch(format_args!(
            "WAL mode \"{}\": {name} syncs either every write or no write, so this run syncs no write",
            settings.log
        ))
    })
}
