//! Leveled compaction as in `LevelDB` and `RocksDB`. Level 0 has several runs, and every other level has one run. The
//! document of the published system cs265 (section 2.5.3) calls this policy lazy-leveled.
//!
//! The policy equals the textbook policy [`leveled`](crate::leveled), except that level 0 has more than one run. A
//! compaction into level 1 merges several flushed memtables at once, so level 1 is rewritten less often. However,
//! lookups must search more runs in level 0. With R = `level0_runs` and size ratio T, an entry is written in level 1
//! about (T/R+1)/2 times instead of (T+1)/2 times. The module `leveled` has the exact formula for keys in random order.
//! With `trivial_moves`, an SSTable whose key range overlaps no older SSTable is moved to the next level unchanged, and
//! only the other SSTables are merged. Data in key order then passes all levels without a rewrite. With
//! `max_compaction`, several jobs compact a full level (see [`incremental`](crate::incremental)).

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::leveled::Leveled;
use crate::policy::CompactionPolicy;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<L0Tiered>(
    "l0-tiered",
    "leveled as in LevelDB and RocksDB; level 0 collects several runs, and every other level has one run",
    "# Number of level-0 runs that triggers their compaction into level 1, at least 1. With more level-0\n\
     # runs, the tree writes less, but lookups read more runs.\n\
     level0_runs = 4\n\
     # Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Capacity of level 1 as a number of memtables; 0 means size_ratio. A larger level 1 gives fewer\n\
     # levels, less stale data and fewer runs to read. In exchange, each compaction into level 1 writes\n\
     # more.\n\
     level1_memtables = 0\n\
     # Cost that a scan adds for each memtable and each sorted run that it reads, except the first, as a\n\
     # number of bytes that compactions write. When the costs of past scans reach the cost of a compaction\n\
     # of these runs, the tree starts this compaction. 0 B disables read-triggered compaction.\n\
     read_triggered = \"0 B\"\n\
     # Whether an SSTable whose key range overlaps no older SSTable is moved to the next level instead of\n\
     # being rewritten. With these moves, data in key order is written only once.\n\
     trivial_moves = false\n\
     # Maximum bytes of a compaction from level 1 on. A full level is then compacted by several jobs. A job\n\
     # takes a few neighboring SSTables, at least one, and the SSTables that they overlap in the next\n\
     # level. 0 B compacts complete levels at once.\n\
     max_compaction = \"0 B\"\n",
);

/// Builds the policy `l0-tiered`, which is [`Leveled`] with several runs in level 0.
struct L0Tiered;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level0_runs: u64,
    size_ratio: f64,
    level1_memtables: u64,
    read_triggered: ByteSize,
    trivial_moves: bool,
    max_compaction: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            level0_runs: 4,
            size_ratio: 10.0,
            level1_memtables: 0,
            read_triggered: ByteSize(0),
            trivial_moves: false,
            max_compaction: ByteSize(0),
        }
    }
}

impl Build<dyn CompactionPolicy> for L0Tiered {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let leveled = Leveled::new(params.size_ratio, params.level0_runs)?;
        let leveled = leveled.with_level1_buffers(params.level1_memtables);
        let leveled = leveled.with_trivial_moves(params.trivial_moves);
        let leveled = leveled.with_max_compaction(params.max_compaction);
        Ok(Box::new(leveled.with_seek_price(params.read_triggered)))
    }
}
