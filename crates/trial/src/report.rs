//! Computes the rows of a phase from its measurements. The formulas of derived columns are in `results::formulas`.

use std::time::Duration;

use measure::{Clock, PROCESSOR_EVENTS, Summary, allocation};
use results::columns::ALL;
use results::{LatencyLog, Measurements, Metric, RunMode, columns as c, counters as n, formulas};
use workload::{Kind, Phase, Profile, Rate};

use super::drive::{KindTotals, RoleTotals};
use super::measured::{Measured, identity};
use super::timeline::Sample;
use super::truth::Checked;
use super::{levels, steadiness};

/// The measurements and settings from which the rows of one phase in the CSV files are computed.
pub(super) struct PhaseReport<'a> {
    pub(super) phase: &'a Phase,
    pub(super) mode: RunMode,
    /// The state of the caches that the phase requested, for the column `cache_state`.
    pub(super) cache_state: &'a str,
    /// The state of the store at the start of the phase, for the column `state_at_start`.
    pub(super) state_at_start: &'a str,
    /// The memory limit of the process, in bytes. `None` without a limit.
    pub(super) memory_limit: Option<u64>,
    /// The number of bytes of free memory that were written and released before the phase. `None` if no free memory was
    /// written.
    pub(super) warm_memory: Option<u64>,
    pub(super) measured: &'a Measured,
    pub(super) checked: &'a Checked,
    pub(super) profile: &'a Profile,
}

/// The rows and latencies of a phase. The trial keeps them in memory until all answers are checked, because a trial
/// with a wrong answer reports no measurements.
pub(super) struct PhaseRows {
    /// The name of the phase.
    pub(super) name: String,
    /// The number of wrong answers of the store in the phase.
    pub(super) wrong: u64,
    checked: u64,
    is_open: bool,
    /// The rows of `runs.csv`: one row per kind of operation, followed by the row of all operations.
    pub(super) rows: Vec<Measurements>,
    /// The rows of the phase in `timeline.csv`.
    pub(super) timeline: Vec<Measurements>,
    /// The rows of the phase in `levels.csv`.
    pub(super) levels: Vec<Measurements>,
    pub(super) latencies: LatencyLog,
    /// The duration of the phase. `None` if time is not measured.
    pub(super) duration: Option<Duration>,
}

impl PhaseRows {
    /// Adds the result of a search for the highest sustained rate to the row of all operations. `limit` is the
    /// condition that limits the rate, and `probes` is the number of tested rates.
    pub(super) fn set_found(&mut self, rate: Option<f64>, limit: Option<&'static str>, probes: u64) {
        let all = self.rows.last_mut().expect("the last row of a phase must be the row of all operations");
        // Without a limit, the search ended at its highest rate. That rate is no property of the store, so the column
        // stays empty.
        all.set_some(&c::SUSTAINED_OPS_PER_SECOND, rate.filter(|_| limit.is_some()));
        all.set(&c::RATE_PROBES, probes).set(&c::RATE_LIMIT, limit.unwrap_or("to"));
    }

    /// Adds the theoretical values of the phase to the row of all operations.
    pub(super) fn expect(&mut self, expected: Measurements) {
        if let Some(all) = self.rows.last_mut() {
            all.extend(expected);
        }
    }

    /// Returns the row of a phase for a trial with a wrong answer. The row contains the numbers of checked and of wrong
    /// answers, and no measurements.
    pub(super) fn without_numbers(&self) -> Measurements {
        let mut row = identity(&self.name, ALL, self.is_open);
        row.set(&c::CHECKED_ANSWERS, self.checked).set(&c::WRONG_ANSWERS, self.wrong);
        row
    }
}

