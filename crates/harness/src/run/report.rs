//! From what a phase did to rows: every definition of a column is applied here.

use measure::{Histogram, Summary};
use results::columns as c;
use tree::{Counts, Stats};
use workload::{Kind, Profile};

use super::drive::{Driven, KindTotals};
use super::message::Cells;
use super::probe;
use super::timeline::{Sample, Second};
use crate::experiment::RunMode;

/// The name of the row of all operations.
pub(super) const ALL: &str = "all";

/// Everything known of one phase of one trial.
pub(super) struct PhaseReport<'a> {
    pub(super) phase: &'a str,
    pub(super) mode: RunMode,
    pub(super) threads: u32,
    /// Operations due per second, in an open loop.
    pub(super) target_rate: Option<f64>,
    pub(super) driven: &'a Driven,
    /// The tree before the phase, when its last operation ended, and when it had settled.
    pub(super) before: &'a Stats,
    pub(super) burst: &'a Stats,
    pub(super) settled: &'a Stats,
    pub(super) settle_ns: Option<u64>,
    /// The process before the phase and when its last operation ended.
    pub(super) process_before: ProcessSample,
    pub(super) process_after: ProcessSample,
    pub(super) live_bytes: Option<u64>,
    pub(super) checked: u64,
    pub(super) wrong: u64,
    pub(super) profile: &'a Profile,
}

/// What the operating system knows of the process at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessSample {
    cpu_ns: u64,
    os_write_bytes: Option<u64>,
    rss_peak_bytes: Option<u64>,
}

impl ProcessSample {
    /// Now.
    pub(super) fn take() -> Self {
        Self {
            cpu_ns: probe::cpu_ns(),
            os_write_bytes: probe::os_write_bytes(),
            rss_peak_bytes: probe::rss_peak_bytes(),
        }
    }
}

