//! The times between the operations of a trace.

use crate::histogram::Histogram;
use crate::summary::Arrivals;

/// Nanoseconds per second.
const SECOND_NS: f64 = 1e9;

/// The times of the operations of a trace so far, and the statistics of the gaps between these times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    first_ns: Option<u64>,
    last_ns: u64,
    backward: u64,
    gaps: Histogram,
    squares: f64,
}

impl Times {
    /// Adds the time of the next operation.
    pub(crate) fn add(&mut self, time_ns: u64) {
        if self.first_ns.is_none() {
            self.first_ns = Some(time_ns);
        } else if let Some(gap) = time_ns.checked_sub(self.last_ns) {
            self.gaps.add(gap);
            self.squares += (gap as f64).powi(2);
        } else {
            self.backward += 1;
        }
        self.last_ns = time_ns;
    }

    /// Returns the statistics of the times between operations. Returns `None` if every time is earlier than the time
    /// before it.
    pub(crate) fn summary(&self) -> Option<Arrivals> {
        let first_ns = self.first_ns.filter(|_| self.gaps.total() > 0)?;
        let gaps = self.gaps.total() as f64;
        let mean_ns = self.gaps.mean();
        let variance = (self.squares / gaps - mean_ns * mean_ns).max(0.0);
        let seconds = self.last_ns.saturating_sub(first_ns) as f64 / SECOND_NS;
        Some(Arrivals {
            seconds,
            rate_per_s: if seconds > 0.0 { gaps / seconds } else { 0.0 },
            gap_p50_ns: self.gaps.quantile(0.5),
            gap_p99_ns: self.gaps.quantile(0.99),
            gap_max_ns: self.gaps.quantile(1.0),
            variation: if mean_ns > 0.0 { variance.sqrt() / mean_ns } else { 0.0 },
            backward: self.backward,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_rate_are_those_of_the_times() {
        let mut times = Times::default();
        for second in [10, 11, 12, 12, 14, 13, 14] {
            times.add(second * 1_000_000_000);
        }
        let arrivals = times.summary().unwrap();
        assert!((arrivals.seconds - 4.0).abs() < 1e-9 && arrivals.backward == 1);
        assert!((arrivals.rate_per_s - 1.25).abs() < 1e-9);
        assert_eq!(Times::default().summary(), None);
    }
}
