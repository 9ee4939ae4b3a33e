//! A clock that is fast enough to time every operation. The clock is the time stamp counter of the CPU if this counter
//! is reliable, and the monotonic clock of the kernel otherwise.
//!
//! Reading the time stamp counter takes about 10 ns, and reading the clock of the kernel takes about 22 ns. A stamp is
//! a raw reading of the clock. Only the difference of two stamps can be converted to nanoseconds. The first
//! [`Clock::new`] of a process calibrates the conversion factor against the clock of the kernel, which takes up to 200
//! ms.

/// A raw reading of the clock. Stamps are only comparable within one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

/// A clock that is fast enough to time single operations. Copies of a clock share the calibration.
#[derive(Clone, Debug)]
pub struct Clock {
    inner: quanta::Clock,
    ticks_per_ns: f64,
}

impl Clock {
    /// Creates a calibrated clock: the fastest reliable clock of this machine.
    pub fn new() -> Self {
        let inner = quanta::Clock::new();
        // Long enough that rounding to whole nanoseconds is below one part in a billion.
        let ticks = 1 << 36;
        let ticks_per_ns = ticks as f64 / inner.delta_as_nanos(0, ticks) as f64;
        Self { inner, ticks_per_ns }
    }

    /// Returns the current reading of the clock.
    #[inline]
    pub fn now(&self) -> Stamp {
        Stamp(self.inner.raw())
    }

    /// Returns the time from `start` to `end` in nanoseconds. Returns 0 if `end` is earlier than `start`. This can
    /// happen if two cores have read the stamps, because their counters may differ by a few ticks.
    #[inline]
    pub fn ns_between(&self, start: Stamp, end: Stamp) -> u64 {
        self.inner.delta_as_nanos(start.0, end.0.max(start.0))
    }

    /// Returns the stamp that is `ns` nanoseconds after `start`, such as the intended start of an operation in an
    /// open loop.
    #[inline]
    pub fn after(&self, start: Stamp, ns: u64) -> Stamp {
        Stamp(start.0.saturating_add((ns as f64 * self.ticks_per_ns) as u64))
    }

    /// Returns the stamp that is `ns` nanoseconds before `end`.
    #[inline]
    pub fn before(&self, end: Stamp, ns: u64) -> Stamp {
        Stamp(end.0.saturating_sub((ns as f64 * self.ticks_per_ns) as u64))
    }

    /// Returns the source of the readings as text: `time stamp counter`, or `operating system` if the counter of the
    /// CPU is not reliable.
    pub fn source(&self) -> &'static str {
        // The kernel's clock counts nanoseconds, and no counter runs at exactly 1 GHz.
        let one_to_one = (self.ticks_per_ns - 1.0).abs() < 1e-9;
        if one_to_one { "operating system" } else { "time stamp counter" }
    }

    /// Measures the time of one reading in nanoseconds. The result is the smallest mean of several batches, because
    /// disturbances only make a batch slower.
    pub fn cost_ns(&self) -> f64 {
        const READINGS: u32 = 10_000;
        let batch = || {
            let start = self.now();
            for _ in 0..READINGS {
                std::hint::black_box(self.now());
            }
            self.ns_between(start, self.now()) as f64 / f64::from(READINGS)
        };
        (0..20).map(|_| batch()).fold(f64::INFINITY, f64::min)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn it_agrees_with_the_operating_system_s_clock() {
        let clock = Clock::new();
        // Each reading lies between two of the kernel's clock, however long the thread is descheduled.
        let (before, start, after) = (Instant::now(), clock.now(), Instant::now());
        std::thread::sleep(Duration::from_millis(100));
        let (before_end, end, after_end) = (Instant::now(), clock.now(), Instant::now());
        let ns = clock.ns_between(start, end) as f64;
        let (least, most) = ((before_end - after).as_nanos() as f64, (after_end - before).as_nanos() as f64);
        assert!(ns > least * 0.999 && ns < most * 1.001, "{ns} ns, not {least} to {most}");
    }

    #[test]
    fn a_due_time_is_as_far_away_as_it_says() {
        let clock = Clock::new();
        let start = clock.now();
        for ns in [0, 1_000, 1_000_000_000, 3_600_000_000_000] {
            let measured = clock.ns_between(start, clock.after(start, ns));
            assert!(measured.abs_diff(ns) <= 2 + ns / 1_000_000, "{ns}: {measured}");
        }
        assert_eq!(clock.ns_between(clock.after(start, 1_000_000), start), 0);
    }

    #[test]
    fn it_costs_less_than_a_thousand_nanoseconds_and_more_than_none() {
        let cost = Clock::new().cost_ns();
        assert!(cost > 0.1 && cost < 1000.0, "{cost}");
    }
}
