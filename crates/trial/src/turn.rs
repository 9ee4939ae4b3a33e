//! Manages the turns of a trial process. If trial processes of several configurations share a machine, the processes
//! run in turns. In one turn, a process executes one slice, which is a number of operations of a phase. Between turns,
//! the parent pauses the whole process (`SIGSTOP`).
//!
//! [`now`] is a clock that excludes the turns of other processes. Rates, latencies and the timeline are therefore not
//! affected by the turns of other processes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use measure::{Clock, Stamp, probe};
use parking_lot::Mutex;

use super::message::{Message, Turn, Yielded};

/// The total time for which this process waited for its turns, in nanoseconds. The time is 0 in a process that does not
/// take turns with others.
static PAUSED_NS: AtomicU64 = AtomicU64::new(0);

/// Returns the current time on a clock that stops while the process waits for its turn.
pub(super) fn now(clock: &Clock) -> Stamp {
    clock.before(clock.now(), paused_ns())
}

/// Returns the total time for which the process has waited for its turns, in nanoseconds.
pub(super) fn paused_ns() -> u64 {
    PAUSED_NS.load(Ordering::Acquire)
}

/// The connection to the parent process, which starts and ends the turns.
pub(super) struct Turns {
    orders: Mutex<Orders>,
    tell: fn(&Message),
}

struct Orders {
    turns: Receiver<Turn>,
    /// The total time for which the parent process has paused this process during calls such as a flush, in
    /// nanoseconds. The parent sends this time with each turn.
    stopped_ns: u64,
}

/// The CPU time that this process had used at a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    at: Stamp,
    cpu_ns: u64,
}

impl Used {
    /// Reads the clock and the CPU time that this process has used so far.
    fn read(clock: &Clock) -> Self {
        let cpu_ns = probe::cpu_ns();
        Self { cpu_ns, at: clock.now() }
    }

    /// Returns the duration and the CPU time of a slice (the operations of one turn), in nanoseconds. The slice began
    /// at `self` and ended at `end`. The CPU time is read during this call.
    pub(super) fn since(&self, clock: &Clock, end: Stamp) -> (u64, u64) {
        (clock.ns_between(self.at, end), probe::cpu_ns().saturating_sub(self.cpu_ns))
    }
}

/// A turn that has begun, after the process has waited for it.
pub(super) struct Begun {
    /// The number of operations that the process must execute in the turn.
    pub(super) operations: u64,
    /// The time for which the process waited for this turn, in nanoseconds.
    pub(super) waited_ns: u64,
    /// The CPU time that the process had used before this turn.
    pub(super) used: Used,
}

impl Turns {
    /// Creates the connection to the parent process. The parent's orders to run turns arrive on the channel `turns`.
    /// The function `tell` sends a message to the parent.
    pub(super) fn new(turns: Receiver<Turn>, tell: fn(&Message)) -> Self {
        Self { orders: Mutex::new(Orders { turns, stopped_ns: 0 }), tell }
    }

    /// Ends the current turn of this process, sends `yielded` to the parent, and waits for the next turn.
    pub(super) fn next(&self, clock: &Clock, yielded: impl FnOnce(Stamp) -> Yielded) -> Begun {
        let end = clock.now();
        let mut orders = self.orders.lock();
        (self.tell)(&Message::Yields(yielded(end)));
        let Ok(turn) = orders.turns.recv() else {
            // The parent process has ended, and the thread that reads standard input ends this process soon.
            loop {
                std::thread::park();
            }
        };
        let used = Used::read(clock);
        let waited_ns = clock.ns_between(end, used.at);
        let stopped_ns = turn.stopped_ns.saturating_sub(orders.stopped_ns);
        orders.stopped_ns = turn.stopped_ns;
        PAUSED_NS.fetch_add(waited_ns + stopped_ns, Ordering::AcqRel);
        Begun { operations: turn.operations, waited_ns, used }
    }

    /// Reports to the parent process that a call without operations begins, such as a flush. The parent may pause this
    /// process at any time during the call.
    pub(super) fn begin_call(&self) {
        (self.tell)(&Message::Yields(Yielded::Calls));
    }

    /// Reports to the parent process that a call without operations, such as a flush, has ended, and waits for the next
    /// turn.
    pub(super) fn end_call(&self, clock: &Clock) {
        let at_ns = probe::monotonic_ns();
        self.next(clock, |_| Yielded::Returned { at_ns });
    }
}

/// Executes a call without operations, such as a flush. In a process that runs in turns, the parent may pause and
/// continue the process during the call.
pub(super) fn call<T>(turns: Option<&Turns>, clock: &Clock, work: impl FnOnce() -> T) -> T {
    let Some(turns) = turns else { return work() };
    turns.begin_call();
    let done = work();
    turns.end_call(clock);
    done
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_stands_still_between_turns() {
        let clock = Clock::new();
        let (sender, receiver) = channel();
        let turns = Turns::new(receiver, |_| {});
        let (real, own) = (clock.now(), now(&clock));
        let parent = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            sender.send(Turn { operations: 7, stopped_ns: 5_000_000 }).unwrap();
        });
        let begun = turns.next(&clock, |_| Yielded::Ready { phase: String::new(), operations: None });
        parent.join().unwrap();
        assert_eq!(begun.operations, 7);
        assert!(begun.waited_ns >= 29_000_000, "{}", begun.waited_ns);
        let (real_ns, own_ns) = (clock.ns_between(real, clock.now()), clock.ns_between(own, now(&clock)));
        // The wait, and 5 ms in which the parent had stopped the process in a call.
        assert!(own_ns <= real_ns.saturating_sub(33_900_000), "{real_ns} {own_ns}");
    }
}
