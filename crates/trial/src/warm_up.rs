//! Implements the warm-up of a phase. Before the measured part, the threads of the phase execute operations without
//! measuring their times. The warm-up ends after a time, after a number of operations, or when the store is steady.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engines::OpenStore;
use measure::{Clock, Stamp};
use parking_lot::Mutex;
use results::RunMode;
use workload::{PhasePlan, UntilSteady, WarmUp};

use super::steadiness::{Round, unsteady};
use super::timeline::Sample;
use super::turn;
use super::usage::Usage;

/// How often the statistics of the store are read in each warm-up round. The check for a steady store uses the means of
/// these readings.
const LOOKS_PER_ROUND: u32 = 10;

/// The running warm-up of a phase, which the threads of the phase share.
pub(super) struct WarmingUp<'a> {
    store: &'a OpenStore,
    clock: &'a Clock,
    /// The number of operations that all threads have finished.
    done: &'a AtomicU64,
    warm_up: WarmUp,
    start: Stamp,
    /// Whether the warm-up has ended, so that the threads may start the measured part.
    is_over: AtomicBool,
    /// Whether the store was steady at the end of the warm-up. `None` if the warm-up does not wait for a steady store.
    is_steady: Mutex<Option<bool>>,
    begun: Mutex<Option<Begun>>,
    /// A function that reads the statistics of the store and the resources that the process has used.
    sample: &'a (dyn Fn() -> (Sample, Usage) + Sync),
}

/// The state of the store and of the process when the warm-up has ended and the measured part starts.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) sample: Sample,
    pub(super) usage: Usage,
    /// The length and the outcome of the warm-up that has ended.
    pub(super) warmed: Warmed,
}

/// The length of a warm-up that has ended, and whether the store became steady.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warmed {
    pub(super) ns: u64,
    pub(super) operations: u64,
    /// Whether the store was steady at the end of the warm-up. `None` if the warm-up does not wait for a steady
    /// store.
    pub(super) is_steady: Option<bool>,
}

/// The interface through which the threads of a phase execute and end the warm-up.
pub(super) trait Gate: Sync {
    /// Returns how many warm-up operations a thread still executes after `done` operations. Returns 0 if the warm-up
    /// has ended.
    fn left(&self, done: u64, thread: u32, threads: u32) -> u64;

    /// Ends the warm-up. Exactly one thread calls this function: after all threads have finished their warm-up
    /// operations, and before the measured part starts.
    fn pass(&self);
}

impl<'a> WarmingUp<'a> {
    /// Creates the warm-up of a phase. Returns `None` for a phase without a warm-up. If time is not measured, a warm-up
    /// without a number of operations ends immediately.
    pub(super) fn of(
        phase: &PhasePlan,
        mode: RunMode,
        store: &'a OpenStore,
        (clock, done): (&'a Clock, &'a AtomicU64),
        sample: &'a (dyn Fn() -> (Sample, Usage) + Sync),
    ) -> Option<Self> {
        let warm_up = phase.phase().before.warm_up?;
        let is_over = AtomicBool::new(warm_up.is_timed() && mode == RunMode::Counted);
        let (is_steady, begun) = (Mutex::new(None), Mutex::new(None));
        Some(Self { store, clock, done, warm_up, start: turn::now(clock), is_over, is_steady, begun, sample })
    }

    /// Returns the state of the store and of the process at the start of the measured part. Returns `None` if the
    /// warm-up has not ended.
    pub(super) fn into_begun(self) -> Option<Begun> {
        self.begun.into_inner()
    }

    /// Decides when the warm-up is over.
    /// * A warm-up with a time ends at this time.
    /// * A warm-up that waits for a steady store ends when the store is steady, or at its time limit.
    /// * For a warm-up with a number of operations, the function returns at once, because the threads themselves end
    ///   such a warm-up.
    ///
    /// The function returns early if `phase_is_over` becomes true.
    pub(super) fn supervise(&self, phase_is_over: &AtomicBool) {
        match self.warm_up {
            WarmUp::Operations(_) => return,
            WarmUp::Time(ns) => {
                self.wait_until(ns, phase_is_over);
            }
            WarmUp::Steady(until) => {
                let is_steady = self.rounds(until, phase_is_over);
                *self.is_steady.lock() = Some(is_steady);
            }
        }
        self.is_over.store(true, Ordering::Release);
    }

    /// Waits until `ns` nanoseconds after the start of the warm-up. Returns `false` if the phase or the warm-up ended
    /// earlier.
    fn wait_until(&self, ns: u64, phase_is_over: &AtomicBool) -> bool {
        loop {
            if phase_is_over.load(Ordering::Acquire) || self.is_over.load(Ordering::Acquire) {
                return false;
            }
            let elapsed = self.clock.ns_between(self.start, self.clock.now());
            if elapsed >= ns {
                return true;
            }
            std::thread::sleep(Duration::from_nanos((ns - elapsed).min(50_000_000)));
        }
    }

    /// Repeats rounds of the warm-up until the store is steady. Returns `false` if the store does not become steady
    /// before the time limit, or if the phase or the warm-up ends earlier.
    fn rounds(&self, until: UntilSteady, phase_is_over: &AtomicBool) -> bool {
        let mut rounds: Vec<Round> = Vec::new();
        let (mut at, mut start, mut done) = (0, self.store.stats(), self.done.load(Ordering::Relaxed));
        while at + until.round_ns <= until.at_most_ns {
            let mut looks = Vec::new();
            for look in 1..=u64::from(LOOKS_PER_ROUND) {
                if !self.wait_until(at + until.round_ns * look / u64::from(LOOKS_PER_ROUND), phase_is_over) {
                    return false;
                }
                looks.push(self.store.stats());
            }
            let now = self.done.load(Ordering::Relaxed);
            let end =
                looks.last().expect("each round of the warm-up must sample the statistics at least once");
            rounds.push(Round::of((now - done) as f64, [&start, end], &looks.iter().collect::<Vec<_>>()));
            (at, start, done) = (at + until.round_ns, end.clone(), now);
            if unsteady(&rounds, until.rounds as usize).is_some_and(|unsteady| unsteady.is_empty()) {
                return true;
            }
        }
        false
    }
}

impl Gate for WarmingUp<'_> {
    fn left(&self, done: u64, thread: u32, threads: u32) -> u64 {
        match self.warm_up {
            WarmUp::Operations(all) => {
                let (thread, threads) = (u64::from(thread), u64::from(threads));
                (all / threads + u64::from(thread < all % threads)).saturating_sub(done)
            }
            _ if self.is_over.load(Ordering::Acquire) => 0,
            _ => u64::MAX,
        }
    }

    fn pass(&self) {
        let (sample, usage) = (self.sample)();
        let warmed = Warmed {
            ns: self.clock.ns_between(self.start, sample.at),
            operations: self.done.swap(0, Ordering::Relaxed),
            is_steady: *self.is_steady.lock(),
        };
        *self.begun.lock() = Some(Begun { sample, usage, warmed });
    }
}
