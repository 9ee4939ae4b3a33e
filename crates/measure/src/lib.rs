//! The instruments: a cheap clock, latency histograms, the order in which trials run, and what two sets
//! of trials say about each other.
//!
//! Nothing here reads files, prints, or knows what a tree is. The harness alone holds the clock.

mod clock;
mod comparison;
mod histogram;
mod plan;
mod ranking;
mod sample;

pub use clock::{Clock, Stamp};
pub use comparison::{Comparison, Criteria, Doubt, Interval, Verdict, compare, compare_exact};
pub use histogram::{Histogram, MAX_NS, Summary};
pub use plan::{Arrangement, Plan, Slot};
pub use ranking::{Ranked, rank};
pub use sample::Sample;