impl PhaseReport<'_> {
    /// Computes the rows of the phase for all CSV files.
    pub(super) fn rows(&self, clock: &Clock) -> PhaseRows {
        let driven = &self.measured.driven;
        let mut rows: Vec<Measurements> =
            driven.operations.iter().map(|(name, totals)| self.kind_row(name, totals)).collect();
        let mut latencies = LatencyLog::default();
        driven.roles.iter().for_each(|role| self.add_role(role, &mut rows, &mut latencies));
        let all = sum(&driven.operations);
        rows.push(self.all_row(&all, clock));
        let named = driven.operations.iter().map(|(name, totals)| (*name, totals));
        named.chain([(ALL, &all)]).for_each(|(name, totals)| push_latencies(&mut latencies, name, totals));
        PhaseRows {
            name: self.phase.name.clone(),
            wrong: self.checked.wrong,
            checked: self.checked.answers,
            is_open: self.target_rate().is_some(),
            rows,
            timeline: self.timeline_rows(clock),
            levels: levels::rows(&self.phase.name, self.target_rate().is_some(), self.measured),
            latencies,
            duration: driven.elapsed_ns.map(Duration::from_nanos),
        }
    }

    /// Returns the requested operations per second of an open loop. Returns `None` in a closed loop.
    fn target_rate(&self) -> Option<f64> {
        match self.measured.rate {
            Rate::Open { per_second } => Some(per_second),
            Rate::Closed | Rate::Sustained(_) => None,
        }
    }

    fn identity(&self, operation: &str) -> Measurements {
        identity(&self.phase.name, operation, self.target_rate().is_some())
    }

    fn kind_row(&self, name: &str, totals: &KindTotals) -> Measurements {
        let mut row = self.identity(name);
        self.set_totals(&mut row, totals);
        row.set_some(&c::REALISED_SHARE, self.profile.mix.get(name).copied());
        finish(&mut row, c::METRICS);
        row
    }

    /// Adds the rows and latencies of a role, which is a group of threads with a mix of its own. The last row is the
    /// row of all its operations.
    fn add_role(&self, role: &RoleTotals, rows: &mut Vec<Measurements>, latencies: &mut LatencyLog) {
        let all = sum(&role.operations);
        let rate = match role.rate {
            Rate::Open { per_second } => Some(per_second),
            Rate::Closed | Rate::Sustained(_) => None,
        };
        let named = role.operations.iter().map(|(name, totals)| (*name, totals));
        for (kind, totals) in named.chain([(ALL, &all)]) {
            let name = format!("{}/{kind}", role.name);
            let mut row = identity(&self.phase.name, &name, rate.is_some());
            self.set_totals(&mut row, totals);
            row.set_some(&c::SECONDS, seconds(role.elapsed_ns));
            row.set(&c::ROLE, role.name.as_str()).set(&c::THREADS, u64::from(role.threads));
            row.set(&c::REALISED_SHARE, totals.operations as f64 / all.operations.max(1) as f64);
            row.set_some(&c::TARGET_OPS_PER_SECOND, rate.filter(|_| kind == ALL));
            finish(&mut row, c::METRICS);
            rows.push(row);
            push_latencies(latencies, &name, totals);
        }
    }

    fn set_totals(&self, row: &mut Measurements, totals: &KindTotals) {
        row.set(&c::OPS, totals.operations).set(&c::STATE_AT_START, self.state_at_start);
        row.set_some(&c::SECONDS, self.seconds());
        set_service(row, totals.service.summary());
        set_response(row, totals.response.summary());
        // Only operations that look up keys have these columns.
        if totals.found + totals.missing > 0 {
            row.set(&c::FOUND, totals.found).set(&c::MISSING, totals.missing);
        }
        // In counted mode, columns do not depend on the allocations of a Rust library.
        let is_seen = self.mode == RunMode::Timed && self.measured.allocates_in_program;
        if is_seen && allocation::are_counted() {
            row.set(&n::ALLOCATIONS, totals.allocations);
        }
    }

    /// Returns the number of gets, or `None` if the phase contains other operations than gets.
    fn gets_alone(&self) -> Option<u64> {
        match self.measured.driven.operations.as_slice() {
            [(name, totals)] if *name == Kind::Get.name() => Some(totals.operations),
            _ => None,
        }
    }

    /// Returns the number of gets and scans, or `None` if the phase contains writes. Each key of a multi-get counts as
    /// one get.
    fn reads_alone(&self) -> Option<u64> {
        let reads = self.measured.driven.operations.iter().map(|(name, totals)| match name {
            name if [Kind::Range, Kind::Prefix, Kind::First, Kind::Last].map(Kind::name).contains(name) => {
                Some(totals.operations)
            }
            name if [Kind::Get.name(), Kind::MultiGet.name()].contains(name) => {
                Some(totals.found + totals.missing)
            }
            _ => None,
        });
        reads.sum()
    }

    fn seconds(&self) -> Option<f64> {
        seconds(self.measured.driven.elapsed_ns)
    }

    fn all_row(&self, all: &KindTotals, clock: &Clock) -> Measurements {
        let mut row = self.identity(ALL);
        self.set_totals(&mut row, all);
        self.set_store(&mut row);
        row.set_some(&c::DISK_BYTES, self.measured.disk_bytes);
        row.set_some(&c::DISK_PEAK_BYTES, self.measured.disk_peak_bytes);
        self.set_usage(&mut row);
        self.set_conditions(&mut row, clock);
        row.set(&c::CHECKED_ANSWERS, self.checked.answers).set(&c::WRONG_ANSWERS, self.checked.wrong);
        row.set_some(&c::DROPPED_ANSWERS, self.checked.dropped);
        // No thread issues operations in a step.
        row.set_some(&c::THREADS, self.phase.step().is_none().then_some(u64::from(self.phase.threads)));
        row.set_some(&c::TARGET_OPS_PER_SECOND, self.target_rate());
        self.set_realised(&mut row);
        finish(&mut row, c::METRICS);
        row
    }

    /// Sets the columns with the statistics of the store, and the columns with the live bytes and the numbers of reads.
    fn set_store(&self, row: &mut Measurements) {
        let Measured { before, burst, settled, .. } = self.measured;
        row.extend(burst.since(before));
        if let Some(settled) = settled {
            formulas::settle(row, &settled.stats.since(before));
        }
        let end = settled.as_ref().map_or(burst, |settled| &settled.stats);
        row.set_some(&c::TOTAL_IO_BYTES, end.total_io_bytes());
        row.set_some(&c::MEMTABLE_BYTES_AT_START, before.whole.reading(&c::MEMTABLE_BYTES));
        row.set_some(&c::RUNS_AT_START, before.whole.reading(&c::RUNS));
        if row.get(&c::USER_BYTES_WRITTEN).is_empty() {
            row.set_some(&c::USER_BYTES_WRITTEN, self.profile.written_bytes);
        }
        row.set_some(&c::LIVE_BYTES, self.checked.live_bytes);
        row.set_some(&n::GETS_ALONE, self.gets_alone());
        row.set_some(&n::READS_ALONE, self.reads_alone());
    }

    fn set_usage(&self, row: &mut Measurements) {
        if self.mode == RunMode::Counted {
            return;
        }
        let seconds = |ns: u64| ns as f64 / 1e9;
        row.set_some(&c::SETTLE_SECONDS, self.measured.settled.as_ref().map(|settled| seconds(settled.ns)));
        row.set_some(&c::CLOSE_SECONDS, self.measured.close_ns.map(seconds));
        row.set_some(&c::BUSY_NS, self.busy_ns());
        let [before, after] = self.measured.usage;
        row.set(&c::CPU_SECONDS, seconds(after.cpu_ns.saturating_sub(before.cpu_ns)));
        set_events(row, after.events_since(&before));
        let kernel = after.kernel_since(&before);
        row.set_some(&c::CONTEXT_SWITCHES, kernel.context_switches);
        row.set_some(&c::PREEMPTIONS, kernel.preemptions);
        row.set_some(&c::PAGE_FAULTS, kernel.page_faults);
        row.set_some(&c::MAJOR_PAGE_FAULTS, kernel.major_page_faults);
        row.set_some(&c::RUN_QUEUE_SECONDS, kernel.run_queue_ns.map(seconds));
        row.set_some(&c::STEAL_SECONDS, kernel.stolen_ns.map(seconds));
        row.set_some(&c::RSS_PEAK_BYTES, after.rss_peak_bytes);
        if self.measured.is_stored {
            self.set_system(row);
        }
    }

    /// Returns the time for which an operation keeps its thread busy, in nanoseconds. Returns `None` in an open loop,
    /// in which a thread also waits for the start of its next operation.
    fn busy_ns(&self) -> Option<f64> {
        let driven = &self.measured.driven;
        let threads = u64::from(self.phase.threads);
        let (elapsed_ns, waited_ns) = driven.elapsed_ns.zip(driven.run_queue_ns)?;
        let operations: u64 = driven.operations.iter().map(|(_, totals)| totals.operations).sum();
        let is_known = operations > 0 && self.target_rate().is_none() && self.phase.trace().is_none();
        is_known.then(|| (elapsed_ns * threads).saturating_sub(waited_ns) as f64 / operations as f64)
    }

    /// Sets the columns with the bytes that the operating system read and wrote for the process.
    fn set_system(&self, row: &mut Measurements) {
        let [before, burst] = self.measured.usage;
        let settled = self.measured.settled.as_ref().and_then(|settled| settled.usage.os_write_bytes);
        let since = |before: Option<u64>, after: Option<u64>| {
            before.zip(after).map(|(before, after)| after.saturating_sub(before))
        };
        row.set_some(&c::OS_WRITE_BYTES, since(before.os_write_bytes, burst.os_write_bytes));
        row.set_some(&c::OS_WRITE_BYTES_SETTLED, since(before.os_write_bytes, settled));
        row.set_some(&c::OS_READ_BYTES, since(before.os_read_bytes, burst.os_read_bytes));
    }

    /// Sets the columns that describe the conditions of the phase, such as the state of the caches, and whether the
    /// store was steady.
    fn set_conditions(&self, row: &mut Measurements, clock: &Clock) {
        let Measured { driven, samples, warmed, .. } = self.measured;
        row.set(&c::CACHE_STATE, self.cache_state);
        row.set_some(&c::MEMORY_LIMIT_BYTES, self.memory_limit);
        row.set_some(&c::WARM_MEMORY_BYTES, self.warm_memory);
        row.set_some(&c::PAGE_CACHE_SHARE, self.measured.page_cache_share);
        if let Some(warmed) = warmed {
            row.set(&c::WARM_UP_OPS, warmed.operations);
            row.set_some(&c::WARM_UP_STEADY, warmed.is_steady.map(yes_or_no));
        }
        let Some(elapsed_ns) = driven.elapsed_ns.filter(|_| self.phase.step().is_none()) else { return };
        row.set_some(&c::WARM_UP_SECONDS, warmed.map(|warmed| warmed.ns as f64 / 1e9));
        let since_start = |sample: &Sample| clock.ns_between(driven.start, sample.at);
        if let Some(unsteady) = steadiness::of_phase(&driven.intervals, samples, elapsed_ns, since_start) {
            row.set(&c::STEADY, yes_or_no(unsteady.is_empty()));
            let unsteady = unsteady.join(", ");
            row.set_some(&c::UNSTEADY, (!unsteady.is_empty()).then_some(&*unsteady));
        }
    }

    fn set_realised(&self, row: &mut Measurements) {
        let profile = self.profile;
        row.set(&c::REALISED_SHARE, 1.0);
        row.set_some(&c::REALISED_HOT_KEY, profile.hottest_key);
        row.set_some(&c::REALISED_HOT_1_PERCENT, profile.hottest_1_percent);
        row.set_some(&c::REALISED_HOT_10_PERCENT, profile.hottest_10_percent);
        row.set_some(&c::REALISED_ABSENT, profile.absent);
        row.set_some(&c::REALISED_KEY_BYTES, profile.key_bytes);
        row.set_some(&c::REALISED_VALUE_BYTES, profile.value_bytes);
    }

    /// Returns the rows of the phase's timeline. The counters of an interval are differences between the statistics of
    /// the store at its end and at its start.
    fn timeline_rows(&self, clock: &Clock) -> Vec<Measurements> {
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
            set_service(&mut row, interval.service);
            set_response(&mut row, interval.response);
            if let (Some(start), Some(end)) = (sample_at(start_ns), sample_at(end_ns)) {
                row.extend(end.stats.since(&start.stats));
                row.set_some(&c::RSS_PEAK_BYTES, end.rss_peak_bytes);
                row.set_some(&c::DISK_BYTES, end.disk_bytes);
            }
            finish(&mut row, c::TIMELINE_METRICS);
            rows.push(row);
        }
        rows
    }
}

