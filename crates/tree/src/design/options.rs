//! The plain options of a design: blocks, tables, ranges, merges, stalls, threads and the memory limit.

use catalog::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use types::MergeOperator;

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
    /// Memory limit of memtables, filters, fence pointers and cache together. The cache gets the memory that the others
    /// leave. Without `memory`, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// The merge operator: `add` adds 64-bit little-endian numbers, `append` appends the operand to the value, and `max`
    /// keeps the larger of value and operand in byte order. A missing value equals an empty value. A store keeps the
    /// operator of its creation. Without an operator, a store accepts no merges.
    #[serde(skip_serializing_if = "Option::is_none", with = "operator_name")]
    #[schemars(with = "Option<String>")]
    pub merge_operator: Option<MergeOperator>,
}

/// Merge operators by their names.
mod operator_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use types::MergeOperator;

    #[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(
        operator: &Option<MergeOperator>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        operator.map(MergeOperator::name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<MergeOperator>, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            let valid = MergeOperator::ALL.map(MergeOperator::name).join(", ");
            D::Error::custom(format!("unknown merge operator \"{name}\". Valid: {valid}"))
        };
        MergeOperator::from_name(&name).map(Some).ok_or_else(unknown)
    }
}

/// Options of data blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockOptions {
    /// Size at which a block is closed, before compression: 512 B to 64 KiB.
    pub size: ByteSize,
    /// Restart interval of format `delta`: the number of entries from one full key (restart point) to the next. Keys in
    /// between store only the part that differs from the previous key.
    pub restart_interval: u32,
    /// The index inside a block, which finds a key without a search.
    pub index: BlockIndex,
    /// Number of keys per bucket of index `hash`, 0.25 to 4. `RocksDB` recommends 0.75.
    pub index_load: f64,
    /// Whether blocks begin at multiples of their size. Aligned blocks need no directory of block offsets.
    pub align: bool,
    /// The checksum of each block.
    pub checksum: Checksum,
    /// When the checksum of a block is verified.
    pub verify: Verify,
    /// How blocks of memory-mapped tables are read.
    pub mapped: Mapped,
    /// Whether restart hints are kept in memory for blocks that are read in place and verified once. With hints, a
    /// search prefetches only the part of the block that can contain its key.
    pub restart_hints: bool,
}

/// How uncompressed blocks of memory-mapped tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mapped {
    /// Blocks are read in place and bypass the cache, because the cache would hold a second copy. `LevelDB` reads
    /// blocks in the same way.
    #[default]
    InPlace,
    /// Blocks are read through the cache, like all other blocks.
    Cached,
}

/// When the checksum of a block is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// The checksum is verified at every read from storage.
    Always,
    /// The checksum is verified at the first read after a table is opened. This applies to memory-mapped tables without
    /// compression, whose bytes cannot change. Other blocks are verified at every read.
    #[default]
    Once,
}

/// The index inside a block, which finds a key without a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockIndex {
    /// Blocks have no index. A lookup is a binary search over restart points.
    #[default]
    None,
    /// The block has a hash table from keys to restart points, with buckets of one byte: `RocksDB`'s data-block hash
    /// index.
    Hash,
    /// The block has one byte of the hash of each entry. A lookup compares many of these bytes at once.
    Fingerprint,
}

impl BlockIndex {
    /// All kinds of index, in the order of their codes in blocks.
    pub const ALL: [Self; 3] = [Self::None, Self::Hash, Self::Fingerprint];
}

/// Options of tables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableOptions {
    /// Bytes of keys and values at which a table is closed and the next table begins.
    pub capacity: ByteSize,
    /// Source of the largest key of a table. The properties of the table store this key.
    pub last_key: LastKey,
}

/// The source of the largest key of a table. Both sources give tables that are equal byte for byte. Source of the
/// option: Fjall 2.1, "Less cloning in segment writer".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastKey {
    /// The largest key is read from the last block when the table is closed.
    #[default]
    Block,
    /// Each key is copied into its own allocation, because it may be the last key. This choice is the older
    /// implementation.
    Entry,
}

