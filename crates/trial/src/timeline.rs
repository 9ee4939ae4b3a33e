//! Collects the timeline of a phase: the operations and latencies of each interval of time.

use std::collections::BTreeMap;

use engines::EngineStats;
use measure::{Histogram, Stamp, Summary};
use parking_lot::Mutex;

/// The latencies of each interval of a phase, over all threads. A summary replaces the histogram of an interval when
/// all threads have left the interval.
pub(super) struct Timeline {
    /// The length of an interval of the timeline, in nanoseconds.
    interval_ns: u64,
    state: Mutex<State>,
}

struct State {
    /// The intervals, by their numbers, that at least one thread has not left. Their latencies are still histograms.
    open: BTreeMap<u64, OpenInterval>,
    /// For each thread of the phase, the number of the interval that the thread has reached.
    reached: Vec<u64>,
    over: Vec<Interval>,
}

#[derive(Default)]
struct OpenInterval {
    operations: u64,
    service: Histogram,
    response: Histogram,
}

/// The operations and latencies of a phase in one interval of time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interval {
    /// The start of the interval in nanoseconds after the start of the phase.
    pub(super) start_ns: u64,
    /// The end of the interval in nanoseconds after the start of the phase. If the phase ends earlier, the interval is
    /// shorter.
    pub(super) end_ns: u64,
    /// The number of operations that ended in the interval.
    pub(super) operations: u64,
    /// The service times of the operations that ended in the interval. `None` if none was timed.
    pub(super) service: Option<Summary>,
    /// The response times of the operations that ended in the interval. `None` in a closed loop.
    pub(super) response: Option<Summary>,
}

/// The operations of one kind that one thread executed in one interval.
pub(super) struct Share<'a> {
    pub(super) operations: u64,
    pub(super) service: &'a Histogram,
    pub(super) response: &'a Histogram,
}

/// The statistics of the store and of the process at a point in time.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The time at which the statistics were read.
    pub(super) at: Stamp,
    /// The statistics that the store reported when the sample was taken.
    pub(super) stats: EngineStats,
    /// The peak of resident memory of the process up to this time, in bytes.
    pub(super) rss_peak_bytes: Option<u64>,
    /// The latest measurement of the size of the store's files, in bytes.
    pub(super) disk_bytes: Option<u64>,
}

impl Interval {
    /// Creates the interval with the number `number`, without any operation.
    fn empty(number: u64, interval_ns: u64) -> Self {
        let [start_ns, end_ns] = [number, number + 1].map(|number| number * interval_ns);
        Self { start_ns, end_ns, operations: 0, service: None, response: None }
    }
}

impl Timeline {
    /// Creates the timeline of a phase with `threads` threads. Each interval has a length of `interval_ns`
    /// nanoseconds.
    pub(super) fn new(threads: u32, interval_ns: u64) -> Self {
        let reached = vec![0; threads as usize];
        Self { interval_ns, state: Mutex::new(State { open: BTreeMap::new(), reached, over: Vec::new() }) }
    }

    /// Discards all recorded operations and latencies. The caller must ensure that no other thread records values
    /// during this call.
    pub(super) fn begin_anew(&self) {
        let mut state = self.state.lock();
        state.reached.fill(0);
        state.open.clear();
        state.over.clear();
    }

    /// Adds the operations of a thread in its current interval. The thread then enters the interval with the number
    /// `next`, or has ended if `next` is `None`.
    pub(super) fn add<'a>(
        &self,
        thread: u32,
        number: u64,
        shares: impl Iterator<Item = Share<'a>>,
        next: Option<u64>,
    ) {
        let mut state = self.state.lock();
        for share in shares {
            let open = state.open.entry(number).or_default();
            open.operations += share.operations;
            open.service.merge(share.service);
            if share.response.count() > 0 {
                open.response.merge(share.response);
            }
        }
        state.reached[thread as usize] = next.unwrap_or(u64::MAX);
        state.close(self.interval_ns);
    }

    /// Returns all intervals up to the last interval with an operation, in order. Some of these intervals may be
    /// empty.
    pub(super) fn into_intervals(self) -> Vec<Interval> {
        let mut state = self.state.into_inner();
        state.reached.fill(u64::MAX);
        state.close(self.interval_ns);
        let mut intervals: Vec<Interval> = Vec::with_capacity(state.over.len());
        for interval in state.over {
            let from = intervals.last().map_or(0, |last| last.end_ns / self.interval_ns);
            let to = interval.start_ns / self.interval_ns;
            intervals.extend((from..to).map(|number| Interval::empty(number, self.interval_ns)));
            intervals.push(interval);
        }
        intervals
    }
}

impl State {
    /// Ends the intervals that all threads have left. A summary then replaces the histogram of each such interval.
    fn close(&mut self, interval_ns: u64) {
        let least = self.reached.iter().copied().min().unwrap_or(u64::MAX);
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() < least) {
            let (number, interval) = entry.remove_entry();
            let OpenInterval { operations, service, response } = interval;
            let (service, response) = (service.summary(), response.summary());
            let interval = Interval::empty(number, interval_ns);
            self.over.push(Interval { operations, service, response, ..interval });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|ns| histogram.record(*ns));
        histogram
    }

    #[test]
    fn intervals_are_summed_up_when_the_slowest_thread_has_left_them() {
        let timeline = Timeline::new(2, 100);
        let (fast, slow, none) = (of(&[10, 20]), of(&[1000]), Histogram::new());
        let share = |service| [Share { operations: 2, service, response: &none }].into_iter();
        timeline.add(0, 0, share(&fast), Some(1));
        timeline.add(0, 1, share(&fast), Some(5));
        assert_eq!(timeline.state.lock().over.len(), 0);
        timeline.add(1, 0, share(&slow), Some(4));
        assert_eq!(timeline.state.lock().over.len(), 2);
        assert_eq!(timeline.state.lock().open.len(), 0);
        timeline.add(1, 4, share(&slow), None);
        let intervals = timeline.into_intervals();
        let ends: Vec<_> = intervals.iter().map(|interval| (interval.start_ns, interval.end_ns)).collect();
        assert_eq!(ends, [(0, 100), (100, 200), (200, 300), (300, 400), (400, 500)]);
        assert_eq!((intervals[2].operations, intervals[2].service), (0, None), "in a stall nothing ends");
        assert_eq!((intervals[0].operations, intervals[1].operations), (4, 2));
        assert_eq!(intervals[0].service.unwrap().max_ns, 1000);
        assert_eq!(intervals[0].response, None);
    }
}
