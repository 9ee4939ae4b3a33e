//! The plain options of a design: blocks, tables, ranges, merges, stalls, threads, and the memory limit.

use catalog::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::checksum::Checksum;

/// What is no axis of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// How entries are laid out in blocks.
    pub block: BlockOptions,
    /// How blocks are laid out in tables.
    pub table: TableOptions,
    /// What a range takes hold of when it is opened.
    pub range: RangeOptions,
    /// How compactions merge.
    pub merge: MergeOptions,
    /// When writers wait.
    pub stall: StallOptions,
    /// What work is shared out to threads.
    pub threads: ThreadOptions,
    /// One limit for memtables, filters, fences and cache together: the cache gets what the others leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
}

/// How entries are laid out in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockOptions {
    /// The size at which a block is closed, before compression: 512 B to 64 KiB.
    pub size: ByteSize,
    /// Format `delta`: every how many entries a key is stored whole; the keys between share prefixes with the
    /// one before.
    pub restart_interval: u32,
    /// What a block carries to find a key without a search.
    pub index: BlockIndex,
    /// Index `hash`: keys per bucket, 0.25 to 4. Three for four buckets is what `RocksDB` found to pay.
    pub index_load: f64,
    /// Whether blocks start at multiples of their size, so that their places need no directory.
    pub align: bool,
    /// The checksum under each block.
    pub checksum: Checksum,
    /// When a block is held to it.
    pub verify: Verify,
    /// How blocks of mapped tables are used.
    pub mapped: Mapped,
    /// Whether restart hints are kept in memory for blocks that are used in place and whose checksum is compared once. With
    /// hints, a search prefetches the part of the block that can have its key instead of the whole block.
    pub restart_hints: bool,
}

/// How blocks of mapped tables are used, where they are not compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mapped {
    /// Where they lie, and never in the cache, which would hold them once more: `LevelDB`'s way.
    #[default]
    InPlace,
    /// Through the cache, as all others.
    Cached,
}

/// When a block is held to its checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Whenever it is fetched from storage.
    Always,
    /// The first time since the table was opened, where storage hands out the same bytes each time: of mapped
    /// tables that are not compressed. All others as `Always`.
    #[default]
    Once,
}

/// What a block carries to find a key without a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockIndex {
    /// Nothing: a binary search over restart points.
    #[default]
    None,
    /// Buckets of one byte that name the restart point of a hash: `RocksDB`'s data-block hash index.
    Hash,
    /// One byte of hash for each entry, all compared at once.
    Fingerprint,
}

impl BlockIndex {
    /// All of them, in the order of their codes in blocks.
    pub const ALL: [Self; 3] = [Self::None, Self::Hash, Self::Fingerprint];
}

/// How blocks are laid out in tables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableOptions {
    /// The bytes of keys and values at which a table is closed and the next one begun.
    pub capacity: ByteSize,
    /// Where the largest key of a table, which stands in its properties, is taken from.
    pub last_key: LastKey,
}

/// Where the writer of a table takes its largest key from. Tables are the same, byte for byte. Source: Fjall 2.1,
/// "Less cloning in segment writer".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastKey {
    /// From the last block, at the end.
    #[default]
    Block,
    /// Every key is copied into an allocation of its own, since each may be the last one: the older way.
    Entry,
}

/// What a range takes hold of when it is opened. Answers are the same. Source: Fjall 2.1, "Reducing large range scan
/// initialization costs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RangeOptions {
    /// What references to tables the range takes.
    pub references: TableReferences,
    /// When the readers of a run's tables are made.
    pub readers: TableReaders,
    /// The most bytes of blocks that each end of a range reads at once of a sorted run whose tables are not mapped: those
    /// that the entries which the caller means to take should need, and then ever more; 0: one block at a time.
    pub read_ahead: ByteSize,
}

/// What references to tables a range takes, beside the one to all that the tree is made of, which keeps them alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReferences {
    /// None: runs are immutable, and their tables are borrowed from them.
    #[default]
    Run,
    /// One to each table that can have keys of the range, in a list of the range's own: the older way.
    Table,
}

/// When the readers of a run's tables are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReaders {
    /// One for the run, which goes on to a table when it gets there.
    #[default]
    Lazy,
    /// One for each table that can have keys of the range, all when the range is opened; blocks are read when they are
    /// reached. The older way.
    Eager,
}

/// How compactions merge. Tables are the same, byte for byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeOptions {
    /// What finds the next entry among the sources; ranges always have the loser tree.
    pub kernel: MergeKernel,
}

