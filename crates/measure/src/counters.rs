//! Event counters of the CPU and the kernel for this process, as in `perf stat`.
//!
//! Each event has a separate counter, which every later thread inherits. The values of a group of counters could be
//! read at once, but older kernels reject reads of an inherited group. If the CPU has fewer counters than events,
//! each event is counted only part of the time. The count of an event that was counted only for a part of the time is
//! then scaled up to the whole time.

use std::io;

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};

/// The number of CPU events that are counted.
pub const PROCESSOR_EVENTS: usize = 5;

/// The counted events, by the generic names that every kernel translates for its CPU.
const PROCESSOR: [(&str, Hardware); PROCESSOR_EVENTS] = [
    ("cycles", Hardware::CPU_CYCLES),
    ("instructions", Hardware::INSTRUCTIONS),
    ("cache references", Hardware::CACHE_REFERENCES),
    ("cache misses", Hardware::CACHE_MISSES),
    ("branch misses", Hardware::BRANCH_MISSES),
];

/// Counters of some events, for the thread that opens them and all threads that it starts later.
#[derive(Debug)]
pub struct Counters<const EVENTS: usize> {
    counters: [Named; EVENTS],
}

/// A counter of one event, or the reason why the counter is not available.
#[derive(Debug)]
struct Named {
    name: &'static str,
    opened: io::Result<(Counter, CounterScope)>,
}

/// The scope in which events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterScope {
    /// Events are counted in user space and in the kernel.
    Everywhere,
    /// Events are counted only in user space, because the kernel does not permit counting events inside the kernel.
    UserSpace,
}

/// The values of all counters at one point in time.
#[derive(Clone, Copy, Debug)]
pub struct Reading<const EVENTS: usize>([Option<Count>; EVENTS]);

/// The value of one counter.
#[derive(Clone, Copy, Debug)]
struct Count {
    events: u64,
    /// The time for which the counter was enabled, over all threads, in nanoseconds.
    enabled_ns: u64,
    /// Time in nanoseconds for which the kernel counted this event.
    running_ns: u64,
}

impl Counters<PROCESSOR_EVENTS> {
    /// Opens the counters of the CPU, in this order: cycles, instructions, cache references, cache misses, branch
    /// misses.
    pub fn of_processor() -> Self {
        Self::open(PROCESSOR)
    }
}

impl<const EVENTS: usize> Counters<EVENTS> {
    fn open<E: Event>(events: [(&'static str, E); EVENTS]) -> Self {
        Self { counters: events.map(|(name, event)| Named { name, opened: open(event) }) }
    }

    /// Returns the events, each with the scope in which it is counted, or the reason why it is not counted.
    pub fn opened(&self) -> impl Iterator<Item = (&'static str, Result<CounterScope, &io::Error>)> {
        self.counters.iter().map(|named| (named.name, named.opened.as_ref().map(|(_, scope)| *scope)))
    }

    /// Reads the current values, including threads that have ended and threads that still run.
    pub fn read(&mut self) -> Reading<EVENTS> {
        Reading(self.counters.each_mut().map(|named| {
            let (counter, _) = named.opened.as_mut().ok()?;
            let now = counter.read_count_and_time().ok()?;
            Some(Count { events: now.count, enabled_ns: now.time_enabled, running_ns: now.time_running })
        }))
    }
}

/// Opens a counter that counts from now on, in the widest scope that the kernel permits this process.
fn open(event: impl Event) -> io::Result<(Counter, CounterScope)> {
    let mut builder = Builder::new(event);
    builder.inherit(true).enabled(true).include_kernel().include_hv();
    match builder.build() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((builder.exclude_kernel(true).exclude_hv(true).build()?, CounterScope::UserSpace))
        }
        built => Ok((built?, CounterScope::Everywhere)),
    }
}

