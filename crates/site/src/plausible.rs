//! Finds implausible rows: rows with values that no correct measurement can have.

use results::{Metric, Row, columns as c};

/// The largest relative difference between `ops_per_second` and the quotient of `ops` and `seconds`.
const MOST_DIFFERENCE: f64 = 0.01;

/// The largest plausible rate of a core, in operations per second: an operation takes at least a tenth of a nanosecond.
const MOST_RATE_OF_CORE: f64 = 1e10;

/// The tolerance for CPU time, as a fraction of the time of all cores. The kernel counts in ticks, so the CPU time can
/// exceed the time of all cores.
const CPU_TOLERANCE: f64 = 0.1;

/// The additional tolerance for CPU time, in seconds, because the kernel counts in ticks.
const CPU_TICKS_S: f64 = 0.1;

/// The percentiles of the latency, from the smallest to the largest.
const PERCENTILES: [&Metric; 5] = [&c::P50_NS, &c::P90_NS, &c::P99_NS, &c::P999_NS, &c::MAX_NS];

/// Metrics whose values are between 0 and 1.
const SHARES: [&Metric; 2] = [&c::FPR, &c::CACHE_HIT_RATE];

/// Describes the first implausible value of a row. Returns `None` if all values are plausible. `cores` is the number of
/// cores of the machine.
pub(crate) fn implausible(row: &Row, cores: u64) -> Option<String> {
    let number = |metric: &Metric| row.get(metric).number();
    if let Some(bound) = row.get(&c::IMPLAUSIBLE).text() {
        return Some(format!("the column `implausible` contains: {bound}"));
    }
    let negative = c::METRICS.iter().find(|metric| {
        let is_signed = metric.name.ends_with("_residual");
        number(metric).is_some_and(|value| !value.is_finite() || (value < 0.0 && !is_signed))
    });
    if let Some(metric) = negative {
        let (column, value) = (metric.name, row.get(metric));
        return Some(format!("{column} is {value}; it must be a finite number of at least 0"));
    }
    if let Some(share) = SHARES.iter().find(|share| number(share).is_some_and(|value| value > 1.0)) {
        let (column, value) = (share.name, row.get(share));
        return Some(format!("{column} is {value}; it must be at most 1"));
    }
    let rate = number(&c::OPS_PER_SECOND);
    if let Some(((operations, seconds), rate)) = number(&c::OPS).zip(number(&c::SECONDS)).zip(rate) {
        let expected = operations / seconds;
        if seconds > 0.0 && (rate - expected).abs() > MOST_DIFFERENCE * expected {
            return Some(format!(
                "ops_per_second is {rate:.0}, but ops / seconds is {expected:.0}; both numbers must agree"
            ));
        }
    }
    if let Some(rate) = rate.filter(|rate| *rate > MOST_RATE_OF_CORE * cores as f64) {
        return Some(format!(
            "ops_per_second is {rate:.0}, but one core can reach at most {MOST_RATE_OF_CORE:.0}"
        ));
    }
    let percentiles = || PERCENTILES.iter().filter_map(|metric| Some((metric.name, number(metric)?)));
    if let Some(((lower, a), (higher, b))) =
        percentiles().zip(percentiles().skip(1)).find(|((_, a), (_, b))| a > b)
    {
        return Some(format!("{lower} is {a}, but {higher} is only {b}; percentiles must ascend"));
    }
    let (cpu, seconds) = number(&c::CPU_SECONDS).zip(number(&c::SECONDS))?;
    let most = seconds * cores as f64 * (1.0 + CPU_TOLERANCE) + CPU_TICKS_S;
    (cpu > most).then(|| {
        format!("cpu_seconds is {cpu:.2}, but {cores} cores can use at most {most:.2} seconds in this phase")
    })
}
