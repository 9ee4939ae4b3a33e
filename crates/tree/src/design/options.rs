//! The plain options of a design: blocks, tables, ranges, merges, stalls, threads and the memory limit.

use catalog::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::checksum::Checksum;

/// The plain options of a design, which belong to no axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Options of data blocks.
    pub block: BlockOptions,
    /// Options of tables.
    pub table: TableOptions,
    /// Options of range scans.
    pub range: RangeOptions,
    /// Options of merging in compactions.
    pub merge: MergeOptions,
    /// Limits at which writers stall.
    pub stall: StallOptions,
    /// Options of threads.
    pub threads: ThreadOptions,
    /// The memory limit of memtables, filters, fences and cache together, in bytes. The cache gets the rest; `None` for
    /// no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
}

/// Options of data blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockOptions {
    /// The size at which a block is closed, before compression: 512 B to 64 KiB.
    pub size: ByteSize,
    /// Format `delta`: the number of entries from one full key to the next. The keys between share prefixes with the
    /// key before.
    pub restart_interval: u32,
    /// The index inside a block, which finds a key without a search.
    pub index: BlockIndex,
    /// Index `hash`: the number of keys per bucket, 0.25 to 4. `RocksDB` recommends 0.75.
    pub index_load: f64,
    /// Whether blocks begin at multiples of their size, so that no directory of their places is needed.
    pub align: bool,
    /// The checksum of each block.
    pub checksum: Checksum,
    /// When the checksum of a block is verified.
    pub verify: Verify,
    /// How blocks of memory-mapped tables are read.
    pub mapped: Mapped,
    /// Whether restart hints are kept in memory, for blocks that are read in place and verified once. With hints, a
    /// search prefetches only the part of the block that can have its key.
    pub restart_hints: bool,
}

/// How uncompressed blocks of memory-mapped tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mapped {
    /// In place, without the cache, which would hold a second copy: `LevelDB`'s way.
    #[default]
    InPlace,
    /// Through the cache, like all other blocks.
    Cached,
}

/// When the checksum of a block is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// At every read from storage.
    Always,
    /// At the first read since the table was opened, if storage returns the same bytes each time: in memory-mapped
    /// tables without compression. Other blocks as with `Always`.
    #[default]
    Once,
}

/// The index inside a block, which finds a key without a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockIndex {
    /// No index: a binary search over restart points.
    #[default]
    None,
    /// One-byte buckets with the restart point of a hash: `RocksDB`'s data-block hash index.
    Hash,
    /// One byte of the hash of each entry; they are compared together.
    Fingerprint,
}

impl BlockIndex {
    /// All kinds, in the order of their codes in blocks.
    pub const ALL: [Self; 3] = [Self::None, Self::Hash, Self::Fingerprint];
}

/// Options of tables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableOptions {
    /// The bytes of keys and values at which a table is closed and the next one begun.
    pub capacity: ByteSize,
    /// The source of the largest key of a table, which is stored in its properties.
    pub last_key: LastKey,
}

/// The source of the largest key of a table. The tables are the same, byte for byte. Source of the option: Fjall 2.1,
/// "Less cloning in segment writer".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastKey {
    /// The last block, when the table is closed.
    #[default]
    Block,
    /// Each key: it is copied into its own allocation, because it may be the last one. This is the older way.
    Entry,
}

/// Options of opening a range scan. The results are the same. Source: Fjall 2.1, "Reducing large range scan
/// initialization costs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RangeOptions {
    /// The references of a scan to tables.
    pub references: TableReferences,
    /// When the readers of a run's tables are created.
    pub readers: TableReaders,
    /// Maximum bytes that each end of a scan reads at once from a sorted run whose tables are not memory-mapped; 0
    /// means one block at a time. The scan first reads the blocks of the entries that the caller announced, and then
    /// twice as many blocks each time.
    pub read_ahead: ByteSize,
}

/// The references of a scan to tables, in addition to its reference to the whole view, which keeps the tables
/// open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReferences {
    /// None. Runs are immutable, and the range borrows their tables.
    #[default]
    Run,
    /// One reference to each table that can have keys of the range, in a list of the range. This is the older way.
    Table,
}

