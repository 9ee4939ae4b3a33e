//! What happens second by second within a phase.

use std::collections::BTreeMap;

use measure::{Histogram, Stamp, Summary};
use parking_lot::Mutex;

use super::target::Look;

/// The latencies of the seconds of one phase, over all threads. Only seconds that some thread has not left yet
/// are held as histograms.
pub(super) struct Timeline {
    state: Mutex<State>,
}

struct State {
    /// The seconds that are not over for all threads.
    open: BTreeMap<u64, OpenSecond>,
    /// For each thread, the second that it is in.
    reached: Vec<u64>,
    over: Vec<Second>,
}

#[derive(Default)]
struct OpenSecond {
    operations: u64,
    service: Histogram,
    response: Histogram,
}

/// One second of a phase in which operations ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Second {
    /// Its number, from 0.
    pub(super) number: u64,
    /// Operations that ended in it.
    pub(super) operations: u64,
    /// Their service times.
    pub(super) service: Option<Summary>,
    /// Their response times, in an open loop.
    pub(super) response: Option<Summary>,
}

/// What one thread did of one kind in a second.
pub(super) struct Share<'a> {
    pub(super) operations: u64,
    pub(super) service: &'a Histogram,
    pub(super) response: &'a Histogram,
}

/// The state of the store at one moment.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// When.
    pub(super) at: Stamp,
    /// What it tells.
    pub(super) look: Look,
    /// The largest resident memory so far.
    pub(super) rss_peak_bytes: Option<u64>,
}

impl Timeline {
    /// The timeline of a phase of so many threads.
    pub(super) fn new(threads: u32) -> Self {
        let reached = vec![0; threads as usize];
        Self { state: Mutex::new(State { open: BTreeMap::new(), reached, over: Vec::new() }) }
    }

    /// Forgets what was added, while no thread adds anything.
    pub(super) fn begin_anew(&self) {
        let mut state = self.state.lock();
        state.reached.fill(0);
        state.open.clear();
        state.over.clear();
    }

    /// Adds what a thread did in a second before it went on to another one; `None` where it is done.
    pub(super) fn add<'a>(
        &self,
        thread: u32,
        second: u64,
        shares: impl Iterator<Item = Share<'a>>,
        next: Option<u64>,
    ) {
        let mut state = self.state.lock();
        for share in shares {
            let open = state.open.entry(second).or_default();
            open.operations += share.operations;
            open.service.merge(share.service);
            if share.response.count() > 0 {
                open.response.merge(share.response);
            }
        }
        state.reached[thread as usize] = next.unwrap_or(u64::MAX);
        state.close();
    }

    /// All seconds in which an operation ended, in order.
    pub(super) fn into_seconds(self) -> Vec<Second> {
        let mut state = self.state.into_inner();
        state.reached.fill(u64::MAX);
        state.close();
        state.over
    }
}

impl State {
    /// Sums up the seconds that all threads have left.
    fn close(&mut self) {
        let least = self.reached.iter().copied().min().unwrap_or(u64::MAX);
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() < least) {
            let (number, second) = entry.remove_entry();
            let OpenSecond { operations, service, response } = second;
            let (service, response) = (service.summary(), response.summary());
            self.over.push(Second { number, operations, service, response });
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
    fn seconds_are_summed_up_when_the_slowest_thread_has_left_them() {
        let timeline = Timeline::new(2);
        let (fast, slow, none) = (of(&[10, 20]), of(&[1000]), Histogram::new());
        let share = |service| [Share { operations: 2, service, response: &none }].into_iter();
        timeline.add(0, 0, share(&fast), Some(1));
        timeline.add(0, 1, share(&fast), Some(5));
        assert_eq!(timeline.state.lock().over.len(), 0);
        timeline.add(1, 0, share(&slow), Some(4));
        assert_eq!(timeline.state.lock().over.len(), 2);
        assert_eq!(timeline.state.lock().open.len(), 0);
        timeline.add(1, 4, share(&slow), None);
        let seconds = timeline.into_seconds();
        assert_eq!(seconds.iter().map(|second| second.number).collect::<Vec<_>>(), [0, 1, 4]);
        assert_eq!((seconds[0].operations, seconds[1].operations), (4, 2));
        assert_eq!(seconds[0].service.unwrap().max_ns, 1000);
        assert_eq!(seconds[0].response, None);
    }
}
