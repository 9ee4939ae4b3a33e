//! The device model, which computes how long each request takes. If callers wait, the model also computes when each
//! request is complete.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::storage::DeviceTime;

/// Nanoseconds per second.
const SECOND_NS: u128 = 1_000_000_000;

/// The maximum latency of a modeled device, in nanoseconds. The limit prevents overflow of sums.
const MOST_LATENCY_NS: u64 = 60_000_000_000;

/// The minimum bandwidth of a modeled device, in bytes per second. The limit prevents overflow of sums.
const LEAST_BANDWIDTH: u64 = 1000;

/// The maximum queue depth of a modeled device.
const MOST_DEPTH: u64 = 65_536;

/// The length of the last part of a wait, in nanoseconds. In this part, the caller polls the clock instead of sleeping.
/// Waking a sleeping thread typically takes this time.
const POLLED_NS: u64 = 100_000;

/// The parameters of a modeled device. Bandwidths are in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    pub(super) read_latency_ns: u64,
    pub(super) write_latency_ns: u64,
    pub(super) sync_latency_ns: u64,
    pub(super) read_bandwidth: u64,
    pub(super) write_bandwidth: u64,
    pub(super) queue_depth: u64,
    /// Whether the device has a disk arm, like a hard disk. An access that begins where the last access ended then has
    /// no latency.
    pub(super) has_arm: bool,
    /// The length of the pause at the end of every period, in nanoseconds. In a pause, the device serves no request.
    /// Pauses occur only if callers wait.
    pub(super) pause_ns: u64,
    /// The time from the start of a pause to the start of the next pause, in nanoseconds.
    pub(super) pause_period_ns: u64,
}

impl Profile {
    /// Checks the parameters of the modeled device. Returns an error sentence if a parameter is invalid.
    pub(super) fn validate(&self) -> Result<(), String> {
        let latencies = [
            ("read_latency", self.read_latency_ns),
            ("write_latency", self.write_latency_ns),
            ("sync_latency", self.sync_latency_ns),
        ];
        if let Some((name, _)) = latencies.iter().find(|(_, ns)| *ns > MOST_LATENCY_NS) {
            return Err(format!("{name} is above 60s; set a shorter time"));
        }
        let bandwidths = [("read_bandwidth", self.read_bandwidth), ("write_bandwidth", self.write_bandwidth)];
        if let Some((name, bandwidth)) = bandwidths.iter().find(|(_, bytes)| *bytes < LEAST_BANDWIDTH) {
            return Err(format!("{name} is {bandwidth} bytes per second; set at least 1kB"));
        }
        if !(1..=MOST_DEPTH).contains(&self.queue_depth) {
            return Err(format!("queue_depth is {}; it must be 1 to {MOST_DEPTH}", self.queue_depth));
        }
        if self.pause_ns > 0 && !(self.pause_ns + 1..=MOST_LATENCY_NS).contains(&self.pause_period_ns) {
            return Err("`pause_every` must be longer than `pause`, and at most 60s".to_owned());
        }
        Ok(())
    }

    /// Returns the first time at which the device can serve a request that arrives at the time `at_ns`: the end of the
    /// pause that contains `at_ns`, or `at_ns` itself. Both are times of the device's clock.
    fn beyond_pause(&self, at_ns: u64) -> u64 {
        if self.pause_ns == 0 {
            return at_ns;
        }
        let into_period = at_ns % self.pause_period_ns;
        let is_paused = into_period >= self.pause_period_ns - self.pause_ns;
        if is_paused { at_ns - into_period + self.pause_period_ns } else { at_ns }
    }
}

/// A modeled device that serves requests and adds up their times.
pub(super) struct Device {
    profile: Profile,
    busy: Mutex<Busy>,
    read_ns: AtomicU64,
    write_ns: AtomicU64,
    is_waiting: AtomicBool,
    /// The start of the device's clock. The clock determines only how long callers wait, and does not affect the
    /// reported device time.
    origin: Instant,
}

/// The state of the modeled device: its queue, and the position of its disk arm.
struct Busy {
    queue: Queue,
    /// The file and the offset at which the last access ended. `None` before the first access.
    arm: Option<(u64, u64)>,
}

/// A read, write or sync of the modeled device, with its latency and its bandwidth.
struct Request {
    place: Option<(u64, u64)>,
    len: u64,
    latency_ns: u64,
    bandwidth: u64,
}

impl Request {
    /// Returns the time that the device needs to transfer the bytes of the request, in nanoseconds, rounded up.
    fn transfer_ns(&self) -> u64 {
        (u128::from(self.len) * SECOND_NS).div_ceil(u128::from(self.bandwidth)) as u64
    }
}

/// The queue of a modeled device: when each of its request slots becomes free, and when its last transfer ends. The
/// times are in nanoseconds of the device's clock.
struct Queue {
    lanes: Vec<u64>,
    pipe: u64,
}

