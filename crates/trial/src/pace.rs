//! Determines when a thread starts each of its operations, and when the thread ends.

use std::time::Duration;

use measure::{Clock, Stamp};
use results::RunMode;
use workload::{Phase, Rate, Work};

/// The length of the last part of a wait, in nanoseconds. In this part, the thread polls the clock instead of sleeping,
/// because a sleep may end late.
const SPIN_NS: u64 = 100_000;

/// The interval at which a waiting background thread checks whether the phase has ended.
const BACKGROUND_PERIOD: Duration = Duration::from_millis(10);

/// Returns the number of threads of a phase that are not background threads. The phase ends when these threads have
/// ended.
pub(super) fn threads_with_an_end(phase: &Phase) -> u32 {
    let background = phase.roles().iter().filter(|role| role.is_background()).map(|role| role.threads);
    phase.threads - background.sum::<u32>()
}

/// Determines when a thread starts each of its operations, and when the thread ends.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) rate: Rate,
    /// The position of the thread among the threads of its role or phase, from 0.
    place: u32,
    of: u32,
    pub(super) time_limit_ns: Option<u64>,
    /// Whether the thread is a background thread, which runs until all other threads have ended.
    pub(super) is_background: bool,
}

impl Pace {
    /// Returns when one thread of a phase starts its operations. A thread of a role has the rate of its role, and any
    /// other thread has the rate of the phase.
    pub(super) fn of(phase: &Phase, thread: u32, (mode, rate): (RunMode, Rate)) -> Self {
        match (phase.role_of(thread), &phase.work) {
            (Some((role, place)), _) => Self {
                rate: if mode == RunMode::Timed { role.rate } else { Rate::Closed },
                place,
                of: role.threads,
                time_limit_ns: role.mixed.time_limit_ns,
                is_background: role.is_background(),
            },
            (None, work) => Self {
                rate,
                place: thread,
                of: phase.threads,
                time_limit_ns: match work {
                    Work::Mixed(mixed) => mixed.time_limit_ns,
                    _ => None,
                },
                is_background: false,
            },
        }
    }

    /// Returns the time at which the thread must start its next operation, in nanoseconds after the start of the
    /// warm-up or of the measured part. `issued` is the number of operations that the thread has issued since this
    /// start. Returns `None` in a closed loop.
    pub(super) fn due_ns(&self, issued: u64) -> Option<u64> {
        self.rate.intended_start_ns(issued, self.place, self.of)
    }

    /// Makes a background thread wait until shortly before the start of its next operation. `issued` is the number of
    /// its earlier operations. `ends` returns true when the phase has ended. In this case, the wait ends early, and the
    /// function returns `false`.
    pub(super) fn wait_in_background(
        &self,
        issued: u64,
        (clock, start): (&Clock, Stamp),
        ends: impl Fn() -> bool,
    ) -> bool {
        let Some(due_ns) = self.due_ns(issued) else { return !ends() };
        let near = clock.after(start, due_ns.saturating_sub(2 * SPIN_NS));
        loop {
            let now = clock.now();
            if ends() || now >= near {
                return !ends();
            }
            std::thread::sleep(Duration::from_nanos(clock.ns_between(now, near)).min(BACKGROUND_PERIOD));
        }
    }
}

/// Waits until the time `due`, the intended start of an operation. The thread sleeps first, and polls the clock near
/// the end of the wait.
pub(super) fn wait_until(clock: &Clock, due: Stamp) {
    loop {
        let now = clock.now();
        if now >= due {
            return;
        }
        let left_ns = clock.ns_between(now, due);
        if left_ns > 2 * SPIN_NS {
            std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS));
        } else {
            std::hint::spin_loop();
        }
    }
}