impl PhaseReport<'_> {
    /// The rows of the phase: one per kind of operation, then that of all. A phase with a wrong answer gets
    /// no numbers.
    pub(super) fn rows(&self) -> Vec<Cells> {
        if self.wrong > 0 {
            let mut row = self.identity(ALL);
            row.set(&c::CHECKED_ANSWERS, self.checked).set(&c::WRONG_ANSWERS, self.wrong);
            return vec![row];
        }
        let mut rows: Vec<Cells> =
            self.driven.kinds.iter().map(|(kind, totals)| self.kind_row(*kind, totals)).collect();
        rows.push(self.all_row());
        rows
    }

    fn identity(&self, operation: &str) -> Cells {
        let mut row = Cells::default();
        row.set(&c::PHASE, self.phase).set(&c::OPERATION, operation);
        row.set(&c::LOOP, if self.target_rate.is_some() { "open" } else { "closed" });
        row
    }

    fn kind_row(&self, kind: Kind, totals: &KindTotals) -> Cells {
        let mut row = self.identity(kind.name());
        self.set_totals(&mut row, totals);
        row.set_some(&c::REALISED_SHARE, self.profile.mix.get(kind.name()).copied());
        row
    }

    fn set_totals(&self, row: &mut Cells, totals: &KindTotals) {
        row.set(&c::OPS, totals.operations);
        if let Some(seconds) = self.seconds() {
            row.set(&c::SECONDS, seconds).set(&c::OPS_PER_SECOND, totals.operations as f64 / seconds);
        }
        set_service(row, &totals.service);
        if let Some(response) = totals.response.summary() {
            row.set(&c::RESPONSE_MEAN_NS, response.mean_ns).set(&c::RESPONSE_P50_NS, response.p50_ns);
            row.set(&c::RESPONSE_P99_NS, response.p99_ns).set(&c::RESPONSE_P999_NS, response.p999_ns);
        }
        row.set(&c::FOUND, totals.found).set(&c::MISSING, totals.missing);
    }

    fn seconds(&self) -> Option<f64> {
        self.driven.elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9)
    }

    fn all_row(&self) -> Cells {
        let mut row = self.identity(ALL);
        let mut all = KindTotals::default();
        self.driven.kinds.iter().for_each(|(_, totals)| all.add(totals));
        self.set_totals(&mut row, &all);
        let burst = self.burst.counts.since(&self.before.counts);
        let settled = self.settled.counts.since(&self.before.counts);
        set_writes(&mut row, &burst, &settled);
        set_reads(&mut row, &burst);
        row.set_some(&c::EXPECTED_FPR, self.burst.expected_fpr);
        self.set_shape(&mut row);
        self.set_process(&mut row, &burst);
        row.set(&c::CHECKED_ANSWERS, self.checked).set(&c::WRONG_ANSWERS, self.wrong);
        row.set(&c::THREADS, u64::from(self.threads)).set_some(&c::TARGET_OPS_PER_SECOND, self.target_rate);
        self.set_realised(&mut row);
        row
    }

    fn set_shape(&self, row: &mut Cells) {
        let (burst, settled) = (self.burst, self.settled);
        row.set(&c::FLUSHES, burst.counts.since(&self.before.counts).flushes);
        row.set(&c::COMPACTIONS, burst.counts.since(&self.before.counts).compactions);
        row.set(&c::LEVELS, filled_levels(burst))
            .set(&c::RUNS, burst.runs())
            .set(&c::TABLE_BYTES, burst.table_bytes());
        row.set(&c::TABLE_BYTES_SETTLED, settled.table_bytes()).set(&c::RUNS_SETTLED, settled.runs());
        row.set(&c::LEVELS_SETTLED, filled_levels(settled));
        if let Some(live) = self.live_bytes {
            row.set(&c::LIVE_BYTES, live);
            if live > 0 {
                row.set(&c::SPACE_AMP, burst.table_bytes() as f64 / live as f64);
                row.set(&c::SPACE_AMP_SETTLED, settled.table_bytes() as f64 / live as f64);
            }
        }
        row.set(&c::MEMTABLE_BYTES, burst.memtable_bytes).set(&c::FILTER_BYTES, burst.filter_bytes);
        row.set(&c::FENCE_BYTES, burst.fence_bytes).set(&c::CACHE_BYTES, burst.cache_bytes);
    }

    fn set_process(&self, row: &mut Cells, burst: &Counts) {
        if self.mode == RunMode::Counted {
            return;
        }
        row.set(&c::STALL_SECONDS, burst.stall_ns as f64 / 1e9);
        row.set_some(&c::SETTLE_SECONDS, self.settle_ns.map(|ns| ns as f64 / 1e9));
        let (before, after) = (self.process_before, self.process_after);
        row.set(&c::CPU_SECONDS, after.cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1e9);
        row.set_some(&c::RSS_PEAK_BYTES, after.rss_peak_bytes);
        let written = before
            .os_write_bytes
            .zip(after.os_write_bytes)
            .map(|(before, after)| after.saturating_sub(before));
        row.set_some(&c::OS_WRITE_BYTES, written);
    }

    fn set_realised(&self, row: &mut Cells) {
        let profile = self.profile;
        row.set(&c::REALISED_SHARE, 1.0);
        row.set_some(&c::REALISED_HOT_KEY, profile.hottest_key);
        row.set_some(&c::REALISED_HOT_1_PERCENT, profile.hottest_1_percent);
        row.set_some(&c::REALISED_HOT_10_PERCENT, profile.hottest_10_percent);
        row.set_some(&c::REALISED_ABSENT, profile.absent);
        row.set_some(&c::REALISED_KEY_BYTES, profile.key_bytes);
        row.set_some(&c::REALISED_VALUE_BYTES, profile.value_bytes);
    }
}

fn set_service(row: &mut Cells, service: &Histogram) {
    let Some(Summary { mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, .. }) = service.summary() else {
        return;
    };
    row.set(&c::MEAN_NS, mean_ns).set(&c::P50_NS, p50_ns).set(&c::P90_NS, p90_ns);
    row.set(&c::P99_NS, p99_ns).set(&c::P999_NS, p999_ns).set(&c::MAX_NS, max_ns);
}

fn set_writes(row: &mut Cells, burst: &Counts, settled: &Counts) {
    row.set(&c::USER_BYTES_WRITTEN, burst.user_bytes_written).set(&c::WAL_BYTES, burst.wal_bytes);
    row.set(&c::FLUSH_BYTES, burst.flush_bytes);
    row.set(&c::COMPACTION_BYTES_READ, burst.compaction_bytes_read);
    row.set(&c::COMPACTION_BYTES_WRITTEN, burst.compaction_bytes_written);
    if burst.user_bytes_written > 0 {
        let user = burst.user_bytes_written as f64;
        let tables = |counts: &Counts| (counts.flush_bytes + counts.compaction_bytes_written) as f64;
        row.set(&c::WRITE_AMP, tables(burst) / user);
        row.set(&c::WRITE_AMP_WAL, (tables(burst) + burst.wal_bytes as f64) / user);
        row.set(&c::WRITE_AMP_SETTLED, tables(settled) / user);
    }
}

