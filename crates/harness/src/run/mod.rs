//! Running experiments: the sweep in the parent process, each trial in a fresh child process.

mod child;
mod cost;
mod drive;
mod environment;
mod message;
mod probe;
mod progress;
mod report;
mod sweep;
mod target;
mod timeline;
mod trial;
mod verdict;

pub(crate) use child::TRIAL_COMMAND;
pub(crate) use cost::harness_cost;
pub(crate) use probe::{available_memory_bytes, free_bytes};
pub(crate) use progress::line;
pub(crate) use sweep::{Ending, RunOptions, run_all};
pub(crate) use trial::run_trial_process;
