//! The options of a design that belong to no axis: for blocks, SSTables, scans, merging, write stalls, threads and the
//! memory limit.

use catalog::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use types::MergeOperator;

use crate::checksum::Checksum;

/// The options of a design, which belong to no axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Options of data blocks.
    pub block: BlockOptions,
    /// Options of SSTables.
    pub table: TableOptions,
    /// Options of scans.
    pub range: RangeOptions,
    /// Options of merging in compactions.
    pub merge: MergeOptions,
    /// Limits at which writers stall.
    pub stall: StallOptions,
    /// Options of threads.
    pub threads: ThreadOptions,
    /// Memory limit for memtables, filters, fence pointers and cache together. The cache gets the memory that the other
    /// components leave. Without `memory`, there is no limit. The axis `arbiter` can move memory between the
    /// components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// The merge operator: `add` adds 64-bit little-endian integers, `append` appends the operand to the value, and
    /// `max` keeps the larger of value and operand in byte order. The operator treats a missing value as an empty
    /// value. A store keeps the operator from its creation. Without an operator, a store rejects merges.
    #[serde(skip_serializing_if = "Option::is_none", with = "operator_name")]
    #[schemars(with = "Option<String>")]
    pub merge_operator: Option<MergeOperator>,
}

/// Reads and writes a merge operator as its name in TOML.
mod operator_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use types::{MergeOperator, valid_names};

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
            let valid = valid_names(MergeOperator::ALL.map(MergeOperator::name));
            D::Error::custom(format!("unknown merge operator \"{name}\". {valid}"))
        };
        MergeOperator::from_name(&name).map(Some).ok_or_else(unknown)
    }
}

/// Options of data blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockOptions {
    /// Size before compression at which a block is complete: 512 B to 64 KiB.
    pub size: ByteSize,
    /// Restart interval of the format `delta`: the number of entries from one restart point (an entry with its
    /// complete key) to the next restart point. All other keys are stored without the part that they share with the
    /// previous key.
    pub restart_interval: u32,
    /// The index inside a block, which finds a key without a binary search.
    pub index: BlockIndex,
    /// Number of keys per bucket of the index `hash`: 0.25 to 4. `RocksDB` recommends 0.75.
    pub index_load: f64,
    /// Whether each block begins at a multiple of the block size. Aligned blocks need no directory of block offsets.
    pub align: bool,
    /// The algorithm that computes the checksum of each block.
    pub checksum: Checksum,
    /// When the checksum of a block is verified.
    pub verify: Verify,
    /// How the tree reads uncompressed blocks of memory-mapped SSTables.
    pub mapped: Mapped,
    /// Whether the tree keeps restart hints in memory for blocks that are read in place and verified once. With
    /// restart hints, a search prefetches only the part of the block that can contain its key.
    pub restart_hints: bool,
    /// Whether the tree keeps the restart points and a hash index of every block in memory, apart from the block. To
    /// build this index, opening an SSTable reads all blocks of the SSTable. A get does not read a block if the hash
    /// index of the block lacks the key. The option `index_load` also applies to this hash index. Scans, and multi-gets
    /// that read several blocks at once, do not use the index in memory. Source: byron, section 1.2 (A).
    pub memory_index: bool,
}

/// How the tree reads uncompressed blocks of memory-mapped SSTables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mapped {
    /// Blocks are read in place and bypass the cache, because the cache would only hold a second copy. `LevelDB` also
    /// reads blocks in place.
    #[default]
    InPlace,
    /// Blocks are read through the cache, as in SSTables that are not memory-mapped.
    Cached,
}

/// When the checksum of a block is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// The checksum is verified at every read from storage.
    Always,
    /// The checksum is verified at the first read after an SSTable is opened. This value has an effect only for
    /// memory-mapped SSTables without compression, whose bytes cannot change. In other SSTables, the checksum is
    /// verified at every read.
    #[default]
    Once,
}

/// The index inside a block, which finds a key without a binary search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockIndex {
    /// Blocks have no index. A lookup is a binary search over the restart points.
    #[default]
    None,
    /// Each block has a hash table from keys to restart points, with buckets of one byte, like the data block hash
    /// index of `RocksDB`.
    Hash,
    /// Each block stores one byte of each entry's hash. A lookup compares many of these bytes at once.
    Fingerprint,
}

impl BlockIndex {
    /// All kinds of index inside blocks, in the order of their codes in blocks.
    pub const ALL: [Self; 3] = [Self::None, Self::Hash, Self::Fingerprint];
}