impl<const EVENTS: usize> Reading<EVENTS> {
    /// Returns how often each event happened since an earlier reading. Returns `None` for an event that was not
    /// counted during this time.
    pub fn since(&self, before: &Self) -> [Option<u64>; EVENTS] {
        std::array::from_fn(|at| self.0[at]?.since(before.0[at]?))
    }
}

impl Count {
    fn since(self, before: Self) -> Option<u64> {
        let events = self.events.saturating_sub(before.events);
        let enabled_ns = self.enabled_ns.saturating_sub(before.enabled_ns);
        match self.running_ns.saturating_sub(before.running_ns) {
            0 => None,
            running_ns if running_ns >= enabled_ns => Some(events),
            running_ns => Some((u128::from(events) * u128::from(enabled_ns) / u128::from(running_ns)) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::Barrier;
    use std::thread;

    use perf_event::events::Software;

    use super::*;

    /// Memory that a thread allocates and writes to, in bytes, and the minimum number of page faults that this causes.
    /// Pages are at most 2 MiB unless larger pages are reserved.
    const TOUCHED_BYTES: usize = 64 << 20;
    const LEAST_FAULTS: u64 = 32;

    fn touch() {
        black_box(vec![1_u8; TOUCHED_BYTES]);
    }

    /// The kernel's own events are counted in the same way as events of the CPU, if counting is permitted at all.
    #[test]
    fn events_of_all_threads_are_counted_those_that_go_on_and_those_that_have_ended() {
        let mut counters =
            Counters::open([("page faults", Software::PAGE_FAULTS), ("task clock", Software::TASK_CLOCK)]);
        let is_refused = counters.opened().any(|(_, opened)| opened.is_err());
        let start = counters.read();
        thread::scope(|scope| scope.spawn(touch).join().unwrap());
        let one_has_ended = counters.read();
        let (has_touched, may_end) = (Barrier::new(2), Barrier::new(2));
        let one_goes_on = thread::scope(|scope| {
            scope.spawn(|| {
                touch();
                has_touched.wait();
                may_end.wait();
            });
            has_touched.wait();
            let now = counters.read();
            may_end.wait();
            now
        });
        for [faults, clock_ns] in [one_has_ended.since(&start), one_goes_on.since(&one_has_ended)] {
            if is_refused {
                assert_eq!(faults.or(clock_ns), None, "what is refused is not 0");
            } else {
                assert!(faults.unwrap() >= LEAST_FAULTS, "{faults:?}");
                assert!(clock_ns.unwrap() > 0);
            }
        }
        let now = counters.read();
        let [faults, _] = counters.read().since(&now);
        assert!(faults.is_none_or(|faults| faults < LEAST_FAULTS), "nobody touches anything: {faults:?}");
    }

    #[test]
    fn what_the_processor_counts_is_a_number_or_a_refusal_and_never_0() {
        let mut counters = Counters::of_processor();
        let before = counters.read();
        thread::scope(|scope| {
            scope.spawn(touch);
        });
        let counted = counters.read().since(&before);
        for ((name, opened), counted) in counters.opened().zip(counted) {
            match opened {
                Ok(_) => assert_ne!(counted, Some(0), "{name}"),
                Err(error) => assert_eq!(counted, None, "{name}: {error}"),
            }
        }
    }

    #[test]
    fn what_was_counted_by_turns_stands_for_all_the_time() {
        let count = |events, enabled_ns, running_ns| Count { events, enabled_ns, running_ns };
        let before = count(1_000, 500, 100);
        assert_eq!(count(1_300, 900, 500).since(before), Some(300), "it counted all the time");
        assert_eq!(count(1_300, 900, 200).since(before), Some(1_200), "it counted a quarter of it");
        assert_eq!(count(1_000, 900, 100).since(before), None, "it had no turn");
        let (hour_ns, half_ns) = (3_600_000_000_000, 1_800_000_000_000);
        assert_eq!(
            count(1 << 44, hour_ns, half_ns).since(count(0, 0, 0)),
            Some(1 << 45),
            "at 5 GHz for an hour"
        );
    }
}
