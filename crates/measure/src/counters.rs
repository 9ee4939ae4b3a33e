//! Event counters of the CPU and the kernel for this process, as in `perf stat`.
//!
//! Each event has its own counter, and threads that start later inherit this counter. Events are not read as a group,
//! because older kernels cannot read a group of inherited counters. If the CPU has fewer counters than events, the
//! kernel counts each event only part of the time. lsmbench then scales the count up to the full time of the
//! measurement.

use std::io;

use crate::perf::Counter;
use crate::processor_event::{Count, CounterScope, PROCESSOR_EVENTS, ProcessorEvent};

/// Hardware counters of several events, such as cycles. The counters count the thread that opens them, and all threads
/// that this thread starts later.
#[derive(Debug)]
pub struct Counters<const EVENTS: usize> {
    counters: [Named; EVENTS],
}

/// The name of a CPU event, with its counter or the reason why the counter is not available.
#[derive(Debug)]
struct Named {
    name: &'static str,
    opened: io::Result<(Counter, CounterScope)>,
}

/// The values of all hardware counters at one point in time.
#[derive(Clone, Copy, Debug)]
pub struct Reading<const EVENTS: usize>([Option<Count>; EVENTS]);

impl Counters<PROCESSOR_EVENTS> {
    /// Opens the hardware counters of the CPU for these events, in this order: cycles, instructions, cache references,
    /// cache misses and branch misses.
    pub fn of_processor() -> Self {
        Self::of(ProcessorEvent::ALL.map(|event| (event.name(), Counter::of(event))))
    }
}

impl<const EVENTS: usize> Counters<EVENTS> {
    fn of(events: [(&'static str, io::Result<(Counter, CounterScope)>); EVENTS]) -> Self {
        Self { counters: events.map(|(name, opened)| Named { name, opened }) }
    }

    /// Returns the names of all events of these hardware counters, each with the scope in which it is counted or with
    /// the reason why it is not counted.
    pub fn opened(&self) -> impl Iterator<Item = (&'static str, Result<CounterScope, &io::Error>)> {
        self.counters.iter().map(|named| (named.name, named.opened.as_ref().map(|(_, scope)| *scope)))
    }

    /// Reads the current values, which include threads that have ended and threads that still run.
    pub fn read(&mut self) -> Reading<EVENTS> {
        Reading(self.counters.each_mut().map(|named| {
            let (counter, _) = named.opened.as_mut().ok()?;
            counter.read()
        }))
    }
}

impl<const EVENTS: usize> Reading<EVENTS> {
    /// Returns the number of times that each event occurred since the reading `before`. Returns `None` for an event
    /// that was not counted during this time.
    pub fn since(&self, before: &Self) -> [Option<u64>; EVENTS] {
        std::array::from_fn(|at| self.0[at]?.since(before.0[at]?))
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    #[cfg(target_os = "linux")]
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// The number of bytes that a thread allocates and writes, and the minimum number of page faults that this causes.
    /// Pages have at most 2 MiB unless larger pages are reserved.
    const TOUCHED_BYTES: usize = 64 << 20;
    #[cfg(target_os = "linux")]
    const LEAST_FAULTS: u64 = 32;

    fn touch() {
        black_box(vec![1_u8; TOUCHED_BYTES]);
    }

    /// Rule: the counters include threads that still run and threads that have ended. The test counts events of the
    /// kernel, which are counted like events of the CPU.
    #[test]
    #[cfg(target_os = "linux")]
    fn events_of_all_threads_are_counted_those_that_go_on_and_those_that_have_ended() {
        use perf_event::events::Software;

        let mut counters = Counters::of([
            ("page faults", Counter::open(Software::PAGE_FAULTS)),
            ("task clock", Counter::open(Software::TASK_CLOCK)),
        ]);
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
}
