//! `WiredTiger`: a B-tree of pages, or an LSM-tree of such B-trees where the library still has it.
//!
//! Its C interface is structures of function pointers whose layout changes from version to version, so that it is
//! compiled against the header of the library that it is linked with, and not loaded by path.

#[cfg(feature = "wiredtiger")]
mod store;

use std::path::{Path, PathBuf};

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::budget::{Budget, Codec, Log, Reads};
use crate::bundled::{cache, log, memtable, unequal, without_codec, without_interval, without_ribbons};
use crate::library::Wanted;
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> = Variant::new::<WiredTiger>(
    "wiredtiger",
    "WiredTiger, a B-tree, or an LSM-tree of B-trees in versions before 12",
    "# The kind of table: row or lsm.\n\
     type = \"row\"\n",
)
.limited(&[Limit::NotDeterministic]);

/// The extension that compresses with Snappy: a library of its own, which comes with `WiredTiger`.
const SNAPPY: Wanted = Wanted {
    name: "libwiredtiger_snappy.so",
    variable: "LSMBENCH_WIREDTIGER_SNAPPY",
    advice: "build WiredTiger with Snappy, or install a package that has it",
    required: &["wiredtiger_extension_init"],
    namespace: "__wt_",
    has_fast_checksums: false,
};

/// Where that extension is, where a budget asks for it.
fn snappy(budget: &Budget) -> Option<PathBuf> {
    SNAPPY.find("").ok().filter(|_| budget.codec == Codec::Snappy)
}

/// The kind of table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TableType {
    #[default]
    Row,
    Lsm,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    r#type: TableType,
}

struct WiredTiger(Params);

impl Build<Engine> for WiredTiger {
    type Params = Params;

    fn build(params: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self(params)))))
    }
}

impl WiredTiger {
    fn is_lsm(&self) -> bool {
        self.0.r#type == TableType::Lsm
    }

    /// How its files are set up.
    fn table(&self, budget: &Budget) -> String {
        let codec = if snappy(budget).is_some() { ",block_compressor=snappy" } else { "" };
        let pages = format!("key_format=u,value_format=u,leaf_page_max={}{codec}", budget.block_bytes);
        if !self.is_lsm() {
            return pages;
        }
        let bits = budget.filter_bits_per_key.round() as u64;
        let bloom = if bits > 0 {
            format!("bloom=true,bloom_bit_count={}", bits.clamp(2, 1000))
        } else {
            "bloom=false".to_owned()
        };
        format!("type=lsm,{pages},lsm=(chunk_size={},{bloom})", budget.memtable_bytes.max(512 << 10))
    }

    /// How the whole of it is set up.
    fn connection(budget: &Budget) -> String {
        let log = match budget.log {
            Log::None => "log=(enabled=false)",
            Log::Sync => "log=(enabled=true),transaction_sync=(enabled=true,method=fsync)",
            Log::Buffered | Log::Interval { .. } => {
                "log=(enabled=true),transaction_sync=(enabled=true,method=none)"
            }
        };
        // It does not start with less than a megabyte.
        let direct = if budget.reads == Reads::Direct { ",direct_io=[data]" } else { "" };
        let extension =
            snappy(budget).map_or_else(String::new, |path| format!(",extensions=[\"{}\"]", path.display()));
        let cache = budget.cache_bytes.max(8 << 20);
        format!("create,cache_size={cache},session_max=1024,{log}{direct}{extension}")
    }
}

impl Peer for WiredTiger {
    fn identify(&self) -> Result<Identity, Missing> {
        match cfg!(feature = "wiredtiger") {
            // The library tells its version when it runs.
            true => Ok(Identity::default()),
            false => Err(Missing::NotBuilt { feature: "wiredtiger" }),
        }
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![
            cache(budget, &format!("wiredtiger_open {}", Self::connection(budget))),
            format!("blocks {}: create {}", format_bytes(budget.block_bytes), self.table(budget)),
        ];
        match budget.log {
            Log::None => lines.push(log(budget, "log off: a checkpoint makes what was written durable")),
            Log::Sync => lines.push(log(budget, "transaction_sync fsync")),
            Log::Buffered => lines.push(log(budget, "transaction_sync none: written at every commit")),
            Log::Interval { .. } => lines.extend(without_interval(budget, "WiredTiger")),
        }
        if self.is_lsm() {
            lines.push(memtable(budget, "chunk_size"));
            lines.extend(without_ribbons(budget, "WiredTiger"));
        } else {
            lines.push(unequal("memtable, filters: a row store has none; what changed waits in the cache"));
        }
        lines.push(unequal("cache: WiredTiger keeps what is not written yet in it too, and the system caches its files besides"));
        lines.push(unequal(format_args!(
            "{} background threads: WiredTiger's own",
            budget.background_threads
        )));
        match snappy(budget) {
            Some(_) => lines.push("compression snappy: block_compressor snappy, by its extension".to_owned()),
            None => lines.extend(without_codec(budget, "WiredTiger without an extension for it")),
        }
        lines
    }

    #[cfg(feature = "wiredtiger")]
    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        let store = store::WiredTigerStore::open(directory, &Self::connection(budget), &self.table(budget))?;
        Ok(Box::new(store))
    }

    #[cfg(not(feature = "wiredtiger"))]
    fn open(&self, _: &Path, _: &Budget) -> Result<Box<dyn Store>, TargetError> {
        Err(Missing::NotBuilt { feature: "wiredtiger" }.into())
    }
}
