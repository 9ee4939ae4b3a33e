//! From what a phase did to rows: every definition of a column is applied here.

use std::time::Duration;

use measure::{Clock, PROCESSOR_EVENTS, Summary, allocation};
use results::columns::ALL;
use results::{Cells, LatencyLog, RunMode, columns as c};
use storage::DeviceTime;
use tree::{Counts, Stats};
use workload::{Kind, Phase, Probed, Profile, Rate};

use super::drive::{Driven, KindTotals};
use super::peer::Figures;
use super::target::Look;
use super::timeline::Sample;
use super::truth::Checked;
use super::usage::Usage;
use super::warm_up::Warmed;
use super::{levels, peer, steadiness};

/// Everything that was measured of a phase.
pub(super) struct Measured {
    pub(super) driven: Driven,
    /// The store about every interval of the timeline.
    pub(super) samples: Vec<Sample>,
    /// The warm-up before what was measured, where there was one.
    pub(super) warmed: Option<Warmed>,
    /// The store before the phase, behind its warm-up.
    pub(super) before: Look,
    /// The store when the last operation of the phase had ended.
    pub(super) burst: Look,
    /// The store when flushes and compactions had come to an end.
    pub(super) settled: Look,
    /// How long that took.
    pub(super) settle_ns: u64,
    /// What its files took then, where time is measured.
    pub(super) disk_bytes: Option<u64>,
    /// The share of the store's files that the page cache held when the phase began, where it is known.
    pub(super) page_cache_share: Option<f64>,
    /// Whether the store's files lie on storage of the operating system.
    pub(super) is_stored: bool,
    /// What the process had used before the phase, when its last operation had ended, and when the store had settled.
    pub(super) usage: [Usage; 3],
    /// How fast operations were asked for.
    pub(super) rate: Rate,
}

/// What our own tree told of itself around a phase.
#[derive(Clone, Copy)]
pub(super) struct TreePhase<'a> {
    /// Before it.
    pub(super) before: &'a Stats,
    /// When its last operation had ended.
    pub(super) burst: &'a Stats,
    /// When flushes and compactions had come to an end.
    pub(super) settled: &'a Stats,
}

impl Measured {
    /// What a search for a rate asks of it.
    pub(super) fn probed(&self) -> Probed {
        let mut response = measure::Histogram::new();
        self.driven.kinds.iter().for_each(|(_, totals)| response.merge(&totals.response));
        let looks = self.samples.iter().map(|sample| &sample.look).chain([&self.burst]);
        // Of other engines nobody asks for more than response times: such cells are left out.
        let level0 = looks.filter_map(|look| look.tree()?.levels.first()).map(|level| level.runs);
        let stalls = self.burst.tree().zip(self.before.tree());
        Probed {
            p99_ns: response.quantile(0.99).unwrap_or(0),
            stalls_ns: stalls.map_or(0, |(burst, before)| burst.counts.since(&before.counts).stall_ns),
            level0_runs: level0.max().unwrap_or(0),
        }
    }

    /// Our own tree before the phase, when its last operation had ended, and settled; `None` of another engine.
    pub(super) fn of_tree(&self) -> Option<TreePhase<'_>> {
        let [before, burst, settled] = [self.before.tree()?, self.burst.tree()?, self.settled.tree()?];
        Some(TreePhase { before, burst, settled })
    }
}

/// Everything known of one phase of one trial.
pub(super) struct PhaseReport<'a> {
    pub(super) phase: &'a Phase,
    pub(super) mode: RunMode,
    /// What was asked for of caches.
    pub(super) cache_state: &'a str,
    /// The most memory that the process may use.
    pub(super) memory_limit: Option<u64>,
    /// How much free memory was touched before the phase.
    pub(super) warm_memory: Option<u64>,
    pub(super) measured: &'a Measured,
    pub(super) checked: &'a Checked,
    pub(super) profile: &'a Profile,
}

/// The rows and latencies of a phase, held back until it is known that no answer of the trial was wrong.
pub(super) struct PhaseRows {
    /// The name of the phase.
    pub(super) name: String,
    /// Wrong answers.
    pub(super) wrong: u64,
    checked: u64,
    is_open: bool,
    /// The rows of `runs.csv`: one per kind of operation, then that of all.
    pub(super) rows: Vec<Cells>,
    /// The rows of `timeline.csv`.
    pub(super) timeline: Vec<Cells>,
    /// The rows of `levels.csv`.
    pub(super) levels: Vec<Cells>,
    pub(super) latencies: LatencyLog,
    /// How long the phase took, where time is measured.
    pub(super) duration: Option<Duration>,
}

