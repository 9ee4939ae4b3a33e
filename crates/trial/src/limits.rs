//! Measures the limits of this machine: CPU cycles per second, copied bytes per second, and the time of a clock
//! reading.

use std::hint::black_box;
use std::sync::OnceLock;

use measure::Clock;

/// The factor by which the limits exceed the measured speed of a core. A core may be faster later, for example with a
/// turbo frequency or when another program ends.
const HEADROOM: f64 = 2.0;

/// The number of bytes of one copy. Source and target of a copy together fit into the first-level cache of every
/// supported CPU.
const COPIED_BYTES: usize = 8 << 10;

/// The number of copies in one measurement. A measurement takes a few tens of microseconds, so most measurements are
/// not interrupted.
const COPIES: usize = 64;
/// The number of steps in one measurement of the cycles per second of a core. A step takes a known number of cycles.
const STEPS: u64 = 4096;

/// How often each limit is measured. The best result counts, because disturbances only add time.
const REPEATS: usize = 200;

/// The physical limits of a machine, which no correct measurement can exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The largest possible number of copied bytes per second, summed over all cores. The number includes copies in
    /// memory and in the first-level caches.
    pub bytes_per_second: f64,
    /// The largest possible number of cycles per second of one core. An operation takes at least one cycle.
    pub cycles_per_second: f64,
    /// The shortest possible measured time of an operation, in nanoseconds.
    pub clock_ns: f64,
    /// The texts that explain where each limit comes from.
    pub derived: Derived,
}

/// For each physical limit of a machine, a text that explains the limit. A message about a value beyond the limit ends
/// with this text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// Where the limit on copied bytes per second comes from.
    pub bytes: &'static str,
    /// Where the limit on CPU cycles per second comes from.
    pub cycles: &'static str,
    /// Where the limit on the time of an operation comes from.
    pub clock: &'static str,
}

impl Derived {
    /// The explanations of the limits that no current machine exceeds.
    const ANY: Self = Self {
        bytes: "no machine has this memory bandwidth",
        cycles: "no CPU has this frequency",
        clock: "no clock has this resolution",
    };

    /// The explanations of the limits that lsmbench measured on this machine and then widened by the factor
    /// [`HEADROOM`].
    const MEASURED: Self = Self {
        bytes: "the limit is twice the copy bandwidth of all first-level caches, as measured on this machine",
        cycles: "the limit is twice the cycles per second of a core, as measured on this machine",
        clock: "the limit is half of the smallest difference of two clock readings, as measured on this machine",
    };
}

impl Limits {
    /// The limits that no current machine exceeds. Twelve channels of DDR5-6400 memory transfer 60 % of this number of
    /// bytes per second.
    pub const OF_ANY: Self =
        Self { bytes_per_second: 1e12, cycles_per_second: 1e10, clock_ns: 1.0, derived: Derived::ANY };

    /// Returns the limits of this machine, beyond which measured values are implausible. The measurement takes some
    /// milliseconds and runs once per process.
    pub fn of_this_machine() -> Self {
        static MEASURED: OnceLock<Limits> = OnceLock::new();
        *MEASURED.get_or_init(|| {
            let (clock, cores) = (Clock::new(), std::thread::available_parallelism().map_or(1, usize::from));
            let measured = Self {
                bytes_per_second: HEADROOM * cores as f64 * copied_bytes_per_second(&clock),
                cycles_per_second: HEADROOM * cycles_per_second(&clock),
                clock_ns: reading_ns(&clock) / HEADROOM,
                derived: Derived::MEASURED,
            };
            measured.or(Self::OF_ANY)
        })
    }

    /// Returns for each limit the stricter value of `self` and `fallback`. If a limit of `self` could not be measured,
    /// the result contains the limit of `fallback`.
    fn or(self, fallback: Self) -> Self {
        let is_measured = |rate: f64| rate.is_finite() && rate > 0.0;
        let least = |own: f64, other: f64| if is_measured(own) { own.min(other) } else { other };
        Self {
            bytes_per_second: least(self.bytes_per_second, fallback.bytes_per_second),
            cycles_per_second: least(self.cycles_per_second, fallback.cycles_per_second),
            clock_ns: if is_measured(self.clock_ns) {
                self.clock_ns.max(fallback.clock_ns)
            } else {
                fallback.clock_ns
            },
            derived: self.derived,
        }
    }
}

/// Calls `work` [`REPEATS`] times, and returns the shortest time of a call in nanoseconds.
fn least_ns(clock: &Clock, mut work: impl FnMut()) -> f64 {
    let once = || {
        let start = clock.now();
        work();
        clock.ns_between(start, clock.now()) as f64
    };
    std::iter::repeat_with(once).take(REPEATS).fold(f64::INFINITY, f64::min)
}

/// Measures the bytes per second that one core reads and writes within its first-level cache.
fn copied_bytes_per_second(clock: &Clock) -> f64 {
    let (from, mut to) = (vec![1_u8; COPIED_BYTES], vec![0_u8; COPIED_BYTES]);
    let ns = least_ns(clock, || {
        for _ in 0..COPIES {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
    });
    2.0 * (COPIED_BYTES * COPIES) as f64 / ns * 1e9
}

/// Measures the cycles per second of one core. The measured code is a chain of operations, in which each operation
/// takes one cycle and depends on the previous operation. The operations are the three shifts and three exclusive ors
/// of a random number generator (Marsaglia, "Xorshift RNGs", 2003).
fn cycles_per_second(clock: &Clock) -> f64 {
    const CYCLES_PER_STEP: f64 = 6.0;
    let mut x = black_box(1_u64);
    let ns = least_ns(clock, || {
        for _ in 0..STEPS {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        black_box(x);
    });
    CYCLES_PER_STEP * STEPS as f64 / ns * 1e9
}

/// Measures the shortest time between two consecutive readings of the clock, in nanoseconds.
fn reading_ns(clock: &Clock) -> f64 {
    least_ns(clock, || {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_measured_once_and_within_what_any_can_do() {
        let limits = Limits::of_this_machine();
        assert_eq!(limits, Limits::of_this_machine());
        assert!((1e9..=1e12).contains(&limits.bytes_per_second), "{limits:?}");
        assert!((2e8..=1e10).contains(&limits.cycles_per_second), "{limits:?}");
        assert!((1.0..1000.0).contains(&limits.clock_ns), "{limits:?}");
    }

    #[test]
    fn what_could_not_be_measured_is_that_of_any_machine() {
        let none = Limits {
            bytes_per_second: f64::INFINITY,
            cycles_per_second: 0.0,
            clock_ns: f64::NAN,
            derived: Derived::MEASURED,
        };
        assert_eq!(none.or(Limits::OF_ANY), Limits { derived: Derived::MEASURED, ..Limits::OF_ANY });
    }
}
