//! The LSM-tree of lsmbench, assembled from the design. This is the default engine of an experiment.

use std::ops::Bound;
use std::path::Path;

use catalog::{Limit, Variant};
use results::columns as c;
use results::counters as n;
use results::levels as l;
use tree::{Design, LevelCounts, LevelStats, Mode, OpenOptions, Stats, Tree, WriteBatch};
use workload::{Scan, Target, TargetError, Write};

use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::EngineOptions;
use crate::stats::{EngineStats, Readings};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::plain("lsmbench", "lsmbench's own tree, assembled from the design", || Box::new(Lsmbench));

struct Lsmbench;

impl Engine for Lsmbench {
    fn identify(&self) -> Result<Identity, Missing> {
        Ok(Identity { version: Some(env!("CARGO_PKG_VERSION").to_owned()), ..Identity::default() })
    }

    /// Returns no lines, because the tree reads the design itself.
    fn mapping(&self, _: &EngineOptions) -> Vec<String> {
        Vec::new()
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let mut options = OpenOptions::new(opening.design.clone()).mode(opening.mode).clock(opening.clock);
        if let Some(identity) = opening.identity {
            options = options.identity(identity);
        }
        Ok(Box::new(TreeStore { tree: options.open(&opening.directory)?, mode: opening.mode }))
    }

    fn reads_whole_design(&self) -> bool {
        true
    }

    fn limits(&self, design: &Design) -> Vec<Limit> {
        design.limits().into_iter().map(|(_, _, limit)| limit).collect()
    }

    fn may_reject_options(&self) -> bool {
        false
    }

    fn stores_can_be_cloned(&self) -> bool {
        true
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn reports_levels_and_stalls(&self) -> bool {
        true
    }

    fn reports_memory(&self) -> bool {
        true
    }

    fn allocates_in_program(&self) -> bool {
        true
    }
}

/// An open tree.
struct TreeStore {
    tree: Tree,
    mode: Mode,
}

impl Target for TreeStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.put(key, value)?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(self.tree.get_into(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.delete(key)?)
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        Some(self.tree.put_if_absent(key, value).map_err(Into::into))
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        self.tree.design().options.merge_operator?;
        Some(self.tree.merge(key, operand).map_err(Into::into))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.tree.delete_range(low, high).map_err(Into::into))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let high = scan.high.map_or(Bound::Unbounded, Bound::Excluded);
        let mut range = self.tree.range((Bound::Included(scan.low), high))?.expecting(scan.limit);
        Ok(range.visit(scan.direction, scan.limit, visit)?)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut batch = WriteBatch::new();
        for write in writes {
            match write {
                Write::Put { key, value } => batch.put(key, value)?,
                Write::Delete { key } => batch.delete(key)?,
            }
        }
        Ok(self.tree.write(&batch)?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let values = self.tree.multi_get(keys)?;
        values.iter().enumerate().for_each(|(place, value)| visit(place, value.as_deref()));
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.tree.flush()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(self.tree.settle()?)
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.tree.sync()?)
    }
}

impl Store for TreeStore {
    fn version(&self) -> Option<String> {
        Some(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn stats(&self) -> EngineStats {
        let stats = self.tree.stats();
        let levels = stats.levels.len().max(stats.level_counts.len());
        let level = |level: usize| {
            let shape = stats.levels.get(level).copied().unwrap_or_default();
            of_level(&shape, &stats.level_counts.get(level).copied().unwrap_or_default())
        };
        let whole = of_tree(&stats, self.mode, self.tree.design());
        EngineStats { whole, levels: (0..levels).map(level).collect() }
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.tree.compact().map_err(Into::into))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(self.tree.checkpoint(directory).map_err(Into::into))
    }

    fn end(self: Box<Self>) -> Result<(), TargetError> {
        Ok(self.tree.close()?)
    }
}

/// The readings of a whole tree. In counted mode they include no times. The readings of blob files, of lookups with
/// several threads and of memory budgets are included only if the design has them.
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
    }
    tree.gauge(&c::LEVELS, stats.levels.iter().filter(|level| level.runs > 0).count())
        .gauge(&c::RUNS, stats.runs())
        .gauge(&c::TABLE_BYTES, stats.table_bytes() + stats.blobs.bytes)
        .gauge(&c::RANGE_TOMBSTONES, Some(stats.range_tombstones()).filter(|count| *count > 0))
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
    if !design.keeps_values_inline() {
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

/// The readings of one level.
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
