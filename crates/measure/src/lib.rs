//! Measuring tools: a cheap clock, CPU counters, latency histograms, the order of trials, and the comparison of two
//! sets of trials.
//!
//! [`allocation`] counts the allocations of threads, [`callgrind`] controls the instruction counts of valgrind, and
//! [`probe`] reads the kernel's statistics about the process.
//!
//! No module of this crate prints anything, or depends on trees. Only the harness owns the clock.

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
