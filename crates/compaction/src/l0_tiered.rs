//! Leveled compaction as in `LevelDB` and `RocksDB`: several runs in level 0, and one run in every other level. The
//! report of cs265 (section 2.5.3) calls this policy lazy-leveled.
//!
//! The policy is the textbook's [`leveled`](crate::leveled) with more than one run in level 0. A compaction into level
//! 1 then merges several buffers at once, so level 1 is rewritten less often. Lookups search more runs in exchange.
//! With R = `level0_runs`, an entry costs level 1 about (T/R+1)/2 writes instead of (T+1)/2; `leveled` has the exact
//! form, for keys in random order. With `trivial_moves`, tables that share no keys with other tables move down
//! unchanged, and only tables with overlapping keys are merged. Data written in key order then pass all levels without
//! being rewritten.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::leveled::Leveled;
use crate::policy::CompactionPolicy;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<L0Tiered>(
    "l0-tiered",
    "leveled as LevelDB and RocksDB do it: level 0 collects runs, every other level has one",
    "# Runs of level 0 that trigger their compaction into level 1, at least 1.\n\
     level0_runs = 4\n\
     # How much larger each level is than the one above, 1.1 to 1000000.\n\
     size_ratio = 10\n\
     # Capacity of level 1 in memtables; 0 means size_ratio. With more there are fewer levels, less stale data and\n\
     # fewer runs to read, and each compaction into level 1 writes more.\n\
     level1_memtables = 0\n\
     # Read-triggered compaction: bytes of compaction that a scan pays for each extra source that it reads. Runs\n\
     # are compacted when the accumulated bytes reach the size of their compaction. 0 B disables it.\n\
     read_triggered = \"0 B\"\n\
     # Whether tables without common keys are moved to the next level unread, and only overlapping tables are\n\
     # compacted. Data in key order is then written once.\n\
     trivial_moves = false\n",
);

/// Builder of [`Leveled`] with a level 0 of several runs.
struct L0Tiered;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level0_runs: u64,
    size_ratio: f64,
    level1_memtables: u64,
    read_triggered: ByteSize,
    trivial_moves: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            level0_runs: 4,
            size_ratio: 10.0,
            level1_memtables: 0,
            read_triggered: ByteSize(0),
            trivial_moves: false,
        }
    }
}

impl Build<dyn CompactionPolicy> for L0Tiered {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let leveled = Leveled::new(params.size_ratio, params.level0_runs)?;
        let leveled = leveled.with_level1_buffers(params.level1_memtables);
        let leveled = leveled.with_trivial_moves(params.trivial_moves);
        Ok(Box::new(leveled.with_seek_price(params.read_triggered)))
    }
}