/// What finds the next entry among the sources of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeKernel {
    /// A loser tree: one comparison per level of it.
    #[default]
    LoserTree,
    /// A binary heap: two comparisons per level. Source: byron, section 1.2 (D); golsm, "Compaction".
    Heap,
}

/// When writers wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StallOptions {
    /// Writers wait while this many frozen memtables are waiting for their flush.
    pub frozen_memtables: usize,
    /// Writers wait while level 0 has this many runs and the policy has a job; 0 is never.
    pub level0_runs: usize,
}

/// What work is shared out to threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadOptions {
    /// The key ranges, 1 to 64, that one compaction is cut into at most, each merged by a thread of its own:
    /// `RocksDB`'s option of that name. In `counted` mode they are merged one after the other, so that counters
    /// and tables depend on this number, and on no machine.
    pub max_subcompactions: usize,
    /// What the write that makes it due does itself.
    pub inline: InlineWork,
}

/// What the write that fills a memtable does itself before it returns, in `timed` mode; in `counted` mode that is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InlineWork {
    /// Nothing: flushes and compactions have threads of their own.
    #[default]
    None,
    /// The flush; compactions have a thread of their own.
    Flush,
    /// The flush, and then every compaction that is due.
    All,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        Self { max_subcompactions: 1, inline: InlineWork::None }
    }
}

impl Default for BlockOptions {
    fn default() -> Self {
        Self {
            size: ByteSize(4 << 10),
            restart_interval: 8,
            index: BlockIndex::None,
            index_load: 0.75,
            align: false,
            checksum: Checksum::Crc32c,
            verify: Verify::Once,
            mapped: Mapped::InPlace,
            restart_hints: true,
        }
    }
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { capacity: ByteSize(64 << 20), last_key: LastKey::Block }
    }
}

impl Default for RangeOptions {
    fn default() -> Self {
        Self { references: TableReferences::Run, readers: TableReaders::Lazy, read_ahead: ByteSize(0) }
    }
}

impl Default for StallOptions {
    fn default() -> Self {
        Self { frozen_memtables: 2, level0_runs: 0 }
    }
}

/// The largest table: positions inside a table are 32-bit numbers, and the last entry may be a large one.
const MAX_TABLE_BYTES: u64 = 2 << 30;

/// The most that a range reads at once: memory that every range may take.
const MAX_READ_AHEAD_BYTES: u64 = 16 << 20;

impl Options {
    /// Refuses what cannot be: the group and key at fault, and a sentence.
    pub(super) fn validate(&self) -> Result<(), (&'static str, &'static str, String)> {
        let size = self.block.size.0;
        if !(512..=65536).contains(&size) {
            return Err(("block", "size", format!("a block has 512 B to 64 KiB, not {}", self.block.size)));
        }
        if self.block.align && !size.is_power_of_two() {
            return Err((
                "block",
                "size",
                format!("aligned blocks have a power of two of bytes, not {}", self.block.size),
            ));
        }
        if !(1..=4096).contains(&self.block.restart_interval) {
            let interval = self.block.restart_interval;
            return Err((
                "block",
                "restart_interval",
                format!("the restart interval is 1 to 4096, not {interval}"),
            ));
        }
        if !(0.25..=4.0).contains(&self.block.index_load) {
            let load = self.block.index_load;
            return Err((
                "block",
                "index_load",
                format!("the load of an index is 0.25 to 4 keys, not {load}"),
            ));
        }
        if !(size..=MAX_TABLE_BYTES).contains(&self.table.capacity.0) {
            let capacity = self.table.capacity;
            return Err(("table", "capacity", format!("a table has one block to 2 GiB, not {capacity}")));
        }
        if self.range.read_ahead.0 > MAX_READ_AHEAD_BYTES {
            let bytes = self.range.read_ahead;
            return Err(("range", "read_ahead", format!("a range reads 0 to 16 MiB at once, not {bytes}")));
        }
        if self.stall.frozen_memtables == 0 {
            let message =
                "frozen_memtables is 0: the first frozen memtable would stall every writer; the least is 1";
            return Err(("stall", "frozen_memtables", message.to_owned()));
        }
        let subcompactions = self.threads.max_subcompactions;
        if !(1..=64).contains(&subcompactions) {
            let message = format!("a compaction has 1 to 64 subcompactions, not {subcompactions}");
            return Err(("threads", "max_subcompactions", message));
        }
        Ok(())
    }

    /// The options as TOML.
    pub(super) fn to_toml(&self) -> Table {
        match Value::try_from(self) {
            Ok(Value::Table(table)) => table,
            _ => unreachable!("options are a table of plain values"),
        }
    }
}
