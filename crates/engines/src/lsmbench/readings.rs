//! Translates the statistics of a tree, or of the families of a store, into the metrics of results.

use results::columns as c;
use results::counters as n;
use results::levels as l;
use tree::{Design, LevelCounts, LevelStats, Mode, Schedule, Stats};

use crate::stats::{EngineStats, Readings};

/// Returns the statistics of a store and of its levels, as metrics of results.
pub(super) fn of_store(stats: &Stats, mode: Mode, design: &Design) -> EngineStats {
    let levels = stats.levels.len().max(stats.level_counts.len());
    let level = |level: usize| {
        let shape = stats.levels.get(level).copied().unwrap_or_default();
        of_level(&shape, &stats.level_counts.get(level).copied().unwrap_or_default())
    };
    EngineStats { whole: of_tree(stats, mode, design), levels: (0..levels).map(level).collect() }
}

/// Whether the tree, or the tree of any family, stores values in blob files.
fn has_blobs(design: &Design) -> bool {
    let is_apart = |family| design.family(family).is_ok_and(|design| !design.keeps_values_inline());
    !design.keeps_values_inline() || design.families().any(is_apart)
}

/// Returns the counters and gauges of a whole tree, as metrics of results. Times are omitted in counted mode. Metrics
/// of blob files, and of lookups that read with several threads, are omitted if the design has no such feature.
fn of_tree(stats: &Stats, mode: Mode, design: &Design) -> Readings {
    let counts = &stats.counts;
    let fetched_bytes = counts.data_block_bytes_read + counts.fence_page_bytes_read + counts.blob_read_bytes;
    let mut tree = Readings::default();
    tree.counter(&c::USER_BYTES_WRITTEN, counts.user_bytes_written)
        .counter(&c::WAL_BYTES, counts.wal_bytes)
        .counter(&c::FLUSHES, counts.flushes)
        .counter(&c::FLUSH_BYTES, counts.flush_bytes)
        .counter(&c::COMPACTIONS, counts.compactions)
        .counter(&c::COMPACTION_BYTES_READ, counts.compaction_bytes_read)
        .counter(&c::COMPACTION_BYTES_WRITTEN, counts.compaction_bytes_written)
        .counter(&c::BLOCKS_READ, counts.data_blocks_read + counts.fence_pages_read)
        .counter(&n::FETCHED_BYTES, fetched_bytes)
        .counter(&c::BLOCKS_READ_INDEX, counts.fence_pages_read)
        .counter(&c::BLOCKS_FROM_CACHE, counts.data_blocks_from_cache + counts.fence_pages_from_cache)
        .counter(&n::INDEX_PAGES_FROM_CACHE, counts.fence_pages_from_cache)
        .counter(&c::BLOCKS_IN_PLACE, counts.blocks_in_place)
        .counter(&n::BLOCKS_SEARCHED, counts.blocks_searched)
        .counter(&n::BLOCK_INDEX_PROBES, counts.block_index_probes)
        .counter(&n::BLOCK_INDEX_HITS, counts.block_index_answers)
        .counter(&c::FILTER_PROBES, counts.filter_probes)
        .counter(&c::FILTER_NEGATIVES, counts.filter_negatives)
        .counter(&c::FILTER_FALSE_POSITIVES, counts.filter_false_positives)
        .counter(&c::RANGE_FILTER_PROBES, counts.range_filter_probes)
        .counter(&c::RANGE_FILTER_NEGATIVES, counts.range_filter_negatives)
        .counter(&n::RANGE_FILTER_FALSE_POSITIVES, counts.range_filter_false_positives)
        .counter(&c::FENCE_SEARCHES, counts.fence_searches)
        .counter(&n::GETS, counts.gets)
        .counter(&n::GETS_FOUND, counts.gets_found)
        .counter(&n::GETS_FROM_MEMTABLE, counts.gets_from_memtable)
        .counter(&n::PUTS, counts.puts)
        .counter(&n::RANGES, counts.ranges)
        .counter(&n::RANGE_SOURCES, counts.range_sources)
        .counter(&n::RANGE_ENTRIES, counts.range_entries)
        .counter(&n::RANGE_COMPARISONS, counts.range_comparisons)
        .counter(&c::INDEX_BYTES_READ, design.index_of_all_runs().map(|_| counts.index_bytes_read))
        .counter(&n::DEVICE_READ_NS, stats.device.map(|device| device.read_ns))
        .counter(&n::DEVICE_WRITE_NS, stats.device.map(|device| device.write_ns));
    if mode == Mode::Timed {
        tree.counter(&n::STALL_NS, counts.stall_ns)
            .counter(&c::STALLS, counts.stalls)
            .counter(&n::DELAY_NS, counts.delay_ns)
            .counter(&n::ROTATION_NS, counts.rotation_ns)
            .counter(&n::COMPACTION_NS, counts.compaction_ns);
        if design.options.threads.per_lookup > 1 {
            tree.counter(&c::PARALLEL_GETS, counts.parallel_gets);
        }
        if design.options.threads.schedule == Schedule::Silk {
            tree.counter(&c::PREEMPTING_COMPACTIONS, counts.preempting_compactions);
        }
        if design.options.threads.bandwidth.0 > 0 {
            tree.counter(&n::BANDWIDTH_WAIT_NS, counts.bandwidth_wait_ns);
        }
    }
    tree.gauge(&c::LEVELS, stats.levels.iter().filter(|level| level.runs > 0).count())
        .gauge(&c::RUNS, stats.runs())
        .gauge(&c::TABLE_BYTES, stats.table_bytes() + stats.blobs.bytes)
        .gauge(&c::RANGE_TOMBSTONES, Some(stats.range_tombstones()).filter(|count| *count > 0))
        .gauge(&c::SINGLE_DELETE_PAIRS, Some(counts.single_delete_pairs).filter(|pairs| *pairs > 0))
        .gauge(&c::WAL_CREATION_ERRORS, Some(counts.wal_creation_errors).filter(|errors| *errors > 0))
        .gauge(&c::MEMTABLE_BYTES, stats.memtable_bytes)
        .gauge(&c::FILTER_BYTES, stats.filter_bytes)
        .gauge(&c::FENCE_BYTES, stats.fence_bytes)
        .gauge(&c::CACHE_BYTES, stats.cache_bytes)
        .gauge(&c::EXPECTED_FPR, stats.expected_fpr);
    if design.options.memory.is_some() || design.moves_memory() {
        tree.counter(&c::MEMORY_MOVES, stats.memory_moves)
            .gauge(&c::MEMTABLE_CAPACITY_BYTES, stats.memtable_capacity_bytes)
            .gauge(&c::CACHE_CAPACITY_BYTES, stats.cache_capacity_bytes)
            .gauge(&c::NEW_FILTER_BITS_PER_KEY, stats.filter_bits_per_key);
    }
    if has_blobs(design) {
        let (blobs, read) = (&stats.blobs, counts.blob_values_read + counts.blob_values_in_place);
        let live_share = (blobs.bytes > 0).then(|| blobs.live_bytes as f64 / blobs.bytes as f64);
        tree.counter(&c::BLOB_BYTES_WRITTEN, counts.blob_bytes_written)
            .gauge(&c::BLOB_BYTES, blobs.bytes)
            .gauge(&c::BLOB_LIVE_SHARE, live_share)
            .counter(&c::BLOB_VALUES_READ, read)
            .counter(&c::BLOB_VALUES_FROM_CACHE, counts.blob_values_from_cache);
    }
    tree
}

