//! Counters and sizes of a tree. Each thread has separate counters. Reading a count adds the values of all threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use storage::DeviceTime;
use thread_local::ThreadLocal;

/// The number of levels with separate counters. The counters of the last of these levels also count all deeper levels.
/// Even with size ratio 2, the data of a million memtables fits into these levels.
const COUNTED_LEVELS: usize = 20;

/// Declares the counters of a tree once, and derives the variables of each thread, their sums and their names.
macro_rules! counters {
    ($(#[doc = $threads:literal])+ $counters:ident, [$($of_thread:tt)*],
     $(#[doc = $sums:literal])+ $counts:ident,
     $($(#[doc = $doc:literal])+ $name:ident,)+) => {
        $(#[doc = $threads])+
        #[derive(Debug, Default)]
        pub(crate) struct $counters {
            $($(#[doc = $doc])+ pub(crate) $name: Counter,)+
            $($of_thread)*
        }

        $(#[doc = $sums])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $counts {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl $counts {
            /// Returns the increase of each counter since the earlier counts `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.wrapping_sub(earlier.$name),)+ }
            }

            /// Returns every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)+].into_iter()
            }

            /// Adds the counts of another tree or of another level.
            fn add_counts(&mut self, other: &Self) {
                $(self.$name += other.$name;)+
            }

            fn add(&mut self, thread: &$counters) {
                $(self.$name += thread.$name.get();)+
            }
        }
    };
}

counters! {
    /// The counters of one level that one thread writes. Only this thread writes them, so it needs no atomic
    /// read-modify-write instruction.
    LevelCounters, [],
    /// The counters of one level, summed over all threads.
    LevelCounts,
    /// Bytes of SSTables and blob files read by the compactions that wrote to the level.
    bytes_read,
    /// Bytes of SSTables and blob files written to the level, by flushes and compactions.
    bytes_written,
    /// Probes of filters of the level by gets.
    filter_probes,
    /// Probes of filters of the level by gets, to which the filter answered "maybe".
    filter_passes,
    /// Filters of the level that answered "maybe" for a key that is not in their SSTable.
    filter_false_positives,
    /// Data blocks of the level that gets searched, from the cache or from storage.
    blocks_searched,
    /// Data blocks and fence pages of the level that gets fetched from storage.
    get_blocks_read,
}

counters! {
    /// The counters of a tree that one thread writes. Only this thread writes them, so it needs no atomic
    /// read-modify-write instruction.
    Counters, [levels: [LevelCounters; COUNTED_LEVELS],],
    /// The counters of a tree, summed over all threads.
    Counts,
    /// Keys looked up, by gets and multi-gets.
    gets,
    /// Lookups that found a value.
    gets_found,
    /// Lookups that a memtable answered.
    gets_from_memtable,
    /// Gets that searched several sorted runs with several threads, because the filters of these runs answered "maybe".
    parallel_gets,
    /// Shared locks of levels that gets and scans acquired. 0 without `threads.level_locks`.
    level_locks,
    /// Puts, including puts in batches.
    puts,
    /// Deletes, including deletes in batches.
    deletes,
    /// Range deletes, including range deletes in batches.
    range_deletes,
    /// Merges, including merges in batches.
    merges,
    /// Single deletes, including single deletes in batches.
    single_deletes,
    /// Pairs of a single delete and its put that flushes and compactions removed together.
    single_delete_pairs,
    /// Scans that were opened.
    ranges,
    /// Memtables and sorted runs that scans read, because they have keys in the scanned range. Each end of a scan that
    /// was read counts separately. A sorted view counts as one run.
    range_sources,
    /// Memtables and sorted runs that scans read in addition to the first one at each end of a scan.
    range_extra_sources,
    /// For each entry that a scan returned, the number of memtables and sorted runs of the scan minus 1.
    range_extra_entries,
    /// Entries returned by scans.
    range_entries,
    /// Comparisons of two keys in the merges of scans, and in the searches of scans in sorted views. The search for the
    /// first entry of a scan in a run is not included.
    range_comparisons,
    /// Bytes of data blocks that the construction of sorted views and indexes of keys read.
    index_bytes_read,
    /// Key and value bytes of puts, merges, deletes and single deletes, and both keys of range deletes.
    user_bytes_written,
    /// Bytes appended to the WAL.
    wal_bytes,
    /// Syncs of the WAL.
    wal_syncs,
    /// WALs that a background thread could not create in advance. The writer that needs the WAL creates it again.
    wal_creation_errors,
    /// Memtables that were flushed.
    flushes,
    /// Bytes of SSTables and blob files written by flushes.
    flush_bytes,
    /// Compactions that merged SSTables.
    compactions,
    /// Time from the start of a compaction to the installation of its SSTables, in nanoseconds of the clock of
    /// [`OpenOptions`](crate::OpenOptions). Parallel subcompactions count once. The time includes pauses. 0 in
    /// [`Mode::Counted`](crate::Mode).
    compaction_ns,
    /// Compactions of level 0 that ran while a compaction of deeper levels paused. 0 without the schedule `silk`.
    preempting_compactions,
    /// Time for which compactions waited because clients used the bandwidth, in nanoseconds of the clock of
    /// [`OpenOptions`](crate::OpenOptions). 0 without `threads.bandwidth`.
    bandwidth_wait_ns,
    /// Compactions that moved SSTables to another level without rewriting them (trivial moves).
    moves,
    /// Compactions that dropped complete SSTables because the policy discards old data.
    drops,
    /// Bytes of SSTables and blob files read by compactions.
    compaction_bytes_read,
    /// Bytes of SSTables and blob files written by compactions.
    compaction_bytes_written,
    /// Data blocks that gets searched, from the cache or from storage.
    blocks_searched,
    /// Lookups in data blocks that have an index: a block index, or an index in memory (`block.memory_index`).
    block_index_probes,
    /// Lookups in data blocks that the index answered: the index showed that the key is absent, or which entries to
    /// compare. The other lookups in `block_index_probes` were binary searches.
    block_index_answers,
    /// Data blocks that gets and scans fetched from storage.
    data_blocks_read,
    /// Bytes of the data blocks that gets and scans fetched from storage.
    data_block_bytes_read,
    /// Data blocks in memory-mapped SSTables that gets and scans read in place.
    blocks_in_place,
    /// Data blocks that gets and scans found in the cache.
    data_blocks_from_cache,
    /// Bytes of blob files written by flushes and compactions. `flush_bytes` and `compaction_bytes_written` include
    /// the bytes of blob files.
    blob_bytes_written,
    /// Values that gets, multi-gets and scans fetched from blob files on storage.
    blob_values_read,
    /// Bytes of blob files fetched from storage for the values in `blob_values_read`.
    blob_read_bytes,
    /// Values in memory-mapped blob files that gets, multi-gets and scans read in place.
    blob_values_in_place,
    /// Values of blob files that gets, multi-gets and scans found in the cache.
    blob_values_from_cache,
    /// Values that compactions moved from one blob file to another, or back into SSTables.
    blob_values_relocated,
    /// Fence pages fetched from storage.
    fence_pages_read,
    /// Bytes of the fence pages fetched from storage.
    fence_page_bytes_read,
    /// Fence pages found in the cache.
    fence_pages_from_cache,
    /// Filters probed by gets. With an index of all runs, a get counts one probe for each SSTable that the get
    /// searches, and at least one probe.
    filter_probes,
    /// Filters that answered "absent" to a get.
    filter_negatives,
    /// Filters that answered "maybe" for a key that is not in their SSTable.
    filter_false_positives,
    /// Range filters that scans probed.
    range_filter_probes,
    /// Range filters that answered "empty" to a scan.
    range_filter_negatives,
    /// Range filters that answered "maybe" to a scan, although the SSTable has no key in the range.
    range_filter_false_positives,
    /// Searches in fences for the data block of a key.
    fence_searches,
    /// Write stalls: how often a writer waited because a stall limit was reached.
    stalls,
    /// Total duration of write stalls and delays, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions).
    stall_ns,
    /// Delayed writes: how often a writer waited although no stall limit was reached.
    delays,
    /// Total duration of the delays, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions).
    delay_ns,
    /// Memtable rotations: how often a new memtable replaced the active memtable, because it was full or because of a
    /// flush.
    rotations,
    /// Total duration of the rotations, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions). A
    /// rotation creates a memtable and its WAL. The duration excludes stalls.
    rotation_ns,
}

/// A counter of a tree that one thread writes and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `count` to the counter. Only the thread that owns the counter calls this function, so the addition needs no
    /// atomic read-modify-write instruction.
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Adds 1 to the counter.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    /// Returns the value of the counter.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The values of some counters of a thread before it searches an SSTable. After the search, the increase of these
/// counters is added to the counters of the level that contains the SSTable.
#[derive(Clone, Copy)]
pub(crate) struct Looked {
    false_positives: u64,
    searched: u64,
    read: u64,
}

impl Counters {
    /// Returns the counters of the calling thread for one level.
    #[inline]
    pub(crate) fn level(&self, level: usize) -> &LevelCounters {
        &self.levels[level.min(COUNTED_LEVELS - 1)]
    }

    /// Returns the bytes that compactions on this thread have read, summed over the counters of all levels.
    pub(crate) fn level_bytes_read(&self) -> u64 {
        self.levels.iter().map(|level| level.bytes_read.get()).sum()
    }

    /// Returns a copy of the counters that the search of an SSTable changes.
    #[inline]
    pub(crate) fn looked(&self) -> Looked {
        Looked {
            false_positives: self.filter_false_positives.get(),
            searched: self.blocks_searched.get(),
            read: self.data_blocks_read.get() + self.fence_pages_read.get(),
        }
    }

    /// Adds the increase of the counters since `before` to the counters of the level `level`. Call this function after
    /// the search of an SSTable.
    #[inline]
    pub(crate) fn attribute(&self, level: usize, before: Looked) {
        let (now, level) = (self.looked(), self.level(level));
        level.filter_false_positives.add(now.false_positives - before.false_positives);
        level.blocks_searched.add(now.searched - before.searched);
        level.get_blocks_read.add(now.read - before.read);
    }
}

/// The counters of all threads that have used a tree. The counters of two threads are never in one cache line, because
/// each operation changes counters.
#[derive(Debug, Default)]
pub(crate) struct AllCounters {
    threads: ThreadLocal<CachePadded<Counters>>,
}

impl AllCounters {
    /// Returns the counters of the calling thread.
    #[inline]
    pub(crate) fn local(&self) -> &Counters {
        self.threads.get_or_default()
    }

    /// Returns the counters of the tree, summed over all threads.
    pub(crate) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.threads.iter().for_each(|thread| sum.add(thread));
        sum
    }

    /// Returns the counters of each level, summed over all threads, from level 0 to the last level with a nonzero
    /// counter.
    pub(crate) fn sum_of_levels(&self) -> Vec<LevelCounts> {
        let mut sums = vec![LevelCounts::default(); COUNTED_LEVELS];
        for thread in &self.threads {
            sums.iter_mut().zip(&thread.levels).for_each(|(sum, level)| sum.add(level));
        }
        let used = sums.iter().rposition(|sum| *sum != LevelCounts::default()).map_or(0, |last| last + 1);
        sums.truncate(used);
        sums
    }
}

/// The counters of a tree, and its current sizes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The counters of operations and I/O.
    pub counts: Counts,
    /// The statistics of each level, from level 0 down.
    pub levels: Vec<LevelStats>,
    /// The counters of each level, from level 0 down. The list may have more or fewer levels than `levels`.
    pub level_counts: Vec<LevelCounts>,
    /// The memory of the active and immutable memtables, in bytes.
    pub memtable_bytes: u64,
    /// The memory of the filters, in bytes.
    pub filter_bytes: u64,
    /// The memory of all indexes, such as fences, block directories, restart hints and the sorted view, in bytes. An
    /// index of the keys of all runs counts as a filter.
    pub fence_bytes: u64,
    /// The total size of the blocks in the cache, in bytes.
    pub cache_bytes: u64,
    /// The size at which a new memtable becomes immutable, in bytes.
    pub memtable_capacity_bytes: u64,
    /// The capacity of the cache in bytes; `u64::MAX` if the cache is unbounded.
    pub cache_capacity_bytes: u64,
    /// The bits per key of new filters. `None` if the filter variant has no setting of bits per key.
    pub filter_bits_per_key: Option<f64>,
    /// The number of times that the arbiter changed a size.
    pub memory_moves: u64,
    /// The expected false-positive rate of the filters, averaged over all runs. `None` if there are no runs.
    pub expected_fpr: Option<f64>,
    /// The statistics of the blob files.
    pub blobs: BlobStats,
    /// The modeled time of the storage device so far, including the opening of the tree. `None` if the storage has no
    /// device model.
    pub device: Option<DeviceTime>,
}

/// Statistics of the blob files, which contain the values that are not stored in SSTables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobStats {
    /// The number of blob files.
    pub files: u64,
    /// The total size of the values with their keys and checksums, in bytes.
    pub bytes: u64,
    /// The part of `bytes` to which SSTables refer, in bytes.
    pub live_bytes: u64,
}

/// Statistics of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelStats {
    /// The number of sorted runs in the level.
    pub runs: u64,
    /// The number of SSTables of the level.
    pub tables: u64,
    /// The number of entries of the level, including tombstones.
    pub entries: u64,
    /// The number of tombstones of the level.
    pub tombstones: u64,
    /// The number of range tombstones of the level.
    pub range_tombstones: u64,
    /// The total size of the SSTables of the level, in bytes.
    pub file_bytes: u64,
    /// The number of data blocks of the level.
    pub blocks: u64,
    /// The total stored size of the data blocks of the level, in bytes.
    pub block_bytes: u64,
    /// The total size of the keys and values of the level before encoding and compression, in bytes.
    pub user_bytes: u64,
}

impl Stats {
    /// Adds the statistics of another tree. The sizes of the cache and the times of the device are not added, because
    /// both trees share the cache and the storage.
    pub(crate) fn add(&mut self, other: &Self) {
        let (own, others) = (self.runs() as f64, other.runs() as f64);
        self.expected_fpr = match (self.expected_fpr, other.expected_fpr) {
            (Some(rate), Some(other)) => Some((rate * own + other * others) / (own + others)),
            (rate, other) => rate.or(other),
        };
        self.counts.add_counts(&other.counts);
        let levels = self.levels.len().max(other.levels.len());
        self.levels.resize(levels, LevelStats::default());
        self.levels.iter_mut().zip(&other.levels).for_each(|(level, other)| level.add(other));
        let levels = self.level_counts.len().max(other.level_counts.len());
        self.level_counts.resize(levels, LevelCounts::default());
        self.level_counts
            .iter_mut()
            .zip(&other.level_counts)
            .for_each(|(level, other)| level.add_counts(other));
        self.memtable_bytes += other.memtable_bytes;
        self.filter_bytes += other.filter_bytes;
        self.fence_bytes += other.fence_bytes;
        self.blobs.files += other.blobs.files;
        self.blobs.bytes += other.blobs.bytes;
        self.blobs.live_bytes += other.blobs.live_bytes;
    }

    /// Returns the number of sorted runs in all levels.
    pub fn runs(&self) -> u64 {
        self.levels.iter().map(|level| level.runs).sum()
    }

    /// Returns the number of range tombstones in all SSTables.
    pub fn range_tombstones(&self) -> u64 {
        self.levels.iter().map(|level| level.range_tombstones).sum()
    }

    /// Returns the total size of all SSTables, in bytes.
    pub fn table_bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.file_bytes).sum()
    }
}

