//! One event counter of the Linux kernel, as `perf stat` uses it. See `perf_event_open(2)`.

use std::io;

use perf_event::Builder;
use perf_event::events::{Event, Hardware};

use crate::processor_event::{Count, CounterScope, ProcessorEvent};

/// A hardware counter of one event. Threads that start later inherit the counter.
#[derive(Debug)]
pub(crate) struct Counter(perf_event::Counter);

impl Counter {
    /// Opens the counter of a CPU event, which starts to count at once.
    ///
    /// # Errors
    /// Returns an error if the CPU or the kernel does not offer the counter, or if the kernel does not permit this
    /// process to count.
    pub(crate) fn of(event: ProcessorEvent) -> io::Result<(Self, CounterScope)> {
        Self::open(match event {
            ProcessorEvent::Cycles => Hardware::CPU_CYCLES,
            ProcessorEvent::Instructions => Hardware::INSTRUCTIONS,
            ProcessorEvent::CacheReferences => Hardware::CACHE_REFERENCES,
            ProcessorEvent::CacheMisses => Hardware::CACHE_MISSES,
            ProcessorEvent::BranchMisses => Hardware::BRANCH_MISSES,
        })
    }

    /// Opens the counter of an event, which starts to count at once. The counter has the widest scope that the kernel
    /// permits this process: the kernel and user space, or only user space.
    pub(crate) fn open(event: impl Event) -> io::Result<(Self, CounterScope)> {
        let mut builder = Builder::new(event);
        builder.inherit(true).enabled(true).include_kernel().include_hv();
        match builder.build() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let counter = builder.exclude_kernel(true).exclude_hv(true).build()?;
                Ok((Self(counter), CounterScope::UserSpace))
            }
            built => Ok((Self(built?), CounterScope::Everywhere)),
        }
    }

    /// Reads the current value of the counter. Returns `None` if the kernel does not report the value.
    pub(crate) fn read(&mut self) -> Option<Count> {
        let now = self.0.read_count_and_time().ok()?;
        Some(Count { events: now.count, enabled_ns: now.time_enabled, running_ns: now.time_running })
    }
}
