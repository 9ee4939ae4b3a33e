//! Defines the statistics that a store reports at one point in time. Each value belongs to a metric of `results`.

use results::{Measurements, Metric, Value};
use results::{columns as c, counters as n};

/// The statistics of a store at one point in time. They consist of readings of the whole store, and of each level if
/// the engine has levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineStats {
    /// The counters and gauges of the whole store.
    pub whole: Readings,
    /// The counters and gauges of each level, by level number from 0. Empty if the engine does not distinguish levels.
    pub levels: Vec<Readings>,
}

/// Counters and gauges, each under its metric. Metrics that an engine does not report are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    counters: Vec<(&'static Metric, u64)>,
    gauges: Vec<(&'static Metric, Value)>,
}

impl Readings {
    /// Adds a counter, whose value only grows while a store is open. Reports contain differences of counters. If
    /// `count` is `None`, adds nothing.
    pub fn counter(&mut self, metric: &'static Metric, count: impl Into<Option<u64>>) -> &mut Self {
        self.counters.extend(count.into().map(|count| (metric, count)));
        self
    }

    /// Adds a gauge, whose value describes the current state of the store. If `value` is empty, adds nothing.
    pub fn gauge(&mut self, metric: &'static Metric, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        if !value.is_empty() {
            self.gauges.push((metric, value));
        }
        self
    }

    /// Returns the value of a counter. `None` if the engine does not report it.
    pub fn count(&self, metric: &Metric) -> Option<u64> {
        self.counters.iter().find(|(other, _)| other.name == metric.name).map(|(_, count)| *count)
    }

    /// Returns the value of a gauge as a whole number. `None` if the engine does not report it, or the value is not a
    /// whole number.
    pub fn reading(&self, metric: &Metric) -> Option<u64> {
        self.value(metric).integer()
    }

    /// Returns the value of a gauge as a number. `None` if the engine does not report it.
    pub fn number(&self, metric: &Metric) -> Option<f64> {
        self.value(metric).number()
    }

    fn value(&self, metric: &Metric) -> &Value {
        let gauge = self.gauges.iter().find(|(other, _)| other.name == metric.name);
        gauge.map_or(&Value::Empty, |(_, value)| value)
    }

    /// Returns the increase of a counter since `before`. `None` if one of the two readings lacks the counter.
    pub fn counted(&self, metric: &Metric, before: &Self) -> Option<u64> {
        Some(self.count(metric)?.saturating_sub(before.count(metric)?))
    }

    /// Returns the increases of all counters since `before`, and the current gauges. A counter that `before` lacks is
    /// omitted.
    pub fn since(&self, before: &Self) -> Measurements {
        let mut row = Measurements::default();
        for (metric, count) in &self.counters {
            row.set_some(metric, before.count(metric).map(|before| count.saturating_sub(before)));
        }
        self.gauges.iter().for_each(|(metric, value)| _ = row.set(metric, value.clone()));
        row
    }

    /// Returns these readings with all counters set to 0, as in a store that was just opened. The gauges stay as they
    /// are.
    fn restarted(&self) -> Self {
        let counters = self.counters.iter().map(|(metric, _)| (*metric, 0)).collect();
        Self { counters, gauges: self.gauges.clone() }
    }

    /// Returns a copy of these readings with all counters and gauges set to 0, for a level that does not exist.
    fn zeroed(&self) -> Self {
        Self {
            counters: self.counters.iter().map(|(metric, _)| (*metric, 0)).collect(),
            gauges: self.gauges.iter().map(|(metric, _)| (*metric, Value::Integer(0))).collect(),
        }
    }
}