impl Queue {
    fn new(depth: usize) -> Self {
        Self { lanes: vec![0; depth.max(1)], pipe: 0 }
    }

    /// Adds a request that arrives at the time `now`. Returns the time at which the request is complete.
    fn take(&mut self, now: u64, latency_ns: u64, transfer_ns: u64) -> u64 {
        let lane =
            self.lanes.iter_mut().min().expect("the queue of a modeled device must have at least one lane");
        let arrived = now.max(*lane) + latency_ns;
        let done = arrived.max(self.pipe) + transfer_ns;
        (*lane, self.pipe) = (done, done);
        done
    }
}

impl Device {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            busy: Mutex::new(Busy { queue: Queue::new(profile.queue_depth as usize), arm: None }),
            read_ns: AtomicU64::new(0),
            write_ns: AtomicU64::new(0),
            is_waiting: AtomicBool::new(false),
            origin: Instant::now(),
        }
    }

    /// Returns the number of requests that the device can serve at the same time.
    pub(super) fn queue_depth(&self) -> usize {
        self.profile.queue_depth as usize
    }

    /// Returns the total time that the device needed for all calls so far.
    pub(super) fn time(&self) -> DeviceTime {
        DeviceTime {
            read_ns: self.read_ns.load(Ordering::Relaxed),
            write_ns: self.write_ns.load(Ordering::Relaxed),
        }
    }

    /// Sets whether callers wait as long as the device needs for their requests.
    pub(super) fn set_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// Adds the device time of concurrent reads of one file. Returns the time of the device's clock at which the last
    /// read is complete, for [`wait`](Self::wait).
    pub(super) fn read(&self, file: u64, parts: &[(u64, usize)]) -> u64 {
        let Profile { read_latency_ns: latency_ns, read_bandwidth: bandwidth, .. } = self.profile;
        let request = |(offset, len): &(u64, usize)| Request {
            place: Some((file, *offset)),
            len: *len as u64,
            latency_ns,
            bandwidth,
        };
        self.serve(&self.read_ns, parts.iter().map(request), parts.len())
    }

    /// Adds the device time of a write. Returns the time of the device's clock at which the write is complete, for
    /// [`wait`](Self::wait).
    pub(super) fn write(&self, file: u64, offset: u64, len: u64) -> u64 {
        let Profile { write_latency_ns: latency_ns, write_bandwidth: bandwidth, .. } = self.profile;
        let request = Request { place: Some((file, offset)), len, latency_ns, bandwidth };
        self.serve(&self.write_ns, std::iter::once(request), 1)
    }

    /// Adds the device time of a sync. Returns the time of the device's clock at which the sync is complete, for
    /// [`wait`](Self::wait).
    pub(super) fn sync(&self) -> u64 {
        let Profile { sync_latency_ns: latency_ns, write_bandwidth: bandwidth, .. } = self.profile;
        let request = Request { place: None, len: 0, latency_ns, bandwidth };
        self.serve(&self.write_ns, std::iter::once(request), 1)
    }

    /// Adds to the sum `charged` the time that one call would take on an idle device. The call consists of `count`
    /// concurrent requests.
    ///
    /// If callers wait, the function also puts the requests into the queue, and returns the time at which the last
    /// request is complete. Otherwise, it returns 0.
    fn serve(&self, charged: &AtomicU64, requests: impl Iterator<Item = Request>, count: usize) -> u64 {
        let mut alone = Queue::new(self.queue_depth().min(count));
        let (mut alone_ns, mut done) = (0, 0);
        let is_waiting = self.is_waiting.load(Ordering::Relaxed);
        let mut busy = self.busy.lock();
        let now = if is_waiting { self.profile.beyond_pause(self.now_ns()) } else { 0 };
        for request in requests {
            let latency_ns = busy.latency_ns(&request, self.profile.has_arm);
            alone_ns = alone_ns.max(alone.take(0, latency_ns, request.transfer_ns()));
            if is_waiting {
                done = done.max(busy.queue.take(now, latency_ns, request.transfer_ns()));
            }
        }
        charged.fetch_add(alone_ns, Ordering::Relaxed);
        self.profile.beyond_pause(done)
    }

    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Waits until the time `done` of the device's clock. If callers do not wait, `done` is 0, and the function returns
    /// at once.
    pub(super) fn wait(&self, done: u64) {
        loop {
            match done.saturating_sub(self.now_ns()) {
                0 => return,
                left if left > POLLED_NS => thread::sleep(Duration::from_nanos(left - POLLED_NS)),
                _ => std::hint::spin_loop(),
            }
        }
    }
}

impl Busy {
    /// Returns the latency of a request, and records the end of the request as the new position of the disk arm.
    fn latency_ns(&mut self, request: &Request, has_arm: bool) -> u64 {
        let goes_on = has_arm && request.place.is_some() && request.place == self.arm;
        if let Some((file, offset)) = request.place {
            self.arm = Some((file, offset + request.len));
        }
        if goes_on { 0 } else { request.latency_ns }
    }
}
