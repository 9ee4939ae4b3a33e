//! bf-tree: a B-tree in Rust whose leaf pages have a small page in memory for their hot records.

#[cfg(feature = "more-peers")]
mod store;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{self, cache, unequal, without_codec, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::entry_limits::EntryLimits;
use crate::opening::Opening;
use crate::options::{EngineOptions, Log, Reads};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<BfTree>(
    "bf-tree",
    "bf-tree, a B-tree in Rust with a small page of hot records per leaf; a record fits into half a page",
    "# The longest key in bytes. A longer limit leaves less space for values.\n\
     longest_key = 64\n",
)
.limited(&[Limit::NotDeterministic]);

/// The unit of page sizes and the largest page, in bytes.
const PAGE_UNIT: u64 = 4096;
const LARGEST_PAGE: u64 = 32 << 10;

/// The longest key that bf-tree accepts, in bytes.
const MOST_KEY_BYTES: usize = 512;

/// Bytes of half a page that records cannot use: headers, and the rounding to cache lines.
const PAGE_OVERHEAD: usize = 128;

/// The largest number of records of a page.
const MOST_RECORDS: usize = 4096;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    longest_key: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { longest_key: 64 }
    }
}

struct BfTree(Params);

impl Build<dyn Engine> for BfTree {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        match params.longest_key {
            8..=MOST_KEY_BYTES => Ok(Box::new(Self(params))),
            other => Err(format!("longest_key = {other} is not between 8 and {MOST_KEY_BYTES}")),
        }
    }
}

/// The sizes of a tree, in bytes.
#[cfg_attr(not(feature = "more-peers"), allow(dead_code))]
struct Sizes {
    page: usize,
    key: usize,
    /// The largest and the smallest record, which is a key and a value together.
    record: usize,
    least_record: usize,
    cache: usize,
}

impl Sizes {
    fn of(settings: &EngineOptions, key: usize) -> Self {
        let page = (settings.block_bytes / PAGE_UNIT * PAGE_UNIT).clamp(PAGE_UNIT, LARGEST_PAGE) as usize;
        // The buffer is a power of two with space for many pages.
        let cache = settings.cache_bytes.max(16 * LARGEST_PAGE);
        Self {
            page,
            key,
            record: page / 2 - key - PAGE_OVERHEAD,
            least_record: (page / MOST_RECORDS).max(2),
            cache: 1 << cache.ilog2(),
        }
    }

    fn limits(&self) -> EntryLimits {
        EntryLimits { key_bytes: 1..=self.key, value_bytes: self.least_record - 1..=self.record - self.key }
    }
}

impl Engine for BfTree {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::MORE_PEERS.identify(env!("PEERS_BF_TREE"))
    }

    /// A scan reads one leaf at a time.
    fn ranges_are_of_one_moment(&self) -> bool {
        false
    }

    fn writes_batches_atomically(&self) -> bool {
        false
    }

    /// bf-tree 0.5 cannot recover from its log. Only a snapshot survives.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Flushed)
    }

    fn entry_limits(&self, settings: &EngineOptions) -> EntryLimits {
        Sizes::of(settings, self.0.longest_key).limits()
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let sizes = Sizes::of(settings, self.0.longest_key);
        let mut lines = vec![
            cache(settings, &format!("cb_size_byte {}, a power of two", sizes.cache)),
            format!(
                "blocks {}: leaf_page_size {}, with records of at most {} bytes",
                format_bytes(settings.block_bytes),
                sizes.page,
                sizes.record
            ),
        ];
        lines.push(match settings.log {
            Log::None => "log none: no WAL".to_owned(),
            _ => unequal(format_args!(
                "log {}: bf-tree cannot recover from its WAL, so it has none, and only a flush makes writes durable",
                settings.log
            )),
        });
        lines.push(unequal("flush: a snapshot of the whole tree in a new file, so a flush writes all data"));
        lines.push(unequal(
            "opening: the adapter copies the snapshot, because bf-tree changes the file that it opens",
        ));
        lines.push(unequal("batches: bf-tree writes the entries one by one, without atomicity"));
        lines.push(unequal("scans: no snapshot; a backward scan reads its whole range forward first"));
        lines.push(unequal(format_args!(
            "memtable, filters, {} background threads: bf-tree is a B-tree, which has none of these",
            settings.background_threads
        )));
        lines.extend(without_codec(settings, "bf-tree"));
        if settings.reads == Reads::Direct {
            lines.push(unequal("direct I/O: bf-tree opens snapshots without it"));
        }
        lines.extend(without_maps(settings, "bf-tree"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("more-peers", store::BfTreeStore, directory, Sizes::of(settings, self.0.longest_key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_fits_into_half_a_page() {
        let of = |block_bytes, cache_bytes| {
            let settings = EngineOptions { block_bytes, cache_bytes, ..EngineOptions::default() };
            let sizes = Sizes::of(&settings, 64);
            (sizes.page, *sizes.limits().value_bytes.end(), sizes.cache)
        };
        assert_eq!(of(4096, 64 << 20), (4096, 1792, 64 << 20));
        assert_eq!(of(1, 0), (4096, 1792, 512 << 10));
        assert_eq!(of(10_000, 100 << 20), (8192, 3840, 64 << 20));
        assert_eq!(of(1 << 20, 1 << 20), (32_768, 16_128, 1 << 20));
    }
}
