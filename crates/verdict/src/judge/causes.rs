//! The values of a configuration that may explain why its times differ from the times of the baseline: CPU time, waits
//! and counters.

use std::collections::BTreeMap;

use measure::Sample;
use results::{Metric, Table, columns as c};

use crate::trial_rows::TrialRows;
use crate::words::percent;

/// The counters that may explain why times differ. Each counter is divided by the number of operations.
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

/// A note names a counter only if the counters of the two configurations differ by at least this factor.
const LEAST_FACTOR: f64 = 1.1;

/// A note names a counter only if both configurations have at least this number of events, as the median over trials.
const FEWEST_EVENTS: f64 = 100.0;

/// The values of a configuration that may explain why it is faster or slower than the baseline.
pub(super) struct Causes {
    /// CPU time per operation in seconds, by trial.
    pub(super) cpu: Sample,
    /// The values of each counter in [`COUNTERS`], by trial.
    counters: Vec<Sample>,
    /// The number of operations, by trial.
    operations: Sample,
    /// The share of the threads' time in which the threads waited for a CPU, by trial.
    pub(super) waits: Sample,
}

impl Causes {
    /// Reads the values from the rows of one configuration in one phase. The rows must cover all operations together.
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

    /// Returns the counters that clearly differ from the baseline, each with its ratio candidate / baseline, largest
    /// change first. For such a counter, three conditions hold:
    ///
    /// * The ranges of its values over trials do not overlap.
    /// * The medians differ by at least [`LEAST_FACTOR`].
    /// * Both medians are at least [`FEWEST_EVENTS`].
    pub(super) fn factors(&self, baseline: &Self) -> Vec<(&'static Metric, f64)> {
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

/// The counters of all configurations in one phase.
pub struct PhaseCounters {
    /// The counters of each configuration, by the number of the configuration.
    causes: BTreeMap<u64, Causes>,
}

impl PhaseCounters {
    /// Reads the counters of a phase from the rows of a run.
    pub fn of(table: &Table, phase: &str) -> Self {
        let rows = TrialRows::of(table).of_all_operations().of_phase(phase).by_key();
        Self { causes: rows.iter().map(|(key, rows)| (key.cell, Causes::of(rows))).collect() }
    }

    /// Describes the counters that differ most between two configurations, such as `1.9x less CPU time` and `2.1x fewer
    /// blocks fetched from storage`. The CPU time comes first. Returns no texts if nothing differs clearly.
    pub fn differing(&self, own: u64, baseline: u64) -> Vec<String> {
        let Some((own, baseline)) = self.causes.get(&own).zip(self.causes.get(&baseline)) else {
            return Vec::new();
        };
        let factors = own.factors(baseline).into_iter();
        let counters = factors.map(|(counter, factor)| in_words(counter, factor));
        let cpu = own.cpu.median().zip(baseline.cpu.median()).map(|(own, base)| own / base);
        let is_large =
            |factor: &f64| factor.is_finite() && *factor > 0.0 && factor.max(1.0 / factor) >= LEAST_FACTOR;
        let cpu = cpu.filter(is_large).map(|factor| {
            let word = if factor > 1.0 { "more" } else { "less" };
            format!("{} {word} CPU time", size_in_words(factor))
        });
        cpu.into_iter().chain(counters).collect()
    }
}

/// Describes the ratio of a counter in words: `1.9x fewer blocks fetched from storage`, `12.0% more instructions`.
pub(super) fn in_words(counter: &Metric, factor: f64) -> String {
    let word = if factor > 1.0 { "more" } else { "fewer" };
    format!("{} {word} {}", size_in_words(factor), counter.title)
}

/// Formats the size of a ratio: `1.9x`, `12.0%`.
fn size_in_words(factor: f64) -> String {
    let size = factor.max(1.0 / factor);
    if size >= 2.0 { format!("{size:.1}x") } else { percent((factor - 1.0).abs()) }
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