/// Returns the counters and gauges of one level of a tree, as metrics of results.
fn of_level(state: &LevelStats, counts: &LevelCounts) -> Readings {
    let mut level = Readings::default();
    level
        .counter(&l::BYTES_READ, counts.bytes_read)
        .counter(&l::BYTES_WRITTEN, counts.bytes_written)
        .counter(&c::FILTER_PROBES, counts.filter_probes)
        .counter(&c::FILTER_NEGATIVES, counts.filter_probes.saturating_sub(counts.filter_passes))
        .counter(&c::FILTER_FALSE_POSITIVES, counts.filter_false_positives)
        .counter(&l::GET_BLOCKS_SEARCHED, counts.blocks_searched)
        .counter(&l::GET_BLOCKS_READ, counts.get_blocks_read)
        .gauge(&c::RUNS, state.runs)
        .gauge(&l::TABLES, state.tables)
        .gauge(&c::TABLE_BYTES, state.file_bytes)
        .gauge(&n::ENTRIES, state.entries)
        .gauge(&n::TOMBSTONES, state.tombstones)
        .gauge(&n::BLOCKS, state.blocks)
        .gauge(&n::BLOCK_BYTES, state.block_bytes)
        .gauge(&n::ENTRY_BYTES, state.user_bytes);
    level
}
