//! Measuring tools: a cheap clock, CPU counters, latency histograms, the order of trials, and the comparison of two
//! sets of trials.
//!
//! [`compare`] compares the trials of two variants and returns a [`Comparison`], with a confidence interval and a
//! [`Verdict`]. [`Plan`] orders the trials, and [`Clock`], [`Counters`] and [`Histogram`] measure one trial.
//! [`allocation`] counts the allocations of threads, [`callgrind`] controls the instruction counts of valgrind, and
//! [`probe`] reads the kernel's statistics about the process.
//!
//! No module of this crate prints anything, or depends on trees. The crate `trial` measures with these tools, and the
//! crate `verdict` compares the results.
//!
//! ```
//! use lsmbench_measure::{Criteria, Sample, Verdict, compare};
//! use results::Better;
//!
//! // The throughput of two variants in six rounds of trials. In each round, both variants run under equal conditions.
//! let rounds = |name, throughput: [f64; 6]| Sample::new(name, (0..).zip(throughput));
//! let baseline = rounds("leveled", [100.0, 104.0, 98.0, 101.0, 99.0, 102.0]);
//! let candidate = rounds("tiered", [131.0, 134.0, 128.0, 130.0, 129.0, 134.0]);
//!
//! let comparison = compare(&baseline, &candidate, Better::Higher, &Criteria::default());
//! assert_eq!(comparison.verdict, Verdict::Improved);
//! let interval = comparison.interval.expect("six rounds are enough for an interval");
//! assert!(interval.low > 1.28 && interval.high < 1.32, "tiered is about 1.3x faster");
//! ```

pub mod allocation;
mod bootstrap;
pub mod callgrind;
mod change;
mod clock;
mod comparison;
mod counters;
mod criteria;
mod factorial;
mod histogram;
mod kernel_use;
mod nested;
#[cfg(not(target_os = "linux"))]
mod no_perf;
mod noise;
#[cfg(target_os = "linux")]
mod perf;
mod plan;
pub mod probe;
mod processor_event;
mod proportion;
mod ranking;
mod sample;
mod sequential;
mod significance;
mod steady;
mod strata;
mod tiers;
mod verdict;

#[cfg(not(target_os = "linux"))]
use no_perf as perf;

pub use bootstrap::{DrawnMedian, drawn_medians};
pub use change::changes;
pub use clock::{Clock, Stamp};
pub use comparison::{
    Comparison, Interval, adjust, compare, compare_counts, compare_exact, compare_sessions, compare_unpaired,
};
pub use counters::{Counters, Reading};
pub use criteria::Criteria;
pub use factorial::{Effect, LevelEffect, effects};
pub use histogram::{Histogram, MAX_NS, Summary};
pub use kernel_use::KernelUse;
pub use nested::RestartSpread;
pub use noise::Noise;
pub use plan::{Arrangement, Plan, Slot};
pub use processor_event::{CounterScope, PROCESSOR_EVENTS};
pub use proportion::Proportion;
pub use ranking::{Ranked, rank};
pub use sample::{Sample, median};
pub use sequential::{Outlook, Spending, is_look, outlook};
pub use significance::{FEWEST_BLOCKS, FEWEST_SESSIONS, least_unpaired};
pub use steady::SteadyRule;
pub use strata::{MachineSpread, Pooled, is_outlying, pool};
pub use tiers::{RankedVariant, dominated, standings};
pub use verdict::{Doubt, Verdict};