/// Options of opening a range scan. The options do not change the results of scans. Source: Fjall 2.1, "Reducing large
/// range scan initialization costs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RangeOptions {
    /// How a scan references tables.
    pub references: TableReferences,
    /// When the readers of a run's tables are created.
    pub readers: TableReaders,
    /// Maximum bytes that each end of a scan reads at once from a sorted run whose tables are not memory-mapped. 0
    /// reads one block at a time. The first read covers the number of entries that the caller announced. Each further
    /// read is twice as large as the previous read.
    pub read_ahead: ByteSize,
}

/// How a scan references tables, in addition to its reference to the whole view, which keeps the tables open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReferences {
    /// The scan borrows the tables of the run, because runs are immutable. The scan takes no reference to single
    /// tables.
    #[default]
    Run,
    /// The scan keeps a list with a reference to each table that can contain keys of the range. This choice is the
    /// older implementation.
    Table,
}

/// When the readers of a run's tables are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReaders {
    /// One reader serves the run and moves from table to table.
    #[default]
    Lazy,
    /// When the scan is opened, each table that can contain keys of the range gets a reader. Blocks are read when the
    /// scan reaches them. This choice is the older implementation.
    Eager,
}

/// Options of merging in compactions. All options give tables that are equal byte for byte.
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
    /// A loser tree needs one comparison per level of the tree.
    #[default]
    LoserTree,
    /// A binary heap needs two comparisons per level of the heap. Source: byron, section 1.2 (D); golsm, "Compaction".
    Heap,
}

/// Limits at which writers stall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StallOptions {
    /// Number of immutable memtables that wait for their flush at which writers stall.
    pub frozen_memtables: usize,
    /// Number of runs in level 0 at which writers stall while a compaction is due. 0 never stalls them.
    pub level0_runs: usize,
    /// How writers approach the limits.
    pub pacing: Pacing,
}

/// How writers approach the limits at which they stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Writers run at full speed, and stop at a limit until a flush or compaction makes room.
    #[default]
    Stop,
    /// Writers are delayed, so that the room below the limits lasts until a flush or compaction is expected to make
    /// more room. A write of b bytes takes at least b · W / R. R is the room in bytes, and W the expected time until
    /// more room: T − t or t, whichever is longer, with the mean time T between releases of room and the time t since
    /// the last release. Runs of level 0 delay writers from half of their limit on. A wait is at most 10 ms. The option
    /// applies to `timed` mode without inline flushes. Sources: `WriteController` of `RocksDB`; admission control of
    /// `CockroachDB`; Sears, Ramakrishnan, "bLSM" (SIGMOD 2012).
    Delay,
}

/// Options of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadOptions {
    /// Maximum number of subcompactions of a compaction, 1 to 64, as in `RocksDB`. Each subcompaction has its own
    /// thread. In `counted` mode subcompactions run one after the other, so that counters and tables do not depend on
    /// the machine.
    pub max_subcompactions: usize,
    /// Background work that a write runs itself if the write makes the work due.
    pub inline: InlineWork,
}

/// The background work that a write runs before it returns if the write fills a memtable. The option applies to `timed`
/// mode. In `counted` mode, the write runs all background work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InlineWork {
    /// A write runs no background work. Flushes and compactions have their own threads.
    #[default]
    None,
    /// A write runs the flush. Compactions have their own thread.
    Flush,
    /// A write runs the flush, and then every compaction that is due.
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
        Self { frozen_memtables: 2, level0_runs: 0, pacing: Pacing::Stop }
    }
}

/// The largest table capacity, in bytes. Offsets in a table have 32 bits, and the last entry of a table may be large.
const MAX_TABLE_BYTES: u64 = 2 << 30;

/// The maximum bytes that a scan may read at once. Every scan may allocate this number of bytes.
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