impl PhaseRows {
    /// Notes what a search for a rate came to in the row of all operations.
    pub(super) fn set_found(&mut self, rate: Option<f64>, limit: Option<&'static str>, probes: u64) {
        let all = self.rows.last_mut().expect("there is a row of all operations");
        // A rate that only the end of the search limits is none of the store's: two that reach it are not alike.
        all.set_some(&c::SUSTAINED_OPS_PER_SECOND, rate.filter(|_| limit.is_some()));
        all.set(&c::RATE_PROBES, probes).set(&c::RATE_LIMIT, limit.unwrap_or("to"));
    }

    /// Adds what is expected of the phase to the row of all operations.
    pub(super) fn expect(&mut self, expected: Cells) {
        if let Some(all) = self.rows.last_mut() {
            all.0.extend(expected.0);
        }
    }

    /// The row of a phase whose store answered wrongly, in this phase or another one: it carries no numbers.
    pub(super) fn without_numbers(&self) -> Cells {
        let mut row = identity(&self.name, ALL, self.is_open);
        row.set(&c::CHECKED_ANSWERS, self.checked).set(&c::WRONG_ANSWERS, self.wrong);
        row
    }
}

/// The columns that say what a row is of.
pub(super) fn identity(phase: &str, operation: &str, is_open: bool) -> Cells {
    let mut row = Cells::default();
    row.set(&c::PHASE, phase).set(&c::OPERATION, operation);
    row.set(&c::LOOP, if is_open { "open" } else { "closed" });
    row
}

