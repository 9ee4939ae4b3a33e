//! Computes how many independent random events a counter counts, such as false positives of a filter or cache hits.
//! This number shows how much of a difference chance alone can cause.

use results::{Column, Metric, columns as c};

use crate::trial_rows::TrialRows;

/// Returns whether the values of a column depend on random draws, so that another seed gives another value.
pub(super) fn is_drawn(column: &Column) -> bool {
    matches!(column, Column::Fixed(metric) if metric.is_drawn())
}

/// Returns how many independent random events a measured value counts, such as false positives of a filter. For a
/// fraction, these are the events in its numerator. Returns `None` if the number is unknown.
///
/// A filter always gives the same answer for a key. Repeated lookups of a popular key are therefore not independent,
/// and count as one event per sorted run.
pub(super) fn events(column: &Column, value: f64, whole: &TrialRows<'_>) -> Option<f64> {
    let number = |metric: &Metric| whole.measured("", metric).median();
    let Column::Fixed(metric) = column else { return None };
    let named = |others: &[Metric]| others.iter().any(|other| other.name == metric.name);
    if named(&[c::FPR, c::FILTER_FALSE_POSITIVES]) {
        let Some(wrong) = number(&c::FILTER_FALSE_POSITIVES) else {
            return number(&c::OPS).map(|ops| value * ops);
        };
        let probes = (wrong + number(&c::FILTER_NEGATIVES).unwrap_or(0.0)).max(1.0);
        let hottest = number(&c::REALISED_HOT_KEY).unwrap_or(0.0);
        let different = number(&c::RUNS).unwrap_or(1.0).max(1.0) / hottest.max(1e-12);
        return Some(wrong * (different / probes).min(1.0));
    }
    if named(&[c::RANGE_FPR]) {
        return number(&c::RANGE_FILTER_PROBES).map(|probes| value * probes);
    }
    if named(&[c::CACHE_HIT_RATE]) {
        return number(&c::BLOCKS_FROM_CACHE).or_else(|| number(&c::OPS).map(|ops| value * ops));
    }
    if named(&[c::BLOCK_INDEX_HIT_RATE]) {
        return number(&c::BLOCK_INDEX_ANSWERS);
    }
    if named(&[c::BLOCKS_PER_GET]) {
        let gets = number(&c::FOUND).zip(number(&c::MISSING)).map(|(found, missing)| found + missing);
        return gets.or_else(|| number(&c::OPS)).map(|gets| value * gets);
    }
    // The variation of the entries per shard is not computed from a number of events.
    (!named(&[c::SHARD_CV, c::SHARD_CHI_SQUARE])).then_some(value)
}
