//! The warm-up of a phase: its threads do operations that are not measured, until enough is done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engines::OpenStore;
use measure::{Clock, Stamp};
use parking_lot::Mutex;
use results::RunMode;
use workload::{PhasePlan, UntilSteady, WarmUp};

use super::steadiness::{Round, unsteady};
use super::timeline::Sample;
use super::usage::Usage;

/// The samples of a store within a round, whose mean is used.
const LOOKS_PER_ROUND: u32 = 10;

/// The shared state of the threads of a phase during warm-up, and the sample taken when the last of them is done.
pub(super) struct WarmingUp<'a> {
    store: &'a OpenStore,
    clock: &'a Clock,
    /// Operations that the threads have done.
    done: &'a AtomicU64,
    warm_up: WarmUp,
    start: Stamp,
    /// Whether the threads may start the measured part.
    is_over: AtomicBool,
    /// Whether the last rounds were alike, where that was asked for.
    is_steady: Mutex<Option<bool>>,
    begun: Mutex<Option<Begun>>,
    /// Takes a sample of the store and of the used resources.
    sample: &'a (dyn Fn() -> (Sample, Usage) + Sync),
}

/// The state at the start of the measured part of a phase.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) sample: Sample,
    pub(super) usage: Usage,
    /// The warm-up before.
    pub(super) warmed: Warmed,
}

/// A warm-up that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warmed {
    pub(super) ns: u64,
    pub(super) operations: u64,
    /// Whether the store was steady in the end, where the warm-up was to last until then.
    pub(super) is_steady: Option<bool>,
}

/// The warm-up of a phase, as its threads see it.
pub(super) trait Gate: Sync {
    /// How many operations are left of the warm-up to a thread that has done so many; 0 where it is over.
    fn left(&self, done: u64, thread: u32, threads: u32) -> u64;

    /// All threads have done their part of the warm-up, and none has started the measured part.
    fn pass(&self);
}

impl<'a> WarmingUp<'a> {
    /// The warm-up that a phase begins with, if it does. Where no time is measured there is none that ends by it.
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
        Some(Self { store, clock, done, warm_up, start: clock.now(), is_over, is_steady, begun, sample })
    }

    /// The state at the start of the measured part.
    pub(super) fn into_begun(self) -> Option<Begun> {
        self.begun.into_inner()
    }

    /// Ends the warm-up when its time has come; returns at the latest when `phase_is_over`.
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

    /// Waits until so long after the start; `false` where the phase was over before, or the warm-up is.
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

    /// Whether the store came to be steady in time.
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
            let end = looks.last().expect("every round has looks");
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