impl PhaseReport<'_> {
    /// All that the phase comes to.
    pub(super) fn rows(&self, clock: &Clock) -> PhaseRows {
        let driven = &self.measured.driven;
        let mut rows: Vec<Cells> =
            driven.kinds.iter().map(|(kind, totals)| self.kind_row(*kind, totals)).collect();
        let mut all = KindTotals::default();
        driven.kinds.iter().for_each(|(_, totals)| all.add(totals));
        rows.push(self.all_row(&all, clock));
        let mut latencies = LatencyLog::default();
        let named = driven.kinds.iter().map(|(kind, totals)| (kind.name(), totals));
        named.chain([(ALL, &all)]).for_each(|(name, totals)| push_latencies(&mut latencies, name, totals));
        PhaseRows {
            name: self.phase.name.clone(),
            wrong: self.checked.wrong,
            checked: self.checked.answers,
            is_open: self.target_rate().is_some(),
            rows,
            timeline: self.timeline_rows(clock),
            levels: self.measured.of_tree().map_or_else(Vec::new, |tree| {
                levels::rows(&self.phase.name, self.target_rate().is_some(), tree)
            }),
            latencies,
            duration: driven.elapsed_ns.map(Duration::from_nanos),
        }
    }

    /// Operations due per second, in an open loop.
    fn target_rate(&self) -> Option<f64> {
        match self.measured.rate {
            Rate::Open { per_second } => Some(per_second),
            Rate::Closed | Rate::Sustained(_) => None,
        }
    }

    fn identity(&self, operation: &str) -> Cells {
        identity(&self.phase.name, operation, self.target_rate().is_some())
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
        set_service(row, totals.service.summary());
        if let Some(response) = totals.response.summary() {
            row.set(&c::RESPONSE_MEAN_NS, response.mean_ns).set(&c::RESPONSE_P50_NS, response.p50_ns);
            row.set(&c::RESPONSE_P99_NS, response.p99_ns).set(&c::RESPONSE_P999_NS, response.p999_ns);
        }
        // Nothing else asks for keys that can be found or missing.
        if totals.found + totals.missing > 0 {
            row.set(&c::FOUND, totals.found).set(&c::MISSING, totals.missing);
        }
        // Other engines allocate where the program does not see it, and counters do not depend on a library of Rust.
        let is_ours = self.mode == RunMode::Timed && self.measured.of_tree().is_some();
        if is_ours && totals.operations > 0 && allocation::are_counted() {
            row.set(&c::ALLOCATIONS_PER_OP, totals.allocations as f64 / totals.operations as f64);
        }
    }

    /// The gets of a phase that does nothing else.
    fn gets_alone(&self) -> Option<u64> {
        match self.measured.driven.kinds.as_slice() {
            [(Kind::Get, totals)] => Some(totals.operations),
            _ => None,
        }
    }

    fn seconds(&self) -> Option<f64> {
        self.measured.driven.elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9)
    }

    fn all_row(&self, all: &KindTotals, clock: &Clock) -> Cells {
        let mut row = self.identity(ALL);
        self.set_totals(&mut row, all);
        let Measured { before, burst, settled, disk_bytes, .. } = self.measured;
        match (before, burst, settled) {
            (Look::Tree(before), Look::Tree(burst), Look::Tree(settled)) => {
                self.set_tree(&mut row, TreePhase { before, burst, settled }, all.operations);
            }
            (Look::Peer(before), Look::Peer(burst), Look::Peer(settled)) => {
                let figures = Figures {
                    user_bytes: self.profile.written_bytes,
                    live_bytes: self.checked.live_bytes,
                    gets_alone: self.gets_alone(),
                };
                peer::set_phase(&mut row, [before, burst, settled], &figures);
            }
            _ => unreachable!("a store stays what it is"),
        }
        row.set_some(&c::DISK_BYTES, *disk_bytes);
        self.set_usage(&mut row, all.operations);
        self.set_conditions(&mut row, clock);
        row.set(&c::CHECKED_ANSWERS, self.checked.answers).set(&c::WRONG_ANSWERS, self.checked.wrong);
        row.set_some(&c::DROPPED_ANSWERS, self.checked.dropped);
        row.set(&c::THREADS, u64::from(self.phase.threads));
        row.set_some(&c::TARGET_OPS_PER_SECOND, self.target_rate());
        self.set_realised(&mut row);
        row
    }

    /// What our own tree counts.
    fn set_tree(&self, row: &mut Cells, tree: TreePhase<'_>, operations: u64) {
        let TreePhase { before, burst, settled } = tree;
        let of_burst = burst.counts.since(&before.counts);
        set_writes(row, &of_burst, &settled.counts.since(&before.counts));
        set_reads(row, &of_burst);
        if let Some((before, burst)) = before.device.zip(burst.device) {
            set_device(row, burst.since(before), operations);
        }
        row.set_some(&c::EXPECTED_FPR, burst.expected_fpr);
        row.set(&c::FLUSHES, of_burst.flushes).set(&c::COMPACTIONS, of_burst.compactions);
        self.set_shape(row, burst, settled);
        if self.mode == RunMode::Timed {
            row.set(&c::STALL_SECONDS, of_burst.stall_ns as f64 / 1e9);
            let seconds = of_burst.compaction_ns as f64 / 1e9;
            row.set(&c::COMPACTION_SECONDS, seconds);
            let one = (of_burst.compactions > 0).then(|| seconds / of_burst.compactions as f64);
            row.set_some(&c::SECONDS_PER_COMPACTION, one);
        }
    }

    fn set_shape(&self, row: &mut Cells, burst: &Stats, settled: &Stats) {
        row.set(&c::LEVELS, filled_levels(burst))
            .set(&c::RUNS, burst.runs())
            .set(&c::TABLE_BYTES, burst.table_bytes());
        row.set(&c::TABLE_BYTES_SETTLED, settled.table_bytes()).set(&c::RUNS_SETTLED, settled.runs());
        row.set(&c::LEVELS_SETTLED, filled_levels(settled));
        if let Some(live) = self.checked.live_bytes {
            row.set(&c::LIVE_BYTES, live);
            if live > 0 {
                row.set(&c::SPACE_AMP, burst.table_bytes() as f64 / live as f64);
                row.set(&c::SPACE_AMP_SETTLED, settled.table_bytes() as f64 / live as f64);
            }
        }
        row.set(&c::MEMTABLE_BYTES, burst.memtable_bytes).set(&c::FILTER_BYTES, burst.filter_bytes);
        row.set(&c::FENCE_BYTES, burst.fence_bytes).set(&c::CACHE_BYTES, burst.cache_bytes);
    }

    fn set_usage(&self, row: &mut Cells, operations: u64) {
        if self.mode == RunMode::Counted {
            return;
        }
        row.set(&c::SETTLE_SECONDS, self.measured.settle_ns as f64 / 1e9);
        let [before, after, _] = self.measured.usage;
        row.set(&c::CPU_SECONDS, after.cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1e9);
        set_events(row, after.events_since(&before), operations);
        row.set_some(&c::RSS_PEAK_BYTES, after.rss_peak_bytes);
        if self.measured.is_stored {
            self.set_system(row);
        }
    }

    /// What the operating system read and wrote.
    fn set_system(&self, row: &mut Cells) {
        let tree = self.measured.of_tree();
        let of_tree = tree.map(|tree| tree.burst.counts.since(&tree.before.counts).user_bytes_written);
        let user_bytes = of_tree.or(self.profile.written_bytes).unwrap_or(0);
        let [before, burst, settled] = self.measured.usage;
        let since = |before: Option<u64>, after: Option<u64>| {
            before.zip(after).map(|(before, after)| after.saturating_sub(before))
        };
        let amplification = |bytes: Option<u64>| {
            bytes.filter(|_| user_bytes > 0).map(|bytes| bytes as f64 / user_bytes as f64)
        };
        let written = since(before.os_write_bytes, burst.os_write_bytes);
        let in_the_end = since(before.os_write_bytes, settled.os_write_bytes);
        row.set_some(&c::OS_WRITE_BYTES, written).set_some(&c::OS_WRITE_AMP, amplification(written));
        row.set_some(&c::OS_WRITE_BYTES_SETTLED, in_the_end);
        row.set_some(&c::OS_WRITE_AMP_SETTLED, amplification(in_the_end));
        row.set_some(&c::OS_READ_BYTES, since(before.os_read_bytes, burst.os_read_bytes));
    }

    /// Under which conditions the phase ran, and whether they lasted.
    fn set_conditions(&self, row: &mut Cells, clock: &Clock) {
        let Measured { driven, samples, warmed, .. } = self.measured;
        row.set(&c::CACHE_STATE, self.cache_state);
        row.set_some(&c::MEMORY_LIMIT_BYTES, self.memory_limit);
        row.set_some(&c::WARM_MEMORY_BYTES, self.warm_memory);
        row.set_some(&c::PAGE_CACHE_SHARE, self.measured.page_cache_share);
        if let Some(warmed) = warmed {
            row.set(&c::WARM_UP_OPS, warmed.operations);
            row.set_some(&c::WARM_UP_STEADY, warmed.is_steady.map(yes_or_no));
        }
        let Some(elapsed_ns) = driven.elapsed_ns else { return };
        row.set_some(&c::WARM_UP_SECONDS, warmed.map(|warmed| warmed.ns as f64 / 1e9));
        let since_start = |sample: &Sample| clock.ns_between(driven.start, sample.at);
        if let Some(unsteady) = steadiness::of_phase(&driven.intervals, samples, elapsed_ns, since_start) {
            row.set(&c::STEADY, yes_or_no(unsteady.is_empty()));
            let unsteady = unsteady.join(", ");
            row.set_some(&c::UNSTEADY, (!unsteady.is_empty()).then_some(&*unsteady));
        }
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

    /// The rows of the phase's timeline. Counters are differences between the samples around each interval.
    fn timeline_rows(&self, clock: &Clock) -> Vec<Cells> {
        let driven = &self.measured.driven;
        let elapsed_ns = driven.elapsed_ns.unwrap_or(0);
        let samples = &self.measured.samples;
        let ns_of = |sample: &Sample| clock.ns_between(driven.start, sample.at);
        let sample_at = |ns: u64| {
            let behind = samples.partition_point(|sample| ns_of(sample) < ns);
            let nearest = samples[behind.saturating_sub(1)..].iter().take(2);
            nearest.min_by_key(|sample| ns_of(sample).abs_diff(ns))
        };
        let mut rows = Vec::new();
        for interval in &driven.intervals {
            let (start_ns, end_ns) = (interval.start_ns, interval.end_ns.min(elapsed_ns));
            let length = end_ns.saturating_sub(start_ns) as f64 / 1e9;
            let mut row = self.identity(ALL);
            row.set(&c::SECOND, start_ns as f64 / 1e9).set(&c::OPS, interval.operations);
            row.set(&c::SECONDS, length);
            if length > 0.0 {
                row.set(&c::OPS_PER_SECOND, interval.operations as f64 / length);
            }
            set_service(&mut row, interval.service);
            if let Some(response) = interval.response {
                row.set(&c::RESPONSE_P50_NS, response.p50_ns).set(&c::RESPONSE_P99_NS, response.p99_ns);
                row.set(&c::RESPONSE_P999_NS, response.p999_ns);
            }
            if let (Some(start), Some(end)) = (sample_at(start_ns), sample_at(end_ns)) {
                set_timeline_state(&mut row, start, end);
            }
            rows.push(row);
        }
        rows
    }
}

