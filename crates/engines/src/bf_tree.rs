//! Adapter for bf-tree, a B-tree in Rust. Each leaf page of bf-tree has a small page in memory for its frequently used
//! records.

mod sizes;
#[cfg(feature = "more-peers")]
mod store;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{self, cache, mismatch, without_codec, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::entry_limits::EntryLimits;
use crate::opening::Opening;
use crate::options::{EngineOptions, Log, Reads};
use crate::store::Store;
use crate::survival::Survival;
use sizes::Sizes;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<BfTree>(
    "bf-tree",
    "bf-tree, a B-tree in Rust with an in-memory page of hot records per leaf; a record must fit into half \
     a page",
    "# The maximum length of a key in bytes. A larger maximum leaves less space for values.\n\
     longest_key = 64\n",
)
.limited(&[Limit::NotDeterministic]);

/// The longest key that bf-tree accepts, in bytes.
const MOST_KEY_BYTES: usize = 512;

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
            other => {
                Err(format!("longest_key is {other}, which is not between 8 and {MOST_KEY_BYTES} bytes"))
            }
        }
    }
}

impl Engine for BfTree {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::MORE_PEERS.identify(env!("PEERS_BF_TREE"))
    }

    /// Returns `false`, because a scan of bf-tree reads one leaf at a time.
    fn ranges_are_of_one_moment(&self) -> bool {
        false
    }

    fn writes_batches_atomically(&self) -> bool {
        false
    }

    /// Returns [`Survival::Flushed`]. bf-tree 0.5 cannot recover from its WAL, so only the writes in a snapshot
    /// survive.
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
                "blocks of {}: leaf_page_size {}, with records of at most {} bytes",
                format_bytes(settings.block_bytes),
                sizes.page,
                sizes.record
            ),
        ];
        lines.push(match settings.log {
            Log::None => "WAL mode \"none\": no WAL".to_owned(),
            _ => mismatch(format_args!(
                "WAL mode \"{}\": bf-tree cannot recover from its WAL, so it runs without a WAL, and only a \
                 flush makes writes durable",
                settings.log
            )),
        });
        lines.push(mismatch(
            "flush: bf-tree writes a snapshot of the whole tree into a new file, so each flush writes \
            all data",
        ));
        lines.push(mismatch(
            "opening: the adapter copies the snapshot, because bf-tree changes the file that it opens",
        ));
        lines.push(mismatch("batches: bf-tree writes the entries one by one, without atomicity"));
        lines.push(mismatch(
            "scans: bf-tree has no consistent scans, and the adapter reads the whole range of a \
            backward scan forward",
        ));
        lines.push(mismatch(format_args!(
            "memtable, filters, {} background threads: bf-tree is a B-tree, which has none of these",
            settings.background_threads
        )));
        lines.extend(without_codec(settings, "bf-tree"));
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: bf-tree opens snapshots without direct I/O"));
        }
        lines.extend(without_maps(settings, "bf-tree"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("more-peers", store::BfTreeStore, directory, Sizes::of(settings, self.0.longest_key))
    }
}