fn set_reads(row: &mut Cells, counts: &Counts) {
    let read = counts.blocks_read + counts.fence_pages_read;
    let cached = counts.blocks_from_cache + counts.fence_pages_from_cache;
    row.set(&c::BLOCKS_READ, read)
        .set(&c::BLOCKS_READ_INDEX, counts.fence_pages_read)
        .set(&c::BLOCKS_FROM_CACHE, cached);
    if counts.gets > 0 {
        row.set(&c::BLOCKS_PER_GET, counts.blocks_searched as f64 / counts.gets as f64);
    }
    if read + cached > 0 {
        row.set(&c::CACHE_HIT_RATE, cached as f64 / (read + cached) as f64);
    }
    row.set(&c::FILTER_PROBES, counts.filter_probes).set(&c::FILTER_NEGATIVES, counts.filter_negatives);
    row.set(&c::FILTER_FALSE_POSITIVES, counts.filter_false_positives);
    let absent = counts.filter_false_positives + counts.filter_negatives;
    if absent > 0 {
        row.set(&c::FPR, counts.filter_false_positives as f64 / absent as f64);
    }
    row.set(&c::FENCE_SEARCHES, counts.fence_searches);
}

/// Levels that hold a run.
fn filled_levels(stats: &Stats) -> u64 {
    stats.levels.iter().filter(|level| level.runs > 0).count() as u64
}

/// The rows of a phase's timeline. Counters are differences between the samples around each second.
pub(super) fn timeline_rows(
    phase: &PhaseReport<'_>,
    seconds: &std::collections::BTreeMap<u64, Second>,
    samples: &[Sample],
) -> Vec<Cells> {
    let elapsed_ns = phase.driven.elapsed_ns.unwrap_or(0);
    let mut rows = Vec::new();
    for (number, second) in seconds {
        let (start_ns, end_ns) = (number * 1_000_000_000, ((number + 1) * 1_000_000_000).min(elapsed_ns));
        let length = end_ns.saturating_sub(start_ns) as f64 / 1e9;
        let mut row = phase.identity(ALL);
        row.set(&c::SECOND, *number as f64).set(&c::OPS, second.operations).set(&c::SECONDS, length);
        if length > 0.0 {
            row.set(&c::OPS_PER_SECOND, second.operations as f64 / length);
        }
        set_service(&mut row, &second.service);
        if let Some(response) = second.response.summary() {
            row.set(&c::RESPONSE_P50_NS, response.p50_ns).set(&c::RESPONSE_P99_NS, response.p99_ns);
            row.set(&c::RESPONSE_P999_NS, response.p999_ns);
        }
        let at = |ns: u64| samples.iter().min_by_key(|sample| sample.at_ns.abs_diff(ns));
        if let (Some(start), Some(end)) = (at(start_ns), at(end_ns)) {
            set_timeline_state(&mut row, start, end);
        }
        rows.push(row);
    }
    rows
}

fn set_timeline_state(row: &mut Cells, start: &Sample, end: &Sample) {
    let counts = end.stats.counts.since(&start.stats.counts);
    row.set(&c::USER_BYTES_WRITTEN, counts.user_bytes_written).set(&c::WAL_BYTES, counts.wal_bytes);
    row.set(&c::FLUSH_BYTES, counts.flush_bytes).set(&c::COMPACTION_BYTES_READ, counts.compaction_bytes_read);
    row.set(&c::COMPACTION_BYTES_WRITTEN, counts.compaction_bytes_written);
    row.set(&c::BLOCKS_READ, counts.blocks_read + counts.fence_pages_read);
    row.set(&c::BLOCKS_FROM_CACHE, counts.blocks_from_cache + counts.fence_pages_from_cache);
    row.set(&c::FLUSHES, counts.flushes).set(&c::COMPACTIONS, counts.compactions);
    row.set(&c::LEVELS, filled_levels(&end.stats)).set(&c::RUNS, end.stats.runs());
    row.set(&c::TABLE_BYTES, end.stats.table_bytes()).set(&c::MEMTABLE_BYTES, end.stats.memtable_bytes);
    row.set(&c::CACHE_BYTES, end.stats.cache_bytes).set(&c::STALL_SECONDS, counts.stall_ns as f64 / 1e9);
    row.set_some(&c::RSS_PEAK_BYTES, end.rss_peak_bytes);
}