impl EngineStats {
    /// Returns a copy of these statistics with all counters set to 0, as if the store had just been opened. The gauges
    /// stay as they are.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let levels = self.levels.iter().map(Readings::restarted).collect();
        Self { whole: self.whole.restarted(), levels }
    }

    /// Returns the increases of the whole store's counters since `before`, and its current gauges.
    pub fn since(&self, before: &Self) -> Measurements {
        self.whole.since(&before.whole)
    }

    /// Returns the increases of the counters of level `level` since `before`, and the current gauges of the level. If
    /// the level exists in only one of the two statistics, its values in the other statistics count as 0. Returns
    /// `None` if neither of them contains levels.
    pub fn level_since(&self, level: usize, before: &Self) -> Option<Measurements> {
        let like = self.levels.first().or_else(|| before.levels.first())?;
        let of = |stats: &Self| stats.levels.get(level).cloned().unwrap_or_else(|| like.zeroed());
        Some(of(self).since(&of(before)))
    }

    /// Returns the sum of a gauge over all levels. `None` if a level does not report the gauge, or the engine does not
    /// distinguish levels.
    pub fn sum_of_levels(&self, metric: &Metric) -> Option<u64> {
        let sum = self.levels.iter().map(|level| level.reading(metric)).sum::<Option<u64>>();
        sum.filter(|_| !self.levels.is_empty())
    }

    /// Returns whether the gauges of each level are equal to those in `other`. A gauge of 0 is equal to an absent
    /// gauge.
    pub fn has_levels_of(&self, other: &Self) -> bool {
        let none = Readings::default();
        let holds = |stats: &Self, level: usize| {
            let gauges = &stats.levels.get(level).unwrap_or(&none).gauges;
            gauges.iter().filter(|(_, value)| *value != Value::Integer(0)).cloned().collect::<Vec<_>>()
        };
        (0..self.levels.len().max(other.levels.len())).all(|level| holds(self, level) == holds(other, level))
    }

    /// Returns the bytes that the store has written to storage and read from storage since it was opened. `None` if the
    /// store does not report all parts of the sum.
    pub fn total_io_bytes(&self) -> Option<u64> {
        let parts = [
            &c::WAL_BYTES,
            &c::FLUSH_BYTES,
            &c::COMPACTION_BYTES_WRITTEN,
            &c::COMPACTION_BYTES_READ,
            &n::FETCHED_BYTES,
        ];
        parts.into_iter().map(|part| self.whole.count(part)).sum()
    }

    /// Returns the memory that the store reports, in bytes, summed over all parts. `None` if the store reports no
    /// memory.
    pub fn memory_bytes(&self) -> Option<u64> {
        let parts =
            [&c::MEMTABLE_BYTES, &c::FILTER_BYTES, &c::FENCE_BYTES, &c::TABLE_MEMORY_BYTES, &c::CACHE_BYTES];
        parts.into_iter().filter_map(|part| self.whole.reading(part)).reduce(|sum, part| sum + part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(counters: &[(&'static Metric, u64)], gauges: &[(&'static Metric, u64)]) -> Readings {
        let mut readings = Readings::default();
        counters.iter().for_each(|(metric, count)| _ = readings.counter(metric, *count));
        gauges.iter().for_each(|(metric, value)| _ = readings.gauge(metric, *value));
        readings
    }

    #[test]
    fn counters_are_differences_and_gauges_are_of_now() {
        let before =
            readings(&[(&c::FLUSH_BYTES, 10), (&n::GETS, 3)], &[(&c::RUNS, 2), (&c::CACHE_BYTES, 9)]);
        let mut after = readings(&[(&c::FLUSH_BYTES, 25), (&c::WAL_BYTES, 7)], &[(&c::RUNS, 1)]);
        after.gauge(&c::EXPECTED_FPR, None::<f64>).counter(&n::GETS, None);
        let row = after.since(&before);
        let values: Vec<_> = row.iter().map(|(metric, value)| (metric.name, value.integer())).collect();
        // If the earlier readings lack a counter, its increase is unknown.
        assert_eq!(values, [("flush_bytes", Some(15)), ("runs", Some(1))]);
        assert_eq!(after.counted(&c::FLUSH_BYTES, &before), Some(15));
        assert_eq!(after.counted(&c::WAL_BYTES, &before), None);
        // A store that was opened again counts from 0.
        let opened = readings(&[(&c::FLUSH_BYTES, 4)], &[]);
        assert_eq!(opened.counted(&c::FLUSH_BYTES, &before.restarted()), Some(4));
        assert_eq!(before.restarted().reading(&c::RUNS), Some(2));
    }

    #[test]
    fn a_level_that_does_not_exist_holds_nothing() {
        let level =
            |written, runs| readings(&[(&results::levels::BYTES_WRITTEN, written)], &[(&c::RUNS, runs)]);
        let stats = |levels| EngineStats { levels, ..EngineStats::default() };
        let (before, after) = (stats(vec![level(5, 1)]), stats(vec![level(8, 0), level(4, 1)]));
        let of = |stats: &EngineStats, at, before: &EngineStats| {
            let row = stats.level_since(at, before).unwrap();
            (row.integer(&results::levels::BYTES_WRITTEN), row.integer(&c::RUNS))
        };
        assert_eq!(of(&after, 0, &before), (Some(3), Some(0)));
        assert_eq!(of(&after, 1, &before), (Some(4), Some(1)));
        assert_eq!(of(&after, 2, &before), (Some(0), Some(0)));
        assert_eq!(stats(Vec::new()).level_since(0, &stats(Vec::new())), None);
        assert_eq!(after.sum_of_levels(&c::RUNS), Some(1));
        assert_eq!(after.sum_of_levels(&n::ENTRIES), None);
        assert!(!after.has_levels_of(&before));
        assert!(before.has_levels_of(&stats(vec![level(9, 1), level(0, 0)])));
    }

    #[test]
    fn memory_is_that_of_the_parts_which_are_reported() {
        let mut stats = EngineStats::default();
        assert_eq!(stats.memory_bytes(), None);
        stats.whole.gauge(&c::MEMTABLE_BYTES, 5_u64).gauge(&c::CACHE_BYTES, 7_u64);
        assert_eq!(stats.memory_bytes(), Some(12));
    }
}
