//! What may carry a difference: the CPU time if it disagrees with the metric, and the counters that differ most.

use measure::{Comparison, Criteria, Ranked, Sample, Verdict, compare};
use results::{Better, Metric, Unit, columns as c};

use super::judged::{Entry, Judged};
use crate::trial_rows::TrialRows;
use crate::words::{percent, quoted};

/// The counters that explain times, each per operation.
const COUNTERS: [&Metric; 18] = [
    &c::INSTRUCTIONS,
    &c::CPU_CACHE_MISSES,
    &c::BRANCH_MISSES,
    &c::BLOCKS_READ,
    &c::BLOCKS_FROM_CACHE,
    &c::FILTER_PROBES,
    &c::FILTER_FALSE_POSITIVES,
    &c::FENCE_SEARCHES,
    &c::WAL_BYTES,
    &c::FLUSH_BYTES,
    &c::COMPACTION_BYTES_READ,
    &c::COMPACTION_BYTES_WRITTEN,
    &c::OS_READ_BYTES,
    &c::OS_WRITE_BYTES,
    &c::CONTEXT_SWITCHES,
    &c::PREEMPTIONS,
    &c::PAGE_FAULTS,
    &c::MAJOR_PAGE_FAULTS,
];

/// The smallest factor between two counters that is named.
const LEAST_FACTOR: f64 = 1.1;

/// The fewest events of a trial from which a counter is named.
const FEWEST_EVENTS: f64 = 100.0;

/// The share of the time of threads in waits for a CPU from which it is named.
const LEAST_WAITS: f64 = 0.05;

/// The most counters that are named.
const MOST_NAMED: usize = 3;

/// The numbers of a configuration that explain its times.
pub(super) struct Causes {
    /// CPU time per operation, by trial.
    cpu: Sample,
    /// Each of [`COUNTERS`], by trial.
    counters: Vec<Sample>,
    /// Operations, by trial.
    operations: Sample,
    /// The share of the time of the threads in which they waited for a CPU, by trial.
    waits: Sample,
}

impl Causes {
    /// The numbers in the rows of a configuration about all operations of a phase.
    pub(super) fn of(rows: &TrialRows<'_>) -> Self {
        let cpu = rows.sample("", |row| {
            let operations = row.get(&c::OPS).number().filter(|operations| *operations > 0.0)?;
            Some(row.get(&c::CPU_SECONDS).number()? / operations)
        });
        let waits = rows.sample("", |row| {
            let number = |metric| row.get(metric).number();
            let all_ns = number(&c::SECONDS)? * 1e9 * number(&c::THREADS)?;
            Some(1.0 - number(&c::BUSY_NS)? * number(&c::OPS)? / all_ns)
        });
        let counters = COUNTERS.iter().map(|counter| rows.measured("", counter)).collect();
        Self { cpu, counters, operations: rows.measured("", &c::OPS), waits }
    }

    /// The factors of the counters of two configurations whose trials do not overlap, the largest first: the counter, and
    /// candidate / baseline.
    fn factors(&self, baseline: &Self) -> Vec<(&'static Metric, f64)> {
        let per_operation = |sample: &Sample, causes: &Self| -> Option<(f64, f64, f64)> {
            let median = sample.median().filter(|median| *median >= FEWEST_EVENTS)?;
            let operations = causes.operations.median().filter(|operations| *operations > 0.0)?;
            let values = || sample.blocks.iter().map(|(_, value)| *value);
            let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
            Some((low / operations, median / operations, high / operations))
        };
        let both = COUNTERS.iter().zip(self.counters.iter().zip(&baseline.counters));
        let mut factors: Vec<(&'static Metric, f64)> = both
            .filter_map(|(counter, (own, of_baseline))| {
                let own = per_operation(own, self)?;
                let base = per_operation(of_baseline, baseline)?;
                let is_apart = own.0 > base.2 || own.2 < base.0;
                let factor = own.1 / base.1;
                let is_large = factor.max(1.0 / factor) >= LEAST_FACTOR;
                (is_apart && is_large).then_some((*counter, factor))
            })
            .collect();
        factors.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
        factors
    }
}

impl Judged<'_> {
    /// Whether the metric is a time or a rate, which counters and CPU time may explain.
    fn is_of_time(&self) -> bool {
        let unit = self.column.unit();
        let is_time = matches!(unit, Unit::Nanoseconds | Unit::Seconds | Unit::OperationsPerSecond);
        is_time && !self.is_exact() && self.column.name() != c::CPU_SECONDS.name
    }