fn yes_or_no(answer: bool) -> &'static str {
    if answer { "true" } else { "false" }
}

fn push_latencies(log: &mut LatencyLog, name: &str, totals: &KindTotals) {
    log.push(name, totals.service.as_hdr().clone());
    if totals.response.count() > 0 {
        log.push(format!("{name}:response"), totals.response.as_hdr().clone());
    }
}

fn set_service(row: &mut Cells, service: Option<Summary>) {
    let Some(Summary { mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, .. }) = service else { return };
    row.set(&c::MEAN_NS, mean_ns).set(&c::P50_NS, p50_ns).set(&c::P90_NS, p90_ns);
    row.set(&c::P99_NS, p99_ns).set(&c::P999_NS, p999_ns).set(&c::MAX_NS, max_ns);
}

/// What the processor counted, as far as it is counted.
fn set_events(row: &mut Cells, events: [Option<u64>; PROCESSOR_EVENTS], operations: u64) {
    let [cycles, instructions, references, misses, branch_misses] = events;
    let quotient = |above: Option<u64>, below: Option<u64>| {
        above.zip(below.filter(|below| *below > 0)).map(|(above, below)| above as f64 / below as f64)
    };
    row.set_some(&c::CPU_CYCLES, cycles).set_some(&c::INSTRUCTIONS, instructions);
    row.set_some(&c::CPU_CACHE_REFERENCES, references).set_some(&c::CPU_CACHE_MISSES, misses);
    row.set_some(&c::BRANCH_MISSES, branch_misses);
    row.set_some(&c::INSTRUCTIONS_PER_CYCLE, quotient(instructions, cycles));
    row.set_some(&c::CPU_CACHE_MISS_RATE, quotient(misses, references));
    row.set_some(&c::INSTRUCTIONS_PER_OP, quotient(instructions, Some(operations)));
}

