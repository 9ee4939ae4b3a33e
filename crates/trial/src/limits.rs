//! The measured limits of this machine: the speed of its CPUs at counting and copying, and the resolution of its
//! clock.

use std::hint::black_box;
use std::sync::OnceLock;

use measure::Clock;

/// Cores that were slow while they were measured may be this much faster: turbo, or a neighbour that is gone.
const HEADROOM: f64 = 2.0;

/// The bytes of one copy. Source and target together fit into the first cache of any CPU in use.
const COPIED_BYTES: usize = 8 << 10;

/// Copies and steps in one measurement: some ten microseconds, so that most of them meet no interruption.
const COPIES: usize = 64;
const STEPS: u64 = 4096;

/// Measurements, of which the best counts, because disturbances only slow them down.
const REPEATS: usize = 200;

/// The limits that no measurement can exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes that all memory, or the first caches of all cores, carry per second.
    pub bytes_per_second: f64,
    /// Cycles of one processor per second.
    pub cycles_per_second: f64,
    /// The shortest time between two readings of the clock, in nanoseconds.
    pub clock_ns: f64,
    /// Where the limits come from.
    pub derived: Derived,
}

/// The origin of limits, as text: values beyond them exceed this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// The bytes per second.
    pub bytes: &'static str,
    /// The cycles.
    pub cycles: &'static str,
    /// The clock.
    pub clock: &'static str,
}

impl Derived {
    /// The machines of today.
    const ANY: Self = Self {
        bytes: "beyond the memory bandwidth of any machine",
        cycles: "beyond the frequency of any CPU",
        clock: "below the resolution of any clock",
    };

    /// From measurements here, with [`HEADROOM`].
    const MEASURED: Self = Self {
        bytes: "beyond twice the copy bandwidth of the first-level caches of all cores, as measured on this machine",
        cycles: "beyond twice the cycles of a core, as measured on this machine",
        clock: "below half of the smallest difference of two clock readings, as measured on this machine",
    };
}

impl Limits {
    /// Limits of any machine in use: twelve channels of DDR5-6400 have 0.6 of these bytes, no CPU has as many cycles,
    /// and no clock has a finer resolution.
    pub const OF_ANY: Self =
        Self { bytes_per_second: 1e12, cycles_per_second: 1e10, clock_ns: 1.0, derived: Derived::ANY };

    /// Of this machine; once per process, in some milliseconds.
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

    /// The tighter ones of both, as far as they were measured at all.
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

/// The least time that `work` takes, in nanoseconds.
fn least_ns(clock: &Clock, mut work: impl FnMut()) -> f64 {
    let once = || {
        let start = clock.now();
        work();
        clock.ns_between(start, clock.now()) as f64
    };
    std::iter::repeat_with(once).take(REPEATS).fold(f64::INFINITY, f64::min)
}

/// Bytes that one core reads and writes per second within its first cache.
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

/// Cycles of one core per second, by a chain of operations of one cycle each, none of which can begin before the one
/// before has ended (Marsaglia, "Xorshift RNGs", 2003: three shifts and three exclusive ors a step).
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

/// The least time that two readings, one after the other, are apart, in nanoseconds.
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
