//! Measures the resources that the trial process has used so far: CPU time, hardware events, memory, and bytes read
//! from and written to storage.

use measure::{Counters, KernelUse, PROCESSOR_EVENTS, Reading, probe};
use parking_lot::Mutex;
use results::RunMode;

/// Measures the resources that this process has used, such as CPU time and memory.
pub(super) struct Meter {
    /// The hardware counters of the CPU. `None` if the counters are not available, or if time is not measured.
    counters: Option<Mutex<Counters<PROCESSOR_EVENTS>>>,
}

/// The resources that this process had used at a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) cpu_ns: u64,
    kernel: KernelUse,
    events: Option<Reading<PROCESSOR_EVENTS>>,
    pub(super) os_read_bytes: Option<u64>,
    pub(super) os_write_bytes: Option<u64>,
    pub(super) rss_peak_bytes: Option<u64>,
}

impl Meter {
    /// Creates the meter and starts the hardware counters. Call this function before the store starts its threads,
    /// because the counters include only threads that start later.
    pub(super) fn begin(mode: RunMode) -> Self {
        let counters = match mode {
            RunMode::Timed => Some(Mutex::new(Counters::of_processor())),
            RunMode::Counted => None,
        };
        Self { counters }
    }

    /// Returns the resources that the process has used until now.
    pub(super) fn read(&self) -> Usage {
        Usage {
            cpu_ns: probe::cpu_ns(),
            kernel: KernelUse::read(),
            events: self.counters.as_ref().map(|counters| counters.lock().read()),
            os_read_bytes: probe::os_read_bytes(),
            os_write_bytes: probe::os_write_bytes(),
            rss_peak_bytes: probe::rss_peak_bytes(),
        }
    }
}

impl Usage {
    /// Returns the events of this process that the kernel has counted since `before`, such as page faults.
    pub(super) fn kernel_since(&self, before: &Self) -> KernelUse {
        self.kernel.since(&before.kernel)
    }

    /// Returns the number of each hardware event since `before`, in the order of [`Counters::of_processor`]. An entry
    /// is `None` if the event is not counted.
    pub(super) fn events_since(&self, before: &Self) -> [Option<u64>; PROCESSOR_EVENTS] {
        let both = self.events.zip(before.events);
        both.map_or([None; PROCESSOR_EVENTS], |(now, before)| now.since(&before))
    }
}
