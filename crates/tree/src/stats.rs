//! Counters of a tree. Each thread has its own counters, and reading a counter sums up those of all threads.

use std::sync::atomic::{AtomicU64, Ordering};

use storage::DeviceTime;
use thread_local::ThreadLocal;

/// The number of levels with separate counters. Deeper levels are counted with the last of them. A tree of size ratio 2
/// with this many levels has a million memtables.
const COUNTED_LEVELS: usize = 20;

/// Declares counters once: the per-thread variables, their sums and their names.
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
            /// Returns the counts since `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.wrapping_sub(earlier.$name),)+ }
            }

            /// Returns every count with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)+].into_iter()
            }

            fn add(&mut self, thread: &$counters) {
                $(self.$name += thread.$name.get();)+
            }
        }
    };
}

counters! {
    /// The counters of one thread for one level. No other thread writes them.
    LevelCounters, [],
    /// The counts of one level, over all threads.
    LevelCounts,
    /// Bytes of SSTables and blob files read by the compactions that wrote to the level.
    bytes_read,
    /// Bytes of SSTables and blob files written to the level, by flushes and compactions.
    bytes_written,
    /// Filters of the level probed by gets.
    filter_probes,
    /// Filters of the level that answered "maybe" to a get.
    filter_passes,
    /// Filters of the level that answered "maybe" for a key that their table does not have.
    filter_false_positives,
    /// Data blocks of the level searched by gets, cached or not.
    blocks_searched,
    /// Data blocks and fence pages of the level fetched from storage by gets.
    blocks_read,
}

counters! {
    /// The counters of one thread. Only that thread writes them.
    Counters, [levels: [LevelCounters; COUNTED_LEVELS],],
    /// The sums of the counters of all threads.
    Counts,
    /// Keys looked up, by gets and multi-gets.
    gets,
    /// Lookups that found a value.
    gets_found,
    /// Lookups that a memtable answered.
    gets_from_memtable,
    /// Puts, including puts in batches.
    puts,
    /// Deletes, including deletes in batches.
    deletes,
    /// Range deletes, including those in batches.
    range_deletes,
    /// Merges, including those in batches.
    merges,
    /// Ranges opened.
    ranges,
    /// Memtables and runs with keys of a range, counted for each end of the range that was read.
    range_sources,
    /// Sources of scans in `range_sources` beyond the first source of each end.
    range_extra_sources,
    /// Sum over all scans of the returned entries × (sources − 1).
    range_extra_entries,
    /// Entries returned by ranges.
    range_entries,
    /// Key and value bytes of puts, merges and deletes, and both keys of range deletes.
    user_bytes_written,
    /// Bytes appended to the WAL.
    wal_bytes,
    /// Syncs of the WAL.
    wal_syncs,
    /// Memtables flushed.
    flushes,
    /// Bytes of SSTables and blob files written by flushes.
    flush_bytes,
    /// Compactions that merged tables.
    compactions,
    /// Time from the start of a compaction until its tables were installed, in nanoseconds of the clock of
    /// [`OpenOptions`](crate::OpenOptions). Parallel subcompactions count once. 0 in [`Mode::Counted`](crate::Mode).
    compaction_ns,
    /// Compactions that moved tables to another level without rewriting them (trivial moves).
    moves,
    /// Compactions that dropped whole tables because the policy discards old data.
    drops,
    /// Bytes of SSTables and blob files read by compactions.
    compaction_bytes_read,
    /// Bytes of SSTables and blob files written by compactions.
    compaction_bytes_written,
    /// Data blocks searched by gets, cached or not.
    blocks_searched,
    /// Searched data blocks that have an index inside.
    block_index_probes,
    /// Searched data blocks whose index found the entry or showed that the key is absent. No search was needed.
    block_index_answers,
    /// Data blocks fetched from storage by gets and ranges.
    blocks_read,
    /// Bytes of data blocks fetched from storage by gets and ranges.
    blocks_read_bytes,
    /// Data blocks that gets and ranges read in place, in memory-mapped tables.
    blocks_in_place,
    /// Data blocks that gets and ranges found in the cache.
    blocks_from_cache,
    /// Bytes of blob files written by flushes and compactions. `flush_bytes` and `compaction_bytes_written` include them.
    blob_bytes_written,
    /// Values of gets, ranges and multi-gets fetched from blob files on storage.
    blob_values_read,
    /// Bytes of blob files fetched from storage for these values.
    blob_read_bytes,
    /// Values that gets, ranges and multi-gets read in place, in memory-mapped blob files.
    blob_values_in_place,
    /// Values of blob files that gets, ranges and multi-gets found in the cache.
    blob_values_from_cache,
    /// Values that compactions moved from one blob file to another, or back into SSTables.
    blob_values_relocated,
    /// Fence pages fetched from storage.
    fence_pages_read,
    /// Fence pages found in the cache.
    fence_pages_from_cache,
    /// Filters probed by gets.
    filter_probes,
    /// Filters that answered "absent".
    filter_negatives,
    /// Filters that answered "maybe" for a key that their table does not have.
    filter_false_positives,
    /// Filters probed for an empty range.
    range_filter_probes,
    /// Range probes that were answered "empty".
    range_filter_negatives,
    /// Range probes that were answered "maybe", though the table has no key of the range.
    range_filter_false_positives,
    /// Fence searches for the block of a key.
    fence_searches,
    /// Write stalls: the number of times that a writer waited because a stall limit was reached.
    stalls,
    /// Duration of write stalls and delays, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions).
    stall_ns,
    /// Delayed writes: the number of times that a writer waited before a stall limit was reached.
    delays,
    /// Duration of the delays, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions).
    delay_ns,
    /// Memtables that writers replaced because they were full.
    rotations,
    /// Duration of the replacements, in nanoseconds of the clock of [`OpenOptions`](crate::OpenOptions): the creation
    /// of a memtable and its WAL, without stalls.
    rotation_ns,
}

