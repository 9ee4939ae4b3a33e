//! Counters of a tree: each thread counts for itself, reading sums up.

use std::sync::atomic::{AtomicU64, Ordering};

use storage::DeviceTime;
use thread_local::ThreadLocal;

/// Levels that are told apart in what is counted per level; deeper ones count as the last of them. A tree of size
/// ratio 2 with so many levels has a million memtables.
const COUNTED_LEVELS: usize = 20;

/// Declares counters once: the per-thread cells, the sums, and their names.
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
            /// What was counted since `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.wrapping_sub(earlier.$name),)+ }
            }

            /// Every count with its name, in the order of declaration.
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
    /// What one thread counted of one level. Only that thread writes it.
    LevelCounters, [],
    /// What was counted of one level, over all threads.
    LevelCounts,
    /// Bytes of table files read by the merges that wrote to the level.
    bytes_read,
    /// Bytes of tables written to the level, by flushes and by merges.
    bytes_written,
    /// Filters of the level asked by gets.
    filter_probes,
    /// Filters of the level that let a get pass.
    filter_passes,
    /// Filters of the level that answered "maybe" for a key their table did not have.
    filter_false_positives,
    /// Data blocks of the level looked into by gets, cached or not.
    blocks_searched,
    /// Data blocks and fence pages of the level fetched from storage by gets.
    blocks_read,
}

counters! {
    /// One thread's counters. Only that thread writes them.
    Counters, [levels: [LevelCounters; COUNTED_LEVELS],],
    /// Sums of the counters of all threads.
    Counts,
    /// Keys looked up, by single and by multiple gets.
    gets,
    /// Lookups that found a value.
    gets_found,
    /// Lookups that a memtable answered.
    gets_from_memtable,
    /// Puts, in batches or alone.
    puts,
    /// Deletes, in batches or alone.
    deletes,
    /// Ranges opened.
    ranges,
    /// Memtables and runs that had keys of a range, counted for each of its ends that was read.
    range_sources,
    /// Of those the ones beyond the first, in sum over ranges.
    range_extra_sources,
    /// Entries that ranges gave out, times the sources beyond one of each.
    range_extra_entries,
    /// Entries that ranges gave out.
    range_entries,
    /// Key and value bytes of puts and deletes.
    user_bytes_written,
    /// Bytes appended to write-ahead logs.
    wal_bytes,
    /// Syncs of write-ahead logs.
    wal_syncs,
    /// Memtables flushed.
    flushes,
    /// Bytes of tables written by flushes.
    flush_bytes,
    /// Jobs that merged tables.
    compactions,
    /// Time from the start of such jobs until their tables were installed, in nanoseconds of the clock the tree was
    /// opened with; those that went on side by side within one job count once. 0 in [`Mode::Counted`](crate::Mode).
    compaction_ns,
    /// Jobs that moved tables to another level as they were.
    moves,
    /// Jobs that dropped tables by the rule of their policy.
    drops,
    /// Bytes of table files read by merges.
    compaction_bytes_read,
    /// Bytes of tables written by merges.
    compaction_bytes_written,
    /// Data blocks looked into by gets, cached or not.
    blocks_searched,
    /// Of those the ones with an index inside.
    block_index_probes,
    /// Of those the ones whose index told that the key is absent or where it stands, so that nothing was searched.
    block_index_answers,
    /// Data blocks fetched from storage by gets and ranges.
    blocks_read,
    /// Bytes of data blocks fetched from storage by gets and ranges.
    blocks_read_bytes,
    /// Data blocks that gets and ranges used where they lie in mapped tables.
    blocks_in_place,
    /// Data blocks that gets and ranges found in the cache.
    blocks_from_cache,
    /// Fence pages fetched from storage.
    fence_pages_read,
    /// Fence pages found in the cache.
    fence_pages_from_cache,
    /// Filters asked by gets.
    filter_probes,
    /// Filters that answered "absent".
    filter_negatives,
    /// Filters that answered "maybe" for a key their table did not have.
    filter_false_positives,
    /// Filters asked whether a range is empty.
    range_filter_probes,
    /// Filters that called a range empty.
    range_filter_negatives,
    /// Filters that did not call a range empty of which their table had no key.
    range_filter_false_positives,
    /// Fences asked for the block of a key.
    fence_searches,
    /// Times a writer waited because a stated limit was hit.
    stalls,
    /// Time writers waited, in nanoseconds of the clock the tree was opened with.
    stall_ns,
}

/// A number that one thread writes and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only the thread that owns it calls this, so no locked instruction is needed.
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Adds one.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    /// The number.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a thread had counted of its gets before it looked into a table.
#[derive(Clone, Copy)]
pub(crate) struct Looked {
    false_positives: u64,
    searched: u64,
    read: u64,
}

impl Counters {
    /// What was counted of a level.
    #[inline]
    pub(crate) fn level(&self, level: usize) -> &LevelCounters {
        &self.levels[level.min(COUNTED_LEVELS - 1)]
    }

    /// What was counted so far of looking into tables.
    #[inline]
    pub(crate) fn looked(&self) -> Looked {
        Looked {
            false_positives: self.filter_false_positives.get(),
            searched: self.blocks_searched.get(),
            read: self.blocks_read.get() + self.fence_pages_read.get(),
        }
    }

    /// Counts as of `level` what was counted since then.
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
    /// The calling thread's own counters.
    #[inline]
    pub(crate) fn local(&self) -> &Counters {
        self.threads.get_or_default()
    }

    /// The sums over all threads.
    pub(crate) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.threads.iter().for_each(|thread| sum.add(thread));
        sum
    }

    /// The sums over all threads of what is counted per level: of every level down to the last of which anything
    /// was.
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

/// A tree's counters, and what it holds at this moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The counters.
    pub counts: Counts,
    /// The levels, from level 0 down.
    pub levels: Vec<LevelStats>,
    /// What was counted of each level, from level 0 down; shorter or longer than `levels`.
    pub level_counts: Vec<LevelCounts>,
    /// Bytes of memory held by memtables, active and frozen.
    pub memtable_bytes: u64,
    /// Bytes of memory held by filters.
    pub filter_bytes: u64,
    /// Bytes of memory held by fences, block directories and restart hints of blocks.
    pub fence_bytes: u64,
    /// Bytes of blocks held by the cache.
    pub cache_bytes: u64,
    /// The false-positive rate that theory gives for the filters as built, the mean over runs; `None`
    /// without runs.
    pub expected_fpr: Option<f64>,
    /// The time of the device so far, opening the tree included; `None` where storage models none.
    pub device: Option<DeviceTime>,
}

/// What one level holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelStats {
    /// Sorted runs.
    pub runs: u64,
    /// Tables.
    pub tables: u64,
    /// Entries, tombstones included.
    pub entries: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// Bytes of table files.
    pub file_bytes: u64,
    /// Data blocks.
    pub blocks: u64,
    /// Bytes of data blocks as they are stored.
    pub block_bytes: u64,
    /// Key and value bytes before any encoding.
    pub user_bytes: u64,
}

impl Stats {
    /// Sorted runs on all levels.
    pub fn runs(&self) -> u64 {
        self.levels.iter().map(|level| level.runs).sum()
    }

    /// Bytes of all table files.
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