fn set_writes(row: &mut Cells, burst: &Counts, settled: &Counts) {
    row.set(&c::USER_BYTES_WRITTEN, burst.user_bytes_written).set(&c::WAL_BYTES, burst.wal_bytes);
    row.set(&c::FLUSH_BYTES, burst.flush_bytes);
    row.set(&c::COMPACTION_BYTES_READ, burst.compaction_bytes_read);
    row.set(&c::COMPACTION_BYTES_WRITTEN, burst.compaction_bytes_written);
    row.set(&c::FLUSH_BYTES_SETTLED, settled.flush_bytes);
    row.set(&c::COMPACTION_BYTES_READ_SETTLED, settled.compaction_bytes_read);
    row.set(&c::COMPACTION_BYTES_WRITTEN_SETTLED, settled.compaction_bytes_written);
    if burst.user_bytes_written > 0 {
        let user = burst.user_bytes_written as f64;
        let tables = |counts: &Counts| (counts.flush_bytes + counts.compaction_bytes_written) as f64;
        row.set(&c::WRITE_AMP, tables(burst) / user);
        row.set(&c::WRITE_AMP_WAL, (tables(burst) + burst.wal_bytes as f64) / user);
        row.set(&c::WRITE_AMP_SETTLED, tables(settled) / user);
        row.set(&c::WRITE_AMP_WAL_SETTLED, (tables(settled) + settled.wal_bytes as f64) / user);
    }
}

