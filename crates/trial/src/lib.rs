//! Runs one trial of one configuration in a separate process. A trial opens a store, runs and measures the phases,
//! checks the answers, and reports the results.
//!
//! The parent process writes a [`TrialSpec`] as one line of JSON to the standard input of [`run_trial_process`], and
//! reads [`Message`]s from its standard output. The specification contains the resolved engine and design, but no
//! experiment. The crate also checks the limits of plausible results ([`Limits`], [`mark`]), and measures the
//! overhead of the measurement itself ([`harness_cost`], [`seam_costs`]).

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
