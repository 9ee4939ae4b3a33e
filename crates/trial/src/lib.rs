//! One trial of one cell, in a process of its own: open a store, do the phases, measure, check the answers, report.
//!
//! The parent writes a [`TrialSpec`] as one line of JSON to the standard input of [`run_trial_process`], and reads
//! [`Message`]s from its standard output. What the spec says is resolved: a trial knows engines and designs, and no
//! experiment. Next to the trial stand what bounds its numbers ([`Limits`], [`mark`]), and what measuring itself takes
//! ([`harness_cost`], [`seam_costs`]).

mod caches;
mod component;
mod configuration;
mod cost;
mod drive;
mod failure;
mod forecast;
pub mod free_memory;
mod levels;
mod lifeline;
mod limits;
mod measured;
mod message;
mod plausibility;
mod profile;
mod report;
mod seam;
mod space;
mod steadiness;
mod timeline;
mod trial;
mod truth;
mod usage;
mod warm_up;

pub use configuration::Configuration;
pub use cost::{clock_cost, harness_cost};
pub use lifeline::take_orders;
pub use limits::{Derived, Limits};
pub use message::{FixtureStep, Message, Step, TrialReport, TrialSpec, read_messages};
pub use plausibility::mark;
pub use seam::{POLICY_COMMAND, seam_costs};
pub use trial::run_trial_process;
