//! Converts the counts of a simulated tree to metrics, in the same form as the metrics of an engine.

use compaction::{Operations, SimulatedWrites};
use engines::{EngineStats, Readings};
use results::{columns as c, counters as n, levels as l};

use crate::costs::Costs;

/// The numbers of operations of a simulated tree, and the numbers of their accesses to filters and data blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) user_bytes: u64,
    pub(crate) puts: u64,
    pub(crate) gets: u64,
    pub(crate) gets_found: u64,
    pub(crate) gets_from_memtable: u64,
    /// The number of filter probes by gets.
    pub(crate) filter_probes: u64,
    /// The expected number of data blocks that gets search.
    pub(crate) blocks_searched: f64,
    /// The number of key and value bytes of the live data. `None` if the design may drop data.
    pub(crate) live_bytes: Option<u64>,
    pub(crate) ranges: u64,
    pub(crate) range_sources: u64,
    /// The expected number of data blocks that scans read.
    pub(crate) range_blocks: f64,
}

impl Counts {
    /// Returns the lookups and scans, which a compaction policy can observe.
    pub(crate) fn reads(&self) -> Operations {
        Operations {
            flushes: 0,
            gets_found: self.gets_found,
            gets_missing: self.gets.saturating_sub(self.gets_found),
            scans: self.ranges,
        }
    }
}

/// Converts the counts of a simulated tree to metrics of an engine. `report` describes its writes, `counts` describes
/// its operations, and `costs` are the costs of entries.
pub(crate) fn readings(report: &SimulatedWrites, counts: &Counts, costs: &Costs) -> EngineStats {
    let mut whole = Readings::default();
    let lookups_ns = (counts.blocks_searched + counts.range_blocks) * costs.block_read_ns;
    let read_ns = costs.read_ns.of(report.compaction_read.tables, report.compaction_bytes_read) + lookups_ns;
    let write_ns = costs.write_ns_of(report.flushed, report.flush_bytes)
        + costs.write_ns_of(report.compaction_written, report.compaction_bytes_written);
    let file_bytes = |tables: u64, bytes: u64| costs.file_bytes_of(tables, bytes);
    whole
        .counter(&c::USER_BYTES_WRITTEN, counts.user_bytes)
        .counter(&c::FLUSHES, report.flushes)
        .counter(&c::FLUSH_BYTES, file_bytes(report.flushed.tables, report.flush_bytes))
        .counter(&c::COMPACTIONS, report.merges)
        .counter(
            &c::COMPACTION_BYTES_READ,
            file_bytes(report.compaction_read.tables, report.compaction_bytes_read),
        )
        .counter(
            &c::COMPACTION_BYTES_WRITTEN,
            file_bytes(report.compaction_written.tables, report.compaction_bytes_written),
        )
        .counter(&c::FILTER_PROBES, counts.filter_probes)
        .counter(&n::BLOCKS_SEARCHED, counts.blocks_searched.round() as u64)
        .counter(&n::GETS, counts.gets)
        .counter(&n::GETS_FOUND, counts.gets_found)
        .counter(&n::GETS_FROM_MEMTABLE, counts.gets_from_memtable)
        .counter(&n::PUTS, counts.puts)
        .counter(&n::RANGES, counts.ranges)
        .counter(&n::RANGE_SOURCES, counts.range_sources)
        .counter(&n::DEVICE_READ_NS, read_ns.round() as u64)
        .counter(&n::DEVICE_WRITE_NS, write_ns.round() as u64);
    let (mut tables, mut bytes) = (0, 0);
    for level in &report.levels {
        tables += level.tables as u64;
        bytes += level.bytes;
    }
    whole
        .gauge(&c::LEVELS, report.levels.iter().filter(|level| level.runs > 0).count())
        .gauge(&c::RUNS, report.runs())
        .gauge(&c::TABLE_BYTES, file_bytes(tables, bytes))
        .gauge(&c::FILTER_BYTES, costs.filter_bytes.of(tables, bytes).round() as u64)
        .gauge(&c::FENCE_BYTES, costs.fence_bytes.of(tables, bytes).round() as u64)
        .gauge(&c::EXPECTED_FPR, costs.fpr);
    if let Some(live_bytes) = counts.live_bytes {
        whole.gauge(&c::LIVE_BYTES, live_bytes);
    }
    let level = |level: &compaction::LevelReport| {
        let mut readings = Readings::default();
        readings
            .gauge(&c::RUNS, level.runs)
            .gauge(&l::TABLES, level.tables)
            .gauge(&c::TABLE_BYTES, costs.file_bytes_of_level(level))
            .gauge(&n::ENTRIES, level.entries)
            .gauge(&n::TOMBSTONES, level.tombstones);
        readings
    };
    EngineStats { whole, levels: report.levels.iter().map(level).collect() }
}
