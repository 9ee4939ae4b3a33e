//! Reads the time for which a thread has waited for a CPU.
//!
//! The kernel counts the time for which a thread waits. Another program may take the CPU of the thread between the
//! reading of the clock and the reading of the kernel's count. Only one of the two readings then includes the wait. On
//! a busy machine, such a wait is much longer than a short phase. A reading is therefore repeated until the thread
//! keeps its CPU.

use measure::{Clock, Stamp, probe};

/// The maximum duration of an undisturbed reading of the kernel's waiting time, in nanoseconds. In a longer reading,
/// the thread may have lost its CPU.
const LONGEST_READING_NS: u64 = 200_000;

/// The maximum number of attempts to read the kernel's waiting time without a disturbance. After so many attempts, the
/// last reading counts.
const MOST_READINGS: usize = 8;

/// The time for which this thread has waited for a CPU, as the kernel counts it, and the time of the reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunQueueReading {
    /// The total time for which the thread has waited for a CPU, in nanoseconds. `None` if the kernel does not report
    /// this time.
    pub(super) waited_ns: Option<u64>,
    /// The time of the clock when the reading was taken.
    pub(super) at: Stamp,
}

impl RunQueueReading {
    /// Reads the time for which this thread has waited for a CPU.
    pub(super) fn take(clock: &Clock) -> Self {
        Self::settled(clock, || Self { waited_ns: probe::thread_run_queue_wait_ns(), at: clock.now() })
    }

    /// Repeats a reading of the waiting time until a reading takes at most [`LONGEST_READING_NS`], so that no other
    /// program has disturbed it. Returns the last reading.
    fn settled(clock: &Clock, mut read: impl FnMut() -> Self) -> Self {
        let mut start = clock.now();
        let mut reading = read();
        for _ in 1..MOST_READINGS {
            if clock.ns_between(start, reading.at) <= LONGEST_READING_NS {
                break;
            }
            start = clock.now();
            reading = read();
        }
        reading
    }

    /// Returns the time for which the thread waited for a CPU between an earlier reading and the time `end`, in
    /// nanoseconds. `before` is the total waiting time of the earlier reading. Returns `None` if one of the two totals
    /// is unknown.
    ///
    /// If this reading took place much later than `end`, the function assumes that the thread waited meanwhile, and
    /// subtracts this time.
    pub(super) fn waits(&self, before: Option<u64>, end: Stamp, clock: &Clock) -> Option<u64> {
        let waited = self.waited_ns.zip(before).map(|(now, before)| now.saturating_sub(before))?;
        let since_end = clock.ns_between(end, self.at);
        Some(if since_end > LONGEST_READING_NS { waited.saturating_sub(since_end) } else { waited })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_outside_of_the_phase_do_not_count() {
        let clock = Clock::new();
        let start = clock.now();
        let at = |ns| clock.after(start, ns);
        let reading = |waited_ns, ns| RunQueueReading { waited_ns: Some(waited_ns), at: at(ns) };
        // The phase ends after 10 ms, of which the thread waited 3 ms.
        let end = at(10_000_000);
        let waits = |reading: RunQueueReading| reading.waits(Some(5_000_000), end, &clock).unwrap();
        assert_eq!(waits(reading(8_000_000, 10_050_000)), 3_000_000);
        // Another program has the CPU for 40 ms after the last operation. A time in ticks rounds by a nanosecond.
        assert!(waits(reading(48_000_000, 50_000_000)).abs_diff(3_000_000) <= 1);
        assert_eq!(reading(5, 10_000_000).waits(None, end, &clock), None);
    }

    #[test]
    fn a_reading_during_which_the_thread_lost_its_cpu_is_repeated() {
        let clock = Clock::new();
        let mut readings = 0;
        let reading = RunQueueReading::settled(&clock, || {
            readings += 1;
            let later = if readings < 3 { 5_000_000_000 } else { 0 };
            RunQueueReading { waited_ns: Some(readings), at: clock.after(clock.now(), later) }
        });
        assert_eq!(reading.waited_ns, Some(readings));
        assert!((3..=MOST_READINGS as u64).contains(&readings), "{readings}");
    }
}