impl LevelStats {
    /// Adds the statistics of the same level of another tree.
    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.tables += other.tables;
        self.entries += other.entries;
        self.tombstones += other.tombstones;
        self.range_tombstones += other.range_tombstones;
        self.file_bytes += other.file_bytes;
        self.blocks += other.blocks;
        self.block_bytes += other.block_bytes;
        self.user_bytes += other.user_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_apart_and_sum_up() {
        let all = AllCounters::default();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..100).for_each(|_| all.local().gets.bump()));
            }
        });
        all.local().gets.add(5);
        let sum = all.sum();
        assert_eq!(sum.gets, 305);
        all.local().puts.bump();
        assert_eq!(
            all.sum().since(&sum).iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>(),
            [("puts", 1)]
        );
    }

    #[test]
    fn what_is_looked_into_counts_for_its_level_and_deep_levels_count_as_one() {
        let all = AllCounters::default();
        assert!(all.sum_of_levels().is_empty());
        let counters = all.local();
        counters.data_blocks_read.add(7);
        let before = counters.looked();
        counters.data_blocks_read.add(2);
        counters.fence_pages_read.bump();
        counters.blocks_searched.bump();
        counters.attribute(2, before);
        for level in [COUNTED_LEVELS, COUNTED_LEVELS + 5] {
            counters.level(level).bytes_written.add(10);
        }
        let levels = all.sum_of_levels();
        assert_eq!(levels.len(), COUNTED_LEVELS);
        assert_eq!((levels[2].get_blocks_read, levels[2].blocks_searched), (3, 1));
        assert_eq!(levels[COUNTED_LEVELS - 1].bytes_written, 20);
        assert_eq!(levels[0], LevelCounts::default());
    }
}
