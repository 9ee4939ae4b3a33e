//! The state of the schedule `silk`: the version in which level 0 was last checked for due compactions, and the
//! bandwidth that clients leave to compactions.
//!
//! Source: Balmau, Dinu, Zwaenepoel, Gupta, Chandhiramoorthi, Didona, "SILK: Preventing Latency Spikes in
//! Log-Structured Merge Key-Value Stores" (USENIX ATC 2019), section 4.

use std::sync::Weak;
use std::time::Instant;

use parking_lot::Mutex;

use crate::version::Version;

/// The time between two measurements of the bandwidth that clients use, in nanoseconds.
const MEASURE_NS: u64 = 10_000_000;

/// The divisor for the minimum bandwidth of compactions: the bandwidth limit of the design, divided by this number.
const LEAST_SHARE: u64 = 10;

/// The state of the schedule `silk`, which runs compactions by priority.
pub(crate) struct Scheduler {
    /// The last version of the tree in which no compaction of level 0 was due. Threads do not check this version again.
    /// The thread that runs a compaction of level 0 during a pause of another compaction holds this lock.
    pub(crate) checked: Mutex<Weak<Version>>,
    /// The bandwidth that compactions may use. `None` if the design sets no limit.
    pub(crate) bandwidth: Option<Mutex<Bandwidth>>,
    /// The time at which the scheduler was created.
    start: Instant,
}

impl Scheduler {
    /// Creates a scheduler of compactions with a bandwidth limit of `limit` bytes per second. With 0, the bandwidth has
    /// no limit.
    pub(crate) fn new(limit: u64) -> Self {
        let bandwidth = (limit > 0).then(|| Mutex::new(Bandwidth::new(limit)));
        Self { checked: Mutex::default(), bandwidth, start: Instant::now() }
    }

    /// Returns the time since the scheduler was created, in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// The bandwidth of compactions: the bandwidth limit of the design, minus the bandwidth that clients use.
#[derive(Debug)]
pub(crate) struct Bandwidth {
    /// The bytes per second that clients and compactions may use together.
    limit: u64,
    /// The bytes per second that compactions may use now.
    free: u64,
    /// The total bytes that clients had transferred at the last measurement, and the time of this measurement in
    /// nanoseconds. `None` before the first measurement.
    measured: Option<(u64, u64)>,
    /// The time, in nanoseconds, at which compactions would have finished all transfers so far if they used exactly the
    /// allowed bandwidth.
    complete_ns: u64,
}

impl Bandwidth {
    fn new(limit: u64) -> Self {
        Self { limit, free: limit, measured: None, complete_ns: 0 }
    }

    /// Returns whether the bandwidth of clients must be measured again.
    pub(crate) fn is_outdated(&self, now_ns: u64) -> bool {
        self.measured.is_none_or(|(_, then_ns)| now_ns.saturating_sub(then_ns) >= MEASURE_NS)
    }

    /// Computes the bandwidth that compactions may use now. `client_bytes` are the bytes that clients have read and
    /// written since the tree was opened.
    pub(crate) fn measure(&mut self, now_ns: u64, client_bytes: u64) {
        if let Some((before, then_ns)) = self.measured.replace((client_bytes, now_ns)) {
            let seconds = now_ns.saturating_sub(then_ns).max(1) as f64 / 1e9;
            let load = (client_bytes.saturating_sub(before) as f64 / seconds) as u64;
            self.free = self.limit.saturating_sub(load).max(self.limit / LEAST_SHARE).max(1);
        }
    }

    /// Records that a compaction has read and written `bytes` bytes in total. Returns the time, in nanoseconds, at
    /// which this transfer would be complete with exactly the allowed bandwidth. The compaction must wait until this
    /// time.
    pub(crate) fn charge(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let duration_ns = (bytes as f64 * 1e9 / self.free as f64) as u64;
        self.complete_ns = self.complete_ns.max(now_ns) + duration_ns;
        self.complete_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn compactions_get_what_clients_leave() {
        let mut bandwidth = Bandwidth::new(1000);
        assert!(bandwidth.is_outdated(0));
        bandwidth.measure(0, 0);
        assert!(!bandwidth.is_outdated(MEASURE_NS - 1) && bandwidth.is_outdated(MEASURE_NS));
        assert_eq!(bandwidth.charge(0, 500), SECOND / 2);
        // Clients have used 750 bytes in a second, so 250 bytes per second are left.
        bandwidth.measure(SECOND, 750);
        assert_eq!(bandwidth.charge(SECOND, 500), 3 * SECOND);
        // The time of the next bytes begins after the time of the earlier bytes.
        assert_eq!(bandwidth.charge(2 * SECOND, 250), 4 * SECOND);
        // Clients use the whole bandwidth, and compactions get a tenth.
        bandwidth.measure(2 * SECOND, 9750);
        assert_eq!(bandwidth.charge(10 * SECOND, 100), 11 * SECOND);
    }
}