    /// The counters that differ most where a difference was found, per operation of the whole phase.
    pub(super) fn counters_note(&self) -> Option<String> {
        let is_decided =
            |ranked: &&Ranked| matches!(ranked.comparison.verdict, Verdict::Improved | Verdict::Regressed);
        let first = self.ranked.iter().filter(|_| self.is_of_time()).find(is_decided)?;
        let (baseline, entry) = self.both(&first.name)?;
        let factors = entry.causes.factors(&baseline.causes);
        let named: Vec<String> =
            factors.iter().take(MOST_NAMED).map(|(of, factor)| in_words(of, *factor)).collect();
        (!named.is_empty()).then(|| {
            let names = (quoted(&entry.sample.name), quoted(&baseline.sample.name));
            format!("Counters of {} per operation, against {}: {}.", names.0, names.1, named.join(", "))
        })
    }

    /// How long threads waited for a CPU, if that was long.
    pub(super) fn waits_note(&self) -> Option<String> {
        let shares = self.entries.iter().filter_map(|entry| entry.causes.waits.median());
        let most = shares.fold(0.0, f64::max);
        let is_told = self.is_of_time() && self.column.name() != c::BUSY_NS.name && most >= LEAST_WAITS;
        is_told.then(|| {
            format!(
                "Threads waited for a CPU for up to {} of the time, because other programs or background threads had it. \
                 `--set verdict.metric=busy_ns` judges without these waits.",
                percent(most)
            )
        })
    }

    /// The candidates whose CPU time disagrees with the metric.
    pub(super) fn cpu_notes(&self) -> Vec<String> {
        let of = |ranked: &Ranked| {
            let (baseline, entry) = self.both(&ranked.name).filter(|_| self.is_of_time())?;
            self.cpu_note(baseline, entry, &ranked.comparison)
        };
        self.ranked.iter().filter_map(of).collect()
    }

    fn cpu_note(&self, baseline: &Entry<'_>, entry: &Entry<'_>, wall: &Comparison) -> Option<String> {
        let criteria = Criteria { delta: wall.delta, confidence: wall.confidence, ..Criteria::default() };
        let cpu = compare(&baseline.causes.cpu, &entry.causes.cpu, Better::Lower, &criteria);
        let is_decided =
            |comparison: &Comparison| matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed);
        let is_same = cpu.verdict == wall.verdict || !(is_decided(&cpu) || is_decided(wall));
        // A verdict on the one and too much noise in the other is no disagreement.
        let is_open = cpu.verdict == Verdict::Inconclusive;
        if is_same || is_open {
            return None;
        }
        let interval = cpu.interval?;
        let change = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
        let reason = match wall.verdict {
            Verdict::Inconclusive => "waits and noise hide it in the wall time",
            _ if cpu.verdict == Verdict::Equivalent => {
                "so the difference is in waits: for a CPU, a device or a lock"
            }
            _ => "so one side waits more, or uses more threads",
        };
        Some(format!(
            "CPU time of {} per operation disagrees: {} (95% CI {} to {}), {reason}.",
            quoted(&entry.sample.name),
            change(cpu.ratio?),
            change(interval.low),
            change(interval.high),
        ))
    }
}

/// `1.9x fewer blocks fetched from storage`, `12.0% more instructions`.
fn in_words(counter: &Metric, factor: f64) -> String {
    let size = factor.max(1.0 / factor);
    let size = if size >= 2.0 { format!("{size:.1}x") } else { percent((factor - 1.0).abs()) };
    let word = if factor > 1.0 { "more" } else { "fewer" };
    format!("{size} {word} {}", counter.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_that_differ_most_come_first() {
        let sample = |values: [f64; 3]| Sample::new("", (0..).zip(values));
        let causes = |instructions: [f64; 3], blocks: [f64; 3]| {
            let mut counters = vec![Sample::new("", []); COUNTERS.len()];
            counters[0] = sample(instructions);
            counters[3] = sample(blocks);
            Causes {
                cpu: sample([1.0; 3]),
                counters,
                operations: sample([1000.0; 3]),
                waits: sample([0.0; 3]),
            }
        };
        let baseline = causes([1e6, 1.01e6, 1.02e6], [4000.0, 4100.0, 3900.0]);
        let factors = causes([1.3e6, 1.31e6, 1.32e6], [2000.0, 2100.0, 1900.0]).factors(&baseline);
        let words: Vec<String> = factors.iter().map(|(of, factor)| in_words(of, *factor)).collect();
        assert_eq!(words, ["2.0x fewer blocks fetched from storage", "29.7% more instructions"]);
        // Trials that overlap, small factors and few events are no cause.
        assert!(causes([0.9e6, 1.1e6, 2e6], [4000.0, 4200.0, 3950.0]).factors(&baseline).is_empty());
    }
}