/// Options of SSTables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableOptions {
    /// Size at which an SSTable is complete: the bytes of its keys and values plus 8 bytes per entry.
    pub capacity: ByteSize,
    /// How the writer of an SSTable gets the largest key of the SSTable, which the properties of the SSTable contain.
    pub last_key: LastKey,
    /// The form of the file names of new SSTables. A store reads SSTables with names of any form.
    pub names: TableNames,
    /// Whether the filter of a new SSTable is in the file of the SSTable or in its own file.
    pub filter: FilterPlace,
    /// The order of the parts in the file of a new SSTable.
    pub layout: TableLayout,
    /// The time at which the tree closes and removes the input SSTables of a compaction.
    pub release: TableRelease,
    /// The source of the list of SSTables when a store is opened.
    pub manifest: ManifestPlace,
}

/// The source of the list of SSTables when a store is opened. A store keeps the choice of its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ManifestPlace {
    /// The file `manifest` lists the SSTables. Each change of the SSTables is one record with a checksum.
    #[default]
    File,
    /// There is no manifest. Opening a store lists its directory, and the file name of an SSTable contains the sequence
    /// numbers of its writes: `00000012_41_60.table`. Every flush and every compaction writes one SSTable, whatever the
    /// capacity, with less than 2 GiB of keys and values. The store cannot detect that an SSTable or a WAL is missing,
    /// or that it belongs to another store without a manifest. Corruption of a WAL looks like the end of the WAL after
    /// a crash. This choice needs a compaction policy that merges all sorted runs at once (`merge-all` or `none`),
    /// `values = "inline"`, `names = "number"` and `filter = "inside"`. Column families and merge operators need a
    /// manifest. Source: golsm, "Crash recovery".
    None,
}

/// The order of the parts in the file of an SSTable. A store reads files of both orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableLayout {
    /// The data blocks come first in the file. An SSTable is written in one pass.
    #[default]
    BlocksFirst,
    /// The fence comes first, as in csc443, where the inner pages of a B-tree precede its leaves. The blocks are
    /// written to a temporary file, and then copied after the fence.
    IndexFirst,
}

/// Whether the filter of an SSTable is in the file of the SSTable or in its own file. A store reads SSTables of both
/// kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilterPlace {
    /// The filter is a part of the SSTable's file.
    #[default]
    Inside,
    /// The filter has a file of its own next to the SSTable's file, as in csc443. Opening an SSTable then reads two
    /// files.
    Apart,
}

/// The form of the file name of an SSTable. An SSTable keeps its name if it moves to another level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableNames {
    /// The name is the file number: `00000012.table`.
    #[default]
    Number,
    /// The level and the file number, as in cs265: `L0_R12.bin`. The file `L0_R12.meta` describes the SSTable as JSON,
    /// with the time of its creation. The store never reads this file, because the SSTable and the manifest contain the
    /// same data with checksums.
    LevelRun,
    /// The level and the file number, as in csc443: `sst_0000_00000012.sst`. csc443 has a time in place of the file
    /// number. The level and the time increase from file to file.
    LevelTime,
}

/// The time at which the tree closes and removes the input SSTables of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableRelease {
    /// The tree closes an SSTable when its last reader has released it.
    #[default]
    Unused,
    /// The tree also keeps an input SSTable open until the next compaction replaces SSTables, or until the tree is
    /// closed. The input SSTables therefore occupy disk space for one more compaction. Source: golsm, "Compaction".
    /// Unlike in golsm, an SSTable that a reader still uses is not closed.
    NextCompaction,
}

/// How the writer of an SSTable gets the largest key of the SSTable. Both choices give SSTables with equal bytes.
/// Source: "Fjall 2.1", section "Less cloning in segment writer".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastKey {
    /// The largest key is read from the last block when the SSTable is complete.
    #[default]
    Block,
    /// Each key is copied into its own allocation, because each key may be the last key. This choice is the older
    /// implementation.
    Entry,
}

/// Options of scans. These options change the cost of a scan, but not its results. Source of `references` and
/// `readers`: "Fjall 2.1", section "Reducing large range scan initialization costs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RangeOptions {
    /// How a scan keeps references to SSTables.
    pub references: TableReferences,
    /// The time at which a scan creates the readers of a run's SSTables.
    pub readers: TableReaders,
    /// Maximum number of bytes that a scan reads at once from a sorted run whose SSTables are not memory-mapped. The
    /// limit applies to each end of the scan. With 0, a scan reads one block at a time. The first read covers the
    /// number of entries that the caller announced. The next read covers one block, and each further read covers twice
    /// as many blocks as the previous read.
    pub read_ahead: ByteSize,
}

/// How a scan keeps references to SSTables. In addition, every scan has a reference to one version of the tree, which
/// keeps the SSTables open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReferences {
    /// The scan borrows the SSTables of the run, because runs are immutable. The scan takes no references to single
    /// SSTables.
    #[default]
    Run,
    /// The scan keeps a list with a reference to each SSTable that can contain keys of the range. This choice is the
    /// older implementation.
    Table,
}