/// When the readers of a run's tables are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReaders {
    /// One reader for the run, which moves from table to table.
    #[default]
    Lazy,
    /// One reader for each table that can have keys of the range, created when the range is opened. Blocks are read
    /// when they are reached. This is the older way.
    Eager,
}

/// Options of merging in compactions. The tables are the same, byte for byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeOptions {
    /// The algorithm that merges the sources of a compaction. Scans always use the loser tree.
    pub kernel: MergeKernel,
}

/// The algorithm that merges the sources of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeKernel {
    /// A loser tree: one comparison per level of the tree.
    #[default]
    LoserTree,
    /// A binary heap: two comparisons per level of the heap. Source: byron, section 1.2 (D); golsm, "Compaction".
    Heap,
}

/// Limits at which writers stall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StallOptions {
    /// The number of immutable memtables waiting for their flush at which writers stall.
    pub frozen_memtables: usize,
    /// The number of runs in level 0 at which writers stall while the policy has a job; 0 means never.
    pub level0_runs: usize,
}

/// Options of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadOptions {
    /// Maximum number of subcompactions of a compaction, 1 to 64, each on its own thread: `RocksDB`'s option of that
    /// name. In `counted` mode they run one after the other, so counters and tables depend on this number, but not on
    /// the machine.
    pub max_subcompactions: usize,
    /// The background work that the write runs that makes it due.
    pub inline: InlineWork,
}

/// The work that the write that fills a memtable runs before it returns, in `timed` mode. In `counted` mode it runs all
/// work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InlineWork {
    /// None. Flushes and compactions have their own threads.
    #[default]
    None,
    /// The flush. Compactions have their own thread.
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

/// The largest table capacity, in bytes. Positions in a table are 32-bit numbers, and the last entry may be large.
const MAX_TABLE_BYTES: u64 = 2 << 30;

/// The most bytes that a range may read at once, because every range may allocate as many.
const MAX_READ_AHEAD_BYTES: u64 = 16 << 20;

impl Options {
    /// Rejects invalid options. The error has the group, the key and a message.
    pub(super) fn validate(&self) -> Result<(), (&'static str, &'static str, String)> {
        let size = self.block.size.0;
        if !(512..=65536).contains(&size) {
            return Err(("block", "size", format!("must be 512 B to 64 KiB, not {}", self.block.size)));
        }
        if self.block.align && !size.is_power_of_two() {
            return Err((
                "block",
                "size",
                format!("must be a power of two if blocks are aligned, not {}", self.block.size),
            ));
        }
        if !(1..=4096).contains(&self.block.restart_interval) {
            let interval = self.block.restart_interval;
            return Err(("block", "restart_interval", format!("must be 1 to 4096 entries, not {interval}")));
        }
        if !(0.25..=4.0).contains(&self.block.index_load) {
            let load = self.block.index_load;
            return Err(("block", "index_load", format!("must be 0.25 to 4 keys per bucket, not {load}")));
        }
        if !(size..=MAX_TABLE_BYTES).contains(&self.table.capacity.0) {
            let capacity = self.table.capacity;
            return Err((
                "table",
                "capacity",
                format!("must be at least block.size and at most 2 GiB, not {capacity}"),
            ));
        }
        if self.range.read_ahead.0 > MAX_READ_AHEAD_BYTES {
            let bytes = self.range.read_ahead;
            return Err(("range", "read_ahead", format!("must be at most 16 MiB, not {bytes}")));
        }
        if self.stall.frozen_memtables == 0 {
            let message = "must be at least 1, because 0 immutable memtables would stall every writer";
            return Err(("stall", "frozen_memtables", message.to_owned()));
        }
        let subcompactions = self.threads.max_subcompactions;
        if !(1..=64).contains(&subcompactions) {
            let message = format!("must be 1 to 64, not {subcompactions}");
            return Err(("threads", "max_subcompactions", message));
        }
        Ok(())
    }

    /// Returns the options as TOML.
    pub(super) fn to_toml(&self) -> Table {
        match Value::try_from(self) {
            Ok(Value::Table(table)) => table,
            _ => unreachable!("options are a table of plain values"),
        }
    }
}