fn set_reads(row: &mut Cells, counts: &Counts) {
    let read = counts.blocks_read + counts.fence_pages_read;
    let cached = counts.blocks_from_cache + counts.fence_pages_from_cache;
    row.set(&c::BLOCKS_READ, read)
        .set(&c::BLOCKS_READ_INDEX, counts.fence_pages_read)
        .set(&c::BLOCKS_FROM_CACHE, cached)
        .set(&c::BLOCKS_IN_PLACE, counts.blocks_in_place);
    if counts.gets > 0 {
        row.set(&c::BLOCKS_PER_GET, counts.blocks_searched as f64 / counts.gets as f64);
    }
    if counts.block_index_probes > 0 {
        row.set(&c::BLOCK_INDEX_ANSWERS, counts.block_index_answers);
        let share = counts.block_index_answers as f64 / counts.block_index_probes as f64;
        row.set(&c::BLOCK_INDEX_HIT_RATE, share);
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
    row.set(&c::RANGE_FILTER_PROBES, counts.range_filter_probes)
        .set(&c::RANGE_FILTER_NEGATIVES, counts.range_filter_negatives);
    let empty = counts.range_filter_false_positives + counts.range_filter_negatives;
    if empty > 0 {
        row.set(&c::RANGE_FPR, counts.range_filter_false_positives as f64 / empty as f64);
    }
    if counts.ranges > 0 {
        row.set(&c::SOURCES_PER_RANGE, counts.range_sources as f64 / counts.ranges as f64);
    }
    row.set(&c::FENCE_SEARCHES, counts.fence_searches);
}

fn set_device(row: &mut Cells, device: DeviceTime, operations: u64) {
    let seconds = |ns: u64| ns as f64 / 1e9;
    row.set(&c::DEVICE_SECONDS, seconds(device.total_ns()));
    row.set(&c::DEVICE_READ_SECONDS, seconds(device.read_ns));
    row.set(&c::DEVICE_WRITE_SECONDS, seconds(device.write_ns));
    if operations > 0 {
        row.set(&c::DEVICE_NS_PER_OP, device.total_ns() as f64 / operations as f64);
    }
}

/// Levels that hold a run.
fn filled_levels(stats: &Stats) -> u64 {
    stats.levels.iter().filter(|level| level.runs > 0).count() as u64
}

fn set_timeline_state(row: &mut Cells, start: &Sample, end: &Sample) {
    match (&start.look, &end.look) {
        (Look::Tree(start), Look::Tree(end)) => set_tree_interval(row, start, end),
        (Look::Peer(start), Look::Peer(end)) => peer::set_interval(row, start, end),
        _ => unreachable!("a store stays what it is"),
    }
    row.set_some(&c::RSS_PEAK_BYTES, end.rss_peak_bytes);
}

fn set_tree_interval(row: &mut Cells, start: &Stats, end: &Stats) {
    let counts = end.counts.since(&start.counts);
    row.set(&c::USER_BYTES_WRITTEN, counts.user_bytes_written).set(&c::WAL_BYTES, counts.wal_bytes);
    row.set(&c::FLUSH_BYTES, counts.flush_bytes).set(&c::COMPACTION_BYTES_READ, counts.compaction_bytes_read);
    row.set(&c::COMPACTION_BYTES_WRITTEN, counts.compaction_bytes_written);
    row.set(&c::BLOCKS_READ, counts.blocks_read + counts.fence_pages_read);
    row.set(&c::BLOCKS_FROM_CACHE, counts.blocks_from_cache + counts.fence_pages_from_cache);
    row.set(&c::FLUSHES, counts.flushes).set(&c::COMPACTIONS, counts.compactions);
    row.set(&c::LEVELS, filled_levels(end)).set(&c::RUNS, end.runs());
    row.set(&c::TABLE_BYTES, end.table_bytes()).set(&c::MEMTABLE_BYTES, end.memtable_bytes);
    row.set(&c::CACHE_BYTES, end.cache_bytes).set(&c::STALL_SECONDS, counts.stall_ns as f64 / 1e9);
}

#[cfg(test)]
mod tests {
    use results::CellValue;

    use super::*;

    #[test]
    fn what_the_processor_counts_fills_columns_and_what_it_does_not_count_fills_none() {
        let filled = |events, operations| {
            let mut row = Cells::default();
            set_events(&mut row, events, operations);
            row.0
        };
        let all = filled([Some(400), Some(1_000), Some(80), Some(20), Some(5)], 10);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, c::HARDWARE.iter().map(|metric| metric.name).collect::<Vec<_>>());
        let numbers: Vec<&CellValue> = all[5..].iter().map(|(_, value)| value).collect();
        assert_eq!(numbers, [2.5, 0.25, 100.0].map(CellValue::Number).each_ref());
        assert_eq!(filled([None; PROCESSOR_EVENTS], 10), []);
        let some = filled([None, Some(1_000), Some(0), Some(0), None], 0);
        let names: Vec<&str> = some.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["instructions", "cpu_cache_references", "cpu_cache_misses"],
            "of nothing there is no share"
        );
    }
}