/// The time at which a scan creates the readers of a run's SSTables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableReaders {
    /// Each run has one reader, which moves from SSTable to SSTable.
    #[default]
    Lazy,
    /// When the scan is opened, each SSTable that can contain keys of the range gets its own reader. A reader reads a
    /// block when the scan reaches the block. This choice is the older implementation.
    Eager,
}

/// Options of merging in flushes and compactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeOptions {
    /// The algorithm with which a compaction merges its inputs. All kernels give SSTables with equal bytes. Scans
    /// always use the loser tree.
    pub kernel: MergeKernel,
    /// Whether a single delete and its put leave the tree together when they meet in a flush or a compaction. With
    /// `false`, single deletes are ordinary deletes, which are also correct for keys with several puts.
    pub single_deletes: bool,
}

/// The algorithm with which a compaction merges its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeKernel {
    /// A loser tree needs one comparison per level of the loser tree.
    #[default]
    LoserTree,
    /// A binary heap needs two comparisons per level of the heap. Sources: byron, section 1.2 (D); golsm,
    /// "Compaction".
    Heap,
}

/// Limits at which writers stall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StallOptions {
    /// Number of immutable memtables at which writers stall. These memtables wait for their flush.
    pub frozen_memtables: usize,
    /// Number of runs in level 0 at which writers stall while a compaction is due. With 0, the runs never stall
    /// writers.
    pub level0_runs: usize,
    /// The behavior of writers before they reach a stall limit.
    pub pacing: Pacing,
    /// Whether the flush thread reserves space for the next two WALs, each as large as the previous WAL. Appends to
    /// reserved space make no system call, so a busy file system does not delay them. The option needs a mapped WAL
    /// that is not synced, such as `wal = "buffered"` with `storage = "mmap"`. With other WALs, the option has no
    /// effect.
    pub reserve_wal: bool,
}

/// The behavior of writers before they reach a stall limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Writers run at full speed until they reach a stall limit. At the limit, writers stop until a flush or compaction
    /// makes room.
    #[default]
    Stop,
    /// Writers are delayed before they reach a limit. The remaining room then lasts until the expected end of a flush
    /// or compaction, which makes more room. A write of b bytes takes at least b · W / R, where R is the room in bytes.
    /// The expected time W until more room is max(T − t, t). T is the mean time between two flushes or compactions that
    /// make room, and t is the time since the last of them. The runs of level 0 delay writers as soon as their number
    /// reaches half of `level0_runs`. A wait is at most 4 ms. The option applies to `timed` mode without inline
    /// flushes. Sources: `WriteController` of `RocksDB`; admission control of `CockroachDB`; Sears, Ramakrishnan,
    /// "bLSM" (SIGMOD 2012).
    Delay,
}

/// Options of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadOptions {
    /// Maximum number of subcompactions of a compaction: 1 to 64. `RocksDB` has an option with this name. Each
    /// subcompaction has its own thread. In `counted` mode, subcompactions run one after the other, so that counters
    /// and SSTables do not depend on the machine.
    pub max_subcompactions: usize,
    /// The background work that a write runs before it returns if the write fills a memtable.
    pub inline: InlineWork,
    /// The threads that run flushes and compactions, except the flushes and compactions that writes run (see `inline`).
    pub background: BackgroundThreads,
    /// The order of compactions and flushes.
    pub schedule: Schedule,
    /// Bytes per second that clients and compactions may read and write together. Compactions without inputs from level
    /// 0 get the bandwidth that clients leave, and at least a tenth of the bandwidth. Clients use bandwidth by records
    /// of the WAL, and by blocks that gets and scans read from storage. With `"0B"`, compactions have no limit. The
    /// option needs `schedule = "silk"`.
    pub bandwidth: ByteSize,
    /// Number of threads that search the sorted runs of one get at the same time: 1 to 64. With 1, the caller of the
    /// get searches one run after another. With more, the caller probes the filters, and other threads help to search
    /// the runs whose filters pass the key. All callers of gets share these threads. Multi-gets and scans do not use
    /// these threads. In `counted` mode, the caller searches one run after another, so that counters do not depend on
    /// the machine. Source: byron, section 1.4 (B).
    pub per_lookup: usize,
    /// Whether gets and scans take a shared lock of each level that they search. A flush or a compaction takes the
    /// exclusive locks of the levels that it changes. Without locks, a reader has an immutable version of all levels.
    /// Source: cs265, sections 2.4 and 3.5.1.
    pub level_locks: bool,
    /// Increase of the nice value of the compaction thread over the nice value of the process: 0 to 19. With a larger
    /// value, writers and flushes get a CPU before compactions, so a put waits less for a CPU. Compactions are slower
    /// while all CPUs are busy. The option applies to Linux and to `background = "apart"`. Source: `RocksDB`,
    /// `LowerThreadPoolCPUPriority`.
    pub compaction_nice: u32,
}

