//! Runs one trial of one configuration in a separate process. A trial opens a store, runs and measures the phases,
//! checks the answers, and reports the results.
//!
//! The parent process writes a [`TrialSpec`] as one line of JSON to the standard input of [`run_trial_process`], and
//! reads [`Message`]s from its standard output. The specification contains the resolved engine and design, but no
//! experiment. The crate also checks the limits of plausible results ([`Limits`], [`mark`]), and measures the overhead
//! of the measurement itself ([`harness_cost`], [`seam_costs`]). The crate `run` contains the parent process.
//!
//! A trial needs its own process, so this example only marks an implausible row:
//!
//! ```
//! use lsmbench_trial::{Limits, StoredValues, mark};
//! use results::columns::{P50_NS, P90_NS, PHASE};
//!
//! let mut row = results::Row::new(&results::Schema::runs::<&str>(&[])?);
//! row.set(&PHASE, "lookup").set(&P50_NS, 900_u64).set(&P90_NS, 300_u64);
//! let (design, stored) = (tree::Design::default(), StoredValues { follow_design: true, compressible: 0.0 });
//! let marked = mark(&design, stored, &mut [row], &[], Limits::OF_ANY);
//! let (phase, message) = &marked[0];
//! assert_eq!(phase, "lookup");
//! assert_eq!(message, "order of percentiles: p50_ns 900 exceeds p90_ns 300");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blobs;
mod caches;
mod component;
mod configuration;
mod cost;
mod disk_watch;
mod drive;
mod failure;
mod forecast;
pub mod free_memory;
mod key_spaces;
mod levels;
mod lifeline;
mod limits;
mod measured;
mod message;
mod observer;
mod pace;
mod plausibility;
mod profile;
mod report;
mod seam;
mod space;
mod steadiness;
mod step;
mod store_state;
mod timeline;
mod trace_recorder;
mod trial;
mod truth;
mod turn;
mod usage;
mod warm_up;

pub use configuration::Configuration;
pub use cost::{clock_cost, harness_cost};
pub use lifeline::take_orders;
pub use limits::{Derived, Limits};
pub use message::{
    FixtureStep, Message, ObservedPhase, ObservingTool, Recorded, RecordingSpec, Slice, Step, TrialReport,
    TrialSpec, Turn, TurnSpec, Yielded, read_messages,
};
pub use plausibility::{StoredValues, mark};
pub use seam::{POLICY_COMMAND, seam_costs};
pub use trial::run_trial_process;
