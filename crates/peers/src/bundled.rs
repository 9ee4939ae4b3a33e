//! What engines have in common that are crates: they are in a build, or they are not.

use types::quantity::format_bytes;

use crate::budget::{Budget, Codec, Filters, Log, Reads};
use crate::peer::{Identity, Missing, UNEQUAL};

/// The feature that they are compiled in with.
const FEATURE: &str = "peers";

/// Which version is in this build, if any is.
pub(crate) fn identify(version: &str) -> Result<Identity, Missing> {
    if cfg!(feature = "peers") {
        let version = Some(version.to_owned()).filter(|version| !version.is_empty());
        Ok(Identity { version, ..Identity::default() })
    } else {
        Err(Missing::NotBuilt { feature: FEATURE })
    }
}

/// Opens a store where its adapter is in this build.
macro_rules! open {
    ($($store:ident)::+, $directory:expr, $budget:expr) => {{
        #[cfg(feature = "peers")]
        let opened: Result<Box<dyn crate::peer::Store>, workload::TargetError> =
            $($store)::+::open($directory, $budget).map(|store| Box::new(store) as _);
        #[cfg(not(feature = "peers"))]
        let opened: Result<Box<dyn crate::peer::Store>, workload::TargetError> = {
            let _ = ($directory, $budget);
            Err(crate::bundled::identify("").map_or_else(Into::into, |_| "it cannot be opened".into()))
        };
        opened
    }};
}

pub(crate) use open;

/// The line of a memtable's bytes.
pub(crate) fn memtable(budget: &Budget, option: &str) -> String {
    let line = format!("memtable {}: {option}", format_bytes(budget.memtable_bytes));
    match budget.memtable_filter_bytes {
        0 => line,
        _ => unequal(format!("{line}, and no filter in front of it")),
    }
}

/// The line of a cache's bytes.
pub(crate) fn cache(budget: &Budget, option: &str) -> String {
    format!("cache {}: {option}", format_bytes(budget.cache_bytes))
}

/// The line of a log that the engine has an equal for.
pub(crate) fn log(budget: &Budget, option: &str) -> String {
    format!("log {}: {option}", budget.log)
}

/// A line of what is not equal.
pub(crate) fn unequal(what: impl std::fmt::Display) -> String {
    format!("{UNEQUAL}{what}")
}

/// What every engine without a memtable, filters and blocks has to say: a tree of pages that are written in place or
/// copied.
pub(crate) fn of_pages(budget: &Budget, name: &str) -> Vec<String> {
    let mut lines = vec![
        unequal(format_args!(
            "memtable, filters, {} background threads: {name} is a B-tree and has none",
            budget.background_threads
        )),
        unequal(format_args!("blocks {}: pages of {name}'s own size", format_bytes(budget.block_bytes))),
    ];
    lines.extend(without_codec(budget, name));
    lines
}

/// The line of maps that the engine does not read through.
pub(crate) fn without_maps(budget: &Budget, name: &str) -> Option<String> {
    let what = format_args!("mapped tables: {name} copies blocks out of its files");
    (budget.reads == Reads::Mapped).then(|| unequal(what))
}

/// The line of a codec that the engine does not have.
pub(crate) fn without_codec(budget: &Budget, name: &str) -> Option<String> {
    let runs_without =
        || unequal(format_args!("compression {}: {name} has none, and runs without", budget.codec));
    (budget.codec != Codec::None).then(runs_without)
}

/// The line of filters that the engine does not have.
pub(crate) fn without_ribbons(budget: &Budget, name: &str) -> Option<String> {
    (budget.filters == Filters::Ribbon && budget.filter_bits_per_key > 0.0)
        .then(|| unequal(format_args!("ribbon filters: {name} has Bloom filters alone, of as many bits")))
}

/// The line of a log that is synced now and then, by an engine that does it at every commit or not at all.
pub(crate) fn without_interval(budget: &Budget, name: &str) -> Option<String> {
    matches!(budget.log, Log::Interval { .. })
        .then(|| unequal(format_args!("log {}: {name} syncs every write or none: none", budget.log)))
}