/// A number that one thread writes and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only the thread that owns the counter calls this, so no atomic read-modify-write is needed.
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Adds 1 to the counter.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    /// Returns the number.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of a thread's gets, as they were before a search of a table.
#[derive(Clone, Copy)]
pub(crate) struct Looked {
    false_positives: u64,
    searched: u64,
    read: u64,
}

impl Counters {
    /// Returns the counters of a level.
    #[inline]
    pub(crate) fn level(&self, level: usize) -> &LevelCounters {
        &self.levels[level.min(COUNTED_LEVELS - 1)]
    }

    /// Returns the current counts of searches in tables.
    #[inline]
    pub(crate) fn looked(&self) -> Looked {
        Looked {
            false_positives: self.filter_false_positives.get(),
            searched: self.blocks_searched.get(),
            read: self.blocks_read.get() + self.fence_pages_read.get(),
        }
    }

    /// Adds the counts since `before` to the counters of `level`.
    #[inline]
    pub(crate) fn attribute(&self, level: usize, before: Looked) {
        let (now, level) = (self.looked(), self.level(level));
        level.filter_false_positives.add(now.false_positives - before.false_positives);
        level.blocks_searched.add(now.searched - before.searched);
        level.blocks_read.add(now.read - before.read);
    }
}

/// The counters of all threads that used a tree.
#[derive(Debug, Default)]
pub(crate) struct AllCounters {
    threads: ThreadLocal<Counters>,
}

impl AllCounters {
    /// Returns the counters of the calling thread.
    #[inline]
    pub(crate) fn local(&self) -> &Counters {
        self.threads.get_or_default()
    }

    /// Returns the sums over all threads.
    pub(crate) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.threads.iter().for_each(|thread| sum.add(thread));
        sum
    }

    /// Returns the sums over all threads per level, down to the last level with a count.
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
    /// The counters.
    pub counts: Counts,
    /// The levels, from level 0 down.
    pub levels: Vec<LevelStats>,
    /// The counters of each level, from level 0 down. The list may be shorter or longer than `levels`.
    pub level_counts: Vec<LevelCounts>,
    /// Memory of the memtables, active and immutable, in bytes.
    pub memtable_bytes: u64,
    /// Memory of the filters, in bytes.
    pub filter_bytes: u64,
    /// Memory of the fences, block directories and restart hints, in bytes.
    pub fence_bytes: u64,
    /// Blocks in the cache, in bytes.
    pub cache_bytes: u64,
    /// The expected false-positive rate of the filters as built, the mean over runs; `None` without runs.
    pub expected_fpr: Option<f64>,
    /// The blob files.
    pub blobs: BlobStats,
    /// The modelled time of the device so far, including the opening of the tree. `None` if the storage has no device
    /// model.
    pub device: Option<DeviceTime>,
}

/// The blob files of a tree, which have the values that are not in SSTables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobStats {
    /// The number of files.
    pub files: u64,
    /// The bytes of the values, with their keys and checksums.
    pub bytes: u64,
    /// The part of `bytes` that SSTables refer to.
    pub live_bytes: u64,
}

/// The contents of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelStats {
    /// The number of sorted runs.
    pub runs: u64,
    /// The number of SSTables.
    pub tables: u64,
    /// The number of entries, tombstones included.
    pub entries: u64,
    /// The number of tombstones.
    pub tombstones: u64,
    /// The number of range tombstones.
    pub range_tombstones: u64,
    /// The bytes of the SSTables.
    pub file_bytes: u64,
    /// The number of data blocks.
    pub blocks: u64,
    /// The bytes of data blocks as they are stored.
    pub block_bytes: u64,
    /// Key and value bytes before encoding and compression.
    pub user_bytes: u64,
}

impl Stats {
    /// Returns the number of sorted runs in all levels.
    pub fn runs(&self) -> u64 {
        self.levels.iter().map(|level| level.runs).sum()
    }

    /// Returns the number of range tombstones in all SSTables.
    pub fn range_tombstones(&self) -> u64 {
        self.levels.iter().map(|level| level.range_tombstones).sum()
    }

    /// Returns the bytes of all SSTables.
    pub fn table_bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.file_bytes).sum()
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
        counters.blocks_read.add(7);
        let before = counters.looked();
        counters.blocks_read.add(2);
        counters.fence_pages_read.bump();
        counters.blocks_searched.bump();
        counters.attribute(2, before);
        for level in [COUNTED_LEVELS, COUNTED_LEVELS + 5] {
            counters.level(level).bytes_written.add(10);
        }
        let levels = all.sum_of_levels();
        assert_eq!(levels.len(), COUNTED_LEVELS);
        assert_eq!((levels[2].blocks_read, levels[2].blocks_searched), (3, 1));
        assert_eq!(levels[COUNTED_LEVELS - 1].bytes_written, 20);
        assert_eq!(levels[0], LevelCounts::default());
    }
}
