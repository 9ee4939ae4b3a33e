//! What happens second by second within a phase.

use std::collections::BTreeMap;

use measure::Histogram;
use parking_lot::Mutex;
use tree::Stats;

/// The latencies of the seconds of one phase, over all threads.
#[derive(Default)]
pub(super) struct Timeline {
    seconds: Mutex<BTreeMap<u64, Second>>,
}

/// One second of a phase.
#[derive(Clone, Default)]
pub(super) struct Second {
    /// Operations that ended in it.
    pub(super) operations: u64,
    /// Their service times.
    pub(super) service: Histogram,
    /// Their response times, in an open loop.
    pub(super) response: Histogram,
}

/// The state of the tree at the end of a second.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Nanoseconds since the phase began.
    pub(super) at_ns: u64,
    /// The tree's counters and sizes.
    pub(super) stats: Stats,
    /// The largest resident memory so far.
    pub(super) rss_peak_bytes: Option<u64>,
}

impl Timeline {
    /// Adds what one thread did in a second.
    pub(super) fn add(&self, second: u64, operations: u64, service: &Histogram, response: &Histogram) {
        let mut seconds = self.seconds.lock();
        let entry = seconds.entry(second).or_default();
        entry.operations += operations;
        entry.service.merge(service);
        entry.response.merge(response);
    }

    /// All seconds in which an operation ended, in order.
    pub(super) fn seconds(&self) -> BTreeMap<u64, Second> {
        self.seconds.lock().clone()
    }
}