/// Adds up the totals of all kinds of operations.
fn sum(operations: &[(&'static str, KindTotals)]) -> KindTotals {
    let mut all = KindTotals::default();
    operations.iter().for_each(|(_, totals)| all.add(totals));
    all
}

/// Converts a duration to a number of seconds. Returns `None` if the duration is unknown or 0.
fn seconds(elapsed_ns: Option<u64>) -> Option<f64> {
    elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9)
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

fn set_service(row: &mut Measurements, service: Option<Summary>) {
    let Some(Summary { mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns, .. }) = service else {
        return;
    };
    row.set(&c::MEAN_NS, mean_ns).set(&c::P50_NS, p50_ns).set(&c::P90_NS, p90_ns);
    row.set(&c::P99_NS, p99_ns).set(&c::P999_NS, p999_ns).set(&c::P9999_NS, p9999_ns).set(&c::MAX_NS, max_ns);
}

/// Sets the columns of response times. In a closed loop, the columns stay empty.
fn set_response(row: &mut Measurements, response: Option<Summary>) {
    let Some(Summary { mean_ns, p50_ns, p99_ns, p999_ns, p9999_ns, max_ns, .. }) = response else { return };
    row.set(&c::RESPONSE_MEAN_NS, mean_ns).set(&c::RESPONSE_P50_NS, p50_ns);
    row.set(&c::RESPONSE_P99_NS, p99_ns).set(&c::RESPONSE_P999_NS, p999_ns);
    row.set(&c::RESPONSE_P9999_NS, p9999_ns).set(&c::RESPONSE_MAX_NS, max_ns);
}

/// Sets the columns of the hardware counters. If a hardware event is not counted, its column stays empty.
fn set_events(row: &mut Measurements, events: [Option<u64>; PROCESSOR_EVENTS]) {
    let [cycles, instructions, references, misses, branch_misses] = events;
    row.set_some(&c::CPU_CYCLES, cycles).set_some(&c::INSTRUCTIONS, instructions);
    row.set_some(&c::CPU_CACHE_REFERENCES, references).set_some(&c::CPU_CACHE_MISSES, misses);
    row.set_some(&c::BRANCH_MISSES, branch_misses);
}

/// Completes a row: computes its derived columns, and removes all columns that the CSV file of the row does not have.
fn finish(row: &mut Measurements, columns: &[Metric]) {
    formulas::derive(row);
    row.retain(&[c::IDENTITY, columns]);
}