/// The order of compactions and flushes. The option applies to `timed` mode with a compaction thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// A compaction begins when the previous compaction has ended.
    #[default]
    InOrder,
    /// Flushes have the highest priority, then compactions of level 0, then all other compactions. A compaction of
    /// deeper levels pauses while level 0 is compacted into a level that the deeper compaction does not use. With
    /// `bandwidth`, compactions also wait while clients use the device. Source: Balmau et al., "SILK" (USENIX ATC
    /// 2019), section 4.
    Silk,
}

/// The threads that run flushes and compactions. The option applies to `timed` mode without inline flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackgroundThreads {
    /// One thread runs only flushes, and another thread runs only compactions. One thread is therefore always kept
    /// for compactions.
    #[default]
    Apart,
    /// One thread runs flushes and compactions. A flush waits for the running compaction, and compactions wait until
    /// no flush is due. Under a high load, compactions starve. byron had this problem with a shared pool of threads
    /// (section 1.4 (B)).
    Shared,
}

/// The background work that a write runs before it returns if the write fills a memtable. The option applies to
/// `timed` mode. In `counted` mode, the write runs all background work that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InlineWork {
    /// A write runs no background work. Background threads run all flushes and compactions.
    #[default]
    None,
    /// The write that fills a memtable also runs the flush. Another thread runs the compactions.
    Flush,
    /// A write runs the flush, and then every compaction that is due.
    All,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        Self {
            max_subcompactions: 1,
            inline: InlineWork::None,
            background: BackgroundThreads::Apart,
            schedule: Schedule::InOrder,
            bandwidth: ByteSize(0),
            per_lookup: 1,
            level_locks: false,
            compaction_nice: 0,
        }
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
            memory_index: false,
        }
    }
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            capacity: ByteSize(64 << 20),
            last_key: LastKey::Block,
            names: TableNames::Number,
            filter: FilterPlace::Inside,
            layout: TableLayout::BlocksFirst,
            release: TableRelease::Unused,
            manifest: ManifestPlace::File,
        }
    }
}

impl Default for RangeOptions {
    fn default() -> Self {
        Self { references: TableReferences::Run, readers: TableReaders::Lazy, read_ahead: ByteSize(0) }
    }
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { kernel: MergeKernel::LoserTree, single_deletes: true }
    }
}

impl Default for StallOptions {
    fn default() -> Self {
        Self { frozen_memtables: 2, level0_runs: 0, pacing: Pacing::Stop, reserve_wal: false }
    }
}

/// The largest valid capacity of an SSTable, in bytes. Offsets in an SSTable have 32 bits, and the last entry can
/// exceed the capacity.
pub(crate) const MAX_TABLE_BYTES: u64 = 2 << 30;

/// The maximum number of bytes that a scan may read at once. Every scan may allocate this number of bytes.
const MAX_READ_AHEAD_BYTES: u64 = 16 << 20;

impl Options {
    /// Checks all options. If an option is invalid, the error contains the group of the option, its key, and a message
    /// with the valid values.
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
            let message = "must be at least 1, not 0, because with 0 every writer would stall";
            return Err(("stall", "frozen_memtables", message.to_owned()));
        }
        let subcompactions = self.threads.max_subcompactions;
        if !(1..=64).contains(&subcompactions) {
            let message = format!("must be 1 to 64, not {subcompactions}");
            return Err(("threads", "max_subcompactions", message));
        }
        let threads = self.threads.per_lookup;
        if !(1..=64).contains(&threads) {
            return Err(("threads", "per_lookup", format!("must be 1 to 64, not {threads}")));
        }
        let ThreadOptions { schedule, bandwidth, background, .. } = self.threads;
        if schedule == Schedule::Silk && background == BackgroundThreads::Shared {
            let message =
                "must be \"in-order\" if background is \"shared\", because \"silk\" needs a flush thread";
            return Err(("threads", "schedule", message.to_owned()));
        }
        if schedule == Schedule::InOrder && bandwidth.0 > 0 {
            let message = format!("must be 0 B, not {bandwidth}, unless schedule is \"silk\"");
            return Err(("threads", "bandwidth", message));
        }
        let nice = self.threads.compaction_nice;
        if nice > 19 {
            return Err(("threads", "compaction_nice", format!("must be 0 to 19, not {nice}")));
        }
        Ok(())
    }

    /// Returns the options as TOML.
    pub(super) fn to_toml(&self) -> Table {
        match Value::try_from(self) {
            Ok(Value::Table(table)) => table,
            _ => unreachable!("the options of a design must serialize to a TOML table"),
        }
    }
}
